"""Numbers as people write them: which sign stands before decimals, and what a numeral stands for."""

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

SPACES = " \u00a0\u202f\u2009"
NUMERAL = re.compile(
    rf"(?P<lead>[^\d.,+\-−\s][^\d+\-−]{{0,5}}?)?\s*(?P<sign>[-−+])?\s*(?P<digits>\d[\d.,'’{SPACES}]*|[.,]\d+)"
    r"(?P<power>[eE][+-]?\d+)?(?P<tail>.{0,20})",
    re.DOTALL,
)
BOTH = "decimals are written with a point and with a comma; where both could be meant, most decide"


def is_numeral(cell: object) -> bool:
    """Tell whether a cell is a number, or begins like one."""
    return not isinstance(cell, str) or NUMERAL.fullmatch(cell) is not None


class Hints(NamedTuple):
    """What is known of a column of numbers beside its cells."""

    unit: str = ""  # that its name tells
    money: bool = False  # whether it is called like money
    counted: bool = False  # whether it is called like a number of ratings
    rated: bool = False  # whether it is called like an opinion, which is never in thousands
    lasting: bool = False  # whether it is called like a length of time, which may be written 5:58
    usual: str = ""  # the sign before decimals in other columns of the file
    semicolons: bool = False  # whether these stand between cells, as they do where decimals have commas


NO_HINTS = Hints()


def mark_of(numerals: Iterable[str]) -> str:
    """Return the sign before decimals that numerals prove; "?" where they have groups of three only, "" for none.

    Examples
    --------
    >>> mark_of(["1,5", "12"]), mark_of(["1.234", "980"]), mark_of(["12"])
    (',', '?', '')
    """
    last, threes = _signs(numerals)
    return next(iter(last)) if len(last) == 1 else "?" if threes and not last else ""


def decimal_mark(numerals: Iterable[str], hints: Hints = NO_HINTS) -> tuple[str, list[str]]:
    """Return the sign before decimals in a column of numerals, and what is doubtful about it.

    Where there are groups of three only, prices and counts are in thousands, and the rest is as the file has it.

    Examples
    --------
    >>> decimal_mark(["1.234,50", "12"])[0], decimal_mark(["1,234", "980"])[0], decimal_mark(["4,5", "1,234"])[0]
    (',', '.', ',')
    >>> decimal_mark(["1.234", "2.890"])[0], decimal_mark(["1.234", "2.890"], Hints(usual=","))[0]
    ('.', ',')
    """
    numerals = list(numerals)
    last, threes = _signs(numerals)
    large, usual = hints.money or hints.counted, hints.usual
    if last:
        return max(last, key=lambda sign: last[sign]), [BOTH] * (len(last) == 2)
    if len(threes) == 2:
        return usual or ("," if large else "."), [BOTH]
    if not threes:
        return usual or ".", []
    sign = next(iter(threes))
    other = "." if sign == "," else ","
    thousands = f"1{sign}234 is taken for a thousand and more; if it is not, write 1{sign}2340"
    decimals = f"1{sign}234 is taken for one and a part; if it is a thousand and more, write 1234"
    if large:
        return other, [thousands] * (usual == sign or (sign == "." and not usual))
    if usual == sign:
        return sign, [decimals] * (sign == ",")
    if sign == "." and usual:
        return (".", [decimals]) if hints.rated else (",", [thousands])
    if hints.semicolons and not usual and (sign == "." or not any(map(str.isdecimal, numerals))):
        return sign, [decimals]
    return ".", []


def _signs(numerals: Iterable[str]) -> tuple[Counter[str], Counter[str]]:
    """Return how often each sign can only stand before decimals, and how often before three figures of whatever."""
    last: Counter[str] = Counter()
    threes: Counter[str] = Counter()
    for numeral in numerals:
        marks = [sign for sign in numeral if sign in ".,"]
        if len(set(marks)) == 2:
            last[marks[-1]] += 2
        elif len(marks) > 1:
            last["," if marks[0] == "." else "."] += 2
        elif marks and not re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", numeral):
            last[marks[0]] += 1
        elif marks:
            threes[marks[0]] += 1
    return last, threes


def value_of(numeral: str, mark: str) -> float | None:
    """Return the number that a numeral stands for; None for figures in another order, such as a telephone's."""
    text = numeral.strip().rstrip(".,") if not numeral.strip().endswith(("..", ",,")) else ""
    comma = re.escape(mark)
    group = r"['’" + SPACES + (r"." if mark == "," else r",") + "]"
    if not re.fullmatch(rf"(?:\d{{1,3}}(?:{group}\d{{3}})+|\d+)?(?:{comma}\d+)?", text) or not text:
        return None
    whole, _, rest = text.partition(mark)
    digits = re.sub(r"\D", "", whole) or "0"
    return float(f"{digits}.{rest or '0'}") if len(digits) <= 16 else math.inf
