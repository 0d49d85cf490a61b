"""What a claim is, the estimates with intervals that its verdict rests on, and the verdict."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
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
    """What came of checking a claim."""

    ran: str  # what was run
    figure: str  # the statistic with its interval, in words
    test: str  # the rule by which the verdict follows from it
    verdict: str  # HOLDS, FAILS or OPEN
    chart: Chart
    values: dict[str, Any] = field(default_factory=dict)  # the same numbers, for programs


class Game(NamedTuple):
    """A policy in a world, some runs of some rounds: what takes long, so that it is shared between claims and cores."""

    policy: str
    options: tuple[tuple[str, Any], ...]
    world: str
    horizon: int
    runs: int


@dataclass(frozen=True)
class Claim:
    """A statement, where it stands, and the experiment that checks it; `fast` runs are smaller, with the same rule.

    `games` are those that the experiment asks for, which may be played beforehand.
    """

    name: str
    source: str
    statement: str
    check: Callable[[bool], Finding]
    games: Callable[[bool], list[Game]] = lambda fast: []

    @classmethod
    def of(cls, check: Callable[[bool], Finding], games: Callable[[bool], list[Game]] = lambda fast: []) -> "Claim":
        """Return the claim that `check_NAME` checks: its docstring has the source and, after a colon, the statement."""
        source, _, statement = (check.__doc__ or "").partition("\n")[0].partition(": ")
        of_ours = source.startswith(("Our", "Section"))
        name = check.__name__.removeprefix("check_").replace("_", "-")
        return cls(name, source[0].lower() + source[1:] if of_ours else source, statement, check, games)


def mean_line(name: str, rounds: Any, curves: Floats, least: float) -> Line:
    """Return the mean of some curves (runs, rounds) with its interval, but no lower than a share of it, as a line."""
    if len(curves) == 1:
        return Line(name, rounds, curves[0])
    told = np.array([interval(column) for column in curves.T])
    return Line(name, rounds, told[:, 0], np.maximum(told[:, 1], least * told[:, 0]), told[:, 2])


def at_least(told: Interval, wanted: float) -> str:
    """Return the verdict that something is at least as large as claimed: by both limits, or not decided."""
    return HOLDS if told.low >= wanted else FAILS if told.high < wanted else OPEN


def at_most(told: Interval, wanted: float) -> str:
    """Return the verdict that something is at most as large as claimed."""
    return HOLDS if told.high <= wanted else FAILS if told.low > wanted else OPEN


def all_of(verdicts: Iterable[str]) -> str:
    """Return the verdict of a claim with several parts: it fails with any of them, and holds with all."""
    given = set(verdicts)
    return FAILS if FAILS in given else OPEN if OPEN in given else HOLDS
