"""Answers about items: which there are, which is best, what is known of one, how two differ."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from druthers.advisor.answers import Reply
from druthers.advisor.messages import guessed
from druthers.advisor.naming import SORTS, namesakes, several, values_in
from druthers.advisor.operations import Operations
from druthers.advisor.questions import asked_by_verb, asks_for, flags_asked, measured, spoken_words
from druthers.advisor.reasons import number
from druthers.advisor.said import beyond, feeling, ways, whole_words, without_items
from druthers.advisor.turns import Turn
from druthers.advisor.wording import count, fact_in_words, listed, lost_in_words, named_in_words
from druthers.catalogs import Item
from druthers.glossary import without_units
from druthers.limits import Columns, Limits, Where, merge, speaks_of_money
from druthers.limits.columns import canonical
from druthers.limits.where import holds, is_day, values_of
from druthers.limits.words import blanked, fold, stems, telling_stems

MOST_TOLD, MOST_COMPARED = 5, 3  # items that an answer is about
MOST_FOUND, MOST_BEST, MOST_OF_ALL_FOUND = 5, 3, 20  # items that an answer names, where all are asked for too
MOST_NUMBERS = 12  # different numbers that are told one by one


def find(turn: Turn) -> Reply:
    """Tell which items are within limits, what is best for the person first; or what there is under a name."""
    where, counts, held = turn.message.limits.where, turn.message.counts, turn.held
    lost = lost_in_words(turn.message.limits.unmatched)
    if turn.message.detail:
        return turn.reply(f"{_values(turn, turn.message.detail, held, where)} {lost}".strip())
    every = turn.ask.columns.eligible(where)
    ids = turn.ask.columns.eligible(merge(held, where))  # what can be had
    more = f"; {len(every)} in all" if len(every) > len(ids) else ""
    within = " within your limits" if more else ""
    if counts and not where:
        return turn.reply(f"There {'is' if len(ids) == 1 else 'are'} {len(ids)}{within}{more}. {lost}".strip())
    most = MOST_OF_ALL_FOUND if ways("every_one").search(turn.text) else MOST_FOUND
    found = _by_worth(turn, ids)[:most]
    what = " and ".join(named_in_words(where))
    rest = f", and {len(ids) - most} more" if len(ids) > most else ""
    many = f"{len(ids)}{within}, " if counts and found else ""
    named = listed([item.name for item in found]) + rest + ("" if counts else within) if found else f"none{within}"
    asked = turn.message.shown or ways("what_about_here").match(turn.text) is not None
    here = [item for item in turn.shown if item.id in set(every)] if asked else []
    told = listed([item.name for item in here]) or ("none" if turn.message.shown else "")
    of_these = f"Of those shown: {told}. " if told else ""
    return turn.reply(
        f"{of_these}With {what}: {many}{named}{more}. {lost}".strip(), about=here or (found if len(ids) == 1 else ())
    )


def _by_worth(turn: Turn, ids: Sequence[str]) -> list[Item]:
    """Return items by what a question wishes for beside limits, "cheap ones with a bar", and by what they are worth."""
    if not ids:
        return []
    shift = turn.ask.choosing.shift(turn.user, turn.person)
    worth = turn.ask.fold.policy.utilities(turn.user, ids) + np.array([shift.get(id, 0.0) for id in ids])
    items = [turn.ask.fold.items[ids[place]] for place in np.argsort(-worth, kind="stable").tolist()]
    reading = turn.message.reading
    if reading is None or not reading.ranking:
        return items
    first = ordered(turn, items)[1]
    known = {item.id for item in first}
    return [*first, *(item for item in items if item.id not in known)]


def best(turn: Turn) -> Reply:
    """Tell which item is the best in what was asked about: of those shown, or of all within the limits in force."""
    where = turn.message.limits.where  # "the cheapest one with a grinder"
    # "Which one is the nearest?": of all, and of those shown.
    of_all = ways("most_of_all").search(turn.text) is not None
    few = turn.about or (turn.shown if turn.message.shown and not of_all else ())
    every = few or turn.ask.columns.items
    inside = where if few or ways("overall").search(turn.text) else merge(turn.held, where)
    fitting, possible = (set(turn.ask.columns.eligible(limits)) for limits in (inside, where))
    name, found = ordered(turn, [item for item in every if item.id in fitting])
    beyond = ordered(turn, [item for item in every if item.id in possible])[1] if len(possible) > len(fitting) else []
    lost = lost_in_words(turn.message.limits.unmatched)
    values, rows = turn.ask.columns.numbers(name), turn.ask.columns.places
    better = beyond and (not found or values[rows[beyond[0].id]] != values[rows[found[0].id]])
    without = f" Without your limits: {_told(turn, name, beyond[:1])}." if better else ""
    if not found:
        none = "within your limits" if without else "of these"
        return turn.reply(f"The {name} of none {none} is known.{without} {lost}".strip())
    found = found[: 1 if len(found) < MOST_FOUND else MOST_BEST]
    here = ordered(turn, turn.shown)[1][:1] if of_all and turn.message.shown else []
    of_these = f" Of those shown: {_told(turn, name, here)}." if here and here[0] != found[0] else ""
    return turn.reply(f"{_told(turn, name, found)}.{of_these}{without} {lost}".strip(), about=found)


def _told(turn: Turn, name: str, items: Sequence[Item]) -> str:
    """Return items with a number of theirs, the first one before all others."""
    values = turn.ask.columns.numbers(name)[[turn.ask.columns.places[item.id] for item in items]].tolist()
    first, *others = [f"{item.name}, {name} {number(value)}" for item, value in zip(items, values, strict=True)]
    return f"{first}; then {'; '.join(others)}" if others else first


def ordered(turn: Turn, among: Sequence[Item]) -> tuple[str, list[Item]]:
    """Return what a message asks for the most of, and the items of which it is known, the best first."""
    assert turn.message.reading is not None
    columns, names, guesses = turn.ask.columns, turn.message.reading.names, guessed(turn.message.reading)
    name = turn.message.detail or next((name for name in names if name not in guesses), names[0])
    upward = any(one.name == name and one.less_is_better for one in turn.ask.catalog.objectives)
    if turn.message.detail:
        upward = ways("smallest").search(turn.text) is not None
    price = turn.ask.limit_reader(columns).index.price
    named = telling_stems(without_units(name)) <= set(stems(turn.text))  # "the lowest deductible"
    if price is not None and not (turn.message.detail or named) and speaks_of_money(turn.text):
        # the price itself, where it is known; what is paid as wages is better the more it is
        name, upward = price, all(one.less_is_better for one in turn.ask.catalog.objectives if one.name == price)
    if ways("reversed").search(turn.text):
        upward = not upward
    least = None if turn.message.detail else ways("least").search(turn.text)
    if least is not None:
        # "least noisy" is the best, "least comfortable" the worst, "fewest ads" the smallest number
        sign = next(iter(turn.ask.parser.signs(least["what"] or "").values()), 0)
        upward = upward if sign < 0 else not upward if sign > 0 else True
    values = dict(zip(columns.ids, columns.numbers(name).tolist(), strict=True))
    known = [item for item in among if not math.isnan(values[item.id])]
    return name, sorted(known, key=lambda item: values[item.id] if upward else -values[item.id])


def _values(turn: Turn, name: str, held: Where, where: Where) -> str:
    """Return what there is under a name, the most common first, or from where to where numbers run.

    A limit on the very thing that is asked for is left aside: who has said "in red" may ask for other colors.
    """
    others = {one: limit for one, limit in held.items() if one != name}
    where = {one: limit for one, limit in where.items() if one != name}
    column, mask = turn.ask.columns.column(name), turn.ask.columns.allowed(merge(others, where))
    facts = [fact for fact, is_in in zip(column.facts, mask.tolist(), strict=True) if is_in and fact is not None]
    limits = named_in_words(merge(others, where))
    within = f", with {listed(limits)}" if limits else ""
    head = f"{name[:1].upper()}{name[1:]}{within}: "
    if not facts:
        every = f"; in all, {_values(turn, name, {}, {})}" if limits else ""
        return f"{head}none{every or '.'}"
    unknown = int(mask.sum()) - len(facts)
    rest = f"; of {unknown} it is not known" if unknown else ""
    kinds = _counted(part for fact in facts for part in (fact if isinstance(fact, list | tuple) else (fact,)))
    numbers = column.numbers[mask]
    numbers = numbers[~np.isnan(numbers)]
    matters = any(one.name == name for one in turn.ask.catalog.objectives)
    if len(numbers) == len(facts) and (matters or len(kinds) > MOST_NUMBERS):
        low, middle, high = (number(float(np.quantile(numbers, share))) for share in (0.0, 0.5, 1.0))
        return f"{head}from {low} to {high}, half of them up to {middle}{rest}."
    if len(kinds) > MOST_NUMBERS and all(is_day(str(kind)) for kind in kinds):
        return f"{head}from {min(kinds)} to {max(kinds)}{rest}."
    told = sorted(kinds.items(), key=lambda pair: (-pair[1], isinstance(pair[0], str), pair[0]))
    return f"{head}{listed([f'{fact_in_words(kind)} ({times})' for kind, times in told])}{rest}."


def _counted(facts: Iterable[Any]) -> dict[Any, int]:
    """Return how often there is what; what is the same to a person is one, under the way it is mostly written."""
    written = Counter(facts)
    alike: dict[Any, list[Any]] = {}
    for fact, _ in written.most_common():
        alike.setdefault(canonical(fact), []).append(fact)
    return {same[0]: sum(written[fact] for fact in same) for same in alike.values()}


def detail(turn: Turn) -> Reply:
    """Tell what was asked about an item; where it cannot be had so, which others can."""
    limits = turn.message.limits
    bounded = any(isinstance(limit, dict) and not holds(limit) for limit in limits.where.values())  # "is it under 9?"
    if not (turn.about or bounded) and (none := not_shown(turn)):
        return turn.reply(none)
    called = [] if turn.about else namesakes(turn.text, turn.ask.columns)
    if len(called) > 1:  # "does Ana drive?"
        return turn.reply(f"{several(called)}.")
    one = [turn.spoken_of] if turn.spoken_of is not None else turn.shown[:1]
    items = list(turn.about or called or (turn.shown if ways("them").search(turn.text) else one))
    told = [_facts(turn, item) for item in items[:MOST_TOLD]]
    if ways("can_i_get").match(turn.text) and len(items) == 1 and told[0].startswith("No. "):
        others = Limits(_asked_values(turn, items[0]))  # "can I get it in green?"
        told.append(find(replace(turn, message=replace(turn.message, limits=others, shown=False))).text)
    lost = lost_in_words(limits.unmatched) if yes_or_no(turn.text) and limits.where else ""
    return turn.reply(" ".join((*told, lost)).strip(), about=items)


def compare(turn: Turn) -> Reply:
    """Tell where two items differ: in what was asked about, or in all that matters."""
    if none := not_shown(turn):
        return turn.reply(none)
    pair = turn.about[:MOST_COMPARED]
    if len(pair) < 2:
        pair = [*pair, *(item for item in turn.shown if item not in pair)][:2]
    if len(pair) < 2:
        return turn.reply("There are no two items to compare: say what matters to you first.")
    said = re.sub(r"\bthan\b", " ", _apart_from(turn.text, pair))
    reading = turn.ask.parser.read(said)
    wanted = set(reading.names) - set(guessed(reading))
    price = turn.ask.limit_reader(turn.ask.columns).index.price
    if price is not None and ways("how_dear").search(fold(said)):
        wanted = {price}  # "cheaper" is about the price itself, where it is known
    wanted |= set(values_in(said, turn.ask.columns))  # "which has a bar, 1 or 2?"
    names = [name for name in turn.ask.columns.names if name in wanted or set(stems(name)) <= set(stems(said))]
    one, *others = pair
    told = [f"{one.name} beside {other.name}: {differences(turn.ask, one, other, names)}." for other in others]
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
    numbers = beyond(turn.plain, turn.at)
    return f"There is no {listed(list(map(str, numbers)))}: {count(len(turn.at), 'item')} shown." if numbers else ""


def _facts(turn: Turn, item: Item) -> str:
    """Return what was asked about an item, or all that is known where nothing is that was asked for."""
    facts, where = _known(item), _asked_values(turn, item)
    asks = yes_or_no(turn.text) and not ways("seen_again").fullmatch(turn.plain)
    names = [turn.message.detail] if turn.message.detail else _asked_names(turn, item)
    answer, told = "", list(dict.fromkeys((*names, *where)))
    # "Is it open on Mondays?" is not answered by yes where it is closed on Mondays: the fact alone is told.
    opposite = "open" in stems(turn.text) and any("closed" in stems(name) for name in where)
    if where and asks and not opposite:
        answer, told = _answer(turn.ask.columns, item, where)
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


def _asked_names(turn: Turn, item: Item) -> list[str]:
    """Return the names of what a question is about: by its words, by their meaning, or by a verb."""
    spoken = stems(_apart_from(turn.text, [item]))
    asked = spoken_words(" ".join(spoken)) | (measured(spoken) if "how" in spoken else set())
    reading = turn.message.reading
    named = () if reading is None else (*reading.names, *reading.dismissed_names)
    asked |= SORTS if SORTS & set(spoken) else set()  # "what kind of place is it?"
    names = [name for name in turn.ask.columns.names if asks_for(name, asked) or name in named]
    if ways("how_much").search(turn.text) or speaks_of_money(turn.text):
        names += [name for name in turn.ask.columns.names if speaks_of_money(name)]
    return [*names, *asked_by_verb(turn.text, turn.ask.columns, turn.ask.limit_reader(turn.ask.columns).index.places)]


def _asked_values(turn: Turn, item: Item) -> Where:
    """Return what a question asks whether it is so: limits that were read in it, what there is or not, and texts."""
    columns = turn.ask.columns
    where = {name: limit for name, limit in turn.message.limits.where.items() if name in columns.names}
    if not yes_or_no(turn.text):
        return where
    said = _apart_from(turn.text, [item])
    reader = turn.ask.limit_reader(columns)
    where = {**flags_asked(turn.text, reader), **flags_asked(said, reader), **where}
    reading = turn.message.reading
    also = values_in(said, columns, item, endings=reading is None or not reading.names)
    objectives = {one.name for one in turn.ask.catalog.objectives}
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
