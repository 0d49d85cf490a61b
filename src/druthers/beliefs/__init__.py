"""Beliefs: what choices, words and utilities say about one person, and what people have in common."""

from __future__ import annotations

from druthers.beliefs.choices import choice_site, predict_choice

__all__ = ["choice_site", "predict_choice"]
