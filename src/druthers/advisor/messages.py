"""What a message in a conversation is: a wish, a limit, how something was, a question, or small talk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal, NamedTuple, TypeAlias

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


# What is said of wishes; what is about items that were shown; what erases; and what only asks for an answer.
STATED = (Kind.WISH, Kind.LIMIT, Kind.DISMISSAL)
POINTING = (Kind.FEEDBACK, Kind.TAKEN, Kind.REJECT, Kind.LIKE, Kind.WHY, Kind.COMPARE, Kind.DETAIL, Kind.BEST)
ERASING = (Kind.FORGET_ME, Kind.FORGET_ME_YES)
ASKING = (Kind.WHY, Kind.COMPARE, Kind.DETAIL, Kind.FIND, Kind.BEST, Kind.PROFILE, Kind.HELP)


Part: TypeAlias = Literal["", "wishes", "limits"]


class Opinion(NamedTuple):
    """How an item was: as a whole, clause by clause, and in single objectives."""

    whole: list[float]
    aspects: dict[str, float]
    verdict: float | None = None  # what all comes to, where that is said: "all in all, I don't like it"

    @property
    def utility(self) -> float:
        """The verdict, or the mean of all, in which the whole counts twice: "I like it but it's dear"."""
        told = [*self.whole, *self.whole, *self.aspects.values()] if self.verdict is None else [self.verdict]
        return sum(told) / len(told)


@dataclass(frozen=True)
class Message:
    """A message as it was understood."""

    kind: Kind  # what it is
    text: str = field(default="", kw_only=True)  # as it was written
    places: tuple[int, ...] = ()  # which of the items shown it is about, from 0
    items: tuple[Item, ...] = ()  # other items that it names
    reading: Reading | None = None  # wishes and limits in it
    limits: Limits = field(default_factory=Limits)
    utility: float | None = None  # how something was as a whole, from -1 to 1; None if it does not say
    aspects: dict[str, float] = field(default_factory=dict)  # how it was in single objectives, from -1 to 1
    # Where several items were different: how each was, by its place.
    opinions: Mapping[int, Opinion] = field(default_factory=dict)
    # Names of objectives and details of which nothing said shall count any more; none for what was said last, or beside
    # a wish.
    forgotten: tuple[str, ...] = ()
    forgotten_part: Part = ""  # which part of what was said of these; all of it where none is named
    shown: bool = False  # whether it asks only about items that were shown
    most: bool = False  # whether it wishes for nothing but the most of something: "the cheapest one"
    rejected: tuple[int, ...] = ()  # which of the items shown it turns down beside: "not 1, I'll take 2"
    chance: float = 1.0  # how likely it is of this kind
    detail: str = ""  # the one thing known of items that it asks for, where its form tells
    counts: bool = False  # whether it asks how many there are


@dataclass(frozen=True)
class Context:
    """What a message comes after: the items shown last, and what was said before and still counts."""

    shown: Sequence[Item] = ()  # items, in the order in which they were shown
    wished: Sequence[str] = ()  # names of objectives
    limits: Where = field(default_factory=dict)  # limits in force
    # What "it" is, by its place: of the items shown the one that the last answer was about, or that was picked or rated
    # last; the first if there is none.
    latest: int = 0
    # What was picked or rated last, of these or of items shown earlier; None if more was said.
    rated: Item | None = None
    known: bool = False  # whether "it" is known: one was picked, rated or answered about
    taken: bool = False  # whether one of those shown was picked

    @property
    def reach(self) -> Sequence[Item]:
        """All items that it can be about, by their places: those shown, and what was rated where it is none of them."""
        return self.shown if self.rated is None or self.rated in self.shown else (*self.shown, self.rated)


def guessed(reading: Reading) -> tuple[str, ...]:
    """Return the names of what is wanted of which no word of the text tells: only its meaning is like theirs."""
    worded = {piece.objective for piece in reading.evidence if not piece.guessed}
    return tuple(reading.objectives[index] for index in reading.ranking if index not in worded)


def as_dismissed(reading: Reading) -> Reading:
    """Return a reading of what is wanted as one of what does not matter."""
    return replace(
        reading,
        ranking=(),
        dismissed=tuple(dict.fromkeys((*reading.ranking, *reading.dismissed))),
        evidence=tuple(replace(piece, role="dismissed") for piece in reading.evidence),
        confidences=(),
        strengths=(),
        question=None,
    )
