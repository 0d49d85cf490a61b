"""What people say to the catalogs of small shops, schools and practices."""

import pytest

from druthers import Catalog
from druthers.advisor import Advisor
from druthers.catalogs import Item
from druthers.language import make_parser
from druthers.limits import Columns, LimitReader
from druthers.types import Objective

OBJECTIVES = [
    Objective("price", "Euros.", low=0, high=400, less_is_better=True),
    Objective("playing time", "Minutes.", low=10, high=240, less_is_better=True),
    Objective("rating", "Points of the critics.", low=0, high=100),
]
SHOPS = [
    {"days": "Mon-Fri", "hours": "9:00-18:00", "starts": "9:00", "dogs": "yes", "from age": 6, "capacity": 5},
    {"days": "Mon-Sun", "hours": "0:00-24:00", "starts": "18:30", "dogs": "no", "from age": 10, "capacity": 8},
    {"days": "Tue-Sat", "hours": "10:00-19:00", "starts": "19:30", "dogs": "yes", "from age": 14, "capacity": 9},
]
MORE = [
    {"pushchair": "yes", "from birth": "no", "width": 40, "region": "south coast"},
    {"pushchair": "no", "from birth": "yes", "width": 60, "region": "inland"},
    {"pushchair": "yes", "from birth": "yes", "width": 45, "region": "islands"},
]
ITEMS = [
    Item(
        str(n),
        name=f"Shop {n}",
        values={"price": 50.0 + 60 * n, "playing time": 30.0 + 60 * n, "rating": 90.0 - n},
        details={**one, **more},
    )
    for n, (one, more) in enumerate(zip(SHOPS, MORE, strict=True))
]
READER = LimitReader(Columns({item.id: item for item in ITEMS}), OBJECTIVES, "board games")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("They have to be open on Sundays too", {"days": {"all": "Sun"}}),
        ("only places open round the clock", {"hours": ["0:00-24:00"]}),
        ("open until at least 7 pm", {"hours": ["0:00-24:00", "10:00-19:00"]}),
        ("they must be open by 9", {"hours": ["0:00-24:00", "9:00-18:00"]}),
        ("it can't start before seven in the evening", {"starts": {"min": "19:00"}}),
        ("tuesdays and thursdays are out", {"days": {"not": ["Tue", "Thu"]}}),
        ("Mondays don't work for me", {"days": {"not": "Mon"}}),
        ("Monday is out of the question", {"days": {"not": "Mon"}}),
        ("I can't come on Mondays", {"days": {"not": "Mon"}}),
        ("we're away on Fridays", {"days": {"not": "Fri"}}),
        ("if it takes longer than 90 minutes nobody here will play it", {"playing time": {"max": 90}}),
        ("if it is under 50, I don't care how far", {}),
        ("no wait, I meant under 250, not under 200", {"price": {"max": 250}}),
        ("our youngest is 7 and she has to be able to play it", {"from age": {"max": 7}}),
        ("it needs to hold 8 kilos at least, we're a family of five", {"capacity": {"min": 8}}),
        ("the gap in my bathroom is only 46 cm wide", {"width": {"max": 46}}),
        ("and the dog's coming too", {"dogs": True}),
        ("somewhere I can bring the dog", {"dogs": True}),
        ("we have a baby in a pushchair", {"pushchair": True}),
        ("it has to be ok from birth", {"from birth": True}),
        ("anywhere except the south coast", {"region": {"not": "south coast"}}),
    ],
)
def test_limits_are_read(text, where):
    assert READER.read(text).where == where


@pytest.mark.parametrize(
    ("text", "names", "wanted", "dismissed"),
    [
        ("I'd rather pay more and be there sooner", "-fare, -duration, comfort", "duration", "fare"),
        ("I'd trade speed for price any day", "-fare, -duration, comfort", "fare", ""),
        ("rather slow and cheap than fast and expensive", "-fare, -duration, comfort", "fare", ""),
        ("as long as it's cheap I can live with a long trip", "-fare, -duration, comfort", "fare", "duration"),
        (
            "comfort is more important than price, and punctuality more than comfort",
            "-fare, comfort, punctuality",
            "punctuality, comfort, fare",
            "",
        ),
        ("simple rules please, grandma is playing too", "rules, -playing time, depth", "rules", ""),
        ("one that rarely needs watering", "-watering, -light need, beauty", "watering", ""),
        ("My tooth hurts so bad, I need to be seen as soon as possible!", "-waiting, gentleness", "waiting", ""),
        ("I need someone soon", "-waiting, gentleness", "waiting", ""),
        ("the sooner he can be seen the better", "-waiting, gentleness", "waiting", ""),
        ("Ideally it's not too bad paid", "pay, -commute, team", "pay", ""),
        ("not much uphill please", "views, -climb, -crowds", "climb", ""),
        ("we move often so it can't weigh a ton", "-price, -weight, comfort", "weight", ""),
        ("never mind the critics' rating", "-price, rating, body", "", "rating"),
    ],
)
def test_wishes_are_read(text, names, wanted, dismissed):
    named = (name.strip() for name in names.split(","))
    objectives = [Objective(name.removeprefix("-"), less_is_better=name.startswith("-")) for name in named]
    reading = make_parser("default", objectives=objectives).read(text)
    assert (", ".join(reading.names), ", ".join(reading.dismissed_names)) == (wanted, dismissed)


@pytest.fixture(scope="module")
def advisor():
    with Advisor(Catalog(name="board games", objectives=OBJECTIVES, items=ITEMS)) as advisor:
        yield advisor


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("it can't start before seven in the evening", "limit"),
        ("I need to get in at 2 in the morning sometimes", "limit"),
        ("anywhere except the south coast, we've done that to death", "limit"),
        ("no wait, scrap what I just said", "forget that"),
        ("the first one's not exactly cheap, is it", "feedback"),
        ("morning!", "greeting"),
    ],
)
def test_messages_are_what_they_are(advisor, text, kind):
    user = f"somebody who says {text}"
    advisor.message(user, "something well rated")
    assert advisor.message(user, text).kind == kind


def test_all_that_are_asked_for_are_named(advisor):
    items = [
        Item(str(n), name=f"Shoe {n}", values={"price": 9.0}, details={"vegan": "yes", "5G": "no"}) for n in range(8)
    ]
    with Advisor(Catalog(name="shoes", objectives=OBJECTIVES[:1], items=items)) as shop:
        assert "Shoe 7" in shop.message("ada", "show me all the vegan shoes").text
        assert "and 3 more" in shop.message("ada", "which shoes are vegan?").text
        assert shop.message("bob", "no more than 20, and 5G").text.startswith("Only price up to 20. A must: 5G.")


def test_a_number_before_a_span_of_time_is_that_of_an_item(advisor):
    shown = advisor.message("ada", "cheap").recommendation
    reply = advisor.message("ada", "stayed at 3 two summers ago, it was awful")
    assert shown is not None
    assert shown.items[2].name in reply.text


def test_the_name_of_the_catalog_is_no_wish():
    tutors = [
        Item(str(n), values={"hourly rate": 20.0 + n, "experience": float(n)}, details={"subject": subject})
        for n, subject in enumerate(["maths", "piano", "maths", "guitar"])
    ]
    objectives = [
        Objective("hourly rate", low=0, high=100, less_is_better=True),
        Objective("experience", "Years of teaching.", low=0, high=40),
    ]
    with Advisor(Catalog(name="tutors", objectives=objectives, items=tutors)) as advisor:
        assert advisor.message("ada", "a maths tutor").text == "Only subject maths."
        assert advisor.message("bob", "a cheap tutor").text == "You want low hourly rate."
