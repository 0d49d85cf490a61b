"""Answers that look through the catalog, within the limits in force: which items, which is best, what there is."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from druthers.advisor.answers import Reply
from druthers.advisor.messages import guessed
from druthers.advisor.operations import Operations
from druthers.advisor.person import Person
from druthers.advisor.reasons import number
from druthers.advisor.sayings import ways
from druthers.advisor.steps import Operation
from druthers.advisor.turns import Turn
from druthers.advisor.wording import fact_in_words, limit_in_words, listed, lost_in_words
from druthers.catalogs import Item
from druthers.glossary import without_units
from druthers.limits import Where, merge, speaks_of_money
from druthers.limits.columns import canonical
from druthers.limits.where import is_day
from druthers.limits.words import stems, telling_stems

MOST_FOUND, MOST_BEST, MOST_OF_ALL_FOUND = 5, 3, 20  # items that an answer names, where all are asked for too
MOST_NUMBERS = 12  # different numbers that are told one by one


def find(ask: Operations, turn: Turn) -> Operation[Reply]:
    """Tell which items are within limits, what is best for the person first; or what there is under a name."""
    person = yield from ask.find(turn.user)
    where, counts = turn.message.limits.where, turn.message.counts
    held = {} if person is None else person.wishes.limits
    lost = lost_in_words(turn.message.limits.unmatched)
    if turn.message.detail:
        return turn.reply(f"{_values(ask, turn.message.detail, held, where)} {lost}".strip())
    every = ask.columns.eligible(where)
    ids = ask.columns.eligible(merge(held, where))  # what can be had
    more = f"; {len(every)} in all" if len(every) > len(ids) else ""
    within = " within your limits" if more else ""
    if counts and not where:
        return turn.reply(f"There {'is' if len(ids) == 1 else 'are'} {len(ids)}{within}{more}. {lost}".strip())
    most = MOST_OF_ALL_FOUND if ways("every_one").search(turn.text) else MOST_FOUND
    found = _by_worth(ask, turn, person, ids)[:most]
    what = " and ".join(f"{name} {limit_in_words(limit)}" for name, limit in where.items())
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


def _by_worth(ask: Operations, turn: Turn, person: Person | None, ids: Sequence[str]) -> list[Item]:
    """Return items by what a question wishes for beside limits, "cheap ones with a bar", and by what they are worth."""
    if not ids:
        return []
    shift = ask.choosing.shift(turn.user, person)
    worth = ask.fold.policy.utilities(turn.user, ids) + np.array([shift.get(id, 0.0) for id in ids])
    items = [ask.fold.items[ids[place]] for place in np.argsort(-worth, kind="stable").tolist()]
    reading = turn.message.reading
    if reading is None or not reading.ranking:
        return items
    first = ordered(ask, turn, items)[1]
    known = {item.id for item in first}
    return [*first, *(item for item in items if item.id not in known)]


def best(ask: Operations, turn: Turn) -> Operation[Reply]:
    """Tell which item is the best in what was asked about: of those shown, or of all within the limits in force."""
    person = yield from ask.find(turn.user)
    held = {} if person is None else person.wishes.limits
    where = turn.message.limits.where  # "the cheapest one with a grinder"
    of_all = (
        ways("most_of_all").search(turn.text) is not None
    )  # "which one is the nearest?": of all, and of those shown
    few = turn.about or (turn.shown if turn.message.shown and not of_all else ())
    every = few or ask.columns.items
    inside = where if few or ways("overall").search(turn.text) else merge(held, where)
    fitting, possible = (set(ask.columns.eligible(limits)) for limits in (inside, where))
    name, found = ordered(ask, turn, [item for item in every if item.id in fitting])
    beyond = (
        ordered(ask, turn, [item for item in every if item.id in possible])[1] if len(possible) > len(fitting) else []
    )
    lost = lost_in_words(turn.message.limits.unmatched)
    values, rows = ask.columns.numbers(name), ask.columns.places
    better = beyond and (not found or values[rows[beyond[0].id]] != values[rows[found[0].id]])
    without = f" Without your limits: {_told(ask, name, beyond[:1])}." if better else ""
    if not found:
        none = "within your limits" if without else "of these"
        return turn.reply(f"The {name} of none {none} is known.{without} {lost}".strip())
    found = found[: 1 if len(found) < MOST_FOUND else MOST_BEST]
    here = ordered(ask, turn, turn.shown)[1][:1] if of_all and turn.message.shown else []
    of_these = f" Of those shown: {_told(ask, name, here)}." if here and here[0] != found[0] else ""
    return turn.reply(f"{_told(ask, name, found)}.{of_these}{without} {lost}".strip(), about=found)


def _told(ask: Operations, name: str, items: Sequence[Item]) -> str:
    """Return items with a number of theirs, the first one before all others."""
    values = ask.columns.numbers(name)[[ask.columns.places[item.id] for item in items]].tolist()
    told = [f"{item.name}, {name} {number(value)}" for item, value in zip(items, values, strict=True)]
    return "; then ".join((told[0], "; ".join(told[1:]))) if told[1:] else told[0]


def ordered(ask: Operations, turn: Turn, among: Sequence[Item]) -> tuple[str, list[Item]]:
    """Return what a message asks for the most of, and the items of which it is known, the best first."""
    assert turn.message.reading is not None
    columns, names, guesses = ask.columns, turn.message.reading.names, guessed(turn.message.reading)
    name = turn.message.detail or next((name for name in names if name not in guesses), names[0])
    upward = any(one.name == name and one.less_is_better for one in ask.catalog.objectives)
    if turn.message.detail:
        upward = ways("smallest").search(turn.text) is not None
    price = ask.limit_reader(columns).index.price
    named = telling_stems(without_units(name)) <= set(stems(turn.text))  # "the lowest deductible"
    if price is not None and not (turn.message.detail or named) and speaks_of_money(turn.text):
        # the price itself, where it is known; what is paid as wages is better the more it is
        name, upward = price, all(one.less_is_better for one in ask.catalog.objectives if one.name == price)
    if ways("reversed").search(turn.text):
        upward = not upward
    least = None if turn.message.detail else ways("least").search(turn.text)
    if least is not None:
        # "least noisy" is the best, "least comfortable" the worst, "fewest ads" the smallest number
        sign = next(iter(ask.parser.signs(least["what"] or "").values()), 0)
        upward = upward if sign < 0 else not upward if sign > 0 else True
    values = dict(zip(columns.ids, columns.numbers(name).tolist(), strict=True))
    known = [item for item in among if not math.isnan(values[item.id])]
    return name, sorted(known, key=lambda item: values[item.id] if upward else -values[item.id])


def _values(ask: Operations, name: str, held: Where, where: Where) -> str:
    """Return what there is under a name, the most common first, or from where to where numbers run.

    A limit on the very thing that is asked for is left aside: who has said "in red" may ask for other colors.
    """
    others = {one: limit for one, limit in held.items() if one != name}
    where = {one: limit for one, limit in where.items() if one != name}
    column, mask = ask.columns.column(name), ask.columns.allowed(merge(others, where))
    facts = [fact for fact, is_in in zip(column.facts, mask.tolist(), strict=True) if is_in and fact is not None]
    limits = [f"{one} {limit_in_words(limit)}" for one, limit in merge(others, where).items()]
    within = f", with {listed(limits)}" if limits else ""
    head = f"{name[:1].upper()}{name[1:]}{within}: "
    if not facts:
        every = f"; in all, {_values(ask, name, {}, {})}" if limits else ""
        return f"{head}none{every or '.'}"
    unknown = int(mask.sum()) - len(facts)
    rest = f"; of {unknown} it is not known" if unknown else ""
    kinds = _counted(part for fact in facts for part in (fact if isinstance(fact, list | tuple) else (fact,)))
    numbers = column.numbers[mask]
    numbers = numbers[~np.isnan(numbers)]
    matters = any(one.name == name for one in ask.catalog.objectives)
    if len(numbers) == len(facts) and (matters or len(kinds) > MOST_NUMBERS):
        low, middle, high = (number(float(np.quantile(numbers, share))) for share in (0.0, 0.5, 1.0))
        return f"{head}from {low} to {high}, half of them up to {middle}{rest}."
    if len(kinds) > MOST_NUMBERS and all(is_day(str(kind)) for kind in kinds):
        return f"{head}from {min(kinds)} to {max(kinds)}{rest}."
    told = sorted(kinds.items(), key=lambda pair: (-pair[1], _key(pair[0])))
    return f"{head}{listed([f'{fact_in_words(kind)} ({count})' for kind, count in told])}{rest}."


def _counted(facts: Iterable[Any]) -> dict[Any, int]:
    """Return how often there is what; what is the same to a person is one, under the way it is mostly written."""
    written = Counter(facts)
    alike: dict[Any, list[Any]] = {}
    for fact, _ in written.most_common():
        alike.setdefault(canonical(fact), []).append(fact)
    return {same[0]: sum(written[fact] for fact in same) for same in alike.values()}


def _key(fact: Any) -> tuple[bool, Any]:
    return isinstance(fact, str), fact
