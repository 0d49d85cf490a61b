"""What to ask, and whether people choose as the model says: values of questions, answers saved, what is left over."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from test_bench import simulated, write
from typer.testing import CliRunner

from druthers.beliefs import next_question, question_values
from druthers.beliefs.points import POINTS
from druthers.beliefs.questions import DRAWS
from druthers.bench.asking import Half, answers_needed, ask_half, ask_people, learn_from
from druthers.bench.fitting import examine, fit_rankings, left_over, upper_chi_square
from druthers.bench.players import shares_of
from druthers.bench.when import Rule, compare_rules, play_rules
from druthers.cli import app
from druthers.environments.people import People
from druthers.errors import InvalidSetting
from druthers.policies import FisherPQUCB


def entropy(chances: np.ndarray) -> float:
    return float(-(chances[chances > 0] * np.log(chances[chances > 0])).sum())


def test_the_value_of_a_question_is_the_entropy_that_its_answer_takes() -> None:
    """H(best) - E[H(best | answer)], draw by draw; the same in another way."""
    rng = np.random.default_rng(0)
    mean, root = rng.normal(size=3), rng.normal(size=(3, 3))
    covariance = root @ root.T
    questions, goals = rng.normal(size=(4, 3, 3)), rng.normal(size=(2, 5, 3))
    z = np.vstack([POINTS[:DRAWS, :3], -POINTS[:DRAWS, :3]])
    weights = mean + z @ np.linalg.cholesky(covariance).T
    wanted = np.zeros(4)
    for number, question in enumerate(questions):
        shares = np.array([shares_of(question[None], c)[0] for c in weights])
        for goal in goals:
            best = np.eye(5)[(weights @ goal.T).argmax(axis=1)]
            after = sum(
                shares[:, k].mean() * entropy((shares[:, k] @ best) / shares[:, k].sum()) for k in range(len(question))
            )
            wanted[number] += entropy(best.mean(axis=0)) - after
    values = question_values(mean, covariance, questions, goals)
    np.testing.assert_allclose(values, wanted, rtol=1e-4, atol=1e-9)
    assert next_question(mean, covariance, questions, goals) == wanted.argmax()


def test_what_decides_nothing_is_not_worth_asking() -> None:
    """Certain weights, or a goal with two equal options: every answer tells nothing."""
    questions = np.random.default_rng(1).normal(size=(3, 4, 2))
    goals = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    assert question_values(np.array([3.0, -3.0]), 1e-12 * np.eye(2), questions, goals).max() < 1e-6
    same = np.ones((1, 3, 2))
    assert question_values(np.zeros(2), np.eye(2), questions, same).max() < 1e-9


def test_answers_needed_are_read_off_the_curve() -> None:
    assert answers_needed(np.array([0.5, 0.6]), 0.4) == 0.0
    assert answers_needed(np.array([0.1, 0.2, 0.4]), 0.3) == pytest.approx(1.5)
    assert answers_needed(np.array([0.1, 0.2]), 0.9) == 2.0


@pytest.mark.slow
def test_the_best_questions_save_answers() -> None:
    """People who differ in one objective, of which a quarter of the tasks speak, and hardly in the other."""
    rng = np.random.default_rng(2)
    n_people, n_choices = 60, 24
    weights = np.array([0.0, 1.5]) + np.array([3.0, 0.1]) * rng.normal(size=(n_people, 2))
    slates = np.zeros((n_people, n_choices, 2, 2))
    slates[:, :, 0, 1] = 1.5
    slates[:, ::4, 0] = 1.5, 0.0
    slates += 0.2 * rng.normal(size=slates.shape)
    worth = np.einsum("ntkd,nd->ntk", slates, weights)
    picked = (worth + rng.gumbel(size=worth.shape)).argmax(axis=2)
    people = People(
        "two",
        ("a", "b"),
        slates.reshape(-1, 2, 2),
        picked.ravel(),
        np.arange(n_people + 1) * n_choices,
        tuple(str(number) for number in range(n_people)),
    )
    law = learn_from(people, np.arange(0, 60, 2))
    assert law.covariance[0, 0] > 5.0 * law.covariance[1, 1]
    asked = ask_half(Half(people, np.arange(1, 60, 2), np.arange(0, 60, 2)))
    losses = asked[1].mean(axis=-1)
    assert losses[0, 0] == pytest.approx(losses[1, 0])  # before any answer all are alike
    assert losses[1, 2] < losses[0, 2] - 0.01
    assert losses[2, 2] < losses[0, 2] - 0.01


def test_the_command_of_questions(tmp_path: Path) -> None:
    study = write(simulated(n_people=8, n_choices=12), tmp_path)
    shown = CliRunner().invoke(app, ["bench", "questions", str(study), "--out", str(tmp_path), "--workers", "1"])
    assert shown.exit_code == 0, shown.output
    assert "8 people, 3 choices held out" in shown.stdout
    assert "log-loss of 8 at random" in " ".join(shown.stdout.split())
    written = json.loads((tmp_path / "questions.json").read_text())["studies"]["mine"]
    assert written == ask_people([str(study)], workers=1)["studies"]["mine"]
    assert len(written["adaptive"]["hit"]) == 9


def test_questions_and_rules_go_on_where_they_were_stopped(tmp_path: Path) -> None:
    study = str(write(simulated(n_people=8, n_choices=12), tmp_path))
    done: list[int] = []

    def asked() -> dict:
        return ask_people([study], tmp_path / "out", workers=1, watch=lambda progress: done.append(progress.done))

    def played() -> dict:
        rules = (Rule("never"), Rule("periodic", 2), Rule("value", 0.05))
        watch = lambda progress: done.append(progress.done)  # noqa: E731
        return play_rules(tmp_path / "rules", rules=rules, runs=1, users=2, rounds=20, workers=1, watch=watch)

    for work, folder, total in ((asked, "out", 2), (played, "rules", 3)):
        done.clear()
        whole = work()
        assert done == list(range(total + 1))
        next((tmp_path / folder / "parts").iterdir()).unlink()  # as if stopped before it was done
        done.clear()
        assert work() == whole
        assert done == [total - 1, total]


def test_the_true_model_leaves_nothing_and_a_wrong_one_is_found() -> None:
    rng = np.random.default_rng(3)
    people = simulated(5, 400, 8, n_offered=4)
    weights = np.repeat(rng.normal(size=(400, 3)), 8, axis=0)
    worth = np.einsum("nkd,nd->nk", people.slates, weights)
    truth = np.exp(worth) / np.exp(worth).sum(axis=1, keepdims=True)

    def tested(real: np.ndarray, told: np.ndarray) -> dict:
        picked = (real.cumsum(axis=1) > rng.random((len(real), 1))).argmax(axis=1)
        return examine(People("x", people.objectives, people.slates, picked, people.starts, people.ids), told)

    right = tested(truth, truth)
    assert all(left["p"] > 0.005 and left["gain"] < 0.002 for left in right["tests"].values())
    assert right["surprise"]["p"] > 0.005
    sharp = truth**2 / (truth**2).sum(axis=1, keepdims=True)
    surer = tested(truth, sharp)
    assert surer["tests"]["sharpness"]["coefficient"] == pytest.approx(-0.5, abs=0.05)
    assert surer["tests"]["sharpness"]["gain"] > 0.02
    assert surer["surprise"]["mean"] > 0.1
    first = truth * np.array([1.5, 1.0, 1.0, 1.0])
    placed = tested(first / first.sum(axis=1, keepdims=True), truth)
    assert placed["tests"]["place"]["coefficient"] == pytest.approx(np.log(1.5), abs=0.1)
    assert placed["tests"]["place"]["p"] < 1e-6


def test_errors_over_people_are_wider_where_people_repeat_themselves() -> None:
    """A choice told ten times by the same person is one observation."""
    rng = np.random.default_rng(4)
    picked, owner = rng.integers(2, size=100), np.arange(100)
    foretold, feature = np.full((100, 2), 0.5), np.tile(np.array([[1.0], [0.0]]), (100, 1, 1))
    one = left_over(foretold, feature, picked, owner)
    ten = left_over(*(np.repeat(each, 10, axis=0) for each in (foretold, feature, picked, owner)))
    assert ten.coefficient == pytest.approx(one.coefficient, abs=1e-4)
    assert ten.error == pytest.approx(one.error, rel=1e-3)


def test_rankings_by_plackett_luce_fit_and_others_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRUTHERS_DATA", str(tmp_path))
    rng = np.random.default_rng(5)
    names = np.array(["order", "decisions", "prices", "freedom"])
    worth = np.array([1.0, 0.0, 0.5, -0.5])
    orders = np.argsort(-(worth + rng.gumbel(size=(2_000, 4))), axis=1)[:, :2]
    (tmp_path / "values").mkdir()
    for swap, least, most in ((False, 0.01, 1.0), (True, 0.0, 1e-6)):
        if swap:  # whoever puts order first puts prices second
            orders[orders[:, 0] == 0, 1] = 2
        lines = [f"{number},x,{names[a]},{names[b]}" for number, (a, b) in enumerate(orders)]
        text = "person,country,first,second\n" + "\n".join(lines) + "\n"
        (tmp_path / "values" / "rankings.csv").write_text(text)
        found = fit_rankings()
        assert least <= found["p"] <= most
        if not swap:
            estimated = np.array([found["weights"][name] for name in names])
            np.testing.assert_allclose(estimated, worth - worth.mean(), atol=0.12)


def test_chi_square_is_that_of_tables() -> None:
    stats = pytest.importorskip("scipy.stats")
    for degrees in (1, 2, 3, 8, 13):
        for value in (0.0, 0.5, 4.0, 30.0):
            assert upper_chi_square(value, degrees) == pytest.approx(stats.chi2.sf(value, degrees), rel=1e-9)


def known_arms(**settings: float) -> FisherPQUCB:
    """Return a policy that knows four arms well from others, each good in one objective."""
    policy = FisherPQUCB(n_objectives=4, **settings)
    for arm in range(4):
        for _ in range(5):
            policy.learn("ben", arm, reward=np.eye(4)[arm])
    return policy


def test_a_question_is_asked_until_it_pays_no_more() -> None:
    """Ranking after ranking the value falls, and then it is not worth its price."""
    policy = known_arms()
    rng = np.random.default_rng(6)
    values = []
    while (question := policy.ask("ada", price=0.02)) is not None and len(values) < 100:
        assert (question.user, question.length, question.objective) == ("ada", 4, -1)
        values.append(question.value)
        policy.hear("ada", np.argsort(-(np.array([3.0, 0.0, 1.0, -1.0]) + rng.gumbel(size=4))))
    assert 1 < len(values) < 40
    assert values[-1] < values[0] / 3
    assert policy.ask("eve", price=0.02).value == pytest.approx(values[0])  # others are still strangers


def test_a_question_may_be_refused_by_price_or_budget_or_for_want_of_arms() -> None:
    policy = known_arms()
    assert policy.ask("ada") is None
    assert policy.ask("ada", price=1e6) is None
    assert policy.ask("ada", price=0.0, budget=0) is None
    assert policy.ask("ada", price=0.0, budget=1) is not None
    policy.hear("ada", (0, 1, 2, 3))
    assert policy.ask("ada", price=0.0, budget=1) is None
    assert FisherPQUCB(n_objectives=4).ask("ada", price=0.0) is None
    with pytest.raises(InvalidSetting, match="from 1 to 4"):
        policy.ask("ada", price=0.0, length=5)
    with pytest.raises(InvalidSetting, match="price"):
        policy.ask("ada", price=-1.0)


def test_longer_rankings_tell_more_and_asking_changes_nothing() -> None:
    policy = known_arms()
    values = [policy.ask("ada", price=0.0, length=length).value for length in (1, 2, 4)]
    assert values == sorted(values)
    before = policy.preference("ada")
    policy.ask("ada", price=0.0)
    np.testing.assert_array_equal(policy.preference("ada").weights, before.weights)


def test_the_value_of_a_ranking_is_what_it_brings() -> None:
    """Against rankings that are really given: draw weights, rank by them, hear it, choose the best arm."""
    policy = known_arms()
    told = policy.ask("ada", price=0.0).value
    believed = policy.preference("ada")
    rng = np.random.default_rng(7)
    gains = []
    draws = rng.multivariate_normal(believed.weights, believed.covariance, 400)
    for number, weights in enumerate(draws - draws.mean(axis=1, keepdims=True)):
        policy.hear(number, np.argsort(-(weights + rng.gumbel(size=4))))
        gains.append(weights[np.argmax(policy.preference(number).weights)])
    assert told == pytest.approx(np.mean(gains), rel=0.25)


def test_rules_ask_when_they_say() -> None:
    policy = known_arms()
    asked = {
        rule: [t for t in range(20) if Rule(rule, setting).asks(policy, 0, t)]
        for rule, setting in (("never", 0.0), ("periodic", 5.0), ("logarithmic", 1.0), ("value", 0.0))
    }
    assert asked == {
        "never": [],
        "periodic": [0, 5, 10, 15],
        "logarithmic": [0, 2, 7],  # ln 3 > 1, ln 8 > 2
        "value": list(range(20)),
    }


def test_asking_early_beats_asking_at_regular_times() -> None:
    rules = (Rule("never"), Rule("periodic", 5), Rule("periodic", 1), Rule("value", 0.05))
    rows = play_rules(rules=rules, runs=1, users=4, rounds=120, workers=1)["rules"]
    assert [row["questions"] for row in rows[:3]] == sorted(row["questions"] for row in rows[:3])
    assert rows[2]["regret"] < rows[0]["regret"]
    assert 0.0 < rows[3]["questions"] < rows[2]["questions"]
    figures = np.array([[[10.0, 0.0]], [[6.0, 4.0]], [[5.0, 8.0]], [[4.0, 2.0]]])
    assert compare_rules(rules, figures)[3]["of_periodic"] == pytest.approx(4.0 / 8.0)
