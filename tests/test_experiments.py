"""Experiments: refused before they run if they cannot be, the same wherever they run, resumed where they stopped."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from druthers.engines import Processes, make_engine
from druthers.errors import EngineFailure, InvalidExperiment, InvalidSetting, UnknownName
from druthers.experiments import (
    Experiment,
    Results,
    experiment_names,
    load_experiment,
    mean_and_error,
    paired,
    run_experiment,
)
from druthers.simulation import Run

TINY = {
    "environment": {"name": "synthetic", "n_arms": 6, "n_objectives": 4, "n_users": 3, "offered": 3},
    "policies": {"s-ucb": {}, "prucb": {"ridge": 0.5}, "random": {}},
    "horizon": 60,
    "runs": 3,
}


def tiny(**changes):
    return Experiment.of({**TINY, **changes}, "tiny")


@pytest.mark.parametrize("name", experiment_names())
def test_every_experiment_that_comes_along_can_be_played(name):
    experiment = load_experiment(name)
    assert experiment.title
    assert experiment.about
    assert len({row.label for row in experiment.rows()}) == len(experiment.rows())


def test_mo_pqucb_gl_is_as_printed_in_every_experiment():
    """The penalty is D^3/3 and both weights are epsilon + 1/ln T, epsilon being that of the environment."""
    found = [row for name in experiment_names() for row in load_experiment(name).rows() if row.policy == "mo-pqucb-gl"]
    assert len(found) > 10
    for row in found:
        n_objectives = row.make_environment().tape(seed=1, horizon=1).means.shape[1]
        policy = row.make_policy(n_objectives)
        weight = row.environment.get("corruption", 0.0) + 1.0 / np.log(row.horizon)
        assert policy.anchor.penalty == pytest.approx(n_objectives**3 / 3)
        assert policy._alpha == policy._lambda == pytest.approx(weight)


def test_a_policy_may_be_told_a_setting_of_the_environment():
    told = {"mo-pqucb": {"corruption": "environment.corruption"}}
    assert tiny(policies=told).rows()[0].params == {"corruption": 0.0}
    varied = tiny(policies=told, vary={"environment.corruption": [0.1, 0.4]})
    assert [row.params["corruption"] for row in varied.rows()] == [0.1, 0.4]
    assert Results(varied, {}, {}).rows == varied.rows()
    with pytest.raises(UnknownName, match=r"unknown setting of the environment 'coruption'; .*'corruption'"):
        tiny(policies={"mo-pqucb": {"corruption": "environment.coruption"}})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizen": 3}, "unknown key 'horizen' in experiment 'tiny'; .*did you mean 'horizon'"),
        ({"environment": {"name": "synthetic", "n_arm": 3}}, "unknown key 'n_arm' in the environment; .*'n_arms'"),
        ({"environment": {"name": "syntetic"}}, "unknown environment 'syntetic'; .*did you mean 'synthetic'"),
        ({"environment": {"name": "synthetic", "corruption": 3}}, "corruption must lie between 0 and 1, but got 3"),
        ({"policies": {"s-ucb": {"widht": 1}}}, "unknown key 'widht' in policy 's-ucb'; .*did you mean 'width'"),
        ({"policies": {"s-ucp": {}}}, "unknown policy 's-ucp'; .*did you mean 's-ucb'"),
        ({"policies": {"s-ucb": {"n_objectives": 3}}}, "unknown key 'n_objectives'"),
        ({"policies": {"mo-pqucb": {"anchor": {"name": "mixtur"}}}}, "unknown anchor 'mixtur'; .*'mixture'"),
        ({"policies": {"prucb": {"ridge": -1}}}, "ridge must be positive, but got -1"),
        ({"policies": {}}, r"must have a table \[policies\]"),
        ({"runs": 0}, "runs must be a whole number of at least 1, but got 0"),
        ({"horizon": 2.5}, "horizon must be a whole number of at least 1 and at most 1,000,000,000, but got 2.5"),
        ({"horizon": 10**20}, "horizon must be .* at most 1,000,000,000"),
        ({"figure": "regrets"}, "unknown figure 'regrets'; .*did you mean 'regret'"),
        ({"vary": {"environment.length": 3}}, "needs a list of values"),
        ({"vary": {"environment.lenth": [3]}}, "unknown key 'lenth' in the environment; .*'length'"),
        ({"vary": {"policies.prucb.ridge": {"low": 1, "high": 2}}}, "needs `samples`"),
        ({"vary": {"policies.prucb.ridge": {"low": 3, "high": 2}}, "samples": 2}, "a range needs low < high"),
        ({"vary": {"widht": [1]}}, "unknown setting 'widht'; .*did you mean 'width'"),
        ({"vary": 3}, "vary must be a table of lists and ranges, but got 3"),
        ({"vary": {"policies.prucb.ridge": {"low": "a", "high": 2}}, "samples": 2}, "a range needs low < high"),
        ({"vary": {"seed": [1, 2]}}, "what is varied must be horizon, environment.KEY, .* but got 'seed'"),
        ({"vary": {"policies.prucb": [1]}}, "what is varied must be .* but got 'policies.prucb'"),
        ({"vary": {"policies.*": [1]}}, r"what is varied must be .* but got 'policies.\*'"),
        ({"vary": {"environment": [1]}}, "what is varied must be .* but got 'environment'"),
        ({"policies": {"s-ucb": 3}}, "a policy must be a table of its settings, but 's-ucb' is 3"),
        ({"name": "../up"}, "name must be a name that a folder can have, but got '../up'"),
        ({"name": 3}, "name must be a name that a folder can have, but got 3"),
        ({"name": ["x"]}, "name must be"),
        ({"title": 1}, "title must be a text, but got 1"),
        ({"about": ["x"]}, "about must be a text"),
        ({"seed": True}, "seed must be a whole number of at least 0, but got True"),
    ],
)
def test_what_cannot_be_played_is_refused_with_a_hint(changes, message):
    with pytest.raises((InvalidExperiment, UnknownName, InvalidSetting), match=message):
        tiny(**changes)


def test_files_that_are_no_experiment_are_refused(tmp_path):
    with pytest.raises(UnknownName, match="did you mean 'synthetic'"):
        load_experiment("syntetic")
    with pytest.raises(InvalidExperiment, match="must be readable"):
        load_experiment(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("a = ")
    with pytest.raises(InvalidExperiment, match="must be valid TOML"):
        load_experiment(tmp_path / "bad.toml")


def test_what_is_varied_concerns_only_those_who_take_it():
    both = tiny(vary={"environment.length": [1, 4]})
    assert [row.label for row in both.rows()] == [
        f"{name} [length={length}]" for length in (1, 4) for name in ("s-ucb", "prucb", "random")
    ]
    assert both.rows()[3].environment["length"] == 4
    one = tiny(vary={"ridge": [0.1, 2.0]})
    assert {row.label for row in one.rows()} == {"s-ucb", "random", "prucb [ridge=0.1]", "prucb [ridge=2]"}
    drawn = tiny(vary={"ridge": {"low": 0.001, "high": 10.0}}, samples=20)
    ridges = [row.params["ridge"] for row in drawn.rows() if row.policy == "prucb"]
    assert len(ridges) == 20
    assert all(0.001 <= ridge <= 10.0 for ridge in ridges)
    assert ridges == [row.params["ridge"] for row in drawn.rows() if row.policy == "prucb"]


def test_no_row_takes_the_place_of_another():
    """Values that are shown alike, or paths that end alike, are rows of their own."""
    near = tiny(policies={"prucb": {}}, vary={"ridge": [0.123401, 0.123402]})
    assert [row.label for row in near.rows()] == ["prucb [ridge=0.1234]", "prucb [ridge=0.123402]"]
    alike = {"environment.corruption": [0.0, 0.2], "policies.*.corruption": [0.1, 0.3]}
    rows = tiny(policies={"mo-pqucb": {}}, vary=alike).rows()
    assert [(row.environment["corruption"], row.params["corruption"]) for row in rows] == [
        (there, told) for there in (0.0, 0.2) for told in (0.1, 0.3)
    ]
    assert rows[3].varied == {"environment.corruption": 0.2, "policies.*.corruption": 0.3}
    apart = tiny(vary={"environment.length": [1, 4], "policies.prucb.ridge": [0.1 + 0.2, 0.5]}).rows()
    assert [row.label for row in apart if row.group == "s-ucb"] == ["s-ucb [length=1]", "s-ucb [length=4]"]


def test_settings_are_found_by_their_last_word():
    experiment = tiny()
    assert experiment.with_settings({"width": 2.0}).policies["s-ucb"]["width"] == 2.0
    assert experiment.with_settings({"corruption": 0.5}).environment["corruption"] == 0.5
    assert experiment.with_settings({"horizon": 7}).horizon == 7
    assert experiment.with_settings({"policies.*.exploration": 0.1}).policies["random"] == {"exploration": 0.1}
    both = tiny(policies={"mo-pqucb": {}}).with_settings({"corruption": 0.5})
    assert (both.environment["corruption"], both.policies["mo-pqucb"]) == (0.5, {})
    with pytest.raises(UnknownName, match="did you mean 's-ucb'"):
        experiment.only(["s-ucp"])


OWN = """
from druthers import SUCB

class Mine(SUCB):
    name = "mine"

    def __init__(self, *, n_objectives, seed=0, exploration=0.0, width={width}):
        super().__init__(n_objectives=n_objectives, seed=seed, exploration=exploration, width=width)
"""


def test_a_policy_of_your_own_is_a_file_and_a_class(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN.format(width=1.0))
    mine = f"{file}:Mine"
    first = run_experiment(tiny(policies={mine: {}, "s-ucb": {}}), tmp_path / "out", workers=2)
    assert np.array_equal(first.final_regret(mine), first.final_regret("s-ucb"))
    file.write_text(OWN.format(width=0.0))
    os.utime(file, ns=(0, 0))  # however coarse the clock of the file system
    second = run_experiment(tiny(policies={mine: {}, "s-ucb": {"width": 0.0}}), tmp_path / "out", workers=2)
    assert np.array_equal(second.final_regret(mine), second.final_regret("s-ucb"))
    assert not np.array_equal(second.final_regret(mine), first.final_regret(mine))
    with pytest.raises(UnknownName, match="did you mean 'Mine'"):
        tiny(policies={f"{file}:Min": {}})
    with pytest.raises(InvalidSetting, match="there is no"):
        tiny(policies={f"{tmp_path}/none.py:Mine": {}})


def test_the_same_seed_gives_the_same_bytes_on_one_core_and_on_two(tmp_path):
    run_experiment(tiny(), tmp_path / "one", workers=1)
    run_experiment(tiny(), tmp_path / "two", workers=2)
    other = run_experiment(tiny(seed=3), workers=1)
    summary = (tmp_path / "one" / "summary.json").read_bytes()
    assert summary == (tmp_path / "two" / "summary.json").read_bytes()
    content = json.loads(summary)
    assert {key: content[key] for key in ("experiment", "horizon", "runs", "seed")} == {
        "experiment": "tiny",
        "horizon": 60,
        "runs": 3,
        "seed": 2,
    }
    assert content["policies"]["s-ucb"]["final_regret_mean"] != other.final_regret("s-ucb").mean()
    timing = json.loads((tmp_path / "one" / "timing.json").read_text())
    assert all(row["us_per_round"] > 0 for row in timing["policies"].values())


@pytest.mark.slow
def test_ray_gives_the_same_bytes(tmp_path):
    pytest.importorskip("ray")
    run_experiment(tiny(), tmp_path / "one", workers=1)
    run_experiment(tiny(), tmp_path / "ray", engine="ray", workers=2)
    assert (tmp_path / "one" / "summary.json").read_bytes() == (tmp_path / "ray" / "summary.json").read_bytes()


@pytest.mark.slow
def test_a_lost_ray_worker_is_replaced_and_its_task_done_again(tmp_path):
    pytest.importorskip("ray")
    tasks = [str(tmp_path / name) for name in "abc"]

    def die_once(path):  # a function of its own: Ray's workers cannot import this file
        if not Path(path).exists():
            Path(path).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return path

    with make_engine("ray", workers=2) as engine:
        assert dict(engine.run(die_once, tasks)) == dict(enumerate(tasks))


def test_every_policy_of_a_run_plays_the_same_tape():
    """A policy's regret does not depend on who else plays, nor on how many runs follow."""
    alone = run_experiment(tiny(policies={"prucb": {"ridge": 0.5}}, runs=1), workers=1)
    assert alone.final_regret("prucb")[0] == run_experiment(tiny(), workers=1).final_regret("prucb")[0]


def test_interrupted_work_goes_on_where_it_was(tmp_path):
    class Stop(Exception):
        pass

    seen = []

    def stop_after(pairs):
        def watch(progress):
            seen.append(progress)
            if progress.stage == "playing" and progress.done >= pairs:
                raise Stop

        return watch

    with pytest.raises(Stop):
        run_experiment(tiny(), tmp_path, workers=1, watch=stop_after(4))
    assert not (tmp_path / "summary.json").exists()
    kept = sorted((tmp_path / "pairs").glob("*.npz"))
    assert len(kept) == 4
    kept[0].write_bytes(kept[0].read_bytes()[:100])  # as after a power cut
    whole = bytearray(kept[1].read_bytes())
    whole[whole.index(b"PK\x01\x02") + 10] = 99  # packed as nobody packs
    kept[1].write_bytes(whole)
    (tmp_path / "pairs" / ".half.npz.123").write_bytes(b"half")
    seen.clear()
    resumed = run_experiment(tiny(), tmp_path, workers=1, watch=seen.append)
    assert [step.done for step in seen if step.stage == "playing"] == [2, 3, 4, 5, 6, 7, 8, 9]
    clean = run_experiment(tiny(), tmp_path / "clean", workers=1)
    assert resumed.summary() == clean.summary()
    assert (tmp_path / "summary.json").read_bytes() == (tmp_path / "clean" / "summary.json").read_bytes()
    seen.clear()
    other = tiny(runs=4, policies={"s-ucb": {"width": 2.0}, "random": {}})
    run_experiment(other, tmp_path, workers=1, watch=seen.append)
    assert next(step.done for step in seen if step.stage == "playing") == 3  # of the old, the random policy's runs


KILLED = """
import sys
from druthers.experiments import Experiment, run_experiment
import json
run_experiment(Experiment.of(json.loads(sys.argv[1]), "tiny"), sys.argv[2], workers=2)
"""


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_random_moments_it_still_comes_to_the_same(tmp_path, kills):
    content = {**TINY, "horizon": 20_000, "runs": 6}
    command = [sys.executable, "-c", KILLED, json.dumps(content), str(tmp_path / "killed")]
    rng = random.Random(7)
    finished = 0
    for _ in range(kills):
        process = subprocess.Popen(command, start_new_session=True)
        folder = tmp_path / "killed" / "pairs"
        before = len(list(folder.glob("*.npz"))) if folder.exists() else 0
        wanted = before + rng.choice([0, 0, 1])  # as soon as it starts to work, or after a pair more
        while process.poll() is None and (not folder.exists() or len(list(folder.glob("*.npz"))) < wanted):
            time.sleep(0.005)
        time.sleep(rng.uniform(0.0, 0.3))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            finished += 1
        process.wait()
    subprocess.run(command, check=True)
    run_experiment(Experiment.of(content, "tiny"), tmp_path / "clean", workers=1)
    assert finished < kills
    assert (tmp_path / "killed" / "summary.json").read_bytes() == (tmp_path / "clean" / "summary.json").read_bytes()


def _die_once(path):
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return path


def _die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_lost_worker_is_replaced_and_its_task_done_again(tmp_path):
    tasks = [str(tmp_path / name) for name in "abc"]
    with Processes(2) as engine:
        assert dict(engine.run(_die_once, tasks)) == dict(enumerate(tasks))
    with pytest.raises(EngineFailure, match="try fewer workers"), Processes(2) as engine:
        list(engine.run(_die, [1]))
    with pytest.raises(UnknownName, match="unknown engine 'processses'"):
        make_engine("processses")


ENDLESS = """
import os
from druthers.engines import Processes

def play(task):
    os.write(1, f"{os.getpid()}\\n".encode())  # at once: of what is printed without a buffer, lines get mixed
    while True:
        pass

with Processes(2) as engine:
    list(engine.run(play, [0, 1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers end with their task")
def test_workers_end_with_a_parent_that_is_killed():
    """They burned a core each for good: a compiled game hears of no closed pipe."""
    workers = []
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        try:
            workers += [int(parent.stdout.readline()) for _ in range(2)]
            parent.kill()
            parent.communicate(timeout=60)  # comes to its end when nobody is left who could write
        finally:
            parent.kill()  # whatever failed: leaving waits for its end
            for worker in workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)


def test_results_come_back_from_their_folder(tmp_path):
    results = run_experiment(tiny(vary={"ridge": [0.1, 2.0]}), tmp_path, workers=1)
    loaded = Results.load(tmp_path)
    assert loaded.labels == results.labels
    assert loaded.summary() == results.summary()
    for label in results.labels:
        for what in ("regret", "error", "gram_error"):
            assert np.array_equal(loaded.curves(label, what), results.curves(label, what), equal_nan=True)
        assert np.array_equal(loaded.shares(label), results.shares(label))
    with pytest.raises(InvalidExperiment, match="has none; `druthers run` makes one"):
        Results.load(tmp_path / "nowhere")
    with pytest.raises(UnknownName, match="did you mean 's-ucb'"):
        results.curves("s-ucp")


def test_frames_hold_every_run_and_round():
    results = run_experiment(tiny(), workers=1)
    pandas, polars = results.to_pandas(), results.to_polars()
    assert list(pandas.columns) == ["label", "run", "round", "regret", "error", "gram_error"] == polars.columns
    assert len(pandas) == len(polars) == 3 * 3 * 60
    last = pandas[(pandas["label"] == "prucb") & (pandas["round"] == 60)]["regret"]
    assert np.array_equal(last, results.final_regret("prucb"))


def made_up(curves):
    rounds = np.array([1, 10, 30, 100, 300, 1_000])
    silent = np.full(len(rounds), np.nan)
    runs = {
        label: [Run(rounds, scale * rounds**power, silent, silent, np.array([3, 1])) for scale in (1.0, 2.0)]
        for label, power in curves.items()
    }
    return Results(tiny(policies={label: {} for label in curves}, horizon=1_000, runs=2), runs, {})


def test_growth_exponents_are_slopes_on_logarithmic_axes():
    results = made_up({"s-ucb": 0.5, "random": 1.0})
    assert results.growth("s-ucb") == pytest.approx([0.5, 0.5])
    assert results.growth("random") == pytest.approx([1.0, 1.0])
    assert results.best() == "s-ucb"
    assert results.shares("random").tolist() == [[0.75, 0.25]] * 2


def test_rates_are_slopes_over_horizons():
    experiment = tiny(policies={"s-ucb": {}, "prucb": {}}, vary={"horizon": [100, 400, 1_600], "ridge": [0.1, 1.0]})
    silent = np.full(1, np.nan)
    runs = {
        row.label: [
            Run(np.array([row.horizon]), scale * np.array([float(row.horizon)]) ** power, silent, silent, np.array([1]))
            for scale in (1.0, 3.0)
        ]
        for row in experiment.rows()
        for power in ({"s-ucb": 1.0, "prucb": 0.5}[row.policy],)
    }
    rates = Results(experiment, runs, {}).rates()
    assert set(rates) == {"s-ucb", "prucb [ridge=0.1]", "prucb [ridge=1]"}
    assert rates["s-ucb"] == pytest.approx((1.0, 0.0))
    assert rates["prucb [ridge=1]"] == pytest.approx((0.5, 0.0))
    assert made_up({"s-ucb": 0.5}).rates() == {}


@pytest.mark.slow
def test_table_1_rates():
    """Between 16,000 and 64,000 rounds: who knows no preference loses in proportion, who learns it much less.

    As described, MO-OFUL chooses at random in one round of twenty, which is linear in the end. Exponents of ten runs
    were 0.99 and 1.00, 0.86 (S-UCB, 0.2 from run to run), 0.92, 0.52 (PRUCB), 0.44 (MO-PQUCB) and 0.0.
    """
    names = ["fisher-pqucb", "mo-pqucb", "prucb", "mo-oful", "s-ucb", "pareto-ucb", "pareto-ts"]
    changes = {"vary": {"horizon": [16_000, 64_000]}, "runs": 4}
    results = run_experiment(load_experiment("rates").only(names).with_settings(changes))
    found = {label: mean for label, (mean, _) in results.rates().items()}
    assert all(found[name] > 0.95 for name in ("pareto-ucb", "pareto-ts"))
    assert found["mo-oful"] > 0.8
    assert found["s-ucb"] > 0.65
    assert all(found[name] < 0.62 for name in ("fisher-pqucb", "mo-pqucb", "prucb"))


def test_paired_differences_are_student_s():
    stats = pytest.importorskip("scipy.stats")
    first, second = np.random.default_rng(3).normal(size=(2, 12))
    expected = stats.ttest_rel(first, second)
    interval = expected.confidence_interval(0.9)
    found = paired(first, second, level=0.9)
    assert (found.p, found.low, found.high) == pytest.approx((expected.pvalue, interval.low, interval.high))
    assert paired([1.0], [2.0]).p == 1.0
    assert paired([1.0, 2.0], [1.0, 2.0]) == (0.0, 0.0, 0.0, 0.0, 1.0)
    assert mean_and_error([1.0, 3.0]) == (2.0, 1.0)
