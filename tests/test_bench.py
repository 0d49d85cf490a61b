"""The benchmark on people: scores that are what they say, a ceiling that is one, parts that resume, entries checked."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from druthers.bench import CEILING, OURS, PLAYERS, arrival, compare, enter, play_bench, read_entry, score
from druthers.bench.asking import Belief
from druthers.bench.ceiling import Mixture, fit_mixed, follow
from druthers.bench.players import Linear, fit_logit, shares_of
from druthers.bench.running import digest, read_study
from druthers.bench.scoring import calibration, check, half_width, positions, sheet
from druthers.cli import app
from druthers.environments.people import People, Person
from druthers.errors import InvalidSetting, UnknownName


def simulated(seed: int = 0, n_people: int = 24, n_choices: int = 6, size: int = 3, n_offered: int = 3) -> People:
    """Return people whose weights are N((1.5, -1, 0), 0.7^2), who choose by a conditional logit."""
    rng = np.random.default_rng(seed)
    weights = np.resize([1.5, -1.0, 0.0], size) + 0.7 * rng.normal(size=(n_people, size))
    slates = rng.normal(size=(n_people, n_choices, n_offered, size))
    worth = np.einsum("ntkd,nd->ntk", slates, weights)
    picked = (worth + rng.gumbel(size=worth.shape)).argmax(axis=2)
    return People(
        "simulated",
        tuple("abcdefgh"[:size]),
        slates.reshape(-1, n_offered, size),
        picked.ravel(),
        np.arange(n_people + 1) * n_choices,
        tuple(str(number) for number in range(n_people)),
    )


def write(people: People, home: Path, name: str = "mine") -> Path:
    """Write people as a study."""
    lines = [",".join(["person", "task", "option", "picked", *people.objectives])]
    for person in people:
        for task, (slate, choice) in enumerate(zip(person.slates, person.picked, strict=True)):
            for option, values in enumerate(slate):
                cells = (person.id, task, option, int(option == choice), *(repr(float(value)) for value in values))
                lines.append(",".join(map(str, cells)))
    (home / name).mkdir(parents=True)
    (home / name / "choices.csv").write_text("\n".join(lines) + "\n")
    return home / name


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DRUTHERS_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("druthers.bench.running.cache_folder", lambda: None)
    monkeypatch.setattr("druthers.bench.ceiling.SWEEPS", 400)
    write(simulated(), tmp_path / "data")
    return tmp_path


def test_scores_are_counted_by_hand() -> None:
    people = People("two", ("a",), np.zeros((3, 2, 1)), np.array([0, 1, 0]), np.array([0, 2, 3]), ("ada", "bob"))
    told = score(
        people, [np.array([[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]]), np.array([[0.8, 0.2], [0.6, 0.4], [0.9, 0.1]])]
    )
    np.testing.assert_allclose(told.hits, [1.0, 0.25, 0.5])
    expected = -np.log([[0.8, 0.5, 0.1], [0.8, 0.4, 0.9]])
    np.testing.assert_allclose(told.losses, expected.mean(axis=0))
    np.testing.assert_allclose(told.by_order[:, :2], [[0.5, expected[0].mean()], [2 / 3, expected[1].mean()]])
    assert positions(people).tolist() == [1, 2, 1]
    assert sheet(people, told)["positions"]["2"]["hit"] == 0.25
    first = expected[:, [0, 2]].mean()  # both people are among the first ten
    assert sheet(people, told)["newcomers"] == pytest.approx({"1-10": first})


def test_calibration_sees_who_is_too_sure() -> None:
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.ones(3), 20_000)
    picked = (chances.cumsum(axis=1) > rng.random((20_000, 1))).argmax(axis=1)
    assert calibration(chances, picked) < 0.01
    surer = chances**3 / (chances**3).sum(axis=1, keepdims=True)
    assert calibration(surer, picked) > 0.1


def test_the_error_of_a_gain_is_that_over_people() -> None:
    """Against many samples of people drawn anew from those there are."""
    people = simulated(1, 60, 4)
    ours = score(people, [shares_of(people.slates, np.array([1.5, -1.0, 0.0]))])
    other = score(people, [np.full(people.slates.shape[:2], 1 / 3)])
    found = compare(people, ours, other)
    assert found.gain == pytest.approx((other.losses - ours.losses).mean())
    by_person = (other.losses - ours.losses).reshape(60, 4).mean(axis=1)
    drawn = np.random.default_rng(0).choice(by_person, (4_000, 60)).mean(axis=1)
    assert found.error == pytest.approx(drawn.std(), rel=0.05)
    assert found.p < 1e-6
    assert compare(people, ours, ours) == (0.0, 0.0, 1.0)
    hits = compare(people, ours, other, positions(people) == 1, by_hits=True)
    first = (ours.hits - other.hits).reshape(60, 4)[:, 0]
    assert hits.gain == pytest.approx(first.mean())
    assert hits.error == pytest.approx(first.std() / math.sqrt(60))


def test_intervals_are_those_of_student() -> None:
    for count, quantile in ((2, 12.7062), (5, 2.7764), (10, 2.2622), (30, 2.0452)):
        values = np.random.default_rng(count).normal(size=count)
        assert half_width(values) == pytest.approx(quantile * values.std(ddof=1) / math.sqrt(count), rel=1e-3)
    assert half_width(np.ones(1)) == 0.0


def test_a_logit_for_everybody_has_no_slope_left() -> None:
    people = simulated(2, 200, 5)
    weights = fit_logit(people.slates, people.picked)
    shares = shares_of(people.slates, weights)
    chosen = people.slates[np.arange(len(people.picked)), people.picked]
    slope = (chosen - np.einsum("nk,nkd->nd", shares, people.slates)).sum(axis=0)
    assert np.abs(slope).max() < 0.1  # the weak prior's share
    assert weights[0] > 0.8
    assert weights[1] < -0.5


def test_particles_follow_the_posterior() -> None:
    """Against a grid over all weights: the same chances before every choice."""
    people = simulated(3, 1, 8, size=2)
    law = Mixture(np.array([1.0, -0.5]), np.array([[1.5, 0.4], [0.4, 0.8]]))
    line = np.linspace(-6.0, 6.0, 161)
    grid = law.mean + np.stack(np.meshgrid(line, line), -1).reshape(-1, 2) @ np.linalg.cholesky(law.covariance).T
    off = grid - law.mean
    mass = np.exp(-0.5 * np.einsum("nd,de,ne->n", off, np.linalg.inv(law.covariance), off))
    wanted = []
    for slate, choice in zip(people.slates, people.picked, strict=True):
        shares = shares_of(np.repeat(slate[None], len(grid), axis=0), np.zeros(2)) * 0.0
        worth = grid @ slate.T
        shares = np.exp(worth - worth.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        wanted.append(mass @ shares / mass.sum())
        mass *= shares[:, choice]
    found = follow(Person("ada", people.slates, people.picked), law, np.random.default_rng(0))
    np.testing.assert_allclose(found, wanted, atol=0.03)


def test_mcmc_finds_what_people_are_like() -> None:
    law = fit_mixed(simulated(4, 300, 12), np.random.default_rng(0), sweeps=800)
    np.testing.assert_allclose(law.mean, [1.5, -1.0, 0.0], atol=0.25)
    np.testing.assert_allclose(np.sqrt(law.covariance.diagonal()), 0.7, atol=0.25)


def test_bandits_learn_what_a_person_picks() -> None:
    slate = np.array([[1.0, -1.0], [-1.0, 1.0]])
    for drawn in (False, True):
        linear = Linear(2, drawn)
        before = linear.foretell("ada", slate)
        for _ in range(10):
            linear.hear("ada", slate, 1)
        assert before[0] == pytest.approx(0.5, abs=0.05)
        assert linear.foretell("ada", slate)[1] > 0.95
        assert linear.foretell("bob", slate)[1] == pytest.approx(before[1])


def test_who_knows_people_foretells_them_better_and_nothing_is_done_twice(home: Path) -> None:
    done: list[int] = []
    bench = play_bench(["mine"], home / "out", orders=2, workers=1, watch=lambda progress: done.append(progress.done))
    assert done == list(range(9))  # two orders of two players, four players that need one
    results = json.loads((home / "out" / "results.json").read_text())
    assert results == json.loads(json.dumps(bench.results()))
    players = results["studies"]["mine"]["players"]
    assert list(players) == sorted(PLAYERS)
    assert players[OURS]["log_loss"] < players["personal-logit"]["log_loss"]
    assert players[CEILING]["log_loss"] < players["personal-logit"]["log_loss"]
    assert players["personal-logit"]["ours_gains"]["1"]["gain"] > 0.0
    done.clear()
    again = play_bench(["mine"], home / "out", orders=2, workers=1, watch=lambda progress: done.append(progress.done))
    assert done == [8]
    assert again.results() == bench.results()
    part = next((home / "out" / "parts").iterdir())
    part.write_bytes(b"half a file")
    done.clear()
    play_bench(["mine"], home / "out", orders=2, workers=1, watch=lambda progress: done.append(progress.done))
    assert done == [7, 8]


def test_an_entry_is_scored_by_its_chances(home: Path, tmp_path: Path) -> None:
    class Knowing:
        def __init__(self, n_objectives: int) -> None:
            assert n_objectives == 3

        def foretell(self, person: str, slate: np.ndarray) -> np.ndarray:
            return shares_of(slate[None], np.array([1.5, -1.0, 0.0]))[0]

        def hear(self, person: str, slate: np.ndarray, picked: int) -> None: ...

    path = enter(Knowing, tmp_path / "mine.npz", name="knowing", about="the truth", studies=["mine"], orders=2)
    people = read_study("mine")
    wanted = score(people, [shares_of(people.slates, np.array([1.5, -1.0, 0.0]))]).by_order[0]
    scores = read_entry(path).studies["mine"]
    assert scores["orders"] == 2
    np.testing.assert_allclose([scores["hit"], scores["log_loss"]], wanted[:2], rtol=1e-5)
    play_bench(["mine"], home / "out", orders=1, workers=1, only=["ucb"])
    shown = CliRunner().invoke(app, ["bench", "submit", str(path), "--add", str(home / "out" / "results.json")])
    assert shown.exit_code == 0
    assert f"| mine | knowing | {scores['hit']:.3f}" in shown.stdout
    assert "missing: electricity" in shown.stdout
    added = json.loads((home / "out" / "results.json").read_text())["studies"]["mine"]["players"]["knowing"]
    assert added["about"] == "the truth"


def test_what_is_no_entry_is_refused(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    path.write_bytes(b"nothing")
    with pytest.raises(InvalidSetting, match=r"druthers\.bench\.enter wrote"):
        read_entry(path)
    about = json.dumps({"name": "x", "about": "y", "link": ""})
    np.savez(path, about=about, **{"mine/sha256": "0" * 64})
    with pytest.raises(InvalidSetting, match="as it is here"):
        read_entry(path)
    hashed = {"mine/sha256": digest(read_study("mine"))}
    np.savez(path, about=about, **hashed, **{"mine/1": np.ones((144, 3)) / 3})
    with pytest.raises(InvalidSetting, match="without gaps"):
        read_entry(path)
    np.savez(path, about=about, **hashed, **{"mine/0": np.ones((144, 3))})
    with pytest.raises(InvalidSetting, match="sum to 1"):
        read_entry(path)
    np.savez(path, about=json.dumps(["x"]), **hashed)
    with pytest.raises(InvalidSetting, match="texts for name"):
        read_entry(path)
    with pytest.raises(InvalidSetting, match="one for each option"):
        check(simulated(), np.ones((3, 3)))
    with pytest.raises(UnknownName, match="did you mean 'crowd'"):
        play_bench(["mine"], only=["crwd"])


def test_the_command_shows_a_table_and_draws(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "shown"
    shown = CliRunner().invoke(app, ["bench", "people", "mine", "--orders", "1", "--out", str(out), "--workers", "1"])
    assert shown.exit_code == 0, shown.output
    assert "24 people, 144 choices" in shown.stdout
    assert all(name in shown.stdout for name in PLAYERS)
    assert "log-loss of first choices by number of the person who came: 1-10" in shown.stdout
    assert (out / "people.svg").read_text("utf-8").count("mine") == 1


def test_orders_are_the_same_everywhere() -> None:
    assert arrival(simulated(n_people=6), 3).tolist() == np.random.default_rng(3).permutation(6).tolist()


@pytest.mark.slow
def test_real_people_are_foretold_as_well_as_by_the_ceiling(tmp_path: Path) -> None:
    """The whole benchmark on the train study, where `druthers data people train` brought it."""
    if not (Path(os.environ.get("DRUTHERS_DATA", "none")) / "train").is_dir():
        pytest.skip("the study train is not where DRUTHERS_DATA points")
    told = play_bench(["train"], tmp_path, orders=3, only=[OURS, CEILING, "population-logit"]).results()
    players = told["studies"]["train"]["players"]
    assert players[OURS]["log_loss"] < players[CEILING]["log_loss"] + 0.02
    assert players[OURS]["hit"] > players[CEILING]["hit"] - 0.01
    assert players[OURS]["calibration"] < 0.03
    assert players[OURS]["positions"]["1"]["log_loss"] < players["population-logit"]["positions"]["1"]["log_loss"]


def test_a_ranking_says_what_draws_that_agree_with_it_say() -> None:
    mean, covariance = np.array([0.4, -0.2, 0.1]), np.diag([0.8, 0.5, 1.0])
    belief = Belief(mean, covariance)
    belief.hear_ranking([2, 0, 1])
    rng = np.random.default_rng(3)
    weights = rng.multivariate_normal(mean, covariance, 400_000)
    ranked = (-(weights + rng.gumbel(size=weights.shape))).argsort(axis=1)
    agreeing = weights[(ranked == [2, 0, 1]).all(axis=1)]
    np.testing.assert_allclose(belief.mean, agreeing.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(belief.covariance, np.cov(agreeing.T), atol=0.03)


@pytest.mark.slow
def test_what_is_told_first_is_worth_something_and_a_population_more(home: Path) -> None:
    write(simulated(1, n_people=120, n_choices=12), home / "data", "many")
    found = CliRunner().invoke(app, ["bench", "first", str(home / "data" / "many"), "--out", str(home / "out")])
    assert found.exit_code == 0, found.output
    told = json.loads((home / "out" / "first.json").read_text())["studies"]["many"]
    assert told["people"] == 120
    for prior in ("alone", "population"):
        nothing = told[prior]["nothing"]["log_loss"]
        assert told[prior]["sentence and choice"]["log_loss"] < nothing
        assert told[prior]["ranking"]["regret"] < told[prior]["nothing"]["regret"]
    assert told["population"]["nothing"]["log_loss"] < told["alone"]["ranking"]["log_loss"]
    assert {path.name for path in (home / "out").iterdir()} >= {"first.svg", "first.png"}
