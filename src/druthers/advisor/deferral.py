"""Rewards of one number for decisions that may or may not have been shown.

Whoever asks for a decision before knowing whether it will be shown defers it. A reward for a deferred decision is held
in the journal, and counts as soon as the decision is activated; without that it never does. Whichever of both comes
second finds the other: each is written before it looks.
"""

from druthers.advisor import events
from druthers.advisor.decisions import Told
from druthers.advisor.operations import Operations
from druthers.advisor.rating import feedback
from druthers.advisor.steps import Append, Look, Operation
from druthers.errors import Contradiction, InvalidFeedback, UnknownDecision
from druthers.stores import Event


def reward(operations: Operations, decision: str, value: float) -> Operation[bool]:
    """Take in one number, from -1 to 1, for the first item of a decision; the first one told stays.

    Returns
    -------
    Whether something was learned: not from a second reward, and not from one that waits for its activation.
    """
    if not -1.0 <= value <= 1.0:
        raise InvalidFeedback(f"a reward must lie between -1 and 1, the best, but got {value!r}; scale it")
    told = yield from operations.told.recall(decision)
    if told.deferred:
        where = told.where(decision, f"{events.HELD}:{decision}")
        yield Append(events.make(events.HELD, {"utility": value}, **where))
        return (yield from _release(operations, decision))
    return (yield from _count(operations, decision, value))


def activate(operations: Operations, decision: str) -> Operation[bool]:
    """Take in that a decision was shown; returns whether a reward that waited for it now counts."""
    told = yield from operations.told.recall(decision)
    if not told.deferred:
        return False
    where = told.where(decision, f"{events.ACTIVATION}:{decision}")
    yield Append(events.make(events.ACTIVATION, {}, **where))
    return (yield from _release(operations, decision))


def _release(operations: Operations, decision: str) -> Operation[bool]:
    """Let a held reward count if its decision was activated."""
    past: list[Event] = yield Look(lambda: operations.store.about(decision))
    if not past:
        raise UnknownDecision(f"a decision must be there to be rewarded or shown, but {decision[:200]!r} was erased")
    found = {event.kind: event for event in reversed(past)}
    if events.HELD not in found or events.ACTIVATION not in found:
        return False
    return (yield from _count(operations, decision, found[events.HELD].body["utility"]))


def _count(operations: Operations, decision: str, value: float) -> Operation[bool]:
    told = yield from operations.told.recall(decision)
    item = told.items[0]
    if item in told.utilities:
        return False
    rewards = _rewards(operations, told, value)
    try:
        learned = yield from feedback(operations, decision, rewards=rewards, utility=value, revisable=False)
        return learned.new
    except Contradiction:
        told = yield from operations.told.recall(decision)
        if told is not None and item in told.utilities:
            return False  # somebody else was quicker
        raise


def _rewards(operations: Operations, told: Told, value: float) -> dict[str, float]:
    """Return the number as a value of each objective in which nothing is known of the item.

    A utility tells what a user makes of values, so without any it would tell nothing. The number then stands for the
    item itself: equally good in all that is not known, from the worst of each range at 0 to the best at 1. That is
    what a utility means for a user of whom nothing is known; below 0 there is nothing worse than the worst.
    """
    item = told.items[0]
    thing = operations.fold.items.get(item)
    if thing is None:
        return {}
    before = told.rewards.get(item, {})
    return {
        objective.name: min(max(objective.to_value(max(value, 0.0)), objective.low), objective.high)
        for objective in operations.catalog.objectives
        if objective.name not in thing.values and objective.name not in before
    }
