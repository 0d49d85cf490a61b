"""Other languages than English: dismissal, order and concession, limits, and what is said of those not understood."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from druthers import Advisor
from druthers.advisor.kinds import chances
from druthers.catalogs import Item
from druthers.language import Parser, Sentence, load_domain, load_sentences, make_parser, not_understood
from druthers.language.lexicon.languages import language_of, languages, small_words_of
from druthers.language.rules.cues import cues
from druthers.language.text import tokenize
from druthers.limits import Columns, LimitReader
from druthers.types import Objective

FOLDER = Path(__file__).parent / "data" / "sentences"
TUNED = load_sentences(FOLDER / "languages" / "tuned.json")
FRESH = load_sentences(FOLDER / "languages" / "fresh.json")


@cache
def parser(domain: str) -> Parser:
    return make_parser("lexicon", objectives=load_domain(domain))


def is_right(sentence: Sentence) -> bool:
    reading = parser(sentence.domain).read(sentence.query)
    return reading.names == sentence.gold and set(reading.dismissed_names) == set(sentence.low)


@pytest.mark.parametrize("sentence", TUNED, ids=lambda sentence: sentence.query)
def test_sentences_that_the_tables_were_made_with_are_read(sentence):
    reading = parser(sentence.domain).read(sentence.query)
    assert reading.names == sentence.gold
    assert set(reading.dismissed_names) == set(sentence.low)


def test_sentences_that_nothing_was_changed_for_are_read_no_worse_than_at_the_first_run():
    """28 of 48, written after the tables; before there were tables, 4."""
    assert sum(map(is_right, FRESH)) >= 28


def test_the_language_of_every_sentence_is_known():
    assert {sentence.tags[0] for sentence in TUNED} == {sentence.tags[0] for sentence in FRESH} == set(languages())
    for sentence in (*TUNED, *FRESH):
        assert language_of([token.text for token in tokenize(sentence.query)]) == sentence.tags[0], sentence.query


def test_english_is_never_taken_for_another_language():
    files = [file for file in sorted(FOLDER.rglob("*.json")) if file.parent.name != "languages"]
    sentences = [one for file in files if "objectives" not in file.stem for one in load_sentences(file)]
    english = [one.query for one in sentences if "other_lang" not in one.tags]
    assert len(english) > 1900
    wrong = [text for text in english if language_of([token.text for token in tokenize(text)]) != "en"]
    assert wrong == []


@pytest.mark.parametrize("language", languages())
def test_every_table_is_whole(language):
    """All kinds of cues compile, and no word of a cue's surroundings is missing."""
    assert {cue.name for cue in cues(language)} == {cue.name for cue in cues("de")}
    for part in ("marks", "join", "beside", "starts"):
        assert small_words_of(language, part)


@pytest.mark.parametrize(
    "text",
    [
        "Jag vill bara ha ett tyst rum, priset spelar ingen roll",
        "Cena nie gra roli, byle czysto i blisko centrum",
        "Fiyat önemli değil ama oda temiz olsun",
        "Hinta ei ole tärkeä, kunhan huone on hiljainen",
    ],
)
def test_a_language_that_is_not_understood_is_told_and_not_guessed(text):
    reading = parser("hotels").read(text)
    assert (reading.ranking, reading.dismissed) == ((), ())
    assert not_understood() in reading.notes
    assert reading.leftover
    with Advisor("hotels", parser="lexicon") as advisor:
        reply = advisor.message("ada", text)
        assert "the language of this text is not understood: English, Dutch" in reply.text
        assert "Nothing was changed" in reply.text


@pytest.mark.parametrize("text", ["Jag vill bara ha ett tyst rum", "Je ne sais pas encore trop quoi chercher"])
def test_no_english_model_is_asked_about_another_language(text, monkeypatch):
    asked: list[object] = []

    def spy(text, encoder, names=()):
        asked.append(encoder)
        return chances(text, encoder, names)

    monkeypatch.setattr("druthers.advisor.understanding.chances", spy)
    with Advisor("hotels", parser="default") as advisor:
        monkeypatch.setattr(advisor.operations.parser, "encoder", object)
        assert advisor.message("ada", text).kind == "unclear"
    assert asked == [None]


def test_a_misspelt_text_is_still_english():
    assert parser("hotels").read("claen and queit plz").names == ("cleanliness", "sleep quality")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("unter 120 Euro in Wien", {"price": {"max": 120}, "city": "Vienna"}),
        ("höchstens 90 Euro, mit Pool", {"price": {"max": 90}, "pool": True}),
        ("in Prag, ohne Frühstück", {"city": "Prague", "breakfast": False}),
        ("menos de 80 euros, sin piscina", {"price": {"max": 80}, "pool": False}),
        ("en Viena, con desayuno", {"city": "Vienna", "breakfast": True}),
        ("moins de 100 euros à Vienne", {"price": {"max": 100}, "city": "Vienna"}),
        ("avec piscine, sans petit déjeuner", {"pool": True, "breakfast": False}),
        ("al massimo 95 euro a Praga", {"price": {"max": 95}, "city": "Prague"}),
        ("con piscina, senza colazione", {"pool": True, "breakfast": False}),
        ("até 110 euros em Viena, com piscina", {"price": {"max": 110}, "city": "Vienna", "pool": True}),
        ("hooguit 100 euro in Wenen, met zwembad", {"price": {"max": 100}, "city": "Vienna", "pool": True}),
        ("in Praag zonder ontbijt", {"city": "Prague", "breakfast": False}),
    ],
)
def test_common_limits_are_read(text, where):
    details = [("Vienna", True, False), ("Prague", False, True), ("Graz", True, True)]
    items = {
        city: Item(city, values={"price": 90.0 + n}, details={"city": city, "pool": pool, "breakfast": breakfast})
        for n, (city, pool, breakfast) in enumerate(details)
    }
    objective = Objective("price", "euros a night", low=0, high=500, less_is_better=True)
    assert LimitReader(Columns(items), [objective]).read(text).where == where


@pytest.mark.parametrize(
    ("text", "wanted", "dismissed"),
    [
        ("Sie sollen vor allem leicht sein.", ("weight",), ()),
        ("El peso no importa, lo importante es que sea barato", ("price",), ("weight",)),
        ("léger et pas cher", ("weight", "price"), ()),
        ("leggero, il prezzo non importa", ("weight",), ("price",)),
        ("leve e barato", ("weight", "price"), ()),
        ("het gewicht maakt niet uit", (), ("weight",)),
    ],
)
def test_words_beyond_the_embedded_domains(text, wanted, dismissed):
    reading = make_parser("lexicon", objectives=["price", "grip", "weight", "comfort"]).read(text)
    assert (reading.names, reading.dismissed_names) == (wanted, dismissed)
