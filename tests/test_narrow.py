"""Choices of people who are known well: expansions equal their slow twins, and nearly numerical integration."""

from __future__ import annotations

import numpy as np
import pytest
from test_beliefs import integrated, problem

from druthers.beliefs.choices import condition
from druthers.beliefs.narrow import (
    DEVIATIONS,
    FORESEEN,
    doubt_about,
    expansion_site,
    glance_site,
    is_certain,
    look_ahead,
)

SEEDS = range(12)


def narrowed(seed, size, n_offered, doubt):
    """Return a problem whose belief is as narrow as this doubt says, nearly."""
    mean, covariance, offer, picked = problem(seed, size, n_offered)
    for _ in range(60):
        covariance *= 0.9 if doubt_about(look_ahead(offer, mean, covariance), picked) > doubt else 1.0
    return mean, covariance, offer, picked


def chances_of(utilities):
    chances = np.exp(utilities - utilities.max())
    return chances / chances.sum()


def expanded(mean, covariance, offer, picked):
    """Return information and pull by the same expansions, from whole matrices; the slow twin."""
    before, known = chances_of(offer @ mean), np.linalg.inv(covariance)

    def spread_around(chances, around):
        rows = offer - chances @ offer
        spread = rows @ around @ rows.T
        return spread, chances * (1.0 + 0.5 * (np.diag(spread) - chances @ np.diag(spread)))

    gradient = offer[picked] - spread_around(before, covariance)[1] @ offer
    curvature = offer.T @ (np.diag(before) - np.outer(before, before)) @ offer
    moved = mean + np.linalg.solve(known + curvature, gradient)
    after = chances_of(offer @ moved)
    curvature = offer.T @ (np.diag(after) - np.outer(after, after)) @ offer
    spread, averages = spread_around(after, np.linalg.inv(known + curvature))
    curve = -np.outer(averages, averages) - np.outer(after, after) * spread
    np.fill_diagonal(curve, 0.0)
    curve -= np.diag(curve.sum(axis=1))
    information = offer.T @ curve @ offer
    return information, (known + information) @ moved - known @ mean


@pytest.mark.plain
@pytest.mark.parametrize("seed", SEEDS)
def test_an_outlook_is_that_of_whole_matrices(seed):
    mean, covariance, offer, picked = problem(seed, 1 + seed % 5, 2 + seed % 7)
    outlook = look_ahead(offer, mean, covariance)
    chances = chances_of(offer @ mean)
    rows = offer - chances @ offer
    spread = rows @ covariance @ rows.T
    np.testing.assert_allclose(outlook.utilities, offer @ mean, atol=1e-12)
    np.testing.assert_allclose(outlook.chances, chances, atol=1e-12)
    np.testing.assert_allclose(outlook.rows, rows, atol=1e-12)
    np.testing.assert_allclose(outlook.along, rows @ covariance, atol=1e-12)
    np.testing.assert_allclose(outlook.spreads, np.diag(spread), atol=1e-12)
    unsure = np.diag(spread) * np.exp(0.5 * np.diag(spread))
    assert doubt_about(outlook, picked) == pytest.approx(chances @ unsure + unsure[picked])


@pytest.mark.plain
def test_what_is_certain_leads_all_others_by_deviations():
    found = set()
    for seed in range(200):
        mean, covariance, offer, _ = problem(seed, 3, 4)
        mean, covariance = 12.0 * mean, 0.3 * covariance
        picked = int((offer @ mean).argmax()) if seed % 4 else seed % 3
        leads = np.delete(offer[picked] - offer, picked, axis=0)
        deviations = np.sqrt(np.diag(leads @ covariance @ leads.T))
        wanted = bool(np.all(leads @ mean - DEVIATIONS * deviations > FORESEEN + np.log(4)))
        assert is_certain(look_ahead(offer, mean, covariance), picked) == wanted
        found.add(wanted)
    assert found == {True, False}


def glanced(mean, covariance, offer, picked):
    """Return information and pull as at a glance, from whole matrices; the slow twin."""
    before = chances_of(offer @ mean)
    spreads = np.diag((offer - before @ offer) @ covariance @ (offer - before @ offer).T)
    gradient = (np.arange(len(offer)) == picked) - before * (1.0 + 0.5 * (spreads - before @ spreads))
    moved = offer @ covariance @ offer.T @ gradient
    after = chances_of(offer @ mean + moved)
    after = after * (1.0 + 0.5 * (spreads - after @ spreads))
    curve, first = (np.diag(chances) - np.outer(chances, chances) for chances in (after, before))
    return offer.T @ curve @ offer, offer.T @ (gradient - first @ moved + curve @ (offer @ mean + moved))


@pytest.mark.plain
@pytest.mark.parametrize("seed", SEEDS)
def test_glances_are_those_of_whole_matrices(seed):
    size = 1 + seed % 5
    mean, covariance, offer, picked = narrowed(seed, size, 2 + seed % 7, 0.05)
    site = np.ones((size, size + 1))  # it is added to
    glance_site(look_ahead(offer, mean, covariance), picked, site)
    information, pull = glanced(mean, covariance, offer, picked)
    np.testing.assert_allclose(site[:, :size] - 1.0, information, atol=1e-9)
    np.testing.assert_allclose(site[:, size] - 1.0, pull, atol=1e-9)


@pytest.mark.plain
@pytest.mark.parametrize("doubt", [0.05, 0.5])
@pytest.mark.parametrize("seed", SEEDS)
def test_expansions_are_those_of_whole_matrices(seed, doubt):
    size = 1 + seed % 5
    mean, covariance, offer, picked = narrowed(seed, size, 2 + seed % 7, doubt)
    site = np.ones((size, size + 1))
    assert expansion_site(look_ahead(offer, mean, covariance), picked, site)
    information, pull = expanded(mean, covariance, offer, picked)
    np.testing.assert_allclose(site[:, :size] - 1.0, information, atol=1e-9)
    np.testing.assert_allclose(site[:, size] - 1.0, pull, atol=1e-9)
    assert np.linalg.eigvalsh(information).min() > -1e-12


@pytest.mark.plain
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("size", "n_offered"), [(1, 3), (2, 3), (2, 6), (3, 4)])
def test_moments_of_a_narrow_belief_are_nearly_those_of_the_integral(seed, size, n_offered):
    """By expansions below a doubt of 0.5, at a glance below 0.05."""
    for doubt, mean_off, spread_off in ((0.5, 0.04, 0.05), (0.05, 0.01, 0.01)):
        mean, covariance, offer, picked = narrowed(seed, size, n_offered, doubt)
        _, after, spread = integrated(mean, covariance, offer, picked)
        site = np.zeros((size, size + 1))
        outlook = look_ahead(offer, mean, covariance)
        if doubt > 0.05:
            assert expansion_site(outlook, picked, site)
        else:
            glance_site(outlook, picked, site)
        known = np.linalg.inv(covariance)
        found, found_spread = np.empty(size), np.empty((size, size))
        assert condition(known + site[:, :size], known @ mean + site[:, size], found, found_spread)
        root = np.linalg.inv(np.linalg.cholesky(spread))
        assert np.linalg.norm(root @ (found - after)) < mean_off
        assert np.abs(np.linalg.eigvalsh(root @ found_spread @ root.T) - 1.0).max() < spread_off


@pytest.mark.plain
@pytest.mark.parametrize(("mean", "covariance"), [(np.nan, 0.01), (0.0, np.nan), (0.0, -10.0)])
def test_what_cannot_be_expanded_adds_nothing(mean, covariance):
    offer, site = np.eye(3), np.ones((3, 4))
    assert not expansion_site(look_ahead(offer, np.full(3, mean), covariance * np.eye(3)), 1, site)
    np.testing.assert_array_equal(site, 1.0)


@pytest.mark.plain
def test_an_unlikely_option_that_may_well_be_liked_is_in_doubt():
    """At the mean its chance is e^-12; it is above the other one in 2 of 100 people like this."""
    offer, covariance = np.array([[1.0, 0.0], [0.0, 1.0]]), 18.0 * np.eye(2)
    assert doubt_about(look_ahead(offer, np.array([12.0, 0.0]), covariance), 0) > 1.0
    assert doubt_about(look_ahead(offer, np.array([12.0, 0.0]), 0.02 * covariance), 0) < 0.05
