"""What to ask people: how many answers are saved by asking what tells most, at equal foresight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from druthers.beliefs import Crowd, Law, choice_site, next_question, predict_choice
from druthers.beliefs.choices import condition
from druthers.bench.running import STUDIES, Watch, read_study, write_results
from druthers.environments.people import People, Person
from druthers.experiments.engines import make_engine
from druthers.types import Floats, Integers

HELD_OUT = 3
# Goals of whoever does not know what will be offered: slates that others were shown.
USUAL_GOALS = 12
RANDOM_ORDERS = 4
COMPARED = (4, 8)
SAMPLES = 400
T = TypeVar("T")
RULES = ("random", "adaptive", "adaptive-usual")


class Asked(NamedTuple):
    """How well what was held out is foretold after 0, 1, 2... answers: hits and losses, (rules, N, answers + 1)."""

    hits: Floats
    losses: Floats


class Half(NamedTuple):
    """One half of the people of a study, and the others."""

    people: People
    asked: Integers
    others: Integers


class Belief:
    """What is believed of one person's weights: a normal law that choices and rankings of objectives condition."""

    def __init__(self, mean: Floats, covariance: Floats) -> None:
        self.mean, self.covariance = mean.copy(), covariance.copy()
        self.information: Any = np.linalg.inv(covariance)
        self.pull: Floats = self.information @ mean

    def hear_choice(self, slate: Floats, picked: int) -> None:
        """Take in that an option was picked of a slate."""
        choice_site(self.mean, self.covariance, slate, picked, self.information, self.pull)
        condition(self.information, self.pull, self.mean, self.covariance)

    def hear_ranking(self, ranking: Sequence[int]) -> None:
        """Take in a ranking of objectives: by Plackett-Luce, one choice of an objective after the other."""
        left = list(range(len(self.mean)))
        for objective in ranking:
            if len(left) > 1:
                self.hear_choice(np.eye(len(self.mean))[left], left.index(objective))
            left.remove(objective)

    def foretell(self, slate: Floats) -> Floats:
        """Return how likely each option is to be picked."""
        chances: Floats = np.empty(len(slate))
        predict_choice(self.mean, self.covariance, slate, chances)
        return chances


def ask_people(
    studies: Sequence[str] = STUDIES,
    folder: str | Path | None = None,
    *,
    n_people: int | None = None,
    workers: int | None = None,
    watch: Watch = lambda done, total, label: None,
) -> dict[str, Any]:
    """Ask people what they were asked, in another order, and see after how many answers the rest is foretold.

    Each person's law comes from the other half of the people. Three tasks are held out at random; the others are asked
    at random, or each time the one whose answer tells most about the best options of what is held out ("adaptive"), or
    of slates that others were shown ("adaptive-usual"). Results are written as questions.json.
    """
    file = None if folder is None else Path(folder) / "questions.json"
    return play_halves(ask_half, _sum_up, studies, file, n_people=n_people, workers=workers, watch=watch)


def play_halves(
    play: Callable[[Half], T],
    sum_up: Callable[[T, T], dict[str, Any]],
    studies: Sequence[str],
    file: Path | None,
    *,
    n_people: int | None,
    workers: int | None,
    watch: Watch,
) -> dict[str, Any]:
    """Play both halves of each study, in several processes, and sum each study up; results are written to a file."""
    halves: list[Half] = []
    names: list[str] = []
    for name in studies:
        people = read_study(name, n_people)
        turns = np.arange(len(people)) % 2
        halves += [Half(people, np.flatnonzero(turns == turn), np.flatnonzero(turns != turn)) for turn in (0, 1)]
        names += [Path(name).name] * 2
    parts: dict[int, T] = {}
    watch(0, len(halves), "")
    with make_engine("processes", workers) as engine:
        for place, found in engine.run(play, halves):
            parts[place] = found
            watch(len(parts), len(halves), names[place])
    results: dict[str, Any] = {"held_out": HELD_OUT, "studies": {}}
    for place in range(0, len(halves), 2):
        results["studies"][names[place]] = sum_up(parts[place], parts[place + 1])
    if file is not None:
        write_results(results, file)
    return results


def _sum_up(one: Asked, other: Asked) -> dict[str, Any]:
    return summary(Asked(*(np.concatenate(both, axis=1) for both in zip(one, other, strict=True))))


def ask_half(half: Half) -> Asked:
    """Ask one half of the people, with the law of the other half behind each of them."""
    law = learn_from(half.people, half.others)
    enough = [number for number in half.asked if len(half.people[int(number)].picked) > HELD_OUT + max(COMPARED)]
    shape = len(RULES), len(enough), max(COMPARED) + 1
    asked = Asked(np.zeros(shape), np.zeros(shape))
    for row, number in enumerate(enough):
        rng = np.random.default_rng((5, int(number)))
        person = half.people[int(number)]
        order = rng.permutation(len(person.picked))
        usual = half.people.slates[rng.choice(len(half.people.slates), USUAL_GOALS, replace=False)]
        goals = person.slates[order[:HELD_OUT]]
        for _ in range(RANDOM_ORDERS):
            found = _answers(person, rng.permutation(order[HELD_OUT:]), order[:HELD_OUT], law)
            _add(asked, 0, row, found, RANDOM_ORDERS)
        for rule, aims in ((1, goals), (2, usual)):
            _add(asked, rule, row, _answers(person, order[HELD_OUT:], order[:HELD_OUT], law, aims))
    return asked


def learn_from(people: People, numbers: Integers) -> Law:
    """Return the law of some people."""
    crowd = Crowd(n_objectives=people.slates.shape[2])
    for number in numbers:
        person = people[int(number)]
        for slate, picked in zip(person.slates, person.picked, strict=True):
            crowd.learn_choice(person.id, int(picked), slate)
    return crowd.law


def _answers(person: Person, order: Integers, held: Integers, law: Law, goals: Floats | None = None) -> Floats:
    """Return hits and losses (2, answers + 1) on what is held out, asking in order, or what tells most about goals."""
    belief = Belief(law.mean, law.newcomer)
    left, found = list(order), np.zeros((2, max(COMPARED) + 1))
    for count in range(max(COMPARED) + 1):
        for task in held:
            chances, picked = belief.foretell(person.slates[task]), person.picked[task]
            found[0, count] += (chances[picked] >= chances.max() - 1e-12) / len(held)
            found[1, count] -= np.log(max(chances[picked], 1e-6)) / len(held)
        if count == max(COMPARED):
            break
        place = 0 if goals is None else next_question(belief.mean, belief.covariance, person.slates[left], goals)
        task = left.pop(place)
        belief.hear_choice(person.slates[task], int(person.picked[task]))
    return found


def _add(asked: Asked, rule: int, row: int, found: Floats, times: int = 1) -> None:
    asked.hits[rule, row] += found[0] / times
    asked.losses[rule, row] += found[1] / times


def summary(asked: Asked) -> dict[str, Any]:
    """Return curves over the number of answers, and how many answers each rule needs to be as good as random ones."""
    rng = np.random.default_rng(0)
    draws = [rng.integers(asked.hits.shape[1], size=asked.hits.shape[1]) for _ in range(SAMPLES)]
    content: dict[str, Any] = {"people": asked.hits.shape[1]}
    for rule, name in enumerate(RULES):
        content[name] = {
            "hit": asked.hits[rule].mean(axis=0).tolist(),
            "log_loss": asked.losses[rule].mean(axis=0).tolist(),
        }
        for what, values in (("hit", asked.hits), ("log_loss", -asked.losses)):
            for count in COMPARED if rule else ():
                drawn = [_as_many(values[:, who], rule, count) for who in draws]
                low, high = np.quantile(drawn, (0.025, 0.975))
                answers = {"answers": _as_many(values, rule, count), "low": float(low), "high": float(high)}
                content[name][f"as_{count}_by_{what}"] = answers
    return content


def _as_many(values: Floats, rule: int, count: int) -> float:
    """Return how many answers by a rule are worth as much as some at random."""
    return answers_needed(values[rule].mean(axis=0), values[0].mean(axis=0)[count])


def answers_needed(curve: Floats, goal: float) -> float:
    """Return after how many answers a curve first is as high as a goal, between counts on a straight line.

    Examples
    --------
    >>> answers_needed(np.array([0.0, 0.4, 0.6, 0.7]), 0.5)
    1.5
    """
    if curve[0] >= goal:
        return 0.0
    above = np.flatnonzero(curve >= goal)
    if not len(above):
        return float(len(curve))
    after = int(above[0])
    return float(after - 1 + (goal - curve[after - 1]) / (curve[after] - curve[after - 1]))
