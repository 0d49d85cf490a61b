"""What is meant though no word of it is said, and what words do not mean that stand in other ones."""

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog
from druthers.language import Objective, make_parser


@pytest.fixture(scope="module")
def advisor():
    """Sheds, with what is there or not, and what is only told in columns."""
    items = [
        {
            "id": f"s{n}",
            "name": f"Shed {chr(65 + n)}",
            "values": {"unitPriceEur": 400 + 55 * n, "assemblyHours": 4 + 7 * n % 13, "floorAreaM2": 3 + 5 * n % 11},
            "details": {
                "isLockable": n % 2 == 0,
                "tools included": n % 3 == 0,
                "needsPainting": n % 4 == 0,
                "warrantyYears": 2 + n % 5,
                "widthCm": 150 + 12 * n,
            },
        }
        for n in range(14)
    ]
    objectives = [
        {"name": "unitPriceEur", "description": "Euros.", "low": 0, "high": 2000, "less_is_better": True},
        {
            "name": "assemblyHours",
            "description": "Hours until it stands.",
            "low": 0,
            "high": 30,
            "less_is_better": True,
        },
        {"name": "floorAreaM2", "description": "Square meters of floor.", "low": 0, "high": 30},
    ]
    with Advisor(Catalog.from_content({"name": "sheds", "objectives": objectives, "items": items})) as made:
        yield made


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("We haven't got any gear of our own, so tools would have to be there for us.", {"tools included": True}),
        ("there were break-ins on the allotments lately, it needs to lock", {"isLockable": True}),
        ("we have a lock and a key for it", {}),
        ("tools would be lovely but we can do without", {}),
        ("if it comes with tools it may cost more", {}),
    ],
)
def test_what_must_be_there_is_understood_by_its_meaning(advisor, request, text, limits):
    advisor.hear(request.node.name, "cheap")
    advisor.message(request.node.name, text)
    assert advisor.preference(request.node.name).limits == limits


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("three years' warranty", {"warrantyYears": {"min": 3}}),
        ("a warranty of 3 years, well - let's say five", {"warrantyYears": {"min": 5}}),
        ("the gap is two metres ninety wide", {"widthCm": {"max": 290}}),
        ("the alley is 200 cm, wider than that does not go", {"widthCm": {"max": 200}}),
        ("a floor for the whole family, not just two hours of work", {}),
    ],
)
def test_limits_in_other_words(advisor, request, text, limits):
    advisor.hear(request.node.name, "cheap")
    advisor.message(request.node.name, text)
    assert advisor.preference(request.node.name).limits == limits


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("how long my sons are busy building it is neither here nor there", "assemblyHours"),
        ("We are strong. The hours of work are not a criterion.", "assemblyHours"),
    ],
)
def test_what_surely_does_not_matter_is_found_by_its_meaning(advisor, request, text, gone):
    reply = advisor.message(request.node.name, text)
    assert reply.kind == "dismissal"
    assert gone in advisor.preference(request.node.name).dismissed


@pytest.fixture(scope="module")
def parser():
    names = ("price", "selection", "print quality", "washability", "repair", "gearbox", "air quality")
    told = (Objective("technology", "Screen, sound and network, points from 1 to 10"), Objective("quiet"))
    return make_parser("default", objectives=[*map(Objective, names), *told])


@pytest.mark.parametrize(
    ("text", "wanted", "dismissed"),
    [
        # "select", "eval" and "ai" within other words command no machine.
        ("cheap, selection", ("price", "selection"), ()),
        ("a low price and evaluations by others", ("price",), ()),
        ("as the air matters, a cheap one", ("air quality", "price"), ()),
        ("I want to print sharp letters", ("print quality",), ()),
        # What a thing can be used for is wanted; what may be so is not.
        ("it can be washed", ("washability",), ()),
        ("it can be repaired at home", ("repair",), ()),
        ("it can be expensive", (), ("price",)),
        ("I race them, so manual is fine", (), ("gearbox",)),
        # Whoever says what must be says what is wanted; what others think is hearsay.
        ("my boss says it must be cheap", ("price",), ()),
        ("my boss says price is everything", (), ()),
        # A description that lists what it is about.
        ("a good screen", ("technology",), ()),
        # Words of sayings.
        ("a good selection into the bargain", ("selection",), ()),
    ],
)
def test_words_count_as_they_are_meant(parser, text, wanted, dismissed):
    reading = parser.read(text)
    assert (reading.names, reading.dismissed_names) == (wanted, dismissed)
