"""Times of the day in sentences: "not before 6 in the evening", held against what a catalog has."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from druthers.limits.days import AT_LEAST, BEYOND, DENIED, EARLIEST, EARLY, LATE, LATEST, NEAR, Days
from druthers.limits.words import pattern, stem, stems

HOUR = re.compile(
    r"\b(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?\s*"
    r"(?P<part>[ap]\.?m\b\.?|o'?clock\b|uhr\b|h\b|in the (?:morning|afternoon|evening)\b|at night\b)?"
    r"|\b(?P<named>noon|midday|midnight)\b"
)
LATER = ("p", "in the a", "in the e", "at n")  # what makes 5 o'clock 17:00
NAMED = {"noon": "12:00", "midday": "12:00", "midnight": "24:00"}
OPEN_UNTIL = r"\bopen(?:ed|s)?\b[^.,;]{0,12}\btill?\b|\bopen(?:ed|s)?\b[^.,;]{0,12}\buntil\b"


def find_hours(text: str, columns: Collection[str]) -> Iterator[Days]:
    """Return what a folded text says about times of the day, for the column of such that is likeliest meant.

    Examples
    --------
    >>> [next(find_hours(text, ["departs"])).limit for text in ("not before 6 in the evening", "between 8 am and 2 pm")]
    [{'min': '18:00'}, {'min': '08:00', 'max': '14:00'}]
    """
    found = [match for match in HOUR.finditer(text) if _time(match)] if columns else []
    spans = {
        one.start(): (one, two)
        for one, two in pairwise(found)
        if pattern(r"\s*(?:<span_to>)\s*").fullmatch(text, one.end(), two.start())
        and pattern(r"\b(?:<span_from>)\s*$").search(text[: one.start()])
    }
    ends = {two.start() for _, two in spans.values()}
    for match in found:
        if match.start() in spans:
            low, high = spans[match.start()]
            lead = pattern(r"\b(?:<span_from>)\s*$").search(text[: match.start()])
            start = lead.start() if lead else match.start()
            yield Days(_meant(text, columns), {"min": _time(low), "max": _time(high)}, start, high.end())
        elif match.start() not in ends and (match["part"] or match["minute"] or match["named"]):
            yield from _bounded(text, match, columns)


def _time(match: re.Match[str]) -> str:
    """Return a time as 17:30; "" for what is none."""
    if match["named"]:
        return NAMED[match["named"]]
    hour = int(match["hour"])
    hour += 12 if hour < 12 and (match["part"] or "").startswith(LATER) else 0
    return f"{hour:02}:{match['minute'] or '00'}" if hour <= 24 else ""


def _bounded(text: str, match: re.Match[str], columns: Collection[str]) -> Iterator[Days]:
    """Return what is said about one time: by it, or from it on."""
    before, after = text[max(0, match.start() - NEAR) : match.start()], text[match.end() : match.end() + NEAR]
    late, early = pattern(LATE).search(before), pattern(EARLY).search(before)
    if late and early:
        late, early = (late, None) if late.start() < early.start() else (None, early)
    lasting = re.search(AT_LEAST, before) or re.search(OPEN_UNTIL, before)  # "open until 17:00" closes then or later
    later, latest = pattern(EARLIEST).match(after), pattern(LATEST).match(after)
    lead, tail = lasting or late or early, later or latest
    if not lead and not tail:
        return
    time = _time(match)
    beyond = lead is not None and not lasting and pattern(BEYOND).match(lead.group()) is not None
    denied = beyond and lead is not None and re.search(DENIED, before[: lead.start()])
    upward = bool(lasting or later or (early and not late)) != bool(denied)
    if beyond and not denied:
        minutes = 60 * int(time[:2]) + int(time[3:]) + (1 if upward else -1)
        time = f"{minutes // 60:02}:{minutes % 60:02}"
    start = match.start() - (len(before) - lead.start() if lead else 0)
    name = _meant(text, columns, "clos" if lasting else "open" if "open" in before else "")
    yield Days(name, {"min" if upward else "max": time}, start, match.end() + (tail.end() if tail else 0))


def _meant(text: str, columns: Collection[str], word: str = "") -> str:
    """Return the column that a text is likeliest about: one of which it says a word, or one called so."""
    spoken = {stem(one).removesuffix("e") for one in stems(text)}
    called = [name for name in columns if word and word in name.casefold()]
    named = [name for name in columns if {stem(one).removesuffix("e") for one in stems(name)} & spoken]
    return next(iter([*called, *named, *columns]))
