"""Units in cells: which of them are of the same thing, and how one is turned into another."""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple

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
