"""Who begins with nothing but what is looked for is shown something; what descriptions tell is understood."""

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog

POWERS, MILKS, ROUTES = ("petrol", "battery", "mains"), ("cow", "goat", "sheep"), ("loop", "there and back")


@pytest.fixture(scope="module")
def advisor():
    """Lawn mowers that are also somewhat of everything else, named as exports name them."""
    items = [
        {
            "id": f"m{n}",
            "name": f"Model {n}",
            "values": {
                "price_EUR": 100 + 45 * n,
                "wait_d": 1 + (7 * n) % 20,
                "PUNCT_PCT": 60 + 2 * ((3 * n) % 20),
                "nassgriff": 1.0 + (11 * n) % 40 / 10,
                "laughs": 1.0 + (13 * n) % 40 / 10,
                "aroma": 1.0 + (7 * n) % 40 / 10,
                "waiting_room": 5 + (9 * n) % 20,
            },
            "details": {
                "power": POWERS[n % 3],
                "milk": MILKS[n % 3],
                "route": ROUTES[n % 2],
                "TERM_M": (1, 12, 24, 6)[n % 4],
                "MAX_HEIGHT_M": 2.0 + n % 5 / 2,
                "last_night": f"2026-06-{5 + n:02}",
                "step_free": n % 2 == 0,
                "home_visits": n % 2 == 1,
                "speaks_en": n % 3 == 0,
                "sat_open": n % 3 == 1,
                "from_birth": n % 2 == 0,
                "PRAM_OK": n % 2 == 1,
                "deposit": n % 3 == 2,
                "floor_no": n % 4,
            },
        }
        for n in range(20)
    ]
    objectives = [
        {"name": "price_EUR", "description": "Euros.", "low": 0, "high": 2000, "less_is_better": True},
        {"name": "wait_d", "description": "Days until it comes.", "low": 0, "high": 30, "less_is_better": True},
        {"name": "PUNCT_PCT", "description": "Percent of rides that arrived on time.", "low": 0, "high": 100},
        {"name": "nassgriff", "description": "How well they grip oily things.", "low": 1, "high": 5},
        {"name": "laughs", "description": "How much there is to laugh.", "low": 1, "high": 5},
        {"name": "aroma", "description": "How strong and full the taste is.", "low": 1, "high": 5},
        {
            "name": "waiting_room",
            "description": "Minutes one sits in the waiting room.",
            "low": 0,
            "high": 40,
            "less_is_better": True,
        },
    ]
    with Advisor(Catalog.from_content({"name": "mowers", "objectives": objectives, "items": items})) as made:
        yield made


@pytest.mark.parametrize(
    "said",
    [
        "Good morning, I'm looking for a lawn mower.",
        "What mower should I get?",
        "A mower for my dad.",
        "What would you recommend?",
        "Which one is good?",
    ],
)
def test_who_only_says_what_is_looked_for_is_shown_something(talk, said):
    reply = talk(said)
    assert reply.recommendation.items
    assert reply.text.startswith("Here is something to begin with: I do not know yet what you want. Tell me")


@pytest.mark.parametrize(
    "said", ["hello", "thanks!", "asdf qwer", "what can I say here?", "what do you know about me?"]
)
def test_small_talk_and_nonsense_begin_nothing(talk, said):
    assert talk(said).recommendation is None


@pytest.mark.parametrize(
    ("said", "limits"),
    [
        ("our camper is 3 metres 20 high, it has to fit in", {"MAX_HEIGHT_M": {"min": 3.2}}),
        ("more than 200 euros we can't spend on it", {"price_EUR": {"max": 200}}),
        ("at least 200 euros or I won't trust it", {"price_EUR": {"min": 200}}),
        ("I don't want to be tied to them for longer than a year", {"TERM_M": {"max": 12}}),
        ("no two-year contracts", {"TERM_M": {"not": 24}}),
        ("it must still be on on 14 June", {"last_night": {"min": "2026-06-14"}}),
        ("I sleep only two hours in the night", {}),
        ("less than 900 euros, and I'm not paying any deposit", {"price_EUR": {"max": 900}, "deposit": False}),
        ("goat or sheep, with cow's milk I get a tummy ache", {"milk": ["goat", "sheep"]}),
        ("no petrol, I can't stand the stink any more", {"power": {"not": "petrol"}}),
        ("stairs are impossible for me", {"step_free": True}),
        ("I come with a walking frame, so there mustn't be any steps", {"step_free": True}),
        ("she can't leave the house, so somebody has to come to her", {"home_visits": True}),
        ("they must speak English, my German is bad", {"speaks_en": True}),
        ("we want to use it from day one", {"from_birth": True}),
        ("we've got the pram with us, so it must be possible with that", {"PRAM_OK": True}),
        ("only on the ground floor", {"floor_no": 0}),
        ("not on the first floor", {"floor_no": {"not": 1}}),
        ("I can only make it on Saturdays", {"sat_open": True}),
        ("a round walk please", {"route": "loop"}),
    ],
)
def test_what_is_said_limits_what_it_is_about(advisor, talk, request, said, limits):
    talk("cheap")
    talk(said)
    assert advisor.preference(request.node.name).limits == limits


@pytest.mark.parametrize(
    ("said", "wished"),
    [
        ("something punctual please", ("PUNCT_PCT",)),
        ("it should have a good grip", ("nassgriff",)),
        ("I want to laugh", ("laughs",)),
        ("it should be very soon", ("wait_d",)),
        ("strong, please, it may smell, too", ("aroma",)),
    ],
)
def test_descriptions_tell_what_objectives_are_about(talk, said, wished):
    assert talk(said).heard.ranking == wished


@pytest.mark.parametrize(
    "said", ["I don't mind sitting in the waiting room for a while", "we don't mind a long time in the waiting room"]
)
def test_what_nobody_minds_is_set_aside(advisor, talk, request, said):
    assert talk(said).kind == "dismissal"
    assert "waiting_room" in advisor.preference(request.node.name).dismissed
