"""A small world to try a policy in, and what a trained policy is compared by."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from druthers.policies import Policy
from druthers.sampling import sample_rankings
from druthers.types import Decision, Floats, Integers

BuildPolicy = Callable[..., Policy]


class World(NamedTuple):
    """A small world to try a policy in: true means and preferences, and all its chance drawn ahead."""

    means: Floats
    preferences: Floats
    users: Integers
    orders: Integers
    reward_noise: Floats
    preference_noise: Floats

    @classmethod
    def draw(
        cls, *, seed: int, rounds: int, n_users: int = 3, n_arms: int = 5, n_objectives: int = 3, noise: float = 0.3
    ) -> "World":
        """Draw a world from a seed."""
        rng = np.random.default_rng(seed)
        preferences = rng.uniform(0.0, 2.0, (n_users, n_objectives))
        users = rng.integers(n_users, size=rounds)
        return cls(
            means=rng.uniform(0.0, 1.0, (n_arms, n_objectives)),
            preferences=preferences,
            users=users,
            orders=sample_rankings(preferences[users], rng=rng).orders,
            reward_noise=noise * rng.standard_normal((rounds, n_objectives)),
            preference_noise=noise * rng.standard_normal((rounds, n_objectives)),
        )

    def play(
        self, policy: Policy, *, start: int = 0, stop: int | None = None, answers: bool = True, picks: bool = True
    ) -> list[int]:
        """Let a policy play these rounds; return the arms it chose."""
        return [self.step(policy, t, answers, picks) for t in range(len(self.users))[start:stop]]

    def step(self, policy: Policy, t: int, answers: bool = True, picks: bool = True) -> int:
        """Let a policy play one round; return the arm it chose. In every third one the user picks an arm too."""
        user = int(self.users[t])
        policy.hear(user, self.orders[t])
        question = policy.ask(user) if answers else None
        if question is not None:
            likes = self.preferences[user, question.objective] > self.preferences[user].mean()
            policy.answer(user, question, float(likes))
        arm: Any = policy.choose(user, range(len(self.means))).arm
        reward, utility = self.outcome(t, arm)
        policy.learn(user, arm, reward, utility)
        if picks and policy.learns_choices and t % 3 == 0:
            policy.learn_choice(user, *self.choice(t))
        return int(arm)

    def outcome(self, t: int, arm: int) -> tuple[Floats, float]:
        """Return reward and utility of an arm in a round."""
        reward = self.means[arm] + self.reward_noise[t]
        return reward, float((self.preferences[self.users[t]] + self.preference_noise[t]) @ reward)

    def choice(self, t: int) -> tuple[int, list[int]]:
        """Return the arm that the user picks in a round, and the arms that it was picked from."""
        offer = [(t + k) % len(self.means) for k in range(min(4, len(self.means)))]
        felt = self.means[offer] @ (self.preferences[self.users[t]] + self.preference_noise[t])
        return offer[int(felt.argmax())], offer

    def regret(self, arms: list[int]) -> float:
        """Return the regret of these choices."""
        utilities = self.preferences @ self.means.T
        rows = utilities[self.users[: len(arms)]]
        return float((rows.max(axis=1) - rows[np.arange(len(arms)), arms]).sum())


def same_state(first: Any, second: Any, *, tolerance: float = 0.0) -> bool:
    """Tell whether two states are equal, arrays entry by entry (NaN equal to NaN)."""
    if isinstance(first, np.ndarray):
        if not isinstance(second, np.ndarray) or first.shape != second.shape:
            return False
        if tolerance:
            return bool(np.allclose(first, second, rtol=tolerance, atol=tolerance, equal_nan=True))
        return bool(np.array_equal(first, second, equal_nan=first.dtype.kind == "f"))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(
            same_state(first[key], second[key], tolerance=tolerance) for key in first
        )
    return bool(first == second)


def learned(policy: Policy) -> dict[str, Any]:
    """Return a policy's state without its chance."""
    return {key: value for key, value in policy.state().items() if key not in ("noise", "coins")}


def require_finite(decision: Decision) -> None:
    """Refuse a decision whose reasons are not finite, or whose known propensities are no chances."""
    known = [p for p in decision.propensities if not math.isnan(p)]
    odd = ~np.isfinite(decision.reasons).all(axis=0)
    assert not odd.any(), (
        "utility, reward bonus, preference bonus and score must be finite, but those of"
        f" {decision.offer[int(odd.argmax())]!r} are {decision.reasons[:, odd.argmax()].tolist()}"
    )
    assert all(0.0 <= p <= 1.0 + 1e-12 for p in known), f"propensities must lie between 0 and 1, but got {known}"


def trained(build: BuildPolicy, rounds: int = 60, seed: int = 1, **params: Any) -> tuple[Policy, World]:
    """Return a policy that has played a world, and that world."""
    world = World.draw(seed=seed, rounds=rounds)
    policy = build(n_objectives=3, seed=seed, **params)
    world.play(policy)
    return policy, world
