"""Tables as people have them, whole and as they stand: CSV of any make, Parquet, lines of JSON."""

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from druthers.data.reviews.reading import GZIP, json_of
from druthers.data.reviews.tables import DELIMITERS, PARQUET
from druthers.errors import InvalidSetting, needs

SIGNS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
LOOKED_AT = 200  # lines that the delimiter is found in
LONGEST_FIELD = 1 << 20
EXCEL = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
FEW = 3
NUMERAL = r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?|(?i:nan|inf(?:inity)?)"
PACKED, FORMS = (".gz",), (".csv", ".tsv", ".tab", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".pq")


class Sheet(NamedTuple):
    """A table, column by column."""

    names: list[str]  # of the columns as they stand there, no two alike, whatever their capitals
    columns: list[list[Any]]  # their cells: texts of a CSV file, whatever JSON or Parquet has, None for nothing
    lines: list[int]  # where each row stands in the file, counted from 1
    form: str  # what kind of file it is, in words
    doubts: list[str]  # what was odd about the file


def read_sheet(path: Path) -> Sheet:
    """Return a table with all its rows; what cannot be read of it is told, not guessed."""
    if path.is_dir():
        raise InvalidSetting(f"a table must be a file, but {path} is a folder; name a file in it")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidSetting(f"a table must be a file that can be read, but {path}: {error.strerror}") from None
    if data.startswith(GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidSetting(f"a compressed table must be whole, but {path}: {error}; pack it again") from None
    if not data.strip():
        raise InvalidSetting(f"a table must hold a line of names and rows, but {path} is empty; export it again")
    if data.startswith(EXCEL):
        raise InvalidSetting(f"a table must be CSV, Parquet or JSON, but {path} is a spreadsheet; save it as CSV")
    if data.startswith(PARQUET):
        sheet = _parquet(data, path)
    else:
        text, doubts = _decoded(data, path)
        reads = _json if text.lstrip()[:1] in "{[" else _csv
        sheet = reads(text, path)
        sheet.doubts[:0] = doubts
    if not sheet.lines:
        raise InvalidSetting(f"a table must have rows below its line of names, but {path} has none; export it again")
    return sheet


def stem_of(path: Path) -> str:
    """Return the name of a table without what only tells its form.

    Examples
    --------
    >>> [stem_of(Path(name)) for name in ("inns.csv", "inns.2024.csv.gz", ".hidden.csv", "inns.2025")]
    ['inns', 'inns.2024', '.hidden', 'inns.2025']
    """
    name = path.name
    for ends in (PACKED, FORMS):
        name = Path(name).stem if Path(name).suffix.casefold() in ends else name
    return name


def _decoded(data: bytes, path: Path) -> tuple[str, list[str]]:
    marked = next((code for mark, code in MARKS.items() if data.startswith(mark)), "utf-8")
    try:
        text, doubts = data.decode(marked), []
    except UnicodeDecodeError as error:
        if marked != "utf-8":
            raise InvalidSetting(
                f"a table must be text throughout, but {path} is not at byte {error.start}; save it as UTF-8"
            ) from None
        line = data[: error.start].count(b"\n") + 1
        text = data.decode("cp1252", "replace")
        doubts = [f"the file is not UTF-8 (line {line}), so it is read as Windows-1252: look at names with accents"]
    if "\0" in text:
        raise InvalidSetting(f"a table must be text or Parquet, but {path} holds other bytes; save it as CSV in UTF-8")
    return text, doubts


def _csv(text: str, path: Path) -> Sheet:
    sign = _delimiter(text)
    before = csv.field_size_limit(LONGEST_FIELD)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, skipinitialspace=True)
        header: list[str] = []
        rows, lines, odd = [], [], []
        start = 1
        for row in reader:
            if any(cell.strip() for cell in row):
                if not header:
                    header = row
                elif len(row) < len(header) or any(cell.strip() for cell in row[len(header) :]):
                    odd.append(start)
                else:
                    rows.append(row[: len(header)])
                    lines.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise InvalidSetting(
            f"a CSV file must have fields of a bounded length, but {path}, line {start}: {error}; see where a quote"
            " is not closed"
        ) from None
    finally:
        csv.field_size_limit(before)
    if odd and len(odd) >= len(rows):
        raise InvalidSetting(
            f"a table must have as many fields in every row as names above, but {path} has {len(header)} names and"
            f" {len(odd):,} rows with others, the first in line {odd[0]}; see which sign stands between fields"
        )
    left_out = f"{counted(len(odd), 'row is', 'rows are')} left out, with too few or too many fields: {few(odd)}"
    doubts = [left_out] if odd else []
    names = _names(header, path, doubts)
    columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in names]
    return Sheet(names, columns, lines, f"CSV with {SIGNS[sign]}", doubts)


def _delimiter(text: str) -> str:
    """Return the sign that cuts the first lines into the same number of fields most often, and into most of them."""
    first = text[: LOOKED_AT * 400].splitlines()[:LOOKED_AT]

    def merit(sign: str) -> tuple[float, int]:
        sizes = Counter(len(row) for row in csv.reader(first, delimiter=sign) if row)
        times, size = max((times, size) for size, times in sizes.items())
        return (round(times / sizes.total(), 1) if size > 1 else 0.0, size)

    return max(DELIMITERS, key=merit)


def _names(header: Sequence[str], path: Path, doubts: list[str]) -> list[str]:
    """Return the names of columns, each of its own."""
    plain = [" ".join(str(name).split()) for name in header]
    if sum(re.fullmatch(NUMERAL, name) is not None for name in plain) > len(plain) / 2:
        raise InvalidSetting(
            f"a table must begin with a line of names, but {path} begins with {', '.join(plain[:FEW])}; add one"
        )
    names: list[str] = []
    for place, name in enumerate(plain, 1):
        own = name or f"column {place}"
        while own.casefold() in map(str.casefold, names):
            own = f"{own} {place}"
        if name and own != name:
            doubts.append(f"{name!r} stands above two columns: the second one is called {own!r}")
        names.append(own)
    return names


def _json(text: str, path: Path) -> Sheet:
    """Read lines of JSON, or one list of objects."""
    rows: list[Mapping[str, Any]] = []
    lines, odd = [], []
    for number, row in _objects(text, path):
        if isinstance(row, Mapping):
            rows.append(_flat(row))
            lines.append(number)
        else:
            odd.append(number)
    if len(odd) >= max(len(rows), 1):
        raise InvalidSetting(
            f"a table in JSON must be one object for each item, a line each or all in a list, but {path} has"
            f" {len(odd):,} that are none, the first in line {odd[0]}"
        )
    doubts = (
        [f"{counted(len(odd), 'row is', 'rows are')} left out, which are no JSON objects: {few(odd)}"] if odd else []
    )
    keys = list(dict.fromkeys(name for row in rows for name in row))
    names = _names(keys, path, doubts)
    return Sheet(names, [[row.get(key) for row in rows] for key in keys], lines, "JSON", doubts)


def _objects(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    whole = json_of(text)
    if whole is None:
        lines = enumerate(re.split(r"\r\n?|\n", text), 1)  # other ends of lines may stand in texts
        yield from ((number, json_of(line)) for number, line in lines if line.strip())
        return
    if isinstance(whole, dict) and isinstance(whole.get("objectives"), list):
        raise InvalidSetting(
            f"a table must be of items, but {path} is a catalog already; druthers serve --catalog {path}"
        )
    if isinstance(whole, dict):
        lists = [value for value in whole.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
        whole = lists[0] if len(lists) == 1 else [whole]
    yield from enumerate(whole, 1)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object without objects in it: their fields are named after both."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            flat.update((f"{_whole(name)} {inner}", part) for inner, part in _flat(value).items())
        else:
            flat[_whole(str(name))] = _whole(value)
    return flat


def _whole(value: Any) -> Any:
    """Return a value that can be written: JSON may hold halves of characters, each of which is a "?" then."""
    if isinstance(value, list):
        return [_whole(part) for part in value]
    half = isinstance(value, str) and not value.isascii()
    return value.encode("utf-8", "replace").decode("utf-8") if half else value


def _parquet(data: bytes, path: Path) -> Sheet:
    arrow, parquet = needs("pyarrow", "lab"), needs("pyarrow.parquet", "lab")
    try:
        table = parquet.read_table(arrow.BufferReader(data)).flatten()
        columns = [column.to_pylist() for column in table.columns]
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise InvalidSetting(f"a Parquet file must be whole, but {path}: {error}; write it again") from None
    doubts: list[str] = []
    names = _names([name.replace(".", " ") for name in table.column_names], path, doubts)
    for name, column in zip(names, columns, strict=True):
        gaps = column.count(None)
        column[:] = [_as_text(cell) if isinstance(cell, bytes) else cell for cell in column]
        if column.count(None) > gaps:
            doubts.append(f"{name}: bytes that are no text are taken for not known")
    return Sheet(names, columns, list(range(1, table.num_rows + 1)), "Parquet", doubts)


def _as_text(data: bytes) -> str | None:
    """Return bytes as the text that they are; None where they are none."""
    try:
        return data.decode("utf-8") if b"\0" not in data else None
    except UnicodeDecodeError:
        return None


def counted(number: int, one: str, many: str) -> str:
    """Return how many there are, in words for one or for many."""
    return f"1 {one}" if number == 1 else f"{number:,} {many}"


def few(lines: Sequence[int]) -> str:
    """Return the first few of some lines, in words."""
    more = ", ..." if len(lines) > FEW else ""
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:FEW]))}{more}"
