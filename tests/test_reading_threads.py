"""One parser, several threads: whatever comes between two lines of a reading, both readings are as if alone."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import FrameType

import pytest

from druthers import language
from druthers.language import Parser, Reading, make_parser
from druthers.language.models import minilm

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
