"""What is believed of a user, in figures: weights with intervals, queries that do not fit, trust in words."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from druthers.advisor import events
from druthers.advisor.answers import Change, Suspicion, Weight
from druthers.anchors import Mixture
from druthers.catalogs import Catalog
from druthers.policies import Policy
from druthers.stores import Event

# How far back a card looks for queries that do not fit.
MOST_SUSPECTED = 200
# From which share on a weight counts as learned from behavior.
LEARNED = 0.5
ROUNDING = 1e-9


def weigh(policy: Policy, catalog: Catalog, user: str) -> tuple[Weight, ...]:
    """Return what each objective is worth to a user, the largest first."""
    columns = [policy.preference(user).weights]
    sources = policy.sources(user)
    if sources is not None:
        columns += [*policy.interval(user), *sources[:2]]  # from where to where, from words, from behavior
    weights = [
        Weight(objective.name, *map(float, figures))
        for objective, *figures in zip(catalog.objectives, *columns, strict=True)
    ]
    return tuple(sorted(weights, key=lambda entry: -entry.weight))


def learned(policy: Policy, catalog: Catalog, user: str) -> list[str]:
    """Return the objective that a user's ratings clearly single out: its interval lies above all other estimates."""
    sources, weights = policy.sources(user), policy.preference(user).weights
    top = int(weights.argmax())
    if sources is None or sources[1, top] < LEARNED:  # an interval takes longer than all else
        return []
    clear = policy.interval(user)[0, top] > np.delete(weights, top).max(initial=0.0)
    return [catalog.objectives[top].name] if clear else []


def moved(catalog: Catalog, before: Sequence[float], after: Sequence[float]) -> tuple[Change, ...]:
    """Return the weights that moved, most first; what differs by rounding alone has not."""
    names = [objective.name for objective in catalog.objectives]
    changes = [Change(*one) for one in zip(names, before, after, strict=True) if abs(one[2] - one[1]) > ROUNDING]
    return tuple(sorted(changes, key=lambda change: -abs(change.after - change.before)))


def suspect(catalog: Catalog, past: Sequence[Event]) -> tuple[Suspicion, ...]:
    """Return the queries since the last correction that are more likely not the user's own, by what else was said."""
    said: list[Event] = []
    for event in past:
        if event.kind == events.CORRECTION:
            said.clear()
        elif event.kind == events.QUERY and event.body["ranking"]:
            said.append(event)
    said = said[-MOST_SUSPECTED:]
    if not said:
        return ()
    anchor = Mixture(n_objectives=catalog.n_objectives)
    honest = anchor.fit([catalog.ranking(event.body["ranking"]) for event in said]).responsibilities
    return tuple(
        Suspicion(event.position, event.at, event.body.get("text"), tuple(event.body["ranking"]), 1.0 - chance)
        for event, chance in zip(said, honest.tolist(), strict=True)
        if chance < 0.5
    )


def trust(policy: Policy, user: str) -> dict[str, float] | None:
    """Return how a user's words are read, if the policy tells."""
    tell: Any = getattr(policy, "trust", None)
    return None if tell is None else dict(tell(user)._asdict())
