"""Yardsticks: a random policy and one that knows the truth."""

from collections.abc import Hashable, Mapping
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from druthers._jit import implements, kernel
from druthers.errors import InvalidSetting
from druthers.own import settings
from druthers.policies.base import Policy
from druthers.policies.scalarized import learn_arms
from druthers.policies.steps import learn_policy, score_policy
from druthers.types import Floats, Integers, Preference


class TrueArms(NamedTuple):
    """What is known of each arm, and its true mean reward."""

    pulls: Floats
    means: Floats
    truth: Floats


class Random(Policy, told=""):
    """Choose uniformly at random: what any policy must beat, and a source of clean logs."""

    name = "random"
    noise_per_arm = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._start()


@settings
class Oracle(Policy, told="", keeps="truth"):
    """Choose the best arm, knowing the truth; for the lab only.

    Parameters
    ----------
    preferences
        The true preference (D,) of each user.
    rewards
        The true mean reward (D,) of each arm.

    Examples
    --------
    >>> oracle = Oracle(n_objectives=2, preferences={"ada": [1, 0]}, rewards={"inn": [0, 9], "spa": [1, 1]})
    >>> oracle.choose("ada").arm
    'spa'
    """

    name = "oracle"
    learns_preference = True
    knows_truth = True

    preferences: Mapping[Hashable, ArrayLike] = field(default_factory=dict)
    rewards: Mapping[Hashable, ArrayLike] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.preferences = self._truths(self.preferences)
        self.rewards = self._truths(self.rewards)
        self._start()
        for user in self.preferences:
            self._new_user(user)
        self.add_arms(self.rewards)

    def _truths(self, given: Mapping[Hashable, ArrayLike] | None) -> Mapping[Hashable, ArrayLike]:
        truths: dict[Hashable, ArrayLike] = {}
        for key, values in (given or {}).items():
            vector = np.asarray(values, dtype=np.float64)
            if vector.shape != (self.n_objectives,) or not np.all(np.isfinite(vector)):
                raise InvalidSetting(
                    f"the truth must be {self.n_objectives} finite numbers each, but {key!r} has {values!r}"
                )
            truths[key] = vector.tolist()
        return truths

    def _fresh_arms(self, n_arms: int) -> TrueArms:
        shape = (n_arms, self.n_objectives)
        return TrueArms(pulls=np.zeros(shape), means=np.zeros(shape), truth=np.zeros(shape))

    def _fresh_users(self, n_users: int) -> Any:
        return self.Users(feedbacks=np.zeros(n_users), truth=np.zeros((n_users, self.n_objectives)))

    def _new_arm(self, arm: Hashable) -> int:
        row = super()._new_arm(arm)
        if arm in self.rewards:
            self._state.arms.truth[row] = self.rewards[arm]
        return row

    def _new_user(self, user: Hashable) -> int:
        row = super()._new_user(user)
        if user in self.preferences:
            self._state.users.truth[row] = self.preferences[user]
        return row

    def _preference(self, row: int) -> Preference:
        size = self.n_objectives
        return Preference(weights=self._state.users.truth[row].copy(), covariance=np.zeros((size, size)))


@implements(score_policy, Random.State)
@kernel
def _score_random(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    for j in range(offer.shape[0]):
        out[0, j] = 0.0
        out[1, j] = 0.0
        out[2, j] = 0.0
        out[3, j] = noise[j]
    return len(offer)


@implements(score_policy, Oracle.State)
@kernel
def _score_oracle(state: Any, user: int, offer: Integers, noise: Floats, out: Floats) -> int:
    for j in range(offer.shape[0]):
        utility = 0.0
        for k in range(state.arms.truth.shape[1]):
            utility += state.users.truth[user, k] * state.arms.truth[offer[j], k]
        out[0, j] = utility
        out[1, j] = 0.0
        out[2, j] = 0.0
        out[3, j] = utility
    return 1


implements(learn_policy, Random.State)(learn_arms)
implements(learn_policy, Oracle.State)(learn_arms)
