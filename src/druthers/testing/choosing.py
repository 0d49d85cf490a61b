"""The laws of policies: how they choose, what they keep apart, and what they refuse."""

import copy
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from druthers.errors import (
    DruthersError,
    InvalidFeedback,
    InvalidOffer,
    InvalidRanking,
    NoPreference,
    UnknownArm,
    UnknownUser,
)
from druthers.policies import Policy
from druthers.testing.laws import laws_of, require_refused
from druthers.testing.worlds import BuildPolicy, World, learned, require_finite, same_state, trained


def check_chooses_inside_the_offer(build: BuildPolicy) -> None:
    """Every choice comes from the offer, whatever its size and its ids."""
    policy, _ = trained(build)
    for offer in ([3], [4, 0], ["inn", 7, (1, "b")], [0, 1, 2, 3, 4]):
        decision = policy.choose(0, offer)
        assert decision.arm in offer, f"{decision.arm!r} is not in the offer {offer!r}"
        assert decision.offer == tuple(offer)


def check_works_before_any_feedback(build: BuildPolicy) -> None:
    """A policy that knows nothing chooses, with finite reasons, and for anyone."""
    policy = build(n_objectives=4, seed=0)
    require_finite(policy.choose("stranger", ["a", "b", "c"]))
    policy.hear("ada", (3, 1))
    require_finite(policy.choose("ada"))
    question = policy.ask("ada")
    assert question is None or (question.user == "ada" and 0 <= question.objective < 4), f"it asks {question!r}"


def check_reasons_stay_finite(build: BuildPolicy) -> None:
    """Scores, bonuses and propensities stay finite while it learns."""
    policy, world = trained(build, rounds=200)
    for user in range(len(world.preferences)):
        require_finite(policy.choose(user, size=5))


def check_leaves_inputs_untouched(build: BuildPolicy) -> None:
    """Arrays that are passed in come back unchanged."""
    policy, _ = trained(build)
    ranking, reward, offer = given = np.array([2, 0]), np.array([0.1, math.nan, 0.3]), [0, 3]
    copies = copy.deepcopy(given)
    policy.hear(0, ranking)
    policy.choose(0, offer)
    policy.learn(0, 3, reward, 0.5)
    assert all(map(same_state, given, copies))


def check_choosing_learns_nothing(build: BuildPolicy) -> None:
    """Choosing, asking and looking leave the learned state as it was."""
    policy, _ = trained(build)
    before = learned(policy)
    for user in (0, "stranger"):
        policy.choose(user)
        policy.choose(user, [1, 2], size=2)
        policy.ask(user)
        if policy.learns_preference:
            policy.preference(user)
    assert same_state(before, learned(policy)), "choosing changed the learned state"


def check_same_seed_same_choices(build: BuildPolicy) -> None:
    """Two policies with the same settings and seed choose alike."""
    world = World.draw(seed=3, rounds=80)
    first = world.play(build(n_objectives=3, seed=5))
    assert first == world.play(build(n_objectives=3, seed=5)), "the same seed gave other choices"


def check_restored_continues(build: BuildPolicy) -> None:
    """A policy rebuilt from its state continues bit for bit, chance included."""
    world = World.draw(seed=4, rounds=90)
    policy = build(n_objectives=3, seed=2)
    world.play(policy, stop=45)
    policy.retire_arm(2)
    twin = type(policy).from_state(policy.state())
    assert same_state(policy.state(), twin.state()), "the restored state differs"
    assert world.play(policy, start=45) == world.play(twin, start=45), "the restored policy chose otherwise"
    assert same_state(policy.state(), twin.state()), "the restored policy learned otherwise"


def check_users_are_apart(build: BuildPolicy) -> None:
    """Without a population, what one user says or feels never moves another user's preference."""
    policy, _ = trained(build)
    if not policy.learns_preference or policy.population:
        return
    before = policy.preference(1)
    policy.hear(0, (2, 1, 0))
    policy.learn(0, 3, [0.0, 9.0, 0.0], -7.0)
    if policy.learns_choices:
        policy.learn_choice(0, 3, [1, 3, 4])
    after = policy.preference(1)
    assert np.array_equal(before.weights, after.weights)
    assert np.array_equal(before.covariance, after.covariance)


def check_users_are_exchangeable(build: BuildPolicy) -> None:
    """Which row of memory a user has, and what the user is called, changes nothing for anybody, to rounding."""
    world = World.draw(seed=15, rounds=60)
    policy, twin = build(n_objectives=3, seed=0), build(n_objectives=3, seed=0)
    if policy.noise_per_arm or not policy.learns_preference:
        return
    policy.add_users(range(3))
    twin.add_users([2, 0, 1])
    assert world.play(policy) == world.play(twin), "the order in which users became known changed a choice"
    for user in range(3):
        ours, theirs = policy.preference(user), twin.preference(user)
        assert np.allclose(ours.weights, theirs.weights, rtol=1e-6, atol=1e-8)
        assert np.allclose(ours.covariance, theirs.covariance, rtol=1e-6, atol=1e-8)


def check_objectives_are_alike(build: BuildPolicy) -> None:
    """Renaming the objectives renames the preference and changes no choice.

    Without answers: questions that promise equally much are settled by the order of objectives. Without picks: their
    sites are as exact as some hundred points make them (see `check_order_of_choices_hardly_matters`).
    """
    permutation = np.array([2, 0, 1])
    world = World.draw(seed=6, rounds=60)
    renamed = world._replace(
        means=world.means[:, permutation],
        preferences=world.preferences[:, permutation],
        orders=np.argsort(permutation)[world.orders],
        reward_noise=world.reward_noise[:, permutation],
        preference_noise=world.preference_noise[:, permutation],
    )
    policy, twin = build(n_objectives=3, seed=0), build(n_objectives=3, seed=0)
    if policy.noise_per_arm:
        return
    quiet = {"answers": False, "picks": False}
    assert world.play(policy, **quiet) == renamed.play(twin, **quiet), "renaming the objectives changed a choice"
    if policy.learns_preference:
        expected = policy.preference(0).weights[permutation]
        assert np.allclose(twin.preference(0).weights, expected, rtol=1e-6, atol=1e-8)


def check_arms_are_alike(build: BuildPolicy) -> None:
    """Renaming the arms renames the choices; only equal scores are settled by the order of the offer."""
    world, names = World.draw(seed=1, rounds=60), ["e", "d", "c", "b", "a"]
    policy, twin = (build(n_objectives=3, seed=1, exploration=0.0) for _ in range(2))
    if policy.noise_per_arm:
        return
    for t, user in enumerate(world.users.tolist()):
        for each, arms in ((policy, list(range(5))), (twin, names)):
            each.hear(user, world.orders[t])
            each.choose(user, arms)
            each.learn(user, arms[t % 5], *world.outcome(t, t % 5))
    decision = policy.choose(0, range(5), size=5)
    renamed = twin.choose(0, ["c", "a", "b", "e", "d"], size=5)
    if len(set(decision.reasons[3].tolist())) == 5:
        assert [names[int(str(arm))] for arm in decision.arms] == list(renamed.arms)


def check_deaf_policies_do_not_hear(build: BuildPolicy) -> None:
    """A policy that says it does not hear is not moved by rankings."""
    policy, _ = trained(build)
    if policy.hears:
        before = learned(policy)
        policy.hear(0, (2, 1, 0))
        assert not same_state(before, learned(policy)), "a policy that hears was not moved by a ranking"
        return
    before = policy.state()
    policy.hear(0, (2, 1, 0))
    policy.hear("new", (1,))
    assert same_state(before, policy.state()), "a policy that does not hear was moved by a ranking"


def check_arms_are_made_on_first_sight(build: BuildPolicy) -> None:
    """Offered, added or told of, an arm never seen becomes known; one that has retired comes back only if offered."""
    offered, told = (build(n_objectives=3, seed=0) for _ in range(2))
    offered.add_arms(["inn"])
    for policy in (offered, told):
        policy.learn("ada", "inn", [0.1, 0.2, 0.3], 0.5)
        assert policy.arms == ("inn",)
    assert same_state(offered.state(), told.state()), "an arm that was added first is known otherwise"
    told.retire_arm("inn")
    twin = type(told).from_state(told.state())
    feedback = partial(twin.learn, "ada", "inn", [0.1, 0.2, 0.3], 0.5)
    require_refused(UnknownArm, feedback, "late feedback brought an arm back that had retired")
    assert twin.arms == ()
    twin.choose("ada", ["inn"])
    feedback()


def check_refuses_bad_input(build: BuildPolicy) -> None:
    """Bad input raises the named error and changes nothing."""
    policy, _ = trained(build)
    policy.add_arms(["retired"])
    policy.retire_arm("retired")
    before = policy.state()
    for error, call in _bad_calls(policy):
        require_refused(error, call, f"a bad call passed where {error.__name__} was due")
        assert same_state(before, policy.state()), f"a call refused with {error.__name__} changed the state"


def _bad_calls(policy: Policy) -> Iterator[tuple[type[DruthersError], Callable[[], Any]]]:
    bad: Any
    for bad in ((0, 0), (3,), (-1,), (0.5, 1.0), ((0, 1), (1, 2)), ("a",), (0, 1, 2, 0)):
        yield InvalidRanking, partial(policy.hear, 0, bad)
    gaps = [math.nan] * 3
    for bad in ([0.1, 0.2], [[0.1, 0.2, 0.3]], [0.1, math.inf, 0.2], [0.1, 1e308, 0.2], gaps, "abc", 1.0):
        yield InvalidFeedback, partial(policy.learn, 0, 1, bad, 0.5)
    for bad in (math.nan, math.inf, -1e308, "good", [1.0, 2.0]):
        yield InvalidFeedback, partial(policy.learn, 0, 1, [0.1, 0.2, 0.3], bad)
    yield InvalidFeedback, lambda: policy.learn("new", 1)
    yield InvalidFeedback, lambda: policy.learn(0, "nowhere", [0.1, 0.2], 0.5)
    yield UnknownArm, lambda: policy.learn(0, "retired", [0.1, 0.2, 0.3], 0.5)
    yield UnknownArm, lambda: policy.retire_arm("nowhere")
    yield UnknownUser, lambda: policy.forget_user("nobody")
    unhashable = [[1], [2]]
    for bad in ([], [1, 1], unhashable):
        yield InvalidOffer, partial(policy.choose, 0, bad)
    for size in (0, 3, -1):
        yield InvalidOffer, partial(policy.choose, 0, [1, 2], size=size)
    if not policy.learns_preference:
        yield NoPreference, lambda: policy.preference(0)
    if not policy.learns_choices:
        yield InvalidFeedback, lambda: policy.learn_choice(0, 1, [1, 2])
        return
    for bad in ((1, [2, 3]), (1, [1]), (1, []), (None, []), (1, [1, 2, 2]), (1, unhashable)):
        yield InvalidOffer, partial(policy.learn_choice, "new", *bad)
    yield UnknownArm, lambda: policy.learn_choice(0, 1, [1, "retired", "new arm"])


def check_memory_is_bounded(build: BuildPolicy) -> None:
    """The state does not grow with the number of rounds."""
    world = World.draw(seed=8, rounds=700)
    policy = build(n_objectives=3, seed=0)
    sizes = []
    for start, stop in ((0, 30), (30, None)):
        world.play(policy, start=start, stop=stop)
        sizes.append({key: value.shape for key, value in policy.state().items() if isinstance(value, np.ndarray)})
    assert sizes[0] == sizes[1], "the state grew with the rounds"


def check_params_rebuild(build: BuildPolicy) -> None:
    """A policy's params are its constructor's arguments and rebuild it; its repr shows them."""
    policy = build(n_objectives=3, seed=7)
    twin = type(policy)(**policy.params)
    assert repr(twin) == repr(policy)
    assert same_state(twin.state(), policy.state())


def check_beats_chance(build: BuildPolicy) -> None:
    """A policy that learns preferences has at most two thirds of the regret of random choices in an easy world."""
    policy = build(n_objectives=3, seed=0)
    if not policy.learns_preference or policy.knows_truth:
        return
    world = World.draw(seed=9, rounds=600, noise=0.1)
    regret = world.regret(world.play(policy))
    chance = world.regret(np.random.default_rng(0).integers(len(world.means), size=600).tolist())
    assert regret <= 2.0 / 3.0 * chance, f"regret {regret:.1f} against {chance:.1f} by chance"


CHOOSING_CHECKS = laws_of(globals())
