"""Ratings from any table, CSV or Parquet: columns for user, item, objectives and utility, read batch by batch."""

import csv
import dataclasses
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers.data.reviews.ratings import Gathering, Ratings
from druthers.data.reviews.reading import LONGEST_ID, Source
from druthers.errors import InvalidSetting, needs, require, require_known
from druthers.types import Floats

if TYPE_CHECKING:
    import pyarrow

DELIMITERS = (",", ";", "\t", "|")
MISSING = frozenset(("", "na", "n/a", "null", "none", "-"))
PARQUET = b"PAR1"
BATCH = 16_384
# Beyond it something is no rating, and its square no number.
LARGEST = 1e15
# A comma that can only stand before decimals, and a point that may stand before thousands where such commas are.
COMMA = re.compile(r"\s*[+-]?(?:\d{1,3}(?:\.\d{3})+,\d+|\d+,(?:\d\d?|\d{4,})|0,\d{3}|\d{4,},\d{3})\s*")
POINT = re.compile(r"\s*[+-]?[1-9]\d{0,2}\.\d{3}\s*")


@dataclass(frozen=True)
class Columns:
    """Which column is what, by their names."""

    user: str
    item: str
    utility: str
    objectives: tuple[str, ...]  # more is better
    costs: tuple[str, ...] = ()  # objectives of which less is better
    # Lowest and highest value of columns; ratings outside are left out, the others brought to 0..1.
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        roles = [("user", self.user), ("item", self.item), ("utility", self.utility)]
        roles += [("objective", name) for name in self.objectives] + [("cost", name) for name in self.costs]
        for name, times in Counter(name for _, name in roles).items():
            if times > 1:
                has = " and ".join(role for role, one in roles if one == name)
                raise InvalidSetting(f"a column must have one role, but {name!r} is {has}; name it once")
        require(len(self.rated) >= 2, "there must be at least two objectives to weigh", list(self.rated))
        for name, (low, high) in self.ranges.items():
            require_known("column with a range", (*self.rated, self.utility), name)
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
    signs: dict[str, Counter[str]] = {name: Counter() for name in (*columns.rated, columns.utility)}
    try:
        with path.open("rb") as file:
            packed = file.read(len(PARQUET)) == PARQUET
    except OSError as error:
        raise InvalidSetting(f"a table must be a CSV or Parquet file that can be read, but: {error}") from None
    for batch in _parquet(path, columns) if packed else _csv(path, columns, source):
        users = _ids(batch[columns.user], gathering.user)
        items = _ids(batch[columns.item], gathering.item)
        values = np.column_stack([_numbers(batch[name], found) for name, found in signs.items()])
        kept = items >= 0
        source.damaged += Counter({f"no {columns.item}": int(np.sum(~kept))})
        for place, name in enumerate(signs):
            odd = kept & np.isinf(values[:, place])
            source.damaged += Counter({f"{name} that is no number": int(odd.sum())})
            kept &= ~odd
        gathering.add_rows(users[kept].tolist(), items[kept].tolist(), values[kept])
    for name, found in signs.items():
        if found[","] and found["."]:
            raise InvalidSetting(
                f"decimals must be written in one way, but {name} has commas before them and points that may stand"
                " before thousands; write 1234.5"
            )
        source.repaired += Counter({f"{name} with a comma before decimals": found[","]})
    return gathering.ratings()


def scaled(ratings: Ratings, columns: Columns, source: Source) -> tuple[Ratings, list[str]]:
    """Return the ratings with ranges brought to 0..1 and costs turned around, and notes on what was done."""
    values = np.column_stack([ratings.scores, ratings.utilities])
    names, notes = (*columns.rated, columns.utility), []
    kept = np.ones(len(values), dtype=np.bool_)
    for place, name in enumerate(names):
        column = values[:, place]
        if name in columns.ranges:
            low, high = columns.ranges[name]
            outside = kept & ((column < low) | (column > high))
            source.damaged += Counter({f"{name} outside {low:g}..{high:g}": int(outside.sum())})
            kept &= ~outside
            column -= low
            column /= high - low
            notes.append(f"{name}: {low:g}..{high:g} brought to 0..1")
        if name in columns.costs:
            there = column[~np.isnan(column)]
            ends = (0.0, 1.0) if name in columns.ranges or not len(there) else (there.min(), there.max())
            low, high = map(float, ends)
            np.subtract(low + high, column, out=column)
            notes.append(f"{name}: less is better, so {low + high:g} - {name} is the reward")
    if set(columns.rated) <= set(columns.ranges) and columns.utility not in columns.ranges:
        notes.append(f"{columns.utility} has no range: where 0 on all objectives is not 0 overall, give it one")
    return dataclasses.replace(ratings, scores=values[:, :-1], utilities=values[:, -1]).where(kept), notes


class Coded(NamedTuple):
    """A column of a batch: its different values, and which of them stands in each row, -1 for none."""

    values: list[str]
    places: NDArray[np.int64]


def _parquet(path: Path, columns: Columns) -> Iterator[dict[str, Coded]]:
    arrow, parquet = needs("pyarrow", "lab"), needs("pyarrow.parquet", "lab")
    try:
        file = parquet.ParquetFile(path)
        _require(file.schema_arrow.names, columns, path)
        for batch in file.iter_batches(batch_size=BATCH, columns=list(columns.names)):
            yield {name: _coded_arrow(batch[name], name) for name in columns.names}
    except (arrow.ArrowException, OSError) as error:
        raise InvalidSetting(f"a Parquet file must be whole, but {path}: {error}") from None


def _coded_arrow(column: "pyarrow.Array", name: str) -> Coded:
    types = needs("pyarrow", "lab").types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_nested(column.type):
        raise InvalidSetting(f"a column must hold single values, but {name} holds {column.type}")
    encoded = column.dictionary_encode()
    places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return Coded([_as_str(value) for value in encoded.dictionary.to_pylist()], places)


def _as_str(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)  # ids become floats where some are missing
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def _csv(path: Path, columns: Columns, source: Source) -> Iterator[dict[str, Coded]]:
    """Read with the csv module: pyarrow's reader gives up on a long line, and on bad bytes in a line it would skip."""
    lines = _lines(source)
    first = next(lines, "").removeprefix("\ufeff")
    headers = {sign: [name.strip() for name in _fields(first, sign)] for sign in DELIMITERS}
    found = [sign for sign in DELIMITERS if set(columns.names) <= set(headers[sign])]
    delimiter = found[0] if found else max(DELIMITERS, key=lambda sign: len(headers[sign]))
    _require(headers[delimiter], columns, path)
    places = {name: headers[delimiter].index(name) for name in columns.names}
    rows: list[list[str]] = []
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error:  # a field beyond all measure, such as after a quote that never ends
            source.damaged["a line that is no CSV"] += 1
            continue
        if len(row) == len(headers[delimiter]):
            rows.append(row)
        elif row:
            source.damaged["a line with too few or too many fields"] += 1
        if len(rows) == BATCH:
            yield {name: _coded([row[place] for row in rows]) for name, place in places.items()}
            rows = []
    yield {name: _coded([row[place] for row in rows]) for name, place in places.items()}


def _lines(source: Source) -> Iterator[str]:
    for block in source.blocks(b"\n"):
        try:
            text = block.decode()
        except UnicodeDecodeError:
            text = block.decode("utf-8", "surrogateescape")
            source.repaired["bytes that are no UTF-8"] += sum(not line.isascii() for line in text.split("\n"))
        for line in text.replace("\r", "\n").split("\n"):  # lines of old end with the one, and with no other
            yield line + "\n"


def _fields(line: str, sign: str) -> list[str]:
    """Return the fields of a line that stands alone; none of one that is no CSV."""
    try:
        return next(csv.reader([line], delimiter=sign), [])
    except csv.Error:
        return []


def _coded(column: list[str]) -> Coded:
    numbers: dict[str, int] = {}
    places = [numbers.setdefault(value, len(numbers)) for value in column]
    return Coded(list(numbers), np.array(places, dtype=np.int64))


def _require(there: Sequence[str], columns: Columns, path: Path) -> None:
    for name in columns.names:
        require_known(f"column of {path.name}", there, name)
        if list(there).count(name) > 1:
            raise InvalidSetting(f"a column must have a name of its own, but {path.name} has {name!r} twice")


def _ids(column: Coded, number_of: Callable[[str], int]) -> NDArray[np.int64]:
    """Return the number of each id, -1 where it is missing or too long."""
    keys = (value.strip() for value in column.values)
    numbers = [-1, *(number_of(key) if 0 < len(key) <= LONGEST_ID else -1 for key in keys)]
    return np.array(numbers, dtype=np.int64)[column.places + 1]


def _numbers(column: Coded, found: Counter[str]) -> Floats:
    """Return a column as numbers, NaN where one is missing and infinity where something else stands.

    How many have a comma before decimals, and how many a point that may stand before thousands, is added to `found`.
    """
    numbers, signs = [math.nan], [""]
    for value in column.values:
        comma = COMMA.fullmatch(value)
        try:
            number = float(value.replace(".", "").replace(",", ".") if comma else value)
        except ValueError:
            number = math.nan if value.strip().lower() in MISSING else math.inf
        numbers.append(math.inf if abs(number) > LARGEST else number)
        signs.append("," if comma else "." if POINT.fullmatch(value) else "")
    for sign in ",.":
        found[sign] += int((np.array(signs) == sign)[column.places + 1].sum())
    return np.array(numbers)[column.places + 1]
