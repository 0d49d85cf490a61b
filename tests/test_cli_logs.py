"""The commands about logs: what they print, what they write, and what they refuse."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from druthers.logs import read_log, write_log

TINY = """
horizon = 1500

[environment]
name = "synthetic"
n_arms = 6
n_objectives = 3
n_users = 3
offered = 3

[policies.s-ucb]
[policies.prucb]
ridge = 0.5
[vary]
corruption = [0.0, 0.5]
"""


@pytest.fixture
def logged(druthers):
    assert druthers("log", "tiny.toml", "--policy", "s-ucb", "--set", "exploration=0.4", "-q") == (0, "", "")
    return druthers


def test_a_log_is_recorded_as_asked(druthers):
    words = ("log", "tiny.toml", "--policy", "prucb", "--set", "exploration=0.4", "--horizon", "50", "--seed", "7")
    code, out, err = druthers(*words, "--out", "a.parquet")
    assert (code, err) == (0, "")
    assert "50 decisions of prucb in a.parquet" in out
    assert "least propensity 0.133; next: druthers evaluate a.parquet" in out
    druthers(*words, "--out", "b.parquet")
    druthers(*words, "--out", "c.parquet", "--run", "1")
    first, again, other = (list(read_log(f"{name}.parquet").rows()) for name in "abc")
    assert first == again != other
    assert first[0]["policy"] == "prucb"


def test_a_log_without_exploration_says_what_it_cannot_do(druthers):
    code, out, _ = druthers("log", "tiny.toml", "--policy", "s-ucb", "--horizon", "50")
    assert code == 0
    assert "its choices were certain: no other policy can be judged by them; add --set exploration=0.1\n" in out
    code, _, err = druthers("evaluate", "log.parquet", "--policy", "prucb")
    assert code == 2
    assert "log with exploration > 0" in err
    assert err.count("\n") == 1


def test_evaluate_prints_a_table(logged):
    code, out, err = logged("evaluate", "log.parquet", "--policies", "prucb,random")
    assert (code, err) == (0, "")
    assert "judged on the last 750 rows after learning from 750" in out
    words = out.split()
    for word in ("logged", "prucb", "random", "dr", "snips", "ips", "replay", "utility", "effective"):
        assert word in words
    rows = [line for line in out.splitlines() if line.startswith("objective ")]
    assert len(rows) == 3
    assert any("*" in row for row in rows)  # nothing is bold in a pipe
    assert "\n*: clearly other than logged" in out


def test_evaluate_prints_json(logged):
    words = ("--policies", "prucb,random", "--estimators", "ips,replay", "--learn", "0.2", "--json")
    code, out, err = logged("evaluate", "log.parquet", *words, "--set", "prucb.ridge=3", "--set", "exploration=0.5")
    assert (code, err) == (0, "")
    content = json.loads(out)
    assert [found["policy"] for found in content["evaluations"]] == ["prucb", "random"]
    assert [found["learned"] for found in content["evaluations"]] == [300, 300]
    for found in content["evaluations"]:
        for by_name in found["estimates"].values():
            assert set(by_name) == {"ips", "replay"}
            assert by_name["ips"]["value"]["low"] < by_name["ips"]["value"]["high"]


@pytest.mark.parametrize("terminal", [None, "xterm", "dumb"])
def test_no_figure_is_cut(logged, monkeypatch, terminal):
    """In a pipe, and on a terminal however narrow, nothing of a table is replaced by dots or put elsewhere."""
    monkeypatch.setenv("COLUMNS", "40")
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", terminal)
    code, out, _ = logged("evaluate", "log.parquet", "--policies", "prucb,random,s-ucb")
    assert (code, "…" in out) == (0, False)
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", out).splitlines()
    for number in (1, 2, 3):
        (line,) = [line for line in lines if line.startswith(f"objective {number}")]
        assert line.count("±") == 4  # as logged, and of each policy
    code, out, _ = logged("run", "tiny.toml", "--horizon", "30", "--runs", "2", "--workers", "1", "--no-figures")
    assert (code, [line for line in out.splitlines() if "±" in line and "…" in line]) == (0, [])
    assert all(("growth" in out, "µs/round" in out, "error" in out)) is (
        terminal is None
    )  # what has no room is left out


def test_refusals_are_told_beside_what_can_be_said(logged):
    code, out, _ = logged("log", "tiny.toml", "--policy", "pareto-ts", "--out", "ts.dsjson", "--horizon", "9")
    assert "it does not know the chances of its choices" in out
    code, out, _ = logged("evaluate", "log.parquet", "--policies", "pareto-ts,prucb")
    assert code == 0
    assert "refused, pareto-ts by dr: weights need the chance of every choice" in out


def test_contexts_that_are_left_aside_are_told(logged):
    """A log may carry them, and no policy is told them: who reads the figures must know."""
    for words in (("--json",), ()):
        assert "ontexts" not in logged("evaluate", "log.parquet", "--policies", "random", *words)[1]
    log = read_log("log.parquet")
    told = np.tile([0.0, 1.0], (len(log), 1))
    write_log(replace(log, entries=("device=phone", "weekend"), contexts=told), "log.parquet")
    out = logged("evaluate", "log.parquet", "--policies", "random", "--json")[1]
    assert json.loads(out)["contexts_left_aside"] == ["device=phone", "weekend"]
    out = " ".join(logged("evaluate", "log.parquet", "--policies", "random")[1].split())
    assert "judged as one that is told none of device=phone, weekend; on the journal" in out


def test_exports(logged):
    assert logged("export", "log.parquet", "--out", "log.dsjson")[1] == "1,500 decisions in log.dsjson\n"
    with open("log.dsjson", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    log = read_log("log.parquet")
    assert [-line["_label_cost"] for line in lines] == log.utilities.tolist()
    logged("export", "log.parquet", "--out", "feedback.npz", "--outcome", "objective 2", "-q")
    with np.load("feedback.npz") as feedback:
        assert int(feedback["n_rounds"]) == 1500
        assert feedback["reward"].tolist() == log.outcome("objective 2").tolist()
        assert feedback["pi_b"].shape == (1500, 6, 1)


@pytest.mark.parametrize("where", ["none.db", "sqlite:none.db", "postgres://nobody@localhost:1/x?connect_timeout=1"])
def test_a_journal_is_known_by_any_of_its_addresses(druthers, where):
    code, _, err = druthers("evaluate", where, "--policy", "s-ucb")
    assert code == 1
    assert err.startswith("druthers: a journal must be ")


def test_requests_that_cannot_be_met_leave_with_2_and_one_line(logged):
    for words, message in (
        (("log", "tiny.toml", "--policy", "s-ucp"), "did you mean 's-ucb'?"),
        (("log", "tiny.toml", "--policy", "s-ucb", "--out", "log.csv"), "ends with .parquet, .dsjson, .npz"),
        (("log", "tiny.toml", "--policy", "s-ucb,prucb"), "a log must be that of one policy, but got 's-ucb,prucb'"),
        (("evaluate", "log.parquet", "--policy", "s-ucb", "--estimator", ","), "at least one estimator must be named"),
        (("export", "log.parquet", "--out", "log"), "ends with .parquet, .dsjson, .npz"),
        (("export", "log.parquet", "--out", "a.npz", "--outcome", "objectiv 1"), "did you mean 'objective 1'?"),
        (("evaluate", "nowhere.parquet", "--policy", "s-ucb"), "a log must be a Parquet file, but there is no nowhere"),
        (("evaluate", "log.parquet", "--policy", "s-ucp"), "did you mean 's-ucb'?"),
        (("evaluate", "log.parquet", "--policy", ","), "at least one policy"),
        (("evaluate", "log.parquet", "--policy", "s-ucb", "--set", "ridge=1"), "unknown setting 'ridge'"),
        (("evaluate", "log.parquet", "--policy", "s-ucb", "--set", "prucb.ridge=1"), "unknown policy of a setting"),
        (("evaluate", "log.parquet", "--policy", "s-ucb", "--estimator", "isp"), "did you mean 'ips'?"),
    ):
        code, _, err = logged(*words)
        assert code == 2, words
        assert message in err
        assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["log", "export", "evaluate"])
def test_help_teaches_by_example(druthers, command):
    code, out, _ = druthers(command, "--help")
    assert code == 0
    assert f"druthers {command}" in out
