"""What every anchor is: a memory of one user's rankings that always has an estimate and its information."""

from collections import namedtuple
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from druthers._jit import generic, kernel
from druthers.errors import InvalidSetting, require
from druthers.own import Part, made_for, settings
from druthers.rankings import as_orders, as_ranking, complete
from druthers.types import Floats, Integers, RankingLike


@generic
def hear_anchor(rows: Any, user: int, ranking: Integers) -> None:
    """Take a checked, non-empty ranking into the memory of one user (a row of every array in `rows`)."""


@generic
def fit_anchor(rows: Any, user: int, orders: NDArray[np.int16], lengths: Integers) -> None:
    """Fit one user's fresh row to all these rankings at once, exactly, and keep the latest of them."""


# What all anchors with a window of rankings keep of a user, by shape: of D objectives, of W rankings; after an i whole
# numbers, after an h small ones.
WINDOW = {
    "D": "estimate",
    "DD": "information",
    "i": "queries total_length shortest kept",
    "hWD": "orders",
    "iW": "lengths",
}


@settings
class Anchor(Part):
    """What rankings say about a preference, up to a constant that no ranking can tell.

    An anchor stands alone (`hear`, `estimate`, `information`, `fit`), or gives a policy one row of memory per user.
    The constructor's arguments are its settings. A subclass says what it `keeps` beside a window of rankings, or brings
    `rows`, a NamedTuple whose arrays have one row per user and which has at least the fields `estimate` (D,),
    `information` (D, D), `queries`, `total_length` and `shortest`; and the kernels `hear_anchor` and `fit_anchor` for
    that class.

    Parameters
    ----------
    n_objectives
        Number of objectives D; a policy that is given this anchor sets it.

    Notes
    -----
    Memory is bounded: the latest `window` rankings are kept as they are; of older ones stays a quadratic (their
    information and gradient at the estimate of that time).
    """

    Rows: ClassVar[Any]
    _told_settings: ClassVar[list[str]]
    _shapes: ClassVar[dict[str, str]]

    n_objectives: int | None = None

    def __post_init__(self) -> None:
        size = self.n_objectives
        require(size is None or size >= 1, "n_objectives must be at least 1", size)
        self._memory: Any = None
        self._fitted: tuple[NDArray[np.int16], Integers] | None = None

    def __init_subclass__(cls, *, told: str = "", keeps: Mapping[str, str] | None = None) -> None:
        """Give an anchor its class of rows: the settings its kernels are told, a window of rankings, and what it keeps.

        What is kept is listed by its shape, as in `WINDOW`.
        """
        super().__init_subclass__()
        if keeps is not None:
            listed = [*WINDOW.items(), *keeps.items()]
            cls._told_settings, cls._shapes = (
                told.split(),
                {name: shape for shape, names in listed for name in names.split()},
            )
            cls.Rows = made_for(cls, namedtuple("Rows", (*cls._told_settings, *cls._shapes)))

    def rows(self, n_users: int, n_objectives: int) -> Any:
        """Return fresh memory for `n_users` users."""
        sizes, derived = {"D": n_objectives, "W": getattr(self, "window", 0)}, self._derived()
        fresh: dict[str, Any] = {
            name: float(derived[name] if name in derived else getattr(self, name)) for name in self._told_settings
        }
        for name, shape in self._shapes.items():
            kind = {"i": np.int64, "h": np.int16}.get(shape[:1], np.float64)
            fresh[name] = np.zeros((n_users, *(sizes[letter] for letter in shape if letter in sizes)), dtype=kind)
        return self.Rows(**fresh)

    def _derived(self) -> dict[str, float]:
        """Return what the kernels are told that is not as it was given."""
        return {}

    def hear(self, ranking: RankingLike) -> None:
        """Take in one ranking; an empty one says nothing."""
        rows, checked = self._own(), as_ranking(ranking, self._size())
        if len(checked):
            self._fitted = None
            hear_anchor(rows, 0, checked)

    def fit(self, rankings: Iterable[RankingLike]) -> Self:
        """Forget everything and fit all these rankings at once, to optimality."""
        orders, lengths = self._fitted = as_orders(rankings, self._size())
        told = lengths > 0
        self._memory = self.rows(1, self._size())
        if told.any():
            fit_anchor(self._memory, 0, orders[told], lengths[told])
        return self

    @property
    def estimate(self) -> Floats:
        """The preference that the rankings suggest (D,); it sums to zero."""
        estimate: Floats = self._own().estimate[0].copy()
        return estimate

    @property
    def information(self) -> Floats:
        """How much the rankings tell (D, D): the inverse covariance of the estimate, zero along the constant."""
        information: Floats = self._own().information[0].copy()
        return information

    @property
    def queries(self) -> int:
        """How many rankings were heard."""
        return int(self._own().queries[0])

    def _told(self) -> tuple[NDArray[np.int16], Integers]:
        """Return the rankings of the last `fit` or else, in a window, those heard and still kept."""
        rows = self._own()
        return self._fitted or (rows.orders[0, : rows.kept[0]], rows.lengths[0, : rows.kept[0]])

    def _size(self) -> int:
        if self.n_objectives is None:
            raise InvalidSetting(f"an anchor that stands alone needs n_objectives, but got {self!r}")
        return self.n_objectives

    def _own(self) -> Any:
        if self._memory is None:
            self._memory = self.rows(1, self._size())
        return self._memory


@kernel
def remember(rows: Any, user: int, ranking: NDArray[Any]) -> None:
    """Count a ranking in `queries`, `total_length` and `shortest`."""
    length = ranking.shape[0]
    if rows.queries[user] == 0 or length < rows.shortest[user]:
        rows.shortest[user] = length
    rows.queries[user] += 1
    rows.total_length[user] += length


@kernel
def keep(rows: Any, user: int, ranking: NDArray[Any]) -> int:
    """Count a ranking and keep it in the next free row, which is returned."""
    row = int(rows.kept[user])
    complete(ranking, rows.orders[user, row])
    rows.lengths[user, row] = ranking.shape[0]
    rows.kept[user] += 1
    remember(rows, user, ranking)
    return row


@kernel
def drop_oldest(rows: Any, user: int, n_dropped: int) -> None:
    """Forget the oldest kept rankings."""
    kept = rows.kept[user] - n_dropped
    for row in range(kept):
        rows.lengths[user, row] = rows.lengths[user, row + n_dropped]
        for place in range(rows.orders.shape[2]):
            rows.orders[user, row, place] = rows.orders[user, row + n_dropped, place]
    rows.kept[user] = kept


@kernel
def is_power_of_two(count: int) -> bool:
    """Tell whether a count is 1, 2, 4, 8, ..."""
    return count & (count - 1) == 0
