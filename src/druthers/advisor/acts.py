"""Several acts in one message: "why 1? and I also need great service" asks for something and wishes for something."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from druthers.advisor.kinds import LIKELY, SURE
from druthers.advisor.messages import ASKING, STATED, Context, Kind, Message
from druthers.advisor.questions import without_topic
from druthers.advisor.said import SENTENCES, Said, ways, whole_words
from druthers.advisor.stating import is_worded
from druthers.advisor.understanding import Understanding

# Letters of a text that is looked through for acts break by break: each break is read twice, and so are its halves.
MOST_SPLIT = 240
FEW_WORDS = 6  # of what is no story
# What may be told or done beside a question, and what is not asked beside something else: "I like 3. Similar ones?".
BESIDE = (*STATED, Kind.FEEDBACK, Kind.TAKEN, Kind.REJECT)
WHOLE = (Kind.LIKE, Kind.OTHER, Kind.FORGET_ME, Kind.NO, Kind.GREETING, Kind.THANKS)


def find_acts(understanding: Understanding, text: str, context: Context) -> tuple[Message, ...]:
    """Return what a message is, the main act first: one, or several where it is sure that there are."""

    @cache  # halves of halves come again and again
    def acts_of(text: str) -> tuple[Message, ...]:
        text = without_topic(text, [item.name for item in context.shown])
        whole = replace(understanding.read(text, context), text=text)
        one = whole.kind in WHOLE or _sets_topic_aside(whole)
        if not one and (whole.kind != Kind.REJECT or len(whole.places) > 1):
            for parts in _halves(text, context):
                acts = [act for part in parts for act in acts_of(part)]
                if _are_several(acts, context):
                    return _linked(acts)
                if question := _asked_alone(acts, context):
                    return (question,)
        return (whole,)

    return acts_of(text)


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
            # what comes after "but" is the point
            yield (tail, head) if ways("but").match(match.group()) else (head, tail)


def _sets_topic_aside(whole: Message) -> bool:
    """Tell whether a message brings up what it sets aside: "what they cost? That's neither here nor there"."""
    if whole.kind != Kind.DISMISSAL or whole.reading is None or whole.text.rstrip().endswith("?"):
        return False
    spots = [one.start for one in whole.reading.evidence if one.objective in whole.reading.dismissed]
    return bool(spots) and max(spots) < whole.text.find("?")


def _wants(said: Said) -> bool:
    """Tell whether something is wished for in so many words, of no item that was shown."""
    return not said.places and whole_words("wants").search(said.plain) is not None


def _asks(act: Message, context: Context) -> bool:
    return Said.of(act.text, context).asks


def _are_several(acts: list[Message], context: Context) -> bool:
    """Tell whether acts are sure enough to be several, and may stand beside each other."""
    questions = [act for act in acts if act.kind in ASKING or _asks(act, context)]
    others = [act for act in acts if act not in questions]
    if not questions or not others:
        return {act.kind for act in acts} - {*STATED} == {Kind.FEEDBACK} and all(map(_is_sure, acts))
    taken = any(act.kind == Kind.TAKEN for act in others)
    if taken and any(act.kind not in (Kind.DETAIL, Kind.UNCLEAR) for act in questions):
        return False
    return all(map(_is_answered, questions)) and all(
        _excludes(act) if act.kind == Kind.UNCLEAR else act.kind in BESIDE and _is_sure(act) for act in others
    )


def _asked_alone(acts: list[Message], context: Context) -> Message | None:
    """Return the question of a message that tells beside it nothing that is sure: a story, "which have a garden?"."""
    asked = [act for act in acts if _asks(act, context)]
    told = [act for act in acts if act not in asked]
    if len(asked) != 1 or not told or not asked[0].text.rstrip().endswith("?"):
        return None
    idle = all(
        (act.kind in (Kind.UNCLEAR, Kind.GREETING, Kind.THANKS) and not _excludes(act))
        or (act.kind in STATED and not is_worded(act))
        or (act.kind not in STATED and act.chance < LIKELY)
        for act in told
    )
    answered = asked[0].kind in (*ASKING, Kind.UNCLEAR)
    return asked[0] if idle and answered and len(told[0].text.split()) > FEW_WORDS else None


def _excludes(act: Message) -> bool:
    """Tell whether an act that is not understood leaves something out, and so must be told: "and no hostels"."""
    return ways("excludes").match(act.text) is not None


def _is_answered(act: Message) -> bool:
    """Tell whether a question has an answer of its own, or is a wish: "is there a cheaper one?"."""
    if act.kind in STATED:
        return is_worded(act)
    if act.kind == Kind.WHY and ways("asks_why").search(act.text) is None:
        return False  # "actually, on second thought" asks for no reason
    return act.kind in (*ASKING, Kind.UNCLEAR, Kind.LIKE)


def _is_sure(act: Message) -> bool:
    """Tell whether an act changes something, and says so in words of its own."""
    if act.kind == Kind.FEEDBACK:
        return act.chance >= LIKELY and (act.utility is not None or bool(act.opinions))
    if act.kind not in STATED:
        return act.chance >= SURE and bool(act.places)
    return is_worded(act)


def _linked(acts: list[Message]) -> tuple[Message, ...]:
    """Return acts of which a question that points at nothing is about what the other one points at."""
    places = next((act.places for act in acts if act.places), ())
    return tuple(
        replace(act, places=places) if act.kind in (Kind.DETAIL, Kind.WHY) and not (act.places or act.items) else act
        for act in acts
    )
