"""Feedback on what was recommended: told in parts, repeated, revised or contradicted."""

import math
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real

from druthers.advisor import cards, events
from druthers.advisor.answers import Learned
from druthers.advisor.decisions import Told, fresh
from druthers.advisor.operations import ATTEMPTS, Operations
from druthers.advisor.steps import CatchUp, Operation
from druthers.catalogs import Catalog
from druthers.errors import Contradiction, InvalidFeedback, UnknownArm
from druthers.stores import Event


def feedback(
    operations: Operations,
    decision: str,
    *,
    item: str | None = None,
    rewards: Mapping[str, float] | None = None,
    utility: float | None = None,
    id: str | None = None,
    revisable: bool = True,
) -> Operation[Learned]:
    """Take in what came of a decision; of utilities the last one stands, unless they are not revisable."""
    given, utility = _checked(operations.catalog, rewards or {}, utility)
    if id is not None:
        events.as_id(id, "feedback")
    for _ in range(ATTEMPTS):
        told = yield from operations.told.recall(decision)
        chosen = _chosen(decision, told, item)
        if id is not None and id in told.ids:
            if told.ids[id] != (chosen, given, utility):
                raise Contradiction(f"feedback {id!r} must stay as first told, but now tells another; use a new id")
            return Learned(decision, chosen, new=False)
        added = fresh(told, chosen, given, utility, revisable=revisable)
        nothing = not added["rewards"] and added["utility"] is None
        if nothing and id is None:
            return Learned(decision, chosen, new=False)
        if id is not None:
            whole = {"rewards": given, "utility": utility}
            added |= {"id": id} if whole == added else {"id": id, "given": whole}
        number = told.count.get(chosen, 0)
        key = events.feedback_key(decision, chosen, number)
        event = events.make(events.FEEDBACK, {"item": chosen, **added, **told.there}, **told.where(decision, key))
        yield from operations.find(str(told.user))
        before = operations.weights(str(told.user))
        if (yield from operations.append(event)):
            told.add(event)
            return _learned(operations, event, before)
        operations.told.dismiss(decision)  # somebody else was quicker, or the user was erased: look again
        yield CatchUp()
    raise Contradiction(f"feedback on {decision!r} comes from too many sides at once; try again")


def _learned(operations: Operations, event: Event, before: list[float]) -> Learned:
    """Return what became of feedback that was folded in; of an item that has retired, nothing is learned."""
    item, body, policy, user = event.body["item"], event.body, operations.fold.policy, str(event.user)
    new = bool(body["rewards"]) or body["utility"] is not None
    learned = Learned(str(event.about), item, new=new, revised="instead" in body)
    if item not in operations.fold.items or not new:
        return learned
    means = policy.reward_means([item])[0]
    unknown = [one.name for one, mean in zip(operations.catalog.objectives, means, strict=True) if math.isnan(mean)]
    if before:
        counted = None if body["utility"] is None else policy.utility_weight(user, item)
        moved = cards.moved(operations.catalog, before, operations.weights(user))
        learned = replace(learned, weights=moved, counted=counted)
    return replace(learned, unknown=tuple(unknown))


def _checked(
    catalog: Catalog, rewards: Mapping[str, float], utility: float | None
) -> tuple[dict[str, float], float | None]:
    """Return rewards and utility as plain numbers, of whichever kind they are, or refuse them."""
    if not isinstance(rewards, Mapping):
        raise InvalidFeedback(f"rewards must be a table of objectives and values, but got {rewards!r}")
    if not rewards and utility is None:
        raise InvalidFeedback("feedback must hold rewards, a utility or both, but got neither")
    told = {name: _number(value, f"the reward {name!r}") for name, value in rewards.items()}
    felt = None if utility is None else _number(utility, "a utility")
    if felt is not None and not -1.0 <= felt <= 1.0:
        raise InvalidFeedback(f"a utility must lie between -1 and 1, the best, but got {utility!r}; scale it")
    for name, value in told.items():
        if not math.isfinite(value):
            raise InvalidFeedback(f"a reward must be a finite number, but {name!r} is {value!r}; leave it out")
    catalog.to_rewards(told)
    return told, felt


def _number(value: object, what: str) -> float:
    """Return a number as what a journal holds, be it NumPy's."""
    if type(value) is not float and not isinstance(value, Real):  # what comes from JSON is told at once
        raise InvalidFeedback(f"{what} must be a number, but got {value!r}; leave out what is not known")
    return float(value)


def _chosen(decision: str, told: Told, item: str | None) -> str:
    if item is None and told.items:
        return told.items[0]
    if item not in told.items:
        raise UnknownArm(f"feedback must be about an item that was recommended, but {decision!r} has no {item!r}")
    return item
