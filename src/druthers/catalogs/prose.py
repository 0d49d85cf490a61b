"""Simulated catalogs: items that their words make, with sentences that say what their ratings say."""

import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from druthers.catalogs.standins import HIGHEST, LOWEST, SEED
from druthers.types import Floats

# How many standard deviations above or below the mean of all items an aspect must lie to be praised or blamed.
NOTABLE = 0.5
# What a catalog says of an objective.
PARTS = ("description", "synonyms", "examples")

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


@cache
def words_of(catalog: str) -> dict[str, Any]:
    """Return the words of a simulated catalog, and the laws that belong to them."""
    return tomllib.loads(files("druthers.catalogs").joinpath(f"{catalog}.toml").read_text("utf-8"))


def make_content(catalog: str, items: Sequence[tuple[str, dict[str, Any]]], ratings: Floats) -> dict[str, Any]:
    """Return a simulated catalog as a file would hold it, from the names and details of its items and their ratings."""
    words, rng = words_of(catalog), random.Random(SEED)  # of its own, so that other words leave the items as they are
    aspects = words["objectives"]
    told = []
    for (name, details), row, standing in zip(items, ratings.tolist(), standardized(ratings).tolist(), strict=True):
        judgment = describe(dict(zip(aspects, standing, strict=True)), aspects, rng).format(**details)
        sentence = words["sentence"].format(judgment=judgment, **details)
        values = dict(zip(aspects, row, strict=True))
        facts = {"description": sentence[:1].upper() + sentence[1:], "values": values, "details": details}
        told.append({"id": slug(name), "name": name, **facts})
    objectives = [
        {"name": name, **{part: facts[part] for part in PARTS}, "low": LOWEST, "high": HIGHEST}
        for name, facts in aspects.items()
    ]
    head = {"name": catalog, "description": words["description"], "simulated": True}
    return {**head, "objectives": objectives, "items": told}


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


def describe(
    scores: Mapping[str, float], phrases: Mapping[str, Mapping[str, Sequence[str]]], rng: random.Random
) -> str:
    """Return a judgment in one sentence: the best two aspects, the worst two, as far as they are notable.

    Examples
    --------
    >>> beds, view = {"praise": ["soft beds"], "blame": ["hard beds"]}, {"praise": ["a sea view"], "blame": ["no view"]}
    >>> describe({"beds": 1.2, "view": -0.8}, {"beds": beds, "view": view}, random.Random(1))
    'soft beds, but no view'
    """
    order = sorted(scores, key=lambda aspect: -scores[aspect])
    good = [aspect for aspect in order if scores[aspect] >= NOTABLE]
    bad = [aspect for aspect in reversed(order) if scores[aspect] <= -NOTABLE]
    praise = " and ".join(pick(phrases[aspect]["praise"], rng) for aspect in good[:2])
    blame = " and ".join(pick(phrases[aspect]["blame"], rng) for aspect in bad[: 3 - len(good[:2])][:2])
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
