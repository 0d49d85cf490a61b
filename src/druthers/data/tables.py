"""Ratings from any table, CSV or Parquet: columns for user, item, objectives and utility, read batch by batch."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from druthers.data.ratings import Gathering, Ratings
from druthers.data.reading import LONGEST, LONGEST_ID, Source
from druthers.errors import InvalidSetting, UnknownName, needs
from druthers.types import Floats

if TYPE_CHECKING:
    import pyarrow

DELIMITERS = (",", ";", "\t", "|")
MISSING = frozenset((b"", b"na", b"n/a", b"nan", b"null", b"none", b"-"))
PARQUET = b"PAR1"


@dataclass(frozen=True)
class Columns:
    """Which column is what.

    Attributes
    ----------
    user, item, utility
        Names of columns.
    objectives
        Columns of objectives, more is better.
    costs
        Columns of objectives, less is better.
    ranges
        Lowest and highest value of columns; ratings outside are left out, the others brought to 0..1.
    """

    user: str
    item: str
    utility: str
    objectives: tuple[str, ...]
    costs: tuple[str, ...] = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        used = Counter([self.user, self.item, self.utility, *self.rated])
        twice = [name for name, times in used.items() if times > 1]
        if twice:
            raise InvalidSetting(f"a column must have one role, but {twice[0]!r} has {used[twice[0]]}")
        if len(self.rated) < 2:
            raise InvalidSetting(f"there must be at least two objectives to weigh, but got {list(self.rated)}")
        for name, (low, high) in self.ranges.items():
            if name not in (*self.rated, self.utility):
                raise UnknownName.of("column with a range", name, (*self.rated, self.utility))
            if not -math.inf < low < high < math.inf:
                raise InvalidSetting(f"a range must lead from a lower to a higher number, but {name} has {low}..{high}")

    @property
    def rated(self) -> tuple[str, ...]:
        """All objectives, costs last."""
        return (*self.objectives, *self.costs)

    @property
    def names(self) -> tuple[str, ...]:
        """All columns: user, item, objectives, utility."""
        return (self.user, self.item, *self.rated, self.utility)


def read_table(path: Path, columns: Columns, source: Source) -> Ratings:
    """Return all rows of a table as they stand; damaged rows are counted in the source.

    A CSV file has a line of names first; its delimiter is whichever of `, ; | tab` finds the columns.
    """
    gathering = Gathering(columns.rated)
    for batch in _batches(path, columns, source):
        users = _ids(batch[columns.user], gathering.user, columns.user)
        items = _ids(batch[columns.item], gathering.item, columns.item)
        values = np.column_stack([_numbers(batch[name], name) for name in (*columns.rated, columns.utility)])
        kept = items >= 0
        source.damaged[f"no {columns.item}"] += int(np.sum(~kept))
        for place, name in enumerate((*columns.rated, columns.utility)):
            odd = kept & np.isinf(values[:, place])
            source.damaged[f"{name} that is no number"] += int(odd.sum())
            kept &= ~odd
        gathering.add_rows(users[kept].tolist(), items[kept].tolist(), values[kept])
    source.damaged += Counter()  # forget what was counted as zero
    return gathering.ratings()


def scaled(ratings: Ratings, columns: Columns, source: Source) -> tuple[Ratings, list[str]]:
    """Return the ratings with ranges brought to 0..1 and costs turned around, and notes on what was done."""
    values = np.column_stack([ratings.scores, ratings.utilities])
    names, notes = (*columns.rated, columns.utility), []
    for place, name in enumerate(names):
        column = values[:, place]
        if name in columns.ranges:
            low, high = columns.ranges[name]
            outside = (column < low) | (column > high)
            if outside.any():
                source.damaged[f"{name} outside {low:g}..{high:g}"] += int(outside.sum())
            column[outside] = np.inf
            column -= low
            column /= high - low
            notes.append(f"{name}: {low:g}..{high:g} brought to 0..1")
        if name in columns.costs and np.isfinite(column).any():
            finite = column[np.isfinite(column)]
            low, high = (0.0, 1.0) if name in columns.ranges else (float(finite.min()), float(finite.max()))
            np.subtract(low + high, column, out=column)
            notes.append(f"{name}: less is better, so {low + high:g} - {name} is the reward")
    kept = ~np.isinf(values).any(axis=1)
    left = Ratings(
        objectives=ratings.objectives,
        users=ratings.users[kept],
        items=ratings.items[kept],
        scores=values[kept, :-1],
        utilities=values[kept, -1],
        user_ids=ratings.user_ids,
        item_ids=ratings.item_ids,
    )
    return left, notes


def _batches(path: Path, columns: Columns, source: Source) -> Iterator[Any]:
    try:
        with path.open("rb") as file:
            packed = file.read(len(PARQUET)) == PARQUET
    except OSError as error:
        raise InvalidSetting(f"a table must be a CSV or Parquet file that can be read, but: {error}") from None
    arrow = needs("pyarrow", "lab")
    try:
        yield from _parquet(path, columns) if packed else _csv(path, columns, source)
    except (arrow.ArrowException, OSError) as error:
        raise InvalidSetting(
            f"a table must be a whole CSV or Parquet file with lines below {LONGEST >> 20} MB, but {path}: {error}"
        ) from None


def _parquet(path: Path, columns: Columns) -> Iterator[Any]:
    file = needs("pyarrow.parquet", "lab").ParquetFile(path)
    _require(file.schema_arrow.names, columns, path)
    yield from file.iter_batches(batch_size=65_536, columns=list(columns.names))


def _csv(path: Path, columns: Columns, source: Source) -> Iterator[Any]:
    arrow, csv = needs("pyarrow", "lab"), needs("pyarrow.csv", "lab")

    def skip(row: Any) -> str:
        source.damaged["a line with too few or too many fields"] += 1
        return "skip"

    def opened(delimiter: str, names: Sequence[str], handler: Callable[[Any], str]) -> Any:
        return csv.open_csv(
            path,
            read_options=csv.ReadOptions(block_size=LONGEST),
            parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=handler),
            # As bytes: what is no number, and no UTF-8, is then for us to judge, row by row.
            convert_options=csv.ConvertOptions(
                check_utf8=False, include_columns=list(names), column_types=dict.fromkeys(names, arrow.binary())
            ),
        )

    headers = {}
    for delimiter in DELIMITERS:
        headers[delimiter] = opened(delimiter, (), lambda row: "skip").schema.names
        if set(columns.names) <= set(headers[delimiter]):
            break
    else:
        delimiter = max(DELIMITERS, key=lambda sign: len(headers[sign]))
    _require(headers[delimiter], columns, path)
    yield from opened(delimiter, columns.names, skip)


def _require(there: Sequence[str], columns: Columns, path: Path) -> None:
    for name in columns.names:
        if name not in there:
            raise UnknownName.of(f"column of {path.name}", name, there)
        if list(there).count(name) > 1:
            raise InvalidSetting(f"a column must have a name of its own, but {path.name} has {name!r} twice")


def _ids(column: pyarrow.Array, number_of: Callable[[bytes], int], name: str) -> NDArray[np.int64]:
    """Return the number of each id, -1 where it is missing."""
    keys, places = _distinct(column, name)
    numbers = [-1]
    for key in keys:
        text = b"" if key is None else key.strip()
        numbers.append(number_of(text) if 0 < len(text) <= LONGEST_ID else -1)
    return np.array(numbers, dtype=np.int64)[places + 1]


def _numbers(column: pyarrow.Array, name: str) -> Floats:
    """Return a column as numbers, NaN where one is missing and infinity where something else stands."""
    keys, places = _distinct(column, name)
    numbers = [math.nan]
    for key in keys:
        text = b"" if key is None else key.strip()
        try:
            value = float(text)
        except ValueError:
            value = math.nan if text.lower() in MISSING else math.inf
        numbers.append(value)
    return np.array(numbers)[places + 1]


def _distinct(column: pyarrow.Array, name: str) -> tuple[list[bytes | None], NDArray[np.int64]]:
    """Return the different values of a column as bytes, and which of them stands where, -1 for none."""
    arrow = needs("pyarrow", "lab")
    if arrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if arrow.types.is_nested(column.type):
        raise InvalidSetting(f"a column must hold single values, but {name} holds {column.type}")
    encoded = column.dictionary_encode()
    places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return [_as_bytes(value) for value in encoded.dictionary.to_pylist()], places


def _as_bytes(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)  # ids that became floats because some are missing
    return str(value).encode("utf-8", "replace")
