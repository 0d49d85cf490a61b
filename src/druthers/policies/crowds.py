"""Fisher-PQUCB with a population: what people's weights and units have in common stands behind each of them.

The law of weights, in units of the Plackett-Luce model, is that of `beliefs.population`, learned from one normal
summary for each person. All that is shared is made anew from people's own rows at each look, so whoever is forgotten
is gone. The prior that anyone had before is kept beside it, and each person's own data weigh both.
"""

from collections import namedtuple
from typing import Any, NamedTuple, cast

import numpy as np

from druthers._jit import implements, kernel
from druthers._matrices import copy_matrix, factor, inverse, invert, log_evidence
from druthers.beliefs.population import fit_law
from druthers.policies.belief import Evidence, Posterior, believe, surprise
from druthers.policies.choices import LEVEL
from druthers.policies.feedback import (
    FisherState,
    FisherUsers,
    believe_user,
    evidence_of,
    settle,
    state_belief,
    unit_of,
)
from druthers.policies.scatter import share_units
from druthers.policies.totals import clock_size
from druthers.policies.units import SLAB, SPIKE, UnitLaw, average_units, mix_normals, tell
from druthers.types import Floats, Integers

# What is shared stands behind the totals of the clock, in the order of `Shared`: so many numbers before the laws.
LAWS = 9
# Before anyone is known, the population is believed three times as much as the prior that anyone had before.
FIRST_WORTH = (3.0, 1.0)
# People are looked at again when this many times as much was told, and so many of them at most.
AGAIN = 1.25
MOST_PEOPLE = 512
# A law with less than this share is left out of the score.
NEGLIGIBLE = 1e-3


# As `FisherUsers`; `shared` is what others say of a user's log-unit: mean and deviation, 0 before any look.
CrowdUsers = cast("Any", namedtuple)("CrowdUsers", (*FisherUsers._fields, "shared"))


class CrowdState(FisherState):
    """All that is known with a population: after its totals, `clock` goes on with what people share."""


class Shared(NamedTuple):
    """What people share, as parts of the clock; the first law is that of people, the second that of nobody.

    `told` (1,) counts what was told, `due` (1,) is at how much to look again, `people` (1,) how many were looked at;
    `worth` (2,) how much each law is believed, `units` (2,) mean and deviation of log-units, `norms` (2,) the laws'
    log-norms, and `laws` (2, D, D + 1) their precision and pull.
    """

    told: Floats
    due: Floats
    people: Floats
    worth: Floats
    units: Floats
    norms: Floats
    laws: Floats


@kernel
def shared_of(clock: Floats, size: int) -> Shared:
    """Return the parts of what people share, to be read and written."""
    rest = clock[clock_size(size) :]
    laws = rest[LAWS:].reshape((2, size, size + 1))
    return Shared(rest[0:1], rest[1:2], rest[2:3], rest[3:5], rest[5:7], rest[7:9], laws)


def with_people(state: FisherState) -> CrowdState:
    """Return a fresh state with room for what people share."""
    size = state.users.sites.shape[1]
    clock = np.concatenate([state.clock, np.empty(LAWS + 2 * size * (size + 1))])
    begin_shared(shared_of(clock, size), state.settings.ridge)
    return CrowdState(*state)._replace(clock=clock)


@kernel
def begin_shared(shared: Shared, ridge: float) -> None:
    """Write what is shared before anyone is known: both laws are the prior, with a weak one for the level."""
    laws, size = shared.laws, shared.laws.shape[1]
    shared.told[0] = shared.people[0] = 0.0
    shared.due[0] = 1.0
    shared.units[0], shared.units[1] = 0.0, SLAB
    for law in range(2):
        shared.worth[law] = FIRST_WORTH[law]
        shared.norms[law] = 0.5 * (size * np.log(ridge) + np.log(LEVEL))
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


@implements(unit_of, CrowdState)
@kernel
def _unit_of(state: Any, user: int) -> float:
    """Return the unit of a person as of the last look, or that of people for whoever had told too little by then."""
    users, size = state.users, state.users.sites.shape[1]
    if users.shared[user, 1] > 0.0:
        return float(users.unit[user])
    return float(users.unit[0] * np.exp(shared_of(state.clock, size).units[0]))


@kernel
def under_law(state: Any, user: int, law: int, ridge: float) -> Evidence:
    """Return what a user told, the law added to choices but for a ridge; the level's prior is then that of the law."""
    users, size, told = state.users, state.users.sites.shape[1], evidence_of(state, user)
    laws, sites = shared_of(state.clock, size).laws, np.empty((size, size + 1))
    level = LEVEL * state.settings.ridge / size if users.choices[user] > 0.0 else 0.0
    for k in range(size):
        sites[k, size] = told.sites[k, size] + laws[law, k, size]
        for j in range(size):
            sites[k, j] = told.sites[k, j] + laws[law, k, j] - level + ridge / size
        sites[k, k] -= ridge
    products, feedbacks, variance, anchor, information, _, _, _, pull = told
    return Evidence(products, feedbacks, variance, anchor, information, sites, float(size), ridge, pull)


@implements(believe_user, CrowdState)
@kernel
def _believe_user(state: Any, user: int) -> Posterior:
    """Do as without a population, under both laws, each by its evidence; what lies between them stays."""
    size, shared = state.users.sites.shape[1], shared_of(state.clock, state.users.sites.shape[1])
    unit, logs = unit_of(state, user), np.empty(2)
    first = believe(under_law(state, user, 0, state.settings.ridge), unit)
    second = believe(under_law(state, user, 1, state.settings.ridge), unit)
    logs[0] = np.log(shared.worth[0]) + shared.norms[0] - 0.5 * surprise(first)
    logs[1] = np.log(shared.worth[1]) + shared.norms[1] - 0.5 * surprise(second)
    likelier = first if logs[0] >= logs[1] else second
    if abs(logs[0] - logs[1]) < -np.log(NEGLIGIBLE):
        means, spreads = np.empty((2, size)), np.empty((2, size, size))
        estimate, matrix, root = np.empty(size), np.empty((size, size)), np.empty((size, size))
        means[0], means[1] = first.estimate, second.estimate
        inverse(first.root, spreads[0])
        inverse(second.root, spreads[1])
        mix_normals(logs, means, spreads, estimate, matrix)
        if invert(matrix, matrix) and factor(matrix, root):
            return Posterior(estimate, root, first.variance)
    return likelier


@implements(state_belief, CrowdState)
@kernel
def _state_belief(state: Any, user: int, of_words: bool, estimate: Floats, covariance: Floats) -> bool:
    """Write mean and covariance over both laws and all units, those of people being likelier."""
    users, size = state.users, estimate.shape[0]
    if not users.feedbacks[user] > users.feedbacks[0]:
        return False
    shared = shared_of(state.clock, size)
    centre, slab = users.shared[user, 0], users.shared[user, 1]
    if not slab > 0.0:
        centre, slab = shared.units[0], shared.units[1]
    units = UnitLaw(users.unit[0] * np.exp(centre), SPIKE if shared.people[0] == 0.0 else 0.0, slab)
    means, spreads, logs = np.empty((2, size)), np.empty((2, size, size)), np.empty(2)
    for law in range(2):
        told = under_law(state, user, law, 0.0)
        _, evidence = average_units(told, tell(told), units, of_words, means[law], spreads[law])
        if np.isnan(evidence):
            return False
        logs[law] = np.log(shared.worth[law]) + shared.norms[law] + evidence
    return mix_normals(logs, means, spreads, estimate, covariance)


@kernel
def summarize(state: Any, user: int, information: Floats, pull: Floats) -> None:
    """Write all that a person told, in units of the Plackett-Luce model and without any prior."""
    users, size, told = state.users, pull.shape[0], evidence_of(state, user)
    unit, nobody = unit_of(state, user), users.products[0]
    level = LEVEL * state.settings.ridge / size if users.choices[user] > 0.0 else 0.0
    for k in range(size):
        felt = told.products[k, size] - nobody[k, size]
        pull[k] = unit * felt / told.variance + told.sites[k, size] + told.pull * told.anchor[k]
        for j in range(size):
            felt = told.products[k, j] - nobody[k, j]
            information[k, j] = unit * unit * felt / told.variance + told.information[k, j] + told.sites[k, j] - level
            pull[k] += told.information[k, j] * told.anchor[j]


@kernel
def law_evidence(information: Floats, pull: Floats, law: Floats) -> float:
    """Return the log-evidence of what a person told under a law (D, D + 1), without the law's own norm."""
    size = pull.shape[0]
    root, drawn = np.empty((size, size)), np.empty(size)
    for k in range(size):
        drawn[k] = pull[k] + law[k, size]
        for j in range(size):
            root[k, j] = information[k, j] + law[k, j]
    evidence = log_evidence(root, drawn)
    return 0.0 if np.isnan(evidence) else evidence


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
    shared = shared_of(state.clock, size)
    laws, told = shared.laws, shared.told[0]
    begin_shared(shared, settings.ridge)
    shared.told[0] = told
    rows = people_of(users)
    shared.people[0] = rows.shape[0]
    if rows.shape[0] == 0:
        return
    share_units(state, rows, shared.units)
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
    shared.norms[0] = norm
    copy_matrix(law, laws[0])
    for i in range(rows.shape[0]):
        odds = np.log(FIRST_WORTH[1] / FIRST_WORTH[0]) + shared.norms[1] - shared.norms[0]
        odds += law_evidence(informations[i], pulls[i], laws[1]) - law_evidence(informations[i], pulls[i], laws[0])
        likely = 1.0 / (1.0 + np.exp(min(odds, 700.0)))
        shared.worth[0] += likely
        shared.worth[1] += 1.0 - likely


@implements(settle, CrowdState)
@kernel
def _settle(state: Any, user: int, told: int) -> None:
    """Count one thing more that was told, and look at people when there is a quarter more than last time."""
    shared = shared_of(state.clock, state.users.sites.shape[1])
    shared.told[0] += 1.0
    if shared.told[0] >= shared.due[0]:
        look_at_people(state)
        shared.due[0] = np.ceil(AGAIN * shared.told[0] + 0.5)
