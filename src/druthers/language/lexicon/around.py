"""What the words around a word make of it."""

from collections.abc import Sequence

from druthers.language.data import small_words


def is_degree(words: Sequence[str], at: int, key: tuple[str, ...]) -> bool:
    """Tell whether a word only says how much so something is: "my place is pretty dark" asks for nothing pretty."""
    inside = key == ("pretty",) and 0 < at < len(words) - 1
    return inside and words[at - 1] in small_words("being") and words[at + 1] not in small_words("after_pretty")


def is_denied(words: Sequence[str], at: int) -> bool:
    """Tell whether what starts here is said not to be so: "I have not got a car", "I am not going to pay more"."""
    while at > 0 and words[at - 1] in small_words("helping"):
        at -= 1
    return at > 0 and words[at - 1] in small_words("denying")
