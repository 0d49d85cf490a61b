"""Logs on disk: Parquet, one line for each decision, in columns that any tool reads."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from druthers.errors import InvalidLog, needs
from druthers.logs.table import Log

VERSION = 1
REWARD = "reward."

# Rows are written so many at a time, which bounds the memory it takes.
ROW_GROUP = 1 << 16


def write_log(log: Log, path: str | os.PathLike[str]) -> None:
    """Write a log as Parquet, whole or not at all; ids must be all text or all whole numbers.

    Columns: `round`, `time` (where known), `user`, `offer` (list), `ranking` (list of objective names), `arm`,
    `propensity`, `chances` (list, where known), `reward.NAME` for each objective, `utility`, `policy`. What is not
    known is null.
    """
    parquet = needs("pyarrow.parquet", "lab")
    users, arms = _ids("user", log.user_ids), _ids("arm", log.arm_ids)
    target = Path(path)
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    if not len(log):
        raise InvalidLog("a log must hold at least one decision to be written, but this one is empty")
    writer: Any = None
    try:
        for start in range(0, len(log), ROW_GROUP):
            table = _table(log.select(slice(start, start + ROW_GROUP)), users, arms)
            writer = writer or parquet.ParquetWriter(draft, table.schema, compression="zstd")
            writer.write_table(table)
        writer.close()
        draft.replace(target)
    except OSError as problem:
        raise InvalidLog(f"a log must go where files can be written, but {path}: {problem.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)


def read_log(path: str | os.PathLike[str]) -> Log:
    """Read a log that `write_log`, or anyone else, wrote in these columns; only `user`, `offer` and `arm` are required.

    The objectives are the columns `reward.NAME`, in their order.
    """
    pyarrow, parquet = needs("pyarrow", "lab"), needs("pyarrow.parquet", "lab")
    try:
        table = parquet.read_table(Path(path))
    except (OSError, pyarrow.ArrowInvalid) as problem:
        raise InvalidLog(f"a log must be a Parquet file, but {path}: {problem}") from None
    columns = set(table.column_names)
    objectives = tuple(name.removeprefix(REWARD) for name in table.column_names if name.startswith(REWARD))
    if not {"user", "offer", "arm"} <= columns or not objectives:
        raise InvalidLog(
            f"a log must have the columns user, offer, arm and {REWARD}NAME for each objective,"
            f" but {path} has {', '.join(table.column_names)}"
        )
    if len(table) == 0:
        raise InvalidLog(f"a log must hold at least one decision, but {path} is empty")
    try:
        return _log(table, objectives).check()
    except (pyarrow.ArrowException, TypeError, ValueError) as problem:
        if isinstance(problem, InvalidLog):
            raise
        raise InvalidLog(f"the columns of a log must be of the documented types, but {path}: {problem}") from None


def _ids(kind: str, ids: tuple[Hashable, ...]) -> Any:
    pyarrow = needs("pyarrow", "lab")
    kinds = {type(key) for key in ids}
    if kinds == {str}:
        return pyarrow.array(ids, pyarrow.string())
    if all(issubclass(each, int | np.integer) and each is not bool for each in kinds):
        return pyarrow.array(ids, pyarrow.int64())
    names = ", ".join(sorted(each.__name__ for each in kinds))
    raise InvalidLog(f"the {kind} ids of a file must be all text or all whole numbers, but got {names}; use such ids")


def _table(log: Log, users: Any, arms: Any) -> Any:
    pyarrow = needs("pyarrow", "lab")
    named = pyarrow.array(log.objectives, pyarrow.string())
    offer_starts, ranking_starts = (starts.astype(np.int32) for starts in (log.offer_starts, log.ranking_starts))
    columns: dict[str, Any] = {"round": log.rounds}
    if log.times is not None:
        columns["time"] = pyarrow.array(log.times, pyarrow.timestamp("us", "UTC"))
    columns["user"] = users.take(pyarrow.array(log.users))
    columns["offer"] = pyarrow.ListArray.from_arrays(offer_starts, arms.take(pyarrow.array(log.offers)))
    columns["ranking"] = pyarrow.ListArray.from_arrays(ranking_starts, named.take(pyarrow.array(log.rankings)))
    columns["arm"] = arms.take(pyarrow.array(log.arms))
    columns["propensity"] = pyarrow.array(log.propensities, from_pandas=True)
    if log.chances is not None:
        columns["chances"] = pyarrow.ListArray.from_arrays(offer_starts, pyarrow.array(log.chances, from_pandas=True))
    for k, name in enumerate(log.objectives):
        columns[REWARD + name] = pyarrow.array(log.rewards[:, k], from_pandas=True)
    columns["utility"] = pyarrow.array(log.utilities, from_pandas=True)
    columns["policy"] = pyarrow.array(log.policy_names, pyarrow.string()).take(pyarrow.array(log.policies))
    return pyarrow.table(columns, metadata={"druthers": json.dumps({"log": VERSION})})


def _log(table: Any, objectives: tuple[str, ...]) -> Log:
    pyarrow, compute = needs("pyarrow", "lab"), needs("pyarrow.compute", "lab")
    present = {name: table[name].combine_chunks() for name in table.column_names}
    n_rows = len(table)
    user_ids, users = _encoded(present["user"])
    offer_starts, flat = _laid_out(present["offer"])
    arm_ids, offers = _encoded(flat)
    chosen = compute.index_in(present["arm"].cast(arm_ids.type), value_set=arm_ids).fill_null(-1).to_numpy()
    policy_names, policies = _encoded(present.get("policy", pyarrow.array(["logged"] * n_rows)))
    ranking_starts, rankings = np.zeros(n_rows + 1, dtype=np.int64), np.empty(0, dtype=np.int16)
    if "ranking" in present:
        ranking_starts, named = _laid_out(present["ranking"])
        found = compute.index_in(named, value_set=pyarrow.array(objectives, named.type))
        if found.null_count:
            raise InvalidLog(f"a ranking must name objectives of the log, {', '.join(objectives)}, but some do not")
        rankings = found.to_numpy().astype(np.int16)
    return Log(
        objectives=objectives,
        user_ids=tuple(user_ids.to_pylist()),
        arm_ids=tuple(arm_ids.to_pylist()),
        policy_names=tuple(policy_names.to_pylist()),
        rounds=present["round"].to_numpy().astype(np.int64) if "round" in present else np.arange(n_rows),
        times=_times(present.get("time")),
        users=users,
        offer_starts=offer_starts,
        offers=offers,
        ranking_starts=ranking_starts,
        rankings=rankings,
        places=_places(offer_starts, offers, chosen),
        propensities=_floats(present.get("propensity"), n_rows),
        rewards=np.column_stack([_floats(present[REWARD + name], n_rows) for name in objectives]),
        utilities=_floats(present.get("utility"), n_rows),
        policies=policies,
        chances=_floats(_laid_out(present["chances"])[1], len(offers)) if "chances" in present else None,
    )


def _encoded(values: Any) -> tuple[Any, NDArray[np.int32]]:
    """Return the different values and the number of each entry."""
    if values.null_count:
        raise InvalidLog(
            f"users, offers, arms and policies must be given in every row, but {values.null_count} are not"
        )
    coded = values.dictionary_encode()
    return coded.dictionary, coded.indices.to_numpy().astype(np.int32)


def _laid_out(lists: Any) -> tuple[NDArray[np.int64], Any]:
    """Return the starts of lists and their entries end to end; null is an empty list."""
    sizes = needs("pyarrow.compute", "lab").list_value_length(lists).fill_null(0).to_numpy()
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]), lists.flatten()


def _floats(values: Any, length: int) -> NDArray[np.float64]:
    if values is None:
        return np.full(length, np.nan)
    numbers: NDArray[np.float64] = values.cast("double").to_numpy(zero_copy_only=False).astype(np.float64)
    return numbers


def _times(values: Any) -> NDArray[np.datetime64] | None:
    if values is None:
        return None
    pyarrow = needs("pyarrow", "lab")
    times: NDArray[np.datetime64] = values.cast(pyarrow.timestamp("us")).to_numpy(zero_copy_only=False)
    return times


def _places(starts: NDArray[np.int64], offers: NDArray[np.int32], chosen: NDArray[Any]) -> NDArray[np.int32]:
    """Return where in its offer each chosen arm stands, -1 where it does not."""
    rows = np.repeat(np.arange(len(chosen)), np.diff(starts))
    places = np.full(len(chosen), -1, dtype=np.int32)
    hits = np.flatnonzero(offers == chosen[rows])[::-1]  # of two, the first one stays
    places[rows[hits]] = hits - starts[rows[hits]]
    return places
