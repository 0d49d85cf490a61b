"""What the words around a word make of it."""

from collections.abc import Iterable, Sequence

from druthers.language.data import small_words

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


def places_of(words: Iterable[str]) -> frozenset[int]:
    """Return which of the places words speak of."""
    spoken = {*words}
    return frozenset(n for n, place in enumerate(_PLACES) if not place.isdisjoint(spoken))


def is_elsewhere(spoken_of: frozenset[int], measured_from: frozenset[int]) -> bool:
    """Tell whether words speak of another place than that from which an objective is measured.

    Examples
    --------
    >>> centre = places_of("distance kilometres to the centre".split())
    >>> [is_elsewhere(places_of(text.split()), centre) for text in ("by the sea", "downtown", "near")]
    [True, False, False]
    """
    return bool(spoken_of and measured_from) and spoken_of.isdisjoint(measured_from)


def is_degree(words: Sequence[str], at: int, key: tuple[str, ...]) -> bool:
    """Tell whether a word only says how much so something is: "my place is pretty dark" asks for nothing pretty."""
    inside = key == ("pretty",) and 0 < at < len(words) - 1
    return inside and words[at - 1] in small_words("being") and words[at + 1] not in small_words("after_pretty")


def is_denied(words: Sequence[str], at: int) -> bool:
    """Tell whether what starts here is said not to be so: "I have not got a car", "I am not going to pay more"."""
    while at > 0 and words[at - 1] in small_words("helping"):
        at -= 1
    return at > 0 and words[at - 1] in small_words("denying")
