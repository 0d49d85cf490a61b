"""Why an item is recommended and what is believed of a user, in words and figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from druthers.advisor import events
from druthers.advisor.answers import Suspicion, Weight
from druthers.anchors import Mixture
from druthers.catalogs import Catalog
from druthers.policies import Policy
from druthers.policies.base import NEVER_SEEN
from druthers.stores import Event

# A part is worth a word if it makes up this share of all that speaks for the item.
NOTABLE = 0.25
# How far back a card looks for queries that do not fit.
MOST_SUSPECTED = 200
INTERVAL = 1.6449  # standard deviations of a normal law that hold 90 %


def sentence(
    names: Sequence[str], parts: Sequence[float], *, known_user: bool, reward_bonus: float, utility: float
) -> str:
    """Return why an item is recommended.

    Parameters
    ----------
    names
        The objectives.
    parts
        For each, weight times how much better than the average item this one is.
    known_user
        Whether anything is known of the user.
    reward_bonus, utility
        As the decision has them.

    Examples
    --------
    >>> sentence(["value", "rooms"], [0.2, -0.1], known_user=True, reward_bonus=0.0, utility=0.5)
    'Better than most in value, which matters to you; weaker in rooms.'
    """
    if reward_bonus >= NEVER_SEEN:
        return "Nobody has told yet what it is like: it is shown to find out."
    gain = sum(part for part in parts if part > 0.0)
    order = sorted(range(len(parts)), key=lambda k: -parts[k])
    strong = [names[k] for k in order if parts[k] > 0.0 and parts[k] >= NOTABLE * gain][:2]
    weak = [names[k] for k in reversed(order) if parts[k] < 0.0 and -parts[k] >= NOTABLE * gain][:1]
    if strong:
        text = f"Better than most in {' and '.join(strong)}"
        if known_user:
            text += ", which matters to you" if len(strong) == 1 else ", which matter to you"
        text += f"; weaker in {weak[0]}." if weak else "."
    else:
        text = "About as good as the average of what there is."
    if reward_bonus > 0.5 * abs(utility):
        text += " Little is known of it yet, so it is worth a try."
    return text


def weigh(policy: Policy, catalog: Catalog, user: str) -> tuple[Weight, ...]:
    """Return what each objective is worth to a user, the largest first."""
    believed = policy.preference(user)
    sources = policy.sources(user)
    weights = []
    for k, objective in enumerate(catalog.objectives):
        weight = float(believed.weights[k])
        if sources is None:
            weights.append(Weight(objective.name, weight))
            continue
        spread = INTERVAL * math.sqrt(float(believed.covariance[k, k]))
        said, felt = float(sources[0, k]), float(sources[1, k])
        weights.append(Weight(objective.name, weight, weight - spread, weight + spread, said, felt))
    return tuple(sorted(weights, key=lambda entry: -entry.weight))


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
