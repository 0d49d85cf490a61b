"""A message that may be sent again: under its id it is taken in once, and answered alike as often as it comes."""

from __future__ import annotations

from functools import partial
from typing import Any

from druthers.advisor import decisions, events
from druthers.advisor.answers import Heard, Recommendation, Reply
from druthers.advisor.asking import Asked
from druthers.advisor.operations import Operations
from druthers.advisor.steps import Append, Look, Operation
from druthers.errors import Contradiction
from druthers.stores import Event


def once(ask: Operations, user: str, text: str, id: str, answering: Operation[Reply]) -> Operation[Reply]:
    """Answer a message, unless one with this id was taken in: then answer as it was answered.

    The id is claimed along with the first thing that is written, both or neither, so that a message that could not be
    read, that writes nothing, or that broke off before, may come again; of two that come at once one is taken in. The
    answer is kept behind what it did. Who is erased by a message leaves no id behind.
    """
    key = events.message_key(events.as_id(id, "a message"))
    if (yield Look(partial(ask.store.find, key))) is not None:
        return (yield from _again(ask, user, text, id))
    claimed, came = 0, None
    while True:
        try:
            step = answering.send(came)
        except StopIteration as end:
            reply: Reply = end.value
            break
        if claimed or not isinstance(step, Append):
            came = yield step
            continue
        claim = events.make(events.MESSAGE, {"text": text}, user=user, key=key)
        came = yield step._replace(before=(claim,))
        claimed = came and came - 1
        if not claimed and (yield Look(partial(ask.store.find, key))) is not None:
            return (yield from _again(ask, user, text, id))
    if claimed:  # who was erased by it is not brought back
        kept: dict[str, Any] = {"kind": reply.kind, "text": reply.text, "items": list(reply.items)}
        kept["heard"] = None if reply.heard is None else reply.heard.position
        kept["decision"] = None if reply.recommendation is None else reply.recommendation.id
        yield Append(events.make(events.REPLY, kept, user=user, key=events.reply_key(id), bound=claimed))
    return reply


def _again(ask: Operations, user: str, text: str, id: str) -> Operation[Reply]:
    """Return the answer that a message got, if just the same message comes again."""
    message: Event | None = yield Look(partial(ask.store.find, events.message_key(id)))
    if message is None or message.user != user or message.body["text"] != text:
        raise Contradiction(f"a message must stay as it is, but another one came with {id!r}; choose another id")
    reply: Event | None = yield Look(partial(ask.store.find, events.reply_key(id)))
    if reply is None:
        raise Contradiction(
            f"a message is taken in once, and {id!r} was, but it is not answered: it is being answered now, or that"
            " broke off; ask again in a moment, or see the history of the user for what was heard, and say the rest"
            " under another id"
        )
    body = reply.body
    heard = None if body["heard"] is None else (yield from _heard(ask, body["heard"]))
    made = None if body["decision"] is None else (yield from _made(ask, user, body["decision"]))
    return Reply(body["kind"], body["text"], tuple(body["items"]), heard, made)


def _heard(ask: Operations, position: int) -> Operation[Heard]:
    """Return what was understood of a query in the journal."""
    [event] = yield Look(lambda: ask.store.read(position - 1, limit=1))
    return (yield from ask.heard_again(event))


def _made(ask: Operations, user: str, decision: str) -> Operation[Recommendation]:
    """Return a recommendation in the journal."""
    event = yield Look(partial(ask.store.find, events.decision_key(decision)))
    asked = Asked.from_content(event.body.get("question"))
    return Recommendation(decision, user, decisions.suggestions(event), question=asked, new=False)
