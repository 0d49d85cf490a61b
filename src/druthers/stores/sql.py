"""What stores in SQL databases have in common: queries, and schemas that grow by migrations."""

import json
import logging
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import Lock
from typing import Any, ClassVar, Protocol

from druthers.errors import OtherJournal, StoreFailure
from druthers.stores.base import LAST, PAGE, Event, Snapshot, Store, UserRecord, UserState
from druthers.stores.queries import EVENTS, FOLDS, LOST, MARK, OF_USER, SAVE, SAVE_USER, SCAN, SCRUB, USERS, WITNESSES
from druthers.stores.rows import (
    Row,
    as_notice,
    bounded,
    check_text,
    decode,
    encode,
    old_mark,
    scrubbed,
    sealed,
    storable,
)

# Events that are looked at in one go where no index is trusted.
SCANNED = 20_000

_log = logging.getLogger(__name__)


class Cursor(Protocol):
    """What both databases give to ask questions with."""

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Any:
        """Carry out a statement."""

    def executemany(self, query: str, rows: Sequence[Sequence[Any]], /) -> Any:
        """Carry out a statement once for each row."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return what the last statement found."""


class Link:
    """A connection that is opened when it is needed, for one thread at a time."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.connection: Any = None

    def drop(self) -> None:
        """Close the connection; the next call opens another."""
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()


class SQLStore(Store):
    """A journal in an SQL database, over two connections: who reads does not wait for who writes.

    A subclass brings connections, transactions and how events are added. Queries are written with `?`.
    """

    # What leads from one version of the schema to the next; the version of a journal is the number of those done.
    migrations: ClassVar[Sequence[Sequence[str]]]
    has_schema: ClassVar[str]
    # The texts of a list in JSON, as a table called asked with a column called value.
    asked: ClassVar[str]
    reindex: ClassVar[str]

    def __init__(self, problems: type[Exception]) -> None:
        self._problems = problems
        self._writer, self._reader = Link(), Link()
        self._closed = False
        self._hurried = True
        self._newest = 0, ""  # position and mark of the newest event that went through our hands
        self._looked_back = False  # whether the journal was seen to hold all that was saved of it
        self._noting = Lock()

    @abstractmethod
    def _connect(self) -> Any:
        """Open a connection."""

    @abstractmethod
    def _look_at(self, link: Link) -> None:
        """Drop a connection that is of no use any more, or refuse to go on."""

    @abstractmethod
    def _failure(self, problem: Exception, *, sent: bool) -> StoreFailure:
        """Return what to say about a problem of the database; a change may have been sent to it, or not."""

    @abstractmethod
    def _query(self, connection: Any, *queries: tuple[str, Sequence[Any]]) -> list[list[tuple[Any, ...]]]:
        """Return what queries find in the journal as it stands, one after the other."""

    @abstractmethod
    def _transaction(self, *tables: str) -> AbstractContextManager[Cursor]:
        """Begin a transaction, the only one of its kind on these tables, that ends with the block."""

    @abstractmethod
    def _add(
        self, cursor: Cursor, rows: Sequence[Row], events: Sequence[Event], *, together: bool = False
    ) -> list[int]:
        """Append within a transaction on events: their rows, where the conditions are met that they have."""

    @contextmanager
    def _using(self, link: Link) -> Iterator[Any]:
        """Give a connection; one that failed is dropped, so that the next call starts afresh."""
        with link.lock:
            if self._closed:
                raise StoreFailure(f"a store must be open to be used, but {self!r} was closed; open it again")
            sent = False
            try:
                self._look_at(link)
                if link.connection is None:
                    link.connection = self._connect()
                sent = link is self._writer
                yield link.connection
            except self._problems as problem:
                link.drop()
                raise self._failure(problem, sent=sent) from None

    @contextmanager
    def _unhurried(self) -> Iterator[None]:
        """Let changes take as long as they need while the block lasts."""
        self._hurried = False
        try:
            with self._writer.lock:
                self._writer.drop()
            yield
        finally:
            self._hurried = True
            with self._writer.lock:
                self._writer.drop()

    def _ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds, if the journal is still the one that it was."""
        newest = self._newest
        with self._using(self._reader) as connection:
            if not newest[0]:
                return self._query(connection, (query, values))[0]
            found, here = self._query(connection, (query, values), (MARK, newest[:1]))
        self._stay(newest, here)
        return found

    @contextmanager
    def _change(self, *tables: str) -> Iterator[Cursor]:
        """Begin a transaction, if the journal is still the one that it was."""
        with self._transaction(*tables) as cursor:
            newest = self._newest
            if newest[0]:
                cursor.execute(MARK, newest[:1])
                self._stay(newest, cursor.fetchall())
            yield cursor

    def _stay(self, newest: tuple[int, str], here: list[tuple[Any, ...]]) -> None:
        """Refuse to go on where the newest event that we know is not there."""
        if here != [newest[1:]]:
            fact = "has none there" if not here else "has another one there"
            raise OtherJournal(
                f"a journal must keep what was read from it, up to event {newest[0]}, but {self!r} {fact}: an older or"
                " another journal was put in its place; bring the right one back, or start again to fold this one anew"
            )

    def refuse_lost(self) -> None:
        """Refuse a journal that is older, or another one, than what was folded and saved in it."""
        super().refuse_lost()
        self._looked_back = True

    def _look_back(self) -> None:
        """Refuse to add to a journal that lost what was saved of it; from then on its newest event is watched."""
        if not self._looked_back:
            self.refuse_lost()

    def _trust_index(self, user: str) -> None:
        """Make the indexes of events anew where the one of users does not find all events of somebody.

        Who is erased must be gone, whatever an index says, so this looks at every event, some at a time.
        """
        there: list[tuple[int]] = []
        for start in range(0, self.last(), SCANNED):
            there += self._ask(SCAN, start, start + SCANNED, user)
        missing = {*there} - {*self._ask(OF_USER, user)}
        if any(event.user == user for (position,) in missing for event in self.read(position - 1, limit=1)):
            _log.warning(
                "an index of the journal lacks events that are there, and is made anew: see that its disk is whole"
            )
            with self._unhurried(), self._transaction("druthers_events") as cursor:
                cursor.execute(self.reindex)

    def _note(self, position: int, mark: str) -> None:
        with self._noting:
            if position > self._newest[0]:
                self._newest = position, mark

    def _events(self, query: str, *values: Any) -> list[Event]:
        events = [decode(*row) for row in self._ask(f"{EVENTS} WHERE {query}", *values)]
        if events:
            self._note(events[-1].position, events[-1].mark)
        return events

    def close(self) -> None:
        """Let go of files and connections; closing twice is fine."""
        self._closed = True
        for link in (self._reader, self._writer):
            with link.lock:
                link.drop()

    def append(self, events: Sequence[Event], *, together: bool = False) -> list[int]:
        """Add events for good, in one transaction, and return their positions; 0 for one that is not added."""
        rows = encode(events)
        if not rows:
            return []
        self._look_back()
        positions = self._append(rows, events, together=together)
        added = [(position, row.mark) for position, row in zip(positions, rows, strict=True) if position]
        if added:
            self._note(*added[-1])
        return positions

    def _append(self, rows: Sequence[Row], events: Sequence[Event], *, together: bool) -> list[int]:
        with self._change("druthers_events") as cursor:
            return self._add(cursor, rows, events, together=together)

    def read(
        self, after: int = 0, *, limit: int = 1000, user: str | None = None, kind: str | None = None
    ) -> list[Event]:
        """Return up to `limit` events after a position in their order, of one user or kind or of all."""
        where, values = ["position > ?"], list[Any]([bounded(after)])
        for column, wanted in (('"user"', user), ("kind", kind)):
            if wanted is not None:
                if not storable(wanted):
                    return []
                where.append(f"{column} = ?")
                values.append(wanted)
        return self._events(f"{' AND '.join(where)} ORDER BY position LIMIT ?", *values, bounded(limit))

    def about(self, decision: str) -> list[Event]:
        """Return all events about a decision, in their order."""
        return self._events("about = ? ORDER BY position", decision) if storable(decision) else []

    def find(self, key: str) -> Event | None:
        """Return the event with this key."""
        return next(iter(self._events("key = ?", key)), None) if storable(key) else None

    def last(self) -> int:
        """Return the position of the last event; 0 for an empty journal."""
        [(position,)] = self._ask("SELECT max(position) FROM druthers_events")
        return position or 0

    def erase(self, user: str, notice: Event, scrub: Callable[[Event], Event]) -> int:
        """Replace all events of a user by what `scrub` makes of them, drop what was folded of them, append a notice."""
        if not storable(user):
            return 0
        self._look_back()
        self._trust_index(user)
        with self._change("druthers_events", "druthers_users") as cursor:
            cursor.execute(f'{EVENTS} WHERE "user" = ? ORDER BY position', (user,))
            events = [decode(*row) for row in cursor.fetchall()]
            if not events:
                return 0
            notices = [as_notice(notice, user, events[0].position)]
            told = encode(notices)
            rows = scrubbed(events, user, scrub)
            cursor.executemany(SCRUB, [(*row, event.position) for row, event in zip(rows, events, strict=True)])
            cursor.execute('DELETE FROM druthers_users WHERE "user" = ?', (user,))
            cursor.execute("DELETE FROM druthers_snapshots")  # what people have in common is kept in them, one by one
            [position] = self._add(cursor, told, notices)
        self._note(position, told[0].mark)
        return position

    def save(self, fold: str, snapshot: Snapshot | None, users: Sequence[UserState] = ()) -> None:
        """Keep a snapshot and states of users, in one transaction."""
        check_text("fold", fold)
        states = [
            (fold, state.body, bounded(state.first), bounded(state.position), state.user)
            for state in users
            if storable(state.user)
        ]
        with self._change("druthers_users") as cursor:
            if snapshot is not None:
                cursor.execute(SAVE, (fold, snapshot.body, bounded(snapshot.position)))
            if states:
                cursor.executemany(SAVE_USER, states)

    def snapshot(self, fold: str) -> Snapshot | None:
        """Return the latest snapshot of a fold."""
        if not storable(fold):
            return None
        query = f"SELECT position, body, mark FROM druthers_snapshots AS kept WHERE fold = ? AND NOT {LOST}"
        for position, body, mark in self._ask(query, fold):
            self._note(position, mark)
            return Snapshot(position, body)
        return None

    def users(self, fold: str, users: Iterable[str], upto: int = LAST) -> dict[str, UserRecord]:
        """Return what the journal has of users, as it stands at one moment."""
        records = dict.fromkeys(users, UserRecord())
        asked = json.dumps([user for user in records if storable(user)])
        if storable(fold):
            for user, first, last, *kept in self._ask(USERS % self.asked, bounded(upto), asked, fold):
                state = None if kept[0] is None else UserState(user, *kept)
                records[user] = UserRecord(first or 0, last or 0, state)
        return records

    def folds(self) -> list[str]:
        """Return the names of all folds of which something is kept, the one that is furthest ahead first."""
        return [fold for (fold,) in self._ask(FOLDS)]

    def lost(self) -> int:
        """Return the last position of which a snapshot or state tells while the journal lacks its event; 0 for none."""
        return self._ask(WITNESSES)[0][0] or 0

    def _drop_folds(self, fold: str | None) -> None:
        """Drop the states of all folds but one and witnesses; or all."""
        where, values = ("", ()) if fold is None else (f" WHERE fold <> ? AND NOT {LOST}", (check_text("fold", fold),))
        with self._change("druthers_users") as cursor:
            for table in ("druthers_snapshots", "druthers_users"):
                cursor.execute(f"DELETE FROM {table} AS kept{where}", values)

    def _prepare(self, *, migrate: bool, create: bool) -> None:
        """Make a fresh journal, or bring an old one to the newest version where that is allowed."""
        found = self._ask(self.has_schema) and self._ask("SELECT version FROM druthers_journal")
        if self._check_version(found[0][0] if found else 0, migrate, create):
            return
        with self._unhurried(), self._transaction("druthers_journal") as cursor:
            version = self._version(cursor)
            if self._check_version(version, migrate, create):
                return
            if not version:
                cursor.execute("CREATE TABLE druthers_journal (version INTEGER NOT NULL)")
                cursor.execute("INSERT INTO druthers_journal VALUES (0)")
            for statements in self.migrations[version:]:
                for statement in statements:
                    cursor.execute(statement)
            self._seal(cursor)
            cursor.execute("UPDATE druthers_journal SET version = ?", (len(self.migrations),))

    def _seal(self, cursor: Cursor) -> None:
        """Give marks and checksums to events from before there were any."""
        after = 0
        while True:
            cursor.execute(f"{EVENTS} WHERE position > ? ORDER BY position LIMIT ?", (after, PAGE))
            page = cursor.fetchall()
            if not page:
                return
            old = [
                (Row(kind, body, at, user, about, key, old_mark(position, at), ""), position)
                for position, kind, body, at, user, about, key, _, checksum in page
                if not checksum
            ]
            cursor.executemany(SCRUB, [(*sealed(row), position) for row, position in old])
            after = page[-1][0]

    def _version(self, cursor: Cursor) -> int:
        """Return the version of the schema; 0 where there is none."""
        cursor.execute(self.has_schema)
        if not cursor.fetchall():
            return 0
        cursor.execute("SELECT version FROM druthers_journal")
        return int(cursor.fetchall()[0][0])

    def _check_version(self, version: int, migrate: bool, create: bool) -> bool:
        """Tell whether a journal is of the newest version; refuse one that may not be brought there."""
        newest = len(self.migrations)
        if version > newest:
            raise StoreFailure(
                f"a journal must be of version {newest} or older, but {self!r} is of version {version};"
                " upgrade druthers"
            )
        if 0 < version < newest and not migrate:
            raise StoreFailure(
                f"a journal must be of version {newest}, but {self!r} is of version {version};"
                " bring it there with: druthers store migrate"
            )
        if not version and not create:
            raise StoreFailure(f"a journal must be there to be opened, but there is none in {self!r}")
        return version == newest
