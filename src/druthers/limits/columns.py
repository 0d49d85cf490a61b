"""What items are like, column by column, so that limits over 100,000 items take milliseconds."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers.catalogs import Item
from druthers.limits.days import WEEKDAYS, weekdays_of
from druthers.limits.where import Where, holds, hour_of, is_day, is_hour, values_of
from druthers.limits.words import fold
from druthers.types import Floats

Mask = NDArray[np.bool_]

LONGEST_PART = 30  # letters of what a list with commas has
YES = {"yes", "true", "ja", "si", "sí", "sì", "oui", "sim", "y"}
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


class Column:
    """What is known of all items under one name.

    Parameters
    ----------
    facts
        One for each item, None where nothing is known.
    """

    def __init__(self, facts: list[Any]) -> None:
        self.facts = facts
        self._known_times: dict[Callable[[object], str], tuple[NDArray[np.str_], NDArray[np.int64]]] = {}

    def renewed(self, facts: Mapping[int, Any]) -> "Column":
        """Return the column with the facts of some rows replaced, rows after the last one added; itself if all stay."""
        place, old = dict(self._different[0]), self._different[1]
        codes = {row: place.setdefault(_key(fact), len(place)) for row, fact in facts.items()}
        if all(row < len(old) and old[row] == code for row, code in codes.items()):
            return self
        added = max(max(codes) + 1 - len(old), 0)
        mine = self.facts + [None] * added
        which = np.concatenate([old, np.zeros(added, dtype=np.int64)])
        for row, code in codes.items():
            mine[row], which[row] = facts[row], code
        renewed = Column(mine)
        if len(place) > 2 * len(mine):  # most of them are facts of the past
            return renewed
        renewed.__dict__["_different"] = place, which
        return renewed

    @cached_property
    def _different(self) -> tuple[dict[tuple[Any, Any], int], NDArray[np.int64]]:
        """The code of each different fact, where true and 1 are not the same, and the code of each item."""
        place: dict[tuple[Any, Any], int] = {}
        which = [place.setdefault(_key(fact), len(place)) for fact in self.facts]
        return place, np.array(which, dtype=np.int64)

    def _spread(self, told: Iterable[Any], dtype: Any) -> NDArray[Any]:
        """Return for each item what is told of its fact."""
        return np.array(list(told), dtype=dtype)[self._different[1]]

    @cached_property
    def _used(self) -> list[Any]:
        """The different facts that some item has, those of the past left out."""
        counts = np.bincount(self._different[1], minlength=len(self._different[0])).tolist()
        return [fact for (_, fact), count in zip(self._different[0], counts, strict=True) if count]

    @cached_property
    def numbers(self) -> Floats:
        """The facts as numbers, NaN where there is none."""
        return self._spread((_number(fact) for _, fact in self._different[0]), np.float64)

    @cached_property
    def kinds(self) -> set[Any]:
        """All different facts, those within lists one by one."""
        return {part for fact in self._used for part in self._parts(fact)}

    @cached_property
    def has_lists(self) -> bool:
        """Whether items may have several facts under the name."""
        return self._has_commas or any(isinstance(fact, list | tuple) for fact in self._used)

    @cached_property
    def _has_commas(self) -> bool:
        """Whether texts are lists with commas, "English, Polish": most of their parts stand in other texts too."""
        listed = [cut for fact in self._used if isinstance(fact, str) and len(cut := _cut(fact)) > 1]
        if not listed:
            return False
        counts = Counter(part for cut in listed for part in {*cut})
        counts.update(fact for fact in self._used if isinstance(fact, str))
        again = [counts[part] > 1 and len(part) <= LONGEST_PART for cut in listed for part in cut]
        return sum(again) > len(again) / 2

    @cached_property
    def wholes(self) -> set[str]:
        """Texts with commas that are one thing too, "Portland, Oregon": what comes first in one is never second."""
        cuts = [_cut(fact) for fact in self._used if isinstance(fact, str)] if self._has_commas else []
        apart = {cut[0] for cut in cuts if len(cut) > 1}.isdisjoint(part for cut in cuts for part in cut[1:])
        return {fact for fact in self._used if isinstance(fact, str) and len(_cut(fact)) > 1} if apart else set()

    def _parts(self, fact: Any) -> Sequence[Any]:
        return _cut(fact) if isinstance(fact, str) and self._has_commas else _parts(fact)

    @cached_property
    def known(self) -> Mask:
        """Which items it is known of."""
        return self._spread((bool(said) for said in self._meanings), bool)

    @cached_property
    def _meanings(self) -> list[set[Any]]:
        """For each different fact what it says, one for each entry of a list."""
        facts = [fact for _, fact in self._different[0]]
        said = [{canonical(part) for part in _parts(fact)} for fact in facts]
        if self._has_commas:
            said = [{*one, *map(canonical, self._parts(fact))} for one, fact in zip(said, facts, strict=True)]
        return said

    @cached_property
    def _sayers(self) -> dict[Any, list[int]]:
        """The different facts that say something: names are as many as items, and not all are looked at each time."""
        found: dict[Any, list[int]] = {}
        for code, said in enumerate(self._meanings):
            for one in said:
                found.setdefault(one, []).append(code)
        return found

    def within(self, limit: Any) -> Mask:
        """Tell which items are within a limit; what is not known of an item breaks it."""
        if isinstance(limit, dict):
            if holds(limit):
                mask = self.known & ~self._is_any(limit.get("not"))
                for value in values_of(limit.get("all")):
                    mask &= self._is_any(value)
                return mask & self._is_any(limit["any"]) if "any" in limit else mask
            if any(isinstance(bound, str) for bound in limit.values()):
                times, codes = self._times(_time_of(limit))
                inside = (times >= limit.get("min", "")) & (times <= limit.get("max", "~"))
                return self._have(codes[inside])
            numbers = self.numbers
            with np.errstate(invalid="ignore"):
                low = numbers >= limit["min"] if "min" in limit else ~np.isnan(numbers)
                return low & (numbers <= limit["max"]) if "max" in limit else low
        return self._is_any(limit)

    def moved(self, limit: dict[str, Any], mask: Mask) -> dict[str, Any] | None:
        """Return bounds moved as little as it takes to let in one of some items; None where none has such a fact."""
        if any(isinstance(bound, str) for bound in limit.values()):
            time_of, facts = _time_of(limit), [self.facts[row] for row in np.flatnonzero(mask).tolist()]
            known: list[Any] = [time for fact in facts for part in self._parts(fact) if (time := time_of(part))]
        else:
            known = [float(one) for one in self.numbers[mask] if not np.isnan(one)]
        if not known:
            return None
        low = _size(limit["min"]) if "min" in limit else -math.inf
        high = _size(limit["max"]) if "max" in limit else math.inf
        nearest = min(known, key=lambda one: max(low - _size(one), _size(one) - high, 0.0))
        return {key: (min if key == "min" else max)(bound, nearest) for key, bound in limit.items()}

    def _is_any(self, values: Any) -> Mask:
        wanted = {canonical(value) for value in values_of(values)}
        return self._have([code for value in wanted for code in self._sayers.get(value, ())])

    def _have(self, codes: Sequence[int] | NDArray[np.int64]) -> Mask:
        """Tell which items have one of some facts."""
        said = np.zeros(len(self._meanings), dtype=bool)
        said[np.asarray(codes, np.int64)] = True
        mask: Mask = said[self._different[1]]
        return mask

    def _times(self, time_of: Callable[[object], str]) -> tuple[NDArray[np.str_], NDArray[np.int64]]:
        """Return all days or hours among the different facts, with the code of the fact; a list may have several."""
        if time_of not in self._known_times:
            facts = enumerate(self._different[0])
            found = [(time, code) for code, (_, fact) in facts for part in self._parts(fact) if (time := time_of(part))]
            times, codes = np.array([time for time, _ in found], "U10"), np.array([code for _, code in found], np.int64)
            self._known_times[time_of] = times, codes
        return self._known_times[time_of]


class Columns:
    """Details and values of items as columns, each made when a limit first needs it.

    Parameters
    ----------
    items
        The items.
    before
        Columns of a catalog that this one came from: what did not change is taken from there.
    """

    def __init__(self, items: Mapping[str, Item], before: "Columns | None" = None) -> None:
        self.ids = tuple(items)
        self.items = tuple(items.values())
        self._columns: dict[str, Column] = {}
        if before is not None and self.ids[: len(before.ids)] == before.ids:  # some came or changed, none left
            old = (*before.items, *(None,) * (len(self.items) - len(before.items)))
            rows = [row for row, (one, was) in enumerate(zip(self.items, old, strict=True)) if one is not was]
            for name, column in list(before._columns.items()):  # readers may add to them
                self._columns[name] = column.renewed({row: _fact(self.items[row], name) for row in rows})
            counts = before._counts.copy()
            counts.update(name for row in rows for name in _names(self.items[row]))
            counts.subtract(name for row in rows for name in _names(old[row]))
            self.__dict__["_counts"] = counts

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(name for item in self.items for name in _names(item))

    @property
    def names(self) -> list[str]:
        """Everything that a limit can be on: names of objectives and details."""
        return [name for name, count in self._counts.items() if count]

    @cached_property
    def places(self) -> dict[str, int]:
        """The row of each item by its id."""
        return {id: row for row, id in enumerate(self.ids)}

    @cached_property
    def by_name(self) -> dict[str, Item]:
        """Items by their names in small letters, without marks and a leading article; equal names have no item."""
        found: dict[str, Item | None] = {}
        for item in self.items:
            words = re.findall(r"[^\W_]+", fold(item.name))
            name = " ".join(words[1:] if words[:1] == ["the"] else words)
            found[name] = None if name in found else item
        return {name: item for name, item in found.items() if item is not None and len(name) > 2}

    def column(self, name: str) -> Column:
        """Return what is known of each item under a name; values go before details."""
        if name not in self._columns:
            self._columns[name] = Column([_fact(item, name) for item in self.items])
        return self._columns[name]

    def domains(self, most: int = 40) -> list[dict[str, Any]]:
        """Return what limits can be on: the lowest and highest of numbers, the different facts where they are few."""
        found: list[dict[str, Any]] = []
        for name in self.names:
            column = self.column(name)
            numbers = column.numbers[~np.isnan(column.numbers)]
            if len(numbers) and len(numbers) == np.count_nonzero(column.known):
                found.append({"name": name, "low": float(numbers.min()), "high": float(numbers.max())})
            elif 1 < len(column.kinds - {None}) <= most:
                found.append({"name": name, "values": sorted(column.kinds - {None}, key=str)})
        return found

    def allowed(self, where: Where) -> Mask:
        """Tell which items are within all limits; what is not known of an item breaks a limit on it."""
        mask = np.ones(len(self.items), dtype=bool)
        for name, limit in where.items():
            mask &= self.column(name).within(limit)
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
            if isinstance(limit, dict) and not holds(limit):
                if (near := self.column(name).moved(limit, mask)) is not None:
                    found.append(Relaxation(name, near, int(self.allowed({**where, name: near}).sum())))
                continue
            gentler = [(less, int(self.allowed({**where, name: less}).sum())) for less in _with_less(limit)]
            found += [Relaxation(name, less, count) for less, count in gentler if count]
            if not any(count for _, count in gentler):
                found.append(Relaxation(name, None, int(mask.sum())))
        return sorted(found, key=lambda one: (one.limit is None, one.items))

    def numbers(self, name: str) -> Floats:
        """Return a column as numbers, NaN where there is none."""
        return self.column(name).numbers


def _fact(item: Item, name: str) -> Any:
    if name in item.values:
        return item.values[name]
    return item.details.get(name, item.name if name == "name" else None)


def _key(fact: Any) -> tuple[Any, Any]:
    return (tuple(map(type, fact)) if isinstance(fact, tuple) else type(fact)), fact


def _names(item: Item | None) -> tuple[str, ...]:
    return () if item is None else (*item.values, *item.details)


def _day_of(fact: object) -> str:
    return str(fact) if is_day(fact) else ""


def _time_of(limit: Mapping[str, Any]) -> Callable[[object], str]:
    """Return what reads a fact as bounds are told, as a day or an hour."""
    return _day_of if any(map(is_day, limit.values())) else hour_of


def _cut(text: str) -> list[str]:
    text = text.strip()
    parts = re.split(r"\s*[,;](?!\d)\s*", text) if "," in text or ";" in text else [text]
    return [day for part in parts for day in weekdays_of(part)] if WEEKDAYS.search(text) else parts


def _parts(fact: Any) -> Sequence[Any]:
    return fact if isinstance(fact, list | tuple) else () if fact is None else (fact,)


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
        return text if math.isnan(number) else ("number", number)
    return "number", float(value)


def _number(fact: Any) -> float:
    if isinstance(fact, bool) or not isinstance(fact, str | float | int):
        return math.nan
    try:
        number = float(fact)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _size(bound: Any) -> float:
    """Return a number, a day or an hour as something that distances can be taken of."""
    if not isinstance(bound, str):
        return float(bound)
    if is_hour(bound):
        return 60.0 * int(bound[:2]) + int(bound[3:])
    year, month, day = map(int, bound.split("-"))  # a table may have 0000-00-00
    return 372.0 * year + 31.0 * month + day


def _with_less(limit: Any) -> list[dict[str, Any]]:
    """Return a limit on what must be there and what must not without one of these at a time; none where it is one."""
    found: list[dict[str, Any]] = []
    if holds(limit) and (len(limit) > 1 or len(values_of(limit.get("all"))) > 1):
        for part, values in limit.items():
            for value in values_of(values) if part != "any" else [None]:
                left = [one for one in values_of(values) if one != value and value is not None]
                less = {**limit, part: left[0] if len(left) == 1 else left}
                found.append({one: rest for one, rest in less.items() if rest != []})
    return found
