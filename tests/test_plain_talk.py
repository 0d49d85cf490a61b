"""What ordinary people write, in catalogs of no domain that comes with the package: wishes, limits and verdicts."""

import pytest

import druthers as dr
from druthers.catalogs import Item
from druthers.language import make_parser
from druthers.limits import Columns, LimitReader


def read(text, *names):
    objectives = [dr.Objective(name.strip("-"), less_is_better=name.startswith("-")) for name in names]
    reading = make_parser("default", objectives=objectives).read(text)
    return reading.names, reading.dismissed_names


@pytest.mark.parametrize(
    ("text", "names", "wanted", "dismissed"),
    [
        ("someone gentle", ("-waiting", "gentleness", "friendliness"), ["gentleness"], []),
        ("not too boozy", ("-price", "taste", "-alcohol"), ["alcohol"], []),
        ("not too strong, and tasty", ("-price", "taste", "-alcohol"), ["alcohol", "taste"], []),
        ("it should not use much electricity", ("reliability", "-price", "-energy use"), ["energy use"], []),
        ("one that I don't have to explain", ("fun", "-explanation", "design"), ["explanation"], []),
        ("dont care how fast it grows", ("beauty", "growth", "-watering"), [], ["growth"]),
        ("barking is fine, I live alone", ("-barking", "-shedding", "trainability"), [], ["barking"]),
        ("the service is fine", ("service", "-price"), ["service"], []),
        ("the rules can be hard", ("fun", "rules", "artwork"), [], ["rules"]),
        (
            "dont care about tidiness, good work and cheap",
            ("tidiness", "work", "-price"),
            ["work", "price"],
            ["tidiness"],
        ),
        ("not too loud, and cheap", ("quiet", "-price", "comfort"), ["quiet", "price"], []),
        ("I'm not there for the beach, it doesn't matter", ("-fee", "teaching", "-beach"), [], ["beach"]),
        ("my sister would pay anything, but we need it cheap", ("-monthly fee", "warmth"), ["monthly fee"], []),
        ("fast internet", ("coverage", "speed", "data"), ["speed"], []),
        ("it should last a long time", ("comfort", "durability", "design"), ["durability"], []),
        ("it shouldn't use much fuel", ("safety", "-consumption", "comfort"), ["consumption"], []),
        ("a quick one", ("fun", "-playing time", "artwork"), ["playing time"], []),
        ("Die Wartezeiten am Lift sind uns egal", ("snow", "-queues", "slopes"), [], ["queues"]),
        ("Wie viele Leute dort sind, ist mir egal", ("scenery", "-crowds", "shade"), [], ["crowds"]),
    ],
)
def test_wishes_as_people_put_them(text, names, wanted, dismissed):
    assert read(text, *names) == (tuple(wanted), tuple(dismissed))


DETAILS = [
    {
        "languages": ("English, Polish", "English", "Polish, Turkish", "Turkish")[n % 4],
        "contract": ("none", "12 months", "24 months")[n % 3],
        "good with cats": ("yes", "no")[n % 2],
        "safe for pets": ("no", "yes")[n % 2],
        "vegetarian": ("yes", "no", "no")[n % 3],
        "flowers": ("yes", "no")[n % 2],
        "cooperative": ("no", "yes")[n % 2],
        "closes": 14 + n,
        "vintage": 2015 + n,
        "guarantee months": 6 * n,
        "starts": f"2026-{8 + n % 4:02}-05",
        "network": ("Blue", "Skyline")[n % 2],
    }
    for n in range(6)
]
READER = LimitReader(
    Columns({str(n): Item(str(n), values={"drive": 20.0 * n}, details=one) for n, one in enumerate(DETAILS)}),
    [dr.Objective("drive", "Minutes by car.", low=0, high=200, less_is_better=True)],
    "places",
)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("they have to speak Turkish", {"languages": {"all": "Turkish"}}),
        ("polish and english", {"languages": {"all": ["Polish", "English"]}}),
        ("no contract, please", {"contract": "none"}),
        ("it has to get along with my cat", {"good with cats": True}),
        ("must be safe for cats", {"safe for pets": True}),
        ("we're vegetarians", {"vegetarian": True}),
        ("vegetarian meals are a must", {"vegetarian": True}),
        ("flowering ones", {"flowers": True}),
        ("co-op", {"cooperative": True}),
        ("open till 5pm at least", {"closes": {"min": 17}}),
        ("it can't close before 17", {"closes": {"min": 17}}),
        ("it must be open until 5", {"closes": {"min": 17}}),
        ("I work until six, so it must be open till 6pm", {"closes": {"min": 18}}),
        ("I work until six", {}),
        ("2018 or older", {"vintage": {"max": 2018}}),
        ("at least 2 yrs guarantee", {"guarantee months": {"min": 24}}),
        ("it must not start before October", {"starts": {"min": "2026-10-01"}}),
        ("at most an hour and a half in the car", {"drive": {"max": 90}}),
        ("no more than an hour's drive", {"drive": {"max": 60}}),
        ("any network but Skyline", {"network": {"not": "Skyline"}}),
        ("that I don't have to drive for half an hour", {}),
    ],
)
def test_limits_as_people_put_them(text, where):
    assert READER.read(text).where == where


CARS = LimitReader(
    Columns(
        {
            str(n): Item(
                str(n), values={"price": 2000.0 * n, "mileage": 30000.0 * n, "use": 4.0 + n}, details={"year": 2015 + n}
            )
            for n in range(1, 9)
        }
    ),
    [
        dr.Objective("price", "Euros.", low=0, high=25000, less_is_better=True),
        dr.Objective("mileage", "km", low=0, high=250000, less_is_better=True),
        dr.Objective("use", "Fuel, l/100 km.", low=0, high=15, less_is_better=True),
    ],
    "cars",
)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("less than 80 thousand on the clock", {"mileage": {"max": 80000}}),
        ("under 9000", {"price": {"max": 9000}}),
        ("not 2022 or 2023", {"year": {"not": [2022, 2023]}}),
        ("nicht älter als 2019", {"year": {"min": 2019}}),
        ("nicht mehr als 5000 Euro", {"price": {"max": 5000}}),
        ("from 2018 on", {"year": {"min": 2018}}),
        ("it should use under 6 litres", {"use": {"max": 6}}),
    ],
)
def test_numbers_are_about_what_has_such_numbers(text, where):
    assert CARS.read(text).where == where


def test_a_text_with_commas_is_a_list_and_still_itself():
    columns = Columns({str(n): Item(str(n), details=one) for n, one in enumerate(DETAILS)})
    assert columns.eligible({"languages": {"all": "Polish"}}) == ["0", "2", "4"]
    assert columns.eligible({"languages": "English, Polish"}) == ["0", "4"]
    names = Columns({"a": Item("a", details={"by": "Smith, John"}), "b": Item("b", details={"by": "Lee, Ann"})})
    assert names.column("by").kinds == {"Smith, John", "Lee, Ann"}


@pytest.fixture(scope="module")
def plans():
    objectives = [dr.Objective("price", low=0, high=60, less_is_better=True), dr.Objective("speed", low=0, high=300)]
    items = [
        Item(
            f"plan{n}",
            name=f"Plan {n}",
            values={"price": 9.0 + 5 * n, "speed": 40.0 + 30 * ((3 * n) % 7)},
            details={"network": ("Blue", "Skyline", "Fizz")[n % 3]},
        )
        for n in range(7)
    ]
    return dr.Catalog("plans", objectives, items)


@pytest.mark.parametrize(
    ("text", "rank", "sign"),
    [
        ("love it", 1, 1),
        ("2 is ok", 2, 1),
        ("La segunda nos encantó, ¡gracias!", 2, 1),
        ("Le premier est trop cher, malheureusement.", 1, -1),
        ("das zweite ist zu teuer", 2, -1),
    ],
)
def test_verdicts_are_feedback(plans, text, rank, sign):
    advisor = dr.Advisor(plans)
    shown = advisor.message("ada", "something cheap").recommendation.items
    reply = advisor.message("ada", text)
    assert reply.kind == "feedback"
    told = [event.body for event in advisor.store.read(user="ada", limit=100) if event.kind == "feedback"][-1]
    assert told["item"] == shown[rank - 1].item
    assert told["utility"] * sign > 0


def test_what_is_taken_in_german_is_taken(plans):
    advisor = dr.Advisor(plans)
    advisor.message("ada", "something cheap")
    assert advisor.message("ada", "Super, dann nehme ich das dritte, danke!").kind == "taken"


def test_the_most_of_all_is_told_before_the_most_of_those_shown(plans):
    advisor = dr.Advisor(plans)
    advisor.message("ada", "something cheap")
    told = advisor.message("ada", "which one is the fastest?").text
    assert told.startswith("Plan 2, speed 220")
    assert "Of those shown" not in told
    dear = dr.Advisor(plans)
    dear.message("ada", "only Skyline")
    assert dear.message("ada", "any network but Skyline").kind == "limit"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("never mind the pool", {}),
        ("I have never stayed in Vienna", {}),
        ("nothing run by the church", {"operator": {"not": "church"}}),
        ("nobody may ever have smoked in it", {"smoked in": False}),
        ("I work at the university which should be at most 20 minutes away", {"commute": {"max": 20}}),
        ("either Portland, Oregon or Portland, Maine", {"place": {"any": ["Portland, Oregon", "Portland, Maine"]}}),
        ("somewhere in Oregon", {"place": {"all": "Oregon"}}),
        ("nicht kleiner als 30 Minuten", {"commute": {"min": 30}}),
    ],
)
def test_denials_and_stories_are_told_apart(text, where):
    details = [
        {"city": "Vienna", "pool": "yes", "operator": "church", "smoked in": "no", "place": "Portland, Oregon"},
        {"city": "Graz", "pool": "no", "operator": "city", "smoked in": "yes", "place": "Portland, Maine"},
        {"city": "Linz", "pool": "no", "operator": "city", "smoked in": "no", "place": "Salem, Oregon"},
    ]
    items = {str(n): Item(str(n), values={"commute": 10.0 * (n + 1)}, details=one) for n, one in enumerate(details)}
    commute = dr.Objective("commute", "Minutes.", low=0, high=100, less_is_better=True)
    assert LimitReader(Columns(items), [commute], "flats").read(text).where == where
