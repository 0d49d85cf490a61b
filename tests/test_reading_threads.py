"""One parser, several threads: whatever comes between two lines of a reading, both readings are as if alone."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import FrameType

import pytest

from druthers import language
from druthers.errors import DamagedState
from druthers.language import Parser, Reading, make_parser
from druthers.language.models import judge, minilm

HOTELS = ("cleanliness", "location", "rooms", "service", "sleep quality", "value")
FOLDER = str(Path(language.__file__).parent)
# Typing errors, words of the lists, meanings without a known word, cues and silence.
TEXTS = (
    "claen rooms, and my upstairs neighbor must not tap-dance all evening",
    "I care about the pirce, and I shall survive some dust",
    "somewhere the peple smile at you; the lcoation can be anything",
    "my upstairs neighbor must not tap-dance all evening, claen rooms",
)


class Interleaved:
    """Read a text, and before each line of our code that is new let another thread read another text."""

    def __init__(self, parser: Parser, text: str, others: tuple[str, ...]) -> None:
        self.parser, self.text, self.others = parser, text, others
        self.seen: set[tuple[str, int]] = set()
        self.between: list[tuple[str, Reading | Exception]] = []
        self.own: Reading | Exception | None = None

    def run(self) -> None:
        thread = threading.Thread(target=self._traced)
        thread.start()
        thread.join()

    def _traced(self) -> None:
        sys.settrace(self._trace)
        try:
            self.own = self.parser.read(self.text)
        except Exception as error:
            self.own = error
        finally:
            sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, argument: object) -> object:
        if not frame.f_code.co_filename.startswith(FOLDER):
            return None
        place = frame.f_code.co_filename, frame.f_lineno
        if event == "line" and place not in self.seen:
            self.seen.add(place)
            other = threading.Thread(target=self._other, args=(self.others[len(self.seen) % len(self.others)],))
            other.start()
            other.join()
        return self._trace

    def _other(self, text: str) -> None:
        try:
            self.between.append((text, self.parser.read(text)))
        except Exception as error:
            self.between.append((text, error))


@pytest.mark.parametrize("name", ["lexicon", pytest.param("default", marks=pytest.mark.slow)])
@pytest.mark.parametrize("warm", [False, True])
def test_a_reading_that_comes_between_two_lines_of_another_changes_neither(name, warm):
    alone = {text: make_parser(name, objectives=HOTELS).read(text) for text in TEXTS}
    parser = make_parser(name, objectives=HOTELS)
    parser.read("cheap")  # loads the models, but mends no typing error yet
    for text in TEXTS:
        if warm:
            parser.read(text)
    reading = Interleaved(parser, TEXTS[0], TEXTS[1:])
    reading.run()
    assert len(reading.between) > 100
    assert reading.own == alone[TEXTS[0]]
    for text, other in reading.between:
        assert other == alone[text], text


def test_a_model_is_loaded_once_however_many_threads_ask(monkeypatch):
    loads: list[object] = []
    got: list[object] = []
    gate = threading.Barrier(4)

    def load() -> object:
        loads.append(object())
        threading.Event().wait(0.05)  # long enough for the others to come in, if they can
        return loads[-1]

    def ask() -> None:
        gate.wait()
        got.append(minilm.load_minilm())

    monkeypatch.setattr(minilm, "MiniLM", load)
    monkeypatch.setattr(minilm, "_loaded", [])
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert got == loads * 4


# No word of it is listed: only the sentence model knows what is meant.
MEANT = "my upstairs neighbor must not tap-dance all evening"


def test_beside_a_model_that_is_being_loaded_words_are_read_and_nobody_waits(monkeypatch):
    pytest.importorskip("onnxruntime")
    release, asked, load = threading.Event(), threading.Event(), judge.load_minilm

    def slow() -> minilm.MiniLM:
        asked.set()
        assert release.wait(60)
        return load()

    monkeypatch.setattr(judge, "load_minilm", slow)
    parser = make_parser("default", objectives=HOTELS, background=True)
    parser.warm_up()
    assert parser.read("cheap and clean").names == ("value", "cleanliness")
    assert not asked.is_set()  # neither warming up nor plain words need it
    for _ in range(2):  # the one that starts loading, and one that comes while it is loaded
        readings: list[Reading] = []
        thread = threading.Thread(target=lambda got=readings: got.append(parser.read(MEANT)), daemon=True)
        thread.start()
        thread.join(60)
        assert readings, "waited for the model"
        assert readings[0].notes == ("read by words alone: the sentence model is still being loaded",)
        assert asked.wait(60)
    release.set()
    for thread in threading.enumerate():
        if thread.name == "druthers-model":
            thread.join(60)
    assert parser.read(MEANT) == make_parser("default", objectives=HOTELS).read(MEANT)
    assert parser.read(MEANT).names == ("sleep quality",)


@pytest.mark.parametrize("problem", [DamagedState("model.onnx must have another hash"), MemoryError("no room")])
def test_a_model_that_cannot_be_loaded_beside_is_told_with_every_reading_that_needs_it(monkeypatch, problem):
    def broken() -> minilm.MiniLM:
        raise problem

    monkeypatch.setattr(judge, "load_minilm", broken)
    parser = make_parser("default", objectives=HOTELS, background=True)
    parser.read(MEANT)
    for thread in threading.enumerate():
        if thread.name == "druthers-model":
            thread.join(60)
    assert parser.read(MEANT).notes == (f"read by words alone: the sentence model cannot be loaded: {problem}",)
    assert parser.read("cheap and clean").notes == ()
