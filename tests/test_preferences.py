"""What rankings and utilities say together: the hybrid estimator, its radii, and the information-weighted estimate."""

from __future__ import annotations

import numpy as np
import pytest

from druthers import HybridEstimator, information_weighted
from druthers._jit import kernel
from druthers.anchors import Likelihood
from druthers.errors import DruthersError, InvalidFeedback, InvalidSetting
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
    learn_many(estimator._root, estimator._response, rewards, utilities, weight, repeats)

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


@pytest.mark.parametrize("feedback_weight", [0.0, 1.0, -0.1, np.nan])
def test_feedback_weight_must_lie_inside(feedback_weight):
    with pytest.raises(InvalidSetting, match="feedback_weight must lie between 0 and 1"):
        HybridEstimator(n_objectives=2, feedback_weight=feedback_weight, ridge=0.1)


@pytest.mark.parametrize("ridge", [0.0, -1.0, np.nan])
def test_ridge_must_be_positive(ridge):
    with pytest.raises(InvalidSetting, match="ridge must be positive"):
        HybridEstimator(n_objectives=2, feedback_weight=0.5, ridge=ridge)


@pytest.mark.parametrize("n_objectives", [0, -1])
def test_an_estimator_needs_an_objective(n_objectives):
    with pytest.raises(InvalidSetting, match="n_objectives must"):
        HybridEstimator(n_objectives=n_objectives, feedback_weight=0.5, ridge=0.1)


@pytest.mark.parametrize(
    ("reward", "utility"),
    [
        ([1.0], 1.0),
        ([1.0, 2.0, 3.0], 1.0),
        ([[1.0, 2.0]], 1.0),
        ([np.nan, 1.0], 1.0),
        ([np.inf, 1.0], 1.0),
        (["a", "b"], 1.0),
        ([1.0, 2.0], np.nan),
        ([1.0, 2.0], np.inf),
        ([1.0, 2.0], None),
        ([1.0, 2.0], "much"),
    ],
)
def test_refused_feedback_changes_nothing(reward, utility):
    estimator = HybridEstimator(n_objectives=2, feedback_weight=0.5, ridge=0.1)
    estimator.learn([0.5, 0.2], 1.0)
    gram, estimate = estimator.gram, estimator.estimate([0.0, 0.0])
    with pytest.raises(InvalidFeedback, match="must"):
        estimator.learn(reward, utility)
    np.testing.assert_array_equal(estimator.gram, gram)
    np.testing.assert_array_equal(estimator.estimate([0.0, 0.0]), estimate)


@pytest.mark.parametrize("anchor", [[1.0], [np.nan, 0.0], [[1.0, -1.0]]])
def test_an_anchor_must_fit(anchor):
    with pytest.raises(InvalidFeedback, match="an anchor must hold 2 finite numbers"):
        HybridEstimator(n_objectives=2, feedback_weight=0.5, ridge=0.1).estimate(anchor)


def drawn(seed, n_objectives):
    """Return a gram matrix and response of utilities, and an anchor with the information of real rankings."""
    rng = np.random.default_rng(seed)
    rewards = rng.uniform(0.0, 5.0, (30, n_objectives))
    preference = rng.uniform(0.0, 2.0, n_objectives)
    precisions = 1.0 / (0.5 * (rewards**2).sum(axis=1))
    utilities = rewards @ preference + rng.normal(size=30) / np.sqrt(precisions)
    gram = (rewards * precisions[:, None]).T @ rewards
    anchor = Likelihood(n_objectives=n_objectives)
    anchor.fit(sample_rankings(preference, rounds=20, rng=rng).rankings())
    return gram, rewards.T @ (precisions * utilities), anchor.estimate, anchor.information


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("ridge", [1e-6, 0.5])
def test_information_weighting_is_its_direct_formula(seed, ridge):
    n_objectives = 2 + seed
    gram, response, anchor, information = drawn(seed, n_objectives)
    belief = information_weighted(gram, response, anchor, information, ridge=ridge)
    matrix = gram + information + ridge * np.eye(n_objectives)
    np.testing.assert_allclose(
        belief.weights, np.linalg.inv(matrix) @ (response + information @ anchor), rtol=1e-8, atol=1e-9
    )
    np.testing.assert_allclose(belief.covariance, np.linalg.inv(matrix), rtol=1e-7, atol=1e-10)


def test_information_weighting_minimizes_the_sum_of_both_losses():
    gram, response, anchor, information = drawn(3, 4)
    belief = information_weighted(gram, response, anchor, information, ridge=0.01)
    slope = gram @ belief.weights - response + information @ (belief.weights - anchor) + 0.01 * belief.weights
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)


def test_without_information_the_regression_stands_alone():
    gram, response, anchor, _ = drawn(4, 5)
    belief = information_weighted(gram, response, anchor, np.zeros((5, 5)), ridge=1e-12)
    np.testing.assert_allclose(belief.weights, np.linalg.solve(gram, response), rtol=1e-6)


def test_with_endless_information_only_the_constant_is_left_to_the_regression():
    gram, response, anchor, information = drawn(5, 5)
    belief = information_weighted(gram, response, anchor, 1e9 * information, ridge=1e-12)
    weights = belief.weights
    np.testing.assert_allclose(weights - weights.mean(), anchor, atol=1e-5)
    # Along the constant rankings say nothing: it is the best shift for the utilities, given the anchor.
    ones = np.ones(5)
    assert weights.mean() == pytest.approx(ones @ (response - gram @ anchor) / (ones @ gram @ ones), rel=1e-4)


def test_with_endless_information_everywhere_the_anchor_stands_alone():
    gram, response, anchor, _ = drawn(6, 4)
    belief = information_weighted(gram, response, anchor, 1e12 * np.eye(4))
    np.testing.assert_allclose(belief.weights, anchor, atol=1e-9)
    np.testing.assert_allclose(belief.covariance, 1e-12 * np.eye(4), atol=1e-18)


def test_nothing_known_is_zero_with_the_covariance_of_the_prior():
    belief = information_weighted(np.zeros((3, 3)), np.zeros(3), np.zeros(3), np.zeros((3, 3)), ridge=0.25)
    np.testing.assert_array_equal(belief.weights, np.zeros(3))
    np.testing.assert_allclose(belief.covariance, 4.0 * np.eye(3))


def test_information_weighting_is_honest():
    """Where its model holds, its own covariance describes its error (false-alarm rate below 1e-6)."""
    rng = np.random.default_rng(7)
    n_objectives, runs = 4, 400
    scores = []
    for _ in range(runs):
        preference = rng.uniform(0.0, 1.0, n_objectives)
        rewards = rng.uniform(0.0, 1.0, (15, n_objectives))
        utilities = rewards @ preference + 0.3 * rng.normal(size=15)
        anchor = Likelihood(n_objectives=n_objectives, bound=20.0)
        anchor.fit(sample_rankings(preference, rounds=60, rng=rng).rankings())
        belief = information_weighted(
            rewards.T @ rewards / 0.09, rewards.T @ utilities / 0.09, anchor.estimate, anchor.information
        )
        gap = belief.weights - preference
        scores.append(gap @ np.linalg.solve(belief.covariance, gap) / n_objectives)
    # A chi-square over its degrees of freedom: mean 1, standard error sqrt(2/(4 * 400)) = 0.035. With 60 rankings the
    # quadratic is not yet exact and adds up to 0.1.
    assert np.mean(scores) == pytest.approx(1.0, abs=0.3)


def test_inputs_of_information_weighting_stay_untouched():
    arguments = drawn(8, 3)
    copies = [array.copy() for array in arguments]
    information_weighted(*arguments)
    for array, copy in zip(arguments, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_a_matrix_that_is_not_positive_definite_is_refused():
    with pytest.raises(InvalidSetting, match="must be positive definite"):
        information_weighted(np.zeros((2, 2)), [1.0, 1.0], [0.0, 0.0], np.zeros((2, 2)), ridge=0.0)
    with pytest.raises(InvalidSetting, match="must be positive definite"):
        upper_root([[1.0, 2.0], [2.0, 1.0]])


@pytest.mark.parametrize(
    ("gram", "response", "anchor", "information"),
    [
        (np.eye(2), [1.0, 1.0, 1.0], [0.0, 0.0], np.eye(2)),
        (np.eye(2), [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]),
        (np.eye(2), [1.0, 1.0], [0.0, 0.0], 1.0),
        (np.eye(3), [1.0, 1.0], [0.0, 0.0], np.eye(2)),
        (np.eye(2), [1.0, np.nan], [0.0, 0.0], np.eye(2)),
        (np.eye(2), [1.0, 1.0], [0.0, np.inf], np.eye(2)),
    ],
    ids=["response", "flat information", "number", "gram", "response not a number", "anchor infinite"],
)
def test_information_weighting_refuses_what_does_not_fit(gram, response, anchor, information):
    with pytest.raises(DruthersError, match="must"):
        information_weighted(gram, response, anchor, information)


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
