"""What a message can point at: the items shown, each at its place, what "it" is, and what was rated before them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from druthers.advisor import decisions, events
from druthers.advisor.answers import Reply
from druthers.advisor.messages import Context, Kind
from druthers.advisor.operations import Operations
from druthers.advisor.person import Person
from druthers.advisor.sayings import called, references
from druthers.advisor.steps import Look, Operation
from druthers.advisor.turns import Turn
from druthers.catalogs import Item
from druthers.limits.words import fold
from druthers.stores import Event


def at_their_places(ask: Operations, decision: str, ids: Sequence[str]) -> Operation[list[Item]]:
    """Return the items of a decision, each at the place at which it was shown: numbers point at no other one.

    Of those that are there no longer only the name is left.
    """
    items = ask.fold.items
    if all(id in items for id in ids):
        return [items[id] for id in ids]
    past: Event | None = yield Look(partial(ask.store.find, events.decision_key(decision)))
    names = {} if past is None else {one.item: one.name for one in decisions.suggestions(past)}
    return [items[id] if id in items else Item(id, names.get(id, id)) for id in ids]


def context_of(ask: Operations, person: Person | None, at: Sequence[Item]) -> Operation[Context]:
    """Return what a message comes after, where these were shown last."""
    picked = (yield from _taken_after(ask, person.shown[0])) if person is not None and at else None
    if person is None:
        return Context(at)
    wished = person.wishes.standing(ask.catalog)["wished"]
    items, spoken_of = ask.fold.items, _answered_about(person)
    there = [place for place, item in enumerate(at) if item.id in items]
    meant = spoken_of or picked or next(reversed(person.felt), None)
    latest = next((place for place in there if at[place].id == meant), there[0] if there else 0)
    # What an answer since was about is meant before what was rated, or picked, among items shown earlier.
    rated = None if spoken_of else items.get(person.rated[1])
    known = rated is not None or (bool(at) and at[latest].id == meant)
    return Context(at, wished, person.wishes.hopes | person.wishes.limits, latest, rated, known, bool(picked))


def put_right(ask: Operations, turn: Turn) -> Operation[Turn]:
    """Return a turn about the items among which one was rated last, if it puts that right by number.

    "No, I mean the second was terrible" is said of what was shown then, not of what is shown since.
    """
    decision, rated = turn.rated
    if turn.message.kind != Kind.FEEDBACK or not (decision and turn.corrects):
        return turn
    plain = " ".join(fold(turn.text).split())
    numbered = references(plain, turn.at) and all(called(plain, item) < 0 for item in turn.about)
    if numbered and decision != turn.decision:
        told = yield from ask.told.recall(decision)
        if max(turn.message.places) < len(told.items):
            at = yield from at_their_places(ask, decision, told.items)
            shown = [item for item in at if item.id in ask.fold.items]
            about = tuple(at[place] for place in turn.message.places if at[place] in shown)
            turn = replace(turn, decision=decision, at=at, shown=shown, about=about)
    wrong = ask.fold.items.get(rated)
    return turn if wrong in turn.about else replace(turn, instead=wrong)


def spoken_of_now(ask: Operations, user: str, turn: Turn) -> Item | None:
    """Return what "it" is when an act is answered: another act of the message may have been about an item."""
    person = ask.fold.people.get(user)
    item = None if person is None or person.shown[0] != turn.decision else _answered_about(person)
    here = ask.fold.items.get(item or "")
    return here or (turn.spoken_of if turn.spoken_of is not None and turn.spoken_of.id in ask.fold.items else None)


def remember(ask: Operations, turn: Turn, reply: Reply) -> None:
    """Keep in mind which item an answer was about: one alone, or the best."""
    person = ask.fold.people.get(turn.user)
    if person is not None and reply.items and (len(reply.items) == 1 or turn.message.kind == Kind.BEST):
        person.spoken_of = turn.decision, reply.items[0]


def _answered_about(person: Person) -> str | None:
    """Return the item that the last answer since a decision was about."""
    decision, item = person.spoken_of
    return item if item and decision == person.shown[0] else None


def _taken_after(ask: Operations, decision: str) -> Operation[str | None]:
    """Return what was picked after a decision, from its items or in answer to its question."""
    for key in (events.choice_key(decision), events.answer_key(decision)):
        event: Event | None = yield Look(partial(ask.store.find, key))
        if event is not None:
            return str(event.body["picked"] or "") or None
    return None
