"""Intervals for all times: wider than pointwise ones, never empty-handed for long, and right whenever one looks."""

from __future__ import annotations

import numpy as np
import pytest

from druthers import FisherPQUCB, make_policy
from druthers.errors import NoPreference
from druthers.policies.anytime import NINETY, anytime_radius
from druthers.sampling import sample_rankings


def lives(seed, rounds, queries=True, size=4, noise=0.5):
    """Yield the round, the policy and the truth of a user after each round."""
    rng = np.random.default_rng(seed)
    truth, means = rng.uniform(0.0, 2.0, size), rng.uniform(0.0, 2.0, (6, size))
    policy = FisherPQUCB(n_objectives=size)
    policy.add_arms(range(6))
    said = sample_rankings(truth, rounds=rounds, rng=rng).rankings()
    for t in range(rounds):
        if queries:
            policy.hear("ada", said[t])
        arm = policy.choose("ada").arm
        reward = means[arm] + 0.3 * rng.normal(size=size)
        policy.learn("ada", arm, reward, float((truth + noise * rng.normal(size=size)) @ reward))
        yield t + 1, policy, truth


def at_unit(policy):
    return policy._preference_at_unit(policy._users.rows["ada"])


def deviations(believed):
    return np.sqrt(np.diag(believed.covariance))


def test_they_are_wider_and_end_finite():
    for t, policy, _ in lives(0, 120):
        if t in (30, 120):
            plain, always = at_unit(policy), policy.preference("ada", anytime=True)
            np.testing.assert_array_equal(always.weights, plain.weights)
            assert np.all(deviations(always) > deviations(plain))
    ratio = deviations(always) / deviations(plain)
    assert np.all(ratio < 8.0)
    np.testing.assert_allclose(ratio, ratio[0])


def test_without_anything_heard_or_felt_they_are_infinite():
    policy = FisherPQUCB(n_objectives=3)
    assert np.all(np.isinf(deviations(policy.preference("ada", anytime=True))))


@pytest.mark.parametrize("name", ["mo-pqucb", "fisher-pqucb-robust", "s-ucb"])
def test_others_say_that_they_have_none(name):
    with pytest.raises(NoPreference):
        make_policy(name, n_objectives=2).preference("ada", anytime=True)


def test_the_radius_without_queries_is_that_of_the_method_of_mixtures():
    """Then tau is zero, and r^2 = 2 ln(1/risk) + ln |M|/|M0| and hardly more, the prior being weak."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4_000, 3))
    prior = 0.5 * (np.eye(3) - 1 / 3) + 1e-6 * np.eye(3)
    matrix = x.T @ x + prior
    estimate = np.array([0.3, -0.1, 0.2])
    radius = anytime_radius(
        estimate, np.linalg.inv(matrix), np.zeros(3), np.zeros((3, 3)), 0.0, ridge=0.5, unit=1.0, risk=0.1
    )
    mixture = 2 * np.log(10.0) + np.linalg.slogdet(matrix)[1] - np.linalg.slogdet(prior)[1]
    assert mixture <= radius**2 <= 1.02 * mixture


@pytest.mark.slow
@pytest.mark.parametrize("queries", [True, False])
def test_they_cover_at_all_times(queries):
    """At least 90 % of 60 users are inside at every one of 150 rounds; pointwise ones are left by most at some time."""
    ever, ever_plain = 0, 0
    for seed in range(60):
        out = out_plain = False
        for t, policy, truth in lives(seed, 150, queries):
            if t < 8:
                continue
            plain, always = at_unit(policy), policy.preference("ada", anytime=True)
            miss = np.abs(always.weights - truth)
            out |= bool(np.any(miss > NINETY * deviations(always)))
            out_plain |= bool(np.any(miss > NINETY * deviations(plain)))
        ever, ever_plain = ever + out, ever_plain + out_plain
    assert ever <= 6
    assert ever_plain > 20
