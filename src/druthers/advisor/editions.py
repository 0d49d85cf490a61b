"""The editions of a journal's catalog: what mattered when, and how what was said then reads today.

A journal opens with its objectives; a migration gives it others from then on. The journal itself stays as it was
written. What is known is a fold of all of it by the last edition: every earlier event is read as if it were said today.

    an objective that is gone     drops out of rankings, dismissals, limits, rewards and values; by Plackett and Luce
                                  the order of the others is as likely as before
    one that is new               counts as not named in what was said before, and as not known of items and rewards
    one with another name         is the same one
    another range, way or scale   values and rewards are in units of their own, and are scaled anew; one beyond the
                                  range counts as its end
    one that comes back           finds what was said of it

Weights are learned anew from that.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from druthers.advisor import events
from druthers.catalogs import Catalog
from druthers.stores import Event, Store

T = TypeVar("T")


class Edition(NamedTuple):
    """A catalog without items, from an event of the journal on."""

    catalog: Catalog  # objectives with their scales, and what it is called
    position: int  # the event that brought it
    renamed: Mapping[str, str]  # names of objectives before, and since


class Editions:
    """All editions of a journal's catalog up to some moment.

    Parameters
    ----------
    editions
        In their order, at least one.
    """

    def __init__(self, editions: Sequence[Edition]) -> None:
        self.all = tuple(editions)
        self.catalog = self.all[-1].catalog
        self._starts = [edition.position for edition in self.all]
        self._objectives = {objective.name: objective for objective in self.catalog.objectives}
        self.names = [{objective.name for objective in edition.catalog.objectives} for edition in self.all]

    @classmethod
    def of(cls, store: Store) -> "Editions | None":
        """Return the editions of a journal as it stands; None for an empty one."""
        found = [_edition(event) for event in _editions(store)]
        return cls(found) if found else None

    def until(self, position: int) -> "Editions":
        """Return those that an event there could know; the first one at least."""
        return Editions(self.all[: max(bisect_right(self._starts, position), 1)])

    @property
    def number(self) -> int:
        """How many migrations there were."""
        return len(self.all) - 1

    @property
    def arithmetic(self) -> list[Any]:
        """All of it that a fold's numbers depend on: not words, and not when."""
        told: list[Any] = []
        for edition in self.all:
            measures = [
                (one.name, one.low, one.high, one.less_is_better, one.scale, one.doubt, one.typical)
                for one in edition.catalog.objectives
            ]
            if not told or told[-1][0] != measures or edition.renamed:
                told.append((measures, sorted(edition.renamed.items())))
        return told

    def today(self, event: Event) -> Event:
        """Return an event as the last edition reads it."""
        rewrite = _REWRITES.get(event.kind)
        if not self.number or rewrite is None:
            return event
        names = _Names(self, event.position)
        return event._replace(body=rewrite(event.body, names))

    def name(self, name: str, position: int) -> str | None:
        """Return what an objective that was named in an event is called today; None if it is none any more.

        An event may have been written by somebody who did not yet know of a migration before it: a name that was no
        objective then is looked for in earlier editions.
        """
        place = bisect_right(self._starts, position) - 1
        while place > 0 and name not in self.names[place]:
            place -= 1
        if place >= 0 and name in self.names[place]:
            for edition in self.all[place + 1 :]:
                name = edition.renamed.get(name, name)
        return name if name in self._objectives else None

    def value(self, name: str, value: float) -> float:
        """Return a measured value within today's range."""
        objective = self._objectives[name]
        return min(max(value, objective.low), objective.high)


class _Names:
    """The names of one event, today."""

    def __init__(self, editions: Editions, position: int) -> None:
        self._editions, self._position = editions, position

    def places(self, names: Sequence[str]) -> dict[str, int]:
        """Return each name that is still one, as it is today, with the place where it stood."""
        today: dict[str, int] = {}
        for place, name in enumerate(names):
            if (known := self._editions.name(name, self._position)) is not None:
                today.setdefault(known, place)
        return today

    def table(self, told: Mapping[str, T]) -> dict[str, T]:
        """Return what is told by name, of names that are still ones."""
        today = ((self._editions.name(name, self._position), one) for name, one in told.items())
        return {name: one for name, one in today if name is not None}

    def values(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return measured values, within today's ranges."""
        return {name: self._editions.value(name, value) for name, value in self.table(values).items()}

    def limits(self, limits: Mapping[str, T]) -> dict[str, T]:
        """Return limits on objectives and on details; the latter have no editions."""
        today = ((self._limited(name), limit) for name, limit in limits.items())
        return {name: limit for name, limit in today if name is not None}

    def _limited(self, name: str) -> str | None:
        was_objective = any(name in names for names in self._editions.names)
        return self._editions.name(name, self._position) if was_objective else name


def _wish(body: Mapping[str, Any], names: _Names) -> dict[str, Any]:
    today = dict(body)
    for part in ("ranking", "guessed", "dismissed"):
        if part in body:
            today[part] = list(names.places(body[part]))
    if body.get("draws"):
        today["draws"] = [body["draws"][place] for place in names.places(body["ranking"]).values()]
    today |= {part: names.limits(body[part]) for part in ("limits", "hopes") if part in body}
    if "said" in body:
        today["said"] = [_wish(one, names) for one in body["said"]]
    if "dropped" in body:
        today["dropped"] = list(names.limits(dict.fromkeys(body["dropped"])))
    return today


def _told(body: Mapping[str, Any], names: _Names) -> dict[str, Any]:
    """Return feedback, with what it takes back and what its teller gave."""
    today = {**body, "rewards": names.values(body.get("rewards") or {})}
    return today | {part: _told(body[part], names) for part in ("instead", "given") if part in body}


def _decided(body: Mapping[str, Any], names: _Names) -> dict[str, Any]:
    return {**body, **{part: names.limits(body[part]) for part in ("where", "limits") if part in body}}


def _item(body: Mapping[str, Any], names: _Names) -> dict[str, Any]:
    item = body["item"]
    values, counts = names.values(item.get("values", {})), names.table(item.get("counts", {}))
    return {**body, "item": {**item, "values": values, "counts": counts}}


_REWRITES = {
    events.ITEM: _item,
    events.QUERY: _wish,
    events.CORRECTION: _wish,
    events.DECISION: _decided,
    events.FEEDBACK: _told,
    events.MARK: _wish,
}


def _editions(store: Store) -> Iterator[Event]:
    """Yield the events that brought editions; each migration is found by its key."""
    yield from store.read(0, limit=1)
    number = 1
    while (event := store.find(events.migration_key(number))) is not None:
        yield event
        number += 1


def _edition(event: Event) -> Edition:
    body = events.check(event).body
    catalog = Catalog.from_content(dict(body["catalog"]), source="the journal")
    return Edition(catalog, event.position, dict(body.get("renamed", {})))
