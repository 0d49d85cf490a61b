"""Who turns round in the middle of a message keeps all that was not turned round."""

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog, Item
from druthers.types import Objective

INNS = Catalog(
    "inns",
    [
        Objective("price", low=0, high=500, less_is_better=True),
        Objective("food", low=0, high=5),
        Objective("distance", low=0, high=50, less_is_better=True),
    ],
    [
        Item(
            "mill",
            name="Mill",
            values={"price": 90, "food": 4, "distance": 3},
            details={"city": "Graz", "body": "heavy"},
        ),
        Item(
            "barn",
            name="Barn",
            values={"price": 140, "food": 3, "distance": 9},
            details={"city": "Linz", "body": "crisp"},
        ),
        Item(
            "oak",
            name="Oak",
            values={"price": 110, "food": 5, "distance": 19},
            details={"city": "Graz", "body": "crisp"},
        ),
        Item(
            "elm", name="Elm", values={"price": 60, "food": 1, "distance": 9}, details={"city": "Wels", "body": "heavy"}
        ),
    ],
)


@pytest.mark.parametrize(
    ("before", "said", "wished", "limits"),
    [
        ("", "in Graz under 90, no wait, under 120", (), {"city": "Graz", "price": {"max": 120}}),
        ("", "a heavy one - no wait, a crisp one", (), {"body": "crisp"}),
        ("", "good food and close by. no wait, forget the food", ("distance",), {}),
        ("", "good food in Graz. on second thought, in Linz", ("food",), {"city": "Linz"}),
        ("", "in Graz and cheap, no wait, good food", ("food",), {"city": "Graz"}),
        ("", "cheap, scratch that, in Graz", (), {"city": "Graz"}),
        ("", "cheap, scratch that, good food", ("food",), {}),
        ("cheap", "hmm, scratch that", (), {}),
        ("cheap", "forget the price, in Linz please", (), {"city": "Linz"}),
        ("cheap and good food", "the price isn't important after all", ("food",), {}),
        ("cheap and in Graz", "drop the price, under 20 km though", (), {"city": "Graz", "distance": {"max": 20}}),
    ],
)
def test_nothing_else_is_lost(before, said, wished, limits):
    advisor = Advisor(INNS)
    if before:
        advisor.message("ada", before)
    advisor.message("ada", said)
    card = advisor.preference("ada")
    assert (card.wished, card.limits) == (wished, limits)


@pytest.mark.parametrize("said", ["as expensive as possible", "something more expensive", "that one is too cheap"])
def test_who_asks_for_more_of_a_cost_is_not_told_to_want_less(said):
    advisor = Advisor(INNS)
    advisor.message("ada", "good food")
    reply = advisor.message("ada", said)
    assert said in reply.text
    assert advisor.preference("ada").wished == ("food",)


def test_the_most_expensive_is_shown_and_not_taken_for_a_wish():
    advisor = Advisor(INNS)
    reply = advisor.message("ada", "the most expensive one")
    assert (reply.kind, reply.text) == ("which is best", "Barn, price 140.")
