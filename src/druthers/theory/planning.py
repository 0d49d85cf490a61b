"""What bounds and simulation say for one's own size: rounds to know a preference, regret, what a query is worth."""

import math
from typing import Any, NamedTuple

import numpy as np

from druthers import bounds
from druthers.engines import Processes, Progress, Watch, unwatched
from druthers.environments import Synthetic
from druthers.errors import InvalidSetting, require
from druthers.policies import make_policy
from druthers.simulation import Run, simulate
from druthers.theory.claims import Chart, Interval, interval, mean_line
from druthers.theory.games import our_bound

ACCURACIES = (0.5, 0.25, 0.1)
SEED = 30
# Users by whom it is measured how many rounds it takes to know one.
KNOWN_USERS = 8
# As in the paper's synthetic benchmark: weights and mean rewards up to this, and the variance of both noises.
SCALE, NOISE = 5.0, 0.5


class Known(NamedTuple):
    """When a preference is known to an accuracy, the Euclidean distance from the truth."""

    accuracy: float
    # A user's rounds until the policy's estimate is that close on average, level included: simulated, with words and
    # utilities; infinite where the simulation did not get there.
    rounds: float
    # Queries, and nothing else, until the centered preference is that close:
    in_practice: float  # at the Cramer-Rao limit
    by_hessian: float  # by Lemma 1 with the Hessian
    printed: float


class Plan(NamedTuple):
    """What to expect."""

    known: list[Known]  # what it takes to know a user's preference to some accuracies
    regret: dict[str, Interval]  # at the horizon by name of policy, over simulated runs
    per_query: Interval  # by how much one query lowers regret, on average
    bounds: dict[str, float]  # ours and Theorem 2 (printed, proved) for a user, where a bound says anything
    settings: dict[str, Any]  # what to use
    chart: Chart  # regret over the rounds


def plan(
    *,
    objectives: int,
    arms: int,
    users: int,
    horizon: int,
    length: int | None = None,
    corruption: float = 0.0,
    runs: int = 3,
    workers: int = 2,
    watch: Watch = unwatched,
) -> Plan:
    """Return what to expect at a size, with the laws of the paper's synthetic benchmark: [0, 5], noise 0.5.

    The horizon counts the rounds of all users together, one user in each; a query names so many objectives, all of
    them by default, and a share of queries is corrupted.
    """
    size = objectives if length is None else length
    require(1 <= size <= objectives, f"length must lie between 1 and {objectives} objectives", length)
    if not 0.0 <= corruption < 0.5:
        raise InvalidSetting(
            f"from one half on nothing can be learned from queries: corruption must be less, got {corruption!r}"
        )
    policy = "fisher-pqucb-robust" if corruption > 0.0 else "fisher-pqucb"
    world = {
        "n_arms": arms,
        "n_objectives": objectives,
        "offered": min(arms, 10),
        "scale": SCALE,
        "reward_noise": NOISE,
        "preference_noise": NOISE,
        "length": size,
        "corruption": corruption,
    }
    plays = [
        (policy, {**world, "n_users": users, "query_rate": rate}, horizon, run)
        for rate in (1.0, 0.0)
        for run in range(runs)
    ]
    plays.append((policy, {**world, "n_users": KNOWN_USERS, "query_rate": 1.0}, KNOWN_USERS * 4_000, 0))
    played: dict[int, Run] = {}
    with Processes(workers) as engine:
        for place, run in engine.run(_play, plays):
            played[place] = run
            watch(Progress("simulating", len(played), len(plays)))
    names, rounds = ("with queries", "without"), played[0].rounds
    curves = {name: np.array([played[i * runs + run].regret for run in range(runs)]) for i, name in enumerate(names)}
    ends = {name: curves[name][:, -1] for name in names}
    alpha, ridge = bounds.optimal_weights(max(horizon / users, 3.0), corruption=corruption)
    return Plan(
        known=_known(objectives, size, corruption, played[len(plays) - 1]),
        regret={name: interval(values) for name, values in ends.items()},
        per_query=interval((ends["without"] - ends["with queries"]) / horizon),
        bounds=_bounds(objectives, arms, max(horizon / users, 3.0), size, alpha, ridge),
        settings={"policy": policy, "mo-pqucb feedback_weight": alpha, "mo-pqucb ridge": ridge, "guarantee": False},
        chart=Chart("round", "regret of all users", [mean_line(name, rounds, curves[name], 0.5) for name in names]),
    )


def _play(given: tuple[str, dict[str, Any], int, int]) -> Run:
    name, world, horizon, run = given
    marks = np.unique(np.geomspace(min(50, horizon), horizon, 20).round().astype(np.int64))
    policy = make_policy(name, n_objectives=world["n_objectives"], seed=run)
    return simulate(policy, Synthetic(**world).tape(seed=(SEED, run), horizon=horizon), marks)


def _known(objectives: int, length: int, corruption: float, simulated: Run) -> list[Known]:
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
        near = np.flatnonzero(simulated.error <= accuracy)
        rounds = float(simulated.rounds[near[0]]) / KNOWN_USERS if len(near) else math.inf
        told.append(Known(accuracy, rounds, need, by_hessian, printed))
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
    norms = SCALE * math.sqrt(objectives) + 3.0, SCALE * math.sqrt(objectives / 3.0)
    variances = 1.25 * NOISE, 1.25 * NOISE
    ours = our_bound(rounds, objectives, arms, norms, variances, length, share=0.8)
    told = {"our theorem": ours.preference + ours.reward}
    for name, proof in (("Theorem 2, printed", False), ("Theorem 2, proved", True)):
        bound = bounds.theorem_2(rounds, proof=proof, **given)
        told[name] = bound.preference + bound.reward
    return told | {"most that can be lost": rounds * SCALE**2 * objectives}
