"""Nothing said is lost silently, and nothing is turned round: it is obeyed, or told as not understood."""

import pytest

from druthers.advisor import Advisor
from druthers.advisor.messages import Kind
from druthers.catalogs import Catalog, Item
from druthers.errors import InvalidOffer
from druthers.limits import Limits
from druthers.types import Objective

ROWS = [
    ("Ridge Loop", 14, 900, 4.8, "Tyrol", ["hut", "summit"], True, "stone"),
    ("Lake Walk", 6, 80, 4.2, "Carinthia", ["lake", "boat rental"], True, "gravel"),
    ("Fir Path", 9, 300, 3.2, "Styria", ["hut"], False, "forest soil"),
    ("Eagle Peak", 22, 1700, 5.0, "Tyrol", ["summit", "rope way"], False, "stone"),
    ("Mill Gorge", 7, 250, 4.6, "Carinthia", ["waterfall", "hut"], True, "gravel"),
]
TRAILS = Catalog(
    name="hiking trails",
    objectives=[
        Objective("length", low=1, high=40, less_is_better=True, description="kilometers"),
        Objective("climb", low=0, high=2000, less_is_better=True, description="meters of ascent"),
        Objective("scenery", low=1, high=5, description="How beautiful the views are."),
    ],
    items=[
        Item(
            name.lower().replace(" ", "-"),
            name,
            values={"length": length, "climb": climb, "scenery": scenery},
            details={"region": region, "features": features, "dogs allowed": dogs, "ground": ground},
        )
        for name, length, climb, scenery, region, features, dogs, ground in ROWS
    ],
)


@pytest.fixture(scope="module")
def advisor():
    with Advisor(TRAILS) as advisor:
        yield advisor


@pytest.fixture
def limits(advisor, request):
    return lambda: advisor.preference(request.node.name).limits


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("beautiful, and it must have a playground or a lake", "playground"),
        ("a hut and a playground", "playground"),
        ("beautiful views, with a jacuzzi", "jacuzzi"),
        ("in Tyrol, no crocodiles", "crocodiles"),
        ("with a hut, parking lot and a summit", "parking lot"),
        ("beautiful views, a funicular is a must", "funicular"),
    ],
)
def test_what_no_item_is_known_to_have_is_told_beside_what_is_obeyed(talk, text, lost):
    reply = talk(text)
    assert reply.recommendation is not None
    assert f"“{lost}”" in reply.text.partition("Not understood: ")[2]


def test_what_no_item_is_known_to_have_is_no_guess_at_a_wish(talk):
    reply = talk("it needs to have a dishwasher")
    assert (reply.kind, reply.recommendation) == (Kind.UNCLEAR, None)
    assert "I did not understand “dishwasher”" in reply.text
    assert "There is features boat rental, hut" in reply.text, "what there is instead"


@pytest.mark.parametrize(
    "text", ["beautiful, no rush", "views please, no idea what else", "with a hut where we can eat"]
)
def test_phrases_are_not_told_as_things(talk, text):
    assert "Not understood" not in talk(text).text


def test_a_wish_beside_a_greeting_is_not_lost(talk):
    reply = talk("hi, I'd like a zorbing tour with my two kids")
    assert reply.kind == Kind.OTHER
    assert "Not understood: “hi, I'd like a zorbing tour" in reply.text


def test_pieces_around_limits_are_told_apart(talk):
    reply = talk("in Tyrol for moonwalkers with a hut please")
    assert "Not understood: “for moonwalkers with”" in reply.text


def test_who_wants_little_is_not_told_to_want_it(talk):
    assert talk("not too steep, short").text.count("low") == 2


def test_a_way_out_of_limits_is_told_in_words(talk):
    talk("at most 8 km")
    reply = talk("in Tyrol")
    assert reply.text == (
        "Only region Tyrol. Nothing fits: with length up to 14 there is 1, without the limit on region there are 2."
    )


def test_what_must_be_there_is_told_as_that(talk):
    assert talk("dogs must be allowed").text.startswith("A must: dogs allowed.")
    assert talk("no dogs allowed").text.startswith("Ruled out: dogs allowed.")


def test_what_matters_is_asked_once(talk):
    assert "What matters most to you" in talk("in Tyrol for moonwalkers").text
    assert "What matters most to you" not in talk("with a hut for moonwalkers").text


@pytest.mark.parametrize(
    ("before", "text", "left"),
    [
        ("on gravel", "stone is fine too", {"ground": ["gravel", "stone"]}),
        ("on gravel", "stone would be ok as well", {"ground": ["gravel", "stone"]}),
        ("with a hut", "a lake is fine too", {"features": {"any": ["hut", "lake"]}}),
        ("with a hut, no summit", "without a hut is fine too", {"features": {"not": "summit"}}),
        ("no gravel", "gravel is fine too", {}),
        ("on stone", "I don't need it to be stone", {}),
        ("on stone", "it doesn't have to be stone", {}),
        ("at most 10 km", "stone is fine too", {"length": {"max": 10}}),
        ("at most 10 km", "at most 15 km is fine too", {"length": {"max": 15}}),
        ("at least 10 km", "at least 8 km would be ok", {"length": {"min": 8}}),
        ("on stone", "on gravel, but stone is fine too", {"ground": ["gravel", "stone"]}),
        ("at most 10 km", "on gravel. stone is ok", {"length": {"max": 10}, "ground": ["gravel", "stone"]}),
        ("with a hut", "no summit, a lake is fine too", {"features": {"not": "summit", "any": ["hut", "lake"]}}),
        ("at most 10 km", "with a hut, a lake is fine", {"length": {"max": 10}, "features": {"any": ["hut", "lake"]}}),
    ],
)
def test_what_is_accepted_or_not_needed_is_no_limit(talk, limits, before, text, left):
    talk(before)
    talk(text)
    assert limits() == left


@pytest.mark.parametrize(
    "text", ["no quiero Tyrol", "ich will nicht nach Tyrol", "non voglio Tyrol", "I don't want Tyrol"]
)
def test_what_is_not_wanted_in_other_languages_is_not_turned_round(talk, limits, text):
    talk(text)
    assert limits() == {"region": {"not": "Tyrol"}}


@pytest.mark.parametrize(
    "text", ["under 1000 m of climbing", "at most 1000 meters of ascent", "less than 1000 m climb"]
)
def test_a_number_is_about_what_its_words_are_a_form_of(talk, limits, text):
    talk(text)
    assert limits() == {"climb": {"max": 1000}}


def test_people_belong_to_their_number(talk):
    assert "people" not in talk("in Tyrol, for 4 people").text.replace("“for 4 people”", "")


def test_something_else_tells_what_was_not_understood(talk):
    talk("short")
    assert "Not understood: “show me a fluffier one”" in talk("show me a fluffier one").text


@pytest.mark.parametrize(
    ("before", "text", "left"),
    [
        ("at most 20 km", "15", {"length": {"max": 15}}),
        ("at most 20 km", "thirty then", {"length": {"max": 30}}),
        ("at most 10 km", "ok fine, we can go up to 14 km", {"length": {"max": 14}}),
        ("short", "undr 12 km", {"length": {"max": 12}}),
        ("short", "with a rental", {"features": {"all": "boat rental"}}),
        ("short", "a boat rent is a must", {"features": {"all": "boat rental"}}),
        ("short", "in Carintia", {"region": "Carinthia"}),
        ("with a hut", "nvm the hut", {}),
    ],
)
def test_numbers_and_texts_are_read_as_they_are_said_in_short(talk, limits, before, text, left):
    talk(before)
    talk(text)
    assert limits() == left


def test_an_amount_that_limits_nothing_is_told(talk):
    assert "“200 euros”" in talk("in Tyrol, 200 euros").text


def test_a_question_for_what_nobody_knows_says_so(talk):
    talk("short")
    assert "Of “parking lot” nothing is known." in talk("does 1 have a parking lot?").text
    assert talk("is parking included in 2?").text.startswith("Of “parking” nothing is known.")


def test_questions_are_answered_of_all_items_they_are_about(talk):
    shown = [one.name for one in talk("short").recommendation.items]
    for text in ("what about scenery?", "how much climb do 1, 2 and 3 have?"):
        assert all(name in talk(text).text for name in shown)
    assert talk("what about scenery?").heard is None


def test_which_has_more_is_asked_of_those_shown(talk, advisor):
    shown = talk("short").recommendation.items
    best = max(shown, key=lambda one: advisor.items[one.item].values["scenery"])
    reply = talk("which is more beautiful?")
    assert (reply.kind, reply.items, reply.recommendation) == (Kind.BEST, (best.item,), None)


def test_how_many_there_are(talk):
    assert talk("how many trails are there?").text == "There are 5."
    assert talk("how many do you have in Tyrol?").text == "With region Tyrol: 2, Ridge Loop and Eagle Peak."


def test_items_by_name_are_compared_whether_shown_or_not(talk):
    shown = [one.name for one in talk("short, in Carinthia").recommendation.items]
    reply = talk(f"which is shorter, {shown[0]} or Eagle Peak?")
    assert reply.text.startswith(f"{shown[0]} beside Eagle Peak: ")
    assert talk("compare 1 and 4").text == "There is no 4: 2 items shown."


def test_why_not_one_that_is_not_shown(talk):
    talk("short, in Carinthia")
    assert "Eagle Peak: Outside of what you asked for: region Carinthia." in talk("why not Eagle Peak?").text


def test_an_item_that_is_brought_up_is_no_question(talk):
    shown = talk("short").recommendation.items
    reply = talk("the 2nd? did it once. awful, much too long")
    assert (reply.kind, reply.items) == (Kind.FEEDBACK, (shown[1].item,))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("no more than 300 m up", {"climb": {"max": 300}}),
        ("a long hike, at least 15 km", {"length": {"min": 15}}),
        ("more beautiful than Lake Walk", {"scenery": {"min": 4.2}, "name": {"not": ["Lake Walk"]}}),
    ],
)
def test_neither_units_nor_names_nor_more_of_a_cost_are_misread(talk, limits, text, left):
    reply = talk(text)
    assert limits() == left
    assert "low length" not in reply.text


def test_what_a_limit_leaves_unsure_is_told(talk):
    assert "“10 minutes walk at most”" in talk("in Tyrol, 10 minutes walk at most").text


def test_the_most_of_something_within_limits(talk):
    reply = talk("what's the shortest one with a hut?")
    assert (reply.kind, reply.items) == (Kind.BEST, ("mill-gorge",))


def test_who_may_come_along_is_a_question(talk):
    shown = [one.name for one in talk("short").recommendation.items]
    reply = talk("can we bring our dog?")
    assert reply.kind == Kind.DETAIL
    assert all(f"{name}: dogs allowed" in reply.text for name in shown)


def test_an_item_before_a_question_is_not_taken(talk, advisor, request):
    shown = talk("short").recommendation.items
    reply = talk("ok and the second one, how long?")
    assert (reply.kind, reply.items) == (Kind.DETAIL, (shown[1].item,))


@pytest.mark.parametrize("text", ["a long hike", "I'd like something really steep", "show me a long one please"])
def test_much_of_a_cost_is_not_turned_round(talk, text):
    reply = talk(text)
    assert "low" not in reply.text
    assert f"“{text}”" in reply.text


@pytest.mark.parametrize("text", ["no long hikes", "not too long", "long hikes annoy me"])
def test_little_of_a_cost_is_still_wished_for(talk, text):
    assert talk(text).heard.ranking == ("length",)


def test_a_text_that_is_denied_is_taken_out_of_those_asked_for(talk, limits):
    talk("on gravel or stone")
    assert "Only ground gravel." in talk("not stone").text
    talk("no forest soil")
    assert limits() == {"ground": "gravel"}
    talk("I hate gravel")
    assert limits() == {"ground": {"not": "gravel"}}


def test_the_name_of_a_detail_belongs_to_its_text(talk):
    assert "Not understood" not in talk("a gravel ground").text


def test_there_may_be_none_that_anybody_knows_of(talk):
    assert "I did not understand “jacuzzi”" in talk("is there a jacuzzi?").text


def test_an_amount_in_any_unit_is_told(talk):
    assert "“10 kilos”" in talk("in Tyrol, 10 kilos").text


def test_a_failure_within_reading_is_no_answer(advisor, monkeypatch):
    def fail(*_):
        raise StopIteration

    monkeypatch.setattr("druthers.advisor.replies.find_acts", fail)
    with pytest.raises(StopIteration):
        advisor.message("eve", "short")


def test_what_was_meant_takes_the_place_of_what_was_said(talk, advisor, request):
    talk("short")
    reply = talk("sorry, I meant beautiful views")
    assert reply.text.startswith("Taken back: length. ")
    assert advisor.preference(request.node.name).wished == ("scenery",)


@pytest.mark.parametrize("text", ["el segundo por favor", "il secondo per favore", "das zweite bitte"])
def test_an_item_is_taken_politely_in_other_languages(talk, text):
    shown = talk("short").recommendation.items
    reply = talk(text)
    assert (reply.kind, reply.items) == (Kind.TAKEN, (shown[1].item,))


@pytest.mark.parametrize("text", ["was kostet das?", "wie wird das Wetter?"])
def test_a_question_in_another_language_is_not_about_the_person(talk, text):
    talk("short")
    assert talk(text).kind != Kind.PROFILE
    assert talk("was weisst du über mich?").kind == Kind.PROFILE


@pytest.mark.parametrize("limit", [[{"min": 3}, {"min": 2}], {"min": "three"}, {}, {"min": 1, "any": "hut"}])
def test_limits_that_nothing_can_decide_with_never_get_into_a_journal(advisor, request, limit):
    read = advisor.operations.parser.read("quiet"), Limits({"length": limit})
    before = advisor.store.last()
    with pytest.raises(InvalidOffer, match=r"must .*but got .*; give"):
        advisor._run(advisor.operations.hear(request.node.name, "quiet", read=read))
    assert advisor.store.last() == before
