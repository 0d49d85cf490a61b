"""Limits in sentences: "in Vienna, under 120 euros, not a hostel, with a pool", read against what a catalog holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from druthers.denials import find_denials
from druthers.limits.clauses import LONGEST, clause_of, in_clauses, is_condition, pieces, sentence_of, with_name
from druthers.limits.columns import Columns, canonical
from druthers.limits.days import by_month, find_days, is_day
from druthers.limits.linking import accepted, linked
from druthers.limits.quantities import Attribute, Quantity, find_attribute, find_quantities
from druthers.limits.shortening import Key, add, cut_short, firsts, heads, stands_alone
from druthers.limits.spelling import NO_WORDS, Spelling, Vocabulary
from druthers.limits.stated import Limits, Stated, joined, lost_alternatives
from druthers.limits.where import Where
from druthers.limits.words import (
    also_called,
    blanked,
    demonyms,
    fold,
    foreign,
    pattern,
    speaks_of_money,
    stem,
    stems,
    table,
    words,
)
from druthers.types import Objective

SOFT = r"\b<soft>\b"
NOT = (
    r"(?:\b<not>|n't)(?:\s+(?:<articles>|it|them))*\s+$"
    r"|\b(?:must|should|may|can|shall|does|do|will|wo|would)(?:\s?not|n't)\s+"
    r"(?!need|have to|require|mind|care|matter|lack|miss|forget|skip|lose)[a-z]+"
    r"(?:\s+<articles>)*\s+$"  # "it must not take dogs"
)
# "it must not lack a pool"
MISSED = (
    r"(?:\bnever|(?:\b(?:must|should|may|can|shall)|(?<!\bi )(?<!\bwe )\bdo)(?:\s?not|n't))\s+"
    r"(?:lack|miss|forget|skip|lose|(?:be|go|come|do)\s+without)(?:\s+(?:<articles>|about))*\s+$"
)
# "I don't need a maths tutor any more", "it doesn't have to be red"
NO_LONGER = (
    r"(?:\b(?:i|we|it)\s+)?(?:\b(?:do(?:es)?\s?n'?t|do(?:es)?\s+not|not)\s+(?:need|require|have to)|\bneed\s?n'?t"
    r"|\bno longer\s+(?:need|want|require)|\bno need for"
    r"|\b(?:never ?mind|nvm|forget)(?: about)?)\s+(?:(?:<articles>|it|them|have)\s+)*$"
)
CORRECTION = r"^\W*(?:no\s*,|actually\b|rather\b|sorry\b|i meant?\b|make (?:it|that)\b)|\binstead\b(?! of)"
# "3 rooms and a balcony" too
HAVING = (
    r"\b<having>(?:\s+<articles>)*(?:\s+l'|\s+)$|\b<having>\b.*\band(?:\s+<articles>)*\s+$"
    r"|\b<having>\s+an?\s+(?:[a-z]+[\s-]+){1,2}$"  # "needs a built-in grinder"
)
HAD = (
    r"[\s-]friendly\b|\s+(?:<modal>\s+)?<had>\b"
    r"|(?:\s+[a-z]+)?\s+only(?=\s*(?:(?:please|pls|thanks|thank you)\s*)?(?:$|[.,;!]))"
)
FREE = r"[\s-]free\b"  # "nut-free" is without nuts
ALONE_BEFORE = r"^\s*(?:(?:and|also|but|plus|a|an|the|it|must|has to|should|be)\s+)*$"
ALONE_AFTER = r"\s*(?:(?:please|too|as well)\s*)?(?:$|[.;!,(]|(?:and|or|but)\s)"
IN_A_MONTH = r"\b<in_a_month>\s*$"
CLOSE = r"\b(?:closer? to|next to|far from|away from|walking distance (?:of|from|to))\s+(?:the\s+|my\s+)?$"
PLACE = r"\b(?:in|im|at|near|from|en|à|a|em|te)\s+(?:the\s+)?$"
WHERE = r"\b(?:in|at|on|to|by|near|from|around|too|with|of)\s+(?:the\s+)?$"  # "in the city" speaks of no city bike
BREAK = r"[.;!?,]|(?<!not) so | because | since |(?<!ything)(?<!ywhere) but | aber | pero | mais | ma | maar | mas "

MOST_VALUES = 20_000  # different texts under one name; more are no kinds of things, but names of their own
MOST_LETTERS = 2_000  # of a text that limits are read in
BESIDE = 10  # letters around a number in which the name of what it is about may stand


class LimitReader:
    """Reads limits out of sentences.

    Parameters
    ----------
    columns
        What items are like: the names and texts that sentences are held against.
    objectives
        What matters: a number may be a limit on one of these too.
    title
        What the catalog is about, such as "hotels": a word that every item deserves limits nothing.
    said
        Words that mean something by themselves.

    Attributes
    ----------
    lists
        The names of details that are lists of texts.

    Examples
    --------
    >>> from druthers.catalogs import Item
    >>> inns = {
    ...     "mill": Item("mill", values={"price": 90.0}, details={"city": "Graz"}),
    ...     "barn": Item("barn", values={"price": 140.0}, details={"city": "Vienna"}),
    ... }
    >>> reader = LimitReader(Columns(inns), [Objective("price", low=0, high=500, less_is_better=True)])
    >>> read = reader.read("In Vienna, at most 120 euros, and quiet.")
    >>> read.where, read.rest.split()
    ({'city': 'Vienna', 'price': {'max': 120}}, [',', ',', 'and', 'quiet.'])
    """

    def __init__(
        self, columns: Columns, objectives: Sequence[Objective], title: str = "", said: Vocabulary = NO_WORDS
    ) -> None:
        self.title, self._said = title, said
        self._attributes: list[Attribute] = []
        self._flags: dict[tuple[str, ...], str] = {}
        self._values: dict[Key, dict[str, Any]] = {}
        self._names: dict[tuple[str, ...], str] = {}
        self._days: dict[str, list[str]] = {}
        self.lists: set[str] = set()
        self._kinds: dict[Key, dict[str, Any]] = {}
        self._heads: dict[Key, dict[str, Any]] = {}
        taken = {word for one in objectives for text in (one.name, *one.synonyms) for word in stems(text)}
        general = set(stems(title))
        by_name = {one.name: one for one in objectives}
        own: set[Key] = set()
        for name in columns.names:
            objective = by_name.get(name)
            if objective is not None:
                self._attributes.append(Attribute.of_objective(objective))
                continue
            self._names[tuple(stems(name))] = name
            column = columns.column(name)
            kinds = column.kinds
            if all(isinstance(canonical(kind), bool) for kind in kinds):
                parts = tuple(stems(name))
                core = tuple(part for part in parts if part not in words("flag_verbs"))
                known = {parts} if not core or (len(core) == 1 and core[0] in taken) else {parts, core}
                called = [other for one in known for other in also_called().get(" ".join(one), ())]
                self._flags = dict.fromkeys(called, name) | self._flags | dict.fromkeys(known, name)
                own |= known
            elif kinds and all(is_day(str(kind)) for kind in kinds):
                self._days[name] = sorted(map(str, kinds))
                for spelled, inside in by_month(self._days[name]).items():
                    self._values.setdefault((spelled,), {})[name] = inside
            elif np.isfinite(column.numbers).sum() >= 0.9 * column.known.sum():
                self._attributes.append(Attribute.of_detail(name, column.numbers))
            elif len(kinds) <= MOST_VALUES:
                self.lists |= {name} if column.has_lists else set()
                also: dict[Key, Any] = {}
                for kind in kinds:
                    parts = tuple(stems(str(kind)))
                    if 0 < len(parts) <= LONGEST and not (len(parts) == 1 and parts[0] in taken | general):
                        spelled = " ".join(parts)
                        others = *((word,) for word in demonyms().get(spelled, ())), *also_called().get(spelled, ())
                        made = [(f"{parts[0]}en",), (f"{parts[0]}ern",)] if len(parts) == 1 else []  # "wooden"
                        also |= dict.fromkeys((*others, *made), kind)
                        self._values.setdefault(parts, {})[name] = kind
                        own.add(parts)
                add(self._values, also, name)
                if column.has_lists:
                    add(self._values, cut_short(kinds), name)
                    add(self._heads, heads(kinds, taken | general | set(said.wishes)), name)
                else:
                    add(self._kinds, firsts(kinds, taken | general, general | set(stems(name))), name)
        # Words of other languages that are English words too: "rot" is a color, and what happens to wood.
        self._ambiguous = {key for key in foreign() - own if len(key) == 1 and key[0] in said.words}
        shorter = self._heads | self._kinds
        self._kinds = {key: owners for key, owners in shorter.items() if key not in {*self._values, *self._names}}

    def read(self, text: str) -> Limits:
        """Return the limits that a text states or takes back."""
        folded = in_clauses(fold(text[:MOST_LETTERS]))
        for match in pattern(r"\b<instead_of_before>\b").finditer(folded):  # "a heavy one - no wait, a crisp one"
            folded, text = blanked(folded, (0, match.end())), blanked(text, (0, match.end()))
        for match in find_denials(folded):
            folded, text = blanked(folded, match.span()), blanked(text, match.span())
        dropped, freed = self._dropped(folded), self._no_longer(folded)
        gaps = [(start, end) for start, end, _ in dropped]
        folded = blanked(folded, *gaps, *(one.span for one in freed))
        found = []
        for name, inside, start, end in find_days(folded, self._days):
            found.append(Stated(name, inside, text[start:end], start, end))
            folded = blanked(folded, (start, end))
        numbers, unmatched = self._numbers(folded, text)
        found += numbers
        found += self._spread(folded, text)
        found += self._texts(folded, text, found)
        found, also, spared = accepted(found, folded, set(self._names.values()))
        freed += spared
        found.sort(key=lambda one: one.start)
        where = joined(found)
        rest = blanked(text, *(one.span for one in (*found, *also)), *gaps, *(one.span for one in freed))
        names = {name for _, _, name in dropped} | self._unneeded(folded, found)
        gone = tuple(name for name in self._limitable.values() if "" in names or name in names)
        unmatched += lost_alternatives(found)
        corrects = re.search(CORRECTION, folded) is not None
        return Limits(where, tuple(found), gone, tuple(unmatched), rest, tuple(freed), corrects, tuple(also))

    def knows(self, text: str) -> bool:
        """Tell whether a text is that of some column, or the name of a flag."""
        key = tuple(stems(text))
        return key in self._values or key in self._flags

    def flags_in(self, text: str) -> Where:
        """Return the flags that a question names, in whatever words around them: "do any do house calls?"."""
        spoken = set(stems(fold(text)))
        return {name: True for key, name in self._flags.items() if spoken.issuperset(key)}

    @property
    def flags(self) -> set[str]:
        """The names of details that are there or not."""
        return set(self._flags.values())

    @cached_property
    def price(self) -> str | None:
        """The name of what is paid for an item; None where nothing is called like it."""
        return next((one.name for one in self._attributes if speaks_of_money(one.name)), None)

    @cached_property
    def places(self) -> list[str]:
        """The names of details that tell where an item is."""
        return [name for parts, name in self._names.items() if set(parts) & words("places")]

    @cached_property
    def _limitable(self) -> dict[tuple[str, ...], str]:
        """Everything that a limit can be on, by the stems of its name."""
        return {**self._names, **{tuple(stems(one.name)): one.name for one in self._attributes}}

    def _numbers(self, folded: str, text: str) -> tuple[list[Stated], list[str]]:
        """Return limits by numbers, and pieces that sound like one and fit nothing."""
        found, unmatched = [], []
        for quantity in find_quantities(folded):
            clause = clause_of(folded, quantity.start, quantity.end)
            if pattern(SOFT).search(clause) or is_condition(folded, quantity.start):
                continue
            if (aged := self._aged(folded, quantity)) is not None:
                found.append(aged._replace(text=text[aged.start : aged.end]))
                continue
            first = quantity.start if folded.startswith("for ", quantity.start) else max(0, quantity.start - BESIDE)
            first -= len(re.search(r"\w*$", folded[:first]).group())  # type: ignore[union-attr]
            near = folded[first : quantity.end + BESIDE]
            led = folded[: quantity.start + 4 * folded.startswith("for ", quantity.start)]
            held = pattern(r"\b<holding>\s+$").search(led) is not None  # "room for 110"
            attribute = find_attribute(quantity, self._attributes, clause, near, held=held)
            if attribute is None and quantity.bound and not quantity.units:  # "small groups, 8 at most"
                named = [one for one in self._attributes if one.words & set(stems(sentence_of(folded, quantity.start)))]
                attribute = find_attribute(quantity, named, folded, near)
            if attribute is None:
                if quantity.bound or quantity.measure not in (None, "time"):
                    unmatched.append(text[quantity.start : quantity.end].strip())
                continue
            limit = quantity.limit(attribute)
            if limit is not None:
                start, end = with_name(folded, quantity.start, quantity.end, attribute)
                found.append(Stated(attribute.name, limit, text[start:end].strip(), start, end))
        return found, unmatched

    def _aged(self, folded: str, quantity: Quantity) -> Stated | None:
        """Return the limit that somebody's age sets: on the least age of those let in, or on the highest one."""
        before = re.split(r"[.;!?,]", folded[: quantity.start])[-1]
        number = quantity.numbers[0]
        if quantity.bound or number != int(number) or not pattern(r"\b<age>\s*$").search(before):
            return None
        for one in self._attributes:
            if "age" in one.words and one.words & (words("least_age") | words("most_age")):
                end = "max" if one.words & words("least_age") else "min"
                return Stated(one.name, {end: int(number)}, "", quantity.start, quantity.end)
        return None

    def _spread(self, folded: str, text: str) -> list[Stated]:
        """Return flags whose last word stands after a verb: "the first talk has to be free"."""
        found = []
        for key, name in self._flags.items():
            if len(key) > 1 and all(part in folded for part in key):
                first = r"\W+".join(rf"{re.escape(part)}\w{{0,2}}" for part in key[:-1])
                match = pattern(rf"\b{first}\s+<modal>\s+{re.escape(key[-1])}\w{{0,2}}\b").search(folded)
                if match is not None:
                    found.append(Stated(name, True, text[match.start() : match.end()], match.start(), match.end()))
        return found

    def _unneeded(self, folded: str, found: Iterable[Stated]) -> set[str]:
        """Return flags that need not be there any more: "it doesn't have to be waterproof", "peated or not"."""
        taken = {one.name for one in found}
        gone = set()
        for start, end, key in pieces(folded):
            if key in self._flags and self._flags[key] not in taken:
                gone |= {self._flags[key]} if pattern("<unneeded>").search(clause_of(folded, start, end)) else set()
        return gone

    def _no_longer(self, folded: str) -> list[Stated]:
        """Return texts that need not be there any more: "I don't need a maths tutor"."""
        found: dict[tuple[str, Any], Stated] = {}  # of "cargo" and "cargo bike" the longer one
        for start, end, key in pieces(folded):
            owners = self._values.get(key) or self._kinds.get(key)
            if owners and (lead := pattern(NO_LONGER).search(folded[max(0, start - 40) : start])):
                first = start - len(lead.group())
                found |= {(name, kind): Stated(name, kind, "", first, end) for name, kind in owners.items()}
        return list(found.values())

    def _texts(self, folded: str, text: str, taken: Iterable[Stated]) -> list[Stated]:
        """Return limits by texts and by yes or no; the longest text that is known at a place counts."""
        spots = [(*match.span(), self._meant(stem(match.group()))) for match in re.finditer(r"[^\W_]+", folded)]
        free = [not any(one.start <= start < one.end for one in taken) for start, _, _ in spots]
        found: list[Stated] = []
        place = 0
        while place < len(spots):
            for length in range(min(LONGEST, len(spots) - place), 0, -1):
                if all(free[place : place + length]):
                    one = self._text(folded, text, spots, slice(place, place + length))
                    if one is not None:
                        found.append(one)
                        place += length - 1
                        break
            place += 1
        return linked(found, folded, self.lists)

    @cached_property
    def _meant(self) -> Callable[[str], str]:
        return Spelling((word for key in (*self._values, *self._flags) for word in key), self._said.words).mended

    def _text(self, folded: str, text: str, spots: list[tuple[int, int, str]], piece: slice) -> Stated | None:
        """Return the limit that a piece of text states: the name of a flag, or a text of some column."""
        key = tuple(word for _, _, word in spots[piece])
        if key not in self._flags and key not in self._values and key not in self._kinds:
            return None
        if key in self._ambiguous and self._said.is_english(text):
            return None
        start, end = spots[piece.start][0], spots[piece.stop - 1][1]
        clause = clause_of(folded, start, end)
        if pattern(SOFT).search(clause):
            return None
        before = re.split(BREAK, folded[max(0, start - 40) : start])[-1]
        negated = None if pattern(MISSED).search(before) else pattern(NOT).search(before)
        if key in self._flags:
            return self._flag(self._flags[key], folded, text, (start, end), before, negated)
        if key in self._kinds:
            head = key in self._heads
            alone = stands_alone(folded[end:], before if head else "") and (head or not re.search(WHERE, before))
            if not alone or key[0] in words("common"):
                return None
        owners = self._values.get(key) or self._kinds[key]
        around = {word for _, _, word in spots[max(0, piece.start - 3) : piece.stop + 3]}
        named = [name for name in owners if set(stems(name)) & around]
        usual = len(key) == 1 and key[0] in words("common") and not named
        if usual and not self._is_strict(folded, start, end, before):
            return None
        no_month = key[0] in words("month_names") and not pattern(IN_A_MONTH).search(before)
        if no_month or re.search(CLOSE, before):  # how far something is, is no matter of yes or no
            return None
        name = named[0] if named else next(iter(owners))
        if (after := re.match(r" ([^\W_]+)", folded[end:])) and stem(after[1]) in stems(name):  # "a short coat"
            end += after.end()
        begin = _begin(start, before, negated or re.search(PLACE, before))
        return Stated(name, {"not": owners[name]} if negated else owners[name], text[begin:end], begin, end)

    def _is_strict(self, folded: str, start: int, end: int, before: str) -> bool:
        """Tell whether a text that is said all the time is meant as a limit: "small ones only", "medium or large"."""
        if pattern(r"\b<strictly>\s+$").search(before) or re.match(r"(?:\s+[a-z]+)?\s+only\b", folded[end:]):
            return True
        asked = pattern(r"\s*<listing>\b").match(folded)
        if asked and re.search(r"\b(?:are|is|and|or|any|all|the)\s+$", before):  # "which are free of nuts and small?"
            return True
        here = set(self._values[(stem(folded[start:end]),)])
        others = [set(self._values.get((word,), ())) for word in stems(folded) if word not in ("or", "and", "please")]
        return len(others) > 1 and all(here & other for other in others)

    def _flag(
        self, name: str, folded: str, text: str, span: tuple[int, int], before: str, negated: re.Match[str] | None
    ) -> Stated | None:
        """Return the limit on something that is there or not, if the words around it say so or it stands alone."""
        start, end = span
        clause = clause_of(folded, start, end)
        free = re.match(FREE, folded[end:]) if "free" not in stems(name) else None
        lead, follow = (
            negated or pattern(MISSED).search(before) or pattern(HAVING).search(before),
            free or pattern(HAD).match(folded[end:]),
        )
        alone = (
            len(name) > 2
            and stems(folded[start:end])[0] not in words("common")
            and re.match(ALONE_BEFORE, before)
            and re.match(ALONE_AFTER, folded[end:])
        )
        if not (lead or follow or alone) or pattern("<unneeded>").search(clause):
            return None
        begin, end = _begin(start, before, lead), end + (follow.end() if follow else 0)
        return Stated(name, negated is None and free is None, text[begin:end], begin, end)

    def _dropped(self, folded: str) -> list[tuple[int, int, str]]:
        """Return what is taken back: start, end and name of each, an empty name for everything."""
        found = [(match.start(), match.end(), "") for match in pattern(r"\b<drop_all>\b").finditer(folded)]
        for match in pattern(r"\b<anywhere>\b").finditer(folded):
            found += [(match.start(), match.end(), name) for name in self.places]
        for parts, name in self._limitable.items():
            if parts and all(part in folded for part in parts):
                spelled = r"\W+".join(rf"{re.escape(part)}\w{{0,3}}" for part in parts)
                for one in table()["any"]:
                    for match in re.finditer(rf"\b{one.replace('X', spelled)}\b", folded):
                        found.append((match.start(), match.end(), name))
        return found


def _begin(start: int, before: str, lead: re.Match[str] | None) -> int:
    """Return where a piece begins together with the words that lead up to it."""
    return start if lead is None else start - len(before) + lead.start()
