"""Which language a text is in, and the words of those that are read: a table for each in data/languages."""

from collections.abc import Sequence
from functools import cache, lru_cache

from druthers.glossary import knows, translations
from druthers.language.data import contractions, data_file, read_data, small_words, split
from druthers.language.lexicon.concepts import Kind, Term, all_terms, english, words_of
from druthers.language.text import tokenize

ENGLISH, UNKNOWN = "en", ""
# A language is known by at least this share of a text's words. English has so many of them in the list of all its
# words, or, where typing errors abound, so many of those it is made of; a text of fewer words is taken for English. Set
# by hand so that no English sentence of tests/data is taken for something else.
_KNOWN, _ENGLISH, _MISSPELT, _FEW = 0.4, 0.6, 0.2, 4
# Forms are made of words from this length on: shorter ones turn into other words too easily.
_LONG = 4
# The lists of a table, by how their words speak of a concept.
_LISTS = {Kind.FOREIGN: "words", Kind.WEAK: "weak"}
# Parts of small_words.toml that only English is made of.
_PARTS = ("generic", "praise", "beside", "cue", "turns", "openers", "light", "after_is")


@cache
def languages() -> tuple[str, ...]:
    """Return the languages other than English that are read."""
    entries = data_file("languages").iterdir()
    return tuple(sorted(entry.name.removesuffix(".toml") for entry in entries if entry.name.endswith(".toml")))


def name_of(language: str) -> str:
    """Return what a language is called."""
    return str(read_data("languages", f"{language}.toml")["name"])


@cache
def not_understood() -> str:
    """Return the note of a reading in a language that is not read."""
    *names, last = sorted(name_of(language) for language in languages())
    return f"the language of this text is not understood: English, {', '.join(names)} and {last} are"


@cache
def small_words_of(language: str, part: str) -> frozenset[str]:
    """Return the small words of a language that play a part."""
    if language not in languages():
        return small_words(part)
    return frozenset(str(read_data("languages", f"{language}.toml")[part]).split())


@cache
def terms_of(language: str) -> tuple[Term, ...]:
    """Return what concepts are called in a language, in every form; as they are listed comes first."""
    table = read_data("languages", f"{language}.toml")
    listed: list[Term] = []
    formed: list[Term] = []
    every = [(*entry, kind) for kind, part in _LISTS.items() for entry in table[part].items()]
    for concept, words, kind in every:
        for text in split(words):
            term = Term(words_of(text), concept, kind)
            listed.append(term)
            formed += [Term((form,), concept, kind) for form in _forms(term.words, language)]
    known = {(term.words, term.concept) for term in listed}
    return (*listed, *(term for term in formed if (term.words, term.concept) not in known))


def _forms(words: tuple[str, ...], language: str) -> list[str]:
    """Return the forms of a single word of a language."""
    word = words[0]
    if len(words) > 1 or len(word) < _LONG:
        return []
    forms = {word.removesuffix(old) + new for old, new in _endings(language) if word.endswith(old)}
    return sorted(forms - small_words_of(language, "marks"))


@cache
def _endings(language: str) -> list[list[str]]:
    """Return the endings of words of a language, and what takes their place in other forms."""
    return [rule.split(">") for rule in read_data("languages", f"{language}.toml")["endings"].split()]


@cache
def translated(language: str) -> tuple[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]], ...]:
    """Return what words of a language mean in English, in every form; as they are listed comes first."""
    listed = {_split(text): tuple(map(_split, meanings)) for text, meanings in translations(language).items()}
    formed = {(form,): meanings for words, meanings in listed.items() for form in _forms(words, language)}
    return tuple((formed | listed).items())


@cache
def _split(text: str) -> tuple[str, ...]:
    """Return the words of a text; a plain one is looked at no further, as there are many."""
    return (text,) if text.isalpha() and text not in contractions() else words_of(text)


@cache
def idle_of(language: str) -> tuple[tuple[str, ...], ...]:
    """Return phrases of a language that look like a term and speak of no concept."""
    return tuple(words_of(text) for text in split(read_data("languages", f"{language}.toml")["idle"]))


@cache
def _speakers() -> dict[str, tuple[str, ...]]:
    """Return for each word the languages whose tables have it."""
    has: dict[str, set[str]] = {}
    own = {word for term in all_terms() if term.kind is not Kind.FOREIGN for word in term.words}
    for word in own.union(*(small_words(part) for part in _PARTS)):
        has.setdefault(word, set()).add(ENGLISH)
    for language in languages():
        words = {word for term in terms_of(language) for word in term.words} | small_words_of(language, "marks")
        words |= small_words_of(language, "beside") - english()
        for word in words:
            has.setdefault(word, set()).add(language)
    return {word: tuple(sorted(those)) for word, those in has.items()}


@lru_cache(maxsize=16384)
def _those(word: str) -> tuple[str, ...]:
    """Return the languages that have a word, by their tables or by the glossary."""
    listed = _speakers().get(word, ())
    if word in english():
        return listed
    return tuple(sorted({*listed, *(language for language in languages() if knows(word, language))}))


def language_of(words: Sequence[str]) -> str:
    """Return the language of some words by those it shares with fewest others, or that it is unknown.

    Examples
    --------
    >>> language_of("mir ist die lage egal".split()), language_of("i do not care about the location".split())
    ('de', 'en')
    >>> language_of("jag vill bara ha ett tyst rum".split())
    ''
    """
    words = [word for word in words if word.isalpha()]
    has = {word: _those(word) for word in words}
    votes = dict.fromkeys((ENGLISH, *languages()), 0.0)
    for word in words:
        for language in has[word]:
            votes[language] += 1.0 / len(has[word])
    best = max(votes, key=votes.__getitem__)
    speaks = [word for word in words if best in has[word]]
    if best != ENGLISH and len(speaks) >= _KNOWN * len(words):
        return best
    if best != ENGLISH and len(words) < _FEW and not any(word in english() for word in words if word not in speaks):
        return best  # "Gitarrenlehrer mit Klavier"
    made_of = sum(ENGLISH in has[word] for word in words) >= _MISSPELT * len(words)
    listed = sum(word in english() for word in words) >= _ENGLISH * len(words)
    return ENGLISH if len(words) < _FEW or made_of or listed else UNKNOWN


def leans_english(text: str) -> bool:
    """Tell whether more words of a text are English alone than are of other languages alone; not where none tells.

    Examples
    --------
    >>> leans_english("with something in the wood"), leans_english("Jacke, Leder, unter 200 Euro"), leans_english("")
    (True, False, False)
    """
    those = [_those(token.text) for token in tokenize(text)]
    return sum(one == (ENGLISH,) for one in those) > sum(bool(one) and ENGLISH not in one for one in those)


def marks_of(words: Sequence[str]) -> frozenset[str]:
    """Return the small words of the language of some words; none if that is English, or unknown."""
    language = language_of(words)
    return small_words_of(language, "marks") if language in languages() else frozenset()


@lru_cache(maxsize=256)
def spoken_in(text: str) -> str:
    """Return the language of a text."""
    return language_of([token.text for token in tokenize(text)])


def is_english(text: str) -> bool:
    """Tell whether a text is in English, so that the sentence model may be asked about it."""
    return spoken_in(text) == ENGLISH
