"""Choices told to an advisor and to the service: learned, kept, repeated, erased and folded anew."""

from __future__ import annotations

import pytest
from test_advisor import INNS

from druthers.advisor import Advisor
from druthers.advisor import events as kinds
from druthers.catalogs import Item
from druthers.errors import Contradiction, InvalidOffer, UnknownArm, UnknownDecision, UnknownUser
from druthers.stores import open_store


@pytest.fixture
def advisor():
    with Advisor("hotels", parser="lexicon") as made:
        yield made


def test_a_pick_moves_the_weights_toward_what_was_picked(advisor):
    slate = advisor.recommend("ada", size=4)
    values = {item: advisor.items[item].values for item in (one.item for one in slate.items)}
    favorite = max(values, key=lambda item: values[item]["location"] - values[item]["value"])
    learned = advisor.pick(slate.id, favorite)
    assert learned.new
    assert learned.offer == tuple(values)
    assert learned.weights
    assert advisor.preference("ada").feedbacks == 1
    again = advisor.pick(slate.id, favorite)
    assert not again.new
    assert advisor.preference("ada").feedbacks == 1


def test_none_of_these_and_an_offer_of_ones_own(advisor):
    slate = advisor.recommend("ada", size=3)
    assert advisor.pick(slate.id, None).weights
    single = advisor.recommend("ada")
    with pytest.raises(InvalidOffer, match=r"from two items or more, but this is of .*; name the offer"):
        advisor.pick(single.id, single.items[0].item)
    other = next(item for item in advisor.items if item != single.items[0].item)
    assert advisor.pick(single.id, other, offer=[single.items[0].item, other]).new


def test_what_breaks_a_law_is_refused_and_changes_nothing(advisor):
    slate = advisor.recommend("ada", size=3)
    shown = [one.item for one in slate.items]
    before = advisor.digest(["ada"])
    with pytest.raises(UnknownArm, match="must be one of"):
        advisor.pick(slate.id, "nowhere")
    with pytest.raises(UnknownArm, match="recommended or in the catalog"):
        advisor.pick(slate.id, shown[0], offer=[shown[0], "nowhere"])
    with pytest.raises(InvalidOffer, match="not repeat"):
        advisor.pick(slate.id, shown[0], offer=[shown[0], shown[0]])
    with pytest.raises(UnknownDecision):
        advisor.pick("never", shown[0])
    assert advisor.digest(["ada"]) == before
    advisor.pick(slate.id, shown[0])
    for other in (shown[1], None):
        with pytest.raises(Contradiction, match="a choice must stay as first told"):
            advisor.pick(slate.id, other)


def test_a_journal_with_choices_folds_to_the_same_bits(tmp_path):
    address = f"sqlite:{tmp_path / 'journal.db'}"
    with Advisor("hotels", store=address, parser="lexicon") as advisor:
        advisor.hear("ada", "cheap and clean")
        slate = advisor.recommend("ada", size=4)
        advisor.pick(slate.id, slate.items[2].item)
        advisor.feedback(slate.id, utility=0.4)
        lost = advisor.recommend("ada", size=3)
        advisor.retire_item(lost.items[1].item)
        advisor.pick(lost.id, lost.items[1].item)  # comes late: it has retired
        advisor.pick(advisor.recommend("ben", size=2).id, None)
        digest = advisor.digest(["ada", "ben"])
    with Advisor(store=address, parser="lexicon") as again:
        assert again.digest(["ada", "ben"]) == digest
        again.save()
        again.forget("ben")
        with pytest.raises(UnknownUser):
            again.preference("ben")
    with open_store(address) as store:
        left = [event for event in store.walk() if event.kind == kinds.CHOICE]
    assert [event.user for event in left] == ["ada", "ada", None]
    assert left[2].body == {"version": kinds.VERSION}


def test_policies_that_do_not_learn_from_choices_keep_them_aside():
    with Advisor("hotels", parser="lexicon", policy="s-ucb") as advisor:
        slate = advisor.recommend("ada", size=3)
        assert advisor.pick(slate.id, slate.items[0].item).weights == ()


ABOUT_ITEMS = """the first one was great; why; why the first; compare 1 and 2; I take 2; not that one; more like that;
not the first one; how much is it; it was dirty; tell me more about 1"""


@pytest.mark.parametrize("text", ABOUT_ITEMS.replace("\n", " ").split("; "))
def test_of_items_that_have_all_gone_it_is_said_that_they_are(text):
    """As if nothing had ever been shown, nothing was understood: "or ask why", it said to who asked why."""
    with Advisor(INNS, parser="lexicon") as advisor:
        advisor.recommend("ada", size=3)
        advisor.put_item(Item("loft", "The Loft", values={"clean": 3.0, "quiet": 3.0, "price": 120}))
        for item in INNS.items:
            advisor.retire_item(item.id)
        before = advisor.store.last()
        assert " no longer there" in advisor.message("ada", text).text
        assert advisor.store.last() == before
        assert advisor.message("ada", "something else").recommendation.items[0].item == "loft"
