"""Laws of settings: what a value must be, as a test and in words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from druthers.own import is_own


class Law(NamedTuple):
    """What a setting must be.

    Parameters
    ----------
    holds
        Whether a value is lawful.
    says
        The same in words, after "must be".
    known
        The choices, where they are few.
    is_text
        Whether it is a text: the environment then holds it as it is, without quotes.
    """

    holds: Callable[[Any], bool]
    says: str
    known: tuple[str, ...] = ()
    is_text: bool = False


def whole(low: int, high: int) -> Law:
    """Return the law of whole numbers in a range.

    Examples
    --------
    >>> [whole(1, 9).holds(value) for value in (9, 10, 3.0, True, "3")]
    [True, False, False, False, False]
    """
    return Law(lambda value: type(value) is int and low <= value <= high, f"a whole number from {low} to {high}")


def number(low: float, high: float) -> Law:
    """Return the law of numbers in a range."""

    def holds(value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high

    return Law(holds, f"a number from {low:g} to {high:g}")


FLAG = Law(lambda value: isinstance(value, bool), "true or false")


def one_of(names: Iterable[str], *, or_own: bool = False) -> Law:
    """Return the law of a few names, or of those and of files of your own."""
    known = tuple(names)
    says = f"one of {', '.join(known)}" + (", or FILE.py:Class for your own" if or_own else "")
    return Law(
        lambda value: isinstance(value, str) and (value in known or (or_own and is_own(value))),
        says,
        known,
        is_text=True,
    )


def like(pattern: str, says: str) -> Law:
    """Return the law of texts that match a pattern as a whole."""
    return Law(lambda value: isinstance(value, str) and bool(re.fullmatch(pattern, value)), says, is_text=True)


def _plain(value: object) -> bool:
    """See whether a value is made of what TOML and JSON both hold, and of finite numbers."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _plain(part) for key, part in value.items())
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


TABLE = Law(lambda value: isinstance(value, Mapping) and _plain(value), "a table of texts and finite numbers")
