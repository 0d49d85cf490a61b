"""The journal of a service, judged: the policy that made it agrees with what came of it."""

from __future__ import annotations

import json
from statistics import NormalDist

import numpy as np
import pytest
from typer.testing import CliRunner

from druthers.advisor import Advisor, events
from druthers.advisor.advisor import POLICY
from druthers.advisor.history import chances_of, to_log
from druthers.catalogs import Catalog, Item
from druthers.cli import app
from druthers.evaluation import evaluate
from druthers.types import Objective

NAMES = ("clean", "quiet", "cheap", "near")


def world(seed):
    """Return chance, what the inns are like, and what the guests want."""
    rng = np.random.default_rng(seed)
    return rng, rng.uniform(0.0, 1.0, (14, 4)), rng.dirichlet(np.ones(4), 8)


def true_value(seed, log, chances):
    """Return what the choices of a policy are worth on average."""
    _, values, weights = world(seed)
    noise = NormalDist(0.0, 0.2).samples(2_000, seed=0)
    worth = np.clip((2.0 * weights @ values.T - 1.0)[..., None] + noise, -1.0, 1.0).mean(axis=-1)
    guests = np.array([int(user[6:]) for user in log.user_ids])[np.repeat(log.users, log.sizes)]
    inns = np.array([int(arm[4:]) for arm in log.arm_ids])[log.offers]
    return float((chances * worth[guests, inns]).sum()) / len(log)


def live(seed, *, visits=300, size=1, policy=POLICY, store="memory:", **settings):
    """Let simulated guests use an advisor: words, corrections, gaps, slates, revised outcomes, items that come."""
    rng, values, weights = world(seed)
    known = rng.random(values.shape) < 0.85
    items = [
        Item(f"inn-{k}", values={name: float(values[k, d]) for d, name in enumerate(NAMES) if known[k, d]})
        for k in range(14)
    ]
    catalog = Catalog(name="inns", objectives=[Objective(name) for name in NAMES], items=items[:12])
    chance = {"exploration": 0.3, "seed": seed, **settings}
    advisor = Advisor(catalog, parser="lexicon", store=store, policy=policy, policy_settings=chance)
    for visit in range(visits):
        guest = int(rng.integers(8))
        user, wish = f"guest-{guest}", [NAMES[k] for k in np.argsort(-weights[guest])[:2]]
        if rng.random() < 0.2:
            advisor.hear(user, wish)
        elif visit > 20 and rng.random() < 0.03 and user in advisor.fold.people:
            advisor.correct(user, wish)
        if visit in (visits // 3, 2 * visits // 3):
            advisor.put_item(items[12 + (visit > visits // 2)])
        made = advisor.recommend(user, size=size)
        for one in made.items:
            worth = 2.0 * float(weights[guest] @ values[int(one.item[4:])]) - 1.0
            told = float(np.clip(worth + 0.2 * rng.normal(), -1.0, 1.0))
            if rng.random() < 0.3:
                advisor.feedback(made.id, item=one.item, utility=0.0)  # revised at once
            advisor.feedback(made.id, item=one.item, utility=told)
    return advisor


def judge(advisor, policy=POLICY, estimators=("dr", "snips"), **settings):
    log, chances = chances_of(advisor.store, policy, settings)
    return log, evaluate(log, chances, estimators=estimators, label=policy)


@pytest.mark.parametrize("size", [1, 3])
def test_the_log_of_a_journal_has_slates_chances_and_the_last_outcomes(size):
    advisor = live(1, visits=40, size=size)
    log = to_log(advisor.store)
    assert len(log) == 40 * size
    assert not np.isnan(log.chances).any()
    np.testing.assert_allclose(log.chances[log.chosen], log.propensities)
    last = {
        (event.about, event.body["item"]): event.body["utility"]
        for event in advisor.store.walk()
        if event.kind == events.FEEDBACK
    }
    assert sorted(log.utilities.tolist()) == sorted(last.values())
    assert log.policy_names == (POLICY,)


@pytest.mark.parametrize("policy", [POLICY, pytest.param("fisher-pqucb", marks=pytest.mark.slow)])
def test_the_policy_that_made_a_journal_is_found_again_exactly(policy):
    """From the first decision to the last, it gives each choice the chance that it had."""
    advisor = live(2, visits=80, size=2, policy=policy)
    log, chances = chances_of(advisor.store, policy, learn=0.0)
    assert len(log) == 160
    np.testing.assert_allclose(chances, log.chances, atol=1e-12)
    assert len(chances_of(advisor.store, policy, learn=0.75)[0]) == 40


@pytest.mark.parametrize("policy", [POLICY, pytest.param("fisher-pqucb", marks=pytest.mark.slow)])
def test_words_dismissals_limits_and_offers_are_judged_as_they_were_served(policy):
    advisor = live(5, visits=40, policy=policy)
    said = [
        "only clean",
        "quiet above all, cheap does not matter",
        "near, at least 0.3 for clean",
        "cheap rather than near",
    ]
    made = []
    for visit in range(24):
        user = f"guest-{visit % 5}"
        if visit % 3 == 0:
            advisor.hear(user, said[visit // 3 % len(said)])
        where = {"quiet": {"min": 0.2}} if visit % 4 == 1 else None
        offer = [f"inn-{k}" for k in range(0, 14, 2)] if visit % 6 == 2 else None
        made.append(advisor.recommend(user, size=3, offer=offer, where=where))
    log, chances = chances_of(advisor.store, policy, learn=40 / 64)
    assert len(log) == sum(len(one.items) for one in made)
    assert log.propensities.tolist() == [place.propensity for one in made for place in one.items]
    assert len(set(log.sizes[::3].tolist())) > 2  # limits and offers leave fewer
    np.testing.assert_allclose(chances, log.chances, atol=1e-12)


def test_the_reason_of_a_decision_is_read_again():
    advisor = live(6, visits=3)
    made = advisor.recommend("ada", text="clean")
    assert made.items[0].why in advisor.message("ada", "why?").text


def test_the_command_judges_a_journal(tmp_path):
    store = f"sqlite:{tmp_path / 'inns.db'}"
    live(7, visits=120, store=store).close()
    words = ["evaluate", store, "--policies", f"{POLICY},random", "--estimator", "dr,snips", "--json"]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    served, random = json.loads(result.stdout)["evaluations"]
    assert (served["policy"], random["policy"]) == (POLICY, "random")
    assert served["learned"] == served["judged"] == 60
    gain = served["estimates"]["utility"]["dr"]["gain"]
    assert gain["low"] <= 0.0 <= gain["high"]
    assert (
        random["estimates"]["utility"]["dr"]["value"]["value"] < served["estimates"]["utility"]["dr"]["value"]["value"]
    )


def test_old_decisions_without_names_are_read():
    advisor = live(3, visits=5)
    (event,) = [event for event in advisor.store.walk() if event.kind == events.DECISION][:1]
    body = {key: value for key, value in event.body.items() if key not in ("figures", "best", "policy", "exploration")}
    body |= {"version": 1, "why": [[f"The {body['items'][0]}", 0.5, 0.4, 0.1, 0.0, 0.25, "because"]]}
    other = event._replace(body=body, about="old", key=events.decision_key("old"))
    advisor.store.append([other])
    log = to_log(advisor.store)
    assert log.propensities[-1] == 0.25
    assert log.policy_names == (POLICY, "served")


def test_random_is_worse_than_the_policy_that_made_the_journal_and_exploring_less_is_better():
    """62 hotels, clicks as utilities, 1,500 decisions once gave the policy that made the log less than `random`."""
    advisor = live(4, visits=400)
    served, random, greedy = (
        judge(advisor, policy, estimators=("dr",), **settings)[1].estimates["utility"]["dr"].value
        for policy, settings in ((POLICY, {}), ("random", {}), (POLICY, {"exploration": 0.0}))
    )
    assert random.value < served.value < greedy.value
    assert random.high < served.low


ROUNDING = 1e-9  # all that may be between a policy and itself


def agreements(seeds, policy=POLICY, **options):
    """Return in how many journals the gain over the log of the policy that made it may be nothing."""
    held = {"dr": 0, "snips": 0}
    for seed in seeds:
        _, found = judge(live(seed, policy=policy, **options), policy)
        for name, estimate in found.estimates["utility"].items():
            held[name] += estimate.gain.low - ROUNDING <= 0.0 <= estimate.gain.high + ROUNDING
    return held


def truths(seeds, others, **options):
    """Return in how many journals the true values of other policies are within their intervals."""
    held = {(label, name): 0 for label in others for name in ("dr", "snips")}
    for seed in seeds:
        advisor = live(seed, **options)
        for label, (policy, settings) in others.items():
            log, chances = chances_of(advisor.store, policy, settings)
            truth = true_value(seed, log, chances)
            found = evaluate(log, chances, estimators=("dr", "snips"))
            for name, estimate in found.estimates["utility"].items():
                held[label, name] += estimate.value.low <= truth <= estimate.value.high
    return held


OTHERS = {"random": ("random", {}), "greedy": (POLICY, {"exploration": 0.0})}


@pytest.mark.parametrize("policy", [POLICY, pytest.param("fisher-pqucb", marks=pytest.mark.slow)])
def test_the_policy_that_made_a_journal_agrees_with_it(policy):
    assert min(agreements(range(100, 106), policy).values()) >= 5


@pytest.mark.slow
def test_the_true_values_of_other_policies_are_within_their_intervals():
    assert min(truths(range(100, 104), OTHERS).values()) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("policy", [POLICY, "fisher-pqucb"])
@pytest.mark.parametrize("size", [1, 3])
def test_in_93_of_100_journals_the_policy_that_made_it_agrees_with_it(policy, size):
    """95 % is stated; a hundred journals of 300 visits each."""
    assert min(agreements(range(100), policy, size=size).values()) >= 93


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3])
def test_in_93_of_100_journals_true_values_are_within_their_intervals(size):
    assert min(truths(range(100), OTHERS, size=size).values()) >= 93
