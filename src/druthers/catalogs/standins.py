"""Simulated hotels, beers and users, and their words, drawn by fixed laws from summary facts about real reviews."""

import math
import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from druthers.types import Floats

# Any would do: the laws, not the seed, make the stand-ins alike to what they stand for.
SEED = 2026
LOWEST, HIGHEST = 1.0, 5.0


class StandIn(NamedTuple):
    """Facts that a stand-in is made from: moments of the real data, rounded, and nothing that leads back to a row."""

    objectives: Sequence[str]  # the aspects that reviews rate from 1 to 5
    n_items: int  # how many there are
    n_users: int
    means: Sequence[float]  # mean and standard deviation of each aspect over the items
    spreads: Sequence[float]
    # Correlation of each aspect with the quality that all of them share: good items are good in everything.
    halo: Sequence[float]
    tail: float  # how far bad items fall behind compared with how far good ones stand out; 0 where both are alike
    evenness: float  # how much less the aspects of a good item differ from each other than those of a bad one
    weights: Sequence[float]  # mean weight of each aspect in the overall rating
    level_spread: float  # how much the users' sums of weights differ, as a standard deviation of the logarithm
    weight_spreads: Sequence[float]  # how much users differ about each aspect, one aspect compared with another
    # Median distance of a user's weights from the mean weights, and the standard deviation of its logarithm.
    focus: float
    focus_spread: float
    least_weight: float  # no weight is smaller; minus infinity where users may care against an aspect


_FACTS: dict[str, dict[str, Any]] = tomllib.loads(
    files("druthers.catalogs").joinpath("standins.toml").read_text("utf-8")
)
STAND_INS = {name: StandIn(**facts) for name, facts in _FACTS.items()}

# The real data sets of the paper, and what is played where they are absent.
STANDS_FOR = {"tripadvisor": "hotels", "beeradvocate": "beers"}


def make_stand_in(name: str, *, seed: int = SEED) -> tuple[Floats, Floats]:
    """Return mean ratings (K, D) and weights of users (N, D): always the same, and nobody's real ratings.

    The order of the policies follows from the laws, not from the seed: another seed gives other items and users.

    Examples
    --------
    >>> ratings, weights = make_stand_in("hotels")
    >>> ratings.shape, weights.shape
    ((62, 6), (10, 6))
    """
    facts = STAND_INS[name]
    rng = random.Random(seed)  # its numbers are promised to stay the same in all versions of Python
    return draw_ratings(facts, rng), draw_weights(facts, rng)


def draw_ratings(facts: StandIn, rng: random.Random) -> Floats:
    """Return the mean ratings of items: a quality that all aspects share, and a part of each aspect's own.

    Rounded as ratings are shown, which also makes them the same on every machine.
    """
    rank = normal_scores(facts.n_items, rng)
    quality = with_tail(rank, facts.tail)
    unevenness = np.exp(-facts.evenness * rank)
    unevenness /= np.sqrt(np.mean(unevenness**2))
    own = np.stack([unevenness * normal_scores(facts.n_items, rng) for _ in facts.objectives], axis=1)
    halo = np.array(facts.halo)
    standard = halo * quality[:, None] + np.sqrt(1.0 - halo**2) * own
    ratings: Floats = np.clip(np.array(facts.means) + np.array(facts.spreads) * standard, LOWEST, HIGHEST).round(2)
    return ratings


def draw_weights(facts: StandIn, rng: random.Random) -> Floats:
    """Return the weights of users: the mean weights, more or less of all of them, and a direction of each user's own.

    Directions neither add to the sum of a user's weights nor, over all users, to an aspect.
    """
    level = np.exp(facts.level_spread * normal_scores(facts.n_users, rng))
    focus = facts.focus * np.exp(facts.focus_spread * normal_scores(facts.n_users, rng))
    own = np.stack([spread * normal_scores(facts.n_users, rng) for spread in facts.weight_spreads], axis=1)
    own -= own.mean(axis=1, keepdims=True)
    own *= (focus / np.sqrt(np.sum(own**2, axis=1)))[:, None]
    own -= own.mean(axis=0)
    weights: Floats = np.maximum(np.outer(level, facts.weights) + own, facts.least_weight).round(2)
    return weights


def normal_scores(n: int, rng: random.Random) -> Floats:
    """Return n evenly spaced quantiles of the normal law in random order: chance decides who, not how much."""
    quantile = NormalDist().inv_cdf
    return np.array([score for _, score in sorted((rng.random(), quantile((k + 0.5) / n)) for k in range(n))])


def with_tail(scores: Floats, tail: float) -> Floats:
    """Stretch normal scores downward: minus a log-normal law, with mean 0 and variance 1 as before."""
    if tail == 0.0:
        return scores
    square = math.exp(tail**2)
    stretched: Floats = (math.sqrt(square) - np.exp(-tail * scores)) / math.sqrt((square - 1.0) * square)
    return stretched


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


# How each aspect goes with how good a hotel is in everything: hardly, or one hotel would be the answer to every wish.
QUALITY = 0.1
MEAN, SPREAD = 3.75, 0.55
# Euros for a night in the middle of the market, and by how much the logarithm grows with how dear and how central.
PRICE, PRICE_DEAR, PRICE_CENTRAL = 95, 0.45, 0.1


class Market(NamedTuple):
    """What was drawn: ratings (K, D), euros for a night, and what each hotel has."""

    ratings: Floats
    prices: list[int]
    amenities: list[list[str]]


def draw(seed: int = SEED) -> Market:
    """Return 62 hotels whose strengths have their price: what one is better in than others, it pays for elsewhere.

    Another seed gives other hotels by the same laws.
    """
    words, rng = words_of("hotels"), random.Random(seed)
    aspects = words["objectives"].values()
    n = sum(map(len, words["cities"].values()))
    dear, central, quality = (normal_scores(n, rng) for _ in range(3))
    by_dear, by_central = (np.array([aspect[tie] for aspect in aspects]) for tie in ("dear", "central"))
    own = np.stack([normal_scores(n, rng) for _ in aspects], axis=1)
    own *= np.sqrt(1.0 - by_dear**2 - by_central**2)
    strengths = by_dear * dear[:, None] + by_central * central[:, None] + own
    strengths -= strengths.mean(axis=1, keepdims=True)
    strengths /= strengths.std(axis=0)
    standard = QUALITY * quality[:, None] + math.sqrt(1.0 - QUALITY**2) * strengths
    ratings: Floats = np.clip(MEAN + SPREAD * standard, LOWEST, HIGHEST).round(2)
    prices = PRICE * np.exp(PRICE_DEAR * dear + PRICE_CENTRAL * central)
    kinds = zip(dear.tolist(), central.tolist(), strict=True)
    amenities = [[name for name, ties in words["amenities"].items() if _has(ties, *kind, rng)] for kind in kinds]
    return Market(ratings, [5 * round(price / 5) for price in prices.tolist()], amenities)


def _has(ties: tuple[float, float], dear: float, central: float, rng: random.Random) -> bool:
    """Draw by a logistic law whether a hotel has something."""
    return rng.random() < 1.0 / (1.0 + math.exp(0.5 - 1.7 * (ties[0] * dear + ties[1] * central)))


def hotels() -> dict[str, Any]:
    """Return the catalog as a file would hold it."""
    market = draw()
    places = [(city, name) for city, names in words_of("hotels")["cities"].items() for name in names]
    items = [
        (name, {"city": city, "price": price, "amenities": has})
        for (city, name), price, has in zip(places, market.prices, market.amenities, strict=True)
    ]
    return make_content("hotels", items, market.ratings)


# How much chance there is in which style a beer of a given quality has, in standard deviations of quality.
STYLE_NOISE = 0.8


def beers() -> dict[str, Any]:
    """Return the catalog as a file would hold it; of two beers the one that stands higher has the nobler style."""
    words, rng = words_of("beers"), random.Random(SEED)
    ratings, _ = make_stand_in("beers")
    standing = standardized(ratings).mean(axis=1) + STYLE_NOISE * normal_scores(len(ratings), rng)
    ladder = [(style, family) for style, family, count in words["styles"] for _ in range(count)]
    places = np.argsort(np.argsort(standing, kind="stable"), kind="stable")
    names = {family: iter(_names(parts, rng)) for family, parts in words["families"].items()}
    items = []
    for style, family in (ladder[place] for place in places.tolist()):
        brewery = pick(words["breweries"], rng)
        items.append((f"{brewery} {next(names[family])}", {"brewery": brewery, "style": style}))
    return make_content("beers", items, ratings)


def _names(parts: Mapping[str, Sequence[str]], rng: random.Random) -> list[str]:
    return shuffled([f"{first} {second}" for first in parts["first"] for second in parts["second"]], rng)
