"""Answers that only tell something: why, how two items differ, what is known; nothing is changed by them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence

from druthers.advisor import decisions, events
from druthers.advisor.answers import Reply
from druthers.advisor.messages import Kind
from druthers.advisor.operations import Operations
from druthers.advisor.questions import SMALLEST, measured
from druthers.advisor.reasons import number
from druthers.advisor.sayings import beyond
from druthers.advisor.steps import Look, Operation
from druthers.advisor.turns import Turn
from druthers.advisor.wording import count, fact_in_words, hopes_in_words, limit_in_words, listed, lost_in_words
from druthers.catalogs import Item
from druthers.language import not_understood
from druthers.language.data import small_words
from druthers.language.lexicon.concepts import adjectives
from druthers.limits import merge, speaks_of_money
from druthers.limits.where import holds
from druthers.limits.words import fold, stems

YES_OR_NO = re.compile(r"\W*(?:(?:and|but|so|ok(?:ay)?)\W+)*(?:does|do|has|have|is|are|can|will)\b", re.I)
HOW_MUCH = re.compile(r"\bhow much (?:is|are|does|do|would|for)\b|\bwhat does .+ (?:go|sell|retail) for\b", re.I)
# What is asked for, of which a catalog may know nothing.
HAS = re.compile(
    r"\b(?:has|have|offer|include|got|there)\s+(?:an?\s+|any\s+|some\s+|the\s+)?(?P<what>[^\W\d_]+(?: [^\W\d_]+)?)"
    r"(?=\s*\??\s*$)"
    r"|\b(?:is|are)\s+(?:the\s+)?(?P<that>[^\W\d_]+)\s+(?:included|allowed|available|possible|provided)\b",
    re.I,
)
SOMEWHERE = re.compile(r"in\s", re.I)
SAME_FAMILY = 4  # letters that the shorter one of two words has
REVERSED = re.compile(r"\b(?:most expensive|pric(?:i)?est|dearest|worst|teuerste|mas car[oa]|plus cher)", re.I)
LEAST = re.compile(r"\b(?:least|fewest|lowest)\b(?: (?P<what>\w+))?", re.I)
MOST_FOUND, MOST_BEST = 5, 3  # items that an answer names


class Telling:
    """Answers questions and small talk.

    Parameters
    ----------
    operations
        What can be looked up.
    """

    def __init__(self, operations: Operations) -> None:
        self.ask = operations

    def small_talk(self, turn: Turn) -> Operation[Reply]:
        """Greet, or be thanked."""
        yield from ()
        if turn.message.kind == Kind.THANKS:
            return turn.reply("You are welcome.")
        wanted = ", ".join(one.name for one in self.ask.catalog.objectives[:4])
        lost = lost_in_words(turn.message.limits.unmatched)
        return turn.reply(f"Hello. {lost} Tell me what matters to you: {wanted}, or a limit.".replace("  ", " "))

    def no(self, turn: Turn) -> Operation[Reply]:
        """Take a no for an answer, whatever was asked: nothing is done, and no item is turned down by it."""
        yield from ()
        return turn.reply(
            "Then nothing is changed. Say “forget that” to take back what you said last"
            + (", “something else” for other items, or “not 2” to leave one out." if turn.shown else ".")
        )

    def unclear(self, turn: Turn) -> Operation[Reply]:
        """Say what was not understood, and what would be."""
        yield from ()
        names = [one.name for one in self.ask.catalog.objectives]
        reading = turn.message.reading
        if reading is not None and not_understood() in reading.notes:
            return turn.reply(f"Sorry, {not_understood()}. Nothing was changed.")
        pieces, columns = turn.message.limits.unmatched, self.ask.columns
        lost = listed([f"“{piece}”" for piece in pieces]) or "this"
        reader = self.ask.limit_reader(columns)
        things = [piece for piece in pieces if not re.search(r"\d", piece)]
        where = (
            reader.index.places
            if any(SOMEWHERE.match(piece) for piece in pieces)
            else reader.index.lists
            if things
            else ()
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

    def why(self, turn: Turn) -> Operation[Reply]:
        """Tell why an item was recommended."""
        if not turn.shown:
            return turn.reply("Nothing was recommended yet: say what matters to you.")
        if not turn.about and (none := _not_shown(turn)):
            return turn.reply(none)
        past = yield Look(lambda: self.ask.store.find(events.decision_key(turn.decision)))
        item = (turn.about or turn.shown)[0]
        made = () if past is None else decisions.suggestions(past)
        why = " ".join(one.why for one in made if one.item == item.id) or (yield from self._why_not(turn, item))
        others = [one for one in turn.shown if one.id != item.id]
        beside = f" Beside {others[0].name}: {self._differences(item, others[0])}." if others else ""
        return turn.reply(f"{item.name}: {why}{beside}", about=[item])

    def _why_not(self, turn: Turn, item: Item) -> Operation[str]:
        """Return why an item is not among those shown: a limit that it breaks, or what was felt about it."""
        person = yield from self.ask.find(turn.user)
        limits = {} if person is None else person.wishes.limits
        row, columns = self.ask.columns.places[item.id], self.ask.columns
        broken = [
            f"{name} {limit_in_words(limit)}"
            for name, limit in limits.items()
            if not columns.column(name).within(limit)[row]
        ]
        if broken:
            return f"Outside of what you asked for: {listed(broken)}."
        felt = person is not None and item.id in person.felt
        return "Held back by what you said of it." if felt else "Others fit better what is known of you."

    def compare(self, turn: Turn) -> Operation[Reply]:
        """Tell where two items differ."""
        yield from ()
        if none := _not_shown(turn):
            return turn.reply(none)
        pair = list(turn.about)[:MOST_BEST]
        if len(pair) < 2:
            pair = [*pair, *(item for item in turn.shown if item not in pair)][:2]
        if len(pair) < 2:
            return turn.reply("There are no two items to compare: say what matters to you first.")
        told = [f"{pair[0].name} beside {other.name}: {self._differences(pair[0], other)}." for other in pair[1:]]
        return turn.reply(" ".join(told), about=pair)

    def _differences(self, one: Item, other: Item) -> str:
        """Return where two items differ, each in the objective's own unit."""
        parts = []
        for objective in self.ask.catalog.objectives:
            mine, theirs = one.values.get(objective.name), other.values.get(objective.name)
            if mine is not None and theirs is not None and mine != theirs:
                parts.append(f"{objective.name} {number(mine)} against {number(theirs)}")
        return ", ".join(parts) or "no difference that is known"

    def detail(self, turn: Turn) -> Operation[Reply]:
        """Tell what was asked about an item."""
        yield from ()
        bounded = any(
            isinstance(limit, dict) and not holds(limit) for limit in turn.message.limits.where.values()
        )  # "is it under 9?"
        if not (turn.about or bounded) and (none := _not_shown(turn)):
            return turn.reply(none)
        items = list(turn.about or turn.shown[:1])
        told = [self._facts(turn, item) for item in items[: MOST_FOUND if turn.message.places else 1]]
        return turn.reply(" ".join(told), about=items)

    def _facts(self, turn: Turn, item: Item) -> str:
        """Return what was asked about an item, or all that is known where nothing is that was asked for."""
        spoken = stems(turn.text)
        asked = (set(spoken) - small_words("light")) | (measured(spoken) if "how" in spoken else set())
        reading = turn.message.reading
        named = () if reading is None else (*reading.names, *reading.dismissed_names)
        names = [name for name in self.ask.columns.names if _asks_for(name, asked) or name in named]
        names = [turn.message.detail] if turn.message.detail else names
        price = self.ask.limit_reader(self.ask.columns).index.price
        if HOW_MUCH.search(turn.text) and price is not None:
            names.append(price)
        if re.search(r"\bwhere\b", turn.text, re.I):
            names += [name for name in ("city", "district", "location", "address") if name in item.details]
        facts = {**item.details, **item.values}
        asks_for = {name: limit for name, limit in turn.message.limits.where.items() if name in facts}
        names += asks_for
        told = [
            f"{name} {fact_in_words(facts[name])}" if name in facts else f"{name} is not known"
            for name in dict.fromkeys(names or facts)
        ]
        answer = ""
        if asks_for and YES_OR_NO.match(turn.text):
            row = self.ask.columns.places[item.id]
            within = all(self.ask.columns.column(name).within(limit)[row] for name, limit in asks_for.items())
            answer = "Yes. " if within else "No. "
        elif (match := HAS.search(turn.text)) and not any(_asks_for(name, asked) for name in names):  # "a dovecote?"
            answer = f"Of “{(match['what'] or match['that']).strip()}” nothing is known. "
        return f"{answer}{item.name}: {', '.join(told) or 'nothing more is known'}."

    def find(self, turn: Turn) -> Operation[Reply]:
        """Tell which items are within limits."""
        where, counts = turn.message.limits.where, turn.message.counts
        person = (yield from self.ask.find(turn.user)) if counts else None
        held = {} if person is None else person.wishes.limits
        every = self.ask.columns.eligible(where)
        ids = self.ask.columns.eligible(merge(held, where))  # what is counted is what can be had
        more = f"; {len(every)} in all" if len(every) > len(ids) else ""
        within = " within your limits" if more else ""
        if counts and not where:
            return turn.reply(f"There {'is' if len(ids) == 1 else 'are'} {len(ids)}{within}{more}.")
        names = [self.ask.fold.items[id].name for id in ids[:MOST_FOUND]]
        what = " and ".join(f"{name} {limit_in_words(limit)}" for name, limit in where.items())
        rest = f", and {len(ids) - MOST_FOUND} more" if len(ids) > MOST_FOUND else ""
        many = f"{len(ids)}{within}, " if counts and names else ""
        found = listed(names) + rest if names else f"none{within}"
        return turn.reply(f"With {what}: {many}{found}{more}.")

    def best(self, turn: Turn) -> Operation[Reply]:
        """Tell which item is the best in what was asked about: of those shown, or of all."""
        yield from ()
        among = turn.about or (turn.shown if turn.message.shown else ()) or self.ask.columns.items
        where = turn.message.limits.where
        if where:  # "the cheapest one with a grinder"
            fitting = set(self.ask.columns.eligible(where))
            among = [item for item in among if item.id in fitting]
        name, ordered = self.ordered(turn, among)
        if not ordered:
            return turn.reply(f"The {name} of none of these is known.")
        found = ordered[: 1 if len(ordered) < MOST_FOUND else MOST_BEST]
        values = self.ask.columns.numbers(name)[[self.ask.columns.places[item.id] for item in found]].tolist()
        told = [f"{item.name}, {name} {number(value)}" for item, value in zip(found, values, strict=True)]
        then = f"; then {'; '.join(told[1:])}" if told[1:] else ""
        return turn.reply(f"{told[0]}{then}.", about=found)

    def ordered(self, turn: Turn, among: Sequence[Item]) -> tuple[str, list[Item]]:
        """Return what a message asks for the most of, and the items of which it is known, the best first."""
        assert turn.message.reading is not None
        columns, name = self.ask.columns, turn.message.detail or turn.message.reading.names[0]
        upward = any(one.name == name and one.less_is_better for one in self.ask.catalog.objectives)
        if turn.message.detail:
            upward = SMALLEST.search(turn.text) is not None
        price = self.ask.limit_reader(columns).index.price
        if price is not None and not turn.message.detail and speaks_of_money(turn.text):
            name, upward = price, True  # the price itself, where it is known
        if REVERSED.search(turn.text):
            upward = not upward
        least = None if turn.message.detail else LEAST.search(turn.text)
        if (
            least is not None
        ):  # "least noisy" is the best, "least comfortable" the worst, "fewest ads" the smallest number
            sign = next(iter(self.ask.parser.signs(least["what"] or "").values()), 0)
            upward = upward if sign < 0 else not upward if sign > 0 else True
        values = dict(zip(columns.ids, columns.numbers(name).tolist(), strict=True))
        known = [item for item in among if not math.isnan(values[item.id])]
        return name, sorted(known, key=lambda item: values[item.id] if upward else -values[item.id])

    def help(self, turn: Turn) -> Operation[Reply]:
        """Tell what can be said."""
        yield from ()
        names = [one.name for one in self.ask.catalog.objectives]
        details = [name for name in self.ask.columns.names if name not in names]
        limits = f" Limits can also be on {listed(details)}." if details else ""
        return turn.reply(
            f"I go by {listed(names)}: say which of these matter to you, or which do not.{limits} Tell me how one was,"
            " ask why or how two of them compare, or take back what you said."
        )

    def profile(self, turn: Turn) -> Operation[Reply]:
        """Tell what is known of a person."""
        person = yield from self.ask.find(turn.user)
        if person is None:
            return turn.reply("Nothing yet: you have not told me anything.")
        names = [one.name for one in self.ask.catalog.objectives]
        said = []
        if self.ask.fold.policy.learns_preference:
            card = yield from self.ask.preference(turn.user)
            weights = ", ".join(f"{one.objective} {one.weight:z.2f}" for one in card.weights)
            said.append(f"How much things count for you: {weights}.")
        if person.wishes.dismissed:
            said.append(f"Set aside: {listed([names[k] for k in person.wishes.dismissed])}.")
        if person.wishes.limits:
            limits = [f"{name} {limit_in_words(limit)}" for name, limit in person.wishes.limits.items()]
            said.append(f"Limits: {', '.join(limits)}.")
        if person.wishes.hopes:
            said.append(f"If possible: {hopes_in_words(person.wishes.hopes)}.")
        said.append(f"From {count(person.queries, 'message')} and {count(person.feedbacks, 'rating')}.")
        return turn.reply(" ".join(said))


TELLING = {
    Kind.GREETING: Telling.small_talk,
    Kind.THANKS: Telling.small_talk,
    Kind.WHY: Telling.why,
    Kind.COMPARE: Telling.compare,
    Kind.DETAIL: Telling.detail,
    Kind.FIND: Telling.find,
    Kind.BEST: Telling.best,
    Kind.HELP: Telling.help,
    Kind.PROFILE: Telling.profile,
    Kind.NO: Telling.no,
    Kind.UNCLEAR: Telling.unclear,
}


def _not_shown(turn: Turn) -> str:
    """Return that there is nothing at a place that a question is about, if so."""
    numbers = beyond(" ".join(fold(turn.text).split()), turn.at)
    return f"There is no {listed(list(map(str, numbers)))}: {count(len(turn.at), 'item')} shown." if numbers else ""


def _asks_for(name: str, asked: Collection[str]) -> bool:
    """Tell whether a question names something, if only by a word of its family: "can I park there" asks for parking."""
    pairs = [(part, word) for part in stems(name) for word in asked]
    if any(part == word or word in adjectives(part) for part, word in pairs):
        return True
    long = [pair for pair in pairs if min(map(len, pair)) >= SAME_FAMILY]
    return any(part.startswith(word) or word.startswith(part) for part, word in long)
