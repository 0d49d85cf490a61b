"""Random operations in any order never break a law, for any policy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from druthers import POLICIES, DruthersError, make_policy
from druthers.testing import same_state

D = 3
ARMS = ["inn", "spa", "loft", 7, (1, "b")]
USERS = ["ada", "bob", 0]
NUMBERS = st.floats(-10, 10)
ARM = st.sampled_from(ARMS)
USER = st.sampled_from(USERS)
RANKING = st.permutations(range(D)).flatmap(lambda order: st.integers(0, D).map(lambda m: order[:m]))
REWARD = st.lists(st.one_of(NUMBERS, st.just(math.nan)), min_size=D, max_size=D).filter(
    lambda reward: not all(map(math.isnan, reward))
)
BAD_CALLS = [
    lambda policy: policy.hear("ada", (0, 0)),
    lambda policy: policy.hear("carl", (D,)),
    lambda policy: policy.learn("ada", "nowhere"),
    lambda policy: policy.revise("ada", "nowhere", 1.0, before=0.0),
    lambda policy: policy.utility_weight("ada", "nowhere"),
    lambda policy: policy.learn("ada", policy.arms[0] if policy.arms else "nowhere", [math.inf] * D),
    lambda policy: policy.learn("carl", policy.arms[0] if policy.arms else "nowhere", [1.0] * (D + 1)),
    lambda policy: policy.choose("ada", []),
    lambda policy: policy.choose("ada", ["inn", "inn"]),
    lambda policy: policy.choose("ada", ["inn", "spa"], size=3),
    lambda policy: policy.forget_user("nobody"),
    lambda policy: policy.retire_arm("nowhere"),
]


def machine(name: str) -> type[RuleBasedStateMachine]:
    class Machine(RuleBasedStateMachine):
        @initialize(seed=st.integers(0, 9), exploration=st.sampled_from([0.0, 0.3]))
        def build(self, seed, exploration):
            self.policy = make_policy(name, n_objectives=D, seed=seed, exploration=exploration)
            self.arms: list[object] = []
            self.retired: set[object] = set()
            self.users: set[object] = set()

        @rule(user=USER, ranking=RANKING)
        def hear(self, user, ranking):
            self.policy.hear(user, ranking)
            if self.policy.hears and ranking:
                self.users.add(user)

        @rule(user=USER, offer=st.lists(ARM, min_size=1, unique=True), data=st.data())
        def choose(self, user, offer, data):
            size = data.draw(st.integers(1, len(offer)))
            decision = self.policy.choose(user, offer, size)
            self.see(offer)
            assert set(decision.arms) <= set(offer)
            assert len(set(decision.arms)) == size
            assert np.all(np.isfinite(decision.reasons))
            assert all(math.isnan(p) or 0.0 <= p <= 1.0 + 1e-12 for p in decision.propensities)

        @rule(user=USER, arm=ARM, reward=st.none() | REWARD, utility=st.none() | NUMBERS)
        def learn(self, user, arm, reward, utility):
            if arm in self.retired or (reward is None and utility is None):
                before = self.policy.state()
                with pytest.raises(DruthersError):
                    self.policy.learn(user, arm, reward, utility)
                assert same_state(before, self.policy.state())
                return
            others = {other: self.weights(other) for other in USERS if other != user}
            self.policy.learn(user, arm, reward, utility)
            self.see([arm])
            self.users.add(user)
            for other, weights in others.items():
                assert np.array_equal(weights, self.weights(other))

        @rule(user=USER, value=st.sampled_from([0.0, 1.0]))
        def talk(self, user, value):
            question = self.policy.ask(user)
            if question is not None:
                self.policy.answer(user, question, value)

        @rule(user=USER)
        def forget(self, user):
            if user in self.users:
                self.policy.forget_user(user)
                self.users.discard(user)

        @rule(arm=ARM)
        def retire(self, arm):
            if arm in self.arms:
                self.policy.retire_arm(arm)
                self.arms.remove(arm)
                self.retired.add(arm)

        @rule(call=st.sampled_from(BAD_CALLS))
        def refuse(self, call):
            before = self.policy.state()
            with pytest.raises(DruthersError):
                call(self.policy)
            assert same_state(before, self.policy.state())

        @rule()
        def restore(self):
            twin = type(self.policy).from_state(self.policy.state())
            assert same_state(self.policy.state(), twin.state())
            self.policy = twin

        @invariant()
        def books_are_right(self):
            assert list(self.policy.arms) == self.arms
            assert set(self.policy.users) == self.users

        def see(self, arms):
            """Offered or told of, an arm is known from then on, one that had retired included."""
            self.arms += [arm for arm in arms if arm not in self.arms]
            self.retired.difference_update(arms)

        def weights(self, user):
            if not self.policy.learns_preference:
                return np.empty(0)
            weights = self.policy.preference(user).weights
            assert np.all(np.isfinite(weights))
            return weights

    return Machine


def run(name: str, sequences: int, steps: int) -> None:
    run_state_machine_as_test(
        machine(name),
        settings=settings(
            max_examples=sequences,
            stateful_step_count=steps,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("name", POLICIES)
def test_random_operations(name):
    run(name, sequences=10, steps=40)


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_ten_thousand_random_operations(name):
    run(name, sequences=100, steps=100)
