"""Several acts in one message: "why 1? and I also need great service" asks for something and wishes for something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from druthers.advisor.messages import ASKING, STATED, Context, Kind, Message
from druthers.advisor.said import Said
from druthers.advisor.sayings import whole_words
from druthers.advisor.understanding import LIKELY, SURE, Understanding, is_worded

SENTENCE = re.compile(r"(?<=[.;!?])\s+")
BREAK = re.compile(r"(?:,\s*|\s+-\s+)(?:(?:and|but|so)\b\s+)?|\s+(?:and|but)\s+", re.I)
LINK = re.compile(r"\W*(?:and|but|so|also)\b[\s,]+", re.I)
BUT = re.compile(r"\W*\bbut\b", re.I)
# What may be told or done beside a question, and what is not asked beside something else: "I like 3. Similar ones?".
BESIDE = (*STATED, Kind.FEEDBACK, Kind.TAKEN, Kind.REJECT)
WHOLE = (Kind.LIKE, Kind.OTHER, Kind.FORGET_ME, Kind.NO, Kind.GREETING, Kind.THANKS)


class Act(NamedTuple):
    """A part of a message, and what it is."""

    text: str
    message: Message


def find_acts(understanding: Understanding, text: str, context: Context) -> tuple[Act, ...]:
    """Return what a message is, the main act first: one, or two where it is sure that there are two.

    Parameters
    ----------
    understanding
        Tells what a text is.
    text
        The message.
    context
        What it comes after.
    """
    whole = understanding.read(text, context)
    if whole.kind not in WHOLE and (whole.kind != Kind.REJECT or len(whole.places) > 1):
        for parts in _halves(text, context):
            acts = [Act(part, understanding.read(part, context)) for part in parts]
            if _are_two(acts, context):
                return _linked(acts)
    return (Act(text, whole),)


def _halves(text: str, context: Context) -> Iterator[tuple[str, str]]:
    """Return a message in two: its questions apart from all else, or what is wanted apart from what is told."""
    sentences = SENTENCE.split(text.strip())
    asking = [Said.of(one, context).asks for one in sentences]
    if any(asking) and not all(asking):
        both = [
            " ".join(one for one, asks in zip(sentences, asking, strict=True) if asks is flag) for flag in (True, False)
        ]
        one, other = both if asking[0] else both[::-1]
        yield one, LINK.sub("", other, count=1) if LINK.match(other) else other
        return
    for match in BREAK.finditer(text):
        head, tail = text[: match.start()], text[match.end() :]
        before, after = (Said.of(part, context) for part in (head, tail))
        if before.asks != after.asks and tail.rstrip().endswith("?"):
            yield head, tail
        elif not (before.asks or after.asks) and _wants(after) and not _wants(before):
            yield (tail, head) if BUT.match(match.group()) else (head, tail)  # what comes after "but" is the point


def _wants(said: Said) -> bool:
    """Tell whether something is wished for in so many words, of no item that was shown."""
    return not said.places and whole_words("wants").search(said.plain) is not None


def _are_two(acts: list[Act], context: Context) -> bool:
    """Tell whether two acts are sure enough to be two, and may stand beside each other."""
    kinds = [act.message.kind for act in acts]
    asked = [act for act in acts if act.message.kind in ASKING or Said.of(act.text, context).asks]
    if len(asked) != 1:
        return {*kinds} - {*STATED} == {Kind.FEEDBACK} and all(map(_is_sure, acts))
    (question,), (other,) = asked, [act for act in acts if act not in asked]
    if other.message.kind == Kind.TAKEN and question.message.kind not in (Kind.DETAIL, Kind.UNCLEAR):
        return False
    answered = question.message.kind in ASKING or question.message.kind == Kind.UNCLEAR
    return other.message.kind in BESIDE and answered and _is_sure(other)


def _is_sure(act: Act) -> bool:
    """Tell whether an act changes something, and says so in words of its own."""
    message = act.message
    if message.kind == Kind.FEEDBACK:
        return message.chance >= LIKELY and (message.utility is not None or bool(message.opinions))
    if message.kind not in STATED:
        return message.chance >= SURE and bool(message.places)
    return is_worded(message)


def _linked(acts: list[Act]) -> tuple[Act, ...]:
    """Return acts of which a question that points at nothing is about what the other one points at."""
    places = next((act.message.places for act in acts if act.message.places), ())
    return tuple(
        act._replace(message=replace(act.message, places=places))
        if act.message.kind in (Kind.DETAIL, Kind.WHY) and not act.message.places and not act.message.items
        else act
        for act in acts
    )
