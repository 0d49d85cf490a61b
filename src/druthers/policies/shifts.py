"""How a user's weights shift with the context of a visit: linearly, and as far as the evidence says.

In a context z (q,) the weights are w + Cz, with C ~ N(0, deviation^2) entry by entry. How large shifts are, and whether
there are any, is weighed by the evidence, half of the prior being on "none"; for each deviation the law of w and C
given all utilities and choices is normal and exact. As long as "none" is likely, nothing is shifted.
"""

from typing import Any, NamedTuple

import numpy as np

from druthers._jit import generic, implements, kernel
from druthers._matrices import factor, inverse, invert, softmax, solve, solve_transposed
from druthers.policies.belief import Posterior
from druthers.types import Floats

# Deviations of a shift that are tried, in those of a weight before anything is known.
FRACTIONS = (0.0, 0.25, 0.5, 1.0)
# Shifts are believed once "none" has less than this chance: wrongly, over all times, with about as much.
ERROR = 0.05
# Utilities that the noise without shifts counts for, where it is fitted once more with them.
NOISE_DRAWS = 4.0


class Visit(NamedTuple):
    """The context (q,) of a visit, and the sums over all that its user felt in contexts.

    With z = (1, context), and rr' what a utility adds to the policy's own sums (n + 1, n + 1), the utility last, `sums`
    has the sums of z_a z_b rr' for a <= b, b > 0, at b (b + 1)/2 + a - 1: those of a new entry follow all others.
    `sites` has the same of the information and pull (D, D + 1) of choices. `shifts` (q, n) is written by `shifted`.
    """

    context: Floats
    sums: Floats
    sites: Floats
    shifts: Floats


def fresh_visit(n_entries: int, n_weights: int, n_objectives: int) -> Visit:
    """Return a visit in no context of somebody who felt nothing."""
    places = n_entries * (n_entries + 3) // 2
    return Visit(
        context=np.zeros(n_entries),
        sums=np.zeros((places, n_weights + 1, n_weights + 1)),
        sites=np.zeros((places, n_objectives, n_objectives + 1)),
        shifts=np.zeros((n_entries, n_weights)),
    )


@generic
def has_context(visit: Any) -> bool:
    """Tell whether there is a context: the visit of somebody who felt nothing in one is None."""
    return False


@implements(has_context, Visit)
@kernel
def _has_context(visit: Visit) -> bool:
    return True


@generic
def add_within(visit: Any, block: Floats, chosen: bool) -> None:
    """Add what was felt in a context to the sums: of utilities, or of choices."""


@implements(add_within, Visit)
@kernel
def _add_within(visit: Visit, block: Floats, chosen: bool) -> None:
    context, sums = visit.context, visit.sites if chosen else visit.sums
    for b in range(1, context.shape[0] + 1):
        for a in range(b + 1):
            scale = context[b - 1] * (context[a - 1] if a > 0 else 1.0)
            if scale != 0.0:
                place = b * (b + 1) // 2 + a - 1
                for i in range(block.shape[0]):
                    for j in range(block.shape[1]):
                        sums[place, i, j] += scale * block[i, j]


@kernel
def add_row_within(visit: Any, row: Floats, weight: float) -> None:
    """Add a utility that was felt in a context, by its row (n + 1,)."""
    if has_context(visit):
        block = np.empty((row.shape[0], row.shape[0]))
        for i in range(row.shape[0]):
            for j in range(row.shape[0]):
                block[i, j] = weight * row[i] * row[j]
        add_within(visit, block, False)


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


class Sums(NamedTuple):
    """All that is known of w and C together, in blocks for w and each column of C.

    `felt` and `pull` are the sums of utilities, to be divided by their noise; `rest` and `more` are the information and
    pull of all else but the prior of C. `size` is that of a block.
    """

    felt: Floats
    pull: Floats
    rest: Floats
    more: Floats
    size: int


@generic
def shifted(visit: Any, base: Posterior, gram: Floats, unit: float, usual: float) -> Posterior:
    """Return what is believed of a user's weights in a context; `visit.shifts` gets the means of C, 0 where none is.

    Parameters
    ----------
    visit
        The context, and what was felt in others; None where nothing was.
    base
        What is believed without contexts: its factor R has R'R = gram/variance + all that does not come from utilities.
    gram
        The sums (n + 1, n + 1) of utilities in it.
    unit
        That of choices.
    usual
        Standard deviation of a weight before anything is known.
    """
    return base


@implements(shifted, Visit)
@kernel
def _shifted(visit: Visit, base: Posterior, gram: Floats, unit: float, usual: float) -> Posterior:
    n, count = base.estimate.shape[0], len(FRACTIONS)
    for a in range(visit.context.shape[0]):
        for i in range(n):
            visit.shifts[a, i] = 0.0
    sums = add_up(base, gram, visit, unit)
    chances = np.empty(count)
    laws = weigh_shifts(sums, base.variance, usual, chances)
    if chances[0] > ERROR:
        return base
    first: Any  # the sum of squares without shifts
    first = least = NOISE_DRAWS * base.variance + gram[n, n]
    left = 0.0
    for g in range(count):
        loss = squares_left(sums, laws[g])
        left += chances[g] * (least + loss)
        first += loss if g == 0 else 0.0
    noise = base.variance * min(left / first, 1.0)
    laws = weigh_shifts(sums, noise, usual, chances)
    means, mean, spread = np.zeros((count, n)), np.zeros(n), np.zeros((n, n))
    for g in range(count):
        law = laws[g]
        add_spread(law, visit.context, chances[g], means[g], spread)
        for i in range(n):
            mean[i] += chances[g] * means[g, i]
            for a in range(law.estimate.shape[0] // n - 1):
                visit.shifts[a, i] += chances[g] * law.estimate[(1 + a) * n + i]
    for g in range(count):
        for i in range(n):
            for j in range(n):
                spread[i, j] += chances[g] * (means[g, i] - mean[i]) * (means[g, j] - mean[j])
    root = np.empty((n, n))
    invert(spread, spread)
    factor(spread, root)
    return Posterior(mean, root, noise)


@kernel
def add_up(base: Posterior, gram: Floats, visit: Visit, unit: float) -> Sums:
    """Return what is known of w and C; see `shifted` for the parameters."""
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
    return Sums(felt, pull, rest, more, n)


@kernel
def weigh_shifts(sums: Sums, noise: float, usual: float, chances: Floats) -> list[Posterior]:
    """Return the law of w and C for each deviation of shifts, where utilities have this noise; write how likely it is.

    "None" has half of the prior.
    """
    laws = []
    for g in range(chances.shape[0]):
        law, evidence = shift_law(sums, noise, FRACTIONS[g] * usual)
        laws.append(law)
        chances[g] = evidence - np.log(2.0 if g == 0 else 2.0 * (chances.shape[0] - 1))
    softmax(chances)
    return laws


@kernel
def shift_law(sums: Sums, noise: float, deviation: float) -> tuple[Posterior, float]:
    """Return the law of w and C where shifts have this deviation, of w alone for 0.

    Beside it the log-evidence, up to what no deviation changes.
    """
    size = sums.felt.shape[0] if deviation > 0.0 else sums.size
    information = sums.felt[:size, :size] / noise + sums.rest[:size, :size]
    pull = sums.pull[:size] / noise + sums.more[:size]
    evidence = 0.0
    for i in range(sums.size, size):
        information[i, i] += 1.0 / (deviation * deviation)
        evidence -= np.log(deviation)
    root, estimate = np.empty((size, size)), pull.copy()
    factor(information, root)
    solve(root, estimate)
    for i in range(size):
        evidence += 0.5 * pull[i] * estimate[i] - np.log(root[i, i])
    return Posterior(estimate, root, noise), evidence


@kernel
def squares_left(sums: Sums, law: Posterior) -> float:
    """Return the expected sum of squares that utilities leave, but for the sum of their own squares."""
    estimate, covariance = law.estimate, np.empty(law.root.shape)
    inverse(law.root, covariance)
    left = 0.0
    for i in range(estimate.shape[0]):
        left -= 2.0 * estimate[i] * sums.pull[i]
        for j in range(estimate.shape[0]):
            left += sums.felt[i, j] * (estimate[i] * estimate[j] + covariance[i, j])
    return left


@kernel
def add_spread(law: Posterior, context: Floats, chance: float, mean: Floats, spread: Floats) -> None:
    """Write the mean of the weights in a context, and add their covariance to `spread`, times a chance."""
    n, size = mean.shape[0], law.estimate.shape[0]
    rows = np.zeros((n, size))  # of weights in terms of w and C, then of what R' makes of them
    for i in range(n):
        rows[i, i] = 1.0
        for a in range(size // n - 1):
            rows[i, (1 + a) * n + i] = context[a]
        mean[i] = 0.0
        for k in range(size):
            mean[i] += rows[i, k] * law.estimate[k]
        solve_transposed(law.root, rows[i])
    for i in range(n):
        for j in range(n):
            for k in range(size):
                spread[i, j] += chance * rows[i, k] * rows[j, k]
