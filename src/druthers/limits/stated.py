"""Limits as they were said, each with its words, and all of one text together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from druthers.limits.where import Where, holds, merge, values_of


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
    if known is None or (isinstance(limit, dict) and not holds(limit)) or (holds(known) and holds(limit)):
        return merge(where, {one.name: limit})
    if holds(limit):
        return where  # "in Vienna, not in Graz": the first says it all
    if holds(known) or known == limit:
        return {**where, one.name: limit}
    return {
        **where,
        one.name: [*values_of(known), *(value for value in values_of(limit) if value not in values_of(known))],
    }
