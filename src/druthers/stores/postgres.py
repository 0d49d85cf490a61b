"""A journal in PostgreSQL: several replicas on several machines."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, ClassVar

from druthers.errors import InvalidSetting, StoreFailure, UnknownOutcome, needs
from druthers.stores.base import Event
from druthers.stores.queries import SEALS, first_schema
from druthers.stores.rows import Row, bounded
from druthers.stores.sql import Cursor, Link, SQLStore

if TYPE_CHECKING:
    from druthers.stores.waiting import Impatient

# One statement: whether the journal is still ours, which keys are taken, the places of the others, the rows. It runs
# under the lock of the journal, which lasts until the commit, so that transactions commit in the order of their
# positions. A row numbered -1 tells that the journal is another one.
ADD = """
    WITH here AS (
        SELECT together, newest.position = 0 OR EXISTS (
            SELECT 1 FROM druthers_events AS event
            WHERE event.position = newest.position AND event.mark = newest.mark
        ) AS ours FROM (VALUES (%s::bigint, %s::text, %s::bool)) AS newest (position, mark, together)
    ), given AS (
        SELECT * FROM json_to_recordset(%s) AS given (
            number int, bound bigint, latest bigint, kind text, body text, at float8, "user" text, about text, key text,
            mark text, checksum text
        )
    ), free AS (
        SELECT given.*, row_number() OVER (PARTITION BY key ORDER BY number) AS turn FROM given, here
        WHERE ours AND (bound = 0 OR EXISTS (
            SELECT 1 FROM druthers_events AS event WHERE event.position = bound AND event."user" = given."user"
        )) AND (latest = 0 OR latest = (
            SELECT max(position) FROM druthers_events AS event WHERE event."user" = given."user"
        )) AND NOT EXISTS (SELECT 1 FROM druthers_events AS event WHERE event.key = given.key)
    ), fitting AS (
        SELECT * FROM free WHERE key IS NULL OR turn = 1
    ), placed AS (
        SELECT fitting.*, row_number() OVER (ORDER BY number)
            + (SELECT coalesce(max(position), 0) FROM druthers_events) AS position
        FROM fitting, here WHERE NOT together OR (SELECT count(*) FROM fitting) = (SELECT count(*) FROM given)
    ), added AS (
        INSERT INTO druthers_events (position, kind, body, at, "user", about, key, mark, checksum)
        SELECT position, kind, body, at, "user", about, key, mark, checksum FROM placed
    )
    SELECT number, position FROM placed UNION ALL SELECT -1, 0 FROM here WHERE NOT ours
"""
# How long, in seconds, work may take that takes long.
LONG = 24 * 3600.0
PERSONAL = {
    "druthers_events": {"body": "TEXT", "user": "TEXT", "about": "TEXT", "key": "TEXT"},
    "druthers_users": {"user": "TEXT", "body": "BYTEA"},
}
# All entries of an index, added up: as the index has them, or as the table has them.
ENTRIES = """
    SELECT count(*), coalesce(sum(hashtext("{0}")::bigint), 0) FROM druthers_events WHERE "{0}" IS NOT NULL
"""
# Each table has a lock by its number; one that is not there yet has none, and making it is guarded by another number.
LOCK = """
    SELECT pg_advisory_xact_lock(7237970109966541117 # coalesce(to_regclass(%s::text), 'pg_class')::oid::bigint)
"""
# A password with one of these signs would be taken for something else, and shown as that in an error.
URL = re.compile(r"postgres(ql)?://([^@/?#]*@)?[^@?#]*(\?[^@#]*)?")


class PostgresStore(SQLStore):
    """A journal in a PostgreSQL database, for any number of replicas.

    The tables are called druthers_*; the user of the URL must be allowed to make them. Connect directly, or through a
    pooler that keeps sessions. The URL may have any options of libpq; signs in names and password that mean something
    in a URL are written as %XX.
    """

    name: ClassVar[str] = "postgresql"
    has_schema: ClassVar[str] = "SELECT 1 WHERE to_regclass('druthers_journal') IS NOT NULL"
    asked: ClassVar[str] = "json_array_elements_text(?::json) AS asked (value)"
    reindex: ClassVar[str] = "REINDEX TABLE druthers_events"
    migrations: ClassVar[Sequence[Sequence[str]]] = [
        first_schema(whole="BIGINT", real="DOUBLE PRECISION", blob="BYTEA"),
        [
            *SEALS,
            # What is personal does not get into the statistics of the server, which outlive an erasure.
            *(
                f'ALTER TABLE {table} ALTER COLUMN "{column}" {change}'
                for table, columns in PERSONAL.items()
                for column, kind in columns.items()
                for change in ("SET STATISTICS 0", f"TYPE {kind}")  # giving a type takes the old ones away
            ),
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

    def _append(self, rows: Sequence[Row], events: Sequence[Event], *, together: bool) -> list[int]:
        newest = self._newest
        with self._using(self._writer) as connection:
            # All statements travel at once, so that others wait for this lock no longer than the commit takes.
            with connection.pipeline(), connection.transaction():
                connection.execute(LOCK, ("druthers_events",))
                cursor = connection.execute(ADD, (*newest, together, _content(rows, events)))
            return self._positions(newest, len(rows), cursor.fetchall())

    def compact(self, fold: str | None = None) -> None:
        """Drop the states of all folds but one (of all, with None), and all bytes that are no longer needed."""
        self._drop_folds(fold)
        with self._unhurried(), self._using(self._writer) as connection:
            connection.execute("VACUUM (FULL, ANALYZE) druthers_events, druthers_snapshots, druthers_users")

    def check(self) -> list[str]:
        """Return which indexes cannot be read, or do not match the table; pages are checked by the server itself."""
        return [damage for column in ("key", "user", "about", "kind") for damage in self._check_index(column)]

    def _check_index(self, column: str) -> list[str]:
        try:
            with self._unhurried(), self._using(self._writer) as connection, connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                by_index = connection.execute(ENTRIES.format(column)).fetchall()
                connection.execute("SET LOCAL enable_seqscan = on")
                for way in ("indexscan", "indexonlyscan", "bitmapscan"):
                    connection.execute(f"SET LOCAL enable_{way} = off")
                by_table = connection.execute(ENTRIES.format(column)).fetchall()
        except StoreFailure as problem:
            return [f"the index of events by {column} cannot be read: {problem}"]
        return [] if by_index == by_table else [f"the index of events by {column} does not match the events"]

    def __repr__(self) -> str:
        shown = {part: self._options.get(part, "") for part in ("user", "host", "port", "dbname")}
        port = shown["port"] and f":{shown['port']}"
        user = shown["user"] and f"{shown['user']}@"
        return f"{type(self).__name__}('postgresql://{user}{shown['host']}{port}/{shown['dbname']}')"

    def _query(self, connection: Any, *queries: tuple[str, Sequence[Any]]) -> list[list[tuple[Any, ...]]]:
        with connection.pipeline():
            cursors = [connection.execute(_marked(query), values) for query, values in queries]
        return [cursor.fetchall() for cursor in cursors]

    @contextmanager
    def _transaction(self, *tables: str) -> Iterator[Cursor]:
        """Begin a transaction that waits for others on these tables; each table has a lock of its own."""
        with self._using(self._writer) as connection, connection.transaction(), connection.cursor() as cursor:
            for table in tables:
                cursor.execute(LOCK, (table,))
            yield _Marking(cursor)

    def _add(
        self, cursor: Cursor, rows: Sequence[Row], events: Sequence[Event], *, together: bool = False
    ) -> list[int]:
        newest = self._newest
        cursor.execute(ADD, (*newest, together, _content(rows, events)))
        return self._positions(newest, len(rows), cursor.fetchall())

    def _positions(self, newest: tuple[int, str], count: int, found: list[tuple[int, int]]) -> list[int]:
        """Return positions in the order in which events were given; 0 for those that were not added."""
        positions = [0] * count
        for number, position in found:
            if number < 0:
                self._stay(newest, [])
            positions[number] = position
        return positions

    def _look_at(self, link: Link) -> None:
        if link.connection is not None and link.connection.stale:
            link.drop()

    def _failure(self, problem: Exception, *, sent: bool) -> StoreFailure:
        reached = not isinstance(problem, self._psycopg.OperationalError)
        remedy = "its user may use the tables druthers_*" if reached else "the server runs and may be reached"
        # What the server refuses it rolls back; of a connection that broke nobody knows how far it got.
        state = getattr(problem, "sqlstate", None)
        unknown = sent and (state is None or state.startswith(("08", "57P")))
        kind = UnknownOutcome if unknown else StoreFailure
        return kind(f"a journal must be readable and writable, but {self!r}: {self._plain(problem)}; see that {remedy}")

    def _connect(self) -> "Impatient":
        from druthers.stores.waiting import Impatient

        connection = Impatient.connect(**self._options, autocommit=True)
        try:
            self._set_up(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_up(self, connection: "Impatient") -> None:
        """Make a connection keep the laws, whatever the server's defaults."""
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise StoreFailure(f"a journal must be in a database in UTF8, but {self!r} is in {encoding}; make another")
        connection.patience = self.timeout + 1.0 if self._hurried else LONG
        connection.isolation_level = self._psycopg.IsolationLevel.READ_COMMITTED
        milliseconds = max(1, round(1000 * self.timeout)) if self._hurried else 0
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


def _content(rows: Sequence[Row], events: Sequence[Event]) -> str:
    """Return numbered rows with the conditions of their events.

    As one text in JSON: to turn lists into arrays would take the driver longer than all the rest.
    """
    told = []
    for number, (row, event) in enumerate(zip(rows, events, strict=True)):
        conditions = {"bound": bounded(event.bound), "latest": bounded(event.latest)}
        told.append({"number": number, **conditions, **row._asdict()})
    return json.dumps(told)
