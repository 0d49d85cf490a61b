"""The lab on bad luck: settings of another kind, folders that cannot be written, damaged results, no regret."""

from __future__ import annotations

import pytest

from druthers.errors import InvalidExperiment, UnknownName
from druthers.experiments import Results, load_experiment, run_experiment
from druthers.report import draw_figures

TINY = """
title = "A tiny experiment"
horizon = 20
runs = 2

[environment]
name = "synthetic"
n_arms = 4
n_objectives = 3
n_users = 2
offered = 2

[policies.s-ucb]
[policies.prucb]
ridge = 0.5
"""
LONE = TINY.replace("n_arms = 4", "n_arms = 1").replace("offered = 2", "offered = 1").replace("runs = 2", "runs = 1")


@pytest.mark.parametrize(
    "setting", ["n_arms=abc", "n_arms=2.5", "scale=x", "ridge=x", "ridge=inf", "n_users=1000000000000000000"]
)
def test_a_setting_of_another_kind_is_told_in_a_line(druthers, setting):
    code, _, err = druthers("run", "tiny.toml", "--workers", "1", "--set", setting)
    assert code == 2
    assert err.startswith("druthers: ")
    assert "Traceback" not in err


def test_a_folder_that_cannot_be_written_is_told_in_a_line(druthers):
    code, _, err = druthers("run", "tiny.toml", "--workers", "1", "--out", "tiny.toml")
    assert (code, err) == (1, "druthers: files must be readable and writable, but tiny.toml/pairs: Not a directory\n")


def test_an_engine_must_be_known_whatever_is_kept(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)
    small = load_experiment(tmp_path / "tiny.toml").only(["s-ucb"])
    run_experiment(small, tmp_path / "out", workers=1)
    with pytest.raises(UnknownName, match="engine"):
        run_experiment(small, tmp_path / "out", engine="foo")


@pytest.mark.parametrize("file", ["settings.json", "timing.json", "curves.parquet", "arms.parquet"])
@pytest.mark.parametrize("content", ["xx", "{}", None])
def test_damaged_results_are_told_and_made_again(druthers, tmp_path, file, content):
    arguments = ("run", "tiny.toml", "--workers", "1", "--no-figures", "--policies", "s-ucb")
    assert druthers(*arguments)[0] == 0
    damaged = tmp_path / "results" / "tiny" / file
    damaged.unlink()
    if content is not None:
        damaged.write_text(content)
    with pytest.raises(InvalidExperiment, match=r"results must be whole, but those in .* are not"):
        Results.load(damaged.parent)
    code, _, err = druthers("report", "results/tiny")
    assert (code, "makes them again" in err) == (2, True)
    assert druthers(*arguments)[0] == 0
    assert Results.load(damaged.parent).final_regret("s-ucb").shape == (2,)


@pytest.mark.parametrize("text", [LONE, LONE.replace("horizon = 20", "horizon = 1")])
def test_figures_are_drawn_where_there_is_no_regret(tmp_path, text):
    (tmp_path / "tiny.toml").write_text(text)
    results = run_experiment(load_experiment(tmp_path / "tiny.toml"), workers=1)
    draw_figures(results, tmp_path / "figures", ("svg",))
    assert list((tmp_path / "figures").glob("*.svg"))


def test_an_experiment_may_begin_with_the_mark_of_windows(tmp_path):
    (tmp_path / "tiny.toml").write_text(f"\ufeff{TINY}".replace("\n", "\r\n"), "utf-8")
    assert load_experiment(tmp_path / "tiny.toml").horizon == 20
