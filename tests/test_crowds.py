"""A population behind each person: newcomers are met with it, nobody leaves a trace, nobody moves it far."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from druthers import FisherPQUCB, make_policy
from druthers.environments import Synthetic
from druthers.errors import InvalidSetting
from druthers.policies.crowds import look_at_people, shared_of
from druthers.simulation import play_by_steps, play_tape
from druthers.testing import POLICY_CHECKS

# A policy with a population is another one to the compiler.
pytestmark = pytest.mark.plain

SIZE = 3
COMMON = np.array([1.5, 0.0, -1.0])
# A look comes when so much more was told, so the order in which it was told counts until the next one; and who moves to
# another place meets other people there.
NOT_FOR_CROWDS = (
    "check_order_of_choices_hardly_matters",
    "check_order_of_feedback_does_not_matter",
    "check_unknown_values_do_not_silence",
    "check_users_move_house",
)


def tell(policy, person, weights, rng, rounds=12, unit=1.0):
    """Let a person rank all objectives and feel an arm, some times."""
    for _ in range(rounds):
        policy.hear(person, np.argsort(-(weights + rng.gumbel(size=SIZE))))
        reward = rng.uniform(0.0, 2.0, SIZE)
        utility = unit * (weights @ reward + 0.5 * rng.normal())
        policy.learn(person, f"arm {person}", reward, utility)


def crowd(order=range(12), people=None, seed=0, unit=1.0):
    """Return a policy that met these people, after a look at all of them."""
    policy = FisherPQUCB(n_objectives=SIZE, population=True)
    for person in order:
        rng = np.random.default_rng((seed, person))
        weights = COMMON + 0.3 * rng.normal(size=SIZE) if people is None else people[person]
        tell(policy, person, weights, rng, unit=unit)
    look_at_people(policy._state)
    return policy


def law(policy):
    """Return precision and pull of the law of people."""
    laws = shared_of(policy._state.clock, SIZE).laws
    return laws[0, :, :SIZE], laws[0, :, SIZE]


def test_whoever_is_new_is_met_with_what_people_like():
    policy = crowd()
    met = policy.preference("stranger")
    np.testing.assert_allclose(met.weights, COMMON, atol=0.5)
    assert np.argmax(met.weights) == 0
    assert np.all(np.sqrt(np.diag(met.covariance)) < 2.0)
    alone = FisherPQUCB(n_objectives=SIZE).preference("stranger")
    np.testing.assert_array_equal(alone.weights, 0.0)


def test_units_are_those_of_people():
    """Nobody who has just come could tell that one unit of words is worth three of utility; others have."""
    policy = crowd(unit=3.0)
    np.testing.assert_allclose(policy.preference("stranger").weights, 3.0 * COMMON, atol=1.5)


@pytest.mark.slow
def test_picks_of_who_is_new_are_in_the_unit_of_people():
    """What a stranger picks tells the same whatever the unit of utilities is, once people showed it."""
    told = []
    for unit in (1.0, 3.0):
        policy = crowd(unit=unit)
        rng = np.random.default_rng(4)
        for _ in range(30):
            offer = rng.permutation(12)[:4].tolist()
            rows = policy._state.arms.means[[policy._arms.rows[f"arm {arm}"] for arm in offer]]
            picked = offer[int(np.argmax(rows @ COMMON + rng.gumbel(size=4)))]
            policy.learn_choice("stranger", f"arm {picked}", [f"arm {arm}" for arm in offer])
        told.append(policy._state.users.sites[policy._users.rows["stranger"]])
    np.testing.assert_allclose(told[1], told[0], atol=0.1 * np.abs(told[0]).max())


def test_people_are_exchangeable():
    """Who comes first does not matter to anybody, once all were looked at."""
    one, other = crowd(), crowd(order=[7, 3, 11, 0, 5, 9, 1, 10, 2, 8, 6, 4])
    for user in (0, 5, 11, "stranger"):
        np.testing.assert_allclose(one.preference(user).weights, other.preference(user).weights, atol=1e-6)
        np.testing.assert_allclose(one.preference(user).covariance, other.preference(user).covariance, atol=1e-6)


def test_whoever_is_forgotten_is_gone_at_once():
    policy, without = crowd(), crowd(order=range(11))
    assert not np.allclose(law(policy)[1], law(without)[1])
    policy.forget_user(11)
    for ours, theirs in zip(law(policy), law(without), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.slow
def test_one_person_moves_the_law_only_so_far():
    """However far off and however sure: 2 sqrt(D)/(N + 1) deviations of the mean, and what the other steps add."""
    people = {person: COMMON + 0.3 * np.random.default_rng(person).normal(size=SIZE) for person in range(30)}
    before = law(crowd(range(29), people))
    after = law(crowd(range(30), {**people, 29: np.array([-500.0, 0.0, 500.0])}))
    mean_before, mean_after = (np.linalg.solve(*one) for one in (before, after))
    moved = mean_after - mean_before
    assert np.sqrt(moved @ after[0] @ moved) < 2.0 * 2.0 * np.sqrt(SIZE) / 30


def test_who_is_unlike_all_others_is_believed_under_the_prior_that_anyone_had():
    """The guard: after six answers the odd one is believed as without a population, in the unit that people have."""
    policy, alone = crowd(range(20)), FisherPQUCB(n_objectives=SIZE)
    odd = np.array([-4.0, 1.0, 4.0])
    for one in (policy, alone):
        tell(one, "odd", odd, np.random.default_rng(5), rounds=6)
    ours, theirs = (one._preference_at_unit(one._users.rows["odd"]).weights for one in (policy, alone))
    assert np.linalg.norm(ours - odd) < 1.05 * np.linalg.norm(theirs - odd)


def test_steps_and_compiled_episodes_agree():
    tape = Synthetic(n_arms=8, n_objectives=SIZE, n_users=4, offered=4).tape(seed=3, horizon=60)
    ours, compiled = (make_policy("fisher-pqucb", n_objectives=SIZE, population=True) for _ in range(2))
    by_steps = play_by_steps(ours, tape)
    arms = np.concatenate([played.arms for _, played in play_tape(compiled, tape, np.array([60]))])
    np.testing.assert_array_equal(by_steps.arms, arms)
    np.testing.assert_allclose(ours._state.clock, compiled._state.clock, rtol=1e-9, atol=1e-12)


def test_a_guarantee_needs_people_apart():
    with pytest.raises(InvalidSetting, match="people apart"):
        FisherPQUCB(n_objectives=2, guarantee=True, population=True)


# Of these, the quick tests try what a population could break first.
QUICK = ("check_restored_continues", "check_users_are_exchangeable", "check_users_and_arms_come_and_go")


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, marks=() if check.__name__ in QUICK else pytest.mark.slow, id=check.__name__)
        for check in POLICY_CHECKS
        if check.__name__ not in NOT_FOR_CROWDS
    ],
)
def test_laws_of_policies(check):
    check(functools.partial(make_policy, "fisher-pqucb", population=True))
