"""Every anchor keeps every law, and the likelihood anchor agrees with outside oracles."""

from __future__ import annotations

import functools

import naive
import numpy as np
import pytest
from scipy import optimize

from druthers import ANCHORS, make_anchor
from druthers.anchors import Likelihood
from druthers.errors import InvalidSetting
from druthers.rankings import gradient, hessian, log_likelihood
from druthers.sampling import sample_rankings
from druthers.testing import ANCHOR_CHECKS


@pytest.mark.parametrize("name", ANCHORS)
@pytest.mark.parametrize("check", ANCHOR_CHECKS, ids=lambda check: check.__name__)
def test_anchor_law(name, check):
    check(functools.partial(make_anchor, name))


def drawn(seed, n_objectives, n_rankings, *, length=None, scale=1.0):
    """Return a centered preference and rankings drawn from it."""
    rng = np.random.default_rng(seed)
    preference = rng.uniform(0.0, scale, n_objectives)
    return preference - preference.mean(), sample_rankings(
        preference, length=length, rounds=n_rankings, rng=rng
    ).rankings()


def total_loss(rankings, preference):
    return -sum(log_likelihood(ranking, preference) for ranking in rankings)


def total_slope(rankings, preference):
    return -sum(gradient(ranking, preference) for ranking in rankings)


def total_information(rankings, preference):
    return -sum(hessian(ranking, preference) for ranking in rankings)


def heard(rankings, n_objectives, **settings):
    anchor = Likelihood(n_objectives=n_objectives, **settings)
    for ranking in rankings:
        anchor.hear(ranking)
    return anchor


def optimality_gap(slope, estimate, bound):
    """Return the largest violation of the conditions of Eq. 4, given the gradient of its loss.

    One multiplier for the zero sum; where the bound binds, the loss may only want to go further out.
    """
    inside = np.abs(estimate) < bound * (1.0 - 1e-7)
    up, down = estimate >= bound * (1.0 - 1e-7), estimate <= -bound * (1.0 - 1e-7)
    # Any multiplier between the slopes at the lower and at the upper bound will do where nothing is inside.
    shift = slope[inside].mean() if inside.any() else 0.5 * (slope[up].max() + slope[down].min())
    residual = slope - shift
    return float(
        max(
            np.abs(residual[inside]).max(initial=0.0),
            residual[up].max(initial=0.0),
            -residual[down].min(initial=0.0),
            abs(estimate.sum()),
            np.abs(estimate).max() - bound,
        )
    )


def as_top1(rankings, n_objectives):
    """Return each place of each ranking as a choice: the winner and those it was chosen before."""
    choices = []
    for ranking in rankings:
        left = list(range(n_objectives))
        for winner in ranking.tolist():
            left.remove(winner)
            if left:
                choices.append((winner, tuple(left)))
    return choices


def choix_estimate(rankings, n_objectives, ridge=0.0):
    import choix

    # choix penalizes alpha |c|^2 where we have ridge |c|^2 / 2.
    estimate = choix.opt_top1(n_objectives, as_top1(rankings, n_objectives), alpha=ridge / 2, tol=1e-10)
    return estimate - estimate.mean()


LENGTHS = [(n_objectives, length) for n_objectives in (2, 3, 5) for length in range(1, n_objectives + 1)]


@pytest.mark.parametrize(("n_objectives", "length"), LENGTHS)
def test_fit_equals_choix(n_objectives, length):
    _, rankings = drawn(10 * n_objectives + length, n_objectives, 60, length=length, scale=1.5)
    anchor = Likelihood(bound=50.0, n_objectives=n_objectives).fit(rankings)
    np.testing.assert_allclose(anchor.estimate, choix_estimate(rankings, n_objectives), atol=1e-6)


def test_fit_with_mixed_lengths_equals_choix():
    lengths = np.random.default_rng(5).integers(1, 7, 40)
    _, rankings = drawn(5, 6, 40, length=lengths, scale=1.5)
    anchor = Likelihood(bound=50.0, n_objectives=6).fit(rankings)
    np.testing.assert_allclose(anchor.estimate, choix_estimate(rankings, 6), atol=1e-6)


@pytest.mark.parametrize("ridge", [0.1, 2.0])
def test_ridge_equals_choix_even_where_the_likelihood_has_no_maximum(ridge):
    _, rankings = drawn(6, 5, 3, scale=3.0)
    anchor = Likelihood(bound=50.0, ridge=ridge, n_objectives=5).fit(rankings)
    np.testing.assert_allclose(anchor.estimate, choix_estimate(rankings, 5, ridge), atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_bounded_fit_equals_scipy_and_is_optimal(seed):
    rng = np.random.default_rng(seed)
    n_objectives = int(rng.integers(2, 8))
    length = int(rng.integers(1, n_objectives + 1))
    bound = float(rng.choice([0.05, 0.3, 1.0, 5.0]))
    _, rankings = drawn(seed, n_objectives, int(rng.integers(1, 30)), length=length, scale=4.0)
    estimate = Likelihood(bound=bound, n_objectives=n_objectives).fit(rankings).estimate
    reference = optimize.minimize(
        lambda c: total_loss(rankings, c),
        np.zeros(n_objectives),
        jac=lambda c: total_slope(rankings, c),
        method="SLSQP",
        bounds=[(-bound, bound)] * n_objectives,
        constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert total_loss(rankings, estimate) <= reference.fun + 1e-8 * (1.0 + abs(reference.fun))
    assert optimality_gap(total_slope(rankings, estimate), estimate, bound) <= 1e-7 * len(rankings)


def test_scipy_cases_reach_the_bound_and_the_inside():
    def reach(bound):
        _, rankings = drawn(1, 5, 20, scale=4.0)
        return np.abs(Likelihood(bound=bound, n_objectives=5).fit(rankings).estimate).max()

    assert reach(1.0) == pytest.approx(1.0, abs=1e-9)
    assert reach(50.0) < 10.0


@pytest.mark.parametrize(("wins", "bound"), [((3, 1), 5.0), ((7, 7), 5.0), ((9, 1), 1.0), ((4, 0), 2.5)])
@pytest.mark.parametrize("length", [1, 2])
def test_two_objectives_have_a_closed_form(wins, bound, length):
    rankings = [(0, 1)[:length]] * wins[0] + [(1, 0)[:length]] * wins[1]
    half_log_odds = 0.5 * np.log(wins[0] / wins[1]) if wins[1] else np.inf
    expected = min(half_log_odds, bound)
    estimate = Likelihood(bound=bound, n_objectives=2).fit(rankings).estimate
    np.testing.assert_allclose(estimate, [expected, -expected], atol=1e-7)


def test_first_choices_alone_give_log_counts():
    counts = np.array([5, 1, 12, 3])
    rankings = [(k,) for k in range(4) for _ in range(counts[k])]
    logs = np.log(counts)
    estimate = Likelihood(n_objectives=4).fit(rankings).estimate
    np.testing.assert_allclose(estimate, logs - logs.mean(), atol=1e-7)


def test_an_objective_always_first_ends_at_the_bound():
    rankings = [(2, *rest) for rest in ((0, 1, 3), (1, 0, 3), (3, 0, 1), (0, 3, 1))]
    for anchor in (Likelihood(bound=4.0, n_objectives=4).fit(rankings), heard(rankings, 4, bound=4.0)):
        assert anchor.estimate[2] == pytest.approx(4.0, abs=1e-6)
        assert optimality_gap(total_slope(rankings, anchor.estimate), anchor.estimate, 4.0) <= 1e-6


def test_an_objective_never_named_ends_at_the_bound():
    rankings = [(0, 1), (1, 0), (0, 2), (2, 1), (1, 2)]
    for anchor in (
        Likelihood(bound=4.0, n_objectives=4).fit(rankings),
        heard([*rankings, *rankings[:3]], 4, bound=4.0),
    ):
        assert anchor.estimate[3] == pytest.approx(-4.0, abs=1e-6)
        assert np.abs(anchor.estimate[:3]).max() < 4.0


@pytest.mark.parametrize("length", [1, 3, 5])
def test_one_ranking_alone_is_spread_within_the_bound(length):
    ranking = (4, 1, 0, 3, 2)[:length]
    anchor = Likelihood(n_objectives=5).fit([ranking])
    np.testing.assert_allclose(anchor.estimate, heard([ranking], 5).estimate, atol=1e-9)
    assert np.all(np.diff(anchor.estimate[list(ranking)]) < 0.0)
    assert optimality_gap(total_slope([ranking], anchor.estimate), anchor.estimate, 5.0) <= 1e-8


def test_one_objective_needs_no_ranking():
    anchor = Likelihood(n_objectives=1).fit([(0,), (0,)])
    assert anchor.estimate.tolist() == [0.0]
    assert anchor.information.tolist() == [[0.0]]


def test_no_ranking_is_no_opinion():
    for anchor in (Likelihood(n_objectives=3).fit([]), Likelihood(n_objectives=3).fit([(), ()]), heard([()], 3)):
        assert anchor.estimate.tolist() == [0.0] * 3
        assert not anchor.information.any()
        assert anchor.queries == 0


def test_fit_forgets_what_was_heard():
    _, rankings = drawn(7, 4, 40)
    anchor = heard([(3, 2, 1, 0)] * 9, 4).fit(rankings)
    np.testing.assert_array_equal(anchor.estimate, Likelihood(n_objectives=4).fit(rankings).estimate)
    assert anchor.queries == 40


@pytest.mark.parametrize(("length", "n_rankings", "window"), [(None, 50, 128), (2, 300, 128), (1, 40, 8)])
def test_information_is_the_hessian_at_the_estimate(length, n_rankings, window):
    _, rankings = drawn(8, 5, n_rankings, length=length, scale=2.0)
    anchor = Likelihood(window=window, n_objectives=5).fit(rankings)
    expected = total_information(rankings, anchor.estimate)
    np.testing.assert_allclose(anchor.information, expected, atol=1e-8 * np.trace(expected))


def test_information_of_a_bounded_fit_is_the_hessian_without_the_ridge():
    rankings = [(2, 0, 1), (2, 1, 0), (2, 0, 1)]
    for settings in ({"bound": 1.5}, {"ridge": 0.5}):
        anchor = Likelihood(n_objectives=3, **settings).fit(rankings)
        np.testing.assert_allclose(anchor.information, total_information(rankings, anchor.estimate), atol=1e-8)


def test_information_when_hearing_is_the_hessian_at_each_refit():
    _, rankings = drawn(9, 4, 64)
    anchor = heard(rankings, 4)
    np.testing.assert_allclose(anchor.information, total_information(rankings, anchor.estimate), atol=1e-6)


def exact_fit(rankings, ridge, start, bound=5.0):
    """Return the minimizer of Eq. 4 and its Hessian (with the ridge) by SciPy, from nothing but its definition."""
    n_objectives = len(start)
    winners, unranked = naive.choices(rankings, n_objectives)
    counts = np.bincount(winners, minlength=n_objectives)

    def value(c):
        shares, logs = naive.choice_shares(unranked, c)
        return logs.sum() - counts @ c + 0.5 * ridge * c @ c, shares.sum(axis=0) - counts + ridge * c

    found = optimize.minimize(
        value,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(-bound, bound)] * n_objectives,
        constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
        options={"ftol": 1e-13, "maxiter": 1000},
    ).x
    assert optimality_gap(value(found)[1], found, bound) <= 1e-3 * np.sqrt(len(rankings))
    shares, _ = naive.choice_shares(unranked, found)
    return found, np.diag(shares.sum(axis=0)) - shares.T @ shares + ridge * np.eye(n_objectives)


CASES = [
    (20, 1, 5.0),
    (20, 3, 5.0),
    (20, 20, 5.0),
    (20, "mixed", 5.0),
    (6, 1, 3.0),
    (6, 2, 3.0),
    (6, 6, 8.0),
    (2, 1, 3.0),
]


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize(("n_objectives", "length", "scale"), CASES)
def test_hearing_equals_the_exact_fit_at_any_time(n_objectives, length, scale, ridge):
    """Within 0.05 standard errors at counts drawn at random, far beyond the window, short rankings included."""
    rng = np.random.default_rng(n_objectives)
    lengths = rng.integers(1, n_objectives + 1, 600) if length == "mixed" else length
    _, rankings = drawn(21, n_objectives, 600, length=lengths, scale=scale)
    counts = {*rng.integers(1, 40, 5).tolist(), *rng.integers(40, 300, 5).tolist(), *rng.integers(300, 601, 2).tolist()}
    exact = np.zeros(n_objectives)
    anchor = Likelihood(ridge=ridge, n_objectives=n_objectives)
    for count, ranking in enumerate(rankings, start=1):
        anchor.hear(ranking)
        if count in counts:
            exact, hessian = exact_fit(rankings[:count], ridge, exact)
            gap = anchor.estimate - exact
            assert np.sqrt(gap @ hessian @ gap / (n_objectives - 1)) < 0.05, count


@pytest.mark.parametrize(("n_objectives", "length", "scale"), [(5, None, 2.0), (8, 3, 1.0), (20, None, 5.0)])
def test_hearing_stays_near_the_batch_fit(n_objectives, length, scale):
    """The gap to the exact fit stays well below what chance alone makes the exact fit err."""
    truth, rankings = drawn(11, n_objectives, 2000, length=length, scale=scale)
    anchor = Likelihood(n_objectives=n_objectives)
    for count, ranking in enumerate(rankings, start=1):
        anchor.hear(ranking)
        if count in (8, 33, 64, 100, 129, 200, 513, 1000, 1025, 2000):
            batch = Likelihood(n_objectives=n_objectives).fit(rankings[:count])
            gap = anchor.estimate - batch.estimate
            assert np.sqrt(gap @ batch.information @ gap / (n_objectives - 1)) < 0.05, count
            error = np.linalg.norm(batch.estimate - truth)
            assert np.linalg.norm(anchor.estimate - truth) < 1.05 * error, count
            assert np.trace(anchor.information) == pytest.approx(np.trace(batch.information), rel=0.05), count


def test_a_small_window_and_a_change_of_mind_leave_a_lawful_memory():
    """Where the newer rankings are unlike the older ones they cannot stand in for them; nothing breaks."""
    _, before = drawn(13, 6, 300, scale=8.0)
    rankings = [*before, *([5, 4, 3, 2, 1, 0][:length] for length in 40 * [6, 1, 3])]
    for window in (2, 3, 16, 128):
        anchor = Likelihood(window=window, n_objectives=6)
        for count, ranking in enumerate(rankings, start=1):
            anchor.hear(ranking)
            if count % 7 == 0:
                assert np.abs(anchor.estimate).max() <= 5.0
                assert np.linalg.eigvalsh(anchor.information).min() > -1e-9 * np.trace(anchor.information)
        assert anchor.estimate[5] > anchor.estimate[0] or window < 16


def test_hearing_is_exact_at_powers_of_two_until_the_window_is_full():
    _, rankings = drawn(12, 6, 128, scale=2.0)
    anchor = Likelihood(n_objectives=6)
    for count, ranking in enumerate(rankings, start=1):
        anchor.hear(ranking)
        if count & (count - 1) == 0:
            batch = Likelihood(n_objectives=6).fit(rankings[:count])
            np.testing.assert_allclose(anchor.estimate, batch.estimate, atol=1e-6)


@pytest.mark.parametrize("settings", [{"bound": 0.0}, {"bound": np.nan}, {"ridge": -0.1}, {"window": 1}])
def test_settings_outside_their_law_are_refused(settings):
    with pytest.raises(InvalidSetting, match=f"{next(iter(settings))} must"):
        Likelihood(n_objectives=3, **settings)


def test_an_anchor_alone_needs_its_size():
    with pytest.raises(InvalidSetting, match="needs n_objectives"):
        Likelihood().hear((0,))
