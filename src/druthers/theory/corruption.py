"""Claims about corrupted rankings: what nobody can tell (Theorem 3), and the penalty of Lemma 4."""

import functools
import itertools
import math
from typing import Any

import numpy as np

from druthers import bounds
from druthers.anchors import GroupLasso, Likelihood, Mixture
from druthers.bounds.corruption import corrupted_law, ranking_law
from druthers.sampling import sample_rankings
from druthers.theory.claims import Chart, Finding, Interval, Line, all_of, at_least, at_most, interval, resampled
from druthers.types import Floats, Integers

SHARES = (0.0, 0.2, 0.4, 0.45, 0.5)
COUNTS = (1_000, 10_000, 100_000, 1_000_000)


def guessed(laws: Floats, points: Floats, prior: Integers, rankings: int, rng: np.random.Generator) -> Floats:
    """Return squared errors (runs,) of the best estimator there is: the mean of what is likely, all laws being known.

    `laws` (n, rankings of D) belong to `points` (n, D); `prior` (runs,) says which of them is true in each run.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(laws)
    seen = rng.multinomial(rankings, laws[prior])
    likely = seen @ logs.T
    likely = np.exp(likely - likely.max(axis=1, keepdims=True))
    estimates = (likely / likely.sum(axis=1, keepdims=True)) @ points
    errors: Floats = np.sum((estimates - points[prior]) ** 2, axis=1)
    return errors


def bound_ratio(share: float, rankings: int, runs: int) -> Interval:
    """Return the error of the best estimator over Assouad's bound, on the preferences that the bound is about."""
    told = bounds.corrupted_lower_bounds(rankings, n_objectives=4, corruption=share, bound=1.0).assouad
    half_gap = min(told / math.sqrt(2.0), 1.0)  # weights stay within 1
    points = np.array([half_gap * np.array([a, b, -b, -a]) for a, b in itertools.product((1.0, -1.0), repeat=2)])
    laws = np.array([corrupted_law(point, share) for point in points])
    rng = np.random.default_rng((6, round(100 * share), rankings))
    errors = guessed(laws, points, rng.integers(4, size=runs), rankings, rng)
    return Interval(*(math.sqrt(max(each, 0.0)) / told for each in interval(errors)))


def check_corrupted(fast: bool) -> Finding:
    """Theorem 3: No estimator beats the bound, and none is consistent from 1/2 on."""
    runs, fine = (400, 8_001) if fast else (2_000, 16_001)
    ratios = [bound_ratio(share, count, runs) for share in SHARES for count in (100, 10_000, 1_000_000)]
    # Two objectives, whose preference is anywhere between (2, -2) and (-2, 2), and again all that can be known of it.
    points = np.linspace(-2.0, 2.0, fine)[:, None] * np.array([1.0, -1.0])
    honest = np.array([ranking_law(point) for point in points])
    lines, falls = [], {}
    for share in SHARES:
        laws = (1.0 - share) * honest + share * honest[::-1]  # the points of the line, turned around
        rng = np.random.default_rng((6, round(100 * share)))
        errors = [guessed(laws, points, rng.integers(fine, size=200), count, rng) for count in COUNTS]
        lines.append(Line(f"ε = {share}", COUNTS, [math.sqrt(float(each.mean())) for each in errors]))
        falls[share] = resampled(
            lambda first, last: 0.5 * math.log(last.mean() / first.mean()) / math.log(COUNTS[-1] / COUNTS[1]),
            errors[1],
            errors[-1],
        )
        if share in (0.0, 0.45):
            given: dict[str, Any] = {"n_objectives": 2, "corruption": share, "bound": 2.0}
            told = [bounds.corrupted_lower_bounds(count, **given).assouad for count in COUNTS]
            lines.append(Line(f"bound, ε = {share}", COUNTS, told, dashed=True))
    least = min(ratios, key=lambda ratio: ratio.low)
    below = max((falls[share] for share in SHARES if share < 0.5), key=lambda fall: fall.high)
    return Finding(
        ran=f"the mean of all that is likely, by one who knows ε and the adversary, {runs:,} runs each: on the"
        " bound's own preferences, D = 4, and with two objectives for the exponents",
        figure=(
            f"error over the bound (Assouad) at least {least}, at most {max(each.mean for each in ratios):.2f};"
            f" exponent of the error up to L = {COUNTS[-1]:,}: at ε = 1/2 {falls[0.5]}, below it at most {below}"
        ),
        test="every ratio's lower limit at least 1; exponents below -1/4 for ε < 1/2 and above -0.05 at 1/2",
        verdict=all_of([at_least(least, 1.0 - 1e-9), at_most(below, -0.25), at_least(falls[0.5], -0.05)]),
        values={
            "ratios": [each._asdict() for each in ratios],
            "falls": {str(k): v._asdict() for k, v in falls.items()},
        },
        chart=Chart("rankings L", "root mean squared error", lines),
    )


@functools.cache
def penalty_errors(fast: bool) -> tuple[Floats, float]:
    """Return errors (anchor, share, run) of four anchors, and the largest deviation that Lemma 4's penalty left."""
    size, runs, count = 5, 8 if fast else 30, 150
    errors = np.zeros((len(ANCHORS), len(PENALTY_SHARES), runs))
    largest = 0.0
    for (place, share), run in itertools.product(enumerate(PENALTY_SHARES), range(runs)):
        rng = np.random.default_rng((7, place, run))
        weights = rng.uniform(0.0, 3.0, size)
        told = sample_rankings(weights, rounds=count, rng=rng, corruption=share).rankings()
        lasso = GroupLasso(n_objectives=size, penalty=bounds.gradient_bound(size, size).lemma_4).fit(told)
        largest = max(largest, float(np.abs(lasso.deviations).max(initial=0.0)))
        others = (Likelihood(n_objectives=size), GroupLasso(n_objectives=size), Mixture(n_objectives=size))
        for row, anchor in enumerate([lasso, *(each.fit(told) for each in others)]):
            errors[row, place, run] = np.linalg.norm(anchor.estimate - (weights - weights.mean()))
    return errors, largest


ANCHORS = ("penalty D³/3: as plain", "plain likelihood", "automatic penalty", "mixture")
PENALTY_SHARES = (0.0, 0.2, 0.4)


def _penalty_finding(row: int, fast: bool, told: str) -> Finding:
    """Return whether an anchor is closer to the truth than the plain likelihood where 40 % of rankings are wrong."""
    errors, largest = penalty_errors(fast)
    gain = interval(np.log(errors[row, -1] / errors[1, -1]))
    saved = Interval(*(1.0 - math.exp(each) for each in (gain.mean, gain.high, gain.low)))
    chart = [Line(name, PENALTY_SHARES, errors[place].mean(axis=1)) for place, name in enumerate(ANCHORS)]
    return Finding(
        ran=f"{errors.shape[2]} users, D = 5, 150 full rankings, fresh permutations; the same for every anchor",
        figure=f"{told.format(largest=largest)}error at ε = 0.4 below the plain likelihood's by a share of {saved}",
        test="robust if the paired interval lies above 0.05, not if it lies below",
        verdict=at_least(saved, 0.05),
        values={"largest_deviation": largest, "saved": saved._asdict()},
        chart=Chart("corruption ε", "error of the anchor", chart, log_x=False, log_y=False),
    )


def check_penalty(fast: bool) -> Finding:
    """Lemma 4: With η ≥ D³/3 the estimator is robust.

    That penalty makes all deviations zero, so that the robust estimate is the plain one.
    """
    return _penalty_finding(0, fast, "largest deviation of a ranking {largest:.1e}; ")


def check_automatic(fast: bool) -> Finding:
    """Our penalty: With the automatic one it is."""
    return _penalty_finding(2, fast, "")


def check_consistency(fast: bool) -> Finding:
    """Lemma 4: Below one half the estimator is consistent."""
    size, share, runs = 4, 0.3, 10 if fast else 30
    counts = [100, 1_000] if fast else [100, 1_000, 10_000]
    errors = np.zeros((2, len(counts), runs))
    for (place, count), run in itertools.product(enumerate(counts), range(runs)):
        rng = np.random.default_rng((8, run))
        weights = rng.uniform(0.0, 3.0, size)
        told = sample_rankings(weights, rounds=count, rng=rng, corruption=share).rankings()
        for row, anchor in enumerate([Likelihood(n_objectives=size), Mixture(n_objectives=size)]):
            errors[row, place, run] = np.linalg.norm(anchor.fit(told).estimate - (weights - weights.mean()))
    fall, other = (interval(np.log(each[-1] / each[0]) / math.log(counts[-1] / counts[0])) for each in errors)
    means = errors.mean(axis=2)
    return Finding(
        ran=f"{runs} users, D = {size}, ε = {share}, fresh permutations; Lemma 4's estimator is the plain likelihood",
        figure=f"exponent of its error {fall}, of the mixture's {other}",
        test="consistent if the exponent's interval lies below -0.25, not if above; it would be -0.5",
        verdict=at_most(fall, -0.25),
        values={"exponent": fall._asdict(), "mixture": other._asdict()},
        chart=Chart("rankings", "error", [Line("Lemma 4", counts, means[0]), Line("mixture", counts, means[1])]),
    )
