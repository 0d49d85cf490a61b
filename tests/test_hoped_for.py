"""What is hoped for limits nothing, too much money is not wanted, and an item may be looked at again."""

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog


@pytest.fixture(scope="module")
def advisor():
    with Advisor("hotels", parser="lexicon") as advisor:
        yield advisor


@pytest.fixture
def card(advisor, request):
    """Return what tells what is known of the test's person."""
    return lambda: advisor.preference(request.node.name)


@pytest.mark.parametrize(
    "text",
    [
        "clean, with a pool if you have one",
        "clean, a pool if there is one",
        "clean, and a pool if they've got one",
        "clean, with a pool if it's available",
        "clean, and a pool would be handy",
        "clean, a pool would be useful, not essential",
    ],
)
def test_what_is_there_only_if_it_can_be_limits_nothing(talk, card, text):
    reply = talk(text)
    assert card().limits == {}
    assert "If possible: amenities pool" in reply.text


@pytest.mark.parametrize("text", ["clean, it must have a pool", "clean with a pool"])
def test_what_must_be_there_limits(talk, card, text):
    talk(text)
    assert card().limits == {"amenities": {"all": "pool"}}


@pytest.mark.parametrize(
    "text",
    [
        "I don't want to spend a fortune",
        "we'd rather not pay a fortune",
        "it shouldn't cost a bomb",
        "nothing that costs a packet",
        "not somewhere they charge a fortune",
    ],
)
def test_who_does_not_want_to_pay_much_wants_it_cheap(talk, card, text):
    talk(text)
    assert (card().wished, card().dismissed) == (("value",), ())


@pytest.mark.parametrize("text", ["we want to walk everywhere", "I like to walk everywhere"])
def test_everywhere_is_no_limit_taken_back(talk, card, text):
    assert "no such limit" not in talk(text).text
    assert card().wished == ("location",)


@pytest.mark.parametrize(
    "text",
    [
        "no, go back to the first one",
        "no, I'd rather see the first one again",
        "let's go back to the first one please",
        "can we go back to the first one?",
        "could you show me number 1 again",
    ],
)
def test_an_item_is_looked_at_again(talk, card, text):
    first = talk("cheap and clean").recommendation.items[0].name
    assert talk(text).text.startswith(f"{first}: ")
    assert card().limits == {}


@pytest.mark.parametrize("text", ["no, the first one was better", "hm, I think the first one looks nicer"])
def test_what_was_better_is_not_turned_down(talk, text):
    first = talk("cheap and clean").recommendation.items[0].name
    assert talk(text).text.startswith(f"Noted: {first} was good")


@pytest.mark.parametrize("text", ["no, not the first one", "no to the first one"])
def test_what_is_turned_down_is_gone(talk, text):
    first = talk("cheap and clean").recommendation.items[0].name
    assert f"Without {first}" in talk(text).text


PHONES = {
    "name": "phones",
    "objectives": [
        {"name": "price", "description": "Price in euros.", "low": 20, "high": 400, "less_is_better": True},
        {"name": "comfort", "description": "How comfortable they are.", "low": 0, "high": 10},
    ],
    "items": [
        {
            "id": f"p{n}",
            "values": {"price": 30 + 30 * n, "comfort": n % 7 + 2},
            "details": {"wireless": n % 2 == 0, "weight": 100 + 10 * n},
        }
        for n in range(12)
    ],
}


@pytest.fixture(scope="module")
def phones():
    with Advisor(Catalog.from_content(PHONES), parser="lexicon") as advisor:
        yield advisor


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("wireless obviously", {"wireless": True}),
        ("definitely wireless", {"wireless": True}),
        ("wireless, of course, and comfy", {"wireless": True}),
        ("comfy, tops 150", {"price": {"max": 150}}),
        ("tops 150 euros", {"price": {"max": 150}}),
    ],
)
def test_short_words_limit(phones, request, text, limits):
    phones.message(request.node.name, text)
    assert phones.preference(request.node.name).limits == limits


@pytest.mark.parametrize(
    "text", ["comfy, nothing older than 2018", "comfy, newer than 2019", "comfy, built after 2015"]
)
def test_a_year_is_no_price_where_no_year_is_known(phones, request, text):
    reply = phones.message(request.node.name, text)
    assert phones.preference(request.node.name).limits == {}
    assert "Not understood" in reply.text
