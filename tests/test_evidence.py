"""Of few arms, spread and odds are weighed over a grid of spreads: beside a dense twin."""

import math

import numpy as np
import pytest

from druthers.policies import rewards as model_of
from druthers.policies.evidence import SPREAD_STEP, SPREADS, weigh_features
from druthers.policies.regression import FIRST_RIDGE, RIDGE_STEP, RIDGES, ROUNDING

N_ARMS, P = 30, 3


def likelihood(x, y, noise, spread, steep):
    """The restricted log-likelihood of means y with an unknown level, but for a constant."""
    ones, covariance = np.ones(len(y)), np.diag(spread + noise) + spread * steep * x @ x.T
    inverse = np.linalg.inv(covariance)
    precision = ones @ inverse @ ones
    off = y - ones @ inverse @ y / precision
    return -0.5 * (np.linalg.slogdet(covariance)[1] + math.log(precision) + off @ inverse @ off)


def dense(x, y, noise, overall):
    """The chance that features tell anything, and the spread that is likely, by every spread with every ridge."""
    grid = overall * SPREAD_STEP ** np.arange(SPREADS)
    steeps = [*1.0 / (FIRST_RIDGE * P * RIDGE_STEP ** np.arange(RIDGES)), 0.0]
    logs = np.array([[likelihood(x, y, noise, spread, steep) for steep in steeps] for spread in grid])
    odds = np.exp(logs - logs.max()) * ([1.0] * RIDGES + [float(RIDGES)])
    return 1.0 - odds[:, -1].sum() / odds.sum(), overall * SPREAD_STEP ** (
        odds.sum(axis=1) @ range(SPREADS) / odds.sum()
    )


def some_arms(slope):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((N_ARMS, P))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    pulls = rng.integers(1, 4, N_ARMS) * np.ones((2, 1))
    pulls[1, 3:] += 1.0  # so that the second objective has a regression of its own
    y = slope * x[:, 0] + rng.standard_normal((2, N_ARMS)) * np.sqrt(0.09 + 0.25 / pulls)
    return x, pulls.T.copy(), y.T.copy(), np.full(2, 0.25), np.array([0.6, 0.5])


@pytest.mark.plain
@pytest.mark.parametrize("slope", [0.0, 0.2, 0.5])
def test_odds_and_spread_are_those_of_a_dense_twin(slope):
    x, pulls, y, within, overall = some_arms(slope)
    model = model_of.fresh_model(2, P)
    spread = model.spread
    spread[:], model.lead[:] = [[0.4, 0.1], [0.1, 0.3]], np.arange(2.0)
    share = weigh_features(model, x, pulls, y, within, overall)
    for k in range(2):
        chance, likely = dense(x, y[:, k], within[k] / pulls[:, k], overall[k])
        assert share[k] == pytest.approx(chance, rel=1e-6)
        assert spread[k, k] == pytest.approx(likely, rel=1e-6)
    correlation = spread[0, 1] / math.sqrt(spread[0, 0] * spread[1, 1])
    assert correlation == pytest.approx(0.1 / math.sqrt(0.12))


@pytest.mark.plain
def test_where_all_arms_are_the_same_nothing_is_told_of_them():
    x, pulls, y, _, _ = some_arms(0.0)
    model = model_of.fresh_model(2, P)
    spread = model.spread
    model.lead[:] = np.arange(2.0)
    share = weigh_features(model, x, pulls, 0.0 * y, np.zeros(2), np.zeros(2))
    assert (share <= 0.5).all()
    assert (np.diag(spread) <= ROUNDING).all()
    assert np.isfinite(spread).all()


@pytest.mark.plain
def test_odds_of_few_arms_are_the_mean_of_both():
    x, pulls, y, within, overall = some_arms(0.3)
    arms = model_of.fresh_arms(N_ARMS + 1, 2, P)
    arms.features[1:], arms.pulls[1:], arms.means[1:] = x, pulls, y
    model, twin = model_of.fresh_model(2, P), model_of.fresh_model(2, P)
    model_of.fit_rewards(model, arms, within, overall, True)
    twin.spread[:] = np.diag(overall)
    twin.lead[:] = np.arange(2.0)
    grid = weigh_features(twin, x, pulls, y, within, overall)
    twin.origin[:], twin.scales[:] = 0.0, 1.0
    model_of.sweep(twin, x, pulls, y, within, overall)
    odds = 0.5 * (grid / (1.0 - grid) + twin.share / (1.0 - twin.share))
    np.testing.assert_allclose(model.share / (1.0 - model.share), odds, rtol=1e-6)
    np.testing.assert_allclose(model.spread, twin.spread, rtol=1e-9)
