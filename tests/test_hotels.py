"""The hotels of the demonstration have strengths and weaknesses, so that opposite wishes get different hotels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog
from druthers.catalogs.standins import draw, words_of

SHOP = Catalog.load("hotels")
NAMES = [objective.name for objective in SHOP.objectives]
REWARDS = {item: SHOP.rewards(item) for item in SHOP.ids}
RANKINGS = [ranking for size in (1, 2, 3) for ranking in itertools.permutations(NAMES, size)]


@pytest.fixture(scope="module")
def first():
    """Return which hotel comes first for each ranking of one to three objectives, said by somebody new."""
    with Advisor(SHOP, parser="lexicon") as advisor:
        found = {}
        for ranking in RANKINGS:
            user = ", ".join(ranking)
            advisor.hear(user, ranking)
            found[ranking] = advisor.recommend(user).items[0].item
        return found


def test_wishes_get_different_hotels(first):
    assert len(first) == 156
    assert len(set(first.values())) >= 10
    most = max(list(first.values()).count(item) for item in set(first.values()))
    assert most <= len(first) / 4


def test_opposite_wishes_get_different_hotels(first):
    for one, other in itertools.combinations(NAMES, 2):
        assert first[one, other] != first[other, one] or gap(first[one, other], (one, other)) < 0.1
    for ranking in itertools.permutations(NAMES, 3):
        for opposite in itertools.permutations(set(NAMES) - set(ranking), 3):
            assert first[ranking] != first[opposite], (ranking, opposite)


def gap(item, ranking):
    """Return how far an item is behind the best in what was asked, as a share of the way from the worst to the best."""
    weights = np.arange(len(ranking), 0, -1)
    asked = {id: weights @ rewards[[NAMES.index(name) for name in ranking]] for id, rewards in REWARDS.items()}
    return (max(asked.values()) - asked[item]) / (max(asked.values()) - min(asked.values()))


def test_the_first_hotel_is_near_the_best_in_what_was_asked(first):
    gaps = [gap(item, ranking) for ranking, item in first.items()]
    assert max(gaps) < 0.25
    assert np.mean(gaps) < 0.05


def test_no_hotel_is_good_at_everything_whatever_the_seed():
    """The law and not the luck of a draw: what a hotel is better in than others, it pays for elsewhere."""
    for seed in range(20):
        ratings = draw(seed).ratings
        means = ratings.mean(axis=1)
        assert means.std() < 0.15 * ratings.std()
        standing = ratings.argsort(axis=0).argsort(axis=0)
        assert (standing.min(axis=1) < len(ratings) / 2).all()
        correlation = np.corrcoef(ratings.T)
        assert correlation[NAMES.index("rooms"), NAMES.index("value")] < 0.0
        assert correlation[NAMES.index("location"), NAMES.index("sleep quality")] < 0.0


def test_prices_and_amenities_go_with_what_a_hotel_is():
    prices = np.array([item.details["price"] for item in SHOP.items])
    value = np.array([item.values["value"] for item in SHOP.items])
    assert np.corrcoef(prices, value)[0, 1] < -0.5
    assert prices.min() >= 30
    assert prices.max() <= 400
    known = words_of("hotels")["amenities"]
    counts = {name: sum(name in item.details["amenities"] for item in SHOP.items) for name in known}
    assert all(10 <= count <= 40 for count in counts.values()), counts
