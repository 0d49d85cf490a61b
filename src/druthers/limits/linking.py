"""How texts of one kind go together: "no plastic or metal", "a gym, a pool or a sauna", "a pool and a gym"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from druthers.limits.stated import Stated
from druthers.limits.where import values_of
from druthers.limits.words import stem

OTHERWISE = r"\W*(?:or|oder|ou|o|of)\W*(?:(?:with\s+)?(?:an?|the|eine?n?|une?|una?)\s+)?"
AND = r"\s*(?:,|and|,\s*and|&)\s*"
ALSO = rf"{OTHERWISE}|\s*,\s*(?:an?\s+)?"


def also_denied(one: Stated, found: Sequence[Stated], folded: str) -> Stated:
    """Return a limit, denied if the one before it is and both are of one kind: "no plastic or metal"."""
    last = found[-1] if found else None
    if last is None or last.name != one.name or not isinstance(last.limit, dict) or isinstance(one.limit, bool):
        return one
    linked = "not" in last.limit and re.fullmatch(r"\s*(?:,|or|nor|and)\s*(?:an?\s+)?", folded[last.end : one.start])
    wanted = one.limit.get("all") if isinstance(one.limit, dict) else one.limit
    return one._replace(limit={"not": wanted}) if linked and wanted is not None else one


def as_alternatives(found: list[Stated], folded: str) -> None:
    """Let one of several texts do, where the last two are linked so: "a gym, a pool or a sauna", "comedies and dramas".

    Where items have lists of such texts, "a gym and a pool" means both.
    """
    if "not" in found[-1].limit:
        return
    first = len(found) - 1
    link = OTHERWISE
    while first > 0 and found[first - 1].name == found[-1].name and "not" not in found[first - 1].limit:
        pair = found[first - 1 : first + 1]
        between = folded[pair[0].end : pair[1].start]
        several = all(stem(word := folded[one.start : one.end].rsplit(maxsplit=1)[-1]) != word for one in pair)
        if not re.fullmatch(link, between) and not (several and re.fullmatch(AND, between)):
            break
        link = ALSO
        first -= 1
    chain = found[first:]
    if len(chain) > 1:
        either = [value for one in chain for part in ("any", "all") for value in values_of(one.limit.get(part))]
        for place, one in enumerate(chain, first):
            found[place] = one._replace(limit={"any": list(dict.fromkeys(either))})
