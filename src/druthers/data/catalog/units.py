"""Numbers as people write them, and their units: what stands before decimals, and how units are turned into others."""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.resources import files
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


CELLS = tomllib.loads(files("druthers.data.catalog").joinpath("cells.toml").read_text("utf-8"))
CURRENCIES: dict[str, str] = {sign: name for name, signs in CELLS["currencies"].items() for sign in signs}
MONEY = "money"
NAMED = ("distance", "time", "weight", "volume", "data")  # of which people say what they want in any unit


class Unit(NamedTuple):
    """What things are measured in."""

    name: str
    kind: str  # what it measures; only units of one kind can be turned into each other
    size: float  # in the common unit of its kind


UNITS = {
    word: Unit(name, kind, float(size))
    for kind, units in CELLS["units"].items()
    for name, (size, *others) in units.items()
    for word in (name.casefold(), *others)
}
BY_NAME = {unit.name: unit for unit in UNITS.values()}
PAID = set(CURRENCIES.values())
MOST_UNITS = 3  # different ones in a column; more are no units
ATTACHED = 4  # letters of an unknown unit that is written without a space
OUT_OF = re.compile(
    r"(?:/|out of|von|of|sur|de)\s*(\d+(?:[.,]\d+)?)(?:\s*(?:stars?|points?|sterne|punkte))?", re.IGNORECASE
)
EACH = re.compile(
    r"\s*(?:/\s*|\b(?:per|pro|a)\s+|p\.\s*)(?:night|month|monat|nacht|day|person|pp|hour|year|nt|mo|n)\b\.?$|,-+|-$"
)
WORD = r"[^\W\d_]{1,12}[²2³3]?"
SPELLED = re.compile(rf"{WORD}(?:[ /]{WORD})?|%|\"|″|''|°|°c")
ABOUT = ("ca.", "ca", "~", "approx.", "from", "ab", "à")


class Amount(NamedTuple):
    """A number with its unit."""

    number: float
    unit: str  # "" where there is none
    top: float | None = None  # the best number there is, where the cell says so


class Amounts(NamedTuple):
    """The numbers of a column in one unit."""

    values: dict[str, float]  # by the text they are written in
    unit: str
    doubts: list[str]


def unit_of(match: re.Match[str], *, money: bool) -> tuple[str, float | None] | None:
    """Return the unit of a numeral and the best number there is, if it says; None where letters around are no unit."""
    lead, tail = (match["lead"] or "").strip().casefold(), match["tail"].strip().casefold()
    top = OUT_OF.fullmatch(tail)
    if top is not None:
        return "", float(top[1].replace(",", "."))
    if lead and lead not in CURRENCIES and lead not in ABOUT:
        return None
    said = EACH.sub("", tail).strip(" .")
    known, paid = _known(said, money=money), CURRENCIES.get(lead, "")
    if not known and said:
        attached = re.search(r"\d[^\W\d_]", match[0])  # "3rd floor" may be one, "3ville" is none; nor is "€12k"
        if (attached and (paid or len(said) > ATTACHED)) or not (paid or SPELLED.fullmatch(said)):
            return None
    if paid and known not in PAID:
        return paid, None
    return ("", 100.0) if said == "%" else (known or said, None)


def _known(said: str, *, money: bool) -> str:
    """Return the name of a unit by a word for it, also with what is measured behind it: "5 min walk", "16 GB RAM"."""
    first = said.partition(" ")[0]
    for word in (said, "" if first == "in" else first):  # "5 in stock"
        unit, currency = UNITS.get(word), CURRENCIES.get(word)
        if unit is not None and not (money and currency):
            return unit.name
        if currency:
            return currency
    return ""


def kind_of(unit: str) -> str:
    """Return what a unit measures; of a word that is none, the word itself.

    Examples
    --------
    >>> kind_of("weeks"), kind_of("euros"), kind_of("beds")
    ('time', 'money', 'beds')
    """
    return MONEY if unit in PAID else BY_NAME[unit].kind if unit in BY_NAME else unit


def is_told(unit: str) -> bool:
    """Tell whether a unit belongs into the name of a detail."""
    return unit.isalpha() and kind_of(unit) in NAMED


def without_rare(told: Mapping[str, Amount], texts: Mapping[str, int]) -> dict[str, Amount]:
    """Return amounts without those in words that are too many to be units."""
    kinds: Counter[str] = Counter()
    for text, one in told.items():
        kinds[kind_of(one.unit)] += texts[text]
    allowed = {kind for kind, _ in kinds.most_common(MOST_UNITS + 1)}
    return {text: one for text, one in told.items() if kind_of(one.unit) in allowed}


def in_one_unit(told: Mapping[str, Amount], texts: Mapping[str, int], header: str) -> Amounts:
    """Return amounts in the unit that the name of their column tells, or that most of them have.

    `told` is what each text says, `texts` how often it is there, `header` the unit in the name of the column, if any.

    Examples
    --------
    >>> told = {"2 days": Amount(2.0, "days"), "36 h": Amount(36.0, "hours"), "3 km": Amount(3.0, "km")}
    >>> read = in_one_unit(told, {"2 days": 5, "36 h": 1, "3 km": 1}, "")
    >>> read.values, read.unit, len(read.doubts)
    ({'2 days': 2.0, '36 h': 1.5}, 'days', 1)
    """
    units: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for text, one in told.items():
        if one.unit:
            units[one.unit] += texts[text]
            kinds[kind_of(one.unit)] += texts[text]
    if not units:
        return Amounts({text: one.number for text, one in told.items()}, "", [])
    usual = [unit for unit, _ in units.most_common()]
    kind = kinds.most_common(1)[0][0]
    main = next(unit for unit in usual if kind_of(unit) == kind)
    own = UNITS[header.casefold()].name if header.casefold() in UNITS else header
    doubts, column = [], f"most in {main!r}"
    if own in units or (own in BY_NAME and kind_of(own) in kinds):
        main, column = own, f"the column is in {own!r}" if own != usual[0] else column
    elif own in PAID or own in BY_NAME:
        doubts.append(
            f"the name says {own!r} and cells say {main!r}: they are taken as they stand; correct one of them"
        )
    bare = sum(texts[text] for text, one in told.items() if not one.unit)
    if bare and main != own and main in BY_NAME:
        doubts.append(f"{bare} numbers have no unit and count as {main!r}")
    strange = [unit for unit in usual if unit != main and (kind_of(unit) != kind_of(main) or unit in PAID)]
    measures = PAID | set(BY_NAME)  # all other words are of what is counted
    apart = [unit for unit in strange if unit in measures or main in measures]
    for other in strange:
        some = f"numbers are in {other!r} and {column}"
        doubts.append(
            f"{units[other]} {some}, and one cannot be turned into the other: they count as unknown; write all in one"
            if other in apart
            else f"some {some}: they are taken as they stand"
        )
    values = {}
    for text, (number, unit, _) in told.items():
        if unit not in apart:
            turned = unit != main and unit in BY_NAME
            values[text] = float(f"{number * BY_NAME[unit].size / BY_NAME[main].size:.12g}") if turned else number
    return Amounts(values, main, doubts)
