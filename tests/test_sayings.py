"""What people say in words that no list holds: how something was, by what it was like; bounds denied; measures."""

import pytest

from druthers.advisor import Advisor
from druthers.advisor.messages import Kind
from druthers.advisor.wishes import DRAWS, SURE, sureness
from druthers.catalogs import Catalog, Item
from druthers.language import make_parser
from druthers.language.lexicon.objectives import bind
from druthers.limits import Columns, LimitReader
from druthers.limits.quantities import find_quantities
from druthers.types import Objective, Strength

MOVERS = Catalog(
    name="movers",
    objectives=[
        Objective("quote", low=0, high=900, less_is_better=True, description="Pounds for the whole move."),
        Objective("punctuality", low=0, high=1, description="Share of moves that began on time."),
        Objective("friendliness", low=1, high=5, description="How friendly the crew is."),
        Objective("waiting time", low=0, high=60, less_is_better=True, description="Days until they have time."),
    ],
    items=[
        Item(
            f"m{k}",
            f"{name} Movers",
            values={"quote": 100 + 50 * k, "punctuality": 0.1 * k, "friendliness": 5 - 0.4 * k, "waiting time": 7 * k},
            details={"parking": k % 2 == 0, "pianos": k % 3 == 0, "base": ("Leeds", "York")[k % 2]},
        )
        for k, name in enumerate(["Ash", "Beech", "Cedar", "Dogwood", "Elder", "Fir", "Gorse", "Holly"])
    ],
)


@pytest.fixture
def talk():
    with Advisor(MOVERS, parser="lexicon") as advisor:
        advisor.message("ada", "cheap please")
        advisor.message("ada", "show me others")
        yield lambda text: advisor.message("ada", text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("anyone except the second", Kind.REJECT), ("anything other than 1", Kind.REJECT),
        ("2 is right up my street, what else is there along those lines?", Kind.LIKE), ("any similar ones?", Kind.LIKE),
        ("lovely, the first one it is then", Kind.TAKEN), ("I'm sold on number 2", Kind.TAKEN),
        ("which of your movers go to York?", Kind.FIND), ("what you have stored about my wishes", Kind.PROFILE),
        ("can i park at the first one?", Kind.DETAIL), ("does number 2 bring boxes?", Kind.DETAIL),
        ("what made you suggest the second?", Kind.WHY), ("thank you so much dear", Kind.THANKS),
        ("number 2 was so friendly with us", Kind.FEEDBACK), ("the first was two hours late", Kind.FEEDBACK),
        ("do you have something cheaper than 2?", Kind.LIMIT), ("I was looking for something friendly", Kind.WISH),
    ],
)  # fmt: skip
def test_kinds(talk, text, kind):
    assert talk(text).kind == kind


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("number 2 was so friendly with us", "friendliness good"), ("the first was late", "punctuality bad"),
        ("number 1 was not friendly", "friendliness bad"), ("we took 2 and it was a long wait", "waiting time bad"),
        ("3 was punctual, but the crew was unfriendly", "punctuality good, friendliness bad"),
    ],
)  # fmt: skip
def test_how_something_was_is_told_by_what_it_was_like(talk, text, told):
    assert told in talk(text).text


@pytest.mark.parametrize(
    "text",
    [
        "I'm not sold on the first one", "The second is the one I hated", "Number 1 has my vote of no confidence",
        "I haven't decided on number 2", "I'd be sold on the first one if it came sooner",
    ],
)  # fmt: skip
def test_what_is_denied_or_only_thought_of_is_no_pick(talk, text):
    assert talk(text).kind != Kind.TAKEN


@pytest.mark.parametrize(
    "text",
    [
        "the first is the one for me", "number 2 gets my vote", "not cheap, but the first one it is",
        "I've settled on 2",
    ],
)  # fmt: skip
def test_a_pick_in_so_many_words(talk, text):
    assert talk(text).kind == Kind.TAKEN


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("I looked for a friendly crew", "You want friendliness."),
        ("that took too long, just show me something cheap", "You want low quote."),
        ("I couldn't sleep, so somebody punctual please", "You want punctuality."),
        ("What I want is a friendly crew under 300 pounds", "You want friendliness. Only quote up to 300."),
        ("what matters is a friendly crew", "You want friendliness."),
        ("I don't know much, a friendly crew that is easy to use", "You want friendliness."),
        ("I'd like to keep most of my money, something cheap", "You want low quote."),
    ],
)
def test_a_wish_is_no_rating_no_question_and_no_call_for_help(talk, text, heard):
    reply = talk(text)
    assert (reply.kind, reply.text) == (Kind.WISH, heard)


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("something similar, but under 400 pounds", "Only quote up to 400. More like "),
        ("in the same style but friendlier", "You want friendliness. More like "),
        ("more like the second", "More like "),
    ],
)
def test_what_is_wished_beside_more_like_that_is_heard(talk, text, heard):
    reply = talk(text)
    assert reply.kind == Kind.LIKE
    assert reply.text.startswith(heard)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("show me my profile", Kind.PROFILE), ("tell me what you know about me", Kind.PROFILE),
        ("cosa sai di me", Kind.PROFILE), ("I don't know what I'm supposed to do here", Kind.HELP),
        ("help", Kind.HELP), ("what can I say?", Kind.HELP),
    ],
)  # fmt: skip
def test_profile_and_help_are_still_asked_for(talk, text, kind):
    assert talk(text).kind == kind


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("the crew could not have been friendlier", 1), ("they couldn't get any friendlier", 1),
        ("not only friendly", 1), ("not just friendly", 1), ("friendly", 1), ("not friendly", -1),
        ("not too friendly", -1), ("too unfriendly", -1), ("not too unfriendly", 1),
    ],
)  # fmt: skip
def test_what_denies_and_what_only_looks_like_it(text, sign):
    assert make_parser("lexicon", objectives=["friendliness", "price"]).signs(text) == {0: sign}


def test_like_is_not_always_a_feeling(talk):
    assert "was awful" in talk("had the first, tasted like vinegar, yuck").text


def test_a_question_reaches_a_word_of_the_same_family(talk):
    assert "parking yes" in talk("can i park at the first one?").text or "parking no" in talk("can i park at 1?").text


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("nothing over 40", "max"), ("nothing that costs more than 40", "max"), ("none above 40", "max"),
        ("nothing under 40", "min"), ("not less than 40", "min"), ("never below 40", "min"), ("no more than 40", "max"),
        ("over 40", "min"), ("under 40", "max"), ("at least 40", "min"),
        ("faster than 30 minutes", "max"), ("slower than 30 minutes", "min"), ("faster than 30 mph", "min"),
        ("nothing slower than 30 minutes", "max"), ("sooner than 30 days", "max"), ("quieter than 35", "max"),
        ("slimmer than 10 cm", "max"), ("not quieter than 35", "min"), ("heavier than 10 kg", "min"),
        ("not wider than 60 cm", "max"), ("other than 40", ""),
    ],
)  # fmt: skip
def test_a_bound_that_is_denied_is_the_other_one(text, bound):
    assert [one.bound for one in find_quantities(text)] == [bound]


def test_limits_by_one_of_a_unit_and_by_any_verb():
    reader = LimitReader(Columns({item.id: item for item in MOVERS.items}), MOVERS.objectives, "movers")
    assert reader.read("can't wait longer than a fortnight").where == {"waiting time": {"max": 14}}
    assert reader.read("we stay for a week").where == {}
    assert reader.read("they have to carry pianos").where == {"pianos": True}
    assert reader.read("it must not take pianos").where == {"pianos": False}
    for text in ("must not lack", "should not miss", "should not forget the", "must never be without"):
        assert reader.read(f"it {text} parking").where == {"parking": True}
    assert reader.read("based in York").where == {"base": "York"}
    assert reader.read("close to York").where == {}, "how far it is, is no matter of yes or no"
    assert reader.read("it must cost at most 300 pounds").rest.split() == []


def test_what_costs_money_is_the_price_whatever_it_is_called():
    assert bind(MOVERS.objectives)["price"].objective == 0
    weighed = Objective("load", less_is_better=True, description="Pounds it weighs.")
    assert "price" not in bind([weighed])
    parser = make_parser("lexicon", objectives=MOVERS.objectives)
    assert parser.read("Hauptsache billig").names == ("quote",)
    assert parser.read("cheap as can be").names == ("quote",)


@pytest.mark.parametrize(
    ("text", "names", "dismissed"),
    [
        ("I have got a car", (), ("location",)), ("I have not got a car", ("location",), ()),
        ("I'm not going to pay more", ("price",), ()), ("I would pay more", (), ("price",)),
        ("I don't mind what the price is", (), ("price",)), ("the service doesn't need to be great", (), ("service",)),
    ],
)  # fmt: skip
def test_a_concession_that_is_denied_is_a_wish(text, names, dismissed):
    reading = make_parser("lexicon", objectives=["price", "location", "service"]).read(text)
    assert (reading.names, reading.dismissed_names) == (names, dismissed)


def test_what_was_read_with_doubts_counts_less():
    assert sureness(0.3) == pytest.approx(0.3 / SURE)
    assert sureness(0.95) == 1.0
    with Advisor(MOVERS, parser="lexicon") as advisor:
        advisor.hear("ada", "cheap")
        (query,) = [event.body for event in advisor.store.walk() if event.kind == "query"]
        heard = advisor.preference("ada")
    assert query["draws"] == [DRAWS[Strength.PLAIN] * sureness(query["confidence"])]
    assert heard.wished == ("quote",)


def test_faster_than_a_bare_number_is_less_of_a_time_and_more_of_a_speed():
    timed = Objective("delivery", low=1, high=120, less_is_better=True, description="Minutes to the door.")
    sped = Objective("top speed", low=1, high=200, description="Kilometers an hour.")
    items = {"a": Item("a", values={"delivery": 20.0, "top speed": 90.0})}
    reader = LimitReader(Columns(items), [timed, sped])
    assert reader.read("delivery faster than 30").where == {"delivery": {"max": 30}}
    assert reader.read("delivery slower than 30").where == {"delivery": {"min": 30}}
    assert reader.read("a top speed faster than 30").where == {"top speed": {"min": 30}}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I didn't say cheap, I said friendly", ("friendliness",)),
        ("we never asked for cheap but friendly", ("friendliness",)),
        ("friendly, I don't mean cheap", ("friendliness",)), ("I never said it had to be cheap", ()),
        ("I didn't say friendly. Cheap!", ("price",)), ("I did say cheap", ("price",)),
        ("we don't ask for much: friendly people", ("friendliness",)), ("I never say no to a low price", ("price",)),
        ("I didn't ask for much just friendly people", ("friendliness",)),
        ("I didn't mean friendly - cheap", ("price",)),
    ],
)  # fmt: skip
def test_what_was_never_said_is_no_wish(text, names):
    reading = make_parser("lexicon", objectives=["friendliness", "price"]).read(text)
    assert (reading.names, reading.dismissed_names) == (names, ())


def test_what_was_never_said_is_taken_back(talk):
    talk("cheap, based in York")
    reply = talk("I didn't say York, I said Leeds")
    assert [(one.name, one.limit) for one in reply.heard.limits] == [("base", "Leeds")]
    assert talk("I never said it should be cheap").kind == Kind.FORGET_THAT


@pytest.mark.parametrize(
    "text",
    ["we don't ask for a lot", "I never say no to a bargain", "I didn't say money is all that counts",
     "I never said the quote does not matter", "I don't mean to be a nuisance"],
)  # fmt: skip
def test_what_was_said_stays_where_only_how_much_it_counts_is_denied(talk, text):
    assert "Taken back" not in talk(text).text
