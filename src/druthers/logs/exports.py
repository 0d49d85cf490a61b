"""Logs for others: the feedback dictionary of Open Bandit Pipeline, and Vowpal Wabbit's dsjson."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from druthers.errors import InvalidLog, needs
from druthers.logs.table import UTILITY, Log
from druthers.types import Floats

# Lines are made so many at a time, which bounds the memory it takes.
LINES = 1 << 14


def to_obp(log: Log, outcome: str = UTILITY, *, users: bool = True, chances: bool = True) -> dict[str, Any]:
    """Return a log as the feedback dictionary of Open Bandit Pipeline; rows without the outcome are left out.

    `reward` is the outcome: "utility", or an objective by name. `action` is a number: `log.arm_ids` says which arm.
    `context` has a column for each user, 1 for whom the decision was for, if `users`; then one for each objective, 1
    where it was named first, 1/2 where second, and so on, 0 where not. With `chances`, there is `pi_b` (n_rounds,
    n_actions, 1) where the chances of all offered arms are known. The pipeline knows no offers; arms that were not
    offered have chance 0 in `pi_b`.
    """
    log = _with_outcome(log, outcome)
    n_rows, n_arms = len(log), len(log.arm_ids)
    context = np.zeros((n_rows, len(log.objectives)))
    context[np.repeat(np.arange(n_rows), np.diff(log.ranking_starts)), log.rankings] = _shares(log)
    if users:
        context = np.hstack([log.users[:, None] == np.arange(len(log.user_ids)), context])
    feedback: dict[str, Any] = {
        "n_rounds": n_rows,
        "n_actions": n_arms,
        "context": context,
        "action_context": np.eye(n_arms, dtype=np.int8),
        "action": log.arms.astype(np.int64),
        "position": np.zeros(n_rows, dtype=np.int64),
        "reward": log.outcome(outcome).copy(),
        "pscore": log.propensities.copy(),
    }
    if chances and log.chances is not None and not np.isnan(log.chances).any():
        feedback["pi_b"] = spread(log, log.chances)
    return feedback


def spread(log: Log, chances: Floats) -> Floats:
    """Return chances of the offered arms as Open Bandit Pipeline takes them: (n_rounds, n_actions, 1)."""
    wide = np.zeros((len(log), len(log.arm_ids), 1))
    wide[np.repeat(np.arange(len(log)), log.sizes), log.offers, 0] = chances
    return wide


def write_dsjson(log: Log, path: str | os.PathLike[str], outcome: str = UTILITY) -> int:
    """Write a log as Vowpal Wabbit's dsjson, one line for each decision, and return how many lines.

    The cost is the negative outcome; decisions without it, or without a propensity, are left out. User and ranking are
    the shared context, in the namespaces `User` and `Said`; each action is an arm, in the namespace `Arm`.
    """
    log = _with_outcome(log, outcome)
    log = log.select(~np.isnan(log.propensities))
    arms = [json.dumps({"Arm": {"arm": str(arm)}}, separators=(",", ":")) for arm in log.arm_ids]
    users = [json.dumps({"user": str(user)}, separators=(",", ":")) for user in log.user_ids]
    try:
        with Path(path).open("w", encoding="utf-8") as file:
            for start in range(0, len(log), LINES):
                lines = _lines(log.select(slice(start, start + LINES)), start, outcome, (arms, users))
                file.write("\n".join(lines) + "\n")
    except OSError as problem:
        raise InvalidLog(f"an export must go where files can be written, but {path}: {problem.strerror}") from None
    return len(log)


def _lines(log: Log, first: int, outcome: str, fragments: tuple[list[str], list[str]]) -> list[str]:
    """Join the lines column by column, in Arrow: a loop over rows would take ten times as long."""
    pyarrow, compute = needs("pyarrow", "lab"), needs("pyarrow.compute", "lab")
    arms, users = (pyarrow.array(texts) for texts in fragments)
    objectives = pyarrow.array([json.dumps(name) + ":" for name in log.objectives])
    named = compute.binary_join_element_wise(objectives.take(pyarrow.array(log.rankings)), _texts(_shares(log)), "")
    order = _chosen_first(log)
    known = np.zeros(len(log), dtype=bool)
    if log.chances is not None:
        known = ~np.isnan(np.add.reduceat(log.chances, log.offer_starts[:-1]))
    numbers = order - np.repeat(log.offer_starts[:-1], log.sizes) + 1
    chances = np.ones(len(order)) if log.chances is None else log.chances[order]
    alone = pyarrow.array(~known)
    times = log.times if log.times is not None else np.full(len(log), np.datetime64("NaT", "us"))
    stamp = compute.strftime(pyarrow.array(times), format='"Timestamp":"%Y-%m-%dT%H:%M:%SZ",').fill_null("")
    action, chance = _texts(log.places + 1), _texts(log.propensities)
    parts = [
        '{"_label_cost":', _texts(-log.outcome(outcome)),
        ',"_label_probability":', chance,
        ',"_label_Action":', action,
        ',"_labelIndex":', _texts(log.places),
        ',"Version":"1",', stamp,
        '"EventId":"', _texts(first + np.arange(len(log))),
        '","a":[', compute.if_else(alone, action, _joined(log.offer_starts, _texts(numbers))),
        '],"c":{"User":', users.take(pyarrow.array(log.users)),
        ',"Said":{', _joined(log.ranking_starts, named),
        '},"_multi":[', _joined(log.offer_starts, arms.take(pyarrow.array(log.offers))),
        ']},"p":[', compute.if_else(alone, chance, _joined(log.offer_starts, _texts(chances))),
        "]}",
    ]  # fmt: skip
    lines: list[str] = compute.binary_join_element_wise(*parts, "").to_pylist()
    return lines


def _texts(values: NDArray[Any]) -> Any:
    return needs("pyarrow", "lab").array(values).cast("string")


def _joined(starts: NDArray[np.int64], texts: Any) -> Any:
    pyarrow, compute = needs("pyarrow", "lab"), needs("pyarrow.compute", "lab")
    return compute.binary_join(pyarrow.ListArray.from_arrays(starts.astype(np.int32), texts), ",")


def _chosen_first(log: Log) -> NDArray[np.int64]:
    """Return the places in `offers` row by row, each row's chosen one before the others."""
    rows, places = np.repeat(np.arange(len(log)), log.sizes), np.arange(len(log.offers))
    return np.lexsort((places, places != log.chosen[rows], rows))


def _shares(log: Log) -> Floats:
    """Return 1/place of each objective that is named in `rankings`."""
    starts = np.repeat(log.ranking_starts[:-1], np.diff(log.ranking_starts))
    return 1.0 / (1 + np.arange(len(starts)) - starts)


def _with_outcome(log: Log, outcome: str) -> Log:
    told = ~np.isnan(log.outcome(outcome))
    if not told.any():
        raise InvalidLog(f"an export needs an outcome that was observed, but no row has {outcome!r}; choose another")
    return log.select(told)
