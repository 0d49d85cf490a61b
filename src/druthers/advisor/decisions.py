"""A decision as it was made, and what came of it: from the events about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from druthers.advisor import events
from druthers.advisor.answers import Decided, Outcome, Suggestion
from druthers.advisor.reasons import Fact
from druthers.stores import Event


def suggestions(decision: Event) -> tuple[Suggestion, ...]:
    """Return what was recommended."""
    items = decision.body["items"]
    facts = decision.body.get("facts", [[]] * len(items))
    return tuple(
        replace(Suggestion(item, *figures), facts=tuple(Fact(*fact) for fact in told))
        for item, figures, told in zip(items, decision.body["why"], facts, strict=True)
    )


def decided(past: Sequence[Event]) -> Decided | None:
    """Return what all events about a decision tell together; None if it was never made."""
    if not past or past[0].kind != events.DECISION:
        return None
    made = past[0]
    kinds = {event.kind: event for event in reversed(past)}
    held = kinds.get(events.HELD)
    return Decided(
        id=str(made.about),
        user=str(made.user),
        at=made.at,
        items=suggestions(made),
        size=made.body["size"],
        offer=made.body["offer"],
        where=made.body.get("where", {}),
        limits=made.body.get("limits", {}),
        deferred=made.body.get("deferred", False),
        activated=events.ACTIVATION in kinds,
        held=None if held is None or events.ACTIVATION in kinds else held.body["utility"],
        feedback=tuple(
            Outcome(event.body["item"], event.at, event.body["rewards"], event.body["utility"])
            for event in past
            if event.kind == events.FEEDBACK
        ),
    )
