"""Choices: which of some items a person picked, or that none of them was good enough."""

from collections.abc import Collection, Sequence

from druthers.advisor import cards, events
from druthers.advisor.answers import Picked
from druthers.advisor.asking import CHOICE, Asked
from druthers.advisor.decisions import Told
from druthers.advisor.operations import Operations
from druthers.advisor.steps import CatchUp, Look, Operation
from druthers.errors import Contradiction, InvalidOffer, UnknownArm
from druthers.stores import Event


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
    _check(operations, told, picked, among, asked=offer is not None)
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


def _check(operations: Operations, told: Told, picked: str | None, among: list[str], *, asked: bool) -> None:
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


def asked_between(operations: Operations, decision: str) -> Operation[Sequence[str]]:
    """Return the items between which a decision asked to choose, if it did and all are there."""
    past = (yield Look(lambda: operations.store.find(events.decision_key(decision)))) if decision else None
    question = None if past is None else Asked.from_content(past.body.get("question"))
    if question is None or question.kind != CHOICE or any(id not in operations.fold.items for id in question.choices):
        return ()
    return question.choices
