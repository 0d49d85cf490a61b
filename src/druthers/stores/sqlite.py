"""A journal in one SQLite file: nothing to install, several processes on one machine."""

import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from druthers.errors import StoreFailure, UnknownOutcome
from druthers.stores.base import Event
from druthers.stores.queries import SEALS, first_schema
from druthers.stores.rows import Row, bounded
from druthers.stores.sql import Cursor, Link, SQLStore

ADD = """
    INSERT INTO druthers_events (position, kind, body, at, "user", about, key, mark, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
TAKEN = "SELECT key FROM druthers_events WHERE key IN (SELECT value FROM json_each(?))"
BEARERS = 'SELECT position, "user" FROM druthers_events WHERE position IN (SELECT value FROM json_each(?))'
LATEST = """
    SELECT "user", max(position) FROM druthers_events WHERE "user" IN (SELECT value FROM json_each(?)) GROUP BY "user"
"""
REMEDIES = {
    "full": "make room; nothing was written",
    "locked": "another process has kept it for too long; try again",
    "readonly": "let this process write the file, those beside it (-wal, -shm) and the folder",
    "unable to open": "see that its folder exists and may be written",
    "not a database": "give the path of a journal, or of a file that does not exist yet",
    "malformed": "the file is damaged; bring back a backup",
}


class SQLiteStore(SQLStore):
    """A journal in a file, for one machine.

    Readers never wait for writers: it is kept in write-ahead mode, each commit flushed to the disk. The file must be
    on a local disk, not on a network share. Other processes that write are waited for.
    """

    name: ClassVar[str] = "sqlite"
    has_schema: ClassVar[str] = "SELECT 1 FROM sqlite_master WHERE name = 'druthers_journal'"
    asked: ClassVar[str] = "json_each(?) AS asked"
    reindex: ClassVar[str] = "REINDEX druthers_events"
    migrations: ClassVar[Sequence[Sequence[str]]] = [first_schema(whole="INTEGER", real="REAL", blob="BLOB"), SEALS]

    def __init__(
        self, path: str | os.PathLike[str], *, migrate: bool = False, create: bool = True, timeout: float = 5.0
    ) -> None:
        super().__init__(sqlite3.Error)
        self.path = Path(path).absolute()
        self.timeout = timeout
        self._mode = "rwc" if create else "rw"
        self._file: tuple[int, int] | None = None
        if not create and not self.path.exists():
            raise StoreFailure(f"a journal must be there to be opened, but there is no {self.path}")
        try:
            self._prepare(migrate=migrate, create=create)
        except BaseException:
            self.close()
            raise
        if migrate:
            for end in ("", "-wal", "-shm"):
                with suppress(OSError):
                    os.chmod(f"{self.path}{end}", 0o600)
        # A journal that vanishes later must not be replaced by an empty one.
        self._mode, self._file = "rw", self._stat()

    def erase(self, user: str, notice: Event, scrub: Callable[[Event], Event]) -> int:
        """Replace all events of a user by what `scrub` makes of them, drop what was folded of them, append a notice."""
        position = super().erase(user, notice, scrub)
        if position:
            # The log still holds the old pages; where others read right now, their next checkpoint takes them away.
            with suppress(StoreFailure), self._using(self._writer) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return position

    def compact(self, fold: str | None = None) -> None:
        """Drop the states of all folds but one (of all, with None), and all bytes that are no longer needed."""
        self._drop_folds(fold)
        with self._using(self._writer) as connection:
            # Deleted bytes are overwritten, but copies of them may be left where pages were split.
            connection.execute("VACUUM")
            [(busy, *_)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if busy:
            raise StoreFailure(
                f"a journal must not be read all the time to be compacted, but {self.path} is: what was erased is out"
                " of the file and may still be in its log; compact it again"
            )

    def check(self) -> list[str]:
        """Return what SQLite finds wrong with the file: damaged pages, and indexes that do not match their tables."""
        with self._using(self._reader) as connection:
            found = connection.execute("PRAGMA integrity_check(20)").fetchall()
        return [
            f"the file {self.path.name}: {text}" for (lines,) in found for text in lines.splitlines() if text != "ok"
        ]

    def room(self) -> int | None:
        """Return how many bytes are free on the disk."""
        with suppress(OSError):
            return shutil.disk_usage(self.path.parent).free
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    def _query(self, connection: Any, *queries: tuple[str, Sequence[Any]]) -> list[list[tuple[Any, ...]]]:
        return [connection.execute(query, values).fetchall() for query, values in queries]

    @contextmanager
    def _transaction(self, *tables: str) -> Iterator[Cursor]:
        """Begin a transaction: SQLite has one writer at a time, whatever the tables."""
        with self._using(self._writer) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection.cursor()
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _add(
        self, cursor: Cursor, rows: Sequence[Row], events: Sequence[Event], *, together: bool = False
    ) -> list[int]:
        taken = {key for (key,) in _among(cursor, TAKEN, [row.key for row in rows if row.key is not None])}
        conditions = [(bounded(event.bound), bounded(event.latest)) for event in events]
        bearers = dict(_among(cursor, BEARERS, [bound for bound, _ in conditions if bound]))
        own = dict(_among(cursor, LATEST, [event.user for event in events if event.latest]))
        cursor.execute("SELECT max(position) FROM druthers_events")
        last = cursor.fetchall()[0][0] or 0
        positions, fresh = [], []
        for row, (bound, latest) in zip(rows, conditions, strict=True):
            unbound = bound and (row.user is None or bearers.get(bound) != row.user)
            if row.key in taken or unbound or (latest and own.get(row.user) != latest):
                positions.append(0)
                continue
            if row.key is not None:
                taken.add(row.key)
            last += 1
            positions.append(last)
            fresh.append((last, *row))
        if together and 0 in positions:
            return [0] * len(rows)
        cursor.executemany(ADD, fresh)
        return positions

    def _look_at(self, link: Link) -> None:
        if self._file is not None and self._stat() != self._file:
            link.drop()
            raise StoreFailure(
                f"a journal must stay where it is while it is open, but {self.path} was moved or replaced;"
                " put it back, or open the store again"
            )

    def _failure(self, problem: Exception, *, sent: bool) -> StoreFailure:
        remedy = next((f"; {text}" for sign, text in REMEDIES.items() if sign in str(problem)), "")
        # What could not be flushed may be there or not after the next start; any other failure is rolled back.
        unknown = sent and "FSYNC" in getattr(problem, "sqlite_errorname", "")
        kind = UnknownOutcome if unknown else StoreFailure
        return kind(f"a journal must be readable and writable, but {self.path}: {problem}{remedy}")

    def _connect(self) -> sqlite3.Connection:
        if self._mode == "rwc":
            # Nobody else may read it; SQLite gives its log the same rights. A file that is there must not be opened
            # here: to close it would take away the locks that SQLite has on it.
            with suppress(OSError):
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(
            f"file:{quote(str(self.path))}?mode={self._mode}",
            uri=True,
            timeout=self.timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            if tables and "druthers_journal" not in tables:
                raise StoreFailure(
                    f"a journal must have a file of its own, but {self.path} holds the tables {', '.join(tables[:5])};"
                    " give another path"
                )
            # Erased words are overwritten, not only let go of.
            connection.execute("PRAGMA secure_delete = ON")
            if not tables:
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA synchronous = FULL")
            self._log_ahead(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _log_ahead(self, connection: sqlite3.Connection) -> None:
        """Turn on the write-ahead log; SQLite does not wait by itself where two processes do it at once."""
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                [(mode,)] = connection.execute("PRAGMA journal_mode = WAL").fetchall()
                break
            except sqlite3.OperationalError as problem:
                if "locked" not in str(problem) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        if mode != "wal":
            raise StoreFailure(f"a journal must be on a local disk, but {self.path} is where no write-ahead log can be")

    def _stat(self) -> tuple[int, int] | None:
        with suppress(OSError):
            found = os.stat(self.path)
            return found.st_dev, found.st_ino
        return None


def _among(cursor: Cursor, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return what a query finds for a list of values."""
    if not values:
        return []
    cursor.execute(query, (json.dumps(values),))
    return cursor.fetchall()
