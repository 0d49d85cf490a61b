"""What a person said that still stands, statement by statement: what taking back works on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from druthers.advisor import events
from druthers.stores import Event

# Wishes of older statements have faded to nothing; what they limit and dismiss is kept.
MOST = 40
WISHES = ("ranking", "draws", "only")
PARTS = (*WISHES, "dismissed", "limits", "dropped")


def statements(past: Sequence[Event]) -> list[dict[str, Any]]:
    """Return what queries and corrections say together, in their order, as bodies of queries."""
    said: list[dict[str, Any]] = []
    for event in past:
        if event.kind == events.CORRECTION:
            kept = [] if event.body.get("limitless") else [_limits(one) for one in said]
            said = [*kept, *event.body.get("said", ())]
        said.append(
            {part: event.body[part] for part in PARTS if event.body.get(part)} | {"ranking": event.body["ranking"]}
        )
    old = [{"ranking": [], **{part: one[part] for part in PARTS[3:] if part in one}} for one in said[:-MOST]]
    return [one for one in (*old, *said[-MOST:]) if any(one.values())]


def without(said: Sequence[Mapping[str, Any]], names: Collection[str]) -> list[dict[str, Any]]:
    """Return statements with nothing in them about some objectives and details.

    Examples
    --------
    >>> without([{"ranking": ["price", "quiet"], "draws": [1.0, 0.5], "limits": {"price": {"max": 9}}}], ["price"])
    [{'ranking': ['quiet'], 'draws': [0.5], 'limits': {}}]
    """
    left = []
    for one in said:
        kept = [place for place, name in enumerate(one["ranking"]) if name not in names]
        rest: dict[str, Any] = {**one, "ranking": [one["ranking"][place] for place in kept]}
        if "draws" in one:
            rest["draws"] = [one["draws"][place] for place in kept]
        if "dismissed" in one:
            rest["dismissed"] = [name for name in one["dismissed"] if name not in names]
        if "limits" in one:
            rest["limits"] = {name: limit for name, limit in one["limits"].items() if name not in names}
        left.append(rest)
    return [one for one in left if any(one.values())]


def _limits(one: Mapping[str, Any]) -> dict[str, Any]:
    return {"ranking": [], **{part: one[part] for part in ("limits", "dropped") if part in one}}
