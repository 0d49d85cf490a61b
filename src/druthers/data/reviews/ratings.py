"""Ratings in compact columns, and the filters that leave some of them out, step by step."""

import dataclasses
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from druthers.errors import InvalidSetting
from druthers.types import Floats, Integers

Id: TypeAlias = str | bytes


@dataclass(frozen=True)
class Ratings:
    """Who rated what and how: one row for each review."""

    objectives: tuple[str, ...]  # names of what is rated
    users: NDArray[np.int32]  # numbers of the users, by first appearance; -1 for one without a name
    items: NDArray[np.int32]
    scores: Floats  # of the objectives (rows, D), more is better; NaN where one is missing
    utilities: Floats  # overall rating of each row; NaN where it is missing
    user_ids: Sequence[Id]  # the ids behind the numbers
    item_ids: Sequence[Id]

    def __len__(self) -> int:
        return len(self.users)

    def where(self, kept: NDArray[np.bool_]) -> "Ratings":
        """Return the rows that are kept; ids keep their numbers."""
        columns = {name: getattr(self, name)[kept] for name in ("users", "items", "scores", "utilities")}
        return dataclasses.replace(self, **columns)

    def of_each(self, users: Integers) -> Iterator[Integers]:
        """Yield the rows of each of some users, in order."""
        order = np.argsort(self.users, kind="stable")
        ranked = self.users[order]
        starts, ends = np.searchsorted(ranked, users), np.searchsorted(ranked, users, side="right")
        for start, end in zip(starts, ends, strict=True):
            yield order[start:end]

    @property
    def user_counts(self) -> Integers:
        """How many rows each user has."""
        return np.bincount(self.users[self.users >= 0], minlength=len(self.user_ids))

    @property
    def item_counts(self) -> Integers:
        """How many rows each item has."""
        return np.bincount(self.items, minlength=len(self.item_ids))


class Gathering:
    """Ratings while they are read: rows go into plain arrays, ids into dictionaries.

    Examples
    --------
    >>> gathering = Gathering(("clean", "quiet"))
    >>> gathering.add(gathering.user("ada"), gathering.item("inn"), (4.0, 3.0, 5.0))
    >>> gathering.ratings().scores
    array([[4., 3.]])
    """

    def __init__(self, objectives: Sequence[str]) -> None:
        self.objectives = tuple(objectives)
        self._users, self._items = array("i"), array("i")
        self._values = array("d")
        self._user_ids: dict[Id, int] = {}
        self._item_ids: dict[Id, int] = {}

    def user(self, key: Id) -> int:
        """Return the number of a user, a new one at first sight."""
        return self._user_ids.setdefault(key, len(self._user_ids))

    def item(self, key: Id) -> int:
        """Return the number of an item, a new one at first sight."""
        return self._item_ids.setdefault(key, len(self._item_ids))

    def add(self, user: int, item: int, values: Sequence[float]) -> None:
        """Take in one row: the ratings of the objectives, and the overall rating last."""
        self._users.append(user)
        self._items.append(item)
        self._values.extend(values)

    def add_rows(self, users: Sequence[int], items: Sequence[int], values: Floats) -> None:
        """Take in many rows."""
        self._users.extend(users)
        self._items.extend(items)
        self._values.frombytes(np.ascontiguousarray(values, dtype=np.float64).tobytes())

    def ratings(self) -> Ratings:
        """Return all rows."""
        values = np.array(self._values).reshape(-1, len(self.objectives) + 1)
        return Ratings(
            objectives=self.objectives,
            users=np.array(self._users, dtype=np.int32),
            items=np.array(self._items, dtype=np.int32),
            scores=values[:, :-1],
            utilities=values[:, -1],
            user_ids=list(self._user_ids),
            item_ids=list(self._item_ids),
        )


class Step(NamedTuple):
    """What was left after a step; None where it is not known."""

    step: str
    reviews: int | None
    users: int
    items: int


class Sieve:
    """Filters applied one after the other, with what each of them left.

    Examples
    --------
    >>> gathering = Gathering(("clean",))
    >>> for user, item in (("ada", "inn"), ("ada", "spa"), ("ben", "inn")):
    ...     gathering.add(gathering.user(user), gathering.item(item), (4.0, 4.0))
    >>> sieve = Sieve(gathering.ratings(), "all reviews")
    >>> sieve.at_least(2, "users", "users with 2 or more")
    >>> [tuple(step) for step in sieve.steps]
    [('all reviews', 3, 2, 2), ('users with 2 or more', 2, 1, 2)]
    """

    def __init__(self, ratings: Ratings, step: str, skipped: str = "") -> None:
        self.ratings = ratings
        self.skipped = skipped  # what could not be read, in words, to be told where nothing is left
        self.steps = [_step(step, ratings)]

    def keep(self, kept: NDArray[np.bool_], step: str, remedy: str) -> None:
        """Keep these rows; an error with a remedy if there are none."""
        before = self.steps[-1]
        if not kept.any():
            raise InvalidSetting(
                f"a data set must keep some reviews, but of {before.reviews:,} by {before.users:,} users of "
                f"{before.items:,} items ({before.step}) none is left as: {step}; {remedy}"
                + (self.skipped and f", or see what was skipped before: {self.skipped}")
            )
        if not kept.all():
            self.ratings = self.ratings.where(kept)
        self.steps.append(_step(step, self.ratings))

    def usable(self) -> None:
        """Keep reviews of users that have a name, and of these the ones with all ratings."""
        self.keep(self.ratings.users >= 0, "users known by name", "see where users are named")
        ratings = self.ratings
        whole = np.isfinite(ratings.utilities) & np.isfinite(ratings.scores).all(axis=1)
        self.keep(whole, "all ratings given", "leave out what is never rated with the others")

    def at_least(self, number: int, whose: str, step: str) -> None:
        """Keep the "users" or "items" that have at least so many reviews now."""
        self.keep(_enough(self.ratings, number, whose), step, f"ask {whose} for fewer")

    def until_stable(self, of_user: int, of_item: int, item: str) -> None:
        """Ask users and items for so many reviews in turn, until nothing changes."""
        rounds, rows = 0, -1
        while rows != len(self.ratings):
            rounds, rows = rounds + 1, len(self.ratings)
            again = f", round {rounds}" if rounds > 1 else ""
            for number, whose, name in ((of_user, "users", "user"), (of_item, "items", item)):
                kept = _enough(self.ratings, number, whose)
                if number > 1 and (rounds == 1 or not kept.all()):
                    self.keep(kept, f"{name}s with {number:,} or more{again}", f"ask {whose} for fewer")

    def stable(self, of_user: int, of_item: int) -> Step:
        """Return what `until_stable` would leave, be it nothing."""
        ratings, rows = self.ratings, -1
        while rows != len(ratings):
            rows = len(ratings)
            for number, whose in ((of_user, "users"), (of_item, "items")):
                ratings = ratings.where(_enough(ratings, number, whose))
        return _step("if repeated until nothing changes", ratings)


def _enough(ratings: Ratings, number: int, whose: str) -> NDArray[np.bool_]:
    counts = ratings.user_counts if whose == "users" else ratings.item_counts
    return np.asarray((counts >= number)[getattr(ratings, whose)], dtype=np.bool_)


def _step(step: str, ratings: Ratings) -> Step:
    users, items = np.count_nonzero(ratings.user_counts), np.count_nonzero(ratings.item_counts)
    return Step(step, len(ratings), int(users), int(items))
