"""What items are known by: ids that depend on nothing but the text they are made from."""

import functools
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from druthers.data.catalog.sheets import FEW, Sheet, counted, few
from druthers.data.reviews.reading import LONGEST_ID
from druthers.errors import InvalidSetting

# What the service takes as an id.
VALID = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._:@+~=-]{{0,{LONGEST_ID - 1}}}")
NOT_IN_IDS = re.compile(r"[^A-Za-z0-9._:@+~=-]+")
FIGURES = 12  # of the hash: among a hundred thousand texts, two are alike once in fifty thousand tables
ROOM = 8  # for the number of a namesake
SHOWN = 40  # letters of an id in a doubt
MOST_DOUBLED = 0.5  # share of rows with an id that others have too, from which on it is no id


def ids_of(
    sheet: Sheet, id: str | None, name: str | None, path: Path, doubts: list[str], *, rated: bool
) -> tuple[list[str], list[int], list[int]]:
    """Return the ids, the row that each item is described in (the last), and the item of each row (-1 for none).

    Parameters
    ----------
    sheet
        The table.
    id, name
        The columns of ids and names, None where there are none.
    path
        Where the table stands, for errors.
    doubts
        What is doubtful is told here, also where there is an error in the end.
    rated
        Whether it is a table of ratings, in which an id stands in many rows.
    """
    header = id or name
    if header is None:
        doubts.append("no column tells items apart: their ids are the numbers of rows, which must never change")
        raw: Sequence[Any] = [f"row-{number}" for number in range(1, len(sheet.lines) + 1)]
    else:
        raw = sheet.columns[sheet.names.index(header)]
        if id is None:
            doubts.append(f"no column is called id: ids are made from {header}, which must never change")
            doubts += [] if rated else _namesakes(header, raw, sheet.lines)
    own = as_ids(raw, once=id is None)
    nameless = [line for line, one in zip(sheet.lines, own, strict=True) if not one]
    if nameless:
        verb = "is" if len(nameless) == 1 else "are"
        doubts.append(f"{counted(len(nameless), 'row', 'rows')} without {header} {verb} left out: {few(nameless)}")
    last = {one: row for row, one in enumerate(own) if one}
    if not last:
        raise InvalidSetting(f"an item must have an id, but {header!r} of {path} is empty; name another with --id")
    if not rated:
        doubts += _doubles(own, last, f"{header!r} of {path}", sheet.lines)
    changed = {} if id is None else {text: new for text, new in zip(map(_text, raw), own, strict=True) if text != new}
    if changed:
        some = ", ".join(f"{_short(text)!r} is now {_short(new)!r}" for text, new in list(changed.items())[:FEW])
        some += ", ..." if len(changed) > FEW else ""
        doubts.append(
            f"{counted(len(changed), 'id is', 'ids are')} changed: {some}; ids begin with a letter or figure of ASCII"
            f" and hold these and ._:@+~=- only, {LONGEST_ID} signs at most"
        )
    number = {one: place for place, one in enumerate(last)}
    return list(last), list(last.values()), [number.get(one, -1) for one in own]


def as_ids(cells: Sequence[Any], *, once: bool) -> list[str]:
    """Return cells as ids, "" where they hold nothing; in any order of the rows, and in any table, a text has one id.

    Where each cell is an item of its own, namesakes are numbered as they come.

    Examples
    --------
    >>> as_ids(["a-b", "a b", 7.0, None, "a b"], once=False)
    ['a-b', 'a-b-c8687a08aa5d', '7', '', 'a-b-c8687a08aa5d']
    >>> as_ids(["Bar", "Bar", "Bar-2"], once=True)
    ['Bar', 'Bar-3', 'Bar-2']
    """
    of_text = functools.cache(_own)
    ids = [of_text(_text(cell)) for cell in cells]
    taken = set(ids)
    times: Counter[str] = Counter()
    for place, one in enumerate(ids) if once else ():
        times[one] += 1
        while one and times[one] > 1:
            ids[place] = f"{one[: LONGEST_ID - ROOM]}-{times[one]}"
            if ids[place] not in taken:
                taken.add(ids[place])
                break
            times[one] += 1
    return ids


def _text(cell: Any) -> str:
    """Return what an id is made from: whole numbers without decimals, and letters with marks in one way."""
    whole = isinstance(cell, float) and cell.is_integer()
    text = "" if cell is None or str(cell) == "nan" else str(int(cell) if whole else cell).strip()
    return unicodedata.normalize("NFC", text)


def _own(text: str) -> str:
    """Return the id of a text: itself, or what can be read of it and a hash of the whole."""
    if not text or VALID.fullmatch(text):
        return text
    ascii = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    readable = NOT_IN_IDS.sub("-", ascii).strip("-._:@+~=")[: LONGEST_ID - FIGURES - 1]
    hash = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:FIGURES]
    return f"{readable}-{hash}" if readable else hash


def _namesakes(header: str, names: Sequence[Any], lines: Sequence[int]) -> list[str]:
    """Tell of rows that are called the same, where names are all that tells items apart."""
    places: dict[str, list[int]] = {}
    for name, line in zip(names, lines, strict=True):
        places.setdefault(_text(name), []).append(line)
    twice = [name for name, some in places.items() if name and len(some) > 1]
    if not twice:
        return []
    count = counted(len(twice), "name stands", "names stand")
    where = f"such as {twice[0][:SHOWN]!r} in {few(places[twice[0]])}"
    return [f"{header}: {count} in several rows, {where}: each row is an item of its own"]


def _doubles(own: Sequence[str], last: Mapping[str, int], where: str, lines: Sequence[int]) -> list[str]:
    """Tell of ids that stand in several rows; refuse a column that is no id."""
    times = Counter(one for one in own if one)
    twice = [one for one, count in times.items() if count > 1]
    if not twice:
        return []
    if times.total() - len(last) > MOST_DOUBLED * times.total():
        raise InvalidSetting(
            f"an id must name one item, but {where} has {counted(len(last), 'id', 'ids')} in {times.total():,} rows,"
            f" such as {twice[0]!r}; name the column with --id, or who rated with --user if these are ratings"
        )
    some = [lines[row] for row, one in enumerate(own) if one == twice[0]]
    count = counted(len(twice), "id stands", "ids stand")
    return [f"{count} in several rows, such as {twice[0]!r} in {few(some)}: the last row counts"]


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
