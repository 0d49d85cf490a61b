"""The books: which id stands in which row."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from druthers.errors import InvalidOffer, InvalidSetting
from druthers.types import Integers


def unfit(key: object) -> InvalidSetting:
    """Return what to raise for an id that is not hashable."""
    return InvalidSetting(f"an id must be hashable, such as a text, a number or a tuple of these, but got {key!r}")


def require_id(key: Hashable) -> None:
    """Refuse an id that would not be found again: one that is not hashable, or not equal to itself, as NaN."""
    try:
        hash(key)
    except TypeError:
        raise unfit(key) from None
    if not _equals_itself(key):
        raise InvalidSetting(
            f"an id must be equal to itself to be found again, but got {key!r}; use a text or a number"
        )


def _equals_itself(key: Hashable) -> bool:
    if isinstance(key, tuple | frozenset):  # which compare what they hold by identity first
        return all(map(_equals_itself, key))
    return bool(key == key)  # noqa: PLR0124 - that is the question


class Books:
    """Rows for ids: made on first sight, freed when the id leaves, then used again. Row 0 is nobody's."""

    def __init__(self) -> None:
        self.rows: dict[Hashable, int] = {}
        self._free: list[int] = []
        self._listing: tuple[tuple[Hashable, ...], Integers] | None = None

    def __len__(self) -> int:
        """Return how many ids are known."""
        return len(self.rows)

    def __contains__(self, key: Hashable) -> bool:
        """Tell whether an id is known."""
        return self.find(key) is not None

    def find(self, key: Hashable) -> int | None:
        """Return the row of an id, None where it is not known."""
        try:
            return self.rows.get(key)
        except TypeError:
            raise unfit(key) from None

    def ids(self, given: Iterable[Hashable]) -> tuple[Hashable, ...]:
        """Return ids, each of which is known or could be: so that all are made known or none."""
        try:
            ids = tuple(given)
        except TypeError as problem:
            raise InvalidOffer(f"ids must come in a list, but got {given!r}") from problem
        for key in ids:
            if self.find(key) is None:
                require_id(key)
        return ids

    @property
    def n_rows(self) -> int:
        """How many rows are in use or were, row 0 included."""
        return 1 + len(self.rows) + len(self._free)

    def add(self, key: Hashable) -> int:
        """Give an unknown id a row."""
        require_id(key)
        row = self._free.pop() if self._free else self.n_rows
        self.rows[key] = row
        self._listing = None
        return row

    def remove(self, key: Hashable) -> int:
        """Free the row of a known id."""
        row = self.rows.pop(key)
        self._free.append(row)
        self._listing = None
        return row

    def listing(self) -> tuple[tuple[Hashable, ...], Integers]:
        """Return all ids, in order of first sight, with their rows."""
        if self._listing is None:
            self._listing = tuple(self.rows), np.array(list(self.rows.values()), dtype=np.int64)
        return self._listing

    def state(self) -> dict[str, list[Any]]:
        """Return the books as plain lists."""
        return {"ids": list(self.rows), "rows": list(self.rows.values()), "free": list(self._free)}

    @classmethod
    def from_state(cls, state: dict[str, list[Any]]) -> "Books":
        """Return the books that wrote this state."""
        books = cls()
        books.rows = dict(zip(state["ids"], map(int, state["rows"]), strict=True))
        books._free = [int(row) for row in state["free"]]
        if sorted([*books.rows.values(), *books._free]) != list(range(1, books.n_rows)):
            raise ValueError("the list of rows")
        return books
