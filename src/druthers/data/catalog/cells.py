"""Cells as people write them, column by column: "€ 1.234,50", "yes", "8,5 / 10", "wifi; pool", "n/a", 03.05.2021."""

import ast
import datetime
import decimal
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from druthers.data.catalog.sheets import counted
from druthers.data.catalog.units import (
    CELLS,
    CURRENCIES,
    NO_HINTS,
    NUMERAL,
    UNITS,
    Amount,
    Hints,
    decimal_mark,
    in_one_unit,
    mark_of,
    unit_of,
    value_of,
    without_rare,
)
from druthers.data.reviews.tables import LARGEST

NUMBER, FLAG, DATE, LIST, TEXT, EMPTY = "number", "yes or no", "date", "list", "text", "empty"

BITS = {"0", "1"}
MISSING, YES, NO = (set(CELLS[kind]) for kind in ("missing", "yes", "no"))
ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ][\d:.]+(?:Z|[+-][\d:]+)?)?")
LOCAL_DATE = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{4})")
YEAR = re.compile(r"(?:19|20)\d\d")
STARS = re.compile(r"[\[(]?((?:[★⭐]\ufe0f?)+)(½?)((?:☆\ufe0f?)*)[\])]?")
CLOCK = re.compile(
    r"(\d{1,3})(:(?=\d\d)| ?(?:h|hrs?|hours?|std\.?|stunden?|heures?) ?)([0-5]?\d)(?::([0-5]\d))?"
    r"(?: ?(?:h|m|mins?|minutes?|minuten))?",
    re.IGNORECASE,
)
LASTING = "{!r} is taken for hours and minutes; if it is not, write it with a unit"
CODE = re.compile(r"0\d+")  # a number that begins with 0 is none: it is that of a place, or of a part
MARKUP = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)
SEPARATORS = (r"\|", ";", ",", "/", "[|;,/]")  # one for all cells, or else any
SENTENCE = (".", "!", "?")
MOST_PARTS, LONGEST_PART = 50, 30  # of a list
# Share of cells that must be of a kind for the column to be: the others are then gaps.
MOST, MANY = 0.9, 0.3
HALF = 0.5  # the same for numbers, where the column is called like one: a third of the prices may be "ask us"
LISTED = 0.25  # different entries of lists, of all of them


@dataclass
class Cells:
    """A column that was read."""

    kind: str  # what its cells are: numbers, yes or no, dates, lists, texts, or nothing
    values: list[Any]  # one for each row, None for a gap
    unit: str = ""  # what its numbers are counted in, as the cells say; "" where they do not
    out_of: float | None = None  # the best number there is, where the cells say so, as in "8 out of 10"
    odd: Counter[str] = field(default_factory=Counter)  # how often what was none of the kind and is taken for a gap
    doubts: list[str] = field(default_factory=list)  # what could be meant otherwise
    mark: str = ""  # the sign before decimals that its cells prove; "?" where it could be one between thousands

    @property
    def known(self) -> list[Any]:
        """The values that are no gaps."""
        return [value for value in self.values if value is not None]


def read_cells(
    cells: Sequence[Any], numbers: float = MOST, *, answers: bool = True, lists: bool = True, hints: Hints = NO_HINTS
) -> Cells:
    """Return a column as what most of its cells are.

    `numbers` is the share of them that makes it a column of numbers; `answers` says whether cells may be yes or no:
    what items are called is neither, though it be "x" and "y". `lists` says whether they may be lists, as no
    descriptions are, and `hints` what is known of the column if it is one of numbers.

    Examples
    --------
    >>> read = read_cells(["€ 1.234,50", "980,00 €", "n/a", "ask us"] + ["€ 75"] * 20)
    >>> read.kind, read.unit, read.values[:4], dict(read.odd)
    ('number', 'euros', [1234.5, 980.0, None, None], {'ask us': 1})
    >>> read_cells(["wifi; pool", "pool", "wifi; bar"] * 9).values[0]
    ['wifi', 'pool']
    """
    column = _Column(cells)
    if not column.n_known:
        return Cells(EMPTY, column.cells)
    if any(isinstance(cell, list) for cell in column.cells):
        return Cells(LIST, [cell if cell is None or isinstance(cell, list) else [cell] for cell in column.cells])
    reads: list[Callable[[_Column], Cells | None]] = [partial(_numbers, least=numbers, hints=hints), _dates]
    for read in ([_flags] if answers else []) + reads + ([_lists] if lists else []):
        found = read(column)
        if found is not None:
            return found
    dates = column.count(filter(_is_date, column.texts))
    doubts = [f"{dates:,} cells are dates and the others are not: all are kept as texts"]
    texts = [None if cell is None else _as_text(cell) for cell in column.cells]
    return Cells(TEXT, texts, doubts=doubts if dates >= MANY * column.n_known else [])


def are_words(texts: Sequence[str]) -> bool:
    """Tell whether most texts are words: not figures, units and signs, as telephones, amounts and bytes are.

    Examples
    --------
    >>> are_words(["Inn 21", "Route 66", "B&B"]), are_words(["+49 89 123456", "2 h 15 min", "$57k", "★★★"])
    (True, False)
    """
    measures = UNITS.keys() | CURRENCIES.keys()

    def is_worded(text: str) -> bool:
        letters = sum(len(word) for word in re.findall(r"[^\W\d_]+", text.casefold()) if word not in measures)
        return letters > sum(map(str.isdecimal, text))

    return sum(map(is_worded, texts)) > HALF * len(texts)


class _Column:
    """Plain cells, and how often each different text is among them."""

    def __init__(self, cells: Sequence[Any]) -> None:
        plain = {cell: _plain(cell) for cell in {one for one in cells if isinstance(one, str)}}
        self.cells = [plain[cell] if isinstance(cell, str) else _plain(cell) for cell in cells]
        self.texts = Counter(cell for cell in self.cells if isinstance(cell, str))
        self.n_known = sum(cell is not None for cell in self.cells)

    def count(self, texts: Iterable[str]) -> int:
        """Return in how many cells some texts stand."""
        return sum(self.texts[text] for text in texts)

    def read_as(self, told: Mapping[str, Any], other: Callable[[Any], Any] = lambda cell: None) -> list[Any]:
        """Return for each cell what its text was read as, or what it is if it is no text."""
        return [
            None if cell is None else told.get(cell) if isinstance(cell, str) else other(cell) for cell in self.cells
        ]

    def without(self, told: Mapping[str, Any]) -> Counter[str]:
        """Return the texts that were not read."""
        return Counter({text: count for text, count in self.texts.items() if told.get(text) is None})


def _plain(cell: Any) -> Any:
    """Return a cell as text, number, true or false, or a list of these; None for a gap."""
    if cell is None or isinstance(cell, bool):
        return cell
    if isinstance(cell, str):
        text = " ".join(cell.split()) if not cell.isascii() or "\n" in cell or "  " in cell else cell.strip()
        return None if text.casefold() in MISSING else text
    if isinstance(cell, int | float | decimal.Decimal):
        if cell > LARGEST or cell < -LARGEST:
            return str(cell)  # read, and told, as the texts are that say the same
        number = float(cell)  # of integers up to the largest nothing is lost
        return None if math.isnan(number) else cell if isinstance(cell, int) else number
    if isinstance(cell, datetime.date):
        return cell.isoformat()[:10]
    if isinstance(cell, list | tuple):
        parts = [part for part in map(_plain, cell) if part is not None and not isinstance(part, list)]
        return parts[:MOST_PARTS] or None
    return _plain(cell.decode("utf-8", "replace")) if isinstance(cell, bytes) else _plain(str(cell))


def _as_text(cell: Any) -> str:
    return cell if isinstance(cell, str) else f"{cell:g}" if isinstance(cell, float) else str(cell)


def _flags(column: _Column) -> Cells | None:
    words = {text: text.casefold() for text in column.texts}
    said = set(words.values())
    known = [cell for cell in column.cells if cell is not None]
    # Beside words 0 and 1 are answers too.
    others = any(not isinstance(one, str | bool) and one not in (0, 1) for one in known)
    if others or not said <= YES | NO | BITS or not said - BITS:
        different = set(known)
        if len(different) < 2 or not (different <= BITS or different <= {0, 1}):
            return None
        return Cells(FLAG, [None if cell is None else cell in (1, "1") for cell in column.cells])
    values = column.read_as({text: word in YES or word == "1" for text, word in words.items()}, bool)
    one_sided = len({value for value in values if value is not None}) == 1
    if one_sided and len(said) > 1:  # "x" and "y" are told apart, and not two words for yes
        return None
    doubts = ["only one answer is ever given, and a blank is taken for not known, not for the other one"]
    return Cells(FLAG, values, doubts=doubts if one_sided and len(known) < len(values) else [])


def _numbers(column: _Column, *, least: float, hints: Hints) -> Cells | None:
    texts, enough = column.texts, least * column.n_known
    matches = {text: match for text in texts if (match := NUMERAL.fullmatch(_as_numeral(text, hints))) is not None}
    if column.n_known - column.without(matches).total() < enough:
        return None
    signs = {part.strip().casefold() for match in matches.values() for part in (match["lead"] or "", match["tail"])}
    signs &= CURRENCIES.keys() - UNITS.keys()  # words of money alone: pounds are weights too
    hints = hints._replace(money=hints.money or bool(signs))
    numerals = [match["digits"].strip() for match in matches.values()]
    mark, doubts = decimal_mark(numerals, hints)
    told: dict[str, Amount] = {}
    for text, match in matches.items():
        number = value_of(match["digits"], mark)
        if number is None:  # in a column of both ways, "3,7" can only be meant one way
            number = value_of(match["digits"], "," if mark == "." else ".")
        unit = unit_of(match, money=hints.money)
        if number is not None and unit is not None:
            signed = -number if match["sign"] in ("-", "−") else number
            told[text] = Amount(signed * float(f"1{match['power'] or ''}"), *unit)
    told = without_rare(told, texts)
    odd = column.without(told)
    good = column.n_known - odd.total()
    if good < enough:
        return None
    alike = in_one_unit(told, texts, hints.unit)
    large = [text for text, value in alike.values.items() if not abs(value) <= LARGEST]
    beyond = column.count(large)
    # Of accounts, places and parts; a price is no code.
    if least == MOST and (good - beyond < enough or _are_codes(told, column)):
        return None
    values = [
        value if value is None or abs(value) <= LARGEST else None for value in column.read_as(alike.values, float)
    ]
    if large:
        many = counted(beyond, "number is", "numbers are")
        doubts.append(f"{many} beyond {LARGEST:g} and taken for not known: {large[0][:40]!r}")
    doubts += [LASTING.format(text) for text in told if text.count(":") == 1 and CLOCK.fullmatch(text)][:1]
    tops = Counter(one.top for one in told.values() if one.top is not None)
    top = max(tops, key=tops.__getitem__, default=None)
    return Cells(NUMBER, values, alike.unit, top, odd, [*doubts, *alike.doubts], mark_of(numerals))


def _as_numeral(text: str, hints: Hints) -> str:
    """Return a text with stars as their number, and hours and minutes, where a length of time is told, in minutes.

    Examples
    --------
    >>> [_as_numeral(text, Hints(lasting=True)) for text in ("[★★★]", "★★☆☆☆", "5:58", "2 h 5 min")]
    ['3 stars', '2/5', '358 min', '125 min']
    """
    if stars := STARS.fullmatch(text):
        full, empty = (sum(sign in "★⭐☆" for sign in part) for part in (stars[1], stars[3]))
        half = ".5" if stars[2] else ""
        return f"{full}{half}/{full + empty + bool(half)}" if empty else f"{full}{half} stars"
    clock = CLOCK.fullmatch(text)
    if clock is None or (clock[2] == ":" and not hints.lasting):  # it may be one of day
        return text
    return f"{60 * int(clock[1]) + int(clock[3]) + int(clock[4] or 0) / 60:.6g} min"


def _are_codes(told: Mapping[str, Amount], column: _Column) -> bool:
    """Tell whether numbers are codes: many begin with 0, or one does and all are equally long."""
    whole = [text for text in told if text.isdecimal()]
    codes = [text for text in whole if CODE.fullmatch(text)]
    many = column.count(codes) >= MANY * column.count(told)
    return bool(codes) and (many or len({len(text) for text in whole}) == 1)


def _is_date(text: str) -> re.Match[str] | None:
    return ISO_DATE.fullmatch(text) or LOCAL_DATE.fullmatch(text)


def _dates(column: _Column) -> Cells | None:
    """Return dates, where nearly all are; half of them do where the others are years alone."""
    found = {text: match for text in column.texts if (match := _is_date(text))}
    good, years = column.count(found), column.count(filter(YEAR.fullmatch, column.texts))
    if good < HALF * column.n_known or good + years < MOST * column.n_known:
        return None
    slashed = [match for match in found.values() if "/" in match[0]]  # with points, the day comes first
    month_first = any(int(match[2]) > 12 for match in slashed)
    either = bool(slashed) and not month_first and all(int(match[1]) <= 12 for match in slashed)
    doubts = ["3/4/2021 is taken for the third of April"] if either else []
    told = {text: _day(match, month_first and "/" in text) for text, match in found.items()}
    if not any(told.values()):
        return None
    return Cells(DATE, column.read_as(told), odd=column.without(told), doubts=doubts)


def _day(match: re.Match[str], month_first: bool) -> str | None:
    first, second, third = (int(part) for part in match.groups()[:3])
    if len(match[1]) < 4:
        first, second, third = (third, first, second) if month_first else (third, second, first)
    try:
        return datetime.date(first, second, third).isoformat()
    except ValueError:
        return None


def _lists(column: _Column) -> Cells | None:
    """Return lists where many texts are made of the same few pieces."""
    texts = column.texts
    written = {text: parts for text in texts if text[0] in "[{(" and (parts := _written(text)) is not None}
    if column.count(written) >= MOST * column.n_known:
        return Cells(LIST, column.read_as(written))
    if column.count(text for text in texts if text.endswith(SENTENCE) or MARKUP.search(text)) > HALF * column.n_known:
        return None
    for sign in SEPARATORS:
        cut = {text: [part.strip() for part in re.split(sign, text) if part.strip()] for text in texts}
        several = [text for text, parts in cut.items() if len(parts) > 1]
        if column.count(several) < MANY * column.n_known or any(map(_is_date, several)):
            continue
        every = Counter(part for text, parts in cut.items() for part in parts * texts[text])
        usual = {one.casefold(): one for one, _ in reversed(every.most_common())}  # "WiFi" and "wifi" are the same
        short = max(map(len, cut.values())) <= MOST_PARTS and max(map(len, every)) <= LONGEST_PART
        if short and len(usual) <= max(LISTED * every.total(), 1):
            told = {text: [usual[part.casefold()] for part in parts] or None for text, parts in cut.items()}
            return Cells(LIST, column.read_as(told, lambda cell: [cell]))
    return None


def _written(text: str) -> list[Any] | None:
    """Return a list that is written as JSON or Python write it."""
    for read in (json.loads, ast.literal_eval):
        try:
            parts = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        if isinstance(parts, list | tuple | set | frozenset):
            plain: list[Any] = _plain(sorted(parts) if isinstance(parts, set | frozenset) else list(parts)) or []
            return plain
    return None
