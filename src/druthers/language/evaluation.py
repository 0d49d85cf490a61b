"""How well a parser reads: measures over sentences with their right readings."""

import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from druthers.errors import InvalidSetting
from druthers.types import Reading


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its right reading, by names."""

    query: str  # the text
    domain: str  # which catalog it belongs to
    objectives: tuple[str, ...]  # the names of the catalog's objectives
    gold: tuple[str, ...]  # what is wanted, most important first; empty where the text says nothing
    low: tuple[str, ...] = ()  # what is dismissed
    tags: tuple[str, ...] = ()  # what kind of sentence it is


def load_sentences(path: Path) -> list[Sentence]:
    """Return the sentences of a JSON file: a list of objects with query, domain, objectives, gold, low and tags."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [
            Sentence(
                row["query"],
                row.get("domain", ""),
                tuple(row["objectives"]),
                tuple(row["gold"]),
                tuple(row.get("low", ())),
                tuple(row.get("tags", ())),
            )
            for row in rows
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidSetting(
            f"sentences must be a JSON list of objects with query, objectives and gold, but {path} is not: {error!r}"
        ) from error


@dataclass(frozen=True, slots=True)
class Scores:
    """How well a set of sentences was read; a measure that no sentence speaks to is NaN."""

    n: int  # how many sentences
    top1: float  # share of sentences with a wish whose first objective is right
    exact: float  # share of sentences whose list is exactly right, empty lists included
    # Of the listed objectives, over all sentences.
    precision: float
    recall: float
    f1: float
    tau: float  # mean of Kendall's tau over every pair that the right reading orders: list > unmentioned > dismissed
    silence: float  # share of sentences without a wish that were read as empty
    leak: float  # share of dismissed objectives that were read as wishes


def kendall(sentence: Sentence, ranking: Sequence[str], dismissed: Sequence[str]) -> float | None:
    """Return Kendall's tau over the pairs that the right reading orders; a tie of the parser counts nothing.

    Examples
    --------
    >>> sentence = Sentence("cheap", "", ("price", "location"), ("price",))
    >>> kendall(sentence, ["price"], []), kendall(sentence, [], []), kendall(sentence, ["location"], [])
    (1.0, 0.0, -1.0)
    """
    right = _places(sentence.objectives, sentence.gold, sentence.low)
    read = _places(sentence.objectives, ranking, dismissed)
    signs = []
    for a, b in itertools.combinations(sentence.objectives, 2):
        if right[a] != right[b]:
            upper, lower = (a, b) if right[a] < right[b] else (b, a)
            signs.append((read[lower] > read[upper]) - (read[lower] < read[upper]))
    return fmean(signs) if signs else None


def _places(objectives: Sequence[str], listed: Sequence[str], low: Sequence[str]) -> dict[str, int]:
    n = len(objectives)
    return {name: listed.index(name) if name in listed else n + 1 if name in low else n for name in objectives}


def score(pairs: Iterable[tuple[Sentence, Reading]]) -> Scores:
    """Return the measures over sentences and their readings."""
    pairs = list(pairs)
    wishing = [(s, r) for s, r in pairs if s.gold]
    silent = [(s, r) for s, r in pairs if not s.gold]
    hits = sum(len(set(s.gold) & set(r.names)) for s, r in pairs)
    listed, wanted = sum(len(r.names) for _, r in pairs), sum(len(s.gold) for s, _ in pairs)
    low = sum(len(s.low) for s, _ in pairs)
    taus = [tau for s, r in pairs if (tau := kendall(s, r.names, r.dismissed_names)) is not None]
    return Scores(
        n=len(pairs),
        top1=_share(r.names[:1] == s.gold[:1] for s, r in wishing),
        exact=_share(r.names == s.gold for s, r in pairs),
        precision=_ratio(hits, listed),
        recall=_ratio(hits, wanted),
        f1=_ratio(2 * hits, listed + wanted),
        tau=fmean(taus) if taus else float("nan"),
        silence=_share(not r.ranking for _, r in silent),
        leak=_ratio(sum(len(set(s.low) & set(r.names)) for s, r in pairs), low),
    )


def _share(flags: Iterable[bool]) -> float:
    flags = list(flags)
    return _ratio(sum(flags), len(flags))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def evaluate(
    sentences: Sequence[Sentence], read: Callable[[Sentence], Reading]
) -> tuple[list[tuple[Sentence, Reading]], dict[str, Scores]]:
    """Read all sentences; return them with their readings, and the scores of all, each domain and each tag."""
    pairs = [(sentence, read(sentence)) for sentence in sentences]
    parts = {"all": pairs}
    for domain in sorted({sentence.domain for sentence in sentences}):
        parts[f"domain {domain}"] = [(s, r) for s, r in pairs if s.domain == domain]
    for tag in sorted({tag for sentence in sentences for tag in sentence.tags}):
        parts[f"tag {tag}"] = [(s, r) for s, r in pairs if tag in s.tags]
    return pairs, {name: score(part) for name, part in parts.items()}
