"""The laws of stores.

>>> from druthers.stores import open_store
>>> check_store(lambda: open_store("memory:"))
"""

import math
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from druthers.errors import InvalidEvent, StoreFailure
from druthers.stores import Event, Snapshot, Store, UserRecord, UserState, inspect
from druthers.testing.laws import hold, laws_of, require_refused

MakeStore = Callable[[], Store]
BODY = {
    "numbers": [0.1, -0.0, 5e-324, 1.7976931348623157e308, 2**70, 1e22, 1 / 3],
    "texts": ["", "\0", "\ud800 alone", "👃 北京 Ünïcödé", "'; DROP TABLE druthers_events; --", "\\u0000"],
    "\udfff": {"deep": [[[{"er": None}]]], "yes": True},
}
BAD_TEXTS = ("\0", "a\0b", "\ud800", "x" * 1001, "ü" * 501, 7, b"ada")


def _event(number: int = 0, **parts: Any) -> Event:
    return Event("note", {"number": number}, 1e9 + number / 7)._replace(**parts)


def _scrub(event: Event) -> Event:
    return event._replace(user=None, body={"scrubbed": True})


def bare(event: Event) -> Event:
    """Return an event without the mark and the checksum that its store gave it."""
    return event._replace(mark="", checksum="")


def _numbers(events: list[Event]) -> list[Any]:
    return [event.body.get("number") for event in events]


def check_a_fresh_journal_is_empty(make: MakeStore) -> None:
    """Nothing is in a fresh journal, and asking for what cannot exist finds nothing."""
    with make() as store:
        assert (store.last(), store.read(), store.append([])) == (0, [], [])
        for text in ("ada", "", "\0", "\ud800", "x" * 5000):
            assert store.read(user=text) == store.about(text) == [], f"{text[:9]!r} has events"
            found = [store.find(text), store.snapshot(text), store.user("fold", text)]
            assert found == [None] * 3, f"{text[:9]!r} is found"
            assert store.erase(text, _event(), _scrub) == 0, f"{text[:9]!r} was erased"
        assert store.last() == 0


def check_what_is_appended_is_read(make: MakeStore) -> None:
    """Events come back as they were, to the last bit, at positions from 1 on."""
    with make() as store:
        events = [
            Event("query", dict(BODY), 1e9 + 1 / 3, user="ada", about="d1", key="k1"),
            Event("", {}, -0.5, user="", about="", key=""),
            Event("ü", {"b": (1, 2)}, 5, user="'; --", about="%s ? :x", key="\\ \" ' \t\n\u2028"),
            Event("x" * 1000, {"long": "y" * 100_000}, 0.1),
        ]
        assert store.append(events) == [1, 2, 3, 4]
        found = store.read()
        expected = [event._replace(position=place) for place, event in enumerate(events, 1)]
        expected[2] = expected[2]._replace(body={"b": [1, 2]})
        assert [bare(event) for event in found] == expected, f"{found} is not what was appended"
        assert math.copysign(1, found[0].body["numbers"][1]) == -1.0, "-0.0 lost its sign"
        assert [type(event.at) for event in found] == [float] * 4, "a time is no float"
        for event in found[:3]:
            assert store.find(event.key or "") == event, f"not found by its key: {event}"
            assert store.about(event.about or "") == [event], f"not found by what it is about: {event}"
            assert store.read(user=event.user) == [event], f"not found by its user: {event}"


def check_reading_goes_page_by_page(make: MakeStore) -> None:
    """Pages after a position follow each other without gap or overlap, for one user and for all."""
    with make() as store:
        store.append([_event(number, user="ada" if number % 3 else "bob") for number in range(1, 26)])
        for user in (None, "ada", "bob"):
            everything, pages, after = store.read(user=user), [], 0
            while page := store.read(after, limit=4, user=user):
                assert len(page) <= 4, f"{len(page)} events on a page of 4"
                pages += page
                after = page[-1].position
            assert pages == everything, "pages do not add up"
        assert [event.position for event in store.read()] == list(range(1, 26))
        assert _numbers(store.read(limit=9, user="bob")) == [3, 6, 9, 12, 15, 18, 21, 24]
        store.append([_event(26, kind="rare", user="ada"), _event(27), _event(28, kind="rare")])
        assert _numbers(store.read(kind="rare")) == [26, 28]
        assert _numbers([*store.walk(kind="rare", user="ada")]) == [26]
        assert store.read(28, kind="rare") == store.read(kind="\0") == []
        assert store.read(-5, limit=2**80) == store.read()
        assert store.read(2**80) == store.read(limit=0) == store.read(limit=-1) == []


def check_a_key_is_taken_once(make: MakeStore) -> None:
    """The first event with a key stays; others with it get 0 and the rest of their batch is appended."""
    with make() as store:
        assert store.append([_event(1, key="a"), _event(2), _event(3, key="a"), _event(4, key="b")]) == [1, 2, 0, 3]
        assert store.append([_event(5, key="b"), _event(6, key="c"), _event(7, key="a"), _event(8)]) == [0, 4, 0, 5]
        assert store.append([_event(9, key="c")]) == [0]
        assert _numbers(store.read()) == [1, 2, 4, 6, 8]
        assert [store.find(key).body["number"] for key in "abc"] == [1, 4, 6]  # type: ignore[union-attr]
        assert store.last() == 5


def check_events_are_added_together_or_not_at_all(make: MakeStore) -> None:
    """Of events that go together none is added where a key is taken, or a bound one has lost its user."""
    with make() as store:
        assert store.append([_event(1, user="ada", key="a"), _event(2)], together=True) == [1, 2]
        refused = (
            [_event(3, key="b"), _event(4, key="a")],
            [_event(3, key="a"), _event(4, key="b")],
            [_event(3, key="b"), _event(4), _event(5, key="b")],
            [_event(3, key="b"), _event(4, user="ada", bound=2)],
        )
        for events in refused:
            assert store.append(events, together=True) == [0] * len(events), "a part of what goes together is added"
        assert (store.last(), store.find("b")) == (2, None), "what was not added takes a key"
        fits = [_event(6, key="b"), _event(7, user="ada", bound=1, key="c"), _event(8)]
        assert store.append(fits, together=True) == [3, 4, 5]
        assert store.append([], together=True) == []
        assert _numbers(store.read()) == [1, 2, 6, 7, 8]


def check_a_bound_event_needs_its_user(make: MakeStore) -> None:
    """What is bound to an event is added only while that bears the same user, or is its last; else no key is taken."""
    with make() as store:
        store.append([_event(1, user="ada"), _event(2)])
        bound = [_event(3, user="ada", key="a", bound=place) for place in (2, 3, 10**30, 1)]
        assert store.append(bound) == [0, 0, 0, 3], "bound to nothing, and added"
        assert store.append([_event(4, user="bob", bound=1), _event(5, bound=1), _event(6, bound=2)]) == [0, 0, 0]
        store.erase("ada", _event(7), _scrub)
        assert store.append([_event(8, user="ada", bound=1), _event(9, user="ada")]) == [0, 5], "an erasure is undone"
        latest = [_event(10, user="ada", latest=place) for place in (4, 5, 6, 10**30)]
        assert store.append([*latest, _event(11, latest=5)]) == [0, 6, 0, 0, 0], "more came meanwhile, and it is added"
        assert [(event.bound, event.latest) for event in store.read()] == [(0, 0)] * 6


def check_events_have_marks_and_checksums(make: MakeStore) -> None:
    """Each event has a mark of its own that stays, and a checksum; those that are given are kept."""
    with make() as store:
        given = _event(0, mark="0123456789abcdef", checksum="0" * 16)
        store.append([given, *(_event(n, user="ada") for n in range(1, 6))])
        before = store.read()
        assert (before[0].mark, before[0].checksum) == given[7:9], "a given mark is lost"
        assert len({event.mark for event in before}) == 6, "two events have the same mark"
        assert inspect(store) == ["event 1, a 'note', is not as it was written"]
        store.erase("ada", _event(6), _scrub)
        after = store.read()
        assert [event.mark for event in after[:6]] == [event.mark for event in before], "an erasure changed a mark"
        assert {event.checksum for event in before} & {event.checksum for event in after[1:]} == set()
        assert len(inspect(store)) == 1, "an erasure damaged the journal"


def check_erasing_hides_no_damage(make: MakeStore) -> None:
    """An event that was damaged before it was scrubbed does not look whole afterwards."""
    with make() as store:
        store.append([_event(1, user="ada"), _event(2, user="ada", checksum="0" * 16)])
        store.erase("ada", _event(3), _scrub)
        assert inspect(store) == ["event 2, a 'note', is not as it was written"]


def check_a_refused_batch_changes_nothing(make: MakeStore) -> None:
    """One bad event refuses its whole batch."""
    deep: list[Any] = []
    for _ in range(2000):
        deep = [deep]
    bad: list[dict[str, Any]] = [
        {"body": {"x": value}} for value in (math.nan, math.inf, [-math.inf], {1, 2}, object(), b"bytes", deep)
    ]
    bad += [{"body": value} for value in (None, ["list"], "text")]
    bad += [{"at": value} for value in (math.nan, math.inf, None, "noon", 10**400)]
    bad += [{part: text} for part in ("kind", "user", "about", "key") for text in BAD_TEXTS]
    bad += [{part: text} for part in ("mark", "checksum") for text in ("0" * 15, "0" * 17, "x" * 16)]
    with make() as store:
        store.append([_event(1)])
        for parts in bad:
            (part,) = parts
            require_refused(InvalidEvent, partial(store.append, [_event(2), _event(**parts)]), f"taken: a bad {part}")
        assert _numbers(store.read()) == [1], "a refused batch left something behind"
        assert store.append([_event(2)]) == [2], "a refused batch used up positions"


def check_events_are_nobodys_to_change(make: MakeStore) -> None:
    """Changing a body after it was appended, or one that was read, does not reach the journal."""
    with make() as store:
        mine = _event(1, user="ada", about="d", key="k")
        store.append([mine])
        mine.body["number"] = 2
        for found in (store.read(), store.read(user="ada"), store.about("d"), [store.find("k")]):
            assert found[0] is not None
            assert found[0].body == {"number": 1}, f"the journal now says {found[0].body}"
            found[0].body["number"] = 3


def check_erasing_leaves_no_trace(make: MakeStore) -> None:
    """Events of a user are replaced in their places, states and snapshots go, others stay, and a notice tells of it."""
    with make() as store:
        store.append([_event(n, user="ada" if n % 2 else "bob", about=f"d{n}", key=f"k{n}") for n in range(1, 7)])
        store.save("fold", Snapshot(6, b"all"), [UserState("ada", 1, 5, b"hers"), UserState("bob", 2, 6, b"his")])
        store.save("other", None, [UserState("ada", 1, 5, b"hers")])
        gone = store.erase(
            "ada", Event("erasure", {"why": "asked"}, 2e9), lambda event: _scrub(event)._replace(key=None)
        )
        assert gone == store.last() == 7
        assert bare(store.read(6)[0]) == Event("erasure", {"why": "asked", "first": 1}, 2e9, position=7)
        assert store.read(user="ada") == []
        assert store.user("fold", "ada") is store.user("other", "ada") is None, "a state of an erased user is left"
        assert store.find("k1") is None, "a scrubbed key is left"
        assert store.user("fold", "bob") == UserState("bob", 2, 6, b"his")
        assert store.snapshot("fold") is None, "a snapshot from before an erasure is left"
        assert [event.position for event in store.read()] == list(range(1, 8))
        assert _numbers(store.read(limit=6)) == [None, 2, None, 4, None, 6]
        assert bare(store.about("d3")[0]) == Event("note", {"scrubbed": True}, 1e9 + 3 / 7, None, "d3", None, 3)
        assert store.erase("ada", _event(), _scrub) == 0, "erased twice"
        assert store.append([_event(8, user="ada", key="k1")]) == [8]
        assert store.erase("ada", _event(), _scrub) == 9
        assert store.read(8)[0].body["first"] == 8


def check_a_failed_erasure_changes_nothing(make: MakeStore) -> None:
    """A notice or a scrubbing against the law, or one that raises, leaves everything as it was."""

    def raises(event: Event) -> Event:
        raise KeyError(event.position)

    with make() as store:
        store.append([_event(n, user="ada", key=f"k{n}") for n in range(1, 4)])
        store.save("fold", None, [UserState("ada", 1, 3, b"hers")])
        before = store.read()
        attempts: list[tuple[Event, Callable[[Event], Event], type[Exception]]] = [
            (_event(key="k"), _scrub, InvalidEvent),
            (_event(user="ada"), _scrub, InvalidEvent),
            (_event(body={"x": math.nan}), _scrub, InvalidEvent),
            (_event(), lambda event: event, InvalidEvent),
            (_event(), lambda event: _scrub(event)._replace(position=2), InvalidEvent),
            (_event(), lambda event: _scrub(event)._replace(key="new"), InvalidEvent),
            (_event(), lambda event: _scrub(event)._replace(mark="0" * 16), InvalidEvent),
            (_event(), lambda event: _scrub(event)._replace(about="\0"), InvalidEvent),
            (_event(), raises, KeyError),
        ]
        for number, (notice, scrub, error) in enumerate(attempts):
            require_refused(error, partial(store.erase, "ada", notice, scrub), f"attempt {number} was not refused")
            assert store.read() == before, f"attempt {number} changed the journal"
        assert store.user("fold", "ada") == UserState("ada", 1, 3, b"hers")


def check_newer_states_stay(make: MakeStore) -> None:
    """A fold keeps its latest snapshot and each user's latest state, apart from other folds."""
    with make() as store:
        store.append([_event(n, user="ada") for n in range(1, 10)])
        everything = bytes(range(256)) * 300
        store.save("a", Snapshot(5, everything), [UserState("ada", 1, 5, everything)])
        assert (store.snapshot("a"), store.user("a", "ada")) == (
            Snapshot(5, everything),
            UserState("ada", 1, 5, everything),
        )
        store.save("a", Snapshot(4, b"old"), [UserState("ada", 1, 4, b"old")])
        assert store.snapshot("a") == Snapshot(5, everything), "an older snapshot replaced a newer one"
        assert store.user("a", "ada") == UserState("ada", 1, 5, everything), "an older state replaced a newer one"
        store.save("a", Snapshot(9, b""), [UserState("ada", 1, 9, b"new"), UserState("ada", 1, 8, b"late")])
        assert (store.snapshot("a"), store.user("a", "ada")) == (Snapshot(9, b""), UserState("ada", 1, 9, b"new"))
        assert (store.snapshot("b"), store.user("b", "ada")) == (None, None), "a state of another fold"
        require_refused(InvalidEvent, partial(store.save, "\0", None), "a fold with NUL")


def check_what_a_journal_has_of_users(make: MakeStore) -> None:
    """Of many users at once: the first event, the last one up to a position, and what was kept."""
    with make() as store:
        store.append([_event(n, user="ada" if n in (2, 3, 7) else "bob") for n in range(1, 9)])
        kept = UserState("ada", 2, 3, b"hers")
        store.save("fold", None, [kept, UserState("bob", 1, 8, b"his")])
        asked = ["ada", "eve", "\0", "bob"]
        assert store.users("fold", asked, 6) == {
            "ada": UserRecord(2, 3, kept),
            "eve": UserRecord(),
            "\0": UserRecord(),
            "bob": UserRecord(1, 6, UserState("bob", 1, 8, b"his")),
        }
        assert store.users("fold", ["ada"], 1) == {"ada": UserRecord(2, 0, kept)}
        assert store.users("other", ["ada"]) == {"ada": UserRecord(2, 7, None)}
        assert store.users("fold", []) == {}
        assert store.folds() == ["fold"]
        store.save("ahead", Snapshot(8, b""))
        store.save("behind", Snapshot(7, b""))
        assert store.folds() == ["ahead", "fold", "behind"]


def check_nothing_is_kept_of_a_future(make: MakeStore) -> None:
    """A snapshot or a state of events that the journal does not hold is not kept."""
    with make() as store:
        store.append([_event(n, user="ada") for n in range(1, 4)])
        store.save("fold", Snapshot(4, b"all"), [UserState("ada", 1, 4, b"hers"), UserState("ada", 5, 5, b"hers")])
        store.save("fold", Snapshot(0, b"none"), [UserState("ada", 1, 0, b"hers")])
        assert (store.snapshot("fold"), store.user("fold", "ada"), store.folds()) == (None, None, [])


def check_states_of_the_erased_are_not_kept(make: MakeStore) -> None:
    """What was folded before a user was erased does not come back, nor does a state of nobody."""
    with make() as store:
        store.append([_event(1, user="ada"), _event(2, user="bob")])
        store.erase("ada", _event(3), _scrub)
        store.append([_event(4, user="ada")])
        late = [UserState("ada", 1, 2, b"before"), UserState("bob", 2, 2, b"his"), UserState("eve", 9, 9, b"none")]
        store.save("fold", Snapshot(2, b""), [*late, UserState("a\0", 1, 1, b""), UserState("bob", -1, 3, b"nowhere")])
        assert store.snapshot("fold") is None, "a snapshot from before an erasure was kept"
        assert store.user("fold", "ada") is store.user("fold", "eve") is None, "the state of an erased user was kept"
        assert store.user("fold", "bob") == late[1]
        store.save("fold", Snapshot(3, b"all"), [UserState("ada", 4, 4, b"after")])
        assert store.snapshot("fold") == Snapshot(3, b"all")
        assert store.user("fold", "ada") == UserState("ada", 4, 4, b"after")


def check_compacting_keeps_the_journal(make: MakeStore) -> None:
    """Compacting drops the states of other folds and no event."""
    with make() as store:
        store.append([_event(n, user="ada") for n in range(1, 4)])
        for fold in "abc":
            store.save(fold, Snapshot(3, b"x" * 10_000), [UserState("ada", 1, 3, b"y")])
        before = store.read()
        store.compact("b")
        assert [store.snapshot(fold) is None for fold in "abc"] == [True, False, True]
        assert [store.user(fold, "ada") is None for fold in "abc"] == [True, False, True]
        store.compact()
        assert (store.snapshot("b"), store.user("b", "ada")) == (None, None)
        assert store.read() == before


def check_threads_may_append_at_once(make: MakeStore) -> None:
    """Positions have no gaps whoever appends, one of several equal keys wins, and who follows misses nothing."""
    with make() as store:
        got: list[list[int]] = []
        seen: list[int] = []

        def write(name: int) -> None:
            mine = [[_event(n, user=str(name), key=f"{n}"), _event(n, user=str(name))] for n in range(8)]
            got.extend(store.append(pair) for pair in mine)

        def follow() -> None:
            while len(seen) < 40:
                seen.extend(event.position for event in store.read(seen[-1] if seen else 0, limit=3))

        threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
        threads.append(threading.Thread(target=follow, daemon=True))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        positions = sorted(position for pair in got for position in pair if position)
        assert positions == list(range(1, 41)), f"positions with gaps: {positions}"
        assert seen == positions, f"a follower saw {seen}"
        keys = [event.key for event in store.read() if event.key is not None]
        assert sorted(keys) == [str(n) for n in range(8)], f"keys more than once: {keys}"


def check_a_closed_store_says_so(make: MakeStore) -> None:
    """Closing twice is fine; a closed store refuses with a StoreFailure."""
    with make() as store:
        store.append([_event(1)])
    store.close()
    for call in (store.last, store.read, lambda: store.append([_event()]), lambda: store.save("fold", None)):
        require_refused(StoreFailure, call, "a closed store went on")


STORE_CHECKS = laws_of(globals())


def check_two_doors_lead_to_one_journal(make: MakeStore, reopen: Callable[[Store], Store]) -> None:
    """What one store object wrote another sees at once, and it is there after both were closed."""
    with make() as first, reopen(first) as second:
        assert [first.append([_event(1, key="a")]), second.append([_event(2, key="a"), _event(3)])] == [[1], [0, 2]]
        assert first.read() == second.read(), "two stores on one journal differ"
        second.save("fold", Snapshot(2, b"all"))
    with reopen(first) as third:
        assert _numbers(third.read()) == [1, 3], "events are gone after closing"
        assert third.snapshot("fold") == Snapshot(2, b"all")


def check_store(make: MakeStore, reopen: Callable[[Store], Store] | None = None) -> None:
    """Run every law of stores: `make` opens a fresh, empty journal.

    `reopen` opens the journal of a store once more, for stores that outlive their process.
    """
    hold(STORE_CHECKS, make)
    if reopen is not None:
        check_two_doors_lead_to_one_journal(make, reopen)
