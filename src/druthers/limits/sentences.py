"""Limits in sentences: "in Vienna, under 120 euros, not a hostel, with a pool", read against what a catalog holds."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import Any

from druthers.denials import find_denials
from druthers.limits import clauses
from druthers.limits.amounts import ENGLISH, find_amounts, find_dropped, find_no_longer, find_nothings, find_unneeded
from druthers.limits.clauses import LONGEST, Piece, clause_of, find_denial, find_spread
from druthers.limits.columns import Columns
from druthers.limits.days import WEEK, find_days
from druthers.limits.hours import find_hours, find_opening
from druthers.limits.index import FOR, Index
from druthers.limits.spelling import NO_WORDS, Abroad, Key, Spelling, Vocabulary, stands_alone
from druthers.limits.stated import (
    Limits,
    Stated,
    accepted,
    cleared,
    contradicting,
    joined,
    linked,
    lost_alternatives,
    meant,
    put_right,
)
from druthers.limits.where import Where, is_sound
from druthers.limits.words import blanked, first_of, fold, pattern, spans, stem, stems, telling_stems, ways, words
from druthers.types import Objective

MOST_LETTERS = 2_000  # of a text that limits are read in
LINKS = frozenset({"or", "and", "please"})
LEFT_OUT = ("without", "no", "lacking")
VERY = ("very", "extremely", "really", "super", "too", "ultra")


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
    index
        The words of the catalog.

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
        self.index = Index(columns, objectives, title, said)

    def read(self, text: str) -> Limits:
        """Return the limits that a text states or takes back."""
        index, folded = self.index, clauses.in_clauses(fold(text[:MOST_LETTERS]))
        turns = spans(r"\b<instead_of_before>\b", folded)
        unsaid = [match.span() for match in find_denials(folded)]
        folded, text = blanked(folded, *unsaid), blanked(text, *unsaid)
        unsaid = [match.span("not") for match in ways("meant_so").finditer(folded)]  # "I meant 250, not 200"
        folded, text = blanked(folded, *unsaid), blanked(text, *unsaid)
        folded = blanked(folded, *spans("<all_the_same>", folded))
        nothings = find_nothings(folded, text, index)
        folded = cleared(folded, nothings)
        dropped, freed = find_dropped(folded, index, self._said), find_no_longer(folded, index)
        gaps = [(start, end) for start, end, _ in dropped]
        folded = cleared(blanked(folded, *gaps), freed)
        dated = list(find_opening(folded, index.opening))
        dated += find_hours(cleared(folded, dated), index.clocks)
        folded = cleared(folded, dated)
        dated += find_days(folded, index.days | index.months, years=not any(one.in_years for one in index.attributes))
        dated = [
            one._replace(text=text[one.start : one.end])
            for one in dated
            if not clauses.is_soft(folded, *one.span) and not ways("at_work").search(folded[: one.start])
        ]
        folded = cleared(folded, dated)
        amounts = find_amounts(folded, text, index, self._said)
        found = [*dated, *nothings, *amounts.stated, *self._spread(folded, text)]
        found += meant(self._texts(folded, text, found), folded)
        found, also, spared = accepted(found, folded, set(index.names.values()))
        freed += spared
        unsound = [one for one in found if not is_sound(one.limit)]  # "after 5 and before 3"
        found = sorted((one for one in found if one not in unsound), key=lambda one: one.start)
        replaced, turns = put_right(found, folded, turns)
        found = [one for one in found if one not in replaced]
        corrects = ways("correction").search(folded) is not None
        against = [] if corrects or replaced else contradicting(found)
        found = [one for one in found if one not in against]
        unneeded = find_unneeded(folded, found, index)
        gaps += [span for _, span in unneeded if span]
        rest = blanked(cleared(text, (*found, *replaced, *also, *freed)), *gaps, *amounts.lost, *turns)
        names = {name for _, _, name in dropped} | {name for name, _ in unneeded}
        gone_names = tuple(name for name in index.limitable.values() if "" in names or name in names)
        unmatched = [*amounts.unmatched, *(one.text for one in (*unsound, *against)), *lost_alternatives(found)]
        return Limits(
            joined(found), tuple(found), gone_names, tuple(unmatched), rest, tuple(freed), corrects, tuple(also)
        )

    def knows(self, text: str) -> bool:
        """Tell whether a text is that of some column, or the name of a flag."""
        key = tuple(stems(text))
        return key in self.index.values or key in self.index.flags

    def flags_in(self, text: str) -> Where:
        """Return the flags that a question names, in whatever words around them: "do any do house calls?"."""
        spoken = set(stems(fold(text)))
        return {name: self.index.there(name) for key, name in self.index.flags.items() if spoken.issuperset(key)}

    def _spread(self, folded: str, text: str) -> list[Stated]:
        """Return flags whose words stand apart: "the first talk has to be free"."""
        found = []
        for name, start, end in find_spread(folded, self.index.flags):
            piece, before = Piece(folded, text, start, end), ways("breaks").split(folded[:start])[-1]
            unneeded = pattern("<unneeded>").search(clause_of(folded, start, end))
            if not piece.is_idle() and "?" not in folded[end:] and not unneeded:
                negated, _ = self._denied(before, text)
                found.append(Stated(name, self.index.there(name, there=negated is None), text[start:end], start, end))
        return found

    def usual(self, text: str) -> list[Stated]:
        """Return texts of the catalog that are said all the time, and stand for themselves here: "cheap and small"."""
        folded = fold(text[:MOST_LETTERS])
        spots = [(*match.span(), stem(match.group())) for match in re.finditer(r"[^\W_]+", folded)]
        found = []
        for start, end, word in self._abroad.read(folded, spots, self._said.language(text)):
            owners = self.index.values.get((word,), {}) if word in words("graded") else {}
            if len(owners) == 1 and ways("bare_before").search(folded[:start]) and self._ends_bare(folded[end:]):
                found += [Stated(name, value, text[start:end], start, end) for name, value in owners.items()]
        return found

    def _ends_bare(self, after: str) -> bool:
        """Tell whether an adjective before this is one of the thing that is looked for: "a small one", "small, and"."""
        match = re.match(r"\s*(?:(?:please|bitte|pls)\s*)?(?:$|[.,;!?]|(?:ones?|and|or|but)\b|([a-z]+))", after)
        return match is not None and (match[1] is None or stem(match[1]) in self.index.title)

    def _texts(self, folded: str, text: str, taken: Iterable[Stated]) -> list[Stated]:
        """Return limits by texts and by yes or no; the longest text that is known at a place counts."""
        spots = [(*match.span(), self._meant(stem(match.group()))) for match in re.finditer(r"[^\W_]+", folded)]
        spots = self._abroad.read(folded, spots, self._said.language(text))
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
        return linked(found, folded, self.index.lists)

    @cached_property
    def _abroad(self) -> Abroad:
        index = self.index
        return Abroad(index.flags, (*index.values, *index.kinds, *index.without))

    @cached_property
    def _meant(self) -> Callable[[str], str]:
        return Spelling(
            (word for key in (*self.index.values, *self.index.flags) for word in key), self._said.words
        ).mended

    def _text(self, folded: str, text: str, spots: list[tuple[int, int, str]], place: slice) -> Stated | None:
        """Return the limit that a piece of text states: the name of a flag, or a text of some column."""
        key, index = tuple(word for _, _, word in spots[place]), self.index
        if not any(key in known for known in (index.flags, index.values, index.kinds, index.without)):
            return None
        piece = Piece(folded, text, spots[place.start][0], spots[place.stop - 1][1], key)
        if key in index.ambiguous and self._said.leans_english(f"{text[: piece.start]} {text[piece.end :]}"):
            return None
        if piece.is_idle() or clauses.is_condition(folded, piece.start):
            return None
        if (negated := piece.led("all_but")) is None:
            piece.before = ways("breaks").split(piece.before)[-1]
            negated, piece.demanded = self._denied(piece.before, text)
        out = piece.followed("ruled_out", *() if negated else ("upsets",))
        must = _must(piece.after, negated)
        if must or (negated and out):  # "a flat without a lift is no good"
            negated, piece.demanded, out = None, must or negated, None
        spared = negated and piece.followed("spared")  # "without a pool I'd be fine"
        if spared or piece.followed("or_not", "spurned") or (not negated and piece.led("compared")):
            return None
        piece.negated = negated
        if key in index.flags and out and not negated:  # "cats are out of the question"
            return piece.stated(index.flags[key], index.there(index.flags[key], there=False), None, out)
        if key in index.flags:
            return self._flag(index.flags[key], piece)
        if key in index.without and key not in index.values:  # "I can't eat gluten"
            name, kind = next(iter(index.without[key].items()))
            return piece.stated(name, kind, negated, out) if negated or out else None
        if key in index.kinds:
            head = key in index.heads
            alone = stands_alone(piece.after, piece.before if head else "") and (head or not piece.led("placed_so"))
            if not alone or key[0] in words("common"):
                return None
        owners = index.values.get(key) or index.kinds[key]
        around = {word for _, _, word in spots[max(0, place.start - 3) : place.stop + 3]}
        named = [name for name in owners if set(stems(name)) & around]
        if not self._is_meant(piece, owners, named=bool(named)):
            return None
        name = named[0] if named else next(iter(owners))
        if negated is None and (led := clauses.led_by(piece.before, stems(name))):  # "not closed on Mondays"
            negated, piece.demanded = self._denied(led, text)
        if "closed" in stems(name) and not piece.led("closed_before"):  # "open on Sundays", "we come on a Sunday"
            negated = None if negated else piece.led("opened_before")
        if (after := re.match(r" ([^\W_]+)", piece.after)) and stem(after[1]) in stems(name):  # "a short coat"
            piece.end += after.end()
        piece.end += len(thing.group()) if (thing := piece.followed("of_such")) else 0
        # "they should speak Spanish"
        lead = negated or piece.demanded or piece.led("placed") or clauses.named(piece.before, name)
        lead = lead or piece.led("speaking")
        limit = {"not": self._and_more(key, name, owners[name])} if negated or out else owners[name]
        return piece.stated(name, limit, lead, None if out and out.groupdict().get("others") else out)

    def _is_meant(self, piece: Piece, owners: Collection[str], *, named: bool) -> bool:
        """Tell whether words said all the time, tiny ones, or those of how far something is, are those of a column."""
        first, folded = piece.key[0], piece.folded
        if len(piece.key) == 1 and not named:
            translated = not folded.startswith(first, piece.start) and first in words("common") - words("bodily")
            common = translated or folded[piece.start : piece.end] in words("common")
            # Of floors 1 to 3: "1. price 2. noise"; and "never", of what never closes.
            if first.isdigit() or first in words("denying") or (common and not self._is_strict(piece, owners)):
                return False
        if first in words("tiny") and len(piece.key) == 1 and not clauses.is_written(piece, owners):
            return False
        if piece.key == ("left",) and (piece.followed("as_verb") or piece.led("remaining")):
            return False  # "she left a gap", "the room I have left"
        no_month = first in words("month_names") and not clauses.is_month(piece)
        return not (no_month or piece.led("plenty_before", "near_to"))  # "lots of strategy" is more than the kind

    def _and_more(self, key: Key, name: str, value: Any) -> Any:
        """Return a text that is ruled out with those that say more of the same: what is not loud is not very loud."""
        more = [self.index.values.get((word, *key), {}).get(name) for word in VERY]
        worse = [one for one in more if one is not None]
        return [value, *worse] if worse else value

    def _denied(self, before: str, text: str) -> tuple[re.Match[str] | None, re.Match[str] | None]:
        """Return the words that deny what stands after them, if some do, and those that deny it twice."""
        found = find_denial(before)
        if found is not None and not found.denied:
            return None, found.lead
        abroad = self._said.language(text) != ENGLISH
        beside = first_of(("denied_before", "not_abroad" if abroad else "denied_so"), before)
        return beside or (found.lead if found is not None else None), None

    def _is_strict(self, piece: Piece, owners: Iterable[str]) -> bool:
        """Tell whether a text that is said all the time is meant as a limit: "small ones only", "medium or large"."""
        if piece.led("strictly_before") or re.match(r"(?:\s+[a-z]+)?\s+only\b", piece.after):
            return True
        if ways("listing_first").match(piece.folded) and piece.led(
            "listed_before"
        ):  # "which are free of nuts and small?"
            return True
        here, values = set(owners), self.index.values
        beside = [piece.led("linked_before"), piece.followed("linked_after")]
        if any(one and here & set(values.get((stem(one[1]),), ())) for one in beside):  # "firm or medium"
            return True
        others = [set(values.get((word,), ())) for word in stems(piece.folded) if word not in LINKS]
        return len(others) > 1 and all(here & other for other in others)

    def _flag(self, name: str, piece: Piece) -> Stated | None:
        """Return the limit on something that is there or not, if the words around it say so or it stands alone."""
        called, said, negated = stems(name), stems(piece.folded[piece.start : piece.end]), piece.negated
        if negated is None and words("requiring") & set(called) - {*said}:  # "I have a licence" asks for nothing
            return None
        clause = clause_of(piece.folded, piece.start, piece.end)
        piece.end += len(served.group()) if (served := piece.followed("served")) else 0
        free = piece.followed("free_after") if "free" not in called else None
        asks = {
            "had_before": True,
            "sitting": not words("guests").isdisjoint(said),
            "gets_along": said[0] in {*FOR, *words("fitting"), "from"},  # "ok from birth"
            "who_is": said[0] in words("diets"),
        }
        lead = negated or piece.demanded or piece.led(*(way for way, may in asks.items() if may))
        follow = free or piece.followed("had_after")
        # "an electric bike", "an electric mountain bike"
        things = re.findall(r"^\s+([a-z]+)(?:\s+([a-z]+))?", piece.after)
        describes = any(stem(thing) in telling_stems(self.title) for pair in things for thing in pair)
        short = len(name) <= 2 and not re.search(r"\d", name)
        common = short or said[0] in words("common")
        alone = not common and ways("alone_before").match(piece.before) and piece.followed("alone_after")
        if follow and ways("tolerated").fullmatch(follow.group()) and not set(called) & words("guests"):
            return None  # "online is fine" asks for nothing, "pets are fine" does
        # Elsewhere it is enough to name it, and not to ask: "deve esserci un giardino".
        abroad = self._said.language(piece.text) != ENGLISH and "?" not in piece.after
        part = {*said} != {*called} and not words("included").isdisjoint(called)
        if part and not free and piece.led("being_before"):
            return None  # "it should be light" asks for no lights
        day = said[-1] in WEEK and piece.led("on_a_day")  # "we move on a Sunday"
        if said == [one for one in said if one in words("dayparts")] != called:  # "it can only be on a weekend"
            day, lead, follow = piece.led("only_then"), None, None
        if not (lead or follow or alone or describes or abroad or day) or pattern("<unneeded>").search(clause):
            return None
        if negated and words("letting") & set(called) and piece.led("not_mine"):
            return None
        return piece.stated(name, self.index.there(name, there=negated is None and free is None), lead, follow)


def _must(after: str, negated: re.Match[str] | None) -> re.Match[str] | None:
    """Return what makes a must of what stands before: "indoors or not at all", "without a lift it's no use"."""
    left_out = negated.group().split()[0] if negated else ""
    useless = ways("useless").match(after) if left_out in LEFT_OUT else None
    lost = ways("lost").match(after) if left_out == "without" else None
    return ways("or_nothing").match(after) or (negated if useless or lost else None)
