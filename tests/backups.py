"""Backups of journals by the means of their databases, and bringing them back in place."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing

NUMBERS = itertools.count()
TABLES = ("druthers_events", "druthers_snapshots", "druthers_users")


class Backup:
    """A copy of a journal as it stands."""

    def __init__(self, url, folder):
        self.url, self.copy = url, folder / f"copy-{next(NUMBERS)}.db"
        if url.startswith("sqlite:"):
            self._copy(self.path, self.copy)
        else:
            with self._connect() as connection:
                self.rows = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}

    @property
    def path(self):
        return self.url.partition(":")[2]

    def put_back(self):
        """Bring the copy back in place, while others have the journal open: as .restore does it, or a dump."""
        if self.url.startswith("sqlite:"):
            self._copy(self.copy, self.path)
            return
        with self._connect() as connection:
            # Who saves a state meanwhile would come between emptying a table and filling it.
            connection.execute(f"LOCK TABLE {', '.join(TABLES)} IN SHARE ROW EXCLUSIVE MODE")
            for table, rows in self.rows.items():
                connection.execute(f"DELETE FROM {table}")
                if rows:
                    places = ", ".join(["%s"] * len(rows[0]))
                    connection.cursor().executemany(f"INSERT INTO {table} VALUES ({places})", rows)

    def _connect(self):
        import psycopg

        return psycopg.connect(self.url)

    @staticmethod
    def _copy(source, target):
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target, timeout=60)) as new:
            old.backup(new)


def rewrite(url, statement, *values):
    """Change a journal behind the back of all who have it open."""
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.partition(":")[2], timeout=60)) as connection:
            count = connection.execute(statement, values).rowcount
            connection.commit()
            return count
    import psycopg

    with psycopg.connect(url) as connection:
        return connection.execute(statement.replace("?", "%s"), values).rowcount
