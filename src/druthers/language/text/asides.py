"""What carries no preference: text aimed at the machine, role play, quotations and hearsay."""

import re
from collections.abc import Sequence
from functools import cache

from druthers.denials import find_denials
from druthers.language.data import read_data
from druthers.language.text.tokens import Token

# Where the speaker comes back to himself.
_BACK = re.compile(
    r"(?:^|[,.;:>)\]#*/-] ?|(?:and|but|however|though|yet|while|so|because|for|user :) )"
    r"(?:i|we|what i|all i|as for me|for me|me|my (?:own|priority|wish|need)|personally|anyway|honestly)\b"
    r"(?! (?:hereby|command|order|instruct|(?:can|could) (?:test|check|verify|debug)))"
    r"|, so (?:the|it|they|there)\b"  # "he loves to eat, so the food should be good"
)
_LABEL = re.compile(r"(?:^| )(?:user|human|customer|guest|client) ?:")


@cache
def _patterns(name: str) -> tuple[re.Pattern[str], ...]:
    patterns = read_data("asides.toml")[name]["patterns"]
    whole = r"(?!(?<=\w)\w)" if name == "machine" else ""  # no "ai" in "air", no "eval" in "evaluations"
    return tuple(re.compile(pattern.replace(")*", "){0,8}") + whole) for pattern in patterns)


def is_aside(name: str, sentence: str) -> bool:
    """Tell whether a sentence, in small letters with marks apart, holds an aside of this name."""
    return any(pattern.search(sentence) for pattern in _patterns(name))


def open_tokens(tokens: Sequence[Token], spans: Sequence[tuple[int, int]]) -> tuple[list[bool], bool]:
    """Return for each token whether it may carry a preference, and whether anything was aimed at the machine."""
    open_ = [True] * len(tokens)
    commanded = ever = False
    for start, end in spans:
        words = [token.text for token in tokens[start:end]]
        sentence = " ".join(words)
        cuts = [hit.start() for pattern in _patterns("machine") if (hit := pattern.search(sentence))]
        if commanded and is_aside("follow", sentence):
            cuts.append(0)
        commanded = bool(cuts)
        ever = ever or commanded
        if not cuts:
            cuts = [hit.start() for pattern in _patterns("hearsay") if (hit := pattern.search(sentence))]
        if cuts:
            _close(open_, start, words, sentence, 0 if commanded else min(cuts), min(cuts))
        _close_quotes(open_, start, words)
        for hit in find_denials(sentence):
            first = len(sentence[: hit.start()].split())
            open_[start + first : start + first + len(hit.group().split())] = [False] * len(hit.group().split())
    return open_, ever


def _close(open_: list[bool], start: int, words: Sequence[str], sentence: str, cut: int, hit: int) -> None:
    """Close a sentence from the cut to where the speaker comes back; before the cut it stays as it is."""
    back = _LABEL.search(sentence, hit) or _BACK.search(sentence, hit + 1)
    first = len(sentence[:cut].split())
    last = len(words) if back is None else len(sentence[: back.start()].split())
    for index in range(first, last):
        open_[start + index] = False


def _close_quotes(open_: list[bool], start: int, words: Sequence[str]) -> None:
    """Close what stands in quotation marks, if it is more than a single word."""
    marks = [index for index, word in enumerate(words) if word == '"']
    for first, last in zip(marks[::2], marks[1::2], strict=False):
        if last - first > 2:
            for index in range(first, last):
                open_[start + index] = False
