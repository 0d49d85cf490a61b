"""What can befall a file: a full disk, a lock, lost rights, damage, somebody else's data."""

from __future__ import annotations

import os
import random
import resource
import shutil
import sqlite3
import tempfile
import threading
from contextlib import closing
from pathlib import Path

import pytest

from druthers.errors import InvalidEvent, StoreFailure
from druthers.stores import Event, SQLiteStore, UserState


def note(number, **parts):
    return Event("note", {"number": number, "text": "x" * 500}, float(number), **parts)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.db"


def numbers(store):
    return [event.body["number"] for event in store.read(limit=10**6)]


def test_a_full_database_is_a_failure_and_recovers(path):
    with SQLiteStore(path) as store:
        store.append([note(1)])
        store._writer.connection.execute("PRAGMA max_page_count = 12")
        with pytest.raises(StoreFailure, match="full; make room; nothing was written"):
            store.append([note(number) for number in range(2, 200)])
        assert numbers(store) == [1]
        assert store.append([note(2)]) == [2]
        assert numbers(store) == [1, 2]


def test_a_disk_that_takes_no_more_is_a_failure_and_recovers(path):
    """The system refuses to let any file grow over 200 kB, in the midst of a commit."""
    with SQLiteStore(path) as store:
        store.append([note(number) for number in range(100)])
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))
        try:
            for _ in range(3):
                with pytest.raises(StoreFailure, match="must be readable and writable"):
                    store.append([note(number) for number in range(100, 1000)])
                assert numbers(store) == list(range(100))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert store.append([note(100)]) == [101]
    with SQLiteStore(path) as store:
        assert numbers(store) == list(range(101))


@pytest.fixture
def powerless():
    """Return what gives up the rights of the superuser for a while, and a folder that others may enter."""
    folder = Path(tempfile.mkdtemp())
    start = os.geteuid()
    if start == 0:
        os.chown(folder, 65534, 65534)

    def become(user):
        if start == 0:
            os.seteuid(0)
            os.seteuid(user or 0)

    yield become, folder
    become(0)
    folder.chmod(0o700)
    shutil.rmtree(folder)


def test_a_file_that_may_not_be_written_is_a_failure_and_recovers(powerless):
    become, folder = powerless
    become(65534)
    path = folder / "journal.db"
    with SQLiteStore(path) as store:
        store.append([note(1)])
    for of_file, of_folder in ((0o444, 0o555), (0o444, 0o700)):
        with SQLiteStore(path) as store:
            path.chmod(of_file)
            folder.chmod(of_folder)
            store._writer.drop()
            store._reader.drop()
            with pytest.raises(StoreFailure, match="must be readable and writable"):
                store.append([note(2)])
            folder.chmod(0o700)
            for found in folder.iterdir():
                found.chmod(0o644)
            assert store.append([note(1)]) == [store.last()]
    with SQLiteStore(path) as store:
        assert numbers(store) == [1, 1, 1]


def test_a_folder_that_is_not_there_is_a_failure(tmp_path):
    with pytest.raises(StoreFailure, match="unable to open database file; see that its folder exists"):
        SQLiteStore(tmp_path / "nowhere" / "journal.db")
    with pytest.raises(StoreFailure, match="unable to open"):
        SQLiteStore(tmp_path)


def test_a_journal_kept_by_another_is_a_failure_and_recovers(path):
    with SQLiteStore(path, timeout=0.1) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreFailure, match="locked; another process has kept it for too long"):
            store.append([note(1)])
        assert store.read() == []
        other.execute("ROLLBACK")
        other.close()
        assert store.append([note(1)]) == [1]


def test_a_journal_that_moves_away_is_not_replaced(path):
    """What would be written to a file that nobody finds again is refused."""
    with SQLiteStore(path) as store:
        store.append([note(1)])
        path.rename(path.with_suffix(".moved"))
        for _ in range(2):
            with pytest.raises(StoreFailure, match="was moved or replaced; put it back"):
                store.append([note(2)])
        assert not path.exists()
        path.with_suffix(".moved").rename(path)
        assert store.append([note(2)]) == [2]


def test_foreign_files_are_refused_and_left_alone(tmp_path):
    text, other = tmp_path / "text.db", tmp_path / "other.db"
    text.write_text("Dear diary,\n" * 500)
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    for path, message in ((text, "not a database; give the path"), (other, "holds the tables recipes; give another")):
        before = path.read_bytes()
        with pytest.raises(StoreFailure, match=message):
            SQLiteStore(path)
        assert path.read_bytes() == before
    assert sorted(found.name for found in tmp_path.iterdir()) == ["other.db", "text.db"]


def test_damage_is_told_by_name(path):
    """Whatever bytes of a journal are overwritten: it is read as it was, or refused in words."""
    with SQLiteStore(path) as store:
        store.append([note(number, user="ada", about="d", key=f"k{number}") for number in range(200)])
        store.compact()
        whole = store.read()
    content, chance, told = path.read_bytes(), random.Random(3), 0
    for _ in range(40):
        start = chance.randrange(len(content))
        path.write_bytes(content[:start] + chance.randbytes(64) + content[start + 64 :])
        try:
            with SQLiteStore(path) as store:
                assert len(store.read()) <= len(whole)
                store.append([note(7, key="k7"), note(8)])
        except (StoreFailure, InvalidEvent):
            told += 1
        for left in path.parent.iterdir():
            left.unlink()
    assert told > 5


def test_an_event_that_is_none_is_told_by_its_position(path):
    with SQLiteStore(path) as store:
        store.append([note(1), note(2)])
        for body in ("[1]", "{", ""):
            with store._transaction() as cursor:
                cursor.execute("UPDATE druthers_events SET body = ? WHERE position = 2", (body,))
            with pytest.raises(InvalidEvent, match="at 2 is not"):
                store.read()
            assert store.read(limit=1)[0].position == 1


def test_the_erased_are_not_in_the_bytes(path):
    """Neither the file nor its log holds a word of a user who was erased."""
    with SQLiteStore(path) as store:
        store.append([note(number, user=f"user{number % 5}") for number in range(300)])
        store.append([Event("query", {"text": "aardvark"}, 1.0, user="zebra", key="zebra-1")])
        for _ in range(4):
            store.save("fold", None, [UserState("zebra", 301, 301, b"aardvark " * 5000)])

        def bytes_of_all():
            return b"".join(found.read_bytes() for found in path.parent.iterdir())

        assert b"zebra" in bytes_of_all()
        store.erase("zebra", Event("erasure", {}, 1.0), lambda event: event._replace(user=None, body={}, key=None))
        assert b"zebra" not in bytes_of_all()
        assert b"aardvark" not in bytes_of_all()


def test_a_backup_is_a_beginning_while_others_write(path, tmp_path):
    """By SQLite's own means, as its command .backup does it."""
    with SQLiteStore(path) as store:
        store.append([note(0)])
        over = threading.Event()

        def write():
            while not over.is_set():
                store.append([note(store.last())])

        writer = threading.Thread(target=write)
        writer.start()
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(tmp_path / "copy.db")) as target:
            source.backup(target)
        over.set()
        writer.join()
        with SQLiteStore(tmp_path / "copy.db") as copy:
            assert 0 < copy.last() <= store.last()
            assert copy.read() == store.read(limit=copy.last())
            assert copy.append([note(1)]) == [copy.last()]


def test_compacting_gives_space_back(path):
    with SQLiteStore(path) as store:
        store.append([note(1, user="ada")])
        store.save("fold", None, [UserState("ada", 1, 1, b"x" * 1_000_000)])
        store.compact("fold")
        large = path.stat().st_size
        store.compact()
        assert path.stat().st_size < large - 900_000
