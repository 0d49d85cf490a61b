"""What a choice says about a preference: the normal factor that stands for it, and what will be chosen next.

A person whose weights are c picks option a of an offer with rows x_k with probability exp<c, x_a> / sum_k exp<c, x_k>
(conditional logit). Before the choice c is N(mean, covariance); after it the moments of c are those of the product of
both, and the normal factor with just these moments is kept: assumed-density filtering, one step of expectation
propagation. The mode and its curvature instead (Laplace) would make people too sure of themselves.
"""

import numpy as np

from druthers._eigen import eigen
from druthers._jit import kernel
from druthers._matrices import copy_vector, factor, inverse, invert, multiply, sandwich, softmax, solve, sum_of
from druthers.beliefs.points import point, points_after, points_needed, proposal, weigh_points, widest_lead
from druthers.beliefs.whitening import leads_of
from druthers.types import Floats, Integers

# Where what is believed of a lead of the picked option has a variance above this, moments are those of the points.
WIDE = 32.0
# A lead counts as no farther than this from where points start: powers of e stay finite.
FARTHEST = 300.0
# A choice never tells more along one direction than this share of all there is to know: it keeps factors finite.
MOST_TOLD = 1.0 - 1e-6
# Half of the points for what will be picked, mirror images being the others.
ENOUGH_TO_PREDICT = 256


@kernel
def odds(mean: Floats, axes: Floats, y: Floats, shares: Floats) -> float:
    """Return -ln of the chance of the picked option at y; write those of the others into `shares`.

    The picked one leads option k by s_k = mean_k + (By)_k, so its chance is 1 / (1 + sum_k exp(-s_k)).
    """
    top = 0.0
    for j in range(mean.shape[0]):
        value = mean[j]
        for k in range(y.shape[0]):
            value += axes[j, k] * y[k]
        shares[j] = -value
        top = max(top, -value)
    total = np.exp(-top)
    for j in range(mean.shape[0]):
        shares[j] = np.exp(shares[j] - top)
        total += shares[j]
    for j in range(mean.shape[0]):
        shares[j] /= total
    return float(top + np.log(total))


@kernel
def curvature(axes: Floats, shares: Floats, gradient: Floats, out: Floats) -> None:
    """Write B'p into `gradient` and B'(diag p - pp')B into `out`, p the chances of the options not picked."""
    n_rows, size = axes.shape
    for k in range(size):
        gradient[k] = 0.0
        for j in range(n_rows):
            gradient[k] += axes[j, k] * shares[j]
    for k in range(size):
        for i in range(k + 1):
            value = -gradient[k] * gradient[i]
            for j in range(n_rows):
                value += shares[j] * axes[j, k] * axes[j, i]
            out[k, i] = value
            out[i, k] = value


@kernel
def mode(mean: Floats, axes: Floats, y: Floats, root: Floats) -> bool:
    """Move y from 0 to where the product of the choice and N(0, I) is largest; write the factor of its Hessian."""
    size = y.shape[0]
    shares, gradient, step = np.empty(mean.shape[0]), np.empty(size), np.zeros(size)
    hessian, trial = np.empty((size, size)), np.zeros(size)
    value, decrement, scale = np.inf, 0.0, 1.0
    for _ in range(60):
        trial_value = odds(mean, axes, trial, shares)
        for k in range(size):
            trial_value += 0.5 * trial[k] * trial[k]
        if trial_value <= value - 1e-4 * scale * decrement + 1e-12 * abs(trial_value):
            value = trial_value
            curvature(axes, shares, gradient, hessian)
            for k in range(size):
                y[k] = trial[k]
                step[k] = gradient[k] - y[k]
                gradient[k] = step[k]
                hessian[k, k] += 1.0
            if not factor(hessian, root):
                return False
            solve(root, step)
            decrement = 0.0
            for k in range(size):
                decrement += step[k] * gradient[k]
            if decrement < 1e-8:
                return True
            scale = 2.0
        scale *= 0.5
        if scale < 1e-6:
            break
        for k in range(size):
            trial[k] = y[k] + scale * step[k]
    return bool(value < np.inf)


@kernel
def moments(mean: Floats, axes: Floats, shift: Floats, told: Floats) -> bool:
    """Write mean (r,) and I - covariance (r, r) of y after the choice; False where that cannot be done."""
    size = axes.shape[1]
    start, root = np.zeros(size), np.empty((size, size))
    if not mode(mean, axes, start, root):
        return False
    if widest_lead(axes) < WIDE:
        return narrow_moments(mean, axes, start, root, shift, told)
    return wide_moments(mean, axes, start, root, shift, told)


@kernel
def narrow_moments(mean: Floats, axes: Floats, start: Floats, root: Floats, shift: Floats, told: Floats) -> bool:
    """Do so from gradients of the log-chance, at points around the mode, whose Hessian has this factor.

    With p the gradient by s, mean = B'E[p] and I - covariance = B'(E[diag p - 2pp'] + E[p]E[p]')B (Stein): little is
    lost in differences where little is told.
    """
    n_rows = axes.shape[0]
    average, matrix = np.zeros(n_rows), np.zeros((n_rows, n_rows))
    total = sum_of(average_shares(mean, axes, start, proposal(root), average, matrix))
    if not (np.isfinite(total) and total > 0.0):
        return False
    for j in range(n_rows):
        average[j] /= total
        for i in range(j + 1):
            matrix[j, i] = average[j] * average[i] - 2.0 * matrix[j, i] / total
            matrix[i, j] = matrix[j, i]
        matrix[j, j] += average[j]
    multiply(axes.T, average, shift)
    sandwich(axes, matrix, told)
    return True


@kernel
def wide_moments(mean: Floats, axes: Floats, start: Floats, root: Floats, shift: Floats, told: Floats) -> bool:
    """Do so from the points themselves, whose covariance is always one; B'B times an error would not leave it so.

    A wide belief after a choice is far from normal: its mode is at an edge and tells neither centre nor width. So twice
    the points are spread anew by the moments found, with roots of weights, lest few points stand for all.
    """
    n_rows, size = axes.shape
    average, matrix, spread = np.zeros(n_rows), np.zeros((n_rows, n_rows)), np.empty((size, size))
    for last in (False, False, True):
        steps = proposal(root)
        weights = average_shares(mean, axes, start, steps, average, matrix)
        if not (np.isfinite(sum_of(weights)) and sum_of(weights) > 0.0):
            return False
        for t in range(0 if last else weights.shape[0]):
            weights[t] = np.sqrt(weights[t])
        weigh_points(start, steps, weights, shift, spread)
        if not (last or (invert(spread, root) and factor(root, root))):
            return False
        copy_vector(shift, start)
    for k in range(size):
        for i in range(size):
            told[k, i] = (1.0 if k == i else 0.0) - spread[k, i]
    return True


@kernel
def average_shares(mean: Floats, axes: Floats, start: Floats, steps: Floats, average: Floats, matrix: Floats) -> Floats:
    """Add p and pp' (its lower triangle), p the chances of the options not picked, at fixed points y = start + Wz.

    Each is weighed by how much likelier y is than it was to be proposed, relative to `start`; returns the weights.
    A point and its mirror image share the products with z, and the powers of e: at the image they divide. Nothing is
    called within: that would take half of the time.
    """
    n_rows, size = axes.shape
    slopes, tilt = np.zeros((n_rows, size)), np.zeros(size)
    for j in range(n_rows):
        for k in range(size):
            for i in range(k + 1):
                slopes[j, k] += axes[j, i] * steps[i, k]
    for k in range(size):
        for i in range(k + 1):
            tilt[k] += start[i] * steps[i, k]
    z, grown, first, shares = np.empty(size), np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    odds(mean, axes, np.zeros(size), shares)
    half = points_after(axes, shares)
    own = np.exp(-odds(mean, axes, start, first))
    weights = np.empty(2 * half)
    for t in range(half):
        level = tilted = 0.0
        for k in range(size):
            z[k] = point(t, k, half)
            level += 0.5 * z[k] * z[k]
            tilted += tilt[k] * z[k]
        for i in range(size):
            value = 0.0
            for k in range(i, size):
                value += steps[i, k] * z[k]
            level -= 0.5 * value * value
        for j in range(n_rows):
            value = 0.0
            for k in range(size):
                value += slopes[j, k] * z[k]
            grown[j] = np.exp(min(max(value, -FARTHEST), FARTHEST))
        for mirrored in (False, True):
            rest = own
            for j in range(n_rows):
                shares[j] = first[j] * grown[j] if mirrored else first[j] / grown[j]
                rest += shares[j]
            weight = np.exp(level + tilted if mirrored else level - tilted) / rest
            weights[2 * t + mirrored] = weight
            for j in range(n_rows):
                shares[j] /= rest
                share = weight * shares[j]
                average[j] += share
                for i in range(j + 1):
                    matrix[j, i] += share * shares[i]
    return weights


@kernel
def choice_site(
    mean: Floats, covariance: Floats, offer: Floats, picked: int, information: Floats, pull: Floats
) -> bool:
    """Add the normal factor that stands for a choice: exp(-c'Ac/2 + b'c), A to `information`, b to `pull`.

    N(mean, covariance) is what was believed before. `offer` (K, D) has a row for each option, and `picked` is one of
    them. Whoever could also leave it had one option more, worth 0: a row of zeros in `offer`. `picked` = -1 says that
    this was what they did; no row has to stand for it then. Returns False, with nothing added, where the choice cannot
    be used.
    """
    if offer.shape[0] - (picked >= 0) == 0:
        return True
    leads = leads_of(mean, covariance, offer, picked)
    rank = leads.back.shape[0]
    shift, told = np.empty(rank), np.empty((rank, rank))
    if not leads.lawful or not moments(leads.mean, leads.axes, shift, told):
        return False
    # In y the cavity is N(0, I), so a covariance of I - U e U' is an information of U e/(1 - e) U' more.
    values, vectors = np.empty(rank), np.empty((rank, rank))
    eigen(told, values, vectors)
    gained = np.zeros((rank, rank))
    for m in range(rank):
        share = min(max(values[m], 0.0), MOST_TOLD)
        for k in range(rank):
            for i in range(rank):
                gained[k, i] += share / (1.0 - share) * vectors[k, m] * vectors[i, m]
    return add_site(mean, leads.back, gained, shift, information, pull)


@kernel
def add_site(mean: Floats, back: Floats, gained: Floats, shift: Floats, information: Floats, pull: Floats) -> bool:
    """Add T'MT and T'((M + I) shift + MT mean), M the information gained in y; False where these are not finite."""
    rank, size = back.shape
    centre, along, half = np.zeros(rank), np.zeros(rank), np.zeros((rank, size))
    for k in range(rank):
        for d in range(size):
            centre[k] += back[k, d] * mean[d]
    for k in range(rank):
        along[k] = shift[k]
        for i in range(rank):
            along[k] += gained[k, i] * (shift[i] + centre[i])
            for d in range(size):
                half[k, d] += gained[k, i] * back[i, d]
    total = 0.0
    for d in range(size):
        for k in range(rank):
            total += abs(back[k, d] * along[k]) + abs(back[k, d] * half[k, d])
    if not np.isfinite(total):
        return False
    for d in range(size):
        for k in range(rank):
            pull[d] += back[k, d] * along[k]
            for e in range(size):
                information[d, e] += back[k, d] * half[k, e]
    return True


@kernel
def predict_choice(mean: Floats, covariance: Floats, offer: Floats, chances: Floats) -> bool:
    """Write the chance of each option of an offer, averaged over N(mean, covariance); False if that is none.

    At the mean alone, who is hardly known would be foretold as surely as who is known well.
    """
    n_offered = offer.shape[0]
    for k in range(n_offered):
        chances[k] = 1.0 / n_offered
    if n_offered < 2:
        return True
    leads = leads_of(mean, covariance, offer, 0)
    if not leads.lawful:
        return False
    lead, axes, rank = leads.mean, leads.axes, leads.axes.shape[1]
    # A mean of chances takes fewer points than what follows from a choice that nobody expected.
    half = min(points_needed(axes), ENOUGH_TO_PREDICT)
    for k in range(n_offered):
        chances[k] = 0.0
    z, along, shares = np.empty(rank), np.empty(n_offered - 1), np.empty(n_offered)
    for t in range(half):
        for k in range(rank):
            z[k] = point(t, k, half)
        for j in range(n_offered - 1):
            along[j] = 0.0
            for k in range(rank):
                along[j] += axes[j, k] * z[k]
        for sign in (1.0, -1.0):
            shares[0] = 0.0
            for j in range(n_offered - 1):
                shares[j + 1] = -lead[j] - sign * along[j]
            softmax(shares)
            for k in range(n_offered):
                chances[k] += shares[k] / (2 * half)
    return True


@kernel
def condition(information: Floats, pull: Floats, mean: Floats, covariance: Floats) -> bool:
    """Write mean and covariance of the normal law exp(-c'Ac/2 + b'c); False, with nothing written, where A is none."""
    size = pull.shape[0]
    root = np.empty((size, size))
    if not factor(information, root):
        return False
    for d in range(size):
        mean[d] = pull[d]
    solve(root, mean)
    inverse(root, covariance)
    return True


@kernel
def resite(
    offers: Floats, picked: Integers, sites: Floats, pulls: Floats, information: Floats, pull: Floats, work: Floats
) -> None:
    """Renew the factors of kept choices, each against all the rest: one sweep of expectation propagation.

    A factor found while little was known is a rough one. `offers` (n, K, D) and `picked` (n,) are the choices,
    `sites` (n, D, D) and `pulls` (n, D) their factors, and `information` (D, D), `pull` (D,) the sums over these and
    over all else that is believed, the prior included; all four are renewed. `work` (D + 1, D) is overwritten.
    """
    n_choices, _, size = offers.shape
    mean, covariance = work[size], work[:size]
    matrix, vector = np.empty((size, size)), np.empty(size)
    for t in range(n_choices):
        for d in range(size):
            vector[d] = pull[d] - pulls[t, d]
            for e in range(size):
                matrix[d, e] = information[d, e] - sites[t, d, e]
        if not condition(matrix, vector, mean, covariance):
            continue
        if not choice_site(mean, covariance, offers[t], picked[t], matrix, vector):
            continue
        for d in range(size):
            pulls[t, d] += vector[d] - pull[d]
            pull[d] = vector[d]
            for e in range(size):
                sites[t, d, e] += matrix[d, e] - information[d, e]
                information[d, e] = matrix[d, e]
