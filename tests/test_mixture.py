"""The gated mixture anchor: exact against a slow twin, near-oracle under corruption, honest, and harmless without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import minimize

from druthers._eigen import eigen
from druthers.anchors.base import fit_anchor, hear_anchor
from druthers.anchors.contamination import make_lawful
from druthers.anchors.mixture import Mixture, MixtureRows
from druthers.errors import InvalidSetting
from druthers.rankings import gradient, hessian
from druthers.sampling import RankingSample, sample_rankings

D = 20


def draw(
    seed: int, rounds: int, corruption: float, kind: str = "fresh", size: int = D, length: Any = None, high: float = 5.0
) -> tuple[np.ndarray, RankingSample]:
    """Return a centered preference U[0, high] and rankings of it; "reversed" corrupts by the full reversal."""
    rng = np.random.default_rng(seed)
    preference = rng.uniform(0, high, size)
    permutation: Any = "fresh"
    if kind == "reversed":
        rising = np.argsort(preference)
        permutation = np.empty(size, dtype=np.int64)
        permutation[rising] = rising[::-1]
    sample = sample_rankings(
        preference, length=length, rounds=rounds, rng=rng, corruption=corruption, permutation=permutation
    )
    return preference - preference.mean(), sample


def fitted(sample: RankingSample, keep: Any = slice(None), **settings: Any) -> MixtureRows:
    """Return the row of one user fitted to a sample (or a part of it)."""
    rows = Mixture(**settings).rows(1, sample.orders.shape[1])
    fit_anchor(rows, 0, sample.orders[keep].astype(np.int16), sample.lengths[keep])
    return rows


def heard(sample: RankingSample, **settings: Any) -> MixtureRows:
    """Return the row of one user who heard a sample one by one."""
    rows = Mixture(**settings).rows(1, sample.orders.shape[1])
    for ranking in sample.rankings():
        hear_anchor(rows, 0, np.ascontiguousarray(ranking))
    return rows


def error(rows: MixtureRows, preference: np.ndarray) -> float:
    return float(np.sqrt(np.mean((rows.estimate[0] - preference) ** 2)))


def dishonesty(rows: MixtureRows, preference: np.ndarray) -> float:
    off = rows.estimate[0] - preference
    return float(off @ rows.information[0] @ off / (len(preference) - 1))


def log_posterior(sample: RankingSample, preference: np.ndarray, corruption: float, anchor: Mixture) -> float:
    """The objective, from the definitions, without constants."""
    size = len(preference)
    ranked = np.arange(size) < sample.lengths[:, None]
    weights = preference[sample.orders]
    left = np.logaddexp.accumulate(weights[:, ::-1], axis=1)[:, ::-1]
    honest = np.sum(np.where(ranked, weights - left, 0.0), axis=1)
    uniform = -np.sum(np.where(ranked, np.log(size - np.arange(size)), 0.0), axis=1)
    total = np.sum(np.log((1.0 - corruption) * np.exp(honest) + corruption * np.exp(uniform)))
    total += (anchor.prior - 1.0) * np.log1p(-corruption) - 0.5 * anchor.ridge * preference @ preference
    return float(total)


def naive_fit(sample: RankingSample, anchor: Mixture) -> tuple[np.ndarray, float, float, float]:
    """Return estimate, corruption, its log-posterior and the best one without corruption, by many general searches."""
    size = anchor.n_objectives
    assert size is not None

    def cost(free: np.ndarray) -> float:
        return -log_posterior(sample, free[:size] - free[:size].mean(), 1.0 / (1.0 + np.exp(-free[size])), anchor)

    plain = minimize(
        lambda c: -log_posterior(sample, c - c.mean(), 0.0, anchor), np.zeros(size), options={"gtol": 1e-8}
    )
    starts = [np.append(scale * plain.x, odds) for scale in (1.0, 2.0, 3.0) for odds in (-3.0, -0.4)]
    best = min((minimize(cost, start, options={"gtol": 1e-8}) for start in starts), key=lambda found: found.fun)
    estimate = best.x[:size] - best.x[:size].mean()
    return estimate, 1.0 / (1.0 + np.exp(-best.x[size])), -best.fun, -plain.fun


@pytest.mark.parametrize(("seed", "length"), [(1, 5), (2, 5), (3, None)])
def test_fit_is_the_optimum_of_the_slow_twin(seed: int, length: int | None) -> None:
    """Objective and estimate agree with general optimization of the same objective from several starts."""
    size = 5 if length is None else 6
    lengths = np.random.default_rng(seed).integers(2, 6, 60) if length is None else length
    _, sample = draw(seed, 60, 0.35, size=size, length=lengths, high=6.0)
    anchor = Mixture(n_objectives=size).fit(sample.rankings())
    estimate, corruption, value, plain = naive_fit(sample, anchor)
    assert 2.0 * (value - plain) > anchor.gate
    assert log_posterior(sample, anchor.estimate, anchor.corruption, anchor) == pytest.approx(value, abs=1e-7)
    assert anchor.corruption == pytest.approx(corruption, abs=1e-4)
    np.testing.assert_allclose(anchor.estimate, estimate, atol=1e-3)


def test_information_is_minus_the_hessian_of_the_profile_likelihood() -> None:
    """Louis' information with the corruption profiled out equals finite differences of the log-posterior."""
    _, sample = draw(5, 80, 0.3, size=4, length=3, high=6.0)
    anchor = Mixture(n_objectives=4).fit(sample.rankings())
    assert anchor.corruption > 0.0
    at = np.append(anchor.estimate, anchor.corruption)
    step = 1e-4
    offsets = np.eye(5) * step

    def value(free: np.ndarray) -> float:
        return log_posterior(sample, free[:4], free[4], anchor)

    second = np.array(
        [
            [
                (value(at + a + b) - value(at + a - b) - value(at - a + b) + value(at - a - b)) / (4 * step * step)
                for b in offsets
            ]
            for a in offsets
        ]
    )
    profile = -(second[:4, :4] - np.outer(second[:4, 4], second[4, :4]) / second[4, 4]) - anchor.ridge * np.eye(4)
    np.testing.assert_allclose(anchor.information, profile, atol=2e-3 * np.abs(profile).max())


def test_information_is_lawful() -> None:
    """It is symmetric, tells nothing about the constant and is never negative; a negative direction becomes zero."""
    for seed in range(6):
        _, sample = draw(seed, 40, 0.4, size=8, length=3)
        for rows in (fitted(sample), heard(sample, window=16)):
            information = rows.information[0]
            np.testing.assert_allclose(information, information.T, atol=1e-10)
            np.testing.assert_allclose(information @ np.ones(8), 0.0, atol=1e-8)
            assert np.linalg.eigvalsh(information).min() > -1e-7
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(np.column_stack([np.ones(7), rng.normal(size=(7, 6))]))[0]
    values = np.array([0.0, -0.3, 0.5, 1.0, 2.0, 3.0, 4.0])
    matrix = axes * values @ axes.T
    make_lawful(matrix)
    np.testing.assert_allclose(matrix, axes * np.maximum(values, 0.0) @ axes.T, atol=1e-12)


def test_eigen_finds_eigenvalues_and_eigenvectors() -> None:
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(9, 9))
    matrix += matrix.T
    values, vectors = np.empty(9), np.empty((9, 9))
    eigen(matrix.copy(), values, vectors)
    np.testing.assert_allclose(np.sort(values), np.linalg.eigvalsh(matrix), atol=1e-12)
    np.testing.assert_allclose(vectors @ np.diag(values) @ vectors.T, matrix, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "corruption", "rounds", "known"),
    [
        ("fresh", 0.1, 500, 0.053),
        ("fresh", 0.2, 500, 0.054),
        ("fresh", 0.3, 500, 0.056),
        ("fresh", 0.4, 500, 0.065),
        ("reversed", 0.2, 500, 0.060),
        ("reversed", 0.4, 500, 0.066),
        ("fresh", 0.2, 25, 0.245),
    ],
)
def test_error_is_that_of_knowing_the_clean_rankings(kind: str, corruption: float, rounds: int, known: float) -> None:
    """Within 3 % of the oracle, and within 15 % of the known figure.

    The mean of 10 errors, each of relative deviation about 0.16, deviates by 5 %: 15 % is three deviations, and as the
    figure itself was measured so, a fresh seed would raise a false alarm in about 4 % of cases; the seeds are fixed.
    """
    errors, oracles = [], []
    for seed in range(10):
        preference, sample = draw(seed, rounds, corruption, kind)
        errors.append(error(fitted(sample), preference))
        oracles.append(error(fitted(sample, ~sample.corrupted, gate=np.inf), preference))
    assert np.mean(errors) < 1.03 * np.mean(oracles)
    assert np.mean(errors) == pytest.approx(known, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("corruption", [0.0, 0.2, 0.4])
@pytest.mark.parametrize("rounds", [100, 300])
def test_information_is_honest(corruption: float, rounds: int) -> None:
    """The mean of (c-hat - c)'J(c-hat - c)/(D - 1) is 1: over 30 seeds it deviates by sqrt(2/19/30) = 0.06.

    The limits 0.85 and 1.2 are 2.5 and 3.3 deviations away: a false alarm in under 1 % of fresh seeds.
    """
    figures = []
    for seed in range(30):
        preference, sample = draw(100 + seed, rounds, corruption)
        figures.append(dishonesty(fitted(sample), preference))
    assert 0.85 < np.mean(figures) < 1.2


@pytest.mark.slow
def test_folding_keeps_accuracy_and_honesty() -> None:
    """At 2,000 rankings with a window of 256 the estimate is within a tenth of its own error from the batch fit.

    A folded ranking keeps the information it had at the estimate of its time, so in no direction is the information
    off by more than a tenth. Both are comparisons on the same rankings with fixed seeds; over six seeds the distance
    was 0.01 to 0.03 of the error and the ratio of informations 0.97 to 1.05.
    """
    for seed, corruption in ((0, 0.0), (1, 0.2), (2, 0.4)):
        preference, sample = draw(seed, 2000, corruption)
        online, batch = heard(sample), fitted(sample, window=4096)
        assert online.kept[0] < 256
        assert online.queries[0] == 2000
        apart = np.sqrt(np.mean((online.estimate[0] - batch.estimate[0]) ** 2))
        assert apart < 0.1 * error(batch, preference)
        assert online.corruption[0] == pytest.approx(batch.corruption[0], abs=0.01)
        ratios = eigh(online.information[0] + 1.0, batch.information[0] + 1.0, eigvals_only=True)
        assert 0.9 < ratios.min() < ratios.max() < 1.1


def test_a_fit_longer_than_the_window_is_still_exact_and_goes_on() -> None:
    """Rankings beyond the window are folded after the fit, and hearing more continues from there."""
    preference, sample = draw(3, 400, 0.3, size=8)
    short, long = fitted(sample, window=64), fitted(sample, window=1024)
    np.testing.assert_array_equal(short.estimate, long.estimate)
    assert (short.kept[0], long.kept[0]) == (63, 400)
    _, more = draw(3, 600, 0.3, size=8)
    for ranking in more.rankings()[:150]:
        for rows in (short, long):
            hear_anchor(rows, 0, ranking)
    np.testing.assert_allclose(short.estimate, long.estimate, atol=0.02)
    assert short.corruption[0] == pytest.approx(long.corruption[0], abs=0.01)
    assert error(short, preference) < 0.2


def test_the_gate_stays_shut_without_corruption() -> None:
    """No false alarm in at least 95 % of 100 seeds at several sizes; then the estimate is the ridge MLE.

    The gate is the 1 % point of a chi-square for a parameter on its boundary (so 0.5 %) with a prior against it: the
    chance of more than 5 alarms in 100 is below 1e-4.
    """
    shut = 0
    for seed in range(100):
        size, length, rounds = [(6, 6, 40), (6, 3, 150), (20, 20, 60), (10, 4, 100)][seed % 4]
        _, sample = draw(seed, rounds, 0.0, size=size, length=length)
        rows = fitted(sample)
        shut += rows.corruption[0] == 0.0
        if seed < 8:
            slope = sum(gradient(ranking, rows.estimate[0]) for ranking in sample.rankings())
            np.testing.assert_allclose(slope, 0.5 * rows.estimate[0], atol=1e-8)
            information = -sum(hessian(ranking, rows.estimate[0]) for ranking in sample.rankings())
            np.testing.assert_allclose(rows.information[0], information, atol=1e-6)
    assert shut >= 95


def test_single_choices_never_open_the_gate() -> None:
    """A mixture of choices is a choice law again, only with a wider preference: eps = 0 is always more probable."""
    for seed in range(5):
        _, sample = draw(seed, 300, 0.5, size=6, length=1)
        online = heard(sample, gate=0.0, window=64)
        assert online.corruption[0] == fitted(sample, gate=0.0).corruption[0] == 0.0
        assert np.isfinite(online.information[0]).all()
    lengths = np.where(np.arange(300) % 3 == 0, 6, 1)
    preference, sample = draw(9, 300, 0.3, size=6, length=lengths)
    mixed = fitted(sample)
    assert 0.1 < mixed.corruption[0] < 0.5
    assert error(mixed, preference) < error(fitted(sample, gate=np.inf), preference)


def test_hearing_is_fitting_at_powers_of_two() -> None:
    _, sample = draw(4, 64, 0.3, size=8)
    rows = Mixture().rows(1, 8)
    for count, ranking in enumerate(sample.rankings(), start=1):
        hear_anchor(rows, 0, ranking)
        if count in (1, 2, 4, 8, 16, 32, 64):
            exact = fitted(sample, slice(count))
            np.testing.assert_allclose(rows.estimate, exact.estimate, atol=1e-3)
            assert rows.corruption[0] == pytest.approx(exact.corruption[0], abs=1e-3)


def test_permuting_objectives_permutes_the_result() -> None:
    _, sample = draw(6, 60, 0.3, size=7, length=5)
    name = np.random.default_rng(0).permutation(7)
    first = Mixture(n_objectives=7).fit(sample.rankings())
    second = Mixture(n_objectives=7).fit([name[ranking] for ranking in sample.rankings()])
    assert first.corruption > 0.0
    np.testing.assert_allclose(second.estimate[name], first.estimate, atol=1e-9)
    np.testing.assert_allclose(second.information[np.ix_(name, name)], first.information, atol=1e-7)


def test_suspects_are_the_corrupted_rankings() -> None:
    """Of full rankings of 20 objectives one in a hundred is misjudged, and all fitted ones are judged, kept or not."""
    missed = 0
    for seed in range(10):
        _, sample = draw(seed, 300, 0.3)
        anchor = Mixture(n_objectives=D, window=32).fit(sample.rankings())
        assert anchor.responsibilities.shape == (300,)
        missed += len(np.setxor1d(anchor.suspects, np.flatnonzero(sample.corrupted)))
    assert missed <= 40
    np.testing.assert_allclose(anchor.trust(sample.rankings()), anchor.responsibilities)
    anchor.hear(sample.orders[0])
    assert len(anchor.responsibilities) == anchor._own().kept[0] < 32
    assert np.all((anchor.responsibilities >= 0.0) & (anchor.responsibilities <= 1.0))
    clean = Mixture(n_objectives=D).fit(sample.orders[~sample.corrupted])
    assert clean.corruption == 0.0
    assert clean.suspects.size == 0
    np.testing.assert_array_equal(clean.responsibilities, 1.0)


def test_odd_memories_give_sane_results() -> None:
    """Pure noise, one ranking, one ranking repeated (also with weights far apart) and one objective."""
    for seed in range(5):
        _, noise = draw(seed, 200, 1.0, size=8)
        for rows in (fitted(noise), heard(noise, window=64)):
            assert np.abs(rows.estimate).max() < 1.0
            assert np.isfinite(rows.information).all()
    for size, times in ((5, 1), (5, 300), (60, 2), (60, 300)):
        anchor = Mixture(n_objectives=size).fit([range(size)] * times)
        assert np.all(np.diff(anchor.estimate) < 0.0)
        assert anchor.estimate.sum() == pytest.approx(0.0, abs=1e-9)
        assert anchor.corruption == 0.0
        assert np.linalg.eigvalsh(anchor.information).min() > -1e-7
    only = Mixture(n_objectives=1).fit([(0,)])
    assert only.estimate.tolist() == [0.0]
    assert Mixture(n_objectives=2).fit([(0, 1), (), (1,)]).responsibilities.tolist() == [1.0, 1.0, 1.0]
    assert Mixture(n_objectives=3).fit([]).estimate.tolist() == [0.0, 0.0, 0.0]


def test_users_do_not_touch_each_other() -> None:
    _, sample = draw(8, 40, 0.3, size=6)
    alone, shared = heard(sample, window=16), Mixture(window=16).rows(3, 6)
    for ranking in sample.rankings():
        hear_anchor(shared, 1, ranking)
    np.testing.assert_array_equal(shared.estimate[1], alone.estimate[0])
    for name in MixtureRows._fields[3:]:
        assert not getattr(shared, name)[[0, 2]].any()


@pytest.mark.parametrize(
    ("settings", "law"),
    [
        ({"ridge": 0.0}, "ridge must be positive"),
        ({"gate": -1.0}, "gate must not be negative"),
        ({"prior": 0.5}, "prior must be at least 1"),
        ({"window": 1}, "window must be at least 2"),
    ],
)
def test_settings_have_laws(settings: dict[str, Any], law: str) -> None:
    with pytest.raises(InvalidSetting, match=law):
        Mixture(**settings)
