"""What a message in a conversation is: a wish, a limit, how something was, a question, or small talk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from druthers.catalogs import Item
from druthers.limits import Limits, Where
from druthers.types import Reading


class Kind(StrEnum):
    """What a message is."""

    GREETING = "greeting"
    THANKS = "thanks"
    WISH = "wish"
    LIMIT = "limit"
    DISMISSAL = "dismissal"
    FEEDBACK = "feedback"
    TAKEN = "taken"
    WHY = "why"
    COMPARE = "compare"
    DETAIL = "detail"
    FIND = "find"
    BEST = "which is best"
    PROFILE = "profile"
    HELP = "help"
    FORGET_THAT = "forget that"
    FORGET_ALL = "forget all"
    FORGET_ME = "forget me"
    FORGET_ME_YES = "forget me, yes"
    OTHER = "something else"
    REJECT = "not that one"
    LIKE = "more like that"
    NO = "no"
    UNCLEAR = "unclear"


# What is said of wishes; and what only asks for an answer.
STATED = (Kind.WISH, Kind.LIMIT, Kind.DISMISSAL)
ASKING = (Kind.WHY, Kind.COMPARE, Kind.DETAIL, Kind.FIND, Kind.BEST, Kind.PROFILE, Kind.HELP)


class Opinion(NamedTuple):
    """How an item was: as a whole, clause by clause, and in single objectives."""

    whole: list[float]
    aspects: dict[str, float]

    @property
    def utility(self) -> float:
        """The mean of all."""
        told = [*self.whole, *self.aspects.values()]
        return sum(told) / len(told)


@dataclass(frozen=True)
class Message:
    """A message as it was understood.

    Parameters
    ----------
    kind
        What it is.
    places
        Which of the items shown it is about, from 0.
    items
        Other items that it names.
    reading, limits
        Wishes and limits in it.
    utility
        How something was as a whole, from -1 to 1; None if it does not say.
    aspects
        How it was in single objectives, from -1 to 1.
    opinions
        Where several items were different: how each was, by its place.
    forgotten
        Names of objectives and details of which nothing said shall count any more; none for what was said last, or
        beside a wish.
    shown
        Whether it asks only about items that were shown.
    most
        Whether it wishes for nothing but the most of something: "the cheapest one".
    rejected
        Which of the items shown it turns down beside: "not 1, I'll take 2".
    chance
        How likely it is of this kind.
    """

    kind: Kind
    places: tuple[int, ...] = ()
    items: tuple[Item, ...] = ()
    reading: Reading | None = None
    limits: Limits = field(default_factory=Limits)
    utility: float | None = None
    aspects: dict[str, float] = field(default_factory=dict)
    opinions: Mapping[int, Opinion] = field(default_factory=dict)
    forgotten: tuple[str, ...] = ()
    shown: bool = False
    most: bool = False
    rejected: tuple[int, ...] = ()
    chance: float = 1.0


@dataclass(frozen=True)
class Context:
    """What a message comes after: the items shown last, and what was said before and still counts.

    Parameters
    ----------
    shown
        Items, in the order in which they were shown.
    wished
        Names of objectives.
    limits
        Limits in force.
    latest
        Which of the items shown was picked or rated last; the first if none was.
    """

    shown: Sequence[Item] = ()
    wished: Sequence[str] = ()
    limits: Where = field(default_factory=dict)
    latest: int = 0


def guessed(reading: Reading) -> tuple[str, ...]:
    """Return the names of what is wanted of which no word of the text tells: only its meaning is like theirs."""
    worded = {piece.objective for piece in reading.evidence if not piece.why.startswith("'like ")}
    return tuple(reading.objectives[index] for index in reading.ranking if index not in worded)
