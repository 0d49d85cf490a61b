"""Text to tokens that remember where they stood."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

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
