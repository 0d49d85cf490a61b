"""How something was, read from a message: as a whole, clause by clause, and in single objectives."""

import re
from collections.abc import Sequence

from druthers.advisor.messages import Kind, Message, Opinion
from druthers.advisor.said import CLAUSE, RATING, Said, feeling, references, ways, whole_words, without_feelings
from druthers.catalogs import Item
from druthers.language import Parser, is_english

FELT = 0.7  # how good is what is only said to be "gentle", and how bad what is "late"


def find_opinion(said: Said, parser: Parser, named: Sequence[Item]) -> Message | None:
    """Return how something was that was shown or named; without a sign where it is not said whether good or bad."""
    places = said.places
    opinions = _clause_by_clause(said, parser)
    if not opinions:
        return Message(Kind.FEEDBACK, places, tuple(named)) if places or named else None
    if len(opinions) > 1:  # of each its own
        return Message(Kind.FEEDBACK, tuple(opinions), opinions=opinions)
    (opinion,) = opinions.values()
    found = () if named else tuple(opinions) if len(places) < 2 else places
    return Message(Kind.FEEDBACK, found, tuple(named), utility=opinion.utility, aspects=opinion.aspects)


def find_verdict(said: Said, parser: Parser) -> Message | None:
    """Return what is plainly said of items that were shown: "love it", "meh, 2 is ok", "la segunda me encantó"."""
    foreign = not is_english(said.text)
    if said.puts_right and (found := find_opinion(said, parser, ())) and (found.utility is not None or found.opinions):
        return found
    if said.context.known and _is_all_felt(said, parser):
        return find_opinion(said, parser, ())
    if not said.context.shown or (said.asks_abroad if foreign else said.asks):
        return None
    if said.places and foreign and (said.picks or ways("politely").fullmatch(said.plain)):
        return Message(Kind.TAKEN, said.places)
    if not (
        ways("verdict").fullmatch(said.plain) or (said.places and (foreign or ways("shortly").fullmatch(said.plain)))
    ):
        return None
    found = find_opinion(said, parser, ())
    if found is not None and foreign and not found.aspects and ways("disliked").search(said.plain):
        return Message(Kind.REJECT, said.places, utility=found.utility)
    return found if found is not None and (found.utility is not None or found.opinions) else None


def _is_all_felt(said: Said, parser: Parser) -> bool:
    """Tell whether a message says nothing but how it felt: "I loved it", "8/10", "meh", "we had a great time"."""
    felt = feeling(said.plain) is not None or said.rating is not None
    if not felt or "?" in said.text or said.places or parser.read(said.text).names:
        return False
    rest = without_feelings(RATING.sub(" ", said.plain))
    return not re.search(r"[^\W_]", whole_words("around_it").sub(" ", rest))


def _clause_by_clause(said: Said, parser: Parser) -> dict[int, Opinion]:
    """Return how each of the items was that a message speaks of, by its place."""
    opinions: dict[int, Opinion] = {}
    at = said.places[0] if said.places else _place_of_it(said)
    if said.rating is not None:
        opinions[at] = Opinion([said.rating], {})
    unsaid: dict[str, int] = {}
    abroad, sums_up = not is_english(said.text), False
    clauses = CLAUSE.split(whole_words("thanks").sub(" ", ways("assent").sub("", said.told)))
    for clause in (part for whole in clauses for part in _by_item(whole)):
        about_items = references(RATING.sub(" ", clause), said.context.shown)
        at = about_items[0] if about_items else at
        felt = feeling(clause, abroad=abroad)
        sums_up = sums_up or ways("sums_up").match(clause) is not None  # from there on, over commas
        told = felt is None and about_items and ways("took").search(clause.strip())  # "had number 1 yesterday"
        signs = {} if told else parser.signs(clause)
        if felt is None and not any(signs.values()):
            unsaid |= {parser.objectives[k].name: at for k in signs}
            continue
        denied = ways("negation").search(clause) is not None
        if ways("if_only").search(clause) and signs:
            felt, signs = -FELT, dict.fromkeys(signs, -1)
        aspects = {parser.objectives[k].name: _judged(felt, sign, denied) for k, sign in signs.items()}
        for place in about_items if len(about_items) > 1 else (at,):
            opinion = opinions.setdefault(place, Opinion([], {}))
            opinion.aspects.update({name: worth for name, worth in aspects.items() if worth is not None})
            if felt is not None and sums_up:
                opinions[place] = opinion._replace(verdict=felt)
            elif felt is not None and not aspects:
                opinion.whole.append(felt)
    for name, place in unsaid.items():  # "it barks all night, a nightmare": as all of it felt
        if place in opinions:
            opinions[place].aspects.setdefault(name, opinions[place].utility)
    return opinions


def _by_item(clause: str) -> list[str]:
    """Return a clause, or its parts where it tells of each item how it was: "first was great second was rubbish"."""
    starts = [match.start() for match in ways("pointing").finditer(clause)]
    parts = [clause[start:end] for start, end in zip(starts, [*starts[1:], None], strict=False)]
    return parts if len(parts) > 1 and all(feeling(part) is not None for part in parts) else [clause]


def _place_of_it(said: Said) -> int:
    """Return the place of what "it" is: what was rated last, of whatever is told of it again or of the past."""
    rated = said.context.rated
    then = ways("corrects").search(said.plain) or ways("past_of_one").search(said.plain)
    return said.context.latest if rated is None or not then else said.context.reach.index(rated)


def _judged(felt: float | None, sign: int, denied: bool) -> float | None:
    """Return how an objective was: by a word of its own, as much as it was felt; else as all of it felt.

    Where the two disagree and nothing is denied, the feeling counts: "loved the smell".
    """
    if not sign or (felt is not None and (felt * sign > 0.0 or not denied)):
        return felt
    return FELT * sign
