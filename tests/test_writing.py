"""Writing sentences: laws of writers, variety, typing errors, and whether what was written is read back."""

from __future__ import annotations

import re

import numpy as np
import pytest

from druthers.errors import InvalidRanking, InvalidSetting, UnknownName
from druthers.language import Objective, Wish, domain_names, item_of, load_domain, make_parser, make_writer
from druthers.language.data import read_data
from druthers.language.writing.templates import STYLES, holds

COFFEE = ["acidity", "crema", "sweetness", "price"]
CATALOGS = {name: load_domain(name) for name in domain_names()} | {"names": tuple(map(Objective, COFFEE))}


def rankings(n_objectives, n, *, longest=None, seed=0):
    random = np.random.default_rng(seed)
    for _ in range(n):
        length = int(random.integers(1, (longest or n_objectives) + 1))
        yield random.permutation(n_objectives)[:length]


@pytest.mark.parametrize("catalog", CATALOGS)
def test_all_that_is_ranked_is_named_and_nothing_else(catalog):
    objectives = CATALOGS[catalog]
    writer = make_writer(objectives=objectives, item=item_of(catalog), seed=5)
    for ranking in rankings(len(objectives), 300):
        text = writer.write(ranking)
        assert "{" not in text
        for index, objective in enumerate(objectives):
            if index in ranking:
                assert any(holds(text, phrase) for phrase in writer.phrases(index)), (text, objective.name)
            else:
                assert not any(holds(text, name) for name in (objective.name, *objective.synonyms)), text


@pytest.mark.parametrize("catalog", CATALOGS)
def test_vague_sentences_name_nothing_and_do_not_depend_on_the_ranking(catalog):
    objectives = CATALOGS[catalog]
    one, two = (make_writer(objectives=objectives, item=item_of(catalog), seed=5) for _ in range(2))
    for ranking in rankings(len(objectives), 200):
        text = one.write(ranking, vague=True)
        assert text == two.write((), vague=True)
        assert not any(holds(text, name) for each in objectives for name in (each.name, *each.synonyms)), text


def test_templates_that_name_an_objective_are_left_out():
    names = ["priority", "order", "help", "star", "weekend", "service"]
    writer = make_writer(objectives=names, item="a service for seniors", seed=2)
    for ranking in rankings(len(names), 300):
        text = writer.write(ranking)
        assert not any(holds(text, name) for index, name in enumerate(names) if index not in ranking), text


def test_the_seed_decides_and_nothing_else():
    def written(seed):
        writer = make_writer(objectives=load_domain("hotels"), seed=seed, typos=0.1)
        return [writer.write(ranking, vague=len(ranking) == 2) for ranking in rankings(6, 50)]

    assert written(3) == written(3)
    assert written(3) != written(4)


def test_a_number_gives_the_same_text_whatever_was_written_before():
    writer, twin = (make_writer(objectives=load_domain("hotels"), seed=3, typos=0.1) for _ in range(2))
    wishes = [Wish(ranking, vague=len(ranking) == 2, number=place) for place, ranking in enumerate(rankings(6, 40))]
    texts = writer.write_all(wishes)
    assert texts == [*reversed(twin.write_all(reversed(wishes)))]
    assert len({text for text, _ in texts}) > 30
    assert writer.write([0, 1]) == make_writer(objectives=load_domain("hotels"), seed=3, typos=0.1).write([0, 1])


@pytest.mark.parametrize("objectives", [load_domain("hotels"), COFFEE])
def test_there_are_hundreds_of_sentences(objectives):
    writer = make_writer(objectives=objectives)
    assert len({writer.write([2, 0, 1]) for _ in range(1000)}) >= 300
    assert len({writer.write([], vague=True) for _ in range(1000)}) >= 300


def test_typing_errors_change_letters_only():
    clean, typed = (make_writer(objectives=load_domain("hotels"), seed=1, typos=typos) for typos in (0.0, 0.2))
    words = wrong = 0
    for ranking in rankings(6, 300):
        first, second = clean.write(ranking), typed.write(ranking)
        assert re.findall(r"[\W\d_]+", first) == re.findall(r"[\W\d_]+", second)
        pairs = list(zip(re.findall(r"[^\W\d_]+", first), re.findall(r"[^\W\d_]+", second), strict=True))
        assert all(a == b or (len(a) >= 4 and a[0] == b[0] and set(a) >= set(b)) for a, b in pairs)
        words += sum(len(a) >= 4 for a, _ in pairs)
        wrong += sum(a != b for a, b in pairs)
    # Swapping two equal letters changes nothing, so a little fewer than one in five.
    assert 0.15 < wrong / words < 0.22


def test_examples_are_spoken():
    acidity = Objective("acidity", examples=("I love it lemony.", "Sour is good"))
    writer = make_writer(objectives=[acidity, "price"])
    texts = [writer.write([1, 0]) for _ in range(300)]
    assert any("I love it lemony" in text for text in texts)
    assert any("sour is good" in text for text in texts)


def test_long_rankings_are_lists_in_their_order():
    names = [f"thing{letter}" for letter in "abcdefghijklmnopqrstuvwxy"]
    writer = make_writer(objectives=names)
    for _ in range(100):
        text = writer.write(range(25)).lower()
        places = [text.index(name) for name in names]
        assert places == sorted(places)


@pytest.mark.parametrize("style", STYLES)
def test_verbs_agree_with_their_nouns(style):
    writer = make_writer(objectives=["rooms", "price"], style=style)
    text = " ".join(writer.write(order) for order in ([0, 1], [1, 0], [0], [1]) for _ in range(100)).lower()
    assert not re.search(r"rooms (matters|is|comes|has)\b|price (matter|are|come|have)\b", text)


@pytest.mark.parametrize(("name", "n"), [("lexicon", 40), pytest.param("default", 20, marks=pytest.mark.slow)])
def test_what_is_written_is_mostly_read_back(name, n):
    exact, top, silent = [], [], []
    for catalog, objectives in CATALOGS.items():
        parser = make_parser(name, objectives=objectives)
        writer = make_writer(objectives=objectives, item=item_of(catalog), seed=11)
        for ranking in rankings(len(objectives), n, longest=4, seed=1):
            reading = parser.read(writer.write(ranking))
            exact.append(reading.ranking == tuple(ranking))
            top.append(reading.ranking[:1] == (ranking[0],))
            silent.append(parser.read(writer.write(ranking, vague=True)).ranking == ())
    assert np.mean(exact) >= 0.9
    assert np.mean(top) >= 0.9
    assert np.mean(silent) >= 0.9


@pytest.mark.parametrize(
    ("ranking", "law"),
    [
        ((2, 0, 2), "must not repeat"),
        ((0, 4), "must name objectives 0 to 3"),
        ((-1,), "must name objectives 0 to 3"),
        ((0.5,), "flat list of objective indices"),
        (((0, 1),), "flat list of objective indices"),
        (((0, 1), (2,)), "flat list of objective indices"),
        (("price",), "flat list of objective indices"),
        ((), "vague=True"),
    ],
)
def test_unlawful_rankings_are_refused_and_change_nothing(ranking, law):
    writer, twin = (make_writer(objectives=COFFEE) for _ in range(2))
    with pytest.raises(InvalidRanking, match=law):
        writer.write(ranking)
    with pytest.raises(InvalidSetting, match="number of a text must be"):
        writer.write([0], number=-1)
    assert writer.write([0]) == twin.write([0])


@pytest.mark.parametrize("settings", [{"typos": 1.5}, {"typos": -0.1}, {"item": " "}, {"seed": -1}])
def test_unlawful_settings_are_refused(settings):
    with pytest.raises(InvalidSetting, match="must"):
        make_writer(objectives=COFFEE, **settings)


def test_unknown_names_are_refused():
    with pytest.raises(UnknownName, match="known: template, llm"):
        make_writer("templates", objectives=COFFEE)
    with pytest.raises(UnknownName, match="unknown style"):
        make_writer(objectives=COFFEE, style="rude")


def test_wishes_speak_of_one_objective_and_fixed_forms_of_all_their_places():
    data = read_data("writing.toml")
    for style in STYLES:
        for form, slots in (("one", "a"), ("two", "ab"), ("three", "abc")):
            for template in data[style][form]:
                assert set(re.findall(r"\{([a-z]+)", template)) == set(slots), template
    wishes = [wish for texts in data["wishes"].values() for wish in texts]
    assert len(set(wishes)) == len(wishes)
