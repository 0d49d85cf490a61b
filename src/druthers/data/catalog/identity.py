"""What items are known by: ids that depend on nothing but the text they are made from."""

import functools
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
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

    `id` and `name` are the columns of ids and names, if there are such; `rated` says that an id may stand in many rows,
    as in a table of ratings. What is doubtful is added to `doubts`, also where there is an error in the end.
    """
    header = id or name
    if header is None:
        doubts.append("no column tells items apart: their ids are the numbers of rows, which must never change")
        raw: Sequence[Any] = [f"row-{number}" for number in range(1, len(sheet.lines) + 1)]
    else:
        raw = sheet.columns[sheet.names.index(header)]
        if id is None:
            doubts.append(f"no column is called id: ids are made from {header}, which must never change")
            twice = {} if rated else _repeated(map(_text, raw), sheet.lines)
            if twice:
                name, lines = next(iter(twice.items()))
                count = counted(len(twice), "name stands", "names stand")
                where = f"such as {name[:SHOWN]!r} in {few(lines)}"
                doubts.append(f"{header}: {count} in several rows, {where}: each row is an item of its own")
    own = as_ids(raw, once=id is None)
    nameless = [line for line, one in zip(sheet.lines, own, strict=True) if not one]
    if nameless:
        verb = "is" if len(nameless) == 1 else "are"
        doubts.append(f"{counted(len(nameless), 'row', 'rows')} without {header} {verb} left out: {few(nameless)}")
    last = {one: row for row, one in enumerate(own) if one}
    if not last:
        raise InvalidSetting(f"an item must have an id, but {header!r} of {path} is empty; name another with --id")
    twice = {} if rated else _repeated(own, sheet.lines)
    if twice:
        one, lines = next(iter(twice.items()))
        n_rows = len(own) - len(nameless)
        if n_rows - len(last) > MOST_DOUBLED * n_rows:
            raise InvalidSetting(
                f"an id must name one item, but {header!r} of {path} has {counted(len(last), 'id', 'ids')} in"
                f" {n_rows:,} rows, such as {one!r}; name the column with --id, or who rated with --user if these are"
                " ratings"
            )
        count = counted(len(twice), "id stands", "ids stand")
        doubts.append(f"{count} in several rows, such as {one!r} in {few(lines)}: the last row counts")
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


def _repeated(texts: Iterable[str], lines: Sequence[int]) -> dict[str, list[int]]:
    """Return texts that stand in several rows, with the lines of these."""
    places: dict[str, list[int]] = {}
    for text, line in zip(texts, lines, strict=True):
        places.setdefault(text, []).append(line)
    return {text: some for text, some in places.items() if text and len(some) > 1}


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
