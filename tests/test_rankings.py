"""Rankings: the Plackett-Luce law, its exact sampling, corruption as in section 6.1, and what is refused."""

from __future__ import annotations

import itertools
import re

import naive
import numpy as np
import pytest
from scipy.stats import chi2

from druthers.errors import DruthersError, InvalidRanking, InvalidSetting
from druthers.rankings import as_orders, as_ranking, gradient, hessian, log_likelihood
from druthers.sampling import sample_rankings

# Each chi-square test alarms falsely with this chance on a fresh seed; the seeds are fixed.
FALSE_ALARM = 1e-5


def check_law(rankings, wanted):
    """Hold the frequencies of rankings against their probabilities by a chi-square test at level `FALSE_ALARM`."""
    counts = dict.fromkeys(wanted, 0)
    for ranking in rankings:
        counts[tuple(ranking.tolist())] += 1
    total = sum(counts.values())
    expected = np.array([total * chance for chance in wanted.values()])
    assert expected.min() >= 5.0
    statistic = np.sum((np.array(list(counts.values())) - expected) ** 2 / expected)
    assert statistic < chi2.isf(FALSE_ALARM, len(wanted) - 1)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("n_objectives", [1, 2, 3, 4, 5])
def test_equation_2_probabilities_of_all_rankings_sum_to_one(n_objectives):
    preference = rng(n_objectives).normal(0.0, 2.0, n_objectives)
    for length in range(n_objectives + 1):
        wanted = naive.probabilities(preference, length)
        told = {ranking: np.exp(log_likelihood(ranking, preference)) for ranking in wanted}
        assert sum(told.values()) == pytest.approx(1.0, abs=1e-12)
        assert told == pytest.approx(wanted, rel=1e-11)


def test_equation_2_a_longer_ranking_is_one_of_the_shorter():
    """The chances of all ways to go on add up to the chance of the beginning."""
    preference = rng(1).normal(size=5)
    for start in itertools.permutations(range(5), 2):
        longer = [(*start, third) for third in range(5) if third not in start]
        total = sum(np.exp(log_likelihood(ranking, preference)) for ranking in longer)
        assert total == pytest.approx(np.exp(log_likelihood(start, preference)), rel=1e-12)


def test_equation_2_knows_no_shift():
    preference = rng(2).normal(size=6)
    ranking = (4, 0, 5)
    for shift in (-100.0, 3.0, 1e4):
        assert log_likelihood(ranking, preference + shift) == pytest.approx(log_likelihood(ranking, preference))
        np.testing.assert_allclose(gradient(ranking, preference + shift), gradient(ranking, preference), atol=1e-10)
    assert gradient(ranking, preference).sum() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(hessian(ranking, preference) @ np.ones(6), 0.0, atol=1e-12)
    assert np.linalg.eigvalsh(hessian(ranking, preference)).max() < 1e-12


def test_nothing_said_has_probability_one():
    assert log_likelihood((), [1.0, 2.0]) == 0.0
    assert gradient((), [1.0, 2.0]).tolist() == [0.0, 0.0]
    assert hessian((), [1.0, 2.0]).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(("length", "seed"), [(1, 0), (2, 1), (3, 2), (4, 3)])
def test_samples_follow_equation_2(length, seed):
    preference = np.array([0.8, -0.4, 0.0, -1.0])
    sample = sample_rankings(preference, length=length, rounds=20_000, rng=rng(seed))
    check_law(sample.rankings(), naive.probabilities(preference, length))
    assert not sample.corrupted.any()


def test_samples_with_one_preference_per_round_follow_equation_2():
    preferences = np.array([[1.0, 0.0, -1.0], [-2.0, 0.5, 0.0]])
    which = np.arange(20_000) % 2
    rankings = sample_rankings(preferences[which], rng=rng(4)).rankings()
    for user in (0, 1):
        mine = [ranking for ranking, who in zip(rankings, which, strict=True) if who == user]
        check_law(mine, naive.probabilities(preferences[user], 3))


@pytest.mark.parametrize("corruption", [0.0, 0.2, 0.5, 1.0])
def test_share_of_corrupted_rounds(corruption):
    """The count of 100,000 rounds is within 4.9 standard deviations: a false alarm in 1e-6 of fresh seeds."""
    corrupted = sample_rankings([1.0, 0.0], rounds=100_000, rng=rng(5), corruption=corruption).corrupted
    deviation = np.sqrt(100_000 * corruption * (1.0 - corruption))
    assert abs(corrupted.sum() - 100_000 * corruption) <= 4.9 * deviation


@pytest.mark.parametrize("length", [2, 4])
def test_a_fresh_permutation_gives_uniform_rankings(length):
    preference = np.array([3.0, 1.0, 0.0, -2.0])
    sample = sample_rankings(preference, length=length, rounds=40_000, rng=rng(6), corruption=0.5)
    corrupted = [ranking for ranking, lie in zip(sample.rankings(), sample.corrupted, strict=True) if lie]
    check_law(corrupted, naive.probabilities(np.zeros(4), length))


def test_clean_rounds_keep_their_law_and_their_draws():
    """Corruption touches only the corrupted rounds: the others are, draw for draw, those of the clean sample."""
    preference = np.array([0.5, -0.5, 0.0, 1.0])
    clean = sample_rankings(preference, rounds=10_000, rng=rng(7))
    for permutation in ("fresh", [3, 2, 1, 0], lambda row, past: [1, 0, 2, 3]):
        sample = sample_rankings(preference, rounds=10_000, rng=rng(7), corruption=0.5, permutation=permutation)
        honest = ~sample.corrupted
        np.testing.assert_array_equal(sample.orders[honest], clean.orders[honest])
        check_law(list(sample.orders[honest]), naive.probabilities(preference, 4))


@pytest.mark.parametrize("permutation", [[3, 2, 1, 0], [1, 2, 3, 0], [0, 1, 2, 3]])
def test_a_fixed_permutation_gives_the_permuted_law(permutation):
    """Objective d gets the weight of objective p[d]."""
    preference = np.array([1.0, 0.3, -0.2, -0.9])
    sample = sample_rankings(preference, rounds=40_000, rng=rng(8), corruption=0.6, permutation=permutation)
    check_law(list(sample.orders[sample.corrupted]), naive.probabilities(preference[permutation], 4))


def test_a_table_of_permutations_has_one_for_each_round():
    preference = np.array([300.0, 200.0, 100.0, 0.0])  # so far apart that chance plays no part
    table = rng(14).random((50, 4)).argsort(axis=1)
    sample = sample_rankings(preference, rounds=50, rng=rng(15), corruption=0.5, permutation=table)
    for order, corrupted, permutation in zip(sample.orders, sample.corrupted, table, strict=True):
        weights = preference[permutation] if corrupted else preference
        assert order.tolist() == np.argsort(-weights).tolist()
    with pytest.raises(InvalidSetting, match="a permutation must list each of the objectives 0 to 3 once"):
        sample_rankings(preference, rounds=50, rng=rng(15), permutation=np.where(table == 3, 2, table))
    with pytest.raises(InvalidSetting, match="a permutation must list each of the objectives 0 to 3 once"):
        sample_rankings(preference, rounds=49, rng=rng(15), permutation=table)


def test_an_adaptive_adversary_sees_the_past_and_is_obeyed():
    preference = np.array([300.0, 200.0, 100.0, 0.0])  # so far apart that chance plays no part
    lengths = np.arange(60) % 5
    seen = {}

    def adversary(row, past):
        seen[row] = [ranking.tolist() for ranking in past]
        first = past[-1][0] if past and len(past[-1]) else 0
        return np.roll(np.arange(4), int(first) + 1)

    sample = sample_rankings(preference, length=lengths, rounds=60, rng=rng(9), corruption=0.5, permutation=adversary)
    rankings = [ranking.tolist() for ranking in sample.rankings()]
    assert list(seen) == np.flatnonzero(sample.corrupted).tolist()
    assert 15 < len(seen) < 45
    for row, past in seen.items():
        assert past == rankings[:row]
    for row, ranking in enumerate(rankings):
        weights = preference
        if row in seen:
            before = rankings[row - 1] if row else []
            weights = preference[np.roll(np.arange(4), (before[0] if before else 0) + 1)]
        assert ranking == np.argsort(-weights)[: lengths[row]].tolist()


def test_lengths_per_round():
    lengths = [0, 3, 1, 2, 3]
    sample = sample_rankings([0.1, 0.2, 0.3], length=lengths, rounds=5, rng=rng(10))
    assert [len(ranking) for ranking in sample.rankings()] == sample.lengths.tolist() == lengths
    for order, ranking in zip(sample.orders, sample.rankings(), strict=True):
        assert sorted(order.tolist()) == [0, 1, 2]
        assert ranking.tolist() == order[: len(ranking)].tolist()
    np.testing.assert_array_equal(sample_rankings([0.1, 0.2, 0.3], rounds=5, rng=rng(10)).orders, sample.orders)
    assert sample_rankings([0.1, 0.2], rng=rng(0)).orders.shape == (1, 2)
    assert sample_rankings([0.1, 0.2], rounds=0, rng=rng(0)).rankings() == []
    assert sample_rankings(np.empty((0, 3)), length=2, rng=rng(0)).orders.shape == (0, 3)


def test_the_same_seed_gives_the_same_sample():
    def draw(seed):
        return sample_rankings(np.zeros(6), length=4, rounds=50, rng=rng(seed), corruption=0.3)

    for first, second in zip(draw(3), draw(3), strict=True):
        np.testing.assert_array_equal(first, second)
    assert not np.array_equal(draw(3).orders, draw(4).orders)


def test_a_hundred_thousand_rounds_at_once():
    preferences = rng(11).normal(size=(100_000, 10))
    before = preferences.copy()
    sample = sample_rankings(preferences, length=rng(12).integers(0, 11, 100_000), rng=rng(13), corruption=0.2)
    assert sample.orders.shape == (100_000, 10)
    np.testing.assert_array_equal(np.sort(sample.orders, axis=1), np.broadcast_to(np.arange(10), (100_000, 10)))
    np.testing.assert_array_equal(preferences, before)


@pytest.mark.parametrize(
    "ranking", [(2, 0), [2, 0], np.array([2, 0]), np.array([2, 0], dtype=np.uint8), np.array([2, 9, 0])[::2], range(3)]
)
def test_a_lawful_ranking_comes_back_as_it_is(ranking):
    checked = as_ranking(ranking, 3)
    assert checked.tolist() == list(ranking)
    assert checked.dtype == np.int64
    assert checked.flags.c_contiguous


def test_an_empty_ranking_says_nothing():
    for nothing in ((), [], np.empty(0), np.empty(0, dtype=np.int64)):
        assert as_ranking(nothing, 3).shape == (0,)
        assert as_ranking(nothing, 3).dtype == np.int64


FLAT = "a ranking must be a flat list of objective indices, but got "
WHOLE = "a ranking must hold whole numbers, but got "
NAMES = "a ranking must name objectives 0 to 2, but got "
REPEAT = "a ranking must not repeat an objective, but got "


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        ((2, 0, 2), REPEAT + "(2, 0, 2)"),
        (np.array([1, 1]), REPEAT + "(1, 1)"),
        ([0, 1, 2, 0], REPEAT + "(0, 1, 2, 0)"),
        ((3,), NAMES + "(3,)"),
        ((0, -1), NAMES + "(0, -1)"),
        ((5, 5), NAMES + "(5, 5)"),
        (np.array([2**63], dtype=np.uint64), NAMES + "(9223372036854775808,)"),
        (tuple(range(25)), NAMES + "(" + ", ".join(map(str, range(20))) + ", ...)"),
        ((0.5, 1.0), WHOLE + "(0.5, 1.0)"),
        ((1.0, 0.0), WHOLE + "(1.0, 0.0)"),
        ((True, False), WHOLE + "(True, False)"),
        (("price", "noise"), WHOLE + "('price', 'noise')"),
        ((0, None), WHOLE + "(0, None)"),
        ([[0, 1], [1, 2]], FLAT + "[[0, 1], [1, 2]]"),
        ([[0], [1, 2]], FLAT + "[[0], [1, 2]]"),
        ("012", FLAT + "'012'"),
        (1, FLAT + "1"),
        (None, FLAT + "None"),
        ({0}, FLAT + "{0}"),
    ],
)
def test_an_unlawful_ranking_is_refused_with_law_and_fact(ranking, message):
    with pytest.raises(InvalidRanking) as problem:
        as_ranking(ranking, 3)
    assert str(problem.value) == message
    assert isinstance(problem.value, ValueError)
    assert isinstance(problem.value, DruthersError)
    with pytest.raises(InvalidRanking):
        log_likelihood(ranking, [0.0, 0.0, 0.0])


def test_many_rankings_are_checked_and_completed():
    orders, lengths = as_orders([(2, 0), (), [1], np.array([2, 1, 0])], 3)
    assert orders.tolist() == [[2, 0, 1], [0, 1, 2], [1, 0, 2], [2, 1, 0]]
    assert lengths.tolist() == [2, 0, 1, 3]
    with pytest.raises(InvalidRanking, match=re.escape(REPEAT + "(1, 1)")):
        as_orders([(0, 1), (1, 1)], 3)
    orders, lengths = as_orders([], 3)
    assert (orders.shape, lengths.shape) == ((0, 3), (0,))


@pytest.mark.parametrize("preference", [[0.0, np.nan, 1.0], [0.0, np.inf, 1.0], [[0.0, 1.0, 2.0]]])
def test_a_preference_must_be_flat_and_finite(preference):
    for function in (log_likelihood, gradient, hessian):
        with pytest.raises(InvalidSetting) as problem:
            function((0,), preference)
        assert str(problem.value) == f"a preference must be a flat list of finite numbers, but got {preference!r}"


def refused(**settings):
    """Return what is said about these settings of `sample_rankings`, each in place of a lawful one."""
    lawful = {"preferences": [0.0, 1.0, 2.0], "rounds": 4, "rng": rng(0)}
    with pytest.raises(InvalidSetting) as problem:
        sample_rankings(**(lawful | settings))
    return str(problem.value)


def test_sampling_refuses_with_law_and_fact():
    for length in (4, -1, [1, 2, 3, 4]):
        assert refused(length=length) == f"a length must lie between 0 and 3, but got {length!r}"
    for corruption in (-0.1, 1.1, np.nan):
        assert refused(corruption=corruption) == f"corruption must lie between 0 and 1, but got {corruption!r}"
    law = "corruption must be one number for all rounds or one each, but got "
    assert refused(corruption=[0.5, 0.5]) == law + "[0.5, 0.5]"
    law = "a permutation must list each of the objectives 0 to 2 once, but got "
    for permutation in ([0, 0, 1], [0, 1], [1, 2, 3], [0.5, 1.0, 2.0], [[0, 1, 2]]):
        assert refused(permutation=permutation) == law + repr(permutation)
    assert refused(permutation=lambda row, past: [2, 2, 2], corruption=1.0) == law + "[2, 2, 2]"
    law = 'permutation must be "fresh", an array or a callable, but got '
    assert refused(permutation="reversed") == law + "'reversed'"


@pytest.mark.parametrize("preferences", [[0.0, np.nan], [[[0.0, 1.0]]], 3.0])
def test_sampling_refuses_preferences_with_law_and_fact(preferences):
    message = refused(preferences=preferences)
    assert message.startswith("preferences must be finite and of shape (D,) or (rounds, D)")
    assert repr(preferences) in message


@pytest.mark.parametrize("length", [1.5, [1, 2], np.nan, "all"])
def test_sampling_never_makes_up_a_length(length):
    """A length that is no whole number, or does not fit the rounds, is refused and not rounded."""
    assert repr(length) in refused(length=length)
