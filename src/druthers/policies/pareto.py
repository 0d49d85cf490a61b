"""Policies that choose from the Pareto front: Pareto-UCB and Pareto-TS."""

from typing import Any

import numpy as np

from druthers._jit import implements, kernel
from druthers.policies.arms import NEVER_SEEN, never_seen
from druthers.policies.scalarized import WidthPolicy
from druthers.policies.steps import score_policy
from druthers.types import Floats, Integers


class ParetoUCB(WidthPolicy, told="width unseen_bonus"):
    """Pareto-UCB: a uniform choice among the arms whose optimistic rewards no other arm dominates.

    The optimistic reward is mean + width sqrt(2 ln(t + 2) / N) in every objective. A baseline that keeps every
    trade-off alive because it does not know which one a user wants.

    Parameters
    ----------
    width
        Multiplier of the confidence width.
    unseen_first
        As in `SUCB`.

    Notes
    -----
    A decision's utility is the plain sum of the means, its reward bonus the sum of the widths; the score is chance,
    with the front above the rest.

    References
    ----------
    Drugan and Nowe (2013), as in appendix "Baseline Details" of the paper.
    """

    name = "pareto-ucb"
    noise_per_arm = 1


class ParetoTS(WidthPolicy, told="width unseen_bonus"):
    """Pareto Thompson sampling: a uniform choice from the Pareto front of rewards drawn from normal posteriors.

    Each objective's mean is drawn with standard deviation width / sqrt(N). The chance of a choice is not known in
    closed form, so its propensity is NaN.

    Parameters
    ----------
    width
        Standard deviation of one reward, as the posterior believes.
    unseen_first
        As in `SUCB`.

    References
    ----------
    Yahyaa and Manderick (2015), as in appendix "Baseline Details" of the paper.
    """

    name = "pareto-ts"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.noise_per_arm = self.n_objectives + 1


@kernel
def covers(points: Floats, i: int, j: int) -> bool:
    """Tell whether row i is nowhere below row j."""
    covered = True
    for k in range(points.shape[1]):  # all of them: where to stop early, a processor cannot guess
        covered &= points[i, k] >= points[j, k]
    return covered


@kernel
def _order_by_sum(points: Floats, bins: Integers, order: Integers) -> None:
    """Write the bin of each row of `points`, the highest sums in bin 0, and the rows in the order of their bins."""
    n_points, n_objectives = points.shape
    sums = np.zeros(n_points)
    for j in range(n_points):
        for k in range(n_objectives):
            sums[j] += points[j, k]
    low = top = sums[0]
    for j in range(1, n_points):
        low = min(low, sums[j])
        top = max(top, sums[j])
    scale = (n_points - 1) / (top - low) if top > low else 0.0
    ends = np.zeros(n_points, dtype=np.int64)
    for j in range(n_points):
        below = (top - sums[j]) * scale
        bins[j] = int(below) if below < n_points else n_points - 1  # also where numbers are too large to tell
        ends[bins[j]] += 1
    for place in range(1, n_points):
        ends[place] += ends[place - 1]
    for j in range(n_points - 1, -1, -1):
        ends[bins[j]] -= 1
        order[ends[bins[j]]] = j


@kernel
def mark_front(points: Floats, on_front: Integers) -> int:
    """Set `on_front` to 1 for the rows of `points` (n, D) that no other row dominates, else 0; return how many.

    In order of falling sum, a point can be dominated only by earlier ones, and then also by one on the front, of which
    equals are listed once. Sorting into as many bins as there are points is as good and costs a fraction: within a bin,
    as where rounding makes sums equal, a newcomer to the front looks back.
    """
    n_points = points.shape[0]
    bins = np.empty(n_points, dtype=np.int64)
    order = np.empty(n_points, dtype=np.int64)
    _order_by_sum(points, bins, order)
    front = np.empty(n_points, dtype=np.int64)
    n_members = 0
    n_front = 0
    for rank in range(n_points):
        j = order[rank]
        covered = False
        for member in range(n_members):
            i = front[member]
            if covers(points, i, j):
                covered = True
                on_front[j] = on_front[i] if covers(points, j, i) else 0
                break
        if not covered:
            on_front[j] = 1
            front[n_members] = j
            n_members += 1
            earlier = rank - 1
            while earlier >= 0 and bins[order[earlier]] == bins[j]:
                i = order[earlier]
                if on_front[i] == 1 and covers(points, j, i):
                    on_front[i] = 0
                    n_front -= 1
                earlier -= 1
        n_front += on_front[j]
    return n_front


@kernel
def _score_front(state: Any, offer: Integers, noise: Floats, numerator: float, out: Floats) -> int:
    """Raise the means of each offered arm; score the front of these points by chance, the rest far below.

    By sqrt(numerator / N) in every objective, or else by a draw with deviation 1 / sqrt(N), both times the width.
    Returns how many are on the front.
    """
    n_objectives = state.arms.means.shape[1]
    drawn = numerator == 0.0
    stride = n_objectives + 1 if drawn else 1
    points = np.empty((offer.shape[0], n_objectives))
    on_front = np.empty(offer.shape[0], dtype=np.int64)
    for j in range(offer.shape[0]):
        arm = offer[j]
        unseen = state.settings.unseen_bonus > 0.0 and never_seen(state.arms, arm)
        utility = bonus = width = 0.0
        seen = -1.0
        for k in range(n_objectives):
            if state.arms.pulls[arm, k] != seen:  # mostly, all objectives of an arm were seen equally often
                seen = state.arms.pulls[arm, k]
                pulls = max(seen, 1.0)
                width = state.settings.width * np.sqrt(numerator / pulls)
                if drawn:
                    width = state.settings.width / np.sqrt(pulls)
            raised = width * noise[j * stride + 1 + k] if drawn else width
            raised = NEVER_SEEN if unseen else raised
            points[j, k] = state.arms.means[arm, k] + raised
            utility += state.arms.means[arm, k]
            bonus += raised
        out[0, j], out[1, j], out[2, j] = utility, bonus, 0.0
    n_front = mark_front(points, on_front)
    for j in range(offer.shape[0]):
        out[3, j] = noise[j * stride] + (0.0 if on_front[j] == 1 else -NEVER_SEEN)
    return n_front


@implements(score_policy, ParetoUCB.State)
@kernel
def _score_ucb(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    return _score_front(state, offer, noise, 2.0 * np.log(state.clock[0] + 2.0), out)


@implements(score_policy, ParetoTS.State)
@kernel
def _score_ts(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    _score_front(state, offer, noise, 0.0, out)
    return 0
