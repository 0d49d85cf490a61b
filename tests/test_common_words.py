"""Common ways to say common things: things that must be there, opening hours, hedged numbers, what comes first."""

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog
from druthers.errors import DruthersError
from druthers.language import Objective, make_parser

PRICE = {"name": "price", "description": "Price in euros.", "low": 20, "high": 900, "less_is_better": True}
QUIET = {"name": "quiet", "description": "How quiet it is.", "low": 0, "high": 10}


def advisor_of(name, details):
    """Return an advisor on a dozen items, of which each detail takes its values in turn."""
    names = [f"{first} {last}" for first in ("Arden", "Brook", "Cedar", "Dahlia") for last in ("Duo", "Solo", "Trio")]
    items = [
        {
            "id": f"i{n}",
            "name": called,
            "values": {"price": 25 + 70 * n, "quiet": (5 * n) % 11},
            "details": {key: values[n % len(values)] for key, values in details.items()},
        }
        for n, called in enumerate(names)
    ]
    return Advisor(Catalog.from_content({"name": name, "objectives": [PRICE, QUIET], "items": items}))


@pytest.fixture(scope="module")
def limits_of():
    catalogs = {
        "saws": {"cordless": [True, False], "bagless": [True, False], "needs_oiling": [True, False]},
        "flats": {
            "beds": [1, 2, 4, 6, 8],
            "balcony_count": [0, 1, 2, 3],
            "dogs": [True, False],
            "accident_free": [True, False],
            "district": ["Hill", "Lake", "Mead"],
            "maxDistanceKm": [20, 50, 300],
        },
        "shops": {"opens_at": [6, 7, 8, 9], "closes_at": [13, 17, 19, 22], "style": ["Greek", "Thai", "Indian"]},
    }
    advisors = {name: advisor_of(name, details) for name, details in catalogs.items()}
    told = iter(range(10_000))

    def limits(name, text):
        user = f"user {next(told)}"
        advisors[name].message(user, text)
        try:
            return advisors[name].preference(user).as_dict()["limits"]
        except DruthersError:
            return {}

    yield limits
    for one in advisors.values():
        one.close()


@pytest.mark.parametrize(
    ("catalog", "text", "limits"),
    [
        # What lacks something, by what it lacks.
        ("saws", "without a cable please", {"cordless": True}),
        ("saws", "no cord, I keep tripping over it", {"cordless": True}),
        ("saws", "I don't want to buy bags", {"bagless": True}),
        ("saws", "my last one had a cable", {}),
        ("flats", "nothing that has been in a crash", {"accident_free": True}),
        # What needs something done, by who won't do it.
        ("saws", "I am not going to oil the thing every week", {"needs_oiling": False}),
        ("saws", "I oil everything at home", {}),
        # What is counted, and may be missing.
        ("flats", "it has to have a balcony", {"balcony_count": {"min": 1}}),
        ("flats", "at least two balconies", {"balcony_count": {"min": 2}}),
        # Everybody needs a bed.
        ("flats", "there'll be six of us", {"beds": {"min": 6}}),
        ("flats", "we're a family of four", {"beds": {"min": 4}}),
        ("flats", "we bring our labrador", {"dogs": True}),
        ("flats", "it is 250 km to the new flat", {"maxDistanceKm": {"min": 250}}),
        # What is ruled out behind what is wanted.
        ("flats", "Hill or Lake, Mead is too far", {"district": ["Hill", "Lake"]}),
        ("flats", "in Hill, or if need be the Lake", {"district": ["Hill", "Lake"]}),
        ("shops", "I am not in the mood for Indian", {"style": {"not": "Indian"}}),
        ("shops", "not a fan of Thai", {"style": {"not": "Thai"}}),
        ("shops", "I am in the mood for Indian, only Indian", {"style": "Indian"}),
        # When something must be open.
        ("shops", "they have to open at 7", {"opens_at": {"max": 7}}),
        ("shops", "it must still be open at 9 pm", {"opens_at": {"max": 21}, "closes_at": {"min": 21}}),
        ("shops", "we can't be there before five", {"closes_at": {"min": 17}}),
        ("shops", "I never get off work before 6", {"closes_at": {"min": 18}}),
        # What money there is, and ranges with a hedge.
        ("saws", "I have 250 euros", {"price": {"max": 250}}),
        ("saws", "I've got about 300 bucks", {"price": {"max": 300}}),
        ("saws", "I have three kids", {}),
        ("saws", "between 200 and, let us say, 450 euros", {"price": {"min": 200, "max": 450}}),
        ("saws", "150 euros is the most I'd pay. Well, alright: 170", {"price": {"max": 170}}),
        ("saws", "at least 300 dpi", {}),
    ],
)
def test_common_things_are_asked_for_in_common_words(limits_of, catalog, text, limits):
    found = limits_of(catalog, text)
    plain = {name: limit.get("all", limit) if isinstance(limit, dict) else limit for name, limit in found.items()}
    assert plain == limits


@pytest.mark.parametrize(
    ("objectives", "text", "wanted", "dismissed"),
    [
        (["price", "quiet"], "it shouldn't be dear", ("price",), ()),
        (["price", "quiet"], "dear team, something quiet please", ("quiet",), ()),
        (["price", "cleanliness"], "it must not be a dump", ("cleanliness",), ()),
        (["price", "durability"], "one that lasts", ("durability",), ()),
        (["price", "punctuality"], "somebody who comes when he says", ("punctuality",), ()),
        (["price", "damage rate"], "my grandmother's china must arrive in one piece", ("damage rate",), ()),
        (["price", "quiet"], "the price is paid by the town, so never mind", (), ("price",)),
        (["cleanliness", "quiet"], "cleaning I can do myself, so that need not concern you", (), ("cleanliness",)),
        (["length", "quiet"], "Long or short films, that's all the same to me", (), ("length",)),
    ],
)
def test_wishes_and_what_does_not_matter_in_common_words(objectives, text, wanted, dismissed):
    reading = make_parser("lexicon", objectives=[Objective(one) for one in objectives]).read(text)
    assert (reading.names, reading.dismissed_names) == (wanted, dismissed)


def test_an_order_by_ordinals_points_at_no_item():
    with advisor_of("flats", {"dogs": [True, False]}) as advisor:
        advisor.message("ada", "a flat")
        said = advisor.message("ada", "money first, quiet second, the rest I leave to you")
        assert said.heard is not None
        assert said.heard.ranking == ("price", "quiet")
        assert advisor.message("ada", "compare the first and the second").kind == "compare"
