"""Several acts in one message: "why 1? and I also need great service" asks for something and wishes for something."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from druthers.advisor.kinds import LIKELY
from druthers.advisor.messages import ASKING, STATED, Context, Kind, Message
from druthers.advisor.questions import without_topic
from druthers.advisor.said import SENTENCES, Said
from druthers.advisor.sayings import ways, whole_words
from druthers.advisor.understanding import SURE, Understanding, is_worded

# Letters of a text that is looked through for acts break by break: each break is read twice, and so are its halves.
MOST_SPLIT = 240
FEW_WORDS = 6  # of what is no story
# What may be told or done beside a question, and what is not asked beside something else: "I like 3. Similar ones?".
BESIDE = (*STATED, Kind.FEEDBACK, Kind.TAKEN, Kind.REJECT)
WHOLE = (Kind.LIKE, Kind.OTHER, Kind.FORGET_ME, Kind.NO, Kind.GREETING, Kind.THANKS)


class Act(NamedTuple):
    """A part of a message, and what it is."""

    text: str
    message: Message


def find_acts(understanding: Understanding, text: str, context: Context) -> tuple[Act, ...]:
    """Return what a message is, the main act first: one, or several where it is sure that there are.

    Parameters
    ----------
    understanding
        Tells what a text is.
    text
        The message.
    context
        What it comes after.
    """
    return _acts(understanding, text, context, {})


def _acts(
    understanding: Understanding, text: str, context: Context, known: dict[str, tuple[Act, ...]]
) -> tuple[Act, ...]:
    """Return the same, where acts of some texts are known: halves of halves come again and again."""
    if text not in known:
        known[text] = _acts_of(understanding, text, context, known)
    return known[text]


def _acts_of(
    understanding: Understanding, text: str, context: Context, known: dict[str, tuple[Act, ...]]
) -> tuple[Act, ...]:
    text = without_topic(text, [item.name for item in context.shown])
    whole = understanding.read(text, context)
    one = whole.kind in WHOLE or _sets_topic_aside(text, whole)
    if not one and (whole.kind != Kind.REJECT or len(whole.places) > 1):
        for parts in _halves(text, context):
            acts = [act for part in parts for act in _acts(understanding, part, context, known)]
            if _are_several(acts, context):
                return _linked(acts)
            if question := _asked_alone(acts, context):
                return (question,)
    return (Act(text, whole),)


def _halves(text: str, context: Context) -> Iterator[tuple[str, str]]:
    """Return a message in two: its questions apart from all else, or what is wanted apart from what is told."""
    sentences = SENTENCES.split(text.strip())
    asking = [Said.of(one, context).asks for one in sentences]
    if any(asking) and not all(asking):
        both = [
            " ".join(one for one, asks in zip(sentences, asking, strict=True) if asks is flag) for flag in (True, False)
        ]
        one, other = both if asking[0] else both[::-1]
        yield one, ways("act_link").sub("", other, count=1) if ways("act_link").match(other) else other
        return
    for match in (*ways("act_break").finditer(text), *SENTENCES.finditer(text)) if len(text) <= MOST_SPLIT else ():
        head, tail = text[: match.start()], text[match.end() :]
        before, after = (Said.of(part, context) for part in (head, tail))
        if before.asks != after.asks and tail.rstrip().endswith("?"):
            if not before.bare or ways("choose").search(before.core):  # "the second one, how long?" picks nothing
                yield head, tail
        elif not (before.asks or after.asks) and _wants(after) and not _wants(before):
            yield (
                (tail, head) if ways("but").match(match.group()) else (head, tail)
            )  # what comes after "but" is the point


def _sets_topic_aside(text: str, whole: Message) -> bool:
    """Tell whether a message brings up what it sets aside: "what they cost? That's neither here nor there"."""
    if whole.kind != Kind.DISMISSAL or whole.reading is None or text.rstrip().endswith("?"):
        return False
    spots = [one.start for one in whole.reading.evidence if one.objective in whole.reading.dismissed]
    return bool(spots) and max(spots) < text.find("?")


def _wants(said: Said) -> bool:
    """Tell whether something is wished for in so many words, of no item that was shown."""
    return not said.places and whole_words("wants").search(said.plain) is not None


def _are_several(acts: list[Act], context: Context) -> bool:
    """Tell whether acts are sure enough to be several, and may stand beside each other."""
    kinds = [act.message.kind for act in acts]
    asked = [act.message.kind in ASKING or Said.of(act.text, context).asks for act in acts]
    questions = [act for act, asks in zip(acts, asked, strict=True) if asks]
    others = [act for act, asks in zip(acts, asked, strict=True) if not asks]
    if not questions or not others:
        return {*kinds} - {*STATED} == {Kind.FEEDBACK} and all(map(_is_sure, acts))
    taken = any(act.message.kind == Kind.TAKEN for act in others)
    if taken and any(act.message.kind not in (Kind.DETAIL, Kind.UNCLEAR) for act in questions):
        return False
    return all(map(_is_answered, questions)) and all(
        _excludes(act) if act.message.kind == Kind.UNCLEAR else act.message.kind in BESIDE and _is_sure(act)
        for act in others
    )


def _asked_alone(acts: list[Act], context: Context) -> Act | None:
    """Return the question of a message that tells beside it nothing that is sure: a story, "which have a garden?"."""
    asked = [act for act in acts if Said.of(act.text, context).asks]
    told = [act for act in acts if act not in asked]
    if len(asked) != 1 or not told or not asked[0].text.rstrip().endswith("?"):
        return None
    idle = all(
        (act.message.kind in (Kind.UNCLEAR, Kind.GREETING, Kind.THANKS) and not _excludes(act))
        or (act.message.kind in STATED and not is_worded(act.message))
        or (act.message.kind not in STATED and act.message.chance < LIKELY)
        for act in told
    )
    answered = asked[0].message.kind in ASKING or asked[0].message.kind == Kind.UNCLEAR
    return asked[0] if idle and answered and len(told[0].text.split()) > FEW_WORDS else None


def _excludes(act: Act) -> bool:
    """Tell whether an act that is not understood leaves something out, and so must be told: "and no hostels"."""
    return ways("excludes").match(act.text) is not None


def _is_answered(act: Act) -> bool:
    """Tell whether a question has an answer of its own, or is a wish: "is there a cheaper one?"."""
    message = act.message
    if message.kind in STATED:
        return is_worded(message)
    if (
        message.kind == Kind.WHY and ways("asks_why").search(act.text) is None
    ):  # "actually, on second thought" asks for no reason
        return False
    return message.kind in (*ASKING, Kind.UNCLEAR, Kind.LIKE)


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
