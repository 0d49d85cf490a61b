"""What is said decides: weights from words, in the order of what people mean."""

import numpy as np
import pytest

from druthers.advisor import Advisor, events
from druthers.advisor.wishes import Statement, Wishes
from druthers.catalogs import Catalog, Item
from druthers.catalogs.scales import drift, scale, with_scales
from druthers.types import Objective


def said(*messages):
    wishes = Wishes()
    for message in messages:
        wishes.hear(message)
    return wishes


def plain(*wanted, draws=1.0, dismissed=(), only=False):
    return Statement(wanted, (draws,) * len(wanted), dismissed, only)


@pytest.mark.parametrize("size", [2, 4, 12, 20])
def test_what_is_said_outweighs_all_that_is_not(size):
    mean, _ = said(plain(0)).weights(size)
    assert mean[0] > mean[1:].sum()
    assert mean.sum() == pytest.approx(1.0)


def test_an_order_is_an_order():
    mean, _ = said(plain(3, 1, 0)).weights(6)
    assert mean[3] > mean[1] > mean[0] > max(mean[[2, 4, 5]])


def test_emphasis_and_repetition_say_more_and_are_surer():
    once, spread = said(plain(0)).weights(5)
    faint, _ = said(plain(0, draws=0.4)).weights(5)
    strong, sure = said(plain(0, draws=4.0)).weights(5)
    twice, _ = said(plain(0), plain(0)).weights(5)
    assert faint[0] < once[0] < twice[0] < strong[0]
    assert sure[0] < spread[0]
    many = said(*[plain(0)] * 50)
    assert many.draws[0] == 8.0


def test_dismissal_leaves_next_to_nothing_until_it_is_wished_again():
    wishes = said(plain(0), plain(1, dismissed=(0, 2)))
    mean, _ = wishes.weights(4)
    assert mean[0] < 0.005
    assert mean[2] < 0.005
    wishes.hear(plain(0))
    assert wishes.dismissed == [2]
    assert wishes.weights(4)[0][0] > 0.4


def test_later_words_count_more_and_only_means_only():
    mean, _ = said(plain(0), plain(1)).weights(4)
    assert mean[1] > mean[0] > mean[2]
    mean, _ = said(plain(0), plain(1, only=True)).weights(4)
    assert mean[0] == mean[2]


def test_wishes_survive_as_plain_values():
    wishes = said(plain(0, 2), plain(1, dismissed=(0,)))
    wishes.limit({"city": "Graz", "price": {"max": 3}}, ())
    wishes.limit({}, ["city"])
    again = Wishes.from_content(wishes.content())
    assert again == wishes
    assert again.limits == {"price": {"max": 3}}


def test_scales_do_not_care_for_units_outliers_or_declared_ranges():
    prices = [38, 83, 95, 114, 140, 900]
    narrow = Objective("price", low=0, high=900, less_is_better=True)
    wide = Objective("price", low=0, high=1_000_000, less_is_better=True)
    rewards = [
        Objective("p", low=0, high=900, less_is_better=True, scale=scale(narrow, prices)).to_reward(p) for p in prices
    ]
    assert np.all(np.diff(rewards) < 0)
    assert rewards[0] - rewards[4] > 0.5  # not squeezed together by the outlier
    (again,) = with_scales([wide], [{"price": p} for p in prices])
    assert [again.to_reward(p) for p in prices] == pytest.approx(rewards)
    cents = scale(Objective("p", low=0, high=90_000, less_is_better=True), [100 * p for p in prices])
    assert [reward for _, reward in cents[1:]] == pytest.approx(
        [reward for _, reward in scale(narrow, prices)[1:]], abs=1e-5
    )


def test_a_scale_has_a_way_back():
    rng = np.random.default_rng(0)
    values = rng.lognormal(3, 1, 500)
    for less in (False, True):
        one = Objective("x", low=0, high=float(values.max()), less_is_better=less)
        (scaled,) = with_scales([one], [{"x": float(value)} for value in values])
        assert len(scaled.scale) <= 67
        for value in values[:50]:
            assert scaled.to_value(scaled.to_reward(value)) == pytest.approx(value, rel=1e-4, abs=0.01)
    assert drift([one], [scaled], [{"x": float(value)} for value in values]) > 0.1
    assert scale(one, [3.0, 3.0]) == ()


INNS = Catalog(
    name="inns",
    objectives=[Objective("price", low=0, high=1000, less_is_better=True), Objective("stars", low=1, high=5)],
    items=[Item(f"inn-{k}", values={"price": 30.0 + 5 * k, "stars": 1 + 0.2 * k}) for k in range(20)],
)


def test_the_cheapest_is_recommended_whatever_the_declared_range():
    with Advisor(INNS, parser="lexicon") as advisor:
        advisor.hear("ada", ["price"])
        assert advisor.recommend("ada").items[0].item in ("inn-0", "inn-1")
        advisor.hear("bob", ["stars"])
        assert advisor.recommend("bob").items[0].item in ("inn-18", "inn-19")


def test_an_item_called_awful_falls_at_once_and_one_called_great_rises():
    with Advisor(INNS, parser="lexicon") as advisor:
        advisor.hear("ada", ["price"])
        made = advisor.recommend("ada", size=3)
        advisor.feedback(made.id, utility=-1.0)
        after = advisor.recommend("ada", size=20)
        assert [one.item for one in after.items].index(made.items[0].item) > 2
        advisor.feedback(after.id, item="inn-10", utility=1.0)
        advisor.feedback(advisor.recommend("ada", offer=["inn-10"]).id, utility=1.0)
        again = [one.item for one in advisor.recommend("ada", size=20).items]
        assert again.index("inn-10") < [one.item for one in after.items].index("inn-10")


def test_what_is_remembered_of_a_person_survives_leaving_memory_and_a_restart(tmp_path):
    store = f"sqlite:{tmp_path}/a.db"
    with Advisor(INNS, parser="lexicon", store=store) as advisor:
        advisor.hear("ada", "cheap; stars do not matter")
        made = advisor.recommend("ada")
        advisor.feedback(made.id, utility=-1.0)
        digest = advisor.digest(["ada"])
        advisor.shrink(0)
        assert advisor.digest(["ada"]) == digest
        advisor.save()
    with Advisor(store=store, parser="lexicon") as advisor:
        assert advisor.digest(["ada"]) == digest
        person = advisor.fold.people["ada"]
        assert person.wishes.dismissed == [1]
        assert person.felt == {made.items[0].item: (1, -1.0)}


def test_a_journal_from_before_scales_and_wishes_is_read():
    with Advisor(INNS, parser="lexicon") as advisor:
        old = events.make(events.QUERY, {"text": "cheap", "ranking": ["price"], "dismissed": ["stars"]}, user="ada")
        advisor.store.append([old])
        advisor.catch_up()
        weights = {one.objective: one.weight for one in advisor.preference("ada").weights}
        assert weights["price"] > 0.9
        assert weights["stars"] < 0.1


def test_emphasis_in_a_sentence_reaches_the_weights():
    with Advisor(INNS, parser="lexicon") as advisor:
        for user, text in {"faint": "ideally cheap", "plain": "cheap", "only": "only the price matters"}.items():
            advisor.hear(user, text)
        cards = {
            user: {one.objective: one.weight for one in advisor.preference(user).weights}
            for user in ("faint", "plain", "only")
        }
        assert cards["faint"]["price"] < cards["plain"]["price"] < cards["only"]["price"]
        advisor.hear("both", "many stars")
        advisor.hear("both", "only the price matters")
        assert advisor.fold.people["both"].wishes.draws == {0: 4.0}


def test_an_item_that_nobody_knows_does_not_come_before_what_was_asked_for():
    """It is taken for a typical one that may be better: before the poor ones, after the best."""
    catalog = Catalog("inns", INNS.objectives, [*INNS.items, Item("new")])
    with Advisor(catalog, parser="lexicon") as advisor:
        advisor.hear("ada", ["price"])
        shown = [item.item for item in advisor.recommend("ada", size=21).items]
    assert shown[0] in ("inn-0", "inn-1")
    assert shown.index("inn-2") < shown.index("new") < shown.index("inn-19")


def test_what_is_put_after_something_else_no_longer_stands_before_it():
    wishes = Wishes()
    for statement in (plain(0), plain(0), plain(1, 0)):
        wishes.hear(statement)
    assert list(wishes.draws) == [1, 0]
    assert wishes.draws[1] > wishes.draws[0]


def test_what_does_not_matter_any_more_is_not_limited_any_more():
    with Advisor(INNS, parser="lexicon") as advisor:
        advisor.hear("ada", "at most 50 for the price, and many stars")
        assert advisor.recommend("ada").items[0].item == "inn-4"
        heard = advisor.hear("ada", "the price doesn't matter any more")
        assert heard.dropped == ("price",)
        assert advisor.recommend("ada").items[0].item == "inn-19"
