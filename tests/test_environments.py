"""Environments draw the truth and tapes that are equal for everyone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from druthers.environments import Reviews, Synthetic
from druthers.environments.base import deal, distinct
from druthers.errors import InvalidSetting, UnknownName

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


def test_several_users_of_a_round_are_different_and_all_equally_likely():
    tape = Synthetic(users_per_round=3).tape(seed=1, horizon=4_000)
    users = joined(tape, "users").reshape(4_000, 3)
    assert all(len(set(row)) == 3 for row in users.tolist())
    assert np.abs(np.bincount(users.ravel(), minlength=20) - 600).max() < 5 * np.sqrt(4_000 * 0.15 * 0.85)
    assert joined(tape, "orders").shape == (12_000, 20)


@pytest.mark.parametrize(("offered", "size"), [(None, 15), (5, 5)])
def test_a_round_offers_the_arms_of_one_city(offered, size):
    """62 hotels in four cities: 16, 16, 15 and 15; all are offered about equally often."""
    world = Reviews(data="hotels", cities=4, offered=offered)
    offers = joined(world.tape(seed=1, horizon=8_000), "offers")
    assert offers.shape == (8_000, size)
    assert all(len(set(offer)) == size for offer in offers[:200].tolist())
    cities = offers % 4
    assert np.all(cities == cities[:, :1])
    assert np.abs(np.bincount(cities[:, 0]) - 2_000).max() < 5 * np.sqrt(8_000 * 0.25 * 0.75)
    counts = np.bincount(offers.ravel(), minlength=62)
    expected = 2_000 * size / np.where(np.arange(62) % 4 < 2, 16, 15)
    assert np.abs(counts - expected).max() < 6 * np.sqrt(2_000)
    with pytest.raises(InvalidSetting, match="offered must lie between 1 and 15 arms of a city, but got 16"):
        Reviews(data="hotels", cities=4, offered=16).tape(seed=1, horizon=1)
    with pytest.raises(InvalidSetting, match="cities must lie between 1 and 40 arms, but got 41"):
        Synthetic(cities=41).tape(seed=1, horizon=1)


@pytest.mark.parametrize(("n", "size"), [(5, 1), (5, 2), (40, 10), (5, 5), (1_000, 7)])
def test_distinct_numbers_are_uniform_in_every_place(n, size):
    drawn = distinct(np.random.default_rng(4), 20_000, n, size)
    assert drawn.shape == (20_000, size)
    assert all(len(set(row)) == size for row in drawn[:500].tolist())
    for place in (0, size - 1):
        counts = np.bincount(drawn[:, place], minlength=n)
        assert len(counts) == n
        assert np.abs(counts - 20_000 / n).max() < 6 * np.sqrt(20_000 / n)


@pytest.mark.parametrize(("n", "size"), [(1, 1), (6, 2), (6, 6), (300, 10)])
def test_hands_are_dealt_as_from_a_shuffled_list(n, size):
    chances, drawn = np.random.default_rng(n).random((50, size)), np.empty((50, size), dtype=np.int64)
    chances[0], chances[1] = 0.0, np.nextafter(1.0, 0.0)
    deal(chances, np.arange(n), drawn)
    cards = list(range(n))
    for row, hand in enumerate(drawn.tolist()):
        for k in range(size):
            other = k + int(chances[row, k] * (n - k))
            cards[k], cards[other] = cards[other], cards[k]
        assert hand == cards[:size]


@pytest.mark.parametrize("permutation", ["fresh", "fixed", "reversed", "adaptive"])
def test_corruption_changes_nothing_but_the_corrupted_rankings(permutation):
    clean = Synthetic().tape(seed=3, horizon=5_000)
    tape = Synthetic(corruption=0.4, permutation=permutation).tape(seed=3, horizon=5_000)
    honest = ~joined(tape, "corrupted")
    for field in ("users", "offers", "lengths", "reward_noise", "preference_noise"):
        assert np.array_equal(joined(tape, field), joined(clean, field)), field
    assert np.array_equal(joined(tape, "orders")[honest], joined(clean, "orders")[honest])


def test_a_fixed_permutation_is_one_for_a_run_and_another_for_the_next():
    world = Reviews(rewards=np.ones((2, 3)), preferences=[[0.0, 30.0, -30.0]], corruption=1.0, permutation="fixed")
    seen = {
        tuple(np.unique(joined(world.tape(seed=seed, horizon=5_000), "orders"), axis=0).ravel()) for seed in range(9)
    }
    assert all(len(orders) == 3 for orders in seen)
    assert len(seen) > 2


def test_an_adaptive_adversary_turns_around_what_was_said():
    world = Reviews(rewards=np.ones((2, 3)), preferences=[[30.0, 0.0, -30.0]], corruption=0.3, permutation="adaptive")
    tape = world.tape(seed=1, horizon=300)
    orders, corrupted = joined(tape, "orders"), joined(tape, "corrupted")
    assert np.all(orders[~corrupted] == [0, 1, 2])
    assert np.mean(np.all(orders[corrupted][3:] == [2, 1, 0], axis=1)) > 0.9


def test_a_tape_takes_rankings_from_elsewhere():
    tape = Synthetic(n_objectives=3, users_per_round=2).tape(seed=1, horizon=3_000)
    said = [[2, 0], [], [1]] * 2_000
    other = tape.with_rankings(said)
    orders, lengths = joined(other, "orders"), joined(other, "lengths")
    assert [order[:length].tolist() for order, length in zip(orders, lengths, strict=True)] == said
    assert np.array_equal(joined(other, "reward_noise"), joined(tape, "reward_noise"))
    with pytest.raises(InvalidSetting, match="needs 6000 rankings, one for each interaction, but got 1"):
        tape.with_rankings([[0]])


def test_dirichlet_preferences_sum_to_the_scale():
    tape = Synthetic(preference_law="dirichlet", scale=3.0).tape(seed=1, horizon=1)
    assert tape.preferences.sum(axis=1) == pytest.approx(np.full(20, 3.0))


def test_bad_settings_are_refused():
    with pytest.raises(InvalidSetting, match="corruption must lie between 0 and 1, but got 2"):
        Synthetic(corruption=2)
    with pytest.raises(InvalidSetting, match="offered must lie between 1 and 40 arms, but got 41"):
        Synthetic(offered=41).tape(seed=1, horizon=10)
    with pytest.raises(UnknownName, match=r"did you mean .reversed."):
        Synthetic(permutation="reverse")
    with pytest.raises(InvalidSetting, match="users_per_round must lie between 1 and 20"):
        Synthetic(users_per_round=21).tape(seed=1, horizon=1)
    with pytest.raises(InvalidSetting, match="length must lie between 1 and 20"):
        Synthetic(length=0).tape(seed=1, horizon=1)
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


def test_liars_are_the_same_in_every_chunk_and_the_others_say_what_they_would():
    honest = Synthetic(n_users=10).tape(seed=3, horizon=6_000)
    tape = Synthetic(n_users=10, liars=0.3, permutation="reversed").tape(seed=3, horizon=6_000)
    assert tape.liars.sum() == 3
    assert not honest.liars.any()
    for chunk, clean in zip(tape.chunks(), honest.chunks(), strict=True):
        lies = tape.liars[chunk.users]
        np.testing.assert_array_equal(chunk.corrupted, lies)
        np.testing.assert_array_equal(chunk.orders[~lies], clean.orders[~lies])
        np.testing.assert_array_equal(chunk.reward_noise, clean.reward_noise)
        assert (chunk.orders[lies] != clean.orders[lies]).any(axis=1).mean() > 0.99
    with pytest.raises(InvalidSetting, match="liars must lie between 0 and 1"):
        Synthetic(liars=1.5)
