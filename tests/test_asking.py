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
from druthers.bench.asking import _Half as Half
from druthers.bench.asking import answers_needed, ask_half, ask_people, learn_from
from druthers.bench.fitting import examine, fit_rankings, left_over, upper_chi_square
from druthers.bench.players import shares_of
from druthers.cli import app
from druthers.environments.people import People


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
    losses = asked.losses.mean(axis=1)
    assert losses[0, 0] == pytest.approx(losses[1, 0])  # before any answer all are alike
    assert losses[1, 2] < losses[0, 2] - 0.01
    assert losses[2, 2] < losses[0, 2] - 0.01


def test_the_command_of_questions(tmp_path: Path) -> None:
    study = write(simulated(n_people=8, n_choices=12), tmp_path)
    shown = CliRunner().invoke(app, ["bench", "questions", str(study), "--out", str(tmp_path), "--workers", "1"])
    assert shown.exit_code == 0, shown.output
    assert "8 people, 3 choices held out" in shown.stdout
    written = json.loads((tmp_path / "questions.json").read_text())["studies"]["mine"]
    assert written == ask_people([str(study)], workers=1)["studies"]["mine"]
    assert len(written["adaptive"]["hit"]) == 9


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
