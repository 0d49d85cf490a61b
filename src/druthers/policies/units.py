"""What is believed of a person where the unit of utilities is not known: averaged over units by their evidence.

Words and choices tell theta, weights in the units of the Plackett-Luce model, and utilities tell c = kappa theta. With
G/s^2 and h/s^2 the information and pull of utilities, L and p those of all the rest with its prior, c is normal
for a given kappa and noise s^2, with M = G/s^2 + L/kappa^2 and M c = h/s^2 + p/kappa. In the axes in which G and L are
both diagonal, each pair of kappa and s^2 costs O(D).
"""

import math
from typing import NamedTuple

import numpy as np

from druthers._eigen import diagonalize
from druthers._jit import kernel
from druthers._matrices import (
    copy_matrix,
    factor,
    multiply,
    sandwich,
    softmax,
    solve_transposed_columns,
)
from druthers.beliefs.narrow import add_squares
from druthers.policies.belief import NOTHING, Evidence, fit_unit
from druthers.types import Floats

# Before anything is felt, the usual unit has this chance to be right; else the log-unit is normal with deviation SLAB.
SPIKE = 0.1
SLAB = 1.0
# A choice is efficient where the usual unit is right, as it mostly is: its chance there.
USUALLY = 0.9
# A choice also expects the mean of the weights to lie about zero, in the unit of words, with this precision: 4.5 or so.
LEVEL_PRECISION = 0.05
# Log-units from -SPAN to SPAN around the usual one are compared, NODES at a time, ever closer to the likely ones.
SPAN = 3.2
NODES = 33
FAR = 2.8
# Units whose log-evidence is this much below the best are left out of the next look.
UNLIKELY = 15.0
# With fewer utilities than so many the noise is averaged too: these log-factors of its estimate are weighed by a normal
# law of the log-noise around a share of the mean square utility.
FEW = 32.0
NOISE_STEPS = (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5)
NOISE_FACTORS = tuple(math.exp(step) for step in NOISE_STEPS)
NOISE_SHARE = 0.3
NOISE_SLAB = 1.2


class UnitLaw(NamedTuple):
    """What is thought of a unit before anything is felt: the usual one with chance `spike`, else log-normal."""

    usual: float
    spike: float
    slab: float


class Axes(NamedTuple):
    """The axes (D, D), as rows, in which utilities and all the rest are independent: c = B'z.

    There L is the identity, G is `gains`, h is `felt` and p is `said`. `volume` is ln |L|, NaN where L is none.
    """

    gains: Floats
    felt: Floats
    said: Floats
    rows: Floats
    volume: float


@kernel
def common_axes(products: Floats, told: Floats, with_rows: bool) -> Axes:
    """Return the axes of utilities and of all the rest, whose L and p are `told` (D, D + 1); without rows, cheaper.

    With L = R'R and R'^-1 G R^-1 = Q gains Q', they are B = Q'R'^-1.
    """
    size = told.shape[0]
    gains, felt, said = np.empty(size), np.empty(size), np.empty(size)
    root, matrix = np.empty((size, size)), np.empty((size, size))
    turned = np.zeros((size, 2 + size if with_rows else 2))
    rows = turned[:, 2:]
    if not factor(told, root):
        return Axes(gains, felt, said, rows, np.nan)
    half = products[:size, :size].copy()
    solve_transposed_columns(root, half)
    copy_matrix(half.T, matrix)
    solve_transposed_columns(root, matrix)
    volume = 0.0
    for k in range(size):
        volume += 2.0 * np.log(root[k, k])
        turned[k, 0], turned[k, 1] = products[k, size], told[k, size]
        if with_rows:
            rows[k, k] = 1.0
        for j in range(k):
            matrix[k, j] = matrix[j, k] = 0.5 * (matrix[k, j] + matrix[j, k])
    solve_transposed_columns(root, turned)
    diagonalize(matrix, gains, turned)
    for k in range(size):
        gains[k], felt[k], said[k] = max(gains[k], 0.0), turned[k, 0], turned[k, 1]
    return Axes(gains, felt, said, rows, volume)


@kernel
def unit_evidence(axes: Axes, units: Floats, variance: float, out: Floats) -> None:
    """Write the log-evidence of units with a noise, up to what depends on either alone.

    All units go together, so that divisions do, four at a time.
    """
    gains, felt, said, _, _ = axes
    n_units, per_noise = units.shape[0], 1.0 / variance
    products, per_unit = np.ones(n_units), np.empty(n_units)
    for i in range(n_units):
        per_unit[i] = 1.0 / units[i]
        out[i] = 0.0
    for k in range(gains.shape[0]):
        gain, pulled, pushed = gains[k] * per_noise, felt[k] * per_noise, said[k]
        for i in range(n_units):
            information = gain + per_unit[i] * per_unit[i]
            pull = pulled + pushed * per_unit[i]
            out[i] += 0.5 * pull * pull / information
            products[i] *= information
        if k % 4 == 3:
            far = 0
            for i in range(n_units):
                far += products[i] < 1e-150 or products[i] > 1e150
            if far > 0:  # counted first: else LLVM takes all logarithms each time and forgets them, half of the time
                for i in range(n_units):
                    if products[i] < 1e-150 or products[i] > 1e150:
                        out[i] -= 0.5 * np.log(products[i])
                        products[i] = 1.0
    for i in range(n_units):
        out[i] -= 0.5 * np.log(products[i])  # one logarithm for several factors


@kernel
def weigh_noise(told: Evidence) -> Floats:
    """Return, for each noise that is tried, its log-prior and the log-chance of utilities that depends on it alone."""
    feedbacks, variance, size = told.feedbacks, told.variance, told.anchor.shape[0]
    energy, steps = float(told.products[size, size]), np.empty(len(NOISE_STEPS))
    centre = np.log(max(NOISE_SHARE * energy / max(feedbacks, 1.0), 1e-300))
    for n in range(steps.shape[0]):
        log_noise = np.log(variance) + NOISE_STEPS[n]
        off = (log_noise - centre) / NOISE_SLAB
        steps[n] = -0.5 * off * off - 0.5 * feedbacks * log_noise - 0.5 * energy * np.exp(-log_noise)
    if feedbacks >= FEW:
        for n in range(steps.shape[0]):
            steps[n] = 0.0 if NOISE_STEPS[n] == 0.0 else -np.inf
    return steps


@kernel
def find_units(axes: Axes, told: Evidence, noises: Floats, law: UnitLaw) -> tuple[float, float]:
    """Return between which log-units, from the usual one, all those lie that are not unlikely."""
    low, high = -SPAN, SPAN
    values, units, evidence = np.empty(NODES), np.empty(NODES), np.empty(NODES)
    for _ in range(2):
        step = (high - low) / (NODES - 1)
        best = -np.inf
        for i in range(NODES):
            values[i] = -np.inf
            units[i] = law.usual * np.exp(low + i * step)
        for n in range(noises.shape[0]):
            if noises[n] > -np.inf:
                unit_evidence(axes, units, told.variance * NOISE_FACTORS[n], evidence)
                for i in range(NODES):
                    values[i] = max(values[i], noises[n] + evidence[i])
        for i in range(NODES):
            off = (low + i * step) / law.slab
            values[i] -= 0.5 * off * off + told.dimensions * (low + i * step)
            best = max(best, values[i])
        first, last = NODES - 1, 0
        for i in range(NODES):
            if values[i] > best - UNLIKELY:
                first, last = min(first, i), max(last, i)
        low, high = low + step * max(first - 1, 0), low + step * min(last + 1, NODES - 1)
    return low, high


@kernel
def weigh_units(axes: Axes, told: Evidence, noises: Floats, law: UnitLaw, log_units: Floats, shares: Floats) -> float:
    """Write the log-units that are weighed, the last being the spike, and their shares with each noise.

    Returns the log-evidence of all of them together.
    """
    low, high = find_units(axes, told, noises, law)
    step = (high - low) / (NODES - 1)
    priors, units, evidence = np.empty(NODES + 1), np.empty(NODES + 1), np.empty(NODES + 1)
    for i in range(NODES + 1):
        log_units[i] = low + i * step if i < NODES else 0.0
        chance = law.spike if i == NODES else (1.0 - law.spike) * step / (law.slab * np.sqrt(2.0 * np.pi))
        priors[i] = np.log(chance) if chance > 0.0 else -np.inf
        priors[i] -= 0.5 * (log_units[i] / law.slab) ** 2 + told.dimensions * (log_units[i] + np.log(law.usual))
        units[i] = law.usual * np.exp(log_units[i])
    for n in range(noises.shape[0]):
        if noises[n] > -np.inf:
            unit_evidence(axes, units, told.variance * NOISE_FACTORS[n], evidence)
        for i in range(NODES + 1):
            shares[i, n] = priors[i] + noises[n] + evidence[i] if noises[n] > -np.inf else -np.inf
    return softmax(shares.ravel())


@kernel
def expect_level(said: Floats) -> Floats:
    """Add to what is `said` (D, D + 1) that the mean of the weights is no larger than people's are, and return it.

    Words do not tell that mean and the first utilities do, so a few that are far too high for the usual unit show that
    it is larger. Those that are low show nothing: the unit's power that such a prior has is not counted.
    """
    size = said.shape[0]
    for k in range(size):
        for j in range(size):
            said[k, j] += LEVEL_PRECISION / (size * size)
    return said


@kernel
def likely_unit(told: Evidence, said: Floats, law: UnitLaw) -> float:
    """Return the one unit to go by: the usual one while that is more likely than not, else the mean of all others.

    The mean is that of their logarithms. Far units, which are not compared here, are looked for one by one.
    """
    axes = common_axes(told.products, said, False)
    if np.isnan(axes.volume):
        return law.usual
    noises = weigh_noise(told)
    log_units, shares = np.empty(NODES + 1), np.empty((NODES + 1, noises.shape[0]))
    weigh_units(axes, told, noises, law, log_units, shares)
    total = chance = 0.0
    for i in range(NODES):
        for n in range(noises.shape[0]):
            total += shares[i, n] * log_units[i]
            chance += shares[i, n]
    if not chance > 0.5:
        return law.usual
    if abs(total) > FAR * chance:
        return fit_unit(told, law.usual, 0.0)
    return float(law.usual * np.exp(total / chance))


@kernel
def average_units(
    told: Evidence, said: Floats, law: UnitLaw, of_words: bool, estimate: Floats, covariance: Floats
) -> tuple[float, float]:
    """Write mean and covariance over all units and noises: of the weights c, or of theta = c/kappa that words tell.

    `said` (D, D + 1) is the information and the pull of words, choices and the prior, in their own unit. Returns the
    mean log-unit from the usual one, and the log-evidence of all units together, up to what is the same for everything
    `said`; NaN, with nothing written, where that is no information.
    """
    size = estimate.shape[0]
    axes = common_axes(told.products, said, True)
    gains, felt, pulls, rows, volume = axes
    if np.isnan(volume):
        return np.nan, np.nan
    noises = weigh_noise(told)
    log_units, shares = np.empty(NODES + 1), np.empty((NODES + 1, noises.shape[0]))
    evidence = weigh_units(axes, told, noises, law, log_units, shares)
    mean_log, many = 0.0, 0
    values, mean, spread = np.zeros((4, size)), np.zeros(size), np.zeros((size, size))
    for i in range(NODES + 1):
        per_unit = 1.0 / (law.usual * np.exp(log_units[i]))
        scale = per_unit if of_words else 1.0
        for n in range(noises.shape[0]):
            share, per_noise = shares[i, n], 1.0 / (told.variance * NOISE_FACTORS[n])
            if share < 1e-12:
                continue
            mean_log += share * log_units[i]
            root, within = np.sqrt(share), share * scale * scale
            for k in range(size):
                variance = 1.0 / (gains[k] * per_noise + per_unit * per_unit)
                value = scale * (felt[k] * per_noise + pulls[k] * per_unit) * variance
                mean[k] += share * value
                spread[k, k] += within * variance
                values[many, k] = root * value
            many += 1
            if many == 4:
                add_squares(values, spread)
                many = 0
    add_squares(values[:many], spread)
    for k in range(size):
        for j in range(k + 1):
            spread[k, j] -= mean[k] * mean[j]
            spread[j, k] = spread[k, j]
    multiply(rows.T, mean, estimate)
    sandwich(rows, spread, covariance)
    return float(mean_log), float(evidence - 0.5 * volume)


@kernel
def tell(told: Evidence) -> Floats:
    """Return information and pull (D, D + 1) of words, choices and the prior, in units of the Plackett-Luce model."""
    anchor, information, sites, ridge = told.anchor, told.information, told.sites, told.ridge
    size = anchor.shape[0]
    out = np.empty((size, size + 1))
    for k in range(size):
        value = told.pull * anchor[k] + sites[k, size]
        for j in range(size):
            value += information[k, j] * anchor[j]
            out[k, j] = information[k, j] + sites[k, j] - ridge / size
        out[k, k] += ridge + NOTHING
        out[k, size] = value
    return out


@kernel
def mix_normals(logs: Floats, means: Floats, spreads: Floats, estimate: Floats, covariance: Floats) -> bool:
    """Write mean and covariance of a mixture of normal laws with these log-weights, which are replaced by shares.

    Returns False, with nothing written, where no law has any weight.
    """
    size = estimate.shape[0]
    if softmax(logs) == -np.inf:
        return False
    multiply(means.T, logs, estimate)
    for k in range(size):
        for j in range(size):
            covariance[k, j] = 0.0
    for row in range(logs.shape[0]):
        for k in range(size):
            for j in range(size):
                between = (means[row, k] - estimate[k]) * (means[row, j] - estimate[j])
                covariance[k, j] += logs[row] * (spreads[row, k, j] + between)
    return True
