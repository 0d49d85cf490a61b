"""Weights of the rows of a log: how a policy that did not choose them would have, and where that cannot be told."""

import functools
import math

import numpy as np

from druthers.errors import NoSupport
from druthers.evaluation.candidates import Candidate
from druthers.evaluation.estimators import Evidence
from druthers.evaluation.following import Believed, believe
from druthers.logs import Log
from druthers.policies import make_policy
from druthers.types import Floats

# What estimates rewards and utilities for the direct method and the doubly robust one.
MODEL = "fisher-pqucb"

# Chance that a policy gives to what was never tried, on average over rows: rounding leaves less.
UNTRIED = 1e-9

# Weights average 1 but for chance; this chance of a false alarm is allowed.
FALSE_ALARM = 1e-6


class EvidenceTable:
    """A log and a candidate: the evidence that each estimator needs of them, computed once."""

    def __init__(self, log: Log, candidate: Candidate, seed: int, name: str | None = None) -> None:
        self._log = log
        self._candidate = candidate
        self._name = name or candidate.name
        self._seed = seed
        self._judged = log.select(slice(candidate.cut, None)) if candidate.cut else log

    def evidence(self, name: str) -> dict[str, Evidence]:
        """Return what an estimator may use for each outcome that was observed; refuse what the log cannot tell."""
        log = self._log if name == "replay" else self._judged
        weights = self._agreement() if name == "replay" else self._weights(name)
        squares = self._squares if name in ("dr", "snips", "ips") else None
        nothing = np.broadcast_to(0.0, (2, len(log), len(log.outcomes)))
        expected, predicted = self._believed if name in ("dr", "dm") else nothing
        evidence = {}
        for k, outcome in enumerate(log.outcomes):
            outcomes = log.outcome(outcome)
            told = ~np.isnan(outcomes)
            rows = slice(None) if told.all() else told
            due = None if squares is None else squares[rows]
            if told.any():
                parts = (weights[rows], outcomes[rows], expected[rows, k], predicted[rows, k])
                evidence[outcome] = Evidence(*parts, squares=due)
        return evidence

    def _agreement(self) -> Floats:
        """Return 1 where the candidate chooses the same on a row of the log made uniform, 0 elsewhere."""
        rng = np.random.default_rng(self._seed)
        kept = rng.random(len(self._log)) < uniform_shares(self._log)
        return self._candidate.same(self._log, kept, rng).astype(float)

    @functools.cached_property
    def _chances(self) -> Floats:
        return self._candidate.chances(self._log)

    @functools.cached_property
    def _believed(self) -> Believed:
        """What the model expects of each judged row, having learned from all rows before it and no other."""
        log, cut = self._log, self._candidate.cut
        chances = np.zeros(len(log.offers))
        chances[log.offer_starts[cut] :] = self._chances
        believed = believe(make_policy(MODEL, n_objectives=len(log.objectives)), log, chances)
        return Believed(*(part[cut:] for part in believed))

    @functools.cached_property
    def _squares(self) -> Floats | None:
        """What the square of each judged row's weight was to be on average; None where it is not known of all."""
        logged = self._judged.chances
        if logged is None or np.isnan(logged).any():
            return None
        own = self._chances
        ratios = np.divide(own * own, logged, out=np.zeros_like(own), where=logged > 0.0)
        squares: Floats = np.add.reduceat(ratios, self._judged.offer_starts[:-1])
        return squares

    def _weights(self, name: str) -> Floats:
        log, policy = self._judged, self._name
        if np.isnan(self._chances).any():
            raise NoSupport(f"weights need the chance of every choice, but {policy} does not know its own; use replay")
        if name == "dm":
            return np.ones(len(log))
        _require_propensities(log)
        own = self._chances[log.chosen]
        untried = np.where(log.propensities >= 1.0, 1.0 - own, 0.0)
        if log.chances is not None:
            never = np.where(log.chances == 0.0, self._chances, 0.0)
            untried = np.maximum(untried, np.add.reduceat(never, log.offer_starts[:-1]))
        if untried.mean() > UNTRIED:
            raise NoSupport(
                f"an estimate needs every arm that {policy} may choose to have had a chance, but in"
                f" {int((untried > 0.0).sum()):,} of {len(log):,} rows it had none; log with exploration > 0"
            )
        weights = own / log.propensities
        # Bernstein's bound: of weights that average 1 and are at most W, the squares average at most W.
        largest = float(self._chances.max() / log.propensities.min())
        part = math.log(2.0 / FALSE_ALARM) * largest / len(log)
        slack = math.sqrt(2.0 * part) + part / 3.0
        mean = float(weights.mean())
        if abs(mean - 1.0) > slack:
            raise NoSupport(
                f"weights must average 1, by chance up to {slack:.2f} off, but those of {policy} average {mean:.2f}:"
                " some of what it chooses was never tried, or the propensities are not those of the log;"
                " log with exploration > 0"
            )
        return weights


def uniform_shares(log: Log) -> Floats:
    """Return with which chance to keep each row so that every offered arm is logged and kept equally often.

    With q the least chance that any arm had, a row whose arm had the chance p is kept with chance q/p. A uniformly
    random log with offers of one size is kept whole.
    """
    _require_propensities(log)
    chances = log.propensities if log.chances is None or np.isnan(log.chances).any() else log.chances
    least = float(chances.min())
    certain = (log.propensities >= 1.0) & (log.sizes > 1)
    if least <= 0.0 or certain.any():
        raise NoSupport(
            "replay needs every offered arm to have had a chance, but in"
            f" {int(certain.sum()) or len(log):,} of {len(log):,} rows some had none; log with exploration > 0"
        )
    shares: Floats = least / log.propensities
    return shares


def _require_propensities(log: Log) -> None:
    missing = int(np.isnan(log.propensities).sum())
    if missing:
        raise NoSupport(
            f"an estimate needs the propensity of every decision, but {missing:,} of {len(log):,} rows have none;"
            " log with a policy that knows its own, or select the rows that have one"
        )
