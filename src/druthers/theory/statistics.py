"""Estimates with intervals, and how regret grows: what verdicts rest on."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from druthers.errors import needs
from druthers.types import Floats


class Interval(NamedTuple):
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        """Return it as a reader wants to see it."""
        return format(self, ".3g")

    def __format__(self, form: str) -> str:
        """Return it with each number in a form of their own."""
        mean, low, high = (format(each, form or ".3g") for each in self)
        return f"{mean} ({low} to {high})"


def interval(values: Any) -> Interval:
    """Return the mean of some independent values and its interval by Student's t.

    Examples
    --------
    >>> print(interval([1.0, 2.0, 3.0]))
    2 (-0.484 to 4.48)
    """
    array = np.asarray(values, dtype=float)
    mean = float(array.mean())
    if len(array) < 2:
        return Interval(mean, -math.inf, math.inf)
    quantile = float(needs("scipy.special", "lab").stdtrit(len(array) - 1, 0.975))
    half = quantile * float(array.std(ddof=1)) / math.sqrt(len(array))
    return Interval(mean, mean - half, mean + half)


def resampled(statistic: Callable[..., float], *runs: Floats, draws: int = 400, seed: int = 0) -> Interval:
    """Return a statistic of some sets of runs (first axis) and its 95 % interval: runs are drawn again, set by set."""
    rng = np.random.default_rng(seed)
    drawn = [statistic(*(each[rng.integers(len(each), size=len(each))] for each in runs)) for _ in range(draws)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(statistic(*runs), float(low), float(high))


def share_limits(hits: int, count: int) -> Interval:
    """Return a share and its exact limits, each of which is wrong with a chance of at most 5 % (Clopper and Pearson).

    Examples
    --------
    >>> print(share_limits(60, 60))
    1 (0.951 to 1)
    """
    special = needs("scipy.special", "lab")
    least = float(special.betaincinv(hits, count - hits + 1, 0.05)) if hits > 0 else 0.0
    most = float(special.betaincinv(hits + 1, count - hits, 0.95)) if hits < count else 1.0
    return Interval(hits / count, least, most)


# Laws of growth that regret is compared with.
LAWS: dict[str, Callable[[Floats], Floats]] = {
    "ln T": np.log,
    "√(T ln T)": lambda t: np.sqrt(t * np.log(t)),
    "√T ln T": lambda t: np.sqrt(t) * np.log(t),
    "T": lambda t: t,
}


def likeliest_law(rounds: Floats, regrets: Floats, draws: int = 400, seed: int = 0) -> tuple[str, dict[str, float]]:
    """Return the law a + b f(T), b >= 0, that fits the mean of some runs (runs, rounds) best, and how often each does.

    Runs are drawn again with replacement; in each draw the law with the least squared relative error wins.
    """
    rng = np.random.default_rng(seed)

    def best(mean: Floats) -> str:
        weights = 1.0 / np.maximum(mean, 1e-12)

        def misfit(name: str) -> float:
            """Return the squared relative error of the best a + b law."""
            design = np.column_stack([weights, LAWS[name](rounds) * weights])
            solution, *_ = np.linalg.lstsq(design, np.ones(len(mean)), rcond=None)
            return math.inf if solution[1] < 0.0 else float(((design @ solution - 1.0) ** 2).sum())

        return min(LAWS, key=misfit)

    wins = Counter(best(regrets[rng.integers(len(regrets), size=len(regrets))].mean(axis=0)) for _ in range(draws))
    return best(regrets.mean(axis=0)), {name: wins[name] / draws for name in LAWS}


def exponents(rounds: Floats, regrets: Floats) -> Floats:
    """Return how regret grows in each run over the last decade: the a of T^a."""
    last = rounds >= rounds[-1] / 10.0
    grown: Floats = np.polyfit(np.log(rounds[last]), np.log(np.maximum(regrets[:, last], 1e-9)).T, 1)[0]
    return grown
