"""Policies on disk: arrays and plain values in one file, without pickle, written whole or not at all."""

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from druthers.anchors import ANCHORS, Anchor
from druthers.drafts import read_arrays, replaced
from druthers.errors import DamagedState, InvalidSetting, require
from druthers.own import find_class
from druthers.policies import POLICIES, Policy

_HEADER = "header"


def save(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write all a policy knows to one file; an older file there is replaced only once the new one is whole.

    User and arm ids must be text, numbers, booleans, None or tuples of these.
    """
    content = pack(policy.state())
    with replaced(path) as draft:
        draft.write_bytes(content)


def load(
    path: str | os.PathLike[str], *, policy: type[Policy] | str | None = None, anchor: type[Anchor] | str | None = None
) -> Policy:
    """Return the policy that was saved; it continues bit for bit, its chance included.

    The file names its policy and its anchor, of which ours are found; one that is your own must be given, its class or
    FILE.py:Class: no file makes code run that you did not name.
    """
    try:
        state = unpack(Path(path).read_bytes())
    except DamagedState as problem:
        raise DamagedState(f"a saved policy must be a whole file written by save(), but {path} is not") from problem
    family = Policy if policy is None else _class_of(policy, POLICIES, Policy, "policy")
    return family.from_state(state, anchor=None if anchor is None else _class_of(anchor, ANCHORS, Anchor, "anchor"))


def _class_of(told: object, known: Mapping[str, Any], kind: type, what: str) -> Any:
    """Return a class that is told by itself or by its name."""
    found = find_class(told, known, kind, what) if isinstance(told, str) else told
    fits = isinstance(found, type) and issubclass(found, kind)
    require(fits, f"the {what} of a saved file must be told by its class or by FILE.py:Class", told)
    return found


def pack(state: dict[str, Any]) -> bytes:
    """Return arrays and plain values as bytes."""
    arrays = {key: value for key, value in state.items() if isinstance(value, np.ndarray)}
    header = json.dumps({key: _encoded(value) for key, value in state.items() if key not in arrays})
    members: dict[str, Any] = {_HEADER: np.frombuffer(header.encode(), dtype=np.uint8), **arrays}
    packed = io.BytesIO()
    np.savez(packed, **members)
    return packed.getvalue()


def unpack(packed: bytes) -> dict[str, Any]:
    """Return what was packed."""
    content = read_arrays(packed)
    try:
        header = json.loads(content.pop(_HEADER).tobytes().decode())
        return {**{key: _decoded(value) for key, value in header.items()}, **content}
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as problem:
        raise DamagedState(f"a packed state must be whole, but this one is not: {problem}") from problem


def _encoded(value: Any) -> Any:
    """Turn plain values into what JSON can hold, tuples marked as such."""
    if isinstance(value, tuple):
        return {"tuple": [_encoded(item) for item in value]}
    if isinstance(value, list):
        return [_encoded(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[_encoded(key), _encoded(item)] for key, item in value.items()]}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float):
        return value
    raise InvalidSetting(
        f"an id must be text, a number, None or a tuple of these to be saved, but got {value!r}; use such ids"
    )


def _decoded(value: Any) -> Any:
    """Undo `_encoded`."""
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    if isinstance(value, dict) and "tuple" in value:
        return tuple(_decoded(item) for item in value["tuple"])
    if isinstance(value, dict):
        return {_decoded(key): _decoded(item) for key, item in value["dict"]}
    return value
