"""Logs on disk: Parquet, one line for each decision, in columns that any tool reads."""

import json
import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from druthers.drafts import replaced
from druthers.errors import InvalidLog, needs
from druthers.logs.table import NONE_PICKED, NOT_TOLD, Log

VERSION = 1
REWARD, CONTEXT = "reward.", "context."
KNOWN = ("round", "time", "user", "offer", "ranking", "arm", "propensity", "chances", "utility", "picked", "policy")
PLAIN = ("users", "offers", "rankings", "places", "propensities", "rewards", "utilities", "policies")

# Rows are read and written so many at a time, which bounds the memory it takes.
ROW_GROUP = 1 << 16


def write_log(log: Log, path: str | os.PathLike[str]) -> None:
    """Write a log as Parquet, whole or not at all; ids must be all text or all whole numbers.

    Columns: `round`, `time` (where known), `user`, `offer` (list), `ranking` (list of objective names), `arm`,
    `propensity`, `chances` (list, where known), `reward.NAME` for each objective, `utility`, `picked` (where
    known: a list with the arm that the user picked, empty for none of these), `policy`, `context.NAME` for each entry
    of contexts. What is not known is null.
    """
    parquet = needs("pyarrow.parquet", "lab")
    users, arms = _ids("user", log.user_ids), _ids("arm", log.arm_ids)
    if not len(log):
        raise InvalidLog("a log must hold at least one decision to be written, but this one is empty")
    writer: Any = None
    try:
        with replaced(path) as draft:
            for start in range(0, len(log), ROW_GROUP):
                table = _table(log.select(slice(start, start + ROW_GROUP)), users, arms)
                writer = writer or parquet.ParquetWriter(draft, table.schema, compression="zstd")
                writer.write_table(table)
            writer.close()
    except OSError as problem:
        raise InvalidLog(f"a log must go where files can be written, but {path}: {problem.strerror}") from None


def read_log(path: str | os.PathLike[str]) -> Log:
    """Read a log that `write_log`, or anyone else, wrote in these columns; only `user`, `offer` and `arm` are required.

    The objectives are the columns `reward.NAME`, in their order.
    """
    pyarrow, parquet = needs("pyarrow", "lab"), needs("pyarrow.parquet", "lab")
    try:
        file = parquet.ParquetFile(Path(path))
    except FileNotFoundError:
        raise InvalidLog(f"a log must be a Parquet file, but there is no {path}; druthers log writes one") from None
    except (OSError, pyarrow.ArrowInvalid) as problem:
        raise InvalidLog(f"a log must be a Parquet file, but {path}: {problem}") from None
    try:
        with file:
            return _read(file).check()
    except InvalidLog as problem:
        raise InvalidLog(f"{problem} (in {path})") from None
    except (pyarrow.ArrowException, TypeError, ValueError) as problem:
        raise InvalidLog(f"the columns of a log must be of the documented types, but {path}: {problem}") from None


def _read(file: Any) -> Log:
    names = file.schema_arrow.names
    objectives = tuple(name.removeprefix(REWARD) for name in names if name.startswith(REWARD))
    if not {"user", "offer", "arm"} <= set(names) or not objectives:
        raise InvalidLog(
            f"a log must have the columns user, offer, arm and {REWARD}NAME for each objective,"
            f" but got {', '.join(names)}"
        )
    entries = tuple(name.removeprefix(CONTEXT) for name in names if name.startswith(CONTEXT))
    known = (*KNOWN, *(REWARD + name for name in objectives), *(CONTEXT + name for name in entries))
    books = {"user": _Codes(), "arm": _Codes(), "policy": _Codes(), "objective": _Codes(objectives)}
    parts = [
        _columns({name: batch[name] for name in batch.schema.names}, objectives, books)
        for batch in file.iter_batches(ROW_GROUP, columns=[name for name in names if name in known])
    ]
    if not parts:
        raise InvalidLog("a log must hold at least one decision, but there is none")
    if len(books["objective"]) > len(objectives):
        other = list(books["objective"])[len(objectives)]
        raise InvalidLog(f"a ranking must name objectives of the log, {', '.join(objectives)}, but got {other!r}")
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Log(
        objectives=objectives,
        user_ids=tuple(books["user"]),
        arm_ids=tuple(books["arm"]),
        policy_names=tuple(map(str, books["policy"])),
        rounds=columns.get("rounds", np.arange(len(columns["users"]))),
        times=columns.get("times"),
        offer_starts=np.concatenate([[0], np.cumsum(columns["sizes"])]),
        ranking_starts=np.concatenate([[0], np.cumsum(columns["lengths"])]),
        chances=columns.get("chances"),
        picks=columns.get("picks"),
        entries=entries,
        contexts=columns.get("contexts"),
        **{name: columns[name] for name in PLAIN},
    )


class _Codes(dict[Hashable, int]):
    """Numbers for ids, in order of first sight."""

    def __init__(self, known: tuple[str, ...] = ()) -> None:
        super().__init__(zip(known, range(len(known)), strict=True))

    def of(self, values: Any) -> NDArray[np.int32]:
        """Return the number of each value."""
        if values.null_count:
            raise InvalidLog(f"users, offers, arms and policies must be in every row, but {values.null_count} are not")
        coded = values.dictionary_encode()
        numbers = [self.setdefault(value, len(self)) for value in coded.dictionary.to_pylist()]
        codes: NDArray[np.int32] = np.array(numbers, dtype=np.int32)[coded.indices.to_numpy()]
        return codes


def _columns(batch: dict[str, Any], objectives: tuple[str, ...], books: dict[str, _Codes]) -> dict[str, NDArray[Any]]:
    """Return the columns of some rows as arrays."""
    n_rows = len(batch["user"])
    sizes, offered = _laid_out(batch["offer"])
    offers = books["arm"].of(offered)
    lengths, said = _laid_out(batch["ranking"]) if "ranking" in batch else (np.zeros(n_rows, dtype=np.int64), None)
    columns: dict[str, NDArray[Any]] = {
        "users": books["user"].of(batch["user"]),
        "sizes": sizes,
        "offers": offers,
        "lengths": lengths,
        "rankings": np.empty(0, np.int16) if said is None else books["objective"].of(said).astype(np.int16),
        "places": _places(sizes, offers, books["arm"].of(batch["arm"])),
        "propensities": _floats(batch.get("propensity"), n_rows),
        "rewards": np.column_stack([_floats(batch[REWARD + name], n_rows) for name in objectives]),
        "utilities": _floats(batch.get("utility"), n_rows),
        "policies": books["policy"].of(batch["policy"]) if "policy" in batch else np.zeros(n_rows, dtype=np.int32),
    }
    if "policy" not in batch:
        books["policy"].setdefault("logged", 0)
    if "round" in batch:
        columns["rounds"] = batch["round"].to_numpy(zero_copy_only=False).astype(np.int64)
    if "time" in batch:
        columns["times"] = batch["time"].cast(needs("pyarrow", "lab").timestamp("us")).to_numpy(zero_copy_only=False)
    if "chances" in batch:
        columns["chances"] = _floats(_laid_out(batch["chances"], sizes)[1], len(offers))
    if "picked" in batch:
        columns["picks"] = _picks(batch["picked"], sizes, offers, books["arm"])
    told = [_floats(values, n_rows) for name, values in batch.items() if name.startswith(CONTEXT)]
    if told:
        columns["contexts"] = np.nan_to_num(np.column_stack(told))
    return columns


def _ids(kind: str, ids: tuple[Hashable, ...]) -> Any:
    pyarrow, kinds = needs("pyarrow", "lab"), {type(key) for key in ids}
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
    if log.picks is not None:
        columns["picked"] = _picked(log, log.picks, arms)
    if log.contexts is not None:
        columns |= {CONTEXT + name: log.contexts[:, k] for k, name in enumerate(log.entries)}
    columns["policy"] = pyarrow.array(log.policy_names, pyarrow.string()).take(pyarrow.array(log.policies))
    return pyarrow.table(columns, metadata={"druthers": json.dumps({"log": VERSION})})


def _picked(log: Log, picks: NDArray[np.int32], arms: Any) -> Any:
    """Return picks as lists of at most one arm, null where nothing is known."""
    pyarrow = needs("pyarrow", "lab")
    some = picks >= 0
    starts = np.concatenate([[0], np.cumsum(some)]).astype(np.int32)
    taken = arms.take(pyarrow.array(log.offers[log.offer_starts[:-1][some] + picks[some]]))
    return pyarrow.ListArray.from_arrays(starts, taken, mask=pyarrow.array(picks == NOT_TOLD))


def _picks(lists: Any, sizes: NDArray[np.int64], offers: NDArray[np.int32], arms: _Codes) -> NDArray[np.int32]:
    """Undo `_picked`: an arm outside its offer gets a place outside it."""
    lengths, taken = _laid_out(lists)
    if (lengths > 1).any():
        raise InvalidLog("a pick must be a list of one arm, or of none, but some have more")
    picks = np.where(lists.is_null().to_numpy(zero_copy_only=False), NOT_TOLD, NONE_PICKED).astype(np.int32)
    chosen = np.full(len(sizes), -1, dtype=np.int32)
    chosen[lengths == 1] = arms.of(taken)
    places = _places(sizes, offers, chosen)
    return np.where(lengths == 1, np.where(places < 0, sizes, places), picks).astype(np.int32)


def _laid_out(lists: Any, sizes: NDArray[np.int64] | None = None) -> tuple[NDArray[np.int64], Any]:
    """Return the lengths of lists and their entries end to end; null is an empty list, or one of so many nulls."""
    pyarrow, compute = needs("pyarrow", "lab"), needs("pyarrow.compute", "lab")
    if sizes is not None and lists.null_count:
        missing = pyarrow.array([[None] * size for size in sizes.tolist()], pyarrow.list_(lists.type.value_type))
        lists = compute.coalesce(lists.cast(missing.type), missing)
    lengths = compute.list_value_length(lists).fill_null(0).to_numpy().astype(np.int64)
    return lengths, lists.flatten()


def _floats(values: Any, length: int) -> NDArray[np.float64]:
    if values is None:
        return np.full(length, np.nan)
    return np.asarray(values.cast("double").to_numpy(zero_copy_only=False), dtype=np.float64)


def _places(sizes: NDArray[np.int64], offers: NDArray[np.int32], chosen: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return where in its offer each chosen arm stands, -1 where it does not."""
    rows = np.repeat(np.arange(len(chosen)), sizes)
    places = np.full(len(chosen), -1, dtype=np.int32)
    hits = np.flatnonzero(offers == chosen[rows])[::-1]  # of two, the first one stays
    places[rows[hits]] = hits - (np.cumsum(sizes) - sizes)[rows[hits]]
    return places
