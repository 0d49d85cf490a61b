"""A text as tokens that remember where they stood, as sentences and clauses, and what in it carries no preference."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from druthers.denials import find_denials
from druthers.language.data import contractions, read_data, small_words

# Longer texts are read up to here, and the reading says so.
LIMIT = 10_000

_LONGEST_WORD = 100  # what is longer between two blanks is no word, and is cut where the limit is

_PIECE = re.compile(
    r"[^\W_]+(?:['’ʼ`\u00ad\u200b-\u200d\u0300-\u036f]+[^\W_]+)*[\u0300-\u036f]*|[.!?;,:()<>=/&+\n%\"“”«»—–-]|[$€£¥]|[^\s\w]",
    re.UNICODE,
)
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CLITICS = {"n't": "not", "'ll": "will", "'re": "are", "'ve": "have", "'m": "am", "'d": "would"}
_IS = {"it", "that", "what", "who", "there", "here", "he", "she", "where", "how", "everything", "everyone", "nobody"}
# Signs, quotation marks, dashes and arrows, as they are read.
_MARKS = dict(zip("$€£¥&→⇒➡", ("dollar", "euro", "quid", "yen", "and", ">", ">", ">"), strict=True))
_MARKS |= dict.fromkeys("“”«»", '"') | dict.fromkeys("—–", "-")


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a mark, in small letters, and its place in the text."""

    text: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """Tell whether this is a word or a number."""
        return self.text[:1].isalnum()


def spoken(tokens: Sequence[Token]) -> str:
    """Return the words and marks of some tokens, with blanks between."""
    return " ".join(token.text for token in tokens)


def shown_of(text: str) -> str:
    """Return what is read of a text: all of it, or what fits into the limit up to the last blank.

    Examples
    --------
    >>> shown_of("clean " * 1_666 + "cheap and nice")[-11:]
    'clean clean'
    """
    if len(text) <= LIMIT or text[LIMIT].isspace():
        return text[:LIMIT]
    start = LIMIT - _LONGEST_WORD
    blanks = [place for place in range(start, LIMIT) if text[place].isspace()]
    return text[: blanks[-1]] if blanks else text[:LIMIT]


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text: words with contractions opened, marks, emoji by their Unicode names.

    Examples
    --------
    >>> [token.text for token in tokenize("I don't mind, it's QUIET 👃")]
    ['i', 'do', 'not', 'mind', ',', 'it', 'is', 'quiet', 'nose']
    """
    tokens: list[Token] = []
    for match in _PIECE.finditer(shown_of(text)):
        raw, start, end = match.group(), match.start(), match.end()
        if raw[0].isalnum() and _IDEOGRAPH.search(raw):
            tokens.extend(Token(char, start + i, start + i + 1) for i, char in enumerate(raw))
        elif raw[0].isalnum():
            tokens.extend(Token(word, start, end) for word in open_word(raw))
        elif not (raw == "-" and text[start - 1 : start].isalnum() and text[end : end + 1].isalnum()):
            tokens.extend(Token(word, start, end) for word in _mark(raw))
    return _owned(tokens)


def _owned(tokens: list[Token]) -> list[Token]:
    """Settle each "'s": it is "is" before some words, else the mark of an owner, which goes."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        if token.text != "'s":
            kept.append(token)
        elif index + 1 < len(tokens) and tokens[index + 1].text in small_words("after_is"):
            kept.append(Token("is", token.start, token.end))
    return kept


@lru_cache(maxsize=4096)
def open_word(raw: str) -> tuple[str, ...]:
    """Return a word in small letters, without accents and invisible marks, its contraction opened."""
    word = "".join(c for c in unicodedata.normalize("NFKD", raw) if unicodedata.category(c) not in ("Mn", "Cf"))
    word = word.lower().replace("’", "'").replace("ʼ", "'").replace("`", "'").replace("ß", "ss")
    if (opened := contractions().get(word)) is not None:
        return tuple(opened.split())
    for clitic, meant in _CLITICS.items():
        if word.endswith(clitic) and len(word) > len(clitic):
            return (word[: -len(clitic)], meant)
    if word.endswith("'s"):
        return (word[:-2], "is") if word[:-2] in _IS else (word[:-2], "'s")
    return tuple(re.findall(r"[^\W_]+", word)) or (word,)


def _mark(raw: str) -> tuple[str, ...]:
    if raw in _MARKS:
        return (_MARKS[raw],)
    if ord(raw[0]) < 0x2190:
        return (raw,)
    name = unicodedata.name(raw[0], "")
    moods = tuple(read_data("small_words.toml")["moods"])
    if unicodedata.category(raw[0]) not in ("So", "Sk", "Sm") or name.startswith(moods):
        return ()
    return tuple(name.lower().replace("-", " ").split())


Span = tuple[int, int]

_ENDS = frozenset(".!?;\n")
_BREAKS = frozenset(',;:()-|".!?><=/\n')
# Words of a short question and of its answer: "Central? Don't care."
_QUESTION, _ANSWER = 3, 5


def sentences(tokens: Sequence[Token]) -> list[Span]:
    """Return where each sentence starts and ends among the tokens."""
    spans, start = [], 0
    for index, token in enumerate(tokens):
        # A dot may belong to a number: "1. clean", "3.5 stars".
        numbered = token.text == "." and 0 < index < len(tokens) - 1 and tokens[index - 1].text.isdigit()
        if token.text in _ENDS and not numbered and not _asked(tokens, start, index):
            if index > start:
                spans.append((start, index))
            start = index + 1
    if start < len(tokens):
        spans.append((start, len(tokens)))
    return spans


def _asked(tokens: Sequence[Token], start: int, index: int) -> bool:
    """Tell whether a short question is answered at once: "Central? Don't care."."""
    if tokens[index].text != "?" or not 0 < index - start <= _QUESTION:
        return False
    ends = (i for i in range(index + 1, len(tokens)) if tokens[i].text in _ENDS or tokens[i].text == ",")
    answer = next(ends, len(tokens)) - index - 1
    return 0 < answer <= _ANSWER


def clauses(tokens: Sequence[Token], open_: Sequence[bool]) -> list[Span]:
    """Return where clauses start and end: at marks, at turns ("but", "than", "and"), and at what is not open."""
    spans, start, turns = [], 0, small_words("turns")
    for index in range(len(tokens) + 1):
        ends = index == len(tokens) or not open_[index] or tokens[index].text in _BREAKS
        if ends or tokens[index].text in turns:
            if index > start:
                spans.append((start, index))
            start = index + 1 if ends else index
    return spans


def parts(text: str, tokens: Sequence[Token], start: int, end: int) -> list[Span]:
    """Return the parts of a sentence between which something was blanked out of its text."""
    cuts = [n for n in range(start + 1, end) if tokens[n].start - tokens[n - 1].end > 1]
    return list(pairwise([start, *cuts, end]))


def core(tokens: Sequence[Token], start: int, end: int) -> Span:
    """Return a clause without the light words around it, so that cues can be seen beside it."""
    light = small_words("light")
    while start < end and (tokens[start].text in light or not tokens[start].is_word):
        start += 1
    while end > start and (tokens[end - 1].text in light or not tokens[end - 1].is_word):
        end -= 1
    return start, end


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
