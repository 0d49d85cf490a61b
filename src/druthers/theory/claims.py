"""What a claim is, what comes of checking it, and the verdict by what was measured."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from druthers.theory.statistics import Interval, interval
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
