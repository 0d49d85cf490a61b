"""Every store keeps every law, whoever else writes and whenever a process dies."""

from __future__ import annotations

import itertools
import json
import random
import threading
import time

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from journal_writer import PARTS, batch

from druthers.errors import InvalidSetting, StoreFailure, UnknownName
from druthers.stores import STORES, Event, MemoryStore, Snapshot, UserState, inspect, open_store
from druthers.testing.stores import STORE_CHECKS, bare, check_two_doors_lead_to_one_journal

LASTING = [name for name in STORES if name != "memory"]


@pytest.fixture
def urls(request, tmp_path):
    """Return what gives the URL of a fresh journal of a kind."""
    numbers = itertools.count()

    def fresh(name):
        if name == "postgresql":
            return request.getfixturevalue("postgres").fresh()
        return "memory:" if name == "memory" else f"{name}:{tmp_path}/{next(numbers)}.db"

    return fresh


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", STORES)
def test_stores_keep_the_laws(name, check, urls):
    check(lambda: open_store(urls(name)))


@pytest.mark.parametrize("name", LASTING)
def test_two_stores_share_one_journal(name, urls):
    url = urls(name)
    check_two_doors_lead_to_one_journal(lambda: open_store(url), lambda store: open_store(url))


@pytest.mark.parametrize("name", STORES)
def test_a_store_is_shown_by_its_place(name, urls):
    with open_store(urls(name)) as store:
        assert type(store) is STORES[name]
        assert repr(store).startswith(STORES[name].__name__)


def follow(store, seen, until):
    """Read as a replica does, and note positions, until there is nothing more after the end."""
    while True:
        over = until.is_set()
        page = store.read(seen[-1] if seen else 0, limit=50)
        seen.extend(event.position for event in page)
        if over and not page:
            return


def wait_for(happens):
    """Wait for something that others do."""
    deadline = time.monotonic() + 600
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.003)


def check_nothing_lost(url, notes):
    """Every acknowledged event is there once, at its position; what was not acknowledged is whole or not there."""
    with open_store(url) as store:
        events, after = [], 0
        while page := store.read(after):
            events += page
            after = page[-1].position
    assert [event.position for event in events] == list(range(1, len(events) + 1))
    keys = {event.key: event for event in events}
    assert len(keys) == len(events)
    acknowledged = [json.loads(line) for line in notes.read_text().splitlines()]
    for name, number, positions in acknowledged:
        for event, position in zip(batch(name, number), positions, strict=True):
            assert bare(keys[event.key]) == event._replace(position=position)
    batches = {(event.user, event.body["number"]) for event in events}
    assert len(events) == PARTS * len(batches)
    return len(acknowledged), len(batches)


def kill_writers(url, writers, notes, times):
    """Let two processes append, kill both at random moments, and look at what is left."""
    chance = random.Random(7)
    notes.touch()
    for attempt in range(times):
        before = notes.stat().st_size
        pair = [writers.start(url, f"{attempt}-{twin}", notes) for twin in "ab"]
        wait_for(lambda before=before: notes.stat().st_size > before)
        for writer in pair:
            time.sleep(chance.uniform(0, 0.02))
            writers.kill(writer)
    acknowledged, batches = check_nothing_lost(url, notes)
    assert acknowledged >= times
    assert acknowledged <= batches <= acknowledged + 2 * times


@pytest.mark.parametrize("name", LASTING)
def test_killed_writers_lose_nothing(name, urls, writers, tmp_path):
    kill_writers(urls(name), writers, tmp_path / "notes", 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", LASTING)
def test_writers_killed_a_hundred_times_lose_nothing(name, urls, writers, tmp_path):
    kill_writers(urls(name), writers, tmp_path / "notes", 100)


@pytest.mark.parametrize("name", LASTING)
def test_who_follows_other_processes_misses_nothing(name, urls, writers, tmp_path):
    url, notes, seen, over = urls(name), tmp_path / "notes", [], threading.Event()
    notes.touch()
    with open_store(url) as store:
        follower = threading.Thread(target=follow, args=(store, seen, over))
        follower.start()
        twins = [writers.start(url, twin, notes) for twin in "ab"]
        wait_for(lambda: len({line[:4] for line in notes.read_text().splitlines()}) == 2 and len(seen) > 200)
        for writer in twins:
            writers.kill(writer)
        time.sleep(0.1)
        over.set()
        follower.join()
        assert seen == list(range(1, store.last() + 1))


@pytest.mark.parametrize("name", LASTING)
def test_a_state_saved_during_an_erasure_is_not_kept(name, urls):
    """The save waits for the erasure to end, and then finds nobody to keep it for."""
    url = urls(name)
    with open_store(url) as store, open_store(url) as other:
        store.append([Event("note", {}, 1.0, user="ada")])
        saving = threading.Thread(target=other.save, args=("fold", None, [UserState("ada", 1, 1, b"hers")]))

        def scrub(event):
            saving.start()
            saving.join(0.2)
            assert saving.is_alive()
            return event._replace(user=None)

        assert store.erase("ada", Event("erasure", {}, 2.0), scrub) == 2
        saving.join()
        assert other.user("fold", "ada") is None


@pytest.mark.parametrize("name", LASTING)
def test_a_fresh_journal_may_be_opened_by_all_at_once(name, urls):
    url, start, opened, problems = urls(name), threading.Barrier(6), [], []

    def enter():
        start.wait()
        try:
            with open_store(url) as store:
                opened.append(store.append([Event("note", {}, 1.0)]))
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=enter) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert sorted(opened) == [[n] for n in range(1, 7)]


def grown(kind, *statements):
    """Return a store of a later druthers, with one more migration."""
    return type(kind.__name__, (kind,), {"migrations": [*kind.migrations, statements]})


def reach(kind, url):
    return (url.partition(":")[2] if kind.name == "sqlite" else url,)


@pytest.mark.parametrize("name", LASTING)
def test_schemas_grow_by_migrations(name, urls):
    """An old journal is refused, then brought to the new version with all it holds; then the old program refuses it."""
    url, kind = urls(name), STORES[name]
    later = grown(kind, "ALTER TABLE druthers_snapshots ADD COLUMN made REAL DEFAULT 1.5")
    with open_store(url) as store:
        store.append([Event("note", {}, 1.0, user="ada")])
        store.save("fold", Snapshot(1, b"all"), [UserState("ada", 1, 1, b"hers")])
        before = store.read()
    with pytest.raises(StoreFailure, match=r"must be of version 3, but .* is of version 2; .*: druthers store migrate"):
        later(*reach(kind, url))
    open_store(url).close()
    for _ in range(2):
        with later(*reach(kind, url), migrate=True) as store:
            assert store.read() == before
            assert store.snapshot("fold") == Snapshot(1, b"all")
            assert store._ask("SELECT made FROM druthers_snapshots") == [(1.5,)]
    for migrate in (False, True):
        with pytest.raises(StoreFailure, match=r"version 2 or older, but .* is of version 3; upgrade druthers"):
            open_store(url, migrate=migrate)


@pytest.mark.parametrize("name", LASTING)
def test_a_migration_that_fails_changes_nothing(name, urls):
    url, kind = urls(name), STORES[name]
    open_store(url).close()
    broken = grown(kind, "ALTER TABLE druthers_events ADD COLUMN more TEXT", "ALTER TABLE nowhere ADD COLUMN more TEXT")
    with pytest.raises(StoreFailure, match="nowhere"):
        broken(*reach(kind, url), migrate=True)
    with open_store(url) as store:
        assert store.append([Event("note", {}, 1.0)]) == [1]
        assert len(store._ask("SELECT * FROM druthers_events")[0]) == 9


@pytest.mark.parametrize("name", LASTING)
def test_a_journal_is_not_made_where_it_was_asked_not_to(name, urls):
    url = urls(name)
    with pytest.raises(StoreFailure, match="must be there to be opened, but there is no"):
        open_store(url, create=False)
    open_store(url).close()
    open_store(url, create=False).close()


def test_unknown_places_are_refused_without_their_secrets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownName, match="unknown store 'postgress'; known: memory, sqlite") as problem:
        open_store("postgress://ada:hidden@host/name.db")
    assert "hidden" not in str(problem.value)
    for url in ("journal", "memory:x", "sqlite:", "sqlite:///tmp/x.db", "sqlite::memory:", ""):
        with pytest.raises(InvalidSetting, match="must be"):
            open_store(url)
    assert list(tmp_path.iterdir()) == []
    for url in ("sqlite:a ?#%20.file", "b.db", "sub.sqlite", str(tmp_path / "c.db")):
        with open_store(url) as store:
            assert store.append([Event("note", {}, 1.0)]) == [1]
    assert {"a ?#%20.file", "b.db", "sub.sqlite", "c.db"} == {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("name", STORES)
def test_a_bound_must_have_borne_the_user_before_the_call(name, urls):
    with open_store(urls(name)) as store:
        first, second = Event("query", {}, 1.0, "ada"), Event("query", {}, 1.0, "ada", key="k", bound=1)
        assert store.append([first, second, second._replace(bound=0)]) == [1, 0, 2]
        assert store.append([second._replace(key="l"), second._replace(key="m", user="bob")]) == [3, 0]


NAMES = st.sampled_from(["ada", "bob", "eve"])
KEYS = st.none() | st.sampled_from(["k1", "k2", "k3", "k4"])
BODIES = st.dictionaries(
    st.text(max_size=3), st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5), max_size=3
)
KINDS = st.sampled_from(["query", "feedback"])
EVENTS = st.builds(
    Event,
    kind=KINDS,
    body=BODIES,
    at=st.floats(0, 1e10),
    user=st.none() | NAMES,
    about=st.none() | st.sampled_from(["d1", "d2"]),
    key=KEYS,
    mark=st.just(""),
    checksum=st.just(""),
    bound=st.just(0) | st.integers(-1, 9),
    latest=st.just(0) | st.integers(-1, 9),
)


def machine(make):
    class Machine(RuleBasedStateMachine):
        @initialize()
        def begin(self):
            self.stores = [MemoryStore(), make()]

        def both(self, call):
            """Do the same to memory and to the store."""
            expected, found = (call(store) for store in self.stores)
            assert found == expected
            return found

        def read_both(self, call):
            self.both(lambda store: [bare(event) for event in call(store)])

        @rule(events=st.lists(EVENTS, max_size=5), together=st.booleans())
        def append(self, events, together):
            self.both(lambda store: store.append(events, together=together))

        @rule(user=NAMES, keep=st.booleans())
        def erase(self, user, keep):
            def scrub(event):
                return event._replace(user=None, about=None, body={}, key=event.key if keep else None)

            self.both(lambda store: store.erase(user, Event("erasure", {}, 1.0), scrub))

        @rule(user=NAMES, fold=st.sampled_from("ab"), first=st.integers(0, 9), position=st.integers(0, 9))
        def save(self, user, fold, first, position):
            snapshot = Snapshot(position, f"{position} {first}".encode()) if first % 2 else None
            self.both(lambda store: store.save(fold, snapshot, [UserState(user, first, position, user.encode())]))

        @rule(fold=st.none() | st.sampled_from("ab"))
        def compact(self, fold):
            self.both(lambda store: store.compact(fold))

        @rule(after=st.integers(-1, 12), limit=st.integers(-1, 6), user=st.none() | NAMES, kind=st.none() | KINDS)
        def read(self, after, limit, user, kind):
            self.read_both(lambda store: store.read(after, limit=limit, user=user, kind=kind))

        @rule(fold=st.sampled_from("ab"), upto=st.integers(0, 12))
        def look(self, fold, upto):
            self.both(lambda store: (store.users(fold, ["ada", "bob", "eve"], upto), store.folds()))

        @invariant()
        def agree(self):
            if hasattr(self, "stores"):
                self.both(lambda store: store.last())
                self.read_both(lambda store: store.read())

        def teardown(self):
            if not hasattr(self, "stores"):
                return
            for fold, user in itertools.product("ab", ("ada", "bob", "eve")):
                self.both(lambda store, fold=fold, user=user: (store.snapshot(fold), store.user(fold, user)))
            self.read_both(lambda store: [store.find(key) for key in ("k1", "k2", "k3", "k4") if store.find(key)])
            self.read_both(lambda store: [*store.about("d1"), *store.about("d2")])
            self.both(inspect)
            self.stores[1].close()

    return Machine


@pytest.mark.parametrize("name", LASTING)
def test_any_sequence_of_calls_does_what_memory_does(name, urls):
    quick = settings(
        max_examples=12,
        stateful_step_count=20,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine(lambda: open_store(urls(name))), settings=quick)
