"""Slates of which the best item counts: never worse than the best by score, and with chances that are what they say."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2

from druthers.advisor import Advisor
from druthers.advisor.history import chances_of, to_log
from druthers.catalogs import Catalog, Item
from druthers.errors import InvalidOffer, NothingFits
from druthers.policies import POLICIES, StatedUCB, make_policy
from druthers.policies.choosing import Places
from druthers.policies.slates import Floor, Slate, by_score, points, tastes
from druthers.stores import open_store
from druthers.types import Objective


def world(n_arms=40, n_objectives=4, seed=0, policy="stated-ucb", **settings):
    """Return a policy that knows what its arms are like."""
    draw = np.random.default_rng(seed)
    made = make_policy(policy, n_objectives=n_objectives, **settings)
    rewards = draw.dirichlet(np.ones(n_objectives), n_arms) ** 0.5
    made.add_arms(range(n_arms))
    for arm, reward in enumerate(rewards):
        made.learn("shop", arm, reward)
    return made, rewards


def worth(policy, rewards, slate):
    """Return what the best of a slate is worth under what is believed of a stranger, by many draws of our own."""
    believed = policy.preference("stranger")
    drawn = tastes(believed.weights, believed.covariance)
    return float((drawn @ rewards[list(slate)].T).max(axis=1).mean())


@pytest.mark.parametrize("seed", range(12))
def test_a_slate_is_never_worth_less_than_the_best_by_score(seed):
    policy, rewards = world(seed=seed, n_objectives=2 + seed % 5)
    for size in (2, 3, 5):
        top, slate = policy.choose("stranger", size=size), policy.choose_slate("stranger", size=size)
        assert len(set(slate.arms)) == size
        assert slate.arms[0] == top.arms[0]
        assert worth(policy, rewards, slate.arms) >= worth(policy, rewards, top.arms) - 1e-3
        assert slate.propensities == (1.0,) * size


def test_an_offer_may_tell_places():
    policy, _ = world()
    policy.retire_arm(3)
    policy.add_arms(["new", 3])
    places = np.array([38, 3, 7, 40, 39])
    ids = [policy.arms[place] for place in places]
    assert "new" in ids
    told, named = (policy.choose_slate("eve", offer, size=3, shift={7: 0.2}) for offer in (Places(places), ids))
    assert told._replace(reasons=0) == named._replace(reasons=0)
    assert np.array_equal(told.reasons, named.reasons)
    with pytest.raises(InvalidOffer, match="1 to 5"):
        policy.choose_slate("eve", Places(places), size=6)
    for wrong in ([0, 0], [-1], [99]):
        with pytest.raises(InvalidOffer, match="each once"):
            policy.choose_slate("eve", Places(np.array(wrong)), size=1)


def test_single_arms_are_shifted_and_no_others():
    policy, _ = world()
    plain, moved = (
        policy.choose("eve", [5, 1, 9]),
        policy.choose("eve", [5, 1, 9], shift={9: 0.25, 30: 1.0, "gone": 2.0}),
    )
    more = np.zeros((4, 3))
    more[[0, 3], 2] = 0.25
    assert np.array_equal(moved.reasons, plain.reasons + more)


def test_unsure_tastes_get_different_kinds_and_sure_ones_the_best():
    policy = StatedUCB(n_objectives=3)
    kinds = {"cheap": [0.95, 0.3, 0.3], "quiet": [0.3, 0.9, 0.3], "clean": [0.3, 0.3, 0.88]}
    for kind, reward in kinds.items():
        for k in range(4):
            policy.learn("shop", f"{kind} {k}", np.array(reward) - 0.005 * k)
    slate = policy.choose_slate("stranger", size=3)
    assert {str(arm).split()[0] for arm in slate.arms} == set(kinds)
    policy.hear_weights("sure", [0.98, 0.01, 0.01], [1e-6] * 3)
    assert policy.choose_slate("sure", size=3).arms == policy.choose("sure", size=3).arms
    again = StatedUCB.from_state(policy.state())
    assert again.choose_slate("stranger", size=3).arms == slate.arms


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_makes_slates(name):
    if name == "oracle":
        return
    policy, _ = world(n_arms=9, policy=name, exploration=0.2)
    before = policy.state()
    decision = policy.choose_slate("stranger", range(9), size=4)
    assert len(set(decision.arms)) == 4
    assert policy.choose_slate("stranger", [3], size=1).arms == (3,)
    for array in ("arm.means", "arm.pulls"):
        assert np.array_equal(before[array], policy.state()[array])


def test_chances_of_all_slates_sum_to_one():
    policy, _ = world(n_arms=5, exploration=0.3)
    floors = [Floor([0, 4], 0.2), Floor([2], 0.1)]
    total = 0.0
    for slate in itertools.permutations(range(5), 3):
        chance = 1.0
        for k in range(3):
            chances = policy.slate_chances("ada", range(5), slate[:k], floors=floors)
            assert chances.sum() == pytest.approx(1.0)
            chance *= chances[slate[k]]
        total += chance
    assert total == pytest.approx(1.0)


def all_chances(policy, n_arms, size, floors):
    """Return the chance of every slate, by the chances of its places."""
    expected = {}
    for slate in itertools.permutations(range(n_arms), size):
        chance = 1.0
        for k in range(size):
            chance *= policy.slate_chances("ada", range(n_arms), slate[:k], size, floors=floors)[slate[k]]
        expected[slate] = chance
    return expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exploration", "floors"),
    [
        (0.0, [Floor([0, 4], 0.15), Floor([5], 0.05)]),
        (0.25, []),
        (0.25, [Floor([0, 4], 0.15), Floor([5], 0.05), Floor([0, 1, 2], 0.3)]),
        (0.1, [Floor([0], 0.5), Floor([1], 0.5)]),
    ],
)
def test_slates_are_drawn_with_the_chances_they_say(exploration, floors):
    policy, _ = world(n_arms=6, exploration=exploration, seed=3)
    expected = all_chances(policy, 6, 3, floors)
    draws, seen, told = 100_000, Counter(), {}
    for _ in range(draws):
        decision = policy.choose_slate("ada", range(6), 3, floors=floors)
        seen[decision.places] += 1
        told[decision.places] = float(np.prod(decision.propensities))
    assert {slate for slate, chance in expected.items() if chance > 0} >= set(seen)
    for slate, chance in told.items():
        assert chance == pytest.approx(expected[slate])
    likely = [slate for slate, chance in expected.items() if chance * draws >= 5]
    rest = draws - sum(seen[slate] for slate in likely), 1.0 - sum(expected[slate] for slate in likely)
    cells = [(seen[slate], expected[slate] * draws) for slate in likely]
    if rest[1] * draws >= 5:
        cells.append((rest[0], rest[1] * draws))
    statistic = sum((count - mean) ** 2 / mean for count, mean in cells)
    assert chi2.sf(statistic, max(len(cells) - 1, 1)) > 1e-3
    for floor in floors:
        shown = sum(count for slate, count in seen.items() if set(slate) & set(floor.arms)) / draws
        assert shown > floor.share - 4 * np.sqrt(floor.share / draws)


def test_shares_must_be_shares():
    policy, _ = world(n_arms=5)
    with pytest.raises(InvalidOffer, match=r"sum to at most 1, but got \[0.7, 0.7\]"):
        policy.choose_slate("ada", floors=[Floor([1], 0.7), Floor([2], 0.7)])
    noisy, _ = world(n_arms=5, policy="pareto-ts")
    with pytest.raises(InvalidOffer, match="need a policy whose choice is certain"):
        noisy.choose_slate("ada", floors=[Floor([1], 0.1)])


def test_the_best_by_score_are_found_without_sorting_all():
    draw = np.random.default_rng(0)
    for n in (1, 5, 50):
        scores = draw.integers(0, 6, n).astype(float)
        for number in (1, 3, 60):
            assert by_score(scores, number).tolist() == (-scores).argsort(kind="stable")[:number].tolist()


@pytest.mark.plain
@pytest.mark.parametrize("n_features", [0, pytest.param(4, marks=pytest.mark.slow)])
def test_slates_go_by_what_the_score_believes_of_arms(n_features):
    draw = np.random.default_rng(5)
    features, law = draw.standard_normal((300, 4)), draw.standard_normal((4, 3))
    rewards = np.clip(0.5 + 0.1 * features @ law, 0.0, 1.0)
    policy = make_policy("fisher-pqucb", n_objectives=3)
    policy.add_arms(range(300), features=features[:, :n_features] if n_features else None)
    for arm in range(280):
        policy.learn("shop", arm, rewards[arm] + 0.01 * draw.standard_normal(3))
    for ranking in ((0, 1, 2), (0, 2, 1)):
        policy.hear("ada", ranking)
    weights, rows = policy.preference("ada").weights, policy._rows_of(range(300))
    assert policy._is_fitted()
    assert np.allclose(policy._slopes(weights, rows) @ weights, policy.utilities("ada", range(300)), atol=1e-6)
    assert len(set(policy.choose_slate("ada", size=3).arms)) == 3


def test_points_are_normal():
    for size in (1, 3, 8):
        spread = points(size)
        assert np.abs(spread.mean(axis=0)).max() < 1e-9
        assert np.allclose(spread.T @ spread / len(spread), np.eye(size))
        assert np.abs(np.sort(spread, axis=0)[[3, 31, 60]] - [[-1.6], [0.0], [1.6]]).max() < 0.35


def test_a_slate_that_cannot_differ_is_by_score():
    scores = np.array([3.0, 2.0, 1.0, 0.0])
    slate = Slate(scores, [0, 1, 2, 3], None, 3)
    assert slate.draw([1.0] * 9) == ((0, 1, 2), (1.0, 1.0, 1.0), (0, 1, 2))


INNS = Catalog(
    "inns",
    [Objective("clean", low=0, high=5), Objective("quiet", low=0, high=5), Objective("price", low=0, high=300)],
    [
        Item(f"i{k}", values={"clean": k % 5, "quiet": (3 * k) % 5, "price": 20.0 * k}, details={"town": "AB"[k % 2]})
        for k in range(12)
    ],
)


def test_the_advisor_leaves_out_what_was_shown():
    advisor = Advisor(INNS, parser="lexicon")
    seen = []
    for _ in range(4):
        made = advisor.recommend("ada", size=3, repeats=False)
        seen += [one.item for one in made.items]
    assert len(set(seen)) == 12
    with pytest.raises(NothingFits, match="must be new to the user, but all that fit were shown"):
        advisor.recommend("ada", size=3, repeats=False)
    assert len(advisor.recommend("ada", size=3).items) == 3
    advisor.hear("ada", ["quiet"])
    assert len(advisor.recommend("ada", size=3, repeats=False).items) == 3


def test_what_a_journal_says_of_slates_is_what_was_drawn():
    store = open_store("memory:")
    advisor = Advisor(INNS, store=store, parser="lexicon", policy_settings={"exploration": 0.3, "seed": 1})
    for k in range(30):
        user = f"u{k % 4}"
        made = advisor.recommend(user, size=3, repeats=k % 3 > 0, text=["quiet"] if k % 7 == 0 else None)
        advisor.feedback(made.id, utility=0.1 * (k % 9))
    log = to_log(store)
    assert np.isclose(np.add.reduceat(log.chances, log.offer_starts[:-1]), 1.0).all()
    judged, chances = chances_of(store, "stated-ucb", learn=0.0)
    assert np.allclose(chances, judged.chances)
    assert np.allclose(chances[judged.chosen], judged.propensities)


def test_floors_by_limits_and_by_items():
    advisor = Advisor(INNS, parser="lexicon", policy_settings={"seed": 2})
    floors = [{"share": 0.4, "where": {"town": "B", "price": {"max": 60}}}, {"share": 0.3, "items": ["i6"]}]
    shown = Counter()
    for k in range(200):
        made = advisor.recommend(f"v{k}", size=2, floors=floors)
        shown.update(one.item for one in made.items)
        assert made.items[1].propensity < 1.0
    assert 50 < shown["i1"] + shown["i3"] < 110
    assert 35 < shown["i6"] < 90
    first = advisor.recommend("eve", size=2, floors=floors, id="d1")
    assert advisor.recommend("eve", size=2, floors=floors, id="d1").items[1].item == first.items[1].item
    for wrong in (
        {"share": 2, "items": ["i6"]},
        {"share": 0.1},
        {"share": 0.1, "items": ["i6"], "where": {"town": "A"}},
    ):
        with pytest.raises(InvalidOffer, match="a floor must have"):
            advisor.recommend("eve", floors=[wrong])
