"""What people have in common: learned from rows, bounded, exchangeable, gone with the person, never costly."""

from __future__ import annotations

import numpy as np
import pytest

from druthers.beliefs import Crowd, first_law, learn_law
from druthers.beliefs.population import MEAN_WORTH, SPREAD_WORTH, STEPS, STILL
from druthers.errors import InvalidFeedback, InvalidOffer, UnknownUser


def rows(seed, n_people, size, known=4.0, mean=0.0, scale=1.0):
    """Return what is known of people with weights N(mean, scale^2)."""
    rng = np.random.default_rng(seed)
    weights = mean + scale * rng.normal(size=(n_people, size))
    roots = rng.normal(size=(n_people, size, size))
    informations = known * (roots @ roots.transpose(0, 2, 1)) / size
    noise = np.einsum("nij,nj->ni", roots, rng.normal(size=(n_people, size))) * np.sqrt(known / size)
    return informations, np.einsum("nij,nj->ni", informations, weights) + noise


def naive_law(informations, pulls, steps=STEPS, still=STILL):
    """Return mean and covariance by the formulas of the model, with NumPy alone."""
    size = pulls.shape[1]
    first = first_law(size).covariance
    mean, covariance = np.zeros(size), first.copy()
    for _ in range(steps):
        precision, before, spread = np.linalg.inv(covariance), mean, covariance.diagonal()
        spreads = np.linalg.inv(informations + precision)
        told = np.einsum("nij,nj->ni", spreads, pulls + precision @ mean)
        off = told - mean
        lengths = np.sqrt(np.einsum("ni,ij,nj->n", off, precision, off))
        told = mean + off * np.minimum(1.0, 2.0 * np.sqrt(size) / lengths)[:, None]
        mean = told.sum(axis=0) / (len(told) + MEAN_WORTH)
        off = told - mean
        total = SPREAD_WORTH * first + MEAN_WORTH * np.outer(mean, mean) + spreads.sum(axis=0) + off.T @ off
        covariance = total / (len(told) + SPREAD_WORTH)
        moved = np.sqrt((mean - before) @ precision @ (mean - before))
        if moved < still and np.all(np.abs(covariance.diagonal() - spread) < still * spread):
            break
    precision = np.linalg.inv(covariance)
    certain = np.linalg.inv(covariance + np.linalg.pinv(informations)).sum(axis=0) + np.linalg.inv(first)
    return mean, covariance, covariance + np.linalg.inv(certain)


@pytest.mark.parametrize("seed", range(5))
def test_the_law_is_that_of_the_formulas(seed):
    informations, pulls = rows(seed, 20, 1 + seed, mean=0.5)
    law = learn_law(informations, pulls)
    mean, covariance, newcomer = naive_law(informations, pulls)
    np.testing.assert_allclose(law.mean, mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(law.covariance, covariance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(law.newcomer, newcomer, rtol=1e-6, atol=1e-9)


def test_the_law_is_found_although_each_person_tells_little():
    """It takes many steps, and is then where all steps lead, but for a fiftieth of a deviation."""
    informations, pulls = rows(7, 300, 4, known=0.3, mean=1.5, scale=0.8)
    law = learn_law(informations, pulls)
    mean, covariance, _ = naive_law(informations, pulls, steps=2_000, still=0.0)
    off = law.mean - mean
    assert np.sqrt(off @ np.linalg.solve(covariance, off)) < 0.02
    np.testing.assert_allclose(law.covariance.diagonal(), covariance.diagonal(), rtol=0.05)


def test_the_law_finds_what_people_are_like():
    informations, pulls = rows(1, 400, 3, known=20.0, mean=np.array([1.0, 0.0, -2.0]), scale=np.array([0.2, 1.0, 0.5]))
    law = learn_law(informations, pulls)
    np.testing.assert_allclose(law.mean, [1.0, 0.0, -2.0], atol=0.15)
    np.testing.assert_allclose(np.sqrt(law.covariance.diagonal()), [0.2, 1.0, 0.5], atol=0.15)
    assert np.all(law.newcomer.diagonal() > law.covariance.diagonal())


def test_people_are_exchangeable():
    informations, pulls = rows(2, 30, 4)
    order = np.random.default_rng(0).permutation(30)
    one, other = learn_law(informations, pulls), learn_law(informations[order], pulls[order])
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.newcomer, other.newcomer, rtol=1e-9, atol=1e-12)


def test_nobody_moves_the_law_by_more_than_the_bound():
    """One of fifty who is a million away, and quite certain of it: no further than at the farthest that counts."""
    informations, pulls = rows(3, 49, 4, known=50.0)
    before = learn_law(informations, pulls)
    extreme = np.concatenate([informations, 1e6 * np.eye(4)[None]]), np.vstack([pulls, 1e12 * np.ones(4)])
    after = learn_law(*extreme)
    moved = after.mean - before.mean
    deviations = np.sqrt(moved @ np.linalg.solve(after.covariance, moved))
    assert deviations < 2.0 * 2.0 * np.sqrt(4) / 50  # twice the bound of one step: the other steps follow it
    assert np.linalg.eigvalsh(after.covariance).max() < 2.0 * np.linalg.eigvalsh(before.covariance).max()


def choosers(seed, n_people, n_choices, mean, scale, size=4, n_offered=4):
    rng = np.random.default_rng(seed)
    weights = mean + scale * rng.normal(size=(n_people, size))
    offers = rng.normal(size=(n_people, n_choices, n_offered, size))
    offers -= offers.mean(axis=2, keepdims=True)
    worth = np.einsum("ntkd,nd->ntk", offers, weights)
    return offers, (worth + rng.gumbel(size=worth.shape)).argmax(axis=2)


def lived(crowd, offers, picked, first=0):
    """Let people come one by one; return the log-loss of each of their choices."""
    loss = np.empty(picked.shape)
    for person, (slates, chosen) in enumerate(zip(offers, picked, strict=True)):
        for t, (slate, choice) in enumerate(zip(slates, chosen.tolist(), strict=True)):
            loss[person, t] = -np.log(crowd.predict(first + person, slate)[choice])
            crowd.learn_choice(first + person, choice, slate)
    return loss


def test_a_stranger_is_met_with_what_people_like():
    offers, picked = choosers(0, 40, 6, np.array([1.5, -1.0, 0.5, 0.0]), 0.5)
    together = lived(Crowd(n_objectives=4), offers, picked)
    apart = lived(Crowd(n_objectives=4, population=False), offers, picked)
    assert together[10:, 0].mean() < 0.8 * apart[10:, 0].mean()
    assert together[10:].mean() < 0.9 * apart[10:].mean()


def test_where_people_have_nothing_in_common_it_costs_little():
    """Two opposite groups in blocks, the worst order; the guard's bound holds for each single person too."""
    offers, picked = choosers(1, 12, 8, np.array([2.0, -2.0, 0.0, 0.0]), 0.2)
    others, theirs = choosers(2, 12, 8, np.array([-2.0, 2.0, 0.0, 0.0]), 0.2)
    offers, picked = np.concatenate([offers, others]), np.concatenate([picked, theirs])
    together = lived(Crowd(n_objectives=4), offers, picked)
    apart = lived(Crowd(n_objectives=4, population=False), offers, picked)
    assert together.mean() < 1.05 * apart.mean()
    assert (together.sum(axis=1) - apart.sum(axis=1)).max() < np.log(27.0)  # 24 people and the first weight of 3:1


def test_without_a_population_people_are_apart_and_with_one_exchangeable():
    offers, picked = choosers(3, 6, 5, 1.0, 1.0)
    alone = Crowd(n_objectives=4, population=False)
    lived(alone, offers[:1], picked[:1])
    before = alone.preference(0)
    lived(alone, offers[1:], picked[1:], first=1)
    np.testing.assert_array_equal(alone.preference(0).weights, before.weights)
    np.testing.assert_array_equal(alone.preference(0).covariance, before.covariance)
    together = Crowd(n_objectives=4)
    lived(together, offers, picked)
    assert not np.allclose(together.preference(0).weights, before.weights)


def test_who_is_forgotten_leaves_the_population():
    offers, picked = choosers(4, 5, 4, 1.0, 0.3)
    crowd = Crowd(n_objectives=4)
    lived(crowd, offers, picked)
    for person in range(5):
        crowd.forget(person)
    np.testing.assert_array_equal(crowd.law.mean, np.zeros(4))
    np.testing.assert_array_equal(crowd.preference(0).covariance, first_law(4).covariance)
    with pytest.raises(UnknownUser, match="known to be forgotten"):
        crowd.forget(0)


def test_intervals_hold_the_truth_under_a_learned_law():
    rng = np.random.default_rng(5)
    crowd, inside = Crowd(n_objectives=4), []
    for person in range(60):
        truth = np.array([1.0, -0.5, 0.0, 0.5]) + 0.7 * rng.normal(size=4)
        for _ in range(6):
            slate = rng.normal(size=(4, 4))
            crowd.learn_choice(person, int((slate @ truth + rng.gumbel(size=4)).argmax()), slate)
        believed = crowd.preference(person)
        if person >= 8:
            inside.append(np.abs(believed.weights - truth) < 1.645 * np.sqrt(believed.covariance.diagonal()))
    assert 0.84 < np.mean(inside) < 0.96


def test_what_is_refused_changes_nothing():
    crowd = Crowd(n_objectives=2)
    with pytest.raises(InvalidOffer, match="2 numbers for each option"):
        crowd.learn_choice("ada", 0, [[1.0, 2.0, 3.0]])
    with pytest.raises(InvalidOffer, match="finite"):
        crowd.predict("ada", [[np.nan, 2.0]])
    for picked in (2, -1):
        with pytest.raises(InvalidFeedback, match="place in the offer of 2"):
            crowd.learn_choice("ada", picked, [[1.0, 2.0], [0.0, 1.0]])
    assert crowd.people == ()
    crowd.learn_choice("ada", None, [[1.0, 2.0], [0.5, 1.0]])
    assert np.all(crowd.preference("ada").weights < 0.0)
