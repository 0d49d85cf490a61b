"""What was understood and what is known, in words."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from druthers.advisor.answers import Heard
from druthers.advisor.messages import guessed
from druthers.advisor.reasons import number, spaced
from druthers.advisor.wishes import Wishes
from druthers.language import not_understood
from druthers.language.data import small_words
from druthers.language.lexicon.languages import marks_of
from druthers.limits import Where, merge
from druthers.limits.columns import Relaxation
from druthers.limits.stated import join
from druthers.limits.where import holds, is_day, values_of
from druthers.limits.words import fold, pattern, stem, stems

MOST_LISTED = 20
LONGEST_PIECE = 120  # letters of what was not understood that are told back
FEW_DAYS = 3  # that are told one by one
MOST_WAYS = 3  # out of limits that leave nothing
# Beside what is understood.
IDLE = frozenset(
    {
        *("looking", "search", "searching", "suche", "suchen", "cherche", "busco", "instead", "said"),
        *("told", "which", "again", "each", "both", "available", "away", "show", "only", "ones"),
    }
)
LONG_WORD = re.compile(r"[^\W_]{4,}\b(?!'t\b)")


def understood_in_words(heard: Heard, known: Wishes, costs: Collection[str], *, asks: bool = False) -> str:
    """Return what was understood, in words, which limits known before it takes the place of, and what is asked back.

    Limits and hopes are told as they stand now, beside those of before: "up to 200", after "from 60", is a part of it.
    Who wants it quiet does not want noise: of what costs (`costs`) little is wanted.
    """
    assert heard.reading is not None  # as of every text
    reading, before, said = heard.reading, known.limits, []
    guesses, unsure = guessed(reading), guessed(replace(reading, ranking=reading.dismissed))
    wanted = {name: f"low {name}" if name in costs else name for name in heard.ranking}
    if sure := [wanted[name] for name in heard.ranking if name not in guesses]:
        said.append(f"You want {listed(sure)}.")
    if implied := [wanted[name] for name in heard.ranking if name in guesses]:
        said.append(f"I take it that you want {listed(implied)}; if not, say “forget that”.")
    if sure_gone := [name for name in reading.dismissed_names if name not in unsure]:
        said.append(f"Set aside: {listed(sure_gone)}.")
    if implied_gone := [name for name in reading.dismissed_names if name in unsure]:
        said.append(f"I take it that you do not mind {listed(implied_gone)}; if you do, say “forget that”.")
    where: Where = {}
    for one in heard.limits:  # "black or silver" is one limit
        where = join(where, one)
    flags = {True: "A must: {}.", False: "Ruled out: {}."}
    for name, limit in _standing(before, heard.dropped, where).items():
        flag = isinstance(limit, bool)
        said.append(flags[limit].format(name) if flag else f"Only {name} {limit_in_words(limit)}.")
    if heard.hopes:
        hopes = _standing(known.hopes, (*heard.dropped, *where), heard.hopes)
        said.append(f"If possible: {limits_in_words(hopes)}.")
    replaced = {name: limit for name, limit in before.items() if name in where and _replaces(where[name], limit)}
    said += [f"No longer only {one}." for one in named_in_words(replaced)]
    if not_understood() in reading.notes:
        said.append(f"As for the rest, {not_understood()}.")
    if set(heard.dropped) - set(where):
        dropped = [name for name in heard.dropped if name in {**before, **known.hopes} and name not in where]
        said.append(f"No limit on {listed(dropped)} any more." if dropped else "There was no such limit.")
    if heard.not_understood:
        said.append(lost_in_words(heard.not_understood))
    if asks and reading.question:
        said.append(reading.question)
    return " ".join(said) or "That changes nothing."


def _standing(before: Where, dropped: Collection[str], where: Where) -> Where:
    """Return limits as they stand beside those of before that are not dropped."""
    merged = merge({name: limit for name, limit in before.items() if name not in dropped}, where)
    return {name: merged[name] if isinstance(limit, dict) else limit for name, limit in where.items()}


def lost_in_words(pieces: Sequence[str]) -> str:
    """Return which pieces of a text were not understood."""
    return f"Not understood: {listed([quoted(piece) for piece in dict.fromkeys(pieces)])}." if pieces else ""


def quoted(piece: str) -> str:
    """Return a piece of a text as it is told back: a long one by its first words."""
    short = piece if len(piece) <= LONGEST_PIECE else f"{piece[:LONGEST_PIECE].rsplit(' ', 1)[0]} …"
    return f"“{short}”"


def relaxed_in_words(relaxations: Sequence[Relaxation]) -> str:
    """Return which limit to relax where nothing fits, and how many items that would bring."""
    ways = [
        f"{'without the limit on ' + one.name if one.limit is None else f'with {one.name} {limit_in_words(one.limit)}'}"
        f" there {'is' if one.items == 1 else 'are'} {one.items}"
        for one in relaxations[:MOST_WAYS]
    ]
    text = f"Nothing fits: {', '.join(ways) or 'several limits would have to go'}."
    return spaced(text, [one.name for one in relaxations])


def _replaces(limit: Any, before: Any) -> bool:
    """Tell whether a limit takes the place of another, which neither joins it nor says the same."""
    if isinstance(limit, dict) or isinstance(before, dict):
        return not (isinstance(limit, dict) and isinstance(before, dict))
    return set(values_of(before)).isdisjoint(values_of(limit))  # else it is only wider, or narrower


def count(number: int, thing: str) -> str:
    """Return how many things there are."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def listed(names: Sequence[str], link: str = "and") -> str:
    """Return names as people list them.

    Examples
    --------
    >>> listed(["Graz", "Linz", "Wels"]), listed(["Graz", "Linz", "Wels"], "or")
    ('Graz, Linz and Wels', 'Graz, Linz or Wels')
    """
    told = [*names[:MOST_LISTED], f"{len(names) - MOST_LISTED} more"] if len(names) > MOST_LISTED else list(names)
    return f" {link} ".join([", ".join(told[:-1]), told[-1]]) if len(told) > 1 else "".join(told)


def named_in_words(limits: Where) -> list[str]:
    """Return each limit in words, behind the name of what is limited."""
    return [f"{name} {limit_in_words(limit)}" for name, limit in limits.items()]


def limits_in_words(limits: Where) -> str:
    """Return limits or hopes in words."""
    flags = {name: name if limit else f"no {name}" for name, limit in limits.items() if isinstance(limit, bool)}
    return listed([flags.get(name, one) for name, one in zip(limits, named_in_words(limits), strict=True)])


def limit_in_words(limit: Any) -> str:
    """Return a limit in words."""
    if isinstance(limit, dict):
        if holds(limit):
            wanted = [listed(list(map(fact_in_words, values_of(limit["all"]))))] if "all" in limit else []
            wanted += [limit_in_words(limit["any"])] if "any" in limit else []
            denied = [f"{'not' if wanted else 'other than'} {limit_in_words(limit['not'])}"] if "not" in limit else []
            return ", ".join((" and ".join(wanted), *denied) if wanted else denied)
        words = {"min": "from", "max": "up to"}
        return " ".join(f"{words[bound]} {fact_in_words(limit[bound])}" for bound in ("min", "max") if bound in limit)
    if isinstance(limit, list):
        if len(limit) > FEW_DAYS and all(is_day(str(one)) for one in limit):
            return f"{min(limit)} to {max(limit)}"
        return listed(list(dict.fromkeys(map(fact_in_words, limit))), "or")
    return fact_in_words(limit)


def fact_in_words(value: Any) -> str:
    """Return a value of a detail or an objective as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return listed([fact_in_words(one) for one in value])
    return number(value) if isinstance(value, int | float) else str(value)


def aspects_in_words(aspects: Mapping[str, float]) -> str:
    """Return how single objectives of an item were, behind its name: " (price bad)"; nothing for none."""
    parts = [f"{name} {'good' if worth > 0 else 'bad'}" for name, worth in aspects.items()]
    return f" ({', '.join(parts)})" if parts else ""


def grade(utility: float | None) -> str:
    """Return how good a utility is."""
    for least, word in ((0.8, "great"), (0.3, "good"), (-0.1, "fair"), (-0.8, "bad")):
        if utility is not None and utility >= least:
            return word
    return "awful"


def worth_telling(leftover: Sequence[str], things: str = "", dropped: Collection[str] = ()) -> list[str]:
    """Return what was not understood without the gaps that limits left, and without pieces that say nothing.

    That is all small words, and what the things of the catalog are called; where limits are dropped, that something
    does not matter.
    """
    dismissing = pattern("<dismissing>") if dropped else re.compile("(?!)")
    idle = {*stems(" ".join((things, *dropped))), *IDLE}
    tidy = (
        re.sub(r"(?:\s*(?:;|[,.](?!\d)|(?<!\d)[,.]))+\s*", ", ", " ".join(piece.split())).strip(" ,;.")
        for piece in leftover
    )
    spoken = ((piece, LONG_WORD.findall(dismissing.sub("", fold(piece)))) for piece in tidy)
    return [
        piece
        for piece, words in spoken
        if any(stem(word) not in idle and word not in small_words("light") | marks_of(words) for word in words)
    ]
