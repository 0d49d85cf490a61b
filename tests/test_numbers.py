"""Numbers in a conversation: what a bound is on, and which of the items shown is meant."""

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog, Item
from druthers.limits import Columns, LimitReader
from druthers.types import Objective

CAMERAS = Catalog(
    "cameras",
    [
        Objective("weight", low=0.2, high=4, less_is_better=True, description="Kilograms."),
        Objective("finder", low=1, high=10, synonyms=("viewfinder", "eyepiece"), description="How good it feels."),
        Objective("worth", low=1, high=5, synonyms=("value", "bargain"), description="What it gives for its price."),
    ],
    [
        Item(
            f"c{k}",
            f"{name} Camera",
            values={"weight": 0.4 + 0.3 * k, "finder": 2 + k, "worth": 1 + 0.5 * k},
            details={"price": 100 + 100 * k, "color": ("black", "silver", "green")[k % 3], "moisture": 40 + k},
        )
        for k, name in enumerate(("Alder", "Birch", "Cedar", "Damson", "Elder", "Fir", "Gorse"))
    ],
)
READER = LimitReader(Columns({item.id: item for item in CAMERAS.items}), CAMERAS.objectives, CAMERAS.name)


@pytest.mark.parametrize(
    ("text", "where", "unmatched"),
    [
        ("I want a nice finder but nothing over 150", {"price": {"max": 150}}, ()),
        ("the best value under 250", {"price": {"max": 250}}, ()),  # of 1 to 5, all are
        ("something lighter than 2 but with a better finder", {}, ("lighter than 2",)),
        ("under 3 please and a good eyepiece", {}, ("under 3",)),  # nobody wants less of it, and no price is near
        ("finder at most 5", {"finder": {"max": 5}}, ()),  # unless it is said so
        ("finder at least 5", {"finder": {"min": 5}}, ()),
        ("weight under 9", {"weight": {"max": 9}}, ()),
        ("at least 8% zoom", {}, ("at least 8%",)),
        ("at most 42 percent moisture", {"moisture": {"max": 42}}, ()),
        ("at most 42% moisture", {"moisture": {"max": 42}}, ()),
    ],
)
def test_a_bound_is_on_what_it_can_bound(text, where, unmatched):
    read = READER.read(text)
    assert (read.where, read.unmatched) == (where, unmatched)


def test_what_feels_costs_no_fee():
    """Beside a word for money it must be a word of its own: not the fee in how something feels."""
    finder = LimitReader(Columns({item.id: item for item in CAMERAS.items[:3]}), CAMERAS.objectives[1:2])
    assert "finder" not in finder.read("at most 4").where


@pytest.fixture
def talk():
    with Advisor(CAMERAS, parser="lexicon") as advisor:
        yield lambda text: advisor.message("ada", text), advisor


def test_alternatives_are_told_as_one_limit(talk):
    say, _ = talk
    assert "Only color black or silver." in say("black or silver").text


def test_what_an_item_bounds_is_understood(talk):
    say, _ = talk
    shown = say("a good finder").recommendation
    reply = say("lighter than 2")
    assert f"Only weight up to {CAMERAS.item(shown.items[1].item).values['weight']:.4g}." in reply.text
    assert "Not understood" not in reply.text


@pytest.mark.parametrize("text", ["why 6?", "compare 1 and 9", "what is the price of 7?"])
def test_nothing_is_told_of_another_item_than_asked(talk, text):
    say, _ = talk
    say("a good finder")
    number = max(letter for letter in text if letter.isdigit())
    assert say(text).text == f"There is no {number}: 3 items shown."


def test_numbers_stay_when_an_item_goes(talk):
    say, advisor = talk
    first, second, third = (one.item for one in say("a good finder").recommendation.items)
    advisor.retire_item(second)
    gone = say("2 was awful")
    assert gone.text == f"{CAMERAS.item(second).name} is no longer there; nothing was noted."
    assert gone.items == ()
    assert say("why 2?").text == f"{CAMERAS.item(second).name} is no longer there."
    assert say("3 was awful").items == (third,)
    advisor.retire_item(first)
    assert advisor.message("ada", "why?").text
