"""The books: which id stands in which row."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from druthers.types import Integers


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
        return key in self.rows

    @property
    def n_rows(self) -> int:
        """How many rows are in use or were, row 0 included."""
        return 1 + len(self.rows) + len(self._free)

    def add(self, key: Hashable) -> int:
        """Give an unknown id a row."""
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
    def from_state(cls, state: dict[str, list[Any]]) -> Books:
        """Return the books that wrote this state."""
        books = cls()
        books.rows = dict(zip(state["ids"], map(int, state["rows"]), strict=True))
        books._free = [int(row) for row in state["free"]]
        if sorted([*books.rows.values(), *books._free]) != list(range(1, books.n_rows)):
            raise ValueError("the list of rows")
        return books
