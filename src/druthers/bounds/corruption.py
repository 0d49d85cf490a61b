"""How well a preference can be told from corrupted rankings: Theorem 3 as printed, exactly, and stronger."""

import itertools
import math
from typing import NamedTuple

import numpy as np

from druthers.errors import require
from druthers.types import Floats

# Up to so many objectives, all rankings are listed.
MOST_LISTED = 7


class LowerBounds(NamedTuple):
    """Lower bounds on the expected error of any estimator after some corrupted full rankings."""

    # c_0 sqrt(D/2) artanh(2/((1 - 2 eps) D sqrt(L))) of the proof of Theorem 3 with c_0 = 1, a constant it does not
    # name; infinite where the theorem says Omega(1).
    printed: float
    le_cam: float  # the same two preferences with the exact divergence of whole rankings, by Le Cam's method; it stands
    # Stronger: one bit for each pair of objectives, by Assouad's lemma, of order sqrt(D/L)/(1 - 2 eps); it stands.
    assouad: float


def ranking_law(preference: Floats) -> Floats:
    """Return the probability of every full ranking, in the order of `itertools.permutations`."""
    odds = np.exp(preference - preference.max())
    chances = []
    for order in itertools.permutations(range(len(odds))):
        left, chance = float(odds.sum()), 1.0
        for objective in order:
            chance *= odds[objective] / left
            left -= odds[objective]
        chances.append(chance)
    return np.array(chances)


def corrupted_divergence(first: Floats, second: Floats, corruption: float) -> float:
    """Return the Kullback-Leibler divergence of one full ranking when an adversary turns preferences around.

    Of either preference c a share eps of the rankings comes from -c, so that Q_c = (1 - eps) P_c + eps P_-c is what is
    seen: KL(Q_first, Q_second), by listing all rankings. For second = -first the adversary swaps the two, and it is at
    most (1 - 2 eps)^2 (KL(P, P') + KL(P', P)), since artanh(a x) <= a artanh(x) for a <= 1; at one half it is zero.
    """
    require(len(first) <= MOST_LISTED, f"all rankings are listed for at most {MOST_LISTED} objectives", len(first))
    seen, else_seen = (corrupted_law(np.asarray(each, dtype=float), corruption) for each in (first, second))
    return float(np.sum(seen * np.log(seen / else_seen)))


def corrupted_law(preference: Floats, corruption: float) -> Floats:
    """Return the probability of every full ranking when a share of them comes from the preference turned around."""
    return (1.0 - corruption) * ranking_law(preference) + corruption * ranking_law(-preference)


def _divergence(n_objectives: int, gap: float, bits: int, corruption: float) -> float:
    """Return the divergence of two preferences that differ in the signs of some pairs, for many its leading order."""
    half = n_objectives // 2
    # gap/2 for the first half of the objectives and -gap/2 for as many others; 0 for the one left over.
    start = np.concatenate([np.full(half, gap / 2), np.zeros(n_objectives % 2), np.full(half, -gap / 2)])
    flipped = start.copy()
    flipped[:bits] *= -1.0
    flipped[n_objectives - bits :] *= -1.0
    if n_objectives <= MOST_LISTED:
        return corrupted_divergence(start, flipped, corruption)
    # The information of a full ranking at c = 0 is k (I - 11'/D).
    scale = sum((n_objectives - j) / ((n_objectives - j + 1) * (n_objectives - 1)) for j in range(1, n_objectives + 1))
    return 0.5 * (1.0 - 2.0 * corruption) ** 2 * scale * float(np.sum((start - flipped) ** 2))


def _gap_of(n_objectives: int, bits: int, corruption: float, divergence: float) -> float:
    """Return the gap at which the divergence is a given one, by bisection."""
    low, high = 0.0, 1.0
    while _divergence(n_objectives, high, bits, corruption) < divergence and high < 64.0:
        high *= 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (
            (low, middle) if _divergence(n_objectives, middle, bits, corruption) > divergence else (middle, high)
        )
    return low


def corrupted_lower_bounds(rankings: int, *, n_objectives: int, corruption: float, bound: float) -> LowerBounds:
    """Return what no estimator can beat on average after L full rankings, a share of them corrupted.

    Le Cam: for preferences c and -c with |c - c'| = 2 |c|, sup E|error| >= |c| (1 - sqrt(L KL/2)), at L KL/2 = 1/4.
    Assouad: with d = D/2 pairs, a flip moves c by sqrt(2) gap. Told apart by densities p and q, the best guess of a bit
    costs min(p, q) gap^2/2 at least, so sup E|error|^2 >= d gap^2 (1 - sqrt(L KL/2))/2, KL that of one flip (all are
    alike), again at 1/4; its root, which bounds the root mean squared error, is returned. The adversary turns every
    preference around. Weights stay within B: gap <= 2 B. From corruption 1/2 on c and -c look alike, and gap = 2 B.

    Examples
    --------
    >>> bounds = corrupted_lower_bounds(1000, n_objectives=6, corruption=0.2, bound=1.0)
    >>> bounds.le_cam < bounds.assouad
    True
    """
    require(0.0 <= corruption <= 1.0, "corruption is a share and must lie between 0 and 1", corruption)
    require(n_objectives >= 2, "n_objectives must be at least 2", n_objectives)
    half = n_objectives // 2
    if corruption >= 0.5:
        alike = bound * math.sqrt(2.0 * half)  # |c|: nothing is better than 0, whatever is seen
        return LowerBounds(math.inf, alike, alike)
    wanted = 1.0 / (2.0 * rankings)  # then sqrt(L KL/2) = 1/2
    gap = min(_gap_of(n_objectives, half, corruption, wanted), 2.0 * bound)
    le_cam = 0.5 * math.sqrt(2.0 * half) * gap / 2.0
    gap = min(_gap_of(n_objectives, 1, corruption, wanted), 2.0 * bound)
    assouad = math.sqrt(half * gap**2 / 4.0)
    inner = 2.0 / ((1.0 - 2.0 * corruption) * n_objectives * math.sqrt(rankings))
    printed = math.sqrt(n_objectives / 2.0) * math.atanh(inner) if inner < 1.0 else math.inf
    return LowerBounds(printed, le_cam, assouad)
