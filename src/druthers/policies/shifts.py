"""How a user's weights shift with the context of a visit: linearly, and as far as the evidence says.

In a context z (q,) the weights are w + Cz, with C ~ N(0, deviation^2) entry by entry. How large shifts are, and whether
there are any, is weighed by the evidence, half of the prior being on "none"; for each deviation the law of w and C
given all utilities and choices is normal and exact. As long as "none" is likely, nothing is shifted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from druthers._jit import kernel
from druthers._matrices import factor, inverse, solve
from druthers.policies.belief import Posterior
from druthers.types import Floats

# Deviations of a shift that are tried, in those of a weight before anything is known.
FRACTIONS = (0.0, 0.25, 0.5, 1.0)
# Shifts are believed once "none" has less than this chance: wrongly, over all times, with about as much.
ERROR = 0.05
# Rounds in which the shifts and the noise of utilities are fitted to each other, and what the noise without counts for.
ROUNDS = 2
NOISE_DRAWS = 4.0


class Visit(NamedTuple):
    """The context (q,) of a visit, and the sums over all that its user felt in contexts.

    With z = (1, context), and rr' what a utility adds to the policy's own sums (n + 1, n + 1), the utility last, `sums`
    has the sums of z_a z_b rr' for a <= b, b > 0, at b (b + 1)/2 + a - 1: those of a new entry follow all others.
    `sites` has the same of the information and pull (D, D + 1) of choices.
    """

    context: Floats
    sums: Floats
    sites: Floats


def fresh_visit(n_entries: int, n_weights: int, n_objectives: int) -> Visit:
    """Return a visit in no context of somebody who felt nothing."""
    places = n_entries * (n_entries + 3) // 2
    return Visit(
        context=np.zeros(n_entries),
        sums=np.zeros((places, n_weights + 1, n_weights + 1)),
        sites=np.zeros((places, n_objectives, n_objectives + 1)),
    )


@kernel
def add_within(context: Floats, sums: Floats, block: Floats) -> None:
    """Add what was felt in a context to the sums."""
    for b in range(1, context.shape[0] + 1):
        for a in range(b + 1):
            scale = context[b - 1] * (context[a - 1] if a > 0 else 1.0)
            if scale != 0.0:
                place = b * (b + 1) // 2 + a - 1
                for i in range(block.shape[0]):
                    for j in range(block.shape[1]):
                        sums[place, i, j] += scale * block[i, j]


@kernel
def add_row_within(visit: Visit, row: Floats, weight: float) -> None:
    """Add a utility that was felt in a context, by its row (n + 1,)."""
    if visit.context.shape[0] == 0:
        return
    block = np.empty((row.shape[0], row.shape[0]))
    for i in range(row.shape[0]):
        for j in range(row.shape[0]):
            block[i, j] = weight * row[i] * row[j]
    add_within(visit.context, visit.sums, block)


@kernel
def assemble(first: Floats, sums: Floats, n_entries: int, weight: float, size: int, out: Floats) -> None:
    """Add sums over w and C, in blocks of `size` for w and each column of C, to `out`; of `first` only without C."""
    part = min(size, first.shape[0])
    for b in range(n_entries + 1):
        for a in range(b + 1):
            place = b * (b + 1) // 2 + a - 1
            for i in range(part):
                for j in range(part):
                    value = weight * (sums[place, i, j] if b > 0 else first[i, j])
                    out[a * size + i, b * size + j] += value
                    if a < b:
                        out[b * size + j, a * size + i] += value


@kernel
def shifted(base: Posterior, gram: Floats, visit: Visit, unit: float, usual: float) -> Posterior:
    """Return what is believed of a user's weights in a context.

    Parameters
    ----------
    base
        What is believed without contexts: its factor R has R'R = gram/variance + all that does not come from utilities.
    gram
        The sums (n + 1, n + 1) of utilities in it.
    visit
        The context, and what was felt in others.
    unit
        That of choices.
    usual
        Standard deviation of a weight before anything is known.
    """
    n, q = base.estimate.shape[0], visit.context.shape[0]
    size = n * (1 + q)
    felt, pull, rest, more = np.zeros((size, size)), np.zeros(size), np.zeros((size, size)), np.zeros(size)
    assemble(gram[:n, :n], visit.sums[:, :n, :n], q, 1.0, n, felt)
    whole = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(min(i, j) + 1):
                whole[i, j] += base.root[k, i] * base.root[k, j]
    for i in range(n):
        pull[i] = gram[i, n]
        more[i] = -gram[i, n] / base.variance
        for j in range(n):
            more[i] += whole[i, j] * base.estimate[j]
            whole[i, j] -= gram[i, j] / base.variance
    assemble(whole, np.zeros((visit.sums.shape[0], n, n)), q, 1.0, n, rest)
    d = visit.sites.shape[1]
    assemble(np.zeros((d, d)), visit.sites[:, :, :d], q, 1.0 / (unit * unit), n, rest)
    for b in range(1, q + 1):
        place = b * (b + 1) // 2 - 1
        for i in range(n):
            pull[b * n + i] = visit.sums[place, i, n]
        for i in range(d):
            more[b * n + i] = visit.sites[place, i, d] / unit
    found, none = weigh_shifts(felt, pull, rest, more, float(gram[n, n]), base.variance, visit.context, usual)
    return base if none > ERROR else found


# Over sixty lines: the average over sizes of shifts is taken twice, and both times from the same arrays.
@kernel
def weigh_shifts(
    felt: Floats,
    pull: Floats,
    rest: Floats,
    more: Floats,
    square: float,
    variance: float,
    context: Floats,
    usual: float,
) -> tuple[Posterior, float]:
    """Average over how large shifts are, for the noise without them and once more for what it is with them.

    `felt` and `pull` are the sums of utilities over w and C, `square` that of their squares; `rest` and `more` are the
    information and pull of all else. Returns how likely there is no shift beside, for the noise without any.
    """
    n = felt.shape[0] // (1 + context.shape[0])
    count = len(FRACTIONS)
    means, spreads = np.empty((count, n)), np.empty((count, n, n))
    odds, losses = np.empty(count), np.empty(count)
    noise, none = variance, 1.0
    mean, spread = np.empty(n), np.empty((n, n))
    for turn in range(ROUNDS):
        for g in range(count):
            size = felt.shape[0] if FRACTIONS[g] > 0.0 else n
            odds[g], losses[g] = shift_law(
                felt[:size, :size] / noise + rest[:size, :size],
                pull[:size] / noise + more[:size],
                FRACTIONS[g] * usual,
                context,
                means[g],
                spreads[g],
                felt,
                pull,
            )
        top = -np.inf
        for g in range(count):
            odds[g] -= np.log(2.0 if FRACTIONS[g] == 0.0 else 2.0 * (count - 1))
            top = max(top, odds[g])
        total = loss = 0.0
        for g in range(count):
            odds[g] = np.exp(odds[g] - top)
            total += odds[g]
        mean[:] = 0.0
        spread[:] = 0.0
        for g in range(count):
            loss += odds[g] / total * losses[g]
            for i in range(n):
                mean[i] += odds[g] / total * means[g, i]
        for g in range(count):
            for i in range(n):
                for j in range(n):
                    apart = (means[g, i] - mean[i]) * (means[g, j] - mean[j])
                    spread[i, j] += odds[g] / total * (spreads[g, i, j] + apart)
        if turn == 0:
            none = odds[0] / total
        if turn < ROUNDS - 1:
            least = NOISE_DRAWS * variance + square
            noise = variance * min((least + loss) / (least + losses[0]), 1.0)
    root = np.empty((n, n))
    factor(spread, root)
    inverse(root, spread)
    factor(spread, root)
    return Posterior(mean, root, noise), none


@kernel
def shift_law(
    information: Floats,
    pull: Floats,
    deviation: float,
    context: Floats,
    mean: Floats,
    spread: Floats,
    felt: Floats,
    told: Floats,
) -> tuple[float, float]:
    """Write mean and covariance of the weights in a context, where shifts have this deviation.

    Returns the log-evidence, up to what no deviation changes, and the expected sum of squares that utilities leave, but
    for the sum of their own squares.
    """
    n, size = mean.shape[0], pull.shape[0]
    evidence = 0.0
    for i in range(n, size):
        information[i, i] += 1.0 / (deviation * deviation)
        evidence -= np.log(deviation)
    root, covariance, estimate = np.empty((size, size)), np.empty((size, size)), pull.copy()
    factor(information, root)
    inverse(root, covariance)
    solve(root, estimate)
    loss = 0.0
    for i in range(size):
        evidence += 0.5 * pull[i] * estimate[i] - np.log(root[i, i])
        loss -= 2.0 * estimate[i] * told[i]
        for j in range(size):
            loss += felt[i, j] * (estimate[i] * estimate[j] + covariance[i, j])
    n_entries = size // n - 1
    for i in range(n):
        mean[i] = estimate[i]
        for a in range(n_entries):
            mean[i] += context[a] * estimate[(1 + a) * n + i]
        for j in range(n):
            value = covariance[i, j]
            for a in range(n_entries):
                value += context[a] * (covariance[(1 + a) * n + i, j] + covariance[i, (1 + a) * n + j])
                for b in range(n_entries):
                    value += context[a] * context[b] * covariance[(1 + a) * n + i, (1 + b) * n + j]
            spread[i, j] = value
    return evidence, loss
