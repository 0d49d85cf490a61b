"""The normal factor of a choice: equal to numerical integration, honest after hundreds, harmless when it fails."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import qmc

from druthers._eigen import diagonalize, eigen
from druthers.beliefs.choices import choice_site, condition, predict_choice, resite
from druthers.beliefs.points import POINTS


def shares(offer, weights):
    """Return the chances (n, K) of all options for people with these weights (n, D)."""
    worth = weights @ offer.T
    chances = np.exp(worth - worth.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True)


def integrated(mean, covariance, offer, picked):
    """Return chance, mean and covariance after a choice, from a grid over all weights; the slow twin."""
    size = len(mean)
    line = np.linspace(-6.0, 6.0, 121 if size < 3 else 81)
    grid = np.stack(np.meshgrid(*[line] * size, indexing="ij"), -1).reshape(-1, size)
    prior = np.exp(-0.5 * (grid**2).sum(axis=1))
    weights = mean + grid @ np.linalg.cholesky(covariance).T
    chance = shares(offer, weights)[:, picked]
    mass = prior * chance / (prior @ chance)
    after = mass @ weights
    return prior @ chance / prior.sum(), after, (weights - after).T @ ((weights - after) * mass[:, None])


def believed(mean, covariance, offer, picked):
    """Return the same by the kernel."""
    information = np.linalg.inv(covariance)
    pull = information @ mean
    assert choice_site(mean, covariance, offer, picked, information, pull)
    after, spread = np.empty_like(mean), np.empty_like(covariance)
    assert condition(information, pull, after, spread)
    return after, spread


def problem(seed, size, n_offered, scale=1.0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size)) * scale / np.sqrt(size)
    covariance = root @ root.T + 0.3 * scale**2 * np.eye(size)
    return rng.normal(size=size) * scale, covariance, rng.normal(size=(n_offered, size)), int(rng.integers(n_offered))


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("size", "n_offered"), [(1, 2), (1, 5), (2, 2), (2, 3), (2, 6), (3, 3), (3, 4)])
def test_moments_after_a_choice_are_those_of_the_integral(seed, size, n_offered):
    """Fewer options than objectives and more of them, expected choices and surprising ones."""
    mean, covariance, offer, picked = problem(seed, size, n_offered)
    _, after, spread = integrated(mean, covariance, offer, picked)
    found, found_spread = believed(mean, covariance, offer, picked)
    deviations = np.sqrt(np.diag(spread))
    assert np.abs((found - after) / deviations).max() < 0.03
    assert np.abs((found_spread - spread) / np.outer(deviations, deviations)).max() < 0.08


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(4))
def test_many_options_agree_with_many_points(seed):
    """K = 10, D = 8: against 2^17 points of a Sobol sequence, weighed by the chance of the choice."""
    mean, covariance, offer, picked = problem(seed, 8, 10, scale=0.7)
    uniform = qmc.MultivariateNormalQMC(np.zeros(8), seed=seed).random(1 << 17)
    weights = mean + uniform @ np.linalg.cholesky(covariance).T
    chance = shares(offer, weights)[:, picked]
    mass = chance / chance.sum()
    after = mass @ weights
    spread = (weights - after).T @ ((weights - after) * mass[:, None])
    found, found_spread = believed(mean, covariance, offer, picked)
    deviations = np.sqrt(np.diag(spread))
    assert np.abs((found - after) / deviations).max() < 0.06
    assert np.abs((found_spread - spread) / np.outer(deviations, deviations)).max() < 0.1


@pytest.mark.parametrize(("width", "n_offered"), [(1.0, 5), (4.0, 2), (4.0, 5), (20.0, 5), (4.0, 10), (1.0, 30)])
def test_a_wide_belief_takes_no_more_from_a_choice_than_it_tells(width, n_offered):
    """D = 20: leads have variances of 60 to 1,200; errors of sums times that made a choice worth a million others."""
    rng = np.random.default_rng(n_offered)
    for _ in range(4):
        offer = rng.uniform(0.0, np.sqrt(12.0), (n_offered, 20))
        picked = int(np.argmax(offer @ rng.normal(size=20) * np.sqrt(width)))
        weights = np.sqrt(width) * rng.normal(size=(1 << 16, 20))
        mass = shares(offer, weights)[:, picked]
        mass /= mass.sum()
        after = mass @ weights
        spread = (weights - after).T @ ((weights - after) * mass[:, None])
        found, found_spread = believed(np.zeros(20), width * np.eye(20), offer, picked)
        root = np.linalg.inv(np.linalg.cholesky(spread))
        ratios = np.linalg.eigvalsh(root @ found_spread @ root.T)
        within = 1.4 if n_offered < 30 else 4.0
        assert 1.0 / within < ratios[0] <= ratios[-1] < within
        assert np.abs((found - after) / np.sqrt(np.diag(spread))).max() < (0.1 if n_offered < 30 else 0.2)


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(6))
def test_predictions_are_averages_of_chances(seed):
    mean, covariance, offer, _ = problem(seed, 2 + seed % 2, 4)
    wanted = [integrated(mean, covariance, offer, k)[0] for k in range(4)]
    chances = np.empty(4)
    assert predict_choice(mean, covariance, offer, chances)
    assert chances.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(chances, wanted, atol=0.01)
    spread_out = np.empty(4)
    predict_choice(mean, 100.0 * covariance, offer, spread_out)
    assert chances.max() != pytest.approx(spread_out.max(), abs=1e-3)


@pytest.mark.plain
def test_none_of_these_is_one_more_option_worth_nothing():
    mean, covariance, offer, _ = problem(3, 4, 3)
    informations, pulls = np.zeros((2, 4, 4)), np.zeros((2, 4))
    assert choice_site(mean, covariance, offer, -1, informations[0], pulls[0])
    assert choice_site(mean, covariance, np.vstack([offer, np.zeros(4)]), 3, informations[1], pulls[1])
    np.testing.assert_array_equal(informations[0], informations[1])
    np.testing.assert_array_equal(pulls[0], pulls[1])


@pytest.mark.plain
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # machine code does not warn
@pytest.mark.parametrize(
    ("mean", "covariance"),
    [(0.0, -1.0), (np.nan, 1.0), (0.0, np.nan), (np.inf, 1.0)],
)
@pytest.mark.parametrize("n_offered", [3, 9])
def test_a_choice_that_cannot_be_used_adds_nothing(mean, covariance, n_offered):
    _, _, offer, picked = problem(1, 5, n_offered)
    information, pull = np.eye(5), np.ones(5)
    assert not choice_site(np.full(5, mean), covariance * np.eye(5), offer, picked, information, pull)
    np.testing.assert_array_equal(information, np.eye(5))
    np.testing.assert_array_equal(pull, np.ones(5))


@pytest.mark.plain
def test_one_option_or_equal_ones_tell_nothing():
    mean, covariance, offer, _ = problem(2, 3, 4)
    information, pull = np.zeros((3, 3)), np.zeros(3)
    assert choice_site(mean, covariance, offer[:1], 0, information, pull)
    assert choice_site(mean, covariance, np.repeat(offer[:1], 4, axis=0), 2, information, pull)
    np.testing.assert_allclose(information, 0.0, atol=1e-9)
    np.testing.assert_allclose(pull, 0.0, atol=1e-9)


def test_an_astonishing_choice_is_taken_in():
    """What was all but certain not to be picked moves the mean and leaves every number finite."""
    mean, offer = np.array([400.0, 0.0]), np.array([[1.0, 0.0], [-1.0, 1.0]])
    after, spread = believed(mean, np.eye(2), offer, 1)
    assert np.isfinite(after).all()
    assert after[0] < 400.0
    assert np.linalg.eigvalsh(spread).min() > 0.0


def live(seed, size, n_offered, n_choices, scale, sweeps):
    """Let a person choose; return truth, mean and deviations at the end."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=size)
    information, pull = np.eye(size), np.zeros(size)
    mean, covariance = np.zeros(size), np.eye(size)
    offers = scale * rng.normal(size=(n_choices, n_offered, size))
    picked = (offers @ truth + rng.gumbel(size=(n_choices, n_offered))).argmax(axis=1)
    sites, pulls = np.zeros((n_choices, size, size)), np.zeros((n_choices, size))
    for t in range(n_choices):
        choice_site(mean, covariance, offers[t], int(picked[t]), sites[t], pulls[t])
        information += sites[t]
        pull += pulls[t]
        if t + 1 in sweeps:
            past = slice(max(t - 63, 0), t + 1)
            resite(offers[past], picked[past], sites[past], pulls[past], information, pull, np.empty((size + 1, size)))
        condition(information, pull, mean, covariance)
    return truth, mean, np.sqrt(np.diag(covariance)), (information, pull, sites, pulls)


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "sweeps"), [(0.3, ()), (0.5, (16, 64))])
def test_intervals_hold_the_truth_after_320_choices(scale, sweeps):
    """Nine times in ten; where offers differ so much that early factors are rough, once these were renewed."""
    inside = []
    for seed in range(60):
        truth, mean, deviations, _ = live(seed, 6, 4, 320, scale, sweeps)
        inside.append(np.mean(np.abs(mean - truth) < 1.645 * deviations))
    assert 0.85 < np.mean(inside) < 0.95


@pytest.mark.plain
def test_renewed_factors_stay_in_balance():
    """Sums over all factors remain sums, and a second sweep changes less than the first."""
    _, _, _, (information, pull, sites, pulls) = live(5, 4, 5, 30, 1.0, (30,))
    np.testing.assert_allclose(information, np.eye(4) + sites.sum(axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pull, pulls.sum(axis=0), rtol=1e-9, atol=1e-9)
    before = live(5, 4, 5, 30, 1.0, ())[3][0]
    again = live(5, 4, 5, 30, 1.0, (29, 30))[3][0]
    assert np.abs(again - information).max() < 0.5 * np.abs(information - before).max()


@pytest.mark.plain
def test_points_are_spread_like_a_normal_law():
    assert np.abs(POINTS.mean(axis=0)).max() < 0.15
    assert np.abs(np.corrcoef(POINTS.T) - np.eye(POINTS.shape[1])).max() < 0.4
    assert np.abs(POINTS.std(axis=0) - 1.0).max() < 0.1


@pytest.mark.plain
@pytest.mark.parametrize("size", [1, 2, 5, 12, 40, 100])
def test_eigenvalues_rebuild_the_matrix(size):
    root = np.random.default_rng(size).normal(size=(size, size))
    matrix, values, vectors = root + root.T, np.empty(size), np.empty((size, size))
    eigen(matrix.copy(), values, vectors)
    np.testing.assert_allclose((vectors * values) @ vectors.T, matrix, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(size), atol=1e-12)
    np.testing.assert_allclose(np.sort(values), np.linalg.eigvalsh(matrix), atol=1e-12)


@pytest.mark.plain
@pytest.mark.parametrize("size", [1, 2, 3, 5, 20, 40])
@pytest.mark.parametrize("rank", [0, 1, 3, 40])
def test_a_diagonal_form_carries_what_it_is_given(size, rank):
    root = np.random.default_rng([size, rank]).normal(size=(size, rank))
    matrix, values, turned = root @ root.T, np.empty(size), np.eye(size)
    diagonalize(matrix.copy(), values, turned)
    np.testing.assert_allclose(turned.T @ (values[:, None] * turned), matrix, atol=1e-12)
    np.testing.assert_allclose(turned @ turned.T, np.eye(size), atol=1e-12)
    few = np.arange(3.0 * size).reshape(size, 3)
    carried = few.copy()
    diagonalize(matrix.copy(), values, carried)
    np.testing.assert_allclose(carried, turned @ few, atol=1e-10)


@pytest.mark.plain
def test_entries_next_to_nothing_are_rotated_away():
    matrix, values, vectors = np.diag([1.0, 2.0, 3.0]), np.empty(3), np.empty((3, 3))
    for k, i, common in ((0, 1, 1e-310), (0, 2, 0.5), (1, 2, -1e-200)):
        matrix[k, i] = matrix[i, k] = common
    expected = np.linalg.eigvalsh(matrix)
    eigen(matrix, values, vectors)
    np.testing.assert_allclose(np.sort(values), expected, rtol=1e-14)
    assert np.isfinite(vectors).all()
