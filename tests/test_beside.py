"""What is said beside something else: questions beside praise, bounds beside items, limits beside other limits."""

import pytest

from druthers import Advisor, Catalog, Item, Objective
from druthers.advisor.understanding import Understanding
from druthers.language import make_parser

BIKES = Catalog(
    "bikes",
    (
        Objective("price", low=0, high=100, less_is_better=True, synonyms=("cheap",)),
        Objective("weight", low=5, high=40, less_is_better=True, synonyms=("light",)),
        Objective("comfort", low=1, high=5, synonyms=("comfortable",)),
    ),
    tuple(
        Item(
            name.lower(),
            name,
            values={"price": 10 + 5 * n, "weight": 20 - 2 * n, "comfort": 1 + (3 * n) % 5},
            details={"kind": kind, "gears": 20 + n, "extras": [extra, "bell"], "child_seat": n % 2 == 0},
        )
        for n, (name, kind, extra) in enumerate(
            [
                *(("Arrow", "city bike", "basket"), ("Bolt", "racing bike", "pump"), ("Comet", "folding bike", "lamp")),
                *(
                    ("Drift", "city bike", "pump"),
                    ("Ember", "touring bike", "basket"),
                    ("Flint", "racing bike", "lamp"),
                ),
            ]
        )
    ),
)


@pytest.fixture
def advisor():
    with Advisor(BIKES) as made:
        made.message("ada", "a light bike, up to 60 euros")
        yield made


def said(advisor, text):
    return advisor.message("ada", text), advisor.preference("ada").as_dict()


def test_what_is_asked_is_no_praise(advisor):
    reply, card = said(advisor, "2 looks fine but is it comfortable?")
    assert "was good" in reply.text
    assert "comfort good" not in reply.text
    assert "comfort" not in card["wished"]


def test_three_things_in_one_message(advisor):
    reply, card = said(advisor, "2 looks fine but is there a cheaper one? oh and no folding bikes")
    assert "price" in card["wished"]
    assert card["limits"]["kind"] == {"not": "folding bike"}
    assert "comet" not in [one.item for one in reply.recommendation.items]


def test_an_exclusion_that_is_not_understood_is_told(advisor):
    reply, card = said(advisor, "2 looks fine but is there a cheaper one? oh and no hostels")
    assert "price" in card["wished"]
    assert "Not understood: “oh and no hostels”." in reply.text


def test_a_question_for_more_of_something_is_a_wish(advisor):
    reply, card = said(advisor, "is there a cheaper one?")
    assert reply.kind == "wish"
    assert "price" in card["wished"]


@pytest.mark.parametrize("text", ["lighter than 1", "something lighter than the first"])
def test_better_than_an_item_is_no_bound_by_its_number(advisor, text):
    first = advisor.message("ada", "why 1?").items[0]
    reply, card = said(advisor, text)
    assert card["limits"]["price"] == {"max": 60}
    weights = {item.id: item.values["weight"] for item in BIKES.items}
    assert card["limits"]["weight"] == {"max": weights[first]}
    assert reply.recommendation is None or first not in [one.item for one in reply.recommendation.items]


def test_amounts_with_units_stay_bounds(advisor):
    assert said(advisor, "lighter than 15 kg")[1]["limits"]["weight"] == {"max": 15}


def test_another_number_goes_the_way_it_was_said(advisor):
    advisor.message("ada", "at least 21 gears")
    _, card = said(advisor, "I meant at most 25 a day")
    assert card["limits"] == {"gears": {"min": 21}, "price": {"max": 25}}
    advisor.message("ada", "between 10 and 40 euros")
    assert said(advisor, "I meant at most 30")[1]["limits"] == {"gears": {"min": 21}, "price": {"min": 10, "max": 30}}


def test_a_limit_that_takes_the_place_of_another_is_told(advisor):
    said(advisor, "a city bike")
    assert "No longer only kind city bike." in said(advisor, "a folding bike")[0].text


def test_what_must_be_there_and_what_must_not_holds_together_and_is_told_together(advisor):
    said(advisor, "with a basket")
    reply, card = said(advisor, "no lamp")
    assert card["limits"]["extras"] == {"all": "basket", "not": "lamp"}
    assert "Only extras basket, not lamp." in reply.text
    reply, card = said(advisor, "I don't need a basket any more")
    assert card["limits"]["extras"] == {"not": "lamp"}
    assert "Only extras other than lamp." in reply.text


def test_a_limit_that_was_not_there_is_not_taken_back(advisor):
    assert "There was no such limit." in said(advisor, "any kind is fine")[0].text
    said(advisor, "a city bike")
    assert "No limit on kind any more." in said(advisor, "any kind is fine")[0].text


def test_what_is_only_hoped_for_is_no_guess(advisor):
    reply, card = said(advisor, "a child seat would be nice")
    assert list(card["wished"]) == ["weight"]
    assert reply.heard.hopes == card["hopes"] != {}
    assert set(card["limits"]) == {"price"}


@pytest.mark.parametrize(
    ("text", "wanted", "dismissed"),
    [
        ("neither too far out nor too loud", {"location", "quiet"}, set()),
        ("neither location nor quiet matters", set(), {"location", "quiet"}),
    ],
)
def test_neither_too_much_of_this_nor_of_that(text, wanted, dismissed):
    objectives = [Objective("location", low=0, high=9), Objective("quiet", low=0, high=9)]
    reading = make_parser("lexicon", objectives=objectives).read(text)
    assert (set(reading.names), set(reading.dismissed_names)) == (wanted, dismissed)


def test_who_may_be_asked_about_is_a_person(advisor):
    reply, card = said(advisor, "the second one sounds good but is she comfortable?")
    assert "comfort" not in card["wished"]
    assert "comfort" in reply.text.partition("Noted")[2]


def test_parts_of_a_message_are_read_once(monkeypatch):
    """Its halves, and theirs, come again in other ways to part it."""
    read, texts = Understanding.read, []
    monkeypatch.setattr(Understanding, "read", lambda self, text, *rest: texts.append(text) or read(self, text, *rest))
    with Advisor("hotels") as alone:
        alone.message("ada", "quiet")
        texts.clear()
        alone.message(
            "ada", "we walk a lot, and my back is bad, and my wife is slow, but I want it cheap, and I want it clean"
        )
    assert len(texts) > 5
    assert len(texts) == len(set(texts))
