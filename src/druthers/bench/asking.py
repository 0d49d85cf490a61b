"""What to ask people: how many answers are saved by asking what tells most, at equal foresight.

People are asked what they were asked, in another order, to see after how many answers the rest is foretold. Each
person's law comes from the other half of the people. Three tasks are held out at random; the others are asked at
random, or each time the one whose answer tells most about the best options of what is held out ("adaptive"), or of
slates that others were shown ("adaptive-usual"). Results are written as questions.json.
"""

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from druthers.beliefs import Crowd, Law, choice_site, next_question, predict_choice
from druthers.beliefs.choices import condition
from druthers.bench.running import STUDIES, digest, read_study, write_results
from druthers.engines import Watch, unwatched
from druthers.environments.people import People, Person
from druthers.experiments.keeping import Part, carry_out, part_path
from druthers.theory.claims import resampled
from druthers.types import Floats, Integers

HELD_OUT = 3
# Goals of whoever does not know what will be offered: slates that others were shown.
USUAL_GOALS = 12
RANDOM_ORDERS = 4
COMPARED = (4, 8)
RULES = ("random", "adaptive", "adaptive-usual")
SCORES = ("hit", "log_loss")


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


def play_halves(
    name: str,
    play: Callable[[Half], Floats],
    sum_up: Callable[[Floats], dict[str, Any]],
    studies: Sequence[str] = STUDIES,
    folder: str | Path | None = None,
    *,
    n_people: int | None = None,
    workers: int | None = None,
    watch: Watch = unwatched,
) -> dict[str, Any]:
    """Play both halves of each study, people on the last axis, and sum each up; what is done already is not done again.

    Parts are kept in the folder, and results are written there by name.
    """
    parts: list[Part] = []
    for study in studies:
        people = read_study(study, n_people)
        turns = np.arange(len(people)) % 2
        for turn in (0, 1):
            half = Half(people, np.flatnonzero(turns == turn), np.flatnonzero(turns != turn))
            path = part_path(folder, inspect.getfile(play), name, digest(people), turn)
            parts.append(Part(half, path, Path(study).name))
    found = carry_out(name, play, parts, workers=workers, watch=watch)
    results: dict[str, Any] = {"held_out": HELD_OUT, "studies": {}}
    for place in range(0, len(parts), 2):
        results["studies"][parts[place].label] = sum_up(np.concatenate(found[place : place + 2], axis=-1))
    write_results(results, folder, f"{name}.json")
    return results


def ask_half(half: Half) -> Floats:
    """Ask one half of the people, with the law of the other half behind each of them.

    Returns hits and losses on what is held out (2, rules, answers + 1, N), after 0, 1, 2... answers.
    """
    law = learn_from(half.people, half.others)
    enough = [int(number) for number in half.asked if len(half.people[int(number)].picked) > HELD_OUT + max(COMPARED)]
    found = np.empty((2, len(RULES), max(COMPARED) + 1, len(enough)))
    for row, number in enumerate(enough):
        rng = np.random.default_rng((5, number))
        person = half.people[number]
        order = rng.permutation(len(person.picked))
        usual = half.people.slates[rng.choice(len(half.people.slates), USUAL_GOALS, replace=False)]
        held, left = order[:HELD_OUT], order[HELD_OUT:]
        at_random = [_answers(person, rng.permutation(left), held, law) for _ in range(RANDOM_ORDERS)]
        found[:, 0, :, row] = np.mean(at_random, axis=0)
        for rule, goals in ((1, person.slates[held]), (2, usual)):
            found[:, rule, :, row] = _answers(person, left, held, law, goals)
    return found


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


def summary(found: Floats) -> dict[str, Any]:
    """Return curves over the number of answers, and how many answers each rule needs to be as good as random ones."""
    content: dict[str, Any] = {"people": found.shape[-1]}
    by_person = np.moveaxis(found, -1, 0)
    for rule, name in enumerate(RULES):
        content[name] = {score: found[k, rule].mean(axis=-1).tolist() for k, score in enumerate(SCORES)}
        for score, values in zip(SCORES, (by_person[:, 0], -by_person[:, 1]), strict=True):
            for count in COMPARED if rule else ():

                def needed(some: Floats, rule: int = rule, count: int = count) -> float:
                    return answers_needed(some[:, rule].mean(axis=0), some[:, 0, count].mean())

                asked, low, high = resampled(needed, values)
                content[name][f"as_{count}_by_{score}"] = {"answers": asked, "low": low, "high": high}
    return content


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


ask_people = partial(play_halves, "questions", ask_half, summary)
