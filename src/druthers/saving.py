"""Policies on disk: arrays and plain values in one file, without pickle, written whole or not at all."""

import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from druthers.drafts import replaced
from druthers.errors import DamagedState, InvalidSetting
from druthers.policies import Policy

_HEADER = "header"


def save(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write all a policy knows to one file; an older file there is replaced only once the new one is whole.

    User and arm ids must be text, numbers, booleans, None or tuples of these.
    """
    content = pack(policy.state())
    with replaced(path) as draft:
        draft.write_bytes(content)


def load(path: str | os.PathLike[str]) -> Policy:
    """Return the policy that was saved; it continues bit for bit, its chance included."""
    try:
        state = unpack(Path(path).read_bytes())
    except DamagedState as problem:
        raise DamagedState(f"a saved policy must be a whole file written by save(), but {path} is not") from problem
    return Policy.from_state(state)


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
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as members:
            content = {key: members[key] for key in members.files}
        header = json.loads(content.pop(_HEADER).tobytes().decode())
        return {**{key: _decoded(value) for key, value in header.items()}, **content}
    except Exception as problem:  # a damaged archive fails in more ways than can be listed
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
