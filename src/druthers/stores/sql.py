"""What stores in SQL databases have in common: queries, and schemas that grow by migrations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import Lock
from typing import Any, ClassVar, Protocol

from druthers.errors import StoreFailure
from druthers.stores.base import Event, Snapshot, Store, UserState
from druthers.stores.rows import Row, as_notice, bounded, check_text, decode, encode, scrubbed, storable

EVENTS = 'SELECT position, kind, body, at, "user", about, key FROM druthers_events'
SCRUB = 'UPDATE druthers_events SET kind = ?, body = ?, at = ?, "user" = ?, about = ?, key = ? WHERE position = ?'
SAVE = """
    INSERT INTO druthers_snapshots AS kept (fold, position, body) VALUES (?, ?, ?)
    ON CONFLICT (fold) DO UPDATE SET position = excluded.position, body = excluded.body
    WHERE kept.position <= excluded.position
"""
SAVE_USER = """
    INSERT INTO druthers_users AS kept (fold, "user", first, position, body)
    SELECT ?, "user", position, ?, ? FROM druthers_events WHERE position = ? AND "user" = ?
    ON CONFLICT (fold, "user") DO UPDATE SET first = excluded.first, position = excluded.position, body = excluded.body
    WHERE kept.position <= excluded.position
"""


class Cursor(Protocol):
    """What both databases give to ask questions with."""

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Any:
        """Carry out a statement."""
        ...

    def executemany(self, query: str, rows: Sequence[Sequence[Any]], /) -> Any:
        """Carry out a statement once for each row."""
        ...

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return what the last statement found."""
        ...


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

    def __init__(self, problems: type[Exception]) -> None:
        self._problems = problems
        self._writer, self._reader = Link(), Link()
        self._closed = False

    @abstractmethod
    def _connect(self) -> Any:
        """Open a connection."""

    @abstractmethod
    def _look_at(self, link: Link) -> None:
        """Drop a connection that is of no use any more, or refuse to go on."""

    @abstractmethod
    def _failure(self, problem: Exception) -> StoreFailure:
        """Return what to say about a problem of the database."""

    @abstractmethod
    def _ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds in the journal as it stands."""

    @abstractmethod
    def _transaction(self, *tables: str) -> AbstractContextManager[Cursor]:
        """Begin a transaction, the only one of its kind on these tables, that ends with the block."""

    @abstractmethod
    def _add(self, cursor: Cursor, rows: Sequence[Row]) -> list[int]:
        """Append within a transaction on events."""

    @contextmanager
    def _using(self, link: Link) -> Iterator[Any]:
        """Give a connection; one that failed is dropped, so that the next call starts afresh."""
        with link.lock:
            if self._closed:
                raise StoreFailure(f"a store must be open to be used, but {self!r} was closed; open it again")
            try:
                self._look_at(link)
                if link.connection is None:
                    link.connection = self._connect()
                yield link.connection
            except self._problems as problem:
                link.drop()
                raise self._failure(problem) from None

    def close(self) -> None:
        """Let go of files and connections; closing twice is fine."""
        self._closed = True
        for link in (self._reader, self._writer):
            with link.lock:
                link.drop()

    def append(self, events: Sequence[Event]) -> list[int]:
        """Add events for good, in one transaction, and return their positions; 0 for one whose key is taken."""
        rows = encode(events)
        if not rows:
            return []
        with self._transaction("druthers_events") as cursor:
            return self._add(cursor, rows)

    def read(self, after: int = 0, *, limit: int = 1000, user: str | None = None) -> list[Event]:
        """Return up to `limit` events after a position in their order, of one user or of all."""
        values: tuple[Any, ...] = (bounded(after), bounded(limit))
        where = "position > ?"
        if user is not None:
            if not storable(user):
                return []
            where, values = '"user" = ? AND position > ?', (user, *values)
        return [decode(*row) for row in self._ask(f"{EVENTS} WHERE {where} ORDER BY position LIMIT ?", *values)]

    def about(self, decision: str) -> list[Event]:
        """Return all events about a decision, in their order."""
        if not storable(decision):
            return []
        return [decode(*row) for row in self._ask(f"{EVENTS} WHERE about = ? ORDER BY position", decision)]

    def find(self, key: str) -> Event | None:
        """Return the event with this key."""
        if not storable(key):
            return None
        return next((decode(*row) for row in self._ask(f"{EVENTS} WHERE key = ?", key)), None)

    def last(self) -> int:
        """Return the position of the last event; 0 for an empty journal."""
        [(position,)] = self._ask("SELECT max(position) FROM druthers_events")
        return position or 0

    def erase(self, user: str, notice: Event, scrub: Callable[[Event], Event]) -> int:
        """Replace all events of a user by what `scrub` makes of them, drop the user's states, append a notice."""
        if not storable(user):
            return 0
        with self._transaction("druthers_events", "druthers_users") as cursor:
            cursor.execute(f'{EVENTS} WHERE "user" = ? ORDER BY position', (user,))
            events = [decode(*row) for row in cursor.fetchall()]
            if not events:
                return 0
            told = encode([as_notice(notice, user, events[0].position)])
            rows = scrubbed(events, user, scrub)
            cursor.executemany(SCRUB, [(*row, event.position) for row, event in zip(rows, events, strict=True)])
            cursor.execute('DELETE FROM druthers_users WHERE "user" = ?', (user,))
            return self._add(cursor, told)[0]

    def save(self, fold: str, snapshot: Snapshot | None, users: Sequence[UserState] = ()) -> None:
        """Keep a snapshot and states of users, in one transaction."""
        check_text("fold", fold)
        states = [
            (fold, state.position, state.body, bounded(state.first), state.user)
            for state in users
            if storable(state.user)
        ]
        with self._transaction("druthers_users") as cursor:
            if snapshot is not None:
                cursor.execute(SAVE, (fold, *snapshot))
            if states:
                cursor.executemany(SAVE_USER, states)

    def snapshot(self, fold: str) -> Snapshot | None:
        """Return the latest snapshot of a fold."""
        if not storable(fold):
            return None
        found = self._ask("SELECT position, body FROM druthers_snapshots WHERE fold = ?", fold)
        return next((Snapshot(*row) for row in found), None)

    def user(self, fold: str, user: str) -> UserState | None:
        """Return what was kept of a user."""
        if not storable(fold) or not storable(user):
            return None
        query = 'SELECT "user", first, position, body FROM druthers_users WHERE fold = ? AND "user" = ?'
        return next((UserState(*row) for row in self._ask(query, fold, user)), None)

    def _drop_folds(self, fold: str | None) -> None:
        where, values = ("", ()) if fold is None else (" WHERE fold <> ?", (check_text("fold", fold),))
        with self._transaction("druthers_users") as cursor:
            for table in ("druthers_snapshots", "druthers_users"):
                cursor.execute(f"DELETE FROM {table}{where}", values)

    def _prepare(self, *, migrate: bool, create: bool) -> None:
        """Make a fresh journal, or bring an old one to the newest version where that is allowed."""
        found = self._ask(self.has_schema) and self._ask("SELECT version FROM druthers_journal")
        if self._check_version(found[0][0] if found else 0, migrate, create):
            return
        with self._transaction("druthers_journal") as cursor:
            version = self._version(cursor)
            if self._check_version(version, migrate, create):
                return
            if not version:
                cursor.execute("CREATE TABLE druthers_journal (version INTEGER NOT NULL)")
                cursor.execute("INSERT INTO druthers_journal VALUES (0)")
            for statements in self.migrations[version:]:
                for statement in statements:
                    cursor.execute(statement)
            cursor.execute("UPDATE druthers_journal SET version = ?", (len(self.migrations),))

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
