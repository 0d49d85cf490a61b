"""Answers about single items: what is known of one, whether it has something, how two differ."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from druthers.advisor.answers import Reply
from druthers.advisor.finding import find
from druthers.advisor.messages import guessed
from druthers.advisor.operations import Operations
from druthers.advisor.questions import asked_by_verb, asks_for, flags_asked, measured, spoken_words
from druthers.advisor.said import without_counts
from druthers.advisor.sayings import beyond, feeling, ways, whole_words, without_items
from druthers.advisor.steps import Operation
from druthers.advisor.there_is import SORTS, namesakes, several, values_in
from druthers.advisor.turns import Turn
from druthers.advisor.wording import count, fact_in_words, listed, lost_in_words
from druthers.catalogs import Item
from druthers.limits import Columns, Limits, Where
from druthers.limits.where import holds, values_of
from druthers.limits.words import blanked, fold, speaks_of_money, stems

MOST_TOLD, MOST_COMPARED = 5, 3  # items that an answer is about


def detail(ask: Operations, turn: Turn) -> Operation[Reply]:
    """Tell what was asked about an item; where it cannot be had so, which others can."""
    bounded = any(
        isinstance(limit, dict) and not holds(limit) for limit in turn.message.limits.where.values()
    )  # "is it under 9?"
    if not (turn.about or bounded) and (none := not_shown(turn)):
        return turn.reply(none)
    called = [] if turn.about else namesakes(turn.text, ask.columns)
    if len(called) > 1:  # "does Ana drive?"
        return turn.reply(f"{several(called)}.")
    one = [turn.spoken_of] if turn.spoken_of is not None else turn.shown[:1]
    items = list(turn.about or called or (turn.shown if ways("them").search(turn.text) else one))
    told = [_facts(ask, turn, item) for item in items[:MOST_TOLD]]
    limits = turn.message.limits
    if (
        ways("can_i_get").match(turn.text) and len(items) == 1 and told[0].startswith("No. ")
    ):  # "can I get it in green?"
        where = _asked_values(ask, turn, items[0])
        others = replace(turn, message=replace(turn.message, limits=Limits(where), shown=False))
        told.append((yield from find(ask, others)).text)
    lost = lost_in_words(limits.unmatched) if yes_or_no(turn.text) and limits.where else ""
    return turn.reply(" ".join((*told, lost)).strip(), about=items)


def compare(ask: Operations, turn: Turn) -> Operation[Reply]:
    """Tell where two items differ: in what was asked about, or in all that matters."""
    yield from ()
    if none := not_shown(turn):
        return turn.reply(none)
    pair = list(turn.about)[:MOST_COMPARED]
    if len(pair) < 2:
        pair = [*pair, *(item for item in turn.shown if item not in pair)][:2]
    if len(pair) < 2:
        return turn.reply("There are no two items to compare: say what matters to you first.")
    said = re.sub(r"\bthan\b", " ", _apart_from(turn.text, pair))
    reading = ask.parser.read(said)
    wanted = set(reading.names) - set(guessed(reading))
    price = ask.limit_reader(ask.columns).index.price
    if price is not None and ways("how_dear").search(fold(said)):
        wanted = {price}  # "cheaper" is about the price itself, where it is known
    wanted |= set(values_in(said, ask.columns))  # "which has a bar, 1 or 2?"
    names = [name for name in ask.columns.names if name in wanted or set(stems(name)) <= set(stems(said))]
    told = [f"{pair[0].name} beside {other.name}: {differences(ask, pair[0], other, names)}." for other in pair[1:]]
    return turn.reply(" ".join(told), about=pair)


def differences(ask: Operations, one: Item, other: Item, names: Collection[str] = ()) -> str:
    """Return where two items differ, in the objectives or in what is asked for, each in its own unit."""
    mine, theirs = _known(one), _known(other)
    parts = []
    for name in names or [objective.name for objective in ask.catalog.objectives]:
        if name in mine and name in theirs and (names or mine[name] != theirs[name]):
            parts.append(f"{name} {fact_in_words(mine[name])} against {fact_in_words(theirs[name])}")
        elif names:
            unknown = [item.name for item, facts in ((one, mine), (other, theirs)) if name not in facts]
            parts.append(f"{name} of {listed(unknown)} is not known")
    return ", ".join(parts) or "no difference that is known"


def not_shown(turn: Turn) -> str:
    """Return that there is nothing at a place that a message is about, if so."""
    numbers = beyond(without_counts(" ".join(fold(turn.text).split())), turn.at)
    return f"There is no {listed(list(map(str, numbers)))}: {count(len(turn.at), 'item')} shown." if numbers else ""


def _facts(ask: Operations, turn: Turn, item: Item) -> str:
    """Return what was asked about an item, or all that is known where nothing is that was asked for."""
    facts, where = _known(item), _asked_values(ask, turn, item)
    asks = yes_or_no(turn.text)
    names = [turn.message.detail] if turn.message.detail else _asked_names(ask, turn, item)
    answer, told = "", list(dict.fromkeys((*names, *where)))
    # "Is it open on Mondays?" is not answered by yes where it is closed on Mondays: the fact alone is told.
    opposite = "open" in stems(turn.text) and any("closed" in stems(name) for name in where)
    if where and asks and not opposite:
        answer, told = _answer(ask.columns, item, where)
    elif asks and (what := _unknown(turn, item, names)):  # "a dovecote?"
        answer = f"Of “{what}” nothing is known. "
    known = [
        f"{name} {fact_in_words(facts[name])}" if name in facts else f"{name} is not known" for name in told or facts
    ]
    return f"{answer}{item.name}: {', '.join(known) or 'nothing more is known'}."


def _answer(columns: Columns, item: Item, where: Where) -> tuple[str, list[str]]:
    """Return whether an item is within all that a question asks for, and what is told of it.

    A text that several details have may be meant of any of them: "does she speak English?" is not about subjects.
    """
    row, facts = columns.places[item.id], _known(item)
    groups: dict[str, list[str]] = {}
    for name, limit in where.items():
        groups.setdefault(str(_texts(limit) or name), []).append(name)
    told: list[str] = []
    answers: list[bool | None] = []
    for names in groups.values():
        fitting = [name for name in names if columns.column(name).within(where[name])[row]]
        told += fitting or names
        answers.append(True if fitting else False if any(name in facts for name in names) else None)
    return "No. " if False in answers else "" if None in answers else "Yes. ", told


def _texts(limit: Any) -> list[str]:
    """Return the texts that a limit asks for, whatever is done with them."""
    parts = limit.values() if holds(limit) else () if isinstance(limit, dict) else (limit,)
    return sorted(str(value) for part in parts for value in values_of(part) if isinstance(value, str))


def _known(item: Item) -> dict[str, Any]:
    return {**item.details, **item.values}


def yes_or_no(text: str) -> bool:
    """Tell whether a text is a question that is answered by yes or no."""
    plain = fold(text).strip()
    return ways("yes_or_no").match(plain) is not None or (
        plain.endswith("?") and whole_words("question").match(plain) is None  # "il primo ha il wifi?"
    )


def _asked_names(ask: Operations, turn: Turn, item: Item) -> list[str]:
    """Return the names of what a question is about: by its words, by their meaning, or by a verb."""
    spoken = stems(_apart_from(turn.text, [item]))
    asked = spoken_words(" ".join(spoken)) | (measured(spoken) if "how" in spoken else set())
    reading = turn.message.reading
    named = () if reading is None else (*reading.names, *reading.dismissed_names)
    asked |= SORTS if SORTS & set(spoken) else set()  # "what kind of place is it?"
    names = [name for name in ask.columns.names if asks_for(name, asked) or name in named]
    if ways("how_much").search(turn.text) or speaks_of_money(turn.text):
        names += [name for name in ask.columns.names if speaks_of_money(name)]
    return [*names, *asked_by_verb(turn.text, ask.columns, ask.limit_reader(ask.columns).index.places)]


def _asked_values(ask: Operations, turn: Turn, item: Item) -> Where:
    """Return what a question asks whether it is so: limits that were read in it, what there is or not, and texts."""
    where, columns = dict(turn.message.limits.where), ask.columns
    where = {name: limit for name, limit in where.items() if name in columns.names}
    if not yes_or_no(turn.text):
        return where
    said = _apart_from(turn.text, [item])
    reader = ask.limit_reader(columns)
    where = {**flags_asked(turn.text, reader), **flags_asked(said, reader), **where}
    reading = turn.message.reading
    also = values_in(said, columns, item, endings=reading is None or not reading.names)
    objectives = {one.name for one in ask.catalog.objectives}
    return where | {name: limit for name, limit in also.items() if name not in where and name not in objectives}


def _unknown(turn: Turn, item: Item, names: Sequence[str]) -> str:
    """Return what a question asks for of which nothing is known: "a dovecote" of "does it have a dovecote?"."""
    said = _apart_from(turn.text, [item])
    first = ways("yes_or_no").match(fold(said))
    if first is None:
        return ""
    spans = [match.span() for match in whole_words("asked_with").finditer(fold(said))]
    what = " ".join(blanked(said, (0, first.end()), *spans).split()).strip(" ?!.,")
    named = any(asks_for(name, set(stems(what))) for name in names) or (names and not ways("has").search(turn.text))
    return "" if named or feeling(fold(what)) is not None else what


def _apart_from(text: str, items: Iterable[Item]) -> str:
    """Return a text without what points at items, every other letter where it was: names may hold other words."""
    text = without_items(text)
    for item in items:
        name = re.escape(re.sub(r"^the\s+", "", fold(item.name)))
        text = blanked(text, *(match.span() for match in re.finditer(rf"\b{name}\b", fold(text)) if name))
    return text
