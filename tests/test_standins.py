"""The stand-ins keep to their facts, read as their numbers say, and are the same everywhere and always."""

from __future__ import annotations

import hashlib
import json
import random
import runpy
from pathlib import Path

import numpy as np
import pytest

from druthers import Catalog
from druthers.catalogs import CATALOGS
from druthers.catalogs.standins import (
    NOTABLE,
    STAND_INS,
    STANDS_FOR,
    make_stand_in,
    normal_scores,
    standardized,
    with_tail,
    words_of,
)
from druthers.environments.reviews import DATA_VARIABLE

SEEDS = range(20)
BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "standins.py"


@pytest.mark.parametrize("name", STAND_INS)
def test_stand_ins_keep_to_the_facts_they_are_made_from(name):
    """Whatever the seed: the laws and not the luck of a draw make them alike to the real data."""
    facts = STAND_INS[name]
    for seed in SEEDS:
        ratings, weights = make_stand_in(name, seed=seed)
        assert ratings.shape == (facts.n_items, len(facts.objectives))
        assert weights.shape == (facts.n_users, len(facts.objectives))
        assert np.all((ratings >= 1.0) & (ratings <= 5.0))
        assert ratings.mean(axis=0) == pytest.approx(facts.means, abs=0.03)
        assert ratings.std(axis=0) == pytest.approx(facts.spreads, rel=0.2)
        halo = np.outer(facts.halo, facts.halo)[np.triu_indices(len(facts.halo), 1)]
        found = np.corrcoef(ratings.T)[np.triu_indices(len(facts.halo), 1)]
        assert found.mean() == pytest.approx(halo.mean(), abs=0.1)
        assert weights.mean(axis=0) == pytest.approx(facts.weights, abs=0.03)
        assert weights.min() >= facts.least_weight
        assert (weights.min() < 0) == (facts.least_weight < 0)


@pytest.mark.parametrize("name", STAND_INS)
def test_stand_ins_are_drawn_from_the_seed_alone(name):
    first, again, other = make_stand_in(name), make_stand_in(name), make_stand_in(name, seed=1)
    for one, two, three in zip(first, again, other, strict=True):
        assert np.array_equal(one, two)
        assert not np.array_equal(one, three)


@pytest.mark.parametrize(
    ("name", "catalog", "arrays"),
    [("hotels", "9e801072ec15bb7e", "e4999231e5939851"), ("beers", "274c4283a51bc6cf", "1acb6f2280043bbc")],
)
def test_stand_ins_never_change_unnoticed(name, catalog, arrays, tmp_path):
    """Ids and ratings are kept by others; on every machine and in every version they must stay what they are."""
    path = tmp_path / f"{name}.toml"
    Catalog.load(name).save(path)
    told = str([array.tolist() for array in make_stand_in(name)]).encode()
    assert [hashlib.sha256(whole).hexdigest()[:16] for whole in (path.read_bytes(), told)] == [catalog, arrays]


def test_hotels_and_beers_have_the_sizes_and_names_they_should():
    shop = Catalog.load("hotels")
    assert len({item.name for item in shop.items}) == 62
    cities = [item.details["city"] for item in shop.items]
    assert sorted(cities.count(city) for city in set(cities)) == [15, 15, 16, 16]
    shop = Catalog.load("beers")
    assert len({item.name for item in shop.items}) == 167
    assert {item.details["brewery"] for item in shop.items} == set(words_of("beers")["breweries"])
    assert {item.details["style"] for item in shop.items} == {style for style, _, _ in words_of("beers")["styles"]}
    assert all(item.name.startswith(item.details["brewery"] + " ") for item in shop.items)


@pytest.mark.parametrize("name", CATALOGS)
def test_descriptions_say_what_the_numbers_say(name):
    """What is praised stands above the others, what is blamed below, and the extremes are never left out."""
    shop, phrases = Catalog.load(name), words_of(name)["objectives"]
    scores = standardized(np.array([[item.values[aspect] for aspect in phrases] for item in shop.items]))
    for item, standing in zip(shop.items, scores, strict=True):
        text = item.description.lower()
        praised = named(text, [phrases[aspect]["praise"] for aspect in phrases], item)
        blamed = named(text, [phrases[aspect]["blame"] for aspect in phrases], item)
        assert all(standing[place] >= NOTABLE for place in praised), item
        assert all(standing[place] <= -NOTABLE for place in blamed), item
        if standing.max() >= NOTABLE:
            assert standing.argmax() in praised
        if standing.min() <= -NOTABLE:
            assert standing.argmin() in blamed


def named(text, kinds, item):
    """Return the places of the aspects of which a phrase stands in the text."""
    city = item.details.get("city", "")
    return [
        place for place, kind in enumerate(kinds) if any(phrase.format(city=city).lower() in text for phrase in kind)
    ]


def test_better_beers_have_nobler_styles():
    shop = Catalog.load("beers")
    taste = {style: [] for style, _, _ in words_of("beers")["styles"]}
    for item in shop.items:
        taste[item.details["style"]].append(item.values["taste"])
    means = [np.mean(values) for values in taste.values()]
    assert np.corrcoef(np.arange(len(means)), means)[0, 1] > 0.8


def test_a_tail_keeps_mean_and_variance_and_falls_to_the_bad_side():
    scores = normal_scores(20_001, random.Random(1))
    for tail in (0.0, 0.2, 0.5):
        stretched = with_tail(scores, tail)
        assert stretched.mean() == pytest.approx(0.0, abs=0.01)
        assert stretched.std() == pytest.approx(1.0, abs=0.02)
        assert np.array_equal(np.argsort(stretched), np.argsort(scores))
        assert (np.mean(stretched**3) < -0.5) == (tail > 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", STANDS_FOR)
def test_policies_stand_in_the_order_of_the_real_data(name, tmp_path, monkeypatch):
    """Beside final regrets on the authors' arrays, as recorded: no pair of policies clearly changes places."""
    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    benchmark = runpy.run_path(str(BENCHMARK))
    recorded = json.loads(BENCHMARK.with_suffix(".json").read_text())[name]
    real = {label: np.array(runs) for label, runs in recorded.items()}
    verdict = benchmark["compare"](real, benchmark["play"](name, tmp_path, 10))
    assert verdict.kendall >= 0.85, verdict
    assert verdict.clear == []
