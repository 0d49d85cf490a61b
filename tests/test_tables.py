"""A table of one's own becomes a data folder and an experiment, and what is doubtful in it is said."""

from __future__ import annotations

import json
import sys
from collections import Counter

import naive_data as naive
import numpy as np
import pandas as pd
import pytest

from druthers.__main__ import main
from druthers.data import Columns, build_table
from druthers.data.reviews.tables import Coded, _numbers
from druthers.environments.reviews import read_folder
from druthers.errors import InvalidSetting, UnknownName

OBJECTIVES = ["clean", "quiet", "price"]
COLUMNS = Columns("user", "item", "overall", ("clean", "quiet"), ("price",))


def ratings(n=400, seed=1):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "user": [f"user {n}" for n in rng.integers(12, size=n)],
            "item": [f"inn {n}" for n in (9 * rng.random(n) ** 2).astype(int)],
            "clean": rng.integers(4, 21, n) / 4,
            "quiet": rng.integers(4, 21, n) / 4,
            "price": rng.integers(40, 300, n) / 1.0,
        }
    )
    frame["overall"] = (frame["clean"] + frame["quiet"]) / 2 - frame["price"] / 256
    return frame


def written(frame, path, **options):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, **options)
    return path


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("r.csv", {}),
        ("r.csv", {"sep": ";"}),
        ("r.csv", {"sep": "\t", "encoding": "utf-8-sig"}),
        ("r.csv.gz", {}),
        ("r.csv", {"lineterminator": "\r"}),
        ("r.parquet", {}),
    ],
)
def test_every_form_of_a_table_gives_the_arrays_of_the_naive_version(tmp_path, name, options):
    frame = ratings()
    path = written(frame, tmp_path / name, **options)
    built = build_table(path, tmp_path / "out", COLUMNS, of_user=24, of_item=25, n_users=5)
    turned = frame.assign(price=frame["price"].min() + frame["price"].max() - frame["price"])
    kept = turned
    for _ in range(10):
        kept = naive.enough(naive.enough(kept, "user", 24), "item", 25)
    assert naive.counts(kept) == built.steps[-1][1:]
    rewards, preferences, users = naive.arrays(kept, turned, OBJECTIVES, 5, 1.0)
    for array, expected in zip(read_folder(built.folder), (rewards.to_numpy(), preferences), strict=True):
        np.testing.assert_array_equal(array, expected)
    facts = json.loads((built.folder / "facts.json").read_text())
    assert [entry["id"] for entry in facts["users"]] == users
    assert facts["objectives"] == OBJECTIVES


def test_batches_make_no_difference(tmp_path, monkeypatch):
    path = written(ratings(), tmp_path / "r.csv")
    whole = build_table(path, tmp_path / "whole", COLUMNS)
    monkeypatch.setattr("druthers.data.reviews.tables.BATCH", 16)
    pieces = build_table(path, tmp_path / "pieces", COLUMNS)
    for name in ("rewards.csv", "preferences.csv", "facts.json"):
        assert (whole.folder / name).read_bytes() == (pieces.folder / name).read_bytes()


def test_ids_of_any_kind(tmp_path):
    frame = ratings()
    numbers = frame.assign(
        user=frame["user"].str[5:].astype(float), item=pd.Categorical(frame["item"]), clean=frame["clean"].astype(str)
    )
    numbers.loc[3, "user"] = np.nan
    built = build_table(written(numbers, tmp_path / "r.parquet"), tmp_path / "out", COLUMNS)
    facts = json.loads((built.folder / "facts.json").read_text())
    assert {entry["id"] for entry in facts["users"]} == {str(n) for n in range(12)}
    assert {entry["id"] for entry in facts["items"]} == {f"inn {n}" for n in range(9)}
    assert built.steps[1].reviews == 399


def test_ranges_bring_columns_to_one_scale_and_costs_are_turned(tmp_path):
    frame = ratings()
    frame.loc[:2, "price"] = [-1.0, 301.0, 300.0]
    ranges = {"clean": (1, 5), "quiet": (1, 5), "price": (0, 300), "overall": (-2, 6)}
    columns = Columns("user", "item", "overall", ("clean", "quiet"), ("price",), ranges)
    built = build_table(written(frame, tmp_path / "r.csv"), tmp_path / "out", columns, of_user=1)
    assert built.damaged == {"price outside 0..300": 2}
    kept = frame[frame["price"].between(0, 300)].copy()
    for name in ("clean", "quiet"):
        kept[name] = (kept[name] - 1) / 4
    kept["price"] = 1 - kept["price"] / 300
    expected = kept.groupby("item")[OBJECTIVES].mean()
    rewards = pd.read_csv(built.folder / "rewards.csv", index_col=0)
    np.testing.assert_allclose(rewards.loc[expected.index], expected, rtol=1e-12)
    assert "price: less is better, so 1 - price is the reward" in built.notes


def test_a_utility_without_a_range_among_objectives_with_one_is_noted(tmp_path):
    ranges = {"clean": (1.0, 5.0), "quiet": (1.0, 5.0), "price": (0.0, 300.0)}
    columns = Columns("user", "item", "overall", ("clean", "quiet"), ("price",), ranges)
    built = build_table(written(ratings(), tmp_path / "r.csv"), tmp_path / "out", columns)
    assert "overall has no range: where 0 on all objectives is not 0 overall, give it one" in built.notes


def test_what_is_doubtful_is_said_with_what_was_done(tmp_path):
    frame = ratings(60)
    frame["tidy"] = 2 * frame["clean"] + 1
    frame["legal"] = 1
    frame = frame.astype({"quiet": object, "user": object, "item": object, "overall": object})
    frame.loc[0, "quiet"] = None
    frame.loc[1, "quiet"] = "so so"
    frame.loc[2, "item"] = None
    frame.loc[3, "user"] = ""
    frame.loc[4, "overall"] = "n/a"
    frame.loc[5, "user"] = "a passer-by"
    frame.loc[6, "item"] = "an inn far off"
    columns = Columns("user", "item", "overall", ("clean", "tidy", "quiet", "legal"), ("price",))
    built = build_table(written(frame, tmp_path / "r.csv"), tmp_path / "out", columns, of_user=2)
    assert built.damaged == {"no item": 1, "quiet that is no number": 1}
    assert [step.reviews for step in built.steps] == [58, 57, 55, 53]
    notes = "\n".join(built.notes)
    assert "legal is always 1: left out" in notes
    assert "clean and tidy say the same (correlation 1.000): both kept" in notes
    assert "items rest on one review: kept" in notes
    assert "users said too little to fix their weights: a ridge of 1 decides" in notes
    assert "but policies treat all objectives alike: kept; a range for each brings them to one scale" in notes
    assert built.objectives == ("clean", "tidy", "quiet", "price")


def test_an_objective_that_follows_from_two_others_is_seen(tmp_path):
    frame = ratings().assign(price=lambda table: table["clean"] + table["quiet"])
    built = build_table(written(frame, tmp_path / "r.csv"), tmp_path / "out", COLUMNS)
    assert "one objective follows from the others: all kept, single weights mean little" in built.notes


def test_what_is_no_table_of_ratings_is_refused(tmp_path):
    path = written(ratings(), tmp_path / "r.csv")
    with pytest.raises(InvalidSetting, match="No such file"):
        build_table(tmp_path / "none.csv", tmp_path / "out", COLUMNS)
    with pytest.raises(UnknownName, match=r"unknown column of r\.csv 'overal'; known: .* did you mean 'overall'?"):
        build_table(path, tmp_path / "out", Columns("user", "item", "overal", ("clean", "quiet")))
    with pytest.raises(InvalidSetting, match="one role, but 'clean' is objective and cost; name it once"):
        Columns("user", "item", "overall", ("clean", "quiet"), ("clean",))
    with pytest.raises(InvalidSetting, match="at least two objectives to weigh, but got"):
        Columns("user", "item", "overall", ("clean",))
    with pytest.raises(InvalidSetting, match=r"from a lower to a higher number, but clean has 5\.\.1"):
        Columns("user", "item", "overall", ("clean", "quiet"), ranges={"clean": (5, 1)})
    with pytest.raises(UnknownName, match="did you mean 'clean'"):
        Columns("user", "item", "overall", ("clean", "quiet"), ranges={"clan": (1, 5)})
    with pytest.raises(InvalidSetting, match="at least two objectives must vary to be weighed"):
        build_table(written(ratings().assign(clean=1, price=2), tmp_path / "c.csv"), tmp_path / "out", COLUMNS)
    with pytest.raises(InvalidSetting, match="the utility must vary to tell what users want, but it is always 3"):
        build_table(written(ratings().assign(overall=3), tmp_path / "u.csv"), tmp_path / "out", COLUMNS)
    with pytest.raises(InvalidSetting, match="users with 3 or more; ask users for fewer"):
        build_table(written(ratings(2), tmp_path / "few.csv"), tmp_path / "out", COLUMNS)
    twice = tmp_path / "twice.csv"
    twice.write_text("user,item,clean,clean,quiet,price,overall\na,b,1,2,3,4,5\n")
    with pytest.raises(InvalidSetting, match="at least one user must be kept, but got 0"):
        build_table(path, tmp_path / "out", COLUMNS, n_users=0)
    with pytest.raises(InvalidSetting, match=r"data are written to a folder, but .*r\.csv is a file"):
        build_table(path, path, COLUMNS)
    with pytest.raises(InvalidSetting, match=r"clean' twice"):
        build_table(twice, tmp_path / "out", COLUMNS)
    broken = written(ratings(), tmp_path / "broken.parquet")
    broken.write_bytes(broken.read_bytes()[:-100])
    with pytest.raises(InvalidSetting, match="a Parquet file must be whole, but"):
        build_table(broken, tmp_path / "out", COLUMNS)
    nested = written(ratings().assign(clean=[[1.0]] * 400), tmp_path / "nested.parquet")
    with pytest.raises(InvalidSetting, match="a column must hold single values, but clean holds list"):
        build_table(nested, tmp_path / "out", COLUMNS)
    assert not (tmp_path / "out").exists()


def test_commas_before_decimals_are_read_and_told(tmp_path):
    table = ratings().assign(clean=lambda all: all.clean + 0.5)
    plain = build_table(written(table, tmp_path / "plain.csv"), tmp_path / "plain", COLUMNS)
    commas = table.assign(clean=[str(value).replace(".", ",") for value in table.clean])
    read = build_table(written(commas, tmp_path / "commas.csv"), tmp_path / "commas", COLUMNS)
    assert np.array_equal(read.estimates.rewards, plain.estimates.rewards)
    assert read.repaired == {"clean with a comma before decimals": 400}
    both = commas.assign(clean=["1.234", *commas.clean[1:]])
    with pytest.raises(InvalidSetting, match="decimals must be written in one way, but clean has commas before them"):
        build_table(written(both, tmp_path / "both.csv"), tmp_path / "out", COLUMNS)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("4,5", 4.5),
        ("-0,125", -0.125),
        ("1.234,50", 1234.5),
        ("1234,567", 1234.567),
        ("240,50", 240.5),
        ("1,234", np.inf),  # it may be a thousand and more
        ("1,2,3", np.inf),
        ("1,5x", np.inf),
    ],
)
def test_a_comma_that_can_only_stand_before_decimals(text, number):
    found = Counter()
    assert _numbers(Coded([text], np.array([0, 0])), found).tolist() == [number, number]
    assert found[","] == 2 * np.isfinite(number)


def test_what_was_skipped_is_told_where_nothing_is_left(tmp_path):
    few = ratings().head(9).assign(clean=["?"] * 6 + [1, 2, 3])
    with pytest.raises(InvalidSetting, match="or see what was skipped before: 6 × clean that is no number"):
        build_table(written(few, tmp_path / "few.csv"), tmp_path / "out", COLUMNS)


def test_what_is_no_text_at_all_is_refused(tmp_path):
    (tmp_path / "r.csv").write_bytes(b"user,item\r\x80\0" + b"x" * 200_000 + b"\nmore")
    with pytest.raises(UnknownName, match="unknown column of r"):
        build_table(tmp_path / "r.csv", tmp_path / "out", COLUMNS)


@pytest.fixture
def druthers(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["druthers", *words])
        with pytest.raises(SystemExit) as leaving:
            main()
        printed = capsys.readouterr()
        return leaving.value.code or 0, printed.out, printed.err

    return call


def test_from_a_table_to_a_comparison_in_two_commands(druthers, tmp_path):
    written(ratings(), tmp_path / "ratings.csv")
    words = ("--objectives", "clean,quiet", "--costs", "price", "--utility", "overall")
    ranges = ("--range", "1..5", "--range", "price=0..300", "--range", "overall=-2..6")
    code, out, err = druthers("data", "build", "table", "--file", "ratings.csv", *words, *ranges, "--out", "inns")
    assert (code, err) == (0, "")
    assert "all ratings given" in out
    assert "data in inns; now: druthers run inns/inns.toml" in out
    quick = ("--runs", "2", "--horizon", "30", "--policies", "s-ucb,random", "--workers", "1", "--no-figures", "--json")
    code, out, _ = druthers("run", "inns/inns.toml", *quick)
    assert code == 0
    summary = json.loads(out)
    assert summary["data"].startswith("inns data ")
    assert set(summary["policies"]) == {"s-ucb", "random"}


def test_from_raw_files_to_the_paper_s_experiment(druthers, tmp_path):
    quick = ("--runs", "1", "--horizon", "30", "--policies", "s-ucb", "--workers", "1", "--no-figures", "--json")
    for name, raw, options in (
        ("tripadvisor", "hotels", ("--min-user", "2", "--min-item", "1")),
        ("beeradvocate", "beers.txt.gz", ("--min-user", "2", "--min-item", "2", "--raters", "1")),
    ):
        assert druthers("data", "sample", name, "--out", raw, "--reviews", "3000")[0] == 0
        code, out, err = druthers("data", "build", name, "--raw", raw, "--out", "data", *options)
        assert (code, err) == (0, "")
        assert "the paper" in out
        assert "skipped" in out
        assert f"data in data/{name}; now: druthers run {name} --data data" in out
        assert druthers("data", "build", name, "--raw", raw, "--out", "data", *options, "-q") == (0, "", "")
        code, out, _ = druthers("run", name, "--data", "data", *quick)
        assert code == 0
        assert json.loads(out)["data"].startswith(f"{name} data ")


def test_the_command_refuses_with_2_and_one_line(druthers):
    for words, message in (
        (("tripadvisor", "--raw", "nowhere", "--out", "x"), "No such file or directory: 'nowhere'"),
        (
            ("table", "--file", "r.csv", "--objectives", "a,b", "--utility", "c", "--range", "a=1-5", "--out", "x"),
            "a range must look like COLUMN=LOW..HIGH or LOW..HIGH, but got 'a=1-5'",
        ),
    ):
        code, _, err = druthers("data", "build", *words)
        assert code == 2
        assert message in err
        assert err.count("\n") == 1
