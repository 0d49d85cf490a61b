"""Rankings drawn from preferences, exactly, and some of them corrupted."""

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from druthers.errors import InvalidSetting, require
from druthers.types import Floats, Integers

Adversary: TypeAlias = Callable[[int, list[Integers]], ArrayLike]


class RankingSample(NamedTuple):
    """Rankings drawn from the Plackett-Luce model.

    Row t of `orders` lists all objectives; its first `lengths[t]` are the ranking. `corrupted[t]` tells whether
    round t was drawn from a permuted preference.
    """

    orders: Integers
    lengths: Integers
    corrupted: NDArray[np.bool_]

    def rankings(self) -> list[Integers]:
        """Return the rankings, each at its own length."""
        return [order[:length] for order, length in zip(self.orders, self.lengths, strict=True)]


# Over sixty lines with its documentation and the laws of five arguments; the draws themselves are the last twenty.
def sample_rankings(
    preferences: ArrayLike,
    *,
    length: int | ArrayLike | None = None,
    rounds: int | None = None,
    rng: np.random.Generator,
    corruption: float | ArrayLike = 0.0,
    permutation: Literal["fresh"] | ArrayLike | Adversary = "fresh",
) -> RankingSample:
    """Draw rankings exactly from the Plackett-Luce model, some of them corrupted as in section 6.1.

    The first m of (preference + Gumbel noise) in falling order are exactly the Plackett-Luce top-m law.

    Parameters
    ----------
    preferences
        One preference (D,) for all rounds, or one per round (rounds, D).
    length
        How many objectives each ranking names, one number or one per round; all of them by default.
    rounds
        How many to draw, when `preferences` is a single one.
    corruption
        Chance that a round's preference is permuted before its ranking is drawn, one number or one per round.
    permutation
        How: "fresh" draws a new uniform permutation for each corrupted round; an array is one fixed permutation p
        (objective d gets the weight of objective p[d]), or one per round (rounds, D); a callable is an adaptive
        adversary that receives the round and the rankings so far and returns a permutation.

    Examples
    --------
    >>> sample = sample_rankings([9.0, 0.0, -9.0], length=2, rounds=3, rng=np.random.default_rng(1))
    >>> [ranking.tolist() for ranking in sample.rankings()]
    [[0, 1], [0, 1], [0, 1]]
    """
    table = np.asarray(preferences, dtype=np.float64)
    if rounds is not None and (rounds < 0 or (table.ndim == 2 and rounds != len(table))):
        raise InvalidSetting(f"rounds must not be negative and must fit the preferences, but got {rounds!r}")
    if table.ndim == 1:
        table = np.broadcast_to(table, (1 if rounds is None else rounds, len(table)))
    if table.ndim != 2 or not np.all(np.isfinite(table)):
        raise InvalidSetting(f"preferences must be finite and of shape (D,) or (rounds, D), but got {preferences!r}")
    n_rounds, n_objectives = table.shape
    given = np.asarray(n_objectives if length is None else length)
    if given.dtype.kind not in "iu" or given.shape not in ((), (n_rounds,)):
        raise InvalidSetting(f"a length must be a whole number, one for all rounds or one each, but got {length!r}")
    if given.size and (given.min() < 0 or given.max() > n_objectives):
        raise InvalidSetting(f"a length must lie between 0 and {n_objectives}, but got {length!r}")
    lengths = np.broadcast_to(given, n_rounds).astype(np.int64)
    chances = np.asarray(corruption, dtype=np.float64)
    require(chances.shape in ((), (n_rounds,)), "corruption must be one number for all rounds or one each", corruption)
    require(np.all((chances >= 0.0) & (chances <= 1.0)), "corruption must lie between 0 and 1", corruption)
    corrupted: NDArray[np.bool_] = np.less(rng.random(n_rounds), chances)
    # The logarithm of an exponential variable is minus a Gumbel variable, drawn at a third of the cost.
    noise = rng.standard_exponential(table.shape)
    np.log(noise, out=noise)
    if callable(permutation):
        orders = _sample_adaptively(table, lengths, noise, corrupted, permutation)
    else:
        if isinstance(permutation, str):
            require(permutation == "fresh", 'permutation must be "fresh", an array or a callable', permutation)
            # Drawn last, so that the rest of a seed's chance does not depend on which rounds are corrupted.
            shuffle = rng.random((corrupted.sum(), n_objectives)).argsort(axis=1)
        else:
            shuffle = np.broadcast_to(_as_permutation(permutation, n_objectives, n_rounds), table.shape)[corrupted]
        if corrupted.any():
            table = table.copy()
            table[corrupted] = np.take_along_axis(table[corrupted], shuffle, axis=1)
        noise -= table
        orders = np.argsort(noise, axis=1)
    return RankingSample(orders.astype(np.int64, copy=False), lengths, corrupted)


def _sample_adaptively(
    table: Floats, lengths: Integers, noise: Floats, corrupted: NDArray[np.bool_], adversary: Adversary
) -> Integers:
    orders = np.empty(table.shape, dtype=np.int64)
    past: list[Integers] = []
    for row in range(len(table)):
        preference = table[row]
        if corrupted[row]:
            preference = preference[_as_permutation(adversary(row, past), table.shape[1])]
        orders[row] = np.argsort(noise[row] - preference)
        past.append(orders[row, : lengths[row]])
    return orders


def _as_permutation(permutation: ArrayLike, n_objectives: int, n_rounds: int | None = None) -> Integers:
    array = np.asarray(permutation)
    fits = array.shape in ((n_objectives,), (n_rounds, n_objectives))
    law = f"a permutation must list each of the objectives 0 to {n_objectives - 1} once"
    require(fits and np.all(np.sort(array, axis=-1) == np.arange(n_objectives)), law, permutation)
    return array.astype(np.int64)
