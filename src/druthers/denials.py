"""What a speaker denies to have said, "I didn't say cheap, I said clean": no wish, no limit, and taken back."""

import re

_REALLY = "(?: (?:actually|even|ever|really))?"
_HOW_MUCH = r"everything|anything|all|only|most|main|not|no|never|\w+n't"
# Up to the next mark, or where the speaker says what was meant: but not the mark within "1.5" or "pet-friendly".
_PIECE = r"(?: (?!(?:but|just|only|(?:i|we) (?:said|meant|asked))\b|[-–])(?:[^\s:;,.!?]|[.,](?=\d))+)*"
DENIED = re.compile(
    rf"\b(?:i|we) (?:did(?: not|n'?t){_REALLY} (?:say|mean|ask for)|do(?: not|n'?t){_REALLY} mean"
    rf"|never{_REALLY} (?:said|meant|asked for))"
    rf"\b(?! (?:much|a lot|a thing|no to|to)\b)(?:(?=[^:;,.!?]*\b(?:{_HOW_MUCH})\b){_PIECE}|(?P<what>{_PIECE}))"
    rf"|\b(?:i|we) (?:was|were|wanted)(?: just)?(?: (?:going|about))? to say\b{_PIECE}(?=,? but\b)"
)


def find_denials(text: str) -> list[re.Match[str]]:
    """Return the pieces of a text in small letters that its speaker denies to have said.

    The group `what` is what is denied as a whole; None where it is only how much it counts ("price is everything").

    Examples
    --------
    >>> [match["what"] for match in find_denials("i didn't say cheap, i said clean; i never said price is everything")]
    [' cheap', None]
    >>> find_denials("i never say no to a bargain"), find_denials("i didn't ask for much: a bed")
    ([], [])
    >>> [match.group() for match in find_denials("i was going to say cheap, but no: it should last")]
    ['i was going to say cheap']
    """
    return list(DENIED.finditer(text))
