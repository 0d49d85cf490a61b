"""Answers that change something: what is said is heard, what was felt is learned, and what is taken back is gone."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from druthers.advisor import events, statements
from druthers.advisor.answers import Heard, Recommendation
from druthers.advisor.finding import ordered
from druthers.advisor.messages import Kind, Message, Part
from druthers.advisor.naming import NAME
from druthers.advisor.operations import ATTEMPTS, Operations
from druthers.advisor.outcomes import feedback, pick
from druthers.advisor.said import called
from druthers.advisor.steps import CatchUp, Look, Operation
from druthers.advisor.telling import what_to_say
from druthers.advisor.turns import Draft, Turn
from druthers.advisor.wishes import Wishes
from druthers.advisor.wording import aspects_in_words, grade, listed, lost_in_words, understood_in_words
from druthers.catalogs import Item
from druthers.errors import Contradiction
from druthers.limits import Stated, merge

# What "not that one", "I take that one" and "more like that" say of an item.
DISLIKED, CHOSEN, LIKED = -0.4, 0.4, 0.6
NOTHING_TO_TAKE_BACK = "There is nothing to take back."


def hear(turn: Turn) -> Operation[Draft]:
    """Hear wishes, limits and what does not matter, and take back what they are said in place of."""
    ask, message, text = turn.ask, turn.message, ""
    if message.forgotten:  # "I didn't say cheap, I said clean"
        yield from take_back(ask, turn.user, message.forgotten, part=message.forgotten_part)
        text = f"{_taken_back(message)} "
    person = yield from ask.find(turn.user)
    known = ask.standing(person)
    heard = yield from _heard(turn)
    unsaid = person is None or not person.queries or bool(heard.ranking)  # what matters is asked once
    asked = unsaid and heard.reading is not None and bool(heard.reading.question)  # one at a time
    only = None
    if message.most:  # of those within limits, the ones with the most of what is wished
        fitting = [ask.fold.items[id] for id in ask.columns.eligible(ask.standing(person).limits)]
        only = [item.id for item in ordered(turn, fitting)[1][: turn.size]] or None
    return turn.draft(text + _understood(turn, heard, known, asks=unsaid), heard=heard, asks=not asked, only=only)


def _heard(turn: Turn) -> Operation[Heard]:
    assert turn.message.reading is not None
    read = replace(turn.message.reading, text=turn.text), turn.message.limits
    heard: Heard = yield from turn.ask.hear(turn.user, turn.text, read=read)
    return heard


def _understood(turn: Turn, heard: Heard, known: Wishes, *, asks: bool = False) -> str:
    """Return what was heard in words, beside what was known before."""
    costs = {one.name for one in turn.ask.catalog.objectives if one.less_is_better}
    return understood_in_words(heard, known, costs, asks=asks)


def _heard_beside(turn: Turn, text: str) -> Operation[tuple[str, Heard | None]]:
    """Hear what is wished beside pointing at items, and word it before a text."""
    reading, limits = turn.message.reading, turn.message.limits
    if reading is None or not (reading.ranking or reading.dismissed or limits.where or limits.hopes):
        return f"{lost_in_words(limits.unmatched)} {text}".strip(), None
    known = turn.ask.standing((yield from turn.ask.find(turn.user)))
    heard = yield from _heard(turn)
    told = replace(heard, limits=tuple(one for one in heard.limits if one.name != NAME))
    more = reading.ranking or reading.dismissed or told.limits or told.hopes
    return f"{_understood(turn, told, known) if more else ''} {text}".strip(), heard


def felt(turn: Turn) -> Operation[Draft]:
    """Learn how items were, each as a whole and in single objectives."""
    message = turn.message
    if not message.opinions and message.utility is None:
        return turn.draft("Was that good or bad? Nothing was noted yet: say so in a word.")
    each: list[tuple[float | None, dict[str, float]]]
    each = [(one.utility, one.aspects) for one in message.opinions.values()]
    each = each or [(message.utility, message.aspects)] * len(turn.about)
    noted = []
    for item, (utility, aspects) in zip(turn.about, each, strict=True):
        yield from rate(turn, item, utility, aspects)
        noted.append(f"{item.name} was {grade(utility)}{aspects_in_words(aspects)}")
    wrong = turn.instead
    stays = f" What you said of {wrong.name} stays: say how it was, if it was not so." if wrong else ""
    return turn.draft(f"Noted: {'; '.join(noted)}.{stays}", asks=True)


def rate(turn: Turn, item: Item, utility: float | None, aspects: Mapping[str, float]) -> Operation[None]:
    """Take in how an item was, as a whole and in single objectives, from -1 to 1.

    A utility takes the place of the one told before, where that is put right. An item that the person met otherwise
    gets a decision of its own.
    """
    objectives = {one.name: one for one in turn.ask.catalog.objectives}
    rewards = {name: objectives[name].to_value(0.5 + 0.45 * worth) for name, worth in aspects.items()}
    made_in = [turn.decision] if item in turn.shown else []
    before, rated = turn.rated
    if rated == item.id and (turn.corrects or not made_in):
        made_in.insert(0, before)
        if before != turn.decision and utility is not None:
            yield from feedback(turn.ask, before, item=item.id, utility=utility)
            utility = None
    if not rewards and utility is None:
        return
    for decision in made_in:
        told = yield from turn.ask.told.recall(decision)
        if told.rewards.get(item.id, {}).keys().isdisjoint(rewards):  # else what was said of it first stands there
            break
    else:
        made: Recommendation = yield from turn.ask.recommend(turn.user, offer=[item.id], aside=True)
        decision = made.id
    yield from feedback(turn.ask, decision, item=item.id, rewards=rewards, utility=utility)


def _rated(turn: Turn, utility: float) -> Operation[Sequence[Item]]:
    """Rate what a message is about, and return it."""
    items = turn.pointed
    for item in items:
        yield from rate(turn, item, utility, turn.message.aspects)
    return items


def take(turn: Turn) -> Operation[Draft]:
    """Note what was taken: one of several items shown is a choice among them; all else only says it is liked."""
    items, pair = turn.pointed, list[str]()
    if len(items) == 1 and turn.decision:  # by its name it may be one of two that were asked about; not by a number
        asked = (yield from turn.ask.told.recall(turn.decision)).asked
        by_name = bool(turn.message.items) or called(turn.plain, items[0]) >= 0
        pair = asked if by_name and items[0].id in asked and turn.ask.fold.items.keys() >= {*asked} else []
    picked = bool(pair) or (len(items) == 1 and items[0] in turn.shown and len(turn.shown) > 1)
    if picked:
        try:
            yield from pick(turn.ask, turn.decision, items[0].id, offer=pair or None)
        except Contradiction:  # another one was taken first
            picked = False
    if not picked:
        yield from _rated(turn, CHOSEN)
    names = listed([item.name for item in items])
    return turn.draft(f"Good: you took {names.removesuffix('.')}. Tell me how it was when you know.", about=items)


def reject(turn: Turn) -> Operation[Draft]:
    """Leave items out, and keep those away that no other one is called like."""
    message = turn.message
    gone = yield from _rated(turn, DISLIKED if message.utility is None else message.utility)
    names = [item.name for item in gone]
    many = Counter(item.name for item in turn.ask.columns.items)
    if alone := [name for name in names if many[name] == 1]:  # a limit on the name would keep others away
        away = Stated(NAME, {"not": alone}, turn.text, 0, len(turn.text))  # it stays away, until that is taken back
        reading = message.reading or turn.ask.parser.read("")
        where = merge(message.limits.where, {NAME: away.limit})
        limits = replace(message.limits, where=where, stated=(*message.limits.stated, away))
        turn = replace(turn, message=replace(message, reading=reading, limits=limits))
    text, heard = yield from _heard_beside(turn, f"Without {listed(names)}{aspects_in_words(message.aspects)}, then.")
    return turn.draft(text, heard=heard, about=gone, without=[item.id for item in gone])


def like(turn: Turn) -> Operation[Draft]:
    """Look for more like some items."""
    liked = yield from _rated(turn, LIKED)
    names = listed([item.name for item in liked])
    text, heard = yield from _heard_beside(turn, f"More like {names}{aspects_in_words(turn.message.aspects)}.")
    return turn.draft(text, heard=heard, about=liked, without=[item.id for item in liked])


def other(turn: Turn) -> Operation[Draft]:
    """Look for others than those that were shown since something was said."""
    person = yield from turn.ask.find(turn.user)
    seen = [] if person is None else list(person.seen)
    text, heard = yield from _heard_beside(turn, "Something else:" if seen else "")
    nothing_said = person is None or not (person.queries or person.wishes.limits)
    if turn.ask.fold.items and not seen and heard is None and nothing_said:
        begun = f"Here is something to begin with: I do not know yet what you want. {what_to_say(turn.ask)}"
        text = f"{text} {begun}".strip()
    return turn.draft(text, heard=heard, without=seen)


def forget_that(turn: Turn) -> Operation[Draft]:
    """Take back what was said last, or of some things."""
    message = turn.message
    person = yield from turn.ask.find(turn.user)
    if person is not None and person.rated[0] and not message.forgotten:
        return turn.draft("What you felt about an item stays: say how it was instead, or name what to take back.")
    if not (yield from take_back(turn.ask, turn.user, message.forgotten, part=message.forgotten_part)):
        return turn.draft(NOTHING_TO_TAKE_BACK)
    return turn.draft(_taken_back(message) if message.forgotten else "What you said last is taken back.", asks=True)


def forget_all(turn: Turn) -> Operation[Draft]:
    """Take back all that was said."""
    if not (yield from take_back(turn.ask, turn.user, everything=True)):
        return turn.draft(NOTHING_TO_TAKE_BACK)
    return turn.draft("All that you said is taken back; what you felt about items stays.")


def _taken_back(message: Message) -> str:
    """Return what a message takes back, in words."""
    part = {"": "", "wishes": "the wish for ", "limits": "the limit on "}[message.forgotten_part]
    return f"Taken back: {part}{listed(message.forgotten)}."


def take_back(
    operations: Operations, user: str, names: Collection[str] = (), *, part: Part = "", everything: bool = False
) -> Operation[bool]:
    """Take back what a user said of some objectives and details, or a part of that, the last thing said, or all.

    False if there was none. All that is left is said anew, in place of all that was said: so nothing may have come
    meanwhile.
    """
    events.as_id(user, "a user")
    for _ in range(ATTEMPTS):
        person = yield from operations.find(user)
        before = statements.statements((yield Look(lambda: operations.past(user))))
        after = [] if everything else statements.without(before, names, part) if names else before[:-1]
        if person is None or after == before:
            return False
        body = {"ranking": [], "limitless": True, "said": after}
        event = events.make(events.CORRECTION, body, user=user, latest=person.position)
        if (yield from operations.append(event)):
            return True
        yield CatchUp()  # more came meanwhile, or the user was erased: look again
    raise Contradiction("too much is said at once to take something back; try again")


DOING: dict[Kind, Callable[[Turn], Operation[Draft]]] = {
    Kind.WISH: hear,
    Kind.LIMIT: hear,
    Kind.DISMISSAL: hear,
    Kind.FEEDBACK: felt,
    Kind.TAKEN: take,
    Kind.REJECT: reject,
    Kind.LIKE: like,
    Kind.OTHER: other,
    Kind.FORGET_THAT: forget_that,
    Kind.FORGET_ALL: forget_all,
}
