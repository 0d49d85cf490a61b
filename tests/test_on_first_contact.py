"""What somebody who talks with it for the first time found untrue, silly or lost."""

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog


@pytest.fixture(scope="module")
def hotels():
    with Advisor(Catalog.load("hotels")) as advisor:
        yield advisor


@pytest.fixture(scope="module")
def schools():
    """Schools of languages in countries where other ones are spoken, and of classes of which larger ones are better."""
    languages = ("English", "French", "German", "Italian", "Portuguese", "Spanish")
    items = [
        {
            "id": f"s{n}",
            "name": f"School {n}",
            "values": {"price": 100 + 17 * n, "class size": 4 + n % 14, "centre": 0.2 + (7 * n % 30) / 5},
            "details": {
                "country": ("France", "Germany", "Portugal", "Spain", "United Kingdom")[n % 5],
                "languages": [languages[n % 6], languages[(n + 2) % 6]],
                "hours week": 10 + n % 20,
                "founded": 1960 + 2 * n,
            },
        }
        for n in range(30)
    ]
    objectives = [
        {"name": "price", "description": "Price in euros.", "low": 0, "high": 700, "less_is_better": True},
        {"name": "class size", "low": 0, "high": 20},
        {"name": "centre", "description": "Kilometres to the centre.", "low": 0, "high": 7, "less_is_better": True},
    ]
    with Advisor(Catalog.from_content({"name": "schools", "objectives": objectives, "items": items})) as advisor:
        yield advisor


@pytest.fixture
def say(request):
    """Say one thing after the other to an advisor; return the last answer and the card."""

    def said(advisor, *texts):
        user = request.node.name
        replies = [advisor.message(user, text) for text in texts]
        return replies[-1], advisor.preference(user)

    return said


@pytest.mark.parametrize("text", ["no noise", "without noise", "no noise, no dirt"])
def test_who_wants_none_of_what_is_bad_wishes_for_the_good(hotels, say, text):
    _, card = say(hotels, text)
    assert card.wished[0] == "sleep quality"
    assert not card.dismissed


def test_what_is_wished_if_possible_is_what_stands_beside_it(hotels, request):
    heard = hotels.hear(request.node.name, "cheap and clean, quiet if possible")
    assert [one.value for one in heard.reading.strengths] == ["plain", "plain", "faint"]


@pytest.mark.parametrize("text", ["in Solmara but not Hotel Azurane", "not Hotel Azurane, in Solmara please"])
def test_who_refuses_a_name_keeps_the_limit_beside_it(hotels, say, text):
    _, card = say(hotels, text)
    assert card.limits == {"city": "Solmara", "name": {"not": ["Hotel Azurane"]}}


@pytest.mark.parametrize("before", [["the third"], ["book 3"]])
def test_a_pick_that_is_put_right_is_of_the_item_that_was_meant(hotels, say, before):
    reply, card = say(hotels, "cheap", *before, "no, I meant the first")
    assert reply.kind == "taken"
    assert "name" not in card.limits


def test_a_rating_that_is_put_right_turns_no_item_down(hotels, say):
    reply, card = say(hotels, "cheap", "2 was great", "no, I meant 1")
    assert reply.kind == "feedback"
    assert "name" not in card.limits


@pytest.mark.parametrize(
    ("limit", "gone"),
    [("under 100", "actually the price does not matter"), ("at most 100 a night", "money is no issue now")],
)
def test_a_budget_goes_with_what_does_not_matter_any_more(hotels, say, limit, gone):
    reply, card = say(hotels, limit, gone)
    assert card.limits == {}
    assert "No limit on price any more" in reply.text


@pytest.mark.parametrize(
    ("felt", "grade"),
    [
        ("I loved it", "great"),
        ("loved it!", "great"),
        ("not bad", "good"),
        ("5 stars", "great"),
        ("8/10", "good"),
        ("👍", "good"),
        ("meh", "bad"),
        ("never again", "awful"),
        ("we had a great time", "great"),
        ("could have been better", "bad"),
        ("we'd come back any time", "great"),
    ],
)
def test_how_it_was_is_told_in_a_word(hotels, say, felt, grade):
    reply, _ = say(hotels, "cheap", "1", felt)
    assert reply.kind == "feedback"
    assert reply.text.split(".")[0].endswith(f"was {grade}")


@pytest.mark.parametrize("text", ["what is the best hotel", "which is best?", "the best one"])
def test_the_best_is_the_first_and_why(hotels, say, text):
    first = hotels.message("beside", "quiet").recommendation.items[0].item
    reply, _ = say(hotels, "quiet", text)
    assert (reply.kind, reply.items) == ("why", (first,))


def test_what_is_recommended_to_a_stranger_is_shown(hotels, say):
    assert say(hotels, "what do you recommend?")[0].recommendation is not None
    reply, card = say(hotels, "what is the best hotel in Solmara?")
    assert card.limits == {"city": "Solmara"}
    assert reply.recommendation is not None


@pytest.mark.parametrize(
    ("text", "wished"),
    [
        ("a quiet room", ["sleep quality"]),
        ("a clean room with friendly staff", ["cleanliness", "service"]),
        ("cheap but not the cheapest", ["value"]),
        ("my budget is tight", ["value"]),
    ],
)
def test_a_wish_is_for_what_is_said_of_a_thing(hotels, say, text, wished):
    assert list(say(hotels, text)[1].wished) == wished


def test_dates_are_no_prices(hotels, say):
    assert say(hotels, "quiet", "3 nights from 12 to 15 May")[1].limits == {}


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("I want to learn French", {"languages": {"all": "French"}}),
        ("English or French", {"languages": {"any": ["English", "French"]}}),
        ("Italian and Portuguese", {"languages": {"all": ["Italian", "Portuguese"]}}),
        ("lessons in French, anywhere but France", {"languages": {"all": "French"}, "country": {"not": "France"}}),
        ("a school in the UK", {"country": "United Kingdom"}),
        ("at most 8 students", {"class size": {"max": 8}}),
        ("at most 8 students in a class", {"class size": {"max": 8}}),
        ("founded before 1980", {"founded": {"max": 1979}}),
        ("founded after 2000", {"founded": {"min": 2001}}),
        ("price range 200 to 300", {"price": {"min": 200, "max": 300}}),
    ],
)
def test_limits_are_on_what_was_said(schools, say, text, limits):
    _, card = say(schools, text)
    assert card.limits == limits
    assert not card.wished


@pytest.mark.parametrize("text", ["small classes", "tiny classes, please", "no big classes", "fewer people per class"])
def test_who_asks_against_the_direction_of_a_catalog_is_told(schools, say, text):
    reply, card = say(schools, "cheap", text)
    assert list(card.wished) == ["price"]
    assert f"“{text.removesuffix(', please')}”" in reply.text
