"""The laws of a catalog's content, checked all at once: a file with five mistakes is told five things."""

import itertools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from druthers.errors import choices

FORMAT = 1
# The first two are told fast, of a hundred thousand items.
TABLES = (dict, MappingProxyType, Mapping)
# The same mistake is told so often one by one, then once for all; and no more lines than can be read.
ONE_BY_ONE = 3
MOST_LINES = 50


class Mistake(NamedTuple):
    """Something that breaks a law: where, the law, what was found and the way out, each a piece of a sentence."""

    where: str
    law: str
    found: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return place + self.law + (self.found and f", but {self.found}") + (self.remedy and f"; {self.remedy}")

    @property
    def kind(self) -> tuple[str, str, str]:
        """What mistakes have in common that are told together."""
        return self.where.partition("[")[0], self.law, self.remedy


def find_mistakes(content: object) -> list[Mistake]:
    """Return everything that is wrong with the content of a catalog.

    Examples
    --------
    >>> [str(one) for one in find_mistakes({"name": "inns", "objectives": [{"name": "price", "low": 50, "high": 20}]})]
    ['objectives[0] "price": low must be below high, but got 50 and 20; exchange them']
    """
    found: list[Mistake] = []
    if not isinstance(content, Mapping):
        return [Mistake("", "a catalog must be a table of fields", f"got {shown(content)}")]
    _check_fields(found, "", content, CATALOG_FIELDS)
    ranges = _check_objectives(found, _tables(found, "objectives", content.get("objectives", [])))
    _check_items(found, _tables(found, "items", content.get("items", [])), ranges)
    return found


def grouped(mistakes: Sequence[Mistake]) -> list[str]:
    """Return mistakes as lines, in the order of their first ones; one line for many that are alike.

    Examples
    --------
    >>> many = [Mistake(f"items[{k}]", "id must be a text", f"got {k}") for k in range(5000)]
    >>> for line in grouped([*many, Mistake("items[7]", "name must be a text", "got 1")]):
    ...     print(line)
    5,000 items, such as items[0] (got 0), items[1] (got 1), items[2] (got 2): id must be a text
    items[7]: name must be a text, but got 1
    """
    groups: dict[tuple[str, str, str], list[Mistake]] = {}
    for one in mistakes:
        groups.setdefault(one.kind, []).append(one)
    lines: list[str] = []
    for (place, law, remedy), alike in groups.items():
        if len(alike) <= ONE_BY_ONE:
            lines += map(str, alike)
            continue
        count = len({one.where for one in alike})
        few = ", ".join(one.where + (one.found and f" ({one.found})") for one in alike[:ONE_BY_ONE])
        lines.append(str(Mistake(f"{count:,} {place}, such as {few}", law, remedy=remedy)))
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"and {more:,} more of other kinds"]


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.strip() == value != ""


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(_is_name(text) for text in value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_table(value: object) -> bool:
    return isinstance(value, TABLES)


def _is_fact(value: object) -> bool:
    return _is_name(value) or _is_number(value) or isinstance(value, bool)


def is_detail(value: object) -> bool:
    """Tell whether a value can be a detail of an item: a fact, or a list of facts."""
    return _is_fact(value) or (isinstance(value, list | tuple) and all(map(_is_fact, value)))


def _is_scale(value: object) -> bool:
    if not isinstance(value, list | tuple):
        return False
    pairs: list[Any] = list(value)
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 and all(map(_is_number, pair)) for pair in pairs):
        return False
    return all(before[0] < after[0] for before, after in itertools.pairwise(pairs))


Law = tuple[Callable[[object], bool], str, bool]

NAME: Law = (_is_name, "a text that is not empty and has no spaces around it", True)
TEXT: Law = (lambda value: isinstance(value, str), "a text", False)
TEXTS: Law = (_is_texts, "a list of texts that are not empty", False)
NUMBER: Law = (_is_number, "a finite number", False)
FLAG: Law = (lambda value: isinstance(value, bool), "true or false", False)

# Field by field: what it must be, and whether it must be there; lists of tables are looked at elsewhere.
CATALOG_FIELDS: dict[str, Law] = {
    "format": (lambda value: value == FORMAT and not isinstance(value, bool), f"{FORMAT}, the only one so far", False),
    "name": NAME,
    "description": TEXT,
    "simulated": FLAG,
    "objectives": (lambda _: True, "a list of tables", True),
    "items": (lambda _: True, "a list of tables", False),
}
OBJECTIVE_FIELDS: dict[str, Law] = {
    "name": NAME,
    "description": TEXT,
    "low": NUMBER,
    "high": NUMBER,
    "less_is_better": FLAG,
    "synonyms": TEXTS,
    "examples": TEXTS,
    "scale": (_is_scale, "a list of pairs of a value and its reward, values rising", False),
    "doubt": (_is_count, "a number of ratings from 0 on", False),
    "typical": NUMBER,
}
ITEM_FIELDS: dict[str, Law] = {
    "id": NAME,
    "name": (_is_name, NAME[1], False),
    "description": TEXT,
    "values": (_is_table, "a table of one number for each objective that is known", False),
    "details": (_is_table, "a table of facts", False),
    "counts": (_is_table, "a table of how many ratings a value is the mean of", False),
}
DETAIL = f"{NAME[1]}, a finite number, true or false, or a list of these"


def shown(value: object) -> str:
    """Return a value as its owner wrote it, shortened."""
    text = repr(value) if not isinstance(value, str) else f'"{value}"'
    return text if len(text) <= 60 else text[:57] + "..."


def _check_fields(found: list[Mistake], where: str, table: Mapping[str, Any], laws: dict[str, Law]) -> None:
    strange = (key for key in table if key not in laws)
    found += [Mistake(where, f"{shown(key)} is not a field here", remedy=choices(key, laws)) for key in strange]
    for key, (holds, law, needed) in laws.items():
        if key not in table:
            if needed:
                found.append(Mistake(where, f"{key} must be given: {law}"))
        elif not holds(table[key]):
            found.append(Mistake(where, f"{key} must be {law}", f"got {shown(table[key])}"))


def _tables(found: list[Mistake], key: str, value: object) -> list[tuple[str, Mapping[str, Any]]]:
    """Return each table of a list with its place, "items[3] "inn""; note what is no table."""
    if not isinstance(value, list | tuple):
        found.append(Mistake("", f"{key} must be a list of tables", f"got {shown(value)}"))
        return []
    tables = []
    for number, table in enumerate(value):
        if not isinstance(table, TABLES):
            found.append(Mistake(f"{key}[{number}]", "it must be a table of fields", f"got {shown(table)}"))
            continue
        label = table.get("id", table.get("name"))
        tables.append((f"{key}[{number}] {shown(label)}" if isinstance(label, str) else f"{key}[{number}]", table))
    return tables


def _check_objectives(
    found: list[Mistake], tables: list[tuple[str, Mapping[str, Any]]]
) -> dict[str, tuple[float, float] | None]:
    """Return the range of each objective by name, None where it is not right."""
    if not tables and not any(str(one).startswith("objectives") for one in found):
        law, remedy = "objectives must hold at least one table", "add [[objectives]] with a name"
        found.append(Mistake("", law, remedy=remedy))
    ranges: dict[str, tuple[float, float] | None] = {}
    owners: dict[str, str] = {}
    for where, table in tables:
        _check_fields(found, where, table, OBJECTIVE_FIELDS)
        name, low, high = table.get("name"), table.get("low", 0.0), table.get("high", 1.0)
        if not isinstance(name, str):
            continue
        known = _is_number(low) and _is_number(high)
        ranges[name] = (low, high) if known and low < high else None
        typical = table.get("typical", low)
        if known and not low < high:
            remedy = "exchange them" if high < low else "give it a range"
            found.append(Mistake(where, "low must be below high", f"got {low!r} and {high!r}", remedy))
        elif known and _is_number(typical) and not low <= typical <= high:
            law = f"typical must lie between {low:g} and {high:g}"
            found.append(Mistake(where, law, f"got {typical!r}", "correct it or widen low and high"))
        synonyms = table.get("synonyms", ())
        for word in (name, *(synonyms if _is_texts(synonyms) else ())):
            owner = owners.setdefault(word.casefold(), where)
            if owner != where:
                law = "a word must stand for one objective"
                found.append(Mistake(where, law, f"{owner} has {shown(word)} too", "choose one"))
    return ranges


def _check_items(
    found: list[Mistake],
    tables: list[tuple[str, Mapping[str, Any]]],
    ranges: dict[str, tuple[float, float] | None],
) -> None:
    owners: dict[str, str] = {}
    for where, table in tables:
        _check_fields(found, where, table, ITEM_FIELDS)
        identity, values, details = table.get("id"), table.get("values", {}), table.get("details")
        if isinstance(identity, str):
            owner = owners.setdefault(identity, where)
            if owner != where:
                other = owner.partition(" ")[0]
                found.append(Mistake(where, "ids must differ", f"{other} has this one too", "change one of them"))
        if isinstance(values, TABLES) and ranges:  # without objectives every value would be wrong
            found += _value_mistakes(where, values, ranges)
            found += _count_mistakes(where, table.get("counts", {}), values)
        for name, detail in details.items() if isinstance(details, TABLES) else ():
            if not _is_name(name):
                found.append(Mistake(where, f"the name of a detail must be {NAME[1]}", f"got {shown(name)}"))
            elif name in ranges:
                law = f"details.{name} must not have the name of an objective"
                found.append(Mistake(where, law, f"got {shown(detail)}", f"give it as values.{name}, or rename it"))
            elif not is_detail(detail):
                found.append(Mistake(where, f"details.{name} must be {DETAIL}", f"got {shown(detail)}"))


def _count_mistakes(where: str, counts: object, values: Mapping[str, Any]) -> Iterable[Mistake]:
    for objective, count in counts.items() if isinstance(counts, TABLES) else ():
        name = f"counts.{objective}"
        if objective not in values:
            yield Mistake(where, f"{name} must count the ratings of a value that is given", remedy="leave it out")
        elif not _is_count(count) or count == 0:
            yield Mistake(where, f"{name} must be a number above 0", f"got {shown(count)}", "leave it out")


def _value_mistakes(
    where: str, values: Mapping[str, Any], ranges: dict[str, tuple[float, float] | None]
) -> Iterable[Mistake]:
    for objective, value in values.items():
        name = f"values.{objective}"
        if objective not in ranges:
            yield Mistake(where, f"{name} is none of the objectives", remedy=choices(objective, ranges))
        elif not _is_number(value):
            law, remedy = f"{name} must be a finite number", "leave out what is not known"
            yield Mistake(where, law, f"got {shown(value)}", remedy)
        elif (limits := ranges[objective]) is not None and not limits[0] <= value <= limits[1]:
            law = f"{name} must lie between {limits[0]:g} and {limits[1]:g}"
            yield Mistake(where, law, f"got {value!r}", "correct it or widen the objective's low and high")
