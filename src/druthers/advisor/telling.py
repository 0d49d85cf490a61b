"""Answers that only tell something: why, what is known of a person, what can be said; nothing is changed by them."""

import re
from collections.abc import Callable, Sequence

from druthers.advisor import decisions, events
from druthers.advisor.answers import Reply
from druthers.advisor.describing import compare, detail, differences, not_shown
from druthers.advisor.finding import best, find
from druthers.advisor.messages import Kind
from druthers.advisor.operations import Operations
from druthers.advisor.sayings import ways
from druthers.advisor.statements import count_standing
from druthers.advisor.steps import Look, Operation
from druthers.advisor.there_is import called_in_short, several, values_in
from druthers.advisor.turns import Turn
from druthers.advisor.wording import count, limit_in_words, limits_in_words, listed, lost_in_words, quoted
from druthers.catalogs import Item
from druthers.language import not_understood
from druthers.limits.words import fold

FEW_WORDS = 3  # of a thing that no item has; more are a story
SOMEWHERE = re.compile(r"in\s", re.I)


def small_talk(ask: Operations, turn: Turn) -> Operation[Reply]:
    """Greet, or be thanked."""
    yield from ()
    if turn.message.kind == Kind.THANKS:
        return turn.reply("You are welcome.")
    lost = lost_in_words(turn.message.limits.unmatched)
    return turn.reply(f"Hello. {lost} {what_to_say(ask)}".replace("  ", " "))


def what_to_say(ask: Operations) -> str:
    """Return what can be said to begin with."""
    return f"Tell me what matters to you: {', '.join(one.name for one in ask.catalog.objectives[:4])}, or a limit."


def no(ask: Operations, turn: Turn) -> Operation[Reply]:
    """Take a no for an answer, whatever was asked: nothing is done, and no item is turned down by it."""
    yield from ()
    return turn.reply(
        "Then nothing is changed. Say “forget that” to take back what you said last"
        + (", “something else” for other items, or “not 2” to leave one out." if turn.shown else ".")
    )


def unclear(ask: Operations, turn: Turn) -> Operation[Reply]:
    """Say what was not understood, and what would be."""
    yield from ()
    names = [one.name for one in ask.catalog.objectives]
    reading = turn.message.reading
    if reading is not None and not_understood() in reading.notes:
        return turn.reply(f"Sorry, {not_understood()}. Nothing was changed.")
    pieces, columns = turn.message.limits.unmatched, ask.columns
    if not pieces and not turn.about and (none := not_shown(turn)):
        return turn.reply(none)
    lost = listed([quoted(piece) for piece in pieces]) or "this"
    reader = ask.limit_reader(columns)
    things = [piece for piece in pieces if not re.search(r"\d", piece) and len(piece.split()) <= FEW_WORDS]
    where = (
        reader.index.places if any(SOMEWHERE.match(piece) for piece in pieces) else reader.index.lists if things else ()
    )
    known = [
        f" There is {one['name']} {listed(one['values'])}."
        for one in columns.domains()
        if one["name"] in where and "values" in one
    ]
    return turn.reply(
        f"I did not understand {lost}: nothing was changed.{''.join(known)} I know about {listed(names)};"
        " say which of these matters, set a limit, tell how one was, or ask why."
    )


def why(ask: Operations, turn: Turn) -> Operation[Reply]:
    """Tell why an item was recommended."""
    if not turn.shown:
        return turn.reply("Nothing was recommended yet: say what matters to you.")
    if not turn.about and (none := not_shown(turn)):
        return turn.reply(none)
    meant, none = _asked_about(ask, turn)
    if none:
        return turn.reply(none)
    past = yield Look(lambda: ask.store.find(events.decision_key(turn.decision)))
    item = meant[0]
    made = () if past is None else decisions.suggestions(past)
    why = " ".join(one.why for one in made if one.item == item.id) or (yield from _why_not(ask, turn, item))
    others = [one for one in turn.shown if one.id != item.id]
    beside = f" Beside {others[0].name}: {differences(ask, item, others[0])}." if others else ""
    return turn.reply(f"{item.name}: {why}{beside}", about=[item])


def _asked_about(ask: Operations, turn: Turn) -> tuple[Sequence[Item], str]:
    """Return the items that a question for a reason is about, or that there is none of that name, or several."""
    if turn.about:
        return turn.about, ""
    plain = " ".join(fold(turn.text).split())
    if match := ways("why_not").fullmatch(plain.strip(" ?!.")):
        called = called_in_short(match["what"], ask.columns)
        if len(called) == 1:
            return called, ""
        if called:
            return (), f"{several(called, turn.shown)}."
        name = turn.text[match.start("what") :].strip(" ?!.") if len(plain) == len(turn.text) else match["what"]
        if ways("the_name").search(turn.text) and not values_in(name, ask.columns) and not ask.parser.read(name).names:
            return (), f"There is no “{name}”."
    return turn.pointed if re.search(r"\b(?:it|this|that)\b", plain) else turn.shown, ""


def _why_not(ask: Operations, turn: Turn, item: Item) -> Operation[str]:
    """Return why an item is not among those shown: a limit that it breaks, or what was felt about it."""
    person = yield from ask.find(turn.user)
    limits = {} if person is None else person.wishes.limits
    row, columns = ask.columns.places[item.id], ask.columns
    broken = [
        f"{name} {limit_in_words(limit)}"
        for name, limit in limits.items()
        if not columns.column(name).within(limit)[row]
    ]
    if broken:
        return f"Outside of what you asked for: {listed(broken)}."
    felt = person is not None and item.id in person.felt
    return "Held back by what you said of it." if felt else "Others fit better what is known of you."


def usage(ask: Operations, turn: Turn) -> Operation[Reply]:
    """Tell what can be said."""
    yield from ()
    names = [one.name for one in ask.catalog.objectives]
    details = [name for name in ask.columns.names if name not in names]
    limits = f" Limits can also be on {listed(details)}." if details else ""
    return turn.reply(
        f"I go by {listed(names)}: say which of these matter to you, or which do not.{limits} Tell me how one was,"
        " ask why or how two of them compare, or take back what you said."
    )


def profile(ask: Operations, turn: Turn) -> Operation[Reply]:
    """Tell what is known of a person."""
    person = yield from ask.find(turn.user)
    if person is None:
        return turn.reply("Nothing yet: you have not told me anything.")
    names = [one.name for one in ask.catalog.objectives]
    said = []
    if ask.fold.policy.learns_preference:
        card = yield from ask.preference(turn.user)
        weights = ", ".join(f"{one.objective} {one.weight:z.2f}" for one in card.weights)
        said.append(f"How much things count for you: {weights}.")
    if person.wishes.guessed:
        said.append(f"Guessed, not said: {listed([names[k] for k in person.wishes.guessed])}.")
    if person.wishes.dismissed:
        said.append(f"Set aside: {listed([names[k] for k in person.wishes.dismissed])}.")
    if person.wishes.limits:
        limits = [f"{name} {limit_in_words(limit)}" for name, limit in person.wishes.limits.items()]
        said.append(f"Limits: {', '.join(limits)}.")
    if person.wishes.hopes:
        said.append(f"If possible: {limits_in_words(person.wishes.hopes)}.")
    standing = count_standing((yield Look(lambda: ask.past(turn.user))))
    said.append(f"From {count(standing, 'message')} and {count(person.feedbacks, 'rating')}.")
    return turn.reply(" ".join(said))


TELLING: dict[Kind, Callable[[Operations, Turn], Operation[Reply]]] = {
    Kind.GREETING: small_talk,
    Kind.THANKS: small_talk,
    Kind.WHY: why,
    Kind.COMPARE: compare,
    Kind.DETAIL: detail,
    Kind.FIND: find,
    Kind.BEST: best,
    Kind.HELP: usage,
    Kind.PROFILE: profile,
    Kind.NO: no,
    Kind.UNCLEAR: unclear,
}
