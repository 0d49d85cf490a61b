"""What people tell beside what they ask for: ages, what they had before, who pays, and the units of numbers."""

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog


def catalog(name, objectives, details):
    """Return a catalog of a dozen items, of which each detail takes its values in turn."""
    items = [
        {
            "id": f"i{n}",
            "name": f"{('Arden', 'Brook', 'Cedar')[n % 3]} {('Duo', 'Solo', 'Trio', 'Plus')[n // 3]}",
            "values": {
                one["name"]: round(one["low"] + (one["high"] - one["low"]) * ((7 * n + 3 * k) % 12 + 1) / 13, 1)
                for k, one in enumerate(objectives)
            },
            "details": {key: values[n % len(values)] for key, values in details.items()}
            | {"brand": ("Arden", "Brook", "Cedar")[n % 3]},
        }
        for n in range(12)
    ]
    return Catalog.from_content({"name": name, "objectives": objectives, "items": items})


PRICE = {"name": "price", "description": "Price in euros.", "low": 15, "high": 700, "less_is_better": True}


@pytest.fixture(scope="module")
def chairs():
    objectives = [
        PRICE,
        {"name": "comfort", "description": "How comfortable the seat is.", "low": 0, "high": 10},
        {"name": "support", "description": "How well it supports the back.", "low": 0, "high": 10},
        {"name": "warranty", "description": "Years of warranty.", "low": 1, "high": 10},
        {"name": "noise", "description": "How loud it is.", "low": 0, "high": 10, "less_is_better": True},
    ]
    details = {
        "cover": ["mesh", "leather", "fabric"],
        "load": [90, 110, 120, 150],
        "inches": [6, 7, 8, 10],
        "weeks": [6, 8, 10, 12, 16],
        "certificate": [True, False],
    }
    with Advisor(catalog("chairs", objectives, details)) as advisor:
        yield advisor


@pytest.fixture(scope="module")
def campsites():
    objectives = [
        {"name": "price", "description": "Euros a night.", "low": 12, "high": 70, "less_is_better": True},
        {"name": "noise", "description": "How loud it is at night.", "low": 0, "high": 10, "less_is_better": True},
        {"name": "children", "description": "How much there is to do for children.", "low": 0, "high": 10},
    ]
    with Advisor(catalog("campsites", objectives, {"ground": ["grass", "sand"], "dogs": [True, False]})) as advisor:
        yield advisor


@pytest.fixture
def said(chairs, request):
    """Say one thing after the other; return the last answer and the card."""

    def say(*texts, advisor=chairs):
        user = request.node.name
        replies = [advisor.message(user, text) for text in texts]
        return replies[-1], advisor.preference(user)

    return say


@pytest.mark.parametrize(
    "text",
    [
        "we have two kids under ten, so it should be quiet",
        "we've got three under eight, it should be quiet",
        "quiet please, there are children under 12 in the house",
        "quiet, our boys are both under six",
    ],
)
def test_ages_of_people_are_no_prices(said, campsites, text):
    _, card = said(text, advisor=campsites)
    assert ("noise" in card.wished, card.limits) == (True, {})


@pytest.mark.parametrize("text", ["a site under 20, quiet", "something for two under 20"])
def test_prices_still_are(said, campsites, text):
    _, card = said(text, advisor=campsites)
    assert card.limits == {"price": {"max": 20}}


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("I'm a big lad, 108 kilos, so it has to be made for at least 115", {"load": {"min": 115}}),
        ("it must be mesh or fabric, my old leather one cracked", {"cover": ["mesh", "fabric"]}),
        ("fabric please, my last leather chair was awful", {"cover": "fabric"}),
        ("no leather, only mesh or fabric, and under 400 euros", {"cover": ["mesh", "fabric"], "price": {"max": 400}}),
        ("not leather, just fabric", {"cover": "fabric"}),
        ("we move away in ten weeks, so it mustn't take longer than that", {"weeks": {"max": 10}}),
        ("we leave in ten weeks and it can't last any longer than that", {"weeks": {"max": 10}}),
        ("it has to be 7.5 inches or more. On six inches I was squinting all day.", {"inches": {"min": 7.5}}),
        (
            "my boss pays up to 400 euros, and he insists on a certificate",
            {"price": {"max": 400}, "certificate": True},
        ),
    ],
)
def test_limits_are_what_is_asked_for(said, text, limits):
    _, card = said(text)
    assert card.limits == limits
    assert not card.dismissed


def test_a_limit_is_taken_back_by_its_number_and_unit(said):
    reply, card = said("comfortable, no more than 300 euros", "sorry, forget the 300 euros, my brother chips in")
    assert (reply.kind, card.limits, card.wished) == ("forget that", {}, ("comfort",))


@pytest.mark.parametrize("name", ["brother", "brother-in-law"])
def test_a_limit_is_taken_back_after_an_excuse(said, name):
    reply, card = said("no more than 300 euros", f"Sorry, forget the 300 euros, my {name} is chipping in.")
    assert (reply.kind, card.limits) == ("forget that", {})


def test_the_last_one_that_somebody_bought_is_none_of_those_shown(said):
    reply, _ = said("comfortable", "I've two left hands and the last flat-pack thing I bought ended in tears")
    assert reply.kind not in ("taken", "feedback", "not that one")


@pytest.mark.parametrize("text", ["a long guarantee", "the guarantee should be long", "a long warranty"])
def test_a_guarantee_is_a_warranty(said, text):
    _, card = said(text)
    assert card.wished == ("warranty",)


def test_both_parts_of_an_order_are_heard(said):
    _, card = said("a long guarantee first of all, and then it shouldn't be too dear")
    assert card.wished == ("warranty", "price")


def test_what_is_asked_of_a_named_item_is_not_its_brand(chairs, said):
    reply, _ = said("comfortable", "what can you tell me about the Brook Duo?")
    assert "price" in reply.text
    assert "comfort" in reply.text
    reply, _ = said("is the Brook Duo loud?")
    assert "noise" in reply.text
    assert "brand" not in reply.text


@pytest.mark.parametrize(
    "verdict", ["All in all, no, I don't like it.", "Overall it was awful.", "In the end I hated it."]
)
def test_a_verdict_counts_before_what_it_weighs(chairs, request, verdict):
    user = request.node.name
    chairs.message(user, "comfortable")
    chairs.message(user, f"I tried the second one. The back support is superb but the seat hurt. {verdict}")
    told = [one.body for one in chairs.store.walk() if one.user == user and one.kind == "feedback"]
    assert told[-1]["utility"] < 0.0


def test_rubbish_is_a_verdict(chairs, request):
    user = request.node.name
    chairs.message(user, "comfortable")
    reply = chairs.message(user, "the first one?? i own that. it broke in week two, its rubbish")
    assert reply.kind == "feedback"
    told = [one.body for one in chairs.store.walk() if one.user == user and one.kind == "feedback"]
    assert told[-1]["utility"] < 0.0
