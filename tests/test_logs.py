"""Logs: rows, files and exports say the same, and what breaks a law is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from druthers import make_policy
from druthers.environments import Synthetic
from druthers.errors import InvalidLog, UnknownName
from druthers.logs import Log, from_rows, read_log, record, spread, to_obp, write_dsjson, write_log
from druthers.simulation import play_by_steps

OBJECTIVES = ("clean", 'so "quiet"', "größe")
SMALL = {"n_arms": 7, "n_objectives": 3, "n_users": 4}


def drawn_rows(seed, n_rows=60, text=True, times=True):
    """Draw decisions with everything that may be missing missing somewhere, offers and rankings of any length."""
    rng = np.random.default_rng(seed)
    arms = ["inn", "spa", 'the "loft"', "hôtel\n", "b&b", "back\\slash"] if text else [4, 8, 15, 16, 23, 42]
    rows = []
    for number in range(n_rows):
        offer = [arms[k] for k in rng.permutation(6)[: rng.integers(1, 7)]]
        chances = rng.dirichlet(np.ones(len(offer)))
        place = int(rng.integers(len(offer)))
        row = {"round": number // 2, "user": f"user {rng.integers(5)}", "offer": offer, "arm": offer[place]}
        row["ranking"] = [OBJECTIVES[k] for k in rng.permutation(3)[: rng.integers(4)]]
        row["policy"] = ["old", "new"][number % 2]
        row["reward"] = {name: float(rng.normal()) for name in OBJECTIVES if rng.random() < 0.7}
        if rng.random() < 0.8:
            row["propensity"] = float(chances[place])
            if rng.random() < 0.5:
                row["chances"] = chances.tolist()
        if rng.random() < 0.8:
            row["utility"] = float(rng.normal())
        if times and rng.random() < 0.8:
            row["time"] = datetime(2026, 1, 1) + timedelta(seconds=number, microseconds=int(rng.integers(10**6)))
        rows.append(row)
    return rows


def test_rows_come_out_as_they_went_in():
    rows = drawn_rows(1)
    assert list(from_rows(rows, OBJECTIVES).rows()) == rows
    log = from_rows(rows, OBJECTIVES)
    assert [log.arm_ids[arm] for arm in log.arms] == [row["arm"] for row in rows]
    assert log.sizes.tolist() == [len(row["offer"]) for row in rows]
    assert log.outcomes == ("utility", *OBJECTIVES)
    assert np.array_equal(log.outcome("clean"), log.rewards[:, 0], equal_nan=True)
    with pytest.raises(UnknownName, match="did you mean 'clean'"):
        log.outcome("clear")


def test_plain_values_are_enough():
    aware = datetime(2026, 1, 1, 12, tzinfo=UTC)
    given = {"user": 1, "offer": (5, 6), "arm": 6, "reward": [1, None, 2.5], "ranking": [2, 0]}
    log = from_rows([given | {"time": "2026-01-01T13:00:00+01:00"}, given | {"time": aware}], OBJECTIVES)
    assert [row["time"] for row in log.rows()] == [aware.replace(tzinfo=None)] * 2
    assert next(log.rows())["ranking"] == ["größe", "clean"]
    assert log.rounds.tolist() == [0, 1]
    assert np.isnan(log.propensities).all()
    assert log.chances is None


def test_selected_rows_are_those_rows():
    rows = drawn_rows(2)
    log = from_rows(rows, OBJECTIVES)
    mask = np.random.default_rng(0).random(60) < 0.3
    assert list(log.select(mask).rows()) == [row for row, kept in zip(rows, mask, strict=True) if kept]
    assert list(log.select(slice(10, 20)).rows()) == rows[10:20]
    assert len(log.select(slice(0, 0))) == 0


@pytest.mark.parametrize("text", [True, False], ids=["text", "numbers"])
def test_a_file_gives_back_the_log(tmp_path, text):
    for times in (True, False):
        rows = drawn_rows(3, text=text, times=times)
        write_log(from_rows(rows, OBJECTIVES), tmp_path / "log.parquet")
        again = read_log(tmp_path / "log.parquet")
        assert list(again.rows()) == rows
        assert again.objectives == OBJECTIVES
    assert [path.name for path in tmp_path.iterdir()] == ["log.parquet"]


def test_files_are_written_in_groups_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("druthers.logs.files.ROW_GROUP", 25)
    rows = drawn_rows(4)
    write_log(from_rows(rows, OBJECTIVES), tmp_path / "log.parquet")
    assert pyarrow.parquet.ParquetFile(tmp_path / "log.parquet").num_row_groups == 3
    assert list(read_log(tmp_path / "log.parquet").rows()) == rows


def written(tmp_path, **columns):
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "other.parquet")
    return tmp_path / "other.parquet"


def test_a_file_of_others_needs_little(tmp_path):
    """User, offer, arm and a reward are enough."""
    given = {"user": ["a", "b"], "offer": [[1, 2], [3, 1]], "arm": [2, 3], "reward.speed": [0.5, None]}
    log = read_log(written(tmp_path, **given))
    assert list(log.rows()) == [
        {
            "round": 0,
            "user": "a",
            "offer": [1, 2],
            "ranking": [],
            "arm": 2,
            "policy": "logged",
            "reward": {"speed": 0.5},
        },
        {"round": 1, "user": "b", "offer": [3, 1], "ranking": [], "arm": 3, "policy": "logged", "reward": {}},
    ]


def test_files_of_pandas_and_polars(tmp_path):
    """Categories, large lists and strings, whole numbers for decimals, times without a zone, null for nothing said."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    given = {"user": ["a", "b"], "offer": [["x", "y"], ["y"]], "arm": ["y", "y"], "reward.speed": [1, 2]}
    given |= {"utility": [3, 4], "ranking": [["speed"], None], "propensity": [0.2, None], "chances": [[0.8, 0.2], None]}
    frame = pandas.DataFrame(given | {"time": pandas.to_datetime(["2026-01-01", None])})
    frame.astype({"user": "category"}).to_parquet(tmp_path / "pandas.parquet")
    polars.DataFrame(given).cast({"user": polars.Categorical}).write_parquet(tmp_path / "polars.parquet")
    first, second = (list(read_log(tmp_path / f"{name}.parquet").rows()) for name in ("pandas", "polars"))
    assert first[0].pop("time") == datetime(2026, 1, 1)
    assert first == second
    assert (second[0]["ranking"], second[0]["chances"]) == (["speed"], [0.8, 0.2])
    assert second[1] | {"round": 0} == {
        **{"round": 0, "user": "b", "offer": ["y"], "ranking": [], "arm": "y", "policy": "logged"},
        **{"utility": 4.0, "reward": {"speed": 2.0}},
    }


def test_files_that_are_no_logs_are_refused(tmp_path):
    good = {"user": ["a", "b"], "offer": [[1, 2], [3, 1]], "arm": [2, 3], "reward.speed": [0.5, None]}
    for change, message in (
        ({"arm": [2, 2]}, "the chosen arm must be in the offer, but row 1"),
        ({"arm": [None, 2]}, "must be in every row, but 1 are not"),
        ({"user": ["a", None]}, "must be in every row, but 1 are not"),
        ({"offer": [[1, 2], [3, 3]]}, "an offer must not repeat an arm, but row 1"),
        ({"offer": [[1, 2], []]}, "an offer must hold at least one arm, but row 1"),
        ({"propensity": [0.5, 1.5]}, r"above 0 and at most 1, but row 1 has 1.5"),
        ({"propensity": [0.0, 0.0]}, r"row 0 has 0.0 \(and 1 more\)"),
        ({"propensity": ["much", "little"]}, "must be of the documented types"),
        ({"ranking": [["speed"], ["speed", "speed"]]}, "must not repeat an objective, but row 1"),
        ({"ranking": [["sped"], []]}, "must name objectives of the log, speed"),
        ({"utility": [1.0, float("inf")]}, "a utility must be finite"),
        ({"propensity": [0.5, 0.5], "chances": [[0.6, 0.6], [0.5, 0.5]]}, "must add up to 1, but row 0 has 1.2"),
        ({"propensity": [0.5, 0.5], "chances": [[0.5, 0.5], [0.9, 0.1]]}, "must be the chance of the chosen arm"),
        ({"reward.utility": [1.0, 2.0]}, "must not be called 'utility'"),
    ):
        with pytest.raises(InvalidLog, match=message):
            read_log(written(tmp_path, **(good | change)))
    with pytest.raises(InvalidLog, match="must have the columns user, offer, arm and reward"):
        read_log(written(tmp_path, user=["a"], offer=[[1]]))
    (tmp_path / "text.parquet").write_text("no")
    for name in ("text.parquet", "missing.parquet"):
        with pytest.raises(InvalidLog, match="must be a Parquet file"):
            read_log(tmp_path / name)


def test_rows_that_break_a_law_are_refused():
    good = {"user": "ada", "offer": ["inn", "spa"], "arm": "inn"}
    for change, message in (
        ({"arm": "loft"}, "row 1 has 'loft' of"),
        ({"user": None}, "must have user, offer, arm, but row 1 has no user"),
        ({"ofer": []}, "unknown key 'ofer' in row 1; known: .*did you mean 'offer'"),
        ({"ranking": ["cheap"]}, "but row 1 has 'cheap'"),
        ({"ranking": [3]}, "but row 1 has 3"),
        ({"ranking": [0, "clean"]}, "must not repeat an objective, but row 1"),
        ({"reward": [1.0]}, "reward must hold 3 numbers, but row 1"),
        ({"reward": {"cheap": 1.0}}, "unknown objective 'cheap' in the reward of row 1"),
        ({"utility": "high"}, "utility must be a number or left out, but row 1 has 'high'"),
        ({"propensity": 0}, "above 0 and at most 1, but row 1 has 0.0"),
        ({"chances": [0.5]}, "chances must hold 2 numbers"),
        ({"time": "noon"}, "must be a datetime or ISO text, but row 1 has 'noon'"),
    ):
        with pytest.raises(InvalidLog, match=message):
            from_rows([good, good | change], OBJECTIVES)
    with pytest.raises(InvalidLog, match="different names, at least one"):
        from_rows([], OBJECTIVES)
    with pytest.raises(InvalidLog, match="different names"):
        from_rows([good], ["a", "a"])


def test_ids_of_a_file_are_of_one_kind(tmp_path):
    log = from_rows([{"user": ("a", 1), "offer": ["inn"], "arm": "inn"}], OBJECTIVES)
    with pytest.raises(InvalidLog, match="all text or all whole numbers, but got tuple"):
        write_log(log, tmp_path / "log.parquet")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InvalidLog, match="where files can be written"):
        write_log(from_rows(drawn_rows(1), OBJECTIVES), tmp_path / "no" / "log.parquet")


@pytest.mark.parametrize("name", ["s-ucb", "random", "pareto-ucb", "pareto-ts", "conucb"])
def test_a_record_is_what_was_played(name):
    world = Synthetic(**SMALL, offered=4, users_per_round=2, length="random", query_rate=0.5)
    tape = world.tape(seed=5, horizon=150)
    make = [make_policy(name, n_objectives=3, seed=2, exploration=0.3) for _ in range(2)]
    log, played = record(make[0], tape).check(), play_by_steps(make[1], tape)
    assert np.array_equal(log.arms, played.arms)
    assert log.rounds.tolist() == np.repeat(np.arange(1, 151), 2).tolist()
    (chunk,) = tape.chunks()
    assert np.array_equal(log.rewards, tape.means[log.arms] + chunk.reward_noise)
    assert np.array_equal(np.diff(log.ranking_starts), chunk.lengths)
    felt = np.sum((tape.preferences[log.users] + chunk.preference_noise) * log.rewards, axis=1)
    assert log.utilities == pytest.approx(felt)
    if name == "pareto-ts":
        assert np.isnan(log.propensities).all()
        assert log.chances is None
        return
    unknown = np.isnan(log.chances).mean()
    assert 0.0 < unknown < 0.5 if name == "pareto-ucb" else unknown == 0.0
    assert set(np.round(log.propensities, 6)) <= {0.075, 0.25, 0.775, 0.425, round(0.7 / 3 + 0.075, 6)}


def test_names_of_objectives_fit_the_tape():
    tape = Synthetic(**SMALL, offered=None).tape(seed=1, horizon=3)
    assert record(make_policy("random", n_objectives=3), tape, OBJECTIVES, label="dice").policy_names == ("dice",)
    with pytest.raises(InvalidLog, match="needs 3 names of objectives, but got"):
        record(make_policy("random", n_objectives=3), tape, ["a"])


def test_the_feedback_dictionary_has_the_rows_of_the_log():
    """Keys, shapes and meaning are those of Open Bandit Pipeline; rows without the outcome are left out."""
    log = from_rows(drawn_rows(6), OBJECTIVES)
    told = [row for row in log.rows() if "utility" in row]
    feedback = to_obp(log)
    assert feedback["n_rounds"] == len(told)
    assert feedback["n_actions"] == 6
    assert [log.arm_ids[arm] for arm in feedback["action"]] == [row["arm"] for row in told]
    assert feedback["reward"].tolist() == [row["utility"] for row in told]
    assert np.nan_to_num(feedback["pscore"]).tolist() == [row.get("propensity", 0.0) for row in told]
    assert set(feedback["position"]) == {0}
    assert feedback["action_context"].shape == (6, 6)
    for row, context in zip(told, feedback["context"], strict=True):
        assert log.user_ids[int(context[:-3].argmax())] == row["user"]
        said = {name: value for name, value in zip(OBJECTIVES, context[-3:].tolist(), strict=True) if value}
        assert said == {name: 1 / (place + 1) for place, name in enumerate(row["ranking"])}
    assert "pi_b" not in feedback  # some chances are not known
    assert to_obp(log, "clean", users=False)["context"].shape[1] == 3


def test_known_chances_become_the_whole_policy():
    tape = Synthetic(**SMALL, offered=4).tape(seed=5, horizon=50)
    log = record(make_policy("s-ucb", n_objectives=3, exploration=0.2), tape)
    feedback = to_obp(log)
    assert feedback["pi_b"].shape == (50, 7, 1)
    assert feedback["pi_b"].sum(axis=(1, 2)) == pytest.approx(np.ones(50))
    assert np.array_equal(feedback["pi_b"][np.arange(50), feedback["action"], 0], feedback["pscore"])
    assert np.array_equal(spread(log, log.chances), feedback["pi_b"])
    assert "pi_b" not in to_obp(log, chances=False)


def line_of(row, number, outcome):
    """Return what a line of dsjson should hold, row by row."""
    offer, place = row["offer"], row["offer"].index(row["arm"])
    order = [place, *(k for k in range(len(offer)) if k != place)] if "chances" in row else [place]
    line = {
        "_label_cost": -outcome,
        "_label_probability": row["propensity"],
        "_label_Action": place + 1,
        "_labelIndex": place,
        "Version": "1",
        "EventId": str(number),
        "a": [k + 1 for k in order],
        "c": {
            "User": {"user": row["user"]},
            "Said": {name: 1 / (rank + 1) for rank, name in enumerate(row["ranking"])},
            "_multi": [{"Arm": {"arm": str(arm)}} for arm in offer],
        },
        "p": [row["chances"][k] for k in order] if "chances" in row else [row["propensity"]],
    }
    return line | ({"Timestamp": row["time"].isoformat()} if "time" in row else {})


@pytest.mark.parametrize("times", [True, False], ids=["with times", "without"])
def test_dsjson_says_what_the_rows_say(tmp_path, times, monkeypatch):
    monkeypatch.setattr("druthers.logs.exports.LINES", 16)
    log = from_rows(drawn_rows(7, times=times), OBJECTIVES)
    told = [row for row in log.rows() if "clean" in row["reward"] and "propensity" in row]
    assert write_dsjson(log, tmp_path / "log.dsjson", "clean") == len(told) > 20
    lines = [json.loads(line) for line in (tmp_path / "log.dsjson").read_text("utf-8").splitlines()]
    expected = [line_of(row, number, row["reward"]["clean"]) for number, row in enumerate(told)]
    for line, other in zip(lines, expected, strict=True):
        stamp = other.pop("Timestamp", None)
        assert line.pop("Timestamp", None) == (None if stamp is None else f"{stamp.ljust(26, '0')[:26]}Z")
        assert line == other


def test_an_outcome_that_no_row_has_cannot_be_exported(tmp_path):
    log = from_rows([{"user": "a", "offer": [1, 2], "arm": 1, "reward": {"clean": 1.0}}], OBJECTIVES)
    with pytest.raises(InvalidLog, match="no row has 'utility'"):
        to_obp(log)
    with pytest.raises(InvalidLog, match="where files can be written"):
        write_dsjson(log, tmp_path / "no" / "log.dsjson", "clean")


@pytest.mark.slow
def test_vowpal_wabbit_reads_and_learns_the_export(tmp_path):
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    tape = Synthetic(**SMALL, offered=4).tape(seed=5, horizon=300)
    log = record(make_policy("s-ucb", n_objectives=3, exploration=0.2), tape)
    write_dsjson(log, tmp_path / "log.dsjson")
    workspace = vowpalwabbit.Workspace("--cb_adf --dsjson -q UA --quiet")
    for t, line in enumerate((tmp_path / "log.dsjson").read_text("utf-8").splitlines()):
        examples = workspace.parse(line)
        assert len(examples) == 1 + 4  # the shared context, then the offered arms
        labels = [example.get_label(vowpalwabbit.LabelType.CONTEXTUAL_BANDIT).costs for example in examples]
        assert [bool(costs) for costs in labels[1:]] == [place == log.places[t] for place in range(4)]
        (cost,) = labels[1 + log.places[t]]
        assert cost.cost == pytest.approx(-log.utilities[t], rel=1e-6)
        assert cost.probability == pytest.approx(log.propensities[t], rel=1e-6)
        workspace.learn(examples)
    assert len(set(workspace.predict(workspace.parse(line)))) > 1  # it learned that arms differ
    workspace.finish()


def test_a_log_says_what_it_is():
    assert repr(from_rows(drawn_rows(1), OBJECTIVES)) == (
        "Log(60 decisions, 5 users, 6 arms, 3 objectives, policies: old, new)"
    )
    assert isinstance(from_rows(drawn_rows(1), OBJECTIVES), Log)


def test_contexts_of_words_that_hardly_come_twice_are_refused_before_they_fill_the_memory(monkeypatch):
    rows = [{"user": "ada", "offer": ["inn"], "arm": "inn", "context": {"session": f"s{k}"}} for k in range(20)]
    log = from_rows(rows, ["clean"])
    assert log.contexts.tolist() == np.eye(20).tolist()
    monkeypatch.setattr("druthers.logs.rows.MOST_NUMBERS", 399)
    with pytest.raises(InvalidLog, match=r"at most 399 numbers.*20 decisions have 20 entries; leave out words"):
        from_rows(rows, ["clean"])
