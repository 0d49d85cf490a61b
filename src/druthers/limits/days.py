"""Days in sentences: "in July", "by September 1", "after June 2024", held against what a catalog has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from typing import NamedTuple

from druthers.limits.words import pattern, table

DAY = (
    r"\b(?:(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<month>[a-z]{3,})"
    r"|(?P<name>[a-z]{3,})\s+(?P<number>\d{1,2})(?:st|nd|rd|th)?)\b(?:,?\s+\d{4}\b)?"
)
LATE = r"\b(?:<by>|(?:no|not) (?:newer|younger|later) than|(?:older|earlier) than)\s*$"
EARLY = r"\b(?:<from_on>|from|(?:no|not) (?:older|earlier) than|(?:newer|younger|later) than)\s*$"
NEAR = 30  # letters before and after a day in which a bound may stand


class Days(NamedTuple):
    """The days of one column that a piece of text allows: `text[start:end]`."""

    name: str
    inside: list[str]
    start: int
    end: int


def is_day(text: str) -> bool:
    """Tell whether a text is a day, such as 2026-07-06."""
    return re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None


def by_month(days: Sequence[str]) -> dict[str, list[str]]:
    """Return days by what their months are called, in every language that is read.

    Examples
    --------
    >>> by_month(["2026-07-06", "2026-08-03", "2026-07-20"])["july"]
    ['2026-07-06', '2026-07-20']
    """
    found: dict[str, list[str]] = {}
    for day in days:
        month = month_of(day)
        for spelled in table()["months"][month - 1] if month else ():
            found.setdefault(spelled, []).append(day)
    return found


def month_of(text: str) -> int:
    """Return which month a text names, or a day is in; 0 for none.

    Examples
    --------
    >>> month_of("May"), month_of("2026-07-06"), month_of("north")
    (5, 7, 0)
    """
    if is_day(text):
        return int(text[5:7]) if int(text[5:7]) <= 12 else 0  # a table may have 2026-13-01, or 0000-00-00
    names = (month for month, named in enumerate(table()["months"], start=1) if text.casefold() in named)
    return next(names, 0)


@cache
def _period() -> re.Pattern[str]:
    """Return a pattern of months and years."""
    months = "|".join(name for names in table()["months"] for name in names)
    return re.compile(
        r"\b(?:(?:the )?(?:end|middle|beginning) of\s+)?"
        rf"(?:(?P<month>{months})\b(?:\s+(?P<year>(?:19|20)\d\d)\b|(?!\s+\d))"
        r"|(?P<alone>(?:19|20)\d\d)\b(?!\s*[€$£%])|(?P<this>this|last) year\b)"
    )


def find_periods(text: str, columns: Mapping[str, Sequence[str]], *, years: bool = True) -> Iterator[Days]:
    """Return what a folded text says about months and years, for each column of days or months.

    A month alone counts with a bound; without `years`, no year alone does, for it is about something else.

    Examples
    --------
    >>> next(find_periods("we start no later than may", {"starts": ["March", "May", "June"]})).inside
    ['March', 'May']
    >>> next(find_periods("released after june 2025", {"out": ["2024-09-01", "2025-06-30", "2026-01-15"]})).inside
    ['2026-01-15']
    """
    for match in _period().finditer(text) if columns else ():
        month = month_of(match["month"] or "")
        year = match["year"] or match["alone"] or (match["this"] and str(_year(match["this"]))) or ""
        before, after = text[max(0, match.start() - NEAR) : match.start()], text[match.end() : match.end() + NEAR]
        late, early = pattern(LATE).search(before), pattern(EARLY).search(before)
        if late and early:  # "no later than" says more than "later than"
            late, early = (late, None) if late.start() < early.start() else (None, early)
        later = pattern(r"\s*,?\s*(?:<least_after>)").match(after)
        latest = None if later else pattern(r"\s*,?\s*(?:<most_after>)").match(after)
        bounded = late or early or later or latest
        if not (bounded if month and not year else year and (years or month)):
            continue
        if match["alone"] and not pattern(r"\b(?:<dated>)\s*$").search(before) and not (later or latest):
            continue  # "up to 2000" is a price
        lead, tail = late or early, latest or later
        out = lead is not None and pattern(r"(?<!not )(?:<beyond_it>\b|\w+ than\b)").match(lead.group()) is not None
        start = match.start() - (len(before) - lead.start() if lead else 0)
        for name, kinds in columns.items():
            point = f"{year}-{month:02}" if year and month else year or f"{month:02}"
            told = {one: _point(one, bool(year), bool(month)) for one in kinds}
            if (early or later) and not (early and early.group().strip() == "from" and year and not month):
                inside = [one for one in kinds if told[one] >= point]
            else:
                inside = [one for one in kinds if (told[one] <= point if late or latest else told[one] == point)]
            inside = [one for one in inside if told[one] and not (out and told[one] == point)]
            if inside:
                yield Days(name, inside, start, match.end() + (tail.end() if tail else 0))


def _year(which: str) -> int:
    return date.today().year - (which == "last")


def _point(day: str, year: bool, month: bool) -> str:
    """Return the year and month of a day, as far as asked for; nothing where a month has no year."""
    if year and not is_day(day):
        return ""
    return day[: 7 if month else 4] if year else f"{known:02}" if (known := month_of(day)) else ""


def find_days(text: str, columns: Mapping[str, Sequence[str]]) -> Iterator[Days]:
    """Return what a folded text says about days, for the first column of days that has any of them.

    Examples
    --------
    >>> next(find_days("available by september 1", {"from": ["2026-08-15", "2026-09-01", "2026-10-01"]})).inside
    ['2026-08-15', '2026-09-01']
    """
    for match in re.finditer(DAY, text) if columns else ():
        month = month_of(match["month"] or match["name"])
        if not month:
            continue
        day = f"{month:02}-{int(match['day'] or match['number']):02}"
        before, after = text[max(0, match.start() - NEAR) : match.start()], text[match.end() : match.end() + NEAR]
        late = pattern(r"\b<by>\s*(?:the\s+)?$").search(before)
        early = pattern(r"\b<from_on>\s*(?:the\s+)?$").search(before)
        latest = pattern(r"\s*,?\s*(?:<most_after>)").match(after)
        lead = late or early
        start = match.start() - (len(before) - lead.start() if lead else 0)
        end = match.end() + (latest.end() if latest else 0)
        for name, days in ((name, days) for name, days in columns.items() if all(map(is_day, days))):
            inside = [
                one
                for one in days
                if (one[5:] <= day if late or latest else one[5:] >= day if early else one[5:] == day)
            ]
            if inside:
                yield Days(name, inside, start, end)
                break
