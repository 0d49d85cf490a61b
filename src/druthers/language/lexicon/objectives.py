"""Objectives to read for, from values, names or a catalog to try things with, and which concept belongs to which."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from druthers.errors import InvalidSetting, UnknownName
from druthers.glossary import without_units
from druthers.language.data import data_file, read_data, small_words, split
from druthers.language.lexicon.concepts import words_of
from druthers.language.lexicon.languages import languages
from druthers.types import Objective

SQUARE = re.compile(r"(?i)(?:\b|_)(?:m2|m²|sqm|sq ?m|sqft|sq ?ft|square (?:met(?:er|re)s?|feet|foot|yards?))(?:\b|_)")


def as_objectives(objectives: Iterable[str | Objective]) -> tuple[Objective, ...]:
    """Return objectives as values; names alone will do.

    Examples
    --------
    >>> as_objectives(["price"])[0].name
    'price'
    """
    if isinstance(objectives, str):
        raise InvalidSetting(f"objectives must be a list, but got the text {objectives!r}; split it first")
    given = tuple(Objective(each) if isinstance(each, str) else each for each in objectives)
    names = [each.name.strip().lower() for each in given]
    if not given or "" in names or len(set(names)) < len(names):
        raise InvalidSetting(f"objectives must have names, all different and at least one, but got {names}")
    return given


def in_words(objectives: Iterable[Objective]) -> tuple[Objective, ...]:
    """Return objectives with their names in words, as people say them: "price" for `price_eur`.

    An area in square meters is a size, and no place.
    """
    words = []
    for each in objectives:
        name = without_units(each.name)
        size = name == "area" and SQUARE.search(f"{each.name} {each.description}")
        words.append(replace(each, name="floor area" if size else name))
    return tuple(words)


def domain_names() -> list[str]:
    """Return the names of the domains that come with the package."""
    entries = data_file("domains").iterdir()
    return sorted(entry.name.removesuffix(".toml") for entry in entries if entry.name.endswith(".toml"))


def load_domain(name: str) -> tuple[Objective, ...]:
    """Return the objectives of a domain.

    Examples
    --------
    >>> [objective.name for objective in load_domain("beers")]
    ['appearance', 'aroma', 'palate', 'taste']
    """
    if name not in domain_names():
        raise UnknownName.of("domain", name, domain_names())
    return tuple(
        Objective(key, entry.get("description", ""), tuple(entry.get("synonyms", ())), tuple(entry.get("examples", ())))
        for key, entry in read_data("domains", f"{name}.toml").items()
    )


# A name that shares its telling words with one of a concept fits less than the name itself; each further name in the
# list of a concept fits a little less than the one before. Set by hand; only their order decides.
_SHARED, _FURTHER = 0.85, 0.004
_FIRST = 0.99  # and of its first names
# What costs money or way is known by how it is measured, whatever it is called: "quote: pounds for the whole move".
_MEASURED = {
    "price": r"\b(?:euros?|dollars?|pounds?|francs?|crowns?|rupees|yen|cents?|eur|gbp|costs?)\b(?!.*\bweigh)|[$€£¥]",
    "location": r"\b(?:miles|kilomet(?:er|re)s|km|met(?:er|re)s|blocks)\b(?: \w+){0,3} (?:from|to|away)\b"
    r"|\bminutes (?:on foot|by \w+|to get there|to walk|walk|from the (?!first))",
}
_MEASURED["commute"] = _MEASURED["location"]
_BY_MEASURE = 0.8
_HOW_MUCH = re.compile(r"(?i)how (?:very |really )?([a-z]+) (?:it|they|the (?:place|people|staff)) (?:is|are)\b")


@dataclass(frozen=True, slots=True)
class Binding:
    """Where a concept goes in a catalog, and how well it fits there."""

    objective: int
    strength: float


def stem(word: str) -> str:
    """Return a word without the ending of its plural, to compare names."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def stems(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text."""
    return tuple(stem(word) for word in words_of(text))


def bind(objectives: Sequence[Objective]) -> dict[str, Binding]:
    """Return which objective each concept speaks of, by names and synonyms, or by what it is measured in.

    Examples
    --------
    >>> bind([Objective("sleep quality"), Objective("value")])["noise"]
    Binding(objective=0, strength=0.97)
    """
    names = [[_of_no_person(stems(text)) for text in (one.name, *one.synonyms)] for one in objectives]
    fits = {concept: [max(_fit(known, name) for name in own) for own in names] for concept, known in _names().items()}
    # What bears the name of some concept is not what it shares a word with: "room size" is no matter of weight.
    settled = [max(column) > _SHARED for column in zip(*fits.values(), strict=True)]
    heads = {known[0]: concept for concept, known in _names().items()}
    bound = {}
    for concept, row in fits.items():
        best = max(range(len(row)), key=row.__getitem__)
        # What is named as another concept is first of all goes after what shares a word: "pack size" before "weight".
        lent = any(name in heads and heads[name] != concept for name in names[best])
        own = [n for n in range(len(row)) if lent and not settled[n] and row[n] >= _SHARED * _FIRST]
        best = own[0] if len(own) == 1 else best
        if row[best] > (_SHARED if settled[best] else 0.0):
            bound[concept] = Binding(best, round(row[best], 2))
    for concept, measure in _MEASURED.items():
        fitting = (n for n, one in enumerate(objectives) if one.less_is_better and _is_measured(one, measure))
        if concept not in bound and (place := next(fitting, None)) is not None:
            bound[concept] = Binding(place, _BY_MEASURE)
    for concept, words in _judging().items():
        if concept not in bound:
            told = [n for n, one in enumerate(objectives) if _is_described(one, words)]
            if len(told) == 1:
                bound[concept] = Binding(told[0], _BY_MEASURE)
    of_none = {n for n, known in enumerate(settled) if not known}
    for concept, phrase in _phrases().items():
        told = [n for n in of_none if phrase.search(objectives[n].description)]
        if concept not in bound and len(told) == 1:
            bound[concept] = Binding(told[0], _BY_MEASURE)
    return bound


def _is_described(objective: Objective, words: dict[str, bool]) -> bool:
    """Tell whether an objective is described by a word that judges, as good as more of it is: "how uncrowded it is"."""
    how = _HOW_MUCH.match(objective.description)
    return how is not None and words.get(how[1].casefold()) is (not objective.less_is_better)


@cache
def _judging() -> dict[str, dict[str, bool]]:
    """Return the single words that judge by each concept alone, and whether they are good."""
    judged = [
        (word, concept, kind == "good")
        for concept, lists in read_data("concepts.toml").items()
        for kind in ("good", "bad")
        for word in split(lists.get(kind, ""))
    ]
    many = Counter(word for word, _, _ in judged)
    found: dict[str, dict[str, bool]] = {}
    for word, concept, good in judged:
        if many[word] == 1:
            found.setdefault(concept, {})[word] = good
    return found


@cache
def _phrases() -> dict[str, re.Pattern[str]]:
    """Return what is said of each concept alone in several words, such as "on time" of punctuality."""
    said = [
        (phrase, concept)
        for concept, lists in read_data("concepts.toml").items()
        for phrase in {*split(lists["names"]), *split(lists.get("good", "")), *split(lists.get("nouns", ""))}
        if " " in phrase and not phrase.endswith("?") and re.search(r"\w{4}", phrase) and "square" not in phrase
    ]
    many = Counter(phrase for phrase, _ in said)
    own: dict[str, list[str]] = {}
    for phrase, concept in said:
        if many[phrase] == 1 and concept not in _MEASURED:
            own.setdefault(concept, []).append(re.escape(phrase))
    return {concept: re.compile(rf"(?i)\b(?:{'|'.join(phrases)})\b") for concept, phrases in own.items()}


def is_paid(objective: Objective) -> bool:
    """Tell whether an objective is measured in money."""
    return _is_measured(objective, _MEASURED["price"])


def _is_measured(objective: Objective, measure: str) -> bool:
    return re.search(measure, objective.description.casefold()) is not None


@cache
def _names() -> dict[str, list[tuple[str, ...]]]:
    """Return the names of all concepts: in English, then what each other language calls it first."""
    tables = [read_data("languages", f"{language}.toml")["words"] for language in languages()]
    names = {}
    for concept, lists in read_data("concepts.toml").items():
        others = [split(words[concept])[0] for words in tables if concept in words]
        names[concept] = [stems(name) for name in (*split(lists["names"]), *others)]
    return names


def _of_no_person(name: tuple[str, ...]) -> tuple[str, ...]:
    """Return a name without whom something is counted by: "children per carer" is no matter of children."""
    return tuple(word for word in name if word not in small_words("persons")) if "per" in name else name


def _fit(known: list[tuple[str, ...]], name: tuple[str, ...]) -> float:
    """Return how well an objective's name fits the names of a concept; earlier names fit better."""
    generic = small_words("generic")
    fits, telling = [0.0], set(name) - generic
    for place, words in enumerate(known):
        if words == name:
            fits.append(1.0 - _FURTHER * place)
        elif telling and len(set(words) & telling) == len(set(words) - generic) > 0:
            fits.append(_SHARED * (1.0 - _FURTHER * place))
    return max(fits)


@cache
def _places() -> list[frozenset[str]]:
    """Return words that are the same place, for each that ways lead to."""
    return [frozenset(words.split()) for words in read_data("small_words.toml")["same_places"]]


def places_of(words: Iterable[str]) -> frozenset[int]:
    """Return which of the places words speak of."""
    spoken = {*words}
    return frozenset(n for n, place in enumerate(_places()) if not place.isdisjoint(spoken))


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
