"""What a person said: how the journal keeps a statement, what still stands, and what taking back leaves of it."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

from druthers.advisor import events
from druthers.advisor.answers import Heard
from druthers.advisor.messages import Part, guessed
from druthers.advisor.wishes import DRAWS, Wishes, by_hand, sureness
from druthers.catalogs import Catalog
from druthers.errors import InvalidSetting
from druthers.limits import Limits, Stated, check_shape
from druthers.limits.stated import joined
from druthers.stores import Event
from druthers.types import Evidence, Reading, Strength

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
            limits = [{part: one[part] for part in ("limits", "hopes", "dropped") if part in one} for one in said]
            kept = [] if event.body.get("limitless") else [{"ranking": [], **one} for one in limits]
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
    values: list[Any] = [weights.get(objective.name, 0.0) for objective in catalog.objectives]
    if not all(isinstance(value, Real) and 0.0 <= float(value) < math.inf for value in values):
        raise InvalidSetting(f"weights must be finite numbers from 0 on, but got {dict(weights)!r}")
    if not any(values):
        raise InvalidSetting(
            f"one weight at least must be above 0, for something to decide, but got {dict(weights)!r};"
            " to take back what was said, give an empty ranking in place of weights"
        )
    said = by_hand([float(value) for value in values])
    return {"ranking": [catalog.objectives[k].name for k in said.wanted], "draws": list(said.draws)}


def content(reading: Reading, limits: Limits, lost: Sequence[str]) -> dict[str, Any]:
    """Return what a text says, as the journal keeps it: what counts, and behind it all that its teller is told.

    A text cannot be read again as it was: by then other items may be shown, other limits hold, and readers know more.
    """
    guesses = guessed(reading)
    told = zip(reading.names, reading.strengths, reading.confidences, strict=True)
    draws = [DRAWS[strength] * sureness(at, guessed=name in guesses) for name, strength, at in told]
    return {
        "text": reading.text,
        "ranking": list(reading.names),
        **({"guessed": list(guesses)} if guesses else {}),
        "dismissed": list(reading.dismissed_names),
        "confidence": reading.confidence,
        "limits": check_shape(limits.where, math.inf),  # a journal takes nothing that cannot be decided with
        **({"hopes": check_shape(joined(limits.hopes), math.inf)} if limits.hopes else {}),
        "dropped": list(limits.dropped),
        "draws": draws,
        "only": Strength.ONLY in reading.strengths,
        "reading": {name: part for name, part in reading.as_dict().items() if name != "text"},
        "stated": [one._asdict() for one in limits.stated],
        "not_understood": list(lost),
    }


def heard_then(event: Event, objectives: Sequence[str]) -> Heard | None:
    """Return what was told of a query when it was heard; None for a text in a journal of before, which lacks it."""
    body, user = event.body, str(event.user)
    ranking = tuple(body["ranking"])
    if "text" not in body:
        return Heard(user, ranking, None, event.position, new=False)
    if "reading" not in body:
        return None
    stated = tuple(Stated(**one) for one in body["stated"])
    reading = _reading({**body["reading"], "text": body["text"]}, objectives)
    dropped, lost = tuple(body["dropped"]), tuple(body["not_understood"])
    hopes = dict(body.get("hopes", {}))
    return Heard(user, ranking, reading, event.position, stated, dropped, lost, hopes, new=False)


def _reading(told: Mapping[str, Any], objectives: Sequence[str]) -> Reading:
    """Return a reading from its plain values; objectives of then that are gone come after those of today."""
    pieces = told["evidence"]
    then = *told["ranking"], *told["dismissed"], *(one["objective"] for one in pieces)
    names = tuple(dict.fromkeys((*objectives, *then)))
    return Reading(
        text=told["text"],
        objectives=names,
        ranking=tuple(map(names.index, told["ranking"])),
        dismissed=tuple(map(names.index, told["dismissed"])),
        evidence=tuple(
            Evidence(**{**one, "objective": names.index(one["objective"]), "strength": Strength(one["strength"])})
            for one in pieces
        ),
        confidence=told["confidence"],
        confidences=tuple(told["confidences"]),
        strengths=tuple(map(Strength, told["strengths"])),
        leftover=tuple(told["leftover"]),
        question=told["question"],
        notes=tuple(told["notes"]),
    )
