"""Claims about rankings alone: shifts, the rate of Lemma 1, its radius, corruption, the penalty of Lemma 4."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from druthers import bounds
from druthers.anchors import GroupLasso, Likelihood, Mixture
from druthers.rankings import gradient, hessian, log_likelihood, sample_rankings
from druthers.theory.base import FAILS, HOLDS, OPEN, Chart, Finding, Line, interval, slope
from druthers.types import Floats


def check_shift(fast: bool) -> Finding:
    """Rankings say nothing about the level of a preference."""
    rng = np.random.default_rng(1)
    shifts = np.linspace(-5.0, 5.0, 11)
    worst = np.zeros(len(shifts))
    count = 20 if fast else 200
    for _ in range(count):
        weights = rng.normal(size=5)
        for place, shift in enumerate(shifts):
            for order in itertools.islice(itertools.permutations(range(5)), 30):
                gap = abs(log_likelihood(order[:3], weights) - log_likelihood(order[:3], weights + shift))
                worst[place] = max(worst[place], gap)
    return Finding(
        ran=f"log-probabilities of 30 top-3 rankings under {count} preferences and {len(shifts)} shifts, D = 5",
        figure=f"largest difference {worst.max():.1e}",
        test="differences below 1e-12, rounding of doubles",
        verdict=HOLDS if worst.max() < 1e-12 else FAILS,
        values={"largest": float(worst.max())},
        chart=Chart(
            "shift", "largest difference", [Line("log-probability", shifts, np.maximum(worst, 1e-17))], log_x=False
        ),
    )


def anchor_errors(size: int, length: int, rankings: int, runs: int, seed: int) -> Floats:
    """Return the error of the anchor in some runs, each with a preference of its own, uniform on [0, 1]."""
    errors = []
    for run in range(runs):
        rng = np.random.default_rng((seed, size, length, rankings, run))
        weights = rng.uniform(0.0, 1.0, size)
        sample = sample_rankings(weights, length=length, rounds=rankings, rng=rng)
        anchor = Likelihood(n_objectives=size).fit(sample.rankings())
        errors.append(float(np.linalg.norm(anchor.estimate - (weights - weights.mean()))))
    return np.array(errors)


def check_rate(fast: bool) -> Finding:
    """Lemma 1: the error of the anchor falls like D (ln t/(m t))^(1/2)."""
    runs = 8 if fast else 40
    lines, slopes, ratios = [], [], []
    for size, length in [(4, 1), (4, 4), (8, 2)] if fast else [(4, 1), (4, 4), (8, 2), (8, 8), (16, 4), (16, 16)]:
        counts = np.array([100, 400, 1_600] if fast else [100, 400, 1_600, 6_400])
        errors = [anchor_errors(size, length, int(count), runs, 3) for count in counts]
        means = np.array([interval(each) for each in errors])
        lines.append(Line(f"D = {size}, m = {length}", length * counts, means[:, 0], means[:, 1], means[:, 2]))
        slopes.append(slope(np.log(counts), np.log(means[:, 0]))[0])
        limit = np.trace(np.linalg.pinv(bounds.ranking_information(np.zeros(size), length) * counts[-1]))
        ratios.append(math.sqrt(float((errors[-1] ** 2).mean())) / math.sqrt(limit))
    told = interval(slopes)
    return Finding(
        ran=f"likelihood anchors of {runs} preferences for each of {len(lines)} sizes D and lengths m",
        figure=f"slope {told}; error over the Cramér-Rao limit at c = 0: {min(ratios):.2f} to {max(ratios):.2f}",
        test="-1/2 in the interval of slopes widened by 0.05, and the error within 2 of the limit",
        verdict=HOLDS if told.low - 0.05 <= -0.5 <= told.high + 0.05 and max(ratios) < 2.0 else FAILS,
        values={"slopes": slopes, "ratios": ratios},
        chart=Chart("m t", "error of the anchor", lines),
    )


def check_radius(fast: bool) -> Finding:
    """Lemma 1's bound: how often it holds, and how loose it is, factor by factor."""
    size, length, scale, risk, runs = 5, 3, 1.0, 0.05, 30 if fast else 200
    counts = [200, 2_000] if fast else [200, 2_000, 20_000]
    errors, gradients, curvatures, sharper, covered = [], [], [], [], 0
    for count in counts:
        row = np.zeros(4)
        for run in range(runs if count < 20_000 else 40):
            rng = np.random.default_rng((4, count, run))
            weights = rng.uniform(0.0, scale, size)
            told = sample_rankings(weights, length=length, rounds=count, rng=rng).rankings()
            anchor = Likelihood(n_objectives=size).fit(told)
            some = told[:200]  # slopes and curvature at the truth, from which the rest differ by chance alone
            pull = np.linalg.norm(np.sum([gradient(each, weights) for each in some], axis=0)) * math.sqrt(
                count / len(some)
            )
            bend = -np.sum([hessian(each, weights) for each in some], axis=0) * (count / len(some))
            error = float(np.linalg.norm(anchor.estimate - (weights - weights.mean())))
            wide = bounds.hessian_error(anchor.information, length * count, count, risk)
            row += [error, pull, np.linalg.eigvalsh(bend)[1], wide]
            covered += error <= wide
        row /= runs if count < 20_000 else 40
        errors.append(row[0])
        gradients.append(4.0 * math.sqrt(length * count * math.log(count / risk)) / row[1])
        curvatures.append(row[2] / (length * count * bounds.curvature(size, scale)))
        sharper.append(row[3])
    total = sum(runs if count < 20_000 else 40 for count in counts)
    printed = [
        bounds.query_error(count, n_objectives=size, bound=scale, risk=risk, mean_length=length).error
        for count in counts
    ]
    start = bounds.first_round(size, scale, counts[-1], risk)
    return Finding(
        ran=f"{total} anchors, D = {size}, m = {length}, weights in [0, 1], ρ = {risk}",
        figure=(
            f"printed bound {printed[-1] / errors[-1]:,.0f} times the error at t = {counts[-1]:,}: 2 for the"
            f" inequality, {gradients[-1]:.1f} for the gradient, {curvatures[-1]:.0f} for the curvature; claimed from"
            f" t = {start:,.0f} on. With the Hessian: {sharper[-1] / errors[-1]:.0f} times, covers {covered}/{total}"
        ),
        test="the Hessian's bound covers in at least 95 % of runs; useful if within 100 times the error",
        verdict=HOLDS if covered >= 0.95 * total else FAILS,
        values={
            "printed": printed,
            "hessian": sharper,
            "error": errors,
            "gradient": gradients,
            "curvature": curvatures,
        },
        chart=Chart(
            "rankings t",
            "bound on the error",
            [
                Line("error", counts, errors),
                Line("with the Hessian", counts, sharper, dashed=True),
                Line("as printed", counts, printed, dashed=True),
            ],
        ),
    )


def check_noise_radius(fast: bool) -> Finding:
    """Lemma 2: the radius that covers the noise of utilities is that with the root of alpha, not the printed one."""
    runs, utilities, size, risk = (60, 1_000, 2, 0.05) if fast else (300, 3_000, 2, 0.05)
    alphas = [1.0 / math.log(2_000), 0.05, 0.01, 0.001]
    rng = np.random.default_rng(5)
    outside = np.zeros((2, len(alphas)))
    for place, alpha in enumerate(alphas):
        anchor = (1.0 - alpha) * ((1.0 + alpha) * np.eye(size) - 1.0 / size)
        given: dict[str, Any] = {
            "n_objectives": size,
            "feedback_weight": alpha,
            "ridge": alpha,
            "bound": 1.0,
            "risk": risk,
        }
        repaired = bounds.repaired_radius(utilities, mean_length=1.0, **given).noise
        whole = bounds.hybrid_radius(utilities, mean_length=1.0, **given)
        told = bounds.query_constant(size, 1.0) * math.sqrt((1 - alpha) * math.log(utilities / risk) / utilities)
        printed = whole - told - math.sqrt(2.0 * (1.0 - alpha) * alpha)
        for _ in range(runs):
            rewards = (rng.random((utilities, size)) < 0.5).astype(float)
            noise = np.einsum("nd,nd->n", (rng.random((utilities, size)) < 0.5) - 0.5, rewards)
            matrix = anchor + alpha * rewards.T @ rewards
            pushed = alpha * rewards.T @ noise
            error = math.sqrt(pushed @ np.linalg.solve(matrix, pushed))
            outside[:, place] += [error > printed, error > repaired]
    outside /= runs
    return Finding(
        ran=f"{runs} users, exact anchors, {utilities:,} utilities of rewards and preferences of zeros and ones, λ = α",
        figure=(
            f"outside the printed noise term {outside[0, 0]:.0%} at α = 1/ln 2000, {outside[0, -1]:.0%} at α = 0.001; "
            f"outside the repaired one at most {outside[1].max():.1%}"
        ),
        test=f"outside in at most {risk:.0%} of users at every α",
        verdict=HOLDS if outside[0].max() <= risk else FAILS,
        values={"alphas": alphas, "printed": outside[0].tolist(), "repaired": outside[1].tolist()},
        chart=Chart(
            "α",
            "share outside",
            [Line("printed, α", alphas, outside[0]), Line("repaired, √α", alphas, outside[1])],
            log_y=False,
        ),
    )


def check_corrupted(fast: bool) -> Finding:
    """Theorem 3: no estimator errs less than the bound, and from one half on none is consistent."""
    shares = [0.0, 0.2, 0.4, 0.45, 0.5]
    counts = [200, 2_000] if fast else [200, 2_000, 20_000]
    runs, gap = (40, 0.4) if fast else (200, 0.4)
    lines, ratios, stuck = [], [], []
    for share in shares:
        errors = []
        for count in counts:
            missed = []
            for run in range(runs):
                # Two objectives, and an adversary that swaps them: the share of wins tells all there is.
                rng = np.random.default_rng((6, count, run))
                weights = np.array([gap / 2, -gap / 2]) * rng.choice([-1.0, 1.0])
                honest = 1.0 / (1.0 + math.exp(weights[1] - weights[0]))
                wins = rng.binomial(count, (1.0 - share) * honest + share * (1.0 - honest)) / count
                clean = (wins - share) / (1.0 - 2.0 * share) if share < 0.5 else 0.5
                clean = min(max(clean, 1e-3), 1.0 - 1e-3)
                half = 0.5 * min(max(math.log(clean / (1.0 - clean)), -2.0), 2.0)
                missed.append(2.0 * (half - weights[0]) ** 2)
            errors.append(math.sqrt(float(np.mean(missed))))
        lines.append(Line(f"ε = {share}", counts, errors))
        told = [
            bounds.corrupted_lower_bounds(count, n_objectives=2, corruption=share, bound=gap / 2) for count in counts
        ]
        if share < 0.5:
            ratios += [error / bound.assouad for error, bound in zip(errors, told, strict=True)]
        if share in (0.0, 0.4):
            lines.append(Line(f"bound, ε = {share}", counts, [each.assouad for each in told], dashed=True))
        if share == 0.5:
            stuck = [error / errors[0] for error in errors]
    return Finding(
        ran=f"the maximum likelihood that knows ε and the adversary, two objectives {gap} apart, {runs} runs each",
        figure=(
            f"error over the bound (Assouad) {min(ratios):.1f} to {max(ratios):.1f}; at ε = 1/2 the error after "
            f"{counts[-1]:,} rankings is {stuck[-1]:.2f} times that after {counts[0]}"
        ),
        test="every ratio at least 1, and at one half no fall with the number of rankings (at least 0.9)",
        verdict=HOLDS if min(ratios) >= 1.0 and stuck[-1] >= 0.9 else FAILS,
        values={"ratios": ratios, "at_one_half": stuck},
        chart=Chart("rankings L", "root mean squared error", lines),
    )


def check_penalty(fast: bool) -> Finding:
    """Lemma 4: its penalty makes all deviations zero, so that the robust estimate is the plain one."""
    size, runs, count = 5, 4 if fast else 20, 150
    shares = [0.0, 0.2, 0.4]
    errors = np.zeros((4, len(shares), runs))
    largest = 0.0
    for place, share in enumerate(shares):
        for run in range(runs):
            rng = np.random.default_rng((7, place, run))
            weights = rng.uniform(0.0, 3.0, size)
            told = sample_rankings(weights, rounds=count, rng=rng, corruption=share).rankings()
            lasso = GroupLasso(n_objectives=size, penalty=size**3 / 3.0).fit(told)
            largest = max(largest, float(np.abs(lasso.deviations).max(initial=0.0)))
            anchors = [lasso, Likelihood(n_objectives=size), GroupLasso(n_objectives=size), Mixture(n_objectives=size)]
            for row, anchor in enumerate(anchors):
                fitted = anchor if row == 0 else anchor.fit(told)
                errors[row, place, run] = np.linalg.norm(fitted.estimate - (weights - weights.mean()))
    apart = float(np.abs(errors[0] - errors[1]).max())
    gain = interval(errors[0, -1] / errors[2, -1])
    names = ("penalty D³/3", "plain likelihood", "automatic penalty", "mixture")
    return Finding(
        ran=f"{runs} users, D = {size}, {count} full rankings, fresh permutations",
        figure=(
            f"largest deviation {largest:.1e}; apart from the plain likelihood by {apart:.1e}; at ε = 0.4 its error is "
            f"{gain} times that of the automatic penalty"
        ),
        test="robust if some deviation is not zero",
        verdict=FAILS if largest < 1e-9 else HOLDS,
        values={"largest_deviation": largest, "gain_of_automatic": gain._asdict()},
        chart=Chart(
            "corruption ε",
            "error of the anchor",
            [Line(name, shares, errors[row].mean(axis=1)) for row, name in enumerate(names)],
            log_x=False,
            log_y=False,
        ),
    )


def check_consistency(fast: bool) -> Finding:
    """Lemma 4: below one half the estimator is said to be consistent."""
    size, share, runs = 4, 0.3, 6 if fast else 30
    counts = [100, 1_000] if fast else [100, 1_000, 10_000]
    errors = np.zeros((2, len(counts), runs))
    for place, count in enumerate(counts):
        for run in range(runs):
            rng = np.random.default_rng((8, run))
            weights = rng.uniform(0.0, 3.0, size)
            told = sample_rankings(weights, rounds=count, rng=rng, corruption=share).rankings()
            for row, anchor in enumerate([Likelihood(n_objectives=size), Mixture(n_objectives=size)]):
                errors[row, place, run] = np.linalg.norm(anchor.fit(told).estimate - (weights - weights.mean()))
    fall = interval(np.log(errors[0, -1] / errors[0, 0]) / math.log(counts[-1] / counts[0]))
    other = interval(np.log(errors[1, -1] / errors[1, 0]) / math.log(counts[-1] / counts[0]))
    means = errors.mean(axis=2)
    return Finding(
        ran=f"{runs} users, D = {size}, ε = {share}, fresh permutations; Lemma 4's estimator is the plain likelihood",
        figure=f"exponent of its error {fall}, of the mixture's {other}",
        test="consistent if the exponent's interval lies below -0.25; it would be -0.5",
        verdict=HOLDS if fall.high < -0.25 else FAILS if fall.low > -0.25 else OPEN,
        values={"exponent": fall._asdict(), "mixture": other._asdict()},
        chart=Chart("rankings", "error", [Line("Lemma 4", counts, means[0]), Line("mixture", counts, means[1])]),
    )
