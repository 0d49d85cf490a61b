"""Limits as a person says them to a catalog that came from a table: sizes of one letter, years, lists, yes and no."""

from datetime import date

import pytest

import druthers as dr
from druthers.catalogs import Catalog, Item
from druthers.limits import Columns, LimitReader
from druthers.types import Objective

YEAR = date.today().year


def bike(number: int, **details: object) -> Item:
    values = {"price": 200.0 + 90.0 * number, "weight": 8.0 + number, "rating": 3.0 + 0.1 * number}
    return Item(f"b{number}", f"Bike {number}", values=values, details=details)


BIKES = Catalog(
    name="bikes",
    objectives=(
        Objective("price", "Euros.", low=0, high=5000, less_is_better=True),
        Objective("weight", "Kilograms.", low=0, high=30, less_is_better=True),
        Objective("rating", "Stars.", low=1, high=5),
    ),
    items=tuple(
        bike(
            n,
            color=("black", "red", "blue", "orange")[n % 4],
            size=("S", "M", "L", "XL")[n % 4],
            brand=("Canyon", "Trek", "Cube")[n % 3],
            gears=(1, 3, 7, 8, 12, 21)[n % 6],
            electric=("yes", "no")[n % 2],
            year=YEAR - n % 6,
            starts=("March", "May", "August")[n % 3],
            accessories=[["lights", "rack"], ["lock", "bell"], ["fenders", "lights"]][n % 3],
        )
        for n in range(12)
    ),
)
READER = LimitReader(Columns({item.id: item for item in BIKES.items}), BIKES.objectives, BIKES.name)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("she's 8 and I'm tall", {}),
        ("I'd like one, it's for work", {}),
        ("A light one", {}),
        ("size L or XL", {"size": ["L", "XL"]}),
        ("in size m please", {"size": "M"}),
        ("is it there in M?", {"size": "M"}),
        ("any color but black", {"color": {"not": "black"}}),
        ("anything but black", {"color": {"not": "black"}}),
        ("all brands except for Trek", {"brand": {"not": "Trek"}}),
        ("every brand other than Trek", {"brand": {"not": "Trek"}}),
        ("any color", {}),
        ("any color but red, my ex had a red one", {"color": {"not": "red"}}),
        ("no large ones", {"size": {"not": "L"}}),
        ("I'd rather have a red or an orange one", {"color": ["red", "orange"]}),
        ("I'd rather not have a Trek", {"brand": {"not": "Trek"}}),
        ("I'd rather have a Trek than a Cube", {"brand": "Trek"}),
        ("black would be awful", {}),
        ("an electric bike would be overkill", {}),
        ("a red one would not be nice", {}),
        (f"not from {YEAR - 1}", {"year": {"not": YEAR - 1}}),
        (f"not before {YEAR - 1}", {"year": {"min": YEAR - 1}}),
        (f"not after {YEAR - 1}", {"year": {"max": YEAR - 1}}),
        (f"{YEAR - 3}-{YEAR - 1}", {"year": {"min": YEAR - 3, "max": YEAR - 1}}),
        ("between 1000 and 1500", {"price": {"min": 1000, "max": 1500}}),
        ("an electric bike with a long range", {"electric": True}),
        ("a light electric city bike", {"electric": True}),
        ("non-electric", {"electric": False}),
        ("not an electric bike", {"electric": False}),
        ("with a rack and lights", {"accessories": {"all": ["rack", "lights"]}}),
        ("a light one with a rack", {"accessories": {"all": "rack"}}),
        ("too many gears. max 8", {"gears": {"max": 8}}),
        ("12 gears or more", {"gears": {"min": 12}}),
        ("more than 8 gears", {"gears": {"min": 9}}),
        ("no more than 8 gears", {"gears": {"max": 8}}),
        ("at most 8 gears, below 1000", {"gears": {"max": 8}, "price": {"max": 1000}}),
        ("under 2000", {"price": {"max": 2000}}),
        ("8 gears and a bell under 600", {"gears": 8, "accessories": {"all": "bell"}, "price": {"max": 600}}),
        (
            f"newer than {YEAR - 3} with fenders",
            {"year": {"min": YEAR - 2}, "accessories": {"all": "fenders"}},
        ),
        (f"a bike from {YEAR - 2} with lights", {"year": YEAR - 2, "accessories": {"all": "lights"}}),
        ("no older than 2 years", {"year": {"min": YEAR - 2}}),
        ("at most 3 years old", {"year": {"min": YEAR - 3}}),
        ("at least 3 years old", {"year": {"max": YEAR - 3}}),
        ("it has to start no later than May", {"starts": ["March", "May"]}),
        ("before May", {"starts": ["March"]}),
        ("May or August", {"starts": ["May", "August"]}),
        ("it may be heavy", {}),
        ("May I see more?", {}),
    ],
)
def test_limits_are_read_as_they_are_meant(text, where):
    assert READER.read(text).where == where


def test_a_number_that_fits_no_price_is_told():
    read = READER.read("too heavy, max 12")  # nothing costs so little, and what is heavy is not named
    assert (read.where, read.unmatched) == ({}, ("max 12",))


def test_the_name_of_what_is_limited_is_no_wish():
    assert not READER.read("size L").rest.strip()
    assert READER.read("the color should be red, and light").rest.split() == [",", "and", "light"]


def test_something_is_open_until_it_closes():
    shops = {str(hour): Item(str(hour), values={"price": 9.0}, details={"closes": hour}) for hour in (14, 17, 19)}
    reader = LimitReader(Columns(shops), [Objective("price", low=0, high=50, less_is_better=True)])
    assert reader.read("it has to be open until at least 17").where == {"closes": {"min": 17}}
    assert reader.read("open till 17").where == {"closes": {"min": 17}}


@pytest.fixture
def advisor() -> dr.Advisor:
    return dr.Advisor(BIKES)


def first(advisor: dr.Advisor, user: str = "ada") -> Item:
    return BIKES.item(advisor.recommend(user).items[0].item)


def test_what_would_be_nice_is_hoped_for_and_not_demanded(advisor):
    reply = advisor.message("ada", "cheap, ideally red")
    assert "If possible: color red." in reply.text
    assert not advisor.preference("ada").limits
    assert advisor.preference("ada").hopes == {"color": "red"}
    best, *_ = reply.recommendation.items
    assert BIKES.item(best.item).details["color"] == "red"
    assert "As you hoped: color red." in best.why


def test_a_hope_does_not_outweigh_what_matters(advisor):
    advisor.hear("ada", "as cheap as possible, price is all that matters; preferably from Cube")
    prices = sorted(item.values["price"] for item in BIKES.items)
    assert first(advisor).values["price"] <= prices[len(prices) // 3]


@pytest.mark.parametrize("said", ["forget the bell", "the accessories don't matter", "forget that"])
def test_hopes_are_taken_back(advisor, said):
    advisor.message("ada", "a bell would be nice")
    assert advisor.preference("ada").hopes == {"accessories": {"all": "bell"}}
    advisor.message("ada", said)
    assert advisor.preference("ada").hopes == {}


def test_a_limit_takes_the_place_of_a_hope(advisor):
    advisor.hear("ada", "preferably blue")
    advisor.hear("ada", "it must be red")
    card = advisor.preference("ada")
    assert (card.limits, card.hopes) == ({"color": "red"}, {})


def test_hopes_beside_limits_on_the_same(advisor):
    heard = advisor.hear("ada", "under 1000 euros, ideally under 500")
    assert {one.name: one.limit for one in heard.limits} == {"price": {"max": 1000}}
    assert heard.hopes == {"price": {"max": 500}}


def test_hopes_can_be_set_by_hand(advisor):
    advisor.hear("ada", "cheap, ideally blue, in size L")
    card = advisor.correct("ada", ["price"], where={"size": "M"})
    assert (card.limits, card.hopes) == ({"size": "M"}, {"color": "blue"})
    card = advisor.correct("ada", ["price"], hopes={"electric": True})
    assert (card.limits, card.hopes) == ({"size": "M"}, {"electric": True})
    assert advisor.correct("ada", ["price"]).hopes == {"electric": True}


def test_what_comes_after_a_hope_is_a_limit(advisor):
    heard = advisor.hear("ada", "a lock would be nice but no rack, ideally an M")
    assert {one.name: one.limit for one in heard.limits} == {"accessories": {"not": "rack"}}
    assert heard.hopes == {"accessories": {"all": "lock"}, "size": "M"}


def test_what_is_not_needed_is_no_hope(advisor):
    assert not advisor.hear("ada", "cheap, a bell is not essential").hopes


@pytest.mark.parametrize(
    "said", ["black would be awful", "a Trek would be too flashy", "an electric bike would be a mistake"]
)
def test_what_would_be_bad_is_no_hope(advisor, said):
    assert not advisor.hear("ada", said).hopes


def test_a_hope_beside_a_limit_is_understood(advisor):
    heard = advisor.hear("ada", "size M, ideally red")
    assert (heard.hopes, heard.not_understood) == ({"color": "red"}, ())


def test_months_of_a_year_are_days_where_items_have_a_year_too():
    items = {
        str(n): Item(str(n), values={"price": 9.0}, details={"year": 2024 + n, "stock since": f"2026-0{n}-02"})
        for n in (1, 2, 3)
    }
    read = LimitReader(Columns(items), [Objective("price", low=0, high=50, less_is_better=True)])
    assert read.read("in stock before March 2026").where == {"stock since": {"max": "2026-02-28"}}


@pytest.mark.parametrize("day", ["0000-00-00", "2026-13-01"])
def test_days_that_are_none_are_in_no_month(day):
    items = {str(n): Item(str(n), details={"out": one}) for n, one in enumerate(["2026-05-05", "2026-12-05", day])}
    assert LimitReader(Columns(items), []).read("it should be from December").where == {"out": ["2026-12-05"]}


def test_hopes_outlive_a_restart(tmp_path):
    where = f"sqlite:{tmp_path / 'bikes.db'}"
    with dr.Advisor(BIKES, store=where) as advisor:
        advisor.hear("ada", "preferably blue")
        shown = advisor.recommend("ada", size=3, id="one")
    with dr.Advisor(store=where) as advisor:
        assert advisor.preference("ada").hopes == {"color": "blue"}
        assert advisor.recommend("ada", size=3, id="one").items == shown.items
        assert [one.item for one in advisor.recommend("ada", size=3).items] == [one.item for one in shown.items]


SEEN = {
    str(n): Item(
        str(n),
        values={"price": 300.0 + 150 * n, "memory": 4.0 + 4 * n},
        details={
            "screen inches": (13.3, 14.0, 17.3)[n % 3],
            "closed on": ("Monday", "Sunday", "never")[n % 3],
            "release date": f"{2023 + n % 3}-0{1 + n % 9}-15",
            "kids menu": ("yes", "no")[n % 2],
            "languages": [["Spanish"], ["German", "English"]][n % 2],
            "maker": ("Dell", "Apple", "Acer")[n % 3],
            "seats": 20 + n,
        },
    )
    for n in range(9)
}
SHOP = LimitReader(
    Columns(SEEN),
    [Objective("price", low=0, high=3000, less_is_better=True), Objective("memory", "Gigabytes.", low=0, high=64)],
)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("14 inch or smaller", {"screen inches": {"max": 14}}),
        ("17 inches", {"screen inches": {"min": 16.49, "max": 17.51}}),
        ("32gb memory minimum", {"memory": {"min": 32}}),
        ("16 GB of memory, something around 900 dollars", {"memory": {"min": 16}, "price": {"max": 1080}}),
        ("open on Sundays", {"closed on": {"not": "Sunday"}}),
        ("we come on a Sunday, so not closed on Sunday", {"closed on": {"not": "Sunday"}}),
        ("nothing that is closed on Monday", {"closed on": {"not": "Monday"}}),
        ("closed on Sunday", {"closed on": "Sunday"}),
        ("a Dell, otherwise my Apple gets lonely", {"maker": "Dell"}),
        ("not closed on Mondays", {"closed on": {"not": "Monday"}}),
        ("kid friendly", {"kids menu": True}),
        ("they should speak Spanish", {"languages": {"all": "Spanish"}}),
        ("I already own a Dell", {}),
        ("we'll be 6 people", {"seats": {"min": 6}}),
        ("up to 2000", {"price": {"max": 2000}}),
        ("released after March 2024", {"release date": {"min": "2024-04-01"}}),
        ("newer than 2024", {"release date": {"min": "2025-01-01"}}),
        ("no older than 2025", {"release date": {"min": "2025-01-01"}}),
        ("not before June 2025", {"release date": {"min": "2025-06-01"}}),
    ],
)
def test_sizes_days_and_what_is_there(text, where):
    assert SHOP.read(text).where == where


def test_what_limits_say_is_not_told_as_lost():
    assert SHOP.read("they should speak Spanish").rest.split() == ["they"]
    assert not SHOP.read("Spanish food").rest.strip()
