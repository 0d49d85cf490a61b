"""What a message is, and how something felt, by models of how people say things: where no rule knows.

Linear models of the sentence model's vector, single words and pairs of neighbours, fitted to labelled messages by
benchmarks/message_kinds.py, which also measures them on messages they have not seen. Which item a message points at and
which number it holds tell nothing about what it is: all are read as the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from druthers.advisor.sayings import PLACES, pointing
from druthers.language.models.encoders import Encoder
from druthers.limits.words import fold

ITEM, NUMBER = "the second one", "20"  # what stands for any item, and for any number


def alike(text: str, names: Sequence[str] = ()) -> str:
    """Return a text in small letters in which all items are called the same, and all numbers are the same.

    Examples
    --------
    >>> alike("Is number 3 under 500?"), alike("compare 1 and the Birch Inn", ["Birch Inn"])
    ('is the second one under 20?', 'compare the second one and the second one')
    """
    plain = fold(text)
    for name in sorted((fold(name) for name in names if len(name) > 2), key=len, reverse=True):
        plain = re.sub(rf"(?<!\w)(?:the )?{re.escape(re.sub('^the ', '', name))}(?!\w)", ITEM, plain)
    beyond = len(names) or len(PLACES)  # "give me 5" points at nothing where three are shown

    def called(match: re.Match[str]) -> str:
        number = re.search(r"\d", match.group())
        return ITEM if number is None or int(number.group()) <= beyond else match.group()

    parts = re.split(f"({ITEM})", pointing().sub(called, plain))
    return "".join(part if part == ITEM else re.sub(r"\d+(?:[.,]\d+)*", NUMBER, part) for part in parts)


def features(text: str) -> list[str]:
    """Return the words of a text in which items are alike, and its pairs of neighbours.

    Examples
    --------
    >>> features(alike("Why 2?"))
    ['why', 'ITEM', '?', '^ why', 'why ITEM', 'ITEM ?', '? $']
    """
    words = re.findall(r"[^\W_]+|\?", text.replace(ITEM, "ITEM"))
    return [*words, *(f"{one} {other}" for one, other in zip(["^", *words], [*words, "$"], strict=True))]


@cache
def _model() -> dict[str, Any]:
    with resources.files("druthers.advisor").joinpath("kinds.npz").open("rb") as file:
        arrays = dict(np.load(file, allow_pickle=False).items())
    kinds, known = (str(arrays[name]).split("\n") for name in ("kinds", "features"))
    return {**arrays, "kinds": kinds, "places": {feature: place for place, feature in enumerate(known)}}


def guess(text: str, encoder: Encoder, names: Sequence[str] = ()) -> tuple[str, float]:
    """Return the most probable kind of a message, and how probable it is; `names` are those of the items shown."""
    model, plain = _model(), alike(text, names)
    said = sorted({model["places"][one] for one in features(plain) if one in model["places"]})
    odds = model["constant"].astype(np.float64)
    odds = odds + encoder.encode([plain])[0].astype(np.float64) @ model["meaning"].astype(np.float64)
    odds += model["words"][said].astype(np.float64).sum(axis=0) * model["scale"]
    chances = np.exp(odds - odds.max())
    best = int(chances.argmax())
    return model["kinds"][best], float(chances[best] / chances.sum())


def sounds_good(text: str, encoder: Encoder, names: Sequence[str] = ()) -> float:
    """Return how probable it is that a text praises what it tells of, rather than complaining about it."""
    vector = encoder.encode([alike(text, names)])[0].astype(np.float64)
    odds = vector @ _model()["praise"][:-1].astype(np.float64) + _model()["praise"][-1]
    return float(1.0 / (1.0 + np.exp(-odds)))
