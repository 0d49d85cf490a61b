"""Where a text speaks of which objective: the words of the lexicon, with typing errors mended."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from druthers.language.data import read_data, small_words, split
from druthers.language.lexicon.concepts import (
    JUDGING,
    Kind,
    Speller,
    adjectives,
    easy_to,
    english,
    inflections,
    lexicon,
    words_of,
)
from druthers.language.lexicon.languages import ENGLISH, idle_of, languages, terms_of, translated
from druthers.language.lexicon.objectives import bind, is_degree, is_denied, is_elsewhere, is_paid, places_of, stem
from druthers.language.text import Token
from druthers.types import Objective

# A term may have so many words.
LONGEST = 6
# How sure words of each kind are, out of context. Set by hand: of two concepts with the same word the surer one is
# taken.
WORTH = {
    Kind.GOOD: 1.0,
    Kind.BAD: 1.0,
    Kind.GIVES_UP: 1.0,
    Kind.SAYS: 0.9,
    Kind.NOUN: 0.9,
    Kind.FOREIGN: 0.9,
    Kind.WEAK: 0.45,
}
_OTHER_WAY = {Kind.GOOD: Kind.BAD, Kind.BAD: Kind.GOOD}
_DOUBTFUL, _ONE_OF_MANY = 0.4, 0.8
_PERIODS = {"month": ("monthly",), "year": ("yearly", "annual"), "week": ("weekly",), "day": ("daily",)}
_PAID = ("fee", "fees", "price", "rate", "payment", "payments", "expenses", "charge", "charges")
# Languages that write compounds as one word, and how many letters these have, and each part of them, at least.
_COMPOUNDING, _COMPOUND, _PART = ("de", "nl"), 9, 4

# How good something is, in its description: "how forgiving it is", "how carefully they handle things".
_HOW = re.compile(
    r"(?i)how (?!(?:much|many|well|often|long|far|little|few|quick|hard|good|likely|high|low|big)(?:ly)?\b)([a-z]{4,})"
)
# What a description tells: "how well they grip wet things", "grams of protein", "days until it melts", "air and light".
_TOLD = re.compile(
    r"(?i)^how (?P<how>\w+) (?P<told>[^,;(:.]+)|^\w+(?: \w+)? of (?P<of>(?!the )\w+(?: \w+)?)"
    r"|^.*\b(?:until|before) (?:it|they|the \w+) (?P<till>[^,;(:.]+)|^\w+(?: of [^,;(:.]+)? that (?P<that>[^,;(:.]+)"
    r"|^(?P<list>(?:[a-z]+, )*[a-z]+ and [a-z]+)(?=[,.;(]|$)"
)


def _told(description: str) -> tuple[str, ...]:
    """Return the words of a description that may tell what it is about; nothing of whom an adjective is said.

    Examples
    --------
    >>> _told("How well they grip oily things, say testers"), _told("Screen and sound, in points")
    (('grip', 'oily'), ('screen', 'sound'))
    """
    match = _TOLD.match(description)
    if match is None:
        return ()
    how = (match["how"] or "well").casefold()
    if not (how.endswith("ly") or how in small_words("praise") | {"well", "much", "often"}):
        return ()
    said = words_of(next(text for name, text in match.groupdict().items() if text and name != "how"))
    about_anything = ("generic", "light", "amounts", "spans", "subjects", "describing")
    telling = (word for word in said if not any(word in small_words(part) for part in about_anything))
    return tuple(word for word in telling if len(word) >= _PART and word in english())


@dataclass(frozen=True, slots=True)
class Mention:
    """Tokens from first to before last that speak of an objective."""

    objective: int  # its index; -1 of idle words
    first: int  # where the tokens are; last is the one after them
    last: int
    kind: Kind  # how they speak of it
    worth: float  # how sure that is, from 0 to 1
    why: str  # the term that was found, or what the clause is like
    concept: str = ""  # the concept that the term belongs to
    named: bool = False  # whether it is the objective's own name, or a synonym from the catalog
    less_is_better: bool = False  # whether it speaks of something of which less is better
    doubtful: bool = False  # whether it counts only with support from its surroundings
    leaning: float = 0.0  # the log odds that the clause around it dismisses what it speaks of, where a model was asked

    @property
    def stands_alone(self) -> bool:
        """Whether it counts without support."""
        return self.kind not in (Kind.WEAK, Kind.IDLE) and not self.doubtful

    @property
    def is_described(self) -> bool:
        """Whether it is only a word by which the objective is described, and of no concept."""
        return self.kind is Kind.WEAK and not self.concept

    @property
    def places(self) -> range:
        """The tokens."""
        return range(self.first, self.last)


class Words:
    """Find mentions by the words of concepts, names and synonyms.

    Parameters
    ----------
    objectives
        The catalog's objectives.
    """

    def __init__(self, objectives: Sequence[Objective]) -> None:
        self._bindings = bind(objectives)
        self._senses: dict[tuple[str, ...], Mention] = {}
        self._concessions: dict[tuple[str, ...], Mention] = {}
        amounts = small_words("amounts")
        measured_from = [places_of(words_of(f"{one.name} {one.description}")) for one in objectives]
        for words, terms in lexicon().items():
            spoken_of = places_of(words)
            for term in terms:
                bound = self._bindings.get(term.concept)
                if bound is not None and not is_elsewhere(spoken_of, measured_from[bound.objective]):
                    less = objectives[bound.objective].less_is_better
                    kind = _OTHER_WAY.get(term.kind, term.kind) if less and term.concept in amounts else term.kind
                    worth = _DOUBTFUL if term.doubtful else WORTH[kind] * bound.strength
                    table = self._concessions if kind is Kind.GIVES_UP else self._senses
                    spoken = (bound.objective, 0, 0, kind, worth, term.text, term.concept)
                    _add(table, words, Mention(*spoken, doubtful=term.doubtful))
        own: set[tuple[str, ...]] = set()
        for index, objective in enumerate(objectives):
            too = read_data("small_words.toml")["called_too"].get(objective.name, "")
            for text in (objective.name, *objective.synonyms, *split(too)):
                own.add(words_of(text))
                self._add_own(index, text, objectives)
        self._give_heads(objectives)
        self._give_described(objectives)
        self._give_told(objectives)
        self._give_prices(objectives)
        self._idle = {words_of(phrase) for phrase in split(read_data("idle.toml")["phrases"])} - own
        self._speller = Speller(word for words in self._senses for word in words if len(word) > 3)
        self._foreign: dict[str, dict[tuple[str, ...], Mention]] = {}

    def _add_own(self, index: int, text: str, objectives: Sequence[Objective]) -> None:
        """Add the words of an objective's own name, or of a synonym."""
        words, is_name = words_of(text), text == objectives[index].name
        known = self._senses.get(words)
        if not words or (not is_name and known is not None and known.kind is Kind.BAD and known.objective == index):
            return  # who wants "no noise" wants what "noise" is a synonym of
        concepts = {name: bound.strength for name, bound in self._bindings.items() if bound.objective == index}
        concept = max(concepts, key=concepts.__getitem__, default="")
        for last in (words[-1], *(inflections(words[-1], noun=True) if len(words) > 1 else ())):
            own = Mention(index, 0, 0, Kind.NOUN, 1.0, text, concept, named=True)
            _add(self._senses, (*words[:-1], last), own)
        telling = [word for word in words if word not in small_words("generic") and len(word) > 2]
        if "per" in words:  # "my children like to be outside" speaks of no children per carer
            telling = [word for word in telling if word not in small_words("persons")]
        if len(telling) > 1:  # "by day two" speaks of no day pass
            telling = [word for word in telling if word not in small_words("spans")] or telling
        for word in telling if is_name else words if len(words) == 1 else ():
            shared = sum(word in words_of(other.name) for other in objectives) > 1
            known = self._senses.get((word,))
            if shared or (known is not None and known.kind is Kind.WEAK):
                continue
            alone = len(telling) == 1
            worth = 1.0 if alone else _ONE_OF_MANY
            sense = Mention(index, 0, 0, Kind.NOUN, worth, text, named=alone)
            _add(self._senses, (word,), sense)
            for form in inflections(word, noun=True):
                self._senses.setdefault((form,), replace(sense, worth=WORTH[Kind.NOUN], named=False))
            for phrase in easy_to(word) if alone else ():
                self._senses.setdefault(phrase, replace(sense, kind=Kind.GOOD, worth=WORTH[Kind.GOOD], named=False))
            judges = Kind.BAD if objectives[index].less_is_better else Kind.GOOD
            for adjective in adjectives(word) if alone else ():
                for form in (adjective, *inflections(adjective)):
                    known = self._senses.get((form,))
                    if known is None or (known.objective != index and not known.named):  # "gentle" beside a gentleness
                        self._senses[form,] = replace(sense, kind=judges, worth=WORTH[judges], named=False)

    def _give_heads(self, objectives: Sequence[Objective]) -> None:
        """Give terms that end in the name of an objective to it: where there is a consumption, "fuel consumption".

        Where its name has one telling word, that is enough: where there is a charging time, "fast charging", "charger".
        So is its adjective at the beginning: where there is a speed, "fast internet".
        """
        telling = [[word for word in words_of(one.name) if word not in small_words("generic")] for one in objectives]
        named = {tuple(words): index for index, words in enumerate(telling) if len(words) == 1}
        named |= {words_of(one.name): index for index, one in enumerate(objectives)}
        led = {adjective: n for words, n in named.items() if len(words) == 1 for adjective in adjectives(words[0])}
        for words, sense in self._senses.items():
            doing = words[-1].removesuffix("s").removesuffix("er") + "ing" if words[-1].endswith(("er", "ers")) else ""
            head = words[-1:] if len(words) > 1 else (doing,)
            index = None if sense.named else named.get(head, led.get(words[0]) if len(words) > 1 else None)
            if index is not None and index != sense.objective:
                self._senses[words] = replace(sense, objective=index, concept="")

    def _give_described(self, objectives: Sequence[Objective]) -> None:
        """Give nouns to the only objective that is described by them, and know how each is described to be good.

        "Strategy" is a matter of the depth that is "how much strategy it takes", and not of fun; "how carefully they
        handle things" is about careful ones.
        """
        told = [{*words_of(one.name), *words_of(one.description)} for one in objectives]
        for index, objective in enumerate(objectives):
            for word in words_of(objective.description):
                known = self._senses.get((word,))
                if known is not None and known.kind is Kind.NOUN and not known.named and known.objective != index:
                    elsewhere = sum(word in words for words in told) > 1 or word in words_of(known.concept)
                    if not elsewhere and known.concept not in ("price", *small_words("amounts")):
                        self._senses[word,] = replace(known, objective=index, concept="")
            match = _HOW.match(objective.description)
            how = "" if match is None else match[1].casefold().removesuffix("ly")
            if how and (how,) not in self._senses and how not in small_words("light") and how in english():
                kind = Kind.BAD if objective.less_is_better else Kind.GOOD
                for form in (how, *inflections(how)):
                    self._senses.setdefault((form,), Mention(index, 0, 0, kind, WORTH[kind], how))

    def _give_told(self, objectives: Sequence[Objective]) -> None:
        """Know the words that only one objective is described by, beside a judgment: "a good grip" of gloves.

        Of what is counted only that which is: "grams of protein", and not "kilograms without the child".
        """
        many = Counter(word for one in objectives for word in {*words_of(one.name), *words_of(one.description)})
        for index, objective in enumerate(objectives):
            for word in (one for one in _told(objective.description) if many[one] == 1):
                base = next((one for end in ("ed", "s", "ing") if (one := word.removesuffix(end)) in english()), word)
                for form in {word, base, *inflections(base)}:
                    self._senses.setdefault((form,), Mention(index, 0, 0, Kind.WEAK, WORTH[Kind.WEAK], word))

    def _give_prices(self, objectives: Sequence[Objective]) -> None:
        """Know what is cheap of something that has a price of its own: "cheap pages" where a page has one."""
        price = next((bound.objective for name, bound in self._bindings.items() if name == "price"), None)
        for index, objective in enumerate(objectives):
            if price in (None, index) or not (objective.less_is_better and is_paid(objective)):
                continue
            telling = [word for word in words_of(objective.name) if word not in small_words("paying")]
            nouns = {form for word in telling for form in (word, *inflections(word, noun=True))}
            for judging in ("cheap", "cheaper", "cheapest", "inexpensive", "affordable", "low cost"):
                sense = Mention(index, 0, 0, Kind.GOOD, WORTH[Kind.GOOD], judging)
                for noun, link in ((noun, link) for noun in nouns for link in ((), ("per",), ("a",), ("for",))):
                    self._senses.setdefault((*judging.split(), *link, noun), sense)
            for period, called in _PERIODS.items():  # "monthly costs" are those told by the month
                of_it = re.compile(rf"\b(?:an?|per|each|every) {period}\b|\b(?:{'|'.join(called)})\b", re.IGNORECASE)
                if of_it.search(objective.description) and not of_it.search(objectives[price].description):
                    sense = Mention(index, 0, 0, Kind.NOUN, 1.0, period, named=True)
                    self._senses |= {(word, paid): sense for word in called for paid in ("cost", "costs", *_PAID)}

    def _senses_of(self, language: str) -> dict[tuple[str, ...], Mention]:
        """Return what words of another language mean; the catalog's own names hold in all of them."""
        if language not in self._foreign:
            senses = {words: sense for words, sense in self._senses.items() if sense.named}
            senses |= {words: idle(0, 0) for words in idle_of(language)}
            for term in terms_of(language):
                bound = self._bindings.get(term.concept)
                if bound is not None:
                    worth = WORTH[term.kind] * bound.strength
                    _add(senses, term.words, Mention(bound.objective, 0, 0, term.kind, worth, term.text, term.concept))
            for words, meanings in translated(language):
                meant = (self._senses[one] for one in meanings if one in self._senses)
                sense = max(meant, key=lambda one: (one.named, one.worth), default=None)
                known = words in senses and sense is not None and senses[words].objective == sense.objective
                if sense is not None and sense.stands_alone and not known:
                    worth = min(sense.worth, WORTH[Kind.FOREIGN])
                    _add(senses, words, replace(sense, worth=worth, why=" ".join(words)))
            self._foreign[language] = senses
        return self._foreign[language]

    def __call__(self, tokens: Sequence[Token], open_: Sequence[bool], language: str = ENGLISH) -> list[Mention]:
        """Return the mentions among those tokens that are open, longest terms first, and idle words."""
        if language in languages():
            senses = self._senses_of(language)
            heads = [_head(token.text, senses, language) for token in tokens]

            def known(first: int, last: int) -> list[Mention]:
                key = tuple(heads[first:last])
                found = key in senses and all(open_[first:last])
                return [replace(senses[key], first=first, last=last)] if found else []

            return _longest(len(heads), known)
        mend = self._speller.mend
        words = [mend(token.text) if flag else token.text for token, flag in zip(tokens, open_, strict=True)]
        return _carried(words, _without_heads(words, _longest(len(words), partial(self._spot, words, open_))))

    def _spot(self, words: Sequence[str], open_: Sequence[bool], first: int, last: int) -> list[Mention]:
        """Return what some words mention; a concession may be of something else, too."""
        key = tuple(words[first:last])
        senses = [table[key] for table in (self._senses, self._concessions) if key in table]
        if not senses:
            return [idle(first, last)] if open_[first] and key in self._idle else []
        verb = _is_verb(words, first, key, senses[0])
        if verb or is_degree(words, first, key) or not all(open_[first:last]):
            return []
        both = senses if senses[0].objective != senses[-1].objective else senses[-1:]
        denied = is_denied(words, first)
        kinds = [Kind.SAYS if denied and one.kind is Kind.GIVES_UP else one.kind for one in both]
        return [replace(one, first=first, last=last, kind=kind) for one, kind in zip(both, kinds, strict=True)]


@cache
def _things() -> frozenset[str]:
    """Return words for what is looked for, whatever it is."""
    return frozenset(stem(one) for one in read_data("neutral.toml")["phrases"] if " " not in one)


def _without_heads(words: Sequence[str], found: Sequence[Mention]) -> list[Mention]:
    """Return mentions without the things that an adjective of something else describes: "a quiet room"."""
    judged = {one.last: one.objective for one in found if one.kind is not Kind.IDLE}
    return [
        one
        for one in found
        if one.kind is not Kind.NOUN
        or one.last - one.first > 1
        or judged.get(one.first, one.objective) == one.objective
        or stem(words[one.first]) not in _things()
    ]


def _is_verb(words: Sequence[str], at: int, key: tuple[str, ...], sense: Mention) -> bool:
    """Tell whether the word of a name only says what somebody does: "grandma is playing" speaks of no playing time."""
    part = len(key) == 1 and key[0].endswith("ing") and sense.why.startswith(f"{key[0]} ")
    return part and at > 0 and words[at - 1] in small_words("being")


def _longest(n_words: int, known: Callable[[int, int], list[Mention]]) -> list[Mention]:
    """Return the mentions of a text, longest terms first."""
    found: list[Mention] = []
    at = 0
    while at < n_words:
        sizes = range(min(LONGEST, n_words - at), 0, -1)
        size, here = next(((n, one) for n in sizes if (one := known(at, at + n))), (1, []))
        found += here
        at += size
    return found


def _head(word: str, senses: Mapping[tuple[str, ...], Mention], language: str) -> str:
    """Return the part of a compound that is known, the last one first: "Einkaufskorb" is a "Korb"."""
    if language not in _COMPOUNDING or len(word) < _COMPOUND or (word,) in senses:
        return word
    cuts = range(_PART, len(word) - _PART + 1)
    parts = (*(word[cut:] for cut in cuts), *(word[:-cut] for cut in cuts))
    return next((part for part in parts if (part,) in senses and senses[part,].kind is not Kind.IDLE), word)


def _add(table: dict[tuple[str, ...], Mention], words: tuple[str, ...], sense: Mention) -> None:
    known = table.get(words)
    if known is None or (sense.named, sense.worth) > (known.named, known.worth + 1e-9):
        table[words] = sense


def idle(first: int, last: int) -> Mention:
    """Return a mention of nothing: words that were understood, but speak of no objective."""
    return Mention(-1, first, last, Kind.IDLE, 0.0, "")


def _carried(words: Sequence[str], found: Sequence[Mention]) -> list[Mention]:
    """Turn words idle that only describe a noun of another objective: before it, after "is", after "of" and "like"."""
    kept: list[Mention] = []
    carrier: Mention | None = None
    reach = -1
    senses, links = small_words("senses"), small_words("links")
    for index, mention in enumerate(found):
        before = found[index - 1] if index and found[index - 1].last == mention.first else None
        after = found[index + 1] if index + 1 < len(found) and found[index + 1].first == mention.last else None
        describes = mention.kind in JUDGING and mention.concept in senses
        carried = (
            (mention.kind is Kind.WEAK and before is not None)
            or (after is not None and (_praises(mention, after) or (describes and _is_noun_of(senses, after, mention))))
            or (before is not None and _is_thing_of(before, mention))
        )
        linked = carrier is not None and mention.first > carrier.last and links.issuperset(words[reach : mention.first])
        if carrier is not None and describes and linked and not carried:
            carried, reach = mention.objective != carrier.objective, mention.last
        elif mention.kind is Kind.NOUN and mention.concept in senses and not carried:
            carrier, reach = mention, mention.last
        kept.append(idle(mention.first, mention.last) if carried else mention)
    return kept


def _is_noun_of(concepts: frozenset[str], noun: Mention, other: Mention) -> bool:
    return noun.kind is Kind.NOUN and noun.concept in concepts and noun.objective != other.objective


def _is_thing_of(adjective: Mention, noun: Mention) -> bool:
    """Tell whether a noun only carries the wish before it: "clean bathroom"."""
    judged = adjective.kind in JUDGING and adjective.concept not in small_words("praises")
    return judged and _is_noun_of(small_words("things"), noun, adjective)


def _praises(adjective: Mention, noun: Mention) -> bool:
    """Tell whether an adjective only praises the noun after it: "comfortable mattress"."""
    empty = adjective.concept in small_words("praises") or adjective.why in small_words("sizes")
    return empty and adjective.kind in JUDGING and noun.kind is Kind.NOUN and noun.objective != adjective.objective
