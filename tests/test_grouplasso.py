"""The group-lasso anchor solves Eq. 9 exactly, names the suspects, and follows its batch fit online."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from druthers.anchors.grouplasso import GroupLasso
from druthers.anchors.likelihood import Likelihood
from druthers.anchors.profile import Profile, add_profile
from druthers.errors import InvalidSetting
from druthers.rankings import gradient
from druthers.sampling import sample_rankings


def corrupted(seed, n_objectives, n_rankings, *, length=None, corruption=0.2, scale=5.0, reverse=False):
    """Return a preference and rankings drawn from it, some of them corrupted."""
    rng = np.random.default_rng(seed)
    preference = rng.uniform(0.0, scale, n_objectives)
    permutation = "fresh"
    if reverse:
        rising = np.argsort(preference)
        permutation = np.empty(n_objectives, dtype=np.int64)
        permutation[rising] = rising[::-1]
    sample = sample_rankings(
        preference, length=length, rounds=n_rankings, rng=rng, corruption=corruption, permutation=permutation
    )
    return preference - preference.mean(), sample


def conic_minimum(rankings, n_objectives, penalty, bound):
    """Return the least value of Eq. 9 by exponential and second-order cones."""
    cp = pytest.importorskip("cvxpy")
    center = cp.Variable(n_objectives)
    constraints = [cp.sum(center) == 0, cp.abs(center) <= bound]
    total = 0
    for ranking in rankings:
        deviation = cp.Variable(n_objectives)
        constraints += [cp.sum(deviation) == 0, cp.abs(deviation) <= bound]
        weights = center + deviation
        left = list(range(n_objectives))
        for k in ranking:
            total += cp.log_sum_exp(weights[list(left)]) - weights[int(k)]
            left.remove(k)
        total += penalty * cp.norm(deviation, 2)
    problem = cp.Problem(cp.Minimize(total), constraints)
    with warnings.catch_warnings():
        # At these tolerances the reference may call itself inaccurate; its value still has nine digits.
        warnings.simplefilter("ignore")
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return problem.value


@pytest.mark.parametrize("seed", range(24))
def test_equation_9_equals_a_conic_solver(seed):
    rng = np.random.default_rng(seed)
    n_objectives = int(rng.integers(2, 6))
    n_rankings = int(rng.integers(1, 13))
    length = int(rng.integers(1, n_objectives + 1))
    penalty = float(rng.choice([0.05, 0.2, 0.5, 1.0, 1.5, 2.5]))
    bound = float(rng.choice([0.3, 1.0, 2.0, 5.0]))
    _, sample = corrupted(seed, n_objectives, n_rankings, length=length, corruption=0.4)
    anchor = GroupLasso(penalty=penalty, bound=bound, n_objectives=n_objectives).fit(sample.rankings())
    assert anchor.kkt_residual <= 1e-8
    assert anchor.objective == pytest.approx(
        conic_minimum(sample.rankings(), n_objectives, penalty, bound), rel=1e-6, abs=1e-6
    )


def test_both_boxes_bind_somewhere():
    _, sample = corrupted(1, 5, 12, corruption=0.4)
    anchor = GroupLasso(penalty=0.2, bound=1.0, n_objectives=5).fit(sample.rankings())
    assert np.abs(anchor.deviations).max() == pytest.approx(1.0, abs=1e-9)
    assert np.abs(anchor.deviations).max() <= 1.0
    assert anchor.kkt_residual <= 1e-8
    anchor = GroupLasso(penalty=1.0, bound=0.3, n_objectives=5).fit(sample.rankings())
    assert np.abs(anchor.estimate).max() == pytest.approx(0.3, abs=1e-9)
    assert anchor.kkt_residual <= 1e-8


@pytest.mark.parametrize("bound", [0.5, 5.0])
def test_profile_derivatives_agree_with_differences(bound):
    rng = np.random.default_rng(3)
    _, sample = corrupted(3, 5, 6, length=4, corruption=0.5)
    orders = sample.orders.astype(np.int16)
    point = rng.normal(size=5)
    point -= point.mean()

    def profile(at):
        slope, curvature, deviations = np.zeros(5), np.zeros((5, 5)), np.zeros((6, 5))
        past = np.zeros((5, 5)), np.zeros(5)
        problem = Profile(orders, sample.lengths, deviations, *past, 0.6, 1e-13, bound, np.inf)
        value = add_profile(problem, at, slope, curvature)
        return value, slope, curvature, deviations

    _, slope, curvature, deviations = profile(point)
    assert np.any(deviations)
    assert (np.abs(deviations).max() > bound - 1e-8) == (bound == 0.5)
    step = 1e-5
    shifts = step * np.eye(5)
    values = [(profile(point + shift)[0] - profile(point - shift)[0]) / (2 * step) for shift in shifts]
    slopes = [(profile(point + shift)[1] - profile(point - shift)[1]) / (2 * step) for shift in shifts]
    np.testing.assert_allclose(slope, values, atol=1e-7)
    np.testing.assert_allclose(curvature, slopes, atol=1e-6)


def test_lemma_4_gradient_of_one_ranking_is_at_most_sqrt_2_m():
    rng = np.random.default_rng(4)
    for _ in range(2000):
        n_objectives = int(rng.integers(2, 25))
        length = int(rng.integers(1, n_objectives + 1))
        preference = rng.normal(size=n_objectives) * rng.choice([0.1, 1.0, 5.0, 30.0])
        ranking = rng.permutation(n_objectives)[:length]
        assert np.linalg.norm(gradient(ranking, preference)) <= np.sqrt(2.0) * length + 1e-9
    # All weight on the last objective: the worst case of a full ranking stays below the bound.
    worst = np.zeros(20)
    worst[19] = 50.0
    assert 19.0 < np.linalg.norm(gradient(np.arange(20), worst)) <= np.sqrt(2.0) * 20


@pytest.mark.parametrize("n_objectives", [3, 5, 10])
def test_lemma_4_penalty_of_the_paper_switches_the_deviations_off(n_objectives):
    _, sample = corrupted(5, n_objectives, 60, corruption=0.4)
    anchor = GroupLasso(penalty=n_objectives**3 / 3, n_objectives=n_objectives).fit(sample.rankings())
    assert len(anchor.suspects) == 0
    plain = Likelihood(n_objectives=n_objectives).fit(sample.rankings())
    np.testing.assert_allclose(anchor.estimate, plain.estimate, atol=1e-8)
    if n_objectives >= 7:
        theirs = GroupLasso(penalty=n_objectives**3 / 27, n_objectives=n_objectives).fit(sample.rankings())
        assert len(theirs.suspects) == 0


@pytest.mark.parametrize(("length", "n_rankings"), [(6, 1), (2, 3), (1, 20), (6, 300)])
def test_infinite_penalty_is_the_likelihood_anchor(length, n_rankings):
    _, sample = corrupted(6, 6, n_rankings, length=length)
    anchor = GroupLasso(penalty=np.inf, n_objectives=6).fit(sample.rankings())
    plain = Likelihood(n_objectives=6).fit(sample.rankings())
    np.testing.assert_allclose(anchor.estimate, plain.estimate, atol=1e-6)
    np.testing.assert_allclose(anchor.information, plain.information, atol=1e-5 * n_rankings)
    assert anchor.kkt_residual <= 1e-8


@pytest.mark.parametrize("penalty", [2.0, "auto"])
def test_certificate_at_scale(penalty):
    _, sample = corrupted(7, 20, 2000)
    anchor = GroupLasso(penalty=penalty, n_objectives=20).fit(sample.rankings())
    assert anchor.kkt_residual <= 1e-8
    assert anchor.deviations.shape == (2000, 20)
    assert np.abs(anchor.information.sum(axis=0)).max() <= 1e-9 * np.abs(anchor.information).max()
    assert np.linalg.eigvalsh(anchor.information)[1] > 0.0
    sizes = np.linalg.norm(anchor.deviations, axis=1)
    assert sizes[sample.corrupted].mean() > 1.5 * sizes[~sample.corrupted].mean()


@pytest.mark.parametrize(
    ("corruption", "reverse", "ceiling"), [(0.2, False, 0.18), (0.4, False, 0.28), (0.2, True, 0.22)]
)
def test_auto_recovers_most_of_what_corruption_costs(corruption, reverse, ceiling):
    errors = []
    for seed in range(4):
        preference, sample = corrupted(100 + seed, 20, 200, corruption=corruption, reverse=reverse)
        anchor = GroupLasso(n_objectives=20).fit(sample.rankings())
        errors.append(np.sqrt(np.mean((anchor.estimate - preference) ** 2)))
        assert np.isfinite(anchor.penalty_in_use)
    assert np.mean(errors) < ceiling


def test_auto_keeps_the_likelihood_where_nothing_is_corrupt():
    for seed in range(4):
        _, sample = corrupted(200 + seed, 20, 200, corruption=0.0)
        anchor = GroupLasso(n_objectives=20).fit(sample.rankings())
        assert anchor.penalty_in_use == np.inf
        np.testing.assert_allclose(
            anchor.estimate, Likelihood(n_objectives=20).fit(sample.rankings()).estimate, atol=1e-7
        )


@pytest.mark.parametrize("penalty", [1.0, "auto"])
def test_permuting_objectives_permutes_the_result(penalty):
    _, sample = corrupted(8, 7, 80, length=5)
    relabel = np.random.default_rng(8).permutation(7)
    anchor = GroupLasso(penalty=penalty, n_objectives=7).fit(sample.rankings())
    other = GroupLasso(penalty=penalty, n_objectives=7).fit([relabel[ranking] for ranking in sample.rankings()])
    np.testing.assert_allclose(other.estimate[relabel], anchor.estimate, atol=1e-8)
    np.testing.assert_allclose(other.deviations[:, relabel], anchor.deviations, atol=1e-7)
    assert other.penalty_in_use == pytest.approx(anchor.penalty_in_use, rel=1e-6)


@pytest.mark.parametrize("penalty", [2.0, "auto"])
def test_online_stays_close_to_the_batch_fit(penalty):
    preference, sample = corrupted(9, 10, 500)
    online = GroupLasso(penalty=penalty, n_objectives=10)
    for ranking in sample.rankings():
        online.hear(ranking)
    batch = GroupLasso(penalty=penalty, n_objectives=10).fit(sample.rankings())
    assert online.queries == batch.queries == 500
    assert len(online.deviations) == online._own().kept[0] == batch._own().kept[0]
    gap = np.sqrt(np.mean((online.estimate - batch.estimate) ** 2))
    error = np.sqrt(np.mean((batch.estimate - preference) ** 2))
    assert gap < error
    assert online.suspects.min() >= 500 - len(online.deviations)


def test_online_refits_are_exact():
    _, sample = corrupted(10, 6, 64, corruption=0.3)
    online = GroupLasso(penalty=1.0, n_objectives=6)
    for ranking in sample.rankings():
        online.hear(ranking)
    batch = GroupLasso(penalty=1.0, n_objectives=6).fit(sample.rankings())
    np.testing.assert_allclose(online.estimate, batch.estimate, atol=1e-6)
    assert online.suspects.tolist() == batch.suspects.tolist()
    assert online.kkt_residual <= 1e-5
    assert online.objective == pytest.approx(batch.objective, rel=1e-9)


def test_empty_rankings_say_nothing_but_keep_their_place():
    rankings = [(), (0, 1, 2, 3)] * 8 + [(3, 2, 1, 0), ()]
    anchor = GroupLasso(penalty=1.5, n_objectives=4).fit(rankings)
    assert anchor.queries == 9
    assert anchor.deviations.shape == (18, 4)
    assert 16 in anchor.suspects
    assert not np.any(anchor.deviations[17])
    assert GroupLasso(n_objectives=4).fit([]).estimate.tolist() == [0.0] * 4


@pytest.mark.parametrize(
    "settings", [{"penalty": 0.0}, {"penalty": -1.0}, {"penalty": "best"}, {"bound": 0.0}, {"window": 1}]
)
def test_settings_outside_their_law_are_refused(settings):
    with pytest.raises(InvalidSetting, match=f"{next(iter(settings))} must be"):
        GroupLasso(**settings)


@pytest.mark.parametrize("penalty", [2.0, "auto"])
def test_suspects_are_the_corrupted_rankings(penalty):
    """Of 300 full rankings of 20 objectives, a fifth corrupted, hardly one is misjudged."""
    _, sample = corrupted(11, 20, 300, corruption=0.2)
    anchor = GroupLasso(penalty=penalty, n_objectives=20).fit(sample.rankings())
    assert len(np.setxor1d(anchor.suspects, np.flatnonzero(sample.corrupted))) <= 6
