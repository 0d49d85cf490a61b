"""Utilities of items with unknown values: never thrown away, and weighed by what the unknown part could contribute."""

from __future__ import annotations

import math

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_kernels import examined

from druthers import POLICIES, make_policy
from druthers.advisor import Advisor
from druthers.catalogs import Catalog
from druthers.policies.arms import Arms, fill_unknown

LEARNERS = [name for name, family in POLICIES.items() if family.learns_preference and name != "oracle"]


@examined
@given(st.lists(st.tuples(*[st.one_of(st.just(math.nan), st.floats(-50.0, 50.0))] * 3), min_size=1, max_size=7))
def test_what_stands_in_equals_its_twin(table):
    """Means over the arms that have a value, over everything where none has; the variance with one more deviation."""
    known = np.array(table)
    arms = Arms(pulls=np.where(np.isnan(known), 0.0, 2.0), means=np.nan_to_num(known))
    filled = np.where(np.isnan(known[0]), 7.0, known[0])
    wanted, spoilt = filled.copy(), 0.0
    for k in np.flatnonzero(np.isnan(known[0])):
        values = known[~np.isnan(known[:, k]), k]
        values = values if len(values) else known[~np.isnan(known)]
        wanted[k] = values.mean() if len(values) else 0.0
        spoilt += (np.var(values) + wanted[k] ** 2 / len(values)) if len(values) else 0.0
    assert fill_unknown(arms, 0, filled) == pytest.approx(11.0 * spoilt, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(filled, wanted, rtol=1e-9, atol=1e-9)


def inns(best: dict[str, float]) -> Catalog:
    """Three inns, the first best in all that is known of it."""
    return Catalog.from_content(
        {
            "name": "inns",
            "objectives": [{"name": name} for name in ("cheap", "clean", "quiet")],
            "items": [
                {"id": "best", "name": "Best", "values": best},
                {"id": "fair", "name": "Fair", "values": {"cheap": 0.6, "clean": 0.5, "quiet": 0.5}},
                {"id": "poor", "name": "Poor", "values": {"cheap": 0.5, "clean": 0.6, "quiet": 0.4}},
            ],
        },
        source="a test",
    )


def shown(best: dict[str, float]) -> list[str]:
    """Return what is recommended to somebody who hates the best."""
    advisor = Advisor(inns(best), parser="lexicon")
    seen = []
    for _ in range(12):
        recommended = advisor.recommend("ada")
        seen.append(recommended.items[0].item)
        advisor.feedback(recommended.id, utility=-1.0)
    return seen


def test_an_item_with_a_gap_that_is_hated_does_not_come_twelve_times():
    whole, gapped = shown({"cheap": 0.9, "clean": 0.9, "quiet": 0.5}), shown({"cheap": 0.9, "clean": 0.9})
    assert whole[0] == gapped[0] == "best"
    assert len(set(gapped)) > 1
    assert gapped.count("best") <= whole.count("best") + 2


@pytest.mark.parametrize("name", LEARNERS)
def test_a_catalog_full_of_gaps_still_teaches(name):
    """81 % of the items lack something; who rates them is understood better than before anything was rated."""
    rng = np.random.default_rng(4)
    size, n_items = 6, 100
    values = rng.uniform(0.0, 1.0, (n_items, size))
    unknown = np.zeros((n_items, size), dtype=bool)
    for item in range(81):
        unknown[item, rng.choice(size, 1 + item % 2)] = True
    policy = make_policy(name, n_objectives=size, seed=0)
    policy.add_arms(range(n_items))
    for item in range(n_items):
        policy.learn("catalog", item, np.where(unknown[item], math.nan, values[item]))
    gapped = np.flatnonzero(unknown.any(axis=1))
    gains = []
    for user in range(8):
        preference = rng.normal(1.0, 1.0, size)
        before = policy.preference(user).weights
        for item in rng.choice(gapped, 60):
            policy.learn(user, int(item), utility=float(preference @ values[item] + 0.1 * rng.normal()))
        after = policy.preference(user).weights
        gains.append(np.linalg.norm(after - preference) / np.linalg.norm(before - preference))
    assert np.mean(gains) < 0.75


def test_weights_from_before_anything_is_known_cost_little():
    """Against the true weights, for which c and the noise must be known, the error is at most 5 % larger."""
    rng = np.random.default_rng(2)
    size, n, noise = 6, 60, 0.15
    errors = np.zeros(3)
    for _ in range(300):
        items = np.clip(rng.normal(0.6, 0.22, (60, size)), 0.0, 1.0)
        unknown = rng.random(items.shape) < 0.3
        preference = rng.dirichlet(np.ones(size))
        means, variances = (np.array([of(items[~unknown[:, k], k]) for k in range(size)]) for of in (np.mean, np.var))
        rated = rng.integers(60, size=n)
        rewards = np.where(unknown[rated], means, items[rated])
        utilities = items[rated] @ preference + noise * rng.normal(size=n)
        squares, variance = np.sum(rewards**2, axis=1), unknown[rated] * variances
        whole = ~unknown[rated].any(axis=1)
        for which, spoilt, kept in (
            (0, 11.0 * variance.sum(axis=1), np.ones(n, dtype=bool)),
            (1, variance @ preference**2 * squares / noise**2, np.ones(n, dtype=bool)),
            (2, np.zeros(n), whole),
        ):
            scale = 1.0 / np.sqrt(squares + spoilt)
            x, y = (scale[:, None] * rewards)[kept], (scale * utilities)[kept]
            nothing = np.zeros((size, size))
            guess, _ = naive.fisher_belief(x, y, np.zeros(size), nothing, unit=1.0 / size, ridge=0.5, pull=0.5)
            errors[which] += np.linalg.norm(guess - preference)
    assert errors[0] < 1.05 * errors[1]
    assert errors[0] < 0.85 * errors[2], "dropping such utilities, as if they told nothing, costs more"
