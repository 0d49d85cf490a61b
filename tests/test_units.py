"""The belief that is averaged over units: equal to a slow twin, honest in every unit, indifferent to the usual one."""

from __future__ import annotations

import numpy as np
import pytest
from naive import utility_variance

from druthers import FisherPQUCB, Likelihood
from druthers.policies.belief import Evidence
from druthers.policies.units import (
    FEW,
    NOISE_SHARE,
    NOISE_SLAB,
    NOISE_STEPS,
    SLAB,
    SPIKE,
    USUALLY,
    UnitLaw,
    average_units,
    expect_level,
    likely_unit,
    tell,
)

NINETY = 1.6448536269514722


def felt(seed, unit=1.0, size=4, n=20, rankings=20):
    """Return the anchor of a user's rankings, and the rewards, scaled to length one, and utilities beside it."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=size)
    anchor = Likelihood(ridge=0.5, n_objectives=size)
    for _ in range(rankings):
        anchor.hear(np.argsort(-(weights + rng.gumbel(size=size))))
    x = rng.uniform(0.0, 1.0, (n, size))
    x /= np.linalg.norm(x, axis=1)[:, None]
    return anchor, x, unit * (x @ weights + 0.5 * rng.normal(size=n))


def told_and_said(anchor, x, y):
    """Return all that the user told, and what words say alone, as kernels take it."""
    size, both = x.shape[1], np.column_stack([x, y])
    sums = both.T @ both, float(len(y)), utility_variance(x, y, anchor.estimate)
    told = Evidence(*sums, anchor.estimate, anchor.information, np.zeros((size, size + 1)), size - 1.0, 0.5, 0.5)
    return told, tell(told)


def averaged(anchor, x, y, usual=1.0, of_words=False):
    """Return mean, covariance and mean log-unit as the kernel has them."""
    size = x.shape[1]
    mean, covariance = np.empty(size), np.empty((size, size))
    law = UnitLaw(usual, SPIKE, SLAB)
    found, _ = average_units(*told_and_said(anchor, x, y), law, of_words, mean, covariance)
    return mean, covariance, found


def slow_units(anchor, x, y, usual=1.0, spike=SPIKE, nodes=3001):
    """Return log-units on a fine grid with all noises, the usual one last: shares, means and covariances of weights."""
    size, estimate = x.shape[1], anchor.estimate
    middle = utility_variance(x, y, estimate)
    precision = anchor.information + 0.5 * (np.eye(size) - 1.0 / size)
    grid = np.linspace(-3.2, 3.2, nodes)
    chances = (1.0 - spike) * np.exp(-0.5 * (grid / SLAB) ** 2) / (SLAB * np.sqrt(2.0 * np.pi)) * (grid[1] - grid[0])
    few = len(y) < FEW
    steps = np.array(NOISE_STEPS if few else (0.0,))
    log_units, chances = (np.repeat(np.append(*each), len(steps)) for each in ((grid, 0.0), (chances, spike)))
    units, noises = usual * np.exp(log_units), np.tile(middle * np.exp(steps), nodes + 1)
    one, noise = units[:, None], noises[:, None]
    matrices = x.T @ x / noise[..., None] + (precision + 1e-6 * np.eye(size)) / one[..., None] ** 2
    means = np.linalg.solve(matrices, (x.T @ y / noise + precision @ estimate / one)[..., None])[..., 0]
    off = (np.log(noises) - np.log(NOISE_SHARE * (y @ y) / len(y))) / NOISE_SLAB
    # Gaussian evidence by its quadratic form at the mean: the same as integrating the weights out.
    bare = y @ y / noises - np.einsum("ni,nij,nj->n", means, matrices, means)
    logs = -0.5 * (bare + np.linalg.slogdet(matrices)[1]) - (size - 1.0) * np.log(units)
    logs += np.log(chances) - 0.5 * len(y) * np.log(noises) - 0.5 * off**2 * few
    shares = np.exp(logs - logs.max())
    return log_units, shares / shares.sum(), means, np.linalg.inv(matrices)


def slowly_averaged(anchor, x, y, usual=1.0, of_words=False):
    """Return mean, covariance and mean log-unit by the density of utilities given each unit and noise."""
    log_units, shares, means, covariances = slow_units(anchor, x, y, usual)
    scales = np.exp(-log_units) / usual if of_words else np.ones(len(shares))
    means, covariances = scales[:, None] * means, scales[:, None, None] ** 2 * covariances
    mean = shares @ means
    apart = means - mean
    covariance = np.einsum("n,nij->ij", shares, covariances) + (shares * apart.T) @ apart
    return mean, covariance, float(shares @ log_units)


@pytest.mark.plain
@pytest.mark.parametrize("of_words", [False, True])
@pytest.mark.parametrize(("unit", "n"), [(1.0, 3), (3.0, 12), (0.2, 60), (12.0, 300)])
def test_the_average_is_that_of_a_fine_grid(unit, n, of_words):
    anchor, x, y = felt(int(n), unit, n=n, rankings=min(n, 40))
    mean, covariance, found = averaged(anchor, x, y, of_words=of_words)
    slow_mean, slow_covariance, slow_found = slowly_averaged(anchor, x, y, of_words=of_words)
    deviations = np.sqrt(np.diag(slow_covariance))
    np.testing.assert_allclose(mean / deviations, slow_mean / deviations, atol=0.02)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), deviations, rtol=0.02)
    assert found == pytest.approx(slow_found, abs=0.02)
    assert np.linalg.eigvalsh(covariance).min() > 0.0


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(10))
def test_the_score_goes_by_the_usual_unit_while_that_is_more_likely_than_not(seed):
    """Else by the mean of the others, in the logarithm; a far one, which is not on the grid, is still found."""
    unit, n = (1.0, 3.0, 0.1, 8.0, 60.0)[seed % 5], (6, 40)[seed // 5]
    anchor, x, y = felt(seed, unit, n=n)
    found = likely_unit(*told_and_said(anchor, x, y), UnitLaw(1.0, USUALLY, SLAB))
    log_units, shares, _, _ = slow_units(anchor, x, y, spike=USUALLY, nodes=1001)
    last = NOISE_STEPS if n < FEW else (0.0,)
    others = shares[: -len(last)]
    if others.sum() < 0.5:
        assert found == 1.0
    elif unit == 60.0:
        assert 20.0 < found < 180.0
    else:
        assert np.log(found) == pytest.approx(others @ log_units[: -len(last)] / others.sum(), abs=0.02)


@pytest.mark.parametrize("level", [30.0, 3.0, 0.03])
def test_utilities_far_too_high_speak_for_a_larger_unit_and_low_ones_for_none(level):
    """After four utilities that say nothing but their level."""
    anchor, x, _ = felt(3, n=4)
    y = level * (x.sum(axis=1) + 0.3 * np.random.default_rng(0).normal(size=4))
    told, said = told_and_said(anchor, x, y)
    law = UnitLaw(1.0, USUALLY, SLAB)
    before, found = likely_unit(told, said.copy(), law), likely_unit(told, expect_level(said), law)
    if level == 30.0:
        assert before == 1.0
        assert found > 2.0
    else:
        assert found == pytest.approx(before, rel=1e-3)


def test_in_other_usual_units_all_is_the_same_but_for_the_unit():
    anchor, x, y = felt(1, 2.0)
    mean, covariance, found = averaged(anchor, x, y)
    scaled_mean, scaled_covariance, scaled_found = averaged(anchor, x, 7.0 * y, usual=7.0)
    np.testing.assert_allclose(scaled_mean, 7.0 * mean, rtol=1e-4)
    np.testing.assert_allclose(scaled_covariance, 49.0 * covariance, rtol=1e-4, atol=1e-6)
    assert scaled_found == pytest.approx(found, abs=1e-4)


@pytest.mark.parametrize("unit", [1.0, 3.0])
def test_intervals_hold_the_truth_in_any_unit(unit):
    """Of 40 people with 30 rankings and utilities: most weights, where one unit for all holds less than half."""
    rng, size = np.random.default_rng(2), 5
    rewards = rng.uniform(0.0, 3.0, (20, size))
    policy = FisherPQUCB(n_objectives=size)
    for arm in range(20):
        policy.give("catalog", arm, rewards[arm], np.full(size, 1e9))
    held, held_at_unit = [], []
    for person in range(40):
        weights = rng.normal(size=size)
        for arm in rng.integers(20, size=30):
            policy.hear(person, np.argsort(-(weights + rng.gumbel(size=size))))
            noise = np.sqrt(0.5) * np.linalg.norm(rewards[arm]) * rng.normal()
            policy.learn(person, int(arm), utility=unit * (weights @ rewards[arm] + noise))
        for believed, inside in (
            (policy.preference(person), held),
            (policy._preference_at_unit(policy._users.rows[person]), held_at_unit),
        ):
            off = np.abs(believed.weights - unit * weights)
            inside.append(off <= NINETY * np.sqrt(np.diag(believed.covariance)))
    assert 0.7 <= np.mean(held) <= 0.97
    assert np.mean(held_at_unit) < 0.5 or unit == 1.0


def test_without_utilities_the_unit_is_a_convention():
    policy = FisherPQUCB(n_objectives=3, unit=2.0)
    policy.hear("ada", (1, 0, 2))
    believed, plain = policy.preference("ada"), policy._preference_at_unit(policy._users.rows["ada"])
    np.testing.assert_array_equal(believed.weights, plain.weights)
    np.testing.assert_array_equal(believed.covariance, plain.covariance)


def exactly_believed(orders, x, y, rows, picked, noise):
    """Return mean and deviations of two weights given words, utilities and picks, by their density on a fine grid."""
    level, apart = np.meshgrid(np.linspace(-4.0, 4.0, 161), np.linspace(-4.0, 4.0, 161), indexing="ij")
    theta = np.stack([level + 0.5 * apart, level - 0.5 * apart], axis=-1).reshape(-1, 2)
    # As the policy has it: precision 0.5 of the difference, a tenth of it for the level, from the first pick on.
    logs = -0.125 * (theta[:, 0] - theta[:, 1]) ** 2 - 0.0125 * theta.sum(axis=1) ** 2
    for order in orders:
        logs += theta[:, order[0]]
    logs -= len(orders) * np.logaddexp(theta[:, 0], theta[:, 1])
    for offer, place in zip(rows, picked, strict=True):
        values = theta @ offer.T
        logs += values[:, place] - np.log(np.exp(values).sum(axis=1))
    log_units = np.append(np.linspace(-2.7, 3.2, 119), 0.0)
    chances = (1.0 - SPIKE) * 0.05 / (SLAB * np.sqrt(2.0 * np.pi)) * np.exp(-0.5 * (log_units / SLAB) ** 2)
    chances[-1] = SPIKE
    units = np.exp(log_units)
    products = np.stack([theta @ (x.T @ y), np.einsum("nk,kj,nj->n", theta, x.T @ x, theta)])
    # Only where something is believed, in whatever unit.
    most = logs + products[0] ** 2 / np.maximum(2.0 * noise * products[1], 1e-9)
    near = most > most.max() - 60.0
    theta, logs, products = theta[near], logs[near], products[:, near]
    whole = (
        logs[:, None] + np.log(chances) + (units * products[0][:, None] - 0.5 * units**2 * products[1][:, None]) / noise
    )
    shares = np.exp(whole - whole.max())
    shares /= shares.sum()
    mean = np.array([np.sum(shares * np.outer(theta[:, k], units)) for k in range(2)])
    squares = np.array([np.sum(shares * np.outer(theta[:, k], units) ** 2) for k in range(2)])
    return mean, np.sqrt(squares - mean**2)


@pytest.mark.parametrize("unit", [1 / 3, 3.0])
def test_words_picks_and_utilities_are_heard_as_by_their_exact_law(unit):
    """In other units than the usual one too: a pick must not be taken in as if that one were right."""
    rng = np.random.default_rng(3)
    rewards = rng.uniform(0.0, 3.0, (20, 2))
    off, wide = [], []
    for _ in range(12):
        policy = FisherPQUCB(n_objectives=2)
        for arm in range(20):
            policy.give("catalog", arm, rewards[arm], np.full(2, 1e9))
        weights = rng.normal(size=2)
        orders, x, y, rows, picked = [], [], [], [], []
        for _ in range(40):
            orders.append(np.argsort(-(weights + rng.gumbel(size=2))))
            arm, offer = int(rng.integers(20)), rng.choice(20, 5, replace=False)
            length = float(np.linalg.norm(rewards[arm]))
            x.append(rewards[arm] / length)
            y.append(unit * (x[-1] @ weights + 0.5 * rng.normal()))
            rows.append(rewards[offer])
            picked.append(int(np.argmax(rewards[offer] @ weights + rng.gumbel(size=5))))
            policy.hear("ada", orders[-1])
            policy.learn("ada", arm, utility=length * y[-1])
            policy.learn_choice("ada", int(offer[picked[-1]]), offer.tolist())
        believed = policy.preference("ada")
        noise = policy.noise("ada")[0]
        mean, deviations = exactly_believed(orders, np.array(x), np.array(y), rows, picked, noise)
        off.append((believed.weights - mean) / deviations)
        wide.append(np.sqrt(np.diag(believed.covariance)) / deviations)
    assert np.sqrt(np.mean(np.square(off))) < 0.35
    assert 0.8 < np.mean(wide) < 1.2
