"""How people's units scatter: what utilities of one person are worth is told by those of others too."""

from typing import Any

import numpy as np

from druthers._jit import kernel
from druthers._matrices import softmax
from druthers.policies.feedback import evidence_of
from druthers.policies.units import NOISE_FACTORS, SLAB, SPAN, SPIKE, common_axes, tell, unit_evidence, weigh_noise
from druthers.types import Floats, Integers

# A person's unit counts for others from so many utilities on. Log-units of people are normal around a mean, which is 0
# with chance SPIKE and else normal, with one of these deviations.
LEAST_UTILITIES = 8.0
UNIT_NODES = 129
SCATTERS = ((0.04, 0.5), (0.15, 0.3), (0.5, 0.2))


@kernel
def unit_curve(state: Any, user: int, curve: Floats) -> bool:
    """Write the evidence of a person's log-units from -SPAN to SPAN, the largest being 1; False where it is flat."""
    users = state.users
    words = users.anchor.queries[user] > 0 or users.choices[user] > 0.0
    if not words or users.feedbacks[user] - users.feedbacks[0] < LEAST_UTILITIES:
        return False
    told = evidence_of(state, user)
    axes = common_axes(told.products, tell(told), False)
    if np.isnan(axes.volume):
        return False
    noises = weigh_noise(told)
    values, units, evidence = (
        np.full((UNIT_NODES, noises.shape[0]), -np.inf),
        np.empty(UNIT_NODES),
        np.empty(UNIT_NODES),
    )
    best = -np.inf
    for i in range(UNIT_NODES):
        units[i] = users.unit[0] * np.exp(node(i))
    for n in range(noises.shape[0]):
        if noises[n] > -np.inf:
            unit_evidence(axes, units, told.variance * NOISE_FACTORS[n], evidence)
            for i in range(UNIT_NODES):
                values[i, n] = noises[n] + evidence[i] - told.dimensions * node(i)
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
    shares = table.copy()
    softmax(shares.ravel())
    mean = square = 0.0
    for i in range(UNIT_NODES):
        for j in range(len(SCATTERS)):
            mean += shares[i, j] * node(i)
            square += shares[i, j] * (node(i) * node(i) + SCATTERS[j][0] * SCATTERS[j][0])
    return float(mean), float(np.sqrt(square - mean * mean))


@kernel
def share_units(state: Any, rows: Integers, law: Floats) -> None:
    """Write mean and deviation of people's log-units; give all who told enough a unit with the others' behind it."""
    users = state.users
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
    law[0], law[1] = centre_units(table)
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
