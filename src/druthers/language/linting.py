"""Look over the word lists: what is listed twice, collides with a cue, or would be read as something else.

Run it after every change of the lists:

    python -m druthers.language.linting

It prints what it finds and, where the sentence model is installed, writes the vectors of the phrases anew if they
have changed, and the table of words if the model was taught anew.
"""

import importlib.util
from pathlib import Path

import numpy as np

from druthers.language.data import read_data, small_words, split
from druthers.language.lexicon.concepts import JUDGING, Kind, all_terms, words_of
from druthers.language.lexicon.objectives import bind, domain_names, load_domain
from druthers.language.models import descriptions, phrases, table
from druthers.language.models.minilm import PACKAGES, load_minilm

_KEYS = {"names", "good", "bad", "nouns", "weak", "says"}


def lint() -> list[str]:
    """Return what is wrong with the word lists, without a model."""
    problems = []
    concepts = read_data("concepts.toml")
    for concept, lists in concepts.items():
        problems += [f"{concept}: unknown list {key}" for key in sorted(set(lists) - _KEYS)]
        for key, listed in lists.items():
            terms = [words_of(term.rstrip("?")) for term in split(listed)]
            problems += [
                f"{concept}.{key}: {' '.join(t)!r} twice" for t in sorted({t for t in terms if terms.count(t) > 1})
            ]
            if key != "names":
                problems += [
                    f"{concept}.{key}: {t[0]!r} is a cue" for t in terms if len(t) == 1 and t[0] in small_words("cue")
                ]
    for name in ("concessions.toml", "translations.toml", "utterances.toml"):
        problems += [f"{name}: unknown concept {concept}" for concept in read_data(name) if concept not in concepts]
    return problems


def ambiguous() -> list[str]:
    """Return terms that two objectives of one of our domains claim with equal right."""
    found = []
    for domain in domain_names():
        objectives = load_domain(domain)
        bound = bind(objectives)
        claims: dict[tuple[tuple[str, ...], str], dict[int, float]] = {}
        for term in all_terms():
            if term.concept in bound and term.kind in (*JUDGING, Kind.NOUN):
                binding = bound[term.concept]
                own = claims.setdefault((term.words, term.kind), {})
                own[binding.objective] = max(own.get(binding.objective, 0.0), binding.strength)
        for (words, _), own in claims.items():
            best = sorted(own.values())[-2:]
            if len(own) > 1 and best[1] - best[0] < 0.02:
                names = ", ".join(objectives[index].name for index in own)
                found.append(f"{domain}: {' '.join(words)!r} may mean {names}")
    return found


def misplaced(margin: float = 0.15) -> list[str]:
    """Return phrases that lie nearer to another concept of the same domain than to their own, by the sentence model."""
    known = phrases.meanings(load_minilm())
    near = known.vectors @ known.vectors.T
    np.fill_diagonal(near, -1.0)
    rows = {concept: known.rows_of({concept}) for concept in known.concepts}
    best = {concept: np.partition(near[:, own], -2, axis=1)[:, -2:].mean(axis=1) for concept, own in rows.items()}
    found = []
    for domain in domain_names():
        bound = {concept: each for concept, each in bind(load_domain(domain)).items() if concept in rows}
        for concept in (concept for concept, each in bound.items() if each.strength >= 0.95):
            others = [other for other in bound if bound[other].objective != bound[concept].objective]
            for row in rows[concept]:
                other = max(others, key=lambda other: best[other][row])
                if best[other][row] - best[concept][row] > margin:
                    found.append(f"{domain}: {known.texts[row]!r} of {concept} lies nearer to {other}")
    return found


def main() -> int:
    """Print all findings; exit with 1 if something is wrong."""
    problems = lint()
    for problem in [*problems, *ambiguous()]:
        print(problem)
    if all(importlib.util.find_spec(package) for package in PACKAGES):
        folder = Path(__file__).with_name("data")
        if not phrases.is_current():
            print("the phrases have changed: writing their vectors anew, a minute")
            phrases.write_vectors(folder / "meanings.npz", load_minilm())
        if not table.is_current():
            print("the model was taught anew: writing the table of words, two minutes")
            table.write_table(folder / "words.npz", load_minilm())
        if not descriptions.is_current():
            print("phrases or table have changed: writing the directions of descriptions")
            descriptions.write_directions(folder / "directions.npz")
        for problem in misplaced():
            print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
