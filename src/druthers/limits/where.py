"""The form of limits: a table from a name to what is allowed, as JSON has it."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from druthers.errors import InvalidOffer, NothingFits, UnknownName

Range: TypeAlias = dict[str, Any]
Where: TypeAlias = dict[str, Any]

BOUNDS = ("min", "max")
_DAY, _HOUR = r"[0-9]{4}-[0-9]{2}-[0-9]{2}", r"(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00"
# What a list of an item must hold: one of these, each of these, none of these.
HOLDS = ("any", "all", "not")
_VALUE = {"type": ["string", "number", "boolean"]}
_VALUES = {"anyOf": [_VALUE, {"type": "array", "items": _VALUE, "minItems": 1, "maxItems": 50}]}
_RANGE = {
    "type": "object",
    "properties": {
        bound: {"anyOf": [{"type": "number"}, {"type": "string", "pattern": f"^({_DAY}|{_HOUR})$"}]} for bound in BOUNDS
    },
    "additionalProperties": False,
    "minProperties": 1,
}
_HELD = {
    "type": "object",
    "properties": dict.fromkeys(HOLDS, _VALUES),
    "additionalProperties": False,
    "minProperties": 1,
}
# A limit as JSON Schema has it.
SCHEMA: dict[str, Any] = {"anyOf": [*_VALUES["anyOf"], _RANGE, _HELD]}
MOST = 50  # limits in one table, and allowed values in one limit


def check_where(where: object, names: Iterable[str]) -> Where:
    """Return limits in their plain form, or say what is wrong with them.

    A limit is a value, a list of values any of which will do, `{"min": 1, "max": 9}` with one bound or both, numbers,
    days (`"2026-07-06"`) or hours (`"17:30"`), or one or more of `{"any": ..., "all": ..., "not": ...}`, each with a
    value or a list: of these any will do, all must be there (where items have lists), none may be there.

    Examples
    --------
    >>> check_where({"city": "Vienna", "price": {"max": 120}}, ["city", "price"])
    {'city': 'Vienna', 'price': {'max': 120}}
    """
    checked = check_shape(where)
    known = set(names)
    for name in checked:
        if name not in known:
            raise UnknownName.of("detail or objective of the catalog", name, sorted(known))
    return checked


def check_shape(where: object, most: float = MOST) -> Where:
    """Return limits in their plain form, whatever they are on: up to so many names, and values under each."""
    if not isinstance(where, Mapping) or len(where) > most:
        raise InvalidOffer(f"limits must be a table of up to {most} names, but got {str(where)[:200]!r}; give fewer")
    return {str(name): _check_limit(str(name), limit, most) for name, limit in where.items()}


def is_sound(limit: object) -> bool:
    """Tell whether a limit has the form of one, and may be met."""
    try:
        _check_limit("", limit, math.inf)
    except InvalidOffer:  # nothing that fits is one of them
        return False
    return True


def _check_limit(name: str, limit: object, most: float) -> Any:
    if not isinstance(limit, Mapping):
        return _check_values(name, limit, most)
    if limit and set(limit) <= set(HOLDS):
        return {part: _check_values(name, limit[part], most) for part in HOLDS if part in limit}
    kinds = {kind_of(bound) for bound in limit.values()}
    if not limit or not set(limit) <= set(BOUNDS) or len(kinds) > 1 or "" in kinds:
        raise InvalidOffer(
            f"the limit on {name!r} must be a value, a list of values, numbers, days (2026-07-06) or hours (17:30) as"
            f" min and max, or any, all or not with values, but got {str(dict(limit))[:200]}; give one of these"
        )
    if not _is_range(limit):
        raise NothingFits(f"the limit on {name!r} must have min up to max, but got {dict(limit)!r}; exchange them")
    return {bound: limit[bound] for bound in BOUNDS if bound in limit}


def _check_values(name: str, values: object, most: float) -> Any:
    if isinstance(values, list | tuple):
        if 0 < len(values) <= most and all(_is_value(value) for value in values):
            return list(values)
    elif _is_value(values):
        return values
    raise InvalidOffer(
        f"the limit on {name!r} must allow texts, finite numbers, true or false, at most {most} of them,"
        f" but got {str(values)[:200]!r}; give one limit for each name"
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_day(value: object) -> bool:
    """Tell whether a value is a day, such as 2026-07-06."""
    return isinstance(value, str) and re.fullmatch(_DAY, value) is not None


def is_hour(value: object) -> bool:
    """Tell whether a value is a time of the day, such as 17:30."""
    return isinstance(value, str) and re.fullmatch(_HOUR, value) is not None


def hour_of(fact: object) -> str:
    """Return a time of the day in its full form, 09:00 for 9:00; "" for what is none."""
    text = fact.zfill(5) if isinstance(fact, str) and ":" in fact else ""
    return text if is_hour(text) else ""


def kind_of(bound: object) -> str:
    """Return what a bound is: "number", "day", "hour", or "" for nothing that is one."""
    kinds = ("number", _is_number), ("day", is_day), ("hour", is_hour)
    return next((kind for kind, is_one in kinds if is_one(bound)), "")


def _is_range(limit: Mapping[str, Any]) -> bool:
    """Tell whether bounds are of one kind, and the lower one is not above the upper."""
    low, high = limit.get("min"), limit.get("max")
    return low is None or high is None or (kind_of(low) == kind_of(high) and low <= high)


def _is_value(value: object) -> bool:
    return isinstance(value, str | bool) or _is_number(value)


def values_of(values: Any) -> list[Any]:
    """Return values as a list: a single one, or none."""
    return values if isinstance(values, list) else [] if values is None else [values]


def holds(limit: Any) -> bool:
    """Tell whether a limit says what must be there and what must not."""
    return isinstance(limit, dict) and not set(limit) & set(BOUNDS)


def both(known: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    """Return what must be there and what must not by either; where they contradict each other the later one counts.

    Examples
    --------
    >>> both({"all": "pool", "not": "bar"}, {"all": "bar", "not": "parking"})
    {'all': ['pool', 'bar'], 'not': 'parking'}
    """
    wanted = [*values_of(later.get("any")), *values_of(later.get("all"))]
    denied = values_of(later.get("not"))
    joined = {
        "any": values_of(later.get("any")) or [one for one in values_of(known.get("any")) if one not in denied],
        "all": [one for one in values_of(known.get("all")) if one not in (*denied, *values_of(later.get("any")))],
        "not": [one for one in values_of(known.get("not")) if one not in wanted],
    }
    for part in ("all", "not"):
        joined[part] += [one for one in values_of(later.get(part)) if one not in joined[part]]
    return {part: one[0] if len(one) == 1 else one[-MOST:] for part, one in joined.items() if one}


def without(limit: Any, value: Any) -> Any:
    """Return a limit that no longer asks for a value, nor denies it; None where nothing is left.

    Examples
    --------
    >>> without({"all": ["pool", "gym"], "not": "bar"}, "gym"), without("Graz", "Graz"), without("Graz", "Linz")
    ({'all': 'pool', 'not': 'bar'}, None, 'Graz')
    """
    if isinstance(limit, dict):
        left = {part: without(values, value) for part, values in limit.items()} if holds(limit) else limit
        return {part: values for part, values in left.items() if values is not None} or None
    rest = [one for one in values_of(limit) if one != value]
    return rest if len(rest) > 1 and isinstance(limit, list) else rest[0] if rest else None


def widened(limit: Any, accepted: Any) -> Any:
    """Return a limit that lets in more: what is accepted too.

    Examples
    --------
    >>> (
    ...     widened("Graz", "Linz"),
    ...     widened({"all": "pool"}, {"all": "spa"}),
    ...     widened({"not": ["bar", "spa"]}, {"all": "bar"}),
    ...     widened({"min": 3, "max": 5}, 2),
    ... )
    (['Graz', 'Linz'], {'any': ['pool', 'spa']}, {'not': 'spa'}, {'min': 2, 'max': 5})
    """
    more = [one for part in accepted.values() for one in values_of(part)] if holds(accepted) else values_of(accepted)
    if isinstance(limit, dict) and not holds(limit):
        reach = {"min": min, "max": max}
        wider = [*more, *(accepted.values() if isinstance(accepted, dict) and not holds(accepted) else ())]
        alike = [one for one in wider if kind_of(one) in map(kind_of, limit.values())]
        return {bound: reach[bound]([value, *alike]) for bound, value in limit.items()}
    if isinstance(accepted, dict) and not holds(accepted):
        return accepted  # bounds beside single values: what was said last
    if not holds(limit):
        return [*values_of(limit), *(one for one in more if one not in values_of(limit))]
    for one in more:
        limit = without(limit, one) or {}
    wanted = [*values_of(limit.get("any")), *values_of(limit.get("all"))]
    if "any" in limit or len(wanted) == 1:  # of several that must all be there none can do without
        limit = {**{part: values for part, values in limit.items() if part == "not"}, "any": [*wanted, *more]}
    return limit or None


def merge(before: Where, after: Where) -> Where:
    """Return limits with later ones in force: about the same thing the later one counts.

    Bounds join, and so does what must be there and what must not.

    Examples
    --------
    >>> merge({"price": {"min": 50, "max": 200}, "city": "Graz"}, {"price": {"max": 120}, "city": "Vienna"})
    {'price': {'min': 50, 'max': 120}, 'city': 'Vienna'}
    """
    merged = dict(before)
    for name, limit in after.items():
        known = merged.pop(name, None)  # what was said last stands last
        merged[name] = limit
        if not isinstance(known, dict) or not isinstance(limit, dict):
            continue
        if holds(known) and holds(limit):
            merged[name] = both(known, limit)
        elif not holds(known) and not holds(limit):
            joined = {**known, **limit}
            if _is_range(joined):  # else the later one alone is meant
                merged[name] = joined
    return merged
