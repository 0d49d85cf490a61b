"""A journal in memory: gone with the process, and the specification of the others."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from threading import RLock
from typing import ClassVar

from druthers.errors import StoreFailure
from druthers.stores.base import ERASURE, LAST, Event, Snapshot, Store, UserRecord, UserState
from druthers.stores.rows import Row, as_notice, bounded, check_text, decode, encode, scrubbed


class MemoryStore(Store):
    """A journal that lives as long as its process: for tests, notebooks and trying things out.

    Examples
    --------
    >>> store = MemoryStore()
    >>> store.append([Event("query", {"text": "cheap"}, 12.5, user="ada", key="q1")])
    [1]
    >>> store.append([Event("query", {}, 13.0, key="q1"), Event("query", {}, 13.5)])
    [0, 2]
    >>> store.find("q1").body
    {'text': 'cheap'}
    """

    name: ClassVar[str] = "memory"

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._keys: dict[str, int] = {}
        self._of: defaultdict[str | None, list[int]] = defaultdict(list)  # positions of a user's events
        self._about: defaultdict[str | None, list[int]] = defaultdict(list)  # and of those about a decision
        self._snapshots: dict[str, Snapshot] = {}
        self._users: dict[tuple[str, str], UserState] = {}
        self._lock = RLock()
        self._closed = False

    def append(self, events: Sequence[Event], *, together: bool = False) -> list[int]:
        """Add events in one step, and return their positions; 0 for one that is not added."""
        rows = encode(events)
        with self._lock:
            self._check_open()
            borne = [self._meets(event) for event in events]
            keys = [row.key for row in rows if row.key is not None]
            fits = all(borne) and len({*keys}) == len(keys) and self._keys.keys().isdisjoint(keys)
            if together and not fits:
                return [0] * len(rows)
            return [self._add(row) if fits else 0 for row, fits in zip(rows, borne, strict=True)]

    def read(
        self, after: int = 0, *, limit: int = 1000, user: str | None = None, kind: str | None = None
    ) -> list[Event]:
        """Return up to `limit` events after a position in their order, of one user or kind or of all."""
        after, limit = bounded(after), bounded(limit)
        with self._lock:
            self._check_open()
            places = range(after + 1, len(self._rows) + 1) if user is None else self._of.get(user, ())
            wanted = (at for at in places if at > after and kind in (None, self._rows[at - 1].kind))
            return [self._event(position) for position in islice(wanted, limit)]

    def about(self, decision: str) -> list[Event]:
        """Return all events about a decision, in their order."""
        with self._lock:
            self._check_open()
            return [self._event(position) for position in self._about.get(decision, ())]

    def find(self, key: str) -> Event | None:
        """Return the event with this key."""
        with self._lock:
            self._check_open()
            return self._event(self._keys[key]) if key in self._keys else None

    def last(self) -> int:
        """Return the position of the last event; 0 for an empty journal."""
        self._check_open()
        return len(self._rows)

    def erase(self, user: str, notice: Event, scrub: Callable[[Event], Event]) -> int:
        """Replace all events of a user by what `scrub` makes of them, drop what was folded of them, append a notice."""
        with self._lock:
            events = self.read(user=user, limit=LAST)
            if not events:
                return 0
            [told] = encode([as_notice(notice, user, events[0].position)])
            for event, row in zip(events, scrubbed(events, user, scrub), strict=True):
                self._rows[event.position - 1] = row
                if event.key is not None and row.key is None:
                    del self._keys[event.key]
            self._of.clear()
            self._about.clear()
            for position, row in enumerate(self._rows, 1):
                self._index(position, row)
            self._users = {place: state for place, state in self._users.items() if place[1] != user}
            self._snapshots.clear()
            return self._add(told)

    def save(self, fold: str, snapshot: Snapshot | None, users: Sequence[UserState] = ()) -> None:
        """Keep a snapshot and states of users, in one step."""
        check_text("fold", fold)
        with self._lock:
            self._check_open()
            kept = self._snapshots.get(fold)
            before = 1 if kept is None else kept.position
            if snapshot is not None and before <= snapshot.position <= len(self._rows):
                since = self._rows[snapshot.position :]
                if not any(row.kind == ERASURE for row in since):
                    self._snapshots[fold] = snapshot
            for state in users:
                known = self._users.get((fold, state.user))
                bears = self._bears(state.first, state.user) and self._bears(state.position, state.user)
                if bears and (known is None or known.position <= state.position):
                    self._users[fold, state.user] = state

    def snapshot(self, fold: str) -> Snapshot | None:
        """Return the latest snapshot of a fold."""
        self._check_open()
        return self._snapshots.get(fold)

    def users(self, fold: str, users: Iterable[str], upto: int = LAST) -> dict[str, UserRecord]:
        """Return what the journal has of users, as it stands at one moment."""
        with self._lock:
            self._check_open()
            records = dict.fromkeys(users, UserRecord())
            for user in records:
                places = self._of.get(user, ())
                last = max((position for position in places if position <= upto), default=0)
                records[user] = UserRecord(places[0] if places else 0, last, self._users.get((fold, user)))
            return records

    def folds(self) -> list[str]:
        """Return the names of all folds of which something is kept, the one that is furthest ahead first."""
        with self._lock:
            self._check_open()
            kept = [(-kept.position, fold) for fold, kept in self._snapshots.items()]
            kept += [(-state.position, fold) for (fold, _), state in self._users.items()]
            return list(dict.fromkeys(fold for _, fold in sorted(kept)))

    def compact(self, fold: str | None = None) -> None:
        """Drop the states of all folds but one; of all, with None."""
        with self._lock:
            self._check_open()
            self._snapshots = {name: kept for name, kept in self._snapshots.items() if name == fold}
            self._users = {place: state for place, state in self._users.items() if place[0] == fold}

    def check(self) -> list[str]:
        """Return nothing: there is no file that could be damaged."""
        self._check_open()
        return []

    def close(self) -> None:
        """Let go of all events."""
        self._closed = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def _check_open(self) -> None:
        if self._closed:
            raise StoreFailure("a store must be open to be used, but this one was closed; open it again")

    def _meets(self, event: Event) -> bool:
        """Tell whether the conditions of an event are met."""
        bound, latest = bounded(event.bound), bounded(event.latest)
        last = 0 if event.user is None else self._of.get(event.user, [0])[-1]
        return (not bound or self._bears(bound, event.user)) and (not latest or latest == last)

    def _bears(self, position: int, user: str | None) -> bool:
        return 0 < position <= len(self._rows) and self._rows[position - 1].user == user is not None

    def _add(self, row: Row) -> int:
        if row.key in self._keys:
            return 0
        self._rows.append(row)
        position = len(self._rows)
        self._index(position, row)
        if row.key is not None:
            self._keys[row.key] = position
        return position

    def _index(self, position: int, row: Row) -> None:
        self._of[row.user].append(position)
        self._about[row.about].append(position)

    def _event(self, position: int) -> Event:
        return decode(position, *self._rows[position - 1])
