"""How likely a message is of each kind, by a model of how people say things.

A linear model of signs in it (the ways to say something that are listed in messages.toml), single words, pairs of
neighbours and the sentence model's vector, fitted to labelled messages by benchmarks/message_kinds.py, which also
measures it on messages it has not seen. A second one does without the vector, for where there is none. Which item a
message points at and which number it holds tell nothing about what it is: all are read as the same.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from druthers.advisor.messages import STATED, Context, Kind
from druthers.advisor.said import OF_NONE, PLACES, RATING, Said, feeling, ways, whole_words
from druthers.catalogs import Item
from druthers.language.models.minilm import Encoder
from druthers.limits.words import fold, pattern

# Ways to say something that are signs of what a message is.
WAYS = (
    *("help", "profile", "why", "compare", "detail", "find", "best", "superlative", "choose", "other"),
    *("like", "took", "tells", "forget_me", "forget_all", "forget_last"),
)
# What changes something that is known of items: it must be likely, however little speaks for anything else.
CHANGING = (Kind.FEEDBACK, Kind.TAKEN, Kind.REJECT, Kind.LIKE)
# How likely a kind must be to be thought of; that, or a wish that is no guess; a kind, to overrule a wish that was
# read; and small talk or nothing, to overrule one that was read for sure.
POSSIBLE, LIKELY, SURE, CERTAIN = 0.1, 0.5, 0.8, 0.9
_I_LIKE = re.compile(r"\b(?:i|we)(?: really| do| quite)? liked?\b")
SHOWN = Context(tuple(map(Item, "abc")))
ITEM, NUMBER, RATED = "the second one", "20", "rated"  # what stands for any item, any number, any points or stars


def alike(text: str, names: Sequence[str] = ()) -> str:
    """Return a text in small letters in which all items are called the same, and all numbers and points are the same.

    Examples
    --------
    >>> alike("Is number 3 under 500?"), alike("compare 1 and the Birch Inn", ["Birch Inn"])
    ('is the second one under 20?', 'compare the second one and the second one')
    """
    plain = ways("in_order").sub(",", RATING.sub(f" {RATED} ", fold(text)))
    plain = ways("ages").sub(lambda match: re.sub(r"\d+", NUMBER, match.group()), plain)
    for name in sorted((fold(name) for name in names if len(name) > 2), key=len, reverse=True):
        plain = re.sub(rf"(?<!\w){OF_NONE}(?:the )?{re.escape(re.sub('^the ', '', name))}(?!\w)", ITEM, plain)
    beyond = len(names) or len(PLACES)  # "give me 5" points at nothing where three are shown

    def called(match: re.Match[str]) -> str:
        number = re.search(r"\d", match.group())
        return ITEM if number is None or int(number.group()) <= beyond else match.group()

    parts = re.split(f"({ITEM})", ways("pointing").sub(called, plain))
    return "".join(part if part == ITEM else re.sub(r"\d+(?:[.,]\d+)*", NUMBER, part) for part in parts)


def features(text: str) -> list[str]:
    """Return the signs, the words and the pairs of neighbours of a text in which items are alike.

    Examples
    --------
    >>> features(alike("Why 2?"))
    ['=why', '=1 items', '=asks', 'why', 'ITEM', '?', '^ why', 'why ITEM', 'ITEM ?', '? $']
    """
    words = re.findall(r"[^\W_]+|\?", text.replace(ITEM, "ITEM"))
    pairs = (f"{one} {other}" for one, other in zip(["^", *words], [*words, "$"], strict=True))
    return [*(f"={sign}" for sign in signs(text)), *words, *pairs]


def signs(text: str) -> list[str]:
    """Return what in a text, in which items are alike, is a sign of what it is."""
    said, many = Said.of(text, SHOWN), text.count(ITEM)
    felt = feeling(said.plain)
    found = {
        **{name: said.has(name) for name in WAYS},
        f"{min(many, 2)} items": True,
        "reject": said.rejects,
        "asks": said.asks,
        "picks": said.picks,
        "settled": said.settled,
        "bare": said.bare,
        "undecided": ways("undecided").search(said.core),
        "past": said.past.search(said.plain),
        "forget": whole_words("forget").search(said.core),
        "dismissing": pattern(r"\b<dismissing>").search(said.core),
        "good": felt is not None and felt > 0.0,
        "bad": felt is not None and felt <= 0.0,
        "not": ways("negation").search(said.plain),
        "number": re.search(r"\d", text),
        "greeting": whole_words("greeting").search(said.plain),
        "thanks": whole_words("thanks").search(said.plain),
    }
    return [name for name, there in found.items() if there]


@cache
def _model() -> dict[str, Any]:
    with resources.files("druthers.advisor").joinpath("kinds.npz").open("rb") as file:
        arrays = dict(np.load(file, allow_pickle=False).items())
    kinds, known = (str(arrays[name]).split("\n") for name in ("kinds", "features"))
    places = {feature: place for place, feature in enumerate(known)}
    return {**arrays, "kinds": [Kind(kind) for kind in kinds], "places": places}


def chances(text: str, encoder: Encoder | None, names: Sequence[str] = ()) -> dict[Kind, float]:
    """Return how likely a message is of each kind; `names` are those of items, the encoder is there if it can be."""
    model, plain = _model(), alike(text, names)
    said = sorted({model["places"][one] for one in features(plain) if one in model["places"]})
    alone = "" if encoder is not None else " alone"
    odds = model[f"constant{alone}"].astype(np.float64)
    odds += model[f"words{alone}"][said].astype(np.float64).sum(axis=0) * model[f"scale{alone}"]
    if encoder is not None:
        odds += encoder.encode([plain])[0].astype(np.float64) @ model["meaning"].astype(np.float64)
    shares = np.exp(odds - odds.max())
    return dict(zip(model["kinds"], map(float, shares / shares.sum()), strict=True))


def tells_of_one(said: Said) -> bool:
    """Tell whether a message tells of one item from its beginning on, and neither asks nor picks: "2 looks lovely"."""
    other = said.asks or said.picks or said.settled or said.bare or ways("unlike", "undecided").search(said.core)
    return bool(said.places) and ways("of_one").match(said.plain) is not None and not other


def told_of_items(said: Said, likely: Mapping[Kind, float]) -> dict[Kind, float]:
    """Return how likely it is that an item pointed at is told of, where that is sure and only not in which way."""
    together = sum(likely[kind] for kind in CHANGING)
    if tells_of_one(said):
        other = Kind.REJECT if said.rejects else Kind.LIKE if said.has("like") else Kind.FEEDBACK
        sure = max(CHANGING, key=likely.__getitem__)
        kind = sure if likely[sure] >= LIKELY and (sure != Kind.REJECT or said.rejects) else other
        if said.rejects and kind == Kind.FEEDBACK and feeling(said.plain) is None:  # "we had 2, leave it out"
            kind = Kind.REJECT
        stated = sum(likely[one] for one in (*STATED, Kind.UNCLEAR))
        return {Kind.WISH: 0.0, **{one: (together + stated) * (one == kind) for one in CHANGING}}
    unsure = together >= LIKELY > max(likely[kind] for kind in CHANGING)
    if not (said.places and unsure) or ways("undecided").search(said.core):
        return {}
    ways_said = {
        Kind.LIKE: said.has("like") and not _I_LIKE.search(said.plain),
        Kind.REJECT: said.rejects,
        Kind.TAKEN: said.has("took"),
    }
    felt = feeling(said.plain) is not None or re.search(r"\btoo\b", said.plain)  # "lighter than 2" tells of no feeling
    plain = next((kind for kind, there in ways_said.items() if there), Kind.FEEDBACK if felt else None)
    return {} if plain is None else {kind: together * (kind == plain) for kind in CHANGING}


def fitted_to() -> str:
    """Return the fingerprint of what the model was fitted to."""
    return str(_model()["fingerprint"])
