"""What a conversation is about: which item, which of two things said, which limit; and answers that tell all of it."""

from dataclasses import replace

import pytest

from druthers.advisor import Advisor, statements
from druthers.advisor.wishes import DRAWS, GUESSED
from druthers.advisor.wording import limit_in_words
from druthers.catalogs import Catalog, Item
from druthers.errors import Contradiction, InvalidOffer, InvalidRanking, NothingFits
from druthers.limits import Limits
from druthers.types import Evidence, Objective, Reading, Strength

# "Value" is more for the money, and the price a detail, as in the hotels that come along.
HUTS = Catalog(
    "huts",
    [
        Objective("value", low=0, high=5, description="Value for money."),
        Objective("quiet", low=0, high=5),
        Objective("cleanliness", low=0, high=5),
    ],
    [
        Item(
            name.lower(),
            name=name,
            values={"value": 4.5 - 0.25 * k, "quiet": 1 + (k * 3) % 5, "cleanliness": 1 + (k * 2) % 5},
            details={"price": 40 + 10 * k, "city": ("Graz", "Linz")[k % 2]},
        )
        for k, name in enumerate(["Adlerhof", "Birkstein", "Cervin", "Dohlennest", "Edelruh", "Felseck", "Gamsblick"])
    ],
)


@pytest.fixture
def advisor():
    with Advisor(HUTS, parser="lexicon") as advisor:
        yield advisor


@pytest.fixture
def reader():
    """An advisor that reads meanings too."""
    with Advisor(HUTS) as advisor:
        yield advisor


@pytest.fixture
def talk(advisor):
    return lambda text: advisor.message("ada", text)


def shown(reply):
    return [one.name for one in reply.recommendation.items]


def felt(advisor):
    """Return how each item was that was rated: the mean of what stands."""
    told = advisor.operations.fold.people["ada"].felt
    return {item: (count, round(total / count, 1)) for item, (count, total) in told.items()}


@pytest.mark.parametrize("again", ["actually it was great", "sorry, I meant it was great", "it was great, actually"])
def test_what_is_put_right_is_what_was_rated_whatever_is_shown_since(advisor, talk, again):
    first = shown(talk("cheap"))[0]
    assert first not in shown(talk("it was awful"))[:1]
    assert talk(again).text == f"Noted: {first} was great."
    assert felt(advisor) == {first.lower(): (1, 1.0)}


def test_an_aspect_that_is_put_right_leaves_one_utility(advisor, talk):
    first = shown(talk("cheap"))[0]
    talk("it was filthy")
    assert talk("no, it was spotless").text == f"Noted: {first} was great (cleanliness good)."
    assert felt(advisor) == {first.lower(): (1, 1.0)}


@pytest.mark.parametrize("between", ["something else", "it was awful"])
def test_it_is_what_was_taken_whatever_is_shown_since(advisor, talk, between):
    second = shown(talk("cheap"))[1]
    talk("the second please")
    talk(between)
    assert talk("actually it was lovely").text == f"Noted: {second} was great."
    assert felt(advisor) == {second.lower(): (1, 1.0)}


def test_a_number_that_puts_right_is_of_what_was_shown_then(talk):
    first, second, _ = shown(talk("cheap"))
    talk("the first was terrible")
    assert talk("no, I mean the second was terrible").text == (
        f"Noted: {second} was awful. What you said of {first} stays: say how it was, if it was not so."
    )
    assert talk("sorry, the first was great").text.startswith(f"Noted: {first} was great.")


def test_what_is_shown_since_is_meant_where_nothing_is_put_right(talk):
    talk("cheap")
    new = shown(talk("the first was terrible"))
    assert talk("the second was lovely").text == f"Noted: {new[1]} was great."
    assert talk("actually, the first one please").text.startswith("Good: you took")


@pytest.mark.parametrize("done", ["I'll take it", "it was awful", "not that one"])
def test_what_an_answer_was_about_is_what_is_done_with(talk, done):
    third = shown(talk("cheap"))[2]
    assert talk("how quiet is the third one?").items == (third.lower(),)
    assert talk(done).items == (third.lower(),)


@pytest.mark.parametrize(
    ("text", "gone", "wished", "limits"),
    [
        ("forget cheap", "value", ("quiet",), {"price": {"max": 89}}),
        ("I don't want it cheap any more", "value", ("quiet",), {"price": {"max": 89}}),
        ("it needn't be cheap after all", "value", ("quiet",), {"price": {"max": 89}}),
        ("I didn't say cheap", "value", ("quiet",), {"price": {"max": 89}}),
        ("forget under 90", "price", ("value", "quiet"), {}),
        ("forget the 90", "price", ("value", "quiet"), {}),
        ("forget the price", "price", ("value", "quiet"), {}),
    ],
)
def test_a_wish_is_taken_back_by_its_words_and_a_limit_by_its_number(reader, text, gone, wished, limits):
    reader.message("ada", "cheap, under 90 and quiet")
    assert reader.message("ada", text).text == f"Taken back: {gone}."
    card = reader.preference("ada")
    assert (card.wished, card.limits) == (wished, limits)


def test_a_word_for_the_price_takes_back_a_limit_where_nothing_was_wished(advisor, talk):
    talk("under 90")
    assert talk("it needn't be cheap after all").text == "Taken back: price."
    assert not advisor.preference("ada").limits


@pytest.mark.parametrize(
    ("text", "told", "wished", "limits"),
    [
        ("forget cheap", "the wish for fee", ("size",), {"fee": {"max": 90}}),
        ("forget under 90", "the limit on fee", ("fee", "size"), {}),
        ("scrap the fee limit", "the limit on fee", ("fee", "size"), {}),
        ("forget the fee", "fee", ("size",), {}),
    ],
)
def test_of_one_thing_the_wish_or_the_limit_alone_is_taken_back(text, told, wished, limits):
    objectives = [Objective("fee", low=0, high=200, less_is_better=True), Objective("size", low=0, high=9)]
    items = [Item(str(k), values={"fee": 20.0 * k, "size": float(k)}) for k in range(9)]
    with Advisor(Catalog("rooms", objectives, items)) as advisor:
        advisor.message("ada", "cheap, fee under 90, and a big size")
        assert advisor.message("ada", text).text == f"Taken back: {told}."
        card = advisor.preference("ada")
        assert (card.wished, card.limits) == (wished, limits)


@pytest.mark.parametrize(
    ("first", "then", "told"),
    [
        ("price from 50 up to 100", "price at least 70", "Only price from 70 up to 100."),
        ("not over 100 and not under 60", "up to 90 is ok", "Only price from 60 up to 90."),
        ("cheap, price at least 60", "like 2 but under 100", "Only price from 60 up to 99. More like "),
        ("ideally price at least 60", "ideally price at most 100", "If possible: price from 60 up to 100."),
    ],
)
def test_a_limit_is_told_as_it_stands_beside_the_one_before(advisor, talk, first, then, told):
    talk(first)
    assert told in talk(then).text
    card = advisor.preference("ada")
    assert set({**card.limits, **card.hopes}["price"]) == {"min", "max"}


def test_alternatives_are_listed_with_commas_and_or():
    assert limit_in_words(["Graz", "Linz", "Wels"]) == "Graz, Linz or Wels"
    assert limit_in_words({"not": ["Graz", "Linz", "Linz"]}) == "other than Graz or Linz"


@pytest.mark.parametrize("text", ["cheaper than {}", "something less expensive than {}", "more affordable than {}"])
@pytest.mark.parametrize("called", ["the second", "Birkstein", "2"])
def test_cheaper_than_an_item_is_a_limit_on_the_price_where_items_have_one(advisor, talk, text, called):
    assert shown(talk("cheap"))[1] == "Birkstein"
    reply = talk(text.format(called))
    assert advisor.preference("ada").limits == {"price": {"max": 50.0}, "name": {"not": ["Birkstein"]}}
    assert shown(reply) == ["Adlerhof"]


def test_a_guess_counts_clearly_less_than_a_plain_wish():
    said = Reading("quiet, and so on", ("price", "quiet"), (0,), confidences=(0.9,), strengths=(Strength.PLAIN,))
    word = Evidence(0, 0, 5, "quiet", "wanted", "word", 1.0)
    draws = [
        statements.content(replace(said, evidence=pieces), Limits(), ())["draws"]
        for pieces in ((word,), (replace(word, why="'like quiet'"),))
    ]
    assert draws == [[1.0], [GUESSED]]
    assert DRAWS[Strength.FAINT] > GUESSED


def test_what_was_taken_back_is_no_message_that_anything_comes_from(talk):
    talk("cheap")
    talk("quiet, under 90")
    assert talk("what do you know about me").text.endswith("From 2 messages and 0 ratings.")
    talk("start over")
    assert talk("what do you know about me").text.endswith("From 0 messages and 0 ratings.")


def test_who_speaks_before_there_are_items_is_heard_once():
    with Advisor(Catalog("huts", HUTS.objectives), parser="lexicon") as advisor:
        for _ in range(2):
            reply = advisor.message("ada", "cheap", id="m")
            assert reply.text == "You want value. There is nothing to recommend yet."
        assert advisor.preference("ada").queries == 1
        assert advisor.message("ada", "something else").text == "There is nothing to recommend yet."
        with pytest.raises(InvalidOffer, match="there are none yet; put some there first"):
            advisor.recommend("ada", text="quiet")
        assert advisor.preference("ada").queries == 1


@pytest.mark.parametrize("said", [{"value": 0.05, "quiet": 0.95}, {"value", "quiet"}, b"quiet", 3])
def test_what_has_no_order_is_no_ranking(advisor, said):
    with pytest.raises(InvalidRanking, match="weights=" if isinstance(said, dict) else "in order, but got"):
        advisor.hear("ada", said)
    advisor.hear("ada", ["quiet"])
    with pytest.raises(InvalidRanking):
        advisor.correct("ada", said)
    assert advisor.preference("ada").wished == ("quiet",)


def test_problems_tell_limits_in_words(advisor):
    with pytest.raises(NothingFits) as refused:
        advisor.recommend("ada", where={"city": "Graz", "price": {"max": 30}})
    assert str(refused.value) == (
        "some item must be within the limits, but none has city Graz and price up to 30;"
        " ask for 'price' up to 40 (1 left then)"
    )


def test_an_id_that_another_user_has_used_says_so(advisor):
    advisor.message("ada", "cheap", id="m1")
    with pytest.raises(Contradiction, match="its own among those of all users, but another one has 'm1'"):
        advisor.message("ben", "cheap", id="m1")


def test_whether_it_has_more_than_another_one_compares_them(talk):
    first, second, third = shown(talk("cheap"))
    assert talk("is it cleaner than the second?").text == f"{first} beside {second}: cleanliness 1 against 3."
    assert talk(f"is it cheaper than {third}?").text == f"{first} beside {third}: price 40 against 60."
    assert talk("is it quieter than Gamsblick?").items == (first.lower(), "gamsblick")


@pytest.mark.parametrize("text", ["why not the Felseck", "why not Felseck?", "why not felseck", "how come not Felseck"])
def test_why_not_is_about_the_item_that_is_called_so_in_short(text):
    items = [*HUTS.items[:5], replace(HUTS.items[5], name="Felseck Alm"), HUTS.items[6]]
    with Advisor(Catalog("huts", HUTS.objectives, items), parser="lexicon") as advisor:
        advisor.message("ada", "cheap")
        assert advisor.message("ada", text).text.startswith("Felseck Alm: ")


def test_why_not_what_there_is_none_of_says_so(talk):
    talk("cheap")
    assert talk("why not the Nonexistent Palace?").text == "There is no “Nonexistent Palace”."
    assert talk("why not quiet?").text.startswith("Adlerhof: ")
    assert talk("why not Graz?").text.startswith("Adlerhof: ")


@pytest.mark.parametrize("text", ["the kids are 4 and 8, sorry", "my son is 2", "our children are aged 3, 5 and 7"])
def test_how_old_somebody_is_is_no_item(reader, text):
    reader.message("ada", "cheap")
    reply = reader.message("ada", text)
    assert "There is no" not in reply.text
    assert not reply.items


TWINS = [
    Item(id, name, values={"value": 5.0 - k})
    for k, (id, name) in enumerate(zip("abcde", [*["Twin"] * 4, "Solo"], strict=True))
]


@pytest.fixture
def twins():
    with Advisor(Catalog("huts", HUTS.objectives, TWINS), parser="lexicon") as advisor:
        advisor.message("ada", "cheap")
        yield advisor


@pytest.mark.parametrize("text", ["not the Twin", "I took Twin and it was great", "more like the Twin", "book Twin"])
def test_which_of_those_that_share_a_name_is_asked(twins, text):
    told = "1, 2 and 3 are all called Twin: say which one by its number; nothing was noted."
    assert twins.message("ada", text).text == told
    assert twins.preference("ada").feedbacks == 0


def test_one_of_those_that_share_a_name_is_turned_down_alone(twins):
    reply = twins.message("ada", "not 2")
    assert reply.text == "Without Twin, then."
    assert "b" not in [one.item for one in reply.recommendation.items]
    assert not twins.preference("ada").limits


def test_a_long_text_is_told_back_in_short_and_that_its_end_was_not_read(reader):
    reply = reader.message("ada", f"in Atlantis{'antis' * 300}, cheap")
    assert len(reply.text) < 400
    end = "Limits are read in the first 2,000 letters alone: say what comes after them in another message."
    for text in ("cheap and clean, ", "why? "):
        reply = reader.message("ada", text + "we talked it over at home. " * 90 + "It must be under 90")
        assert reply.text.endswith(end)
        assert "  " not in reply.text
    assert not reader.message("ada", "quiet").text.endswith(end)
