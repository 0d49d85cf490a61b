"""What a message writes into the journal: all that it says at once or nothing, and once under its id.

A message that comes again under its id is taken in once, and answered alike as often as it comes. What it says is
written along with its id and the answer as far as it is known; the rest of the answer is written at once too. Whoever
sends it again is answered by what was kept; if its answer broke off, that is finished then.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from druthers.advisor import decisions, events
from druthers.advisor.answers import Heard, Recommendation, Reply
from druthers.advisor.asking import Asked
from druthers.advisor.decisions import Recent, Told
from druthers.advisor.operations import Operations
from druthers.advisor.person import Person
from druthers.advisor.statements import limits_after
from druthers.advisor.steps import Append, Look, Operation
from druthers.advisor.turns import Draft
from druthers.advisor.wishes import Wishes
from druthers.errors import Contradiction
from druthers.stores import Event


class Gathering(Operations):
    """An advisor's operations, for one message: what they append waits until it is written together.

    Until then it has a position below 0, its place among the gathered ones counted from -1 on down; the fold and all
    others know nothing of it.

    Parameters
    ----------
    operations
        What can be done.

    Attributes
    ----------
    events
        What is gathered.
    """

    def __init__(self, operations: Operations) -> None:
        vars(self).update(vars(operations))
        self.events: list[Event] = []
        self._common = operations.told
        self.told = Recent(self.fold, self.store)

    def append(self, event: Event) -> Operation[int]:
        """Gather an event; 0 if its key is taken."""
        if event.key is not None:
            gathered = event.key in [one.key for one in self.events]
            if gathered or (yield Look(partial(self.store.find, event.key))) is not None:
                return 0
        self.events.append(event._replace(bound=max(event.bound, 0)))  # what is gathered is there with it, or neither
        return -len(self.events)

    def standing(self, person: Person | None) -> Wishes:
        """Return the limits and hopes of a person, along with what is gathered."""
        return limits_after(super().standing(person), self._said)

    def past(self, user: str) -> list[Event]:
        """Return what a user said, along with what is gathered."""
        return [*super().past(user), *self._said]

    @property
    def _said(self) -> list[Event]:
        return [event for event in self.events if event.kind in (events.QUERY, events.CORRECTION)]

    def write(self, before: Sequence[Event] = (), after: Sequence[Event] = ()) -> Operation[int]:
        """Append what is gathered with others around it; gives the last position, or 0 if anything is in the way."""
        *rest, last = *before, *self.events, *after
        position: int = yield Append(last, tuple(rest))
        if position:
            for place, event in enumerate(self.events, position - len(after) - len(self.events) + 1):
                if event.kind == events.DECISION:
                    self._common.keep(str(event.about), Told(event._replace(position=place)))
                elif event.about is not None:
                    self._common.dismiss(event.about)
        return position


def message_event(user: str, text: str, id: str, drafts: Sequence[Draft], person: Person | None) -> Event:
    """Return the event that a message with an id is taken in, of who is still the person who wrote it."""
    body = {"text": text, "drafts": [draft.content() for draft in drafts]}
    first = 0 if person is None else person.first
    return events.make(events.MESSAGE, body, user=user, key=events.message_key(id), bound=first)


def reply_event(user: str, id: str, reply: Reply, message: int) -> Event:
    """Return the event that a message, at a position or 0 for one beside it, is answered."""
    body: dict[str, Any] = {"kind": reply.kind, "text": reply.text, "items": list(reply.items)}
    body["heard"] = None if reply.heard is None else reply.heard.position
    body["decision"] = None if reply.recommendation is None else reply.recommendation.id
    return events.make(events.REPLY, body, user=user, key=events.reply_key(id), bound=message)


def find_message(ask: Operations, user: str, text: str, id: str) -> Operation[Event | None]:
    """Return the message with an id, if one was taken in; it must be the same one."""
    message: Event | None = yield Look(partial(ask.store.find, events.message_key(events.as_id(id, "a message"))))
    if message is not None and (message.user, message.body["text"]) != (user, text):
        raise events.taken("a message", id)
    return message


def find_reply(ask: Operations, user: str, id: str) -> Operation[Reply | None]:
    """Return the answer that a message got, if it was answered."""
    reply: Event | None = yield Look(partial(ask.store.find, events.reply_key(id)))
    if reply is None:
        return None
    body = reply.body
    heard = None if body["heard"] is None else (yield from _heard(ask, body["heard"]))
    made = None if body["decision"] is None else (yield from _made(ask, user, body["decision"]))
    return Reply(body["kind"], body["text"], tuple(body["items"]), heard, made, new=False)


def find_drafts(ask: Operations, message: Event) -> Operation[list[Draft]]:
    """Return the answer to a message as far as it was known when that was taken in."""
    if "drafts" not in message.body:
        raise Contradiction(
            "a message is taken in once, and this one was, but its answer broke off, in a journal of before; see the"
            " history of the user for what was heard, and say the rest under another id"
        )
    drafts = []
    for told in message.body["drafts"]:
        heard = None if told["heard"] is None else (yield from _heard(ask, message.position + told["heard"]))
        drafts.append(Draft.from_content(told, heard))
    return drafts


def _heard(ask: Operations, position: int) -> Operation[Heard]:
    """Return what was understood of a query in the journal."""
    [event] = yield Look(lambda: ask.store.read(position - 1, limit=1))
    return (yield from ask.heard_again(event))


def _made(ask: Operations, user: str, decision: str) -> Operation[Recommendation]:
    """Return a recommendation in the journal."""
    event = yield Look(partial(ask.store.find, events.decision_key(decision)))
    asked = Asked.from_content(event.body.get("question"))
    return Recommendation(decision, user, decisions.suggestions(event), question=asked, new=False)
