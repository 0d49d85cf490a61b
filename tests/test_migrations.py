"""A journal's objectives can change: what was said and felt before is read as if it were said today."""

from __future__ import annotations

import json
import random
import time
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from druthers.advisor import Advisor, events, verify
from druthers.advisor.doing import take_back
from druthers.advisor.editions import Editions
from druthers.advisor.history import chances_of, to_log
from druthers.advisor.updating import apply_changes, find_changes, items_of
from druthers.catalogs import Catalog, Item
from druthers.cli import app
from druthers.errors import Contradiction, InvalidFeedback, InvalidSetting, StoreFailure, UnknownName
from druthers.language import make_parser
from druthers.stores import open_store
from druthers.stores.moving import export_events, import_events
from druthers.types import Objective

CLEAN, QUIET = Objective("clean", synonyms=("spotless",), low=1, high=5), Objective("quiet", low=1, high=5)
PRICE = Objective("price", low=50, high=300, less_is_better=True)
WIFI = Objective("wifi", synonyms=("internet",), low=0, high=100)
ITEMS = [
    Item("mill", "The Mill", values={"clean": 4.8, "quiet": 2.0, "price": 200}, details={"city": "Ely"}),
    Item("barn", "The Barn", values={"clean": 2.5, "quiet": 4.9, "price": 180}, details={"city": "Ely"}),
    Item("tent", "The Tent", values={"clean": 1.5, "quiet": 3.0, "price": 60}, details={"city": "Ur"}),
    Item("ruin", "The Ruin", values={"quiet": 4.0}),
]
INNS = Catalog("inns", [CLEAN, QUIET, PRICE], ITEMS)
POLICIES = ["stated-ucb", "fisher-pqucb-robust", "s-ucb", "mo-pqucb-gl"]


def with_items(objectives, items=ITEMS, rename=None, clip=()):
    """Return the inns with other objectives, and items as far as they fit."""
    known = {objective.name: objective for objective in objectives}
    fitting = []
    for item in items:
        values = {(rename or {}).get(name, name): value for name, value in item.values.items()}
        values = {name: value for name, value in values.items() if name in known}
        values = {name: min(max(value, known[name].low), known[name].high) for name, value in values.items()}
        fitting.append(replace(item, values=values))
    return Catalog("inns", objectives, fitting)


def live(advisor, rounds, users=("ada", "bob", "cyd"), read=lambda name: name, say=None, start=0):
    """Have users say and feel things that depend on nothing but the round; `read` gives names of today, or None."""
    for k in range(start, start + rounds):
        rng = random.Random(k)
        user = users[k % len(users)]
        names = rng.sample(["clean", "quiet", "price"], rng.randint(1, 3))
        names = [read(name) for name in names if read(name) is not None]
        if k % 2 == 0:
            advisor.hear(user, names)
        made = advisor.recommend(user, offer=[ITEMS[k % 4].id], id=f"visit-{k}")
        rewards = {"clean": rng.randint(1, 5), "price": float(rng.randint(50, 300))}
        rewards = {read(name): value for name, value in rewards.items() if read(name) is not None}
        advisor.feedback(made.id, rewards=rewards, utility=round(rng.random(), 3))
        if k % 3 == 1:
            advisor.feedback(made.id, utility=round(rng.random(), 3))  # revised
        if k % 7 == 5 and advisor.fold.policy.learns_preference:
            advisor.correct(user, names)


def known(advisor):
    """Return all numbers that an advisor has learned, but for positions."""
    users = ("ada", "bob", "cyd")
    advisor.digest(users)  # brings them in
    fold = advisor.fold
    arms = fold.policy.reward_means(sorted(fold.items)).tobytes()
    rows = [fold.policy.export_user(user) for user in users if user in fold.people]
    people = [(user, fold.people[user].queries, fold.people[user].feedbacks) for user in users if user in fold.people]
    return arms, rows, people, {id: item.content() for id, item in fold.items.items()}


def opened(catalog=None, store=None, policy="stated-ucb"):
    return Advisor(catalog, store=store or open_store("memory:"), parser="lexicon", policy=policy)


WIDER = replace(PRICE, low=0.0, high=500.0)
NARROWER = replace(PRICE, low=80.0, high=150.0)
TURNED = replace(QUIET, less_is_better=True)
COST = replace(PRICE, name="cost")
CASES = {
    "an objective goes": ([CLEAN, PRICE], {}),
    "all but one go": ([PRICE], {}),
    "a wider range": ([CLEAN, QUIET, WIDER], {}),
    "the other way round": ([CLEAN, TURNED, PRICE], {}),
    "another name": ([CLEAN, QUIET, COST], {"price": "cost"}),
    "another order": ([PRICE, CLEAN, QUIET], {}),
    "a new one": ([CLEAN, QUIET, PRICE, WIFI], {}),
    "all of it": ([WIFI, replace(COST, low=20.0, high=400.0), CLEAN], {"price": "cost"}),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("case", CASES)
def test_all_is_as_if_the_journal_had_always_had_its_objectives(case, policy):
    """The same numbers, to the last bit, as in a journal that begins with the new objectives and never knew others."""
    objectives, renamed = CASES[case]
    wanted = with_items(objectives, rename=renamed)
    advisor = opened(INNS, policy=policy)
    live(advisor, 12)
    assert advisor.update(wanted, renamed=renamed)
    assert advisor.objectives == tuple(objective.name for objective in objectives)

    def today(name):
        name = renamed.get(name, name)
        return name if name in advisor.objectives else None

    live(advisor, 6, read=today, start=12)
    twin = opened(wanted, policy=policy)
    live(twin, 18, read=today)
    assert known(advisor) == known(twin)
    assert verify(advisor).agrees
    assert known(opened(store=advisor.store, policy=policy)) == known(twin)


def test_values_beyond_a_narrower_range_count_as_its_end():
    advisor = opened(INNS)
    made = advisor.recommend("ada", offer=["tent"])
    advisor.feedback(made.id, rewards={"price": 60.0}, utility=0.5)
    advisor.update(with_items([CLEAN, QUIET, NARROWER]))
    assert advisor.items["tent"].values["price"] == 80.0
    assert advisor.items["mill"].values["price"] == 150.0
    with pytest.raises(InvalidFeedback, match="must lie between 80 and 150"):
        advisor.feedback(made.id, item="tent", rewards={"price": 60.5})
    assert verify(advisor).agrees
    advisor.update(INNS)  # and back: nothing was lost
    assert advisor.items["tent"].values["price"] == 60.0
    assert known(advisor)[0] == known(opened(store=advisor.store))[0]


def test_an_objective_that_comes_back_finds_what_was_said_of_it():
    advisor, twin = opened(INNS), opened(INNS)
    for one in (advisor, twin):
        live(one, 9)
    before = known(advisor)
    advisor.update(with_items([CLEAN, QUIET]))
    assert known(advisor) != before
    advisor.update(INNS)
    assert known(advisor) == before == known(twin)
    assert verify(advisor).agrees


def test_a_name_that_is_given_anew_is_another_objective():
    """What was the price is now the cost; the new price is nobody's yet."""
    advisor = opened(INNS)
    live(advisor, 9)
    new = Objective("price", low=0, high=10)
    advisor.update(with_items([CLEAN, QUIET, COST], rename={"price": "cost"}), renamed={"price": "cost"})
    advisor.update(Catalog("inns", [CLEAN, QUIET, COST, new], advisor.items.values()))
    means = advisor.fold.policy.reward_means(["mill", "barn", "tent"])
    assert np.isnan(means[:, 3]).all()
    assert not np.isnan(means[:, 2]).any()
    assert verify(advisor).agrees


def test_old_users_can_wish_for_what_is_new():
    advisor = opened(INNS)
    for _ in range(5):
        advisor.hear("ada", ["price", "quiet"])
    with pytest.raises(UnknownName):
        advisor.hear("ada", ["wifi"])
    fast = {"mill": 90.0, "barn": 10.0, "tent": 5.0}
    items = [
        replace(item, values={**item.values, **({"wifi": fast[item.id]} if item.id in fast else {})}) for item in ITEMS
    ]
    advisor.update(Catalog("inns", [CLEAN, QUIET, PRICE, WIFI], items))
    assert advisor.preference("ada").weights[0].objective == "price"
    assert advisor.recommend("ada").items[0].item != "mill"
    for _ in range(4):
        assert advisor.hear("ada", "fast internet above all").ranking == ("wifi",)
    assert advisor.preference("ada").weights[0].objective == "wifi"
    assert advisor.recommend("ada").items[0].item == "mill"
    assert advisor.hear("eve", "internet").ranking == ("wifi",)
    assert advisor.recommend("eve").items[0].item == "mill"


def test_limits_go_with_objectives_and_stay_with_details():
    advisor = opened(INNS)
    advisor.hear("ada", "clean, in Ely, at most 190 for the price")
    limits = advisor.fold.people["ada"].wishes.limits
    assert set(limits) == {"price", "city"}, limits
    advisor.update(with_items([CLEAN, QUIET, COST], rename={"price": "cost"}), renamed={"price": "cost"})
    assert advisor.fold.people["ada"].wishes.limits == {"cost": limits["price"], "city": limits["city"]}
    assert [one.item for one in advisor.recommend("ada", size=4).items] == ["barn"]
    advisor.update(with_items([CLEAN, QUIET]))
    assert advisor.fold.people["ada"].wishes.limits == {"city": limits["city"]}
    assert {one.item for one in advisor.recommend("ada", size=4).items} == {"mill", "barn"}
    assert verify(advisor).agrees


def test_what_was_taken_back_stays_so():
    def say(advisor, cost):
        for text in ("clean and quiet", f"{cost} above all, in Ely", f"at most 190 for the {cost}, spotless"):
            advisor.hear("ada", text)
        assert advisor._run(take_back(advisor.operations, "ada", ["quiet"]))

    advisor, renamed = opened(INNS), {"price": "cost"}
    say(advisor, "price")
    wanted = with_items([WIFI, CLEAN, QUIET, COST], rename=renamed)
    advisor.update(wanted, renamed=renamed)
    twin = opened(wanted)
    say(twin, "cost")
    assert set(advisor.fold.people["ada"].wishes.limits) == {"city", "cost"}
    assert known(advisor) == known(twin)
    for one in (advisor, twin):
        assert one._run(take_back(one.operations, "ada", ["cost"]))
    assert set(advisor.fold.people["ada"].wishes.limits) == {"city"}
    assert known(advisor) == known(twin)
    assert verify(advisor).agrees


def test_cards_and_logs_read_the_past_by_the_objectives_of_today():
    advisor = opened(INNS)
    names = ["clean", "quiet", "price"]
    for _ in range(14):
        advisor.hear("ada", names)
    advisor.hear("ada", names[::-1])
    made = advisor.recommend("ada", offer=["mill"])
    advisor.feedback(made.id, rewards={"price": 200.0, "quiet": 2.0}, utility=0.4)
    advisor.update(with_items([CLEAN, QUIET, COST], rename={"price": "cost"}), renamed={"price": "cost"})
    assert {name for one in advisor.preference("ada").suspicious for name in one.ranking} <= {"clean", "quiet", "cost"}
    assert not advisor.feedback(made.id, rewards={"cost": 200.0}).new  # told before, under another name
    advisor.update(with_items([CLEAN, COST], rename={"price": "cost"}))
    log = to_log(advisor.store)
    assert tuple(log.objectives) == ("clean", "cost")


def test_a_log_has_what_could_be_chosen_then_and_what_was_told_as_it_reads_today():
    advisor = opened(INNS)
    advisor.recommend("ada", size=3, where={"price": {"max": 190}}, id="first")
    advisor.feedback("first", rewards={"price": 180.0}, utility=0.4, item="barn")
    advisor.update(with_items([CLEAN, COST], rename={"price": "cost"}), renamed={"price": "cost"})
    advisor.recommend("ada", size=3, where={"cost": {"max": 190}})
    advisor.update(with_items([CLEAN, QUIET]))
    advisor.recommend("ada", size=3)
    log = to_log(advisor.store)
    assert log.sizes.tolist() == [2, 1, 2, 1, 4, 3, 2]
    assert np.isnan(log.rewards).all()  # what was measured is no objective any more
    assert np.nansum(log.utilities) == 0.4
    _, chances = chances_of(advisor.store, "stated-ucb", learn=0.0)
    assert len(chances) == log.sizes.sum()


def test_somebody_who_does_not_know_yet_is_understood():
    """Events that were written after a migration by those who had not seen it."""
    store = open_store("memory:")
    one, two = opened(INNS, store), opened(store=store)
    made = two.recommend("ada", offer=["barn"])
    one.update(with_items([CLEAN, replace(COST, high=250.0)], rename={"price": "cost"}), renamed={"price": "cost"})
    two.hear("ada", ["quiet", "price"])  # checked by the old objectives, folded by the new ones
    assert two.objectives == ("clean", "cost")
    assert two.fold.people["ada"].wishes.draws == {1: 1.0}  # one wish is left of two
    late = events.make(events.FEEDBACK, {"item": "barn", "rewards": {"price": 299.0, "quiet": 3.0}, "utility": 0.5})
    late = late._replace(user="ada", about=made.id)
    store.append([late, events.item(Item("loft", values={"quiet": 4.0, "price": 300.0}))])
    for advisor in (one, two):
        advisor.catch_up()
        assert advisor.items["loft"].values == {"cost": 250.0}
        assert verify(advisor).agrees
    assert one.digest(["ada"]) == two.digest(["ada"])
    two.hear("ada", "spotless")
    assert two.preference("ada").queries == 2


def test_erasure_states_and_moving_work_across_migrations(tmp_path):
    store = open_store(f"sqlite:{tmp_path / 'inns.db'}")
    advisor = opened(INNS, store)
    live(advisor, 9)
    advisor.hear("cyd", "my name is Cydonia and I like it clean")
    advisor.save()
    advisor.shrink(0)
    advisor.update(with_items([CLEAN, QUIET, COST, WIFI], rename={"price": "cost"}), renamed={"price": "cost"})
    read = {"clean": "clean", "quiet": "quiet", "price": "cost"}.get
    live(advisor, 6, read=read, start=9)
    advisor.save()
    advisor.shrink(1)
    advisor.forget("cyd")
    assert verify(advisor).agrees
    live(advisor, 3, users=("ada", "bob"), read=read, start=15)
    advisor.update(with_items([CLEAN, COST], rename={"price": "cost"}))
    advisor.forget("bob")
    everything = json.dumps([event._asdict() for event in store.walk()])
    assert "Cydonia" not in everything
    assert '"bob"' not in everything
    assert verify(advisor).agrees
    digest = advisor.digest(["ada", "bob", "cyd"])
    export_events(store, tmp_path / "inns.jsonl")
    other = open_store("memory:")
    import_events(tmp_path / "inns.jsonl", other)
    for again in (opened(store=store), opened(store=other)):
        assert again.digest(["ada", "bob", "cyd"]) == digest
        assert again.objectives == ("clean", "cost")
    store.compact()
    assert opened(store=store).digest(["ada", "bob", "cyd"]) == digest
    store.close()


def test_words_alone_are_changed_without_folding_anew():
    advisor = opened(INNS)
    live(advisor, 9)
    fold, before = advisor.fold, known(advisor)
    assert advisor.hear("ada", "brimbly").ranking == ()
    words = replace(CLEAN, synonyms=("brimbly",), description="No dust.")
    changes = advisor.update(Catalog("inns", [words, QUIET, PRICE], ITEMS, description="By the river."))
    assert changes.lines == (
        "objective 'clean': description '' becomes 'No dust.'",
        "objective 'clean': synonyms +'brimbly' -'spotless'",
        "description of the catalog: '' becomes 'By the river.'",
    )
    assert advisor.fold is fold
    assert known(advisor)[0] == before[0]
    assert advisor.hear("ada", "brimbly").ranking == ("clean",)
    again = opened(store=advisor.store)
    assert again.fold.name == fold.name
    assert again.fold.catalog.objectives[0].description == "No dust."
    assert verify(again).agrees


def test_a_file_says_what_it_would_change_and_the_journal_counts(caplog):
    store = open_store("memory:")
    opened(INNS, store)
    changed = [replace(ITEMS[0], details={"city": "Bath"}), Item("loft", values={"price": 99}), *ITEMS[1:3]]
    other = Catalog("inns", [CLEAN, WIDER, WIFI], [replace(item, values={}) for item in changed])
    with caplog.at_level("INFO"):
        advisor = opened(other, store)
    assert advisor.objectives == ("clean", "quiet", "price")
    assert caplog.records[-1].levelname == "WARNING"
    told = caplog.records[-1].getMessage()
    assert told.startswith(
        "the journal counts where the catalog 'inns' differs; `druthers catalog apply` would change:"
        " objective 'price': low 50 becomes 0.0;"
    )
    changes = advisor.compare(with_items([CLEAN, WIDER, WIFI], changed))
    for line in (
        "objective 'price': high 300 becomes 500.0",
        "objective 'wifi' is new, 0 to 100: not known of items, not named so far",
        "objective 'quiet' goes: what was said of it stays in the journal and no longer counts",
        "(if 'wifi' is only another name of 'quiet', say so: --rename quiet=wifi)",
        "1 item is new: loft",
        "(1 item is not in the catalog and kept: ruin; --retire takes them out)",
    ):
        assert line in changes.lines, changes.lines
    with pytest.raises(InvalidSetting, match="a journal stays with its catalog, 'inns' with"):
        opened(replace(INNS, name="beers", objectives=[CLEAN, QUIET], items=()), store)
    opened(replace(INNS, name="beers"), store)  # what matters is the same


@pytest.mark.parametrize(
    ("renamed", "law"),
    [
        ({"prize": "cost"}, "must be there to get another name, but 'prize' is not"),
        ({"price": "coast"}, "one that only the new catalog has, but 'coast' is not"),
        ({"price": "clean"}, "one that only the new catalog has, but 'clean' is not"),
        ({"clean": "cost"}, "must lose its own, but 'clean' is still there"),
        ({"price": "cost", "quiet": "cost"}, "no two objectives may get the same name"),
    ],
)
def test_names_that_cannot_be_given_are_refused_and_nothing_changes(renamed, law):
    advisor = opened(INNS)
    with pytest.raises(InvalidSetting, match=law):
        advisor.update(Catalog("inns", [CLEAN, COST]), renamed=renamed)
    assert advisor.store.last() == 1 + len(ITEMS)


def test_of_two_changes_at_once_one_is_made():
    store = open_store("memory:")
    opened(INNS, store)
    editions = Editions.of(store)
    items = items_of(store, editions)
    one, two = (find_changes(INNS, items, with_items([CLEAN, objective])) for objective in (WIDER, NARROWER))
    apply_changes(store, editions, one)
    last = store.last()
    with pytest.raises(Contradiction, match="must not change twice at once"):
        apply_changes(store, editions, two)
    assert store.last() == last
    assert opened(store=store).fold.catalog.objectives[1].high == WIDER.high


def test_a_large_catalog_is_compared_in_linear_time():
    """Item by item against all others, 20,000 items took 20 seconds of processor time, and 100,000 no end."""
    many = [Item(f"h{row}", values={"quiet": 1.0 + row % 9 / 2}) for row in range(20_000)]
    catalog = Catalog("inns", [QUIET], many)
    before = time.process_time()
    changes = find_changes(catalog, {item.id: item for item in many}, replace(catalog, items=many[1:]), retire=True)
    assert time.process_time() - before < 5.0
    assert (changes.put, changes.retired) == ((), ("h0",))


def test_a_change_that_was_interrupted_is_found_again_as_a_smaller_one():
    advisor = opened(INNS)
    wanted = with_items([CLEAN, QUIET, WIDER], [*ITEMS, Item("loft", values={"price": 400.0})])
    changes = advisor.compare(wanted, retire=True)
    apply_changes(advisor.store, advisor.fold.editions, replace(changes, put=()))
    advisor.catch_up()
    left = advisor.compare(wanted)
    assert (left.catalog, [item.id for item in left.put]) == (None, ["loft"])
    assert advisor.update(wanted)
    assert not advisor.update(wanted)
    assert advisor.items["loft"].values == {"price": 400.0}


def test_a_few_items_do_not_migrate_and_scales_do_on_request():
    advisor = opened(INNS)
    live(advisor, 6)
    one = Item("loft", values={"clean": 3.0, "quiet": 3.0, "price": 150})
    changes = advisor.update(Catalog("inns", INNS.objectives, [*ITEMS[:3], one]), retire=True)
    assert (changes.catalog, changes.retired) == (None, ("ruin",))
    assert advisor.fold.editions.number == 0
    wanted = Catalog("inns", INNS.objectives, advisor.items.values())
    assert not advisor.compare(wanted)
    assert "objective 'price': its scale is taken anew from the items" in advisor.update(wanted, rescale=True).lines
    assert advisor.fold.editions.number == 1
    assert verify(advisor).agrees
    assert not advisor.compare(wanted, rescale=True)


def test_scales_follow_items_that_change_much_and_all_is_as_if_they_had_always_been_so():
    advisor = opened(INNS)
    live(advisor, 6)
    dear = [Item(f"palace-{k}", values={"clean": 5, "quiet": 5, "price": 290 + k / 10}) for k in range(20)]
    for item in dear:
        advisor.put_item(item)
    before = advisor.fold.catalog.objectives[2].to_reward(200)
    wanted = Catalog("inns", INNS.objectives, [*ITEMS, *dear])
    changes = advisor.update(wanted)
    assert set(changes.lines) == {
        f"objective {name!r}: its scale is taken anew from the items" for name in ("clean", "quiet", "price")
    }
    assert advisor.fold.catalog.objectives[2].to_reward(200) > before + 0.2
    assert not advisor.compare(wanted)
    twin = opened(wanted)
    live(twin, 6)
    assert known(advisor) == known(twin)
    assert verify(advisor).agrees


def test_a_parser_that_was_given_must_be_for_the_objectives():
    parser = make_parser("lexicon", objectives=INNS.objectives)
    advisor = Advisor(INNS, store=open_store("memory:"), parser=parser, policy="s-ucb")
    with pytest.raises(InvalidSetting, match=r"a parser must be for the objectives of the journal, \['clean'\]"):
        advisor.update(Catalog("inns", [CLEAN]))
    assert opened(store=advisor.store).objectives == ("clean",)


def test_the_command_tells_and_changes(tmp_path):
    where = f"sqlite:{tmp_path / 'inns.db'}"
    with Advisor(INNS, store=where, parser="lexicon") as advisor:
        live(advisor, 6)
    file = tmp_path / "inns.toml"
    with_items([CLEAN, QUIET, COST], rename={"price": "cost"}).save(file)

    def run(*words):
        result = CliRunner().invoke(app, ["catalog", *words])
        if result.exception is not None:
            raise result.exception
        return result.output.splitlines()

    look, change = ("diff", where, str(file)), ("apply", str(file), "--to", where)
    told = run(*look)
    assert told[-1] == "nothing is changed; druthers catalog apply does it"
    assert "(if 'cost' is only another name of 'price', say so: --rename price=cost)" in told
    with pytest.raises(InvalidSetting, match="must be given as OLD=NEW, but got 'price'"):
        run(*look, "--rename", "price")
    assert run(*look, "--rename", "price=cost") == ["objective 'price' is called 'cost'", told[-1]]
    assert run(*change, "--rename", "price=cost")[-1] == "changed"
    assert run(*look) == ["nothing differs"]
    with Advisor(store=where, parser="lexicon") as advisor:
        assert advisor.objectives == ("clean", "quiet", "cost")
        assert verify(advisor).agrees


def test_a_change_that_broke_off_is_finished_by_the_same_command():
    """The objectives are others already, and the items are not: to say the same once more must not be refused."""
    advisor = opened(INNS)
    new = Item("loft", "The Loft", values={"clean": 4.0, "cost": 90})
    wanted = Catalog("inns", [CLEAN, QUIET, COST], [new])
    append = advisor.store.append

    def breaks(given, **how):
        if given[0].kind == events.ITEM:
            raise StoreFailure("gone")
        return append(given, **how)

    advisor.store.append = breaks
    with pytest.raises(StoreFailure):
        advisor.update(wanted, renamed={"price": "cost"}, retire=True)
    advisor.store.append = append
    advisor.catch_up()
    assert "cost" in advisor.objectives
    assert "loft" not in advisor.items
    advisor.update(wanted, renamed={"price": "cost"}, retire=True)
    assert advisor.items == {"loft": new}
    assert not advisor.update(wanted, renamed={"price": "cost"}, retire=True)
    with pytest.raises(InvalidSetting, match="an objective must be there to get another name, but 'pric' is not"):
        advisor.compare(INNS, renamed={"pric": "price"})
    assert verify(advisor).agrees


def test_of_two_catalogs_that_begin_a_journal_at_once_one_is_in_it_as_a_whole(monkeypatch):
    """Whoever comes second adds nothing: neither the objectives nor items that the first one lacks."""
    store = open_store("memory:")
    other = Catalog("barns", [CLEAN, QUIET, PRICE], [Item("shed", "The Shed", values={"clean": 1.0})])
    real, first = Editions.of, []

    def of(journal):
        if not first:
            first.append(True)
            found = real(journal)
            opened(INNS, store=journal)  # quicker, after the other has looked
            return found
        return real(journal)

    monkeypatch.setattr(Editions, "of", of)
    advisor = opened(other, store=store)
    assert advisor.fold.catalog.name == "inns"
    assert set(advisor.items) == {item.id for item in ITEMS}
