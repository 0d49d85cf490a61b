"""What things are called in other languages: one list, for wishes and for limits, from `glossary.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

LANGUAGES = ("de", "fr", "es", "it", "pt", "nl")


@cache
def _entries() -> list[tuple[list[str], list[list[str]]]]:
    """Return for each thing its English words, and those of each other language."""
    text = tomllib.loads(resources.files("druthers").joinpath("glossary.toml").read_text("utf-8"))["words"]
    entries = [entry.partition(":") for entry in text.split(";") if entry.strip()]
    return [
        ([word.strip() for word in english.split(",")], [part.split() for part in others.split("|")])
        for english, _, others in entries
    ]


@cache
def translations(language: str) -> dict[str, list[str]]:
    """Return what words of a language mean: English words, the likeliest first.

    Examples
    --------
    >>> translations("fr")["paysage"]
    ['scenery', 'landscape', 'views', 'view']
    """
    found: dict[str, list[str]] = {}
    for english, others in _entries():
        for word in dict(zip(LANGUAGES, others, strict=False)).get(language, ()):
            found.setdefault(word.replace("_", " "), []).extend(english)
    return found


@cache
def called() -> dict[str, list[str]]:
    """Return what English words are in other languages.

    Examples
    --------
    >>> called()["leather"][:3]
    ['leder', 'cuir', 'cuero']
    """
    found: dict[str, list[str]] = {}
    for english, others in _entries():
        for word in english:
            found.setdefault(word, []).extend(one.replace("_", " ") for part in others for one in part)
    return found
