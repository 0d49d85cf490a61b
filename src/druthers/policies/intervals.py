"""Intervals of a person's weights: quantiles of all that is believed of them, over units, noises and readings of words.

What is believed is a mixture of normal laws, long to one side where the unit is not known, so no number of standard
deviations has the same chance on both. Nothing here is needed to choose, so it is plain NumPy: `units` and `voices`
have the same laws compiled, and write their mean and covariance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import Any

import numpy as np

from druthers._jit import kernel
from druthers.policies.belief import NOTHING, Evidence
from druthers.policies.crowds import shared_of, under_law
from druthers.policies.feedback import evidence_of
from druthers.policies.units import (
    FEW,
    NODES,
    NOISE_SHARE,
    NOISE_SLAB,
    NOISE_STEPS,
    SLAB,
    SPAN,
    SPIKE,
    UNLIKELY,
    UnitLaw,
)
from druthers.policies.voices import CONTRARY, MAIN, RIVAL, SLACKS, Rival, against_reading
from druthers.types import Floats

# Units are weighed by this power of them. With 1 their law is nearly flat, and that of a slope must be flat for its
# intervals to hold the truth as often in every unit; with 0 intervals are shorter where the usual unit is right.
FLAT = 0.25
# Laws with less than this part of the chance outside an interval are left out: ends move by a thousandth of its length.
NEGLIGIBLE = 1e-4


class Normals:
    """A mixture of normal laws: log-weights (n,), and means and variances (n, D) of each weight."""

    def __init__(self, logs: Floats, means: Floats, variances: Floats) -> None:
        self.logs, self.means, self.variances = logs, means, variances

    @classmethod
    def join(cls, parts: list[Normals]) -> Normals:
        """Return all laws of several mixtures."""
        return cls(
            np.concatenate([part.logs for part in parts]),
            np.concatenate([part.means for part in parts]),
            np.concatenate([part.variances for part in parts]),
        )

    def interval(self, share: float) -> Floats:
        """Return between which values (2, D) each weight lies with this chance, as likely below them as above.

        Examples
        --------
        >>> one = Normals(np.zeros(1), np.array([[3.0]]), np.array([[4.0]]))
        >>> one.interval(0.9).round(3).tolist()
        [[-0.29], [6.29]]
        """
        shares = np.exp(self.logs - self.logs.max())
        kept = shares > NEGLIGIBLE * (1.0 - share) * shares.sum()
        shares = shares[kept] / shares[kept].sum()
        means, variances = self.means[kept], self.variances[kept]
        ends = np.empty((2, means.shape[1]))
        mean = shares @ means
        deviation = np.sqrt(shares @ (variances + (means - mean) ** 2))
        for end, chance in enumerate((0.5 - 0.5 * share, 0.5 + 0.5 * share)):
            start = NormalDist().inv_cdf(chance)
            write_quantiles(shares, means, np.sqrt(variances), mean, deviation, chance, start, ends[end])
        return ends


@kernel
def write_quantiles(
    shares: Floats,
    means: Floats,
    deviations: Floats,
    mean: Floats,
    deviation: Floats,
    chance: float,
    start: float,
    out: Floats,
) -> None:
    """Write below which values (D,) a mixture lies with a chance: by Newton's method, halving where it would leave.

    It starts at the mean and `start` deviations, the quantile of one normal law.
    By Cantelli's inequality they are at most sqrt((1 - p)/p) deviations below the mean and sqrt(p/(1 - p)) above it.
    """
    for k in range(out.shape[0]):
        low = mean[k] - deviation[k] * math.sqrt((1.0 - chance) / chance)
        high = mean[k] + deviation[k] * math.sqrt(chance / (1.0 - chance))
        x = mean[k] + start * deviation[k]
        for _ in range(60):
            below = density = 0.0
            for row in range(shares.shape[0]):
                z = (x - means[row, k]) / deviations[row, k]
                below += shares[row] * 0.5 * math.erfc(-z / math.sqrt(2.0))
                density += shares[row] * math.exp(-0.5 * z * z) / (deviations[row, k] * math.sqrt(2.0 * math.pi))
            if below < chance:
                low = x
            else:
                high = x
            before = x
            x += (chance - below) / density if density > 0.0 else np.inf
            if not low < x < high:
                x = 0.5 * (low + high)
            if abs(x - before) <= 1e-6 * deviation[k]:  # Newton's error is then far smaller
                break
        out[k] = x


def normals_of(state: Any, user: int) -> Normals:
    """Return what is believed of a user who felt something."""
    told = evidence_of(state, user)
    return unit_normals(
        told, told.information, pull_of(told), UnitLaw(state.users.unit[0], SPIKE, SLAB), flatness(told)
    )


def normals_of_readings(told: Evidence, rival: Rival, usual: float) -> Normals:
    """Return the same for all readings of words, as `mix_readings` has them."""
    parts = []
    for against, information, pull in readings_of(told, rival):
        own = information + prior_of(told)
        before = np.linalg.slogdet(own)[1] - pull @ np.linalg.solve(own, pull)
        part = unit_normals(told, information, pull, UnitLaw(usual, SPIKE, SLAB), flatness(told))
        parts.append(Normals(part.logs + 0.5 * before - against, part.means, part.variances))
    return Normals.join(parts)


def normals_of_people(state: Any, user: int) -> Normals:
    """Return the same for both laws of a population; what others say of the unit is no longer a law of nobody."""
    users, shared, parts = state.users, shared_of(state.clock, state.users.sites.shape[1]), []
    centre, slab = users.shared[user] if users.shared[user, 1] > 0.0 else shared.units
    units = UnitLaw(users.unit[0] * math.exp(centre), SPIKE if shared.people[0] == 0.0 else 0.0, slab)
    for law in range(2):
        told = under_law(state, user, law, 0.0)
        part = unit_normals(told, told.information, pull_of(told), units, FLAT)
        parts.append(Normals(part.logs + math.log(shared.worth[law]) + shared.norms[law], part.means, part.variances))
    return Normals.join(parts)


def flatness(told: Evidence) -> float:
    """Return by which power of the unit to weigh units for intervals.

    Who picks has a prior for the level of the weights, which stands for knowing nothing and is there to make picks mean
    something: it is to say nothing of the unit either, as where nobody picks, so its own power is taken back.
    """
    return FLAT + told.dimensions - (len(told.anchor) - 1.0)


def pull_of(told: Evidence) -> Floats:
    """Return what words say of the weights (D,), times how much they say."""
    pull: Floats = told.pull * told.anchor + told.information @ told.anchor
    return pull


def prior_of(told: Evidence) -> Floats:
    """Return the precision (D, D) of the weights before anything is told, in the unit of words."""
    size = len(told.anchor)
    precision: Floats = told.ridge * (np.eye(size) - 1.0 / size) + NOTHING * np.eye(size)
    return precision


def unit_normals(told: Evidence, information: Floats, pull: Floats, law: UnitLaw, flat: float) -> Normals:
    """Return what is believed for all units and noises, as `average_units` does, units weighed by kappa^flat besides.

    Words say `information` (D, D) and `pull` (D,). The log-weights sum to their log-evidence.
    """
    size = len(pull)
    root = np.linalg.cholesky(information + told.sites[:, :size] + prior_of(told)).T
    inverted = np.linalg.inv(root)
    gains, vectors = np.linalg.eigh(inverted.T @ told.products[:size, :size] @ inverted)
    columns = inverted @ vectors
    gains, felt = np.maximum(gains, 0.0), columns.T @ told.products[:size, size]
    said = columns.T @ (pull + told.sites[:, size])
    noises, weights = weigh_noises(told)

    def believed(log_units: Floats) -> tuple[Floats, Floats, Floats]:
        units = law.usual * np.exp(log_units)[:, None, None]
        informations = gains / noises[:, None] + units**-2
        pulls = felt / noises[:, None] + said / units
        evidence = 0.5 * (pulls**2 / informations - np.log(informations)).sum(axis=2) + weights
        return evidence - told.dimensions * np.log(units[:, :, 0]), pulls / informations, 1.0 / informations

    low, high = -SPAN, SPAN
    for _ in range(2):
        log_units = np.linspace(low, high, NODES)
        values = believed(log_units)[0].max(axis=1) - 0.5 * (log_units / law.slab) ** 2
        likely, step = np.flatnonzero(values > values.max() - UNLIKELY), log_units[1] - log_units[0]
        low, high = max(low, log_units[likely[0]] - step), min(high, log_units[likely[-1]] + step)
    log_units = np.append(np.linspace(low, high, NODES), 0.0)  # the last is the usual unit
    logs, means, variances = believed(log_units)
    chance = (1.0 - law.spike) * (high - low) / (NODES - 1) / (law.slab * math.sqrt(2.0 * math.pi))
    prior = math.log(chance) - 0.5 * (log_units / law.slab) ** 2 + flat * log_units - 0.5 * (FLAT * law.slab) ** 2
    prior[-1] = math.log(law.spike) if law.spike > 0.0 else -math.inf
    logs += prior[:, None] - np.log(np.diag(root)).sum()
    return Normals(logs.ravel(), means.reshape(-1, size) @ columns.T, variances.reshape(-1, size) @ (columns**2).T)


def weigh_noises(told: Evidence) -> tuple[Floats, Floats]:
    """Return the noises that are tried, and for each its log-prior and the log-chance of utilities by it alone."""
    if told.feedbacks >= FEW:
        return np.array([told.variance]), np.zeros(1)
    energy, logs = float(told.products[-1, -1]), math.log(told.variance) + np.array(NOISE_STEPS)
    centre = math.log(max(NOISE_SHARE * energy / max(told.feedbacks, 1.0), 1e-300))
    weights = -0.5 * (((logs - centre) / NOISE_SLAB) ** 2 + told.feedbacks * logs + energy * np.exp(-logs))
    return np.exp(logs), weights


def readings_of(told: Evidence, rival: Rival) -> Iterator[tuple[float, Floats, Floats]]:
    """Yield log-odds against each reading, its information (D, D) and its pull (D,), as `mix_readings` has them."""
    size = len(told.anchor)
    yield against_reading(MAIN, SLACKS.index(math.inf), rival.odds), np.zeros((size, size)), np.zeros(size)
    for reading in (MAIN, CONTRARY, RIVAL):
        voice, known = (rival.anchor, rival.information) if reading == RIVAL else (told.anchor, told.information)
        against = against_reading(reading, SLACKS.index(0.0), rival.odds)
        if against < math.inf:
            yield against, known, (-1.0 if reading == CONTRARY else 1.0) * (told.pull * voice + known @ voice)
