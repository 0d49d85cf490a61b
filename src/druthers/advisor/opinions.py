"""How something was, read from a message: as a whole, clause by clause, and in single objectives."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from druthers.advisor.messages import Kind, Message, Opinion
from druthers.advisor.said import ASSENT, CLAUSE, PAST, PAST_OF_ONE, RATING, Said
from druthers.advisor.sayings import NEGATION, feeling, references, ways, whole_words
from druthers.catalogs import Item
from druthers.language import Parser

HAVING = re.compile(r"(?:'ve|'s|\bhave|\bhas) got\b")  # "we've got three kids" tells of nothing that was shown
FELT = 0.7  # how good is what is only said to be "gentle", and how bad what is "late"
TELLING = 2  # words of three letters or more that tell how something was, beside which one
# A wish, however bad it was before: "it should be fun, she was bored to tears".
WISHING = re.compile(
    r"\b(?:should|must|has to|have to|needs? to|ought to|i want|we want|i need|we need|looking for|i'd like|we'd like"
    r"|would be (?:ace|nice|great|good|ideal|lovely|perfect)|as possible)\b"
)
# Tells how good something sounds, from -1 to 1; None where that is not clear.
Sounds = Callable[[str], float | None]


def find_opinion(
    said: Said, parser: Parser, named: Sequence[Item], sounds: Sounds | None = None, *, surely: bool = False
) -> Message | None:
    """Return feedback about something shown or named: it points at one, or tells of the past.

    Parameters
    ----------
    said
        The message.
    parser
        Reads which objectives a clause speaks of.
    named
        Items that it calls by their names.
    sounds
        Asked where no word tells how something was, and it was met and nothing is denied.
    surely
        Whether it is known to tell how something was.
    """
    plain, places = said.plain, said.places
    took = said.has("took") and not HAVING.search(said.core)
    about = PAST_OF_ONE if places or named else PAST
    told = bool(took or about.search(plain) or ways("tells").search(said.core))
    past = PAST.search(plain) and re.match(r"(?:it|that|they|this|the|there|we|i)\b", said.core)
    if not (places or named) and WISHING.search(plain):
        return None
    if not surely and (said.asks or not (places or named or (said.context.shown and (took or past)))):
        return None
    opinions = _clause_by_clause(said, parser, told or surely)
    lived = (took or about.search(plain)) and NEGATION.search(plain) is None  # "2 is for my son" praises nothing
    if not opinions and sounds is not None and lived and (surely or places or named):
        opinions = _as_it_sounds(said, parser, sounds)
    if not opinions and surely and places:
        return Message(Kind.FEEDBACK, places)
    if not opinions and ways("tells").search(said.core) and not took and places:
        # What is said of an item is no wish: it is asked whether that is good or bad.
        return Message(Kind.FEEDBACK, places) if parser.signs(plain) else None
    if not opinions:
        taken = took and (places or named or plain.endswith("it"))
        return Message(Kind.TAKEN, places, tuple(named)) if taken else None
    if len(opinions) > 1:  # of each its own
        return Message(Kind.FEEDBACK, tuple(opinions), opinions=opinions)
    (opinion,) = opinions.values()
    found = () if named else tuple(opinions) if len(places) < 2 else places
    return Message(Kind.FEEDBACK, found, tuple(named), utility=opinion.utility, aspects=opinion.aspects)


def _as_it_sounds(said: Said, parser: Parser, sounds: Sounds) -> dict[int, Opinion]:
    """Return how an item was by the sound of what is told of it, beside that it was taken."""
    clauses = [one for one in CLAUSE.split(ASSENT.sub("", said.plain)) if one and one.strip()]
    beside = [one.strip() for one in clauses if not references(one, said.context.shown)]
    took = len(clauses) == 1 and ways("took").search(said.core)
    text = ", ".join(beside) if _tells(beside) else said.plain
    felt = None if took else sounds(text)
    if felt is None:
        return {}
    at = said.places[0] if said.places else said.context.latest
    aspects = {parser.objectives[k].name: _judged(felt, sign) or felt for k, sign in parser.signs(text).items()}
    return {at: Opinion([felt], aspects)}


def _tells(clauses: Sequence[str]) -> bool:
    """Tell whether some clauses say enough to sound like something."""
    return len(re.findall(r"[^\W\d_]{3,}", " ".join(clauses))) >= TELLING


def _clause_by_clause(said: Said, parser: Parser, told: bool) -> dict[int, Opinion]:
    """Return how each of the items was that a message speaks of, by its place; `told` if it tells of something."""
    opinions: dict[int, Opinion] = {}
    at = said.places[0] if said.places else said.context.latest
    if said.rating is not None:
        opinions[at] = Opinion([said.rating], {})
    unsaid: dict[str, int] = {}
    for clause in CLAUSE.split(whole_words("thanks").sub(" ", ASSENT.sub("", said.plain))):
        about_items = references(RATING.sub(" ", clause), said.context.shown)
        at = about_items[0] if about_items else at
        felt = feeling(clause)
        signs = parser.signs(clause) if felt is not None or told else {}
        if felt is None and not any(signs.values()):
            unsaid |= {parser.objectives[k].name: at for k in signs}
            continue
        aspects = {parser.objectives[k].name: _judged(felt, sign) for k, sign in signs.items()}
        for place in about_items if len(about_items) > 1 else (at,):
            opinion = opinions.setdefault(place, Opinion([], {}))
            opinion.aspects.update({name: worth for name, worth in aspects.items() if worth is not None})
            if felt is not None and not aspects:
                opinion.whole.append(felt)
    for name, place in unsaid.items():  # "it barks all night, a nightmare": as all of it felt
        if place in opinions:
            opinions[place].aspects.setdefault(name, opinions[place].utility)
    return opinions


def _judged(felt: float | None, sign: int) -> float | None:
    """Return how an objective was: by a word of its own, as much as it was felt; else as all of it felt."""
    if not sign or (felt is not None and felt * sign > 0.0):
        return felt
    return FELT * sign
