"""What a conversation is about: which item, which of two things said, which limit; and answers that tell all of it."""

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog, Item
from druthers.errors import DruthersError
from druthers.types import Objective

# "Value" is more for the money, and the price a detail, as in the hotels that come along.
HUTS = Catalog(
    "huts",
    [
        Objective("value", low=0, high=5, description="Value for money."),
        Objective("quiet", low=0, high=5),
        Objective("cleanliness", low=0, high=5),
    ],
    [
        Item(
            name.lower(),
            name=name,
            values={"value": 4.5 - 0.25 * k, "quiet": 1 + (k * 3) % 5, "cleanliness": 1 + (k * 2) % 5},
            details={"price": 40 + 10 * k, "city": ("Graz", "Linz")[k % 2]},
        )
        for k, name in enumerate(["Adlerhof", "Birkstein", "Cervin", "Dohlennest", "Edelruh", "Felseck", "Gamsblick"])
    ],
)


@pytest.fixture
def advisor():
    with Advisor(HUTS, parser="lexicon") as advisor:
        yield advisor


@pytest.fixture
def talk(advisor):
    return lambda text: advisor.message("ada", text)


def shown(reply):
    return [one.name for one in reply.recommendation.items]


def felt(advisor):
    """Return how each item was that was rated: the mean of what stands."""
    told = advisor.operations.fold.people["ada"].felt
    return {item: (count, round(total / count, 1)) for item, (count, total) in told.items()}


@pytest.mark.parametrize("again", ["actually it was great", "sorry, I meant it was great", "it was great, actually"])
def test_what_is_put_right_is_what_was_rated_whatever_is_shown_since(advisor, talk, again):
    first = shown(talk("cheap"))[0]
    assert first not in shown(talk("it was awful"))[:1]
    assert talk(again).text == f"Noted: {first} was great."
    assert felt(advisor) == {first.lower(): (1, 1.0)}


def test_an_aspect_that_is_put_right_leaves_one_utility(advisor, talk):
    first = shown(talk("cheap"))[0]
    talk("it was filthy")
    assert talk("no, it was spotless").text == f"Noted: {first} was great (cleanliness good)."
    assert felt(advisor) == {first.lower(): (1, 1.0)}


@pytest.mark.parametrize("between", ["something else", "it was awful"])
def test_it_is_what_was_taken_whatever_is_shown_since(advisor, talk, between):
    second = shown(talk("cheap"))[1]
    talk("the second please")
    talk(between)
    assert talk("actually it was lovely").text == f"Noted: {second} was great."
    assert felt(advisor) == {second.lower(): (1, 1.0)}


def test_a_number_that_puts_right_is_of_what_was_shown_then(talk):
    first, second, _ = shown(talk("cheap"))
    talk("the first was terrible")
    assert talk("no, I mean the second was terrible").text == (
        f"Noted: {second} was awful. What you said of {first} stays: say how it was, if it was not so."
    )
    assert talk("sorry, the first was great").text.startswith(f"Noted: {first} was great.")


def test_what_is_shown_since_is_meant_where_nothing_is_put_right(talk):
    talk("cheap")
    new = shown(talk("the first was terrible"))
    assert talk("the second was lovely").text == f"Noted: {new[1]} was great."
    assert talk("actually, the first one please").text.startswith("Good: you took")


@pytest.mark.parametrize("done", ["I'll take it", "it was awful", "not that one"])
def test_what_an_answer_was_about_is_what_is_done_with(talk, done):
    third = shown(talk("cheap"))[2]
    assert talk("how quiet is the third one?").items == (third.lower(),)
    assert talk(done).items == (third.lower(),)
