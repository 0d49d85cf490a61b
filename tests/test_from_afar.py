"""What is denied from further ahead, asked in the same breath as its reason, or told of something else."""

import pytest

from druthers import Catalog
from druthers.advisor import Advisor
from druthers.catalogs import Item
from druthers.errors import UnknownUser
from druthers.language import make_parser
from druthers.limits import Columns, LimitReader
from druthers.limits.clauses import find_denial
from druthers.types import Objective

BRANDS, LOADING = ("Korvin", "Brauner", "Alto"), ("front", "top")
MONTHS, WEEKDAYS = ("July", "August", "June"), ("Monday", "Tuesday", "Sunday")


@pytest.fixture(scope="module")
def advisor():
    items = [
        {
            "id": f"m{n}",
            "name": f"Model {n}",
            "values": {"price": 200.0 + 60 * n, "quiet": 1.0 + n % 5, "patience": 5.0 - n % 5, "taste": 1 + n % 4},
            "details": {
                "brand": BRANDS[n % 3],
                "loading": LOADING[n % 2],
                "month": MONTHS[n % 3],
                "closed on": WEEKDAYS[n % 3],
                "yearBuilt": 2000 + 2 * n,
                "deposit": 20 + 20 * n,
                "warranty_months": 6 + 6 * n,
                "delivery_days": 2 + n,
                "minAgeMonths": 3 + 3 * n,
                "hasLift": n % 2 == 0,
                "licenceRequired": n % 3 == 0,
                "petsAllowed": n % 2 == 1,
                "seated": n % 2 == 0,
                "access24h": n % 3 == 1,
                "evenings": n % 2 == 1,
            },
        }
        for n in range(12)
    ]
    objectives = [
        {"name": "price", "description": "Euros.", "low": 0, "high": 1000, "less_is_better": True},
        {"name": "quiet", "description": "How quiet it is.", "low": 1, "high": 5},
        {"name": "patience", "description": "How patient they are.", "low": 1, "high": 5},
        {"name": "taste", "description": "How good it tastes.", "low": 1, "high": 5},
    ]
    catalog = {"name": "things", "description": "Things.", "simulated": True, "objectives": objectives, "items": items}
    with Advisor(Catalog.from_content(catalog)) as advisor:
        yield advisor


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("nothing from Korvin, our last one was a Korvin and it flooded the kitchen", {"brand": {"not": "Korvin"}}),
        ("my wife hates sleeping next to a Brauner", {}),
        ("she can't stand anything made by Brauner", {"brand": {"not": "Brauner"}}),
        ("one that isn't closed on Mondays", {"closed on": {"not": "Monday"}}),
        ("I'm not paying a deposit of more than 60", {"deposit": {"max": 60}}),
        ("nothing built before 2010", {"yearBuilt": {"min": 2010}}),
        ("we can't do without a lift", {"hasLift": True}),
        ("I couldn't live without a lift", {"hasLift": True}),
        ("one without a lift is no good for me", {"hasLift": True}),
        ("I don't want one with a lift", {"hasLift": False}),
        ("nothing that needs a licence", {"licenceRequired": False}),
        ("nobody has a licence", {"licenceRequired": False}),
        ("I have a licence", {}),
        ("I don't have a dog", {}),
        ("we have a dog", {"petsAllowed": True}),
        ("I don't think we need a lift", {}),
        ("we're away all of July", {"month": {"not": "July"}}),
        ("I can't stand for long so I need a seat", {"seated": True}),
        ("I have to be able to get in at any time, day or night", {"access24h": True}),
        ("they must offer lessons in the evenings", {"evenings": True}),
        ("it must be here within a week", {"delivery_days": {"max": 7}}),
        ("it broke after two years", {}),
        ("our daughter is 10 months old, so they have to accept babies of that age", {"minAgeMonths": {"max": 10}}),
        ("only top loaders, my bathroom is tiny. and at least two years of warranty",
         {"loading": "top", "warranty_months": {"min": 24}}),
        ("about 300 of them", {}),
        ("no Korvin please, I had two of them and both died right after the guarantee", {"brand": {"not": "Korvin"}}),
        ("in July and June the kids have football, so those two months are out", {"month": {"not": ["July", "June"]}}),
        ("in June my sister marries and the whole family comes. It has to be in July", {"month": "July"}),
        ("in June, please. July is fine too", {"month": ["June", "July"]}),
    ],
)  # fmt: skip
def test_limits_hold_as_they_are_meant(talk, advisor, request, text, limits):
    talk(text)
    try:
        heard = advisor.preference(request.node.name).limits
    except UnknownUser:
        heard = {}
    assert dict(heard) == limits


def test_how_old_something_else_is_limits_nothing():
    items = {str(n): Item(str(n), details={"minimum term": 1 + 11 * n}) for n in range(12)}
    reader = LimitReader(Columns(items), [Objective("dryness", low=1, high=5)])
    assert reader.read("it's for photo albums, some of them over 100 years old").where == {}
    assert reader.read("a minimum term of at most 12 months").where == {"minimum term": {"max": 12}}


@pytest.mark.parametrize(
    ("text", "wanted", "dismissed"),
    [
        ("She is a bundle of nerves on the price of things, so we need somebody patient", {"patience"}, set()),
        ("My dad sleeps badly in noise. So it must be cheap", {"price"}, set()),
        ("it should taste really good, the kids won't eat it otherwise", {"taste"}, set()),
        ("her teacher says she needs something quiet", {"quiet"}, set()),
        ("whether the price is high or low is all the same to me", set(), {"price"}),
        ("it's our first one and friendly, patient people would help a lot", {"patience"}, set()),
        ("It is our golden wedding and the children are paying for it all. It should be quiet", {"quiet"}, set()),
        ("what the price comes to is nothing I worry about", set(), {"price"}),
    ],
)
def test_reasons_and_what_others_say(talk, text, wanted, dismissed):
    heard = talk(text).heard
    assert heard is not None
    assert (set(heard.ranking), set(heard.reading.dismissed_names)) == (wanted, dismissed)


def test_what_denies_is_found_over_words_that_tell_nothing():
    assert find_denial("") is None
    assert find_denial("i never want to see a ").denied
    assert not find_denial("nothing without a ").denied
    assert find_denial("i don't mind a ") is None
    assert find_denial("nothing expensive in ") is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The second one is too far away, I don't have a car", "feedback"),
        ("i've rented the second one, all done", "taken"),
        ("I changed my mind about 1", "unclear"),
        ("patience first (zzgqj)", "wish"),
        ("does anybody take Korvin?", "find"),
        ("My neighbor swears by hers and tells the whole street. Which ones are made by Korvin?", "find"),
        ("No Korvin stuff, my youngest had nightmares for 2 weeks after the last one", "limit"),
    ],
)
def test_what_is_told_of_an_item_that_is_pointed_at(talk, text, kind):
    talk("something quiet, please")
    assert talk(text).kind == kind


@pytest.mark.parametrize(
    "text",
    ["the louder the better", "something loud", "I love noise", "not quiet", "I hate quiet places", "expensive please"],
)  # fmt: skip
def test_who_asks_for_the_opposite_is_not_told_to_get_it(talk, advisor, request, text):
    talk("it should taste good")
    assert "You want" not in talk(text).text
    assert advisor.preference(request.node.name).wished == ("taste",)


@pytest.mark.parametrize(
    "text",
    ["something against the noise", "we need peace from loud neighbors", "I want noise cancelling", "not loud please"],
)  # fmt: skip
def test_who_asks_for_less_of_what_is_bad_is_heard(text):
    assert make_parser("default", objectives=["price", "noise level"]).read(text).names == ("noise level",)


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("price<=500", {"price": {"max": 500}}),
        ("taste >= 2 and price<500", {"taste": {"min": 2}, "price": {"max": 500}}),
        ("a price of at least 600 euros and at most 300 euros", {}),
    ],
)
def test_bounds_without_blanks_and_against_each_other(talk, advisor, request, text, limits):
    talk("something quiet")
    talk(text)
    assert dict(advisor.preference(request.node.name).limits) == limits


@pytest.mark.parametrize("text", ["how quiet is the first", "is the first quiet", "price of model 5"])
def test_what_is_asked_of_an_item_is_asked_without_its_mark(talk, text):
    talk("something quiet")
    assert talk(text).kind == "detail"
