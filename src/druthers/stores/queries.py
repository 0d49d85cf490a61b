"""The tables of a journal and what is asked of them, in SQL that both databases understand, with `?` for values."""

from druthers.stores.base import ERASURE

EVENTS = 'SELECT position, kind, body, at, "user", about, key, mark, checksum FROM druthers_events'
SCRUB = """
    UPDATE druthers_events SET kind = ?, body = ?, at = ?, "user" = ?, about = ?, key = ?, mark = ?, checksum = ?
    WHERE position = ?
"""
MARK = "SELECT mark FROM druthers_events WHERE position = ?"
# A snapshot or a state holds the mark of the last event that is in it. One whose event is not there tells of a past
# that is not this journal's: it is never given back, and stays as a witness of that until somebody drops it.
LOST = """NOT EXISTS (
    SELECT 1 FROM druthers_events AS event WHERE event.position = kept.position AND event.mark = kept.mark
)"""
SAVE = f"""
    INSERT INTO druthers_snapshots AS kept (fold, position, mark, body)
    SELECT ?, position, mark, ? FROM druthers_events AS last WHERE position = ? AND NOT EXISTS (
        SELECT 1 FROM druthers_events AS notice WHERE notice.kind = '{ERASURE}' AND notice.position > last.position
    )
    ON CONFLICT (fold) DO UPDATE SET position = excluded.position, mark = excluded.mark, body = excluded.body
    WHERE kept.position <= excluded.position AND NOT {LOST}
"""
SAVE_USER = f"""
    INSERT INTO druthers_users AS kept (fold, "user", first, position, mark, body)
    SELECT ?, last."user", first.position, last.position, last.mark, ?
    FROM druthers_events AS first JOIN druthers_events AS last ON last."user" = first."user"
    WHERE first.position = ? AND last.position = ? AND first."user" = ?
    ON CONFLICT (fold, "user") DO UPDATE
    SET first = excluded.first, position = excluded.position, mark = excluded.mark, body = excluded.body
    WHERE kept.position <= excluded.position AND NOT {LOST}
"""
USERS = f"""
    SELECT asked.value,
        (SELECT min(position) FROM druthers_events WHERE "user" = asked.value),
        (SELECT max(position) FROM druthers_events WHERE "user" = asked.value AND position <= ?),
        kept.first, kept.position, kept.body
    FROM %s LEFT JOIN druthers_users AS kept ON kept.fold = ? AND kept."user" = asked.value AND NOT {LOST}
"""
WITNESSES = f"""
    SELECT max(position) FROM (
        SELECT position FROM druthers_snapshots AS kept WHERE {LOST}
        UNION ALL SELECT position FROM druthers_users AS kept WHERE {LOST}
    ) AS witnesses
"""
FOLDS = """
    SELECT fold FROM (
        SELECT fold, position FROM druthers_snapshots UNION ALL SELECT fold, position FROM druthers_users
    ) AS kept GROUP BY fold ORDER BY max(position) DESC, fold
"""
OF_USER = 'SELECT position FROM druthers_events WHERE "user" = ?'
# The same of some events, looked at one by one: no index has more than the name.
SCAN = """SELECT position FROM druthers_events WHERE position > ? AND position <= ? AND "user" || '' = ?"""


def first_schema(*, whole: str, real: str, blob: str) -> list[str]:
    """Return what makes the first version, in the words that a database has for whole numbers, real ones and bytes."""
    return [
        f"""
        CREATE TABLE druthers_events (
            position {whole} PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL, at {real} NOT NULL,
            "user" TEXT, about TEXT, key TEXT
        )
        """,
        "CREATE UNIQUE INDEX druthers_keys ON druthers_events (key) WHERE key IS NOT NULL",
        'CREATE INDEX druthers_events_of_users ON druthers_events ("user", position) WHERE "user" IS NOT NULL',
        "CREATE INDEX druthers_events_about ON druthers_events (about, position) WHERE about IS NOT NULL",
        f"CREATE TABLE druthers_snapshots (fold TEXT PRIMARY KEY, position {whole} NOT NULL, body {blob} NOT NULL)",
        f"""
        CREATE TABLE druthers_users (
            fold TEXT NOT NULL, "user" TEXT NOT NULL, first {whole} NOT NULL, position {whole} NOT NULL,
            body {blob} NOT NULL, PRIMARY KEY (fold, "user")
        )
        """,
    ]


# From the first version to the second: events have marks and checksums, and states the mark of their last event.
# States are folded anew.
SEALS = [
    "ALTER TABLE druthers_events ADD COLUMN mark TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE druthers_events ADD COLUMN checksum TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX druthers_events_of_kinds ON druthers_events (kind, position)",
    "DELETE FROM druthers_snapshots",
    "DELETE FROM druthers_users",
    "ALTER TABLE druthers_snapshots ADD COLUMN mark TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE druthers_users ADD COLUMN mark TEXT NOT NULL DEFAULT ''",
]
