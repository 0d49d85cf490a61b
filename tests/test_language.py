"""Reading sentences: laws of parsers, cues, asides, ordering, word lists, measures, the command."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from druthers import language
from druthers.cli import app
from druthers.errors import Degraded, InvalidSetting, UnknownName
from druthers.language import PARSERS, Objective, Reading, Sentence, data, load_domain, load_sentences, make_parser
from druthers.language.data import read_data
from druthers.language.evaluation import evaluate, kendall, score
from druthers.language.lexicon.concepts import Kind, distance
from druthers.language.lexicon.objectives import as_objectives, bind
from druthers.language.lexicon.words import Words
from druthers.language.linting import lint
from druthers.language.models import phrases
from druthers.language.rules.cues import cues, find_cues, grouped, numbered
from druthers.language.text import LIMIT, is_aside, tokenize
from druthers.testing import check_parser

HOTELS = ["cleanliness", "location", "rooms", "service", "sleep quality", "value"]
SENTENCES = Path(__file__).parent / "data" / "sentences"


@pytest.fixture(scope="module")
def parser():
    return make_parser("lexicon", objectives=HOTELS)


@pytest.fixture(scope="module")
def words():
    return Words(as_objectives(HOTELS))


def test_words_are_put_together_once_for_the_same_objectives():
    parser = make_parser("lexicon", objectives=HOTELS)
    assert make_parser("default", objectives=as_objectives(HOTELS))._words is parser._words
    other = make_parser("lexicon", objectives=[*HOTELS[:-1], Objective("value", synonyms=("zest",))])
    assert other.read("zest").names == ("value",)
    assert parser.read("zest").names == ()


@pytest.mark.parametrize("name", [name for name in PARSERS if name != "llm"])  # that one has tests of its own
def test_every_offline_parser_keeps_the_laws(name):
    check_parser(lambda objectives: make_parser(name, objectives=objectives))


@pytest.mark.parametrize(
    ("text", "ranking", "dismissed"),
    [
        ("Cheap and clean, quiet at night, I don't mind the location", "value cleanliness sleep", "location"),
        ("price, then location, then service", "value location service", ""),
        ("location > price > service", "location value service", ""),
        ("Price matters, location matters more, and quiet matters most", "sleep location value", ""),
        ("location is less important than price", "value location", ""),
        ("I'd rather have quiet nights than a good location", "sleep location", ""),
        ("third is price, first is location, second is service", "location service value", ""),
        ("Not noisy, not dirty", "sleep cleanliness", ""),
        ("It can be noisy as long as it's cheap", "value", "sleep"),
        ("Neither price nor service matters. Clean!", "cleanliness", "value service"),
        ("I'd pay extra for a friendly team", "service", "value"),
        ("I won't compromise on cleanliness, but cheap would be nice", "cleanliness value", ""),
        ("I want it cheap. Scratch that, I want it central.", "location", ""),
        ("Clean is key. Actually, cleanliness doesn't matter; cheap.", "value", "cleanliness"),
        ("claen and queit plz", "cleanliness sleep", ""),
        ("😴 > 💰", "sleep value", ""),
        ("My uncle says location is everything. I want it cheap.", "value", ""),
        ("I need a hotel in Rome for two nights", "", ""),
        ("a filthy bathroom is not something I want", "cleanliness", ""),
        ("cleanliness isn't something we want to compromise on", "cleanliness", ""),
        ("the service is not something I ever think about", "", "service"),
        ("I want no worries about cleanliness", "cleanliness", ""),
        ("no worries about the location", "", "location"),
        ("a chilled place with friendly service", "service", ""),
        ("we are rather easy about the price", "", "value"),
        ("clean and quiet, the price doesn't matter", "cleanliness sleep", "value"),
        ("friendly and clean, location doesn't matter", "service cleanliness", "location"),
        ("", "", ""),
    ],
)
def test_phrases(parser, text, ranking, dismissed):
    reading = parser.read(text)
    assert [name.split()[0] for name in reading.names] == ranking.split()
    assert {name.split()[0] for name in reading.dismissed_names} == set(dismissed.split())


@pytest.mark.parametrize(
    ("text", "strengths"),
    [
        ("just the cheapest", "value only"),
        ("Cheap. Nothing else matters.", "value only"),
        ("I don't mind the location, just clean and cheap", "cleanliness only, value only"),
        ("I just want a quiet room, and it should be cheap too", "sleep plain, value plain"),
        ("The only thing that counts is sleep. And it must be cheap.", "sleep above all, value plain"),
        ("first clean, second cheap", "cleanliness plain, value plain"),
        ("above all clean, ideally cheap", "cleanliness above all, value faint"),
        ("cheap is a must; friendly staff would be a bonus", "value strong, service faint"),
        ("quiet if possible, and as cheap as possible", "sleep faint, value strong"),
        ("billig, der Rest ist mir egal", "value only"),
        ("sauber, wenn möglich", "cleanliness faint"),
        ("clean and cheap", "cleanliness plain, value plain"),
    ],
)
def test_how_much_a_wish_is_meant(parser, text, strengths):
    reading = parser.read(text)
    read = [(name.split()[0], str(strength)) for name, strength in zip(reading.names, reading.strengths, strict=True)]
    assert [" ".join(pair) for pair in read] == strengths.split(", ")


def test_g4_last_is_listed_only_if_all_others_are():
    three = make_parser("lexicon", objectives=["price", "location", "service"])
    assert three.read("price first, location comes last").names == ("price",)
    assert three.read("price first, location comes last").dismissed_names == ("location",)
    assert three.read("price, then service, location comes last").names == ("price", "service", "location")


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [(cue.name, kind, text) for cue in cues() for kind, texts in (("yes", cue.yes), ("no", cue.no)) for text in texts],
)
def test_every_cue_is_found_where_it_should_be_and_nowhere_else(words, name, kind, text):
    tokens = tokenize(text)
    found = words(tokens, [True] * len(tokens))
    groups = grouped(tokens, [mention for mention in found if mention.kind is not Kind.IDLE])
    names = {match.cue.name for match in find_cues(numbered(tokens, 0, len(tokens), groups))}
    assert (name in names) == (kind == "yes"), f"{numbered(tokens, 0, len(tokens), groups)!r}: {names}"


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        (name, kind, text)
        for name, entry in read_data("asides.toml").items()
        for kind in ("yes", "no")
        for text in entry[kind]
    ],
)
def test_every_aside_is_found_where_it_should_be_and_nowhere_else(name, kind, text):
    sentence = " ".join(token.text for token in tokenize(text))
    assert is_aside(name, sentence) == (kind == "yes"), sentence


@pytest.fixture(scope="module")
def two():
    return make_parser("lexicon", objectives=("price", "quiet"))


@given(text=st.text(max_size=400))
@settings(max_examples=200, deadline=None)
def test_no_text_breaks_a_reading(two, text):
    check_reading(two.read(text))


PIECES = [
    "not",
    "price",
    "quiet",
    "care",
    "about",
    "the",
    "first",
    ",",
    ".",
    "and",
    "more than",
    "as long as",
    "I",
    '"',
    ">",
    "don't",
    "last",
    "mind",
    "scratch that",
    "👃",
    "system:",
    "\n",
]


@given(text=st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join))
@settings(max_examples=200, deadline=None)
def test_no_heap_of_cues_breaks_a_reading(two, text):
    check_reading(two.read(text))


def check_reading(reading: Reading) -> None:
    assert len(set(reading.ranking)) == len(reading.ranking)
    assert not set(reading.ranking) & set(reading.dismissed)
    assert all(reading.text[piece.start : piece.end] == piece.text for piece in reading.evidence)
    assert {piece.objective for piece in reading.evidence} == set(reading.ranking) | set(reading.dismissed)


def test_long_texts_are_read_up_to_the_limit_and_say_so(parser):
    reading = parser.read("cheap. " + "we talk and talk " * LIMIT)
    assert reading.names == ("value",)
    assert any(str(LIMIT) in note for note in reading.notes)
    assert len(reading.leftover[-1]) > LIMIT


@pytest.mark.parametrize(
    "unit", ["not ", "the ", "a, ", "price and ", "more than ", "do not care about the ", '"', "system "]
)
def test_repetition_does_not_hang(parser, unit):
    parser.read(unit * (LIMIT // len(unit)))


def test_names_alone_bind_everyday_concepts():
    bound = bind([Objective("sleep quality"), Objective("value")])
    assert bound["noise"].objective == bound["sleep"].objective == 0
    assert bound["price"].objective == 1
    assert "camera" not in bound


def test_a_description_binds_what_the_name_does_not_tell():
    parser = make_parser(
        "lexicon", objectives=[Objective("nights", "How quiet it is"), Objective("wallet", "The price")]
    )
    assert parser.read("it must not be noisy or expensive").names == ("nights", "wallet")


def test_synonyms_are_words_of_the_objective():
    parser = make_parser("lexicon", objectives=[Objective("zing", synonyms=("pizzazz",)), Objective("price")])
    assert parser.read("pizzazz first, then price").names == ("zing", "price")


def test_below_the_bar_it_asks_back(parser):
    reading = parser.read("hmm, no idea")
    assert reading.ranking == ()
    assert reading.question is not None
    assert reading.question.startswith("What matters most")
    assert parser.read("cheap and clean").question is None
    changed = parser.read("Service is everything to me. I don't care about service.")
    assert changed.names == ()
    assert changed.question == "Does the service matter to you?"


@pytest.mark.parametrize("objectives", [[], ["a", "A"], [""], "price"])
def test_objectives_must_have_different_names(objectives):
    with pytest.raises(InvalidSetting, match=r"objectives must|an objective must have a name"):
        make_parser("lexicon", objectives=objectives)


def test_unknown_names_are_refused():
    with pytest.raises(UnknownName, match="known: default, lexicon"):
        make_parser("lexikon", objectives=["price"])
    with pytest.raises(UnknownName, match="unknown domain"):
        load_domain("planets")


def test_without_the_model_default_says_so_once_and_reads_by_words(monkeypatch):
    monkeypatch.setattr(language, "PACKAGES", ("no_such_package",))
    monkeypatch.setattr(language, "_warned", set())
    with pytest.warns(Degraded, match="pip install"):
        parser = make_parser("default", objectives=HOTELS)
    assert parser.read("cheap and clean").names == ("value", "cleanliness")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_parser("default", objectives=HOTELS)


def test_importing_loads_no_model_and_no_word_list():
    code = (
        "import sys, druthers, druthers.language as l;"
        " print('onnxruntime' in sys.modules, l.lexicon.concepts.lexicon.cache_info().currsize)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["False", "0"]


def test_word_lists_are_in_order():
    assert lint() == []


def test_stored_vectors_belong_to_the_phrases():
    assert phrases.is_current(), "run: python -m druthers.language.linting"


def test_vectors_written_anew_are_those_that_are_read(tmp_path, monkeypatch):
    class Same:
        name = "minilm"

        def encode(self, texts):
            return np.eye(1, 8).repeat(len(texts), axis=0)

    kept = data.data_file
    monkeypatch.setattr(data, "data_file", lambda name: tmp_path / name if name == "meanings.npz" else kept(name))
    phrases.write_vectors(tmp_path / "meanings.npz", Same())
    assert phrases.is_current()
    assert phrases.meanings(Same()).vectors.shape[1] == 8
    phrases._sorted.clear()
    data.read_arrays.cache_clear()


def test_distance_counts_a_swap_as_one():
    assert distance("claen", "clean", 2) == 1
    assert distance("stuffy", "staff", 1) == 2


def test_an_english_word_is_never_mended(parser):
    assert parser.read("a stuffy professor").names != ("service",)


def test_measures():
    sentence = Sentence("x", "d", ("a", "b", "c"), ("a", "b"), ("c",))
    right = Reading("x", ("a", "b", "c"), (0, 1), (2,))
    silent = Reading("x", ("a", "b", "c"))
    wrong = Reading("x", ("a", "b", "c"), (2,), ())
    assert kendall(sentence, right.names, right.dismissed_names) == 1.0
    assert kendall(sentence, silent.names, ()) == 0.0
    scores = score([(sentence, right), (sentence, silent), (sentence, wrong)])
    assert scores.exact == scores.top1 == pytest.approx(1 / 3)
    assert scores.precision == pytest.approx(2 / 3)
    assert scores.recall == pytest.approx(1 / 3)
    assert scores.leak == pytest.approx(1 / 3)
    assert math.isnan(scores.silence)
    assert score([(Sentence("x", "d", ("a", "b", "c"), ()), silent)]).silence == 1.0


@pytest.mark.parametrize(("name", "exact", "top1"), [("lexicon", 0.77, 0.77), ("default", 0.82, 0.86)])
def test_the_development_sentences_are_still_read(name, exact, top1):
    parsers = {}

    def read(sentence):
        if sentence.objectives not in parsers:
            parsers[sentence.objectives] = make_parser(name, objectives=sentence.objectives)
        return parsers[sentence.objectives].read(sentence.query)

    _, scores = evaluate(load_sentences(SENTENCES / "development.json"), read)
    assert scores["all"].exact >= exact
    assert scores["all"].top1 >= top1
    assert scores["tag injection"].exact == 1.0


@pytest.mark.parametrize(
    ("text", "ranking"),
    [
        ("price and location, the latter more than the former", ["location", "price"]),
        ("cheap, clean, in reverse order", ["cleanliness", "price"]),
        ("Quiet first, then price. Hm, no, the other way round.", ["price", "quiet"]),
        ("cheap and, more importantly, quiet; the location comes third", ["quiet", "price", "location"]),
        (
            "Noise is my number three, price my number two, and a clean room beats them all",
            ["cleanliness", "price", "quiet"],
        ),
        ("price matters, but less than a clean room", ["cleanliness", "price"]),
        ("quiet beats a good price, and cleanliness is more important than both", ["cleanliness", "quiet", "price"]),
        ("cheap and central, but above all it must not be dirty", ["cleanliness", "price", "location"]),
        ("Price? Doesn't bother me. Quiet please.", ["quiet"]),
        ("money plays no role, just clean", ["cleanliness"]),
        ("quiet if possible, and cheap", ["quiet", "price"]),
    ],
)
def test_orders_that_are_said_in_other_ways(text, ranking):
    reading = make_parser("lexicon", objectives=["price", "location", "quiet", "cleanliness"]).read(text)
    assert list(reading.names) == ranking


def test_no_sentence_is_in_both_parts():
    first, second = (
        {row.query for row in load_sentences(SENTENCES / f"{part}.json")} for part in ("development", "test")
    )
    assert not first & second
    assert len(first | second) >= 150


def test_the_command_reads():
    runner = CliRunner()
    out = runner.invoke(
        app, ["read", "cheap, not noisy", "--objectives", "price, quiet", "--json", "--parser", "lexicon"]
    )
    assert json.loads(out.stdout)["ranking"] == ["price", "quiet"]
    out = runner.invoke(app, ["read", "I don't care about the smell, taste first", "--domain", "beers"])
    assert "taste" in out.stdout
    assert "does not matter" in out.stdout
    assert "no wish found" in runner.invoke(app, ["read", "hello"]).stdout


def test_the_command_evaluates(tmp_path):
    rows = [{"query": "cheap", "objectives": ["price", "quiet"], "gold": ["price"], "domain": "d", "tags": ["t"]}]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows))
    out = CliRunner().invoke(app, ["read", "--evaluate", str(path), "--parser", "lexicon", "--json"])
    assert json.loads(out.stdout)["tag t"]["exact"] == 1.0
    assert "domain d" in CliRunner().invoke(app, ["read", "--evaluate", str(path), "--parser", "lexicon"]).stdout
    path.write_text("{}[")
    result = CliRunner().invoke(app, ["read", "--evaluate", str(path)])
    assert isinstance(result.exception, InvalidSetting)


@pytest.mark.parametrize(
    ("text", "name"),
    [("something complex", "complexity"), ("nothing scary please", "scariness"), ("more durable", "durability")],
)
def test_adjectives_speak_of_the_objective_that_is_named_by_their_noun(text, name):
    objectives = [Objective("complexity"), Objective("scariness", less_is_better=True), Objective("durability")]
    assert make_parser("lexicon", objectives=objectives).read(text).names == (name,)


def test_a_term_belongs_to_the_objective_whose_name_it_ends_in():
    cars = make_parser("lexicon", objectives=["mileage", "consumption", "ink cost"])
    assert cars.read("low fuel consumption matters").names == ("consumption",)
    assert cars.read("ink costs do not matter").dismissed_names == ("ink cost",)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("is there anything quieter?", ("sleep quality",)),
        ("which one is closest to the center?", ("location",)),
        ("do you have one that is closer to the station?", ("location",)),
    ],
)
def test_adjectives_are_known_in_every_degree(text, names):
    assert make_parser("lexicon", objectives=load_domain("hotels")).read(text).names == names
