"""Several acts in one message, denials in a word, and what is only implied."""

import pytest

from druthers import Advisor, Catalog, Item, Objective
from druthers.advisor.understanding import Understanding
from druthers.language import make_parser

INNS = Catalog(
    "inns",
    (
        Objective("price", low=20, high=300, less_is_better=True),
        Objective("cleanliness", low=0, high=10),
        Objective("service", low=0, high=10),
        Objective("quiet", low=0, high=10),
    ),
    tuple(
        Item(
            f"i{n}",
            f"The {name}",
            values={"price": 40 + 20 * n, "cleanliness": n, "service": 9 - n, "quiet": (3 * n) % 8},
            details={"breakfast included": n % 2 == 0},
        )
        for n, name in enumerate(("Amber", "Birch", "Cedar", "Dune", "Elm", "Fir", "Grove", "Heath"))
    ),
)


@pytest.fixture
def talk():
    with Advisor(INNS) as advisor:
        advisor.message("ada", "clean, please")

        def say(text):
            return advisor.message("ada", text), advisor.preference("ada").as_dict()

        yield say


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("why 1? and I also need great service", "why", "You want service."),
        ("is 2 clean? I care about the service too", "detail", "You want service."),
        ("I need great service. how much is 2?", "wish", "price"),
        ("what's the price of 3? I need it under 100", "detail", "Only price up to 100."),
        ("1 is nice but I want better service", "wish", "was good"),
        ("2 please, and is breakfast included?", "taken", "breakfast included"),
        ("2 please, and is the moon made of cheese?", "taken", "Not understood: “is the moon made of cheese?”"),
    ],
)
def test_a_message_may_hold_two_acts(talk, text, kind, told):
    reply, _ = talk(text)
    assert reply.kind == kind
    assert told in reply.text


def test_both_acts_have_their_effects(talk):
    reply, card = talk("why 1? and I also need great service")
    assert reply.items
    assert reply.recommendation is not None
    assert "service" in card["wished"]
    reply, card = talk("what's the price of 3? I need it under 100")
    assert card["limits"] == {"price": {"max": 100}}
    assert len(reply.items) == 1


@pytest.mark.parametrize(
    "text", ["I like 2. similar ones?", "which is better, 1 or 2? I can't decide", "we took 2, it was filthy but cheap"]
)
def test_what_is_one_act_stays_one(talk, text):
    reply, card = talk(text)
    assert list(card["wished"]) == ["cleanliness"]
    assert reply.heard is None


@pytest.mark.parametrize(
    ("text", "names", "dismissed"),
    [
        ("no service", (), ("service",)), ("service no, quiet yes", ("quiet",), ("service",)),
        ("wait, not service, quiet", ("quiet",), ("service",)), ("not the cheapest", (), ("price",)),
        ("clean but not the cheapest", ("cleanliness",), ("price",)), ("no noise", ("quiet",), ()),
        ("not dirty, not noisy", ("cleanliness", "quiet"), ()), ("price no, quiet yes", ("quiet",), ("price",)),
    ],
)  # fmt: skip
def test_a_denial_in_a_word_is_no_wish(text, names, dismissed):
    reading = make_parser("lexicon", objectives=INNS.objectives).read(text)
    assert (reading.names, reading.dismissed_names) == (names, dismissed)


def test_less_of_what_costs_is_a_wish():
    objectives = [Objective("noise", low=0, high=9, less_is_better=True), Objective("looks", low=0, high=9)]
    reading = make_parser("lexicon", objectives=objectives).read("no noise, no looks")
    assert (reading.names, reading.dismissed_names) == (("noise",), ("looks",))


def test_a_reason_beside_a_wish_is_no_other_wish():
    groups = Objective("group size", low=1, high=30, less_is_better=True)
    homework = Objective("homework", low=0, high=9, less_is_better=True)
    parser = make_parser("default", objectives=[groups, homework])
    assert parser.read("As little homework as possible, I work full time and have twins").names == ("homework",)
    parser = make_parser("default", objectives=INNS.objectives)
    assert parser.read("clean, my baby wakes up easily").names == ("cleanliness", "quiet")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I have a bad back: it has to be light", ("weight",)), ("I have a bad back, so something light", ("weight",)),
        ("it should not be too difficult", ("difficulty",)), ("Fast charging! I hate the charger", ("charging time",)),
        ("it would be nice if the food is not too bad", ("food",)),
        ("it doesn't matter how long the charging takes, a light one please", ("weight",)),
        ("he puts up with anything except bad food, so good food it is", ("food",)),
    ],
)  # fmt: skip
def test_what_follows_is_the_wish_and_own_words_go_first(text, names):
    less = [Objective(name, low=0, high=9, less_is_better=True) for name in ("weight", "difficulty", "charging time")]
    more = [Objective(name, low=0, high=9) for name in ("food", "range", "comfort")]
    assert make_parser("lexicon", objectives=[*less, *more]).read(text).names == names


def test_less_of_something_may_be_what_is_needed():
    objectives = [Objective("watering", low=0, high=9, less_is_better=True), Objective("looks", low=0, high=9)]
    parser = make_parser("lexicon", objectives=objectives)
    assert parser.read("I forget to water it, something that hardly needs any watering").names == ("watering",)


def test_no_before_forgetting_denies_nothing(talk):
    assert talk("oh no forget what i just said")[0].kind == "forget that"


@pytest.mark.parametrize("text", ["traffic was terrible today", "my boss is awful"])
def test_what_is_told_of_life_is_no_wish(text):
    with Advisor("hotels") as advisor:
        assert advisor.message("ada", text).kind == "unclear"


def test_what_is_only_implied_is_told_as_a_guess():
    with Advisor("hotels") as advisor:
        assert "I take it that you want" in advisor.message("ada", "my back is shot").text


def test_small_talk_swallows_no_wish(talk):
    reply, card = talk("hi, good service please")
    assert reply.kind == "wish"
    assert "service" in card["wished"]


def test_nobody_is_erased_who_was_not_asked(talk):
    reply, _ = talk("yes, forget me")
    assert "say “forget me” first" in reply.text
    with Advisor(INNS) as advisor:
        for _ in range(2):  # one message that comes twice is no question and its answer
            assert "first" in advisor.message("ada", "yes, forget me", id="1").text
        advisor.message("ada", "cheap")
        assert "Say" in advisor.message("ada", "forget me").text
        assert "erased" in advisor.message("ada", "yes, forget me").text


def test_a_long_message_is_not_read_over_and_over(monkeypatch):
    """Break by break, 2,000 letters took 23 s and these 540 some 60 readings: long texts are split by sentences."""
    counts = []
    read = Understanding.read

    def counted(self, *given):
        counts.append(given)
        return read(self, *given)

    monkeypatch.setattr(Understanding, "read", counted)
    with Advisor("hotels") as advisor:
        advisor.message("ada", "clean and quiet, under 150")
        counts.clear()
        advisor.message("ada", 8 * "2 looks fine, but I want it quiet, and 1 was nice, and is it clean? ")
    assert len(counts) < 10
