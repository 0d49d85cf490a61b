"""Environments from review data: the mean aspect ratings of items and the weights of users."""

import csv
import hashlib
import os
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from druthers.catalogs.standins import STAND_INS, STANDS_FOR, make_stand_in
from druthers.environments.base import Environment
from druthers.errors import InvalidSetting, UnknownName, require
from druthers.own import settings
from druthers.types import Floats

# Where named data sets are looked for: one folder each, as `read_folder` takes it.
DATA_VARIABLE = "DRUTHERS_DATA"


@settings
class Reviews(Environment):
    """Items with known mean ratings per aspect and users with known weights, such as the paper's hotels and beers.

    They come from a folder with the arrays (`data`, see `read_folder`); "tripadvisor" or "beeradvocate" is the folder
    of that name under `DRUTHERS_DATA`, or a simulated stand-in where that is not set; "hotels" or "beers" is the
    stand-in in any case. `source` says which it was. Or they are given: `rewards` (K, D), or per user (N, K, D), of
    which the average over users is taken, and `preferences` (N, D); arrays or .npy files. All other settings are those
    of `Environment`.

    Examples
    --------
    >>> tape = Reviews(rewards=[[4.0, 3.0], [2.0, 5.0]], preferences=[[1.0, 0.2]]).tape(seed=1, horizon=10)
    >>> tape.means.shape
    (2, 2)
    """

    name = "reviews"

    data: str | Path | None = None
    rewards: ArrayLike | str | Path | None = None
    preferences: ArrayLike | str | Path | None = None
    active_users: int | None = None  # how many of the users, drawn for each run, take part in it; all by default

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data is not None and self.rewards is None and self.preferences is None:
            means, weights, kind = find_data(self.data)
        elif self.data is None and self.rewards is not None and self.preferences is not None:
            means, weights, kind = _array(self.rewards, "rewards"), _array(self.preferences, "preferences"), "own data"
        else:
            raise InvalidSetting("review data must be given either as `data` or as `rewards` and `preferences`")
        means = means.mean(axis=0) if means.ndim == 3 else means
        if means.ndim != 2 or weights.ndim != 2 or means.shape[1] != weights.shape[1]:
            raise InvalidSetting(
                f"rewards (K, D) and preferences (N, D) must agree in D, but got {means.shape} and {weights.shape}"
            )
        some = self.active_users
        require(some is None or 1 <= some <= len(weights), f"active_users must lie between 1 and {len(weights)}", some)
        self._truth = np.ascontiguousarray(means), np.ascontiguousarray(weights)
        digest = hashlib.sha256(b"".join(array.tobytes() for array in self._truth)).hexdigest()[:12]
        self.source = f"{kind} {digest}" if kind.endswith(" data") else kind

    def draw_truth(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return mean rewards (K, D) and weights (N, D): the same for every run, the items in an order of its own.

        Where only some users are active, these are drawn for the run.

        Policies give ties, such as among items never seen, to the first; in a fixed order that would favor some items.
        """
        means, weights = self._truth
        means = means[rng.permutation(len(means))]
        if self.active_users is not None:
            weights = weights[rng.permutation(len(weights))[: self.active_users]]
        return means, weights


def find_data(data: str | Path) -> tuple[Floats, Floats, str]:
    """Return rewards, preferences and what they are, from a folder, or by name from `DRUTHERS_DATA` or a stand-in."""
    home, folder = os.environ.get(DATA_VARIABLE), Path(data)
    if isinstance(data, str) and data in STAND_INS:
        return *make_stand_in(data), f"simulated {data}"
    if isinstance(data, str) and data in STANDS_FOR:
        if home is None:
            return *make_stand_in(STANDS_FOR[data]), f"simulated stand-in for {data}"
        folder = Path(home) / data
    elif not folder.is_dir():
        raise UnknownName.of("folder or data set", str(data), (*STANDS_FOR, *STAND_INS))
    return *read_folder(folder), f"{folder.name} data"


def read_folder(folder: Path) -> tuple[Floats, Floats]:
    """Return rewards and preferences from a folder.

    It holds one array file of each, `*reward*.npy` and `*preference*.npy`, or the tables rewards.csv and
    preferences.csv: a line of names first, then one line for each item or user, whose first field is its name.
    """
    arrays = []
    for what in ("reward", "preference"):
        files = sorted(folder.glob(f"*{what}*.npy")) or sorted(folder.glob(f"{what}s.csv"))
        if len(files) != 1:
            raise InvalidSetting(
                f"a data folder must hold one *{what}*.npy or {what}s.csv, but {folder} holds {len(files)}"
            )
        arrays.append(_array(files[0], what + "s"))
    return arrays[0], arrays[1]


def _array(source: ArrayLike | str | Path, what: str) -> Floats:
    try:
        if isinstance(source, str | Path):
            source = _table(Path(source)) if Path(source).suffix == ".csv" else np.load(source, allow_pickle=False)
        array = np.asarray(source, dtype=np.float64)
    except (OSError, ValueError) as error:
        raise InvalidSetting(f"{what} must be numbers, an .npy file or a table of numbers, but: {error}") from None
    if array.size == 0 or not np.all(np.isfinite(array)):
        raise InvalidSetting(f"{what} must be finite numbers, at least one")
    return array


def _table(path: Path) -> list[list[float]]:
    lines = read_rows(path)
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(lines[0]):
            raise ValueError(f"line {number} has {len(line)} fields, the first has {len(lines[0])}")
    return [[float(field) for field in line[1:]] for line in lines[1:]]


def read_rows(path: Path) -> list[list[str]]:
    """Return the lines of a CSV file as their fields, without blank ones."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return [line for line in csv.reader(file) if line]
    except (OSError, ValueError, csv.Error) as error:
        raise InvalidSetting(f"a table must be a CSV file in UTF-8, but {path}: {error}") from None
