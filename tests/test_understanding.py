"""Laws of how people talk, in a domain of its own: which item is meant, what is no item, what is asked, what limits."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from druthers.advisor import Advisor
from druthers.advisor.kinds import alike, fitted_to
from druthers.advisor.messages import Context, Kind
from druthers.advisor.said import Said
from druthers.advisor.stating import without_guesses
from druthers.advisor.understanding import Understanding
from druthers.catalogs import Catalog, Item
from druthers.language import make_parser
from druthers.limits import Columns, LimitReader
from druthers.types import Objective, Reading, Strength

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
READ = Reading("cheap, light", ("price", "weight"), (0, 1), strengths=(Strength.PLAIN, Strength.PLAIN))

TENTS = Catalog(
    name="tents",
    objectives=[
        Objective("price", low=20, high=2000, less_is_better=True, description="Euros."),
        Objective("weight", low=0.5, high=30, less_is_better=True, description="Kilograms."),
        Objective("weatherproofing", low=1, high=5, description="How well it keeps out rain and wind."),
        Objective("pitching time", low=1, high=120, less_is_better=True, description="Minutes until it stands."),
        Objective("pack volume", low=1, high=200, less_is_better=True, description="Liters in a backpack."),
    ],
    items=[
        Item(
            f"t{k}",
            name,
            values={
                "price": 90.0 + 60 * k,
                "weight": 1.5 + 0.5 * k,
                "weatherproofing": 1 + (k * 2) % 5,
                "pitching time": 5 + 4 * ((k * 3) % 7),
                "pack volume": 60 - 5 * k,
            },
            details={
                "size": ("small", "medium", "large")[k % 3],
                "berths": 1 + k % 4,
                "poles": ("steel", "wood")[k % 2],
                "footprint": k % 2 == 0,
            },
        )
        for k, name in enumerate(["Adder", "Bittern", "Curlew", "Dipper", "Egret", "Finch", "Godwit", "Heron"])
    ],
)


@pytest.fixture
def talk():
    with Advisor(TENTS, parser="lexicon") as advisor:
        advisor.message("ada", "light please")
        yield lambda text: advisor.message("ada", text)


@pytest.fixture(scope="module")
def reader():
    return LimitReader(Columns({item.id: item for item in TENTS.items}), TENTS.objectives, "tents")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("no to 3", Kind.REJECT), ("2 is off the table", Kind.REJECT), ("the third is definitely out", Kind.REJECT),
        ("I wouldn't be seen in the first one", Kind.REJECT), ("stop recommending 2", Kind.REJECT),
        ("bin the second", Kind.REJECT), ("ok, the second then", Kind.TAKEN), ("sold! 1 please", Kind.TAKEN),
        ("stuck between the first and the last one", Kind.COMPARE), ("which is drier of the first two", Kind.COMPARE),
        ("pros and cons of 2 and 3", Kind.COMPARE), ("1 v 3", Kind.COMPARE), ("hows the weight of 2", Kind.DETAIL),
        ("do any have a footprint?", Kind.FIND), ("which has the lowest weight?", Kind.BEST),
        ("could it be lighter", Kind.WISH), ("I'm happy to pay more", Kind.DISMISSAL), ("g'day", Kind.GREETING),
        ("thanks a million", Kind.THANKS), ("it's our first time camping, keep it light", Kind.WISH),
    ],
)  # fmt: skip
def test_kinds(talk, text, kind):
    assert talk(text).kind == kind


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("small ones only", {"size": "small"}), ("medium or large", {"size": ["medium", "large"]}),
        ("no large tents", {"size": {"not": "large"}}), ("a small dog comes along", {}),
        ("the poles must be wooden", {"poles": "wood"}), ("a three-berther", {"berths": 3}),
        ("min. 3 berths", {"berths": {"min": 3}}), ("not over 40 litres", {"pack volume": {"max": 40}}),
        ("I've got 250 euros to spend", {"price": {"max": 250}}), ("200 is all I can afford", {"price": {"max": 200}}),
        ("120 euros an hour tops", {"price": {"max": 120}}), ("it rains a lot so footprint", {"footprint": True}),
    ],
)  # fmt: skip
def test_limits(reader, text, where):
    assert reader.read(text).where == where


def test_room_for_so_many_is_what_holds_them():
    items = {"a": Item("a", values={"price": 9.0}, details={"capacity": 90}), "b": Item("b", details={"capacity": 200})}
    halls = LimitReader(Columns(items), [Objective("price", low=1, high=99999, less_is_better=True)])
    assert halls.read("it needs room for at least 110").where == {"capacity": {"min": 110}}
    assert halls.read("room for at least 110").rest.split() == []
    assert halls.read("at least 110").where == {"price": {"min": 110}}


@pytest.mark.parametrize(
    ("text", "dismissed"),
    [
        ("weight? not fussed", ("weight",)), ("price? nah, I just want to sleep", ("price",)),
        ("if it's heavy that's fine by me", ("weight",)), ("heavy? no problem", ("weight",)),
        ("it makes no odds to me how heavy it is", ("weight",)), ("the price is not something I look at", ("price",)),
        ("it won't bother me if it's heavy", ("weight",)), ("the price is no sticking point", ("price",)),
    ],
)  # fmt: skip
def test_more_ways_to_say_that_something_does_not_matter(text, dismissed):
    reading = make_parser("lexicon", objectives=["price", "weight"]).read(text)
    assert (reading.names, reading.dismissed_names) == ((), dismissed)


def test_the_least_of_something_is_the_smallest_number_and_of_something_bad_the_best(talk):
    smallest = min(TENTS.items, key=lambda item: item.values["weight"])
    assert talk("which one of all weighs least?").items[0] == smallest.id
    assert talk("what is the least heavy tent?").items[0] == smallest.id


def test_what_is_only_guessed_beside_a_limit_is_not_heard():
    reading = replace(READ, confidences=(0.9, 0.3))
    assert without_guesses(reading, 0.5).names == ("price",)
    assert without_guesses(replace(READ, confidences=(0.9, 0.6)), 0.5).names == ("price", "weight")


def test_items_and_numbers_tell_nothing_about_what_a_message_is():
    assert alike("Why number 3?") == alike("why the first one?") == alike("why Heron?", ["Heron"])
    assert alike("under 500") == alike("under 80")
    assert alike("my first time") != alike("my second one")
    assert (
        Said.of("dont wanna, whats 2 like, youre great", Context()).plain == "don't wanna, what's 2 like, you're great"
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("has to be under 300 euros, we're broke", Kind.LIMIT),
        ("was in the second in May. the zip is awful", Kind.FEEDBACK),
        ("cool, we'll have the third. do you ship abroad?", Kind.TAKEN), ("3 please, how do I order", Kind.TAKEN),
        ("do we get pegs with the second one or not", Kind.DETAIL), ("y not the first?", Kind.WHY),
        ("the difference between two and three?", Kind.COMPARE), ("top one against the bottom one", Kind.COMPARE),
        ("we bring a cat - which ones have a footprint?", Kind.FIND),
        ("who is the cheapest of all of them?", Kind.BEST),
        ("take 2 away please, horrid color", Kind.REJECT), ("I'd go for 2 from the 1st of next month", Kind.TAKEN),
        ("it must be light, last year I was in tears", Kind.WISH), ("the second we arrive it rains", Kind.WISH),
    ],
)  # fmt: skip
def test_kinds_of_several_sentences(talk, text, kind):
    assert talk(text).kind == kind


def test_what_is_wished_beside_turning_one_down_is_heard(talk):
    reply = talk("the second's out. can I have a cheaper one?")
    assert (reply.kind, reply.heard.ranking) == (Kind.REJECT, ("price",))


def test_three_items_are_compared(talk):
    assert len(talk("compare all three for me").items) == 3


def test_what_is_denied_goes_on_after_or(reader):
    assert reader.read("I won't have steel or wood").where == {"poles": {"not": ["steel", "wood"]}}


def test_what_is_spoken_of_without_a_sign_is_as_all_of_it_felt(talk):
    assert "weatherproofing bad" in talk("we took 2, its weatherproofing, a nightmare").text


def test_ignoring_a_wish_dismisses_it_and_what_comes_after_is_heard(talk):
    reply = talk("Never mind the weight, we come by car. It must be cheap!")
    assert reply.heard.ranking == ("price",)
    assert reply.heard.reading.dismissed_names == ("weight",)


@pytest.fixture(scope="module")
def understand(reader):
    columns = Columns({item.id: item for item in TENTS.items})
    understanding = Understanding(make_parser("default", objectives=TENTS.objectives), reader, columns)
    return lambda text: understanding.read(text, Context(shown=tuple(TENTS.items[:3]), wished=("price",)))


@pytest.mark.parametrize(
    "text",
    ["the third isn't quite what we wanted", "1 is simply out of the question", "the second's not on our shortlist"],
)
def test_what_is_not_what_one_needs_is_turned_down(understand, text):
    assert understand(text).kind == Kind.REJECT


@pytest.mark.parametrize("text", ["number 3 is from Norway", "the second is for my niece", "2 came on Tuesday"])
def test_what_is_merely_said_of_an_item_is_no_praise(understand, text):
    assert understand(text).utility is None


@pytest.mark.parametrize(
    ("text", "kind", "places", "rejected"),
    [
        ("I wouldn't buy the third, I'll have 1", Kind.TAKEN, (0,), (2,)),
        ("skip 3 and compare 1 and 2", Kind.COMPARE, (0, 1), (2,)), ("not 2 but 3", Kind.TAKEN, (2,), (1,)),
        ("2, not 1", Kind.TAKEN, (1,), (0,)),
        ("can't stand 2, but the first was lovely", Kind.FEEDBACK, (0,), (1,)),
        ("hide 1, show me 3", Kind.DETAIL, (2,), (0,)), ("drop 1 and 3 please", Kind.REJECT, (0, 2), ()),
        ("the first and the third are out", Kind.REJECT, (0, 2), ()),
    ],
)  # fmt: skip
def test_only_what_stands_with_the_rejection_is_turned_down(understand, text, kind, places, rejected):
    message = understand(text)
    assert (message.kind, message.places, message.rejected) == (kind, places, rejected)


def test_the_model_is_that_of_the_messages_as_they_are_seen():
    spec = importlib.util.spec_from_file_location("message_kinds", BENCHMARKS / "message_kinds.py")
    fitting = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fitting)
    kinds, texts, _ = fitting.load()
    assert fitted_to() == fitting.fingerprint_of(kinds, texts), "run benchmarks/message_kinds.py --write"


def test_what_is_turned_down_beside_a_pick_is_noted():
    with Advisor(TENTS, parser="lexicon") as advisor:
        first, second, third = (one.item for one in advisor.message("ada", "light please").recommendation.items)
        assert advisor.message("ada", "not the first, I'll take the second").items == (second,)
        assert advisor.message("ada", "avoid 1 and compare 2 and 3").items == (second, third)
        assert advisor.fold.people["ada"].felt[first][1] < 0.0


@pytest.mark.parametrize(
    "text", ["hand me 7", "ring me at 8", "3 more please", "let me see 2 options", "I need 3 of these"]
)
def test_nothing_is_picked_where_no_item_shown_is_meant(understand, text):
    message = understand(text)
    assert (message.places, message.kind in (Kind.TAKEN, Kind.LIKE, Kind.REJECT)) == ((), False)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("3 berths is plenty", ()), ("2 poles are fine", ()), ("we have 2 dogs and a goat", ()), ("1 or 2 doors", ()),
        ("2 looks fine", (1,)), ("3 is plenty", (2,)), ("take 2 off the list", (1,)), ("option 3 sleeps four", (2,)),
        ("compare 1 and 3", (0, 2)), ("I took 2 last May", (1,)), ("number 2 leaks", (1,)),
    ],
)  # fmt: skip
def test_a_count_of_something_is_no_item(text, places):
    assert Said.of(text, Context(shown=tuple(TENTS.items[:3]))).places == places


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("it must weigh less than 900g", {"weight": {"max": 0.9}}),
        ("ok I can go up to 450 actually", {"price": {"max": 450}}),
        ("up in no more than half an hour", {"pitching time": {"max": 30}}),
    ],
)  # fmt: skip
def test_numbers_are_of_what_has_such_numbers(reader, text, where):
    assert reader.read(text).where == where


def test_a_wish_for_sure_is_guessed_at_and_asked_about(understand):
    message = understand("I want to be through with putting the poles together before my tea gets cold")
    assert message.kind == Kind.WISH
    assert message.reading.names == ("pitching time",)
    assert message.reading.confidence < 0.5
    assert message.reading.question


def test_what_is_stated_is_what_it_is_most_likely(understand):
    assert understand("under 300 euros, we go by car").kind == Kind.LIMIT
    assert understand("under 300 euros, we go by car").reading.names == ()


def test_an_adjective_is_no_subject(understand):
    message = understand("light and price does not matter")
    assert (message.reading.names, message.reading.dismissed_names) == (("weight",), ("price",))


def test_what_points_at_nothing_shown_is_neither_told_nor_turned_down(understand):
    assert understand("the bus was late again today").kind not in (Kind.REJECT, Kind.TAKEN)
    assert understand("wait, what is that on the radio").kind == Kind.UNCLEAR


def test_a_question_finds_what_is_called_otherwise():
    gyms = Columns({name: Item(name, details={"open 24 hours": name == "a", "sauna": True}) for name in "ab"})
    objectives = [Objective("price", low=0, high=90, less_is_better=True)]
    understanding = Understanding(make_parser("lexicon", objectives=objectives), LimitReader(gyms, objectives), gyms)
    message = understanding.read("are there any that are open round the clock?")
    assert (message.kind, message.limits.where) == (Kind.FIND, {"open 24 hours": True})
    assert understanding.read("are there any that have a good bar?").kind != Kind.FIND


def test_to_care_is_no_wish_for_care():
    parser = make_parser("lexicon", objectives=["price", "care"])
    reading = parser.read("my employer pays, so I don't care about the price")
    assert (reading.names, reading.dismissed_names) == ((), ("price",))
    assert parser.read("with great care").names == ("care",)


@pytest.mark.parametrize(
    "text",
    [
        "weight is the one thing that matters, nothing else does", "my only worry is the weight",
        "all we want is low weight",
        "I don't care about anything except weight", "whatever you like as long as it's lightweight",
        "nothing counts as much as weight", "we wouldn't say no to something lightweight", "weight isn't irrelevant",
    ],
)  # fmt: skip
def test_what_alone_matters_is_not_given_up(understand, text):
    message = understand(text)
    assert (message.kind, message.reading.names, message.reading.dismissed) == (Kind.WISH, ("weight",), ())


@pytest.mark.parametrize(
    "text", ["at least 4 stars", "something with five stars", "four-star quality", "4 stars or more"]
)
def test_stars_that_are_wanted_rate_nothing(understand, text):
    assert understand(text).kind not in (Kind.FEEDBACK, Kind.TAKEN, Kind.LIKE, Kind.REJECT)


@pytest.mark.parametrize(
    "text",
    [
        "8 was dreadful", "number 6 was lovely", "the fifth one was great", "my last tent was heavy and awful",
        "our old one leaked, it was horrible", "last summer the price was terrible", "the seventh one please",
    ],
)  # fmt: skip
def test_what_is_said_of_nothing_shown_rates_and_takes_nothing(understand, text):
    assert understand(text).kind not in (Kind.FEEDBACK, Kind.TAKEN, Kind.LIKE, Kind.REJECT)


@pytest.mark.parametrize(
    "text",
    [
        "our bus leaves at 2", "I have an appointment at 3", "a table for 2 please", "maybe 3", "I might take 1", "3?",
        "I'll take 2 if the price is right", "I changed my mind about 1",
    ],
)  # fmt: skip
def test_what_is_only_thought_of_is_not_taken(understand, text):
    assert understand(text).kind not in (Kind.FEEDBACK, Kind.TAKEN, Kind.LIKE, Kind.REJECT)


@pytest.mark.parametrize("text", ["I'll take 2 if I may", "2 please", "book the second if that's ok"])
def test_what_is_asked_for_politely_is_taken(understand, text):
    message = understand(text)
    assert (message.kind, message.places) == (Kind.TAKEN, (1,))


@pytest.mark.parametrize(
    "text",
    ["let's not begin again", "we don't want to start over", "please do not undo that", "I'm not taking that back"],
)
def test_who_takes_nothing_back_keeps_all(understand, text):
    assert understand(text).kind == Kind.NO


@pytest.mark.parametrize("text", ["forget me not", "don't you dare erase me", "delete my profile? never"])
def test_who_does_not_want_to_be_forgotten_is_not_asked(understand, text):
    assert understand(text).kind != Kind.FORGET_ME


@pytest.mark.parametrize(
    "text", ["hello, a lightweight one please", "thanks, but I said lightweight", "hey lightweight"]
)
def test_small_talk_swallows_no_wish(understand, text):
    assert understand(text).reading.names == ("weight",)


@pytest.mark.parametrize(
    "text",
    [
        "what if I wanted a cheap one?", "who doesn't want a low price?", "is the weight important?",
        "I wonder whether weight matters", "price isn't everything", "weight is not the only thing",
    ],
)  # fmt: skip
def test_what_is_only_supposed_changes_nothing(understand, text):
    message = understand(text)
    assert message.kind not in (Kind.WISH, Kind.DISMISSAL, Kind.LIMIT)


@pytest.mark.parametrize(
    "text",
    ["start over: a lightweight one", "forget all that, I want it lightweight", "forget what I said, lightweight!"],
)
def test_who_starts_over_with_a_wish_has_it_heard(understand, text):
    message = understand(text)
    assert (message.kind, message.reading.names, message.forgotten) == (Kind.WISH, ("weight",), ("price",))


def test_all_but_one_thing_is_taken_back(reader):
    columns = Columns({item.id: item for item in TENTS.items})
    understanding = Understanding(make_parser("lexicon", objectives=TENTS.objectives), reader, columns)
    said = Context(shown=tuple(TENTS.items[:3]), wished=("price", "weight"), limits={"berths": {"min": 2}})
    message = understanding.read("forget everything except the price", said)
    assert (message.kind, message.forgotten) == (Kind.FORGET_THAT, ("weight", "berths"))


@pytest.mark.parametrize("text", ["actually the other way round", "No, the opposite!", "vice versa please"])
def test_the_order_of_wishes_is_turned_round(talk, text):
    talk("weight matters more than price")
    turned = talk(text)
    assert (turned.kind, turned.text) == (Kind.WISH, "You want low price and low weight.")
