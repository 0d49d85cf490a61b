"""What came of a decision: how its items were, which one was picked, or one number as its reward.

Whoever asks for a decision before knowing whether it will be shown defers it. A reward for a deferred decision is held
in the journal, and counts as soon as the decision is activated; without that it never does. Whichever of both comes
second finds the other: each is written before it looks.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from numbers import Real

from druthers.advisor import cards, events
from druthers.advisor.answers import Learned, Picked
from druthers.advisor.decisions import Told, fresh
from druthers.advisor.operations import ATTEMPTS, Operations
from druthers.advisor.steps import Append, CatchUp, Look, Operation
from druthers.catalogs import Catalog
from druthers.errors import Contradiction, InvalidFeedback, InvalidOffer, UnknownArm, UnknownDecision
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


def pick(
    operations: Operations, decision: str, picked: str | None, *, offer: Sequence[str] | None = None
) -> Operation[Picked]:
    """Take in what a person picked after a decision, from its items or others, None for none of these; once for each.

    An offer of the items that the decision's question named, where these are not its own, is the answer to that: it
    counts once too, and leaves the choice open.
    It is kept whatever the policy: one that does not learn from choices leaves it aside.
    """
    told = yield from operations.told.recall(decision)
    if offer is not None and (isinstance(offer, str) or not isinstance(offer, Collection)):
        raise InvalidOffer(f"an offer must be a list of ids of items, but got {offer!r}")
    among = list(told.items if offer is None else offer)
    _check_pick(operations, told, picked, among, asked=offer is not None)
    user, body = str(told.user), {"picked": picked, "offer": among, **told.there}
    yield from operations.find(user)
    before = operations.weights(user)
    answers = set(among) == set(told.asked) != set(told.items)
    key = events.answer_key(decision) if answers else events.choice_key(decision)
    event = events.make(events.CHOICE, body, **told.where(decision, key))
    if (yield from operations.append(event)):
        moved = cards.moved(operations.catalog, before, operations.weights(user)) if before else ()
        return Picked(decision, picked, tuple(among), new=True, weights=moved)
    yield CatchUp()
    made: Event | None = yield Look(lambda: operations.store.find(key))
    if made is None:  # the user was erased
        operations.told.dismiss(decision)
        yield from operations.told.recall(decision)
    elif (made.body["picked"], made.body["offer"]) == (picked, among):
        return Picked(decision, picked, tuple(among), new=False)
    raise Contradiction(f"a choice must stay as first told, but of {decision[:200]!r} another one is told now")


def _check_pick(operations: Operations, told: Told, picked: str | None, among: list[str], *, asked: bool) -> None:
    for item in among:
        if not isinstance(item, str) or (item not in told.items and item not in operations.fold.items):
            got = events.shown(item)
            raise UnknownArm(f"an item to choose from must be recommended or in the catalog, but got {got}")
    if len(set(among)) != len(among):
        raise InvalidOffer(f"an offer must not repeat an item, but got {among!r}")
    if picked is not None and picked not in among:
        raise UnknownArm(f"what was picked must be one of {among!r}, but got {events.shown(picked)}")
    if not among or (picked is not None and len(among) < 2):
        remedy = "add what else was there" if asked else "name the offer that it was picked from, or tell a utility"
        raise InvalidOffer(f"a pick must be from two items or more, but this is of {among!r}; {remedy}")


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
    rewards = _as_rewards(operations, told, value)
    try:
        learned = yield from feedback(operations, decision, rewards=rewards, utility=value, revisable=False)
        return learned.new
    except Contradiction:
        told = yield from operations.told.recall(decision)
        if told is not None and item in told.utilities:
            return False  # somebody else was quicker
        raise


def _as_rewards(operations: Operations, told: Told, value: float) -> dict[str, float]:
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
