"""A compiled episode and single steps are the same game, for every policy."""

from __future__ import annotations

import numpy as np
import pytest

from druthers import MOPQUCB, POLICIES, Mixture, make_policy
from druthers.environments import Reviews, Synthetic
from druthers.simulation import simulate, simulate_by_steps
from druthers.testing import same_state

SMALL = {"n_arms": 9, "n_objectives": 4, "n_users": 3}
WORLDS = {
    "a quarter offered, sparse short corrupted queries": Synthetic(
        **SMALL, offered=3, length="random", query_rate=0.6, corruption=0.3
    ),
    "all offered, negative weights": Reviews(
        rewards=np.random.default_rng(0).uniform(0, 5, (9, 4)),
        preferences=np.random.default_rng(1).uniform(-2, 2, (3, 4)),
    ),
}


@pytest.mark.parametrize("name", [*POLICIES, "mo-pqucb with a mixture"])
def test_episode_equals_single_steps(name):
    def build():
        if name in POLICIES:
            return make_policy(name, n_objectives=4, seed=5)
        return MOPQUCB(n_objectives=4, seed=5, anchor=Mixture())

    for label, world in WORLDS.items():
        tape = world.tape(seed=7, horizon=300)
        compiled, stepped = build(), build()
        fast, slow = simulate(compiled, tape), simulate_by_steps(stepped, tape)
        assert np.array_equal(fast.arms, slow.arms), label
        assert np.array_equal(fast.regret, slow.regret), label
        assert same_state(compiled.state(), stepped.state()), label


def test_exploration_takes_the_same_coins():
    tape = WORLDS["a quarter offered, sparse short corrupted queries"].tape(seed=3, horizon=400)
    fast = simulate(make_policy("s-ucb", n_objectives=4, exploration=0.3), tape)
    slow = simulate_by_steps(make_policy("s-ucb", n_objectives=4, exploration=0.3), tape)
    assert np.array_equal(fast.arms, slow.arms)


def test_episodes_cross_chunks():
    """A tape of several chunks plays on where the last one ended."""
    tape = Synthetic(**SMALL, offered=3).tape(seed=1, horizon=4_500)
    fast, slow = (run(make_policy("prucb", n_objectives=4), tape) for run in (simulate, simulate_by_steps))
    assert np.array_equal(fast.arms, slow.arms)
    assert np.all(fast.regret >= 0.0)
