"""Questions about items in a conversation: has it got this, what is there, which fit, within the limits in force."""

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog, Item
from druthers.types import Objective

ROWS = [  # name, price, weight, distance, rating, maker, hull, extras, motor, harbor, built
    ("Alba", 80.0, 300.0, 4.0, 4.1, "Nordlund", "wood", ("lights", "awning"), True, "Port Ash", 2021),
    ("Brisa", 60.0, 200.0, 1.0, 4.8, "Nordlund", "steel", ("lights",), False, "Port Ash", 2024),
    ("Coral", 120.0, 500.0, 6.0, 3.9, "Pereira", "wood", ("cooler", "awning"), True, "Birch Quay", 1998),
    ("Delta", 45.0, 150.0, 9.0, 3.2, "Pereira", "steel", ("ladder",), False, "Birch Quay", 2019),
    ("Egret", 150.0, 700.0, 2.5, 4.9, "Umbra", "wood", ("lights", "cooler", "ladder"), True, "Port Ash", 2015),
    ("Fjord", 95.0, 420.0, 3.0, 4.4, "Pereira", "Wood", None, True, "Port Ash", 2023),
]
BOATS = Catalog(
    name="boats",
    objectives=[
        Objective("price", low=0, high=200, less_is_better=True, description="euros a day"),
        Objective("weight", low=0, high=1000, less_is_better=True, description="kg"),
        Objective("distance", low=0, high=20, less_is_better=True, description="km"),
        Objective("rating", low=1, high=5),
    ],
    items=[
        Item(
            name.lower(),
            name,
            values={"price": price, "weight": weight, "distance": distance, "rating": rating},
            details={"maker": maker, "hull": hull, "motor": motor, "harbor": harbor, "year built": built}
            | ({} if extras is None else {"extras": extras}),
        )
        for name, price, weight, distance, rating, maker, hull, extras, motor, harbor, built in ROWS
    ],
)
FACTS = {item.name: {**item.details, **item.values} for item in BOATS.items}


@pytest.fixture(scope="module")
def advisor():
    with Advisor(BOATS) as advisor:
        yield advisor


def names(reply):
    return [one.name for one in reply.recommendation.items]


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("does the {} one have lights?", lambda boat: "lights" in boat.get("extras", ())),  # "light" is also low weight
        ("does the {} one come with a cooler?", lambda boat: "cooler" in boat.get("extras", ())),
        ("has the {} got an awning?", lambda boat: "awning" in boat.get("extras", ())),
        ("is the {} one made by Pereira?", lambda boat: boat["maker"] == "Pereira"),
        ("is the {} one available in steel?", lambda boat: boat["hull"] == "steel"),
        ("does the {} one have a motor?", lambda boat: boat["motor"]),
        ("is the {} one in Port Ash?", lambda boat: boat["harbor"] == "Port Ash"),
    ],
)
def test_whether_an_item_has_something_is_answered_by_yes_or_no(talk, question, right):
    for place, name in zip(("first", "second", "third"), names(talk("cheap")), strict=True):
        answer = talk(question.format(place)).text
        assert answer.startswith(f"{'Yes' if right(FACTS[name]) else 'No'}. {name}: ")


def test_what_cannot_be_had_so_is_told_with_what_can(talk):
    talk("rating, in Port Ash")
    assert talk("can I get it in steel?").text == (
        "No. Egret: hull wood. With hull steel: Brisa within your limits; 2 in all."
    )


def test_what_is_not_known_of_an_item_is_neither_yes_nor_no(talk):
    talk("rating, but only from 2023 on")
    assert talk("does Fjord have a ladder?").text == "Fjord: extras is not known."


def test_a_thing_that_no_item_has_is_told_in_its_own_words(talk):
    talk("rating")
    assert talk("does the first one have a Trampolin?").text.startswith("Of “Trampolin” nothing is known.")
    assert talk("hat das erste einen Gepäckträger?").text.startswith("Of “Gepäckträger” nothing is known.")


def test_it_is_what_was_spoken_of_last(talk):
    first, second, third = names(talk("cheap"))
    assert talk("does it have a motor?").items == (first.lower(),)
    assert talk("what hull has the second one?").items == (second.lower(),)
    assert talk("does it have a motor?").items == (second.lower(),)
    lightest = min((first, second, third), key=lambda name: FACTS[name]["weight"])
    talk("which of them is the lightest?")
    assert talk("who makes it?").text == f"{lightest}: maker {FACTS[lightest]['maker']}."
    talk("I'll take the third")
    assert talk("is it in Port Ash?").items == (third.lower(),)
    assert len(talk("do they have lights?").items) == len(talk("do all of them have a motor?").items) == 3


def test_a_question_about_it_sets_no_limit(talk, advisor, request):
    talk("cheap")
    assert talk("is it more than 100 euros?").text.startswith("No. ")
    assert talk("are there any with both a cooler and a ladder?").text == "With extras cooler and ladder: Egret."
    assert "Egret" in talk("which ones have a rating of at least 4.9?").text
    talk("do all of them have a ladder?")
    assert not advisor.preference(request.node.name).limits


def test_what_there_is_is_listed_the_most_common_first(talk):
    assert talk("which makers do you have?").text == "Maker: Pereira (3), Nordlund (2) and Umbra (1)."
    assert talk("what hulls are there?").text == "Hull: wood (4) and steel (2)."  # however they are written
    assert talk("what extras can I get?").text == (
        "Extras: lights (3), awning (2), cooler (2) and ladder (2); of 1 it is not known."
    )
    assert talk("what's the price range?").text == "Price: from 45 to 150, half of them up to 87.5."
    assert talk("what motors are there?").text == "Motor: yes (4) and no (2)."
    assert talk("how many harbors are there?").text == "Harbor: Port Ash (4) and Birch Quay (2)."


def test_what_there_is_is_told_within_the_limits_in_force(talk):
    talk("in Port Ash, with a motor")
    within = "Maker, with harbor Port Ash and motor yes: "
    assert talk("which makers are there?").text == f"{within}Nordlund (1), Pereira (1) and Umbra (1)."
    # A limit on what is asked for is left aside.
    assert talk("which harbors are there?").text == "Harbor, with motor yes: Port Ash (3) and Birch Quay (1)."
    assert talk("what's the price range with an awning?").text == (
        "Price, with harbor Port Ash, motor yes and extras awning: from 80 to 80, half of them up to 80."
    )
    talk("made by Umbra, at most 100 euros")
    assert "none; in all, Extras: lights (3)" in talk("what extras are there?").text


@pytest.mark.parametrize(
    "text", ["which one has the best rating?", "what's the rating?", "which maker has the first one?"]
)
def test_what_an_item_is_like_is_no_question_for_what_there_is(talk, text):
    talk("rating")
    assert "(" not in talk(text).text


def test_items_are_looked_for_within_the_limits_in_force_the_best_first(talk):
    talk("in Port Ash, the rating matters most")
    assert talk("anything with lights?").text.startswith("With extras lights: Egret, Brisa and Alba.")
    assert talk("anything from Pereira?").text == "With maker Pereira: Fjord within your limits; 3 in all."
    talk("it must have a motor")
    assert talk("any in steel?").text == "With hull steel: none within your limits; 2 in all."


def test_the_best_is_looked_for_within_the_limits_in_force(talk):
    talk("with a motor")
    assert talk("cheapest one?").text == "Alba, price 80. Without your limits: Delta, price 45."
    assert talk("who's the closest?").text == "Egret, distance 2.5. Without your limits: Brisa, distance 1."
    assert talk("which is the cheapest of all?").text.startswith("Delta, price 45")
    assert talk("newest one?").text == "Fjord, year built 2023. Without your limits: Brisa, year built 2024."


def test_those_shown_are_told_apart_from_the_others(talk):
    shown = names(talk("rating"))
    lit = " and ".join(name for name in shown if "lights" in FACTS[name].get("extras", ()))
    assert talk("which of these have lights?").text.startswith(f"Of those shown: {lit}. With extras lights: ")


def test_what_was_not_understood_in_a_question_is_told(talk):
    assert "Not understood: “trampoline”." in talk("is there anything with a trampoline and an awning?").text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("who makes the first one?", ["maker"]),
        ("how old is the first one?", ["year built"]),
        ("how much is the first one?", ["price"]),
    ],
)
def test_a_detail_is_asked_for_by_a_verb(talk, text, told):
    name = names(talk("rating"))[0]
    facts = ", ".join(f"{one} {FACTS[name][one]:{'' if isinstance(FACTS[name][one], str) else 'g'}}" for one in told)
    assert talk(text).text == f"{name}: {facts}."


def test_two_items_are_compared_in_what_was_asked_for(talk):
    one, _, other = names(talk("rating"))
    assert talk("what's the difference in weight between the first and the third?").text == (
        f"{one} beside {other}: weight {FACTS[one]['weight']:g} against {FACTS[other]['weight']:g}."
    )
    assert talk("compare the makers of 1 and 3").text == (
        f"{one} beside {other}: maker {FACTS[one]['maker']} against {FACTS[other]['maker']}."
    )
    assert talk("compare 1 and 3").text.startswith(f"{one} beside {other}: price ")


def test_a_number_of_nothing_that_was_shown_is_told(talk):
    assert len(names(talk("from Umbra"))) == 1
    assert talk("more like number 2").text == "There is no 2: 1 item shown."


def test_a_part_of_a_name_points_at_who_is_meant():
    objectives = [Objective("price", low=0, high=100, less_is_better=True), Objective("rating", low=1, high=5)]
    people = [("Ana Costa", 20.0, "chess"), ("Ben Costa", 30.0, "piano"), ("Ana Lund", 40.0, "piano")]
    items = [
        Item(name, name, values={"price": price, "rating": 4.0}, details={"subject": subject})
        for name, price, subject in people
    ]
    with Advisor(Catalog(name="tutors", objectives=objectives, items=items)) as advisor:
        advisor.message("ada", "cheap, at most 30")
        assert advisor.message("ada", "does Ben teach piano?").text == "Yes. Ben Costa: subject piano."
        assert advisor.message("ada", "does Ana teach piano?").text == "No. Ana Costa: subject chess."  # the one shown
        advisor.message("ada", "piano")
        assert advisor.message("ada", "does Ana teach chess?").text == (
            "Several are called that: Ana Costa and Ana Lund. Say which one."
        )


def test_which_have_something_in_other_languages(talk):
    for text in ("quali hanno la motor?", "welche haben motor?", "cuales tienen motor?"):
        assert talk(text).text.startswith("With motor yes: ")
    assert talk("wer ist am günstigsten?").text.startswith("Delta, price 45")


PIERS = Catalog(
    name="piers",
    objectives=[Objective("fee", low=0, high=90, less_is_better=True), Objective("calm", low=1, high=5)],
    items=[
        Item(
            f"p{k}",
            f"Pier {name}",
            values={"fee": 10.0 * (k + 1), "calm": 5.0 - k},
            details={"delivery": k != 1, "first night free": k == 0, "closed on": day, "keeper": keeper},
        )
        for k, (name, day, keeper) in enumerate(
            [("Ash", "Monday", "Ida"), ("Elm", "Sunday", "Nils"), ("Oak", "Monday", "Ida")]
        )
    ],
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("which ones deliver?", "With delivery yes: Pier Ash and Pier Oak."),  # a word of the family
        ("do they deliver?", "Yes. Pier Ash: delivery yes. No. Pier Elm: delivery no. Yes. Pier Oak: delivery yes."),
        ("is the first night free at the first one?", "Yes. Pier Ash: first night free yes."),
        ("can I have one more night?", None),  # a night is no free first one
        ("who's the keeper?", "Pier Ash: keeper Ida."),
        (
            "which days are they closed?",
            "Pier Ash: closed on Monday. Pier Elm: closed on Sunday. Pier Oak: closed on Monday.",
        ),
        ("does Elm deliver?", "No. Pier Elm: delivery no."),
        ("which one would you take?", "Pier Ash: "),
        ("which keepers are there?", "Keeper: Ida (2) and Nils (1)."),
    ],
)
def test_details_are_asked_for_as_people_do(text, told):
    with Advisor(PIERS) as advisor:
        advisor.message("ada", "a low fee")
        answer = advisor.message("ada", text).text
        assert answer.startswith(told) if told else not answer.startswith(("Yes", "No."))


def test_a_question_never_sets_anything_aside():
    with Advisor(PIERS) as advisor:
        advisor.message("ada", "a low fee")
        for text in ("can we sit outside?", "what's included?", "do you have female keepers?"):
            assert advisor.message("ada", text).recommendation is None
        card = advisor.preference("ada")
        assert (card.dismissed, card.limits) == ((), {})
