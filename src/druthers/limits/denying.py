"""What denies a piece of a text from further ahead: "she hates sleeping in tents", "not one that is red"."""

import re
from typing import NamedTuple

from druthers.limits.words import ways, words

FARTHEST = 9  # words between a piece and what denies it
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_OR = ("or", "nor")
_ENDING = re.compile(r"(?:ing|ed|'s|'re)$")
_BEFORE_VERB = re.compile(r"to|never|cannot|(?!(?:is|are|was|were|has|have|had)n't)\w+n't")


class Denial(NamedTuple):
    """Where the words that deny a piece begin, and whether they do: twice denied is demanded."""

    lead: re.Match[str]
    denied: bool


def find_denial(before: str) -> Denial | None:
    """Return what denies the piece that a clause leads up to; None where nothing does, or only says it need not be.

    It is looked for from the piece back, over words that tell nothing by themselves and verbs: what is not to be
    "expensive in Vienna" may be in Vienna.

    Examples
    --------
    >>> [
    ...     (found.lead.group(), found.denied) if (found := find_denial(text)) else None
    ...     for text in (
    ...         "i want one that's not closed on ",
    ...         "she hates sleeping in ",
    ...         "we can't do without a ",
    ...         "nothing expensive in ",
    ...         "it doesn't need to have a ",
    ...     )
    ... ]
    [('not closed on ', True), ('hates sleeping in ', True), ("can't do without a ", False), None, None]
    """
    start, weight, lacking = len(before), 0, False
    found = list(_WORD.finditer(before))[-FARTHEST:]
    for place in range(len(found) - 1, -1, -1):
        word, said = found[place], found[place].group()
        led = found[place - 1].group() if place else ""
        if said in words("lacking") or said in words("denying") or said.endswith("n't"):
            if ways("not_denied").match(before, word.end()):
                return None
            lacking = lacking or said in words("lacking")
            start, weight = word.start(), weight + 1
        elif not (
            said in words("passing")
            or said in _OR
            or (place + 1 < len(found) and found[place + 1].group() in _OR)  # "no pink or red"
            or _ENDING.search(said)
            or _BEFORE_VERB.fullmatch(led)
        ):
            break
    if not weight or (weight > 1 and not lacking):
        return None
    lead = re.compile(r".*", re.S).match(before, start)
    return Denial(lead, weight % 2 == 1) if lead is not None else None
