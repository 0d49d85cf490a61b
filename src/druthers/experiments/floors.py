"""The least regret there can be in an experiment: a line under all others."""

from typing import NamedTuple

import numpy as np

from druthers.bounds import ranking_information, regret_floor
from druthers.environments import Environment
from druthers.errors import InvalidExperiment
from druthers.experiments.plan import Experiment
from druthers.types import Floats

POINTS = 8
# The floors of so many runs are averaged.
MOST_RUNS = 5
# Rankings of a user drawn to learn what they tell.
DRAWS = 400


class FloorLine(NamedTuple):
    """Rounds, the least regret after each, averaged over runs, and whether preferences counted as known."""

    rounds: list[int]
    regret: list[float]
    relaxed: bool


def floor_line(experiment: Experiment) -> FloorLine:
    """Return the floor under an experiment's regret, by `regret_floor`; corruption is left out: it would raise it."""
    rows = experiment.rows()
    if experiment.vary:
        raise InvalidExperiment("a floor needs one environment, but this experiment varies settings")
    environment = rows[0].make_environment()
    n_arms = len(environment.tape(seed=(experiment.seed, 0), horizon=1).means)
    if environment.offered not in (None, n_arms) or environment.cities > 1:
        raise InvalidExperiment(
            "a floor is known where all arms are offered in every round, but this experiment offers some of them;"
            " leave out --floor, or set offered to the number of arms"
        )
    horizon = rows[0].horizon
    rounds = np.unique(np.geomspace(min(100, horizon), horizon, POINTS).round().astype(int))
    total, relaxed, runs = np.zeros(len(rounds)), False, min(experiment.runs, MOST_RUNS)
    for run in range(runs):
        tape = environment.tape(seed=(experiment.seed, run), horizon=horizon)
        told = _told(environment, tape.preferences)
        for place, round_ in enumerate(rounds):
            floor = regret_floor(
                tape.means,
                tape.preferences,
                float(round_) * environment.users_per_round,
                reward_variance=environment.reward_noise,
                preference_variance=environment.preference_noise,
                query_information=told,
            )
            total[place] += floor.regret / runs
            relaxed = relaxed or floor.relaxed
    return FloorLine(rounds.tolist(), total.tolist(), relaxed)


def _told(environment: Environment, preferences: Floats) -> Floats:
    """Return what queries tell of each user (N, D, D) in one of the user's rounds."""
    size = preferences.shape[1]
    lengths = range(1, size + 1) if environment.length == "random" else [environment.length or size]
    rate = environment.query_rate * (1.0 - environment.vagueness)
    told = [[ranking_information(each, int(length), draws=DRAWS) for length in lengths] for each in preferences]
    return np.array([rate * np.mean(by_length, axis=0) for by_length in told])
