"""No reason states anything false: an independent checker recomputes every fact."""

import numpy as np
import pytest

from druthers.advisor import Advisor
from druthers.advisor.reasons import Fact, Offer, TradeOff, sentence
from druthers.catalogs import Catalog, Item
from druthers.limits import Columns
from druthers.types import Objective

NAMES = ("price", "quiet", "clean", "distance")


def make(rng):
    objectives = [Objective(name, low=0, high=100, less_is_better=name in ("price", "distance")) for name in NAMES]
    items = []
    for k in range(int(rng.integers(2, 30))):
        values = {name: float(rng.integers(0, 8) * 5) for name in NAMES if rng.random() > 0.2}
        items.append(Item(f"i{k}", values=values, details={"city": str(rng.choice(["Graz", "Linz"]))}))
    return Catalog("random", objectives, items)


def check(catalog, made, offered, wished, dismissed):
    """Recompute every fact of a recommendation from the catalog alone; return how many there were."""
    less = {one.name: one.less_is_better for one in catalog.objectives}
    values = {item.id: dict(item.values) for item in catalog.items}
    count = 0
    for one in made.items:
        assert one.why
        told = [fact.objective for fact in one.facts]
        assert not set(told) & set(dismissed)
        assert [name for name in told if name in wished][:4] == wished[:4]
        for fact in one.facts:
            count += 1
            assert (fact.role == "wished") == (fact.objective in wished)
            mine = values[one.item].get(fact.objective)
            assert fact.value == mine
            if mine is None:
                assert (fact.place, fact.of, fact.better_than) == (None, None, None)
                if fact.expected is not None:
                    assert check_expected(catalog, values, one, fact) in one.why.lower()
                    continue
                untold = "nobody has told yet" if not values[one.item] else f"its {fact.objective} is not known"
                assert untold in one.why.lower()
                continue
            sign = -1 if less[fact.objective] else 1
            others = [values[id][fact.objective] for id in offered if id != one.item and fact.objective in values[id]]
            assert fact.of == len(others) + 1
            assert fact.place == 1 + sum(sign * other > sign * mine for other in others)
            worse, alike = (sum(sign * other < sign * mine for other in others), sum(other == mine for other in others))
            assert fact.better_than == pytest.approx((worse + 0.5 * alike) / len(others) if others else 1.0)
            clause = next(part for part in one.why.lower().split(". ") if fact.objective in part)
            if "better than" in clause:
                assert f"better than {worse} of {fact.of}" in clause
        if one.trade_off is not None:
            count += 1
            (lost, less_by), (gained, more_by) = one.trade_off.loses, one.trade_off.gains
            rival = values[one.trade_off.rival]
            assert one.trade_off.rival in offered
            assert abs(rival[lost] - values[one.item][lost]) == pytest.approx(less_by)
            assert (-1 if less[lost] else 1) * (rival[lost] - values[one.item][lost]) > 0
            assert (-1 if less[gained] else 1) * (values[one.item][gained] - rival[gained]) == pytest.approx(more_by)
            assert {lost, gained} <= set(wished)
    return count


def check_expected(catalog, values, one, fact):
    """See that what is foretold of an unknown value rests on what is known of others; return how it is said."""
    city = {item.id: item.details["city"] for item in catalog.items}
    others = [id for id in values if id != one.item and fact.objective in values[id] and city[id] == city[one.item]]
    known = [values[id][fact.objective] for id in values if fact.objective in values[id]]
    assert fact.columns == ("city",)
    assert fact.alike == len(others)
    assert min(known) - fact.deviation <= fact.expected <= max(known) + fact.deviation
    return f"from its city and {len(others)} like it; nobody has told yet"


@pytest.mark.parametrize("seed", [*range(20), 1142, 1265])
def test_no_reason_states_anything_false(seed):
    rng = np.random.default_rng(seed)
    catalog = make(rng)
    count = 0
    with Advisor(catalog, parser="lexicon") as advisor:
        for turn in range(25):
            user = f"user-{turn % 7}"
            if rng.random() < 0.5:
                wanted = list(rng.permutation(NAMES)[: rng.integers(1, 4)])
                advisor.hear(user, wanted)
            city = (
                {"city": "Graz"}
                if rng.random() < 0.3 and any(i.details["city"] == "Graz" for i in catalog.items)
                else None
            )
            made = advisor.recommend(user, size=3, where=city)
            offered = [item.id for item in catalog.items if city is None or item.details["city"] == "Graz"]
            person = advisor.fold.people[user]
            draws = person.wishes.draws
            wished = [NAMES[k] for k in sorted(draws, key=lambda k: -draws[k])]
            count += check(catalog, made, offered, wished, [NAMES[k] for k in person.wishes.dismissed])
            if rng.random() < 0.5:
                advisor.feedback(made.id, utility=float(rng.uniform(-1, 1)))
    assert count > 50


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_ten_thousand_decisions_state_nothing_false(seed):
    test_no_reason_states_anything_false(seed)


def test_facts_in_words():
    table = {"price": Objective("price", less_is_better=True), "quiet": Objective("quiet")}

    def say(name, share, place=3, of=9, role="wished", value=12.5):
        return sentence([Fact(name, role, value, place, of, share)], table)

    assert say("price", 1.0, 1) == "Price 12.5, the lowest of 9, as you asked."
    assert say("quiet", 0.8, 2) == "Quiet 12.5, the 2nd highest of 9, as you asked."
    assert say("quiet", 0.625, 4) == "Quiet 12.5, better than 5 of 9, as you asked."
    assert say("quiet", 0.625, 3) == "Quiet 12.5, better than 4 of 9, as you asked."  # and two are as good
    assert say("quiet", 2 / 3, 2, 4) == "Quiet 12.5, better than 2 of 4, as you asked."
    assert say("quiet", 0.5, 1) == "Quiet 12.5, as all 9 have."
    assert say("quiet", 0.4) == "Quiet 12.5, in the middle of 9."
    assert say("quiet", 0.1, 8) == "Weak in quiet: 12.5, 7 of 9 are better."
    assert say("quiet", 0.9, 2, role="learned") == "Quiet 12.5, the 2nd highest of 9, going by your ratings."
    assert say("quiet", 1.0, 1, 1) == "Quiet 12.5, with none to compare it with."
    assert sentence([], table).startswith("Nothing was asked for yet")
    assert sentence([], table, unseen=True).startswith("Nobody has told yet what it is like")


@pytest.mark.parametrize(
    ("name", "said"), [(r"price\gX", r"Price\gX 3"), ("5G\\1b_c", "5G\\1b c 3"), ("netPrice", "netPrice 3")]
)
def test_any_name_of_an_objective_can_be_told(name, said):
    fact = Fact(name, "wished", 3.0, 1, 1, 1.0)
    assert sentence([fact], {name: Objective(name)}).startswith(said)


def test_what_was_dismissed_is_no_reason():
    items = [Item(f"i{k}", values={"price": float(k), "quiet": float(k)}) for k in range(9)]
    objectives = [Objective("price", high=9, less_is_better=True), Objective("quiet", high=9)]
    with Advisor(Catalog("nine", objectives, items), parser="lexicon") as advisor:
        advisor.hear("ada", "price does not matter")
        assert all("rice" not in one.why for one in advisor.recommend("ada", size=9).items)


def test_the_best_one_may_be_known_by_a_detail_only():
    """No catalog may say so any more, but journals keep what they were once told, and objectives are renamed."""
    objectives = [Objective("price", high=100, less_is_better=True), Objective("quiet", high=10)]
    items = [
        Item("a", values={"price": 20, "quiet": 9}),
        Item("b", values={"quiet": 3}, details={"price": 10}),
        Item("c", values={"price": 50, "quiet": 8}),
    ]
    offer = Offer(Columns({item.id: item for item in items}), objectives)
    traded = [offer.trade_off(item, ["price", "quiet"]) for item in items]
    assert traded == [
        TradeOff("b", ("price", 10.0), ("quiet", 6.0)),
        None,
        TradeOff("b", ("price", 40.0), ("quiet", 5.0)),
    ]


def test_places_among_all_items_are_those_by_counting():
    """All items are sorted once, a part of them is counted: the facts are the same, with equal and unknown values."""
    chance = np.random.default_rng(3)
    objectives = [Objective("quiet", low=0, high=9), Objective("price", low=0, high=9, less_is_better=True)]
    known = [{one.name: float(chance.integers(10)) for one in objectives if chance.random() < 0.8} for _ in range(60)]
    items = {str(k): Item(str(k), values=values) for k, values in enumerate(known)}
    columns = Columns(items)
    everything, counted = Offer(columns, objectives), Offer(columns, objectives, np.arange(60))
    for item in items.values():
        for one in objectives:
            fact = everything.fact(item, one.name, "wished")
            assert fact == counted.fact(item, one.name, "wished")
            values = [other.values[one.name] for other in items.values() if one.name in other.values]
            if fact.value is not None:
                better = [value < fact.value if one.less_is_better else value > fact.value for value in values]
                assert (fact.place, fact.of) == (1 + sum(better), len(values))


def test_a_guess_is_not_told_as_asked_for(tmp_path):
    """Until it is said in so many words; over a restart, too, and beside what is taken back."""
    names = "cost", "staffing", "food"
    objectives = [Objective(name, low=0, high=9, less_is_better=name == "cost") for name in names]
    values = [dict(zip(names, (9.0 - k, float(k), k % 3.0), strict=True)) for k in range(8)]
    homes = Catalog("homes", objectives, [Item(f"h{k}", values=each) for k, each in enumerate(values)])

    def facts(advisor):
        return {fact.objective: fact.role for fact in advisor.recommend("ann").items[0].facts}

    with Advisor(homes, store=f"sqlite:{tmp_path}/a.db") as advisor:
        text = advisor.message("ann", "plenty of carers around would be good, and low cost").text
        assert text == "You want low cost. I take it that you want staffing; if not, say “forget that”."
        assert facts(advisor) == {"staffing": "guessed", "cost": "wished"}
        assert "as you asked" not in advisor.message("ann", "why?").text.partition("taffing")[2].partition(".")[0]
    with Advisor(homes, store=f"sqlite:{tmp_path}/a.db") as advisor:
        assert advisor.preference("ann").guessed == ("staffing",)
        advisor.message("ann", "forget the cost")
        assert facts(advisor) == {"staffing": "guessed"}
        assert "Guessed, not said: staffing." in advisor.message("ann", "what do you know about me?").text
        advisor.message("ann", "staffing matters")
        assert facts(advisor) == {"staffing": "wished"}
