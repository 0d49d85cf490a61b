"""Intervals of weights: quantiles of the same mixture whose mean and covariance `preference` returns."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr

from druthers import make_policy
from druthers.errors import InvalidSetting, NoPreference
from druthers.policies import intervals
from druthers.policies.units import SLAB, SPIKE, UnitLaw

SIZE = 4


def told(name="fisher-pqucb", usual=1.0, unit=2.0, **settings):
    """Return a policy with three people who ranked, felt and picked six times."""
    rng = np.random.default_rng(5)
    rewards = rng.uniform(0.0, 3.0, (12, SIZE))
    policy = make_policy(name, n_objectives=SIZE, unit=usual, **settings)
    for arm in range(12):
        policy.give("catalog", arm, rewards[arm], np.full(SIZE, 1e9))
    for person in range(3):
        weights = rng.normal(size=SIZE)
        for arm in rng.integers(12, size=6).tolist():
            noise = 0.7 * np.linalg.norm(rewards[arm]) * rng.normal()
            policy.hear(person, np.argsort(-(weights + rng.gumbel(size=SIZE))))
            policy.learn(person, arm, utility=unit * (weights @ rewards[arm] + noise))
            if person > 0:
                policy.learn_choice(person, int(np.argmax(rewards[:5] @ weights + rng.gumbel(size=5))), range(5))
    return policy


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("fisher-pqucb", {}),
        ("fisher-pqucb-robust", {}),
        pytest.param("fisher-pqucb", {"population": True}, marks=pytest.mark.plain),
    ],
)
def test_the_laws_are_those_that_preference_averages(name, settings, monkeypatch):
    """The compiled average and plain NumPy are each other's twins, once units are weighed alike."""
    policy = told(name, **settings)
    monkeypatch.setattr(intervals, "FLAT", 0.0)
    monkeypatch.setattr(intervals, "flatness", lambda _: 0.0)
    monkeypatch.setattr(intervals, "law_alone", lambda usual: UnitLaw(usual, SPIKE, SLAB))
    for person in range(3):
        believed, laws = policy.preference(person), policy._normals(policy._users.rows[person])
        shares = np.exp(laws.logs - laws.logs.max())
        shares /= shares.sum()
        mean = shares @ laws.means
        np.testing.assert_allclose(mean, believed.weights, rtol=1e-6, atol=1e-7)
        variances = shares @ (laws.variances + (laws.means - mean) ** 2)
        np.testing.assert_allclose(variances, np.diag(believed.covariance), rtol=1e-6)


def test_ends_have_the_chances_they_are_to_have():
    """Of a mixture that is long to one side, with one law far out."""
    laws = intervals.Normals(
        np.log([0.55, 0.3, 0.149, 0.001]),
        np.array([[0.0], [1.0], [4.0], [60.0]]),
        np.array([[0.2], [1.0], [9.0], [1.0]]),
    )

    def too_many_below(x, chance):
        return np.exp(laws.logs) @ ndtr((x - laws.means[:, 0]) / np.sqrt(laws.variances[:, 0])) - chance

    for share in (0.5, 0.9, 0.999):
        low, high = laws.interval(share)[:, 0]
        assert low == pytest.approx(brentq(too_many_below, -50.0, 100.0, 0.5 - 0.5 * share), abs=1e-6)
        assert high == pytest.approx(brentq(too_many_below, -50.0, 100.0, 0.5 + 0.5 * share), abs=1e-6)


def test_in_other_usual_units_intervals_are_the_same_but_for_the_unit():
    plain, scaled = told(), told(usual=7.0, unit=14.0)
    for person in range(2):  # the second picks
        np.testing.assert_allclose(scaled.interval(person), 7.0 * plain.interval(person), rtol=1e-3)


def test_intervals_are_longer_where_more_is_to_be_held():
    policy = told()
    half, most = policy.interval(1, share=0.5), policy.interval(1)
    assert np.all(most[0] < half[0])
    assert np.all(half[1] < most[1])


def test_who_felt_nothing_has_the_interval_of_a_normal_law():
    policy = make_policy("fisher-pqucb", n_objectives=3)
    policy.hear("ada", (1, 0, 2))
    believed, (low, high) = policy.preference("ada"), policy.interval("ada")
    np.testing.assert_allclose(low + high, 2.0 * believed.weights, atol=1e-9)
    np.testing.assert_allclose(high - low, 2.0 * 1.6448536269514722 * np.sqrt(np.diag(believed.covariance)))


def test_intervals_of_nothing_are_refused():
    with pytest.raises(InvalidSetting, match=r"between 0 and 1, but got 1\.0"):
        told().interval(0, share=1.0)
    with pytest.raises(NoPreference, match="does not learn preferences"):
        make_policy("s-ucb", n_objectives=2).interval("ada")
