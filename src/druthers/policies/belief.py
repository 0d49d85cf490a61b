"""What rankings, utilities and choices say together, each weighed by the information it carries."""

from typing import NamedTuple

import numpy as np

from druthers._jit import kernel
from druthers._matrices import factor, solve_transposed, solve_upper
from druthers.policies.arms import FIRST_GUESS
from druthers.types import Floats

# A precision that stands for knowing nothing: of the level of a preference, and of a regression before it starts.
NOTHING = 1e-6
# How many utilities the noise around the line through the anchor is worth, beside the noise around the regression.
COARSE_WEIGHT = 4.0
# Noise below this share of the mean square utility counts as this much: with none at all nothing could be weighed.
LEAST_NOISE = 1e-6
# Units of utilities that are tried against those of rankings, and by how much twice the log-evidence must rise.
UNIT_STEP = 1.5
UNIT_STEPS = 12
UNIT_GATE = 16.0
FIRST_FIT = 8


class Evidence(NamedTuple):
    """All that a user told, and how it is weighed.

    `products` (D + 1, D + 1), `feedbacks` and `variance` are the sums over utilities, their number and their noise.
    `anchor` and `information` are what rankings say, in units of the Plackett-Luce model; `sites` (D, D + 1) are
    information and pull of choices in the same units, and `dimensions` is of how many weights all these speak. `ridge`
    is that of the prior, and `pull` the anchor's own.
    """

    products: Floats
    feedbacks: float
    variance: float
    anchor: Floats
    information: Floats
    sites: Floats
    dimensions: float
    ridge: float
    pull: float


class Posterior(NamedTuple):
    """What is believed of a user's weights: the estimate, the upper factor of its information, the noise taken."""

    estimate: Floats
    root: Floats
    variance: float


@kernel
def utility_variance(products: Floats, root: Floats, feedbacks: float, anchor: Floats) -> float:
    """Return s_p^2, the variance of a user's utilities per |reward|^2, from all that the user felt.

    The residuals of the regression have feedbacks - D degrees of freedom. Until there are enough, the residuals
    around the best point of the plane through the anchor and the constant help out, with feedbacks - 2; these also hold
    what the anchor gets wrong. Both are functions of sums, so the order of feedback does not matter.
    """
    size = anchor.shape[0]
    energy = float(products[size, size])
    if not energy > 0.0:
        return 1.0
    # Inner products, in the metric of the feedback, of the constant, the anchor and the utilities.
    both = constant = along = level = told = 0.0
    for k in range(size):
        row = 0.0
        row_anchor = 0.0
        for j in range(size):
            row += products[k, j]
            row_anchor += products[k, j] * anchor[j]
        constant += row
        both += row_anchor
        along += row_anchor * anchor[k]
        level += products[k, size]
        told += products[k, size] * anchor[k]
    rest = energy
    if constant > 1e-9 * feedbacks:
        rest -= level * level / constant
        told -= both * level / constant
        left = along - both * both / constant
        if left > 1e-9 * feedbacks:  # else there is no anchor to speak of
            rest -= told * told / left
    mean_square = energy / feedbacks
    coarse = (FIRST_GUESS * mean_square + max(rest, 0.0)) / (1.0 + max(feedbacks - 2.0, 0.0))
    residual = float(root[size, size] ** 2)
    fine = (COARSE_WEIGHT * coarse + residual) / (COARSE_WEIGHT + max(feedbacks - size, 0.0))
    return float(max(fine, LEAST_NOISE * mean_square))


@kernel
def believe(told: Evidence, unit: float) -> Posterior:
    """Return the estimate and the upper factor of M = G/variance + H + A + ridge (I - 11'/D) + (nearly nothing) I.

    The anchor minimizes loss + pull |c|^2/2, so the rankings alone say c'Hc/2 - c'(H + pull) anchor, of c/unit; and the
    choices, whose `sites` (D, D + 1) are A and b, say c'Ac/2 - c'b, of c/unit.
    """
    anchor, information = told.anchor, told.information
    size = anchor.shape[0]
    estimate, root = np.empty(size), np.empty((size, size))
    scale = 1.0 / (unit * unit)
    for k in range(size):
        value = told.pull * anchor[k]
        for j in range(size):
            value += information[k, j] * anchor[j]
            root[k, j] = scale * information[k, j]
        estimate[k] = value / unit
    return combine(told, told.variance, unit, scale * told.ridge, estimate, root)


@kernel
def combine(told: Evidence, variance: float, unit: float, ridge: float, estimate: Floats, root: Floats) -> Posterior:
    """Add utilities, choices and the prior to what rankings say, whose information `root` and pull `estimate` hold.

    Both are replaced: by the factor of the whole information, and by the estimate.
    """
    products, sites = told.products, told.sites
    size = estimate.shape[0]
    weight = 1.0 / variance
    chosen = 1.0 / (unit * unit)
    total = 0.0
    for k in range(size):
        for j in range(size):
            root[k, j] += weight * products[k, j] + chosen * sites[k, j] - ridge / size
        total += root[k, k] + ridge / size
        estimate[k] += weight * products[k, size] + sites[k, size] / unit
    floor = NOTHING + 1e-11 * total  # the second keeps the factor from failing where utilities are nearly exact
    for k in range(size):
        root[k, k] += ridge + floor
    if not factor(root, root):  # an anchor of someone's own may bring an information that is none
        for k in range(size):
            for j in range(size):
                root[k, j] = 0.0
            root[k, k] = np.sqrt(total + ridge + floor)
    solve_transposed(root, estimate)
    solve_upper(root, estimate)
    return Posterior(estimate, root, variance)


@kernel
def surprise(believed: Posterior) -> float:
    """Return ln |M| - c'Mc for a factor R of M: minus twice the log-evidence, up to what M and c do not depend on."""
    estimate, root, _ = believed
    size = estimate.shape[0]
    total = 0.0
    product = 1.0
    for k in range(size):
        along = 0.0
        for j in range(k, size):
            along += root[k, j] * estimate[j]
        total -= along * along
        product *= root[k, k]
        if product < 1e-150 or product > 1e150:  # one logarithm for several factors
            total += 2.0 * np.log(product)
            product = 1.0
    return float(total + 2.0 * np.log(product))


@kernel
def fit_unit(told: Evidence, usual: float, handicap: float) -> float:
    """Return the unit of utilities with the largest evidence, or the usual one where that is not clearly more likely.

    `handicap` is by how much twice the log-evidence is higher already for another reason than the unit.
    """
    size = told.anchor.shape[0]
    values = np.full(2 * UNIT_STEPS + 1, np.inf)
    best = UNIT_STEPS
    # Every third unit first, then those between the best one and its neighbors.
    for stride in (3, 1):
        first, last = (0, 2 * UNIT_STEPS) if stride == 3 else (max(best - 2, 0), min(best + 2, 2 * UNIT_STEPS))
        for step in range(first, last + 1, stride):
            if values[step] == np.inf:
                unit = usual * UNIT_STEP ** (step - UNIT_STEPS)
                values[step] = surprise(believe(told, unit)) + 2.0 * (size - 1) * np.log(unit)
        for step in range(2 * UNIT_STEPS + 1):
            if values[step] < values[best]:
                best = step
    clearly = values[best] < values[UNIT_STEPS] - UNIT_GATE - handicap
    return float(usual * UNIT_STEP ** (best - UNIT_STEPS)) if clearly else usual
