"""Fisher-PQUCB never stays with a worse arm for good, and with its guarantee is as wide as the proof needs."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from naive import reward_variances, utility_variance
from test_fisher import told
from test_kernels import Life

from druthers import FisherPQUCB, make_policy
from druthers.environments import Reviews
from druthers.policies.bonuses import cautious, growth
from druthers.simulation import simulate

# Two arms of one objective each, without noise in rewards: without queries, only trying an arm tells what it is worth.
FIXED = {"rewards": [[1.0, 0.0], [0.0, 1.0]], "preferences": [[1.0, 1.3]], "reward_noise": 0.0}
# Two arms that differ in rewards alone, and noisily.
NOISY = {"rewards": [[2.0, 2.0], [2.5, 2.5]], "preferences": [[1.0, 1.0]], "preference_noise": 0.05}


def regrets(world, horizon, runs, marks, **params):
    """Return the regret of each run at some rounds."""
    tapes = [Reviews(**world).tape(seed=(77, run), horizon=horizon) for run in range(runs)]
    return np.array(
        [simulate(make_policy("fisher-pqucb", n_objectives=2, **params), tape, marks).regret for tape in tapes]
    )


def test_growth_is_slow_at_first_and_twice_the_logarithm_in_the_end():
    lacks = np.array([-1.0, 0.0, 4.0, 5.0, 5.7, 6.0, 10.0])
    np.testing.assert_allclose([growth(lack) for lack in lacks], [1.0, 1.0, 1.0, 1.25, 1.425, 2.0, 10.0])
    np.testing.assert_allclose([growth(lack) for lack in lacks], naive.fisher_growth(lacks))


def test_a_direction_that_nothing_was_said_of_is_tried_again():
    """After one bad experience of an arm whose reward has no noise, only growth of the preference's bonus helps."""
    policy = FisherPQUCB(n_objectives=2)
    policy.add_arms(["first", "second"])
    policy.learn("ada", "first", [1.0, 0.0], 1.0)
    policy.learn("ada", "second", [0.0, 1.0], -0.4)
    rng = np.random.default_rng(0)
    rounds = 0
    while policy.choose("ada").arm == "first":
        policy.learn("ada", "first", [1.0, 0.0], 1.0 + 0.7 * rng.normal())
        rounds += 1
        assert rounds < 20_000, "the second arm was given up for good"
    assert rounds > 50


@pytest.mark.slow
def test_no_run_is_stuck_without_queries():
    """With growth in rewards alone, 6 of these 60 runs stay with the worse arm from round 10,000 to 100,000."""
    regret = regrets({**FIXED, "query_rate": 0.0}, 100_000, 60, np.array([10_000, 100_000]))
    assert np.all(regret[:, 1] - regret[:, 0] < 0.5 * 0.3 * 90_000)
    mean = regret.mean(axis=0)
    assert math.log(mean[1] / mean[0]) / math.log(10.0) < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("world", [{**FIXED, "query_rate": 0.0}, FIXED, NOISY, {**NOISY, "query_rate": 0.0}])
def test_with_its_guarantee_regret_grows_like_a_logarithm(world):
    """Gaps are fixed: from 10,000 to 100,000 rounds it grows by less than T^0.4."""
    marks = np.array([10_000, 100_000])
    mean = regrets(world, 100_000, 12, marks, guarantee=True).mean(axis=0)
    assert math.log(mean[1] / mean[0]) / math.log(10.0) < 0.4


def guaranteed(history, user, offer, anchor, information, ridge):
    """The scores with guarantee, from their formulas."""
    x, y = history.weighed(user, 1.0)
    variance = utility_variance(x, y, anchor) if len(y) else 1.0
    variance = 2.0 ** math.ceil(math.log2(1.25 * variance))
    size = len(anchor)
    plain = ridge * (np.eye(size) - 1.0 / size)
    matrix = information + plain + x.T @ x / variance
    floor = 1e-6 + 1e-11 * np.trace(matrix - plain)
    matrix += floor * np.eye(size)
    c = np.linalg.solve(matrix, x.T @ y / variance + information @ anchor + ridge * anchor)
    logs = np.linalg.slogdet(matrix)[1] - (size - 1) * math.log(ridge + 1e-6) - math.log(1e-6)
    z = math.sqrt(max(4.0 * math.log(len(y) + 1) + logs, 0.0))
    within, _, means = reward_variances(history)
    within = 1.25 * within
    deviation = math.sqrt(c**2 @ within) + (z * math.sqrt(within @ np.diag(np.linalg.inv(matrix))) if len(y) else 0.0)

    def reason(pulls, mean):
        guess = np.where(pulls > 0, mean, means)
        seen = max(pulls.min(), 1.0)
        wide = (1 + 1 / seen) * (2 * math.log(len(history.arms) * (history.rounds + 1)) + math.log(1 + seen)) / seen
        told = guess if len(y) else guess - guess.mean()
        return (
            c @ guess,
            deviation * math.sqrt(wide) if pulls.any() else naive.NEVER_SEEN,
            z * math.sqrt(told @ np.linalg.solve(matrix, told)),
        )

    return naive._reasons(history, offer, reason)


@pytest.mark.parametrize("seed", range(8))
def test_scores_with_guarantee_after_random_histories(seed):
    life = Life("fisher-pqucb", seed, 1 + seed % 5, guarantee=True)
    for _ in range(6):
        user, offer, decision = life.choose()
        anchor, information = told(life, user, 0.5)
        wanted = guaranteed(life.history, user, offer, anchor, information, 0.5)
        # Before anything is said or felt, z is the root of rounding errors.
        np.testing.assert_allclose(decision.reasons, wanted, rtol=1e-6, atol=1e-4)
        x, y = life.history.weighed(user, 1.0)
        variance = cautious(utility_variance(x, y, anchor) if len(y) else 1.0)
        assert life.policy.noise(user)[0] == pytest.approx(variance, rel=1e-9)
        life.live(9)


def test_with_guarantee_the_unit_stays_as_given():
    policy = FisherPQUCB(n_objectives=2, guarantee=True)
    rng = np.random.default_rng(0)
    for _ in range(200):
        policy.hear("ada", (1, 0) if rng.random() < 0.7 else (0, 1))
        reward = rng.uniform(0, 1, 2)
        policy.learn("ada", "inn", reward, 50.0 * (reward @ [1.0, 2.0]))
    assert policy._state.users.unit[policy._users.rows["ada"]] == 1.0
