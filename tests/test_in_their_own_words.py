"""Limits and feedback as people say them: in other words, by what is denied, by what must fit, item by item."""

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog
from druthers.glossary import in_words, without_units

TYPES, AREAS, COLORS = (
    ("boxed", "folding", "in-wall"),
    ("harbor", "north", "south", "station"),
    ("white", "red", "black"),
)


@pytest.fixture(scope="module")
def advisor():
    """Cabinets for hire, in the names of a database."""
    items = [
        {
            "id": f"c{n}",
            "name": f"Model {n}",
            "values": {
                "pricePerKidEUR": 8 + (5 * n) % 40,
                "noiseDB": 30 + (7 * n) % 30,
                "careLvl": 1 + (3 * n) % 5,
                "pageCostCt": 2 + (11 * n) % 23,
            },
            "details": {
                "tech": ("ink", "laser")[n % 2],
                "kind": TYPES[n % 3],
                "area": AREAS[n % 4],
                "color": COLORS[n % 3],
                "maxKids": 10 + n,
                "MIN_GUESTS": 5 + n,
                "width_cm": 40 + 2 * n,
                "weight_g": 100 + 10 * n,
                "termMonths": (1, 3, 12, 24)[n % 4],
                "indoorYN": n % 2 == 0,
                "duplexYN": n % 3 == 0,
                "loan_phone": n % 3 == 1,
                "LOOP_YN": n % 2 == 1,
            },
        }
        for n in range(20)
    ]
    objectives = [
        {"name": "pricePerKidEUR", "description": "Euros a child.", "low": 0, "high": 60, "less_is_better": True},
        {"name": "noiseDB", "description": "Decibels.", "low": 20, "high": 70, "less_is_better": True},
        {"name": "careLvl", "description": "How patient the staff are.", "low": 1, "high": 5},
        {"name": "pageCostCt", "description": "Cents of ink a page.", "low": 0, "high": 30, "less_is_better": True},
    ]
    catalog = Catalog.from_content({"name": "cabinets", "objectives": objectives, "items": items})
    with Advisor(catalog) as advisor:
        yield advisor


@pytest.mark.parametrize(
    ("said", "limits"),
    [
        ("under 200 grams", {"weight_g": {"max": 200}}),
        ("no more than 20 euros per guest", {"pricePerKidEUR": {"max": 20}}),
        ("we're 14 kids", {"maxKids": {"min": 14}}),
        ("there'll be twelve, no, wait, fourteen of them", {"maxKids": {"min": 14}}),
        ("headcount is 14", {"maxKids": {"min": 14}}),
        ("thirty-four decibels would be the utmost we could put up with", {"noiseDB": {"max": 34}}),
        ("twenty euros a head is truly as far as we can go", {"pricePerKidEUR": {"max": 20}}),
        ("three months is the longest I'd sign up for", {"termMonths": {"max": 3}}),
        ("it can't cost more than thirty euros no wait forty", {"pricePerKidEUR": {"max": 40}}),
        ("the niche is 60 cm wide", {"width_cm": {"max": 60}}),
        ("my uncle left a gap of sixty centimetres; anything wider I'd have to send back", {"width_cm": {"max": 60}}),
        ("60 cm wide. The thing must not exceed that", {"width_cm": {"max": 60}}),
        ("it's indoors or not at all", {"indoorYN": True}),
        ("no loan phone, no business from me", {"loan_phone": True}),
        ("no inkjets for me, thanks", {"tech": {"not": "ink"}}),
        ("it has to do both sides", {"duplexYN": True}),
        ("only round ways", {"LOOP_YN": True}),
        ("the north is hilly, and so is the harbor. Leave both of those out", {"area": {"not": ["north", "harbor"]}}),
        ("the harbor is out, and so is the north", {"area": {"not": ["harbor", "north"]}}),
        ("south or else at the station", {"area": ["south", "station"]}),
        ("without a loan phone I'd be lost", {"loan_phone": True}),
        ("without a loan phone I'd be fine", {}),
        ("no loan phone no deal", {"loan_phone": True}),
        ("below fifteen kids it's no use to us", {"maxKids": {"min": 15}}),
        ("15 kids as a minimum", {"maxKids": {"min": 15}}),
        ("it was built for a 60 cm gap, so 60 is the most that fits", {"width_cm": {"max": 60}}),
        ("sixty centimetres is all the room we've got", {"width_cm": {"max": 60}}),
        ("does it take one month or twelve? it's all the same to me", {}),
        ("choir is in the north, only harbor or station is possible", {"area": ["harbor", "station"]}),
    ],
)  # fmt: skip
def test_what_is_said_in_other_words_limits(advisor, talk, request, said, limits):
    talk("quiet please")
    talk(said)
    assert advisor.preference(request.node.name).limits == limits


@pytest.mark.parametrize(
    ("before", "said", "left"),
    [
        ("quiet and at most 30 euros", "my boss chips in, so that 30 euro ceiling is gone", {}),
        ("it has to be white", "white or not, it's all the same to me now", {}),
        ("at most 20 euros a kid", "my uncle chips in! 25 is the new maximum", {"pricePerKidEUR": {"max": 25}}),
        ("at most 20 euros a kid", "well, we can go up to 25 after all", {"pricePerKidEUR": {"max": 25}}),
        ("at most 20 euros", "that was stingy of me. Make it 30 instead of 20.", {"pricePerKidEUR": {"max": 30}}),
    ],
)  # fmt: skip
def test_what_was_said_is_taken_back_in_other_words(advisor, talk, request, before, said, left):
    talk(before)
    talk(said)
    assert advisor.preference(request.node.name).limits == left


@pytest.mark.parametrize(
    ("said", "wished", "dismissed"),
    [
        ("cheap pages", ["pageCostCt"], []),
        ("cheap please", ["pricePerKidEUR"], []),
        ("the kids love to be well looked after by patient people", ["careLvl"], []),
        ("however loud it is, that's fine by me", [], ["noiseDB"]),
        ("you needn't give any thought to the noise", [], ["noiseDB"]),
        ("it doesn't matter any more how loud it is", [], ["noiseDB"]),
        ("we'd better go easy on the purse", ["pricePerKidEUR"], []),
        ("loud or quiet, what's the difference", [], ["noiseDB"]),
        ("how loud it is couldn't matter less", [], ["noiseDB"]),
        ("what it costs? my boss pays, so that's neither here nor there", [], ["pricePerKidEUR"]),
        ("not fussed about how loud it gets", [], ["noiseDB"]),
    ],
)
def test_what_is_wished_and_what_does_not_matter(advisor, talk, request, said, wished, dismissed):
    talk(said)
    card = advisor.preference(request.node.name)
    assert (list(card.wished), list(card.dismissed)) == (wished, dismissed)


def test_what_was_had_and_is_to_be_left_out_is_not_shown_again(talk):
    second = talk("quiet please").recommendation.items[1].item
    reply = talk("we had number two at the old place, leave it out from now on will you")
    assert reply.kind == "not that one"
    assert second not in [one.item for one in reply.recommendation.items]


@pytest.mark.parametrize(
    ("said", "good"),
    [
        ("first was great second was rubbish", {0: True, 1: False}),
        ("the one at the bottom looks dreadful", {2: False}),
        ("my sister swears by the third", {2: True}),
        ("I'm afraid the second isn't sturdy enough for me", {1: False}),
        ("the first would ruin me", {0: False}),
        ("good grief, the first is at the other end of the world", {0: False}),
        ("number two, that's what I call patient", {1: True}),
        ("number three? for that kind of money I could fly to Rome", {2: False}),
    ],
)
def test_each_item_is_as_good_as_is_told_of_it(advisor, talk, request, said, good):
    shown = [one.item for one in talk("quiet please").recommendation.items]
    talk(said)
    events = [one for one in advisor.store.walk() if one.kind == "feedback" and one.user == request.node.name]
    assert {shown.index(one.body["item"]): one.body["utility"] > 0 for one in events} == good


def test_names_of_databases_are_told_as_words(talk):
    assert "You want low price per kid" in talk("cheap please").text
    assert [without_units(name) for name in ("noiseDB", "WGT_KG", "covM2L", "SWIVEL_YN", "has5G", "eurPerL")] == [
        *("noise", "weight", "coverage", "swivel", "has 5G", "eur per l"),
    ]
    assert [in_words(name) for name in ("hasUSBPort", "iPhone", "kWh")] == ["has USB port", "iPhone", "kWh"]
