"""What another policy would have been worth, judged from a log of decisions."""

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from druthers.errors import NoSupport, require, require_known
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
        return self._candidate.same(kept, rng).astype(float)

    @functools.cached_property
    def _chances(self) -> Floats:
        return self._candidate.chances()

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


@dataclass(frozen=True)
class Evaluation:
    """What a policy would have been worth."""

    policy: str
    learned: int  # how many rows it learned from first
    judged: int  # on how many others it was judged (by replay: on all)
    logged: dict[str, Interval]  # mean of each outcome as it was logged, on the rows it was judged on
    # By outcome and estimator: "utility" first, then the objectives; outcomes that no row has are left out.
    estimates: dict[str, dict[str, Estimate]]
    # Why an estimator could not be used: by its name, or by "NAME, OUTCOME" where it was only for that outcome.
    refusals: dict[str, str]

    def plain(self) -> dict[str, Any]:
        """Return all of it as plain values, for JSON."""
        return {name: _plain(value) for name, value in vars(self).items()}


def _plain(value: Any) -> Any:
    """Return named tuples, also within tables, as tables."""
    table = value._asdict() if hasattr(value, "_asdict") else value
    return {key: _plain(part) for key, part in table.items()} if isinstance(table, dict) else table


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

    Of a policy's name or class, a fresh one with these settings learns from the first part of the log, a share `learn`,
    and is judged, as it then stands, on the rest, where it goes on hearing but learns no more. Replay is other: there
    it learns from the start, as in a run of its own, from the rows on which it chooses what was logged. A `Policy` is
    judged as it stands, on all rows; and so is a function of user, offer and ranking that returns a chance for each
    offered arm, or an array of such chances laid out like `log.offers`.

    Estimators are some of "dr", "snips", "ips", "replay" and "dm"; `level` is that of confidence intervals, and the
    seed that of the policy's own chance and of the rows that replay drops to make a log uniform. Contexts of visits are
    left aside: no policy is told them. Where no estimator can be used, `NoSupport` is raised; where some cannot,
    `Evaluation.refusals` says why.

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
    require(names, f"at least one estimator must be named, of {', '.join(ESTIMATORS)}", names)
    require_known("estimator", ESTIMATORS, *names)
    for key, value in (("learn", learn), ("level", level)):
        require(0.0 <= value < 1.0, f"{key} is a share and must be at least 0 and below 1", value)
    candidate = make_candidate(log, policy, settings or {}, learn, seed)
    estimates, refusals = _estimates(EvidenceTable(log, candidate, seed, label), log.outcomes, names, level)
    if not estimates:
        laws = {why.partition(", but")[0]: why for why in refusals.values()}
        raise NoSupport("; ".join(laws.values()) or "a log must tell what came of its decisions, but this one does not")
    logged = {outcome: log.outcome(outcome)[candidate.cut :] for outcome in estimates}
    return Evaluation(
        policy=label or candidate.name,
        learned=candidate.cut,
        judged=len(log) - candidate.cut,
        logged={key: interval(told := values[~np.isnan(values)], len(told), level) for key, values in logged.items()},
        estimates=estimates,
        refusals=refusals,
    )


def _estimates(
    table: EvidenceTable, outcomes: Iterable[str], names: Iterable[str], level: float
) -> tuple[dict[str, dict[str, Estimate]], dict[str, str]]:
    """Return what the estimators say of each outcome, by name, and why some of them say nothing."""
    found: dict[str, dict[str, Estimate]] = {outcome: {} for outcome in outcomes}
    refusals: dict[str, str] = {}
    for name in names:
        try:
            evidence = table.evidence(name)
        except NoSupport as refusal:
            refusals[name] = str(refusal)
            continue
        for outcome, part in evidence.items():
            try:
                found[outcome][name] = _judged(name, part, level)
            except NoSupport as refusal:
                refusals[f"{name}, {outcome}"] = str(refusal)
    return {outcome: by_name for outcome, by_name in found.items() if by_name}, refusals


def _judged(name: str, evidence: Evidence, level: float) -> Estimate:
    found = estimate(name, evidence, level) if evidence.weights.any() else None
    if found is None or (found.effective < LEAST_EFFECTIVE and name != "dm"):
        raise NoSupport(
            f"an interval needs an effective sample of at least {LEAST_EFFECTIVE:.0f} rows to hold, but got"
            f" {found.effective if found else 0.0:.1f} of {len(evidence.weights):,}; log more decisions, or with more"
            " exploration"
        )
    return found


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
