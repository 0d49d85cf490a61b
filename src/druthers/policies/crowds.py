"""Fisher-PQUCB with a population: what people's weights and units have in common stands behind each of them.

The law of weights, in units of the Plackett-Luce model, is that of `beliefs.population`, learned from one normal
summary for each person. All that is shared is made anew from people's own rows at each look, so whoever is forgotten
is gone. The prior that anyone had before is kept beside it, and each person's own data weigh both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from druthers._jit import implements, kernel
from druthers._matrices import factor, inverse, solve_transposed
from druthers.anchors.base import hear_anchor
from druthers.beliefs.population import fit_law
from druthers.policies.belief import believe, surprise, utility_variance
from druthers.policies.choices import LEVEL, begin_choices
from druthers.policies.fisher import (
    CrowdState,
    believe_user,
    score_fisher,
    state_belief,
    take_in_choice,
    take_in_feedback,
)
from druthers.policies.steps import hear_policy, learn_choice_policy, learn_policy, score_policy
from druthers.policies.units import (
    NOISE_STEPS,
    SLAB,
    SPAN,
    SPIKE,
    average_units,
    common_axes,
    mix_normals,
    tell,
    unit_evidence,
    weigh_noise,
)
from druthers.types import Floats, Integers

# What is shared stands behind the 2 + 5 D numbers of the clock: how much was told, at how much to look again, how many
# people were looked at, how much each law is believed (2), mean and deviation of log-units, each law's log-norm (2),
# and each law's precision and pull (2, D, D + 1). The first law is that of people, the second that of nobody.
TOLD, NEXT, PEOPLE, WORTH, UNITS, NORMS, LAWS = 0, 1, 2, 3, 5, 7, 9
# Before anyone is known, the population is believed three times as much as the prior that anyone had before.
FIRST_WORTH = (3.0, 1.0)
# People are looked at again when this many times as much was told, and so many of them at most.
AGAIN = 1.25
MOST_PEOPLE = 512
# A law with less than this share is left out of the score.
NEGLIGIBLE = 1e-3
# A person's unit counts for others from so many utilities on. Log-units of people are normal around a mean, which is 0
# with chance SPIKE and else normal, with one of these deviations.
LEAST_UTILITIES = 8.0
UNIT_NODES = 129
SCATTERS = ((0.04, 0.5), (0.15, 0.3), (0.5, 0.2))


def shared_size(size: int) -> int:
    """Return how many numbers people share."""
    return LAWS + 2 * size * (size + 1)


@kernel
def begin_shared(shared: Floats, size: int, ridge: float) -> None:
    """Write what is shared before anyone is known: both laws are the prior, with a weak one for the level."""
    laws = shared[LAWS:].reshape((2, size, size + 1))
    shared[TOLD] = shared[PEOPLE] = 0.0
    shared[NEXT] = 1.0
    shared[UNITS], shared[UNITS + 1] = 0.0, SLAB
    for law in range(2):
        shared[WORTH + law] = FIRST_WORTH[law]
        shared[NORMS + law] = 0.5 * (size * np.log(ridge) + np.log(LEVEL))
        for k in range(size):
            laws[law, k, size] = 0.0
            for j in range(size):
                laws[law, k, j] = (LEVEL - 1.0) * ridge / size
            laws[law, k, k] += ridge


@kernel
def is_known(users: Any, user: int) -> bool:
    """Tell whether someone said, felt or picked anything."""
    felt = users.feedbacks[user] > users.feedbacks[0] or users.choices[user] > 0.0
    return bool(felt or users.anchor.queries[user] > 0)


@kernel
def own_unit(state: Any, user: int) -> float:
    """Return the unit of a person, or that of people where there was none to tell."""
    users, size = state.users, state.users.sites.shape[1]
    if users.shared[user, 1] > 0.0:
        return float(users.unit[user])
    return float(users.unit[0] * np.exp(state.clock[2 + 5 * size + UNITS]))


@kernel
def noise_of(users: Any, user: int) -> float:
    """Return the variance of a user's utilities per |reward|^2."""
    products, root = users.products[user], users.root[user]
    return float(utility_variance(products, root, users.feedbacks[user], users.anchor.estimate[user]))


@kernel
def under_law(state: Any, user: int, law: int, ridge: float, out: Floats) -> None:
    """Write what choices tell and a law adds to the ridge (D, D + 1); the level's prior is then that of the law."""
    users, size = state.users, state.users.sites.shape[1]
    laws = state.clock[2 + 5 * size + LAWS :].reshape((2, size, size + 1))
    level = LEVEL * state.settings.ridge / size if users.choices[user] > 0.0 else 0.0
    for k in range(size):
        out[k, size] = users.sites[user, k, size] + laws[law, k, size]
        for j in range(size):
            out[k, j] = users.sites[user, k, j] + laws[law, k, j] - level + ridge / size
        out[k, k] -= ridge


@implements(believe_user, CrowdState)
@kernel
def _believe_user(state: Any, user: int, estimate: Floats, root: Floats) -> float:
    """Do as without a population, under both laws, each by its evidence; what lies between them stays."""
    users, settings, size = state.users, state.settings, estimate.shape[0]
    unit, variance = own_unit(state, user), noise_of(users, user)
    shared = state.clock[2 + 5 * size :]
    sites, matrix = np.empty((size, size + 1)), np.empty((size, size))
    means, spreads, roots = np.empty((2, size)), np.empty((2, size, size)), np.empty((2, size, size))
    logs = np.empty(2)
    anchor, information, products = users.anchor.estimate[user], users.anchor.information[user], users.products[user]
    for law in range(2):
        under_law(state, user, law, settings.ridge, sites)
        believe(
            products, variance, anchor, information, unit, settings.ridge, settings.pull, sites, means[law], roots[law]
        )
        logs[law] = np.log(shared[WORTH + law]) + shared[NORMS + law] - 0.5 * surprise(roots[law], means[law])
    likelier = 0 if logs[0] >= logs[1] else 1
    if abs(logs[0] - logs[1]) < -np.log(NEGLIGIBLE):
        inverse(roots[0], spreads[0])
        inverse(roots[1], spreads[1])
        mix_normals(logs, means, spreads, estimate, matrix)
        if factor(matrix, root):
            inverse(root, matrix)
            if factor(matrix, root):
                return variance
    for k in range(size):
        estimate[k] = means[likelier, k]
        for j in range(size):
            root[k, j] = roots[likelier, k, j]
    return variance


@implements(state_belief, CrowdState)
@kernel
def _state_belief(state: Any, user: int, estimate: Floats, covariance: Floats) -> bool:
    """Write mean and covariance over both laws and all units, those of people being likelier."""
    users, settings, size = state.users, state.settings, estimate.shape[0]
    if not users.feedbacks[user] > users.feedbacks[0]:
        return False
    shared = state.clock[2 + 5 * size :]
    variance = noise_of(users, user)
    centre, slab = users.shared[user, 0], users.shared[user, 1]
    if not slab > 0.0:
        centre, slab = shared[UNITS], shared[UNITS + 1]
    spike = SPIKE if shared[PEOPLE] == 0.0 else 0.0
    sites, told = np.empty((size, size + 1)), np.empty((size, size + 1))
    means, spreads, logs = np.empty((2, size)), np.empty((2, size, size)), np.empty(2)
    for law in range(2):
        under_law(state, user, law, 0.0, sites)
        tell(users.anchor.estimate[user], users.anchor.information[user], 0.0, settings.pull, sites, told)
        _, evidence = average_units(
            users.products[user],
            told,
            users.feedbacks[user],
            variance,
            float(size),
            users.unit[0] * np.exp(centre),
            spike,
            slab,
            means[law],
            spreads[law],
        )
        if np.isnan(evidence):
            return False
        logs[law] = np.log(shared[WORTH + law]) + shared[NORMS + law] + evidence
    return mix_normals(logs, means, spreads, estimate, covariance)


@kernel
def summarize(state: Any, user: int, information: Floats, pull: Floats) -> None:
    """Write all that a person told, in units of the Plackett-Luce model and without any prior."""
    users, size = state.users, pull.shape[0]
    unit, variance = own_unit(state, user), noise_of(users, user)
    level = LEVEL * state.settings.ridge / size if users.choices[user] > 0.0 else 0.0
    anchor, told = users.anchor.estimate[user], users.anchor.information[user]
    for k in range(size):
        felt = users.products[user, k, size] - users.products[0, k, size]
        pull[k] = unit * felt / variance + users.sites[user, k, size] + state.settings.pull * anchor[k]
        for j in range(size):
            felt = users.products[user, k, j] - users.products[0, k, j]
            information[k, j] = unit * unit * felt / variance + told[k, j] + users.sites[user, k, j] - level
            pull[k] += told[k, j] * anchor[j]


@kernel
def evidence_of(information: Floats, pull: Floats, law: Floats) -> float:
    """Return the log-evidence of what a person told under a law (D, D + 1), without the law's own norm."""
    size = pull.shape[0]
    root, drawn = np.empty((size, size)), np.empty(size)
    for k in range(size):
        drawn[k] = pull[k] + law[k, size]
        for j in range(size):
            root[k, j] = information[k, j] + law[k, j]
    if not factor(root, root):
        return 0.0
    solve_transposed(root, drawn)
    total = 0.0
    for k in range(size):
        total += 0.5 * drawn[k] * drawn[k] - np.log(root[k, k])
    return float(total)


@kernel
def write_law(mean: Floats, covariance: Floats, law: Floats) -> float:
    """Write precision and pull (D, D + 1) of a normal law and return its log-norm; NaN where it is none."""
    size = mean.shape[0]
    root, precision = np.empty((size, size)), np.empty((size, size))
    if not factor(covariance, root):
        return np.nan
    inverse(root, precision)
    norm = 0.0
    for k in range(size):
        norm -= np.log(root[k, k])
        law[k, size] = 0.0
        for j in range(size):
            law[k, j] = precision[k, j]
            law[k, size] += precision[k, j] * mean[j]
        norm -= 0.5 * law[k, size] * mean[k]
    return float(norm)


@kernel
def people_of(users: Any) -> Integers:
    """Return the rows of people who told anything; of very many, some that are evenly spread over them."""
    count = 0
    for user in range(1, users.feedbacks.shape[0]):
        count += is_known(users, user)
    rows = np.empty(min(count, MOST_PEOPLE), dtype=np.int64)
    seen = taken = 0
    for user in range(1, users.feedbacks.shape[0]):
        if is_known(users, user):
            if taken < rows.shape[0] and seen * rows.shape[0] >= taken * count:
                rows[taken] = user
                taken += 1
            seen += 1
    return rows[:taken]


@kernel
def look_at_people(state: Any) -> None:
    """Learn from everybody's rows what people have in common: units, then weights, then how much to believe that."""
    users, settings, size = state.users, state.settings, state.users.sites.shape[1]
    shared = state.clock[2 + 5 * size :]
    laws = shared[LAWS:].reshape((2, size, size + 1))
    told = shared[TOLD]
    begin_shared(shared, size, settings.ridge)
    shared[TOLD] = told
    rows = people_of(users)
    shared[PEOPLE] = rows.shape[0]
    if rows.shape[0] == 0:
        return
    share_units(state, rows)
    informations, pulls = np.empty((rows.shape[0], size, size)), np.empty((rows.shape[0], size))
    for i in range(rows.shape[0]):
        summarize(state, rows[i], informations[i], pulls[i])
    mean, covariance, newcomer = np.zeros(size), np.empty((size, size)), np.empty((size, size))
    for k in range(size):
        for j in range(size):
            covariance[k, j] = (1.0 / LEVEL - 1.0) / (settings.ridge * size)
        covariance[k, k] += 1.0 / settings.ridge
    if not fit_law(informations, pulls, mean, covariance, newcomer):
        return
    law = np.empty((size, size + 1))
    norm = write_law(mean, newcomer, law)
    if np.isnan(norm):
        return
    shared[NORMS] = norm
    for k in range(size):
        for j in range(size + 1):
            laws[0, k, j] = law[k, j]
    for i in range(rows.shape[0]):
        odds = np.log(FIRST_WORTH[1] / FIRST_WORTH[0]) + shared[NORMS + 1] - shared[NORMS]
        odds += evidence_of(informations[i], pulls[i], laws[1]) - evidence_of(informations[i], pulls[i], laws[0])
        likely = 1.0 / (1.0 + np.exp(min(odds, 700.0)))
        shared[WORTH] += likely
        shared[WORTH + 1] += 1.0 - likely


@kernel
def unit_curve(state: Any, user: int, curve: Floats) -> bool:
    """Write the evidence of a person's log-units from -SPAN to SPAN, the largest being 1; False where it is flat."""
    users, settings, size = state.users, state.settings, state.users.sites.shape[1]
    feedbacks = users.feedbacks[user]
    words = users.anchor.queries[user] > 0 or users.choices[user] > 0.0
    if not words or feedbacks - users.feedbacks[0] < LEAST_UTILITIES:
        return False
    told, axes = np.empty((size, size + 1)), np.empty((size, size))
    gains, felt, said = np.empty(size), np.empty(size), np.empty(size)
    sites = users.sites[user]
    tell(users.anchor.estimate[user], users.anchor.information[user], settings.ridge, settings.pull, sites, told)
    if np.isnan(common_axes(users.products[user], told, gains, felt, said, axes)):
        return False
    variance, noises = noise_of(users, user), np.empty(len(NOISE_STEPS))
    weigh_noise(feedbacks, float(users.products[user, size, size]), variance, noises)
    dimensions = size if users.choices[user] > 0.0 else size - 1.0
    values = np.full((UNIT_NODES, noises.shape[0]), -np.inf)
    best = -np.inf
    for i in range(UNIT_NODES):
        unit = users.unit[0] * np.exp(node(i))
        for n in range(noises.shape[0]):
            if noises[n] > -np.inf:
                noise = variance * np.exp(NOISE_STEPS[n])
                values[i, n] = noises[n] + unit_evidence(gains, felt, said, unit, noise, dimensions)
                best = max(best, values[i, n])
    for i in range(UNIT_NODES):
        curve[i] = 0.0
        for n in range(noises.shape[0]):
            curve[i] += np.exp(values[i, n] - best)
    return True


@kernel
def node(i: int) -> float:
    """Return the i-th log-unit."""
    return float(2.0 * SPAN * i / (UNIT_NODES - 1) - SPAN)


@kernel
def centre_units(table: Floats) -> tuple[float, float]:
    """Return mean and deviation of the next person's log-unit from log-chances (129, 3) of mean and scatter."""
    best = -np.inf
    for i in range(UNIT_NODES):
        for j in range(len(SCATTERS)):
            best = max(best, table[i, j])
    total = mean = square = 0.0
    for i in range(UNIT_NODES):
        for j in range(len(SCATTERS)):
            share = np.exp(table[i, j] - best)
            total += share
            mean += share * node(i)
            square += share * (node(i) * node(i) + SCATTERS[j][0] * SCATTERS[j][0])
    mean /= total
    return float(mean), float(np.sqrt(square / total - mean * mean))


@kernel
def share_units(state: Any, rows: Integers) -> None:
    """Learn how people's units scatter, and give everybody who told enough a unit with all others' behind it."""
    users, size = state.users, state.users.sites.shape[1]
    shared = state.clock[2 + 5 * size :]
    curves, useful = np.empty((rows.shape[0], UNIT_NODES)), np.zeros(rows.shape[0], dtype=np.bool_)
    tables, table = np.zeros((rows.shape[0], UNIT_NODES, len(SCATTERS))), np.empty((UNIT_NODES, len(SCATTERS)))
    for i in range(UNIT_NODES):
        slab = (1.0 - SPIKE) * node(1 + UNIT_NODES // 2) / (SLAB * np.sqrt(2.0 * np.pi))
        chance = slab * np.exp(-0.5 * (node(i) / SLAB) ** 2) + (SPIKE if 2 * i == UNIT_NODES - 1 else 0.0)
        for j in range(len(SCATTERS)):
            table[i, j] = np.log(chance * SCATTERS[j][1])
    bells = np.empty((UNIT_NODES, len(SCATTERS)))
    for j in range(len(SCATTERS)):
        total = 0.0
        for i in range(UNIT_NODES):
            bells[i, j] = np.exp(-0.5 * (node(i + (UNIT_NODES - 1) // 2) / SCATTERS[j][0]) ** 2)
            total += bells[i, j] * (1.0 if i == 0 else 2.0)
        for i in range(UNIT_NODES):
            bells[i, j] /= total
    for person in range(rows.shape[0]):
        users.shared[rows[person], 0] = users.shared[rows[person], 1] = 0.0
        users.unit[rows[person]] = users.unit[0]
        useful[person] = unit_curve(state, rows[person], curves[person])
        if useful[person]:
            for i in range(UNIT_NODES):
                for j in range(len(SCATTERS)):
                    chance = 1e-300
                    for m in range(UNIT_NODES):
                        chance += curves[person, m] * bells[abs(m - i), j]
                    tables[person, i, j] = np.log(chance)
                    table[i, j] += tables[person, i, j]
    shared[UNITS], shared[UNITS + 1] = centre_units(table)
    for person in range(rows.shape[0]):
        if useful[person]:
            give_unit(users, rows[person], curves[person], table - tables[person])


@kernel
def give_unit(users: Any, user: int, curve: Floats, others: Floats) -> None:
    """Write what others say of a person's log-unit, and the unit that follows with the person's own evidence."""
    centre, deviation = centre_units(others)
    total = mean = 0.0
    for i in range(UNIT_NODES):
        share = curve[i] * np.exp(-0.5 * ((node(i) - centre) / deviation) ** 2)
        total += share
        mean += share * node(i)
    users.shared[user, 0], users.shared[user, 1] = centre, deviation
    users.unit[user] = users.unit[0] * np.exp(mean / total if total > 0.0 else centre)


@kernel
def look_now_and_then(state: Any) -> None:
    """Count one thing more that was told, and look at people when there is a quarter more than last time."""
    shared = state.clock[2 + 5 * state.users.sites.shape[1] :]
    shared[TOLD] += 1.0
    if shared[TOLD] >= shared[NEXT]:
        look_at_people(state)
        shared[NEXT] = np.ceil(AGAIN * shared[TOLD] + 0.5)


@implements(hear_policy, CrowdState)
@kernel
def _hear(state: Any, user: int, ranking: Integers) -> None:
    hear_anchor(state.users.anchor, user, ranking)
    look_now_and_then(state)


@implements(learn_policy, CrowdState)
@kernel
def _learn(state: Any, user: int, arm: int, reward: Floats, utility: float) -> None:
    if take_in_feedback(state, user, arm, reward, utility):
        look_now_and_then(state)


@implements(learn_choice_policy, CrowdState)
@kernel
def _learn_choice(state: Any, user: int, offer: Integers, place: int) -> None:
    size = state.users.sites.shape[1]
    estimate, root = np.empty(size), np.empty((size, size))
    begin_choices(state.users, user, state.settings.ridge)
    believe_user(state, user, estimate, root)
    take_in_choice(state, user, offer, place, estimate, root)
    look_now_and_then(state)


implements(score_policy, CrowdState)(score_fisher)
