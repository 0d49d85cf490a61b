"""What names of columns and descriptions tell: units, what an objective is about, and what is judged of one item."""

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog

INDUSTRIES, KINDS = ("office", "care", "trade"), ("strategy", "dice", "cards")


@pytest.fixture(scope="module")
def advisor():
    """Things with numbers whose names end in units, one of which could be the least of something."""
    items = [
        {
            "id": f"t{n}",
            "name": f"Thing {n}",
            "values": {
                "price": 300 + 60 * n,
                "salary": 2000 + 90 * ((7 * n) % 20),
                "calm": 1.1 + n % 4,
                "shade": 1.2 + (3 * n) % 4,
                "depth": 1.5 + n % 3,
                "sound": 4.5 - n % 4,
            },
            "details": {
                "play_time_min": 30 + 15 * (n % 8),
                "age_from": 4 + n % 7,
                "SPIN_RPM": 1000 + 200 * (n % 4),
                "room_size_sqm": 12 + n % 9,
                "home_office_days": n % 5,
                "industry": INDUSTRIES[n % 3],
                "kind": KINDS[n % 3],
                "linux_client": n % 2 == 0,
                "home_visits": n % 2 == 1,
            },
        }
        for n in range(20)
    ]
    objectives = [
        {"name": "price", "description": "Euros.", "low": 0, "high": 3000, "less_is_better": True},
        {"name": "salary", "description": "Gross pay, euros a month.", "low": 1000, "high": 5000},
        {"name": "calm", "description": "How uncrowded it is.", "low": 1, "high": 5},
        {"name": "shade", "description": "How shady it is on a hot day.", "low": 1, "high": 5},
        {"name": "depth", "description": "How much strategy it takes.", "low": 1, "high": 5},
        {"name": "sound", "description": "How full it sounds.", "low": 1, "high": 5},
    ]
    with Advisor(Catalog.from_content({"name": "things", "objectives": objectives, "items": items})) as made:
        yield made


@pytest.mark.parametrize(
    ("said", "limits"),
    [
        ("games of one to two hours only", {"play_time_min": {"min": 60, "max": 120}}),
        (
            "at least 1400 rpm, and I don't want to spend more than eight hundred",
            {"SPIN_RPM": {"min": 1400}, "price": {"max": 800}},
        ),
        ("the room should be no smaller than 17 square metres", {"room_size_sqm": {"min": 17}}),
        ("at least 2 days home office per week", {"home_office_days": {"min": 2}}),
        ("it must run on linux", {"linux_client": True}),
        ("only someone who comes to our house", {"home_visits": True}),
        ("the little ones are six, it must be suitable for that age", {"age_from": {"max": 6}}),
    ],
)
def test_limits_are_on_what_is_meant(advisor, request, said, limits):
    advisor.message(request.node.name, said)
    assert advisor.preference(request.node.name).limits == limits


@pytest.mark.parametrize(
    ("said", "wanted", "dismissed"),
    [
        ("a good sound, but without the crowds", {"sound", "calm"}, []),
        ("the price no longer matters, I want a rich full sound now", {"sound"}, ["price"]),
        ("I burn easily, so I'd rather not be in the blazing sun all day", {"shade"}, []),
        ("a game with lots of strategy, and cheap", {"depth", "price"}, []),
        ("the best sound of all", {"sound"}, []),
    ],
)
def test_wishes_are_what_was_said(advisor, request, said, wanted, dismissed):
    heard = advisor.message(request.node.name, said).heard
    assert set(heard.ranking) == wanted
    known = advisor.preference(request.node.name)
    assert (list(known.dismissed), dict(known.limits)) == (dismissed, {})


@pytest.mark.parametrize(
    ("said", "kind", "rank", "aspects"),
    [
        ("I don't like number three, it's far too crowded there", "feedback", 3, {"calm": -1}),
        ("I like the second one. The sound is really good.", "feedback", 2, {"sound": 1}),
        ("not the second one, something cheaper", "feedback", 2, {}),
        ("Perfect, I've just booked a seat at the second one.", "choice", 2, None),
    ],
)
def test_what_is_said_of_an_item_is_kept_of_it(advisor, request, said, kind, rank, aspects):
    user = request.node.name
    shown = advisor.message(user, "shady and cheap please").recommendation.items
    advisor.message(user, said)
    [told] = [one for one in advisor.store.walk(user=user) if one.kind in ("feedback", "choice")]
    assert (told.kind, told.body.get("item", told.body.get("picked"))) == (kind, shown[rank - 1].item)
    if aspects is not None:
        middle = {"calm": 3.0, "sound": 3.0}
        assert {name: (value > middle[name]) * 2 - 1 for name, value in told.body["rewards"].items()} == aspects


def test_who_pays_the_most_is_the_best_and_not_the_cheapest():
    items = [{"id": f"j{n}", "name": f"Job {n}", "values": {"salary": 2000 + 90 * (7 * n % 20)}} for n in range(9)]
    objective = {"name": "salary", "description": "Gross pay, euros a month.", "low": 1000, "high": 5000}
    with Advisor(Catalog.from_content({"name": "jobs", "objectives": [objective], "items": items})) as jobs:
        first = jobs.message("ada", "which job pays the most?").items[0]
        assert first == max(jobs.items, key=lambda id: jobs.items[id].values["salary"])
