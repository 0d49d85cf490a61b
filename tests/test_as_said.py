"""What people say in their own words decides, and never its opposite: of flats, and of games that were shown."""

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog
from druthers.errors import UnknownUser

DISTRICTS, COLORS, PAY = ("Mill", "Quay", "Hill"), ("black", "red", "blue"), ("cash", "invoice", "card")


@pytest.fixture(scope="module")
def advisor():
    """Flats whose rooms are counted, with floors that are texts of one figure and a balance that may be below zero."""
    items = [
        {
            "id": f"f{n}",
            "name": f"Flat {n}",
            "values": {
                "rent": 500 + 90 * n,
                "care": 1.1 + n % 4,
                "weight": 2 + n,
                "depth": 1.5 + n % 3,
                "fun": 4.5 - n % 4,
            },
            "details": {
                "rooms": 1 + n % 6,
                "floor": ("ground", "1", "2", "3")[n % 4],
                "balance": (-3, -1, 0, 1, 3)[n % 5],
                "district": DISTRICTS[n % 3],
                "color": COLORS[n % 3],
                "pay": PAY[n % 3],
                "lift": n % 2 == 0,
                "pet_safe": n % 2 == 1,
                "evening_lessons": n % 3 == 1,
                "weekend_service": n % 2 == 0,
                "lights_incl": n % 2 == 1,
                "hanging": n % 3 == 2,
                "closing_hour": 18 + n % 5,
                "max_entry_age": 60 + 5 * (n % 4),
            },
        }
        for n in range(20)
    ]  # fmt: skip
    objectives = [
        {"name": "rent", "description": "Euros a month.", "low": 0, "high": 3000, "less_is_better": True},
        {"name": "care", "description": "How carefully they handle things.", "low": 1, "high": 6},
        {"name": "weight", "description": "Kilograms.", "low": 0, "high": 30, "less_is_better": True},
        {"name": "depth", "description": "How much strategy and thinking it takes.", "low": 1, "high": 5},
        {"name": "fun", "description": "How much fun players have.", "low": 1, "high": 5},
    ]
    with Advisor(Catalog.from_content({"name": "flats", "objectives": objectives, "items": items})) as made:
        yield made


@pytest.fixture
def talk(advisor, request):
    """Say things one after the other, and return what is known of who said them."""

    def play(*texts):
        for text in texts:
            reply = advisor.message(request.node.name, text)
        try:
            return reply, advisor.preference(request.node.name)
        except UnknownUser:
            return reply, None

    return play


@pytest.mark.parametrize(
    ("said", "limits"),
    [
        (("without a lift it's no use to me",), {"lift": True}),
        (("without a lift",), {"lift": False}),
        (("please not black, everybody's got black",), {"color": {"not": "black"}}),
        (("black is off the table",), {"color": {"not": "black"}}),
        (("Quay is a definite no",), {"district": {"not": "Quay"}}),
        (("no firm that wants cash",), {"pay": {"not": "cash"}}),
        (("nothing poisonous, please",), {"pet_safe": True}),
        (("it needs to be safe for pets",), {"pet_safe": True}),
        (("lessons have to be in the evening",), {"evening_lessons": True}),
        (("it can only be on a weekend",), {"weekend_service": True}),
        (("one I can hang from the ceiling",), {"hanging": True}),
        (("it should be light",), {}),
        (("it must stay open till 20 or later",), {"closing_hour": {"min": 20}}),
        (("I can spare 900 a month",), {"rent": {"max": 900}}),
        (("nine hundred euros is where I stop",), {"rent": {"max": 900}}),
        (("I've got 900 saved up, that's really the ceiling",), {"rent": {"max": 900}}),
        (("the hook holds 5 kilos, so not a gram more than that",), {"weight": {"max": 5}}),
        (("I'd take one that is safe over one that's perfect",), {}),
        (("under 900", "my boss pays half, so make it fifteen hundred"), {"rent": {"max": 1500}}),
        (("2 or 3 rooms",), {"rooms": {"min": 2, "max": 3}}),
        (("not 3 rooms",), {"rooms": {"not": 3}}),
        (("exactly 2 rooms",), {"rooms": 2}),
        (("no more than 3 rooms but at least 2, up to 900",), {"rooms": {"min": 2, "max": 3}, "rent": {"max": 900}}),
        (("balance at least -1",), {"balance": {"min": -1}}),
        (("a balance of minus 1 or more",), {"balance": {"min": -1}}),
        (("1. rent 2. weight 3. fun",), {}),
        (("on floor 2",), {"floor": "2"}),
        (("rent: max=1000",), {"rent": {"max": 1000}}),
        (("rent max 900 min 600",), {"rent": {"min": 600, "max": 900}}),
        (("we are a family of 4",), {}),
        (("under 900, max 1200 if it has a lift",), {"rent": {"max": 900}}),
        (("I'd pay up to 1500 but prefer under 1000",), {"rent": {"max": 1500}}),
        (("I can do without a lift",), {}),
        (("in Mill", "in Quay too"), {"district": ["Mill", "Quay"]}),
        (("in Mill", "also in Quay"), {"district": ["Mill", "Quay"]}),
        (("in Quay too",), {"district": "Quay"}),
        (("I turned 71, no use showing ones that don't take people my age any more",), {"max_entry_age": {"min": 71}}),
    ],
)  # fmt: skip
def test_limits_are_what_was_said(talk, said, limits):
    _, known = talk(*said)
    assert (dict(known.limits) if known else {}) == limits


@pytest.mark.parametrize(
    ("said", "wanted", "dismissed"),
    [
        ("careful people please", {"care"}, set()),
        ("lots of strategy", {"depth"}, set()),
        ("it should be light, and not so expensive", {"weight", "rent"}, set()),
        ("I wouldn't mind a careful one", {"care"}, set()),
        ("how much it weighs is neither here nor there", set(), {"weight"}),
        ("it isn't important how much it weighs", set(), {"weight"}),
        ("the fun can be as bad as it likes", set(), {"fun"}),
        ("expensive", set(), set()),
        ("no, expensive", set(), set()),
        ("the more expensive the better", set(), set()),
        ("heavy is better", set(), set()),
        ("the weight doesn't matter, come to think of it", set(), {"weight"}),
    ],
)
def test_wishes_are_what_was_said(talk, said, wanted, dismissed):
    _, known = talk(said)
    assert (set(known.wished) if known else set(), set(known.dismissed) if known else set()) == (wanted, dismissed)


@pytest.mark.parametrize(
    ("said", "rank", "sign"),
    [
        ("number two, yes, I could really see myself there", 2, 1),
        ("now the first one, that's a beauty", 1, 1),
        ("three is hilarious!! good tip", 3, 1),
        ("the middle one I don't like, it's kind of ugly if I'm honest", 2, -1),
        ("the first costs more than my phone and my internet together, no way", 1, -1),
        ("first one is right up my street", 1, 1),
        ("Second? Nope. That's daylight robbery", 2, -1),
    ],
)
def test_what_is_told_of_one_item_is_told_of_it(talk, advisor, request, said, rank, sign):
    first, _ = talk("a careful one, please")
    shown = [one.item for one in first.recommendation.items]
    talk(said)
    told = [one for one in advisor.store.walk() if one.kind == "feedback" and one.user == request.node.name]
    assert told
    assert told[-1].body["item"] == shown[rank - 1]
    assert told[-1].body["utility"] * sign > 0


@pytest.mark.parametrize("said", ["the second one but lighter", "lighter than the second", "First, it must be cheap"])
def test_what_only_points_at_an_item_tells_nothing_of_it(talk, advisor, request, said):
    talk("a careful one, please", said)
    told = [one for one in advisor.store.walk() if one.kind == "feedback" and one.user == request.node.name]
    assert not any(one.body.get("utility", 0.0) < 0.0 for one in told)


def test_priorities_in_a_row_compare_no_items(talk):
    reply, known = talk("a careful one, please", "first price, second weight")
    assert reply.kind == "wish"
    assert set(known.wished) >= {"rent", "weight"}


@pytest.mark.parametrize(
    "said",
    ["out of all your flats, which one is the lightest?", "It has to fit. Which of your flats weighs the least?"],
)
def test_the_most_of_all_is_looked_for_among_all(talk, said):
    reply, _ = talk("a careful one, please", said)
    assert reply.text.startswith("Flat 0, weight 2")
