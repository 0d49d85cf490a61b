"""What can happen: each kind of event with its law, its version, and what is left of it when a person is erased."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from druthers.catalogs import Catalog, Item
from druthers.errors import Contradiction, DamagedEvent, InvalidSetting
from druthers.policies.contexts import as_told
from druthers.stores import Event

VERSION = 2
LONGEST_ID = 200

OPENING, MIGRATION, ITEM, RETIREMENT = "opening", "migration", "item", "retirement"
QUERY, CORRECTION, DECISION, FEEDBACK, ERASURE = "query", "correction", "decision", "feedback", "erasure"
CHOICE, HELD, ACTIVATION = "choice", "held", "activation"
MESSAGE, REPLY = "message", "reply"
KEY, REVOCATION, MARK = "key", "revocation", "mark"

# Keys, of which a journal takes each once: of two events with the same the second is not added.
migration_key = f"{MIGRATION}:{{}}".format  # the nth: of two changes of the same objectives one is made
decision_key = f"{DECISION}:{{}}".format  # by the id of the decision, as the next four
query_key = f"{QUERY}:{{}}".format  # that came along with it
choice_key = f"{CHOICE}:{{}}".format  # from its items
answer_key = "answer:{}".format  # to its question
feedback_key = f"{FEEDBACK}:{{0}}:{{2}}:{{1}}".format  # and item, and the how manyth: who comes second looks again
said_key = "said:{}".format  # a query, by the id that its teller gave it
message_key = f"{MESSAGE}:{{}}".format  # likewise
reply_key = f"{REPLY}:{{}}".format  # to a message with this id


def make(kind: str, body: Mapping[str, Any], **where: Any) -> Event:
    """Return an event that happens now, of the version that this program writes."""
    return Event(kind, {"version": VERSION, **body}, time.time(), **where)


def opening(catalog: Catalog) -> Event:
    """Return the first event of a journal: what matters."""
    return make(OPENING, {"catalog": _without_items(catalog)}, key=OPENING)


def migration(number: int, catalog: Catalog, renamed: Mapping[str, str]) -> Event:
    """Return the event that the objectives are others from now on: the nth of its kind, with all that matters."""
    body = {"number": number, "catalog": _without_items(catalog), "renamed": dict(renamed)}
    return make(MIGRATION, body, key=migration_key(number))


def _without_items(catalog: Catalog) -> dict[str, Any]:
    return {key: value for key, value in catalog.content().items() if key != "items"}


def item(thing: Item) -> Event:
    """Return the event that an item is there, or is now known differently."""
    return make(ITEM, {"item": thing.content()})


def keys_after(keys: Mapping[str, dict[str, Any]], event: Event) -> dict[str, dict[str, Any]]:
    """Return the API keys, by id, after one was made or revoked; a revocation of an unknown one changes nothing."""
    id = event.body["id"]
    if event.kind == KEY:
        key = {part: event.body[part] for part in ("id", "digest", "role", "name")}
        return {**keys, id: {**key, "created": event.at, "revoked": None}}
    return {**keys, id: {**keys[id], "revoked": event.at}} if id in keys else dict(keys)


def scrub(event: Event) -> Event:
    """Return what stays of an event of an erased person: that something happened, and what an item was like."""
    kept = {}
    if event.kind == FEEDBACK:
        kept = {key: event.body[key] for key in ("item", "rewards")}
    body = {"version": event.body["version"], **kept}
    return event._replace(user=None, about=None, key=None, body=body)


def as_id(value: object, what: str) -> str:
    """Return an id that every store can hold: a text of 1 to 200 printable characters."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_ID or not value.isprintable():
        law = f"the id of {what} must be a text of 1 to {LONGEST_ID} printable characters"
        raise InvalidSetting(f"{law}, got {shown(value)}")
    return value


def taken(what: str, id: str) -> Contradiction:
    """Return that another one has this id, be it of another user: ids are those of a whole journal."""
    law = f"the id of {what} must be its own among those of all users"
    return Contradiction(f"{law}, but another one has {id!r}; choose another id")


def shown(value: object) -> str:
    """Return what arrived in place of an id, as errors tell it."""
    return repr(value) if len(repr(value)) <= LONGEST_ID else f"{repr(value)[:LONGEST_ID]}..."


def check(event: Event) -> Event:
    """Return an event read from a journal if this program can understand it."""
    version = event.body.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise DamagedEvent(
            f"an event must be of version 1 to {VERSION}, but number {event.position} is of version {version!r};"
            " upgrade druthers to read this journal"
        )
    law = LAWS.get(event.kind)
    if law is None:
        raise DamagedEvent(
            f"event {event.position} is of an unknown kind {event.kind!r}; upgrade druthers to read this journal"
        )
    scrubbed = event.user is None and event.kind in PERSONAL
    try:
        whole = set(event.body) <= {"version", "item", "rewards"} if scrubbed else law(event.body)
    except InvalidSetting as problem:
        raise DamagedEvent(f"event {event.position} must have a context as visits have: {problem}") from None
    if not whole:
        raise DamagedEvent(f"event {event.position} must be a whole {event.kind}, but has only {sorted(event.body)}")
    return event


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(map(_is_text, value))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _is_told(told: object) -> bool:
    """Tell whether something is what feedback tells: rewards by objective, and a utility or None."""
    if not isinstance(told, Mapping):
        return False
    rewards, utility = told.get("rewards"), told.get("utility")
    return (
        isinstance(rewards, Mapping)
        and all(_is_text(name) and _is_number(value) for name, value in rewards.items())
        and (utility is None or _is_number(utility))
    )


def _has_context(body: Mapping[str, Any]) -> bool:
    """Return True if the context of an event, if it has one, can be told to a policy; else say why not."""
    if "context" in body:
        as_told(body["context"])
    return True


def _is_feedback(body: Mapping[str, Any]) -> bool:
    """Tell whether feedback is whole.

    With `instead`, it takes back the utility there, which was learned together with the rewards there. Where a client
    gave it an `id`, `given` is all that it told, if not all of that was new. A `context` is that of the decision.
    """
    instead = body.get("instead")
    return (
        _is_text(body.get("item"))
        and _has_context(body)
        and _is_told(body)
        and (instead is None or (_is_told(instead) and None not in (instead["utility"], body["utility"])))
        and _is_text(body.get("id", ""))
        and ("given" not in body or _is_told(body["given"]))
    )


def _is_choice(body: Mapping[str, Any]) -> bool:
    """Tell whether a choice is whole: what was picked, or None for none of these, is one of two items or more."""
    offer, picked = body.get("offer", ()), body.get("picked", "")
    whole = len(offer) > 0 if picked is None else picked in offer and len(offer) > 1
    return _is_texts(offer) and whole and _has_context(body)


def _is_mark(body: Mapping[str, Any]) -> bool:
    """Tell whether a mark is whole: of which event, and how it should be read, or nothing more to take a mark back.

    It holds no words and nobody's id, so that of an erased person nothing stays in it.
    """
    readings = [body[part] for part in ("ranking", "dismissed") if part in body]
    return isinstance(body.get("position"), int) and all(map(_is_texts, readings))


def _is_reply(body: Mapping[str, Any]) -> bool:
    """Tell whether an answer is whole: its words, and where what it heard and recommended is in the journal."""
    heard, decision = body.get("heard"), body.get("decision")
    whole = _is_text(body.get("kind")) and _is_text(body.get("text")) and _is_texts(body.get("items"))
    return whole and (heard is None or isinstance(heard, int)) and (decision is None or _is_text(decision))


PERSONAL = (QUERY, CORRECTION, DECISION, FEEDBACK, CHOICE, HELD, ACTIVATION, MESSAGE, REPLY)
LAWS: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    OPENING: lambda body: isinstance(body.get("catalog"), Mapping),
    MIGRATION: lambda body: isinstance(body.get("number"), int) and isinstance(body.get("catalog"), Mapping),
    ITEM: lambda body: isinstance(body.get("item"), Mapping) and _is_text(body["item"].get("id")),
    RETIREMENT: lambda body: _is_text(body.get("item")),
    QUERY: lambda body: _is_texts(body.get("ranking")),
    CORRECTION: lambda body: _is_texts(body.get("ranking")),
    DECISION: lambda body: _is_texts(body.get("items")) and _has_context(body),
    FEEDBACK: _is_feedback,
    CHOICE: _is_choice,
    MESSAGE: lambda body: _is_text(body.get("text")) and isinstance(body.get("drafts", []), list),
    REPLY: _is_reply,
    HELD: lambda body: _is_number(body.get("utility")),
    ACTIVATION: lambda body: True,
    ERASURE: lambda body: isinstance(body.get("first"), int),
    KEY: lambda body: all(_is_text(body.get(part)) for part in ("id", "digest", "role", "name")),
    REVOCATION: lambda body: _is_text(body.get("id")),
    MARK: _is_mark,
}
