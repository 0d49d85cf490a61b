"""What is taken back of limits: named, called by what it is, or all of it."""

import re
from collections.abc import Iterable
from typing import Any

from druthers.limits import clauses
from druthers.limits.amounts import find_amounts
from druthers.limits.clauses import clause_of, pieces
from druthers.limits.denying import find_denial
from druthers.limits.index import Index
from druthers.limits.spelling import Vocabulary
from druthers.limits.stated import Stated
from druthers.limits.words import pattern, table, ways


def find_dropped(folded: str, index: Index, said: Vocabulary) -> list[tuple[int, int, str]]:
    """Return what is taken back: start, end and name of each, an empty name for everything."""
    found = [(match.start(), match.end(), "") for match in pattern(r"\b<drop_all>\b").finditer(folded)]
    for match in ways("lifted").finditer(folded):  # "that 30 euro ceiling is gone"
        amount = f"at most {match['amount']}"
        found += [(*match.span(), one.name) for one in find_amounts(amount, amount, index, said).stated]
    for match in pattern(r"\b<anywhere>\b").finditer(folded):
        if not find_denial(clauses.sentence_of(folded, match.start())):  # "I won't go anywhere without a pool"
            found += [(match.start(), match.end(), name) for name in index.places]
    for parts, name in index.limitable.items():
        if parts and all(part in folded for part in parts):
            spelled = r"\W+".join(rf"{re.escape(part)}\w{{0,3}}" for part in parts)
            for one in table()["any"]:
                for match in re.finditer(rf"\b{one.replace('X', spelled)}\b", folded):
                    if not find_denial(clauses.sentence_of(folded, match.start())):  # "I'm not paying any deposit"
                        found.append((match.start(), match.end(), name))
    return found


def find_unneeded(folded: str, found: Iterable[Stated], index: Index) -> list[tuple[str, tuple[int, int] | None]]:
    """Return what need not be so any more, and where it is only called by its name: "the color is unimportant"."""
    taken = {one.name for one in found}
    gone: list[tuple[str, tuple[int, int] | None]] = []
    for start, end, key in pieces(folded):
        flag, name = index.flags.get(key, ""), index.telling.get(key, "")
        if (values := index.values.get(key)) and ways("or_not").match(folded[end:]):  # "white or not"
            gone += [(one, (start, end)) for one in values]
        if flag and flag not in taken and pattern("<unneeded>").search(clause_of(folded, start, end)):
            gone.append((flag, None))
        if name and name not in taken and clauses.is_dismissed(folded, start, end):
            gone.append((name, (start, end)))
    return gone


def find_no_longer(folded: str, index: Index) -> list[Stated]:
    """Return texts that need not be there any more: "I don't need a maths tutor"."""
    found: dict[tuple[str, Any], Stated] = {}  # of "cargo" and "cargo bike" the longer one
    for start, end, key in pieces(folded):
        owners = index.values.get(key) or index.kinds.get(key)
        if owners and (lead := ways("no_longer").search(folded[max(0, start - 40) : start])):
            first = start - len(lead.group())
            found |= {(name, kind): Stated(name, kind, "", first, end) for name, kind in owners.items()}
    return list(found.values())
