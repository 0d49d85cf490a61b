"""A compiled episode and single steps are the same game, for every policy."""

from __future__ import annotations

import numpy as np
import pytest

from druthers import MOPQUCB, POLICIES, Mixture, make_policy
from druthers._jit import kernel
from druthers.environments import Reviews, Synthetic
from druthers.simulation import play_by_steps, play_tape, simulate, spread_rounds
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
    "two users a round": Synthetic(**SMALL, offered=3, users_per_round=2),
    "picks, and no utility, of two users a round": Synthetic(
        **SMALL, offered=3, users_per_round=2, feedback="choice", choice_noise=3.0
    ),
}
# A game with picks is compiled apart: the quick tests have a policy that learns from them and one that does not.
QUICK_WITH_PICKS = ("stated-ucb", "s-ucb")
GAMES = [
    pytest.param(name, label, marks=pytest.mark.slow if label[:5] == "picks" and name not in QUICK_WITH_PICKS else ())
    for name in (*POLICIES, "mo-pqucb with a mixture")
    for label in WORLDS
]


def played(policy, tape, stops=(17, 150)):
    parts = [part for _, part in play_tape(policy, tape, np.array(stops))]
    return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]


@pytest.mark.parametrize(("name", "label"), GAMES)
def test_episode_equals_single_steps(name, label):
    def build():
        if name in POLICIES:
            return make_policy(name, n_objectives=4, seed=5)
        return MOPQUCB(n_objectives=4, seed=5, anchor=Mixture())

    tape = WORLDS[label].tape(seed=7, horizon=300)
    compiled, stepped = build(), build()
    (arms, regret), slow = played(compiled, tape), play_by_steps(stepped, tape)
    ended, stepwise = compiled.state(), stepped.state()
    unlike = {key: (ended[key], stepwise[key]) for key in ended if not same_state(ended[key], stepwise[key])}
    rounds = np.flatnonzero((arms != slow.arms) | (regret != slow.regret)).tolist()
    assert (rounds, unlike) == ([], {})
    assert ended.keys() == stepwise.keys()


@kernel
def left_over(first, second, rounded, out):
    """Write what is left of products less what they were rounded to: 0, unless a machine multiplies and adds in one."""
    for k in range(out.shape[0]):
        out[k] = first[k] * second[k] - rounded[k]


def test_every_operation_of_a_kernel_is_rounded():
    """Else the same kernel could end otherwise within a compiled episode, where it is inlined, than alone."""
    first, second = np.random.default_rng(3).normal(size=(2, 67))
    out = np.ones(67)
    left_over(first, second, first * second, out)
    assert not out.any()


def test_exploration_takes_the_same_coins():
    tape = WORLDS["a quarter offered, sparse short corrupted queries"].tape(seed=3, horizon=400)
    arms, _ = played(make_policy("s-ucb", n_objectives=4, exploration=0.3), tape)
    assert np.array_equal(arms, play_by_steps(make_policy("s-ucb", n_objectives=4, exploration=0.3), tape).arms)


def test_episodes_cross_chunks():
    """A tape of several chunks plays on where the last one ended."""
    tape = Synthetic(**SMALL, offered=3).tape(seed=1, horizon=4_500)
    arms, regret = played(make_policy("prucb", n_objectives=4), tape, stops=(4_096, 4_097))
    assert np.array_equal(arms, play_by_steps(make_policy("prucb", n_objectives=4), tape).arms)
    assert np.all(regret >= 0.0)


@pytest.mark.parametrize("name", ["s-ucb", "mo-oful", "conucb", "mo-pqucb", "mo-pqucb-recipe", "oracle"])
def test_a_run_is_what_was_played_looked_at_now_and_then(name):
    world = Synthetic(**SMALL, offered=3, users_per_round=2)
    tape, rounds = world.tape(seed=(2, 1), horizon=300), np.array([1, 40, 300])
    policy, twin = (make_policy(name, n_objectives=4, seed=5) for _ in range(2))
    run, (arms, regret) = simulate(policy, tape, rounds), played(twin, tape)
    assert run.regret == pytest.approx(np.cumsum(regret)[2 * rounds - 1])
    utilities = tape.preferences.mean(axis=0) @ tape.means.T
    assert run.pulls.tolist() == np.bincount(arms, minlength=9)[np.argsort(-utilities)].tolist()
    if not policy.learns_preference:
        assert np.isnan(run.error).all()
        assert np.isnan(run.gram_error).all()
        return
    beliefs = [policy.preference(user) for user in range(3)]
    misses = [belief.weights - truth for belief, truth in zip(beliefs, tape.preferences, strict=True)]
    assert run.error[-1] == pytest.approx(np.mean([np.linalg.norm(miss) for miss in misses]))
    if name != "oracle":
        grams = [np.linalg.inv(belief.covariance) for belief in beliefs]
        norms = [np.sqrt(miss @ gram @ miss) for miss, gram in zip(misses, grams, strict=True)]
        assert run.gram_error[-1] == pytest.approx(np.mean(norms), rel=1e-6)


def test_rounds_to_look_at_serve_plain_and_logarithmic_plots():
    rounds = spread_rounds(1_000_000)
    assert rounds[0] == 1
    assert rounds[-1] == 1_000_000
    assert 90 <= len(rounds) <= 102
    assert np.all(np.diff(rounds) > 0)
    assert spread_rounds(3).tolist() == [1, 2, 3]
