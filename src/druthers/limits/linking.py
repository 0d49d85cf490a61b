"""How texts of one kind go together: "no plastic or metal", "a gym, a pool or a sauna", "a pool and a gym"."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from druthers.limits.stated import Stated, joined
from druthers.limits.where import holds, values_of, widened
from druthers.limits.words import fold, ways

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
    denied = {(one.name, one.limit["not"]) for one in found if _is_denied(one)}
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
    """Tell which of them are denied: "no plastic or metal", but not "no bar and a pool", nor "no bar, a pool"."""
    denied = [isinstance(run[0].limit, dict)]
    for place, link in enumerate(links):
        own = isinstance(run[place + 1].limit, dict)
        bare = re.search(r"\b(?:an?|the)\s+$", folded[run[place].end : run[place + 1].start]) is None
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


def _is_denied(one: Stated) -> bool:
    return isinstance(one.limit, dict) and isinstance(one.limit.get("not"), str)


def _value(limit: object) -> object:
    return limit["not"] if isinstance(limit, dict) else limit


def _deny(one: Stated) -> Stated:
    return one if isinstance(one.limit, dict) else one._replace(limit={"not": one.limit})
