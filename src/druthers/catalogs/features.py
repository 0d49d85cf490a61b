"""Details of items as numbers: what a policy that learns from features can be told about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from druthers.catalogs.catalog import Detail, Item
from druthers.types import Floats

# Of a detail in words or in lists, so many of its most frequent entries have a column each, if two items share them.
MOST_ENTRIES = 16


class ItemFeatures(NamedTuple):
    """Features of items: one name for each column, and a table (n, p) with NaN where a detail is not known."""

    names: tuple[str, ...]
    table: Floats


def item_features(items: Sequence[Item]) -> ItemFeatures:
    """Return the details of items as numbers.

    A number is itself, true is 1 and false 0; a word is 1 in the column of that word and 0 in those of others, and so
    is each entry of a list. Where an item lacks a detail, all columns of it are NaN.

    Examples
    --------
    >>> inns = [Item("a", details={"city": "Rome", "rooms": 9}), Item("b", details={"city": "Rome"}), Item("c")]
    >>> names, table = item_features(inns)
    >>> names
    ('city: Rome', 'rooms')
    >>> table
    array([[ 1.,  9.],
           [ 1., nan],
           [nan, nan]])
    """
    names: list[str] = []
    columns: list[list[float]] = []
    for detail in dict.fromkeys(key for item in items for key in item.details):
        entries = [item.details.get(detail) for item in items]
        if all(isinstance(entry, int | float | None) for entry in entries):
            names.append(detail)
            columns.append([np.nan if entry is None else float(entry) for entry in entries])  # type: ignore[arg-type]
            continue
        sets = [None if entry is None else _words(entry) for entry in entries]
        counts = Counter(word for words in sets if words is not None for word in sorted(words))
        for word, count in sorted(counts.most_common(MOST_ENTRIES)):
            if count > 1:
                names.append(f"{detail}: {word}")
                columns.append([np.nan if words is None else float(word in words) for words in sets])
    return ItemFeatures(tuple(names), np.array(columns, dtype=np.float64).reshape(len(names), len(items)).T.copy())


def _words(entry: Detail) -> set[str]:
    """Return the entries of a detail, a single one as a list of one."""
    if isinstance(entry, str | int | float):
        return {str(entry)}
    return {str(one) for one in entry}
