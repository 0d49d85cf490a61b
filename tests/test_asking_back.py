"""People are asked what is worth asking: the value is that of the answers, and an answer is heard as what it is."""

import numpy as np
import pytest

from druthers.advisor import Advisor
from druthers.advisor.asking import CHOICE, RANKING, Asking
from druthers.advisor.decisions import decided
from druthers.advisor.verifying import verify
from druthers.advisor.wishes import Statement, Wishes
from druthers.catalogs import Catalog, Item
from druthers.errors import Contradiction
from druthers.policies import make_policy
from druthers.types import ChoiceQuestion, Objective, RankingQuestion

NAMES = ("price", "quiet", "clean")


def inns():
    values = {"Mill": (90, 20, 40), "Barn": (20, 90, 40), "Spa": (40, 20, 90), "Pub": (60, 60, 30)}
    items = [Item(name.lower(), name, values=dict(zip(NAMES, row, strict=True))) for name, row in values.items()]
    return Catalog("inns", [Objective(name, low=0, high=100) for name in NAMES], items)


def make(**kwargs):
    return Advisor(inns(), parser="lexicon", policy_settings={"seed": 1}, **kwargs)


def test_the_value_of_a_ranking_is_the_mean_gain_of_its_answers():
    """Against a twin: one advisor for each answer, who really hears it."""
    with make(asking=Asking(price=0.0)) as advisor:
        ids = list(advisor.items)
        best = ids[int(advisor.fold.policy.utilities("ada", ids).argmax())]
        question = advisor.recommend("ada").question
        weights = advisor.fold.policy.preference("ada").weights
    gains = []
    for name in NAMES:
        with make() as twin:
            twin.hear("ada", [name])
            then = dict(zip(ids, twin.fold.policy.utilities("ada", ids), strict=True))
            gains.append(max(then.values()) - then[best])
    assert question.kind == RANKING
    assert set(question.choices) == set(NAMES)
    assert question.value == pytest.approx(weights @ gains / weights.sum())
    assert question.value > 0.05


def test_the_value_of_a_choice_is_the_mean_gain_of_its_answers():
    policy = make_policy("stated-ucb", n_objectives=2)
    policy.learn("shop", "inn", [0.9, 0.2])
    policy.learn("shop", "spa", [0.2, 0.8])
    said = np.array([0.5, 0.5]), np.array([0.2, 0.2])
    policy.hear_weights("ada", *said)
    question = policy.ask("ada", price=0.0, stated=[said, said])  # words would tell nothing more
    assert isinstance(question, ChoiceQuestion)
    now = policy.utilities("ada", ["inn", "spa"])
    scale = np.sqrt(6) / np.pi * policy.utility_noise("ada")
    chance = 1 / (1 + np.exp(-(now[0] - now[1]) / scale))
    value = 0.0
    for picked, likely in (("inn", chance), ("spa", 1 - chance)):
        twin = type(policy).from_state(policy.state())
        twin.learn_choice("ada", picked, ["inn", "spa"])
        then = twin.utilities("ada", ["inn", "spa"])
        value += likely * (then.max() - then[0])
    assert question.offer == ("inn", "spa")
    assert question.value == pytest.approx(value)
    assert policy.ask("ada", price=value + 1e-9, stated=[said, said]) is None
    assert policy.ask("ada") is None
    assert policy.users == ("shop", "ada")  # nobody who was imagined stays
    assert isinstance(policy.ask("new", price=0.0), RankingQuestion)


def test_asking_changes_nothing_and_ends_with_the_budget():
    with make() as advisor, make(asking=Asking(budget=0)) as silent:
        for one in (advisor, silent):
            made = one.recommend("ada", id="first", size=2)
            one.hear("ada", ["quiet"])
            one.hear("ada", ["clean"])
            one.recommend("ada", id="third")
        assert made.question is None
        assert advisor.recommend("ada", id="first", size=2).question.kind == RANKING  # asked for again, told again
        assert advisor.digest(["ada"]) == silent.digest(["ada"])
        assert advisor.recommend("ada").question is None  # enough was told
        assert verify(advisor).agrees
    with make(asking=Asking(price=5.0)) as dear:
        assert dear.recommend("ada").question is None


def test_after_a_wish_only_what_still_matters_is_asked():
    with make(asking=Asking(price=0.0, budget=9)) as advisor:
        advisor.hear("ada", ["quiet"])
        question = advisor.recommend("ada").question
        stated = Wishes({1: 1.0})
        stated.hear(Statement((0,), (1.0,)))
        assert question.kind in (RANKING, CHOICE)
        assert question.value < 0.2
        words = question.choices if question.kind == RANKING else [advisor.items[id].name for id in question.choices]
        assert all(word in question.text for word in words)
        assert question.text.endswith("?")


def hotels():
    return Advisor("hotels", parser="lexicon", policy_settings={"seed": 1}, asking=Asking(price=0.0, budget=9))


def asked_to_choose(advisor):
    """Return a recommendation that asks to choose between two items."""
    advisor.pick(advisor.recommend("ada", size=3).id, None)
    made = advisor.recommend("ada", size=3)
    assert made.question.kind == CHOICE
    return made


def choices(advisor):
    return [
        (one.body["picked"], one.body["offer"]) for one in advisor.store.read(0, limit=1000) if one.kind == "choice"
    ]


def test_an_answer_in_a_conversation_is_heard_as_what_it_is():
    with hotels() as advisor:
        question = asked_to_choose(advisor).question
        taken = question.choices[1]
        advisor.message("ada", f"I'll take {advisor.items[taken].name}")
        assert choices(advisor)[-1] == (taken, list(question.choices))


def test_a_name_alone_answers_which_of_the_two():
    with Advisor("hotels") as advisor:
        question = advisor.message("ada", "central please").recommendation.question
        assert question.kind == "choice"
        for place, user in enumerate(("ada", "bob")):
            advisor.message(user, "central please") if user != "ada" else None
            reply = advisor.message(user, question.names[place])
            assert reply.kind == "taken"
        chosen = [event.body for event in advisor.store.walk() if event.kind == "choice"]
        assert [(one["picked"], one["offer"]) for one in chosen] == [
            (id, list(question.choices)) for id in question.choices
        ]


def test_an_answer_leaves_the_pick_of_the_decision_open():
    """Both are learned, each once; what was picked is not what was answered."""
    with hotels() as advisor:
        made = asked_to_choose(advisor)
        answer, pick = made.question.choices[0], made.items[-1].item
        assert set(made.question.choices) != {one.item for one in made.items}
        assert advisor.pick(made.id, answer, offer=made.question.choices).new
        assert decided(advisor.store.about(made.id)).choice is None
        assert advisor.pick(made.id, pick).new
        assert not advisor.pick(made.id, answer, offer=made.question.choices).new
        assert not advisor.pick(made.id, pick).new
        assert decided(advisor.store.about(made.id)).choice == {
            "picked": pick,
            "offer": [one.item for one in made.items],
        }
        for item, offer in ((made.question.choices[1], made.question.choices), (made.items[0].item, None)):
            with pytest.raises(Contradiction):
                advisor.pick(made.id, item, offer=offer)
        assert verify(advisor).agrees


def test_a_number_means_the_items_shown():
    with hotels() as advisor:
        made = asked_to_choose(advisor)
        assert made.items[0].item in made.question.choices
        advisor.message("ada", "I'll take the first")
        assert choices(advisor)[-1] == (made.items[0].item, [one.item for one in made.items])


def test_a_question_that_is_not_shown_is_not_kept():
    """Where the reading asks something itself, that comes first, alone; a later answer is not taken for one to it."""
    with hotels() as advisor:
        advisor.pick(advisor.recommend("ada", size=3).id, None)
        reply = advisor.message("ada", "under 100 and somewhere my kids can play")
        shown = [one.item for one in reply.recommendation.items]
        assert reply.heard.reading.question in reply.text
        assert reply.recommendation.question is None
        assert "question" not in advisor.store.find(f"decision:{reply.recommendation.id}").body
        advisor.message("ada", f"I'll take {advisor.items[shown[0]].name}")
        assert choices(advisor)[-1] == (shown[0], shown)


def test_asking_in_a_context_imagines_answers_there_and_leaves_nothing():
    """Against a twin that really chooses in the context, for somebody who felt things in it and for a stranger."""
    policy = make_policy("stated-ucb", n_objectives=2)
    for arm, reward in {"inn": [0.9, 0.2], "spa": [0.2, 0.8], "pub": [0.5, 0.6]}.items():
        policy.learn("shop", arm, reward)
    for turn in range(30):
        with policy.in_context({"weekend": turn % 2 == 0}):
            policy.learn("ada", "inn", utility=0.6 if turn % 2 else -0.6)
            policy.learn("ada", "spa", utility=-0.6 if turn % 2 else 0.6)
    said, choices = (np.array([0.5, 0.5]), np.array([0.2, 0.2])), []
    for user in ("ada", "new"):
        for context in ({"weekend": True}, {"phone": True}, {}):
            before = policy.state()
            with policy.in_context(context):
                now = policy.utilities(user, ["inn", "spa", "pub"])
                first, other = np.array(["inn", "spa", "pub"])[np.argsort(-now)[:2]].tolist()
                question = policy.ask(user, price=0.0, offer=[first, other], stated=[said, said])
                scale = np.sqrt(6) / np.pi * policy.utility_noise(user)
            lead = np.sort(now)[-1] - np.sort(now)[-2]
            value = 0.0
            for picked, chance in ((first, 1 / (1 + np.exp(-lead / scale))), (other, 1 / (1 + np.exp(lead / scale)))):
                twin = type(policy).from_state(before)
                with twin.in_context(context):
                    twin.learn_choice(user, picked, [first, other])
                    then = twin.utilities(user, [first, other])
                value += chance * max(then[1] - then[0], 0.0)
            if isinstance(question, ChoiceQuestion):
                choices.append(question)
                assert question.value == pytest.approx(value)
            after = policy.state()
            assert before.keys() == after.keys()
            for key in before:
                np.testing.assert_equal(after[key], before[key], err_msg=key)
    assert len(choices) > 2


def test_what_was_worked_out_for_a_decision_ends_with_what_is_learned():
    """Decisions that nothing came between are alike; after a rating they are those of who never decided before."""
    made = []
    for again in (1, 3):
        with make(asking=Asking(price=0.0, budget=9)) as advisor:
            advisor.hear("ada", ["quiet"])
            for step in range(3):
                for one in range(again):
                    last = advisor.recommend("ada", id=f"{step}-{one}")
                    stranger = advisor.recommend("eve", id=f"eve-{step}-{one}")
                advisor.feedback("0-0", utility=0.5 - step / 2, rewards={"clean": 20.0} if step == 2 else None)
            made.append((last.items, last.question, stranger.items, stranger.question))
            advisor.recommend("ada")
            assert advisor.fold.worked_out
            advisor.forget("ada")
            assert not advisor.fold.worked_out
    assert made[0] == made[1]
