"""The command line: what it prints, what it writes, and the exit codes it leaves with."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from service_processes import until

from druthers import __version__
from druthers.cli import app
from druthers.experiments import load_experiment

TINY = """
title = "A tiny experiment"
horizon = 40
runs = 3

[environment]
name = "synthetic"
n_arms = 6
n_objectives = 4
n_users = 3
offered = 3

[policies.s-ucb]
[policies.prucb]
ridge = 0.5
"""


def test_run_prints_a_table_and_writes_everything(druthers, tmp_path):
    code, out, err = druthers("run", "tiny.toml", "--workers", "1")
    assert (code, err) == (0, "")
    assert "A tiny experiment" in out
    assert "3 runs of 40 rounds from seed 2" in out
    assert "open results/tiny/report.html" in out
    folder = tmp_path / "results" / "tiny"
    assert {path.name for path in folder.iterdir()} >= {
        "summary.json",
        "timing.json",
        "settings.json",
        "curves.parquet",
        "arms.parquet",
        "figures",
        "report.html",
    }
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["versions"]["druthers"] == __version__
    assert settings["experiment"]["policies"]["prucb"] == {"ridge": 0.5}


def test_settings_change_by_option(druthers, tmp_path):
    code, _, _ = druthers(
        *("run", "tiny.toml", "--workers", "1", "--runs", "2", "--horizon", "30", "--seed", "9", "--no-figures", "-q"),
        *("--policies", "s-ucb,random", "--set", "corruption=0.5", "--set", "policies.s-ucb.width=2", "--out", "there"),
    )
    assert code == 0
    summary = json.loads((tmp_path / "there" / "summary.json").read_text())
    assert {key: summary[key] for key in ("runs", "horizon", "seed")} == {"runs": 2, "horizon": 30, "seed": 9}
    assert list(summary["policies"]) == ["s-ucb", "random"]
    assert summary["policies"]["s-ucb"]["params"] == {"width": 2}
    settings = json.loads((tmp_path / "there" / "settings.json").read_text())
    assert settings["experiment"]["environment"]["corruption"] == 0.5
    assert not (tmp_path / "there" / "figures").exists()


def test_what_is_told_of_an_experiment_is_told_as_what_it_is_unchanged(druthers):
    """Else it names policies that do not play, and sizes that are others."""
    words = ("--horizon", "20", "--workers", "1", "--no-figures")
    about = load_experiment("synthetic").about
    out = druthers("run", "synthetic", "--policies", "s-ucb,random", "--runs", "1", *words)[1]
    assert f"\nAs it comes along: {about}\n" in out
    assert " p  " not in out.splitlines()[3]  # of one run nothing is known of chance
    assert "p: chance" not in out
    assert "p: chance" in druthers("run", "tiny.toml", "--runs", "2", *words)[1]


def test_a_run_says_that_it_replaces_results_of_other_settings(druthers):
    words = ("run", "tiny.toml", "--workers", "1", "--no-figures")
    assert "replaced" not in druthers(*words)[1]
    assert "replaced" not in druthers(*words)[1]  # the same again
    other = (*words, "--policies", "s-ucb", "--set", "corruption=0.5")
    assert "replaced" not in druthers(*other, "--out", "there")[1]
    told = "results/tiny has results of other environment, policies: replaced; --out keeps both"
    assert told in druthers(*other)[1]
    assert druthers("compare", "s-ucb", "prucb", "--in", "results/tiny")[0] == 2
    assert "replaced" in druthers(*words)[1]
    assert druthers("compare", "s-ucb", "prucb", "--in", "results/tiny")[0] == 0


def test_no_command_of_the_readme_replaces_the_results_of_another():
    text = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    runs = [line.split("#")[0].split() for line in text.splitlines() if line.startswith("druthers run ")]
    folders = [words[words.index("--out") + 1] if "--out" in words else words[2] for words in runs]
    assert len(folders) > 2
    assert len({*folders}) == len(folders)


def test_quiet_is_quiet_and_json_is_json(druthers):
    assert druthers("run", "tiny.toml", "--workers", "1", "--no-figures", "--quiet") == (0, "", "")
    code, out, err = druthers("run", "tiny.toml", "--workers", "1", "--no-figures", "--json")
    assert (code, err) == (0, "")
    assert set(json.loads(out)["policies"]) == {"s-ucb", "prucb"}
    assert set(json.loads(druthers("list", "--json")[1])) == {"experiments", "policies"}


def test_sweep_reports_the_best_setting(druthers, tmp_path):
    words = ("sweep", "tiny.toml", "--workers", "1", "--policies", "prucb", "--no-figures")
    code, out, _ = druthers(*words, "--vary", "ridge=0.1,1,10")
    assert code == 0
    summary = json.loads((tmp_path / "results" / "tiny-sweep" / "summary.json").read_text())["policies"]
    best = min(summary.values(), key=lambda row: row["final_regret_mean"])
    assert f"best: prucb with ridge = {best['varied']['ridge']}" in out
    assert len(summary) == 3
    code, out, _ = druthers(*words, "--vary", "ridge=0.01..10.0", "--samples", "4", "--json")
    assert len(json.loads(out)["policies"]) == 4


def test_compare_two_policies_and_two_folders(druthers):
    for out, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        druthers("run", "tiny.toml", "--workers", "1", "--no-figures", "-q", "--out", out, "--seed", seed)
    code, out, _ = druthers("compare", "s-ucb", "prucb", "--in", "a")
    assert code == 0
    assert "95% interval" in out
    (row,) = json.loads(druthers("compare", "s-ucb", "prucb", "--in", "a", "--json")[1])
    assert row["low"] <= row["mean"] <= row["high"]
    rows = json.loads(druthers("compare", "a", "b", "--json")[1])
    assert [row["mean"] for row in rows] == [0.0, 0.0]
    assert druthers("compare", "a", "c")[0] == 2
    code, _, err = druthers("compare", "s-ucb", "prucp", "--in", "a")
    assert code == 2
    assert "did you mean 'prucb'?" in err


def test_requests_that_cannot_be_met_leave_with_2_and_one_line(druthers):
    for words, message in (
        (("run", "tyni.toml"), "must be readable"),
        (("run", "syntetic"), "did you mean 'synthetic'?"),
        (("run", "tiny.toml", "--set", "ofered=3"), "did you mean 'offered'?"),
        (("run", "tiny.toml", "--set", "offered"), "must look like KEY=VALUE, but got 'offered'"),
        (("run", "tiny.toml", "--set", "offered=9"), "offered must lie between 1 and 6 arms, but got 9"),
        (("run", "tiny.toml", "--policies", "s-ucp"), "did you mean 's-ucb'?"),
        (("run", "tiny.toml", "--engine", "rya"), "unknown engine 'rya'"),
        (("run", "tiny.toml", "--data", "nowhere"), "--data must be a folder, but got nowhere"),
        (("compare", "a", "b", "--in", "nowhere"), "has none; `druthers run` makes one"),
        (("reproduce", "--only", "sinthetic"), "did you mean 'synthetic'?"),
        (("reproduce", "--only", ","), "unknown experiment of the paper ','"),
        (("theory", "check", "--only", ","), "unknown claim ','"),
        (("run", "tiny.toml", "--policies", ""), "unknown policy ''; known: "),
        (("read", "quiet", "--objectives", ","), "at least one, but got []"),
    ):
        code, _, err = druthers(*words)
        assert code == 2, words
        assert message in err
        assert err.count("\n") == 1
    assert druthers("run", "tiny.toml", "--runs", "0")[0] == 2
    assert druthers("--version")[1] == f"druthers {__version__}\n"


def test_a_missing_extra_names_the_command_that_installs_it(druthers, monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "typer" else find(name))
    code, _, err = druthers("list")
    assert code == 1
    assert "pip install 'druthers[lab]' (in a clone: '.[lab]')" in err


def test_an_interrupt_says_that_what_is_finished_is_kept(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)
    command = [sys.executable, "-m", "druthers", "run", "tiny.toml", "--horizon", "2000000", "--no-figures"]
    ours = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell, and theirs, ignore it
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, ours)
    pairs = tmp_path / "results" / "tiny" / "pairs"
    until(lambda: pairs.exists() or process.poll() is not None, "the run to begin")
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on from there" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["run", "sweep", "reproduce", "compare", "list", "report"])
def test_help_teaches_by_example(druthers, command):
    code, out, _ = druthers(command, "--help")
    assert code == 0
    assert f"druthers {command}" in out


def commands(group, path=()):
    """Return all commands below a group, each by its words, with its docstring."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command.help or ""


ALL = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_each_example_stands_on_a_line_of_its_own(druthers, monkeypatch, command):
    """What stands behind a paragraph of one line only is run together by what draws the help."""
    monkeypatch.setenv("COLUMNS", "200")
    examples = [line.strip() for line in ALL[command].splitlines() if line.startswith("    ")]
    _, out, _ = druthers(*command, "--help")
    assert [line.strip() for line in out.splitlines() if line.startswith("  ") and line.strip()] == examples
