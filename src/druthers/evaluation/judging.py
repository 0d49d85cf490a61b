"""What another policy would have been worth, judged from a log of decisions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from druthers.errors import NoSupport, UnknownName, require
from druthers.evaluation.candidates import Evaluated, make_candidate
from druthers.evaluation.estimators import ESTIMATORS, LEAST_EFFECTIVE, Estimate, Evidence, Interval, estimate, interval
from druthers.evaluation.weighing import EvidenceTable
from druthers.logs import Log

DEFAULT = ("dr", "snips", "ips", "replay")


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


# Over sixty lines with its documentation; the code is half of it.
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
        Decisions with their propensities. Contexts of visits are left aside: no policy is told them.
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
    require(names, f"at least one estimator must be named, of {', '.join(ESTIMATORS)}", names)
    for name in names:
        if name not in ESTIMATORS:
            raise UnknownName.of("estimator", name, ESTIMATORS)
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
