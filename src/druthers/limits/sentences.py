"""Limits in sentences: "in Vienna, under 120 euros, not a hostel, with a pool", read against what a catalog holds."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from druthers.denials import find_denials
from druthers.limits import clauses
from druthers.limits.abroad import Abroad
from druthers.limits.amounts import ENGLISH, find_amounts, find_nothings
from druthers.limits.clauses import LONGEST, clause_of
from druthers.limits.columns import Columns
from druthers.limits.days import WEEK, find_days
from druthers.limits.denying import find_denial
from druthers.limits.dropping import find_dropped, find_no_longer, find_unneeded
from druthers.limits.hours import find_hours, find_opening
from druthers.limits.index import FOR, Index
from druthers.limits.linking import accepted, linked, meant, put_right
from druthers.limits.shortening import Key, stands_alone
from druthers.limits.spelling import NO_WORDS, Spelling, Vocabulary
from druthers.limits.spread import find_spread
from druthers.limits.stated import Limits, Stated, contradicting, joined, lost_alternatives
from druthers.limits.where import Where, is_sound
from druthers.limits.words import blanked, fold, pattern, stem, stems, telling_stems, ways, words
from druthers.types import Objective

MOST_LETTERS = 2_000  # of a text that limits are read in
LONGEST_LEAD = 60  # letters before a piece that may say how it is meant
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
        folded = clauses.in_clauses(fold(text[:MOST_LETTERS]))
        turns = [match.span() for match in pattern(r"\b<instead_of_before>\b").finditer(folded)]
        for match in find_denials(folded):
            folded, text = blanked(folded, match.span()), blanked(text, match.span())
        for match in ways("meant_so").finditer(folded):  # "I meant under 250, not under 200"
            folded, text = blanked(folded, match.span("not")), blanked(text, match.span("not"))
        folded = blanked(folded, *(match.span() for match in ways("all_the_same").finditer(folded)))
        nothings = find_nothings(folded, text, self.index)
        folded = blanked(folded, *(one.span for one in nothings))
        dropped, freed = find_dropped(folded, self.index, self._said), find_no_longer(folded, self.index)
        gaps = [(start, end) for start, end, _ in dropped]
        folded = blanked(folded, *gaps, *(one.span for one in freed))
        found = []
        years = not any(one.in_years for one in self.index.attributes)
        dated = list(find_opening(folded, self.index.opening))
        dated += find_hours(blanked(folded, *((one.start, one.end) for one in dated)), self.index.clocks)
        folded = blanked(folded, *((one.start, one.end) for one in dated))
        dated += find_days(folded, self.index.days | self.index.months, years=years)
        dated = [
            one
            for one in dated
            if not clauses.is_soft(folded, one.start, one.end) and not ways("at_work").search(folded[: one.start])
        ]
        found += [Stated(name, limit, text[start:end], start, end) for name, limit, start, end in dated]
        folded = blanked(folded, *((one.start, one.end) for one in dated))
        amounts = find_amounts(folded, text, self.index, self._said)
        unmatched = amounts.unmatched
        found += [*nothings, *amounts.stated]
        found += self._spread(folded, text)
        found += meant(self._texts(folded, text, found), folded)
        found, also, spared = accepted(found, folded, set(self.index.names.values()))
        freed += spared
        unsound = [one for one in found if not is_sound(one.limit)]  # "after 5 and before 3"
        found = sorted((one for one in found if one not in unsound), key=lambda one: one.start)
        replaced, turns = put_right(found, folded, turns)
        found = [one for one in found if one not in replaced]
        corrects = ways("correction").search(folded) is not None
        against = [] if corrects or replaced else contradicting(found)
        found = [one for one in found if one not in against]
        unsound += against
        unmatched += [one.text for one in unsound]
        where = joined(found)
        unneeded = find_unneeded(folded, found, self.index)
        gaps += [span for _, span in unneeded if span]
        heard = *found, *replaced, *also, *freed
        rest = blanked(text, *(one.span for one in heard), *gaps, *amounts.lost, *turns)
        names = {name for _, _, name in dropped} | {name for name, _ in unneeded}
        gone = tuple(name for name in self.index.limitable.values() if "" in names or name in names)
        unmatched += lost_alternatives(found)
        return Limits(where, tuple(found), gone, tuple(unmatched), rest, tuple(freed), corrects, tuple(also))

    def knows(self, text: str) -> bool:
        """Tell whether a text is that of some column, or the name of a flag."""
        key = tuple(stems(text))
        return key in self.index.values or key in self.index.flags

    def flags_in(self, text: str) -> Where:
        """Return the flags that a question names, in whatever words around them: "do any do house calls?"."""
        spoken = set(stems(fold(text)))
        return {name: True for key, name in self.index.flags.items() if spoken.issuperset(key)}

    def _spread(self, folded: str, text: str) -> list[Stated]:
        """Return flags whose words stand apart: "the first talk has to be free"."""
        found = []
        for name, start, end in find_spread(folded, self.index.flags):
            clause, before = clause_of(folded, start, end), ways("breaks").split(folded[:start])[-1]
            idle = clauses.is_soft(folded, start, end) or ways("story").search(clause) or "?" in folded[end:]
            if not idle and not pattern("<unneeded>").search(clause):
                negated, _ = self._denied(before, text)
                found.append(Stated(name, negated is None, text[start:end], start, end))
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

    def _text(self, folded: str, text: str, spots: list[tuple[int, int, str]], piece: slice) -> Stated | None:
        """Return the limit that a piece of text states: the name of a flag, or a text of some column."""
        key, index = tuple(word for _, _, word in spots[piece]), self.index
        if not any(key in known for known in (index.flags, index.values, index.kinds, index.without)):
            return None
        start, end = spots[piece.start][0], spots[piece.stop - 1][1]
        if key in index.ambiguous and self._said.leans_english(f"{text[:start]} {text[end:]}"):
            return None
        clause = clause_of(folded, start, end)
        if clauses.is_soft(folded, start, end) or ways("story").search(clause) or clauses.is_condition(folded, start):
            return None
        before = folded[max(0, start - LONGEST_LEAD) : start]
        negated, demanded = ways("all_but").search(before), None
        if negated is None:
            before = ways("breaks").split(before)[-1]
            negated, demanded = self._denied(before, text)
        out = ways("ruled_out").match(folded[end:]) or (None if negated else ways("upsets").match(folded[end:]))
        must = _must(folded[end:], negated)
        if must or (negated and out):  # "a flat without a lift is no good"
            negated, demanded, out = None, must or negated, None
        spared = negated and ways("spared").match(folded[end:])  # "without a pool I'd be fine"
        if spared or ways("or_not", "spurned").match(folded[end:]) or (not negated and ways("compared").search(before)):
            return None
        if key in index.flags and out and not negated:  # "cats are out of the question"
            return Stated(index.flags[key], False, text[start : end + out.end()], start, end + out.end())
        if key in index.flags:
            return self._flag(index.flags[key], folded, text, (start, end), before, negated, demanded)
        if key in index.without and key not in index.values:  # "I can't eat gluten"
            name, kind = next(iter(index.without[key].items()))
            begin, end = clauses.begin_of(start, before, negated), end + (out.end() if out else 0)
            return Stated(name, kind, text[begin:end], begin, end) if negated or out else None
        if key in index.kinds:
            head = key in index.heads
            alone = stands_alone(folded[end:], before if head else "") and (
                head or not ways("placed_so").search(before)
            )
            if not alone or key[0] in words("common"):
                return None
        owners = index.values.get(key) or index.kinds[key]
        around = {word for _, _, word in spots[max(0, piece.start - 3) : piece.stop + 3]}
        named = [name for name in owners if set(stems(name)) & around]
        if not self._is_meant(folded, text, (start, end), before, key, owners, named=bool(named)):
            return None
        name = named[0] if named else next(iter(owners))
        if negated is None and (led := clauses.led_by(before, stems(name))):  # "not closed on Mondays"
            negated, demanded = self._denied(led, text)
        if "closed" in stems(name) and not ways("closed_before").search(
            before
        ):  # "open on Sundays", "we come on a Sunday"
            negated = None if negated else ways("opened_before").search(before)
        if (after := re.match(r" ([^\W_]+)", folded[end:])) and stem(after[1]) in stems(name):  # "a short coat"
            end += after.end()
        end += len(thing.group()) if (thing := ways("of_such").match(folded[end:])) else 0
        lead = negated or demanded or ways("placed").search(before) or clauses.named(before, name)
        lead = lead or pattern(r"\b<having>(?:\s+<articles>)*\s+$").search(before)  # "they should speak Spanish"
        begin = clauses.begin_of(start, before, lead)
        end += out.end() if out and not out.groupdict().get("others") else 0
        limit = {"not": self._and_more(key, name, owners[name])} if negated or out else owners[name]
        return Stated(name, limit, text[begin:end], begin, end)

    def _is_meant(
        self,
        folded: str,
        text: str,
        span: tuple[int, int],
        before: str,
        key: Key,
        owners: Iterable[str],
        *,
        named: bool,
    ) -> bool:
        """Tell whether words said all the time, tiny ones, or those of how far something is, are those of a column."""
        (start, end), first = span, key[0]
        if len(key) == 1 and first.isdigit() and not named:  # of floors 1 to 3: "1. price 2. noise"
            return False
        if len(key) == 1 and not named:
            translated = not folded.startswith(first, start) and first in words("common") - words("bodily")
            if (translated or folded[start:end] in words("common")) and not self._is_strict(
                folded, start, end, before, owners
            ):
                return False
            if first in words("denying"):  # "never", of what never closes
                return False
        if ways("plenty_before").search(before):  # "lots of strategy" is more than the kind
            return False
        if key == ("left",) and (ways("as_verb").match(folded[end:]) or ways("remaining").search(before)):
            return False  # "she left a gap", "the room I have left"
        if first in words("tiny") and len(key) == 1 and not clauses.is_written(text, start, end, before, owners):
            return False
        no_month = first in words("month_names") and not clauses.is_month(text, folded, start, end)
        return not (no_month or ways("near_to").search(before))

    def _and_more(self, key: tuple[str, ...], name: str, value: Any) -> Any:
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
        beside = ways("denied_before").search(before) or (ways("not_abroad").search(before) if abroad else None)
        beside = beside or (None if abroad else ways("denied_so").search(before))
        return beside or (found.lead if found is not None else None), None

    def _is_strict(self, folded: str, start: int, end: int, before: str, owners: Iterable[str]) -> bool:
        """Tell whether a text that is said all the time is meant as a limit: "small ones only", "medium or large"."""
        if pattern(r"\b<strictly>\s+$").search(before) or re.match(r"(?:\s+[a-z]+)?\s+only\b", folded[end:]):
            return True
        asked = pattern(r"\s*<listing>\b").match(folded)
        if asked and re.search(r"\b(?:are|is|and|or|any|all|the)\s+$", before):  # "which are free of nuts and small?"
            return True
        here = set(owners)
        beside = [ways("linked_before").search(before), ways("linked_after").match(folded[end:])]
        if any(one and here & set(self.index.values.get((stem(one[1]),), ())) for one in beside):  # "firm or medium"
            return True
        others = [
            set(self.index.values.get((word,), ())) for word in stems(folded) if word not in ("or", "and", "please")
        ]
        return len(others) > 1 and all(here & other for other in others)

    def _flag(
        self,
        name: str,
        folded: str,
        text: str,
        span: tuple[int, int],
        before: str,
        negated: re.Match[str] | None,
        demanded: re.Match[str] | None,
    ) -> Stated | None:
        """Return the limit on something that is there or not, if the words around it say so or it stands alone."""
        start, end = span
        clause = clause_of(folded, start, end)
        said = stems(folded[start:end])
        if negated is None and words("requiring") & set(stems(name)) - {*said}:  # "I have a licence" asks for nothing
            return None
        end += len(served.group()) if (served := pattern(r"\s+<served>\b").match(folded[end:])) else 0
        free = ways("free_after").match(folded[end:]) if "free" not in stems(name) else None
        lead = negated or demanded or ways("had_before").search(before)
        lead = lead or (ways("sitting").search(before) if words("guests") & {*said} else None)
        fits = said[0] in {*FOR, *words("fitting"), "from"}  # "ok from birth"
        lead = lead or (ways("gets_along").search(before) if fits else None)
        lead = lead or (ways("who_is").search(before) if said[0] in words("diets") else None)
        follow = free or ways("had_after").match(folded[end:])
        # "an electric bike", "an electric mountain bike"
        things = re.findall(r"^\s+([a-z]+)(?:\s+([a-z]+))?", folded[end:])
        describes = any(stem(thing) in telling_stems(self.title) for pair in things for thing in pair)
        alone = (
            (len(name) > 2 or re.search(r"\d", name))
            and said[0] not in words("common")
            and ways("alone_before").match(before)
            and ways("alone_after").match(folded[end:])
        )
        if follow and ways("tolerated").fullmatch(follow.group()) and not set(stems(name)) & words("guests"):
            return None  # "online is fine" asks for nothing, "pets are fine" does
        # Elsewhere it is enough to name it, and not to ask: "deve esserci un giardino".
        abroad = self._said.language(text) != ENGLISH and "?" not in folded[end:]
        part = {*said} != {*stems(name)} and not words("included").isdisjoint(stems(name))
        if part and not free and re.search(r"\b(?:be|is|are)(?: (?:very|really|so|as|quite))*\s+$", before):
            return None  # "it should be light" asks for no lights
        day = said[-1] in WEEK and re.search(r"\bon(?: an?)?\s+$|^\s*$", before) is not None  # "we move on a Sunday"
        if said == [one for one in said if one in words("dayparts")] != stems(name):  # "it can only be on a weekend"
            day = ways("only_then").search(before) is not None
            lead = follow = None
        if not (lead or follow or alone or describes or abroad or day) or pattern("<unneeded>").search(clause):
            return None
        if negated and words("letting") & set(stems(name)) and ways("not_mine").search(before):
            return None
        begin, end = clauses.begin_of(start, before, lead), end + (follow.end() if follow else 0)
        return Stated(name, negated is None and free is None, text[begin:end], begin, end)


def _must(after: str, negated: re.Match[str] | None) -> re.Match[str] | None:
    """Return what makes a must of what stands before: "indoors or not at all", "without a lift it's no use"."""
    left_out = negated.group().split()[0] if negated else ""
    useless = ways("useless").match(after) if left_out in LEFT_OUT else None
    lost = ways("lost").match(after) if left_out == "without" else None
    return ways("or_nothing").match(after) or (negated if useless or lost else None)
