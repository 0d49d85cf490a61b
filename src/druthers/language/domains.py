"""A few catalogs of objectives to try things with: names, one sentence each, some synonyms."""

from __future__ import annotations

import tomllib
from importlib import resources

from druthers.errors import UnknownName
from druthers.types import Objective


def domain_names() -> list[str]:
    """Return the names of the domains that come with the package."""
    folder = resources.files("druthers.language").joinpath("data", "domains")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def load_domain(name: str) -> tuple[Objective, ...]:
    """Return the objectives of a domain.

    Examples
    --------
    >>> [objective.name for objective in load_domain("beers")]
    ['appearance', 'aroma', 'palate', 'taste']
    """
    if name not in domain_names():
        raise UnknownName.of("domain", name, domain_names())
    text = resources.files("druthers.language").joinpath("data", "domains", f"{name}.toml").read_text(encoding="utf-8")
    return tuple(
        Objective(key, entry.get("description", ""), tuple(entry.get("synonyms", ())), tuple(entry.get("examples", ())))
        for key, entry in tomllib.loads(text).items()
    )
