"""What rankings and utilities say together: the hybrid estimate, its radii, and both weighed by their information."""

from __future__ import annotations

import numpy as np
import pytest
from hybrid import HybridEstimator

from druthers._jit import kernel
from druthers.anchors import Likelihood
from druthers.errors import InvalidSetting
from druthers.preferences import anchor_matrix, compact_radius, learn_utility, upper_root
from druthers.sampling import sample_rankings

COMPILED = hasattr(learn_utility, "overloads")


@kernel
def learn_many(root, response, rewards, utilities, weight, repeats):
    """Learn the same utilities over and over."""
    for _ in range(repeats):
        for t in range(rewards.shape[0]):
            learn_utility(root, response, rewards[t], utilities[t], weight)


@pytest.mark.parametrize(
    ("case", "tolerance"),
    [
        ("full", 1e-9),
        ("large and small", 1e-9),
        ("nearly flat", 1e-6),  # V has condition number 3e6, which the rounding of a million sums is multiplied by
    ],
)
def test_a_million_updates_stay_exact(case, tolerance):
    """The rotated factor agrees with one fresh solve, also for lopsided rewards."""
    n_objectives, n_rewards, repeats = 20, 10_000, 100 if COMPILED else 1
    rng = np.random.default_rng(1)
    rewards = rng.uniform(0.0, 1.0, (n_rewards, n_objectives))
    if case == "nearly flat":
        rewards = 1.0 + 0.01 * rewards
    if case == "large and small":
        rewards *= np.logspace(-1.0, 1.0, n_objectives)
    if not COMPILED:
        rewards = rewards[:200]
    utilities = rewards @ rng.uniform(0.0, 5.0, n_objectives) + rng.normal(size=len(rewards))
    anchor = rng.normal(size=n_objectives)
    anchor -= anchor.mean()
    weight, ridge = 0.13, 0.1

    estimator = HybridEstimator(n_objectives=n_objectives, feedback_weight=weight, ridge=ridge)
    learn_many(estimator.root, estimator.response, rewards, utilities, weight, repeats)

    start = (1.0 - weight) * ((1.0 + ridge) * np.eye(n_objectives) - 1.0 / n_objectives)
    gram = start + weight * repeats * rewards.T @ rewards
    expected = np.linalg.solve(gram, weight * repeats * rewards.T @ utilities + start @ anchor)
    np.testing.assert_allclose(estimator.gram, gram, rtol=1e-9, atol=1e-9 * np.abs(gram).max())
    error = np.linalg.norm(estimator.estimate(anchor) - expected) / np.linalg.norm(expected)
    assert error <= tolerance


def test_no_feedback_leaves_the_anchor():
    estimator = HybridEstimator(n_objectives=3, feedback_weight=0.2, ridge=0.5)
    np.testing.assert_allclose(estimator.estimate([1.0, 0.5, -1.5]), [1.0, 0.5, -1.5], rtol=1e-14)


def test_much_feedback_leaves_the_regression():
    rng = np.random.default_rng(2)
    rewards, preference = rng.uniform(0.0, 1.0, (4000, 4)), np.array([2.0, -1.0, 0.5, 0.0])
    estimator = HybridEstimator(n_objectives=4, feedback_weight=0.5, ridge=0.1)
    for reward in rewards:
        estimator.learn(reward, reward @ preference)
    np.testing.assert_allclose(estimator.estimate([3.0, -3.0, 0.0, 0.0]), preference, atol=0.03)


def test_learning_leaves_the_reward_untouched():
    reward = np.array([0.1, 0.9])
    HybridEstimator(n_objectives=2, feedback_weight=0.5, ridge=0.1).learn(reward, 1.0)
    assert reward.tolist() == [0.1, 0.9]


def test_anchor_matrix_has_two_eigenvalues():
    values = np.linalg.eigvalsh(anchor_matrix(6, 0.7, 0.2))
    np.testing.assert_allclose(values, [0.2, *[0.9] * 5], atol=1e-14)


def test_information_weighting_is_honest():
    """Where the model holds, utilities and an anchor by its information are off as they say (false-alarm rate 1e-6)."""
    rng = np.random.default_rng(7)
    n_objectives, runs = 4, 400
    scores = []
    for _ in range(runs):
        preference = rng.uniform(0.0, 1.0, n_objectives)
        rewards = rng.uniform(0.0, 1.0, (15, n_objectives))
        utilities = rewards @ preference + 0.3 * rng.normal(size=15)
        anchor = Likelihood(n_objectives=n_objectives, bound=20.0)
        anchor.fit(sample_rankings(preference, rounds=60, rng=rng).rankings())
        matrix = rewards.T @ rewards / 0.09 + anchor.information + 1e-6 * np.eye(n_objectives)
        pull = rewards.T @ utilities / 0.09 + anchor.information @ anchor.estimate
        gap = np.linalg.solve(matrix, pull) - preference
        scores.append(gap @ matrix @ gap / n_objectives)
    # A chi-square over its degrees of freedom: mean 1, standard error sqrt(2/(4 * 400)) = 0.035. With 60 rankings the
    # quadratic is not yet exact and adds up to 0.1.
    assert np.mean(scores) == pytest.approx(1.0, abs=0.3)


def test_a_matrix_that_is_not_positive_definite_is_refused():
    with pytest.raises(InvalidSetting, match="must be positive definite"):
        upper_root([[1.0, 2.0], [2.0, 1.0]])


def test_compact_radius_is_finite_and_never_negative():
    for rounds in (1.0, 2.0, 1e6):
        for corruption in (0.0, 0.3):
            for weight in (1e-6, 0.13, 0.99):
                radius = compact_radius(rounds, 0.0, 0.0, 2, weight, corruption)
                assert np.isfinite(radius)
                assert radius >= 0.0


def test_compact_radius_shrinks_with_queries():
    radii = [compact_radius(100.0, total, 3.0, 5, 0.1, 0.0) for total in (0.0, 1.0, 30.0, 3000.0)]
    assert radii[0] == radii[1] > radii[2] > radii[3]
    noise = 0.1 * np.sqrt(125.0 * np.log(0.1 * 5 * 100.0))
    assert radii[3] == pytest.approx(noise + 5.0 * np.sqrt(0.9 * np.log(100.0) / 3000.0))
