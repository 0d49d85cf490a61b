"""What a message is, by a model of how people say things: for messages that no rule knows.

A linear model of the sentence model's vector, single words and pairs of neighbours, fitted to labelled messages by
benchmarks/message_kinds.py, which also measures it on messages it has not seen.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from druthers.language.models.encoders import Encoder
from druthers.limits.words import fold


def features(text: str) -> list[str]:
    """Return the words of a text and its pairs of neighbours.

    Examples
    --------
    >>> features("Why 2?")
    ['why', '2', '?', '^ why', 'why 2', '2 ?', '? $']
    """
    words = re.findall(r"[^\W_]+|\?", fold(text))
    return [*words, *(f"{one} {other}" for one, other in zip(["^", *words], [*words, "$"], strict=True))]


@cache
def _model() -> dict[str, Any]:
    with resources.files("druthers.advisor").joinpath("kinds.npz").open("rb") as file:
        arrays = dict(np.load(file, allow_pickle=False).items())
    kinds, known = (str(arrays[name]).split("\n") for name in ("kinds", "features"))
    return {**arrays, "kinds": kinds, "places": {feature: place for place, feature in enumerate(known)}}


def guess(text: str, encoder: Encoder) -> tuple[str, float]:
    """Return the most probable kind of a message, and how probable it is."""
    model = _model()
    said = sorted({model["places"][one] for one in features(text) if one in model["places"]})
    odds = model["constant"].astype(np.float64)
    odds = odds + encoder.encode([text])[0].astype(np.float64) @ model["meaning"].astype(np.float64)
    odds += model["words"][said].astype(np.float64).sum(axis=0) * model["scale"]
    chances = np.exp(odds - odds.max())
    best = int(chances.argmax())
    return model["kinds"][best], float(chances[best] / chances.sum())
