"""What people type who never met an advisor: short answers, filler, rude words, places and prices there are not."""

import io

import pytest
from rich.console import Console

from druthers.advisor import Advisor
from druthers.advisor.answers import Card, Weight
from druthers.advisor.messages import Kind
from druthers.catalogs import Catalog, Item
from druthers.cli.chat import show_card
from druthers.types import Objective

CABINS = Catalog(
    name="cabins",
    objectives=[
        Objective("value", low=1, high=5, synonyms=("cheap", "affordable"), description="what it gives for its price"),
        Objective("location", low=1, high=5, synonyms=("close to the lake",)),
        Objective("quiet", low=1, high=5, synonyms=("silence",)),
    ],
    items=[
        Item(
            f"cabin-{k}",
            f"{name} Cabin",
            values={"value": 5 - 0.3 * k, "location": 1 + (k * 3) % 5, "quiet": 1 + 0.5 * k},
            details={
                "town": ("Elmstead", "Marrow Bay")[k % 2],
                "price": [75, 60, 60, 90, 80, 60, 110, 95][k],
                "extras": ["sauna", "boat"] if k % 3 == 0 else ["boat"],
            },
        )
        for k, name in enumerate(["Auk", "Brant", "Crane", "Dove", "Egret", "Finch", "Gull", "Heron"])
    ],
)
PRICES = {item.id: item.details["price"] for item in CABINS.items}


@pytest.fixture(scope="module")
def advisor():
    with Advisor(CABINS) as advisor:
        yield advisor


@pytest.mark.parametrize("answer", ["No!", "nah", "no, don't", "Nein."])
def test_a_bare_no_answers_what_was_asked_and_turns_nothing_down(advisor, talk, request, answer):
    assert talk(answer).kind == Kind.NO, "before anything was shown or asked"
    talk("quiet")
    assert "erases" in talk("delete my data").text
    reply = talk(answer)
    assert (reply.kind, reply.recommendation, reply.items) == (Kind.NO, None, ())
    assert "nothing is changed" in reply.text
    assert advisor.preference(request.node.name).feedbacks == 0


def test_a_no_to_an_item_still_turns_it_down(talk):
    shown = talk("quiet").recommendation
    reply = talk("no, not the second one")
    assert (reply.kind, reply.items) == (Kind.REJECT, (shown.items[1].item,))
    assert shown.items[1].item not in {one.item for one in reply.recommendation.items}


@pytest.mark.parametrize("text", ["you moron", "what an idiotic machine you are", "you are so dumb"])
def test_nobody_is_thanked_for_an_insult(talk, text):
    talk("quiet")
    assert "welcome" not in talk(text).text


@pytest.mark.parametrize("text", ["in Lemuria", "something in lemuria please", "somewhere in the Shire"])
def test_a_place_where_nothing_is_is_no_wish(talk, text):
    reply = talk(text)
    assert reply.kind == Kind.UNCLEAR
    assert "There is town Elmstead and Marrow Bay." in reply.text
    assert reply.recommendation is None


def test_a_place_where_nothing_is_beside_a_wish_is_told(talk):
    assert talk("silence, in Lemuria").text.startswith("You want quiet. Not understood: “in Lemuria”.")
    assert "Only town Elmstead." in talk("in Elmstead").text
    assert "You want location." in talk("close to the lake").text


@pytest.mark.parametrize(
    "text", ["anything below 85 please", "something with a sauna, thanks", "maybe one with a boat"]
)
def test_filler_is_not_told_as_not_understood(talk, text):
    assert "Not understood" not in talk(text).text


def test_what_says_something_is_still_told_as_not_understood(talk):
    assert "Not understood" in talk("below 85 and zorbing for grandma").text


def test_a_price_below_all_is_a_limit_that_nothing_fits(talk):
    reply = talk("below 25")
    assert reply.text.startswith("Only price up to 25. Nothing fits: with price up to 60 there are 3")
    assert "Only price" not in talk("above 4").text, "a grade, and no price"


@pytest.mark.parametrize("text", ["ok, 100 then", "well 100", "so 100"])
def test_a_number_of_the_same_size_takes_the_place_of_the_limit(talk, text):
    talk("below 70")
    assert "Only price up to 100." in talk(text).text


def test_a_number_of_another_size_takes_no_place(talk):
    talk("below 70")
    assert talk("ok, 9000 then").kind != Kind.LIMIT


def test_questions_of_yes_or_no_are_answered_so(talk):
    shown = talk("below 1000, in Elmstead").recommendation
    first = next(item for item in CABINS.items if item.id == shown.items[0].item)
    has = "sauna" in first.details["extras"]
    assert talk("has the first one got a sauna?").text.startswith("Yes. " if has else "No. ")
    assert talk("does number 1 have a boat?").text.startswith(f"Yes. {first.name}: extras")
    assert talk("is the first in Marrow Bay?").text.startswith(f"No. {first.name}: town Elmstead")


@pytest.mark.parametrize("text", ["the cheapest cabin", "show me the cheapest, please", "cheapest"])
def test_the_most_of_something_is_what_is_recommended(talk, text):
    talk("quiet")
    shown = talk(text).recommendation
    assert [PRICES[one.item] for one in shown.items] == [60, 60, 60]


def test_the_most_of_something_is_looked_for_within_limits(talk):
    talk("in Elmstead")
    shown = talk("the cheapest one").recommendation
    assert {one.item for one in shown.items} == {"cabin-0", "cabin-2", "cabin-4"}


def test_who_leaves_it_to_the_advisor_gets_something(talk):
    assert talk("surprise us").recommendation is not None
    assert talk("you decide").recommendation is not None


def test_nothing_is_minus_zero(advisor, talk, monkeypatch):
    card = Card("ada", (Weight("quiet", -0.001, -0.004, 0.5, 1.0, 0.0),), 1, 0)
    console = Console(file=io.StringIO(), width=120)
    show_card(console, card)
    assert "-0.00" not in console.file.getvalue()
    assert "+0.00" in console.file.getvalue()
    talk("quiet")
    monkeypatch.setattr("druthers.advisor.cards.weigh", lambda *_: card.weights)
    assert "quiet 0.00." in talk("what do you know about me?").text
