"""Sentences about simulated items that say what their ratings say."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from druthers.types import Floats

# How many standard deviations above or below the mean of all items an aspect must lie to be praised or blamed.
NOTABLE = 0.5


MIDDLING = (
    "nothing that stands out and nothing that disappoints",
    "no great strength and no great weakness",
    "a little of everything and too much of nothing",
)
# How a sentence of praise, or else of blame, ends where it holds for all aspects, for more than it names, or no more.
ENDINGS = {
    ("praise", "all"): ("and no weak point", "and nothing to complain of"),
    ("praise", "more"): ("and more to like", "and hardly a weak point"),
    ("praise", "these"): ("the rest as it should be", "and no surprises otherwise", "the rest about average"),
    ("blame", "all"): ("and little that makes up for it", "and not much to set against it"),
    ("blame", "more"): ("and that is not all", "and more of the kind"),
    ("blame", "these"): ("otherwise much like others", "the rest about average", "and no surprises otherwise"),
}


class Phrases(NamedTuple):
    """Ways to praise and to blame an aspect, each the end of the sentence "it has ..."."""

    praise: tuple[str, ...]
    blame: tuple[str, ...]


def pick(options: Sequence[str], rng: random.Random) -> str:
    """Return one of the options; `random.choice` may draw otherwise in another version of Python."""
    return options[int(rng.random() * len(options))]


def shuffled(options: Sequence[str], rng: random.Random) -> list[str]:
    """Return the options in random order."""
    return [option for _, option in sorted((rng.random(), option) for option in options)]


def standardized(ratings: Floats) -> Floats:
    """Return how many standard deviations each rating lies above the mean of its aspect."""
    scores: Floats = (ratings - ratings.mean(axis=0)) / ratings.std(axis=0)
    return scores


def describe(scores: Mapping[str, float], phrases: Mapping[str, Phrases], rng: random.Random) -> str:
    """Return a judgment in one sentence: the best two aspects, the worst two, as far as they are notable.

    Examples
    --------
    >>> phrases = {"beds": Phrases(("soft beds",), ("hard beds",)), "view": Phrases(("a sea view",), ("no view",))}
    >>> describe({"beds": 1.2, "view": -0.8}, phrases, random.Random(1))
    'soft beds, but no view'
    """
    order = sorted(scores, key=lambda aspect: -scores[aspect])
    good = [aspect for aspect in order if scores[aspect] >= NOTABLE]
    bad = [aspect for aspect in reversed(order) if scores[aspect] <= -NOTABLE]
    praise = " and ".join(pick(phrases[aspect].praise, rng) for aspect in good[:2])
    blame = " and ".join(pick(phrases[aspect].blame, rng) for aspect in bad[: 3 - len(good[:2])][:2])
    if praise and blame:
        return f"{praise}, but {blame}"
    if not praise and not blame:
        return pick(MIDDLING, rng)
    count = len(good or bad)
    reach = "all" if count == len(scores) else "more" if count > 2 else "these"
    return f"{praise or blame}, {pick(ENDINGS['praise' if praise else 'blame', reach], rng)}"


def slug(name: str) -> str:
    """Return a name as an id: small letters, figures and hyphens.

    Examples
    --------
    >>> slug("Fennick & Daughters' Vow")
    'fennick-daughters-vow'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower().replace("'", "")).strip("-")


def capitalized(text: str) -> str:
    """Return a text with a capital first letter and the rest as it was."""
    return text[:1].upper() + text[1:]
