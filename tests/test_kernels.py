"""Every kernel equals its slow twin in `naive.py`: alone as plain Python, and compiled as part of policies."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from hybrid import HybridEstimator
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from druthers import POLICIES, make_policy
from druthers._jit import SWITCHED_OFF
from druthers._matrices import (
    add_rank_one,
    center,
    clear,
    copy_matrix,
    copy_vector,
    factor,
    inverse,
    max_abs,
    norms,
    solve,
    solve_transposed,
    solve_upper,
    solve_upper_columns,
    sum_of,
)
from druthers.anchors import contamination
from druthers.anchors.base import fit_anchor
from druthers.anchors.box import boxed_step, complete_rank, project, violation
from druthers.anchors.contamination import MOST_CORRUPTION, best_corruption, honesty, uniform_losses
from druthers.anchors.likelihood import Likelihood, problem_of
from druthers.anchors.newton import evaluate
from druthers.environments import Synthetic
from druthers.errors import InvalidSetting
from druthers.policies.arms import Arms, never_seen, observe
from druthers.policies.conucb import key_features
from druthers.policies.pareto import mark_front
from druthers.preferences import anchor_matrix, compact_radius, upper_root
from druthers.rankings import (
    SAFE_SPREAD,
    Rankings,
    _add_wide_derivatives,
    add_derivatives,
    add_slope,
    complete,
    gradient,
    hessian,
    log_likelihood,
    loss,
    remaining_sums,
    scaled_exp,
    spread,
    total_derivatives,
    total_gradient,
)
from druthers.simulation import best_first, play_tape
from druthers.testing import same_state

examined = settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    database=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)


@st.composite
def problems(draw, limit=10.0, max_size=7):
    """An order of all objectives, how many of them are ranked, and a preference; weights may be equal."""
    size = draw(st.integers(1, max_size))
    order = np.array(draw(st.permutations(range(size))), dtype=np.int64)
    weights = st.floats(-limit, limit, allow_subnormal=False)
    preference = np.array(draw(st.lists(weights, min_size=size, max_size=size)))
    return order, draw(st.integers(0, size)), preference


def derivatives(order, length, preference, weight=1.0, kernel=add_derivatives):
    """Return gradient and Hessian as the kernel adds them to zero."""
    slope, curvature = np.zeros(len(order)), np.zeros((len(order), len(order)))
    if kernel is _add_wide_derivatives:
        weight = np.full(len(order), weight)  # one for each place
    kernel(order, length, preference, weight, slope, curvature)
    return slope, curvature


def check_ranking_kernels(order, length, preference):
    """Hold loss, gradient and Hessian of one ranking against the sums over its places."""
    ranking = [order[:length]]
    wanted_slope, wanted_curvature = naive.slope(ranking, preference), naive.curvature(ranking, preference)
    assert loss(order, length, preference) == pytest.approx(naive.loss(ranking, preference), rel=1e-11, abs=1e-11)
    slope, curvature = derivatives(order, length, preference)
    np.testing.assert_allclose(slope, wanted_slope, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(curvature, wanted_curvature, rtol=1e-9, atol=1e-10)
    alone = np.zeros(len(order))
    add_slope(order, length, preference, alone)
    np.testing.assert_allclose(alone, wanted_slope, rtol=1e-9, atol=1e-10)


@pytest.mark.plain
@examined
@given(problems())
def test_ranking_kernels_equal_the_sums_over_places(problem):
    check_ranking_kernels(*problem)


@pytest.mark.plain
@examined
@given(problems(limit=700.0))
@example((np.array([1, 0, 2]), 3, np.array([700.0, -700.0, 0.0])))
@example((np.array([0, 1]), 1, np.array([-700.0, 700.0])))
@example((np.array([0, 1]), 2, np.array([700.0, 700.0])))
@example((np.array([2, 1, 0]), 2, np.array([300.0, 0.0, 300.0])))
@example((np.array([0]), 1, np.array([700.0])))
@example((np.array([0]), 1, np.array([-700.0])))
def test_ranking_kernels_at_extreme_weights(problem):
    order, length, preference = problem
    check_ranking_kernels(order, length, preference)
    assert np.isfinite(loss(order, length, preference))


@pytest.mark.plain
@examined
@given(problems(limit=100.0))
def test_both_forms_of_the_derivatives_agree_where_both_hold(problem):
    order, length, preference = problem
    assert spread(preference) == preference.max() - preference.min() <= SAFE_SPREAD
    for plain, wide in zip(
        derivatives(order, length, preference),
        derivatives(order, length, preference, kernel=_add_wide_derivatives),
        strict=True,
    ):
        np.testing.assert_allclose(plain, wide, rtol=1e-9, atol=1e-11)


@pytest.mark.plain
@pytest.mark.parametrize("gap", [SAFE_SPREAD - 1e-9, SAFE_SPREAD, SAFE_SPREAD + 1e-9])
def test_nothing_jumps_where_the_form_changes(gap):
    order, preference = np.array([3, 1, 0, 2]), np.array([gap, 0.3 * gap, 0.0, 0.3 * gap])
    check_ranking_kernels(order, 4, preference)
    check_ranking_kernels(order, 2, preference)


@pytest.mark.plain
@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_a_thousand_objectives(scale):
    """As plain Python, which takes twelve seconds for them, a hundred."""
    rng, size = np.random.default_rng(1), 100 if SWITCHED_OFF else 1000
    preference = rng.uniform(-scale, scale, size)
    preference[: size // 2] = preference[size // 2 :]  # ties
    order = rng.permutation(size)
    check_ranking_kernels(order, size, preference)
    assert loss(order, 1, preference) == pytest.approx(naive.loss([order[:1]], preference), rel=1e-12)


@pytest.mark.plain
@pytest.mark.parametrize(("n_objectives", "length"), [(1, 1), (2, 1), (2, 2), (6, 1), (6, 6), (6, 0)])
def test_ties_make_every_choice_uniform(n_objectives, length):
    order = np.arange(n_objectives)
    for value in (0.0, 3.0, -700.0):
        preference = np.full(n_objectives, value)
        check_ranking_kernels(order, length, preference)
        expected = sum(math.log(n_objectives - place) for place in range(length))
        assert loss(order, length, preference) == pytest.approx(expected, abs=1e-12)


@pytest.mark.plain
@examined
@given(problems(), st.floats(-3.0, 3.0))
def test_weights_and_order_of_the_unranked(problem, weight):
    order, length, preference = problem
    slope, curvature = derivatives(order, length, preference)
    heavy_slope, heavy_curvature = derivatives(order, length, preference, weight)
    np.testing.assert_allclose(heavy_slope, weight * slope, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(heavy_curvature, weight * curvature, rtol=1e-10, atol=1e-12)
    turned = np.concatenate([order[:length], order[length:][::-1]])
    assert loss(turned, length, preference) == pytest.approx(loss(order, length, preference), abs=1e-11)
    np.testing.assert_allclose(derivatives(turned, length, preference)[1], curvature, atol=1e-11)


@pytest.mark.plain
@examined
@given(problems())
def test_remaining_sums_equal_their_definition(problem):
    order, length, preference = problem
    odds, first, second = np.empty_like(preference), np.empty_like(preference), np.empty_like(preference)
    scaled_exp(preference, odds)
    np.testing.assert_allclose(odds, np.exp(preference - preference.max()), rtol=1e-14)
    remaining_sums(order, length, odds, first, second)
    wanted_first, wanted_second = naive.remaining_sums(order, length, odds)
    np.testing.assert_allclose(first, wanted_first, rtol=1e-11)
    np.testing.assert_allclose(second, wanted_second, rtol=1e-11)


@pytest.mark.plain
@pytest.mark.parametrize("limit", [2.0, 140.0, 400.0])
@pytest.mark.parametrize("n_objectives", [1, 2, 5, 9])
def test_totals_over_many_rankings(limit, n_objectives):
    rng = np.random.default_rng(n_objectives)
    preference = rng.uniform(-limit, limit, n_objectives)
    orders = np.array([rng.permutation(n_objectives) for _ in range(12)], dtype=np.int16)
    lengths = rng.integers(0, n_objectives + 1, 12)
    weights = rng.uniform(0.0, 2.0, 12)
    weights[3] = 0.0
    place_weights = rng.integers(1, 4, n_objectives).astype(float)
    rankings = Rankings(orders, lengths, 5, place_weights)
    slope, curvature = np.full(n_objectives, 7.0), np.full((n_objectives, n_objectives), -2.0)
    total = total_derivatives(rankings, weights, preference, slope, curvature)
    # The choice at a place of a ranking of length m: the first m places less the first m - 1.
    wanted_total, wanted_slope, wanted_curvature = 0.0, np.zeros(n_objectives), np.zeros(curvature.shape)
    unweighted = np.zeros(n_objectives)
    for row, (order, length) in enumerate(zip(orders, lengths, strict=True)):
        for place in range(length):
            weight = place_weights[place] if row < 5 else 1.0
            more, less = [order[: place + 1]], [order[:place]]
            change = naive.slope(more, preference) - naive.slope(less, preference)
            unweighted += weight * change
            weight *= weights[row]
            wanted_total += weight * (naive.loss(more, preference) - naive.loss(less, preference))
            wanted_slope += weight * change
            wanted_curvature += weight * (naive.curvature(more, preference) - naive.curvature(less, preference))
    assert total == pytest.approx(wanted_total, rel=1e-11)
    np.testing.assert_allclose(slope - 7.0, wanted_slope, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(curvature + 2.0, wanted_curvature, rtol=1e-9, atol=1e-10)
    slope = np.full(n_objectives, 7.0)
    total_gradient(rankings, preference, slope)
    np.testing.assert_allclose(slope - 7.0, unweighted, rtol=1e-9, atol=1e-10)


@pytest.mark.plain
def test_totals_of_long_rankings_keep_their_products_in_range():
    rng = np.random.default_rng(3)
    for scale in (0.1, 70.0, 149.0):
        preference = rng.uniform(-scale, scale, 300)
        orders = np.argsort(np.vstack([preference, -preference]), axis=1).astype(np.int16)
        slope, curvature = np.zeros(300), np.zeros((300, 300))
        rankings = Rankings(orders, np.array([300, 300]), 0, np.ones(300))
        total = total_derivatives(rankings, np.ones(2), preference, slope, curvature)
        assert total == pytest.approx(naive.loss(orders, preference), rel=1e-11)
        np.testing.assert_allclose(slope, naive.slope(orders, preference), atol=1e-9)


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(6))
def test_gradient_and_hessian_agree_with_finite_differences(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    ranking = rng.permutation(size)[: rng.integers(1, size + 1)]
    preference = rng.normal(0.0, 2.0, size)
    step = 1e-5
    shifts = step * np.eye(size)
    slopes = [
        (log_likelihood(ranking, preference + shift) - log_likelihood(ranking, preference - shift)) / (2.0 * step)
        for shift in shifts
    ]
    np.testing.assert_allclose(gradient(ranking, preference), slopes, atol=1e-8)
    bends = [
        (gradient(ranking, preference + shift) - gradient(ranking, preference - shift)) / (2.0 * step)
        for shift in shifts
    ]
    np.testing.assert_allclose(hessian(ranking, preference), bends, atol=1e-8)


@pytest.mark.plain
@examined
@given(problems())
def test_complete_appends_the_unranked_in_order(problem):
    order, length, _ = problem
    out = np.empty(len(order), dtype=np.int64)
    complete(order[:length].copy(), out)
    rest = [k for k in range(len(order)) if k not in order[:length]]
    assert out.tolist() == [*order[:length].tolist(), *rest]


@st.composite
def matrices(draw):
    """A positive definite matrix of any scale and up to a condition of about 1e6, and a generator for more."""
    size = draw(st.integers(1, 13))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    axes = np.linalg.qr(rng.normal(size=(size, size)))[0]
    values = 10.0 ** rng.uniform(-3.0, 3.0, size) * 10.0 ** draw(st.integers(-6, 6))
    matrix = axes * values @ axes.T
    return 0.5 * (matrix + matrix.T), rng


@pytest.mark.plain
@examined
@given(matrices())
def test_factor_and_solves_equal_linear_algebra(problem):
    matrix, rng = problem
    size = len(matrix)
    root = np.zeros_like(matrix)
    assert factor(matrix, root)
    np.testing.assert_allclose(root, naive.upper_factor(matrix), rtol=1e-6, atol=1e-9 * np.abs(root).max())
    np.testing.assert_allclose(root.T @ root, matrix, rtol=1e-12, atol=1e-13 * np.abs(matrix).max())
    wanted = rng.normal(size=size)
    for kernel, product in ((solve, matrix), (solve_upper, root), (solve_transposed, root.T)):
        x = product @ wanted
        kernel(root, x)
        np.testing.assert_allclose(x, wanted, atol=1e-7)
    out = np.empty_like(matrix)
    inverse(root, out)
    np.testing.assert_allclose(out @ matrix, np.eye(size), atol=1e-8)
    columns, lengths = rng.normal(size=(size, 5)), np.empty(5)
    wanted = naive.norms(matrix, columns)
    solved = np.linalg.solve(matrix, columns)
    norms(root, columns, lengths)
    np.testing.assert_allclose(lengths, wanted, rtol=1e-7)
    np.testing.assert_allclose(np.sum(columns**2, axis=0), wanted**2, rtol=1e-7)
    solve_upper_columns(root, columns)
    np.testing.assert_allclose(columns, solved, rtol=1e-6, atol=1e-7 * np.abs(solved).max())


@pytest.mark.plain
@examined
@given(matrices(), st.floats(-3.0, 3.0))
def test_rank_one_update_equals_factoring_anew(problem, size):
    matrix, rng = problem
    root = naive.upper_factor(matrix).copy()
    vector = 10.0**size * np.sqrt(np.trace(matrix)) * rng.normal(size=len(matrix))
    vector[rng.random(len(matrix)) < 0.2] = 0.0
    wanted = matrix + np.outer(vector, vector)
    add_rank_one(root, vector)
    np.testing.assert_allclose(root.T @ root, wanted, rtol=1e-11, atol=1e-12 * np.abs(wanted).max())
    np.testing.assert_array_equal(np.tril(root, -1), 0.0)


@pytest.mark.plain
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 12])
def test_factor_reads_the_upper_triangle_and_may_work_in_place(size):
    matrix = np.cov(np.random.default_rng(size).normal(size=(size, 40))).reshape(size, size)
    wanted = naive.upper_factor(matrix)
    half = np.where(np.tri(size, k=-1, dtype=bool), np.nan, matrix)
    root = np.full((size, size), np.inf)
    assert factor(half, root)
    np.testing.assert_allclose(np.triu(root), wanted, atol=1e-12)
    assert factor(half, half)
    np.testing.assert_allclose(np.triu(half), wanted, atol=1e-12)


@pytest.mark.plain
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9])
def test_factor_refuses_what_is_not_positive_definite(size):
    for place in range(size):
        for pivot in (0.0, -1.0, np.nan):
            matrix = np.eye(size)
            matrix[place, place] = pivot
            assert not factor(matrix, np.zeros((size, size)))
    matrix = np.ones((size, size)) + np.diag(np.r_[np.zeros(1), np.full(size - 1, -0.5)])
    assert factor(matrix, np.zeros((size, size))) == (size == 1)
    with pytest.raises(InvalidSetting, match="a regularizing matrix must be positive definite; raise the ridge"):
        upper_root([[1.0, 2.0], [2.0, 1.0]])


@pytest.mark.plain
def test_many_rank_one_updates_lose_nothing_but_rounding():
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(20_000, 3))
    root = 1e-3 * np.eye(3)
    for vector in vectors:
        add_rank_one(root, vector.copy())
    wanted = 1e-6 * np.eye(3) + vectors.T @ vectors
    np.testing.assert_allclose(root.T @ root, wanted, rtol=1e-12, atol=1e-12 * wanted.max())


@pytest.mark.plain
@examined
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_small_vector_kernels(values):
    x = np.array(values)
    assert sum_of(x) == pytest.approx(math.fsum(values), rel=1e-12, abs=1e-8)
    assert max_abs(x) == np.abs(x).max()
    copy, matrix = np.empty_like(x), np.full((len(x), len(x)), np.nan)
    copy_vector(x, copy)
    assert np.array_equal(copy, x)
    center(copy)
    np.testing.assert_allclose(copy, x - x.mean(), atol=1e-8)
    clear(copy, matrix)
    assert not copy.any()
    assert not matrix.any()
    copy_matrix(np.outer(x, x), matrix)
    assert np.array_equal(matrix, np.outer(x, x))


@pytest.mark.plain
@examined
@given(st.lists(st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 2.0, np.inf]), min_size=1, max_size=40))
def test_best_first_is_numpys_stable_order(values):
    scores = np.array(values)
    assert best_first(scores).tolist() == np.argsort(-scores, kind="stable").tolist()


@pytest.mark.plain
@examined
@given(st.lists(st.floats(-20.0, 20.0), min_size=1, max_size=8), st.sampled_from([0.5, 2.0, 5.0]))
def test_project_finds_the_nearest_centered_point_of_the_box(values, bound):
    point = np.array(values) - np.mean(values)
    moved = point.copy()
    project(moved, bound)
    np.testing.assert_allclose(moved, naive.project(point, bound) if np.abs(point).max() > bound else point, atol=1e-9)
    assert np.abs(moved).max() <= bound
    assert abs(moved.sum()) <= 1e-9


@pytest.mark.plain
def test_complete_rank_leaves_centered_steps_as_they_are():
    rng = np.random.default_rng(4)
    information = naive.curvature([rng.permutation(5) for _ in range(3)], rng.normal(size=5))
    matrix, slope = information.copy(), rng.normal(size=5)
    complete_rank(matrix, 0.0)
    slope -= slope.mean()
    np.testing.assert_allclose(np.linalg.solve(matrix, slope), np.linalg.pinv(information) @ slope, rtol=1e-7)


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(12))
def test_a_boxed_step_ends_at_the_minimum_of_its_quadratic(seed):
    """There a gradient step, projected back, leads nowhere; `violation` measures just that."""
    rng = np.random.default_rng(seed)
    size, bound = int(rng.integers(1, 8)), float(rng.choice([0.3, 1.0, 20.0]))
    estimate = naive.project(rng.normal(size=size), bound)
    matrix = naive.curvature([rng.permutation(size) for _ in range(4)], estimate)
    complete_rank(matrix, 0.1)
    slope, step = 3.0 * rng.normal(size=size), np.empty(size)
    before = naive.project(estimate - slope + slope.mean(), bound)
    assert violation(estimate, slope, bound) == pytest.approx(np.abs(estimate - before).max(), abs=1e-9)
    boxed_step(matrix, slope, bound, 0.0, estimate, step)
    point, slope = estimate + step, slope + matrix @ step
    assert np.abs(point).max() <= bound + 1e-12
    assert abs(point.sum()) <= 1e-9
    np.testing.assert_allclose(naive.project(point - slope + slope.mean(), bound), point, atol=1e-7)
    assert violation(point, slope, bound) <= 1e-7


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(12))
def test_a_batch_fit_is_equation_4(seed):
    """The most likely preference, where a bound holds it and where none does, equals that of a log barrier."""
    rng = np.random.default_rng(seed)
    size, n_rankings = int(rng.integers(1, 7)), int(rng.integers(1, 12))
    bound, ridge = float(rng.choice([0.5, 2.0, 5.0])), float(rng.choice([0.0, 0.3]))
    rankings = [rng.permutation(size)[: rng.integers(1, size + 1)] for _ in range(n_rankings)]
    anchor = Likelihood(bound=bound, ridge=ridge, n_objectives=size).fit(rankings)
    wanted = naive.fit_likelihood(rankings, size, bound=bound, ridge=ridge)
    np.testing.assert_allclose(anchor.estimate, wanted, atol=2e-6)
    np.testing.assert_allclose(anchor.information, naive.curvature(rankings, anchor.estimate), atol=1e-9)


@pytest.mark.plain
@pytest.mark.parametrize(
    ("n_objectives", "params"),
    [
        (1, {}),
        (2, {"bound": 1.0}),
        (4, {"bound": 2.0, "window": 8}),
        (5, {"ridge": 0.5, "window": 16}),
        (5, {"bound": 5.0}),
    ],
)
def test_the_likelihood_anchor_follows_the_exact_fit(n_objectives, params):
    """After every ranking of any length, refits or not, compressed or not: within 0.05 standard errors."""
    rng = np.random.default_rng(n_objectives)
    preference = rng.normal(0.0, 1.5, n_objectives)
    anchor = Likelihood(n_objectives=n_objectives, **params)
    told = {"bound": params.get("bound", 5.0), "ridge": params.get("ridge", 0.0)}
    rankings = []
    for _ in range(40):
        ranking = np.argsort(-(preference + rng.gumbel(size=n_objectives)))[: rng.integers(1, n_objectives + 1)]
        rankings.append(ranking)
        anchor.hear(ranking)
        wanted = naive.fit_likelihood(rankings, n_objectives, **told)
        assert naive.standard_errors(anchor.estimate, wanted, rankings, told["ridge"]) < 0.05
    assert anchor.queries == 40


@pytest.mark.plain
@pytest.mark.parametrize(("window", "lengths"), [(9, (1, 2, 3, 4, 5)), (16, (5,)), (12, (2, 3)), (4, (1,))])
def test_compressing_keeps_gradient_and_hessian(window, lengths):
    """Dropping older rankings leaves the objective as it is around the estimate; single choices, everywhere."""
    rng = np.random.default_rng(window)
    orders = np.array([rng.permutation(5) for _ in range(60)], dtype=np.int16)
    chosen = rng.choice(lengths, 60)
    rankings = [order[:length] for order, length in zip(orders, chosen, strict=True)]
    rows = Likelihood(window=window).rows(1, 5)
    fit_anchor(rows, 0, orders, chosen)
    assert rows.kept[0] <= window
    gradient, hessian = np.empty(5), np.empty((5, 5))
    for at in (rows.estimate[0], rng.normal(size=5))[: 2 if lengths == (1,) else 1]:
        evaluate(problem_of(rows, 0), at, gradient, hessian)
        np.testing.assert_allclose(gradient, naive.slope(rankings, at), atol=1e-9)
        np.testing.assert_allclose(hessian, naive.curvature(rankings, at), atol=1e-9)


@st.composite
def feedbacks(draw):
    """Rewards (n, D), utilities (n,), an anchor (D,) and how to weigh them."""
    size, count = draw(st.integers(1, 6)), draw(st.integers(0, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    anchor = rng.normal(size=size)
    weight, ridge = draw(st.floats(0.01, 0.99)), draw(st.floats(0.01, 10.0))
    return rng.normal(size=(count, size)), rng.normal(size=count), anchor - anchor.mean(), weight, ridge


@pytest.mark.plain
@examined
@given(feedbacks())
def test_equation_5_from_the_whole_history(problem):
    rewards, utilities, anchor, weight, ridge = problem
    estimator = HybridEstimator(n_objectives=len(anchor), feedback_weight=weight, ridge=ridge)
    for reward, utility in zip(rewards, utilities, strict=True):
        estimator.learn(reward, utility)
    np.testing.assert_allclose(estimator.gram, naive.hybrid_matrix(rewards, weight, ridge), atol=1e-12)
    wanted = naive.hybrid_estimate(rewards, utilities, anchor, weight, ridge)
    np.testing.assert_allclose(estimator.estimate(anchor), wanted, rtol=1e-8, atol=1e-9)
    start = (1.0 - weight) * anchor_matrix(len(anchor), 1.0, ridge)
    np.testing.assert_allclose(start, naive.hybrid_matrix(rewards[:0], weight, ridge), atol=1e-14)


@pytest.mark.plain
@examined
@given(
    st.integers(1, 10_000),
    st.lists(st.integers(1, 20), max_size=6),
    st.integers(1, 40),
    st.floats(0.001, 0.999),
    st.sampled_from([0.0, 0.0, 0.1, 0.5]),
)
def test_lemmas_3_and_5_compact_radius(rounds, lengths, n_objectives, weight, corruption):
    shortest = min(lengths) if lengths else 0
    radius = compact_radius(float(rounds), float(sum(lengths)), float(shortest), n_objectives, weight, corruption)
    wanted = naive.compact_radius(rounds, lengths, n_objectives, weight, corruption)
    assert radius == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@st.composite
def streams(draw):
    """Rewards (n, 3) of one arm, one of two, NaN where an objective is missing; some tell nothing at all."""
    entry = st.one_of(st.floats(-100.0, 100.0), st.just(math.nan))
    return draw(st.lists(st.tuples(st.integers(0, 1), st.tuples(entry, entry, entry)), max_size=12))


@pytest.mark.plain
@examined
@given(streams())
def test_observe_with_missing_values(stream):
    arms, clock = Arms(pulls=np.zeros((2, 3)), means=np.zeros((2, 3))), np.zeros(2)
    pulls, means, rounds = np.zeros((2, 3)), np.zeros((2, 3)), 0
    for arm, values in stream:
        reward, filled = np.array(values), np.empty(3)
        whole = observe(arms, clock, arm, reward, filled)
        pulls[arm], means[arm], wanted, wanted_whole, told = naive.observe(pulls[arm], means[arm], reward)
        rounds += told
        assert whole == wanted_whole
        np.testing.assert_allclose(filled, wanted, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(arms.pulls, pulls)
        np.testing.assert_allclose(arms.means, means, rtol=1e-9, atol=1e-9)
        assert clock.tolist() == [rounds, 0]
    assert [never_seen(arms, arm) for arm in (0, 1)] == [not pulls[arm].any() for arm in (0, 1)]


POINTS = st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, 1.0 / 3.0, 2.0, 1e-17, 1e9])] * 3), min_size=1, max_size=9)


@pytest.mark.plain
@examined
@given(POINTS)
@example([(0.0, 0.0, 0.0)])
@example([(1.0, 1.0, 1.0)] * 4)
@example([(1.0, 0.0, 0.0), (1.0, 1e-17, 0.0)])
def test_pareto_front_equals_looking_at_all_pairs(points):
    on_front = np.full(len(points), 9)
    count = mark_front(np.array(points), on_front)
    assert np.flatnonzero(on_front).tolist() == naive.pareto_front(np.array(points))
    assert count == on_front.sum()


@pytest.mark.plain
@examined
@given(
    st.lists(
        st.tuples(st.tuples(*[st.integers(0, 2)] * 2), st.tuples(*[st.integers(-2, 2)] * 2)), min_size=1, max_size=8
    )
)
def test_key_features_are_the_mean_of_the_three_best(table):
    pulls = np.array([row[0] for row in table], dtype=float)
    means = np.array([row[1] for row in table], dtype=float) * (pulls > 0)
    for objective in range(2):
        out = np.full(2, np.nan)
        wanted = naive.key_features(pulls, means, objective)
        assert key_features(Arms(pulls=pulls, means=means), objective, out) == (wanted is not None)
        np.testing.assert_allclose(out, 0.0 if wanted is None else wanted, atol=1e-12)


@pytest.mark.plain
@examined
@given(st.integers(1, 30), st.data())
def test_contamination_of_one_ranking(n_objectives, data):
    length = data.draw(st.integers(0, n_objectives))
    table = uniform_losses(n_objectives)
    assert table.shape == (n_objectives + 1,)
    uniform = table[length]
    assert uniform == pytest.approx(naive.uniform_loss(length, n_objectives), rel=1e-12)
    told, corruption = data.draw(st.floats(0.0, 600.0)), data.draw(st.floats(1e-6, 1.0 - 1e-6))
    wanted = naive.honesty(told, uniform, corruption)
    assert honesty(told, uniform, corruption) == pytest.approx(wanted, rel=1e-9, abs=1e-200)
    assert honesty(told, uniform, 0.0) == 1.0
    assert honesty(told, uniform, 1.0) == 0.0
    assert honesty(1e5, uniform, min(corruption, 0.9)) == pytest.approx(0.0, abs=1e-200)


@pytest.mark.plain
@pytest.mark.parametrize("limit", [2.0, 140.0, 400.0])
@pytest.mark.parametrize("n_objectives", [1, 2, 6, 40])
def test_contamination_of_many_rankings(limit, n_objectives):
    """Losses, how odd each ranking is, how much it is trusted, and the likelihood with counts beside it."""
    rng = np.random.default_rng(n_objectives)
    preference = rng.uniform(-limit, limit, n_objectives)
    orders = np.array([np.argsort(-preference), *(rng.permutation(n_objectives) for _ in range(9))], dtype=np.int16)
    lengths = rng.integers(0, n_objectives + 1, 10)
    rankings = [order[:length] for order, length in zip(orders, lengths, strict=True)]
    uniforms, losses, ratios, trust = uniform_losses(n_objectives), np.empty(10), np.empty(10), np.empty(10)
    contamination.measure(orders, lengths, preference, uniforms, losses, ratios)
    wanted = np.array([naive.loss([ranking], preference) for ranking in rankings])
    np.testing.assert_allclose(losses, wanted, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(ratios, np.exp(np.minimum(wanted - uniforms[lengths], 700.0)), rtol=1e-8)
    for corruption in (1e-3, 0.3, 0.999):
        contamination.measure_trust(orders, lengths, preference, corruption, trust)
        for row in range(10):
            expected = 0.0 if wanted[row] > 700.0 else naive.honesty(wanted[row], uniforms[lengths[row]], corruption)
            assert trust[row] == pytest.approx(expected, rel=1e-8, abs=1e-200)
        for counts in ({}, {"clean": 2.5, "corrupted": 1.5}):
            told = contamination.log_likelihood(
                lengths, uniforms, losses, ratios, counts.get("clean", 0.0), counts.get("corrupted", 0.0), corruption
            )
            expected = naive.mixture_log_likelihood(wanted, uniforms[lengths], corruption, **counts)
            assert told == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert contamination.log_likelihood(lengths, uniforms, losses, ratios, 3.0, 0.0, 0.0) == pytest.approx(
        -wanted.sum()
    )
    assert contamination.log_likelihood(lengths, uniforms, losses, ratios, 0.0, 1.0, 0.0) == -np.inf


@pytest.mark.plain
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # infinity is meant, as in compiled code
@examined
@given(
    st.lists(st.floats(-30.0, 12.0), min_size=1, max_size=8),
    st.sampled_from([0.0, 0.5, 3.0]),
    st.sampled_from([0.0, 0.0, 0.7]),
    st.sampled_from([0.0, -1.0, 2.0]),
    st.floats(0.0, 1.0),
)
@example([0.0], 0.0, 0.0, 0.0, 0.5)
@example([5.0], 0.0, 0.0, 0.0, 0.0)
@example([-5.0], 3.0, 0.0, 0.0, 1.0)
def test_the_most_probable_corruption(odds, clean, corrupted, tilt, start):
    ratios = np.exp(odds)

    def value(corruption):
        total = np.sum(np.log1p(corruption * (ratios - 1.0))) + tilt * corruption
        total += clean * math.log1p(-corruption)
        return float(total + (corrupted * math.log(max(corruption, 1e-300)) if corrupted else 0.0))

    found = best_corruption(ratios, clean, corrupted, tilt, start)
    assert 0.0 <= found <= MOST_CORRUPTION
    wanted = value(naive.best_corruption(value, MOST_CORRUPTION))
    assert value(found) >= wanted - 1e-7 * (1.0 + abs(wanted))


@pytest.mark.plain
@pytest.mark.parametrize("limit", [1.0, 400.0])
def test_doubt_equals_its_sums(limit):
    rng = np.random.default_rng(5)
    preference = rng.uniform(-limit, limit, 5)
    orders = np.array([rng.permutation(5) for _ in range(8)], dtype=np.int16)
    lengths, trust = rng.integers(1, 6, 8), rng.random(8)
    ratios = np.exp(rng.normal(size=8))
    rankings = Rankings(orders, lengths, 0, np.ones(5))
    lost, along = naive.doubt([order[:size] for order, size in zip(orders, lengths, strict=True)], trust, preference)
    cross, information = np.full(5, 2.0), np.eye(5)
    contamination.subtract_doubt(rankings, trust, preference, 3.0, cross, information)
    np.testing.assert_allclose(cross, 2.0 + 3.0 * along, atol=1e-10)
    np.testing.assert_allclose(information, np.eye(5) - lost, atol=1e-10)
    past, information = contamination.Past(np.eye(5), np.zeros(5), np.full(5, 2.0), 4.0, 1.5, 0.0), np.eye(5)
    contamination.doubt(rankings, past, trust, preference, ratios, 0.25, information)
    along = 2.0 + along / (0.25 * 0.75)
    bend = 1.5 / 0.25**2 + 4.0 / 0.75**2 + np.sum(((ratios - 1.0) / (1.0 + 0.25 * (ratios - 1.0))) ** 2)
    np.testing.assert_allclose(information, np.eye(5) - lost - np.outer(along, along) / bend, atol=1e-9)


class Life:
    """A policy that lives through random events, and the history of all that it was told.

    Preferences are negative as often as not; rankings are of any length; rewards have gaps, are zero or are missing;
    utilities are missing at times; arms keep coming.
    """

    USERS = ("ada", "bo", "nobody")

    def __init__(self, name, seed, n_objectives=None, **params):
        self.rng = np.random.default_rng(seed)
        size = int(self.rng.integers(1, 7)) if n_objectives is None else n_objectives
        self.policy = make_policy(name, n_objectives=size, seed=seed, **params)
        self.history = naive.History(size)
        self.preferences = self.rng.normal(-0.5, 1.5, (2, size))
        self.size = size
        self._offer(3)

    def _offer(self, count):
        offer = [int(arm) for arm in self.rng.permutation(7)[:count]]
        self.policy.add_arms(offer)
        self.history.offered(offer)
        return offer

    def live(self, events):
        for _ in range(events):
            who = int(self.rng.integers(2))
            if self.rng.random() < 0.4:
                self._speak(who)
            else:
                self._feel(who)

    def _speak(self, who):
        noisy = self.preferences[who] + self.rng.gumbel(size=self.size)
        ranking = tuple(np.argsort(-noisy)[: self.rng.integers(0, self.size + 1)].tolist())
        self.policy.hear(self.USERS[who], ranking)
        self.history.queries.append((self.USERS[who], ranking))

    def _feel(self, who):
        arm = self.history.arms[int(self.rng.integers(len(self.history.arms)))]
        reward = self.rng.normal(0.5, 1.0, self.size)
        utility = float(self.preferences[who] @ reward + self.rng.normal())
        kind = self.rng.random()
        if kind < 0.1:
            reward = None
        elif kind < 0.3:
            reward[self.rng.random(self.size) < 0.5] = np.nan
            if np.isnan(reward).all():
                reward = None
        elif kind < 0.4:
            reward = np.zeros(self.size)
        if reward is not None and self.rng.random() < 0.15:
            utility = None
        self.policy.learn(self.USERS[who], arm, reward, utility)
        self.history.feedback.append((self.USERS[who], arm, reward, utility))

    def choose(self):
        """Return a user, an offer with arms that may be new, and the decision."""
        user = self.USERS[int(self.rng.integers(3))]
        offer = self._offer(int(self.rng.integers(1, 8)))
        return user, offer, self.policy.choose(user, offer)


def check_reasons(decision, wanted, rtol=1e-8):
    """Hold all the reasons, in units of the largest in each row of them, against the twin's."""
    scale = np.abs(np.where(wanted >= 0.5 * naive.NEVER_SEEN, 0.0, wanted)).max()
    np.testing.assert_allclose(decision.reasons, wanted, rtol=rtol, atol=rtol * scale + 1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["s-ucb", "s-moss"])
def test_scalarized_scores(name, seed):
    params = {"width": 0.7} | ({"horizon": 60} if name == "s-moss" else {})
    life = Life(name, seed, **params)
    for _ in range(8):
        _, offer, decision = life.choose()
        check_reasons(decision, (naive.s_moss if name == "s-moss" else naive.s_ucb)(life.history, offer, **params))
        life.live(5)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["pareto-ucb", "pareto-ts"])
def test_pareto_scores(name, seed):
    life = Life(name, seed, width=0.6)
    for _ in range(8):
        life.live(5)
        chance = np.random.Generator(np.random.PCG64())
        chance.bit_generator.state = life.policy.state()["noise"]
        _, offer, decision = life.choose()
        noise = chance.standard_normal((len(offer), 1 if name == "pareto-ucb" else 1 + life.size))
        points = naive.pareto_points(
            life.history, offer, width=0.6, drawn=noise[:, 1:] if name == "pareto-ts" else None
        )
        front = naive.pareto_front(points)
        below = [0.0 if j in front else naive.NEVER_SEEN for j in range(len(offer))]
        np.testing.assert_allclose(decision.reasons[3], noise[:, 0] - below, rtol=1e-12)
        assert decision.places[0] == max(front, key=lambda j: noise[j, 0])
        means = np.array([life.history.mean(arm) for arm in offer])
        np.testing.assert_allclose(decision.reasons[0], means.sum(axis=1), atol=1e-9)
        np.testing.assert_allclose(decision.reasons[1], (points - means).sum(axis=1), rtol=1e-8)
        assert not decision.reasons[2].any()
        if name == "pareto-ucb":
            assert decision.propensity == pytest.approx(1.0 / len(front))
        else:
            assert math.isnan(decision.propensity)


@pytest.mark.parametrize("seed", range(6))
def test_mo_oful_scores(seed):
    params = {"ridge": 0.3, "radius": 0.4}
    life = Life("mo-oful", seed, exploration=0.0, **params)
    for _ in range(8):
        user, offer, decision = life.choose()
        check_reasons(decision, naive.mo_oful(life.history, user, offer, **params))
        life.live(5)


@pytest.mark.parametrize("seed", range(6))
def test_conucb_scores_and_questions(seed):
    params = {"feedback_weight": 0.4, "ridge": 0.7, "radius": 0.3, "risk": 0.1}
    life = Life("conucb", seed, exploration=0.0, frequency=2.0, **params)
    asked = 0
    for _ in range(10):
        life.live(5)
        user, offer, decision = life.choose()
        check_reasons(decision, naive.conucb(life.history, user, offer, **params))
        question = life.policy.ask(user)
        worth = naive.conucb_questions(life.history, user, feedback_weight=0.4, ridge=0.7, frequency=2.0)
        assert (question is None) == (not worth)
        if question is not None:
            asked += 1
            assert worth[question.objective] >= (1.0 - 1e-9) * max(worth.values())
            answer = round(float(life.rng.random()), 3)
            pulls = np.array([life.history.pulls(arm) for arm in life.history.arms])
            means = np.array([life.history.mean(arm) for arm in life.history.arms])
            life.policy.answer(user, question, answer)
            life.history.answers.append((user, naive.key_features(pulls, means, question.objective), answer))
    assert asked >= 2


@pytest.mark.parametrize("seed", range(6))
def test_prucb_scores(seed):
    params = {
        "ridge": 0.2,
        "normalization": 1.7,
        "bound": 1.4,
        "risk": 0.1,
        "reward_scale": 0.8,
        "radius_scale": 0.6,
    }
    life = Life("prucb", seed, **params)
    for _ in range(8):
        user, offer, decision = life.choose()
        check_reasons(decision, naive.prucb(life.history, user, offer, **params))
        life.live(5)


def heard_anchor(life, user, bound):
    """Return the estimate of an anchor that heard all that a user said, once it is near the exact fit."""
    anchor = Likelihood(bound=bound, n_objectives=life.size)
    rankings = life.history.rankings(user)
    for ranking in rankings:
        anchor.hear(ranking)
    exact = naive.fit_likelihood(rankings, life.size, bound=bound)
    assert naive.standard_errors(anchor.estimate, exact, rankings) < 0.05
    return anchor.estimate


@pytest.mark.parametrize("seed", range(25))
def test_equation_8_and_lemma_3_in_200_states(seed):
    """MO-PQUCB after random histories: everything is computed anew from all rankings, rewards and utilities.

    A third of the lives have corruption (Lemma 5), a fifth put arms never seen first. The anchor is that of a
    `Likelihood` which heard the same, and within 0.05 standard errors of the exact fit.
    """
    bound = (1.0, 2.0, 5.0)[seed % 3]
    corruption = 0.2 if seed % 3 == 1 else 0.0
    params = {"horizon": (20, 300, 10_000)[seed % 3], "risk": 0.05, "reward_scale": 0.9, "radius_scale": 0.5}
    params["unseen_first"] = seed % 5 == 0
    life = Life("mo-pqucb", seed, 1 + seed % 6, corruption=corruption, anchor=Likelihood(bound=bound), **params)
    weight = naive.default_weight(corruption, params.pop("horizon"))
    for _ in range(8):
        user, offer, decision = life.choose()
        anchor = heard_anchor(life, user, bound)
        told = {"feedback_weight": min(weight, 0.99), "ridge": weight, "corruption": corruption, **params}
        check_reasons(decision, naive.mo_pqucb(life.history, user, offer, anchor, **told), rtol=2e-5)
        believed = life.policy.preference(user)
        rewards, utilities = life.history.utilities(user)
        wanted = naive.hybrid_estimate(rewards, utilities, anchor, min(weight, 0.99), weight)
        np.testing.assert_allclose(believed.weights, wanted, atol=2e-5)
        gram = naive.hybrid_matrix(rewards, min(weight, 0.99), weight)
        np.testing.assert_allclose(believed.covariance @ gram, np.eye(life.size), atol=1e-8)
        life.live(5)


@pytest.mark.parametrize("seed", range(4))
def test_greedy_scores(seed):
    life = Life("greedy", seed, feedback_weight=0.3, ridge=0.2, anchor=Likelihood(bound=1.0))
    for _ in range(4):
        life.live(7)
        user, offer, decision = life.choose()
        anchor = heard_anchor(life, user, 1.0)
        wanted = naive.greedy(life.history, user, offer, anchor, feedback_weight=0.3, ridge=0.2)
        check_reasons(decision, wanted, rtol=2e-5)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["mo-pqucb-recipe", "mo-pqucb-gl-recipe"])
def test_anchored_recipe_scores(name, seed):
    params = {"ridge": 0.3, "radius": 1.2, "width": 0.4, "normalization": 3.0}
    weight, anchor = naive.default_weight(0.0, 500), naive.step_anchor
    robust = {}
    if name == "mo-pqucb-gl-recipe":
        weight, anchor, robust = 0.5 * naive.default_weight(0.3, 500), naive.window_anchor, {"corruption": 0.3}
    life = Life(name, seed, horizon=500, **params, **robust)
    for _ in range(6):
        user, offer, decision = life.choose()
        told = anchor(life.history.rankings(user), life.size)
        wanted = naive.anchored_recipe(life.history, user, offer, told, feedback_weight=weight, **params)
        check_reasons(decision, wanted)
        life.live(8)


def test_the_window_of_the_robust_recipe_forgets():
    life = Life("mo-pqucb-gl-recipe", 1, 3)
    for _ in range(130):
        life._speak(0)
    wanted = naive.window_anchor(life.history.rankings("ada"), 3)
    assert len(life.history.rankings("ada")) > 80
    pull = np.eye(3) - 1.0 / 3.0
    left = 1.0 - 0.5 * naive.default_weight(0.2, 2000)
    wanted = np.linalg.solve(left * pull + 0.1 * np.eye(3), left * wanted)
    np.testing.assert_allclose(life.policy.preference("ada").weights, wanted, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_prucb_recipe_scores(seed):
    params = {"ridge": 0.2, "radius": 0.8, "width": 0.3, "normalization": 2.5}
    life = Life("prucb-recipe", seed, **params)
    for _ in range(6):
        user, offer, decision = life.choose()
        check_reasons(decision, naive.prucb_recipe(life.history, user, offer, **params))
        life.live(8)


@pytest.mark.plain
@pytest.mark.skipif(not SWITCHED_OFF, reason="machine code asks NumPy for no memory")
@pytest.mark.parametrize("name", POLICIES)
def test_nothing_is_read_before_it_is_written(monkeypatch, name):
    """What memory happens to hold decides nothing: a run on NaN is one on large numbers, bit for bit."""
    world = Synthetic(
        n_arms=5,
        n_objectives=3,
        n_users=2,
        offered=3,
        users_per_round=2,
        length="random",
        query_rate=0.7,
        feedback="both",
    )
    tape, empty, ends = world.tape(seed=7, horizon=12), np.empty, []
    for rest in (math.nan, 7e8):

        def filled(shape, dtype=float, rest=rest):
            made = empty(shape, dtype)
            made.fill(rest if made.dtype.kind == "f" else not math.isnan(rest))
            return made

        policy = make_policy(name, n_objectives=3)
        with monkeypatch.context() as patch, np.errstate(all="ignore"):  # machine code does not warn either
            patch.setattr(np, "empty", filled)
            parts = [part for _, part in play_tape(policy, tape, np.array([5, 12]))]
            believed = [policy.preference(user) for user in range(2)] if policy.learns_preference else []
        ends.append({"played": np.concatenate([part for both in parts for part in both]), **policy.state()})
        ends[-1] |= {f"believed {k}": np.vstack([one.weights, one.covariance]) for k, one in enumerate(believed)}
    assert [key for key in ends[0] if not same_state(ends[0][key], ends[1][key])] == []
    assert np.isfinite(ends[0]["played"]).all()
