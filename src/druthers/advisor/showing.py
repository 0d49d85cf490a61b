"""What a person is shown beside an answer: whole items, each among what was on offer, and what was said and felt."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from druthers.advisor import events, statements
from druthers.advisor.answers import Answer
from druthers.advisor.operations import Operations
from druthers.advisor.reasons import GUESSED, STRENGTH, WISHED, Fact, Offer
from druthers.advisor.steps import Look, Operation
from druthers.errors import UnknownDecision
from druthers.stores import Event

MOST_REMEMBERED = 200
KINDS = {events.QUERY: "said", events.CORRECTION: "corrected", events.FEEDBACK: "felt", events.CHOICE: "picked"}


@dataclass(frozen=True, slots=True)
class Shown(Answer):
    """An item of a decision, among all that was on offer."""

    item: Annotated[dict[str, Any], "All that is known of it."]
    facts: Annotated[tuple[Fact, ...], "Its value and place in every objective."]
    explored: Annotated[bool, "Whether chance put it there, to learn from."]
    rewards: Annotated[dict[str, float], "What was told of it so far."]
    utility: Annotated[float | None, "What was told of it so far."]


@dataclass(frozen=True, slots=True)
class Remembered(Answer):
    """Something that a person said, corrected or felt."""

    position: Annotated[int, "Where the journal has it."]
    at: Annotated[float, "When, in seconds since 1970."]
    kind: Annotated[
        str, '"said", "corrected", "felt", or "picked" out of a slate; of the last, no item stands for none of these.'
    ]
    counts: Annotated[bool, "Whether it still does: what was taken back or said anew does not."] = True
    text: Annotated[str | None, "The words, if there were any."] = None
    ranking: Annotated[tuple[str, ...], "What was understood of them."] = ()
    dismissed: Annotated[tuple[str, ...], "What was understood of them."] = ()
    limits: Annotated[dict[str, Any] | None, "What was understood of them."] = None
    dropped: Annotated[tuple[str, ...], "What was understood of them."] = ()
    item: Annotated[str | None, "What was felt about which item."] = None
    name: Annotated[str | None, "What was felt about which item."] = None
    rewards: Annotated[dict[str, float] | None, "What was felt about which item."] = None
    utility: Annotated[float | None, "What was felt about which item."] = None


def slate(ask: Operations, decision: str) -> Operation[tuple[Shown, ...]]:
    """Return the items of a decision that are still there, each among what was on offer under the same limits."""
    made: Event | None = yield Look(lambda: ask.store.find(events.decision_key(decision)))
    if made is None or made.user is None:
        raise UnknownDecision(f"a decision must have been made, but got {decision[:200]!r}")
    told = yield from ask.told.recall(decision)
    person = yield from ask.find(str(made.user))
    body, columns, objectives = ask.fold.editions.today(made).body, ask.columns, ask.catalog.objectives
    allowed = columns.allowed(body.get("limits", {}))
    if body["offer"] is not None:
        offered = np.zeros_like(allowed)
        offered[[columns.places[item] for item in body["offer"] if item in columns.places]] = True
        allowed = allowed & offered
    offer = Offer(columns, objectives, np.flatnonzero(allowed))
    roles: dict[int, str] = {}
    if person is not None:
        roles = {k: GUESSED if k in person.wishes.guessed else WISHED for k in person.wishes.draws}
    bests = body.get("best", [None] * len(body["items"]))
    shown = []
    for id, best in zip(body["items"], bests, strict=True):
        if (item := ask.fold.items.get(id)) is not None:
            facts = tuple(offer.fact(item, one.name, roles.get(k, STRENGTH)) for k, one in enumerate(objectives))
            felt = told.rewards.get(id, {}), told.utilities.get(id)
            shown.append(Shown(item.content(), facts, best is not None, *felt))
    return tuple(shown)


def history(ask: Operations, user: str) -> Operation[tuple[Remembered, ...]]:
    """Return what a user said and felt, the latest first, and what of it still counts; nothing of who is not known."""
    past: list[Event] = yield Look(lambda: list(ask.store.walk(user=events.as_id(user, "a user"))))
    spoken = [event for event in past if event.kind in (events.QUERY, events.CORRECTION)]
    heard = {event.position for event in statements.counted(spoken)}
    last = max((one.position for one in spoken if one.kind == events.CORRECTION and one.position in heard), default=0)
    entries: list[Remembered] = []
    revised: set[tuple[str | None, str]] = set()
    for event in reversed(past):
        if event.kind not in KINDS:
            continue
        body = ask.fold.editions.today(event).body
        told: dict[str, Any]
        if event.kind in (events.QUERY, events.CORRECTION):
            counts = event.position in heard and event.position >= last
            told = {"counts": counts, "text": body.get("text"), "limits": dict(body.get("limits", {}))}
            told |= {part: tuple(body.get(part, ())) for part in ("ranking", "dismissed", "dropped")}
        else:
            id = body["item" if event.kind == events.FEEDBACK else "picked"]
            item = ask.fold.items.get(id or "")
            told = {"item": id, "name": None if item is None else item.name}
        if event.kind == events.FEEDBACK:
            place, utility = (event.about, id), body["utility"]
            told |= {"rewards": dict(body["rewards"]), "utility": utility}
            told["counts"] = utility is None or place not in revised
            if utility is not None:
                revised.add(place)
        entries.append(Remembered(event.position, event.at, KINDS[event.kind], **told))
    return tuple(entries[:MOST_REMEMBERED])
