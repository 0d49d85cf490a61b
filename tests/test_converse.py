"""Language in the loop: what is said follows from the tape, what is heard from what was read, and nothing is lost."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from servers import RUBBISH, good

from druthers.errors import InvalidExperiment, InvalidSetting, UnknownName
from druthers.experiments import Experiment, Simulators, converse, default_objectives, load_experiment
from druthers.experiments.conversing import messages_of, permutation_of
from druthers.experiments.running import fresh_policy
from druthers.experiments.transcripts import Line, Message, Transcript
from druthers.language import Objective, load_domain
from druthers.report import draw_conversation
from druthers.simulation import simulate

REWARDS = [[4.0, 2.0, 3.0], [2.0, 4.0, 3.0], [3.0, 3.0, 3.0], [1.0, 5.0, 2.0], [5.0, 1.0, 2.0]]
TINY = f"""
title = "Few words"
horizon = 24
runs = 2
[environment]
name = "reviews"
rewards = {REWARDS}
preferences = [[1.5, 0.1, 0.5], [0.2, 1.0, 0.4], [0.5, 0.5, 1.0]]
active_users = 1
[policies.mo-pqucb-recipe]
[policies.s-ucb]
[vary]
"environment.corruption" = [0.0, 0.5]
"environment.vagueness" = [0.0, 0.5]
"""
NAMES = ("price", "location", "service")
OFFLINE = Simulators(tuple(map(Objective, NAMES)), "a hotel", parser="lexicon")


@pytest.fixture
def tiny(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)
    return load_experiment(tmp_path / "tiny.toml")


@pytest.fixture(scope="module")
def spoken(tmp_path_factory):
    """Return what came of the tiny experiment, offline, and its folder; only to be looked at."""
    folder = tmp_path_factory.mktemp("spoken")
    (folder / "tiny.toml").write_text(TINY)
    return converse(load_experiment(folder / "tiny.toml"), folder, OFFLINE, batch=5, workers=1), folder


def texts_of(folder):
    return {path.name: path.read_bytes() for path in (folder / "texts").glob("*/run-*.jsonl")}


def with_model(server, **settings):
    given = {"model": "m", "base_url": server.url, "temperature": 0.5, "backoff": 0.001, "timeout": 10.0, **settings}
    return Simulators(OFFLINE.objectives, "a hotel", "llm", "llm", model=given)


def test_messages_are_those_of_the_tape():
    hotels = load_experiment("converse").rows()[0].make_environment()
    said = {}
    for corruption, vagueness in ((0.0, 0.0), (0.3, 0.0), (0.0, 0.3), (0.0, 0.6), (0.3, 0.6)):
        world = type(hotels)(**{**hotels.params, "corruption": corruption, "vagueness": vagueness})
        said[corruption, vagueness] = messages = messages_of(world, (1, 0), 2_000)
        tape = world.tape(seed=(1, 0), horizon=2_000)
        (chunk,) = tape.chunks()
        assert tape.preferences.shape == (1, 6)
        assert [message.ranking for message in messages] == [tuple(order) for order in chunk.orders.tolist()]
        assert [message.vague for message in messages] == (chunk.lengths == 0).tolist()
        assert np.mean([message.corrupted for message in messages]) == pytest.approx(corruption, abs=0.05)
        assert np.mean([message.vague for message in messages]) == pytest.approx(vagueness, abs=0.05)
    clean, permuted = said[0.0, 0.0], said[0.3, 0.0]
    assert all(one == other for one, other in zip(clean, permuted, strict=True) if not other.corrupted)
    assert all(less.vague <= more.vague for less, more in zip(said[0.0, 0.3], said[0.3, 0.6], strict=True))


def test_each_run_has_a_guest_of_its_own():
    hotels = load_experiment("converse").rows()[0].make_environment()
    guests = [tuple(hotels.tape(seed=(1, run), horizon=1).preferences[0]) for run in range(12)]
    everybody = {tuple(weights) for weights in type(hotels)(data="tripadvisor").tape(seed=1, horizon=1).preferences}
    assert set(guests) <= everybody
    assert len(set(guests)) > 4


def test_policies_hear_what_was_read(tiny, spoken):
    conversation, _ = spoken
    transcript = Transcript(conversation.texts, NAMES)
    for row in tiny.rows():
        for run in range(tiny.runs):
            environment = row.make_environment()
            messages = messages_of(environment, (tiny.seed, run), tiny.horizon)
            read = [transcript.of(run)[message.key].ranking for message in messages]
            tape = environment.tape(seed=(tiny.seed, run), horizon=tiny.horizon)
            for results, played in ((conversation.results, tape.with_rankings(read)), (conversation.direct, tape)):
                again = simulate(fresh_policy(row, tape, tiny.seed, run), played)
                assert results.final_regret(row.label)[run] == again.regret[-1]
    deaf = [row.label for row in tiny.rows() if row.group == "s-ucb"]
    assert all(conversation.price(label).mean == 0.0 for label in deaf)
    assert conversation.listeners == ["mo-pqucb-recipe"]


def test_whole_permutations_are_heard_as_in_the_paper(tiny, spoken, tmp_path):
    """Nothing else is said or read; what was read comes first, what was dismissed last, and silence is made up too."""
    folder = tmp_path / "whole"
    shutil.copytree(spoken[1] / "texts", folder / "texts")
    before = texts_of(folder)
    conversation = converse(tiny, folder, replace(OFFLINE, whole=True), workers=1)
    assert texts_of(folder) == before
    assert conversation.summary()["simulators"]["whole"]
    assert conversation.results.spoken == "--parser lexicon --whole"
    transcript = Transcript(conversation.texts, NAMES)
    row = tiny.rows()[-2]
    environment = row.make_environment()
    lines = [transcript.of(0)[message.key] for message in messages_of(environment, (tiny.seed, 0), tiny.horizon)]
    heard = [permutation_of(line, 3, (tiny.seed, 0)) for line in lines]
    assert all(sorted(order) == [0, 1, 2] for order in heard)
    assert all(order[: len(line.ranking)] == line.ranking for order, line in zip(heard, lines, strict=True))
    assert len({order for order, line in zip(heard, lines, strict=True) if not line.ranking}) > 1
    tape = environment.tape(seed=(tiny.seed, 0), horizon=tiny.horizon)
    again = simulate(fresh_policy(row, tape, tiny.seed, 0), tape.with_rankings(heard))
    assert conversation.results.final_regret(row.label)[0] == again.regret[-1]
    dismissed = Line(Message(3, (1, 0), False, False), "", (1,), (0,))
    assert permutation_of(dismissed, 4, (1, 1))[-1] == 0


def test_settings_share_their_texts_and_each_is_said_once(tiny, tmp_path):
    small = converse(tiny.with_settings({"vary": {"environment.vagueness": [0.0]}}), tmp_path, OFFLINE, workers=1)
    before = texts_of(tmp_path)
    whole = converse(tiny, tmp_path, OFFLINE, workers=1)
    assert len(small.lines) == tiny.runs * tiny.horizon
    assert len(whole.lines) < 3 * len(small.lines)
    for name, text in texts_of(tmp_path).items():
        assert text.startswith(before[name])
        keys = [(row["number"], *row["meant"], row["vague"]) for row in map(json.loads, text.splitlines())]
        assert len(set(keys)) == len(keys)


def test_reading_is_judged_by_what_was_meant(spoken):
    conversation, folder = spoken
    rows = [json.loads(line) for text in texts_of(folder).values() for line in text.splitlines()]
    clear, vague = ([row for row in rows if row["vague"] == flag] for flag in (False, True))
    scores = conversation.reading
    assert (scores["clear"].n, scores["vague"].n) == (len(clear), len(vague))
    assert scores["clear"].exact == pytest.approx(np.mean([row["meant"] == row["read"] for row in clear]))
    assert scores["clear"].top1 == pytest.approx(np.mean([row["meant"][:1] == row["read"][:1] for row in clear]))
    assert scores["vague"].silence == pytest.approx(np.mean([not row["read"] for row in vague]))
    assert scores["clear"].exact > 0.8
    assert scores["vague"].silence > 0.8


def test_a_conversation_of_other_words_is_another_conversation(tiny, tmp_path):
    for simulators in (OFFLINE, Simulators(OFFLINE.objectives, None, parser="lexicon", typos=0.2)):
        converse(tiny.only(["s-ucb"]), tmp_path, simulators, workers=1)
    converse(tiny.only(["s-ucb"]).with_settings({"seed": 9}), tmp_path, OFFLINE, workers=1)
    folders = sorted((tmp_path / "texts").iterdir())
    assert len({(folder / "run-1.jsonl").read_bytes() for folder in folders}) == len(folders) == 3


KILLED = """
import sys
from druthers.experiments import converse, load_experiment, Simulators
from druthers.types import Objective
simulators = Simulators(tuple(map(Objective, {names!r})), "a hotel", parser="lexicon")
converse(load_experiment("tiny.toml"), "killed", simulators, batch=5, workers=1)
"""


def test_killed_and_resumed_it_says_the_same(tiny, spoken, tmp_path):
    whole, folder = spoken
    command = [sys.executable, "-c", KILLED.format(names=NAMES)]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    record = tmp_path / "killed" / "texts" / whole.texts.name / "batches.jsonl"
    deadline = time.monotonic() + 120
    while not record.exists() or record.read_bytes().count(b"\n") < 4:
        assert process.poll() is None, process.stderr.read().decode()
        assert time.monotonic() < deadline
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stderr.close()
    kept = record.read_bytes().count(b"\n")
    said = sum(text.count(b"\n") for text in texts_of(tmp_path / "killed").values())
    assert said - 5 <= 5 * kept < len(whole.lines), "killed too late to prove anything"
    # What a kill may leave behind: a line by half, and texts that no batch records.
    with (record.parent / "run-1.jsonl").open("ab") as file:
        file.write(b'{"number": 7, "meant": ["pri')
    resumed = converse(tiny, tmp_path / "killed", OFFLINE, batch=5, workers=1)
    assert texts_of(tmp_path / "killed") == texts_of(folder)
    for name in ("summary.json", "conversation.json", "direct/summary.json"):
        assert (tmp_path / "killed" / name).read_bytes() == (folder / name).read_bytes()
    assert len(resumed.batches) == len(whole.batches)


def test_a_transcript_keeps_whole_batches_only(tmp_path):
    lines = [
        Line(Message(number, (1, 0), False, False), f"text {number} \u2028 \U0001f600", (1,), (0,))
        for number in range(4)
    ]
    transcript = Transcript(tmp_path, NAMES)
    transcript.add(0, lines[:2], {"reading": {}})
    whole = (tmp_path / "run-1.jsonl").read_bytes()
    transcript.add(0, lines[2:], {"reading": {}})
    record = (tmp_path / "batches.jsonl").read_bytes()
    assert list(Transcript(tmp_path, NAMES).of(0).values()) == lines
    (tmp_path / "batches.jsonl").write_bytes(record[:-9])
    again = Transcript(tmp_path, NAMES)
    assert list(again.of(0).values()) == lines[:2]
    assert (tmp_path / "run-1.jsonl").read_bytes() == whole
    again.add(0, lines[2:], {"reading": {}})
    assert (tmp_path / "batches.jsonl").read_bytes() == record
    (tmp_path / "run-1.jsonl").write_bytes(whole)
    with pytest.raises(InvalidExperiment, match="must be as long as their record"):
        Transcript(tmp_path, NAMES).of(0)
    (tmp_path / "run-1.jsonl").write_bytes(len(whole) * 9 * b" ")
    with pytest.raises(InvalidExperiment, match=r"must be lines of JSON .*run-1.jsonl has others; delete its folder"):
        Transcript(tmp_path, NAMES).of(0)
    end = json.loads(record.splitlines()[-1])["end"]
    (tmp_path / "run-1.jsonl").write_bytes(b'{"number": 1}'.ljust(end - 1) + b"\n")
    with pytest.raises(InvalidExperiment, match=r"must be as they were written, .* KeyError"):
        Transcript(tmp_path, NAMES).of(0)
    (tmp_path / "batches.jsonl").write_bytes(b"[1]\n")
    with pytest.raises(InvalidExperiment, match=r"batches.jsonl has others"):
        Transcript(tmp_path, NAMES)


@pytest.mark.slow
def test_a_server_that_answers_rubbish_three_times_in_ten(serve, tiny, tmp_path):
    pytest.importorskip("openai")
    rng, served = random.Random(4), Counter()

    def script(request, _):
        with server.lock:
            bad = rng.random() < 0.3
            reply = rng.choice(RUBBISH)
            served["writing" if '"query"' in request["messages"][0]["content"] else "reading"] += bad
        return reply if bad else good(request)

    server = serve(script)
    conversation = converse(tiny, tmp_path, with_model(server, retries=1), batch=20, workers=1)
    took = conversation.took()
    for part, counts in took.items():
        assert counts["illegal"] == served[part] > 0
        assert counts["illegal"] == counts["retries"] + counts["fallbacks"]
        assert counts["questions"] == len(conversation.lines)
        assert counts["input_tokens"] == 100 * counts["calls"]
        assert counts["seconds"] > 0
    notes = [note for line in conversation.lines for note in line.notes]
    assert sum(note.startswith("written by templates") for note in notes) == took["writing"]["fallbacks"] > 0
    assert sum(note.startswith("read offline") for note in notes) == took["reading"]["fallbacks"] > 0
    assert json.loads((tmp_path / "asking.json").read_text()) == took
    assert np.isfinite([conversation.results.final_regret(row.label) for row in tiny.rows()]).all()


def test_it_is_replayed_without_the_model(serve, tiny, tmp_path):
    pytest.importorskip("openai")
    server = serve(lambda request, _: good(request))
    simulators = with_model(server)
    first = converse(tiny, tmp_path, simulators, workers=1)
    texts, calls = texts_of(tmp_path), len(server.requests)
    server.kill()
    assert converse(tiny, tmp_path, simulators, workers=1).summary() == first.summary()
    for path in first.texts.iterdir():  # without the texts, the replies are enough
        path.unlink()
    assert converse(tiny, tmp_path, simulators, workers=1).summary() == first.summary()
    assert texts_of(tmp_path) == texts
    assert len(server.requests) == calls


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"environment.query_rate": 0.5}, "users must speak in every round, but query_rate is 0.5"),
        ({"environment.active_users": 4}, "active_users must lie between 1 and 3, but got 4"),
        ({"vary": {"environment.vagueness": [2.0]}}, "vagueness must lie between 0 and 1, but got 2.0"),
    ],
)
def test_what_cannot_be_said_is_refused(tiny, tmp_path, change, message):
    with pytest.raises((InvalidExperiment, InvalidSetting), match=message):
        converse(tiny.with_settings(change), tmp_path / "out", OFFLINE)
    assert not (tmp_path / "out").exists()


def test_objectives_need_names(tiny, tmp_path):
    with pytest.raises(InvalidExperiment, match="each of the 3 objectives must have a name, but got 6"):
        converse(tiny, tmp_path / "out", Simulators(load_domain("hotels")))
    with pytest.raises(InvalidExperiment, match="must have names to be spoken of"):
        default_objectives(load_experiment("synthetic"))
    assert default_objectives(load_experiment("beeradvocate"))[1] == "a beer"
    (tmp_path / "rewards.csv").write_text('\ufeffitem,"calm, at night",cost\na,1,2\n', "utf-8")
    environment = {"name": "reviews", "data": str(tmp_path)}
    named, _ = default_objectives(Experiment("own", environment, {"s-ucb": {}}))
    assert [objective.name for objective in named] == ["calm, at night", "cost"]
    with pytest.raises(InvalidSetting, match="a model must write or read"):
        Simulators(named, model={"model": "m"})
    with pytest.raises(InvalidSetting, match="but got no model; give --model"):
        Simulators(named, parser="llm")
    with pytest.raises(UnknownName, match=r"unknown writer 'templates'; .*did you mean 'template'"):
        Simulators(named, writer="templates")
    with pytest.raises(InvalidSetting, match="at least one text"):
        converse(tiny, tmp_path / "out", OFFLINE, batch=0)


def test_the_command_says_what_came_of_it(druthers, tmp_path):
    words = ("converse", "tiny.toml", "--objectives", ",".join(NAMES), "--parser", "lexicon", "--workers", "1")
    code, out, err = druthers(*words, "--no-figures")
    assert (code, err) == (0, "")
    assert "template writes, lexicon reads" in out
    assert "vague ones: read as nothing" in out
    assert "corruption 0.5" in out
    assert "without listening: s-ucb" in out
    code, out, _ = druthers(*words, "--no-figures", "--json")
    summary = json.loads(out)
    assert summary["reading"]["clear"]["exact"] > 0.8
    assert {"said", "direct", "price", "rise"} <= set(
        summary["policies"]["mo-pqucb-recipe [corruption=0.5, vagueness=0.5]"]
    )
    assert druthers("converse", "tiny.toml")[0] == 2
    code, _, err = druthers(*words, "--base-url", "http://localhost:1/v1")
    assert (code, "goes with --model" in err) == (2, True)
    code, _, err = druthers(*words, "--vagueness", "some")
    assert (code, "chances like 0,0.2,0.4, but got 'some'" in err) == (2, True)


def test_the_figure_is_drawn(spoken, tmp_path):
    conversation, _ = spoken
    paths = draw_conversation(conversation, tmp_path / "figures", ["svg"])
    text = paths[0].read_text()
    for word in ("Corruption", "Vagueness", "Cumulative regret", "mo-pqucb-recipe"):
        assert word in text
    first = paths[0].read_bytes()
    assert draw_conversation(conversation, tmp_path / "figures", ["svg"])[0].read_bytes() == first
