"""Outcomes that are revised: the last stands, all stay in the journal, and nothing is left of what was taken back."""

from __future__ import annotations

import json

import numpy as np
import pytest
from test_advisor import INNS

from druthers.advisor import Advisor, events, outcomes, verify
from druthers.catalogs import Catalog, Item
from druthers.errors import Contradiction, InvalidSetting
from druthers.policies import POLICIES
from druthers.stores import open_store

GAPPED = Catalog(
    name="inns",
    objectives=INNS.objectives,
    items=[*INNS.items, Item("loft", "The Loft", values={"clean": 4.0}), Item("cave", "The Cave")],
)


def open_advisor(store="memory:", **more):
    return Advisor(GAPPED, store=store, parser="lexicon", **more)


def feedback_events(advisor):
    return [event for event in advisor.store.walk() if event.kind == events.FEEDBACK]


def known_of(advisor, user):
    """Return all that is known of a user, as numbers."""
    advisor._run(advisor.operations.find(user))
    policy = advisor.fold.policy
    row = policy._users.rows[user]
    return {name: array[row] for name, array in policy.state().items() if name.startswith("user.")}


def test_of_click_booking_and_cancellation_the_last_stands():
    advisor = open_advisor()
    made = advisor.recommend("ada", offer=["mill"])
    click = advisor.feedback(made.id, utility=0.3)
    booking = advisor.feedback(made.id, utility=1.0)
    cancelled = advisor.feedback(made.id, utility=-0.5)
    assert [one.new for one in (click, booking, cancelled)] == [True, True, True]
    assert [one.revised for one in (click, booking, cancelled)] == [False, True, True]
    assert not advisor.feedback(made.id, utility=-0.5).new
    assert [event.body["utility"] for event in feedback_events(advisor)] == [0.3, 1.0, -0.5]
    assert advisor.preference("ada").feedbacks == 1
    assert verify(advisor).agrees


@pytest.mark.parametrize("policy", [name for name in POLICIES if name not in ("oracle", "random")])
def test_who_revises_is_as_one_who_told_only_the_last(policy):
    """Slates, items with gaps, rewards before, with and after a utility, words between: the same to rounding.

    Measured rewards come for an item that nobody rates meanwhile; else the difference counts at the item as it is known
    by then.
    """
    revised, plain = open_advisor(policy=policy), open_advisor(policy=policy)
    rng = np.random.default_rng(3)
    for k in range(20):
        user, last, offer = f"user-{k % 2}", float(rng.uniform(-1, 1)), ["mill", "barn", "tent", "loft", "cave"]
        for advisor in (revised, plain):
            if k % 3 == 0:
                advisor.hear(user, ["quiet", "clean"] if k % 2 else ["price"])
            advisor.recommend(user, size=5, offer=offer, id=f"visit-{k}")
        item = offer[k % 5]
        rewards = {"rewards": {"clean": 1 + k % 5, "quiet": 3, "price": 100}} if k % 5 == 2 and k < 5 else {}
        plain.feedback(f"visit-{k}", item=item, utility=last, **rewards)
        revised.feedback(f"visit-{k}", item=item, utility=0.3, **rewards)
        revised.feedback(f"visit-{k}", item=item, utility=1.0)
        revised.feedback(f"visit-{k}", item=item, utility=last)
    for user in ("user-0", "user-1"):
        ours, theirs = known_of(revised, user), known_of(plain, user)
        for name in theirs:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-7, atol=1e-9, err_msg=name)
        assert revised.fold.people[user].feedbacks == plain.fold.people[user].feedbacks == 10


def test_the_same_bits_after_eviction_in_another_process_and_after_a_restart(tmp_path):
    store = f"sqlite:{tmp_path / 'journal.db'}"
    one = open_advisor(store)
    other = Advisor(store=store, parser="lexicon")
    users = [f"user-{k}" for k in range(3)]
    for k in range(12):
        user = users[k % 3]
        made = one.recommend(user, id=f"visit-{k}", size=2)
        one.feedback(made.id, utility=0.3)
        if k % 2:
            one.shrink(0)
        other.catch_up()
        other.feedback(made.id, utility=0.1 * k - 0.5)
        one.feedback(made.id, utility=0.05 * k)
    one.catch_up(), other.catch_up()
    assert one.digest(users) == other.digest(users)
    one.save()
    again = Advisor(store=store, parser="lexicon")
    assert again.digest(users) == one.digest(users)
    assert verify(one).agrees
    for each in (one, other, again):
        each.close()


def test_an_id_makes_repeating_safe_whatever_came_after_it():
    advisor = open_advisor()
    made = advisor.recommend("ada", size=2)
    assert advisor.feedback(made.id, utility=0.3, id="click").new
    assert advisor.feedback(made.id, utility=1.0, id="booking").revised
    count = advisor.fold.position
    assert not advisor.feedback(made.id, utility=0.3, id="click").new  # late and doubled: the booking stands
    assert not advisor.feedback(made.id, utility=1.0, id="booking").new
    second = made.items[1].item
    for change in ({"utility": 0.4}, {"utility": 0.3, "rewards": {"clean": 2}}, {"utility": 0.3, "item": second}):
        with pytest.raises(Contradiction, match="'click' must stay as first told"):
            advisor.feedback(made.id, id="click", **change)
    assert advisor.fold.position == count
    again = Advisor(store=advisor.store, parser="lexicon")
    assert not again.feedback(made.id, utility=0.3, id="click").new
    with pytest.raises(InvalidSetting, match="the id of feedback"):
        advisor.feedback(made.id, utility=0.3, id="")


def test_an_id_is_remembered_even_if_it_tells_nothing_new():
    advisor = open_advisor()
    made = advisor.recommend("ada")
    advisor.feedback(made.id, utility=0.3, rewards={"clean": 3})
    before = known_of(advisor, "ada")
    assert not advisor.feedback(made.id, utility=0.3, id="click").new
    assert advisor.feedback(made.id, utility=0.3, rewards={"clean": 3, "quiet": 2}, id="survey").new
    with pytest.raises(Contradiction):
        advisor.feedback(made.id, utility=0.9, id="click")
    assert not advisor.feedback(made.id, utility=0.3, rewards={"clean": 3, "quiet": 2}, id="survey").new
    after = known_of(advisor, "ada")
    assert all(np.array_equal(after[name], before[name]) for name in before)
    assert verify(advisor).agrees


def test_measured_values_stay_as_first_told():
    advisor = open_advisor()
    made = advisor.recommend("ada")
    advisor.feedback(made.id, rewards={"clean": 3}, utility=0.3)
    before = verify(advisor)
    with pytest.raises(Contradiction, match="'clean' of"):
        advisor.feedback(made.id, rewards={"clean": 4}, utility=0.9)
    assert verify(advisor) == before


def test_old_events_are_read_and_can_be_revised():
    """Feedback of version 1 knows neither ids nor what it takes back."""
    advisor = open_advisor()
    made = advisor.recommend("ada", offer=["mill"])
    body = {"version": 1, "item": "mill", "rewards": {"quiet": 2.0}, "utility": 0.3}
    key = events.feedback_key(made.id, "mill", 0)
    advisor.store.append([events.make(events.FEEDBACK, {}, user="ada", about=made.id, key=key)._replace(body=body)])
    advisor.catch_up()
    assert advisor.feedback(made.id, utility=0.9).revised
    assert feedback_events(advisor)[-1].body["instead"] == {"rewards": {"quiet": 2.0}, "utility": 0.3}
    plain = open_advisor()
    plain.recommend("ada", offer=["mill"], id="visit")
    plain.feedback("visit", rewards={"quiet": 2.0}, utility=0.9)
    ours, theirs = known_of(advisor, "ada"), known_of(plain, "ada")
    for name in theirs:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-7, atol=1e-9, err_msg=name)


def test_nothing_of_a_revision_survives_an_erasure():
    advisor = open_advisor()
    made = advisor.recommend("ada")
    advisor.feedback(made.id, utility=0.123, rewards={"clean": 2}, id="my click")
    advisor.feedback(made.id, utility=0.456, id="my booking")
    advisor.forget("ada")
    left = json.dumps([event.body for event in feedback_events(advisor)])
    for trace in ("my click", "my booking", "0.123", "0.456"):
        assert trace not in left
    assert verify(advisor).agrees


def test_two_who_revise_at_once_end_alike():
    store = open_store("memory:")
    one, two = open_advisor(store), Advisor(store=store, parser="lexicon")
    made = one.recommend("ada")
    one.feedback(made.id, utility=0.3)
    two.feedback(made.id, utility=0.5)
    one.feedback(made.id, utility=0.7)
    one.catch_up(), two.catch_up()
    assert one.digest(["ada"]) == two.digest(["ada"])
    assert [event.body.get("instead", {}).get("utility") for event in feedback_events(one)] == [None, 0.3, 0.5]


def test_a_personalizer_keeps_the_first_reward():
    advisor = open_advisor()
    made = advisor.recommend("ada", offer=["mill"])
    assert advisor._run(outcomes.reward(advisor.operations, made.id, 0.4)) is True
    assert advisor._run(outcomes.reward(advisor.operations, made.id, 0.9)) is False
    assert [event.body["utility"] for event in feedback_events(advisor)] == [0.4]


def test_the_reply_says_what_was_learned():
    advisor = open_advisor()
    before = {weight.objective: weight.weight for weight in advisor_card(advisor, "ada").weights}
    made = advisor.recommend("ada", offer=["loft", "mill"], size=2)
    learned = advisor.feedback(made.id, item="loft", utility=-1.0)
    after = {weight.objective: weight.weight for weight in advisor.preference("ada").weights}
    assert learned.unknown == ("quiet", "price")
    assert 0.0 < learned.counted < 1.0
    assert {change.objective: (change.before, change.after) for change in learned.weights} == {
        name: (before[name], after[name]) for name in before if abs(after[name] - before[name]) > 1e-9
    }
    assert "clean" in {change.objective for change in learned.weights}
    assert sum(change.after - change.before for change in learned.weights) < 0.0
    moves = [abs(change.after - change.before) for change in learned.weights]
    assert moves == sorted(moves, reverse=True)
    whole = advisor.feedback(made.id, item="mill", utility=0.5)
    assert (whole.unknown, whole.counted) == ((), 1.0)
    told = advisor.feedback(made.id, item="loft", rewards={"quiet": 4})
    assert (told.unknown, told.counted, told.revised) == (("price",), None, False)
    assert advisor.feedback(made.id, item="loft", rewards={"quiet": 4}).weights == ()


def advisor_card(advisor, user):
    advisor.hear(user, ["clean"])
    return advisor.preference(user)


def test_a_policy_that_learns_no_preference_says_so():
    advisor = open_advisor(policy="s-ucb")
    learned = advisor.feedback(advisor.recommend("ada").id, utility=0.5)
    assert (learned.new, learned.weights, learned.counted) == (True, (), None)
