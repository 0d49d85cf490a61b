"""The laws of anchors."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from druthers.anchors import Anchor
from druthers.errors import InvalidRanking
from druthers.sampling import sample_rankings
from druthers.testing.laws import hold, laws_of, require_refused
from druthers.types import Floats, Integers

BuildAnchor = Callable[..., Anchor]


def _rankings(
    n_objectives: int, rounds: int, seed: int = 0, length: int | None = None
) -> tuple[Floats, list[Integers]]:
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0.0, 2.0, n_objectives)
    return truth - truth.mean(), sample_rankings(truth, rounds=rounds, rng=rng, length=length).rankings()


def _heard(build: BuildAnchor, n_objectives: int, rankings: list[Any]) -> Anchor:
    anchor = build(n_objectives=n_objectives)
    for ranking in rankings:
        anchor.hear(ranking)
    return anchor


def check_anchor_before_any_ranking(build: BuildAnchor) -> None:
    """Nothing heard means nothing wanted and nothing known."""
    anchor = build(n_objectives=4)
    assert np.array_equal(anchor.estimate, np.zeros(4))
    assert np.array_equal(anchor.information, np.zeros((4, 4)))
    anchor.hear(())
    assert anchor.queries == 0
    assert np.array_equal(anchor.fit([]).estimate, np.zeros(4))


def check_anchor_sums_to_zero(build: BuildAnchor) -> None:
    """The estimate is centered and finite after every ranking, of any length."""
    rng = np.random.default_rng(2)
    for n_objectives in (1, 2, 5):
        anchor = build(n_objectives=n_objectives)
        for _ in range(70):
            anchor.hear(rng.permutation(n_objectives)[: rng.integers(1, n_objectives + 1)])
            assert np.all(np.isfinite(anchor.estimate))
            assert abs(anchor.estimate.sum()) < 1e-8


def check_anchor_information(build: BuildAnchor) -> None:
    """The information is symmetric, not negative, blind to the constant, and grows."""
    _, rankings = _rankings(5, 300)
    anchor = _heard(build, 5, rankings[:30])
    early = anchor.information
    for ranking in rankings[30:]:
        anchor.hear(ranking)
    late = anchor.information
    for information in (early, late):
        scale = np.trace(information)
        assert np.allclose(information, information.T, atol=1e-9 * scale)
        assert np.allclose(information.sum(axis=0), 0.0, atol=1e-7 * scale)
        assert np.linalg.eigvalsh(information).min() > -1e-8 * scale
    assert np.trace(late) > 3.0 * np.trace(early)


def check_anchor_learns_the_truth(build: BuildAnchor) -> None:
    """With many rankings the estimate comes near the truth."""
    for length in (None, 2):
        truth, rankings = _rankings(5, 1500, seed=1, length=length)
        error = np.sqrt(np.mean((_heard(build, 5, rankings).estimate - truth) ** 2))
        assert error < 0.12, f"error {error:.3f} after 1,500 rankings of length {length}"


def check_anchor_objectives_are_alike(build: BuildAnchor) -> None:
    """Renaming the objectives renames the estimate."""
    permutation = np.array([3, 0, 4, 1, 2])
    _, rankings = _rankings(5, 40, seed=3)
    renamed = [np.argsort(permutation)[ranking] for ranking in rankings]
    expected = _heard(build, 5, rankings).estimate[permutation]
    assert np.allclose(_heard(build, 5, renamed).estimate, expected, atol=1e-6)


def check_anchor_extreme_rankings(build: BuildAnchor) -> None:
    """An objective always first ends on top, one never named at the bottom, and all stays finite."""
    anchor = _heard(build, 4, [(2, 0), (2, 1)] * 40)
    assert np.argmax(anchor.estimate) == 2
    assert np.argmin(anchor.estimate) == 3
    assert np.all(np.isfinite(anchor.information))
    one = _heard(build, 3, [(1,)])
    assert np.argmax(one.estimate) == 1


def check_anchor_refuses_bad_rankings(build: BuildAnchor) -> None:
    """A bad ranking raises InvalidRanking and changes nothing; a good one is left untouched."""
    _, rankings = _rankings(5, 20)
    anchor = _heard(build, 5, rankings)
    before, copy = anchor.estimate, rankings[0].copy()
    bad: Any
    for bad in ((0, 0), (5,), (-1,), (0.5,), ((0, 1),), ("a",)):
        require_refused(InvalidRanking, partial(anchor.hear, bad), f"the ranking {bad!r} passed")
    assert np.array_equal(anchor.estimate, before)
    assert np.array_equal(rankings[0], copy)


def check_anchor_fit_equals_hearing(build: BuildAnchor) -> None:
    """Fitting at once agrees with hearing one by one where both are exact: at 64 rankings."""
    _, rankings = _rankings(5, 64, seed=5)
    fitted = build(n_objectives=5).fit(rankings)
    assert np.allclose(fitted.estimate, _heard(build, 5, rankings).estimate, atol=1e-5)
    assert fitted.queries == 64


def check_anchor_memory_is_bounded(build: BuildAnchor) -> None:
    """The memory has a fixed size."""
    _, rankings = _rankings(3, 1000)
    anchor = build(n_objectives=3)
    size = sum(field.nbytes for field in anchor.rows(1, 3) if isinstance(field, np.ndarray))
    for ranking in rankings:
        anchor.hear(ranking)
    assert sum(field.nbytes for field in anchor._own() if isinstance(field, np.ndarray)) == size


def check_anchor_params_rebuild(build: BuildAnchor) -> None:
    """An anchor's params are its constructor's arguments and rebuild it; its repr shows them."""
    anchor = build(n_objectives=3)
    assert repr(type(anchor)(**anchor.params)) == repr(anchor)


ANCHOR_CHECKS = laws_of(globals())


def check_anchor(build: BuildAnchor) -> None:
    """Run every law of anchors."""
    hold(ANCHOR_CHECKS, build)
