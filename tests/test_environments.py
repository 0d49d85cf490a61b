"""Environments draw the truth and tapes that are equal for everyone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from druthers.environments import Reviews, Synthetic
from druthers.errors import InvalidSetting

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def joined(tape, field):
    return np.concatenate([getattr(chunk, field) for chunk in tape.chunks()])


def test_the_same_seed_draws_the_same_tape_and_another_another():
    first, second, other = (Synthetic().tape(seed=seed, horizon=5_000) for seed in (1, 1, 2))
    for field in ("users", "offers", "orders", "lengths", "corrupted", "reward_noise", "preference_noise"):
        assert np.array_equal(joined(first, field), joined(second, field))
    assert np.array_equal(first.means, second.means)
    assert not np.array_equal(first.means, other.means)


def test_a_longer_tape_begins_like_a_shorter_one_up_to_a_chunk():
    short, long = (Synthetic().tape(seed=1, horizon=horizon) for horizon in (4_096, 9_000))
    assert np.array_equal(joined(short, "users"), joined(long, "users")[:4_096])


def test_the_paper_s_synthetic_setting():
    """Sizes, ranges and noise; the means of 20,000 draws are within five standard errors (false alarm 1e-5)."""
    tape = Synthetic().tape(seed=3, horizon=20_000)
    assert tape.means.shape == (40, 20)
    assert tape.preferences.shape == (20, 20)
    assert tape.means.min() >= 0.0
    assert tape.means.max() <= 5.0
    offers = joined(tape, "offers")
    assert offers.shape == (20_000, 10)
    assert all(len(set(offer)) == 10 for offer in offers[:200].tolist())
    counts = np.bincount(offers.ravel(), minlength=40)
    assert np.abs(counts - 5_000).max() < 5 * np.sqrt(20_000 * 0.25 * 0.75)
    for field in ("reward_noise", "preference_noise"):
        noise = joined(tape, field)
        assert noise.var() == pytest.approx(0.5, abs=5 * 0.5 * np.sqrt(2 / noise.size))
    assert np.all(joined(tape, "lengths") == 20)


def test_lengths_silence_and_corruption():
    tape = Synthetic(length="random", query_rate=0.25, corruption=0.4).tape(seed=1, horizon=8_000)
    lengths = joined(tape, "lengths")
    assert (lengths > 0).mean() == pytest.approx(0.25, abs=0.03)
    assert set(np.unique(lengths)) == set(range(21))
    assert joined(tape, "corrupted").mean() == pytest.approx(0.4, abs=0.03)


def test_reversed_queries_name_the_least_wanted_first():
    preferences = [[0.0, 20.0, -20.0], [20.0, -20.0, 0.0]]
    world = Reviews(rewards=np.ones((2, 3)), preferences=preferences, corruption=1.0, permutation="reversed")
    tape = world.tape(seed=1, horizon=50)
    expected = np.array([[2, 0, 1], [1, 2, 0]])[joined(tape, "users")]
    assert np.array_equal(joined(tape, "orders"), expected)


def test_dirichlet_preferences_sum_to_the_scale():
    tape = Synthetic(preference_law="dirichlet", scale=3.0).tape(seed=1, horizon=1)
    assert tape.preferences.sum(axis=1) == pytest.approx(np.full(20, 3.0))


def test_bad_settings_are_refused():
    with pytest.raises(InvalidSetting, match="corruption must lie between 0 and 1, but got 2"):
        Synthetic(corruption=2)
    with pytest.raises(InvalidSetting, match="offered must lie between 1 and 40 arms, but got 41"):
        Synthetic(offered=41).tape(seed=1, horizon=10)
    with pytest.raises(InvalidSetting, match="must agree in D"):
        Reviews(rewards=np.ones((2, 3)), preferences=np.ones((2, 4)))


@pytest.mark.skipif(not SHARED.exists(), reason="the authors' arrays are not here")
def test_the_authors_arrays_load():
    hotels = Reviews(
        rewards=SHARED / "tripadvisor" / "objective_reward_item62.npy",
        preferences=SHARED / "tripadvisor" / "objective_preference_u10.npy",
    ).tape(seed=1, horizon=10)
    beers = Reviews(
        rewards=SHARED / "beeradvocate" / "objective_reward_u14.npy",
        preferences=SHARED / "beeradvocate" / "objective_preference_u14.npy",
    ).tape(seed=1, horizon=10)
    assert (hotels.means.shape, hotels.preferences.shape) == ((62, 6), (10, 6))
    assert (beers.means.shape, beers.preferences.shape) == ((167, 4), (14, 4))
    assert hotels.preferences.min() < 0.0
