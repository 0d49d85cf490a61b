"""What a claim is, what comes of checking it, and how estimates are compared with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from druthers.types import Floats

# What can be said of a claim, by its test: that it stands, that it does not, or that this was not enough to tell.
HOLDS, FAILS, OPEN = "holds", "does not hold", "not decided"


class Line(NamedTuple):
    """One line of a figure; `low` and `high` are a band around it, dashed ones are bounds."""

    name: str
    x: Any
    y: Any
    low: Any = None
    high: Any = None
    dashed: bool = False


class Chart(NamedTuple):
    """The figure of a claim."""

    x: str
    y: str
    lines: Sequence[Line]
    log_x: bool = True
    log_y: bool = True


@dataclass(frozen=True)
class Finding:
    """What came of checking a claim.

    Attributes
    ----------
    ran
        What was run.
    figure
        The statistic with its interval, in words.
    test
        The rule by which the verdict follows from it.
    verdict
        "holds", "does not hold" or "not decided".
    values
        The same numbers, for programs.
    chart
        Its figure.
    """

    ran: str
    figure: str
    test: str
    verdict: str
    chart: Chart
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A statement, where it stands, and the experiment that checks it; `fast` runs are smaller, with the same rule."""

    name: str
    source: str
    statement: str
    check: Callable[[bool], Finding]


class Interval(NamedTuple):
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        """Return it as a reader wants to see it."""
        return f"{self.mean:.3g} ({self.low:.3g} to {self.high:.3g})"


def interval(values: Any) -> Interval:
    """Return the mean of some independent values and its interval by the normal law, widened for few of them.

    Examples
    --------
    >>> print(interval([1.0, 2.0, 3.0]))
    2 (-0.484 to 4.48)
    """
    array = np.asarray(values, dtype=float)
    mean = float(array.mean())
    if len(array) < 2:
        return Interval(mean, -math.inf, math.inf)
    degrees = len(array) - 1
    quantile = _student(degrees)
    half = quantile * float(array.std(ddof=1)) / math.sqrt(len(array))
    return Interval(mean, mean - half, mean + half)


def _student(degrees: int) -> float:
    """Return the 97.5 % point of Student's t."""
    table = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
    if degrees in table:
        return table[degrees]
    z = 1.959964  # Cornish and Fisher, within 0.002 from ten degrees on
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def slope(x: Any, y: Any) -> tuple[float, float]:
    """Return the least-squares slope of y against x and its standard error."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    spread = float(((a - a.mean()) ** 2).sum())
    rise = float(((a - a.mean()) * (b - b.mean())).sum() / spread)
    rest = b - b.mean() - rise * (a - a.mean())
    return rise, math.sqrt(float((rest**2).sum()) / max(len(a) - 2, 1) / spread)


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
    wins = dict.fromkeys(LAWS, 0)
    for _ in range(draws):
        mean = regrets[rng.integers(len(regrets), size=len(regrets))].mean(axis=0)
        wins[min(LAWS, key=lambda name: _misfit(LAWS[name](rounds), mean))] += 1
    mean = regrets.mean(axis=0)
    best = min(LAWS, key=lambda name: _misfit(LAWS[name](rounds), mean))
    return best, {name: count / draws for name, count in wins.items()}


def _misfit(law: Floats, mean: Floats) -> float:
    """Return the squared relative error of the best a + b law."""
    weights = 1.0 / np.maximum(mean, 1e-12)
    design = np.column_stack([weights, law * weights])
    solution, *_ = np.linalg.lstsq(design, np.ones(len(mean)), rcond=None)
    if solution[1] < 0.0:
        return math.inf
    return float(((design @ solution - 1.0) ** 2).sum())


def exponents(rounds: Floats, regrets: Floats) -> Floats:
    """Return how regret grows in each run over the last decade: the a of T^a."""
    last = rounds >= rounds[-1] / 10.0
    logs = np.log(rounds[last])
    return np.array([slope(logs, np.log(np.maximum(run[last], 1e-9)))[0] for run in regrets])
