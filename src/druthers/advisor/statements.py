"""What a person said that still stands, statement by statement: what taking back works on."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

from druthers.advisor import events
from druthers.advisor.messages import Part
from druthers.advisor.wishes import Wishes, by_hand
from druthers.catalogs import Catalog
from druthers.errors import InvalidSetting
from druthers.stores import Event

# Wishes of older statements have faded to nothing; what they limit and dismiss is kept.
MOST = 40
PARTS = ("ranking", "draws", "only", "guessed", "dismissed", "limits", "hopes", "dropped")


def counted(past: Iterable[Event]) -> Iterator[Event]:
    """Pass on the queries and corrections that count: no correction before which more was said than it knew of."""
    heard = 0
    for event in past:
        if event.body.get("heard", heard) == heard:
            heard += 1
            yield event


def statements(past: Iterable[Event]) -> list[dict[str, Any]]:
    """Return what queries and corrections say together, in their order, as bodies of queries."""
    standing = _standing(past)
    return [*_in_short(standing[:-MOST]), *standing[-MOST:]]


def count_standing(past: Iterable[Event]) -> int:
    """Return how many statements still say something: none of those that were taken back does."""
    return len(_standing(past))


def _standing(past: Iterable[Event]) -> list[dict[str, Any]]:
    """Return all statements in which something is left."""
    said: list[dict[str, Any]] = []
    for event in counted(past):
        if event.kind == events.CORRECTION:
            kept = [] if event.body.get("limitless") else [_limits(one) for one in said]
            said = [*kept, *event.body.get("said", ())]
        told = {part: event.body[part] for part in PARTS if event.body.get(part)}
        said.append({"ranking": [], **told})
    return [one for one in said if any(one.values())]


def limits_after(wishes: Wishes, said: Iterable[Event]) -> Wishes:
    """Return the limits and hopes that stand after queries, and corrections that leave out what was taken back."""
    after = Wishes(limits=wishes.limits, hopes=wishes.hopes)
    for event in said:
        if event.kind == events.CORRECTION:
            after = Wishes()
        for one in (*event.body.get("said", ()), event.body):
            after.limit(one.get("limits", {}), one.get("dropped", ()), one.get("hopes"))
    return after


def _in_short(said: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what old statements still limit and dismiss."""
    wishes, dismissed = Wishes(), dict[str, None]()
    for one in said:
        wishes.limit(one.get("limits", {}), one.get("dropped", ()), one.get("hopes"))
        kept = () if one.get("only") else dismissed
        dismissed = dict.fromkeys(name for name in (*kept, *one.get("dismissed", ())) if name not in one["ranking"])
    short = {"ranking": [], "limits": wishes.limits, "hopes": wishes.hopes, "dismissed": list(dismissed)}
    return [short] if any(short.values()) else []


def without(said: Sequence[Mapping[str, Any]], names: Collection[str], part: Part = "") -> list[dict[str, Any]]:
    """Return statements with nothing in them about some objectives and details, or no wishes, or no limits.

    Examples
    --------
    >>> without([{"ranking": ["price", "quiet"], "draws": [1.0, 0.5], "limits": {"price": {"max": 9}}}], ["price"])
    [{'ranking': ['quiet'], 'draws': [0.5], 'limits': {}}]
    """
    left = []
    unwished = () if part == "limits" else names
    unlimited = () if part == "wishes" else names
    for one in said:
        kept = [place for place, name in enumerate(one["ranking"]) if name not in unwished]
        rest: dict[str, Any] = {**one, "ranking": [one["ranking"][place] for place in kept]}
        if not kept:
            rest.pop("only", None)
        if "draws" in one:
            rest["draws"] = [one["draws"][place] for place in kept]
        for told in {"guessed", "dismissed"} & set(one):
            rest[told] = [name for name in one[told] if name not in unwished]
        for told in {"limits", "hopes"} & set(one):
            rest[told] = {name: limit for name, limit in one[told].items() if name not in unlimited}
        left.append(rest)
    return [one for one in left if any(one.values())]


def of_weights(catalog: Catalog, weights: Mapping[str, float]) -> dict[str, Any]:
    """Return what weights that were set by hand say; what is left out weighs nothing, and something must weigh."""
    if not isinstance(weights, Mapping):
        raise InvalidSetting(f"weights must be a table of objectives and numbers, but got {weights!r}")
    catalog.ranking(list(weights))  # names objectives only
    values = [weights.get(objective.name, 0.0) for objective in catalog.objectives]
    if not all(_is_weight(value) for value in values):
        raise InvalidSetting(f"weights must be finite numbers from 0 on, but got {dict(weights)!r}")
    if not any(values):
        raise InvalidSetting(
            f"one weight at least must be above 0, for something to decide, but got {dict(weights)!r};"
            " to take back what was said, give an empty ranking in place of weights"
        )
    said = by_hand([float(value) for value in values])
    return {"ranking": [catalog.objectives[k].name for k in said.wanted], "draws": list(said.draws)}


def _is_weight(value: object) -> bool:
    return isinstance(value, Real) and 0.0 <= float(value) < float("inf")


def _limits(one: Mapping[str, Any]) -> dict[str, Any]:
    return {"ranking": [], **{part: one[part] for part in ("limits", "hopes", "dropped") if part in one}}
