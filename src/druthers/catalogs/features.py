"""Details of items as numbers: what a policy that learns from features can be told about them."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from druthers.catalogs.catalog import Detail, Item
from druthers.types import Floats

# Of a detail in words or in lists, so many of its most frequent entries have a column each, if two items share them.
MOST_ENTRIES = 16
# Numbers beyond this are taken for unknown: their squares must stay finite.
MOST = 1e100


class Feature(NamedTuple):
    """A detail as a number: itself, or with an `entry` whether it says that."""

    detail: str
    entry: str | None = None

    @property
    def name(self) -> str:
        """What the column is called."""
        return self.detail if self.entry is None else f"{self.detail}: {self.entry}"

    def of(self, item: Item) -> float:
        """Return the number of an item; NaN where the detail is not known, or is no number."""
        told = item.details.get(self.detail)
        if told is not None and self.entry is not None:
            return float(self.entry in _words(told))
        return _as_number(told)


class ItemFeatures(NamedTuple):
    """Features of items: one name for each column, and a table (n, p) with NaN where a detail is not known."""

    names: tuple[str, ...]
    table: Floats


def find_features(items: Sequence[Item], most: int | None = None) -> tuple[Feature, ...]:
    """Return the features that the details of items make; where they are too many, of fewer entries of each detail."""
    found: list[list[Feature]] = []
    for detail in dict.fromkeys(key for item in items for key in item.details):
        entries = [entry for item in items if (entry := item.details.get(detail)) is not None]
        if all(isinstance(entry, int | float) for entry in entries):
            found.append([Feature(detail)])
            continue
        counts = Counter(word for entry in entries for word in sorted(_words(entry)))
        found.append([Feature(detail, word) for word, count in counts.most_common(MOST_ENTRIES) if count > 1])
    each = MOST_ENTRIES
    while most is not None and each > 1 and sum(len(one[:each]) for one in found) > most:
        each //= 2
    return tuple([feature for one in found for feature in sorted(one[:each], key=lambda one: one.name)][:most])


def feature_table(items: Sequence[Item], features: Sequence[Feature]) -> Floats:
    """Return the features of items (n, p)."""
    table = np.full((len(items), len(features)), np.nan)
    plain = [(column, feature.detail) for column, feature in enumerate(features) if feature.entry is None]
    entries: dict[str, dict[str, int]] = {}
    for column, feature in enumerate(features):
        if feature.entry is not None:
            entries.setdefault(feature.detail, {})[feature.entry] = column
    for column, detail in plain:
        table[:, column] = [_as_number(item.details.get(detail)) for item in items]
    for detail, columns in entries.items():
        told = [(row, entry) for row, item in enumerate(items) if (entry := item.details.get(detail)) is not None]
        table[np.ix_([row for row, _ in told], list(columns.values()))] = 0.0
        said = [(row, columns[word]) for row, entry in told for word in _words(entry) if word in columns]
        if said:
            table[tuple(np.array(said).T)] = 1.0
    return table


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
    features = find_features(items)
    return ItemFeatures(tuple(feature.name for feature in features), feature_table(items, features))


def _as_number(told: Detail | None) -> float:
    return float(told) if isinstance(told, int | float) and -MOST < told < MOST else math.nan


def _words(entry: Detail) -> set[str]:
    """Return the entries of a detail, a single one as a list of one."""
    if isinstance(entry, str | int | float):
        return {str(entry)}
    return {str(one) for one in entry}
