"""What the words around a word make of it."""

import re
from collections.abc import Sequence

from druthers.language.data import small_words
from druthers.types import Objective

# What ways lead to, by words that are the same place.
_PLACES = tuple(
    frozenset(words.split())
    for words in (
        "centre center downtown town city central centrally",
        "sea seaside beach beachfront ocean oceanfront coast shore",
        "station metro subway underground",
        "airport terminal",
    )
)


def is_elsewhere(words: Sequence[str], objective: Objective) -> bool:
    """Tell whether words speak of another place than that from which an objective is measured.

    Examples
    --------
    >>> centre = Objective("distance", description="Kilometres to the centre.", less_is_better=True)
    >>> is_elsewhere(("by", "the", "sea"), centre), is_elsewhere(("downtown",), centre), is_elsewhere(("near",), centre)
    (True, False, False)
    """
    spoken = {*re.findall(r"[a-z]+", f"{objective.name} {objective.description}".casefold())}
    named = [not place.isdisjoint(spoken) for place in _PLACES]
    said = [not place.isdisjoint(words) for place in _PLACES]
    return any(named) and any(said) and not any(one and other for one, other in zip(named, said, strict=True))


def is_degree(words: Sequence[str], at: int, key: tuple[str, ...]) -> bool:
    """Tell whether a word only says how much so something is: "my place is pretty dark" asks for nothing pretty."""
    inside = key == ("pretty",) and 0 < at < len(words) - 1
    return inside and words[at - 1] in small_words("being") and words[at + 1] not in small_words("after_pretty")


def is_denied(words: Sequence[str], at: int) -> bool:
    """Tell whether what starts here is said not to be so: "I have not got a car", "I am not going to pay more"."""
    while at > 0 and words[at - 1] in small_words("helping"):
        at -= 1
    return at > 0 and words[at - 1] in small_words("denying")
