"""Answers that only tell something: why, what is known of a person, what can be said; nothing is changed by them."""

import re
from collections.abc import Callable, Sequence

from druthers.advisor import decisions, events
from druthers.advisor.answers import Reply
from druthers.advisor.finding import best, compare, detail, differences, find, not_shown
from druthers.advisor.messages import Kind
from druthers.advisor.naming import called_in_short, several, values_in
from druthers.advisor.operations import Operations
from druthers.advisor.said import ways
from druthers.advisor.statements import count_standing
from druthers.advisor.steps import Look, Operation
from druthers.advisor.turns import Turn
from druthers.advisor.wording import count, limits_in_words, listed, lost_in_words, named_in_words, quoted
from druthers.catalogs import Item
from druthers.language import not_understood

FEW_WORDS = 3  # of a thing that no item has; more are a story
SOMEWHERE = re.compile(r"in\s", re.I)


def small_talk(turn: Turn) -> Reply:
    """Greet, or be thanked."""
    if turn.message.kind == Kind.THANKS:
        return turn.reply("You are welcome.")
    lost = lost_in_words(turn.message.limits.unmatched)
    return turn.reply(f"Hello. {lost} {what_to_say(turn.ask)}".replace("  ", " "))


def what_to_say(ask: Operations) -> str:
    """Return what can be said to begin with."""
    return f"Tell me what matters to you: {', '.join(one.name for one in ask.catalog.objectives[:4])}, or a limit."


def no(turn: Turn) -> Reply:
    """Take a no for an answer, whatever was asked: nothing is done, and no item is turned down by it."""
    return turn.reply(
        "Then nothing is changed. Say “forget that” to take back what you said last"
        + (", “something else” for other items, or “not 2” to leave one out." if turn.shown else ".")
    )


def unclear(turn: Turn) -> Reply:
    """Say what was not understood, and what would be."""
    names = [one.name for one in turn.ask.catalog.objectives]
    reading = turn.message.reading
    if reading is not None and not_understood() in reading.notes:
        return turn.reply(f"Sorry, {not_understood()}. Nothing was changed.")
    pieces, columns = turn.message.limits.unmatched, turn.ask.columns
    if not pieces and not turn.about and (none := not_shown(turn)):
        return turn.reply(none)
    lost = listed([quoted(piece) for piece in pieces]) or "this"
    reader = turn.ask.limit_reader(columns)
    things = any(not re.search(r"\d", piece) and len(piece.split()) <= FEW_WORDS for piece in pieces)
    where = reader.index.places if any(map(SOMEWHERE.match, pieces)) else reader.index.lists if things else ()
    domains = [one for one in columns.domains() if one["name"] in where and "values" in one]
    known = [f" There is {one['name']} {listed(one['values'])}." for one in domains]
    return turn.reply(
        f"I did not understand {lost}: nothing was changed.{''.join(known)} I know about {listed(names)};"
        " say which of these matters, set a limit, tell how one was, or ask why."
    )


def why(turn: Turn) -> Operation[Reply]:
    """Tell why an item was recommended."""
    if not turn.shown:
        return turn.reply("Nothing was recommended yet: say what matters to you.")
    if not turn.about and (none := not_shown(turn)):
        return turn.reply(none)
    meant, none = _asked_about(turn)
    if none:
        return turn.reply(none)
    past = yield Look(lambda: turn.ask.store.find(events.decision_key(turn.decision)))
    item = meant[0]
    made = () if past is None else decisions.suggestions(past)
    why = " ".join(one.why for one in made if one.item == item.id) or _why_not(turn, item)
    others = [one for one in turn.shown if one.id != item.id]
    beside = f" Beside {others[0].name}: {differences(turn.ask, item, others[0])}." if others else ""
    return turn.reply(f"{item.name}: {why}{beside}", about=[item])


def _asked_about(turn: Turn) -> tuple[Sequence[Item], str]:
    """Return the items that a question for a reason is about, or that there is none of that name, or several."""
    if turn.about:
        return turn.about, ""
    plain = turn.plain
    if match := ways("why_not").fullmatch(plain.strip(" ?!.")):
        called = called_in_short(match["what"], turn.ask.columns)
        if len(called) == 1:
            return called, ""
        if called:
            return (), f"{several(called, turn.shown)}."
        name = turn.text[match.start("what") :].strip(" ?!.") if len(plain) == len(turn.text) else match["what"]
        known = values_in(name, turn.ask.columns) or turn.ask.parser.read(name).names
        if ways("the_name").search(turn.text) and not known:
            return (), f"There is no “{name}”."
    return turn.pointed if re.search(r"\b(?:it|this|that)\b", plain) else turn.shown, ""


def _why_not(turn: Turn, item: Item) -> str:
    """Return why an item is not among those shown: a limit that it breaks, or what was felt about it."""
    row, columns = turn.ask.columns.places[item.id], turn.ask.columns
    broken = {name: limit for name, limit in turn.held.items() if not columns.column(name).within(limit)[row]}
    if broken:
        return f"Outside of what you asked for: {listed(named_in_words(broken))}."
    felt = turn.person is not None and item.id in turn.person.felt
    return "Held back by what you said of it." if felt else "Others fit better what is known of you."


def usage(turn: Turn) -> Reply:
    """Tell what can be said."""
    names = [one.name for one in turn.ask.catalog.objectives]
    details = [name for name in turn.ask.columns.names if name not in names]
    limits = f" Limits can also be on {listed(details)}." if details else ""
    return turn.reply(
        f"I go by {listed(names)}: say which of these matter to you, or which do not.{limits} Tell me how one was,"
        " ask why or how two of them compare, or take back what you said."
    )


def profile(turn: Turn) -> Operation[Reply]:
    """Tell what is known of a person."""
    person = turn.person
    if person is None:
        return turn.reply("Nothing yet: you have not told me anything.")
    names = [one.name for one in turn.ask.catalog.objectives]
    said = []
    if turn.ask.fold.policy.learns_preference:
        card = yield from turn.ask.preference(turn.user)
        weights = ", ".join(f"{one.objective} {one.weight:z.2f}" for one in card.weights)
        said.append(f"How much things count for you: {weights}.")
    if person.wishes.guessed:
        said.append(f"Guessed, not said: {listed([names[k] for k in person.wishes.guessed])}.")
    if person.wishes.dismissed:
        said.append(f"Set aside: {listed([names[k] for k in person.wishes.dismissed])}.")
    if person.wishes.limits:
        said.append(f"Limits: {', '.join(named_in_words(person.wishes.limits))}.")
    if person.wishes.hopes:
        said.append(f"If possible: {limits_in_words(person.wishes.hopes)}.")
    standing = count_standing((yield Look(lambda: turn.ask.past(turn.user))))
    said.append(f"From {count(standing, 'message')} and {count(person.feedbacks, 'rating')}.")
    return turn.reply(" ".join(said))


# Answers come at once, or step by step where the store is asked.
TELLING: dict[Kind, Callable[[Turn], Reply | Operation[Reply]]] = {
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
