"""Slates: several arms of which a user takes the best, chosen for what the best of them is worth.

The best three by score are often three of a kind, all right for the same taste. Where tastes are unsure, a slate is
worth more if its arms are right for different ones: its worth is the expected best of the utilities under what is
believed of the weights. The first place goes by score, and an arm of which nothing is known stays if its score gives it
a place: it is there to be found out about. From there on that is a submodular function of the slate, so the
arm that adds most at each place adds at least 63 % of the most there is to add (Nemhauser, Wolsey, Fisher 1978); and
where the best by score are worth more all the same, they are taken. The expectation is a mean over fixed points, so
that the same state always gives the same slate.

Chance comes in two ways, and the chance of each place given those before it is known exactly.

- With the exploration floor e, any arm that is left may stand at a place, each with chance e/n.
- A floor of exposure promises a group of arms, or a single one, a share s of all slates. Where no place before has one
  of the group, its best arm takes the last place with chance s. The floors of several groups share the last place, so
  their sum is at most one, and the rest goes as without floors:

    P(a at the last place | before) = sum of s_g [a is the best of g] + (1 - sum of s_g) ((1 - e) [a adds most] + e/n)

  over the groups g that have no place yet. A group is then in a slate with chance p + (1 - p) s_g at least, where p is
  that of a place before, which is never below s_g. The chance of a slate is the product over its places.
"""

import math
from collections.abc import Hashable, Sequence
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers._jit import kernel
from druthers._matrices import copy_matrix, copy_vector
from druthers.types import Floats, Integers

PAIRS = 32  # points, each with its mirror image
SHORTLIST = 512  # arms that are looked at, the best by score
BLOCK = 128  # arms whose worths are found together: they fit into the fastest memory
MOST = 12  # places that are chosen for what they add; those after them go by score
CERTAIN = 1e-6  # what is less on average is rounding
SOME = 16  # one in so many scores tells how good the best are at least

Singles = NDArray[np.float32]


class Floor(NamedTuple):
    """A promise that some arms get their share of slates."""

    arms: Sequence[Hashable]  # a group; a single arm is one too
    share: float  # the least chance that one of them is in a slate


@cache
def points(n_dimensions: int) -> Floats:
    """Return fixed standard normal points (2 PAIRS, D), evenly spread: a Kronecker sequence and its mirror image.

    Means and covariances are exact, as long as there are several points to a dimension.

    Examples
    --------
    >>> points(3).shape, bool(np.allclose(points(3).T @ points(3) / len(points(3)), np.eye(3)))
    ((64, 3), True)
    """
    root = 2.0
    for _ in range(64):  # the root of x^(D + 1) = x + 1
        root = (1.0 + root) ** (1.0 / (n_dimensions + 1))
    steps = root ** -np.arange(1.0, n_dimensions + 1.0)
    uniform = (0.5 + np.outer(np.arange(1, PAIRS + 1), steps)) % 1.0
    normal = np.vectorize(NormalDist().inv_cdf)(uniform.clip(1e-9, 1.0 - 1e-9))
    if 2 * n_dimensions <= PAIRS:
        normal = normal @ np.linalg.inv(np.linalg.cholesky(normal.T @ normal / PAIRS)).T
    spread: Floats = np.concatenate([normal, -normal])
    spread.setflags(write=False)
    return spread


def tastes(weights: Floats, covariance: Floats) -> Floats:
    """Return weights (2 PAIRS, D) that are believed possible, with these means and about these covariances.

    Nobody wants the worse of what others want: where a mean is above 0 the law is log-normal. It has many small weights
    and few large ones as long as little is known, as people do, and is a normal law once much is.

    Examples
    --------
    >>> drawn = tastes(np.array([0.5, 0.1]), np.diag([0.01, 0.04]))
    >>> drawn.mean(axis=0).round(6), bool((drawn > 0.0).all())
    (array([0.5, 0.1]), True)
    """
    deviations = np.sqrt(np.diag(covariance).clip(1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(deviations, deviations))
    drawn: Floats = spread_tastes(points(len(weights)), weights, deviations, values, vectors)
    return drawn


@kernel
def spread_tastes(standard: Floats, weights: Floats, deviations: Floats, values: Floats, vectors: Floats) -> Floats:
    """Return tastes at standard normal points, with the eigenvalues and eigenvectors of their correlations."""
    drawn = np.zeros(standard.shape)
    for k in range(weights.shape[0]):
        for j in range(weights.shape[0]):
            along = vectors[k, j] * np.sqrt(max(values[j], 0.0))
            for point in range(standard.shape[0]):
                drawn[point, k] += along * standard[point, j]
        wanted, total = weights[k] > 0.0, 0.0
        width = np.sqrt(np.log1p((deviations[k] / weights[k]) ** 2)) if wanted else 0.0
        for point in range(standard.shape[0]):
            normal = drawn[point, k]
            drawn[point, k] = np.exp(width * normal) if wanted else weights[k] + deviations[k] * normal
            total += drawn[point, k]
        if wanted:
            drawn[:, k] *= weights[k] * standard.shape[0] / total
    return drawn


class Outlook(NamedTuple):
    """What arms are worth to tastes: what they are to the mean one, and by how much that changes."""

    places: Integers  # (m,) of the arms that are looked at, as they stand in the offer
    base: Singles  # (m,)
    slopes: Singles  # (D, m), how it rises with each weight
    apart: Singles  # (points, D), by how much the weights of each taste differ


@kernel
def look_out(places: Integers, reasons: Floats, slopes: Floats, apart: Floats) -> Outlook:
    """Return what the offered arms at some places are worth, with their slopes (m, D) and tastes apart from the mean.

    In single precision, which has seven digits: so values are around the best, and of the size of what tastes change.
    """
    base = np.empty(places.shape[0])
    best = -np.inf
    for j in range(places.shape[0]):
        base[j] = reasons[0, places[j]] + reasons[1, places[j]]
        if np.isfinite(base[j]):
            best = max(best, base[j])
    best = best if np.isfinite(best) else 0.0
    scale = np.abs(slopes).max() * np.abs(apart).max()
    scale = scale if scale > 0.0 else 1.0
    singles, turned = np.empty(base.shape, np.float32), np.empty(slopes.T.shape, np.float32)
    for j in range(places.shape[0]):
        singles[j] = min(max((base[j] - best) / scale, -1e9), 1e9)
        for k in range(slopes.shape[1]):
            turned[k, j] = slopes[j, k] / scale
    return Outlook(places, singles, turned, apart.astype(np.float32))


@kernel
def take_in(outlook: Outlook, row: int, best: Singles) -> None:
    """Raise the best so far (points,) to what the arm in a row is worth, where that is more."""
    for point in range(best.shape[0]):
        worth = outlook.base[row]
        for k in range(outlook.slopes.shape[0]):
            worth += outlook.apart[point, k] * outlook.slopes[k, row]
        best[point] = max(best[point], worth)


@kernel
def holds(slate: Integers, place: int) -> bool:
    """Tell whether a slate has an arm."""
    for one in slate:  # noqa: SIM110 - a loop is what compiles to one
        if one == place:
            return True
    return False


@kernel
def best_among(outlook: Outlook, slate: Integers) -> Singles:
    """Return what the best of a slate is worth to each taste (points,); of what is not looked at nothing is known."""
    best = np.full(outlook.apart.shape[0], np.float32(-np.inf))
    for row in range(outlook.places.shape[0]):
        if holds(slate, outlook.places[row]):
            take_in(outlook, row, best)
    if best[0] == -np.inf:  # nothing of it is looked at: as the worst of all
        worst, single = np.float32(np.inf), np.empty_like(best)
        for row in range(outlook.places.shape[0]):
            single[:] = -np.inf
            take_in(outlook, row, single)
            worst = min(worst, single.min())
        best[:] = worst
    return best


def best_of(outlook: Outlook, slate: Sequence[int]) -> Singles:
    """Return the same of a slate of any kind."""
    best: Singles = best_among(outlook, np.array(slate, dtype=np.int64))
    return best


@kernel
def add_most(outlook: Outlook, best: Singles) -> tuple[int, float]:
    """Return the arm that adds most to the best so far (points,), and the sum of what it adds; of equals the first.

    It is written out, since threads of a library for matrices get in each other's way where many processes serve; and
    block by block, so that what is worked on stays in the fastest memory.
    """
    size, n_arms = outlook.slopes.shape
    slopes = np.zeros((size, BLOCK), np.float32)
    base, worth, gains = np.zeros(BLOCK, np.float32), np.zeros(BLOCK, np.float32), np.zeros(BLOCK, np.float32)
    most, most_gain = 0, np.float32(-1.0)
    for start in range(0, n_arms, BLOCK):
        end = min(start + BLOCK, n_arms)
        copy_vector(outlook.base[start:end], base)
        copy_matrix(outlook.slopes[:, start:end], slopes)
        gains[:] = 0.0
        for point in range(best.shape[0]):
            least = best[point]
            for j in range(BLOCK):
                worth[j] = base[j] - least
            for k in range(size):
                step = outlook.apart[point, k]
                for j in range(BLOCK):
                    worth[j] += step * slopes[k, j]
            for j in range(BLOCK):
                gains[j] += max(worth[j], np.float32(0.0))
        for j in range(end - start):
            if gains[j] > most_gain:
                most, most_gain = start + j, gains[j]
    return most, float(most_gain)


@kernel
def add_arms(outlook: Outlook, slate: Integers, most: int) -> Integers:
    """Return a slate with up to so many places more, each for the arm that adds most to those before."""
    best = best_among(outlook, slate)
    whole = np.full(slate.shape[0] + most, -1)
    whole[: slate.shape[0]] = slate
    for count in range(slate.shape[0], whole.shape[0]):
        row, gain = add_most(outlook, best)
        if gain <= CERTAIN * best.shape[0] or holds(whole, outlook.places[row]):  # those in the slate add nothing
            return whole[:count]
        whole[count] = outlook.places[row]
        take_in(outlook, row, best)
    return whole


class Slate:
    """What stands at each place of a slate, and with which chance.

    Parameters
    ----------
    scores
        Of all offered arms (n,).
    leaders
        Places in the offer of the best by score, best first; twice the size, as far as there are so many.
    outlook
        What arms are worth to tastes; None where all tastes are alike.
    size
        How many places there are.
    exploration
        Chance of a uniformly random arm at each place.
    floors
        Members (n,) and share of each group.
    unseen
        Arms of which nothing is known and whose score is among the best: they stay, to be found out about.
    """

    def __init__(
        self,
        scores: Floats,
        leaders: Sequence[int],
        outlook: Outlook | None,
        size: int,
        exploration: float = 0.0,
        floors: Sequence[tuple[NDArray[np.bool_], float]] = (),
        unseen: Sequence[int] = (),
    ) -> None:
        self._unseen = unseen
        self._scores, self._leaders, self._outlook = scores, leaders, outlook
        self._size, self._exploration, self._floors = size, exploration, floors
        self._planned: dict[tuple[int, ...], int] = {}

    def best(self, before: tuple[int, ...]) -> int:
        """Return what stands next without chance."""
        if before not in self._planned:
            plan = self._plan(before)
            for k in range(len(before), len(plan)):
                self._planned[plan[:k]] = plan[k]
        return self._planned[before]

    def groups(self, before: tuple[int, ...]) -> list[tuple[int, float]]:
        """Return the best arm and the share of each group that has no place yet and may take this one."""
        if len(before) < self._size - 1:
            return []
        found = []
        for members, share in self._floors:
            if share > 0.0 and members.any() and not members[list(before)].any():
                scores = np.where(members, self._scores, -np.inf)
                found.append((int(scores.argmax()), share))
        return found

    def chances(self, before: tuple[int, ...]) -> Floats:
        """Return the chance of every offered arm to stand next."""
        groups = self.groups(before)
        free = 1.0 - sum(share for _, share in groups)
        chances = np.full(len(self._scores), free * self._exploration / (len(self._scores) - len(before)))
        chances[self.best(before)] += free * (1.0 - self._exploration)
        chances[list(before)] = 0.0
        for arm, share in groups:
            chances[arm] += share
        return chances

    def draw(self, coins: Sequence[float]) -> tuple[tuple[int, ...], tuple[float, ...], tuple[int, ...]]:
        """Return the places of a slate, their chances given those before, and what would stand there without chance.

        Parameters
        ----------
        coins
            Three uniform numbers for each place: for a group, for exploring, and for which arm.
        """
        slate: tuple[int, ...] = ()
        chances, best = [], []
        for k in range(self._size):
            best.append(self.best(slate))
            place = best[-1]
            coin, groups = coins[3 * k], self.groups(slate)
            if coin < (taken := sum(share for _, share in groups)):
                for arm, share in groups:
                    place, coin = arm, coin - share
                    if coin < 0.0:
                        break
            elif taken < 1.0 and coins[3 * k + 1] < self._exploration:
                place = int(coins[3 * k + 2] * (len(self._scores) - k))
                for one in sorted(slate):
                    place += place >= one
            chances.append(float(self.chances(slate)[place]))
            slate = (*slate, place)
        return slate, tuple(chances), tuple(best)

    def _plan(self, before: tuple[int, ...]) -> tuple[int, ...]:
        """Return the rest of a slate: by what each place adds, or by score where that is worth more."""
        by_score, outlook = self._by_score(before), self._outlook
        if outlook is None:
            return by_score
        plan = list(before) or [self._leaders[0]]
        plan += [place for place in self._unseen if place not in plan][: self._size - len(plan)]
        plan = add_arms(outlook, np.array(plan, np.int64), max(min(self._size, MOST) - len(plan), 0)).tolist()
        whole = self._by_score(tuple(plan))
        return whole if best_of(outlook, whole).mean() > best_of(outlook, by_score).mean() + CERTAIN else by_score

    def _by_score(self, before: tuple[int, ...]) -> tuple[int, ...]:
        rest = [place for place in self._leaders if place not in before]
        return (*before, *rest[: self._size - len(before)])


def by_score(scores: Floats, number: int) -> Integers:
    """Return the places of the best scores, best first; of equals the one that is offered first."""
    among = among_best(scores, number)
    best: Integers = among[(-scores[among]).argsort(kind="stable")]
    return best


def among_best(scores: Floats, number: int) -> Integers:
    """Return the same places in order of the offer."""
    among: Integers = np.arange(len(scores))
    if number >= len(scores):
        return among
    some = scores[::SOME]  # one in some tells about how good the best are: most drop out
    rank = 3 * number // (2 * SOME) + SOME
    if rank <= len(some) and np.count_nonzero(good := scores >= np.partition(some, -rank)[-rank]) >= number:
        among = np.flatnonzero(good)
    values = scores[among]
    least = np.partition(values, -number)[-number]
    best: NDArray[np.bool_] = values >= least
    if (extra := int(np.count_nonzero(best)) - number) > 0:
        best[np.flatnonzero(values == least)[-extra:]] = False
    return among[best]


def by_chance(
    scores: Floats, size: int, n_equal: int, exploration: float, coins: Sequence[float]
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the places of a slate by score, exploring now and then, with the chance of each given those before.

    The first `n_equal` of what is left stand in random order, 0 for unknown; each place takes two uniform `coins`.
    """
    left = (-scores).argsort(kind="stable").tolist()
    places, propensities = [], []
    for k in range(size):
        rank = int(coins[2 * k + 1] * len(left)) if coins[2 * k] < exploration else 0
        if n_equal == 0 or (n_equal > 1 and k > 0 and exploration):
            own = math.nan
        elif n_equal - k > 1:
            own = 1.0 / (n_equal - k) if rank < n_equal - k else 0.0
        else:
            own = float(rank == 0)
        propensities.append((1.0 - exploration) * own + exploration / len(left))
        places.append(left.pop(rank))
    return tuple(places), tuple(propensities)
