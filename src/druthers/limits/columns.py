"""What items are like, column by column, so that limits over 100,000 items take milliseconds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers.catalogs import Item
from druthers.limits.where import Where
from druthers.types import Floats

Mask = NDArray[np.bool_]

YES = {"yes", "true", "ja", "si", "sí", "oui", "sim", "y"}
NO = {"no", "false", "nein", "non", "não", "nee", "none", "n"}


class Relaxation(NamedTuple):
    """What giving up one limit, or moving it, would bring.

    Parameters
    ----------
    name
        The limit to relax.
    limit
        What it would have to be; None for leaving it out.
    items
        How many items there would be.
    """

    name: str
    limit: Any
    items: int


class Columns:
    """Details and values of items as columns, each made when a limit first needs it.

    Parameters
    ----------
    items
        The items; a changed catalog needs new columns.
    """

    def __init__(self, items: Mapping[str, Item]) -> None:
        self.ids = tuple(items)
        self.items = tuple(items.values())
        self._codes: dict[str, tuple[NDArray[np.int64], NDArray[np.int64], dict[Any, int]]] = {}
        self._numbers: dict[str, Floats] = {}

    @cached_property
    def names(self) -> dict[str, None]:
        """Everything that a limit can be on: names of objectives and details."""
        return {name: None for item in self.items for name in (*item.values, *item.details)}

    @cached_property
    def places(self) -> dict[str, int]:
        """The row of each item by its id."""
        return {id: row for row, id in enumerate(self.ids)}

    @cached_property
    def by_name(self) -> dict[str, Item]:
        """Items by their names in small letters, without marks and a leading article; equal names have no item."""
        found: dict[str, Item | None] = {}
        for item in self.items:
            words = re.findall(r"[^\W_]+", item.name.lower())
            name = " ".join(words[1:] if words[:1] == ["the"] else words)
            found[name] = None if name in found else item
        return {name: item for name, item in found.items() if item is not None and len(name) > 2}

    def facts(self, name: str) -> list[Any]:
        """Return what is known of each item under a name, None where nothing is; values go before details."""
        return [item.values.get(name, item.details.get(name)) for item in self.items]

    def allowed(self, where: Where) -> Mask:
        """Tell which items are within all limits; what is not known of an item breaks a limit on it."""
        mask = np.ones(len(self.items), dtype=bool)
        for name, limit in where.items():
            mask &= self._within(name, limit)
        return mask

    def eligible(self, where: Where) -> list[str]:
        """Return the ids of the items within all limits, in their order."""
        return [self.ids[row] for row in np.flatnonzero(self.allowed(where)).tolist()]

    def relax(self, where: Where) -> list[Relaxation]:
        """Return which single limit to relax where nothing is left, the gentlest change first.

        A bound is moved only as far as it takes to bring in an item; what cannot be moved is left out.
        """
        found = []
        for name, limit in where.items():
            mask = self.allowed({key: value for key, value in where.items() if key != name})
            if not mask.any():
                continue
            if isinstance(limit, dict) and "not" not in limit:
                near = _moved(self.numbers(name)[mask], limit)
                if near is None:
                    continue
                moved = self.allowed({**where, name: near})
                found.append(Relaxation(name, near, int(moved.sum())))
            else:
                found.append(Relaxation(name, None, int(mask.sum())))
        return sorted(found, key=lambda one: (one.limit is None, one.items))

    def numbers(self, name: str) -> Floats:
        """Return a column as numbers, NaN where there is none."""
        if name not in self._numbers:
            self._numbers[name] = np.array([_number(fact) for fact in self.facts(name)], dtype=np.float64)
        return self._numbers[name]

    def _within(self, name: str, limit: Any) -> Mask:
        if isinstance(limit, dict):
            if "not" in limit:
                return self._known(name) & ~self._is_any(name, limit["not"])
            numbers = self.numbers(name)
            with np.errstate(invalid="ignore"):
                low = numbers >= limit["min"] if "min" in limit else ~np.isnan(numbers)
                return low & (numbers <= limit["max"]) if "max" in limit else low
        return self._is_any(name, limit)

    def _known(self, name: str) -> Mask:
        rows, _, _ = self._coded(name)
        known = np.zeros(len(self.items), dtype=bool)
        known[rows] = True
        return known

    def _is_any(self, name: str, values: Any) -> Mask:
        rows, codes, meaning = self._coded(name)
        wanted = values if isinstance(values, list) else [values]
        found = [meaning[key] for value in wanted if (key := canonical(value)) in meaning]
        mask = np.zeros(len(self.items), dtype=bool)
        mask[rows[np.isin(codes, found)]] = True
        return mask

    def _coded(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[Any, int]]:
        """Return rows and codes of the values under a name, one pair for each entry of a list, and what codes mean."""
        if name not in self._codes:
            meaning: dict[Any, int] = {}
            rows, codes = [], []
            for row, fact in enumerate(self.facts(name)):
                for part in fact if isinstance(fact, list | tuple) else () if fact is None else (fact,):
                    rows.append(row)
                    codes.append(meaning.setdefault(canonical(part), len(meaning)))
            self._codes[name] = np.array(rows, dtype=np.int64), np.array(codes, dtype=np.int64), meaning
        return self._codes[name]


def canonical(value: Any) -> Any:
    """Return what two values must have in common to be the same to a person: "Vienna" and "vienna", true and "yes".

    Examples
    --------
    >>> canonical("Yes") == canonical(True), canonical("8") == canonical(8)
    (True, True)
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = " ".join(value.casefold().split())
        if text in YES | NO:
            return text in YES
        number = _number(text)
        return text if np.isnan(number) else ("number", number)
    return "number", float(value)


def _number(fact: Any) -> float:
    if isinstance(fact, bool) or fact is None or isinstance(fact, list | tuple):
        return float("nan")
    try:
        number = float(fact)
    except ValueError:
        return float("nan")
    return number if np.isfinite(number) else float("nan")


def _moved(numbers: Floats, limit: dict[str, Any]) -> dict[str, Any] | None:
    """Return a range moved as little as it takes to hold one of these numbers."""
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return None
    low, high = limit.get("min", -np.inf), limit.get("max", np.inf)
    nearest = float(known[np.argmin(np.maximum(low - known, 0.0) + np.maximum(known - high, 0.0))])
    return {key: (min if key == "min" else max)(bound, nearest) for key, bound in limit.items()}
