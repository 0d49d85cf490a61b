"""Limits as they were said, each with its words, and all of one text together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from druthers.limits.where import Where, merge


class Stated(NamedTuple):
    """One limit, and the words behind it: `text[start:end]` of what was read."""

    name: str
    limit: Any
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Limits:
    """What a text says about limits.

    Parameters
    ----------
    where
        The limits.
    stated
        Each of them, with its words.
    dropped
        Names whose limits are taken back.
    unmatched
        Pieces that sound like limits and fit nothing in the catalog.
    rest
        The text with blanks in place of all this, every other letter where it was: what is left to be read as wishes.
    """

    where: Where = field(default_factory=dict)
    stated: tuple[Stated, ...] = ()
    dropped: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    rest: str = ""


def join(where: Where, one: Stated) -> Where:
    """Return limits with another one of the same text: several texts under one name are alternatives."""
    known = where.get(one.name)
    limit = one.limit
    if known is None or (isinstance(limit, dict) and "not" not in limit):
        return merge(where, {one.name: limit})
    excluded = isinstance(known, dict) and "not" in known
    if isinstance(limit, dict) and "not" in limit:
        if not excluded:
            return where  # "in Vienna, not in Graz": the first says it all
        return {**where, one.name: {"not": _listed(known["not"], limit["not"])}}
    return {**where, one.name: limit if excluded or known == limit else _listed(known, limit)}


def _listed(values: Any, others: Any) -> list[Any]:
    both = [one if isinstance(one, list) else [one] for one in (values, others)]
    return [*both[0], *(one for one in both[1] if one not in both[0])]
