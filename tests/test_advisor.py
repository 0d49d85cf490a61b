"""The advisor: what is acknowledged is kept, what is kept gives the same bits, and what is forgotten is gone."""

import json
import threading
from dataclasses import replace

import numpy as np
import pytest

from druthers.advisor import Advisor, events, refold, verify
from druthers.advisor.history import to_log
from druthers.advisor.steps import Append
from druthers.catalogs import Catalog, Item
from druthers.errors import (
    Contradiction,
    InvalidEvent,
    InvalidFeedback,
    InvalidLog,
    InvalidOffer,
    InvalidRanking,
    InvalidSetting,
    NothingFits,
    StoreFailure,
    UnknownArm,
    UnknownDecision,
    UnknownName,
    UnknownUser,
)
from druthers.stores import open_store
from druthers.types import Objective

INNS = Catalog(
    name="inns",
    objectives=[
        Objective("clean", low=1, high=5),
        Objective("quiet", low=1, high=5),
        Objective("price", low=50, high=300, less_is_better=True),
    ],
    items=[
        Item("mill", "The Mill", values={"clean": 4.8, "quiet": 2.0, "price": 200}),
        Item("barn", "The Barn", values={"clean": 2.5, "quiet": 4.9, "price": 180}),
        Item("tent", "The Tent", values={"clean": 1.5, "quiet": 3.0, "price": 60}),
    ],
)


@pytest.fixture
def advisor():
    with Advisor(INNS, parser="lexicon") as made:
        yield made


def busy(advisor, users=6, rounds=5):
    """Have users say, take and feel things."""
    for k in range(rounds):
        for u in range(users):
            user = f"user-{u}"
            if k % 2 == 0:
                advisor.hear(user, ["quiet", "price"] if u % 2 else "clean, then cheap")
            made = advisor.recommend(user, size=2)
            advisor.feedback(made.id, rewards={"clean": 1 + (u + k) % 5}, utility=0.2 + 0.1 * u)
            if k == 3:
                advisor.feedback(made.id, item=made.items[1].item, rewards={"quiet": 3, "price": 100})


def assert_agrees(advisor):
    found = verify(advisor)
    assert found.agrees, found
    return found


def test_the_first_recommendation_follows_what_was_said(advisor):
    for query, item in (("It must be clean", "mill"), (["quiet"], "barn"), ("as cheap as possible", "tent")):
        assert advisor.recommend(f"who says {query}"[:60], text=None if isinstance(query, list) else query)
        user = f"someone who says {query}"
        advisor.hear(user, query)
        assert advisor.recommend(user).items[0].item == item


def test_a_user_of_whom_nothing_is_known_gets_what_is_good_on_the_whole():
    fair = Item("fair", values={"clean": 4, "quiet": 4, "price": 100})
    poor = Item("poor", values={"clean": 2, "quiet": 2, "price": 250})
    with Advisor(Catalog(name="two", objectives=INNS.objectives, items=[poor, fair]), parser="lexicon") as advisor:
        assert advisor.recommend("nobody yet").items[0].item == "fair"


def test_behavior_overrules_words_in_time(advisor):
    advisor.hear("ada", ["price"])
    advisor.put_item(Item("cave", values={"clean": 3.0, "quiet": 1.5, "price": 90}))  # four unknowns need four items
    for _ in range(30):
        for item in ("mill", "barn", "tent", "cave"):
            made = advisor.recommend("ada", offer=[item])
            values = dict(advisor.items[item].values)
            advisor.feedback(made.id, rewards=values, utility=(values["clean"] - 1) / 4)
    card = advisor.preference("ada")
    assert card.weights[0].objective == "clean"
    assert card.weights[0].behavior > 0.8
    assert card.weights[0].low < card.weights[0].weight < card.weights[0].high
    assert advisor.recommend("ada").items[0].item == "mill"


def test_feedback_comes_in_parts_and_again_but_does_not_change(advisor):
    made = advisor.recommend("ada", size=2)
    assert advisor.feedback(made.id, rewards={"clean": 4}).new
    assert not advisor.feedback(made.id, rewards={"clean": 4}).new
    assert advisor.feedback(made.id, rewards={"clean": 4, "quiet": 3}, utility=0.5).new
    assert not advisor.feedback(made.id, utility=0.5).new
    before = verify(advisor)
    for change in ({"rewards": {"clean": 5}}, {"rewards": {"quiet": 2, "price": 99}, "utility": 0.6}):
        with pytest.raises(Contradiction, match="must stay as first told"):
            advisor.feedback(made.id, **change)
    assert verify(advisor) == before
    assert advisor.feedback(made.id, item=made.items[1].item, utility=0.4).new
    assert advisor.preference("ada").feedbacks == 3


def test_rewards_told_twice_count_once(advisor):
    made = advisor.recommend("ada")
    item = made.items[0].item
    advisor.feedback(made.id, rewards={"clean": 1})
    mean = advisor.fold.policy.reward_means([item])[0, 0]
    advisor.feedback(made.id, rewards={"clean": 1, "quiet": 1})
    assert advisor.fold.policy.reward_means([item])[0, 0] == mean


@pytest.mark.parametrize(
    ("call", "error", "law"),
    [
        (lambda a: a.hear("", "cheap"), InvalidSetting, "printable"),
        (lambda a: a.hear("a\x00b", "cheap"), InvalidSetting, "printable"),
        (lambda a: a.hear("x" * 201, "cheap"), InvalidSetting, "1 to 200"),
        (lambda a: a.hear("ada", ["taste"]), UnknownName, "unknown objective"),
        (lambda a: a.hear("ada", ["clean", "clean"]), Contradiction, "repeat"),
        (lambda a: a.recommend("ada", offer=["moon"]), UnknownArm, "moon"),
        (lambda a: a.recommend("ada", offer=[]), InvalidOffer, "at least one"),
        (lambda a: a.recommend("ada", size=0), InvalidOffer, "at least one"),
        (lambda a: a.feedback("nothing", utility=1), UnknownDecision, "was made"),
        (lambda a: a.feedback(a.recommend("ada").id), InvalidFeedback, "neither"),
        (lambda a: a.feedback(a.recommend("ada").id, utility=7), InvalidFeedback, "between -1 and 1"),
        (lambda a: a.feedback(a.recommend("ada").id, utility=float("nan")), InvalidFeedback, "between"),
        (lambda a: a.feedback(a.recommend("ada").id, rewards={"clean": float("nan")}), InvalidFeedback, "finite"),
        (lambda a: a.feedback(a.recommend("ada").id, rewards={"clean": 9}), InvalidFeedback, "between 1 and 5"),
        (lambda a: a.feedback(a.recommend("ada").id, item="moon", utility=1), UnknownArm, "recommended"),
        (
            lambda a: a.feedback(a.recommend("ada").id, utility="good"),
            InvalidFeedback,
            "must be a number, but got 'good'",
        ),
        (
            lambda a: a.feedback(a.recommend("ada").id, rewards={"clean": None}),
            InvalidFeedback,
            "'clean' must be a number",
        ),
        (lambda a: a.feedback(a.recommend("ada").id, rewards=[1, 2]), InvalidFeedback, "a table of objectives"),
        (lambda a: a.feedback(None, utility=1), UnknownDecision, "but got None"),
        (lambda a: a.hear("ada", None), InvalidRanking, "but got None"),
        (lambda a: a.message("ada", None), InvalidSetting, "a message must be a text, but got None"),
        (lambda a: a.recommend("ada", size="3"), InvalidOffer, "must be a whole number, but got '3'"),
        (lambda a: a.recommend("ada", size=None), InvalidOffer, "must be a whole number, but got None"),
        (lambda a: a.recommend("ada", offer=3), InvalidOffer, "a list of ids of items, but got 3"),
        (lambda a: a.recommend("ada", offer=[["mill"]]), UnknownArm, "items of the catalog"),
        (lambda a: a.pick(a.recommend("ada", size=2).id, 1), UnknownArm, "must be one of .* but got 1"),
        (lambda a: a.pick(a.recommend("ada", size=2).id, None, offer=[1]), UnknownArm, "or in the catalog, but got 1"),
        (lambda a: a.pick(a.recommend("ada", size=2).id, None, offer=3), InvalidOffer, "a list of ids of items"),
        (lambda a: a.pick(None, "mill"), UnknownDecision, "but got None"),
        (lambda a: a.retire_item(None), UnknownArm, "but got None"),
        (lambda a: a.correct("ada", weights={"clean": 0}), InvalidSetting, "must be above 0, .* an empty ranking"),
        (lambda a: a.correct("ada", weights={}), InvalidSetting, "must be above 0"),
        (lambda a: a.correct("ada", weights={"clean": "1"}), InvalidSetting, "finite numbers from 0 on"),
        (lambda a: a.correct("ada", weights=["clean"]), InvalidSetting, "a table of objectives and numbers"),
        (lambda a: a.preference("ghost"), UnknownUser, "ghost"),
        (lambda a: a.correct("ghost", ["clean"]), UnknownUser, "ghost"),
        (lambda a: a.forget("ghost"), UnknownUser, "ghost"),
        (lambda a: a.retire_item("moon"), UnknownArm, "moon"),
    ],
)
def test_what_is_refused_leaves_no_trace(advisor, call, error, law):
    advisor.hear("ada", "clean")
    position = advisor.fold.position
    with pytest.raises(error, match=law):
        call(advisor)
    kinds = [event.kind for event in advisor.store.read(position)]
    assert kinds in ([], [events.DECISION])  # what the call itself asked for before
    assert_agrees(advisor)


def test_a_decision_with_an_id_is_made_once(advisor):
    first = advisor.recommend("ada", size=2, id="visit-1", text="quiet")
    position = advisor.fold.position
    again = advisor.recommend("ada", size=2, id="visit-1", text="quiet")
    assert again.items == first.items
    assert again.heard == first.heard
    assert advisor.fold.position == position
    for other in ({"user": "bob"}, {"size": 1}, {"offer": ["mill"]}, {"text": "cheap"}, {"text": None}):
        with pytest.raises(Contradiction, match="visit-1"):
            advisor.recommend(**{"user": "ada", "size": 2, "id": "visit-1", "text": "quiet", **other})
    advisor.recommend("ada", id="visit-2")
    with pytest.raises(Contradiction, match="visit-2"):
        advisor.recommend("ada", id="visit-2", text="cheap")  # else it would be dropped without a word


def test_a_decision_is_repeated_without_a_text_though_one_with_its_id_was_heard_before(advisor):
    """The text fitted nothing, so no decision was made with it; the same id was then taken without one."""
    with pytest.raises(NothingFits):
        advisor.recommend("ada", text="quiet", where={"price": {"max": 10}}, id="visit-3")
    first = advisor.recommend("ada", id="visit-3")
    again = advisor.recommend("ada", id="visit-3")
    assert (again.items, first.new, again.new) == (first.items, True, False)
    with pytest.raises(Contradiction, match="visit-3"):
        advisor.recommend("ada", id="visit-3", text="quiet")
    with_text = [advisor.recommend("ada", id="visit-4", text="quiet") for _ in range(2)]
    assert [made.heard.new for made in with_text] == [True, False]
    old = [event for event in advisor.store.read(0) if event.kind == events.DECISION]
    assert [event.body["heard"] for event in old] == [False, True]


def test_a_text_that_comes_along_with_an_id_is_heard_once(advisor):
    """Also where the decision itself was lost: a service that was killed in between is asked again."""
    operations = advisor.operations
    asked = operations.recommend("ada", text="cheap", id="trip-7")
    step = next(asked)
    while not isinstance(step, Append):
        step = asked.send(advisor._do(step))
    advisor._do(step)
    asked.close()
    assert advisor.recommend("ada", text="cheap", id="trip-7").heard.position == advisor.store.last() - 1
    assert advisor.recommend("ada", text="cheap", id="trip-7").heard.ranking == ("price",)
    assert advisor.preference("ada").queries == 1
    advisor._run(operations.hear("ada", "cheap", decision="trip-8"))
    with pytest.raises(
        Contradiction, match="the id of a query must be its own among those of all users, but another one has 'trip-8'"
    ):
        advisor._run(operations.hear("ada", "clean", decision="trip-8"))


def test_numbers_of_numpy_are_numbers(advisor):
    made = advisor.recommend("ada", size=2)
    assert advisor.feedback(made.id, rewards={"clean": np.int64(4)}, utility=np.float32(0.5)).new
    assert advisor.store.about(made.id)[-1].body["rewards"] == {"clean": 4.0}
    assert not advisor.feedback(made.id, rewards={"clean": 4}, utility=0.5).new


def test_feedback_on_what_another_process_recommended_tells_what_it_moved_alone(tmp_path):
    """What was said to the other process is no part of it, though this one has not looked since."""
    where = f"sqlite:{tmp_path / 'inns.db'}"
    with Advisor(INNS, store=where, parser="lexicon") as one, Advisor(INNS, store=where, parser="lexicon") as other:
        one.recommend("ada", text="clean", size=2, id="visit-1")
        believed = {weight.objective: weight.weight for weight in one.preference("ada").weights}
        moved = other.feedback("visit-1", utility=0.9).weights
        assert {weight.objective: weight.before for weight in moved}["clean"] == believed["clean"]
        made = one.recommend("ben", text="quiet", size=2, id="visit-2")
        believed = {weight.objective: weight.weight for weight in one.preference("ben").weights}
        moved = other.pick("visit-2", made.items[0].item).weights
        assert {weight.objective: weight.before for weight in moved}["quiet"] == believed["quiet"]


def test_saved_states_and_users_who_left_memory_give_the_same_bits(advisor):
    busy(advisor, rounds=2)
    advisor.save()
    advisor.shrink(2)
    assert len(advisor.fold.people) == 2
    busy(advisor)
    advisor.shrink(0)
    assert assert_agrees(advisor).users == 6
    with Advisor(store=advisor.store, parser="lexicon") as second:
        assert second.fold.position == advisor.fold.position
        assert_agrees(second)
        assert [w.weight for w in second.preference("user-1").weights] == [
            w.weight for w in advisor.preference("user-1").weights
        ]


def test_a_start_from_a_snapshot_reads_only_what_came_after(advisor, monkeypatch):
    busy(advisor)
    saved = advisor.save().position
    busy(advisor, rounds=1)
    reads = []
    read = advisor.store.read
    monkeypatch.setattr(advisor.store, "read", lambda after=0, **k: reads.append((after, k)) or read(after, **k))
    second = Advisor(store=advisor.store, parser="lexicon")
    assert min(after for after, more in reads if more.get("limit") != 1) == saved
    monkeypatch.undo()
    assert_agrees(second)


def test_two_advisors_on_one_journal_end_alike():
    store = open_store("memory:")
    one, two = Advisor(INNS, store=store, parser="lexicon"), Advisor(INNS, store=store, parser="lexicon")
    made = one.recommend("ada")
    assert two.feedback(made.id, utility=0.5).new  # of a decision that only the other made
    assert not one.feedback(made.id, utility=0.5).new
    for k in range(20):
        (one, two)[k % 2].hear(f"user-{k % 3}", ["clean", "quiet"])
        other = (two, one)[k % 2].recommend(f"user-{k % 3}")
        (one, two)[k % 2].feedback(other.id, utility=k / 20)
    one.put_item(Item("loft"))
    two.forget("user-1")
    one.catch_up(), two.catch_up()
    users = [f"user-{k}" for k in range(3)] + ["ada"]
    assert one.digest(users) == two.digest(users)
    assert_agrees(one), assert_agrees(two)


def test_threads_may_share_an_advisor(advisor):
    def work(user):
        for _ in range(10):
            advisor.hear(user, ["quiet"])
            advisor.feedback(advisor.recommend(user).id, utility=0.5)

    threads = [threading.Thread(target=work, args=(f"user-{k}",)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = assert_agrees(advisor)
    assert found.kinds["feedback"] == found.kinds["query"] == 60


def test_an_erased_person_is_gone_and_items_remember(advisor):
    busy(advisor)
    advisor.hear("user-1", "my name is Ada Lovelace and I like it quiet")
    advisor.save()
    means = advisor.fold.policy.reward_means(["mill", "barn", "tent"])
    decision = advisor.recommend("user-1").id
    advisor.forget("user-1")
    everything = json.dumps([event._asdict() for event in advisor.store.read(limit=10**6)])
    assert "Lovelace" not in everything
    assert "user-1" not in everything
    assert decision not in everything
    assert advisor.store.user(advisor.fold.name, "user-1") is None
    with pytest.raises(UnknownUser):
        advisor.preference("user-1")
    with pytest.raises(UnknownDecision):
        advisor.feedback(decision, utility=0.1)
    assert (advisor.fold.policy.reward_means(["mill", "barn", "tent"]) == means).all()
    assert_agrees(advisor)
    assert_agrees(Advisor(store=advisor.store, parser="lexicon"))
    advisor.hear("user-1", ["clean"])  # whoever comes back is new
    assert advisor.preference("user-1").queries == 1
    assert_agrees(advisor)


def test_erasing_reaches_an_advisor_that_still_remembers():
    store = open_store("memory:")
    one, two = Advisor(INNS, store=store, parser="lexicon"), Advisor(INNS, store=store, parser="lexicon")
    one.hear("ada", ["quiet"])
    two.catch_up()
    one.forget("ada")
    two.save()  # two does not know yet
    assert store.user(two.fold.name, "ada") is None
    two.hear("ada", ["clean"])
    assert two.preference("ada").queries == 1
    one.catch_up()
    assert one.digest(["ada"]) == two.digest(["ada"])
    assert_agrees(two)


def test_a_decision_of_an_erased_person_is_unknown_to_all():
    store = open_store("memory:")
    one, two = Advisor(INNS, store=store, parser="lexicon"), Advisor(INNS, store=store, parser="lexicon")
    made = one.recommend("ada")
    one.feedback(made.id, rewards={"clean": 3})
    two.forget("ada")
    one.catch_up()
    with pytest.raises(UnknownDecision):
        one.feedback(made.id, utility=0.5)


def test_a_state_read_before_somebody_left_is_not_taken_for_what_is_known_now(advisor):
    """The look-up of one request lasts while others change, save and evict the user."""
    advisor.hear("ada", ["quiet"])
    advisor.shrink(0)
    operation = advisor.operations.find("ada")
    stale = next(operation).question()
    advisor.hear("ada", ["clean"])
    advisor.shrink(0)
    again = operation.send(stale)
    with pytest.raises(StopIteration) as end:
        operation.send(again.question())
    assert end.value.value.queries == 2
    assert_agrees(advisor)


def test_a_text_that_comes_with_a_decision_is_heard_once(advisor, monkeypatch):
    append = advisor.store.append

    def fail(given, **how):
        if given[0].kind == events.DECISION:
            raise StoreFailure("gone")
        return append(given, **how)

    with monkeypatch.context() as patch:
        patch.setattr(advisor.store, "append", fail)
        with pytest.raises(StoreFailure):
            advisor.recommend("ada", text="quiet", id="visit-1")
    advisor.recommend("ada", text="quiet", id="visit-1")
    assert advisor.preference("ada").queries == 1


def test_a_correction_takes_words_back_and_keeps_what_was_felt(advisor):
    for _ in range(5):
        advisor.hear("ada", ["price", "quiet"])
    made = advisor.recommend("ada")
    advisor.feedback(made.id, rewards={"clean": 5, "quiet": 1, "price": 300}, utility=0.3)
    gram = advisor.fold.policy._state.users.gram[advisor.fold.policy._users.rows["ada"]].copy()
    card = advisor.correct("ada", ["clean"])
    assert card.weights[0].objective == "clean"
    after = advisor.fold.policy._state.users.gram[advisor.fold.policy._users.rows["ada"]]
    assert (after == gram).all()
    assert_agrees(advisor)


def test_a_query_that_does_not_fit_is_suspicious():
    names = [f"part {k}" for k in range(6)]
    items = [Item("a", values={"part 0": 0.5})]
    catalog = Catalog(name="six", objectives=[Objective(name) for name in names], items=items)
    with Advisor(catalog, parser="lexicon") as advisor:
        for _ in range(14):
            advisor.hear("ada", names)
        advisor.hear("ada", names[::-1])
        (suspicion,) = advisor.preference("ada").suspicious
        assert suspicion.ranking == tuple(names[::-1])
        assert suspicion.doubt > 0.5
        advisor.correct("ada", names)
        assert advisor.preference("ada").suspicious == ()


def test_items_come_change_and_go(advisor):
    assert advisor.put_item(Item("loft", "The Loft", values={"clean": 5, "quiet": 5, "price": 50}))
    assert advisor.recommend("ada").items[0].item == "loft"
    position = advisor.fold.position
    assert not advisor.put_item(Item("loft", "The Loft", values={"clean": 5, "quiet": 5, "price": 50}))
    assert advisor.fold.position == position
    made = advisor.recommend("ada")
    advisor.retire_item("loft")
    assert "loft" not in advisor.items
    assert advisor.feedback(made.id, utility=0.9).new  # late, and harmless
    assert advisor.recommend("ada").items[0].item != "loft"
    assert_agrees(advisor)


def test_an_item_of_which_nothing_is_known_is_shown_to_find_out(advisor):
    advisor.put_item(Item("cave"))
    shown = {item.item: item for item in advisor.recommend("ada", size=3).items}
    assert "find out" in shown["cave"].why
    assert not any("find out" in item.why for name, item in shown.items() if name != "cave")


def test_a_journal_keeps_its_objectives(tmp_path):
    where = f"sqlite:{tmp_path / 'inns.db'}"
    with Advisor(INNS, store=where, parser="lexicon") as advisor:
        advisor.hear("ada", ["quiet"])
    with pytest.raises(InvalidSetting, match="stays with its catalog"):
        Advisor("hotels", store=where)
    with pytest.raises(InvalidSetting, match="needs a catalog"):
        Advisor(store="memory:")
    with Advisor(store=where, parser="lexicon") as again:
        assert again.preference("ada").queries == 1
        assert again.objectives == ("clean", "quiet", "price")


def test_another_policy_starts_over_from_the_journal(tmp_path):
    where = f"sqlite:{tmp_path / 'inns.db'}"
    with Advisor(INNS, store=where, parser="lexicon") as advisor:
        busy(advisor, rounds=2)
        advisor.save()
    with Advisor(store=where, parser="lexicon", policy="s-ucb") as other:
        assert_agrees(other)
        assert other.recommend("user-1").items


def test_events_of_the_future_and_broken_ones_are_refused(advisor):
    for event, law in (
        (events.make("prophecy", {}), "unknown kind"),
        (events.make(events.QUERY, {"version": 99, "ranking": []}, user="ada"), "version"),
        (events.make(events.QUERY, {"ranking": "clean"}, user="ada"), "must be a whole query"),
        (events.make(events.FEEDBACK, {"item": "mill", "rewards": {"clean": "5"}}, user="ada"), "must be a whole"),
    ):
        with pytest.raises(InvalidEvent, match=law):
            events.check(event._replace(position=7))
    advisor.store.append([events.make("prophecy", {})])
    with pytest.raises(InvalidEvent, match="upgrade druthers"):
        advisor.catch_up()


def test_a_failing_store_changes_nothing(advisor, monkeypatch):
    advisor.hear("ada", ["clean"])

    def fail(*_, **how):
        raise StoreFailure("gone")

    before = advisor.digest(["ada"])
    with monkeypatch.context() as patch:
        patch.setattr(advisor.store, "append", fail)
        with pytest.raises(StoreFailure):
            advisor.hear("ada", ["quiet"])
    assert advisor.digest(["ada"]) == before
    advisor.hear("ada", ["quiet"])
    assert_agrees(advisor)


def test_refolding_to_a_position_gives_the_state_of_that_moment(advisor):
    busy(advisor, rounds=2)
    position, digest = advisor.fold.position, advisor.digest(["user-1"])
    busy(advisor, rounds=1)
    assert refold(advisor, position)[0].digest(["user-1"]) == digest


def test_no_item_is_praised_for_what_it_lacks():
    with Advisor(INNS, parser="lexicon", policy="mo-pqucb") as advisor:  # its weights start around zero
        advisor.hear("ada", ["price"])
        assert min(weight.weight for weight in advisor.preference("ada").weights) < 0
        tent = next(one for one in advisor.recommend("ada", size=3).items if one.item == "tent")
        assert tent.why.startswith("Price 60, the lowest of 3, as you asked.")


def test_a_journal_becomes_a_log(advisor):
    advisor.hear("ada", ["quiet", "clean"])
    first = advisor.recommend("ada", offer=["mill", "barn"], size=2)
    advisor.put_item(Item("loft", values={"clean": 1}))
    second = advisor.recommend("ada")
    advisor.recommend("gone")
    advisor.feedback(first.id, rewards={"clean": 5})
    advisor.feedback(first.id, rewards={"price": 50}, utility=0.5)
    advisor.feedback(first.id, item=first.items[1].item, utility=0.1)
    advisor.forget("gone")
    advisor.feedback(first.id, utility=-0.5)
    log = to_log(advisor.store)
    assert log.user_ids == ("ada",)
    assert log.utilities[:2].tolist() == [-0.5, 0.1]
    assert log.rewards[0].tolist()[::2] == [1.0, 1.0]
    assert np.isnan(log.rewards[1:]).all()
    arms = [log.arm_ids[arm] for arm in log.arms]
    assert arms == [*(one.item for one in first.items), second.items[0].item]
    assert log.sizes.tolist() == [2, 1, 4]  # a place is chosen from what those before it left
    assert log.rounds[0] == log.rounds[1] < log.rounds[2]
    assert log.propensities.tolist() == [1.0, 1.0, 1.0]
    assert log.rankings.tolist() == [1, 0]
    with pytest.raises(InvalidLog, match="at least one decision"):
        to_log(open_store("memory:"))


def test_items_and_arms_stand_in_the_same_order(tmp_path):
    """What is within limits is handed over by place: after items left, came back and changed, and after a restart."""
    store = f"sqlite:{tmp_path / 'journal.db'}"
    objectives = [Objective("quiet", low=0, high=9)]
    items = [Item(f"i{k}", values={"quiet": k}, details={"kind": "inn" if k % 2 else "pub"}) for k in range(9)]
    for turn in range(2):
        with Advisor(Catalog("inns", objectives, items), store=store, parser="lexicon") as advisor:
            if turn == 0:
                advisor.retire_item("i3")
                advisor.retire_item("i0")
                advisor.put_item(replace(items[3], details={"kind": "pub"}))
                advisor.put_item(replace(items[5], details={"kind": "pub"}))
                advisor.put_item(Item("new", values={"quiet": 2}, details={"kind": "inn"}))
            assert advisor.fold.policy.arms == tuple(advisor.items) == advisor.operations.columns.ids
            shown = {one.item for one in advisor.recommend("ada", size=9, where={"kind": "inn"}).items}
            assert shown == {"i1", "i7", "new"}
            with pytest.raises(InvalidOffer, match="repeat"):
                advisor.recommend("ada", offer=["i1", "i2", "i1"])
