"""The data files: words, phrases, cues and templates, written by hand; vectors and weights, fitted by scripts.

`adapter.npz` is from benchmarks/reading_adapter.py, `weights.json` from benchmarks/reading_weights.py, `meanings.npz`,
`words.npz` and `directions.npz` from druthers.language.linting; `words.txt.gz` is SymSpell's list (MIT),
`wordpiece.txt.gz` BERT's (Apache 2.0).
"""

import gzip
import json
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np


def data_file(*names: str) -> Traversable:
    """Return where a data file is."""
    return resources.files("druthers.language").joinpath("data", *names)


@cache
def read_data(*names: str) -> dict[str, Any]:
    """Return what a TOML or JSON file holds."""
    text = data_file(*names).read_text(encoding="utf-8")
    values: dict[str, Any] = json.loads(text) if names[-1].endswith(".json") else tomllib.loads(text)
    return values


@cache
def read_words(name: str) -> tuple[str, ...]:
    """Return the words of a packed list, one on each line."""
    return tuple(gzip.decompress(data_file(name).read_bytes()).decode().splitlines())


@cache
def read_arrays(name: str) -> dict[str, Any]:
    """Return the arrays of a file."""
    with data_file(name).open("rb") as file:
        return dict(np.load(file, allow_pickle=False))


def contractions() -> Mapping[str, str]:
    """Return words in which others are drawn together, and those others: "dont" is "do not"."""
    listed: Mapping[str, str] = read_data("small_words.toml")["contractions"]
    return listed


@cache
def small_words(part: str) -> frozenset[str]:
    """Return the small words that play a part."""
    return frozenset(read_data("small_words.toml")[part].split())


def split(terms: str) -> list[str]:
    """Return the terms of a list with commas."""
    return [term for term in (part.strip() for part in terms.split(",")) if term]
