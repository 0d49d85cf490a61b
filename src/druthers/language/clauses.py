"""Text to tokens that remember where they stood, and to sentences and clauses."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from druthers.language.lists import small_words

# Longer texts are read up to here, and the reading says so.
LIMIT = 10_000

_PIECE = re.compile(
    r"[^\W_]+(?:['’ʼ`\u00ad\u200b-\u200d\u0300-\u036f]+[^\W_]+)*[\u0300-\u036f]*|[.!?;,:()<>=/&+\n%\"“”«»—–-]|[$€£¥]|[^\s\w]",
    re.UNICODE,
)
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CLITICS = {"n't": "not", "'ll": "will", "'re": "are", "'ve": "have", "'m": "am", "'d": "would"}
_IS = {"it", "that", "what", "who", "there", "here", "he", "she", "where", "how", "everything", "everyone", "nobody"}
_WHOLE = {
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "cant": ("can", "not"),
    "won't": ("will", "not"),
    "wont": ("will", "not"),
    "shan't": ("shall", "not"),
    "dont": ("do", "not"),
    "doesnt": ("does", "not"),
    "didnt": ("did", "not"),
    "isnt": ("is", "not"),
    "arent": ("are", "not"),
    "wasnt": ("was", "not"),
    "couldnt": ("could", "not"),
    "wouldnt": ("would", "not"),
    "shouldnt": ("should", "not"),
    "im": ("i", "am"),
    "ive": ("i", "have"),
    "its": ("its",),
    "let's": ("let", "us"),
    "dunno": ("do", "not", "know"),
    "gotta": ("have", "to"),
    "wanna": ("want", "to"),
    "gonna": ("going", "to"),
    "ain't": ("is", "not"),
    "y'all": ("you",),
    "thx": ("thanks",),
    "pls": ("please",),
    "plz": ("please",),
    "u": ("you",),
    "&": ("and",),
}
_AFTER_IS = small_words("after_is")
_ENDS = frozenset(".!?;\n")
# Faces that only show a mood.
_MOODS = (
    "SMILING", "GRINNING", "WINKING", "KISSING", "THINKING", "CRYING", "LOUDLY", "POUTING", "ANGRY", "RELIEVED",
    "FACE WITH TEARS", "FACE WITH ROLLING", "FACE THROWING", "UNAMUSED", "PENSIVE", "CONFUSED", "FLUSHED", "ROLLING ON",
    "SLIGHTLY SMILING", "UPSIDE-DOWN", "HUGGING", "DISAPPOINTED", "PERSEVERING", "WEARY FACE",
)  # fmt: skip
_MONEY = {"$": "dollar", "€": "euro", "£": "quid", "¥": "yen"}


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a mark, in small letters, and its place in the text."""

    text: str
    start: int
    end: int
    capital: bool = False

    @property
    def is_word(self) -> bool:
        """Tell whether this is a word or a number."""
        return self.text[:1].isalnum()


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text: words with contractions opened, marks, emoji by their Unicode names.

    Examples
    --------
    >>> [token.text for token in tokenize("I don't mind, it's QUIET 👃")]
    ['i', 'do', 'not', 'mind', ',', 'it', 'is', 'quiet', 'nose']
    """
    tokens: list[Token] = []
    for match in _PIECE.finditer(text[:LIMIT]):
        raw, start, end = match.group(), match.start(), match.end()
        if raw[0].isalnum():
            if _IDEOGRAPH.search(raw):
                tokens.extend(Token(char, start + i, start + i + 1) for i, char in enumerate(raw))
            else:
                capital = raw[0].isupper()
                tokens.extend(Token(word, start, end, capital) for word in open_word(raw))
        elif not (raw == "-" and text[start - 1 : start].isalnum() and text[end : end + 1].isalnum()):
            tokens.extend(Token(word, start, end) for word in _mark(raw))
    return _owned(tokens)


def _owned(tokens: list[Token]) -> list[Token]:
    """Settle each "'s": it is "is" before some words, else the mark of an owner, which goes."""
    kept: list[Token] = []
    for index, token in enumerate(tokens):
        if token.text != "'s":
            kept.append(token)
        elif index + 1 < len(tokens) and tokens[index + 1].text in _AFTER_IS:
            kept.append(Token("is", token.start, token.end))
    return kept


@lru_cache(maxsize=4096)
def open_word(raw: str) -> tuple[str, ...]:
    """Return a word in small letters, without accents and invisible marks, its contraction opened."""
    word = "".join(c for c in unicodedata.normalize("NFKD", raw) if unicodedata.category(c) not in ("Mn", "Cf"))
    word = word.lower().replace("’", "'").replace("ʼ", "'").replace("`", "'")
    if word in _WHOLE:
        return _WHOLE[word]
    for clitic, opened in _CLITICS.items():
        if word.endswith(clitic) and len(word) > len(clitic):
            return (word[: -len(clitic)], opened)
    if word.endswith("'s"):
        return (word[:-2], "is") if word[:-2] in _IS else (word[:-2], "'s")
    return tuple(re.findall(r"[^\W_]+", word)) or (word,)


def _mark(raw: str) -> tuple[str, ...]:
    if raw in _MONEY:
        return (_MONEY[raw],)
    if raw == "&":
        return ("and",)
    if raw in "“”«»":
        return ('"',)
    if raw in "—–":
        return ("-",)
    if ord(raw[0]) < 0x2190:
        return (raw,)
    if raw in "→⇒➡":
        return (">",)
    name = unicodedata.name(raw[0], "")
    if unicodedata.category(raw[0]) not in ("So", "Sk", "Sm"):
        return ()
    if name.startswith(_MOODS):
        return ()
    return tuple(name.lower().replace("-", " ").split())


def sentences(tokens: list[Token]) -> list[tuple[int, int]]:
    """Return where each sentence starts and ends among the tokens."""
    spans, start = [], 0
    for index, token in enumerate(tokens):
        if token.text in _ENDS and not _numbered(tokens, index) and not _asked(tokens, start, index):
            if index > start:
                spans.append((start, index))
            start = index + 1
    if start < len(tokens):
        spans.append((start, len(tokens)))
    return spans


def _asked(tokens: list[Token], start: int, index: int) -> bool:
    """Tell whether a short question is answered at once: "Central? Don't care."."""
    if tokens[index].text != "?" or not 0 < index - start <= 3:
        return False
    answer = next((i for i in range(index + 1, len(tokens)) if tokens[i].text in _ENDS), len(tokens)) - index - 1
    return 0 < answer <= 5


def _numbered(tokens: list[Token], index: int) -> bool:
    """Tell whether a dot belongs to a number: "1. clean", "3.5 stars"."""
    return tokens[index].text == "." and index > 0 and tokens[index - 1].text.isdigit() and index + 1 < len(tokens)
