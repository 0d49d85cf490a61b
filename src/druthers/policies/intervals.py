"""Intervals of a person's weights: quantiles of all that is believed of them, over units, noises and readings of words.

What is believed is a mixture of normal laws, long to one side where the unit is not known, so no number of standard
deviations has the same chance on both. The laws are those of `units` and `voices`, which write their mean and
covariance.
"""

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from druthers._jit import kernel
from druthers.policies.belief import Evidence
from druthers.policies.crowds import shared_of, under_law
from druthers.policies.feedback import evidence_of
from druthers.policies.units import (
    NODES,
    NOISE_FACTORS,
    UnitLaw,
    common_axes,
    tell,
    weigh_noise,
    weigh_units,
)
from druthers.policies.voices import CONTRARY, MAIN, RIVAL, SILENT, Rival, read_as, reading_odds
from druthers.types import Floats

# The law of the unit: log-normal, wider than that of the mean and without a chance of the usual unit, which draws
# intervals away from any other; and weighed by this power of the unit. A slope's law must be flat (with 1 it nearly is)
# for its intervals to hold the truth as often in every unit; with 0 they are shorter where the usual unit is right.
WIDE = 1.4
FLAT = 0.3
# Laws with less than this part of the chance outside an interval are left out: ends move by a thousandth of its length.
NEGLIGIBLE = 1e-4


class Normals(NamedTuple):
    """A mixture of normal laws: log-weights (n,), and means and variances (n, D) of each weight."""

    logs: Floats
    means: Floats
    variances: Floats

    @classmethod
    def join(cls, parts: "list[Normals]") -> "Normals":
        """Return all laws of several mixtures."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

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


def law_alone(usual: float) -> UnitLaw:
    """Return what is thought of the unit of someone of whose people nothing is known."""
    return UnitLaw(usual, 0.0, WIDE)


def normals_of(state: Any, user: int) -> Normals:
    """Return what is believed of a user who felt something."""
    told = evidence_of(state, user)
    return unit_normals(told, law_alone(state.users.unit[0]), flatness(told))


def normals_of_readings(told: Evidence, rival: Rival, usual: float) -> Normals:
    """Return the same for all readings of words, as `mix_readings` has them."""
    parts = []
    for reading in (MAIN, CONTRARY, RIVAL, SILENT):
        said = read_as(told, rival, reading)
        odds = reading_odds(told, rival, reading)
        if odds > -math.inf:
            part = unit_normals(said, law_alone(usual), flatness(told))
            parts.append(part._replace(logs=part.logs + odds))
    return Normals.join(parts)


def normals_of_people(state: Any, user: int) -> Normals:
    """Return the same for both laws of a population; what others say of the unit is no longer a law of nobody."""
    users, shared, parts = state.users, shared_of(state.clock, state.users.sites.shape[1]), []
    centre, slab = users.shared[user] if users.shared[user, 1] > 0.0 else shared.units
    units = UnitLaw(users.unit[0] * math.exp(centre), 0.0, slab)
    for law in range(2):
        part = unit_normals(under_law(state, user, law, 0.0), units, FLAT)
        parts.append(part._replace(logs=part.logs + math.log(shared.worth[law]) + shared.norms[law]))
    return Normals.join(parts)


def flatness(told: Evidence) -> float:
    """Return by which power of the unit to weigh units for intervals.

    Who picks has a prior for the level of the weights, which stands for knowing nothing and is there to make picks mean
    something: it is to say nothing of the unit either, as where nobody picks, so its own power is taken back.
    """
    return FLAT + told.dimensions - (len(told.anchor) - 1.0)


def unit_normals(told: Evidence, law: UnitLaw, flat: float) -> Normals:
    """Return the laws that `average_units` has the mean of, units weighed by kappa^flat besides.

    The log-weights sum to their log-evidence.
    """
    axes, noises = common_axes(told.products, tell(told), True), weigh_noise(told)
    if math.isnan(axes.volume):
        raise np.linalg.LinAlgError("what was told must be an information")
    log_units, shares = np.empty(NODES + 1), np.empty((NODES + 1, len(noises)))
    evidence = weigh_units(axes, told, noises, law, log_units, shares)
    tried = noises > -math.inf
    variances = told.variance * np.array(NOISE_FACTORS)[tried, None]
    units = law.usual * np.exp(log_units)[:, None, None]
    informations = axes.gains / variances + units**-2
    means = (axes.felt / variances + axes.said / units) / informations
    with np.errstate(divide="ignore"):
        logs = np.log(shares[:, tried]) + evidence - 0.5 * axes.volume
    logs += flat * log_units[:, None]
    spread = np.reshape(1.0 / informations, (-1, len(axes.gains))) @ axes.rows**2
    return Normals(logs.ravel(), np.reshape(means, spread.shape) @ axes.rows, spread)
