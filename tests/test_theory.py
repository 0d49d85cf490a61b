"""The theory bench: every claim has a verdict by its test, the same each time, as a table, as JSON and as a page."""

from __future__ import annotations

import json
import os
import re

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

from druthers.cli import app
from druthers.errors import InvalidExperiment, InvalidSetting, UnknownName
from druthers.experiments import load_experiment
from druthers.experiments.floors import floor_line
from druthers.theory import CLAIMS, FAILS, HOLDS, OPEN, check
from druthers.theory.claims import (
    LAWS,
    Interval,
    all_of,
    at_least,
    at_most,
    exponents,
    interval,
    likeliest_law,
    resampled,
    share_limits,
)
from druthers.theory.planning import plan

# What is known of each claim (docs/paper-notes.md); the others may need the long runs to be decided.
KNOWN = {
    "shift": HOLDS,
    "queries-alone": HOLDS,
    "radius": HOLDS,
    "noise": FAILS,
    "radii": HOLDS,
    "corrupted": HOLDS,
    "penalty": FAILS,
    "automatic": HOLDS,
    "consistency": FAILS,
    "information": HOLDS,
    "ours": HOLDS,
}


@pytest.mark.parametrize("name", ["shift", "noise", "corrupted"])
def test_a_claim_is_found_the_same_twice(name):
    finding = CLAIMS[name].check(True)
    assert finding.verdict == KNOWN[name]
    assert CLAIMS[name].check(True).values == finding.values


@pytest.mark.slow
def test_every_claim_has_a_verdict_and_the_page_shows_it(tmp_path):
    """The whole bench, small: once all is compiled, within a minute on two cores, which is two of processor time."""
    check(fast=True, workers=1)
    before = os.times()
    done = CliRunner().invoke(app, ["theory", "check", "--fast", "--json", "--workers", "2", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    spent = [now - then for now, then in zip(os.times()[:4], before[:4], strict=True)]
    assert sum(spent) < 120.0
    told = {row["name"]: row for row in json.loads(done.stdout)}
    assert list(told) == list(CLAIMS)
    assert all(row["verdict"] in (HOLDS, FAILS, OPEN) and row["test"] for row in told.values())
    assert {name: told[name]["verdict"] for name in KNOWN} == KNOWN
    page = (tmp_path / "theory.html").read_text("utf-8")
    assert page.count("<svg") == len(CLAIMS)
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page)
    for name in CLAIMS:
        assert f'id="{name}"' in page
        for kind in ("pdf", "svg", "png"):
            assert (tmp_path / "figures" / f"{name}.{kind}").stat().st_size > 1_000


@pytest.mark.slow
def test_games_are_the_same_in_one_process_and_in_two():
    one, two = (check(["hardest"], fast=True, workers=workers)[0].finding for workers in (1, 2))
    assert one.values == two.values


def test_some_claims_as_a_table(tmp_path):
    done = CliRunner().invoke(app, ["theory", "check", "--fast", "--only", "shift,noise", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "holds" in done.output
    assert len(json.loads((tmp_path / "theory.json").read_text("utf-8"))) == 2
    with pytest.raises(UnknownName, match="known: shift"):
        check(["nothing"])


def test_the_law_of_growth_is_found():
    rounds = np.geomspace(1e3, 1e6, 14)
    rng = np.random.default_rng(0)
    for name, law in LAWS.items():
        runs = 3.0 + 2.0 * law(rounds) * np.exp(0.01 * rng.normal(size=(6, len(rounds))))
        best, shares = likeliest_law(rounds, runs)
        assert best == name
        assert shares[name] > 0.8
    np.testing.assert_allclose(exponents(rounds, 5.0 * rounds[None] ** 0.7), [0.7], rtol=1e-9)


def test_verdicts_follow_from_intervals():
    wide, above, below = Interval(1.0, 0.5, 1.5), Interval(2.0, 1.8, 2.2), Interval(0.1, 0.0, 0.2)
    assert [at_least(each, 1.0) for each in (wide, above, below)] == [OPEN, HOLDS, FAILS]
    assert [at_most(each, 1.0) for each in (wide, above, below)] == [OPEN, FAILS, HOLDS]
    assert [all_of(each) for each in ((HOLDS, HOLDS), (HOLDS, OPEN), (OPEN, FAILS))] == [HOLDS, OPEN, FAILS]


def test_limits_of_a_share_are_those_of_clopper_and_pearson():
    """Each is the share at which what was seen, or more of it, has a chance of 5 %, by sums over the binomial law."""
    for hits, count in ((0, 30), (3, 40), (38, 40), (440, 440)):
        told = share_limits(hits, count)
        assert told.mean == hits / count
        above = sum(stats.binom.pmf(k, count, told.low) for k in range(hits, count + 1))
        below = sum(stats.binom.pmf(k, count, told.high) for k in range(hits + 1))
        assert told.low == 0.0 if not hits else above == pytest.approx(0.05, abs=1e-9)
        assert told.high == 1.0 if hits == count else below == pytest.approx(0.05, abs=1e-9)


def test_runs_drawn_again_cover_the_truth():
    rng = np.random.default_rng(2)
    held = 0
    for trial in range(200):
        told = resampled(lambda a, b: float(a.mean() - b.mean()), *rng.normal(size=(2, 40)), draws=200, seed=trial)
        held += told.low <= 0.0 <= told.high
    assert 176 <= held <= 198  # of 190


def test_intervals_hold_what_they_say():
    rng = np.random.default_rng(1)
    for count in (3, 12, 50):
        held = [low <= 0.0 <= high for _, low, high in (interval(rng.normal(size=count)) for _ in range(2_000))]
        assert np.mean(held) == pytest.approx(0.95, abs=0.015)
    assert interval([1.0]).high == float("inf")


def test_a_plan_for_ones_own_size(tmp_path):
    """Queries help, accuracy costs its square, and the printed constants ask for thousands of times as many."""
    size = ["--objectives", "4", "--arms", "12", "--users", "20", "--horizon", "1500", "--length", "2", "--runs", "3"]
    size += ["--workers", "1"]  # else each of them compiles the same
    done = CliRunner().invoke(app, ["theory", "plan", *size, "--json", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["regret"]["with queries"]["mean"] < told["regret"]["without"]["mean"]
    assert told["per_query"]["mean"] > 0.0
    rough, _, fine = told["known"]
    assert fine["in_practice"] == pytest.approx(25 * rough["in_practice"])
    assert fine["in_practice"] < fine["by_hessian"] < fine["printed"] / 100
    assert (tmp_path / "plan.png").stat().st_size > 1_000
    assert told["settings"]["policy"] == "fisher-pqucb"
    small = [*size, "--horizon", "60", "--runs", "2"]
    done = CliRunner().invoke(app, ["theory", "plan", *small, "--out", str(tmp_path)])
    assert "a query is worth" in done.output


def test_what_cannot_be_planned_is_refused():
    with pytest.raises(InvalidSetting, match="one half"):
        plan(objectives=3, arms=4, users=2, horizon=100, corruption=0.5)
    with pytest.raises(InvalidSetting, match="length"):
        plan(objectives=3, arms=4, users=2, horizon=100, length=4)


def test_a_run_with_its_floor(tmp_path):
    """The floor is drawn and told, below every policy in the long run; refused where some arms only are offered."""
    options = [
        "--runs",
        "2",
        "--horizon",
        "3000",
        "--policies",
        "fisher-pqucb",
        "--out",
        str(tmp_path),
        "--workers",
        "1",
    ]
    world = ["--set", "n_arms=6", "--set", "offered=6", "--set", "n_objectives=3", "--set", "n_users=2"]
    done = CliRunner().invoke(app, ["run", "synthetic", *options, *world, "--floor"])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    floor = json.loads((tmp_path / "floor.json").read_text("utf-8"))
    assert floor["regret"] == sorted(floor["regret"])
    assert floor["regret"][-1] > 0.0
    assert "floor at the end" in done.output
    assert "Floor (dashed in the figures)" in (tmp_path / "report.html").read_text("utf-8")
    with pytest.raises(InvalidExperiment, match="all arms are offered"):
        floor_line(load_experiment("synthetic"))
