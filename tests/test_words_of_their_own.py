"""Words mean what they mean: nothing in a catalog that is spelled alike or is called after them takes their place."""

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog, Item
from druthers.language import make_parser
from druthers.limits import Columns, LimitReader
from druthers.types import Objective

KINDS, PILLOWS, SETTINGS = ("hostel", "apartment", "cabin"), ("feather", "foam", "wool"), ("desert", "forest", "market")
AMENITIES = (["pet friendly", "garage"], ["room service", "kids club"], ["sea view", "milk frother"])
STAYS = Catalog(
    name="stays",
    objectives=[
        Objective("quiet", low=1, high=5),
        Objective("comfort", low=1, high=5),
        Objective("staff", low=1, high=5, description="How helpful the people are.", synonyms=("service",)),
    ],
    items=[
        Item(
            f"stay-{n}",
            "Sea View" if n == 5 else f"Stay {n}",
            values={"quiet": 1 + n % 5, "comfort": 1 + n % 4, "staff": 1 + n % 3},
            details={
                "kind": KINDS[n % 3],
                "pillows": PILLOWS[n // 2 % 3],
                "setting": SETTINGS[n // 3 % 3],
                "amenities": AMENITIES[n // 4 % 3],
                "distance": n,
            },
        )
        for n in range(24)
    ],
)


@pytest.fixture(scope="module")
def advisor():
    with Advisor(STAYS) as advisor:
        yield advisor


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("I want a quiet hotel", {}),
        ("comfortable for my father", {}),
        ("a comfortable place with good desserts", {}),
        ("no garbage, quiet", {}),
        ("a quiet hostle", {"kind": "hostel"}),
        ("friendly staff, quiet", {}),
        ("quiet and family friendly", {}),
        ("comfort and good service", {}),
        ("quiet, with a golf club", {}),
        ("with a frother", {"amenities": {"all": "milk frother"}}),
        ("with a sea view", {"amenities": {"all": "sea view"}}),
        ("it should have a sea view, quiet please", {"amenities": {"all": "sea view"}}),
    ],
)
def test_words_that_are_like_those_of_the_catalog(advisor, request, text, limits):
    user = request.node.name
    advisor.message(user, text)
    assert advisor.preference(user).limits == limits


def test_the_most_of_something_is_asked_within_limits(advisor):
    reply = advisor.message("ann", "which stay in the forest has the lowest distance?")
    assert [item.id for item in map(advisor.items.get, reply.items)][:3] == ["stay-3", "stay-4", "stay-5"]


def test_a_forest_is_not_the_most_of_anything(advisor):
    reply = advisor.message("ben", "which are in the forest, at a distance under 5?")
    assert set(reply.items) == {"stay-3", "stay-4", "stay-5"} or "Stay 3" in reply.text


@pytest.mark.parametrize("text", ["good with kids", "it should be good with kids", "great with kids"])
def test_good_with_somebody_is_no_concession(text):
    parser = make_parser("lexicon", objectives=["child friendliness", "barking"])
    assert parser.read(text).names == ("child friendliness",)
    assert parser.read("I'm good with barking").dismissed_names == ("barking",)


def test_a_length_is_told_in_the_unit_that_is_said():
    trails = {str(n): Item(str(n), values={"views": 3}, details={"length": n}) for n in (4, 9, 17, 22)}
    beds = {str(n): Item(str(n), values={"views": 3}, details={"length": n}) for n in (180, 200, 210)}
    views = [Objective("views", low=1, high=5)]
    assert LimitReader(Columns(trails), views).read("at most 10 km").where == {"length": {"max": 10}}
    assert LimitReader(Columns(trails), views).read("under 5 miles").where == {
        "length": {"max": pytest.approx(8.05, 0.01)}
    }
    assert LimitReader(Columns(beds), views).read("at least 2 m long").where == {"length": {"min": 200}}


def test_a_time_is_told_in_months_where_months_are_said():
    plans = {str(n): Item(str(n), values={"views": 3}, details={"minimum term": n}) for n in (0, 1, 12, 24)}
    reader = LimitReader(Columns(plans), [Objective("views", low=1, high=5)])
    assert reader.read("minimum term of at most 12 months").where == {"minimum term": {"max": 12}}
    assert reader.read("nothing with a minimum term of more than 12 months").where == {"minimum term": {"max": 12}}


def test_at_most_asks_for_no_most(advisor):
    reply = advisor.message("eve", "are there any at a distance of 4 at most?")
    assert set(reply.items) <= {f"stay-{n}" for n in range(5)}
