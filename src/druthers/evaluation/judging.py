"""What another policy would have been worth, judged from a log of decisions."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from druthers.errors import InvalidSetting, NoSupport, UnknownName
from druthers.evaluation.candidates import Candidate, Evaluated, make_candidate
from druthers.evaluation.estimators import ESTIMATORS, LEAST_EFFECTIVE, Estimate, Evidence, Interval, estimate, interval
from druthers.evaluation.following import Believed, believe
from druthers.logs import Log
from druthers.policies import make_policy
from druthers.types import Floats

DEFAULT = ("dr", "snips", "ips", "replay")

# What estimates rewards and utilities for the direct method and the doubly robust one.
MODEL = "fisher-pqucb"

# Chance that a policy gives to what was never tried, on average over rows: rounding leaves less.
UNTRIED = 1e-9

# Weights average 1 but for chance; this chance of a false alarm is allowed.
FALSE_ALARM = 1e-6


@dataclass(frozen=True)
class Evaluation:
    """What a policy would have been worth.

    Attributes
    ----------
    policy
        Its name.
    learned, judged
        How many rows it learned from first, and on how many others it was judged (by replay: on all).
    logged
        Mean of each outcome as it was logged, on the rows it was judged on.
    estimates
        By outcome and estimator: "utility" first, then the objectives; outcomes that no row has are left out.
    refusals
        Why an estimator could not be used: by its name, or by "NAME, OUTCOME" where it was only for that outcome.
    """

    policy: str
    learned: int
    judged: int
    logged: dict[str, Interval]
    estimates: dict[str, dict[str, Estimate]]
    refusals: dict[str, str]

    def plain(self) -> dict[str, Any]:
        """Return all of it as plain values, for JSON."""
        return {
            "policy": self.policy,
            "learned": self.learned,
            "judged": self.judged,
            "logged": {outcome: found._asdict() for outcome, found in self.logged.items()},
            "estimates": {
                outcome: {
                    name: {**found._asdict(), "value": found.value._asdict(), "gain": found.gain._asdict()}
                    for name, found in by_name.items()
                }
                for outcome, by_name in self.estimates.items()
            },
            "refusals": self.refusals,
        }


def evaluate(
    log: Log,
    policy: Evaluated,
    *,
    estimators: Iterable[str] = DEFAULT,
    settings: Mapping[str, Any] | None = None,
    label: str | None = None,
    learn: float = 0.5,
    level: float = 0.95,
    seed: int = 0,
) -> Evaluation:
    """Estimate what a policy would have been worth where another one made the decisions of a log.

    Parameters
    ----------
    log
        Decisions with their propensities.
    policy
        A policy's name or class: a fresh one learns from the first part of the log and is judged, as it then stands,
        on the rest, where it goes on hearing but learns no more. Replay is other: there it learns from the start, as
        in a run of its own, from the rows on which it chooses what was logged.
        A `Policy`: judged as it stands, on all rows. A function of user, offer and ranking that returns a chance for
        each offered arm, or an array of such chances laid out like `log.offers`: judged on all rows.
    estimators
        Some of "dr", "snips", "ips", "replay", "dm".
    settings
        Of a policy given by name or class; its `n_objectives` are those of the log.
    label
        What to call it.
    learn
        Share of the log that a policy given by name learns from.
    level
        Level of the confidence intervals.
    seed
        Seed of the policy's own chance, and of the rows that replay drops to make a log uniform.

    Raises
    ------
    NoSupport
        If no estimator can be used. If some cannot, `Evaluation.refusals` says why.

    Examples
    --------
    >>> from druthers import make_policy
    >>> from druthers.environments import Synthetic
    >>> from druthers.logs import record
    >>> tape = Synthetic(n_arms=6, n_objectives=3, n_users=2, offered=4).tape(seed=1, horizon=2000)
    >>> log = record(make_policy("random", n_objectives=3), tape)
    >>> found = evaluate(log, lambda user, offer, ranking: [1, 0, 0, 0], estimators=["ips", "snips"])
    >>> list(found.estimates["utility"])
    ['ips', 'snips']
    """
    names = list(dict.fromkeys(estimators))
    for name in names:
        if name not in ESTIMATORS:
            raise UnknownName.of("estimator", name, ESTIMATORS)
    for key, value in (("learn", learn), ("level", level)):
        if not 0.0 <= value < 1.0:
            raise InvalidSetting(f"{key} is a share and must be at least 0 and below 1, but got {value!r}")
    desk = _Desk(log, make_candidate(log, policy, settings or {}, learn, seed), seed)
    estimates: dict[str, dict[str, Estimate]] = {outcome: {} for outcome in log.outcomes}
    refusals: dict[str, str] = {}
    for name in names:
        try:
            weights, believed, rows = desk.evidence(name)
        except NoSupport as refusal:
            refusals[name] = str(refusal)
            continue
        for k, outcome in enumerate(log.outcomes):
            evidence = Evidence(weights, log.outcome(outcome)[rows], *(part[:, k] for part in believed))
            told = ~np.isnan(evidence.outcomes)
            if not told.all():
                evidence = Evidence(*(part[told] for part in evidence))
            if told.any():
                _enter(name, outcome, evidence, level, estimates, refusals)
    if not any(estimates.values()):
        raise NoSupport("; ".join(dict.fromkeys(refusals.values())) or "no row of the log has an outcome")
    kept = {outcome: by_name for outcome, by_name in estimates.items() if by_name}
    logged = {outcome: log.outcome(outcome)[desk.candidate.cut :] for outcome in kept}
    return Evaluation(
        policy=label or desk.candidate.name,
        learned=desk.candidate.cut,
        judged=len(log) - desk.candidate.cut,
        logged={key: interval(told := values[~np.isnan(values)], len(told), level) for key, values in logged.items()},
        estimates=kept,
        refusals=refusals,
    )


def _enter(
    name: str,
    outcome: str,
    evidence: Evidence,
    level: float,
    estimates: dict[str, dict[str, Estimate]],
    refusals: dict[str, str],
) -> None:
    found = estimate(name, evidence, level) if evidence.weights.any() else None
    effective = found.effective if found is not None else 0.0
    if found is not None and (effective >= LEAST_EFFECTIVE or name == "dm"):
        estimates[outcome][name] = found
        return
    refusals[f"{name}, {outcome}"] = (
        f"{name} needs an effective sample of at least {LEAST_EFFECTIVE:.0f} rows for its interval to hold, but got"
        f" {effective:.1f} of {len(evidence.weights):,}; log more decisions, or with more exploration"
    )


class _Desk:
    """A candidate and a log: what each estimator needs of them, computed once."""

    def __init__(self, log: Log, candidate: Candidate, seed: int) -> None:
        self.log = log
        self.candidate = candidate
        self._seed = seed
        self._judged = log.select(slice(candidate.cut, None)) if candidate.cut else log

    def evidence(self, name: str) -> tuple[Floats, Believed, slice]:
        """Return weights, beliefs and the rows they are of."""
        log = self.log
        if name == "replay":
            rng = np.random.default_rng(self._seed)
            same = self.candidate.same(log, rng.random(len(log)) < uniform_shares(log), rng)
            return same.astype(float), _nothing(log), slice(None)
        rows = slice(self.candidate.cut, None)
        if np.isnan(self._chances).any():
            raise NoSupport(
                f"weights need the chance of every choice, but {self.candidate.name} does not know its own; use replay"
            )
        weights = np.ones(len(self._judged)) if name == "dm" else self._weights()
        return weights, self._believed if name in ("dr", "dm") else _nothing(self._judged), rows

    @functools.cached_property
    def _chances(self) -> Floats:
        return self.candidate.chances(self.log)

    @functools.cached_property
    def _believed(self) -> Believed:
        """What the model expects of each judged row, having learned from all rows before it and no other."""
        cut = self.candidate.cut
        chances = np.zeros(len(self.log.offers))
        chances[self.log.offer_starts[cut] :] = self._chances
        believed = believe(make_policy(MODEL, n_objectives=len(self.log.objectives)), self.log, chances)
        return Believed(*(part[cut:] for part in believed))

    def _weights(self) -> Floats:
        log, policy = self._judged, self.candidate.name
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


def _nothing(log: Log) -> Believed:
    return Believed(*np.broadcast_to(0.0, (2, len(log), len(log.outcomes))))


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
