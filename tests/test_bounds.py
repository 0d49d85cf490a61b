"""The bounds agree with independent evaluations of their formulas, and hold where they claim to."""

# ruff: noqa: N806 (the symbols of the paper)

from __future__ import annotations

import itertools
import math
import warnings
from pathlib import Path

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from druthers import bounds
from druthers.bounds import estimation, floor
from druthers.errors import InvalidSetting
from druthers.rankings import gradient, hessian

CASES = [
    {"D": 3, "B": "0.5", "t": 200, "rho": "0.05", "m": "1.5", "alpha": "0.13", "lam": "0.2", "T": 5000, "K": 7},
    {"D": 20, "B": "2", "t": 20_000, "rho": "0.01", "m": "20", "alpha": "0.001", "lam": "0.01", "T": 10**6, "K": 40},
    {"D": 6, "B": "1", "t": 77, "rho": "0.3", "m": "6", "alpha": "0.9", "lam": "1.7", "T": 900, "K": 62},
]


@pytest.fixture(params=CASES)
def case(request):
    """One setting, as numbers of fifty digits."""
    with mpmath.workdps(50):
        yield {key: mpf(value) for key, value in request.param.items()}


def same(ours, theirs):
    assert ours == pytest.approx(float(theirs), rel=1e-10)


def test_lemma_1_as_printed(case):
    D, B, t, rho, m = (case[key] for key in ("D", "B", "t", "rho", "m"))
    e = mpmath.exp
    same(bounds.round_constant(int(D), float(B)), 2 * D * (16 * e(2 * B) + 8) ** 2)
    same(bounds.round_constant(int(D), float(B)), 128 * D * (2 * e(2 * B) + 1) ** 2)  # what the proof needs
    first = 2 * D * (16 * e(2 * B) + 8) ** 2 * mpmath.log(case["T"] / rho)
    same(bounds.first_round(int(D), float(B), float(case["T"]), float(rho)), first)
    appendix = 8 * (2 * e(2 * B) + 1) * mpmath.sqrt(2 * D * case["T"] * mpmath.log(case["T"] / rho))
    same(bounds.first_round(int(D), float(B), float(case["T"]), float(rho), appendix=True), appendix)
    # Twice the gradient of Lemma 7 over the curvature of Lemma 6.
    told = bounds.query_error(float(t), n_objectives=int(D), bound=float(B), risk=float(rho), mean_length=float(m))
    bend = m * t / (D * (4 * e(4 * B) + 2 * e(2 * B)))
    same(told.error, 2 * 4 * mpmath.sqrt(m * t * mpmath.log(t / rho)) / bend)
    same(bounds.curvature(int(D), float(B)), bend / (m * t))
    same(bounds.query_constant(int(D), float(B)), 16 * D * e(2 * B) * (2 * e(2 * B) + 1))
    assert told.holds is bool(m * t >= 128 * D * (2 * e(2 * B) + 1) ** 2 * mpmath.log(t / rho))


def test_lemmas_2_and_5_as_printed_and_repaired(case):
    D, B, t, rho, m, a, lam = (case[key] for key in ("D", "B", "t", "rho", "m", "alpha", "lam"))
    e, log, sqrt = mpmath.exp, mpmath.log, mpmath.sqrt
    given = {
        "n_objectives": int(D),
        "feedback_weight": float(a),
        "ridge": float(lam),
        "bound": float(B),
        "risk": float(rho),
    }
    noise = B * D / 2 * sqrt(D * log((1 + a * D * (t - 1) * (lam + 1)) / rho) + log((1 + lam) / (lam * rho)))
    told = D * (32 * e(4 * B) + 16 * e(2 * B)) * sqrt((1 - a) * log(t / rho) / (m * t))
    printed = told + B * sqrt(2 * (1 - a) * lam) + a * noise
    same(bounds.hybrid_radius(float(t), mean_length=float(m), **given), printed)
    repaired = bounds.repaired_radius(float(t), mean_length=float(m), **given)
    same(repaired.anchor, told * sqrt(1 + lam))
    same(repaired.shift, B * sqrt((1 - a) * lam * D))
    inside = D * log(1 + a * (t - 1) / ((1 - a) * (1 + lam))) + log((1 + lam) / lam) + 2 * log(1 / rho)
    same(repaired.noise, sqrt(a) * B * D / 2 * sqrt(inside))
    same(repaired.total, sum(repaired))
    eps, eta = mpf("0.1"), D**3 / 3
    share = eps + 2 * sqrt(eps * log(t / rho) / t)
    robust = D * (8 * e(4 * B) + 4 * e(2 * B)) / sqrt(m) * sqrt(eta**2 * share + 4 * D * log(t / rho) / t)
    wanted = a * noise + sqrt(1 - a) * (robust + B * sqrt(2 * lam))
    same(bounds.corrupted_radius(float(t), min_length=float(m), corruption=0.1, penalty=float(eta), **given), wanted)
    same(bounds.reward_width(float(t), 5.0, float(rho)), sqrt(log(t / rho) / 5))
    # The compact forms, of which Lemma 3 names no constant.
    compact = a * sqrt(D**3 * max(log(a * D * t), 0)) + D * sqrt((1 - a) * log(t) / (m * t))
    same(bounds.compact_radius(float(t), float(m * t), 1.0, int(D), float(a), 0.0), compact)


def test_theorems_2_and_4(case):
    D, B, rho, m, a, lam, T, K = (case[key] for key in ("D", "B", "rho", "m", "alpha", "lam", "T", "K"))
    log, sqrt, e = mpmath.log, mpmath.sqrt, mpmath.exp
    nu, eps, eta = mpf("0.3"), mpf("0.07"), D**3 / 3
    given = {
        "n_objectives": int(D),
        "n_arms": int(K),
        "feedback_weight": float(a),
        "ridge": float(lam),
        "bound": float(B),
        "risk": float(rho),
        "reward_spread": 0.3,
    }
    many = log(T / rho) + log((1 + lam) / (lam * rho))
    wide, rounds = sqrt(T * log(a * T / lam)), sqrt(K * T * log(T / rho))
    first, last = 4 * D**2 * K * a**2 / nu**4, 2 * D * (16 * e(2 * B) + 8) ** 2
    for proof, power, in_c, in_r in ((False, mpf("1.5"), sqrt(a), a), (True, mpf(2), mpf(1), sqrt(a))):
        ours = bounds.theorem_2(float(T), mean_length=float(m), proof=proof, **given)
        same(ours.preference, (sqrt(D**3 / m) + B * sqrt(lam / a) + B * D**power * in_c * sqrt(many)) * wide)
        told = sqrt(K * D**3 / (m * lam)) * log(T) ** 2
        same(ours.reward, told + (B * D + in_r * B * D**power / sqrt(lam) * sqrt(many)) * rounds)
        same(ours.burn_in, max(first, 1 / a, last) * log(T / rho))
        same(ours.total, sum(ours))
        ours = bounds.theorem_4(
            float(T), min_length=float(m), corruption=0.07, penalty=float(eta), proof=proof, **given
        )
        told = D**2 * sqrt(D + eta * eps / a) / sqrt(m) + B * D * sqrt(lam / a)
        same(ours.preference, (told + B * D**power * in_c * sqrt(many)) * wide)
        per_round = B * D + eta * sqrt(D**3 * eps / (m * lam)) + in_r * B * D**power / sqrt(lam) * sqrt(many)
        same(ours.reward, sqrt(K * D**4 / (m * lam)) * log(T) ** 2 + per_round * rounds)
        same(ours.burn_in, max(first, 4 * eps * eta**4 / a**2, 4 * D / a, last) * log(T / rho))
    weights = bounds.optimal_weights(float(T), risk=float(rho), corruption=0.07)
    same(weights[0], min(eps + 1 / log(T / rho), mpf("0.99")))
    same(weights[1], eps + 1 / log(T / rho))


def test_our_theorem_term_by_term(case):
    D, K, T, m = (case[key] for key in ("D", "K", "T", "m"))
    log, sqrt = mpmath.log, mpmath.sqrt
    R, S, sr2, sp2, c0, nu, ridge, tiny = map(mpf, ("2.5", "1.5", "0.3", "0.7", "0.04", "0.6", "0.5", "1e-6"))
    given = {
        "n_objectives": int(D),
        "n_arms": int(K),
        "reward_norm": 2.5,
        "preference_norm": 1.5,
        "reward_variance": 0.3,
        "variance": 0.7,
        "mean_length": float(m),
        "level_share": 0.6,
    }
    L = 2 * log(K * (T + 1)) + log(1 + T)
    for query in (c0, mpf(0)):
        trace = T / sp2 + (m * T if query else 0) + ridge * (D - 1) + D * tiny
        volume = D * log(trace / D) - (D - 1) * log(ridge + tiny) - log(tiny)
        z = sqrt(4 * log(T + 1) + volume)
        places = float(m * T if query else 0)
        same(bounds.guaranteed_square(float(T), n_objectives=int(D), places=places, variance=0.7), z**2)
        c = nu**2 / (4 + nu**2) * min(query or ridge, 1 / sp2)
        same(bounds.information_per_round(0.6, float(query or ridge), 0.7), c)
        if query:
            preference = 4 * R * z * sqrt(T / c)
            reward = 4 * sqrt(sr2) * sqrt(2 * L) * (S * sqrt(K * T) + z * sqrt(D * K / c) * (1 + log(T)))
        else:
            A = 1 / (c * sp2)
            norms = R * sqrt(sp2 * T * A / log(1 + A) * volume)
            preference = 2 * z * (norms + 2 * sqrt(sr2) * sqrt(2 * D * L / c) * sqrt(K * T))
            reward = 4 * sqrt(sr2) * sqrt(2 * L) * (S + 2 * z * sqrt(D / c)) * sqrt(K * T)
        ours = bounds.guaranteed_regret(float(T), query_information=float(query), **given)
        same(ours.preference, preference)
        same(ours.reward, reward)
        same(ours.burn_in, 2 * R * S * (K + (10 + D) * (1 + log(T)) + mpmath.exp(ridge * S**2 / 2) - 1))


def test_step_3_of_our_proof_term_by_term(case):
    D, n, m = (case[key] for key in ("D", "T", "m"))
    log, sqrt, exp = mpmath.log, mpmath.sqrt, mpmath.exp
    S, s2, c0, ridge, tiny = map(mpf, ("1.5", "0.7", "0.04", "0.5", "1e-6"))
    given = {"n_objectives": int(D), "preference_norm": 1.5, "variance": 0.7, "mean_length": float(m)}
    kappa = sqrt(2 / (ridge + c0 * n))

    def curved(a):
        return kappa / 6 * (a + sqrt(D + 2)) ** 3 * exp(kappa * (a + sqrt(D)) + kappa**2)

    q = log(n + 1) + (D - 1) * log(1 + m * n / (ridge * (D - 1))) / 2 + ridge * S**2 / 2 + curved(0)
    b = kappa * q / 2 + sqrt(2 * q + kappa**2 * q**2 / 4)
    trace = n / s2 + ridge * (D - 1) + D * tiny
    w = sqrt(2 * log(n + 1) + D * log(trace / D) - (D - 1) * log(ridge + tiny) - log(tiny))
    a = w + 2 * b + sqrt(tiny) * S
    told = bounds.remainder_bound(float(n), query_information=0.04, **given)
    same(told.anchor, b)
    same(told.estimate, a)
    same(told.cost, (ridge + tiny) * S**2 / 2 + curved(a) + kappa / 6 * b**3 * exp(kappa * b))
    same(told.allowed, log(n + 1))
    start = bounds.guaranteed_start(query_information=0.04, **given)
    for factor in (1.0, 10.0, 1e6):  # from there on, and not before
        later = bounds.remainder_bound(factor * start, query_information=0.04, **given)
        assert later.cost <= later.allowed
    sooner = bounds.remainder_bound(start / 1.02, query_information=0.04, **given)
    assert sooner.cost > sooner.allowed
    same(bounds.guaranteed_start(query_information=0.0, **given), exp((ridge + tiny) * S**2 / 2) - 1)


def test_no_public_function_is_left_out():
    """Each one is called in this file, and compared with something that is not itself."""
    written = Path(__file__).read_text("utf-8")
    for name in bounds.__all__:
        if not isinstance(getattr(bounds, name), type):
            assert f"bounds.{name}(" in written, name


def test_our_theorem_grows_like_the_root():
    given = {"n_objectives": 5, "n_arms": 10, "reward_norm": 2.0, "preference_norm": 1.0, "reward_variance": 0.1}
    given |= {"variance": 0.1, "mean_length": 5.0, "level_share": 0.5}
    for query in (0.1, 0.0):
        far = [bounds.guaranteed_regret(t, query_information=query, **given).total for t in (1e10, 1e14)]
        assert 0.5 < math.log(far[1] / far[0]) / math.log(1e4) < 0.55


@pytest.mark.parametrize(("size", "length"), [(2, 1), (3, 2), (4, 4), (5, 2), (6, 6)])
def test_the_gradient_bound_is_sharp(size, length):
    """No preference gives a longer gradient, and one with all weight on what is ranked last nearly does."""
    rng = np.random.default_rng(size)
    ranking = tuple(range(length))
    steep = np.where(np.arange(size) == (length if length < size else size - 1), 60.0, 0.0)
    longest = max(np.linalg.norm(gradient(ranking, c)) for c in rng.normal(0.0, 8.0, (300, size)))
    told = bounds.gradient_bound(size, length)
    assert longest <= told.sharp + 1e-9
    same(told.sharp, np.linalg.norm(gradient(ranking, steep)))
    same(told.printed, mpmath.sqrt(length + length**2 * (size - length)))
    same(told.lemma_4, mpf(size) ** 3 / 3)
    same(told.authors, (mpf(size) / 3) ** 3)


def listed_law(c, e=math.exp):
    return {
        order: math.prod(e(c[i]) / sum(e(c[j]) for j in order[place:]) for place, i in enumerate(order))
        for order in itertools.permutations(range(len(c)))
    }


def divergence_of(first, second, corruption, e=math.exp, log=math.log):
    """The divergence of what is seen when a share comes from the preference turned around, ranking by ranking."""
    seen = []
    for c in (first, second):
        mine, other = listed_law(c, e), listed_law([-each for each in c], e)
        seen.append({order: (1 - corruption) * mine[order] + corruption * other[order] for order in mine})
    return sum(seen[0][order] * log(seen[0][order] / seen[1][order]) for order in seen[0])


@pytest.mark.parametrize("size", [2, 3, 5, pytest.param(6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("corruption", [0.0, 0.3])
def test_theorem_3_with_exact_divergences(size, corruption):
    rng = np.random.default_rng(size)
    c, other = rng.normal(size=(2, size))
    for second in (-c, other):
        wanted = divergence_of(c, second, corruption)
        assert bounds.corrupted_divergence(c, second, corruption) == pytest.approx(wanted, rel=1e-10)
    mine, turned = listed_law(c), listed_law(-c)
    apart = sum((mine[order] - turned[order]) * math.log(mine[order] / turned[order]) for order in mine)
    assert divergence_of(c, -c, corruption) <= (1 - 2 * corruption) ** 2 * apart + 1e-12
    assert bounds.corrupted_divergence(c, -c, 0.5) == pytest.approx(0.0, abs=1e-12)
    told = bounds.corrupted_lower_bounds(5_000, n_objectives=size, corruption=corruption, bound=2.0)
    # Small gaps: KL is (1 - 2 eps)^2 k |c - c'|^2/2, k the information of a full ranking; both bounds follow.
    k = float(np.trace(bounds.ranking_information(np.zeros(size), size))) / (size - 1)
    half = size // 2
    pair = math.sqrt(1 / (5_000 * (1 - 2 * corruption) ** 2 * k * 2))
    assert told.assouad == pytest.approx(math.sqrt(half / 4) * pair, rel=0.02)
    assert told.le_cam == pytest.approx(0.25 * math.sqrt(2 * half) * pair / math.sqrt(half), rel=0.02)


@pytest.mark.parametrize(("size", "rankings", "corruption"), [(2, 300, 0.0), (3, 5_000, 0.2), (4, 1_000, 0.4)])
def test_theorem_3_to_ten_digits(size, rankings, corruption):
    """The gap at which L KL/2 is a quarter, by fifty digits and another method."""
    told = bounds.corrupted_lower_bounds(rankings, n_objectives=size, corruption=corruption, bound=2.0)
    half = size // 2
    with mpmath.workdps(30):
        eps = mpf(str(corruption))

        def gap_of(flips, near):
            def excess(gap):
                start = [gap / 2] * half + [mpf(0)] * (size % 2) + [-gap / 2] * half
                flipped = [-each if i < flips or i >= size - flips else each for i, each in enumerate(start)]
                return divergence_of(start, flipped, eps, mpmath.exp, mpmath.log) * rankings / 2 - mpf("0.25")

            return mpmath.findroot(excess, (0.9 * near, 1.1 * near))

        same(told.le_cam, mpmath.sqrt(2 * half) * gap_of(half, 4 * told.le_cam / math.sqrt(2 * half)) / 4)
        same(told.assouad, mpmath.sqrt(half) * gap_of(1, 2 * told.assouad / math.sqrt(half)) / 2)
        inner = 2 / ((1 - 2 * eps) * size * mpmath.sqrt(rankings))
        same(told.printed, mpmath.sqrt(mpf(size) / 2) * mpmath.atanh(inner))


def test_from_one_half_on_nothing_helps():
    few, many = (
        bounds.corrupted_lower_bounds(rankings, n_objectives=6, corruption=0.5, bound=1.0) for rankings in (10, 10**9)
    )
    assert few == many
    assert few.le_cam == few.assouad == pytest.approx(math.sqrt(6))
    with pytest.raises(InvalidSetting, match="share"):
        bounds.corrupted_lower_bounds(10, n_objectives=4, corruption=1.2, bound=1.0)


@pytest.mark.parametrize("length", [1, 2, 4])
def test_information_of_a_ranking(length):
    c = np.array([0.3, -0.2, 0.5, 0.1])
    for preference in (c, np.zeros(4)):
        exact = sum(-chance * hessian(order[:length], preference) for order, chance in listed_law(preference).items())
        np.testing.assert_allclose(bounds.ranking_information(preference, length), exact, rtol=1e-10, atol=1e-14)
    values = np.linalg.eigvalsh(100 * exact)
    wide = 2 * math.e**0.3 * 2 * math.sqrt(2) * math.sqrt(200 * math.log(2_000)) / values[1]
    same(bounds.hessian_error(100 * exact, 200.0, 100.0, 0.05, spread=0.3), wide)


def test_information_of_many_objectives_is_drawn():
    """Twelve of them, four ranked: the same as by listing all sets, up to chance."""
    c = np.linspace(0.0, 1.0, 12)
    exact = estimation._information_by_sets(np.exp(c), 4)
    np.testing.assert_allclose(bounds.ranking_information(c, 4, draws=20_000), exact, atol=0.01)


@pytest.mark.parametrize(("seed", "n_users", "n_arms"), [(0, 1, 4), (1, 2, 4), (2, 1, 4), (3, 2, 4), (4, 3, 12)])
def test_the_floor_is_that_of_a_conic_solver(seed, n_users, n_arms):
    """The convex program of the docstring, written for CVXPY; with and without rankings, one user or several."""
    import cvxpy

    rng = np.random.default_rng(seed)
    size, horizon = 2 + seed % 3, 20_000.0
    means, weights = rng.uniform(0, 1, (n_arms, size)), rng.uniform(0, 1, (n_users, size))
    told = None if seed < 2 else np.repeat(bounds.ranking_information(np.zeros(size), 1)[None], n_users, axis=0)
    noise, spread = rng.uniform(0.05, 0.3, size), 0.2
    found = bounds.regret_floor(
        means, weights, horizon, reward_variance=noise, preference_variance=spread, query_information=told
    )
    rounds, utilities = horizon / n_users, weights @ means.T
    best, gaps = utilities.argmax(axis=1), utilities.max(axis=1)[:, None] - utilities
    looks = [(np.outer(mu, mu) + np.diag(noise)) / (mu @ mu + noise.sum()) / spread for mu in means]
    unit = 1_000.0  # of pulls, and every constraint in units of its limit: numbers of one size, for the solver's sake
    pulls = cvxpy.Variable((n_users, n_arms), nonneg=True)
    rules = [pulls[u, best[u]] == rounds / unit for u in range(n_users)]
    for u, a in itertools.product(range(n_users), range(n_arms)):
        if a == best[u]:
            continue
        needed = math.log1p(horizon * gaps[u, a] ** 2 / (2 * n_arms * (weights[u] ** 2 @ noise)))
        limit = unit * gaps[u, a] ** 2 / (2 * min(needed, math.log(horizon)))
        matrix = sum(pulls[u, b] * looks[b] for b in range(n_arms)) + 1e-9 / unit * np.eye(size)
        matrix = matrix + (rounds / unit * told[u] if told is not None else 0)
        known = cvxpy.matrix_frac((means[a] - means[best[u]]) / math.sqrt(limit), matrix)
        seen = (weights[u] ** 2 @ noise) / limit * cvxpy.inv_pos(cvxpy.sum(pulls[:, a]))
        rules.append(known + seen <= 1)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(cvxpy.multiply(gaps, pulls))), rules)
    # Its own tolerances would leave 4e-6; asked for 1e-11 it goes as far as doubles let it, and may say so.
    asked = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        problem.solve(solver=cvxpy.CLARABEL, **asked)
    assert found.regret == pytest.approx(unit * problem.value, rel=1e-7)
    known = bounds.regret_floor(
        means, weights, horizon, reward_variance=noise, preference_variance=spread, relaxed=True
    )
    assert known.relaxed
    assert known.regret <= found.regret * (1 + 1e-6)


def test_a_floor_whose_limits_are_met_but_for_a_trace_is_told():
    """The solver stops 7e-6 of a limit short; a barrier method found the same floor, to nine digits."""
    rng = np.random.default_rng(11)
    means, weights = rng.uniform(0, 0.2, (8, 7)), rng.uniform(0, 0.2, (3, 7))
    found = bounds.regret_floor(means, weights, 1e7, reward_variance=0.001, preference_variance=0.5)
    assert found.regret == pytest.approx(176203.5802153, rel=1e-8)


def floor_program(seed=4):
    rng = np.random.default_rng(seed)
    means, weights = rng.uniform(0, 1, (9, 4)), rng.uniform(0, 1, (3, 4))
    return means, weights, 20_000.0, {"reward_variance": 0.2, "preference_variance": 0.3}


@pytest.mark.parametrize("precision", [1e-4, 1e-2, 0.3])
def test_a_floor_that_is_not_proved_is_refused(monkeypatch, precision):
    """A solver that is content with little calls it a success, at 1.2 times the least value: no floor at all."""
    means, weights, horizon, noise = floor_program()
    monkeypatch.setattr(floor, "PRECISION", precision)
    with pytest.raises(InvalidSetting, match=r"stopped before: Optimization terminated .* above the least"):
        bounds.regret_floor(means, weights, horizon, **noise)


def test_what_satisfies_the_program_and_is_not_its_least_value_is_found_out():
    """The value that is proved stays below the least one wherever its tangents are taken, and meets it there."""
    means, weights, horizon, noise = floor_program()
    program, _ = floor._program(means, weights, horizon, *noise.values(), None)
    solved = floor._solve(program)
    for more in (1.0, 1.1, 2.0):
        value, jacobian = floor._unknown(program, more * solved)
        room, slopes = program.limits / value - 1.0, -(program.limits / value**2)[:, None] * jacobian
        proved = floor._least(program.gaps, room, slopes, more * solved)
        assert room.min() > -1e-6
        assert proved <= program.gaps @ solved * (1.0 + 1e-6)
        assert 1.0 - proved / (more * program.gaps @ solved) >= 0.99 * (1.0 - 1.0 / more) - 1e-6
        if more == 1.0:
            assert proved == pytest.approx(program.gaps @ solved, rel=1e-6)


def test_the_floor_with_known_preferences_is_that_of_lai_and_robbins():
    found = bounds.regret_floor(
        [[1.0, 0.0], [0.0, 1.0], [0.2, 0.5]], [[1.0, 1.3]], 1e5, reward_variance=[0.2, 0.4], preference_variance=0.0
    )
    noise = 0.2 + 1.69 * 0.4
    wanted = sum(2 * noise * math.log1p(1e5 * gap**2 / (2 * 3 * noise)) / gap for gap in (0.3, 1.3 - 0.85))
    assert found.regret == pytest.approx(wanted, rel=1e-9)
    with pytest.raises(InvalidSetting, match="agree in D"):
        bounds.regret_floor([[1.0]], [[1.0, 2.0]], 10, reward_variance=0.1, preference_variance=0.1)
