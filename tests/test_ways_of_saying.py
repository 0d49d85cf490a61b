"""Ways of saying things that hold in any catalog: what is counted, brought up, given up, put right or let in."""

from __future__ import annotations

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog, Item
from druthers.language import make_parser
from druthers.types import Objective

ROWS = [
    ("Tern", 900, 4.1, 3, ["cellar", "porch"], "pine", 40, True, "nut free"),
    ("Heron", 1500, 2.2, 9, ["porch"], "brick", 75, False, "dairy free"),
    ("Stork", 1200, 3.6, 6, ["cellar", "chimney"], "pine", 60, True, "nut free"),
    ("Wren", 700, 4.8, 2, ["chimney"], "stone", 30, False, "dairy free"),
    ("Finch", 2100, 1.4, 12, ["porch", "chimney"], "brick", 110, True, "nut free"),
]
CABINS = Catalog(
    name="cabins",
    objectives=[
        Objective("price", low=100, high=5000, less_is_better=True, description="Euros."),
        Objective("charm", low=1, high=5),
        Objective("delivery time", low=0, high=30, less_is_better=True, description="Weeks until it stands."),
    ],
    items=[
        Item(
            name.lower(),
            name,
            values={"price": price, "charm": charm, "delivery time": weeks},
            details={
                "extras": extras,
                "walls": walls,
                "floor area": area,
                "roof height": 2 + area / 50,
                "wheelchair access": access,
                "kitchen": kitchen,
                "minimum stay": weeks,
            },
        )
        for name, price, charm, weeks, extras, walls, area, access, kitchen in ROWS
    ],
)


@pytest.fixture(scope="module")
def advisor():
    with Advisor(CABINS) as advisor:
        yield advisor


@pytest.fixture
def card(advisor, request):
    return lambda: advisor.preference(request.node.name)


def test_what_is_counted_is_what_can_be_had(talk):
    talk("charm, and at most 1300 euros")
    assert "2 within your limits, Wren and Stork; 3 in all" in talk("how many of them have a chimney?").text
    assert talk("so how many are left?").text == "There are 3 within your limits; 5 in all."
    assert "none within your limits; 2 in all" in talk("how many come in brick?").text


def test_a_word_of_its_name_is_enough_to_ask_about_something(talk, advisor):
    shown = [one.name for one in talk("charm please").recommendation.items]
    areas = {item.name: item.details["floor area"] for item in advisor.items.values()}
    assert talk("and what about the roof?").text.startswith(f"{shown[0]}: roof height")
    assert talk("floor area?").text.startswith(f"{shown[0]}: floor area {areas[shown[0]]}.")
    assert talk("which is the tallest?").items[0] == "finch"
    assert "roof height" in talk("how high is the second?").text
    assert "charm" in talk("how about the charm of 2?").text


def test_the_best_of_all_is_not_only_of_those_shown(talk):
    talk("charm, no stone")
    assert talk("which one is the cheapest of all?").items[0] == "wren"


@pytest.mark.parametrize(
    "text", ["the walls don't matter", "I don't care which walls it has", "no matter what the walls are"]
)
def test_a_detail_that_does_not_matter_is_limited_no_longer(talk, card, text):
    talk("in pine please, with a porch")
    assert "Not understood" not in talk(text).text
    assert card().limits == {"extras": {"all": "porch"}}
    assert not card().dismissed


def test_what_is_named_and_was_never_asked_for_is_set_aside_and_nothing_else_is_taken_back(talk, card):
    talk("charm is what I want")
    assert talk("never mind the price").kind == "dismissal"
    assert talk("forget about the delivery time").kind == "dismissal"
    assert (card().wished, set(card().dismissed)) == (("charm",), {"price", "delivery time"})


def test_what_was_said_about_something_is_taken_back(talk, card):
    talk("charm, and no more than 1300 euros")
    assert talk("forget what I told you about the cost").kind == "forget that"
    assert (card().limits, card().wished, card().dismissed) == ({}, ("charm",), ())


def test_an_alternative_may_come_later(talk, card):
    talk("in pine")
    talk("or brick")
    assert card().limits == {"walls": ["pine", "brick"]}
    talk("stone's fine too")
    assert card().limits == {"walls": ["pine", "brick", "stone"]}


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("a minimum stay of 6 weeks or less", {"minimum stay": {"max": 6}}),
        ("wheelchair accessible", {"wheelchair access": True}),
        ("my son can't eat nuts", {"kitchen": "nut free"}),
        ("Dachhöhe egal, Lieferzeit maximal 5 Wochen", {"delivery time": {"max": 5}}),
        ("livraison en moins de 8 semaines", {"delivery time": {"max": 8}}),
        ("entrega en menos de 4 semanas", {"delivery time": {"max": 4}}),
    ],
)
def test_limits_are_read(talk, card, text, limits):
    talk(text)
    assert card().limits == limits


def test_a_number_takes_the_place_of_the_one_that_is_called_wrong(talk, card):
    talk("at least 50 of floor area, at most 1500 euros")
    talk("50 is too small, make it 70")
    assert card().limits == {"floor area": {"min": 70}, "price": {"max": 1500}}
    assert "Something else" not in talk("eighty").text


@pytest.mark.parametrize("text", ["7 people", "not too windy", "with a jetty"])
def test_what_nobody_has_is_told_and_is_no_wish(advisor, request, text):
    reply = advisor.message(request.node.name, text)
    assert reply.kind == "unclear"
    assert reply.heard is None


def test_a_question_for_what_nobody_knows_is_answered_so(talk):
    talk("charm")
    assert "Of “shipping insurance” nothing is known" in talk("does it have shipping insurance?").text


@pytest.mark.parametrize(
    ("text", "wanted", "dismissed"),
    [
        ("somewhere I don't have to queue for hours", ("waiting time",), ()),
        ("no need to wait around", ("waiting time",), ()),
        ("it doesn't have to be cheap", (), ("price",)),
        ("I don't need to dance", (), ("dancing",)),
        ("more new episodes I said", ("new episodes",), ()),
    ],
)
def test_who_need_not_do_something_wants_less_of_it(text, wanted, dismissed):
    waits = Objective("waiting time", low=0, high=9, less_is_better=True)
    price = Objective("price", low=0, high=9, less_is_better=True)
    reading = make_parser("lexicon", objectives=[waits, price, "dancing", "new episodes"]).read(text)
    assert (reading.names, reading.dismissed_names) == (wanted, dismissed)


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("not with brick walls", {"walls": {"not": "brick"}}),
        ("the walls must not be pine", {"walls": {"not": "pine"}}),
        ("a cellar would be lovely, though not essential", {}),
        ("a porch isn't strictly necessary", {}),
        ("ein Kamin wäre schön", {}),
    ],
)
def test_denials_reach_over_the_name_and_hopes_are_no_limits(talk, card, text, limits):
    talk("charm")
    talk(text)
    assert card().limits == limits


def test_what_is_wished_beside_taking_back_is_not_lost(talk, card):
    talk("charm and a low price")
    talk("forget the charm, I need it delivered quickly")
    assert card().wished == ("delivery time", "price")


def test_two_wishes_are_swapped(talk, card):
    talk("charm first, then price")
    talk("please swap charm and price")
    assert card().wished == ("price", "charm")


def test_an_ellipsis_gives_up(talk, card):
    talk("a porch is a must, the price isn't")
    assert (card().limits, card().dismissed) == ({"extras": {"all": "porch"}}, ("price",))


@pytest.mark.parametrize(
    ("text", "lost"),
    [("charm, with a jetty", "jetty"), ("in Atlantis, cheap", "in Atlantis"), ("a porch and a moat", "moat")],
)
def test_queries_tell_what_nobody_has_as_messages_do(text, lost):
    cabins = Catalog(
        name="cabins",
        objectives=CABINS.objectives,
        items=[
            Item(one.id, one.name, values=one.values, details={**one.details, "town": "Linz"}) for one in CABINS.items
        ],
    )
    with Advisor(cabins) as advisor:
        assert advisor.hear("ada", text).not_understood == (lost,)


def test_stories_ask_for_nothing(talk, card):
    talk("charm")
    talk("my aunt sold me her brick one two years ago. So I want it cheap")
    assert (card().limits, card().wished) == ({}, ("price", "charm"))
    assert talk("actually, on second thought, I want charm").kind == "wish"


@pytest.mark.parametrize(
    ("text", "bad"), [("Nummer 2 war grauenvoll, eine Katastrophe", True), ("la 2 fue estupenda", False)]
)
def test_feelings_in_other_languages(talk, advisor, request, text, bad):
    talk("charm")
    talk(text)
    told = [one.body["utility"] for one in advisor.store.walk(user=request.node.name) if one.kind == "feedback"]
    assert [utility < 0 for utility in told] == [bad]


def test_words_of_a_story_are_no_wishes_beside_one_that_is_named():
    price = Objective("price", low=0, high=9, less_is_better=True)
    parser = make_parser("lexicon", objectives=[price, "sound", "battery"])
    told = "When my purse was lost the money was gone and a singer lost his voice. A long battery, please."
    assert parser.read(told).names == ("battery",)
    assert parser.read("The bill was huge: I want a low price.").names == ("price",)
    assert "price" in parser.read("The money was well spent. Good value again, please.").names
