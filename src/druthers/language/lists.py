"""The data files: words, phrases and cues."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any


@cache
def read_data(name: str) -> dict[str, Any]:
    """Return one of the data files."""
    text = resources.files("druthers.language").joinpath("data", name).read_text(encoding="utf-8")
    return tomllib.loads(text)


def small_words(part: str) -> frozenset[str]:
    """Return the small words that play a part."""
    return frozenset(read_data("small_words.toml")[part].split())
