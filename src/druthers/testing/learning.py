"""The laws of policies: what they learn from, in which order, and how it is taken back."""

import math
from functools import partial

import numpy as np

from druthers.errors import DamagedState
from druthers.testing.laws import laws_of, require_refused
from druthers.testing.worlds import BuildPolicy, World, learned, require_finite, same_state, trained


def check_order_of_feedback_does_not_matter(build: BuildPolicy) -> None:
    """The same feedback in another order leads to the same knowledge, to rounding."""
    world = World.draw(seed=10, rounds=40)
    outcomes = [(int(world.users[t]), t % 5, *world.outcome(t, t % 5)) for t in range(40)]
    policies = []
    for order in (outcomes, outcomes[::-1]):
        policy = build(n_objectives=3, seed=0)
        policy.add_arms(range(5))
        for user in range(3):
            policy.learn(user, 0, [0.5, 0.5, 0.5], 1.0)
        for outcome in order:
            policy.learn(*outcome)
        policies.append(learned(policy))
    assert same_state(*policies, tolerance=1e-9), "late feedback was learned otherwise"


def check_choices_teach(build: BuildPolicy) -> None:
    """Who always picks what is best in an objective is believed to want it, and that none pleases tells too."""
    policy = build(n_objectives=3, seed=0)
    if not policy.learns_choices:
        return
    for k, arm in enumerate("abc"):
        for _ in range(3):
            policy.learn("catalog", arm, np.where(np.arange(3) == k, 0.9, 0.2))
    for _ in range(12):
        policy.learn_choice("ada", "b", ["a", "b", "c"])
        policy.learn_choice("ben", "b", ["b", "a"])
        policy.learn_choice("eve", None, ["b"])
    for user in ("ada", "ben"):
        weights = policy.preference(user).weights
        assert np.argmax(weights) == 1, f"who picks the best in objective 1 is believed to want {weights}"
        assert policy.choose(user, "abc").arm == "b", "what is always picked is not chosen"
    assert np.argmin(policy.preference("eve").weights) == 1, "who never picks it is believed to want it"
    before = policy.preference("ada").weights
    policy.unhear("ada")
    assert np.allclose(policy.preference("ada").weights, before), "choices were taken back with words"


def check_order_of_choices_hardly_matters(build: BuildPolicy) -> None:
    """The same choices in another order, of users, objectives and arms by other names, tell the same.

    Each choice is taken in as the normal law nearest to it given those before, so this holds up to a third of a
    standard deviation of each weight, and not to rounding.
    """
    if not build(n_objectives=3, seed=0).learns_choices:
        return
    world, permutation = World.draw(seed=14, rounds=40), np.array([2, 0, 1])
    believed = []
    for order, renaming in ((range(40), range(3)), (range(39, -1, -1), range(3)), (range(40), permutation)):
        policy = build(n_objectives=3, seed=0)
        for arm, mean in enumerate(world.means):
            for noise in (-0.1, 0.0, 0.1):
                policy.learn("catalog", arm, (mean + noise)[list(renaming)])
        for t in order:
            picked, offer = world.choice(t)
            policy.learn_choice("ada", picked, offer if renaming is not permutation else offer[::-1])
        believed.append(policy.preference("ada"))
    plain, backwards, renamed = believed
    deviations = np.sqrt(np.diag(plain.covariance))
    for other, weights in ((backwards, plain.weights), (renamed, plain.weights[permutation])):
        off = np.abs(other.weights - weights) / (deviations if other is backwards else deviations[permutation])
        assert np.all(off < 1.0 / 3.0), f"the same choices led to weights that are {off} deviations apart"


def check_unknown_values_do_not_silence(build: BuildPolicy) -> None:
    """A utility of an arm with unknown values tells something if one of known values does, the same in any order."""
    world = World.draw(seed=11, rounds=30)
    # Arms 0, 1 and 2 lack a value each, 3 and 4 none.
    known = np.where(np.arange(5)[:, None] == np.arange(3), math.nan, world.means)
    policies = []
    for order in (range(30), range(29, -1, -1)):
        policy = build(n_objectives=3, seed=0)
        policy.add_arms(range(5))
        policy.add_users([0, 1])
        for arm in range(5):
            policy.learn("catalog", arm, known[arm])
        for t in order:
            policy.learn(t % 2, t % 5, utility=world.outcome(t, t % 5)[1])
        policies.append(policy)
    assert same_state(*map(learned, policies), tolerance=1e-9), "late feedback was learned otherwise"
    policy = policies[0]
    if not policy.learns_preference:
        return
    before = policy.preference("guest").weights
    policy.learn("other guest", 3, utility=1.0)
    moved = not np.array_equal(before, policy.preference("other guest").weights)  # not so if it learns from words alone
    policy.learn("guest", 0, utility=1.0)
    assert moved == (not np.array_equal(before, policy.preference("guest").weights)), "a utility moved nothing"


def check_utilities_can_be_revised(build: BuildPolicy) -> None:
    """Who revises a utility is as one who told only the last, to rounding; what was learned of arms stays."""
    world = World.draw(seed=13, rounds=20)
    known = np.where(np.arange(5)[:, None] == np.arange(3), math.nan, world.means)
    revised, plain = build(n_objectives=3, seed=0), build(n_objectives=3, seed=0)
    for policy in (revised, plain):
        for arm in range(5):
            policy.add_arms([arm])
            policy.learn("catalog", arm, known[arm])
        for t in range(20):
            policy.hear(0, world.orders[t])
            arm, (reward, utility) = t % 5, world.outcome(t, t % 5)
            told = reward if t == 4 else None  # of an arm of which all is known
            first = 0.3 if policy is revised and t in (1, 3, 4, 19) else utility
            policy.learn(0, arm, told, first)
            if first != utility:
                policy.revise(0, arm, -0.7, before=first, reward=told)
                policy.revise(0, arm, utility, before=-0.7, reward=told)
    assert np.array_equal(revised.reward_means(range(5)), plain.reward_means(range(5)), equal_nan=True)
    if revised.learns_preference:
        ours, theirs = revised.preference(0), plain.preference(0)
        for part in ("weights", "covariance"):
            same = np.allclose(getattr(ours, part), getattr(theirs, part), rtol=1e-6, atol=1e-9)
            assert same, f"a utility taken back left a trace in the {part}"


def check_takes_partial_feedback(build: BuildPolicy) -> None:
    """A reward with gaps, a reward alone and a utility alone are all taken in."""
    policy, _ = trained(build)
    policy.learn(0, 1, [0.1, math.nan, 0.3], 0.7)
    policy.learn(0, 1, [math.nan, 0.2, math.nan])
    policy.learn(0, 1, utility=0.9)
    policy.choose(0, ["untried", 1])
    policy.learn(0, "untried", utility=0.9)
    policy.learn("newcomer", "untried", [math.nan, 0.5, math.nan], 0.4)
    require_finite(policy.choose(0))
    require_finite(policy.choose("newcomer"))


def check_slates_are_ranked(build: BuildPolicy) -> None:
    """A slate has distinct arms in falling order of score, headed by the single choice."""
    policy, _ = trained(build, exploration=0.0)
    single = type(policy).from_state(policy.state()).choose(0)
    slate = policy.choose(0, size=5)
    scores = slate.reasons[3, list(slate.places)]
    assert slate.arm == single.arm
    assert len(set(slate.arms)) == 5
    assert np.all(np.diff(scores) <= 0.0)


def check_exploration_gives_propensities(build: BuildPolicy) -> None:
    """With an exploration floor every choice has a propensity of at least its share of it."""
    policy, _ = trained(build, exploration=0.2)
    picks = [policy.choose(0, range(5)) for _ in range(300)]
    floor = 0.2 / 5
    assert {pick.arm for pick in picks} == set(range(5)), "an arm was never explored in 300 choices"
    for pick in picks:
        assert math.isnan(pick.propensity) or floor - 1e-12 <= pick.propensity <= 1.0


def check_users_and_arms_come_and_go(build: BuildPolicy) -> None:
    """A retired arm or forgotten user leaves nothing behind, and others stay as they were, but for a population."""
    policy, _ = trained(build)
    other = policy.preference(1).weights if policy.learns_preference else np.empty(0)
    policy.forget_user(0)
    policy.retire_arm(4)
    assert 0 not in policy.users
    assert 4 not in policy.arms
    if policy.learns_preference and not policy.knows_truth:
        assert np.array_equal(policy.preference(0).weights, policy.preference("stranger").weights)
        assert policy.population or np.array_equal(policy.preference(1).weights, other)
    policy.choose(0, [4, 1])
    policy.learn(0, 4, [0.1, 0.2, 0.3], 0.4)
    assert policy.arms[-1] == 4
    for k in range(50):
        policy.choose(f"user {k}", [f"arm {k}", 1])
        policy.learn(f"user {k}", f"arm {k}", [0.1, 0.2, 0.3], 0.4)
    require_finite(policy.choose("user 7"))


def check_users_move_house(build: BuildPolicy) -> None:
    """A user exported, forgotten and imported again is the same; so is one in another policy with the same arms."""
    policy, world = trained(build)
    before = policy.choose(0).reasons.copy()
    known = policy.export_user(0)
    policy.forget_user(0)
    policy.import_user(0, known)
    assert policy.export_user(0) == known
    other = type(policy).from_state(policy.state(users=False))
    assert other.users == ()
    other.import_user(0, known)
    if not policy.noise_per_arm and not policy.knows_truth:
        assert np.array_equal(policy.choose(0).reasons, before)
        assert np.array_equal(other.choose(0).reasons, before)
    reward, utility = world.outcome(0, 1)
    for owner in (policy, other):
        owner.learn(0, 1, reward, utility)
    assert policy.export_user(0) == other.export_user(0)
    for wrong in (known[:-1], known + b"0"):
        require_refused(DamagedState, partial(policy.import_user, 0, wrong), "a user of the wrong size was taken in")


def check_words_can_be_taken_back(build: BuildPolicy) -> None:
    """Who takes all words back is as one who felt the same and said nothing."""
    world = World.draw(seed=12, rounds=30)
    told, silent = build(n_objectives=3, seed=0), build(n_objectives=3, seed=0)
    for policy in (told, silent):
        policy.add_arms(range(5))
        for t in range(30):
            if policy is told:
                policy.hear(0, world.orders[t])
            policy.learn(0, t % 5, *world.outcome(t, t % 5))
    told.unhear(0)
    if told.learns_preference:
        # How words and feedback are weighed against each other may have been fitted meanwhile, on both sides.
        silent.unhear(0)
        assert np.array_equal(told.preference(0).weights, silent.preference(0).weights), "some words were kept"
    told.unhear("stranger")
    assert "stranger" not in told.users


def check_means_are_those_of_the_rewards(build: BuildPolicy) -> None:
    """What is told of an arm is the mean of its rewards, objective by objective; NaN where there is none."""
    policy = build(n_objectives=3, seed=0)
    policy.add_arms("ab")
    policy.learn(0, "a", [1.0, 0.0, math.nan])
    policy.learn(0, "a", [0.0, 0.5, math.nan])
    assert np.array_equal(policy.reward_means("ab"), [[0.5, 0.25, math.nan], 3 * [math.nan]], equal_nan=True)


def check_sources_add_up(build: BuildPolicy) -> None:
    """Where a policy tells what comes from words and what from behavior, the parts sum to one, none negative."""
    policy, _ = trained(build)
    for user in (0, "stranger"):
        shares = policy.sources(user)
        if shares is not None:
            assert shares.shape == (3, 3)
            assert np.all(shares >= 0.0)
            assert np.allclose(shares.sum(axis=0), 1.0)
    if (shares := policy.sources(0)) is not None:
        assert np.all(shares[1] > 0.0), "thirty rounds of feedback count for nothing"


LEARNING_CHECKS = laws_of(globals())
