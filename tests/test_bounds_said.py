"""Limits in as many words as people have for them, over three catalogs that have nothing in common."""

import pytest

from druthers import Item, Objective
from druthers.limits import Columns, LimitReader


def reader(title, objectives, details):
    """Return a reader over twelve items whose values lie evenly between the ends of each objective."""
    items = {
        f"i{n}": Item(
            f"i{n}",
            values={one.name: round(one.low + (one.high - one.low) * (n + 1) / 16, 1) for one in objectives},
            details={name: facts[n % len(facts)] for name, facts in details.items()},
        )
        for n in range(12)
    }
    return LimitReader(Columns(items), objectives, title)


READERS = {
    "tents": reader(
        "tents",
        [
            Objective("price", low=20, high=900, less_is_better=True, description="euros"),
            Objective("weight", low=0.8, high=9, less_is_better=True, description="kilograms"),
            Objective("durability", low=1, high=10),
        ],
        {"sleeps": [1, 2, 3, 4, 5, 6], "rating": [2.5, 3.0, 4.1, 4.8], "pets allowed": ["yes", "no"]},
    ),
    "dentists": reader(
        "dentists",
        [
            Objective("waiting time", low=0, high=90, less_is_better=True, description="minutes"),
            Objective("distance", low=0.1, high=25, less_is_better=True, description="km from the center"),
            Objective("reviews", low=1, high=5, description="stars"),
        ],
        {"years of experience": [2, 8, 14, 26], "elevator": ["yes", "no"]},
    ),
    "scooters": reader(
        "scooters",
        [
            Objective("price", low=200, high=2500, less_is_better=True),
            Objective("range", low=10, high=100, description="km on one charge"),
            Objective("top speed", low=15, high=60, description="km/h"),
            Objective("group size", low=1, high=30, less_is_better=True),
        ],
        {"max load": [80, 100, 120, 140], "warranty": [6, 12, 24, 36]},
    ),
}


@pytest.mark.parametrize(
    ("catalog", "text", "where"),
    [
        ("tents", "a couple hundred at most", {"price": {"max": 200}}),
        ("tents", "half a grand max", {"price": {"max": 500}}),
        ("tents", "my budget is two hundred and fifty", {"price": {"max": 250}}),
        ("tents", "max price 220", {"price": {"max": 220}}),
        ("tents", "between one and two hundred", {"price": {"min": 100, "max": 200}}),
        ("tents", "price < 200", {"price": {"max": 200}}),
        ("tents", "<= 3 kg", {"weight": {"max": 3}}), ("tents", "sleeps >= 4", {"sleeps": {"min": 4}}),
        ("tents", "a 200 euro limit", {"price": {"max": 200}}),
        ("tents", "price ceiling of 300", {"price": {"max": 300}}),
        ("tents", "200 euros would be too much", {"price": {"max": 200}}),
        ("tents", "rated 4 or higher", {"rating": {"min": 4}}),
        ("tents", "for a family of five", {"sleeps": {"min": 5}}),
        ("tents", "we are 4", {"sleeps": {"min": 4}}), ("tents", "room for three", {"sleeps": {"min": 3}}),
        ("tents", "200ish", {"price": {"max": 240}}),
        ("tents", "around 100", {"price": {"max": 120}}), ("tents", "150 euros or so", {"price": {"max": 180}}),
        ("tents", "pet-friendly", {"pets allowed": True}),
        ("tents", "what about 2?", {}), ("tents", "around 10 am", {}), ("tents", "I was born in 1990 or so", {}),
        ("dentists", "at least four stars", {"reviews": {"min": 4}}), ("dentists", "4+ stars", {"reviews": {"min": 4}}),
        ("dentists", "4 stars or better", {"reviews": {"min": 4}}), ("dentists", "no elevator needed", {}),
        ("dentists", "10+ years of experience", {"years of experience": {"min": 10}}),
        ("dentists", "within 2 km", {"distance": {"max": 2}}),
        ("dentists", "without an elevator is fine", {}), ("scooters", "it has to go 50 km", {"range": {"min": 50}}),
        ("scooters", "at least 30 km/h", {"top speed": {"min": 30}}),
        ("scooters", "must carry 110 kg", {"max load": {"min": 110}}),
        ("scooters", "max load at least 120 kg", {"max load": {"min": 120}}),
        ("scooters", "small groups, 8 at most", {"group size": {"max": 8}}),
        ("scooters", "at least two years of warranty", {"warranty": {"min": 24}}),
    ],
)  # fmt: skip
def test_a_limit_in_other_words(catalog, text, where):
    assert READERS[catalog].read(text).where == where


def test_hardly_any_is_no_limit_taken_back():
    assert READERS["tents"].read("one that hardly needs any rating").dropped == ()
    assert READERS["tents"].read("any rating is fine").dropped == ("rating",)
