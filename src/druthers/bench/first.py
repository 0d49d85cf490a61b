"""First contact: what the first sentence, ranking and choice of a person are worth, with a population and without.

People are met for the first time, to see how well what they choose later is foretold by what they told first. Each
person's law comes from the other half of the people. Three tasks are held out at random. The first choice is one that
the person really made. Nobody in these studies was asked for rankings: they are drawn by Plackett-Luce from the weights
that the other tasks of the person tell, and a sentence is the first two objectives of one. Regret is what the option
with the highest mean loses on the held-out slates, by the weights that all tasks tell. Results are in first.json.
"""

import math
from functools import partial
from typing import Any

import numpy as np

from druthers.beliefs import Law
from druthers.bench.asking import HELD_OUT, Belief, Half, learn_from, play_halves
from druthers.environments.people import Person
from druthers.types import Floats, Integers

# What is known of a person: each is heard on top of nothing else. A sentence names two objectives, best first.
SAID = 2
EVIDENCE = ("nothing", "sentence", "ranking", "choice", "sentence and choice")
PRIORS = ("alone", "population")
SCORES = ("log_loss", "hit", "regret")


def meet_half(half: Half) -> Floats:
    """Return scores (priors, evidence, scores, N) of one half of the people, met with the law of the other half."""
    law = learn_from(half.people, half.others)
    enough = [int(number) for number in half.asked if len(half.people[int(number)].picked) > HELD_OUT + 1]
    found = np.empty((len(PRIORS), len(EVIDENCE), len(SCORES), len(enough)))
    for row, number in enumerate(enough):
        found[..., row] = _meet(half.people[number], law, np.random.default_rng((6, number)))
    return found


def _meet(person: Person, law: Law, rng: Any) -> Floats:
    order = rng.permutation(len(person.picked))
    held, others = order[:HELD_OUT], order[HELD_OUT:]
    weights = _known(person, law, order)
    ranking = np.argsort(-_known(person, law, others) - rng.gumbel(size=len(law.mean))).tolist()
    size = len(law.mean)
    starts = (np.zeros(size), 8.0 / size * np.eye(size)), (law.mean, law.newcomer)
    found = np.empty((len(PRIORS), len(EVIDENCE), len(SCORES)))
    for prior, start in enumerate(starts):
        for kind, name in enumerate(EVIDENCE):
            belief = Belief(*start)
            if name == "ranking":
                belief.hear_ranking(ranking)
            if "sentence" in name:
                belief.hear_ranking(ranking[:SAID])
            if "choice" in name:
                belief.hear_choice(person.slates[others[0]], int(person.picked[others[0]]))
            found[prior, kind] = np.mean([_scores(belief, person, task, weights) for task in held], axis=0)
    return found


def _known(person: Person, law: Law, tasks: Integers) -> Floats:
    """Return the weights that some tasks of a person tell."""
    belief = Belief(law.mean, law.newcomer)
    for task in tasks:
        belief.hear_choice(person.slates[task], int(person.picked[task]))
    return belief.mean


def _scores(belief: Belief, person: Person, task: int, weights: Floats) -> tuple[float, float, float]:
    slate, picked = person.slates[task], person.picked[task]
    chances, worth = belief.foretell(slate), slate @ weights
    top = chances >= chances.max() - 1e-12
    shown = np.flatnonzero(slate @ belief.mean >= (slate @ belief.mean).max() - 1e-12)
    loss, regret = -math.log(max(chances[picked], 1e-6)), float(worth.max() - worth[shown].mean())
    return loss, float(top[picked] / top.sum()), regret


def _sum_up(found: Floats) -> dict[str, Any]:
    """Return means by prior and evidence, and what is gained over nothing, with standard errors over people."""
    content: dict[str, Any] = {"people": found.shape[3]}
    for prior, name in enumerate(PRIORS):
        content[name] = {}
        for kind, evidence in enumerate(EVIDENCE):
            scores = {score: float(found[prior, kind, k].mean()) for k, score in enumerate(SCORES)}
            for k, score in enumerate(SCORES):
                change = found[prior, kind, k] - found[prior, 0, k]
                scores[f"{score}_error"] = float(change.std(ddof=1) / math.sqrt(len(change)))
            content[name][evidence] = scores
    return content


meet_people = partial(play_halves, "first", meet_half, _sum_up)
