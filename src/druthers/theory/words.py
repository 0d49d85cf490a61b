"""Claims about what rankings alone can tell: nothing about the level, the rest at the rate of Lemma 1."""

import itertools

import numpy as np

from druthers.anchors import Likelihood
from druthers.rankings import log_likelihood
from druthers.sampling import sample_rankings
from druthers.theory.claims import FAILS, HOLDS, Chart, Finding, Line, all_of, at_least, at_most
from druthers.theory.statistics import interval, resampled
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
