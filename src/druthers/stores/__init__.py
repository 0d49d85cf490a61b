"""Stores: where the journal of a service lives."""

from druthers.errors import InvalidSetting, UnknownName
from druthers.stores.base import Event, Snapshot, Store, UserRecord, UserState
from druthers.stores.inspecting import inspect
from druthers.stores.memory import MemoryStore
from druthers.stores.postgres import PostgresStore
from druthers.stores.sqlite import SQLiteStore

STORES: dict[str, type[Store]] = {store.name: store for store in (MemoryStore, SQLiteStore, PostgresStore)}
FILES = (".db", ".sqlite")  # as which a path is that of a journal in SQLite


def is_journal(where: str) -> bool:
    """Tell whether a text is the address of a journal that is kept, as `open_store` takes it.

    Examples
    --------
    >>> [is_journal(where) for where in ("sqlite:a.db", "a.db", "postgres://h/n", "log.parquet", "http://h/a.db")]
    [True, True, True, False, False]
    """
    kept = (SQLiteStore.name, PostgresStore.name, "postgres")
    return where.partition(":")[0] in kept or (where.endswith(FILES) and "://" not in where)


def open_store(url: str, *, migrate: bool = False, create: bool = True, timeout: float = 5.0) -> Store:
    """Open a journal, and make it if it is not there, unless told not to `create` one.

    It is "memory:", "sqlite:PATH" (or a path that ends in .db or .sqlite), or "postgresql://USER:PASSWORD@HOST/NAME".
    One of an older version is refused unless `migrate` brings it to the newest. A database that does not answer, or
    that others keep busy, for `timeout` seconds is a `StoreFailure`.

    Examples
    --------
    >>> open_store("memory:")
    MemoryStore()
    >>> open_store("mysql://ada:secret@example")
    Traceback (most recent call last):
    druthers.errors.UnknownName: unknown store 'mysql'; known: memory, sqlite, postgresql
    """
    if url.endswith(FILES) and "://" not in url and not url.startswith("sqlite:"):
        return SQLiteStore(url, migrate=migrate, create=create, timeout=timeout)
    name, colon, rest = url.partition(":")
    if not colon:
        raise InvalidSetting(f"a journal must be memory:, sqlite:PATH or postgresql://..., but got {url!r}")
    if name == MemoryStore.name:
        if rest:
            raise InvalidSetting(f"a journal in memory must be called memory: alone, but got {url!r}")
        return MemoryStore()
    if name == SQLiteStore.name:
        if not rest or rest.startswith(("//", ":")):
            raise InvalidSetting(f"a journal in SQLite must be sqlite:PATH, with a path, but got {url!r}")
        return SQLiteStore(rest, migrate=migrate, create=create, timeout=timeout)
    if name in (PostgresStore.name, "postgres"):
        return PostgresStore(url, migrate=migrate, create=create, timeout=timeout)
    raise UnknownName.of("store", name, STORES)


__all__ = [
    "STORES",
    "Event",
    "MemoryStore",
    "PostgresStore",
    "SQLiteStore",
    "Snapshot",
    "Store",
    "UserRecord",
    "UserState",
    "inspect",
    "is_journal",
    "open_store",
]
