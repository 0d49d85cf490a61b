"""Claims about what rankings tell: nothing of the level, the rest at the rate of Lemma 1; and that radii cover it."""

import itertools
import math
from typing import Any

import numpy as np

from druthers import bounds
from druthers.anchors import Likelihood
from druthers.preferences import anchor_matrix
from druthers.rankings import gradient, hessian, log_likelihood
from druthers.sampling import sample_rankings
from druthers.theory.claims import (
    FAILS,
    HOLDS,
    Chart,
    Finding,
    Line,
    all_of,
    at_least,
    at_most,
    interval,
    resampled,
    share_limits,
)
from druthers.types import Floats


def check_shift(fast: bool) -> Finding:
    """Section 4: Rankings do not change when all weights are shifted."""
    rng = np.random.default_rng(1)
    shifts = np.linspace(-5.0, 5.0, 11)
    worst = np.zeros(len(shifts))
    count = 5 if fast else 60
    for _ in range(count):
        weights = rng.normal(size=5)
        for place, shift in enumerate(shifts):
            for order in itertools.islice(itertools.permutations(range(5)), 30):
                gap = abs(log_likelihood(order[:3], weights) - log_likelihood(order[:3], weights + shift))
                worst[place] = max(worst[place], gap)
    return Finding(
        ran=f"log-probabilities of 30 top-3 rankings under {count} preferences and {len(shifts)} shifts, D = 5",
        figure=f"largest difference {worst.max():.1e}",
        test="an identity, so without chance: differences below 1e-12, rounding of doubles",
        verdict=HOLDS if worst.max() < 1e-12 else FAILS,
        values={"largest": float(worst.max())},
        chart=Chart(
            "shift", "largest difference", [Line("log-probability", shifts, np.maximum(worst, 1e-17))], log_x=False
        ),
    )


def anchor_errors(size: int, length: int, rankings: int, runs: int) -> tuple[Floats, Floats]:
    """Return squared errors of the anchor in some runs, and the Cramer-Rao limits of each; preferences in [0, 1]^D."""
    errors, limits = np.empty(runs), np.empty(runs)
    for run in range(runs):
        rng = np.random.default_rng((3, size, length, rankings, run))
        weights = rng.uniform(0.0, 1.0, size)
        sample = sample_rankings(weights, length=length, rounds=rankings, rng=rng)
        anchor = Likelihood(n_objectives=size).fit(sample.rankings())
        errors[run] = float(np.sum((anchor.estimate - (weights - weights.mean())) ** 2))
        limits[run] = float((1.0 / np.linalg.eigvalsh(anchor.information)[1:]).sum())  # but for the constant
    return errors, limits


def check_rate(fast: bool) -> Finding:
    """Lemma 1: The anchor's error falls like D √(ln t/(m t))."""
    runs = 30 if fast else 60
    sizes = [(4, 1), (4, 4), (8, 2)] if fast else [(4, 1), (4, 4), (8, 2), (8, 8), (16, 4), (16, 16)]
    counts = np.array([200, 800] if fast else [100, 400, 1_600, 6_400])
    lines, squares, ratios = [], [], []
    for size, length in sizes:
        told = [anchor_errors(size, length, int(count), runs) for count in counts]
        means = np.array([interval(np.sqrt(errors)) for errors, _ in told])
        lines.append(Line(f"D = {size}, m = {length}", length * counts, means[:, 0], means[:, 1], means[:, 2]))
        squares += [errors for errors, _ in told]
        ratios.append(told[-1][0] / told[-1][1])

    def fall(*drawn: Floats) -> float:
        roots = 0.5 * np.log([each.mean() for each in drawn]).reshape(len(sizes), len(counts))
        return float(np.polyfit(np.log(counts), roots.T, 1)[0].mean())

    falls = resampled(fall, *squares)
    lost = interval(np.concatenate(ratios))
    return Finding(
        ran=f"likelihood anchors of {runs} preferences for each of {len(lines)} sizes D and lengths m",
        figure=f"slope against m t {falls}; squared error over the Cramér-Rao limit {lost}",
        test="the slope's interval within -1/2 ± 0.05 and the loss's below 1.3; it fails if one lies outside",
        verdict=all_of([at_least(falls, -0.55), at_most(falls, -0.45), at_most(lost, 1.3)]),
        values={"slope": falls._asdict(), "loss": lost._asdict()},
        chart=Chart("m t", "error of the anchor", lines),
    )


RISK = 0.05


def check_radius(fast: bool) -> Finding:
    """Lemma 1: Its bound covers the error.

    Beside how often it does, how loose it is, factor by factor.
    """
    size, length, scale, risk, runs = 5, 3, 1.0, RISK, 30 if fast else 200
    counts = [200, 2_000] if fast else [200, 2_000, 20_000]
    printed = [
        bounds.query_error(t, n_objectives=size, bound=scale, risk=risk, mean_length=length).error for t in counts
    ]
    numbers = [runs if count < 20_000 else 40 for count in counts]
    means, covered, inside = np.zeros((len(counts), 4)), 0, 0
    for place, count in enumerate(counts):
        for run in range(numbers[place]):
            rng = np.random.default_rng((4, count, run))
            weights = rng.uniform(0.0, scale, size)
            told = sample_rankings(weights, length=length, rounds=count, rng=rng).rankings()
            anchor = Likelihood(n_objectives=size).fit(told)
            some = told[:200]  # slopes and curvature at the truth, from which the rest differ by chance alone
            times = count / len(some)
            pull = np.linalg.norm(np.sum([gradient(each, weights) for each in some], axis=0)) * math.sqrt(times)
            bend = -np.sum([hessian(each, weights) for each in some], axis=0) * times
            error = float(np.linalg.norm(anchor.estimate - (weights - weights.mean())))
            wide = bounds.hessian_error(anchor.information, length * count, count, risk)
            means[place] += [error, pull, np.linalg.eigvalsh(bend)[1], wide]
            covered += error <= wide
            inside += error <= printed[place]
        means[place] /= numbers[place]
    errors, pulls, bends, sharper = means.T.tolist()
    gradients = [4.0 * math.sqrt(length * t * math.log(t / risk)) / pull for t, pull in zip(counts, pulls, strict=True)]
    curvature = bounds.curvature(size, scale)
    curvatures = [bend / (length * t * curvature) for t, bend in zip(counts, bends, strict=True)]
    total = sum(numbers)
    start = bounds.first_round(size, scale, counts[-1], risk)
    return Finding(
        ran=f"{total} anchors, D = {size}, m = {length}, weights in [0, 1], ρ = {risk}",
        figure=(
            f"printed bound {printed[-1] / errors[-1]:,.0f} times the error at t = {counts[-1]:,}: 2 for the"
            f" inequality, {gradients[-1]:.1f} for the gradient, {curvatures[-1]:.0f} for the curvature; claimed from"
            f" t = {start:,.0f} on. With the Hessian: {sharper[-1] / errors[-1]:.0f} times, covers {covered}/{total}"
        ),
        test="both bounds cover in at least 95 % of runs by the exact lower limit; they fail by the upper one",
        verdict=all_of(at_least(share_limits(hits, total), 1.0 - risk) for hits in (covered, inside)),
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


def check_noise(fast: bool) -> Finding:
    """Lemma 2: The printed radius covers the noise of utilities.

    The one that does is that with the root of alpha.
    """
    runs, utilities, size, risk = (100, 1_000, 2, RISK) if fast else (300, 3_000, 2, RISK)
    alphas = [1.0 / math.log(2_000), 0.05, 0.01, 0.001]
    rng = np.random.default_rng(5)
    outside = np.zeros((2, len(alphas)))
    for place, alpha in enumerate(alphas):
        anchor = (1.0 - alpha) * ((1.0 + alpha) * np.eye(size) - 1.0 / size)
        given: dict[str, Any] = {"n_objectives": size, "feedback_weight": alpha, "ridge": alpha, "bound": 1.0}
        given["risk"] = risk
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
    limits = [[share_limits(int(each), runs) for each in row] for row in outside]
    worst, least = (max(row, key=lambda limit: limit.mean) for row in limits)
    outside /= runs
    return Finding(
        ran=f"{runs} users, exact anchors, {utilities:,} utilities of rewards and preferences of zeros and ones, λ = α",
        figure=(
            f"outside the printed noise term {outside[0, 0]:.0%} at α = 1/ln 2000, {worst} at worst; "
            f"outside the repaired one at most {least}"
        ),
        test=f"outside in at most {risk:.0%} of users at every α, by the exact limits of the worst share",
        verdict=at_most(worst, risk),
        values={"alphas": alphas, "printed": outside[0].tolist(), "repaired": outside[1].tolist()},
        chart=Chart(
            "α",
            "share outside",
            [Line("printed, α", alphas, outside[0]), Line("repaired, √α", alphas, outside[1])],
            log_y=False,
        ),
    )


def hybrid_parts(rounds: int, alpha: float, corruption: float, seed: int) -> Floats:
    """Return the error of Eq. 5 in the norm of V and its parts: of the anchor, of the level, of the utilities' noise.

    Three objectives, weights that stay within [0, 1], rewards of zeros and ones, and lambda = alpha.
    """
    size, rng = 3, np.random.default_rng((9, seed))
    truth = rng.uniform(0.25, 0.75, size)
    told = sample_rankings(truth, rounds=rounds, rng=rng, corruption=corruption).rankings()
    anchor = Likelihood(n_objectives=size).fit(told).estimate
    rewards = (rng.random((rounds, size)) < 0.5).astype(float)
    noise = np.einsum("nd,nd->n", rng.choice([-0.25, 0.25], (rounds, size)), rewards)
    pull = (1.0 - alpha) * anchor_matrix(size, 1.0, alpha)
    matrix = pull + alpha * rewards.T @ rewards
    centered = truth - truth.mean()
    pushes = [pull @ (anchor - centered), pull @ (centered - truth), alpha * rewards.T @ noise]
    return np.array([math.sqrt(push @ np.linalg.solve(matrix, push)) for push in (sum(pushes), *pushes)])


def reward_misses(rounds: int, arms: int, size: int) -> int:
    """Return how many arms ever leave Lemma 3's width in any objective; one is pulled in every round, so N = t."""
    rng = np.random.default_rng(10)
    t = np.arange(1, rounds + 1)
    width = np.array([bounds.reward_width(float(each), float(each), RISK) for each in t])
    missed = 0
    for _ in range(arms):
        means = (rng.random((rounds, size)) < 0.5).cumsum(axis=0) / t[:, None]
        missed += bool(np.any(np.abs(means - 0.5) > width[:, None]))
    return missed


def check_radii(fast: bool) -> Finding:
    """Lemmas 2, 3, 5: The radii cover what policies believe."""
    runs, arms = (100, 200) if fast else (400, 1_000)
    counts = [100, 400] if fast else [100, 1_000, 4_000]
    size, share = 3, 0.1
    covered = dict.fromkeys(("Lemma 2, printed", "Lemma 2, repaired", "Lemma 5"), runs)
    errors: list[list[float]] = []
    lines: dict[str, list[float]] = {name: [] for name in covered}
    loose = np.zeros(4)
    for count in counts:
        alpha = bounds.optimal_weights(count, risk=RISK)[0]
        given: dict[str, Any] = {"n_objectives": size, "feedback_weight": alpha, "ridge": alpha, "bound": 1.0}
        given["risk"] = RISK
        clean = np.array([hybrid_parts(count, alpha, 0.0, run) for run in range(runs)])
        mixed = np.array([hybrid_parts(count, alpha, share, run) for run in range(runs)])
        repaired = bounds.repaired_radius(count, mean_length=size, **given)
        penalty = bounds.gradient_bound(size, size).lemma_4
        robust = bounds.corrupted_radius(count, min_length=size, corruption=share, penalty=penalty, **given)
        told = {
            "Lemma 2, printed": (bounds.hybrid_radius(count, mean_length=size, **given), clean),
            "Lemma 2, repaired": (repaired.total, clean),
            "Lemma 5": (robust, mixed),
        }
        for name, (radius, parts) in told.items():
            lines[name].append(radius)
            covered[name] = min(covered[name], int(np.sum(parts[:, 0] <= radius)))
        errors.append([clean[:, 0].mean(), mixed[:, 0].mean()])
        loose = np.array([repaired.total, *repaired]) / np.quantile(clean, 0.95, axis=0)
    inside = arms - reward_misses(counts[-1], arms, size)
    shares = {name: share_limits(hits, runs) for name, hits in covered.items()}
    shares["Lemma 3"] = share_limits(inside, arms)
    wanted = {**dict.fromkeys(covered, 1.0 - RISK), "Lemma 3": 1.0 - size * RISK**2 * math.pi**2 / 3.0}
    shown = ", ".join(f"{name} {each}" for name, each in shares.items())
    measured = np.array(errors)
    return Finding(
        ran=f"{runs} users with D = 3, words and utilities, α = λ = 1/ln(t/ρ), clean and ε = {share}, the worst of"
        f" t = {', '.join(f'{count:,}' for count in counts)}; {arms} arms at all times for Lemma 3",
        figure=(
            f"covered: {shown}; the repaired radius is {loose[0]:,.0f} times the error's 95 % point: anchor"
            f" {loose[1]:,.0f}, level {loose[2]:.1f}, noise {loose[3]:.1f}"
        ),
        test="each covers as often as claimed (95 %; 1 - Dρ²π²/3 for Lemma 3), by exact limits",
        verdict=all_of(at_least(shares[name], wanted[name]) for name in shares),
        values={"covered": {name: each._asdict() for name, each in shares.items()}, "loose": loose.tolist()},
        chart=Chart(
            "rounds t",
            "error and radius in the norm of V",
            [
                Line("error", counts, measured[:, 0]),
                *(Line(name, counts, lines[name], dashed=True) for name in list(lines)[:2]),
                Line("error, ε = 0.1", counts, measured[:, 1]),
                Line("Lemma 5", counts, lines["Lemma 5"], dashed=True),
            ],
        ),
    )
