"""A journal as a log of decisions, for the evaluation of other policies."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from druthers.advisor import events
from druthers.catalogs import Catalog, Item
from druthers.errors import InvalidLog
from druthers.logs import Log, from_rows
from druthers.stores import Event, Store


def to_log(store: Store, *, policy: str = "served") -> Log:
    """Return the decisions of a journal with what was said before and felt after them.

    Of a slate only the first item counts. The ranking is what the user said between the decision before and this
    one. Decisions for people who were erased are left out; so is feedback on items further down a slate.

    Parameters
    ----------
    store
        The journal.
    policy
        What to call the policy that decided.
    """
    items: dict[str, None] = {}
    rows: dict[str, dict[str, Any]] = {}
    said: dict[str, list[str]] = {}
    catalog: Catalog | None = None
    for event in map(events.check, store.walk()):
        if event.kind == events.OPENING:
            catalog = Catalog.from_content(dict(event.body["catalog"]), source="the journal")
        elif event.kind == events.ITEM:
            items[Item(**event.body["item"]).id] = None
        elif event.kind == events.RETIREMENT:
            items.pop(event.body["item"], None)
        elif event.user is None:
            continue
        elif event.kind in (events.QUERY, events.CORRECTION):
            said[event.user] = event.body["ranking"]
        elif event.kind == events.DECISION:
            rows[str(event.about)] = _decision(event, list(items), said.pop(event.user, []), policy)
        elif event.kind == events.FEEDBACK and event.about in rows:
            _add(rows[event.about], event)
    if catalog is None or not rows:
        raise InvalidLog("a log must hold at least one decision, but the journal has none")
    for row in rows.values():
        row["reward"] = catalog.to_rewards(row["reward"]).tolist() if row["reward"] else None
    return from_rows(rows.values(), objectives=[objective.name for objective in catalog.objectives])


def _decision(event: Event, items: list[str], ranking: list[str], policy: str) -> dict[str, Any]:
    return {
        "user": event.user,
        "offer": event.body["offer"] or items,
        "arm": event.body["items"][0],
        "propensity": event.body["why"][0][5],
        "ranking": ranking,
        "time": datetime.fromtimestamp(event.at, UTC).replace(tzinfo=None),
        "policy": policy,
        "reward": {},
        "utility": None,
    }


def _add(row: dict[str, Any], feedback: Event) -> None:
    if feedback.body["item"] == row["arm"]:
        row["reward"].update(feedback.body["rewards"])
        if feedback.body["utility"] is not None:
            row["utility"] = feedback.body["utility"]
