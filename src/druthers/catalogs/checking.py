"""The laws of a catalog's content, checked all at once: a file with five mistakes is told five things."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from druthers.errors import choices

FORMAT = 1


def find_problems(content: object) -> list[str]:
    """Return everything that is wrong with the content of a catalog: where, the law, what was found, the way out.

    Examples
    --------
    >>> find_problems({"name": "inns", "objectives": [{"name": "price", "low": 50, "high": 20}]})
    ['objectives[0] "price": low must be below high, but got 50 and 20; exchange them']
    """
    found: list[str] = []
    if not isinstance(content, Mapping):
        return [f"a catalog must be a table of fields, but got {shown(content)}"]
    _check_fields(found, "", content, CATALOG_FIELDS)
    ranges = _check_objectives(found, _tables(found, "objectives", content.get("objectives", [])))
    _check_items(found, _tables(found, "items", content.get("items", [])), ranges)
    return found


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.strip() == value != ""


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(_is_name(text) for text in value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_details(value: object) -> bool:
    return isinstance(value, Mapping) and all(_is_name(part) for pair in value.items() for part in pair)


def _anything(value: object) -> bool:
    return True  # looked at elsewhere


Law = tuple[Callable[[object], bool], str, bool]

NAME: Law = (_is_name, "a text that is not empty and has no spaces around it", True)
TEXT: Law = (_is_text, "a text", False)
TEXTS: Law = (_is_texts, "a list of texts that are not empty", False)
NUMBER: Law = (_is_number, "a finite number", False)
FLAG: Law = (_is_flag, "true or false", False)

# Field by field: what it must be, and whether it must be there.
CATALOG_FIELDS: dict[str, Law] = {
    "format": (lambda value: value == FORMAT and not isinstance(value, bool), f"{FORMAT}, the only one so far", False),
    "name": NAME,
    "description": TEXT,
    "simulated": FLAG,
    "objectives": (_anything, "a list of tables", True),
    "items": (_anything, "a list of tables", False),
}
OBJECTIVE_FIELDS: dict[str, Law] = {
    "name": NAME,
    "description": TEXT,
    "low": NUMBER,
    "high": NUMBER,
    "less_is_better": FLAG,
    "synonyms": TEXTS,
    "examples": TEXTS,
}
ITEM_FIELDS: dict[str, Law] = {
    "id": NAME,
    "name": (_is_name, NAME[1], False),
    "description": TEXT,
    "values": (
        lambda value: isinstance(value, Mapping),
        "a table of one number for each objective that is known",
        False,
    ),
    "details": (_is_details, "a table of texts", False),
}


def shown(value: object) -> str:
    """Return a value as its owner wrote it, shortened."""
    text = repr(value) if not isinstance(value, str) else f'"{value}"'
    return text if len(text) <= 60 else text[:57] + "..."


def _check_fields(found: list[str], where: str, table: Mapping[str, Any], laws: dict[str, Law]) -> None:
    found += [f"{where}{shown(key)} is not a field here; {choices(key, laws)}" for key in table if key not in laws]
    for key, (holds, law, needed) in laws.items():
        if key not in table:
            if needed:
                found.append(f"{where}{key} must be given: {law}")
        elif not holds(table[key]):
            found.append(f"{where}{key} must be {law}, but got {shown(table[key])}")


def _tables(found: list[str], key: str, value: object) -> list[tuple[str, Mapping[str, Any]]]:
    """Return each table of a list with its place, "items[3] "inn": "; note what is no table."""
    if not isinstance(value, list | tuple):
        found.append(f"{key} must be a list of tables, but got {shown(value)}")
        return []
    tables = []
    for number, table in enumerate(value):
        if not isinstance(table, Mapping):
            found.append(f"{key}[{number}] must be a table of fields, but got {shown(table)}")
            continue
        label = table.get("id", table.get("name"))
        tables.append((f"{key}[{number}] {shown(label)}: " if isinstance(label, str) else f"{key}[{number}]: ", table))
    return tables


def _check_objectives(
    found: list[str], tables: list[tuple[str, Mapping[str, Any]]]
) -> dict[str, tuple[float, float] | None]:
    """Return the range of each objective by name, None where it is not right."""
    if not tables and not any(line.startswith("objectives") for line in found):
        found.append("objectives must hold at least one table; add [[objectives]] with a name")
    ranges: dict[str, tuple[float, float] | None] = {}
    owners: dict[str, str] = {}
    for where, table in tables:
        _check_fields(found, where, table, OBJECTIVE_FIELDS)
        name, low, high = table.get("name"), table.get("low", 0.0), table.get("high", 1.0)
        if not isinstance(name, str):
            continue
        if not (_is_number(low) and _is_number(high)):
            ranges[name] = None
        elif low < high:
            ranges[name] = (low, high)
        else:
            ranges[name] = None
            remedy = "exchange them" if high < low else "give it a range"
            found.append(f"{where}low must be below high, but got {low!r} and {high!r}; {remedy}")
        synonyms = table.get("synonyms", ())
        for word in (name, *(synonyms if _is_texts(synonyms) else ())):
            owner = owners.setdefault(word.casefold(), where)
            if owner != where:
                other = owner.removesuffix(": ")
                found.append(
                    f"{where}a word must stand for one objective, but {other} has {shown(word)} too; choose one"
                )
    return ranges


def _check_items(
    found: list[str],
    tables: list[tuple[str, Mapping[str, Any]]],
    ranges: dict[str, tuple[float, float] | None],
) -> None:
    owners: dict[str, str] = {}
    for where, table in tables:
        _check_fields(found, where, table, ITEM_FIELDS)
        identity, values = table.get("id"), table.get("values")
        if isinstance(identity, str):
            owner = owners.setdefault(identity, where)
            if owner != where:
                found.append(
                    f"{where}ids must differ, but {owner.partition(' ')[0]} has this one too; change one of them"
                )
        if isinstance(values, Mapping) and ranges:  # without objectives every value would be wrong
            found += [where + problem for problem in _value_problems(values, ranges)]


def _value_problems(values: Mapping[str, Any], ranges: dict[str, tuple[float, float] | None]) -> Iterable[str]:
    for objective, value in values.items():
        if objective not in ranges:
            yield f"values.{objective} is none of the objectives; {choices(objective, ranges)}"
        elif not _is_number(value):
            yield f"values.{objective} must be a finite number, but got {shown(value)}; leave out what is not known"
        elif (limits := ranges[objective]) is not None and not limits[0] <= value <= limits[1]:
            yield (
                f"values.{objective} must lie between {limits[0]:g} and {limits[1]:g}, but got {value!r};"
                " correct it or widen the objective's low and high"
            )
