"""Policies that learn each user's preference by ridge regression of utility on reward: what they share, and MO-OFUL."""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from druthers._jit import implements, kernel
from druthers._matrices import inverse, norms, square_of
from druthers.own import settings
from druthers.policies.arms import Arms, fill_unknown, never_seen, observe, remember
from druthers.policies.base import Policy
from druthers.policies.steps import learn_policy, score_policy
from druthers.preferences import anchored_estimate, learn_utility, upper_root
from druthers.types import Floats, Integers, Preference

# What the kernels of a regression are told: how much a utility counts.
REGRESSION = "feedback_weight normalization"


class LinearUsers(NamedTuple):
    """Each user's regression: the upper factor of V, the right-hand side, and how many utilities entered."""

    root: Floats
    response: Floats
    feedbacks: Floats


class LinearPolicy(Policy, told=REGRESSION):
    """A policy that keeps a regression per user."""

    learns_preference = True
    Users: ClassVar[Any] = LinearUsers

    def _derived(self) -> dict[str, float]:
        return {"feedback_weight": 1.0, "normalization": 0.0}

    def _start_matrix(self) -> Floats:
        """Return the matrix V before any feedback (D, D)."""
        raise NotImplementedError

    def _fresh_users(self, n_users: int) -> Any:
        root = upper_root(self._start_matrix())
        return self.Users(
            root=np.repeat(root[None], n_users, axis=0),
            response=np.zeros((n_users, self.n_objectives)),
            feedbacks=np.zeros(n_users),
            **self._kept(n_users),
        )

    def _kept(self, n_users: int) -> dict[str, Any]:
        """Return fresh rows of what is kept of users beside the regression."""
        return {}

    def _anchors(self, rows: Integers) -> tuple[Floats, float]:
        """Return the anchors of some users (n, D) and how hard they pull."""
        return np.zeros((len(rows), self.n_objectives)), 0.0

    def _preference(self, row: int) -> Preference:
        root = self._state.users.root[row]
        anchors, pull = self._anchors(np.array([row]))
        weights = anchored_estimate(root, self._state.users.response[row], anchors[0], pull)
        covariance = np.empty_like(root)
        inverse(root, covariance)
        return Preference(weights=weights, covariance=covariance)

    def _revise(self, user: int, arm: int, reward: Floats, utility: float, before: float) -> None:
        filled = np.empty(self.n_objectives)
        square, spoilt = remember(self._state.arms, arm, reward, filled)
        weight, normalization = self._state.settings.feedback_weight, self._state.settings.normalization
        if square > 0.0:
            weight *= (normalization if normalization > 0.0 else square) / (square + spoilt)
            self._state.users.response[user] += weight * (utility - before) * filled

    def _distances(self, truths: Floats) -> tuple[float, float]:
        rows = np.array([self._users.rows[user] for user in range(len(truths))])
        users = self._state.users
        return mean_distances(users.root, users.response, rows, *self._anchors(rows), truths)


@settings
class MOOFUL(LinearPolicy, told=f"{REGRESSION} ridge radius"):
    """OFUL for hidden preferences: ridge regression of utility on reward, optimistic in the preference alone.

    The score of an arm is <c, mean> + radius sqrt(D ln(1 + D n / ridge)) |mean|_{V^-1}. Nothing makes it look at arms
    it has never seen but a share of random choices.

    Parameters
    ----------
    ridge
        Regularization lambda.
    radius
        Multiplier of the confidence radius.
    exploration
        Share of random choices, 5 % as in the paper.

    References
    ----------
    Abbasi-Yadkori et al. (2011), as in appendix "Baseline Details" of the paper.
    """

    name = "mo-oful"

    exploration: float = 0.05
    ridge: float = 0.1
    radius: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(positive="ridge", not_negative="radius")
        self._start()

    def _start_matrix(self) -> Floats:
        return self.ridge * np.eye(self.n_objectives)


@kernel
def mean_distances(
    roots: Floats, responses: Floats, rows: Integers, anchors: Floats, pull: float, truths: Floats
) -> tuple[float, float]:
    """Return the mean distance of estimates and truths (n, D), Euclidean and in the norm of V = R'R."""
    n_users = truths.shape[0]
    total = np.zeros(2)
    for user in range(n_users):
        root = roots[rows[user]]
        estimate = anchored_estimate(root, responses[rows[user]], anchors[user], pull)
        add_distances(root, estimate, truths[user], total)
    return total[0] / n_users, total[1] / n_users


@kernel
def add_distances(root: Floats, estimate: Floats, truth: Floats, total: Floats) -> None:
    """Add the distance of estimate and truth to `total`, Euclidean and in the norm of R'R; leave it in `estimate`."""
    size = truth.shape[0]
    square = 0.0
    for k in range(size):
        estimate[k] -= truth[k]
        square += estimate[k] * estimate[k]
    total[0] += np.sqrt(square)
    square = 0.0
    for k in range(size):
        stretched = 0.0
        for j in range(k, size):
            stretched += root[k, j] * estimate[j]
        square += stretched * stretched
    total[1] += np.sqrt(square)


class Widths(NamedTuple):
    """By how much means are raised: scale sqrt(numerator / (N + prior)) or, with no prior, scale sqrt(numerator / N).

    An arm never seen is raised by `unseen` instead where that is above 0; else it counts as seen once.
    """

    scale: float
    numerator: float
    prior: float
    unseen: float


@kernel
def score_raised(
    state: Any, user: int, offer: Integers, estimate: Floats, weights: Floats, by: Widths, radius: float, out: Floats
) -> Floats:
    """Write utility, bonuses and score of each offered arm: that of rewards is what `weights` make of the widths.

    That of the preference is the radius times the raised mean x in the norm of V^-1, V = R'R. Returns R'^-1 x (D, n).
    """
    arms, columns = state.arms, np.empty((estimate.shape[0], offer.shape[0]))
    for j in range(offer.shape[0]):
        pulls, means = arms.pulls[offer[j]], arms.means[offer[j]]
        instead = by.unseen > 0.0 and never_seen(arms, offer[j])
        utility = bonus = 0.0
        seen, width = -1.0, by.unseen
        for k in range(estimate.shape[0]):
            if not instead and pulls[k] != seen:  # mostly, all objectives of an arm were seen equally often
                seen = pulls[k]
                width = by.scale * np.sqrt(by.numerator / (seen + by.prior if by.prior > 0.0 else max(seen, 1.0)))
            columns[k, j] = means[k] + width
            utility += estimate[k] * means[k]
            bonus += weights[k] * width
        out[0, j], out[1, j] = utility, bonus
    norms(state.users.root[user], columns, out[2])
    for j in range(offer.shape[0]):
        out[2, j] *= radius
        out[3, j] = out[0, j] + out[1, j] + out[2, j]
    return columns


@implements(score_policy, MOOFUL.State)
@kernel
def _score(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    users = state.users
    n_objectives = users.response.shape[1]
    estimate = anchored_estimate(users.root[user], users.response[user], users.response[user], 0.0)
    growth = np.log(1.0 + n_objectives * users.feedbacks[user] / state.settings.ridge)
    radius = state.settings.radius * np.sqrt(n_objectives * growth)
    score_raised(state, user, offer, estimate, estimate, Widths(0.0, 0.0, 0.0, 0.0), radius, out)
    return 1


@kernel
def utility_weight(arms: Arms, arm: int, filled: Floats, whole: bool, weight: float, normalization: float) -> float:
    """Return how much a utility counts: `weight`, normalized, and less where part of the reward is unknown.

    With a normalization omega, a utility counts omega / |reward|^2, since its noise grows with the reward. What is
    unknown is filled in, by `fill_unknown`. Returns 0 where there is no reward to compare it with.
    """
    if normalization > 0.0 or not whole:
        spoilt = 0.0 if whole else fill_unknown(arms, arm, filled)
        square = square_of(filled)
        if square == 0.0:
            return 0.0
        weight *= (normalization if normalization > 0.0 else square) / (square + spoilt)
    return weight


@implements(learn_policy, LinearPolicy.State)
@kernel
def _learn(state: Any, user: int, arm: int, reward: Floats, utility: float) -> None:
    """Learn about the arm from the reward, and about the user from reward and utility."""
    users, settings = state.users, state.settings
    filled = np.empty(reward.shape[0])
    whole = observe(state.arms, state.clock, arm, reward, filled)
    if np.isnan(utility):
        return
    weight = utility_weight(state.arms, arm, filled, whole, settings.feedback_weight, settings.normalization)
    if weight > 0.0:
        learn_utility(users.root[user], users.response[user], filled, utility, weight)
        users.feedbacks[user] += 1.0
