"""The recipes behind the paper's figures, which depart from its printed algorithms; docs/paper-notes.md lists how.

Written from facts about the authors' experiments, not from their code.
"""

import math
from typing import Any

import numpy as np

from druthers._jit import implements, kernel
from druthers._matrices import center, square_of
from druthers.errors import require
from druthers.own import settings
from druthers.policies.linear import REGRESSION, LinearPolicy, LinearUsers, Widths, score_raised
from druthers.policies.steps import hear_policy, score_policy
from druthers.preferences import anchor_matrix, anchored_estimate
from druthers.rankings import add_slope, complete
from druthers.types import Floats, Integers

UNSEEN_REWARD = 100.0
WINDOW = 50
PROXIMAL_STEPS = 5
TOLD = f"{REGRESSION} ridge radius width"


@settings
class Recipe(LinearPolicy):
    """What the recipes share: four constants that were tuned for each data set."""

    ridge: float = 0.1
    radius: float = 1.5
    width: float = 0.05
    normalization: float = 5.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(positive="ridge normalization", not_negative="radius width")
        self._start()

    @property
    def _alpha(self) -> float:
        """The weight of utilities."""
        return 1.0

    def _derived(self) -> dict[str, float]:
        return {"feedback_weight": self._alpha}

    def _start_matrix(self) -> Floats:
        return self.ridge * np.eye(self.n_objectives)


@settings
class MOPQUCBRecipe(Recipe, told=TOLD, keeps="anchor velocity queries total_length"):
    """MO-PQUCB as the paper's figures were made: a gradient-step anchor, normalized utilities, a tuned radius.

    Parameters
    ----------
    horizon
        Number of rounds T; utilities weigh 1/ln T.
    ridge, radius, width, normalization
        The four constants that were tuned for each data set: (0.1, 1.5, 0.05, 5) for synthetic data,
        (0.01, 1.3, 0.1625, 2) for hotels, (0.01, 1, 0.125, 2) for beers.
    """

    name = "mo-pqucb-recipe"
    hears = True

    horizon: int = 2_000

    def __post_init__(self) -> None:
        require(self.horizon >= 3, "horizon must be at least 3", self.horizon)
        super().__post_init__()

    @property
    def _alpha(self) -> float:
        return 1.0 / math.log(self.horizon)

    def _start_matrix(self) -> Floats:
        return anchor_matrix(self.n_objectives, 1.0 - self._alpha, self.ridge)

    def _kept(self, n_users: int) -> dict[str, Any]:
        anchor, velocity = np.zeros((2, n_users, self.n_objectives))
        queries, total_length = np.zeros((2, n_users), dtype=np.int64)
        return {"anchor": anchor, "velocity": velocity, "queries": queries, "total_length": total_length}

    def _anchors(self, rows: Integers) -> tuple[Floats, float]:
        return self._state.users.anchor[rows], 1.0 - self._alpha


@settings
class MOPQUCBGLRecipe(MOPQUCBRecipe, told=TOLD, keeps="anchor queries total_length orders lengths"):
    """MO-PQUCB-GL as the paper's figure was made: five proximal steps over the last 50 rankings.

    At the penalty used there, D^3/27, every deviation stays exactly zero, so this is a plain fit to a sliding window.

    Parameters
    ----------
    corruption
        Share of corrupted queries; utilities weigh (corruption + 1/ln T)/2.
    horizon, ridge, radius, width, normalization
        As in `MOPQUCBRecipe`.
    """

    name = "mo-pqucb-gl-recipe"
    Users = LinearUsers  # with no momentum: an anchor is fitted to the latest rankings, which are kept

    corruption: float = 0.2

    def __post_init__(self) -> None:
        require(0.0 <= self.corruption <= 1.0, "corruption must lie between 0 and 1", self.corruption)
        super().__post_init__()

    @property
    def _alpha(self) -> float:
        return 0.5 * (self.corruption + 1.0 / math.log(self.horizon))

    def _kept(self, n_users: int) -> dict[str, Any]:
        kept = super()._kept(n_users)
        del kept["velocity"]
        orders = np.zeros((n_users, WINDOW, self.n_objectives), dtype=np.int16)
        return {**kept, "orders": orders, "lengths": np.zeros((n_users, WINDOW), dtype=np.int64)}


@settings
class PRUCBRecipe(Recipe, told=TOLD):
    """PRUCB as the paper's figures were made: the recipe of MO-PQUCB without the anchor.

    Parameters
    ----------
    ridge, radius, width, normalization
        The four constants that were tuned for each data set: (0.1, 0.05, 0.05, 10) for synthetic data,
        (0.1, 1, 0.2, 2) for hotels, (0.01, 1, 0.05, 2) for beers.
    """

    name = "prucb-recipe"

    radius: float = 0.05
    normalization: float = 10.0


@implements(hear_policy, MOPQUCBRecipe.State)
@kernel
def _hear_step(state: Any, user: int, ranking: Integers) -> None:
    """Take one clipped gradient step along a running mean of gradients (momentum 0.9)."""
    users = state.users
    n_objectives = users.response.shape[1]
    order = np.empty(n_objectives, dtype=np.int64)
    slope = np.zeros(n_objectives)
    complete(ranking, order)
    add_slope(order, ranking.shape[0], users.anchor[user], slope)
    size = np.sqrt(square_of(slope))
    clip = 1.0 / size if size > 1.0 else 1.0
    step = 0.1 / (1.0 + 0.02 * users.queries[user])
    for k in range(n_objectives):
        users.velocity[user, k] = 0.9 * users.velocity[user, k] + 0.1 * clip * slope[k]
        users.anchor[user, k] -= step * users.velocity[user, k]
    center(users.anchor[user])
    users.queries[user] += 1
    users.total_length[user] += ranking.shape[0]


@implements(hear_policy, MOPQUCBGLRecipe.State)
@kernel
def _hear_window(state: Any, user: int, ranking: Integers) -> None:
    """Take five gradient steps on the mean loss of the last 50 rankings."""
    users = state.users
    n_objectives = users.response.shape[1]
    slot = users.queries[user] % WINDOW
    complete(ranking, users.orders[user, slot])
    users.lengths[user, slot] = ranking.shape[0]
    users.queries[user] += 1
    users.total_length[user] += ranking.shape[0]
    kept = min(users.queries[user], WINDOW)
    slope = np.empty(n_objectives)
    for _ in range(PROXIMAL_STEPS):
        for k in range(n_objectives):
            slope[k] = 0.0
        for row in range(kept):
            add_slope(users.orders[user, row], users.lengths[user, row], users.anchor[user], slope)
        for k in range(n_objectives):
            users.anchor[user, k] -= 0.5 / kept * slope[k]
        center(users.anchor[user])


@implements(score_policy, MOPQUCBRecipe.State)
@kernel
def _score_anchored(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    users, settings, n_objectives = state.users, state.settings, state.users.response.shape[1]
    left = 1.0 - settings.feedback_weight
    estimate = anchored_estimate(users.root[user], users.response[user], users.anchor[user], left)
    queries, told = max(users.queries[user], 1), max(users.total_length[user], 1)
    radius = settings.radius * (
        settings.feedback_weight * np.sqrt(n_objectives * np.log(1.0 + n_objectives * (queries - 1) / settings.ridge))
        + np.sqrt(left * n_objectives * np.log(queries) / told)
        + np.sqrt(left * settings.ridge / n_objectives)
    )
    widths = Widths(settings.width, 2.0 * np.log(1.0 + state.clock[0]), 0.0, UNSEEN_REWARD)
    score_raised(state, user, offer, estimate, estimate, widths, radius, out)
    return 1


@implements(score_policy, PRUCBRecipe.State)
@kernel
def _score_prucb(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    users, settings, n_objectives = state.users, state.settings, state.users.response.shape[1]
    estimate = anchored_estimate(users.root[user], users.response[user], users.response[user], 0.0)
    growth = np.log(1.0 + n_objectives * users.feedbacks[user] / settings.ridge)
    radius = settings.radius * np.sqrt(n_objectives * growth)
    widths = Widths(settings.width, 2.0 * np.log(1.0 + state.clock[0]), 0.001, 0.0)
    score_raised(state, user, offer, estimate, estimate, widths, radius, out)
    return 1
