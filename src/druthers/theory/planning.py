"""What bounds and simulation say for one's own size: rounds to know a preference, regret, what a query is worth."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from druthers import bounds
from druthers.environments import Synthetic
from druthers.errors import InvalidSetting
from druthers.policies import make_policy
from druthers.simulation import simulate
from druthers.theory.base import Chart, Interval, Line, interval

ACCURACIES = (0.5, 0.25, 0.1)
SEED = 30
# As in the paper's synthetic benchmark: weights and mean rewards up to this, and the variance of both noises.
SCALE, NOISE = 5.0, 0.5


class Known(NamedTuple):
    """Queries until the anchor's error is below an accuracy: in practice, by the Hessian's bound, as printed."""

    accuracy: float
    in_practice: float
    by_hessian: float
    printed: float


class Plan(NamedTuple):
    """What to expect.

    Attributes
    ----------
    known
        Queries of a user until the preference is known, up to a shift, to some accuracies.
    regret
        Regret at the horizon by name of policy, over simulated runs.
    per_query
        By how much one query lowers regret, on average.
    bounds
        Our bound and Theorem 2 (printed, proved) for a user, where a bound says anything.
    settings
        What to use.
    chart
        Regret over the rounds.
    """

    known: list[Known]
    regret: dict[str, Interval]
    per_query: Interval
    bounds: dict[str, float]
    settings: dict[str, Any]
    chart: Chart


def plan(
    *,
    objectives: int,
    arms: int,
    users: int,
    horizon: int,
    length: int | None = None,
    corruption: float = 0.0,
    runs: int = 3,
) -> Plan:
    """Return what to expect at a size, with the laws of the paper's synthetic benchmark: [0, 5], noise 0.5.

    Parameters
    ----------
    objectives, arms, users
        Numbers D, K and N.
    horizon
        Rounds of all users together, one user in each.
    length
        How many objectives a query names; all of them by default.
    corruption
        Share of queries that are wrong.
    runs
        Simulated runs.
    """
    size = objectives if length is None else length
    if not 1 <= size <= objectives:
        raise InvalidSetting(f"length must lie between 1 and {objectives} objectives, but got {length!r}")
    if not 0.0 <= corruption < 0.5:
        raise InvalidSetting(
            f"from one half on nothing can be learned from queries: corruption must be less, got {corruption!r}"
        )
    names = {"with queries": 1.0, "without": 0.0}
    policy = "fisher-pqucb-robust" if corruption > 0.0 else "fisher-pqucb"
    marks = np.unique(np.geomspace(min(50, horizon), horizon, 20).round().astype(np.int64))
    curves: dict[str, list[Any]] = {name: [] for name in names}
    for run in range(runs):
        for name, rate in names.items():
            world = Synthetic(
                n_arms=arms,
                n_objectives=objectives,
                n_users=users,
                offered=min(arms, 10),
                scale=SCALE,
                reward_noise=NOISE,
                preference_noise=NOISE,
                length=size,
                query_rate=rate,
                corruption=corruption,
            )
            fresh = make_policy(policy, n_objectives=objectives, seed=run)
            curves[name].append(simulate(fresh, world.tape(seed=(SEED, run), horizon=horizon), marks).regret)
    ends = {name: np.array([curve[-1] for curve in curves[name]]) for name in names}
    lines = [Line(name, marks, np.mean(curves[name], axis=0)) for name in names]
    alpha, ridge = bounds.optimal_weights(max(horizon / users, 3.0), corruption=corruption)
    return Plan(
        known=_known(objectives, size, corruption),
        regret={name: interval(values) for name, values in ends.items()},
        per_query=interval((ends["without"] - ends["with queries"]) / horizon),
        bounds=_bounds(objectives, arms, max(horizon / users, 3.0), size, alpha, ridge),
        settings={"policy": policy, "mo-pqucb feedback_weight": alpha, "mo-pqucb ridge": ridge, "guarantee": False},
        chart=Chart("round", "regret of all users", lines),
    )


def _known(objectives: int, length: int, corruption: float) -> list[Known]:
    """Return how many queries accuracies take; corruption leaves (1 - 2 eps)^2 of the information at worst."""
    weights = np.random.default_rng(SEED).uniform(0.0, SCALE, objectives)
    information = bounds.ranking_information(weights, length, draws=1_000) * (1.0 - 2.0 * corruption) ** 2
    values = np.linalg.eigvalsh(information)[1:]
    told = []
    for accuracy in ACCURACIES:
        need = float((1.0 / values).sum()) / accuracy**2
        by_hessian = _first(lambda t, aim=accuracy: bounds.hessian_error(information * t, length * t, t, 0.05) <= aim)
        printed = _first(
            lambda t, aim=accuracy: (
                bounds.query_error(t, n_objectives=objectives, bound=SCALE, risk=0.05, mean_length=length).error <= aim
            )
        )
        told.append(Known(accuracy, need, by_hessian, printed))
    return told


def _first(holds: Any) -> float:
    """Return about the first number of queries at which something holds for good, within a percent."""
    low, high = 2.0, 1e60
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _bounds(objectives: int, arms: int, rounds: float, length: int, alpha: float, ridge: float) -> dict[str, float]:
    """Return bounds on one user's regret; the constant of O(.) is taken as 1, rounds before they hold are left out."""
    given: dict[str, Any] = {"n_objectives": objectives, "n_arms": arms, "feedback_weight": alpha, "ridge": ridge}
    given |= {"bound": SCALE, "risk": 0.05, "mean_length": float(length), "reward_spread": math.sqrt(NOISE)}
    flat = np.linalg.eigvalsh(bounds.ranking_information(np.zeros(objectives), length))
    ours = bounds.guaranteed_regret(
        rounds,
        n_objectives=objectives,
        n_arms=arms,
        reward_norm=SCALE * math.sqrt(objectives) + 3.0,
        preference_norm=SCALE * math.sqrt(objectives / 3.0),
        reward_variance=1.25 * NOISE,
        variance=1.25 * NOISE,
        mean_length=float(length),
        query_information=float(flat[1]) if objectives > 1 else 1.0,
        level_share=0.8,
    )
    told = {"our theorem": ours.preference + ours.reward}
    for name, proof in (("Theorem 2, printed", False), ("Theorem 2, proved", True)):
        bound = bounds.theorem_2(rounds, proof=proof, **given)
        told[name] = bound.preference + bound.reward
    return told | {"most that can be lost": rounds * SCALE**2 * objectives}
