"""One test for each equation and claim of the paper that druthers relies on, or departs from.

docs/paper-notes.md says what the paper prints, what we chose and why, and names the test that holds it.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
from hybrid import HybridEstimator
from scipy import stats

import druthers as dr
from druthers.anchors import GroupLasso, Likelihood
from druthers.preferences import anchor_matrix, compact_radius, corrupted_radius, hybrid_radius
from druthers.rankings import gradient, hessian, log_likelihood
from druthers.sampling import sample_rankings
from druthers.testing import same_state

E2 = math.e**2


def all_rankings(n_objectives, length):
    return itertools.permutations(range(n_objectives), length)


def chance(ranking, preference):
    return math.exp(log_likelihood(ranking, preference))


def centered(values):
    array = np.asarray(values, dtype=float)
    return array - array.mean()


class Round(NamedTuple):
    user: int
    ranking: np.ndarray
    arm: int
    reward: np.ndarray
    utility: float


def play(policy, *, seed=0, rounds=60, n_users=2, n_arms=4, lengths=(1, 2, 3), corruption=0.0):
    """Let a policy play a small random world; return all that it was told."""
    rng = np.random.default_rng(seed)
    size = policy.n_objectives
    means, preferences = rng.uniform(0.0, 1.0, (n_arms, size)), rng.uniform(0.0, 2.0, (n_users, size))
    users = rng.integers(n_users, size=rounds)
    sample = sample_rankings(preferences[users], length=rng.choice(lengths, rounds), rng=rng, corruption=corruption)
    told = []
    for t, ranking in enumerate(sample.rankings()):
        user = int(users[t])
        policy.hear(user, ranking)
        arm = policy.choose(user, range(n_arms)).arm
        reward = means[arm] + 0.2 * rng.normal(size=size)
        utility = float((preferences[user] + 0.3 * rng.normal(size=size)) @ reward)
        policy.learn(user, arm, reward, utility)
        told.append(Round(user, ranking, arm, reward, utility))
    return told


def seen_arms(told, n_arms, size):
    """Return how often each arm was pulled and its mean reward (Eq. 6 and 7)."""
    pulls, sums = np.zeros(n_arms), np.zeros((n_arms, size))
    for step in told:
        pulls[step.arm] += 1
        sums[step.arm] += step.reward
    return pulls, sums / np.maximum(pulls, 1)[:, None]


def inverse_norms(points, gram):
    """Return |x| in the norm of the inverse of `gram` for each row x."""
    return np.sqrt(np.einsum("ij,ij->i", points, np.linalg.solve(gram, points.T).T))


def shifted_identity(size, ridge):
    """Return U + lambda I as Algorithm 1 prints it."""
    return (ridge + 1.0) * np.eye(size) - np.ones((size, size)) / size


# Section 3: the model of queries


@pytest.mark.parametrize("n_objectives", [1, 2, 3, 5])
@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0, 1000.0])
def test_eq_2_chances_of_all_rankings_sum_to_one(n_objectives, scale):
    preference = scale * np.random.default_rng(1).normal(size=n_objectives)
    for length in range(1, n_objectives + 1):
        total = sum(chance(ranking, preference) for ranking in all_rankings(n_objectives, length))
        assert total == pytest.approx(1.0, abs=1e-12)


def test_eq_2_is_a_product_of_choices_among_what_is_left():
    rng = np.random.default_rng(2)
    for _ in range(50):
        size = int(rng.integers(1, 8))
        preference = 2.0 * rng.normal(size=size)
        ranking = rng.permutation(size)[: rng.integers(1, size + 1)].tolist()
        product = 1.0
        for place, objective in enumerate(ranking):
            left = [k for k in range(size) if k not in ranking[:place]]
            product *= np.exp(preference[objective]) / np.exp(preference[left]).sum()
        assert chance(ranking, preference) == pytest.approx(product, rel=1e-12)


def test_eq_2_the_last_place_says_nothing():
    preference = np.array([0.3, -1.0, 2.0])
    for ranking in all_rankings(3, 3):
        assert log_likelihood(ranking, preference) == pytest.approx(log_likelihood(ranking[:2], preference), abs=1e-14)
        np.testing.assert_allclose(hessian(ranking, preference), hessian(ranking[:2], preference), atol=1e-14)


def test_eq_2_is_blind_to_a_shift():
    rng = np.random.default_rng(3)
    for _ in range(50):
        size = int(rng.integers(2, 10))
        preference, shift = rng.normal(size=size), 10.0 * rng.normal()
        ranking = rng.permutation(size)[: rng.integers(1, size + 1)]
        shifted = preference + shift
        assert log_likelihood(ranking, shifted) == pytest.approx(log_likelihood(ranking, preference), rel=1e-11)
        assert gradient(ranking, preference).sum() == pytest.approx(0.0, abs=1e-13)
        np.testing.assert_allclose(hessian(ranking, preference) @ np.ones(size), 0.0, atol=1e-13)


# Section 4: what rankings tell


def slope_of(rankings, preference):
    return -sum(gradient(ranking, preference) for ranking in rankings)


@pytest.mark.parametrize("seed", range(12))
def test_eq_4_the_anchor_is_optimal_within_the_bound(seed):
    """Some multiplier of the zero sum makes the gradient vanish inside the bound and point outward on it."""
    rng = np.random.default_rng(seed)
    size, bound = int(rng.integers(2, 9)), float(rng.choice([0.2, 1.0, 5.0]))
    rankings = sample_rankings(
        rng.uniform(0.0, 4.0, size), length=rng.integers(1, size + 1, 25), rounds=25, rng=rng
    ).rankings()
    estimate = Likelihood(bound=bound, n_objectives=size).fit(rankings).estimate
    slope = slope_of(rankings, estimate)
    assert estimate.sum() == pytest.approx(0.0, abs=1e-9)
    assert np.abs(estimate).max() <= bound + 1e-12
    # The slope at every weight that can still rise is at least that at every one that can still fall.
    can_rise, can_fall = estimate < bound - 1e-7, estimate > -bound + 1e-7
    assert slope[can_fall].max() - slope[can_rise].min() <= 1e-6


def test_eq_4_centers_by_the_mean_and_not_by_the_norm():
    """The paper subtracts |c|_1 / D, which is the mean only of a preference without negative weights."""
    preference = np.array([1.2, -2.0, 0.3, -0.5])
    assert centered(preference).sum() == pytest.approx(0.0)
    assert (preference - np.abs(preference).sum() / 4).sum() == pytest.approx(-5.0)
    rankings = sample_rankings(preference, rounds=4000, rng=np.random.default_rng(4)).rankings()
    np.testing.assert_allclose(Likelihood(n_objectives=4).fit(rankings).estimate, centered(preference), atol=0.15)


def test_lemma_1_error_falls_with_the_root_of_rankings_times_length():
    """The error is (D - 1) / sqrt(m t) for a nearly flat preference (false-alarm rate below 1e-3)."""
    rng = np.random.default_rng(5)
    size, repeats = 10, 12
    preference = centered(rng.uniform(-0.5, 0.5, size))
    table = []
    for length in (1, 2, 4, 8):
        for rounds in (100, 400, 1600):
            squares = []
            for _ in range(repeats):
                rankings = sample_rankings(preference, length=length, rounds=rounds, rng=rng).rankings()
                estimate = Likelihood(n_objectives=size).fit(rankings).estimate
                squares.append(((estimate - preference) ** 2).sum())
            table.append((length, rounds, math.sqrt(np.mean(squares))))
    lengths, rounds, errors = np.array(table).T
    design = np.column_stack([np.ones(len(table)), np.log(lengths), np.log(rounds)])
    _, by_length, by_rounds = np.linalg.lstsq(design, np.log(errors))[0]
    assert by_length == pytest.approx(-0.5, abs=0.12)
    assert by_rounds == pytest.approx(-0.5, abs=0.08)
    constants = errors * np.sqrt(lengths * rounds) / (size - 1)
    assert constants.min() > 0.8
    assert constants.max() < 1.5


def test_lemma_1_its_condition_is_what_its_proof_needs():
    """C_0 log(T / rho) rankings make the second term of the proof half the first; sqrt(T log T) asks for far more."""
    for bound, size in ((0.5, 3), (1.0, 20), (5.0, 20)):
        factor = 2.0 * math.exp(2.0 * bound) + 1.0
        constant = 2.0 * size * (16.0 * math.exp(2.0 * bound) + 8.0) ** 2
        log = math.log(2000 / 0.05)
        eigenvalue = constant * log / size  # xi_2 at mean length 1
        assert eigenvalue / factor - 4.0 * math.sqrt(2.0 * eigenvalue * log) == pytest.approx(eigenvalue / (2 * factor))
        horizon = 100.0 * constant * log
        assert 8.0 * factor * math.sqrt(2.0 * size * horizon * log) > constant * log
    assert 2.0 * 20 * (16.0 * math.exp(10.0) + 8.0) ** 2 > 4.9e12


@pytest.mark.parametrize("length", [1, 3, 6])
def test_lemma_6_information_grows_with_the_places(length):
    rng = np.random.default_rng(6)
    size, bound, rounds = 6, 0.3, 300
    preference = centered(rng.uniform(0.0, bound, size))
    rankings = sample_rankings(preference, length=length, rounds=rounds, rng=rng).rankings()
    floor = rounds * length / (size * (4.0 * math.exp(4.0 * bound) + 2.0 * math.exp(2.0 * bound)))
    for _ in range(5):
        point = centered(rng.uniform(-bound, bound, size))
        information = -sum(hessian(ranking, point) for ranking in rankings)
        assert np.linalg.eigvalsh(information)[1] >= floor


def test_lemma_6_its_sum_over_places_is_right_only_for_full_rankings():
    """The bound m / (2 exp(2B) + 1) holds for every m all the same."""
    preference = np.array([1.0, -1.0, 0.5, -0.5])
    odds = np.exp(preference)
    first, second = 0, 2
    printed = 1.0 + sum(odds[k] / (odds[k] + odds[first] + odds[second]) for k in (1, 3))
    exact = {
        length: sum(
            chance(order, preference) * min(length, 1 + min(order.index(first), order.index(second)))
            for order in all_rankings(4, 4)
        )
        for length in range(1, 5)
    }
    assert exact[4] == pytest.approx(printed)
    assert exact[1] == pytest.approx(1.0)
    assert exact[2] < printed - 0.01
    for length, value in exact.items():
        assert value >= length / (2.0 * math.exp(2.0) + 1.0)


def test_lemma_7_gradient_at_the_truth():
    """It stays below its bound (chance of one failure here below 1e-3), in fact below sqrt(2 m t) on average."""
    rng = np.random.default_rng(7)
    preference = rng.uniform(0.0, 3.0, 8)
    squares = []
    for _ in range(100):
        rankings = sample_rankings(preference, length=5, rounds=60, rng=rng).rankings()
        squares.append((slope_of(rankings, preference) ** 2).sum())
    assert max(squares) <= 16.0 * 5 * 60 * math.log(60 / 0.05)
    assert np.mean(squares) <= 2.0 * 5 * 60


TOY_REWARDS = np.array([[0.0, 1.0], [0.7, 0.7]])
TOY_PREFERENCES = np.array([[0.1, 0.3], [0.4, 0.6]])


def toy_regrets(build, preference, rewards, *, rounds=4000, utilities=True, seed=0):
    """Return the regret in the first and in the second half of the rounds; rewards and preference are fixed."""
    policy, rng = build(), np.random.default_rng(seed)
    values = rewards @ preference
    lost = np.empty(rounds)
    for t, ranking in enumerate(sample_rankings(preference, rounds=rounds, rng=rng).rankings()):
        policy.hear("ada", ranking)
        arm = policy.choose("ada", range(len(rewards))).arm
        policy.learn("ada", arm, rewards[arm], values[arm] if utilities else None)
        lost[t] = values.max() - values[arm]
    return lost[: rounds // 2].sum(), lost[rounds // 2 :].sum()


def test_theorem_1_the_gaps_of_its_instance():
    gaps = np.ptp(TOY_REWARDS @ TOY_PREFERENCES.T, axis=0)
    np.testing.assert_allclose(gaps, [0.02, 0.1])
    np.testing.assert_array_equal(np.argmax(TOY_REWARDS @ TOY_PREFERENCES.T, axis=0), [0, 1])
    np.testing.assert_allclose(TOY_PREFERENCES[1] - TOY_PREFERENCES[0], 0.3)


@pytest.mark.parametrize("way", ["tiny feedback_weight", "no utilities"])
def test_theorem_1_rankings_alone_cost_linear_regret(way):
    """Of two preferences that rankings cannot tell apart, one is served badly forever."""
    weight = 1e-9 if way == "tiny feedback_weight" else None
    build = functools.partial(dr.MOPQUCB, n_objectives=2, horizon=4000, feedback_weight=weight)
    halves = [
        toy_regrets(build, preference, TOY_REWARDS, utilities=way != "no utilities") for preference in TOY_PREFERENCES
    ]
    # 2,000 rounds at the gap of 0.1, or of 0.02: the same choices for both, and each is wrong for one of them.
    shares = np.array([second / (2000 * gap) for (_, second), gap in zip(halves, (0.02, 0.1), strict=True)])
    assert shares.sum() > 0.95


def test_theorem_1_utilities_repair_it():
    """The worse arm is chosen ever more rarely, whichever preference is the true one, though a gap of 0.02 is small."""
    build = functools.partial(dr.MOPQUCB, n_objectives=2, horizon=20_000)
    for preference, gap in zip(TOY_PREFERENCES, (0.02, 0.1), strict=True):
        first, second = toy_regrets(build, preference, TOY_REWARDS, rounds=20_000)
        assert second < 0.8 * first
        assert second < 0.3 * 10_000 * gap


def test_theorem_1_needs_arms_of_different_sums():
    """Two Pareto-optimal arms of equal sum: no shift of the preference changes the best, so rankings are enough."""
    rewards = np.array([[0.2, 0.8], [0.7, 0.3]])
    build = functools.partial(dr.MOPQUCB, n_objectives=2, horizon=4000)
    for preference in np.array([[0.1, 0.9], [0.9, 0.1], [1.8, 1.0]]):
        _, second = toy_regrets(build, preference, rewards, utilities=False)
        assert second < 0.05 * 2000 * np.ptp(rewards @ preference)


# Section 5: MO-PQUCB


def random_states(count):
    """Yield settings, feedback and a centered anchor."""
    rng = np.random.default_rng(8)
    for _ in range(count):
        size, n_rewards = int(rng.integers(1, 9)), int(rng.integers(0, 12))
        settings = {"feedback_weight": float(rng.uniform(0.01, 0.99)), "ridge": float(10.0 ** rng.uniform(-3, 1))}
        rewards, utilities = 2.0 * rng.normal(size=(n_rewards, size)), rng.normal(size=n_rewards)
        yield size, settings, rewards, utilities, rng.normal(size=size)


def test_eq_5_is_the_minimizer_of_its_objective():
    for size, settings, rewards, utilities, point in random_states(200):
        weight, anchor = settings["feedback_weight"], centered(point)
        estimator = HybridEstimator(n_objectives=size, **settings)
        for reward, utility in zip(rewards, utilities, strict=True):
            estimator.learn(reward, utility)
        estimate = estimator.estimate(anchor)
        pull = shifted_identity(size, settings["ridge"])
        slope = 2.0 * weight * rewards.T @ (rewards @ estimate - utilities)
        slope += 2.0 * (1.0 - weight) * pull @ (estimate - anchor)
        np.testing.assert_allclose(slope, 0.0, atol=1e-9 * (1.0 + np.abs(rewards).sum() ** 2))
        gram = weight * rewards.T @ rewards + (1.0 - weight) * pull
        np.testing.assert_allclose(estimator.gram, gram, atol=1e-10 * (1.0 + np.abs(gram).max()))


def test_eq_5_its_matrix_is_blind_to_shifts_up_to_the_ridge():
    for size in (2, 6):
        np.testing.assert_allclose(anchor_matrix(size, 1.0, 0.0) @ np.ones(size), 0.0, atol=1e-15)
        np.testing.assert_allclose(anchor_matrix(size, 1.0, 0.3), shifted_identity(size, 0.3), atol=1e-15)
        np.testing.assert_allclose(anchor_matrix(size, 1.0, 0.3) @ np.ones(size), 0.3, atol=1e-15)


def test_eq_5_shifts_of_the_anchor_count_only_by_the_ridge():
    """An anchor that is not centered pulls by U + lambda I like any other, so its mean pulls by lambda alone."""
    for size, settings, rewards, utilities, anchor in random_states(50):
        weight = settings["feedback_weight"]
        estimator = HybridEstimator(n_objectives=size, **settings)
        for reward, utility in zip(rewards, utilities, strict=True):
            estimator.learn(reward, utility)
        pulled = (1.0 - weight) * shifted_identity(size, settings["ridge"]) @ anchor
        expected = np.linalg.solve(estimator.gram, weight * rewards.T @ utilities + pulled)
        np.testing.assert_allclose(estimator.estimate(anchor), expected, rtol=1e-6, atol=1e-6)


def test_eq_5_shrinks_the_shift_toward_zero():
    """The paper calls the shift unconstrained; lambda pulls it to zero until feedback has outweighed it."""
    estimator = HybridEstimator(n_objectives=2, feedback_weight=0.5, ridge=0.5)
    shifts = []
    for _ in range(3):
        estimator.learn([1.0, 1.0], 4.0)
        shifts.append(estimator.estimate([0.0, 0.0]).mean())
    np.testing.assert_allclose(shifts, [2.0 * n / (n + 0.25) for n in (1, 2, 3)])


def expected_preference(told, user, size, weight, ridge, anchor):
    """Return V and the estimate of Eq. 5 for a user, from scratch."""
    mine = [step for step in told if step.user == user]
    for step in mine:
        anchor.hear(step.ranking)
    gram = (1.0 - weight) * shifted_identity(size, ridge)
    response = gram @ anchor.estimate
    for step in mine:
        gram = gram + weight * np.outer(step.reward, step.reward)
        response = response + weight * step.utility * step.reward
    return gram, np.linalg.solve(gram, response), mine


def test_algorithm_1_updates_v_and_the_estimate():
    policy = dr.MOPQUCB(n_objectives=3, horizon=500)
    told = play(policy)
    weight = 1.0 / math.log(500)
    for user in (0, 1):
        gram, estimate, _ = expected_preference(told, user, 3, weight, weight, Likelihood(n_objectives=3))
        belief = policy.preference(user)
        np.testing.assert_allclose(belief.weights, estimate, atol=1e-9)
        np.testing.assert_allclose(np.linalg.inv(belief.covariance), gram, rtol=1e-9, atol=1e-9)


def test_algorithm_1_starts_from_the_matrix_of_the_anchor():
    """V_1, not V_0, is (1 - alpha)(U + lambda I): nothing has been learned when the first arm is chosen."""
    policy = dr.MOPQUCB(n_objectives=4, feedback_weight=0.3, ridge=0.2)
    belief = policy.preference("nobody yet")
    np.testing.assert_allclose(np.linalg.inv(belief.covariance), 0.7 * shifted_identity(4, 0.2), atol=1e-12)
    np.testing.assert_array_equal(belief.weights, np.zeros(4))


def test_algorithm_1_counts_a_repeated_ranking_again():
    """The printed union of sets would lose it."""
    once, twice = Likelihood(n_objectives=3), Likelihood(n_objectives=3)
    rankings = [(0, 1, 2), (1, 0, 2), (2, 0, 1), (0, 2, 1)]
    once.fit(rankings)
    twice.fit(rankings * 2)
    np.testing.assert_allclose(twice.information, 2.0 * once.information, atol=1e-7)
    assert twice.queries == 2 * once.queries


def test_eq_6_and_7_arms_are_shared_by_all_users():
    policy = dr.MOPQUCB(n_objectives=3)
    told = play(policy, rounds=80)
    pulls, means = seen_arms(told, 4, 3)
    state = policy.state()
    np.testing.assert_allclose(state["arm.pulls"][1:], np.repeat(pulls[:, None], 3, axis=1))
    np.testing.assert_allclose(state["arm.means"][1:], means, atol=1e-12)
    assert len({step.user for step in told if step.arm == told[0].arm}) == 2


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"risk": 0.2, "reward_scale": 2.5, "radius_scale": 0.4},
        {"corruption": 0.2},
        {"feedback_weight": 0.4, "ridge": 0.7, "corruption": 0.1},
    ],
    ids=["defaults", "scales", "corruption", "weights"],
)
def test_eq_8_score_is_the_sum_of_the_printed_parts(settings):
    policy = dr.MOPQUCB(n_objectives=3, horizon=500, **settings)
    told = play(policy)
    base = settings.get("corruption", 0.0) + 1.0 / math.log(500)
    weight, ridge = settings.get("feedback_weight", base), settings.get("ridge", base)
    pulls, means = seen_arms(told, 5, 3)  # the fifth arm is new
    for user in (0, 1):
        gram, estimate, mine = expected_preference(told, user, 3, weight, ridge, Likelihood(n_objectives=3))
        t = len(mine) + 1
        noise = weight * math.sqrt(27.0 * max(math.log(3 * weight * t), 0.0))
        if "corruption" in settings:
            shortest = min(len(step.ranking) for step in mine)
            share = (settings["corruption"] + 3.0 * math.log(t) / t) / shortest
        else:
            share = math.log(t) / sum(len(step.ranking) for step in mine)
        radius = settings.get("radius_scale", 1.0) * (noise + 3.0 * math.sqrt((1.0 - weight) * share))
        widths = np.sqrt(math.log((len(told) + 1) / settings.get("risk", 0.05)) / np.maximum(pulls, 1.0))
        widths *= settings.get("reward_scale", 1.0)
        utilities, reward_bonuses = means @ estimate, widths * np.abs(estimate).sum()
        preference_bonuses = radius * inverse_norms(means + widths[:, None], gram)
        expected = [utilities, reward_bonuses, preference_bonuses, utilities + reward_bonuses + preference_bonuses]
        decision = policy.choose(user, range(5))
        np.testing.assert_allclose(decision.reasons, expected, rtol=1e-7, atol=1e-9)
        assert decision.arm == np.argmax(expected[3])


def test_eq_8_ties_go_to_the_arm_offered_first():
    policy = dr.MOPQUCB(n_objectives=2)
    decision = policy.choose("ada", ["spa", "inn", "loft"])
    assert np.ptp(decision.reasons[3]) == 0.0
    assert decision.arm == "spa"
    assert policy.choose("ada", ["loft", "spa"]).arm == "loft"


def test_algorithm_1_widths_follow_lemma_3_from_the_first_round_on():
    """Algorithm 1 starts with width zero and then runs one round late; Lemma 3's formula has neither."""
    policy = dr.MOPQUCB(n_objectives=2, risk=0.1, feedback_weight=0.5)
    policy.add_arms(["inn", "spa"])
    policy.hear("ada", (0,))
    weights = np.abs(policy.preference("ada").weights).sum()
    first = policy.choose("ada").reward_bonus
    assert first == pytest.approx(math.sqrt(math.log(1 / 0.1)) * weights)
    policy.learn("bob", "spa", [0.5, 0.5], 1.0)
    bonuses = policy.choose("ada").reasons[1]
    np.testing.assert_allclose(bonuses, math.sqrt(math.log(2 / 0.1)) * weights)  # N = 0 and N = 1 are alike
    policy.learn("bob", "spa", [0.5, 0.5], 1.0)
    np.testing.assert_allclose(
        policy.choose("ada").reasons[1], weights * np.sqrt(math.log(3 / 0.1) / np.array([1.0, 2.0]))
    )


def test_algorithm_1_an_unseen_arm_is_optimistic_only_up_to_the_reward_scale():
    """Its mean counts as zero, its width as sqrt(ln(t/rho)) scales: with ratings of 4 and scale 1 it is not tried."""
    for scale, tried in ((1.0, 1), (5.0, 2)):
        policy = dr.MOPQUCB(n_objectives=2, reward_scale=scale, horizon=500)
        for t in range(500):
            policy.hear("ada", (t % 2, 1 - t % 2))
            arm = policy.choose("ada", ["good", "better"]).arm
            rating = 4.0 if arm == "good" else 4.5
            policy.learn("ada", arm, [rating, rating], 2 * rating)
        assert np.count_nonzero(policy.state()["arm.pulls"][:, 0]) == tried


def test_algorithm_1_rounds_count_rewards_and_pulls_count_objectives():
    """Where feedback is partial, each objective has its own mean, width and count."""
    policy = dr.MOPQUCB(n_objectives=2, risk=0.1, feedback_weight=0.5, radius_scale=0.0)
    policy.add_arms(["inn"])
    policy.hear("ada", (0, 1))
    policy.learn("ada", "inn", [0.8, math.nan])
    policy.learn("ada", "inn", [0.6, 0.4])
    policy.learn("ada", "inn", utility=0.9)  # no reward: t stays
    estimate = policy.preference("ada").weights
    decision = policy.choose("ada")
    assert decision.utility == pytest.approx(estimate @ [0.7, 0.4])
    widths = np.sqrt(math.log(3 / 0.1) / np.array([2.0, 1.0]))
    assert decision.reward_bonus == pytest.approx(np.abs(estimate) @ widths)


def test_eq_5_a_utility_without_its_reward_uses_the_means():
    policy = dr.MOPQUCB(n_objectives=2, feedback_weight=0.5, ridge=0.1)
    policy.add_arms(["inn", "spa"])
    policy.learn("bob", "inn", [0.2, 0.6])
    policy.learn("bob", "inn", [0.4, 1.0])
    policy.learn("ada", "inn", utility=0.9)
    policy.learn("ada", "inn", [0.9, math.nan], 1.1)  # the second objective's mean, 0.8, fills the gap
    # Nothing is known of spa: it is taken for one like inn, give or take as much, and counts 1/(1 + 11) times.
    policy.learn("ada", "spa", utility=5.0)
    filled = np.array([[0.3, 0.8], [0.9, 0.8], np.array([0.5, 0.8]) / math.sqrt(12)])
    gram = 0.5 * shifted_identity(2, 0.1) + 0.5 * filled.T @ filled
    expected = np.linalg.solve(gram, 0.5 * filled.T @ [0.9, 1.1, 5.0 / math.sqrt(12)])
    np.testing.assert_allclose(policy.preference("ada").weights, expected, rtol=1e-10)


def printed_noise(t, size, alpha, lam, bound, rho):
    growth = size * (math.log1p(alpha * size * (t - 1) * (lam + 1)) - math.log(rho))
    return alpha * bound * size / 2 * math.sqrt(growth + math.log((1 + lam) / lam) - math.log(rho))


RADIUS_CASES = [(1, 2, 0.3, 0.5, 1.0, 0.05), (50, 5, 0.13, 0.13, 0.5, 0.1), (2000, 20, 0.13, 0.01, 5.0, 0.01)]


@pytest.mark.parametrize(("t", "size", "alpha", "lam", "bound", "rho"), RADIUS_CASES)
def test_lemma_2_radius_has_the_printed_constants(t, size, alpha, lam, bound, rho):
    length = 1.7
    constant = 16 * math.exp(2 * bound) * (2 * math.exp(2 * bound) + 1) * size
    expected = (
        constant * math.sqrt(1 - alpha) * math.sqrt(math.log(t / rho) / (length * t))
        + bound * math.sqrt(2 * lam) * math.sqrt(1 - alpha)
        + printed_noise(t, size, alpha, lam, bound, rho)
    )
    radius = hybrid_radius(
        t, n_objectives=size, feedback_weight=alpha, ridge=lam, bound=bound, risk=rho, mean_length=length
    )
    assert radius == pytest.approx(expected, rel=1e-12)
    if bound == 5.0:
        assert radius > 1e10


@pytest.mark.parametrize(("t", "size", "alpha", "lam", "bound", "rho"), RADIUS_CASES)
def test_lemma_5_radius_has_the_printed_constants(t, size, alpha, lam, bound, rho):
    corruption, penalty, shortest = 0.2, 3.0, 2
    log = math.log(t / rho)
    inner = penalty**2 * (corruption + 2 * math.sqrt(corruption * log / t)) + 4 * size * log / t
    anchor = size * (8 * math.exp(4 * bound) + 4 * math.exp(2 * bound)) * math.sqrt(inner / shortest)
    expected = printed_noise(t, size, alpha, lam, bound, rho)
    expected += math.sqrt(1 - alpha) * (anchor + bound * math.sqrt(2 * lam))
    radius = corrupted_radius(
        t,
        n_objectives=size,
        feedback_weight=alpha,
        ridge=lam,
        bound=bound,
        risk=rho,
        min_length=shortest,
        corruption=corruption,
        penalty=penalty,
    )
    assert radius == pytest.approx(expected, rel=1e-12)


def test_lemma_2_compact_radius_clips_its_logarithm():
    """log(alpha D t) is negative in the first rounds, and log t is zero in the very first."""
    assert 0.1 * 2 * 4 < 1.0
    assert compact_radius(1.0, 5.0, 1.0, 2, 0.1, 0.0) == 0.0
    assert compact_radius(4.0, 5.0, 1.0, 2, 0.1, 0.0) == pytest.approx(2.0 * math.sqrt(0.9 * math.log(4.0) / 5.0))


def test_lemma_5_compact_radius_does_not_end_in_that_of_lemma_2():
    """With corruption going to zero it stays sqrt(D) above it: D log t / t for log t / t."""
    size, t, length = 5, 100.0, 3.0
    noise = 0.1 * math.sqrt(size**3 * math.log(0.1 * size * t))
    clean = compact_radius(t, length * t, length, size, 0.1, 0.0) - noise
    limit = compact_radius(t, length * t, length, size, 0.1, 1e-15) - noise
    assert limit == pytest.approx(math.sqrt(size) * clean, rel=1e-6)


def test_lemma_2_noise_needs_the_root_of_alpha():
    """With exact anchors the printed radius fails far more often than rho; with sqrt(alpha) it holds.

    Rewards are all one and preferences plus or minus one half in both objectives: range B = 1, mean zero, so that
    neither the anchor nor the shift errs. The share of failures is about 0.83; below 0.5 has chance under 1e-9.
    """
    alpha, lam, rho, rounds, draws = 1e-3, 1e-6, 0.05, 5000, 200
    settings = {"n_objectives": 2, "feedback_weight": alpha, "ridge": lam}
    radius = hybrid_radius(rounds + 1, bound=1.0, risk=rho, mean_length=math.inf, **settings)
    shift = math.sqrt(2 * (1 - alpha) * lam)
    repaired = shift + (radius - shift) / math.sqrt(alpha)
    sums = 2.0 * np.random.default_rng(9).binomial(rounds, 0.5, draws) - rounds
    errors = []
    for total in sums:
        estimator = HybridEstimator(**settings)
        # All rewards being equal, the rounds are one observation of the mean utility with their number as weight.
        estimator.learn(math.sqrt(rounds) * np.ones(2), total / math.sqrt(rounds))
        estimate = estimator.estimate(np.zeros(2))
        errors.append(math.sqrt(estimate @ estimator.gram @ estimate))
    assert np.mean(np.array(errors) > radius) > 0.5
    assert np.mean(np.array(errors) > repaired) <= rho


def test_lemma_2_shift_needs_the_root_of_d():
    """With an exact anchor and no feedback the error is B sqrt((1 - alpha) lambda D), above the printed term."""
    size, alpha, lam, bound = 20, 0.13, 0.13, 5.0
    estimator = HybridEstimator(n_objectives=size, feedback_weight=alpha, ridge=lam)
    preference = np.full(size, bound)
    gap = estimator.estimate(centered(preference)) - preference
    error = math.sqrt(gap @ estimator.gram @ gap)
    assert error == pytest.approx(bound * math.sqrt((1 - alpha) * lam * size))
    assert error > 3.0 * bound * math.sqrt(2 * (1 - alpha) * lam)


def test_lemma_2_error_of_the_anchor_splits_exactly():
    """|anchor - c|^2 in U + lambda I is (1 + lambda)|anchor - c0|^2 + lambda D mean^2; the proof's step is not so."""
    rng = np.random.default_rng(10)
    for _ in range(20):
        preference, anchor, lam = rng.uniform(0.0, 2.0, 6), centered(rng.normal(size=6)), rng.uniform(0.01, 1.0)
        gap = anchor - preference
        inner = ((anchor - centered(preference)) ** 2).sum()
        expected = (1 + lam) * inner + lam * 6 * preference.mean() ** 2
        assert gap @ shifted_identity(6, lam) @ gap == pytest.approx(expected)
    # The proof bounds |anchor - c|^2 by 2 D mean^2: wrong where the anchor errs more than the mean is large.
    preference, anchor = np.array([0.1, 0.1]), np.array([1.0, -1.0])
    assert ((anchor - preference) ** 2).sum() > 2 * 2 * preference.mean() ** 2


def test_lemma_2_bound_on_the_determinant_holds_up_to_alpha_1_minus_1_over_d():
    """The proof loses a factor 1/(1 - alpha) and gains D; with alpha = 0.9 and D = 2 the printed bound is broken."""
    rounds, lam = 200, 0.2
    for size, alpha, holds in ((2, 0.13, True), (5, 0.5, True), (2, 0.9, False)):
        start = (1 - alpha) * shifted_identity(size, lam)
        assert np.linalg.det(shifted_identity(size, lam)) == pytest.approx(lam * (1 + lam) ** (size - 1))
        growth = alpha * (rounds - 1) / size * np.eye(size)  # each objective alone in its share of rounds
        ratio = np.linalg.det(start + growth) / np.linalg.det(start)
        printed = (1 + lam) / lam * (1 + alpha * size * (rounds - 1) / (1 + lam)) ** size
        exact = (1 + lam) / lam * (1 + alpha * (rounds - 1) / ((1 - alpha) * (1 + lam))) ** size
        assert ratio <= exact
        assert bool(ratio <= printed) is holds


def preference_regret(power, rounds, size=5, rho=0.05):
    """Return the noise part of Reg(1) in the proof of Theorem 2 at alpha = lambda = 1/ln T, but for its constant.

    The radius holds alpha to the given power: 1 as printed, 1/2 as its own proof gives it.
    """
    alpha = lam = 1.0 / math.log(rounds)
    logs = size * math.log((1 + alpha * size * rounds / (1 + lam)) / rho) + math.log((1 + lam) / (lam * rho))
    elliptic = size / alpha * math.log(1 + alpha * rounds / (lam * (1 - alpha)))
    return alpha**power * size * math.sqrt(logs) * math.sqrt(rounds * elliptic)


def test_theorem_2_loses_its_gain_once_the_root_of_alpha_is_restored():
    """Then the bound is of order sqrt(T) log T, that of PRUCB, not sqrt(T log T); either way it has D^2, not D^1.5."""
    horizons = (1e4, 1e8, 1e16, 1e32, 1e64)
    printed = [preference_regret(1.0, t) / math.sqrt(t * math.log(t)) for t in horizons]
    restored = [preference_regret(0.5, t) / (math.sqrt(t) * math.log(t)) for t in horizons]
    for ratios in (printed, restored):
        assert max(ratios) < 1.6 * min(ratios)
    assert preference_regret(0.5, 1e64) / math.sqrt(1e64 * math.log(1e64)) > 9 * printed[-1]
    assert preference_regret(1.0, 1e64, size=40) / preference_regret(1.0, 1e64, size=20) == pytest.approx(4, rel=0.02)


def printed_score(estimate, mean, width, gram, radius):
    bonus = radius * inverse_norms((mean + width)[None], gram)[0]
    return estimate @ mean + width * np.abs(estimate).sum() + bonus


def test_lemma_3_is_optimistic_for_preferences_without_negative_weights():
    rng = np.random.default_rng(11)
    checked = 0
    while checked < 500:
        size = int(rng.integers(1, 6))
        root = rng.normal(size=(size, size)) + 0.3 * np.eye(size)
        gram, radius, width = root @ root.T, rng.uniform(0.01, 2.0), rng.uniform(0.01, 1.0)
        direction = rng.normal(size=size)
        estimate = rng.normal(size=size)
        preference = estimate + radius * np.linalg.solve(root.T, direction / np.linalg.norm(direction))
        if preference.min() < 0.0:
            continue
        mean = rng.uniform(0.0, 1.0, size)
        truth = mean + width * rng.uniform(-1.0, 1.0, size)
        assert preference @ truth <= printed_score(estimate, mean, width, gram, radius) + 1e-9
        checked += 1


def test_lemma_3_is_not_optimistic_for_negative_weights():
    """The bonus looks along +1; a preference of mixed signs needs the width along its own signs."""
    signs, width, radius = np.array([1.0, -1.0]), 0.3, 0.5
    along, across = np.full(2, math.sqrt(0.5)), signs * math.sqrt(0.5)
    gram = 1e6 * np.outer(along, along) + np.outer(across, across)
    preference, mean = signs, np.full(2, 0.5)
    estimate = preference - radius * across
    # A gram of a million: its products cancel, to some ten digits.
    assert (preference - estimate) @ gram @ (preference - estimate) <= radius**2 + 1e-9
    truth = mean + width * signs
    assert printed_score(estimate, mean, width, gram, radius) < preference @ truth - 0.2
    # With the width along the signs of the preference it holds.
    repaired = estimate @ mean + width * np.abs(estimate).sum()
    repaired += radius * inverse_norms((mean + width * signs)[None], gram)[0]
    assert repaired >= preference @ truth - 1e-12


def test_lemma_3_scores_with_c_2_equal_to_one_are_optimistic():
    """In bounded worlds as the paper assumes them, true utilities stay below the scores (observed: always)."""
    rng = np.random.default_rng(12)
    below = []
    for seed in range(5):
        means, preference = rng.uniform(0.2, 0.8, (6, 4)), rng.uniform(0.2, 0.8, 4)
        policy = dr.MOPQUCB(n_objectives=4, horizon=400, seed=seed)
        for ranking in sample_rankings(preference, rounds=400, rng=rng).rankings():
            policy.hear("ada", ranking)
            decision = policy.choose("ada", range(6))
            below.append(means @ preference <= decision.reasons[3])
            reward = means[decision.arm] + rng.uniform(-0.2, 0.2, 4)
            policy.learn("ada", decision.arm, reward, (preference + rng.uniform(-0.2, 0.2, 4)) @ reward)
    assert np.mean(below) >= 0.99


@pytest.mark.parametrize("horizon", [500, 2000, 20_000])
def test_corollary_2_1_weights_are_one_over_log_t(horizon):
    gram = np.linalg.inv(dr.MOPQUCB(n_objectives=5, horizon=horizon).preference("anyone").covariance)
    weight = 1.0 / math.log(horizon)
    np.testing.assert_allclose(gram, (1.0 - weight) * shifted_identity(5, weight), atol=1e-12)


@pytest.mark.parametrize("corruption", [0.1, 0.4, 0.95])
def test_theorem_4_weights_grow_with_the_corruption(corruption):
    """eps + log^-1 T would pass one; alpha stops at 0.99."""
    gram = np.linalg.inv(dr.MOPQUCB(n_objectives=5, horizon=2000, corruption=corruption).preference(0).covariance)
    ridge = corruption + 1.0 / math.log(2000)
    np.testing.assert_allclose(gram, (1.0 - min(ridge, 0.99)) * shifted_identity(5, ridge), atol=1e-12)


# Section 6: corrupted queries


@pytest.mark.parametrize("length", [1, 2, 4])
def test_section_6_a_fresh_permutation_makes_the_ranking_uniform(length):
    preference = np.array([2.0, 0.3, -1.0, 0.5])
    for ranking in all_rankings(4, length):
        mean = np.mean([chance(ranking, preference[list(order)]) for order in all_rankings(4, 4)])
        assert mean == pytest.approx(1.0 / math.perm(4, length))


def test_section_6_permuting_a_ranking_is_permuting_the_preference():
    """So the experiments, which permute rankings, and the model, which permutes preferences, agree."""
    rng = np.random.default_rng(13)
    for _ in range(30):
        preference, order = rng.normal(size=5), rng.permutation(5)
        ranking = rng.permutation(5)[:3]
        # Objective d has the weight of objective order[d].
        assert chance(ranking, preference[order]) == pytest.approx(chance(order[ranking], preference))


@pytest.mark.parametrize("corruption", [0.5, 0.8])
def test_theorem_3_from_one_half_on_two_preferences_look_alike(corruption):
    """An adversary who permutes in half of all rounds makes a preference and its permutation indistinguishable."""
    preference, swap = np.array([1.0, 0.4, -0.6, -0.8]), [3, 2, 1, 0]
    other = preference[swap]
    used = 0.5 / corruption  # the share of corrupted rounds in which it does swap
    for ranking in all_rankings(4, 4):
        laws = [
            (1 - corruption * used) * chance(ranking, truth) + corruption * used * chance(ranking, truth[swap])
            for truth in (preference, other)
        ]
        assert laws[0] == pytest.approx(laws[1], rel=1e-12)


@pytest.mark.parametrize(("corruption", "right"), [(0.3, True), (0.7, False)])
def test_theorem_3_the_majority_decides(corruption, right):
    """Beyond one half, with one fixed permutation, the anchor estimates the permuted preference."""
    preference, swap = centered([2.0, 1.0, 0.0, -1.0, -2.0]), np.arange(5)[::-1]
    sample = sample_rankings(
        preference, rounds=2000, rng=np.random.default_rng(14), corruption=corruption, permutation=swap
    )
    for anchor in (Likelihood(n_objectives=5), GroupLasso(n_objectives=5)):
        estimate = anchor.fit(sample.rankings()).estimate
        gap, other = np.linalg.norm(estimate - preference), np.linalg.norm(estimate - preference[swap])
        assert bool(gap < other) is right
        assert np.argmax(estimate) == (0 if right else 4)


def test_theorem_3_its_bound_on_the_divergence():
    """KL(1/2 + d, 1/2 - d) is at least 8 d^2, not at most 4 d^2; a lost factor 2 in d makes up for it."""
    for d in (0.01, 0.1, 0.3, 0.45):
        divergence = 2 * d * math.log((0.5 + d) / (0.5 - d))
        assert divergence >= 8 * d**2
        assert divergence <= 16 * d**2
    gap, corruption = 0.7, 0.2
    favored = 1.0 / (1.0 + math.exp(-gap))
    d = (1 - 2 * corruption) * (favored - 0.5)
    assert d == pytest.approx((1 - 2 * corruption) * math.tanh(gap / 2) / 2)


@pytest.mark.parametrize("corruption", [0.0, 0.1, 0.45])
def test_theorem_3_whole_rankings_diverge_less_than_its_independent_comparisons(corruption):
    """The proof cuts a ranking into independent pairs; that overstates what it tells, so the lower bound stands."""
    for gap in (0.1, 0.5, 1.0, 2.0):
        preference = np.array([gap, gap, -gap, -gap]) / 2
        laws = np.array([[chance(ranking, sign * preference) for ranking in all_rankings(4, 4)] for sign in (1, -1)])
        first, second = (1 - corruption) * laws + corruption * laws[::-1]
        divergence = (first * np.log(first / second)).sum()
        assert divergence <= (4 * (1 - 2 * corruption) * math.tanh(gap / 2)) ** 2


def test_lemma_4_gradient_of_one_ranking_has_a_sharp_bound():
    """|gradient| < sqrt(k (k + 1)), k = min(m, D - 1); the printed sqrt(m + m^2 (D - m)) is wrong for m = D."""
    rng = np.random.default_rng(15)
    for size in (2, 3, 6, 12):
        for length in range(1, size + 1):
            places = min(length, size - 1)
            sharp = math.sqrt(places * (places + 1))
            for _ in range(40):
                preference = rng.normal(size=size) * rng.choice([0.1, 1.0, 10.0])
                assert np.linalg.norm(gradient(np.arange(length), preference)) <= sharp + 1e-9
            worst = np.zeros(size)
            worst[-1] = 60.0  # all weight on what is ranked last, or not at all
            norm = np.linalg.norm(gradient(np.arange(length), worst))
            assert norm == pytest.approx(sharp, rel=1e-6)
            printed = math.sqrt(length + length**2 * (size - length))
            assert bool(norm <= printed + 1e-9) is (length < size or size == 2)


def test_lemma_4_its_penalty_is_the_square_of_what_it_needs():
    """The closed form that the proof gives for the largest sqrt(m + m^2 (D - m)) is that of its square."""
    for size in (2, 3, 6, 20):
        lengths = np.linspace(0.0, size, 100_001)
        root = math.sqrt(size**2 + 3)
        closed = (2 * size**3 + 9 * size + 2 * size**2 * root + 6 * root) / 27
        assert (lengths + lengths**2 * (size - lengths)).max() == pytest.approx(closed, rel=1e-6)
        assert math.sqrt(size * (size - 1)) < math.sqrt(closed) < closed < size**3 / 3


@pytest.mark.parametrize("size", [2, 3, 6])
def test_lemma_4_its_penalty_makes_every_deviation_zero(size):
    rng = np.random.default_rng(16)
    sample = sample_rankings(rng.uniform(0.0, 5.0, size), rounds=80, rng=rng, corruption=0.4)
    anchor = GroupLasso(penalty=size**3 / 3, n_objectives=size).fit(sample.rankings())
    assert len(anchor.suspects) == 0
    plain = Likelihood(n_objectives=size).fit(sample.rankings())
    np.testing.assert_allclose(anchor.estimate, plain.estimate, atol=1e-7)
    if size >= 5:  # the penalty of the experiments, D^3/27, does the same
        assert len(GroupLasso(penalty=size**3 / 27, n_objectives=size).fit(sample.rankings()).suspects) == 0


def test_lemma_4_the_deviations_must_be_divided_by_t():
    """All deviations being zero, their squared error grows with t while the printed bound does not."""
    preference, swap = np.array([1.5, 0.0, -1.5]), [2, 1, 0]
    errors = []
    for rounds in (100, 400, 1600):
        sample = sample_rankings(
            preference, rounds=rounds, rng=np.random.default_rng(17), corruption=0.3, permutation=swap
        )
        truth = np.where(sample.corrupted[:, None], preference[swap] - preference, 0.0)
        anchor = GroupLasso(penalty=9.0, n_objectives=3).fit(sample.rankings())
        errors.append(((anchor.deviations - truth) ** 2).sum())
    assert errors[2] > 10.0 * errors[0]
    np.testing.assert_allclose(np.array(errors) / [100, 400, 1600], 0.3 * 18.0, rtol=0.2)


def test_lemma_4_does_not_make_the_estimator_consistent():
    """Below one half, but with a fixed share corrupted, its estimator (the plain likelihood) keeps its error."""
    preference = centered(np.linspace(0.0, 4.0, 6))
    errors = []
    for rounds in (500, 5000):
        sample = sample_rankings(preference, rounds=rounds, rng=np.random.default_rng(18), corruption=0.2)
        errors.append(np.linalg.norm(Likelihood(n_objectives=6).fit(sample.rankings()).estimate - preference))
    assert errors[1] > 0.8 * errors[0] > 0.8


@pytest.mark.parametrize("size", [8, 20])
def test_lemma_10_one_full_ranking_tells_less_than_printed(size):
    """Lemma 6, about many rankings, is applied to one: the second eigenvalue is 1/D, not m/(6 D), at c = 0."""
    information = -hessian(np.arange(size), np.zeros(size))
    assert np.linalg.eigvalsh(information)[1] == pytest.approx(1.0 / size)
    assert 1.0 / size < size / (6.0 * size)


def test_lemma_21_is_the_bound_of_the_lower_tail():
    rounds, share, risk = 1000, 0.001, 0.001
    above = share * rounds + math.sqrt(2 * share * rounds * math.log(1 / risk))
    assert stats.binom.sf(math.ceil(above) - 1, rounds, share) > 3 * risk
    share = 0.1
    below = share * rounds - math.sqrt(2 * share * rounds * math.log(1 / risk))
    assert stats.binom.cdf(math.floor(below), rounds, share) <= risk


@pytest.mark.parametrize("settings", [{}, {"horizon": 300, "corruption": 0.2}])
def test_eq_9_mo_pqucb_with_the_group_lasso_is_mo_pqucb_gl(settings):
    """The paper changes one line of Algorithm 1; we change one argument."""
    changed = dr.MOPQUCB(n_objectives=3, anchor=GroupLasso(), **settings)
    named = dr.MOPQUCBGL(n_objectives=3, **settings)
    told = [play(policy, rounds=150, corruption=0.3, lengths=(2, 3)) for policy in (changed, named)]
    assert [step.arm for step in told[0]] == [step.arm for step in told[1]]
    states = [policy.state() for policy in (changed, named)]
    for state in states:
        state.pop("policy")
    assert same_state(*states)


# Section 7 and appendix B: the experiments


def recipe_history(policy, **settings):
    told = play(policy, rounds=120, **settings)
    return told, [step for step in told if step.user == 0]


def recipe_regression(mine, size, weight, normalization, start):
    """Return V and a b of the recipes: a utility counts omega / |r|^2."""
    gram, response = start.copy(), np.zeros(size)
    for step in mine:
        counts = weight * normalization / (step.reward @ step.reward)
        gram += counts * np.outer(step.reward, step.reward)
        response += counts * step.utility * step.reward
    return gram, response


def recipe_widths(told, size, scale, *, prior=0.0, n_arms=5):
    pulls, means = seen_arms(told, n_arms, size)
    log = 2.0 * math.log(len(told) + 1)
    if prior:
        return means, scale * np.sqrt(log / (pulls + prior))
    return means, np.where(pulls > 0, scale * np.sqrt(log / np.maximum(pulls, 1)), 100.0)


def check_recipe(policy, means, widths, gram, estimate, radius):
    np.testing.assert_allclose(policy.preference(0).weights, estimate, rtol=1e-7, atol=1e-9)
    points = means + widths[:, None]
    reasons = policy.choose(0, range(5)).reasons
    np.testing.assert_allclose(reasons[0], means @ estimate, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(reasons[1], widths * estimate.sum(), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(reasons[3], points @ estimate + radius * inverse_norms(points, gram), rtol=1e-7)


def recipe_radius(policy, mine, weight, size):
    n, places = len(mine), sum(len(step.ranking) for step in mine)
    return policy.radius * (
        weight * math.sqrt(size * math.log(1 + size * (n - 1) / policy.ridge))
        + math.sqrt((1 - weight) * size * math.log(n) / places)
        + math.sqrt((1 - weight) * policy.ridge / size)
    )


def test_recipe_of_mo_pqucb_recomputed_from_history():
    policy = dr.MOPQUCBRecipe(n_objectives=4, horizon=2000, ridge=0.1, radius=1.5, width=0.05, normalization=5.0)
    told, mine = recipe_history(policy, lengths=(4, 2))
    anchor, velocity = np.zeros(4), np.zeros(4)
    for k, step in enumerate(mine):
        slope = -gradient(step.ranking, anchor)
        slope /= max(np.linalg.norm(slope), 1.0)
        velocity = 0.9 * velocity + 0.1 * slope  # a running mean: v <- 0.9 v + g is another experiment
        anchor = centered(anchor - 0.1 / (1 + 0.02 * k) * velocity)
    weight = 1.0 / math.log(2000)
    start = (1 - weight) * shifted_identity(4, 0.0) + 0.1 * np.eye(4)
    gram, response = recipe_regression(mine, 4, weight, 5.0, start)
    estimate = np.linalg.solve(gram, response + (1 - weight) * shifted_identity(4, 0.0) @ anchor)
    means, widths = recipe_widths(told, 4, 0.05)
    check_recipe(policy, means, widths, gram, estimate, recipe_radius(policy, mine, weight, 4))


def test_recipe_of_mo_pqucb_gl_recomputed_from_history():
    policy = dr.MOPQUCBGLRecipe(n_objectives=4, horizon=2000)
    told, mine = recipe_history(policy, lengths=(4, 3), corruption=0.4)
    assert len(mine) > 51
    anchor = np.zeros(4)
    for k in range(len(mine)):
        window = [step.ranking for step in mine[max(0, k - 49) : k + 1]]
        for _ in range(5):
            anchor = centered(anchor - 0.5 * slope_of(window, anchor) / len(window))
    weight = 0.5 * (0.2 + 1.0 / math.log(2000))  # whatever the true corruption is
    start = (1 - weight) * shifted_identity(4, 0.0) + 0.1 * np.eye(4)
    gram, response = recipe_regression(mine, 4, weight, 5.0, start)
    estimate = np.linalg.solve(gram, response + (1 - weight) * anchor)
    means, widths = recipe_widths(told, 4, 0.05)
    check_recipe(policy, means, widths, gram, estimate, recipe_radius(policy, mine, weight, 4))


def test_recipe_of_prucb_recomputed_from_history():
    policy = dr.PRUCBRecipe(n_objectives=3, ridge=0.2, radius=0.3, width=0.1, normalization=2.0)
    told, mine = recipe_history(policy)
    gram, response = recipe_regression(mine, 3, 1.0, 2.0, 0.2 * np.eye(3))
    means, widths = recipe_widths(told, 3, 0.1, prior=0.001)
    radius = 0.3 * math.sqrt(3 * math.log(1 + 3 * len(mine) / 0.2))
    check_recipe(policy, means, widths, gram, np.linalg.solve(gram, response), radius)


def test_recipe_bonus_is_a_malus_for_negative_preferences():
    """Theirs is gamma times the sum of the weights; the paper's is gamma times the sum of their sizes."""
    policies = [dr.MOPQUCBRecipe(n_objectives=2), dr.MOPQUCB(n_objectives=2)]
    for policy in policies:
        policy.add_arms(["inn"])
        for _ in range(50):
            policy.learn("ada", "inn", [1.0, 0.9], -1.9)
    assert policies[0].choose("ada").reward_bonus < 0.0 < policies[1].choose("ada").reward_bonus


def test_prucb_radius_is_the_self_normalized_bound():
    """Scaled by sqrt(omega)/|r|, a reward has norm sqrt(omega) and its utility's noise is at most sqrt(omega) s."""
    policy = dr.PRUCB(
        n_objectives=3, ridge=0.4, normalization=2.0, bound=1.5, risk=0.1, reward_scale=0.7, radius_scale=0.3
    )
    told, mine = recipe_history(policy)
    gram, response = recipe_regression(mine, 3, 1.0, 2.0, 0.4 * np.eye(3))
    estimate = np.linalg.solve(gram, response)
    noise = 0.3 * math.sqrt(2.0) * math.sqrt(3 * math.log(1 + 2.0 * len(mine) / (3 * 0.4)) + 2 * math.log(1 / 0.1))
    radius = math.sqrt(0.4 * 3) * 1.5 + noise
    pulls, means = seen_arms(told, 5, 3)
    widths = 0.7 * np.sqrt(math.log((len(told) + 1) / 0.1) / np.maximum(pulls, 1))
    reasons = policy.choose(0, range(5)).reasons
    np.testing.assert_allclose(policy.preference(0).weights, estimate, rtol=1e-8)
    np.testing.assert_allclose(reasons[1], widths * np.abs(estimate).sum(), rtol=1e-8)
    np.testing.assert_allclose(reasons[2], radius * inverse_norms(means + widths[:, None], gram), rtol=1e-8)


def test_prucb_radius_covers_the_truth():
    """The error leaves the radius in at most a share rho of runs (observed: none of 200)."""
    rng = np.random.default_rng(19)
    outside = 0
    for _ in range(200):
        policy = dr.PRUCB(n_objectives=3, ridge=0.5, bound=1.0, risk=0.2, radius_scale=0.4, reward_scale=0.0)
        policy.add_arms(["inn"])
        preference = rng.uniform(0.0, 1.0, 3)
        for _ in range(30):
            reward = rng.uniform(0.1, 1.0, 3)
            policy.learn("ada", "inn", reward, (preference + 0.4 * rng.normal(size=3)) @ reward)
        belief = policy.preference("ada")
        gap = belief.weights - preference
        decision = policy.choose("ada")
        mean = policy.state()["arm.means"][1]
        radius = decision.preference_bonus / math.sqrt(mean @ belief.covariance @ mean)
        outside += math.sqrt(gap @ np.linalg.solve(belief.covariance, gap)) > radius
    assert outside <= 40


def test_appendix_b_s_ucb_adds_its_optimistic_rewards():
    policy = dr.SUCB(n_objectives=3, width=1.6)
    told = play(policy)
    pulls, means = seen_arms(told, 4, 3)
    scores = means.sum(axis=1) + 3 * 1.6 * np.sqrt(2 * math.log(len(told) + 2) / pulls)
    np.testing.assert_allclose(policy.choose(0, range(4)).reasons[3], scores, rtol=1e-10)
    assert policy.choose(0, [0, "new"]).arm == "new"


def test_appendix_b_s_moss_stops_at_its_share_of_the_horizon():
    policy = dr.SMOSS(n_objectives=2, width=1.4, horizon=80)
    told = play(policy, n_arms=4, lengths=(1, 2))
    pulls, means = seen_arms(told, 4, 2)
    logs = np.maximum(np.log(80 / (4 * pulls)), 0.0)
    scores = means.sum(axis=1) + 2 * 1.4 * np.sqrt(4 * logs / pulls)
    np.testing.assert_allclose(policy.choose(0, range(4)).reasons[3], scores, rtol=1e-10)


def test_appendix_b_mo_oful_is_a_ridge_regression_on_observed_rewards():
    policy = dr.MOOFUL(n_objectives=3, ridge=0.2, radius=0.5, exploration=0.0)
    told, mine = recipe_history(policy)
    rewards, utilities = np.array([step.reward for step in mine]), np.array([step.utility for step in mine])
    gram = 0.2 * np.eye(3) + rewards.T @ rewards
    estimate = np.linalg.solve(gram, rewards.T @ utilities)
    _, means = seen_arms(told, 4, 3)
    radius = 0.5 * math.sqrt(3 * math.log(1 + 3 * len(mine) / 0.2))
    scores = means @ estimate + radius * inverse_norms(means, gram)
    np.testing.assert_allclose(policy.choose(0, range(4)).reasons[3], scores, rtol=1e-8)
    assert dr.MOOFUL(n_objectives=3).exploration == 0.05


def test_appendix_b_conucb_asks_five_times_the_logarithm_of_the_users_rounds():
    policy = dr.ConUCB(n_objectives=2)
    policy.add_arms(["inn", "spa"])
    rng = np.random.default_rng(20)
    asked = []
    for n in range(1, 60):
        policy.learn("ada", "inn" if n % 2 else "spa", rng.uniform(size=2), 1.0)
        while (question := policy.ask("ada")) is not None:
            policy.answer("ada", question, 1.0)
            asked.append(n)
        assert len(asked) == 5 * math.floor(math.log(n))
    assert policy.ask("bob") is None  # the budget is each user's own


def test_appendix_b_conucb_builds_questions_from_estimated_means():
    """Three arms that look best in the objective, by what was observed: true means are nobody's to know."""
    policy = dr.ConUCB(n_objectives=2, ridge=0.5)
    observed = {"a": [0.9, 0.1], "b": [0.7, 0.3], "c": [0.5, 0.2], "d": [0.1, 0.9]}
    policy.add_arms(observed)
    for arm, reward in observed.items():
        policy.learn("ada", arm, reward, 1.0)
    rewards = np.array(list(observed.values()))
    matrix, answers = 0.5 * rewards.T @ rewards + 0.5 * np.eye(2), 0.5 * np.eye(2)
    questions = np.array([rewards[np.argsort(-rewards[:, k])[:3]].mean(axis=0) for k in (0, 1)])
    reach = rewards @ np.linalg.solve(matrix, np.linalg.solve(answers, questions.T))
    gains = (reach**2).sum(axis=0) / (1 + inverse_norms(questions, answers) ** 2)
    question = policy.ask("ada")
    assert question.objective == np.argmax(gains)

    policy.answer("ada", question, 1.0)
    features = questions[question.objective]
    answers += np.outer(features, features)
    answered = np.linalg.solve(answers, features)
    estimate = np.linalg.solve(matrix, 0.5 * rewards.T @ np.ones(4) + 0.5 * answered)
    np.testing.assert_allclose(policy.preference("ada").weights, estimate, rtol=1e-8)
    bonuses = 0.5 * 0.1 * math.sqrt(2 * math.log(1 + 2 * 4 / 0.5)) * inverse_norms(rewards, matrix)
    asked = math.sqrt(2 * (2 * math.log(6) + math.log(2 * 2 / 0.05)))
    bonuses += 0.5 * 0.1 * asked * inverse_norms(np.linalg.solve(matrix, rewards.T).T, answers)
    reasons = policy.choose("ada", observed).reasons
    np.testing.assert_allclose(reasons[3], rewards @ estimate + bonuses, rtol=1e-8)


def test_failure_chances_are_not_the_printed_rho():
    """At D = 20, K = 40 and rho = 0.05 the printed failure chances are far from 0.05; one is no chance at all."""
    rho, size, arms = 0.05, 20, 40
    lemma_1 = (size + 2 * E2) * math.pi**2 * rho**2 / 6
    claim_1 = arms * size * rho**2 * math.pi**2 / 3
    assert lemma_1 == pytest.approx(0.143, abs=0.001)
    assert claim_1 > 6.0
    rounds = np.arange(1, 100_001)
    assert (2 * size * (rho / rounds) ** 2).sum() == pytest.approx(size * rho**2 * math.pi**2 / 3, rel=1e-4)
