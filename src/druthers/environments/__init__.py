"""Environments: users, arms and all the chance of a run, drawn before any policy plays."""

from __future__ import annotations

from druthers.environments.base import Chunk, Environment, Tape
from druthers.environments.reviews import Reviews
from druthers.environments.synthetic import Synthetic

ENVIRONMENTS: dict[str, type[Environment]] = {environment.name: environment for environment in (Synthetic, Reviews)}

__all__ = ["ENVIRONMENTS", "Chunk", "Environment", "Reviews", "Synthetic", "Tape"]
