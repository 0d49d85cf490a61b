"""Objectives to read for: given by name or value, or one of a few catalogs to try things with."""

import re
from collections.abc import Iterable
from dataclasses import replace

from druthers.errors import InvalidSetting, UnknownName
from druthers.glossary import without_units
from druthers.language.data import data_file, read_data
from druthers.types import Objective

SQUARE = re.compile(r"(?i)(?:\b|_)(?:m2|m²|sqm|sq ?m|sqft|sq ?ft|square (?:met(?:er|re)s?|feet|foot|yards?))(?:\b|_)")


def as_objectives(objectives: Iterable[str | Objective]) -> tuple[Objective, ...]:
    """Return objectives as values; names alone will do.

    Examples
    --------
    >>> as_objectives(["price"])[0].name
    'price'
    """
    if isinstance(objectives, str):
        raise InvalidSetting(f"objectives must be a list, but got the text {objectives!r}; split it first")
    given = tuple(Objective(each) if isinstance(each, str) else each for each in objectives)
    names = [each.name.strip().lower() for each in given]
    if not given or "" in names or len(set(names)) < len(names):
        raise InvalidSetting(f"objectives must have names, all different and at least one, but got {names}")
    return given


def in_words(objectives: Iterable[Objective]) -> tuple[Objective, ...]:
    """Return objectives with their names in words, as people say them: "price" for `price_eur`.

    An area in square meters is a size, and no place.
    """
    words = []
    for each in objectives:
        name = without_units(each.name)
        size = name == "area" and SQUARE.search(f"{each.name} {each.description}")
        words.append(replace(each, name="floor area" if size else name))
    return tuple(words)


def domain_names() -> list[str]:
    """Return the names of the domains that come with the package."""
    entries = data_file("domains").iterdir()
    return sorted(entry.name.removesuffix(".toml") for entry in entries if entry.name.endswith(".toml"))


def load_domain(name: str) -> tuple[Objective, ...]:
    """Return the objectives of a domain.

    Examples
    --------
    >>> [objective.name for objective in load_domain("beers")]
    ['appearance', 'aroma', 'palate', 'taste']
    """
    if name not in domain_names():
        raise UnknownName.of("domain", name, domain_names())
    return tuple(
        Objective(key, entry.get("description", ""), tuple(entry.get("synonyms", ())), tuple(entry.get("examples", ())))
        for key, entry in read_data("domains", f"{name}.toml").items()
    )
