"""The gated mixture anchor: a ranking is Plackett-Luce or, with some unknown chance, uniform."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from druthers._jit import implements, kernel
from druthers._matrices import copy_matrix, copy_vector
from druthers.anchors.base import (
    Anchor,
    drop_oldest,
    fit_anchor,
    hear_anchor,
    is_power_of_two,
    keep,
    remember,
)
from druthers.anchors.box import is_positive
from druthers.anchors.contamination import honesty, measure_trust, uniform_losses
from druthers.anchors.hypotheses import fold, refit
from druthers.anchors.newton import take_step
from druthers.errors import require
from druthers.own import settings
from druthers.rankings import add_derivatives, as_orders, loss
from druthers.types import Floats, Integers, RankingLike

# A refit among many stops this many standard errors from the optimum.
ONLINE_SLACK = 1e-6


# Two hypotheses have an estimate each, and a quadratic for the folded rankings: some are corrupted (mixture), none is
# (plain). `estimate`, `information` and `corruption` are those of the one that the gate lets through. `folded_clean`
# and `folded_corrupted` are the counts that tell as much about the corruption as the folded rankings did, corruption *
# (`folded_tilt` + `folded_cross` @ estimate) is how both bear on each other there, and `folded_gain` is how much better
# the mixture explained them.
KEPT = {
    "": "corruption mixture_corruption folded_clean folded_corrupted folded_tilt folded_gain",
    "i": "refitted",
    "D": "mixture_estimate folded_response folded_cross plain_estimate plain_response",
    "DD": "folded_information plain_information",
}


@settings
class Mixture(Anchor, told="ridge gate prior", keeps=KEPT):
    """The most probable preference when an unknown share of the rankings is corrupted, with honest information.

    A ranking comes from PL(c) with chance 1 - eps and from nowhere (all rankings equally likely) with chance eps; c
    has a normal prior and eps a Beta(1, prior) one. Use it where rankings may be wrong: it weighs each by the chance
    that it is the user's own, and `information` tells what is then known (Louis 1982, the estimation of eps
    included). Without clear evidence of corruption the gate stays shut and the estimate is that of `Likelihood`
    with the same ridge. Rankings of one objective can never open it.

    Parameters
    ----------
    ridge
        Precision of the normal prior on the weights.
    gate
        Twice the gain in log-posterior over eps = 0 from which the mixture is believed; 6.6 is the 0.5 % point
        of half a chi-square with one degree of freedom, since eps = 0 lies at the border.
    prior
        The larger, the rarer corruption is thought to be: the density of eps is proportional to (1 - eps)^(prior - 1).
    window
        Rankings kept for exact refits; older ones become a quadratic. A user takes (2 D + 8) window + 24 D^2 bytes.
    n_objectives
        Number of objectives; needed when the anchor stands alone.

    Examples
    --------
    >>> rankings = 9 * [(0, 1, 2, 3, 4, 5)] + 9 * [(0, 1, 2, 3, 5, 4)] + [(5, 4, 3, 2, 1, 0)]
    >>> anchor = Mixture(n_objectives=6).fit(rankings)
    >>> anchor.suspects.tolist()
    [18]

    References
    ----------
    Section 6.1 (the contamination model).
    """

    name = "mixture"

    ridge: float = 0.5
    gate: float = 6.6
    prior: float = 4.0
    window: int = 256

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 < self.ridge < np.inf, "ridge must be positive and finite", self.ridge)
        require(self.gate >= 0, "gate must not be negative", self.gate)
        require(1 <= self.prior < np.inf, "prior must be at least 1 and finite", self.prior)
        require(self.window >= 2, "window must be at least 2", self.window)

    def trust(self, rankings: Iterable[RankingLike]) -> Floats:
        """Return the chance that each of these rankings is the user's own, as things stand now; 1 for an empty one."""
        return self._trust(*as_orders(rankings, self._size()))

    def _trust(self, orders: NDArray[np.int16], lengths: Integers) -> Floats:
        rows = self._own()
        trust = np.ones(len(lengths))
        measure_trust(orders, lengths, rows.estimate[0], rows.corruption[0], trust)
        trust[lengths == 0] = 1.0
        return trust

    @property
    def responsibilities(self) -> Floats:
        """How much each ranking is trusted, in order: all those of the last `fit`, or those kept since a `hear`."""
        return self._trust(*self._told())

    @property
    def suspects(self) -> Integers:
        """The positions, in `responsibilities`, of the rankings that are more likely corrupted than not."""
        return np.flatnonzero(self.responsibilities < 0.5)

    @property
    def corruption(self) -> float:
        """The estimated share of corrupted rankings; 0 while the gate is shut."""
        return float(self._own().corruption[0])


MixtureRows = Mixture.Rows


@implements(hear_anchor, MixtureRows)
@kernel
def _hear(rows: Any, user: int, ranking: Integers) -> None:
    row = keep(rows, user, ranking)
    queries = rows.queries[user]
    kept = rows.kept[user]
    full = kept == rows.orders.shape[1]
    if full or is_power_of_two(queries) or 4 * queries >= 5 * rows.refitted[user]:
        refit(rows, user, rows.orders[user, :kept], rows.lengths[user, :kept], ONLINE_SLACK)
    else:
        _step(rows, user, row)
    if full:
        older = kept // 2
        fold(rows, user, rows.orders[user, :older], rows.lengths[user, :older])
        drop_oldest(rows, user, older)


@implements(fit_anchor, MixtureRows)
@kernel
def _fit(rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers) -> None:
    # One place stays free for the next ranking.
    kept = min(orders.shape[0], rows.orders.shape[1] - 1)
    older = orders.shape[0] - kept
    for row in range(orders.shape[0]):
        ranking = orders[row, : lengths[row]]
        if row < older:
            remember(rows, user, ranking)
        else:
            keep(rows, user, ranking)
    refit(rows, user, orders, lengths, 0.0)
    if older > 0:
        fold(rows, user, orders[:older], lengths[:older])


@kernel
def _step(rows: Any, user: int, row: int) -> None:
    """Move the estimate by one Newton step on the newest ranking, weighted by the chance that it is the user's own."""
    estimate = rows.estimate[user]
    information = rows.information[user]
    order = rows.orders[user, row]
    length = rows.lengths[user, row]
    n_objectives = estimate.shape[0]
    trusted = 1.0
    if rows.corruption[user] > 0.0:  # mostly it is not, and the loss need not be known
        uniform = uniform_losses(n_objectives)[length]
        trusted = honesty(loss(order, length, estimate), uniform, rows.corruption[user])
    slope = np.zeros(n_objectives)
    add_derivatives(order, length, estimate, trusted, slope, information)
    if trusted * (1.0 - trusted) > 1e-9:
        # Doubt costs r (1 - r) gg'; where that would leave less than nothing, it is left to the next refit.
        cost = (1.0 - trusted) / trusted
        doubtful = information.copy()
        for k in range(n_objectives):
            for other in range(n_objectives):
                doubtful[k, other] -= cost * slope[k] * slope[other]
        if is_positive(doubtful):
            copy_matrix(doubtful, information)
    take_step(information, rows.ridge, slope, estimate)
    copy_vector(estimate, rows.mixture_estimate[user] if rows.corruption[user] > 0.0 else rows.plain_estimate[user])
