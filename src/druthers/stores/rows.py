"""Events as stores write them, and the one place where they are checked."""

import json
import math
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from druthers.errors import DamagedEvent, InvalidEvent
from druthers.stores.base import ERASURE, LAST, Event

# Two such texts fit into one entry of a PostgreSQL index, which takes 2,704 bytes.
LONGEST = 1000
# Deeper bodies could be written from a shallow stack and then not be read from a deep one.
DEEPEST = 100
# What stands for the checksum of an event that was damaged before it was scrubbed: it must not look whole afterwards.
DAMAGED = "damaged"
HEX = re.compile("[0-9a-f]{16}")

_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class Row(NamedTuple):
    """An event whose body is JSON text, in ASCII."""

    kind: str
    body: str
    at: float
    user: str | None
    about: str | None
    key: str | None
    mark: str
    checksum: str


def encode(events: Iterable[Event]) -> list[Row]:
    """Return events as rows, or refuse them all.

    Examples
    --------
    >>> [row] = encode([Event("query", {"text": "cheap"}, 12.5, user="ada", mark="0123456789abcdef")])
    >>> row.body, row.mark, row.checksum
    ('{"text":"cheap"}', '0123456789abcdef', 'bfee7162ef5997a7')
    """
    return [_encode_one(event) for event in events]


def _encode_one(event: Event) -> Row:
    row = Row(
        check_text("kind", event.kind),
        _body(event.body),
        _time(event.at),
        None if event.user is None else check_text("user", event.user),
        None if event.about is None else check_text("about", event.about),
        None if event.key is None else check_text("key", event.key),
        event.mark or secrets.token_hex(8),
        event.checksum,
    )
    for what, digits in (("mark", event.mark), ("checksum", "" if event.checksum == DAMAGED else event.checksum)):
        if digits and not HEX.fullmatch(digits):
            raise InvalidEvent(f"the {what} of an event must be 16 hex digits, but got {_shown(digits)}")
    return row if event.checksum else sealed(row)


def sealed(row: Row) -> Row:
    """Return a row with the checksum of all the rest."""
    content = json.dumps(row[:-1], separators=(",", ":"))
    return row._replace(checksum=blake2b(content.encode(), digest_size=8).hexdigest())


def is_whole(event: Event) -> bool:
    """Tell whether an event that was read is as it was written.

    Examples
    --------
    >>> [row] = encode([Event("query", {"text": "cheap"}, 12.5)])
    >>> event = decode(1, *row)
    >>> is_whole(event), is_whole(event._replace(at=12.6))
    (True, False)
    """
    try:
        return _encode_one(event._replace(checksum="")).checksum == event.checksum
    except InvalidEvent:
        return False


def old_mark(position: int, at: float) -> str:
    """Return the mark of an event from before there were marks: the same in all copies of its journal."""
    return blake2b(f"{position} {at!r}".encode(), digest_size=8).hexdigest()


def decode(position: int, *values: Any) -> Event:
    """Return a row as an event, if it is one."""
    row = Row(*values)
    try:
        facts = json.loads(row.body)
    except (TypeError, ValueError, RecursionError) as problem:
        raise DamagedEvent(f"the body of an event must be JSON, but that at {position} is not: {problem}") from None
    texts = row.kind, row.user or "", row.about or "", row.key or "", row.mark, row.checksum
    if type(facts) is not dict or type(row.at) is not float or any(type(text) is not str for text in texts):
        raise DamagedEvent(f"an event must hold a dict, a time and texts, but that at {position} is not whole")
    return Event(row.kind, facts, *row[2:6], position, row.mark, row.checksum)


def scrubbed(events: Sequence[Event], user: str, scrub: Callable[[Event], Event]) -> list[Row]:
    """Return what `scrub` makes of a user's events, as rows; one that was damaged does not look whole afterwards."""
    clean = [scrub(event) for event in events]
    for old, new in zip(events, clean, strict=True):
        if new[6:8] != old[6:8] or new.user == user or new.key not in (None, old.key):
            raise InvalidEvent(
                "a scrubbed event must keep its position and its mark, lose its user, and keep its key or have none,"
                f" but event {old.position} became one at {new.position} that breaks this"
            )
    checksums = ["" if is_whole(old) else DAMAGED for old in events]
    return encode(new._replace(checksum=checksum) for new, checksum in zip(clean, checksums, strict=True))


def as_notice(notice: Event, user: str, first: int) -> Event:
    """Return the notice of an erasure, as such, with the position of the user's first event."""
    if notice.key is not None or notice.user == user:
        raise InvalidEvent(
            "the notice of an erasure must have no key and not be about the user, but this one breaks it"
        )
    return notice._replace(kind=ERASURE, body={**notice.body, "first": first})


def check_text(what: str, text: Any) -> str:
    """Return a text that every store can hold, or say why it cannot."""
    if not isinstance(text, str):
        raise InvalidEvent(f"the {what} of an event must be text, but got {_shown(text)}")
    if not storable(text):
        raise InvalidEvent(
            f"the {what} of an event must be at most {LONGEST} bytes in UTF-8 without NUL and lone surrogates,"
            f" but got {_shown(text)}"
        )
    return text


def storable(text: str) -> bool:
    """Tell whether a store can hold this text outside of a body."""
    if "\0" in text or len(text) > LONGEST:
        return False
    try:
        return text.isascii() or len(text.encode()) <= LONGEST
    except UnicodeEncodeError:
        return False


def bounded(number: int) -> int:
    """Return the nearest number that can be a position."""
    return min(max(number, 0), LAST)


def _body(body: Any) -> str:
    if not isinstance(body, dict):
        raise InvalidEvent(f"the body of an event must be a dict, but got {_shown(body)}")
    try:
        text = _encode(body)
    except (TypeError, ValueError, RecursionError) as problem:
        raise InvalidEvent(f"the body of an event must be JSON, with finite numbers, but: {problem}") from None
    if text.count("{") + text.count("[") > DEEPEST:
        _check_depth(body)
    return text


def _check_depth(body: Any) -> None:
    level = [body]
    for _ in range(DEEPEST):
        parts = (part.values() if isinstance(part, dict) else part for part in level)
        level = [value for part in parts for value in part if isinstance(value, dict | list | tuple)]
        if not level:
            return
    raise InvalidEvent(f"the body of an event must be nested at most {DEEPEST} levels deep, but this one is deeper")


def _time(at: Any) -> float:
    try:
        time = float(at)
    except (TypeError, ValueError, OverflowError):
        time = math.nan
    if isinstance(at, str) or not math.isfinite(time):
        raise InvalidEvent(f"the time of an event must be a finite number of seconds since 1970, but got {_shown(at)}")
    return time


def _shown(value: Any) -> str:
    text = ascii(value) if isinstance(value, str | int | float) else type(value).__name__
    return text if len(text) <= 60 else f"{text[:60]}..."
