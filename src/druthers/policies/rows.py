"""The memory of a policy: nested rows of arrays, one row a user or an arm, and how they are written down and read."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from druthers.anchors import ANCHORS, Anchor
from druthers.errors import DamagedState, DruthersError, UnknownName, choices
from druthers.own import check_settings

T = TypeVar("T")
STATE_VERSION = 1


@contextlib.contextmanager
def wholeness_of(name: str) -> Iterator[None]:
    """Say of a state that lacks something, or has something else in its place, that it is damaged."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as problem:
        if isinstance(problem, DruthersError):
            raise
        raise DamagedState(f"a state must hold what {name} wrote, but {problem!s} is missing or wrong") from problem


def check_version(state: dict[str, Any]) -> None:
    """Refuse a state that this version cannot read, saying why."""
    version = state.get("version") if isinstance(state, dict) else None
    if version != STATE_VERSION:
        newer = isinstance(version, int) and version > STATE_VERSION
        remedy = "upgrade druthers to read it" if newer else "it was not written by a policy's state()"
        raise DamagedState(f"a state must be of version {STATE_VERSION}, but got version {version!r}; {remedy}")
    for part in ("policy", "params"):
        if part not in state:
            raise DamagedState(f"a state must say its policy and params, but {part} is missing")


def require_bytes(known: object) -> None:
    """Refuse what no policy exported."""
    if not isinstance(known, bytes):
        raise DamagedState(f"an exported user is bytes, as export_user returns them, but got {known!r}")


def plain(value: Any) -> Any:
    """Turn a constructor's argument into plain values: anchors into their name and settings, mappings into pairs."""
    if isinstance(value, Anchor):
        return {"anchor": value.name, "params": {key: plain(item) for key, item in value.params.items()}}
    if isinstance(value, dict):
        return {"pairs": [[key, item] for key, item in value.items()]}
    if isinstance(value, np.generic):
        return value.item()
    return value


def ours(known: Mapping[str, type[T]], state: dict[str, Any], what: str) -> type[T]:
    """Return the class of ours that a state names, or say how to load what is someone's own."""
    name = state[what]
    if isinstance(name, str) and name in known:
        return known[name]
    raise UnknownName(
        f"what is saved must be ours, or its class must be told, but got the {what} {name!r};"
        f' load it with load(path, {what}=CLASS) or load(path, {what}="FILE.py:CLASS"); {choices(name, known)}'
    )


def lively(value: Any, anchor: type[Anchor] | None = None) -> Any:
    """Undo `plain`; an anchor that is none of ours is made of its class: what a state names runs no code of its own."""
    if isinstance(value, dict) and "anchor" in value:
        family = anchor if anchor is not None and anchor.name == value["anchor"] else ours(ANCHORS, value, "anchor")
        params = {key: lively(item) for key, item in value["params"].items()}
        check_settings(family, params, family.name)
        return family(**params)
    if isinstance(value, dict) and "pairs" in value:
        return dict(value["pairs"])
    return value


def arrays(rows: Any) -> Iterable[tuple[str, Any]]:
    """Yield the arrays of nested rows with their dotted names; scalars in them are settings."""
    for field in rows._fields:
        value = getattr(rows, field)
        if isinstance(value, np.ndarray):
            yield field, value
        elif hasattr(value, "_fields"):
            yield from ((f"{field}.{name}", array) for name, array in arrays(value))


def mapped(rows: Any, change: Callable[[str, NDArray[Any]], NDArray[Any]], path: str = "") -> Any:
    """Return the same nested rows with every array replaced."""
    fields = {}
    for field in rows._fields:
        value = getattr(rows, field)
        if isinstance(value, np.ndarray):
            fields[field] = change(path + field, value)
        elif hasattr(value, "_fields"):
            fields[field] = mapped(value, change, f"{path}{field}.")
        else:
            fields[field] = value
    return type(rows)(**fields)


def grown(rows: Any, fresh: Any) -> Any:
    """Return rows with the fresh ones appended."""
    extra = dict(arrays(fresh))
    return mapped(rows, lambda name, array: np.concatenate([array, extra[name]]))


def overwrite(rows: Any, row: int, keep: tuple[str, ...] = ()) -> None:
    """Make a row as fresh as row 0, which is never written, but for the arrays to keep."""
    for name, array in arrays(rows):
        if name not in keep:
            array[row] = array[0]


def flatten(kind: str, rows: Any, n_rows: int | None = None) -> dict[str, Any]:
    """Return copies of the arrays of the first rows, by their dotted names."""
    return {f"{kind}.{name}": array[:n_rows].copy() for name, array in arrays(rows)}


def unflatten(kind: str, fresh: Any, state: dict[str, Any]) -> Any:
    """Undo `flatten`: rows like the fresh ones with a state's arrays."""
    return mapped(fresh, lambda name, array: same_kind(f"{kind}.{name}", state[f"{kind}.{name}"], array))


def same_kind(name: str, saved: Any, example: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of a saved array, which must have the shape and type of the example."""
    array = np.asarray(saved)
    if array.shape != example.shape or array.dtype != example.dtype:
        raise ValueError(f"{name} of shape {array.shape} and type {array.dtype}")
    return np.array(array, order="C")
