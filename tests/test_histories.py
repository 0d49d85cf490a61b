"""A store stays with the history that it has seen; damage is told where it is; what is erased is gone."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from backups import Backup, rewrite

from druthers.errors import OtherJournal, StoreFailure, UnknownOutcome
from druthers.stores import STORES, Event, Snapshot, UserState, inspect, open_store
from druthers.stores.moving import export_events, import_events
from druthers.stores.rows import is_whole

LASTING = [name for name in STORES if name != "memory"]


@pytest.fixture(params=LASTING)
def url(request, tmp_path):
    """Return the URL of a fresh journal of each kind that lasts."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgres").fresh()
    return f"sqlite:{tmp_path / 'journal.db'}"


def note(number, **parts):
    return Event("note", {"number": number}, 1e9 + number / 7, **parts)


def notes(*numbers, **parts):
    return [note(number, **parts) for number in numbers]


def scrub(event):
    return event._replace(user=None, about=None, key=None, body={})


def calls_on(store):
    """Return every way to use a store."""
    return {
        "append": lambda: store.append(notes(99)),
        "append nothing new": lambda: store.append(notes(1, key="k1")),
        "read": store.read,
        "read the end": lambda: store.read(store._newest[0]),
        "about": lambda: store.about("d1"),
        "find": lambda: store.find("k1"),
        "last": store.last,
        "erase": lambda: store.erase("ada", note(99), scrub),
        "save": lambda: store.save("fold", Snapshot(2, b"all"), [UserState("ada", 1, 2, b"hers")]),
        "snapshot": lambda: store.snapshot("fold"),
        "users": lambda: store.users("fold", ["ada"]),
        "folds": store.folds,
        "compact": store.compact,
        "inspect": lambda: inspect(store),
    }


@pytest.mark.parametrize("regrown", [0, 1, 5])
def test_an_older_journal_is_refused_by_who_knows_more(url, tmp_path, regrown):
    """Whether it ends before what was seen, there, or behind it: what is there is another event."""
    with open_store(url) as store:
        store.append(notes(1, 2, user="ada"))
        older = Backup(url, tmp_path)
        store.append(notes(3))
        newer = Backup(url, tmp_path)
        older.put_back()
        with open_store(url) as other:
            other.append(notes(*range(10, 10 + regrown)))
            before = other.read()
            for name, call in calls_on(store).items():
                with pytest.raises(OtherJournal, match=r"must keep what was read from it, up to event 3, but .* has"):
                    raise AssertionError(f"{name} went on: {call()}")
            assert other.read() == before
            assert (other.snapshot("fold"), other.user("fold", "ada")) == (None, None)
        newer.put_back()
        assert store.append(notes(4)) == [4]


def test_who_knows_no_more_than_a_backup_goes_on(url, tmp_path):
    with open_store(url) as store, open_store(url) as other:
        store.append(notes(1, user="ada"))
        backup = Backup(url, tmp_path)
        other.append(notes(2))
        store.erase("ada", note(3), scrub)
        backup.put_back()
        with open_store(url) as fresh:
            assert [event.user for event in fresh.read()] == ["ada"]
            fresh.erase("ada", note(4), scrub)
            assert fresh.append(notes(5)) == [3]


def test_an_erasure_does_not_make_a_journal_another_one(url):
    with open_store(url) as store, open_store(url) as other:
        store.append(notes(1, 2, user="ada"))
        assert other.last() == len(other.read()) == 2
        store.erase("ada", note(3), scrub)
        assert other.append(notes(4)) == [4]


@pytest.mark.parametrize("regrown", [0, 1, 5])
def test_a_journal_that_lost_its_end_is_refused_until_its_states_are_dropped(url, regrown):
    """What was saved of the lost events is never given back; it shows that something is missing, and nothing is added.

    Also where the journal grew again behind our back, to the same place or beyond it.
    """
    with open_store(url) as store:
        store.append(notes(1, 2, 3, 4, user="ada"))
        store.save("fold", Snapshot(4, b"lost"), [UserState("ada", 1, 4, b"lost")])
        store.save("other", None, [UserState("ada", 1, 3, b"lost too")])
    grown = [(str(number), number) for number in range(3, 3 + regrown)]
    rewrite(url, "DELETE FROM druthers_events WHERE position > 2")
    for mark, position in grown:
        rewrite(url, AGAIN, position, mark)
    with open_store(url) as store:
        assert store.lost() == 4
        assert (store.snapshot("fold"), store.user("fold", "ada"), store.user("other", "ada")) == (None, None, None)
        assert inspect(store)[-1] == (
            "event 4 is not the one that saved states were folded from"
            if regrown > 1
            else f"event{'s 3-4 are' if not regrown else ' 4 is'} missing"
        )
        store.save("fold", Snapshot(2, b"new"), [UserState("ada", 1, 2, b"new")])
        store.compact("fold")
        for change in (lambda: store.append(notes(5)), lambda: store.erase("ada", note(5), scrub)):
            with pytest.raises(OtherJournal, match=r"lacks event 4, .* dropping the states: druthers store compact"):
                change()
        assert store.last() == 2 + regrown
        store.compact()
        assert (store.lost(), store.append(notes(6, user="ada"))) == (0, [3 + regrown])
        store.save("fold", Snapshot(2, b"new"))
        assert store.snapshot("fold") == Snapshot(2, b"new")


AGAIN = "INSERT INTO druthers_events (position, kind, body, at, mark, checksum) VALUES (?, 'note', '{}', 1.0, ?, '')"


def damage(url, kind):
    """Change a journal by hand, and return what should be told of it."""
    if kind == "a value":
        rewrite(url, "UPDATE druthers_events SET body = replace(body, '7', '8') WHERE position = 7")
        return "event 7, a 'note', is not as it was written"
    if kind == "a time":
        rewrite(url, "UPDATE druthers_events SET at = at + 1 WHERE position = 9")
        return "event 9, a 'note', is not as it was written"
    if kind == "a user":
        rewrite(url, "UPDATE druthers_events SET \"user\" = 'eve' WHERE position = 10")
        return "event 10, a 'note', is not as it was written"
    if kind == "a gap":
        rewrite(url, "DELETE FROM druthers_events WHERE position BETWEEN 5 AND 6")
        return "events 5-6 are missing"
    rewrite(url, "UPDATE druthers_events SET body = '{broken' WHERE position = 11")
    return "event 11 cannot be read"


@pytest.mark.parametrize("kind", ["a value", "a time", "a user", "a gap", "no JSON"])
def test_damage_is_told_by_its_place_and_stays_visible(url, tmp_path, kind):
    """Also after all that is done with a journal that is damaged."""
    with open_store(url) as store:
        store.append([note(number, user=f"u{number}", key=f"k{number}") for number in range(1, 13)])
        assert inspect(store) == []
        told = damage(url, kind)
        (found,) = inspect(store)
        assert found.startswith(told)
        store.compact()
        assert inspect(store) == [found]
    with open_store(url, migrate=True) as store:
        assert inspect(store) == [found]
        if kind in ("a value", "a time", "a user"):
            export_events(store, tmp_path / "journal.jsonl")
            with open_store("memory:") as copy:
                import_events(tmp_path / "journal.jsonl", copy)
                assert inspect(copy) == [found]


def test_marks_and_checksums_survive_a_move(url, tmp_path):
    with open_store(url) as store, open_store("memory:") as copy:
        store.append(notes(1, 2, user="ada"))
        store.erase("ada", note(3), scrub)
        export_events(store, tmp_path / "journal.jsonl")
        import_events(tmp_path / "journal.jsonl", copy)
        assert copy.read() == store.read()
        assert stat.S_IMODE((tmp_path / "journal.jsonl").stat().st_mode) == 0o600


def old(url):
    """Make a journal of the first version, as it was before events had marks."""
    kind = STORES[url.partition(":")[0]]
    first = type(kind.__name__, (kind,), {"migrations": kind.migrations[:1], "_seal": lambda self, cursor: None})
    first(url.partition(":")[2] if kind.name == "sqlite" else url).close()
    for number in range(1, 8):
        rewrite(
            url,
            'INSERT INTO druthers_events (position, kind, body, at, "user", about, key) VALUES (?, ?, ?, ?, ?, ?, ?)',
            *(number, "note", f'{{"number":{number}}}', 1e9 + number / 7, f"u{number % 2}", None, f"k{number}"),
        )
    rewrite(url, "INSERT INTO druthers_snapshots (fold, position, body) VALUES ('fold', 7, ?)", b"all")
    rewrite(
        url, "INSERT INTO druthers_users (fold, \"user\", first, position, body) VALUES ('fold', 'u1', 1, 7, ?)", b""
    )


def test_an_old_journal_is_sealed_when_it_is_migrated(url, tmp_path):
    old(url)
    before = Backup(url, tmp_path) if url.startswith("sqlite") else None
    if url.startswith("sqlite"):
        Path(url.partition(":")[2]).chmod(0o644)
    with pytest.raises(StoreFailure, match=r"must be of version 2, but .* is of version 1; .*: druthers store migrate"):
        open_store(url)
    with open_store(url, migrate=True) as store:
        assert store.read()[2] == note(3, user="u1", key="k3", position=3)._replace(
            mark=store.read()[2].mark, checksum=store.read()[2].checksum
        )
        assert all(map(is_whole, store.read()))
        assert len({event.mark for event in store.read()}) == 7
        assert inspect(store) == []
        assert store.folds() == []
        assert store.append(notes(8)) == [8]
        marks = [event.mark for event in store.read(limit=7)]
    if before is not None:
        assert stat.S_IMODE(Path(before.path).stat().st_mode) == 0o600
        copy = f"sqlite:{before.copy}"
        with open_store(copy, migrate=True) as store:
            assert [event.mark for event in store.read()] == marks, "two copies of one journal became two journals"


def test_only_the_owner_may_read_a_journal(tmp_path):
    before = os.umask(0)
    try:
        with open_store(f"sqlite:{tmp_path / 'journal.db'}") as store:
            store.append(notes(1))
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("journal.db", "journal.db-wal", "journal.db-shm"), 0o600)


def test_damaged_indexes_are_found(tmp_path):
    """SQLite's indexes are overwritten in the file, as a bad disk does it; every event is still there."""
    path = tmp_path / "journal.db"
    with open_store(str(path)) as store:
        store.append(
            [note(number, user=f"user{number}", about=f"d{number}", key=f"k{number}") for number in range(200)]
        )
    whole = path.read_bytes()
    names = [name for name in index_roots(path) if name.startswith("druthers_events") or name == "druthers_keys"]
    assert len(names) == 4
    for name in names:
        path.write_bytes(whole)
        damage_index(path, name)
        with open_store(str(path)) as store:
            found = inspect(store)
        assert any(name in line for line in found), (name, found)


def index_roots(path):
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'index'"))


def damage_index(path, name):
    """Overwrite the letters in the first leaf of an index, as a bad disk might: the table stays whole."""
    with closing(sqlite3.connect(path)) as connection:
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    root, whole = index_roots(path)[name], path.read_bytes()
    page = whole[(root - 1) * size : root * size]
    leaf = root
    if page[0] == 2:  # an inner page: go to the first leaf
        cell = int.from_bytes(page[12:14], "big")
        leaf = int.from_bytes(page[cell : cell + 4], "big")
    start = (leaf - 1) * size
    content = bytes(97 + (byte - 84) % 26 if 97 <= byte <= 122 else byte for byte in whole[start + 500 : start + size])
    path.write_bytes(whole[: start + 500] + content + whole[start + size :])


def test_an_erasure_finds_whom_a_damaged_index_does_not(tmp_path):
    """Nobody is told that they are not there while they are, and no event of theirs is left."""
    path = tmp_path / "journal.db"
    people = [f"user{number:03}" for number in range(100)]
    with open_store(str(path)) as store:
        store.append([note(number, user=user) for number in range(3) for user in people])
    damage_index(path, "druthers_events_of_users")
    with open_store(str(path)) as store:
        assert any(len(store.read(user=user)) < 3 for user in people), "nothing was damaged"
        for user in people:
            assert store.erase(user, note(0), scrub) > 0, user
        assert [event.user for event in store.read(limit=10**6) if event.user] == []
        assert store.erase("nobody", note(0), scrub) == 0
        assert inspect(store) == []


def test_an_erasure_finds_whom_a_damaged_index_does_not_in_postgresql(postgres):
    url = postgres.fresh()
    with open_store(url) as store:
        store.append(notes(1, user="ada"))
        rewrite(url, "UPDATE pg_index SET indisready = false WHERE indexrelid = 'druthers_events_of_users'::regclass")
        store.append([*notes(2, user="ada"), *notes(3, user="eve")])
        rewrite(url, "UPDATE pg_index SET indisready = true WHERE indexrelid = 'druthers_events_of_users'::regclass")
        assert (len(store.read(user="ada")), store.read(user="eve")) == (1, [])
        assert (store.erase("eve", note(4), scrub), store.erase("ada", note(5), scrub)) == (4, 5)
        assert [event.user for event in store.read() if event.user] == []
        assert store.check() == []


def test_damaged_indexes_are_found_in_postgresql(postgres):
    """An index that lacks entries: what it finds is less than what is there."""
    url = postgres.fresh()
    with open_store(url) as store:
        store.append([note(number, user=f"u{number}", about=f"d{number}", key=f"k{number}") for number in range(50)])
        assert store.check() == []
        rewrite(url, "UPDATE pg_index SET indisready = false WHERE indexrelid = 'druthers_keys'::regclass")
        store.append(notes(50, key="k50"))
        rewrite(url, "UPDATE pg_index SET indisready = true WHERE indexrelid = 'druthers_keys'::regclass")
        assert store.check() == ["the index of events by key does not match the events"]


def erased_and_compacted(url, people):
    """Have people say things in many orders, erase some of them, and compact; return those who are gone."""
    chance = random.Random(1)
    with open_store(url) as store:
        for turn in range(6):
            order = chance.sample(people, len(people))
            for start in range(0, len(people), 10):
                store.append([query(*person, turn) for person in order[start : start + 10]])
        firsts = {event.user: event.position for event in reversed(store.read(limit=10**6))}
        store.save("fold", None, [UserState(u, firsts[u], firsts[u], t.encode() * 30) for u, t in people])
        gone = chance.sample(people, len(people) // 3)
        for user, _ in gone:
            assert store.erase(user, Event("erasure", {}, 1.0), scrub)
        store.compact("fold")
        assert len([*store.walk(kind="erasure")]) == len(gone)
    return gone


def query(user, text, turn=0):
    return Event("query", {"text": text}, 1.0, user=user, about=f"{user}-{turn}", key=f"k{user}-{turn}")


CHANCE = random.Random(0)
PEOPLE = [(f"person-{CHANCE.getrandbits(64):016x}", f"secret-{CHANCE.getrandbits(64):016x}") for _ in range(300)]


def test_the_erased_are_not_in_the_bytes_after_compacting(tmp_path):
    gone = erased_and_compacted(f"sqlite:{tmp_path / 'journal.db'}", PEOPLE)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert PEOPLE[1][0].encode() in content
    assert [word for pair in gone for word in pair if word.encode() in content] == []


def test_the_erased_are_not_in_the_tables_of_postgresql_after_compacting(postgres):
    """Nor in its statistics, whoever gathered them; its log of changes is another matter."""
    url = postgres.fresh()
    with open_store(url) as store:
        store.append([query(*person, "before") for person in PEOPLE])
    postgres.ask("ANALYZE", url)
    gone = erased_and_compacted(url, PEOPLE)
    postgres.ask("CHECKPOINT")
    [(database,)] = postgres.ask("SELECT oid FROM pg_database WHERE datname = current_database()")
    folder = Path(postgres.server.pgdata) / "base" / str(database)
    content = b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())
    assert PEOPLE[1][0].encode() in content
    assert [word for pair in gone for word in pair if word.encode() in content] == []


def test_a_lost_answer_is_told_as_unknown(postgres):
    """The connection breaks while a commit is under way; one that cannot even be opened has changed nothing."""
    url = postgres.fresh()
    with open_store(url) as store:
        store.append(notes(1))
        postgres.ask(BREAKING_COMMITS, url)
        with pytest.raises(UnknownOutcome):
            store.append([Event("last words", {}, 1.0)])
        assert store.append(notes(2)) == [2]
        postgres.server.stop()
        try:
            with pytest.raises(StoreFailure) as problem:
                store.append(notes(3))
            assert type(problem.value) is StoreFailure
        finally:
            postgres.server.start()


# Ends the session that commits, at the last moment.
BREAKING_COMMITS = """
    CREATE FUNCTION hang_up() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.kind = 'last words' THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
        RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER hanging_up AFTER INSERT ON druthers_events DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION hang_up();
"""
