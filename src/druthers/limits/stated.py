"""Limits as they were said, each with its words, and all of one text together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from druthers.limits.where import Where, holds, is_sound, merge, values_of, widened, without


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
