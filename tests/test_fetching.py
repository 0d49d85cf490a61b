"""States only save time: whatever befalls them, the journal gives the same bits; and nobody erased comes back."""

from __future__ import annotations

import threading

import pytest
from backups import Backup, rewrite
from test_advisor import INNS, busy

from druthers.advisor import Advisor, events, outcomes, verify
from druthers.advisor.outcomes import feedback
from druthers.advisor.steps import Append
from druthers.errors import OtherJournal, UnknownDecision, UnknownUser
from druthers.stores import STORES, open_store

USERS = [f"user-{number}" for number in range(6)]


@pytest.fixture(params=[name for name in STORES if name != "memory"])
def url(request, tmp_path):
    """Return the URL of a fresh journal of each kind that lasts."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgres").fresh()
    return f"sqlite:{tmp_path / 'journal.db'}"


@pytest.fixture
def start(url):
    """Return what opens another advisor on one journal."""
    advisors = []

    def start(catalog=None, **settings):
        advisors.append(Advisor(catalog, store=url, parser="lexicon", **settings))
        return advisors[-1]

    yield start
    for advisor in advisors:
        advisor.close()


def clean(advisor):
    """Return what all events give from the first on, after asserting that this is what the advisor knows."""
    found = verify(advisor)
    assert found.agrees
    return found.digest


def flipped(body, share=0.5):
    """Return bytes with one bit changed somewhere."""
    place = int(share * len(body))
    return body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]


def test_a_damaged_state_is_folded_anew(url, start, caplog):
    """At the next start, and in an advisor that runs; the log names nobody."""
    one = start(INNS)
    busy(one, rounds=2)
    one.save()
    one.shrink(0)
    before, card = clean(one), one.preference("user-2")
    one.shrink(0)
    other = start()
    state = one.store.user(one.fold.name, "user-2")
    rewrite(url, "UPDATE druthers_users SET body = ? WHERE \"user\" = 'user-2'", flipped(state.body))
    for advisor in (one, other, start()):
        assert advisor.preference("user-2") == card
        assert clean(advisor) == before
    assert "a saved state is made anew from the journal" in caplog.text
    assert "user-2" not in caplog.text
    assert one.store.user(one.fold.name, "user-2").body != flipped(state.body)
    for user in USERS:
        one.feedback(one.recommend(user).id, utility=0.5)
    assert clean(one) == clean(start())


def test_a_damaged_snapshot_is_folded_anew(url, start, caplog):
    one = start(INNS)
    busy(one, rounds=2)
    snapshot = one.save()
    before = clean(one)
    flips = [flipped(snapshot.body, share / 23) for share in range(23)]
    for body in (snapshot.body[:500], b"", *flips):
        rewrite(url, "UPDATE druthers_snapshots SET body = ?", body)
        assert start().digest(USERS) == before
    assert caplog.text.count("a snapshot is damaged, and is made anew from the whole journal") > 5


def test_states_that_are_dropped_are_missed_by_nobody(url, start):
    """While advisors run, with users in memory and not, and at the next start."""
    one, other = start(INNS), start()
    busy(one, rounds=2)
    other.catch_up()
    for advisor in (one, other):
        advisor.save()
        advisor.shrink(2)
    before = clean(one)
    cards = {user: one.preference(user) for user in USERS}
    one.shrink(2)
    with open_store(url) as store:
        store.compact()
        assert store.folds() == []
    assert {user: other.preference(user) for user in USERS} == cards
    one.save()
    third = start()
    assert {user: third.preference(user) for user in USERS} == cards
    assert clean(one) == clean(other) == clean(third) == before
    for user in USERS:
        one.feedback(one.recommend(user).id, utility=0.5)
    assert clean(one) == clean(other) == clean(third) == clean(start())


def test_an_advisor_refuses_an_older_journal_and_a_new_one_folds_it(url, start, tmp_path):
    one = start(INNS)
    busy(one, rounds=1)
    backup, before = Backup(url, tmp_path), one.fold.position
    one.hear("late", ["quiet"])
    one.save()
    backup.put_back()
    for call in (
        lambda: one.hear("late", ["clean"]),
        lambda: one.recommend("user-1"),
        lambda: one.forget("user-1"),
        one.save,
        lambda: one.shrink(0),
        one.catch_up,
    ):
        with pytest.raises(OtherJournal):
            call()
    other = start()
    assert other.fold.position == before
    assert clean(other)
    with pytest.raises(UnknownUser):
        other.preference("late")


def test_a_journal_that_lost_its_end_is_refused_and_folded_anew_on_request(url, start):
    """A snapshot and states of events that are no more are never used, and nothing is done until somebody knows."""
    one = start(INNS)
    busy(one, rounds=2)
    kept = one.fold.position - 7
    one.save()
    one.close()
    assert rewrite(url, "DELETE FROM druthers_events WHERE position > ?", kept) == 7
    with pytest.raises(OtherJournal, match="its end was cut off"):
        start()
    with open_store(url) as store:
        assert store.last() == kept
        store.compact()
    two = start()
    assert two.fold.position == kept
    before = clean(two)
    two.shrink(0)
    three = start()
    assert clean(three) == before
    busy(three, rounds=1)
    three.save()
    assert clean(start()) == clean(three)


def test_an_emptied_journal_is_not_begun_anew(url, start):
    """All events are gone and states are there: that is no new journal."""
    one = start(INNS)
    one.save()
    one.close()
    rewrite(url, "DELETE FROM druthers_events")
    with pytest.raises(OtherJournal, match="its end was cut off"):
        start(INNS)
    with open_store(url) as store:
        assert store.last() == 0


def test_feedback_that_another_sends_late_does_not_bring_anybody_back(start):
    """The other advisor has not heard of the erasure: it asks nobody, and the journal refuses."""
    one, other = start(INNS), start()
    made = other.recommend("ada", text="quiet")
    shown = other._run(other.operations.recommend("ada", deferred=True))
    one.catch_up()
    late = {
        "feedback": lambda: other.feedback(made.id, utility=0.5),
        "a reward": lambda: other._run(outcomes.reward(other.operations, made.id, 0.5)),
        "a held reward": lambda: other._run(outcomes.reward(other.operations, shown.id, 0.5)),
        "an activation": lambda: other._run(outcomes.activate(other.operations, shown.id)),
        "a correction": lambda: other.correct("ada", ["clean"]),
    }
    remembered = dict(other.operations.told._kept)
    one.forget("ada")
    last = one.store.last()
    for name, send in late.items():
        with pytest.raises((UnknownDecision, UnknownUser)):
            raise AssertionError(f"{name} was taken: {send()}")
        assert one.store.last() == last, name
        other.operations.told._kept.update(remembered)  # as if it had still not heard of it
    assert not [event for event in one.store.walk() if event.user == "ada"]
    one.catch_up()
    assert clean(one) == clean(other)


def test_feedback_under_way_does_not_bring_anybody_back(start):
    """All is looked up, and only the append is left, when the erasure comes."""
    one = start(INNS)
    made = one.recommend("ada")
    operation = feedback(one.operations, made.id, utility=0.5)
    step = next(operation)
    while not isinstance(step, Append):
        step = operation.send(one._do(step))
    one.forget("ada")
    assert one._do(step) == 0
    assert one.recommend("ada", id=made.id).id == made.id  # another decision, of somebody new
    assert one._do(step) == 0
    one.forget("ada")
    step = operation.send(0)  # reads on
    step = operation.send(one._do(step))  # looks for the decision
    with pytest.raises(UnknownDecision):
        operation.send(one._do(step))
    assert clean(one)


class Interrupted:
    """Lets something happen once, between the reading of events and the look at their users."""

    def __init__(self, store, happens):
        self.users, self.happens = store.users, happens
        store.users = self

    def __call__(self, *given):
        happens, self.happens = self.happens, lambda: None
        happens()
        return self.users(*given)


def test_who_starts_during_an_erasure_forgets_as_well(start):
    """Events were read with their user, and the state of the user was looked for when both were gone."""
    one = start(INNS)
    one.hear("ada", ["quiet"])
    one.hear("bob", ["quiet"])
    one.save()
    one.hear("ada", ["clean"])
    two = start()
    two.fold.load(two.store.snapshot(two.fold.name))  # as at a start, before anything more is read
    Interrupted(two.store, lambda: one.forget("ada"))
    two.catch_up()
    assert "ada" not in two.fold.people
    with pytest.raises(UnknownUser):
        two.preference("ada")
    assert clean(one) == clean(two)


def test_who_follows_during_an_erasure_forgets_as_well(start):
    one, two = start(INNS), start()
    one.hear("ada", ["quiet"])
    two.catch_up()
    two.save()
    two.shrink(0)
    one.hear("ada", ["clean"])
    one.hear("bob", ["clean"])
    Interrupted(two.store, lambda: one.forget("ada"))
    two.catch_up()
    assert set(two.fold.people) == {"bob"}
    assert clean(one) == clean(two)


def test_folding_asks_no_store(start):
    """Whoever folds on an event loop must not wait for a database there: all users are there before their events."""
    one, two = start(INNS), start()
    for number in range(50):
        one.hear(f"user-{number}", ["quiet"])
    calls = []
    for name in ("read", "users", "user", "snapshot", "about", "find", "last"):
        asked = getattr(two.store, name)
        setattr(two.store, name, lambda *a, _asked=asked, _name=name, **k: calls.append(_name) or _asked(*a, **k))
    page, states = two.operations.fetcher.read(two.fold.position, 500)
    assert calls == ["read", "users"]
    for state in states:
        two.fold.restore(state)
    two.fold.apply_all(page)
    assert calls == ["read", "users"]
    assert clean(two)


def test_a_stranger_is_looked_up_once(start):
    """Who was not there when a decision began is not looked for again when it is written."""
    one, looked = start(INNS), []
    users = one.store.users
    one.store.users = lambda *given: looked.append(list(given[1])) or users(*given)
    one.recommend("ada")
    assert looked == [["ada"]]
    assert clean(one)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_who_came_and_left_while_a_decision_was_made_is_looked_up_again(start, elsewhere):
    """Whether the user came here or in another process: what was said meanwhile is not lost."""
    one = start(INNS)
    two = start() if elsewhere else one
    operation = one.operations.recommend("ada")
    step = operation.send(None)
    step = operation.send(one._do(step))  # nothing is known of ada, and a decision is to be written
    assert isinstance(step, Append)
    two.hear("ada", ["quiet"])
    one.catch_up()
    one.save()
    one.shrink(0)
    with pytest.raises(StopIteration):
        operation.send(one._do(step))
    assert one.fold.people["ada"].queries == 1
    assert clean(one)


def test_what_cannot_be_folded_is_not_written(start):
    one = start(INNS)
    before = one.store.last()
    for event in (
        events.make("prophecy", {}),
        events.make(events.QUERY, {"ranking": "clean"}, user="ada"),
        events.make(events.FEEDBACK, {"item": "mill", "rewards": {"clean": "5"}, "utility": None}, user="ada"),
    ):
        with pytest.raises(ValueError, match=r"must|unknown"):
            one._do(Append(event))
    assert one.store.last() == before


def test_users_are_folded_anew_once_for_all_who_wait(start, monkeypatch):
    one = start(INNS)
    busy(one, rounds=1)
    one.save()
    one.shrink(0)
    one.store.compact()
    fetcher, times = one.operations.fetcher, []
    refold = fetcher._refold
    monkeypatch.setattr(fetcher, "_refold", lambda users, position: times.append(users) or refold(users, position))
    threads = [threading.Thread(target=fetcher.fetch, args=(["user-1"], one.fold.position)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert times == [["user-1"]]
