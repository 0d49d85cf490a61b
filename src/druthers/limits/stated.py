"""Limits as they were said, each with its words, and all of one text together."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from druthers.limits.where import Where, holds, is_sound, merge, values_of, widened, without
from druthers.limits.words import blanked, fold, ways


class Stated(NamedTuple):
    """One limit, and the words behind it: `text[start:end]` of what was read."""

    name: str
    limit: Any
    text: str
    start: int
    end: int

    @property
    def span(self) -> tuple[int, int]:
        """Where the words stand."""
        return self.start, self.end


def cleared(text: str, found: Iterable[Stated]) -> str:
    """Return a text with blanks in place of the words of some limits."""
    return blanked(text, *(one.span for one in found))


@dataclass(frozen=True)
class Limits:
    """What a text says about limits."""

    where: Where = field(default_factory=dict)  # the limits
    stated: tuple[Stated, ...] = ()  # each of them, with its words
    dropped: tuple[str, ...] = ()  # names whose limits are taken back
    unmatched: tuple[str, ...] = ()  # pieces that sound like limits and fit nothing in the catalog
    # The text with blanks in place of all this, every other letter where it was: what is left to be read as wishes.
    rest: str = ""
    # Texts that need not be there any more; what else is limited under their names stays.
    freed: tuple[Stated, ...] = ()
    corrects: bool = False  # whether all this is said in place of something: "actually, a drama"
    also: tuple[Stated, ...] = ()  # texts that are let in beside others: "a drama is fine too"
    hopes: tuple[Stated, ...] = ()  # what would be nice, and need not be: "ideally blue"


def beside(limits: Limits, known: Where) -> Limits:
    """Return limits of a text beside those in force: what is freed, or put right, is taken out of these.

    What is left of them is stated anew, with what is let in too.
    """
    left = dict(known)
    wider = [one for one in limits.also if one.name in known]
    told = [one for one in limits.stated if one not in wider]
    limits = replace(limits, where=joined(told), stated=tuple(told))
    for one in wider:
        left[one.name] = widened(left[one.name], one.limit)
    for one in limits.freed:
        left[one.name] = without(left.get(one.name), one.limit)
    kept = {name: _narrowed(known.get(name), limit) for name, limit in limits.where.items()}
    limits = replace(limits, where={name: kept[name] or limit for name, limit in limits.where.items()})
    for name, limit in limits.where.items() if limits.corrects else ():
        if holds(limit) and holds(left.get(name)):
            left[name] = {part: values for part, values in left[name].items() if part == "not"} or None
    changed = [name for name, limit in known.items() if left[name] != limit and name not in limits.dropped]
    rest = {name: left[name] for name in changed if left[name] is not None}
    stated = [Stated(name, limit, "", 0, 0) for name, limit in rest.items()]
    told = [one._replace(limit=kept[one.name] or one.limit) for one in limits.stated]
    limits = replace(limits, stated=tuple(told))
    where, dropped = merge(rest, limits.where), (*limits.dropped, *changed)
    return replace(limits, where=where, stated=(*stated, *limits.stated), dropped=dropped)


def _narrowed(known: Any, limit: Any) -> Any:
    """Return what is left of texts of which one must be there, without those that may not; None where nothing is.

    Examples
    --------
    >>> _narrowed(["drama", "comedy"], {"not": "comedy"}), _narrowed("drama", {"not": "comedy"})
    ('drama', 'drama')
    >>> _narrowed("drama", {"not": "drama"}), _narrowed({"max": 9}, {"not": "drama"})
    (None, None)
    """
    if known is None or isinstance(known, dict | bool) or not holds(limit) or set(limit) != {"not"}:
        return None
    left = [one for one in values_of(known) if one not in values_of(limit["not"])]
    return left if len(left) > 1 else left[0] if left else None


def lost_alternatives(found: Sequence[Stated]) -> list[str]:
    """Return the words of alternatives that others under the same name take the place of: a limit has room for one."""
    groups: dict[str, list[Stated]] = {}
    for one in found:
        if holds(one.limit) and "any" in one.limit:
            known = groups.setdefault(one.name, [])
            known += [one] if not known or known[-1].limit != one.limit else []
    return [one.text for known in groups.values() for one in known[:-1]]


def joined(found: Iterable[Stated]) -> Where:
    """Return the limits of one text together."""
    where: Where = {}
    for one in found:
        where = join(where, one)
    return where


def contradicting(found: Iterable[Stated]) -> list[Stated]:
    """Return limits of one text that nothing can keep together: "at least 200 and at most 100"."""
    bounds: dict[str, list[Stated]] = {}
    for one in found:
        if isinstance(one.limit, dict) and not holds(one.limit):
            bounds.setdefault(one.name, []).append(one)
    return [
        one
        for several in bounds.values()
        if {end for each in several for end in each.limit} == {"min", "max"}
        and not is_sound({end: limit for each in several for end, limit in each.limit.items()})
        for one in several
    ]


def join(where: Where, one: Stated) -> Where:
    """Return limits with another one of the same text: several texts under one name are alternatives."""
    known = where.get(one.name)
    limit = one.limit
    if known is None or (isinstance(limit, dict) and not holds(limit)) or (holds(known) and holds(limit)):
        return merge(where, {one.name: limit})
    if holds(limit):
        return where  # "in Vienna, not in Graz": the first says it all
    if isinstance(known, dict) or known == limit:  # "3 hours is too long, 2 hours": the later one counts
        return {**where, one.name: limit}
    return {
        **where,
        one.name: [*values_of(known), *(value for value in values_of(limit) if value not in values_of(known))],
    }


FEW_WORDS = 6  # of a sentence that tells no story
SENTENCE = re.compile(r"[^.;!?]+")


def linked(found: Sequence[Stated], folded: str, lists: Collection[str]) -> list[Stated]:
    """Return limits by texts with what links those that follow each other under one name.

    What follows something denied is denied with it. Where items have lists of such texts (`lists`), "a gym and a pool"
    means both, and "a gym or a pool", as "comedies and dramas", means that one of them will do.
    """
    made: list[Stated] = []
    for run, links in _runs(found, folded):
        denied = _denied(run, links, folded)
        if run[0].name not in lists:
            made += [_deny(one) if no else one for one, no in zip(run, denied, strict=True)]
            continue
        kinds = _is_several(run[0], folded) and not denied[0]
        place = 0
        while place < len(run):
            last = place
            while last + 1 < len(run) and not denied[last] and not denied[last + 1]:
                if not (kinds or links[last] == "or" or "or" in _ahead(links, last)):
                    break
                last += 1
            values = [one.limit for one in run[place : last + 1]]
            part = "not" if denied[place] else "any" if last > place else "all"
            limit = {part: list(dict.fromkeys(values)) if last > place else _value(values[0])}
            made += [one._replace(limit=limit) for one in run[place : last + 1]]
            place = last + 1
    return made


def accepted(
    found: Sequence[Stated], folded: str, names: Collection[str]
) -> tuple[list[Stated], list[Stated], list[Stated]]:
    """Return limits, what is only let in too, and what need not be there: "a bar is fine too", "without one is fine".

    Only what is said of texts under `names` is looked at. It widens what else the text asks for under its name; where
    that is nothing, it widens what was asked for before, and without a "too" it is a limit where that is nothing, too.
    """
    kept, also, spared = [], [], []
    for one in found:
        match, else_ = ways("accepted").match(folded[one.end :]), ways("or_else").match(folded[: one.start])
        more = not match and not isinstance(one.limit, dict) and ways("also_before").search(folded[: one.start])
        if not match and not isinstance(one.limit, dict):  # "in Vienna too"
            match = ways("too_after").match(folded[one.end :])
            more = more or match
        texts = not isinstance(one.limit, bool | dict) or holds(one.limit)
        if not (match or else_ or more) or not texts or one.name not in names:
            kept.append(one)
            continue
        whole = one._replace(end=one.end + (match.end() if match else 0))
        if holds(one.limit) and "not" in one.limit:
            spared += [whole._replace(limit=value) for value in values_of(one.limit["not"])]
            continue
        also.append((whole, not more and (match is None or match["too"] is not None)))
    asked = {one.name for one in kept if not (holds(one.limit) and set(one.limit) == {"not"})}
    for one in (one for one, _ in also if one.name in asked):
        limit = widened(joined(other for other in kept if other.name == one.name)[one.name], one.limit)
        kept = [other._replace(limit=limit) if other.name == one.name else other for other in kept]
        kept.append(one._replace(limit=limit))
    rest = [(one, too) for one, too in also if one.name not in asked]
    return [*kept, *(one for one, too in rest if not too)], [one for one, _ in rest], spared


def put_right(
    found: Sequence[Stated], folded: str, turns: Iterable[tuple[int, int]]
) -> tuple[list[Stated], list[tuple[int, int]]]:
    """Return which limits are put right by what follows: those on the same thing, else what was said right before.

    And where a turn to the same thing stands, which turns nothing else round.

    "In Graz under 90, no wait, under 120" stays in Graz; "a heavy one - no wait, a crisp one" is not heavy.
    """
    gone: list[Stated] = []
    spent = []
    for start, end in turns:
        before = [one for one in found if one.end <= start and one not in gone]
        after = {one.name for one in found if one.start >= end}
        latest = before[-1:] if before and not re.search(r"\w{4}", folded[before[-1].end : start]) else []
        same = [one for one in before if one.name in after]
        gone += same or latest
        spent += [(start, end)] if same else []
    return gone, spent


def meant(found: Sequence[Stated], folded: str) -> list[Stated]:
    """Return limits without what is only told of, and denied where that follows.

    "On Fridays the children come. It has to be on a Monday" is about Monday; "Mondays I work, so those days are out".
    """
    asked = [match.span() for match in SENTENCE.finditer(folded) if ways("asked_for").search(match.group())]
    wanted = {one.name for one in found if any(start <= one.start < end for start, end in asked)}
    told = [match.span() for match in SENTENCE.finditer(folded) if match.group().strip().count(" ") >= FEW_WORDS]
    out = list(ways("those_out", "these_out").finditer(folded))
    ruled_out = [(one.name, one.limit.get("not")) for one in found if isinstance(one.limit, dict)]
    denied = {(name, value) for name, value in ruled_out if isinstance(value, str)}
    only = {one.name: one.start for one in found if ways("only_these").search(folded[: one.end])}
    left = []
    for one in found:
        text = not isinstance(one.limit, bool | int | float | dict)
        if text and (one.name, str(one.limit)) in denied:  # "not black, everybody's got black"
            continue
        inside = any(start <= one.start < end for start, end in asked)
        if text and "," in folded[one.end : only.get(one.name, 0)]:  # "choir is Monday, only Tuesday is possible"
            continue
        if text and one.name in wanted and not inside and any(start <= one.start < end for start, end in told):
            continue
        sentence = SENTENCE.match(folded, one.end)
        end = sentence.end() if sentence is not None else one.end
        following = SENTENCE.match(folded, end + 1)  # "The north is all hills. Leave both of those out"
        end = following.end() if following is not None and ways("these_out").search(following.group()) else end
        left.append(_deny(one) if text and any(one.end <= match.start() < end for match in out) else one)
    return left


def _runs(found: Sequence[Stated], folded: str) -> Iterator[tuple[list[Stated], list[str]]]:
    """Yield limits that follow each other under one name, and what stands between any two: "or", "and", ","."""
    run: list[Stated] = []
    links: list[str] = []
    for one in found:
        link = _link(folded[run[-1].end : one.start]) if run and run[-1].name == one.name else ""
        if not link and run:
            yield run, links
            run, links = [], []
        links += [link] if run else []
        run.append(one)
    if run:
        yield run, links


def _link(between: str) -> str:
    if ways("comma_link").fullmatch(between):
        return ","
    if ways("and_link").fullmatch(between):
        return "and"
    return "or" if ways("or_link").fullmatch(between) else ""


def _ahead(links: Sequence[str], place: int) -> Sequence[str]:
    """Return the first link from here on that is no comma, if this one is: "a gym, a pool or a sauna"."""
    first = next((n for n in range(place, len(links)) if links[n] != ","), len(links))
    return links[first : first + 1] if links[place] == "," else ()


def _denied(run: Sequence[Stated], links: Sequence[str], folded: str) -> list[bool]:
    """Tell which of them are denied: "no plastic or metal", but not "no bar and a pool", nor "no bar, only a pool"."""
    denied = [isinstance(run[0].limit, dict)]
    for place, link in enumerate(links):
        own = isinstance(run[place + 1].limit, dict)
        between, whole = (folded[run[place].end : at] for at in (run[place + 1].start, run[place + 1].end))
        bare = not (re.search(r"\b(?:an?|the)\s+$", between) or re.search(r"\b(?:only|just|rather)\b", whole))
        goes_on = link == "or" or (link == "and" and bare) or (link == "," and bare and bool(_ahead(links, place)))
        denied.append(own or (denied[-1] and goes_on and not isinstance(run[place + 1].limit, bool)))
    return denied


def _is_several(one: Stated, folded: str) -> bool:
    """Tell whether a text stands in the plural, which its own words do not: "comedies", but not "maths"."""
    own, said = fold(str(_value(one.limit))).split(), folded[one.start : one.end].split()
    return (
        bool(own and said)
        and said[-1].endswith("s")
        and said[-1] != own[-1]
        and not ways("both_of").search(folded[: one.start])
    )


def _value(limit: object) -> object:
    return limit["not"] if isinstance(limit, dict) else limit


def _deny(one: Stated) -> Stated:
    return one if isinstance(one.limit, dict) else one._replace(limit={"not": one.limit})
