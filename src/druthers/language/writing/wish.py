"""What a writer is asked to say, and what every writer does."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np

from druthers.errors import InvalidRanking, InvalidSetting
from druthers.types import Objective, RankingLike


class Wish(NamedTuple):
    """What is to be said: as the arguments of `Writer.write`."""

    ranking: RankingLike
    vague: bool = False
    number: int | None = None


class Written(NamedTuple):
    """What was written, and what happened on the way."""

    text: str
    notes: tuple[str, ...] = ()


class Writer(Protocol):
    """What every writer does."""

    objectives: tuple[Objective, ...]

    def write(self, ranking: RankingLike, *, vague: bool = False, number: int | None = None) -> str:
        """Return a text that says this ranking, or next to nothing of it."""

    def write_all(self, wishes: Iterable[Wish]) -> list[Written]:
        """Return a text for each wish, in their order."""


def require_whole(what: str, number: object) -> None:
    """Refuse what is not a whole number, zero or more."""
    if not isinstance(number, (int, np.integer)) or number < 0:
        raise InvalidSetting(f"{what} must be a whole number, zero or more, but got {number!r}")


def checked_wish(wish: Wish, n_objectives: int) -> list[int]:
    """Return the ranking of a wish as a list, or say which law it breaks."""
    if wish.number is not None:
        require_whole("the number of a text", wish.number)
    order = _checked(wish.ranking, n_objectives)
    if not order and not wish.vague:
        raise InvalidRanking("a ranking must name an objective to be written, but got (); write it with vague=True")
    return order


def _checked(ranking: RankingLike, n_objectives: int) -> list[int]:
    """Return a ranking as a list, or say which law it breaks."""
    try:
        array = np.asarray(ranking)
    except ValueError as problem:
        raise InvalidRanking(f"a ranking must be a flat list of objective indices, but got {ranking!r}") from problem
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidRanking(f"a ranking must be a flat list of objective indices, but got {ranking!r}")
    order: list[int] = array.tolist()
    if any(not 0 <= index < n_objectives for index in order):
        raise InvalidRanking(f"a ranking must name objectives 0 to {n_objectives - 1}, but got {tuple(order)}")
    if len(set(order)) < len(order):
        raise InvalidRanking(f"a ranking must not repeat an objective, but got {tuple(order)}")
    return order
