"""The tables of a journal in an SQL database, and how they grow from one version to the next."""


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
