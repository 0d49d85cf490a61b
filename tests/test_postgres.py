"""What can befall a server: slow commits, a stop, a freeze, a lost connection; and whose secrets it knows."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time

import psycopg
import pytest

from druthers.errors import InvalidSetting, MissingExtra, StoreFailure
from druthers.stores import Event, PostgresStore

SLOW_COMMITS = """
    CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.kind = 'slow' THEN PERFORM pg_sleep(0.3); END IF;
        RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER dawdling AFTER INSERT ON druthers_events DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION dawdle();
"""


def note(number, kind="note", **parts):
    return Event(kind, {"number": number}, float(number), **parts)


@pytest.fixture
def url(postgres):
    return postgres.fresh()


def numbers(store):
    return [event.body["number"] for event in store.read()]


def later(call, *arguments):
    """Start a call in a thread of its own; return the thread, and the list that its answer goes to."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(call(*arguments)))
    thread.start()
    return thread, answers


def test_a_slow_commit_keeps_others_behind_it(url, postgres):
    """A transaction that began first and commits last must not slip in before what others have read."""
    with PostgresStore(url) as slow, PostgresStore(url) as fast:
        postgres.ask(SLOW_COMMITS, url)
        thread, first = later(slow.append, [note(1, "slow", key="a"), note(2)])
        time.sleep(0.1)
        assert fast.read() == []
        second = fast.append([note(3), note(4, key="a"), note(5)])
        thread.join()
        assert (first, second) == ([[1, 2]], [3, 0, 4])
        assert numbers(fast) == numbers(slow) == [1, 2, 3, 5]


def test_who_follows_slow_commits_misses_nothing(url, postgres):
    with PostgresStore(url) as slow, PostgresStore(url) as fast, PostgresStore(url) as reader:
        postgres.ask(SLOW_COMMITS, url)
        threads = [later(slow.append, [note(0, "slow")])[0]]
        seen = []
        for number in range(1, 200):
            if number % 80 == 0:
                threads.append(later(slow.append, [note(number, "slow")])[0])
            else:
                fast.append([note(number)])
            seen += [event.position for event in reader.read(seen[-1] if seen else 0)]
        for thread in threads:
            thread.join()
        seen += [event.position for event in reader.read(seen[-1])]
        assert seen == list(range(1, 201))


def test_an_open_transaction_of_others_is_waited_for_only_so_long(url):
    """The lock of the journal is held by somebody who does not commit."""
    with PostgresStore(url, timeout=1.0) as store, PostgresStore(url) as other:
        store.append([note(1)])
        start = time.monotonic()
        with other._transaction("druthers_events"):
            with pytest.raises(StoreFailure, match="statement timeout"):
                store.append([note(2)])
            assert numbers(store) == [1]
        assert time.monotonic() - start < 4
        assert store.append([note(2)]) == [2]


def test_a_server_that_stops_is_a_failure_and_recovers(url, postgres):
    with PostgresStore(url, timeout=2.0) as store:
        store.append([note(1)])
        postgres.server.stop()
        for call in (store.last, lambda: store.append([note(2)]), lambda: store.save("fold", None)):
            start = time.monotonic()
            with pytest.raises(StoreFailure, match="see that the server runs"):
                call()
            assert time.monotonic() - start < 4
        with pytest.raises(StoreFailure, match="see that the server runs"):
            PostgresStore(url)
        postgres.server.start()
        assert store.append([note(3)]) == [2]
        assert numbers(store) == [1, 3]


def test_a_lost_connection_is_replaced_unnoticed(url, postgres):
    with PostgresStore(url) as store:
        for number in range(1, 4):
            assert store.append([note(number)]) == [number]
            assert store.last() == number
            [(process,)] = store._ask("SELECT pg_backend_pid()")
            postgres.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'druthers'")
            while any(postgres.ask(f"SELECT 1 FROM pg_stat_activity WHERE pid = {process}")):
                time.sleep(0.01)


@pytest.mark.parametrize("call", ["read", "append", "erase"])
def test_a_frozen_server_is_a_failure_and_recovers(url, call):
    """An append whose answer was lost may have happened; its key says so."""
    with PostgresStore(url, timeout=0.5) as store:
        store.append([note(1, user="ada")])
        calls = {
            "read": store.read,
            "append": lambda: store.append([note(2, key="again")]),
            "erase": lambda: store.erase("ada", note(2), lambda event: event._replace(user=None)),
        }
        processes = [store._ask("SELECT pg_backend_pid()")[0][0]]
        with store._transaction() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            processes.append(cursor.fetchall()[0][0])
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        start = time.monotonic()
        try:
            with pytest.raises(StoreFailure, match=r"no answer for 1\.5 seconds"):
                calls[call]()
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)
        assert time.monotonic() - start < 4
        calls["append"]()
        assert sum(event.key == "again" for event in store.read()) == 1


def test_a_server_that_says_nothing_is_a_failure():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        start = time.monotonic()
        with pytest.raises(StoreFailure, match="timeout"):
            PostgresStore(f"postgresql://ada:hidden@127.0.0.1:{silent.getsockname()[1]}/name", timeout=1.0)
        assert time.monotonic() - start < 5


def test_a_database_that_cannot_hold_all_letters_is_refused(postgres):
    postgres.ask("CREATE DATABASE narrow ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    with pytest.raises(StoreFailure, match=r"must be in a database in UTF8, but .* is in LATIN1; make another"):
        PostgresStore(postgres.server.get_uri(database="narrow"))


def test_a_user_without_rights_is_told(url, postgres):
    postgres.ask("CREATE ROLE guest LOGIN")
    with pytest.raises(StoreFailure, match=r"guest.*: .*; see that its user may use the tables druthers_\*"):
        PostgresStore(url.replace("postgres:@", "guest:@"))


def test_every_commit_reaches_the_disk(url):
    """Whatever the server's default; one that waits for replicas as well is left alone."""
    for given, kept in (("off", "on"), ("on", "on"), ("remote_apply", "remote_apply")):
        with PostgresStore(f"{url}%20-csynchronous_commit%3D{given}") as store:
            assert store._ask("SHOW synchronous_commit") == [(kept,)]
            with store._transaction() as cursor:
                cursor.execute("SHOW synchronous_commit")
                assert cursor.fetchall() == [(kept,)]


def test_queries_use_their_indexes(url):
    """Also those that were planned while the journal was empty."""
    with PostgresStore(url) as store, PostgresStore(url) as writer:
        for _ in range(10):
            store.find("k1"), store.about("d1"), store.read(5, user="ada")
        writer.append([note(n, user=f"u{n % 50}", about=f"d{n}", key=f"k{n}") for n in range(3000)])
        for where in ("key = 'k1'", "about = 'd1'", "\"user\" = 'ada'", "position > 5", "key = ANY('{k1,k2}')"):
            plan = "\n".join(row for (row,) in store._ask(f"EXPLAIN SELECT * FROM druthers_events WHERE {where}"))
            assert "Seq Scan" not in plan


SECRET = "hid+den"


@pytest.mark.parametrize(
    "rest",
    [
        "ada:{}@127.0.0.1:1/name",
        "127.0.0.1:1/n?password={}",
        ":{}@/name?host=/nowhere",
        "ada:{}@no.invalid/",
    ],
)
def test_passwords_are_never_shown(rest, caplog):
    with pytest.raises(StoreFailure, match="see that the server runs") as problem:
        PostgresStore(f"postgresql://{rest.format(SECRET)}", timeout=1.0)
    shown = f"{problem.value!r} {problem.value} {problem.value.__cause__!r} {caplog.text}"
    assert SECRET not in shown
    assert "postgresql://" in shown


@pytest.mark.parametrize(
    "rest",
    ["ada:hid@den@host/", "ada:hid/den@host/", "ada:hid?den@host/", "ada:hid#den@host/", "h/n?password=hid@den"],
)
def test_passwords_that_break_a_url_are_not_shown_either(rest):
    with pytest.raises(InvalidSetting, match="as %XX") as problem:
        PostgresStore(f"postgresql://{rest}")
    assert "hid" not in str(problem.value)
    assert "den" not in str(problem.value).replace("hold", "")


def test_a_journal_is_shown_without_its_password(url):
    parts = psycopg.conninfo.conninfo_to_dict(url)
    with PostgresStore(url.replace("postgres:@", "postgres:sesame@")) as store:
        assert parts["host"] in repr(store)
        assert "sesame" not in repr(store)
        store._reader.drop()
        store._options["port"] = "1"
        with pytest.raises(StoreFailure) as problem:
            store.last()
        assert "sesame" not in str(problem.value)


def test_a_missing_driver_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'druthers\[postgres\]'"):
        PostgresStore("postgresql:///name")
