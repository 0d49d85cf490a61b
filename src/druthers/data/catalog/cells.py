"""Cells as people write them, column by column: "€ 1.234,50", "yes", "8,5 / 10", "wifi; pool", "n/a", 03.05.2021."""

import ast
import datetime
import decimal
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from typing import Any

from druthers.data.catalog.numerals import NO_HINTS, NUMERAL, Hints, decimal_mark, mark_of, value_of
from druthers.data.catalog.units import CURRENCIES, UNITS, Amount, in_one_unit, is_currency, unit_of, without_rare
from druthers.data.reviews.tables import LARGEST

NUMBER, FLAG, DATE, LIST, TEXT, EMPTY = "number", "yes or no", "date", "list", "text", "empty"

_WORDS = tomllib.loads(files("druthers.data.catalog").joinpath("cells.toml").read_text("utf-8"))
BITS = {"0", "1"}
MISSING, YES, NO = (set(_WORDS[kind]) for kind in ("missing", "yes", "no"))
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
    plain = _all_plain(cells)
    known = [cell for cell in plain if cell is not None]
    if not known:
        return Cells(EMPTY, plain)
    if any(isinstance(cell, list) for cell in known):
        return Cells(LIST, [cell if cell is None or isinstance(cell, list) else [cell] for cell in plain])
    texts = Counter(cell for cell in known if isinstance(cell, str))
    for read in (_flags, partial(_numbers, least=numbers, hints=hints), _dates, _lists):
        skipped = (read is _flags and not answers) or (read is _lists and not lists)
        found = None if skipped else read(plain, texts, len(known))
        if found is not None:
            return found
    dates = sum(count for text, count in texts.items() if _is_date(text))
    doubts = [f"{dates:,} cells are dates and the others are not: all are kept as texts"] * (dates >= MANY * len(known))
    return Cells(TEXT, [None if cell is None else _as_text(cell) for cell in plain], doubts=doubts)


def are_words(texts: Sequence[str]) -> bool:
    """Tell whether most texts are words: not figures, units and signs, as telephones, amounts and bytes are.

    Examples
    --------
    >>> are_words(["Inn 21", "Route 66", "B&B"]), are_words(["+49 89 123456", "2 h 15 min", "$57k", "★★★"])
    (True, False)
    """
    return sum(map(_is_worded, texts)) > HALF * len(texts)


def _is_worded(text: str) -> bool:
    words = (word for word in re.findall(r"[^\W\d_]+", text.casefold()) if word not in UNITS and word not in CURRENCIES)
    return sum(map(len, words)) > sum(map(str.isdecimal, text))


def _all_plain(cells: Sequence[Any]) -> list[Any]:
    """Return all cells plain, each different text once."""
    texts: dict[str, Any] = {}
    plain = []
    for cell in cells:
        if isinstance(cell, str):
            if cell not in texts:
                texts[cell] = _plain(cell)
            plain.append(texts[cell])
        else:
            plain.append(_plain(cell))
    return plain


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


def _spread(plain: Sequence[Any], told: dict[Any, Any], other: Callable[[Any], Any]) -> list[Any]:
    """Return for each cell what is told of its text, or what it is if it is none."""
    return [None if cell is None else told.get(cell) if isinstance(cell, str) else other(cell) for cell in plain]


def _flags(plain: Sequence[Any], texts: Counter[str], n_known: int) -> Cells | None:
    words = {text: text.casefold() for text in texts}
    said = set(words.values())
    # Beside words 0 and 1 are answers too.
    others = any(not isinstance(one, str | bool) and one not in (0, 1) for one in plain if one is not None)
    if others or not said <= YES | NO | BITS or not said - BITS:
        numbers = {cell for cell in plain if cell is not None}
        if numbers <= {0, 1} and len(numbers) == 2 and not texts:
            return Cells(FLAG, [None if cell is None else bool(cell) for cell in plain])
        if not numbers <= BITS or len(numbers) < 2:
            return None
        return Cells(FLAG, [None if cell is None else cell == "1" for cell in plain])
    values = _spread(plain, {text: word in YES or word == "1" for text, word in words.items()}, bool)
    doubts = []
    one_sided = len({value for value in values if value is not None}) == 1
    if one_sided and len(set(words.values())) > 1:  # "x" and "y" are told apart, and not two words for yes
        return None
    if one_sided and len(plain) > n_known:
        doubts.append("only one answer is ever given, and a blank is taken for not known, not for the other one")
    return Cells(FLAG, values, doubts=doubts)


def _numbers(plain: Sequence[Any], texts: Counter[str], n_known: int, *, least: float, hints: Hints) -> Cells | None:
    matches = {text: match for text in texts if (match := NUMERAL.fullmatch(_as_numeral(text, hints))) is not None}
    if n_known - sum(texts[text] for text in texts if text not in matches) < least * n_known:
        return None
    signs = {part.strip().casefold() for match in matches.values() for part in (match["lead"] or "", match["tail"])}
    hints = hints._replace(money=hints.money or any(map(is_currency, signs)))
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
    good = n_known - sum(count for text, count in texts.items() if text not in told)
    if good < least * n_known:
        return None
    alike = in_one_unit(told, texts, hints.unit)
    values = _spread(plain, alike.values, float)
    large = [text for text, value in alike.values.items() if not abs(value) <= LARGEST]
    few = good - sum(texts[text] for text in large) < least * n_known
    if least == MOST and (few or _are_codes(told, texts)):  # of accounts, places and parts; a price is no code
        return None
    values = [value if value is None or abs(value) <= LARGEST else None for value in values]
    if large:
        count = sum(texts[text] for text in large)
        many = "1 number is" if count == 1 else f"{count:,} numbers are"
        doubts.append(f"{many} beyond {LARGEST:g} and taken for not known: {large[0][:40]!r}")
    doubts += [LASTING.format(text) for text in told if text.count(":") == 1 and CLOCK.fullmatch(text)][:1]
    odd = Counter({text: count for text, count in texts.items() if text not in told})
    tops = Counter(one.top for one in told.values() if one.top is not None)
    top = tops.most_common(1)[0][0] if tops else None
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


def _are_codes(told: Mapping[str, Amount], texts: Counter[str]) -> bool:
    """Tell whether numbers are codes: many begin with 0, or one does and all are equally long."""
    whole = [text for text in told if text.isdecimal()]
    codes = [text for text in whole if CODE.fullmatch(text)]
    many = sum(texts[text] for text in codes) >= MANY * sum(texts[text] for text in told)
    return bool(codes) and (many or len({len(text) for text in whole}) == 1)


def _is_date(text: str) -> re.Match[str] | None:
    return ISO_DATE.fullmatch(text) or LOCAL_DATE.fullmatch(text)


def _dates(plain: Sequence[Any], texts: Counter[str], n_known: int) -> Cells | None:
    """Return dates, where nearly all are; half of them do where the others are years alone."""
    found = {text: match for text in texts if (match := _is_date(text))}
    good = sum(texts[text] for text in found)
    years = sum(count for text, count in texts.items() if YEAR.fullmatch(text))
    if good < HALF * n_known or good + years < MOST * n_known:
        return None
    slashed = [match for match in found.values() if "/" in match[0]]  # with points, the day comes first
    month_first = any(int(match[2]) > 12 for match in slashed)
    either = bool(slashed) and not month_first and all(int(match[1]) <= 12 for match in slashed)
    doubts = ["3/4/2021 is taken for the third of April"] if either else []
    told = {text: _day(match, month_first and "/" in text) for text, match in found.items()}
    odd = Counter({text: texts[text] for text in texts if told.get(text) is None})
    if odd.total() == n_known:
        return None
    return Cells(DATE, _spread(plain, told, lambda cell: None), odd=odd, doubts=doubts)


def _day(match: re.Match[str], month_first: bool) -> str | None:
    first, second, third = (int(part) for part in match.groups()[:3])
    if len(match[1]) < 4:
        day, month = (second, first) if month_first else (first, second)
        first, second, third = third, month, day
    try:
        return datetime.date(first, second, third).isoformat()
    except ValueError:
        return None


def _lists(plain: Sequence[Any], texts: Counter[str], n_known: int) -> Cells | None:
    """Return lists where many texts are made of the same few pieces."""
    written = {text: parts for text in texts if text[0] in "[{(" and (parts := _written(text)) is not None}
    if sum(texts[text] for text in written) >= MOST * n_known:
        return Cells(LIST, _spread(plain, written, lambda cell: None))
    sentences = sum(count for text, count in texts.items() if text.endswith(SENTENCE) or MARKUP.search(text))
    if sentences > HALF * n_known:
        return None
    for sign in SEPARATORS:
        cut = {text: [part.strip() for part in re.split(sign, text) if part.strip()] for text in texts}
        several = sum(texts[text] for text, parts in cut.items() if len(parts) > 1)
        torn = any(len(parts) > 1 and _is_date(text) for text, parts in cut.items())
        if several < MANY * n_known or torn:
            continue
        every = Counter(part for text, parts in cut.items() for part in parts * texts[text])
        usual = {one.casefold(): one for one, _ in reversed(every.most_common())}  # "WiFi" and "wifi" are the same
        short = all(len(parts) <= MOST_PARTS for parts in cut.values()) and all(
            len(one) <= LONGEST_PART for one in every
        )
        if short and len(usual) <= max(LISTED * every.total(), 1):
            told = {text: [usual[part.casefold()] for part in parts] or None for text, parts in cut.items()}
            return Cells(LIST, _spread(plain, told, lambda cell: [cell]))
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
