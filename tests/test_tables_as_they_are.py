"""Catalogs as tables really are: names run together, ends of spans, fees that may be nothing, days as flags."""

import pytest

from druthers import Catalog
from druthers.advisor import Advisor
from druthers.catalogs import Item
from druthers.language import make_parser
from druthers.limits import Columns, LimitReader
from druthers.types import Objective

OBJECTIVES = [
    Objective("monthly_fee", "Euros a month.", low=0, high=30, less_is_better=True),
    Objective("rainProtection", "How long it keeps rain out.", low=0, high=5),
    Objective("trainability", low=0, high=5),
    Objective("setup time", "Minutes.", low=0, high=60, less_is_better=True),
]
DETAILS = [
    {"minPlayers": 2, "maxPlayers": 4, "min_age": 6, "max_age": 12, "warranty_years": 2, "Height (cm)": 85},
    {"minPlayers": 3, "maxPlayers": 6, "min_age": 8, "max_age": 14, "warranty_years": 5, "Height (cm)": 185},
    {"minPlayers": 1, "maxPlayers": 8, "min_age": 10, "max_age": 99, "warranty_years": 3, "Height (cm)": 178},
]
MORE = [
    {"works on sundays": True, "credit_card": "yes", "pianos": True, "difficulty": "hard", "Playing minutes": 45},
    {"works on sundays": False, "credit_card": "no", "pianos": False, "difficulty": "easy", "Playing minutes": 90},
    {"works on sundays": True, "credit_card": "yes", "pianos": True, "difficulty": "moderate", "Playing minutes": 60},
]
DATES = ["2026-03-02", "2026-03-23", "2026-04-06"]
COLORS = ["black", "green", "red"]
ITEMS = [
    Item(
        str(n),
        name=f"Thing {n}",
        values={"monthly_fee": 4.0 * n, "rainProtection": n + 1.0, "trainability": 4.0 - n, "setup time": 10.0 + n},
        details={**one, **more, "next start": DATES[n], "colour": COLORS[n]},
    )
    for n, (one, more) in enumerate(zip(DETAILS, MORE, strict=True))
]
READER = LimitReader(Columns({item.id: item for item in ITEMS}), OBJECTIVES, "accounts")
PEOPLE = {"minPlayers": {"max": 6}, "maxPlayers": {"min": 6}}
AGED = {"min_age": {"max": 10}, "max_age": {"min": 10}}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("for 6 players", PEOPLE),
        ("we're 6 people so it has to work for six", PEOPLE),
        ("it's for a 10 year old", AGED),
        ("my daughter is 10", AGED),
        ("for kids from 8 to 12", {"min_age": {"max": 8}, "max_age": {"min": 12}}),
        ("a minimum age of at most 8", {"min_age": {"max": 8}}),
        ("it shouldn't last longer than an hour", {"Playing minutes": {"max": 60}}),
        ("my mother had hers for thirty years", {}),
        ("I sleep two meters from it", {}),
        ("a 5 year warranty", {"warranty_years": {"min": 5}}),
        ("one of 185 cm", {"Height (cm)": 185}),
        ("no monthly fee", {"monthly_fee": {"max": 0}}),
        ("I don't want to pay any monthly fee", {"monthly_fee": {"max": 0}}),
        ("a free account", {"monthly_fee": {"max": 0}}),
        ("no monthly fee limit", {}),
        ("if possible no monthly fee", {}),
        ("at most 6 a month and a credit card", {"monthly_fee": {"max": 6}, "credit_card": True}),
        ("we have a grand piano, so they have to be able to move pianos", {"pianos": True}),
        ("on a Sunday", {"works on sundays": True}),
        ("not on a Sunday", {"works on sundays": False}),
        ("I was there last Sunday and nobody came", {}),
        ("nothing hard", {"difficulty": {"not": "hard"}}),
        ("before the first of April", {"next start": {"max": "2026-03-31"}}),
        ("from the twenty-first of March on", {"next start": {"min": "2026-03-21"}}),
        ("it doesn't necessarily have to be black", {}),
        ("I was going to say black, but green", {"colour": "green"}),
    ],
)
def test_what_limits(text, where):
    assert READER.read(text).where == where


PARSER = make_parser("lexicon", objectives=[*OBJECTIVES, Objective("looks"), Objective("warmth")])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("it has to be waterproof", ("rainProtection",)),
        ("it rains here all winter", ("rainProtection",)),
        ("something easy to train", ("trainability",)),
        ("it is pretty quiet here", ()),
        ("a pretty one", ("looks",)),
        ("it should be pretty and warm", ("looks", "warmth")),
    ],
)
def test_what_is_wanted(text, wanted):
    assert PARSER.read(text).names == wanted


def test_a_price_that_is_honestly_irrelevant_is_set_aside():
    assert PARSER.read("the monthly fee is honestly irrelevant").dismissed_names == ("monthly_fee",)


@pytest.fixture(scope="module")
def advisor():
    return Advisor(Catalog("things", OBJECTIVES, ITEMS))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I love the trainability of the third", "feedback"),
        ("something that stays dry even if I forget about it for weeks", "wish"),
        ("which one is the easiest to train?", "which is best"),
        ("we had the second one with our first kid and loved it", "feedback"),
    ],
)
def test_what_a_message_is(advisor, text, kind):
    first = advisor.message(text, "it should keep the rain out").recommendation.items[0].name
    answer = advisor.message(text, text)
    assert answer.kind == kind
    assert f"{first} was" not in answer.text


def test_no_other_colors_makes_what_was_hoped_for_a_limit(advisor):
    answer = advisor.message("ada", "black would be perfect but green is fine too, no other colours")
    assert answer.text.startswith("Only colour black or green.")


def test_scrap_what_i_just_said_takes_back_what_was_said_last():
    objectives = [Objective("condition", "How good it still is.", low=0, high=5), Objective("fun", low=0, high=5)]
    items = [Item(str(n), values={"condition": n, "fun": 3 - n}) for n in range(3)]
    with Advisor(Catalog("games", objectives, items)) as advisor:
        advisor.message("ada", "something really fun")
        assert advisor.message("ada", "no wait, scrap what I just said").kind == "forget that"


def test_the_word_for_all_items_is_the_name_of_no_column():
    objectives = [Objective("teacher", low=0, high=5), Objective("price", low=0, high=500, less_is_better=True)]
    languages = ["Japanese", "Spanish", "French"]
    items = [Item(str(n), values={"teacher": n}, details={"language": one}) for n, one in enumerate(languages)]
    with Advisor(Catalog("language courses", objectives, items)) as advisor:
        assert "Teacher" not in advisor.message("ada", "which courses have you got for Japanese?").text
        assert "Spanish (1)" in advisor.message("ada", "which languages do you have?").text


FLIGHTS = [
    {"dep_time": "06:05", "arr_time": "08:10", "bagIncl": "Y", "weeklyHours": 20, "waitingPeriod_months": 0},
    {"dep_time": "12:30", "arr_time": "15:40", "bagIncl": "N", "weeklyHours": 30, "waitingPeriod_months": 3},
    {"dep_time": "19:00", "arr_time": "23:10", "bagIncl": "Y", "weeklyHours": 40, "waitingPeriod_months": 8},
]
STAYS = [
    {"freeFrom": "2025-07-05", "freeTo": "2025-08-02", "objType": "flat", "altMedicine": "Y", "coverAbroad": "N"},
    {"freeFrom": "2025-07-12", "freeTo": "2025-07-26", "objType": "house", "altMedicine": "N", "coverAbroad": "Y"},
    {"freeFrom": "2025-10-01", "freeTo": "2025-12-20", "objType": "flat", "altMedicine": "Y", "coverAbroad": "Y"},
]
COSTS = [
    Objective("price_eur", "Asking price in euros.", low=0, high=30_000, less_is_better=True),
    Objective("mileage_km", "Kilometers driven so far.", low=0, high=200_000, less_is_better=True),
    Objective("stops", "How often one has to change planes.", low=0, high=3, less_is_better=True),
    Objective("durationMin", "Travel time in minutes.", low=0, high=600, less_is_better=True),
    Objective("walkToStation_min", "Minutes on foot to the station.", low=0, high=60, less_is_better=True),
    Objective("overtime_h", "Hours of overtime a week.", low=0, high=20, less_is_better=True),
    Objective("deductible_yr", "Euros a year that one pays oneself first.", low=0, high=900, less_is_better=True),
]
EXPORTED = [
    Item(
        f"x{n}",
        name=f"Export {n}",
        values={
            **{"price_eur": 9000.0 * (n + 1), "mileage_km": 90_000.0 - 30_000 * n, "stops": float(n)},
            **{"durationMin": 130.0 + 60 * n, "walkToStation_min": 10.0 + 9 * n, "overtime_h": 4.0 - n},
            "deductible_yr": 600.0 - 300 * n,
        },
        details={**one, **more},
    )
    for n, (one, more) in enumerate(zip(FLIGHTS, STAYS, strict=True))
]
EXPORT = LimitReader(Columns({item.id: item for item in EXPORTED}), COSTS, "offers")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("no more than 60,000 on the clock", {"mileage_km": {"max": 60_000}}),
        ("direct flights only", {"stops": {"max": 0}}),
        ("it has to be nonstop", {"stops": {"max": 0}}),
        ("I have to be there by half past two in the afternoon", {"arr_time": {"max": "14:30"}}),
        ("it must not leave before noon", {"dep_time": {"min": "12:00"}}),
        ("a checked bag has to be included", {"bagIncl": True}),
        ("no more than a quarter of an hour on foot to the station", {"walkToStation_min": {"max": 15}}),
        ("we have to leave our flat, so at most 20,000 euros", {"price_eur": {"max": 20_000}}),
        ("a flat for at most 20,000 euros", {"objType": "flat", "price_eur": {"max": 20_000}}),
        ("I can't work more than 30 hours a week", {"weeklyHours": {"max": 30}}),
        ("last winter I paid 3400 euros for gas", {}),
        ("without any waiting period", {"waitingPeriod_months": {"max": 0}}),
        ("it must cover me abroad", {"coverAbroad": True}),
        ("with alternative medicine", {"altMedicine": True}),
        ("free from 12 to 19 July 2025", {"freeFrom": {"max": "2025-07-12"}, "freeTo": {"min": "2025-07-19"}}),
        ("it can only start from 1 October 2025 on", {"freeFrom": {"min": "2025-10-01"}}),
    ],
)
def test_what_limits_an_export(text, where):
    assert EXPORT.read(text).where == where


@pytest.mark.parametrize(
    ("text", "wanted", "dismissed"),
    [
        ("I'm sick of changing planes", ("stops",), ()),
        ("changing planes doesn't bother me at all", (), ("stops",)),
        ("a short walk to the station", ("walkToStation_min",), ()),
        ("my doctor says as few hours of overtime as possible", ("overtime_h",), ()),
    ],
)
def test_names_with_units_are_read_without_them(text, wanted, dismissed):
    reading = make_parser("lexicon", objectives=COSTS).read(text)
    assert (reading.names, reading.dismissed_names) == (wanted, dismissed)


def test_what_an_export_answers():
    with Advisor(Catalog("flights", COSTS, EXPORTED)) as advisor:
        advisor.message("ada", "a cheap one, at most 20,000 euros")
        assert advisor.message("ada", "which has the lowest deductible?").text.startswith("Export 1, deductible yr 300")
        assert "arr time 15:40" in advisor.message("ada", "when does number two land?").text
        assert "up to 12,000" in advisor.message("ada", "sorry, I meant 12,000 euros, not 20,000").text


PLACES = [
    {"size": "small", "noise_level": "quiet", "hours": "9:00-18:00", "opened": "2018-01-01", "run by": "church"},
    {"size": "medium", "noise_level": "loud", "hours": "24h", "opened": "2019-06-01", "run by": "city"},
    {"size": "large", "noise_level": "very loud", "hours": "8:00-20:00", "opened": "2021-03-01", "run by": "church"},
    {"size": "small", "noise_level": "medium", "hours": "closed", "opened": "2022-01-01", "run by": "club"},
]
BOUNDS = [{"min_guests": 10 * n, "max_guests": 30 * n + 20, "heightMin": 20 + n, "heightMax": 90 + n} for n in range(4)]
TWO = [Objective("price", "Euros.", low=0, high=3000, less_is_better=True), Objective("food", low=0, high=5)]


@pytest.fixture(scope="module")
def places():
    items = [
        Item(str(n), values={"price": 900.0 * n, "food": n}, details={**one, **more})
        for n, (one, more) in enumerate(zip(PLACES, BOUNDS, strict=True))
    ]
    with Advisor(Catalog("places", TWO, items)) as advisor:
        yield advisor


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("klein", "If possible: size small."),
        ("ein großes", "If possible: size large."),
        ("grande", "If possible: size large."),
        ("a small one", "If possible: size small."),
        ("cheap and quiet", "You want low price. If possible: noise level quiet."),
        ("a small place with a low price", "You want low price. If possible: size small."),
        ("not loud", "Only noise level other than loud or very loud."),
        ("at least 50 guests", "Only max guests from 50."),
        ("no taller than 92 cm", "Only height max up to 92."),
        ("open until 19:00", "Only hours 24h or 8:00-20:00."),
        ("not run by the church", "Only run by other than church."),
        ("two and a half thousand at most", "Only price up to 2500."),
        ("he loves to eat, so the food should be good", "You want food."),
        ("we have fixed hours from 8 to 4, and cheap", "You want low price."),
    ],
)
def test_what_places_answer(places, text, answer):
    told = places.message(f"who says {text}", text).text.replace(",", "")
    assert told.startswith(answer), told


@pytest.mark.parametrize("number", ["20 euros", "5 stars", "20", "2021 then", "make that 2020"])
def test_a_number_takes_the_place_of_no_day(places, number):
    user = f"who says {number}"
    places.message(user, "opened after 2019")
    places.message(user, number)
    assert places.preference(user).limits["opened"] == {"min": "2020-01-01"}


def test_ages_of_several_must_all_be_let_in():
    where = READER.read("my daughter is 8 and my son just turned eleven").where
    assert where == {"min_age": {"max": 8}, "max_age": {"min": 11}}


def test_what_is_turned_down_stays_away(places):
    first = places.message("cy", "good food").recommendation.items[0].item
    answer = places.message("cy", "not that one")
    shown = [one.item for one in answer.recommendation.items]
    assert answer.text.startswith("Without")
    for text in ("cheap", "good food", "something else"):
        made = places.message("cy", text).recommendation
        shown += [] if made is None else [one.item for one in made.items]
    assert first not in shown
    assert set(places.preference("cy").limits) == {"name"}


PLANS = [
    {
        "has5G": n > 1,
        "esimSupported": n != 1,
        "langs": [["EN"], ["DE", "EN"], ["FR"], ["DE"]][n],
        "pers": n + 1,
        "width": 90 + n,
    }
    | {"thickness": 18 + n, "depth": 35 + n}
    for n in range(4)
]
AREAS = [
    Objective("area_m2", "Size in square meters.", low=0, high=900),
    Objective("dist_km", "Kilometers to the center.", low=0, high=50, less_is_better=True),
    Objective("episodes", "New episodes a month.", low=0, high=50),
]
CUT_SHORT = [
    Item(str(n), values={"area_m2": 100 * n, "dist_km": 9 * n, "episodes": n}, details=plan)
    for n, plan in enumerate(PLANS)
]
SHORT = LimitReader(Columns({item.id: item for item in CUT_SHORT}), AREAS, "plans")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("must have 5G", {"has5G": True}),
        ("eSIM is a must", {"esimSupported": True}),
        ("it has to be in German", {"langs": {"all": "DE"}}),
        ("something for three please", {"pers": {"min": 3}}),
        ("it needs to fit at least 2 people", {"pers": {"min": 2}}),
        ("at most 30 km, sorry, I meant 40", {"dist_km": {"max": 40}}),
        ("at least 100 square meters, no, make that 80", {"area_m2": {"min": 80}}),
        ("40 minutes at most", {}),
        ("it can't be thicker than 22 cm", {"thickness": {"max": 22}}),
        ("no deeper than 36 cm", {"depth": {"max": 36}}),
        ("at most 36 cm deep and at least 91 wide", {"depth": {"max": 36}, "width": {"min": 91}}),
    ],
)
def test_what_limits_where_names_are_cut_short(text, where):
    assert SHORT.read(text).where == where


def test_an_area_in_square_meters_is_a_size_and_no_place():
    reading = make_parser("lexicon", objectives=AREAS).read("close by, the size doesn't matter")
    assert (reading.names, reading.dismissed_names) == (("dist_km",), ("area_m2",))


RIDERS = [{"maxLoadKg": 80 + 10 * n, "riderHeightMinCm": 140, "riderHeightMaxCm": 180 + 10 * n} for n in range(4)]
RIDES = LimitReader(
    Columns({str(n): Item(str(n), values={"weightKg": 10.0 + n}, details=one) for n, one in enumerate(RIDERS)}),
    [Objective("weightKg", "Weight in kilograms.", low=5, high=30, less_is_better=True)],
    "scooters",
)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("I weigh 105 kilos", {"maxLoadKg": {"min": 105}}),
        ("I'm 192 cm tall", {"riderHeightMinCm": {"max": 192}, "riderHeightMaxCm": {"min": 192}}),
        ("it must weigh at most 14 kg", {"weightKg": {"max": 14}}),
    ],
)
def test_what_somebody_measures_is_let_in(text, where):
    assert RIDES.read(text).where == where
