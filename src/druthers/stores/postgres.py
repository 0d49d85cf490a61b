"""A journal in PostgreSQL: several replicas on several machines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, ClassVar

from druthers.errors import InvalidSetting, StoreFailure, needs
from druthers.stores.base import Event
from druthers.stores.rows import Row, encode
from druthers.stores.sql import Cursor, Link, SQLStore

if TYPE_CHECKING:
    from druthers.stores.waiting import Impatient

# One statement: which keys are taken, the places of the others, the rows. It runs under the lock of the journal, which
# lasts until the commit, so that transactions commit in the order of their positions.
ADD = """
    WITH given AS (
        SELECT * FROM json_to_recordset(%s)
            AS given (number int, kind text, body text, at float8, "user" text, about text, key text)
    ), taken AS (
        SELECT key FROM druthers_events WHERE key = ANY (%s::text[])
    ), placed AS (
        SELECT given.*, row_number() OVER (ORDER BY number)
            + (SELECT coalesce(max(position), 0) FROM druthers_events) AS position
        FROM given WHERE key IS NULL OR key NOT IN (SELECT key FROM taken)
    ), added AS (
        INSERT INTO druthers_events (position, kind, body, at, "user", about, key)
        SELECT position, kind, body, at, "user", about, key FROM placed
    )
    SELECT number, position FROM placed
"""
LOCK = "SELECT pg_advisory_xact_lock(7237970109966541117 # (%s::regclass)::oid::bigint)"
# A password with one of these signs would be taken for something else, and shown as that in an error.
URL = re.compile(r"postgres(ql)?://([^@/?#]*@)?[^@?#]*(\?[^@#]*)?")


class PostgresStore(SQLStore):
    """A journal in a PostgreSQL database, for any number of replicas.

    The tables are called druthers_*; the user of the URL must be allowed to make them. Connect directly, or through a
    pooler that keeps sessions.

    Parameters
    ----------
    url
        postgresql://USER:PASSWORD@HOST:PORT/NAME, with any options of libpq; signs in names and password that mean
        something in a URL are written as %XX.
    migrate
        Bring a journal of an older version to the newest.
    create
        Make a fresh journal where there is none.
    timeout
        Seconds after which a server that does not answer is a failure.
    """

    name: ClassVar[str] = "postgresql"
    has_schema: ClassVar[str] = "SELECT 1 WHERE to_regclass('druthers_journal') IS NOT NULL"
    migrations: ClassVar[Sequence[Sequence[str]]] = [
        [
            """
            CREATE TABLE druthers_events (
                position BIGINT PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL, at DOUBLE PRECISION NOT NULL,
                "user" TEXT, about TEXT, key TEXT
            )
            """,
            "CREATE UNIQUE INDEX druthers_keys ON druthers_events (key) WHERE key IS NOT NULL",
            'CREATE INDEX druthers_events_of_users ON druthers_events ("user", position) WHERE "user" IS NOT NULL',
            "CREATE INDEX druthers_events_about ON druthers_events (about, position) WHERE about IS NOT NULL",
            "CREATE TABLE druthers_snapshots (fold TEXT PRIMARY KEY, position BIGINT NOT NULL, body BYTEA NOT NULL)",
            """
            CREATE TABLE druthers_users (
                fold TEXT NOT NULL, "user" TEXT NOT NULL, first BIGINT NOT NULL, position BIGINT NOT NULL,
                body BYTEA NOT NULL, PRIMARY KEY (fold, "user")
            )
            """,
        ],
    ]

    def __init__(self, url: str, *, migrate: bool = False, create: bool = True, timeout: float = 5.0) -> None:
        self._psycopg = needs("psycopg", "postgres")
        super().__init__(self._psycopg.Error)
        self.timeout = timeout
        self._options = self._parse(url)
        try:
            self._prepare(migrate=migrate, create=create)
        except BaseException:
            self.close()
            raise

    def append(self, events: Sequence[Event]) -> list[int]:
        """Add events for good, in one transaction, and return their positions; 0 for one whose key is taken."""
        rows = encode(events)
        if not rows:
            return []
        with self._using(self._writer) as connection:
            # All statements travel at once, so that others wait for this lock no longer than the commit takes.
            with connection.pipeline(), connection.transaction():
                connection.execute(LOCK, ("druthers_events",))
                cursor = connection.execute(ADD, _values(rows))
            return _positions(len(rows), cursor.fetchall())

    def compact(self, fold: str | None = None) -> None:
        """Drop the states of all folds but one (of all, with None), and let their space be used again."""
        self._drop_folds(fold)
        with self._using(self._writer) as connection:
            connection.execute("SET statement_timeout = 0")
            connection.patience = 3600.0
            connection.execute("VACUUM ANALYZE druthers_events, druthers_snapshots, druthers_users")
            self._writer.drop()

    def __repr__(self) -> str:
        shown = {part: self._options.get(part, "") for part in ("user", "host", "port", "dbname")}
        port = shown["port"] and f":{shown['port']}"
        user = shown["user"] and f"{shown['user']}@"
        return f"{type(self).__name__}('postgresql://{user}{shown['host']}{port}/{shown['dbname']}')"

    def _ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._using(self._reader) as connection:
            found: list[tuple[Any, ...]] = connection.execute(_marked(query), values).fetchall()
            return found

    @contextmanager
    def _transaction(self, *tables: str) -> Iterator[Cursor]:
        """Begin a transaction that waits for others on these tables; each table has a lock of its own."""
        with self._using(self._writer) as connection, connection.transaction(), connection.cursor() as cursor:
            for table in tables:
                # A table that is not there yet has no number; making it is guarded by a number of its own.
                known = cursor.execute("SELECT to_regclass(%s)::text", (table,)).fetchall()[0][0]
                cursor.execute(LOCK, (known or "pg_class",))
            yield _Marking(cursor)

    def _add(self, cursor: Cursor, rows: Sequence[Row]) -> list[int]:
        cursor.execute(ADD, _values(rows))
        return _positions(len(rows), cursor.fetchall())

    def _look_at(self, link: Link) -> None:
        if link.connection is not None and link.connection.stale:
            link.drop()

    def _failure(self, problem: Exception) -> StoreFailure:
        reached = not isinstance(problem, self._psycopg.OperationalError)
        remedy = "its user may use the tables druthers_*" if reached else "the server runs and may be reached"
        return StoreFailure(
            f"a journal must be readable and writable, but {self!r}: {self._plain(problem)}; see that {remedy}"
        )

    def _connect(self) -> Impatient:
        from druthers.stores.waiting import Impatient

        connection = Impatient.connect(**self._options, autocommit=True)
        try:
            self._set_up(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_up(self, connection: Impatient) -> None:
        """Make a connection keep the laws, whatever the server's defaults."""
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise StoreFailure(f"a journal must be in a database in UTF8, but {self!r} is in {encoding}; make another")
        connection.patience = self.timeout + 1.0
        connection.isolation_level = self._psycopg.IsolationLevel.READ_COMMITTED
        milliseconds = max(1, round(1000 * self.timeout))
        settings = {
            "statement_timeout": milliseconds,
            "idle_in_transaction_session_timeout": 6 * milliseconds,
            # All our queries have an index; a plan made while a table was small must not stay for good.
            "enable_seqscan": "off",
            "client_min_messages": "error",
        }
        for setting, value in settings.items():
            connection.execute(f"SET {setting} = {value}")
        connection.execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )

    def _parse(self, url: str) -> dict[str, Any]:
        """Return the parts of a URL, with what makes a dead server known within the timeout."""
        seconds = max(2, round(self.timeout))
        options = {
            "connect_timeout": seconds,
            "tcp_user_timeout": 1000 * seconds,
            "keepalives_idle": seconds,
            "keepalives_interval": 1,
            "keepalives_count": 3,
            "application_name": "druthers",
            "client_encoding": "utf8",
        }
        given: dict[str, Any] = {}
        with suppress(self._psycopg.ProgrammingError):
            if URL.fullmatch(url):
                given = needs("psycopg.conninfo", "postgres").conninfo_to_dict(url)
        if not given:
            raise InvalidSetting(
                "a journal in PostgreSQL must be postgresql://USER:PASSWORD@HOST:PORT/NAME, but got something else"
                " (not shown, it may hold a password); write signs like @ : / ? # in its parts as %XX"
            )
        return {**options, **given}

    def _plain(self, problem: Exception) -> str:
        """Return the first line of an error, without secrets."""
        text = (str(problem).strip() or type(problem).__name__).splitlines()[0]
        for part in ("password", "sslpassword"):
            if self._options.get(part):
                text = text.replace(str(self._options[part]), "***")
        return text


class _Marking:
    """A cursor that takes `?` for the place of a value."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Any:
        return self._cursor.execute(_marked(query), values or None)

    def executemany(self, query: str, rows: Sequence[Sequence[Any]], /) -> Any:
        return self._cursor.executemany(_marked(query), rows)

    def fetchall(self) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._cursor.fetchall()
        return found


def _marked(query: str) -> str:
    return query.replace("?", "%s")


def _values(rows: Sequence[Row]) -> tuple[str, list[str]]:
    """Return numbered rows, less those with the key of an earlier one, and all keys.

    As one text in JSON: to turn lists into arrays would take the driver longer than all the rest.
    """
    first: dict[str, int] = {}
    numbered = enumerate(rows)
    kept = [
        {"number": n, **row._asdict()} for n, row in numbered if row.key is None or first.setdefault(row.key, n) == n
    ]
    return json.dumps(kept), list(first)


def _positions(count: int, found: list[tuple[int, int]]) -> list[int]:
    """Return positions in the order in which events were given; 0 for those that were not added."""
    positions = [0] * count
    for number, position in found:
        positions[number] = position
    return positions
