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

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers._jit import kernel
from druthers.types import Floats, Integers

PAIRS = 32  # points, each with its mirror image
SHORTLIST = 2_048  # arms that are looked at, the best by score
MOST = 12  # places that are chosen for what they add; those after them go by score
CERTAIN = 1e-12


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
    normal = np.einsum("mk,dk->md", points(len(weights)), vectors * np.sqrt(values.clip(0.0)))
    wanted = weights > 0.0
    width = np.sqrt(np.log1p(np.square(deviations / np.where(wanted, weights, 1.0))))
    raised = np.exp(width * normal)
    drawn: Floats = np.where(wanted, weights * raised / raised.mean(axis=0), weights + deviations * normal)
    return drawn


@kernel
def worths(base: Floats, slopes: Floats, apart: Floats) -> Floats:
    """Return what arms are worth to tastes (points, m): what they are to the mean one, and by how much that changes.

    `slopes` are (D, m), and `apart` (D, points) is by how much the weights of each taste differ. It is written out,
    since threads of a library for matrices get in each other's way where many processes serve.
    """
    values = np.empty((apart.shape[1], base.shape[0]))
    for point in range(apart.shape[1]):
        for arm in range(base.shape[0]):
            values[point, arm] = base[arm]
        for k in range(slopes.shape[0]):
            step = apart[k, point]
            for arm in range(base.shape[0]):
                values[point, arm] += slopes[k, arm] * step
    return values


@kernel
def add_most(values: Floats, best: Floats) -> tuple[int, float]:
    """Return the arm that adds most to the best so far (points,), and the sum of what it adds; of equals the first."""
    gains = np.zeros(values.shape[1])
    for k in range(values.shape[0]):
        for arm in range(values.shape[1]):
            gains[arm] += max(values[k, arm] - best[k], 0.0)
    most = 0
    for arm in range(1, gains.shape[0]):
        if gains[arm] > gains[most]:
            most = arm
    return most, gains[most]


class Slate:
    """What stands at each place of a slate, and with which chance.

    Parameters
    ----------
    scores
        Of all offered arms (n,).
    shortlist
        Places in the offer of the arms that are looked at, the best by score first.
    values
        What each of these is worth to each taste (points, m).
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
        shortlist: Integers,
        values: Floats,
        size: int,
        exploration: float = 0.0,
        floors: Sequence[tuple[NDArray[np.bool_], float]] = (),
        unseen: Sequence[int] = (),
    ) -> None:
        self._unseen = unseen
        self._scores, self._shortlist, self._values = scores, shortlist, values
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

    def chance(self, before: tuple[int, ...], place: int) -> float:
        """Return the chance that an arm stands next."""
        groups = self.groups(before)
        given = sum(share for arm, share in groups if arm == place)
        free = 1.0 - sum(share for _, share in groups)
        left = len(self._scores) - len(before)
        own = (1.0 - self._exploration) * (place == self.best(before)) + self._exploration / left
        return float(given + free * own)

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
            chances.append(self.chance(slate, place))
            slate = (*slate, place)
        return slate, tuple(chances), tuple(best)

    def _plan(self, before: tuple[int, ...]) -> tuple[int, ...]:
        """Return the rest of a slate: by what each place adds, or by score where that is worth more."""
        by_score = self._by_score(before)
        if self._values.shape[0] == 0 or self._size == 1:
            return by_score
        plan = list(before) or [int(self._shortlist[0])]
        plan += [place for place in self._unseen if place not in plan][: self._size - len(plan)]
        best = self._best_of(plan)
        while len(plan) < min(self._size, MOST):
            row, gain = add_most(self._values, best)
            if gain <= CERTAIN * len(best):  # those in the slate add nothing
                break
            plan.append(int(self._shortlist[row]))
            best = np.maximum(best, self._values[:, row])
        whole = self._by_score(tuple(plan))
        return whole if self._worth(whole) > self._worth(by_score) + CERTAIN else by_score

    def _by_score(self, before: tuple[int, ...]) -> tuple[int, ...]:
        missing = self._size - len(before)
        rest = [place for place in self._shortlist[: self._size + len(before)].tolist() if place not in before]
        return (*before, *rest[:missing])

    def _best_of(self, slate: Sequence[int]) -> Floats:
        rows = [int(row) for place in slate for row in np.flatnonzero(self._shortlist == place)]
        best: Floats = self._values[:, rows].max(axis=1) if rows else np.full(self._values.shape[0], self._values.min())
        return best

    def _worth(self, slate: Sequence[int]) -> float:
        return float(self._best_of(slate).mean())


def by_score(scores: Floats, number: int) -> Integers:
    """Return the places of the best scores, best first; of equals the one that is offered first."""
    if number >= len(scores):
        return (-scores).argsort(kind="stable")
    least = np.partition(scores, -number)[-number]
    above = np.flatnonzero(scores > least)
    level = np.flatnonzero(scores == least)[: number - len(above)]
    among = np.sort(np.concatenate([above, level]))
    best: Integers = among[(-scores[among]).argsort(kind="stable")]
    return best


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
