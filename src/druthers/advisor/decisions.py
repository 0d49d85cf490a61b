"""A decision as it was made, and what came of it: from the events about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from druthers.advisor import events
from druthers.advisor.answers import Decided, Outcome, Suggestion
from druthers.advisor.reasons import Fact
from druthers.policies import Policy
from druthers.stores import Event
from druthers.types import Decision

# What is kept of each suggestion, by name; events of version 1 have a list in this order instead.
FIGURES = ("name", "score", "utility", "reward_bonus", "preference_bonus", "propensity", "why")


def content(made: Sequence[Suggestion], decision: Decision, policy: Policy) -> dict[str, Any]:
    """Return what a decision's event holds of its suggestions and of the policy that chose them.

    `best` has for each place what would have stood there without exploring, null where that does; only for policies
    whose choice is otherwise certain.
    """
    told: dict[str, Any] = {"figures": {name: [getattr(one, name) for one in made] for name in FIGURES}}
    told |= {"policy": policy.name, "exploration": policy.exploration}
    if policy.exploration and decision.best is not None:
        pairs = zip(decision.best, decision.places, strict=True)
        told["best"] = [None if best == place else str(decision.offer[best]) for best, place in pairs]
    return told


def suggestions(decision: Event) -> tuple[Suggestion, ...]:
    """Return what was recommended."""
    body = decision.body
    facts = body.get("facts", [[]] * len(body["items"]))
    rows = body["why"] if "why" in body else zip(*(body["figures"][name] for name in FIGURES), strict=True)
    return tuple(
        Suggestion(item=item, **dict(zip(FIGURES, row, strict=True)), facts=tuple(Fact(*fact) for fact in told))
        for item, row, told in zip(body["items"], rows, facts, strict=True)
    )


def decided(past: Sequence[Event]) -> Decided | None:
    """Return what all events about a decision tell together; None if it was never made."""
    if not past or past[0].kind != events.DECISION:
        return None
    made = past[0]
    kinds = {event.kind: event for event in reversed(past)}
    held = kinds.get(events.HELD)
    chosen = next((event for event in past if event.key == events.choice_key(str(made.about))), None)
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
        choice=None if chosen is None else {part: chosen.body[part] for part in ("picked", "offer")},
        context=made.body.get("context", {}),
    )
