"""Soft words: a partial Plackett-Luce law by brute force, derivatives by differences, what policies make of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from naive import probabilities

from druthers import FisherPQUCB, make_policy
from druthers.errors import InvalidRanking, InvalidSetting
from druthers.policies.soft import first_choice, sets_first, soft_site

WEIGHTS = np.array([0.3, -1.2, 0.8, 0.1])


@pytest.mark.plain
@pytest.mark.parametrize("sets", [[(0,)], [(1, 3)], [(2,), (0, 3)], [(0, 1, 2)], [(3, 0), (1,)], [(0, 1, 2, 3)]])
def test_the_chance_of_sets_is_the_sum_over_all_rankings_that_agree(sets):
    agree = 0.0
    for ranking, chance in probabilities(WEIGHTS, 4).items():
        start = 0
        for one in sets:
            if set(ranking[start : start + len(one)]) != set(one):
                break
            start += len(one)
        else:
            agree += chance
    assert np.exp(sets_first(sets, WEIGHTS)[0]) == pytest.approx(agree, rel=1e-10)


@pytest.mark.plain
@pytest.mark.parametrize(
    "law",
    [
        lambda weights: sets_first([(2,), (0, 3)], weights),
        lambda weights: sets_first([(0, 1, 3)], weights),
        lambda weights: first_choice(np.array([0.6, 0.4, 0.0, 0.0]), weights),
    ],
)
def test_derivatives_are_those_of_differences(law):
    _, slope, curvature = law(WEIGHTS)
    for k, along in enumerate(1e-5 * np.eye(4)):
        assert (law(WEIGHTS + along)[0] - law(WEIGHTS - along)[0]) / 2e-5 == pytest.approx(slope[k], abs=1e-8)
        moved = (law(WEIGHTS + along)[1] - law(WEIGHTS - along)[1]) / 2e-5
        np.testing.assert_allclose(-moved, curvature[k], atol=1e-7)


@pytest.mark.plain
def test_a_list_in_full_order_is_heard_as_a_ranking():
    """Belief and words together are most likely at the same point, to which both lead."""
    plain, soft = FisherPQUCB(n_objectives=4), FisherPQUCB(n_objectives=4)
    plain.hear("ada", (2, 0, 1, 3))
    soft.hear_softly("ada", [2, 0, 1, 3])
    np.testing.assert_allclose(plain.preference("ada").weights, soft.preference("ada").weights, atol=0.02)
    centered = np.eye(4) - 0.25
    ours, theirs = (centered @ one.preference("ada").covariance @ centered for one in (soft, plain))
    np.testing.assert_allclose(ours, theirs, atol=0.03)


@pytest.mark.plain
def test_the_site_is_the_mode_of_both():
    precision = 0.5 * np.eye(4)
    information, pull = soft_site([(1, 2)], 1.0, np.zeros(4), precision)
    mode = np.linalg.solve(information + precision, pull)
    np.testing.assert_allclose(sets_first([(1, 2)], mode)[1], precision @ mode, atol=1e-7)


@pytest.mark.plain
@pytest.mark.parametrize("name", ["fisher-pqucb", "fisher-pqucb-robust"])
def test_it_can_be_taken_back_and_leaves_what_was_felt(name):
    policy, twin = (make_policy(name, n_objectives=3) for _ in range(2))
    for one in (policy, twin):
        one.learn("ada", "inn", [0.2, 0.5, 0.9], 0.7)
        one.learn("ben", "spa", [0.8, 0.5, 0.1], 0.7)
        one.learn_choice("ada", "spa", ["inn", "spa"])
    before = policy.preference("ada").weights
    policy.hear_softly("ada", {2: 0.7, 1: 0.3}, weight=3.0)
    assert np.argmax(policy.preference("ada").weights - before) == 2
    policy.unhear("ada")
    np.testing.assert_allclose(policy.preference("ada").weights, twin.preference("ada").weights, atol=1e-9)


def test_an_unsure_reading_counts_for_less():
    moved = []
    for weight in (0.2, 1.0):
        policy = FisherPQUCB(n_objectives=3)
        policy.hear_softly("ada", {0: 1.0}, weight=weight)
        weights = policy.preference("ada").weights
        moved.append(weights[0] - weights[1])
    assert 0.0 < moved[0] < 0.5 * moved[1]


def test_bad_words_are_refused():
    policy = FisherPQUCB(n_objectives=8)
    sets = [(0, 0)], [(0, 1), 1], [()], [tuple(range(7))], [9]
    for said in (*sets, {}, {0: -1.0}, {0: float("nan")}, {0: 0.0}, {9: 1.0}):
        with pytest.raises(InvalidRanking):
            policy.hear_softly("ada", said)
    with pytest.raises(InvalidSetting):
        policy.hear_softly("ada", [0], weight=0.0)
    assert policy.users == ()


def test_all_orders_of_a_set_are_alike():
    policy = FisherPQUCB(n_objectives=5)
    believed = []
    for order in itertools.permutations((0, 2, 3)):
        policy.hear_softly(order, [order])
        believed.append(policy.preference(order).weights)
    np.testing.assert_allclose(believed, np.tile(believed[0], (6, 1)), atol=1e-9)
