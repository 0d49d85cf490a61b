"""The ceiling: a mixed logit fitted by MCMC to the other half of all people, then each person's own posterior.

Weights are N(m, S) over people. m and S come from a Gibbs sampler with Metropolis steps for the people (Rossi, Allenby
and McCulloch's, with their priors), whose means are put in; a person's posterior then is followed choice by choice
with particles that are resampled and moved, so that it is exact up to their number. A reference, not a bound: it is
told half of all people in advance, and never more.
"""

from typing import Any, NamedTuple

import numpy as np

from druthers.environments.people import People, Person
from druthers.types import Floats, Integers

SWEEPS = 6_000
PARTICLES = 1_024
MOVES = 3
# Steps of this length, over the root of the dimension, mix best (Roberts and Rosenthal).
STEP = 2.38


class Mixture(NamedTuple):
    """A mixed logit: mean (D,) and covariance (D, D) of people's weights."""

    mean: Floats
    covariance: Floats


class _Table(NamedTuple):
    """Choices of people side by side: slates (N, T, K, D) less what was picked, and which of the T are there (N, T)."""

    behind: Floats
    there: Floats


def softmax(worth: Floats) -> Floats:
    """Return the chances of options (..., K) by a logit."""
    chances: Floats = np.exp(worth - worth.max(axis=-1, keepdims=True))
    chances /= chances.sum(axis=-1, keepdims=True)
    return chances


def log_sums(worth: Floats, axis: int = -1) -> Floats:
    """Return the logarithms of sums of exponentials along an axis."""
    top = worth.max(axis=axis, keepdims=True)
    sums: Floats = np.log(np.exp(worth - top).sum(axis=axis)) + top.squeeze(axis)
    return sums


def foretell_mixed(people: People) -> Floats:
    """Return what is foretold before each choice (n, K), each half of the people by what the other half is like."""
    foretold = np.empty(people.slates.shape[:2])
    halves = np.arange(len(people)) % 2
    for half in (0, 1):
        rng = np.random.default_rng((19, half))
        law = fit_mixed(people.part(np.flatnonzero(halves != half)), rng, SWEEPS)
        for number in np.flatnonzero(halves == half):
            rows = slice(people.starts[number], people.starts[number + 1])
            foretold[rows] = follow(people[int(number)], law, rng)
    return foretold


def fit_mixed(people: People, rng: np.random.Generator, sweeps: int) -> Mixture:
    """Return the posterior means of m and S, from the second half of the sweeps."""
    table, size = _side_by_side(people), people.slates.shape[2]
    n_people, worth = len(people), size + 3.0
    weights, losses = np.zeros((n_people, size)), _losses(table, np.zeros((n_people, size)))
    mean, covariance = np.zeros(size), np.eye(size)
    roots: Any = None
    means, covariances = np.zeros(size), np.zeros((size, size))
    looks = {sweeps >> power for power in range(2, 8)} | {0}
    for sweep in range(sweeps):
        if sweep in looks:  # steps as wide as people's posteriors are; never again in the half that counts
            roots = np.linalg.cholesky(np.linalg.inv(_information(table, weights) + np.linalg.inv(covariance)))
        precision = np.linalg.inv(covariance)
        steps = np.einsum("nij,nj->ni", roots, rng.normal(size=(n_people, size))) * STEP / np.sqrt(size)
        trial = weights + steps
        trial_losses = _losses(table, trial)
        off, trial_off = weights - mean, trial - mean
        gain = losses - trial_losses + 0.5 * (((off @ precision) * off) - ((trial_off @ precision) * trial_off)).sum(1)
        taken = np.log(rng.random(n_people)) < gain
        weights[taken], losses[taken] = trial[taken], trial_losses[taken]
        spread = covariance / (n_people + 0.01)
        mean = weights.sum(axis=0) / (n_people + 0.01) + np.linalg.cholesky(spread) @ rng.normal(size=size)
        off = weights - mean
        covariance = _inverse_wishart(worth * np.eye(size) + off.T @ off, worth + n_people, rng)
        if 2 * sweep >= sweeps:
            means += mean
            covariances += covariance
    kept = sweeps - (sweeps + 1) // 2
    return Mixture(means / kept, covariances / kept)


def follow(person: Person, law: Mixture, rng: np.random.Generator) -> Floats:
    """Return what is foretold before each of a person's choices (n, K), by particles of their weights."""
    slates, picked = person.slates, person.picked
    size = slates.shape[2]
    precision: Any = np.linalg.inv(law.covariance)
    root = np.linalg.cholesky(law.covariance)
    half = rng.normal(size=(PARTICLES // 2, size))
    weights = law.mean + np.vstack([half, -half]) @ root.T
    logs = np.zeros(len(weights))
    foretold = np.empty(slates.shape[:2])
    for t, (slate, choice) in enumerate(zip(slates, picked, strict=True)):
        shares = softmax(weights @ slate.T)
        foretold[t] = softmax(logs) @ shares
        logs += np.log(np.maximum(shares[:, choice], 1e-300))
        mass = softmax(logs)
        if 1.0 / (mass @ mass) < 0.5 * len(weights) and t + 1 < len(slates):
            weights = _moved(weights, mass, (slates[: t + 1], picked[: t + 1]), law.mean, precision, rng)
            logs[:] = 0.0
    return foretold


def _moved(
    weights: Floats,
    mass: Floats,
    heard: tuple[Floats, Integers],
    mean: Floats,
    precision: Floats,
    rng: np.random.Generator,
) -> Floats:
    """Draw particles anew in proportion to their mass, then move each by Metropolis steps."""
    count, size = weights.shape
    centre = mass @ weights
    spread = (weights - centre).T @ ((weights - centre) * mass[:, None])
    root = np.linalg.cholesky(spread + 1e-9 * np.eye(size)) * STEP / np.sqrt(size)
    places = np.searchsorted(np.cumsum(mass), (np.arange(count) + rng.random()) / count)
    weights = weights[np.minimum(places, count - 1)]
    slates, picked = heard
    behind = slates - slates[np.arange(len(picked)), picked][:, None]

    def loss(at: Floats) -> Floats:
        off = at - mean
        total: Floats = 0.5 * ((off @ precision) * off).sum(axis=1)
        total += log_sums(np.tensordot(behind, at, axes=(2, 1)), axis=1).sum(axis=0)
        return total

    now = loss(weights)
    for _ in range(MOVES):
        trial = weights + rng.normal(size=weights.shape) @ root.T
        then = loss(trial)
        taken = np.log(rng.random(count)) < now - then
        weights[taken], now[taken] = trial[taken], then[taken]
    return weights


def _side_by_side(people: People) -> _Table:
    lengths = np.diff(people.starts)
    shape = (len(people), int(lengths.max()), *people.slates.shape[1:])
    behind, there = np.zeros(shape), np.zeros(shape[:2])
    for number, person in enumerate(people):
        chosen = person.slates[np.arange(len(person.picked)), person.picked]
        behind[number, : len(chosen)] = person.slates - chosen[:, None]
        there[number, : len(chosen)] = 1.0
    return _Table(behind, there)


def _losses(table: _Table, weights: Floats) -> Floats:
    """Return minus the log-likelihood of each person's choices (N,)."""
    worth = np.matmul(table.behind.reshape(len(weights), -1, weights.shape[1]), weights[:, :, None])
    losses: Floats = (log_sums(worth.reshape(table.behind.shape[:3])) * table.there).sum(axis=1)
    return losses


def _information(table: _Table, weights: Floats) -> Floats:
    """Return the information of each person's choices (N, D, D)."""
    worth = np.einsum("ntkd,nd->ntk", table.behind, weights)
    shares = np.exp(worth - worth.max(axis=2, keepdims=True))
    shares *= table.there[:, :, None] / shares.sum(axis=2, keepdims=True)
    means = np.einsum("ntk,ntkd->ntd", shares, table.behind)
    weighted = shares[..., None] * table.behind
    flat = table.behind.reshape(len(weights), -1, weights.shape[1])
    information: Floats = weighted.reshape(flat.shape).transpose(0, 2, 1) @ flat - means.transpose(0, 2, 1) @ means
    return information


def _inverse_wishart(scale: Floats, degrees: float, rng: np.random.Generator) -> Floats:
    """Draw a covariance, by Bartlett's decomposition of the precision."""
    size = len(scale)
    lower = np.tril(rng.normal(size=(size, size)), -1)
    lower[np.diag_indices(size)] = np.sqrt(rng.chisquare(degrees - np.arange(size)))
    root = np.linalg.cholesky(np.linalg.inv(scale)) @ lower
    drawn: Any = np.linalg.inv(root @ root.T)
    return np.asarray(drawn, dtype=np.float64)
