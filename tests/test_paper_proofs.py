"""What the proofs of the paper need and do not have, each in numbers; docs/paper-notes.md tells the story."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hybrid import HybridEstimator

from druthers.preferences import hybrid_radius
from druthers.rankings import log_likelihood


def best(rewards, preferences):
    return (preferences @ np.asarray(rewards).T).argmax(axis=1)


def shifted(preferences, rng):
    """Return the same preferences with shifts that keep them in the unit square."""
    return preferences + rng.uniform(-preferences.min(axis=1), 1.0 - preferences.max(axis=1))[:, None]


def test_theorem_1_needs_a_shift_that_changes_the_best_arm():
    """With three arms, two Pareto-optimal ones of different sums are not enough: rankings may still tell the best."""
    rng = np.random.default_rng(1)
    preferences = rng.uniform(0.0, 1.0, (100_000, 2))
    rewards = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.3]])
    for first, second in itertools.permutations(rewards, 2):
        assert (first > second).any()  # none dominates another, and the sums differ: 1, 1, 0.9
    assert np.array_equal(best(rewards, preferences), best(rewards, shifted(preferences, rng)))
    # The right condition is that some c and c + a 1 have different best arms, as these two arms have.
    rewards = np.array([[1.0, 0.0], [0.6, 0.6]])
    assert (best(rewards, preferences) != best(rewards, shifted(preferences, rng))).mean() > 0.05


def test_theorem_2_takes_a_norm_for_a_sum():
    """Its proof puts gamma <c, 1> where the score has gamma |c|_1, which is more; the repair costs sqrt(D) |c - c'|."""
    rng = np.random.default_rng(2)
    truth = rng.uniform(0.0, 1.0, (10_000, 5))
    estimate = truth + rng.normal(0.0, 0.5, truth.shape)
    norms, sums = np.abs(estimate).sum(axis=1), estimate.sum(axis=1)
    assert (norms > sums + 1e-9).mean() > 0.5  # wherever a weight is estimated below zero
    errors = np.linalg.norm(estimate - truth, axis=1)
    assert np.all(norms <= truth.sum(axis=1) + math.sqrt(5) * errors)


def test_theorem_2_expected_matrices_are_not_those_of_adaptive_choices():
    """A policy that settles on one of two arms by its first reward: V stays far from E[V], whatever t is.

    Lemma 18 has x' V^-1 x <= 2 x' E[V]^-1 x for all x, and Claim 2 |V - E[V]| <= alpha sqrt(t log(t/rho)); both hold
    for choices fixed beforehand. Around the compensator, which adds what each choice made likely, they hold here.
    """
    alpha, ridge, noise, rho = 0.2, 0.2, 0.2, 0.05  # noise: the variance of each objective, nu^2 of the paper
    rng = np.random.default_rng(3)
    for rounds in (1_000, 10_000):
        settled = np.array([1.0, 0.0])
        rewards = settled + math.sqrt(noise) * rng.standard_normal((rounds, 2))
        gram = ridge * np.eye(2) + alpha * rewards.T @ rewards
        expected = (ridge + alpha * rounds * (0.5 + noise)) * np.eye(2)  # each arm with chance one half
        compensator = ridge * np.eye(2) + alpha * rounds * (np.outer(settled, settled) + noise * np.eye(2))
        allowed = alpha * math.sqrt(rounds * math.log(rounds / rho))
        assert np.abs(gram - expected).max() > 4.0 * allowed
        assert np.abs(gram - compensator).max() < allowed
        other = np.array([0.0, 1.0])
        norms = [other @ np.linalg.solve(matrix, other) for matrix in (gram, expected, compensator)]
        assert norms[0] > 3.0 * norms[1]
        assert norms[0] < 2.0 * norms[2]


@pytest.mark.parametrize("alpha", [1.0 / math.log(2_000), 0.01])
def test_theorem_2_spread_rewards_bound_the_sum_of_norms_by_the_root_of_t(alpha):
    """With noise in every objective V grows like alpha nu^2 t, and the norms of the arms add up to 2 sqrt(T/alpha)/nu.

    So the preference part of regret is sqrt(alpha log T) sqrt(T/alpha) = sqrt(T log T) for every alpha; the potential
    of the proof, by Cauchy and Schwarz, has one more root of log T.
    """
    size, variance, rounds = 4, 0.25, 20_000
    rng = np.random.default_rng(4)
    mean = np.full(size, 0.5)
    rewards = mean + math.sqrt(variance) * rng.choice([-1.0, 1.0], (rounds, size))
    start = (1.0 - alpha) * ((1.0 + alpha) * np.eye(size) - 1.0 / size)
    grams = start + alpha * np.cumsum(np.einsum("ti,tj->tij", rewards, rewards), axis=0)
    norms = np.sqrt(np.einsum("i,tij,j->t", mean, np.linalg.inv(grams), mean))
    for horizon in (200, 2_000, rounds):
        sums = norms[:horizon].sum() / math.sqrt(horizon / alpha)
        assert sums < 2.0 * np.linalg.norm(mean) / math.sqrt(variance)
        assert np.linalg.eigvalsh(grams[horizon - 1])[0] > 0.8 * alpha * variance * horizon
    assert norms[:2_000].sum() / math.sqrt(2_000) == pytest.approx(norms.sum() / math.sqrt(rounds), rel=0.05)


@pytest.mark.parametrize(
    ("alpha", "rounds", "low", "high"), [(1.0 / math.log(2_000), 2_000, 0.0, 0.05), (0.001, 5_000, 0.8, 1.0)]
)
def test_lemma_2_fails_as_alpha_falls(alpha, rounds, low, high):
    """The printed noise term misses sqrt(alpha): at alpha = 1/ln 2000 that hides behind its other constants."""
    draws, settings = 400, {"n_objectives": 2, "feedback_weight": alpha, "ridge": alpha}
    radius = hybrid_radius(rounds + 1, bound=1.0, risk=0.05, mean_length=math.inf, **settings)
    noise = radius - math.sqrt(2.0 * (1.0 - alpha) * alpha)
    rng = np.random.default_rng(5)
    errors = []
    for _ in range(draws):
        rewards = rng.integers(2, size=(rounds, 2)).astype(float)
        utilities = (rng.integers(2, size=(rounds, 2)) * rewards).sum(axis=1)
        gram = rewards.T @ rewards + 1e-12 * np.eye(2)
        estimator = HybridEstimator(**settings)
        # As two observations that have the same sums of squares and products.
        root = np.linalg.cholesky(gram).T
        for row, utility in zip(root, np.linalg.solve(root.T, rewards.T @ utilities), strict=True):
            estimator.learn(row, utility)
        gap = estimator.estimate(np.full(2, 0.5)) - 0.5  # the anchor is the truth, its shift included
        errors.append(math.sqrt(gap @ estimator.gram @ gap))
    assert low <= np.mean(np.array(errors) > noise) <= high
    assert np.mean(np.array(errors) > noise / math.sqrt(alpha)) <= 0.05


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
def test_theorem_3_a_ranking_tells_as_much_as_d_comparisons(size):
    """KL <= kappa (1 - 2 eps)^2 2|c|^2 with kappa = (D - H_D)/(D - 1) < 1: of order D Delta^2, where D^2 is printed."""
    kappa = (size - sum(1.0 / k for k in range(1, size + 1))) / (size - 1)
    rankings = list(itertools.permutations(range(size)))
    for gap in (0.05, 1.0, 3.0):
        preference = np.where(np.arange(size) < size // 2, gap / 2, -gap / 2)
        preference -= preference.mean()
        laws = np.array(
            [[math.exp(log_likelihood(ranking, sign * preference)) for ranking in rankings] for sign in (1, -1)]
        )
        for corruption in (0.0, 0.3, 0.45):
            first, second = (1.0 - corruption) * laws + corruption * laws[::-1]
            divergence = (first * np.log(first / second)).sum()
            most = kappa * (1.0 - 2.0 * corruption) ** 2 * 2.0 * preference @ preference
            assert divergence <= most * (1.0 + 1e-9)
            if gap == 0.05:
                assert divergence == pytest.approx(most, rel=0.01)
