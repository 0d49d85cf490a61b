"""One door for whatever a person types: what it is, what it does, and what is answered."""

import pytest

from druthers.advisor import Advisor, operations
from druthers.advisor.doing import take_back
from druthers.advisor.messages import Kind
from druthers.advisor.said import feeling, references
from druthers.advisor.steps import Append
from druthers.catalogs import Catalog, Item
from druthers.errors import NoPreference
from druthers.types import Objective

INNS = Catalog(
    name="inns",
    objectives=[
        Objective(
            "price", low=20, high=500, less_is_better=True, synonyms=("cost", "cheap"), description="euros a night"
        ),
        Objective("cleanliness", low=1, high=5, synonyms=("clean", "filthy")),
        Objective("staff", low=1, high=5, synonyms=("people", "friendly")),
        Objective("quiet", low=1, high=5),
    ],
    items=[
        Item(
            f"inn-{k}",
            f"{name} Inn",
            values={
                "price": 40.0 + 12 * k,
                "cleanliness": 2 + 0.3 * k,
                "staff": 4.8 - 0.3 * k,
                "quiet": 1 + (k * 3) % 5,
            },
            details={"city": ("Graz", "Vienna")[k % 2], "pool": k % 3 == 0},
        )
        for k, name in enumerate(["Amber", "Birch", "Copper", "Dune", "Elm", "Fern", "Gold", "Hazel"])
    ],
)


@pytest.fixture
def talk():
    with Advisor(INNS, parser="lexicon") as advisor:
        yield lambda text: advisor.message("ada", text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Hello!", Kind.GREETING), ("good evening", Kind.GREETING), ("thank you so much", Kind.THANKS),
        ("cheap and clean", Kind.WISH), ("In Vienna", Kind.LIMIT), ("under 90 euros please", Kind.LIMIT),
        ("any city is fine", Kind.LIMIT), ("quiet does not matter", Kind.DISMISSAL), ("1 was awful", Kind.FEEDBACK),
        ("we took 2, it was filthy but the people were nice", Kind.FEEDBACK), ("I loved the Birch Inn", Kind.FEEDBACK),
        ("the last one was a nightmare", Kind.FEEDBACK), ("we booked the second one", Kind.TAKEN),
        ("why?", Kind.WHY), ("why the second", Kind.WHY), ("compare 1 and 3", Kind.COMPARE),
        ("what is the difference between the first and the second?", Kind.COMPARE),
        ("what does the second cost?", Kind.DETAIL), ("does 1 have a pool?", Kind.DETAIL),
        ("how clean is it?", Kind.DETAIL),
        ("which are in Graz?", Kind.FIND), ("is there anything with a pool under 100 euros?", Kind.FIND),
        ("what do you know about me?", Kind.PROFILE), ("forget that", Kind.FORGET_THAT), ("forget me", Kind.FORGET_ME),
        ("something different", Kind.OTHER), ("show me others", Kind.OTHER), ("none of these", Kind.OTHER),
        ("not that one", Kind.REJECT), ("not 2", Kind.REJECT), ("more like 2", Kind.LIKE),
        ("similar to the first one", Kind.LIKE), ("blorp fnord", Kind.UNCLEAR), ("", Kind.UNCLEAR),
    ],
)  # fmt: skip
def test_kinds(talk, text, kind):
    talk("clean, please")
    reply = talk(text)
    assert reply.kind == kind
    assert reply.text


def test_feedback_reaches_aspects_and_the_item(talk):
    shown = talk("cheap").recommendation
    reply = talk("we took 2, it was filthy but the people were nice")
    assert reply.items == (shown.items[1].item,)
    assert "cleanliness bad, staff good" in reply.text
    assert reply.recommendation is not None


def test_awful_falls_and_others_come(talk):
    first = talk("cheap").recommendation
    after = talk("1 was awful").recommendation
    assert after.items[0].item != first.items[0].item
    other = talk("something different").recommendation
    assert not {one.item for one in other.items} & {one.item for one in after.items}
    rejected = talk("not that one").recommendation
    assert other.items[0].item not in {one.item for one in rejected.items}


def test_questions_are_answered_from_what_is_known(talk):
    shown = talk("cheap").recommendation
    first, second, third = (next(item for item in INNS.items if item.id == one.item) for one in shown.items)
    assert f"price {second.values['price']:.4g}" in talk("what does the second cost?").text
    assert shown.items[0].why in talk("why?").text
    compared = talk("compare 1 and 3").text
    assert f"price {first.values['price']:.4g} against {third.values['price']:.4g}" in compared
    found = talk("which are in Graz?").text
    assert "Amber Inn" in found
    assert "Birch Inn" not in found
    assert "pool" in talk("does 1 have a pool?").text


def test_limits_hold_are_told_and_taken_back(talk):
    reply = talk("in Vienna, at most 80 euros")
    assert "Only city Vienna. Only price up to 80." in reply.text
    assert {one.item for one in reply.recommendation.items} == {"inn-1", "inn-3"}
    assert "with price up to 52 there is 1" in talk("under 10 euros").text
    known = talk("what do you know about me?").text
    assert "city Vienna" in known
    assert "taken back" in talk("forget that").text
    assert "price up to 80" in talk("what do you know about me?").text
    assert "Taken back: price." in talk("forget the 80 euros").text
    assert "Limits: city Vienna." in talk("what do you know about me?").text
    assert "taken back" in talk("forget everything I said").text
    assert "Limits" not in talk("what do you know about me?").text


def test_nobody_is_erased_without_a_second_word(talk):
    talk("cheap")
    assert "yes, forget me" in talk("forget me").text
    assert "price" in talk("what do you know about me?").text
    assert "erased" in talk("yes, forget me").text
    assert "Nothing yet" in talk("what do you know about me?").text


@pytest.mark.parametrize("text", ["yes, forget everything", "yes erase it all", "yes, delete it all please"])
def test_nobody_is_erased_by_taking_all_back(talk, text):
    talk("cheap")
    talk("the first one was awful")
    assert "taken back" in talk(text).text
    assert "Nothing yet" not in talk("what do you know about me?").text


def test_references_and_feelings():
    three = [Item(name, name) for name in ("The Amber", "Birch Inn", "c")]
    assert references("the amber or the third one", three) == (0, 2)
    assert references("2 nights for 2 people at 3 euros", three) == ()
    assert references("both", three) == (0, 1)
    assert feeling("not good") == pytest.approx(-0.3)
    assert feeling("never again, it was awful") < -0.5 or feeling("it was awful") == -1.0


def test_single_things_are_taken_back(talk):
    talk("clean and quiet, in Vienna")
    talk("at most 90 euros")
    reply = talk("you can forget about quiet")
    assert "Taken back: quiet." in reply.text
    known = talk("remind me what I told you so far").text
    assert "price up to 90" in known
    assert "city Vienna" in known
    assert "Taken back: city." in talk("it needn't be in Vienna after all").text
    assert "What you said last is taken back." in talk("undo that").text
    assert "Limits" not in talk("what do you know about me?").text


def test_what_is_taken_back_is_gone_after_a_restart(tmp_path):
    url = f"sqlite:{tmp_path / 'journal.db'}"
    with Advisor(INNS, parser="lexicon", store=url) as advisor:
        advisor.message("ada", "clean and quiet, in Vienna")
        advisor.message("ada", "at most 90 euros")
        advisor.message("ada", "forget the 90 euros")
        before = advisor.message("ada", "what do you know about me?").text
    with Advisor(store=url, parser="lexicon") as advisor:
        after = advisor.message("ada", "what do you know about me?").text
    assert before == after
    assert "city Vienna" in after
    assert "price up to" not in after


def test_another_number_takes_the_place_of_the_first(talk):
    talk("at most 70 euros")
    assert "Only price up to 90." in talk("ok make that 90").text


def test_a_pick_is_kept_and_may_be_revised(talk):
    shown = talk("cheap").recommendation
    picked = talk("I'll take number 2")
    assert picked.kind == Kind.TAKEN
    assert picked.items == (shown.items[1].item,)
    assert "1 rating." in talk("what do you know about me?").text
    assert "was awful" in talk("2 was awful").text


def test_who_thinks_again_is_no_contradiction(talk):
    talk("cheap")
    assert "cleanliness bad" in talk("2 was filthy").text
    talk("cheap")
    talk("2 was filthy")
    assert "Noted" in talk("2 was great, very clean").text


def test_which_is_best_of_those_shown_and_of_all(talk):
    talk("clean")
    assert "Amber Inn, price 40" in talk("which inn is the cheapest?").text
    of_these = talk("which of these is the cheapest?")
    assert of_these.kind == Kind.BEST
    assert "Amber Inn" not in of_these.text


def test_something_else_may_come_with_a_wish(talk):
    first = talk("clean").recommendation
    reply = talk("show me something else, but quiet")
    assert "You want quiet." in reply.text
    assert first.items[0].item not in {one.item for one in reply.recommendation.items}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ok thank you, bye", Kind.THANKS), ("hi again", Kind.GREETING), ("hiya", Kind.GREETING),
        ("that was very helpful", Kind.THANKS), ("nah, show me another", Kind.OTHER), ("the second please", Kind.TAKEN),
        ("we already know the first one", Kind.REJECT), ("I didn't like number 1", Kind.FEEDBACK),
        ("what can I say to you?", Kind.HELP), ("let's start over", Kind.FORGET_ALL), ("undo that", Kind.FORGET_THAT),
        ("how quiet is the first one?", Kind.DETAIL), ("is 1 or 2 cleaner?", Kind.COMPARE),
        ("what's the catch with 1", Kind.WHY), ("delete everything you know about me", Kind.FORGET_ME),
        ("number one was perfect", Kind.FEEDBACK), ("prendo il secondo", Kind.TAKEN),
    ],
)  # fmt: skip
def test_kinds_in_passing(talk, text, kind):
    talk("clean, please")
    assert talk(text).kind == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("you're a lifesaver, ta very much indeed", Kind.THANKS), ("back to square one please", Kind.FORGET_ALL),
        ("dig a little deeper, there must be more", Kind.OTHER), ("I think I'll give the second a go", Kind.TAKEN),
        ("my hamster is called Otto", Kind.UNCLEAR),
    ],
)  # fmt: skip
def test_what_no_rule_knows_is_guessed(text, kind):
    with Advisor(INNS) as advisor:
        advisor.message("ada", "clean, please")
        assert advisor.message("ada", text).kind == kind


@pytest.mark.parametrize("text", ["what do you know about me?", "start over", "why?", "2 was awful", "forget that"])
def test_a_policy_without_preferences_answers_too(text):
    with Advisor(INNS, parser="lexicon", policy="s-ucb") as advisor:
        advisor.message("ada", "clean, in Vienna")
        assert advisor.message("ada", text).text
        with pytest.raises(NoPreference):
            advisor.correct("ada", ["quiet"])
        advisor.message("ada", "start over")
        assert "nothing to take back" in advisor.message("ada", "start over").text


def test_it_is_what_was_picked_last():
    with Advisor("hotels", parser="lexicon") as advisor:
        shown = advisor.message("ada", "something quiet and cheap, under 120 euros").recommendation
        advisor.message("ada", "the second please")
        assert advisor.message("ada", "it was filthy but the staff were lovely").items == (shown.items[1].item,)


def test_the_cheapest_has_the_lowest_price_and_a_number_taken_back_is_no_wish():
    with Advisor("hotels", parser="lexicon") as advisor:
        shown = advisor.message("ada", "something quiet and cheap, under 120 euros").recommendation
        prices = {one.id: one.details["price"] for one in Catalog.load("hotels").items}
        least = min(prices[one.item] for one in shown.items)
        assert f"price {least:g}" in advisor.message("ada", "which of these is the cheapest?").text
        most = max(prices[one.item] for one in shown.items)
        assert f"price {most:g}" in advisor.message("ada", "which of these is the most expensive?").text
        assert "Taken back: price." in advisor.message("ada", "scrap the 120 euros").text


@pytest.fixture
def hotels():
    with Advisor("hotels", parser="lexicon") as advisor:
        yield advisor


def said_by(advisor, *texts):
    return [advisor.message("ada", text) for text in texts][-1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("under 80 euros", "Only price up to 80."), ("between 50 and 100 euros", "Only price from 50 up to 100."),
        ("no more than one hundred euros", "Only price up to 100."), ("max 90 dollars", "Only price up to 90."),
    ],
)  # fmt: skip
def test_money_is_about_the_price(hotels, text, told):
    assert told in said_by(hotels, text).text


@pytest.mark.parametrize(
    "text",
    [
        "call me at 01 234.567.890", "under 1 000.000.000 euros", "make that " + "9" * 400, "max 1 " * 300,
        "1 aaaaaaaaaaaaaaaaaaaaaaaa " * 100, "with pool and " * 200, "\x00", "👍👍", "<b>alert(1)</b>", "?" * 500,
    ],
)  # fmt: skip
def test_nothing_that_is_typed_breaks_it(hotels, text):
    assert said_by(hotels, "price under 150", text).text


def test_forgetting_is_about_words_and_needs_the_will(hotels):
    assert "stays" in said_by(hotels, "quiet", "price under 150", "the first one was awful", "forget that").text
    assert "price up to 150" in said_by(hotels, "what do you know about me?").text
    said_by(hotels, "I'd never forget that place")
    assert "price up to 150" in said_by(hotels, "what do you know about me?").text
    assert "erased" not in said_by(hotels, "yes, delete me from the list of quiet people").text
    assert hotels.message("ada", "please don't delete my account").kind != Kind.FORGET_ME


def test_two_items_have_two_opinions(hotels):
    text = said_by(hotels, "quiet", "the first was great and the second was terrible").text
    assert "was great; " in text
    assert "was awful." in text


def test_who_is_named_is_rejected(hotels):
    shown = said_by(hotels, "quiet").recommendation
    other = next(item for item in Catalog.load("hotels").items if item.id not in {one.item for one in shown.items})
    assert other.name in said_by(hotels, f"I already know the {other.name}").text
    assert said_by(hotels, "compare 1 and 2").kind == Kind.COMPARE


def test_another_number_is_for_the_limit_said_last(hotels):
    assert (
        "Only price up to 120."
        in said_by(hotels, "price under 150", "cleanliness at least 4", "price under 140", "make that 120").text
    )
    assert "1990" not in said_by(hotels, "I was born in 1990 or so").text


def test_taking_back_leaves_the_rest(hotels):
    said_by(hotels, "somewhere quiet", "only value matters", "forget the value")
    names = [one.name for one in hotels.fold.catalog.objectives]
    assert [names[k] for k in hotels.fold.people["ada"].wishes.draws] == ["sleep quality"]
    with Advisor("hotels", parser="lexicon") as advisor:
        said_by(advisor, "I don't care about rooms", "only cleanliness matters", *["clean"] * 45, "forget that")
        assert not advisor.fold.people["ada"].wishes.dismissed


def test_something_else_never_comes_again(hotels):
    seen = []
    for text in ("quiet", *["something else"] * 4):
        seen += [one.item for one in said_by(hotels, text).recommendation.items]
    assert len(set(seen)) == 15


def drive(advisor, steps, meanwhile):
    """Do an operation step by step, something else before its first event; return what came of it, and its events."""
    answer, appended = None, 0
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as done:
            return done.value, appended
        if isinstance(step, Append):
            appended += 1
            if appended == 1:
                meanwhile()
        answer = advisor._do(step)


def test_what_is_said_while_something_is_taken_back_is_not_lost(hotels):
    said_by(hotels, "quiet", "good value")
    steps = take_back(hotels.operations, "ada", ["value"])
    assert drive(hotels, steps, lambda: hotels.message("ada", "clean rooms matter most")) == (True, 2)
    names = [one.name for one in hotels.fold.catalog.objectives]
    wished = {names[k] for k in hotels.fold.people["ada"].wishes.draws}
    assert {"sleep quality", "cleanliness"} <= wished
    assert "value" not in wished


def test_what_was_said_is_not_asked_again(hotels):
    assert "What matters most" in said_by(hotels, "under 90 euros please").text
    assert "What matters most" not in said_by(hotels, "quiet", "under 80 euros please").text


def test_the_number_said_last_is_the_one_that_counts(hotels):
    said_by(hotels, "at most 100 euros, quiet")
    for text, most in (
        ("100 is too tight, let's say 200", 200),
        ("sorry, make that 145 euros", 145),
        ("hm, that's too low, let's say 150", 150),
    ):
        assert f"Only price up to {most}." in said_by(hotels, text).text


def test_a_cap_on_one_thing_leaves_the_others(hotels):
    said_by(hotels, "cleanliness at least 4, at most 100 euros")
    assert said_by(hotels, "remove the price cap please").text.startswith("Taken back: price.")
    assert "cleanliness from 4" in said_by(hotels, "what do you know about me?").text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("8 out of 10 for the first", "good"),
        ("two stars out of five for the first one", "bad"),
        ("1/5 for the second", "awful"),
    ],
)
def test_points_are_ratings(hotels, text, told):
    assert f"was {told}" in said_by(hotels, "quiet", text).text


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("cheap, but not the Birch Inn", {"name": {"not": ["Birch Inn"]}}),
        ("I don't want the Amber Inn", {"name": {"not": ["Amber Inn"]}}),
        ("quiet; the Elm Inn is out", {"name": {"not": ["Elm Inn"]}}),
        ("cheaper than the Elm Inn", {"price": {"max": 88.0}, "name": {"not": ["Elm Inn"]}}),
        ("something cleaner than the Copper Inn", {"cleanliness": {"min": 2.6}, "name": {"not": ["Copper Inn"]}}),
        ("more expensive than the Elm Inn", {}),
        ("like the Elm Inn", {}),
    ],
)
def test_items_called_by_name_are_limits(text, where):
    with Advisor(INNS, parser="lexicon") as advisor:
        heard = advisor.hear("ada", text)
        assert advisor.preference("ada").limits == where
        assert {one.name for one in heard.limits} == set(where)
        gone = where.get("name", {"not": []})["not"]
        assert not {one.name for one in advisor.recommend("ada", size=8).items} & set(gone)


def test_exclusions_add_up_and_are_taken_back():
    with Advisor(INNS, parser="lexicon") as advisor:
        advisor.hear("ada", "not the Birch Inn")
        advisor.hear("ada", "and not the Elm Inn")
        assert advisor.preference("ada").limits == {"name": {"not": ["Birch Inn", "Elm Inn"]}}
        advisor.message("ada", "start over")
        assert advisor.preference("ada").limits == {}


def test_better_than_one_that_was_shown(talk):
    shown = talk("clean").recommendation
    price = {item.id: item.values["price"] for item in INNS.items}
    made = talk("something cheaper than 1").recommendation
    assert made is not None
    assert all(price[one.item] <= price[shown.items[0].item] for one in made.items)
    assert shown.items[0].item not in {one.item for one in made.items}


def test_taking_one_of_several_is_a_choice():
    with Advisor(INNS, parser="lexicon") as advisor:
        shown = [one.item for one in advisor.message("ada", "clean").recommendation.items]
        assert advisor.message("ada", "ok, book 2").items == (shown[1],)
        last = list(advisor.store.walk())[-1]
        assert (last.kind, last.body["picked"], last.body["offer"]) == ("choice", shown[1], shown)
        advisor.message("ada", "I'll take 1 instead")  # a choice stands as first told: the second one is a rating
        assert list(advisor.store.walk())[-1].body["item"] == shown[0]


@pytest.mark.parametrize(
    ("text", "kind", "places"),
    [
        ("we were at 1 last year, it was horrible", Kind.FEEDBACK, 1),
        ("the last one was horrible", Kind.FEEDBACK, 1),
        ("take number 3 off the list", Kind.REJECT, 1),
        ("remove 1", Kind.REJECT, 1),
        ("not the Birch Inn", Kind.REJECT, 1),
        ("anything in Graz?", Kind.FIND, 0),
        ("quiet? I don't need it", Kind.DISMISSAL, 0),
        ("something cleaner", Kind.WISH, 0),
        ("I stayed at the first one and did not sleep a minute", Kind.FEEDBACK, 1),
        ("been to the first, will never go again", Kind.FEEDBACK, 1),
        ("let's do number 1", Kind.TAKEN, 1),
        ("staff of number 1?", Kind.DETAIL, 1),
        ("what speaks for number 3", Kind.WHY, 1),
        ("which inns are in Graz?", Kind.FIND, 0),
        ("list the ones in Graz", Kind.FIND, 0),
    ],
)
def test_more_kinds(talk, text, kind, places):
    talk("cheap")
    reply = talk(text)
    assert (reply.kind, len(reply.items)) == (kind, places)


def test_what_reads_limits_is_made_once_and_not_for_every_message(talk, monkeypatch):
    """It goes through all texts of a catalog: seconds where there are many."""
    made = []
    reader = operations.LimitReader
    monkeypatch.setattr(operations, "LimitReader", lambda *given: made.append(1) or reader(*given))
    for text in ("cheap and clean", "in Vienna", "why?", "under 90 euros please"):
        talk(text)
    assert len(made) == 1
