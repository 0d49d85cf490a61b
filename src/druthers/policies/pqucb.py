"""MO-PQUCB, its robust form, PRUCB and the greedy policy: upper confidence in both reward and preference (Eq. 8)."""

import math
from dataclasses import field
from typing import Any

import numpy as np

from druthers._jit import implements, kernel
from druthers.anchors import require_anchor
from druthers.anchors.base import Anchor, hear_anchor
from druthers.anchors.grouplasso import GroupLasso
from druthers.anchors.likelihood import Likelihood
from druthers.errors import require
from druthers.own import settings
from druthers.policies.arms import NEVER_SEEN, never_seen
from druthers.policies.linear import REGRESSION, LinearPolicy, Widths, score_raised
from druthers.policies.steps import hear_policy, score_policy
from druthers.preferences import anchor_matrix, anchored_estimate, compact_radius
from druthers.types import Floats, Integers

# What both families here are told beside their regression.
SCALES = "risk reward_scale radius_scale unseen_bonus"


@settings
class MOPQUCB(LinearPolicy, told=f"{REGRESSION} pull corruption {SCALES}", keeps="anchor"):
    """MO-PQUCB (Algorithm 1): rankings anchor the preference, utilities correct it, both uncertainties add a bonus.

    The score of Eq. 8 is <c, mean> + gamma |c|_1 + beta |mean + gamma 1|_{V^-1}, with gamma = sqrt(ln(t/risk)/N) for
    the arm and beta = radius_scale times the radius of Lemma 3, or of Lemma 5 when `corruption` is given.

    Parameters
    ----------
    horizon
        Number of rounds T, from which `feedback_weight` and `ridge` are set unless given.
    feedback_weight
        alpha, the weight of utilities against the anchor; corruption + 1/ln T by default.
    ridge
        lambda, the pull along the constant; corruption + 1/ln T by default.
    corruption
        Share of queries that may be corrupted, if known.
    risk
        rho, the failure probability of the reward bounds.
    reward_scale
        Range of the rewards; the paper's analysis has [0, 1].
    radius_scale
        The constant C_2 (or C_4) that the paper does not name. Its explicit form (`preferences.hybrid_radius`) is of
        order 1e10 at B = 5.
    unseen_first
        Whether arms never seen come before all others. As printed, such an arm counts as seen once with reward zero,
        so where rewards are large it may never be tried.
    anchor
        What to make of the rankings; `Likelihood()` by default. With `GroupLasso()` this is MO-PQUCB-GL.

    Examples
    --------
    >>> policy = MOPQUCB(n_objectives=2, horizon=100)
    >>> policy.hear("ada", (1, 0))
    >>> decision = policy.choose("ada", offer=["inn", "spa"])
    >>> policy.learn("ada", decision.arm, reward=[0.2, 0.9], utility=0.8)
    >>> bool(np.argmax(policy.preference("ada").weights) == 1)
    True
    """

    name = "mo-pqucb"
    hears = True

    horizon: int = 10_000
    feedback_weight: float | None = None
    ridge: float | None = None
    corruption: float = 0.0
    risk: float = 0.05
    reward_scale: float = 1.0
    radius_scale: float = 1.0
    unseen_first: bool = False
    anchor: Anchor | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.horizon >= 3, "horizon must be at least 3", self.horizon)
        weight = self.feedback_weight
        require(weight is None or 0.0 < weight < 1.0, "feedback_weight must lie between 0 and 1", weight)
        require(0.0 <= self.corruption < 1.0, "corruption must lie between 0 and 1", self.corruption)
        self._require(positive="ridge", not_negative="reward_scale radius_scale", inside="risk")
        require_anchor(self.anchor)
        if self.anchor is None:
            self.anchor = self._default_anchor()
        self._start()

    def _default_anchor(self) -> Anchor:
        return Likelihood()

    @property
    def _alpha(self) -> float:
        if self.feedback_weight is not None:
            return self.feedback_weight
        return min(self.corruption + 1.0 / math.log(self.horizon), 0.99)

    @property
    def _lambda(self) -> float:
        return self.corruption + 1.0 / math.log(self.horizon) if self.ridge is None else self.ridge

    def _derived(self) -> dict[str, float]:
        return {
            "feedback_weight": self._alpha,
            "normalization": 0.0,
            "pull": (1.0 - self._alpha) * (1.0 + self._lambda),
            "unseen_bonus": NEVER_SEEN if self.unseen_first else 0.0,
        }

    def _start_matrix(self) -> Floats:
        return (1.0 - self._alpha) * anchor_matrix(self.n_objectives, 1.0, self._lambda)

    def _kept(self, n_users: int) -> dict[str, Any]:
        assert self.anchor is not None  # there is one by default
        return {"anchor": self.anchor.rows(n_users, self.n_objectives)}

    def _anchors(self, rows: Integers) -> tuple[Floats, float]:
        return self._state.users.anchor.estimate[rows], self._state.settings.pull


class MOPQUCBGL(MOPQUCB):
    """MO-PQUCB-GL: MO-PQUCB with the group-lasso anchor of Eq. 9, for queries that may be corrupted.

    The same policy as `MOPQUCB(anchor=GroupLasso())`; the parameters are those of `MOPQUCB`.
    """

    name = "mo-pqucb-gl"

    def _default_anchor(self) -> Anchor:
        return GroupLasso()


@settings
class Greedy(MOPQUCB):
    """The same estimates as MO-PQUCB without any optimism: a yardstick for what exploring is worth.

    Arms never seen come first. The parameters are those of `MOPQUCB`.
    """

    name = "greedy"

    corruption: float = field(init=False, default=0.0)
    risk: float = field(init=False, default=0.05)
    reward_scale: float = field(init=False, default=0.0)
    radius_scale: float = field(init=False, default=0.0)
    unseen_first: bool = field(init=False, default=True)


@settings
class PRUCB(LinearPolicy, told=f"{REGRESSION} ridge bound {SCALES}"):
    """PRUCB: upper confidence in both reward and preference, from utilities alone; it does not hear.

    Ridge regression in which a utility counts normalization / |reward|^2, with the score of Eq. 8 and the radius
    of the self-normalized bound, sqrt(lambda D) B + radius_scale sqrt(omega (D ln(1 + omega n/(D lambda)) - 2 ln rho)).

    Parameters
    ----------
    ridge
        lambda.
    normalization
        omega.
    bound
        B, the largest weight a preference may have.
    risk
        rho, the failure probability.
    reward_scale
        Range of the rewards.
    radius_scale
        Standard deviation of a utility per unit of reward.

    References
    ----------
    Cao et al. (2025), as described in section 5.2 of the paper.
    """

    name = "prucb"

    ridge: float = 0.1
    normalization: float = 1.0
    bound: float = 1.0
    risk: float = 0.05
    reward_scale: float = 1.0
    radius_scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        limits = "bound reward_scale radius_scale"
        self._require(positive="ridge normalization", not_negative=limits, inside="risk")
        self._start()

    def _derived(self) -> dict[str, float]:
        return {"feedback_weight": 1.0, "unseen_bonus": 0.0}

    def _start_matrix(self) -> Floats:
        return self.ridge * np.eye(self.n_objectives)


@kernel
def _score_both(state: Any, user: int, offer: Integers, estimate: Floats, radius: float, out: Floats) -> int:
    """Write utility, bonuses and score of Eq. 8 for each offered arm; an arm's width is sqrt(numerator / N)."""
    settings = state.settings
    numerator = settings.reward_scale**2 * np.log((1.0 + state.clock[0]) / settings.risk)
    score_raised(state, user, offer, estimate, np.abs(estimate), Widths(1.0, numerator, 0.0, 0.0), radius, out)
    for j in range(offer.shape[0] if settings.unseen_bonus > 0.0 else 0):
        if never_seen(state.arms, offer[j]):
            out[1, j] = settings.unseen_bonus
            out[3, j] = out[0, j] + out[1, j] + out[2, j]
    return 1


@implements(score_policy, MOPQUCB.State)
@kernel
def _score_pqucb(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    users, anchor, settings = state.users, state.users.anchor, state.settings
    estimate = anchored_estimate(users.root[user], users.response[user], anchor.estimate[user], settings.pull)
    radius = settings.radius_scale * compact_radius(
        1.0 + users.feedbacks[user],
        float(anchor.total_length[user]),
        float(anchor.shortest[user]),
        estimate.shape[0],
        settings.feedback_weight,
        settings.corruption,
    )
    return _score_both(state, user, offer, estimate, radius, out)


@implements(score_policy, PRUCB.State)
@kernel
def _score_prucb(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    users, settings, n_objectives = state.users, state.settings, state.users.response.shape[1]
    estimate = anchored_estimate(users.root[user], users.response[user], users.response[user], 0.0)
    growth = np.log(1.0 + settings.normalization * users.feedbacks[user] / (n_objectives * settings.ridge))
    noise_scale = settings.radius_scale * np.sqrt(settings.normalization)
    radius = noise_scale * np.sqrt(n_objectives * growth - 2.0 * np.log(settings.risk))
    radius += np.sqrt(settings.ridge * n_objectives) * settings.bound
    return _score_both(state, user, offer, estimate, radius, out)


@implements(hear_policy, MOPQUCB.State)
@kernel
def _hear(state: Any, user: int, ranking: Integers) -> None:
    hear_anchor(state.users.anchor, user, ranking)
