"""Files that are written whole or not at all, and what is in them: arrays, and plain values as TOML and JSON."""

import contextlib
import io
import json
import math
import os
import re
import tomllib
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from druthers.errors import DamagedState


@contextlib.contextmanager
def replaced(path: str | os.PathLike[str], *, mode: int = 0o666) -> Iterator[Path]:
    """Yield a path to write to; the file takes its final name only when the block ends well, and is on disk then.

    The mode says who may read and write it, less what the process gives nobody.
    """
    target = Path(path)
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode))
        yield draft
        with draft.open("rb+") as written:
            os.fsync(written.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def finite(value: float) -> float | None:
    """Return a number as JSON can hold it, None for one that is not finite.

    Examples
    --------
    >>> finite(0.5), finite(float("nan"))
    (0.5, None)
    """
    return float(value) if math.isfinite(value) else None


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write plain values as JSON, whole or not at all; what JSON does not know is written as its `repr`."""
    write_text(path, json.dumps(content, indent=1, allow_nan=False, default=repr) + "\n")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as it stands, whole or not at all; its folder is made if it is not there."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as draft:
        draft.write_text(text, "utf-8", newline="\n")


def write_arrays(path: Path, **arrays: Any) -> None:
    """Write arrays to one file, whole or not at all; its folder is made if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as draft, draft.open("wb") as file:
        np.savez(file, **arrays)


def read_arrays(content: bytes) -> dict[str, Any]:
    """Return the arrays of a file; `DamagedState` if it is not whole."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as members:
            return {name: members[name] for name in members.files}
    except Exception as problem:  # a damaged archive fails in more ways than can be listed
        raise DamagedState(f"arrays must be in a whole file, but this one is not: {problem}") from problem


def to_json(content: Mapping[str, Any]) -> str:
    """Return plain values as JSON, with a line for each entry of the lists and tables that stand first.

    Examples
    --------
    >>> print(to_json({"name": "inns", "items": [{"id": "mill"}, {"id": "barn"}]}), end="")
    {
     "name": "inns",
     "items": [
      {"id": "mill"},
      {"id": "barn"}
     ]
    }
    """
    parts = []
    for key, value in content.items():
        body = _compact(value)
        if isinstance(value, list) and value:
            body = "[\n  " + ",\n  ".join(map(_compact, value)) + "\n ]"
        elif isinstance(value, dict) and value:
            lines = (f"{_compact(name)}: {_compact(entry)}" for name, entry in value.items())
            body = "{\n  " + ",\n  ".join(lines) + "\n }"
        parts.append(f" {_compact(key)}: {body}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def to_toml(content: Mapping[str, Any]) -> str:
    """Return plain values as TOML: single ones first, then tables, lists of tables and tables of tables.

    What is None is left out, for TOML has no word for it.

    Examples
    --------
    >>> print(to_toml({"policies": {"s-ucb": {"width": 1.4}}, "items": [{"id": "mill"}], "runs": 3}), end="")
    runs = 3
    <BLANKLINE>
    [policies.s-ucb]
    width = 1.4
    <BLANKLINE>
    [[items]]
    id = "mill"
    """
    lines, tables = [], []
    for name, value in content.items():
        key = _toml_key(name)
        if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
            tables += [(f"[[{key}]]", entry) for entry in value]
        elif isinstance(value, dict) and value and all(isinstance(entry, dict) for entry in value.values()):
            tables += [(f"[{key}.{_toml_key(inner)}]", entry) for inner, entry in value.items()]
        elif isinstance(value, dict):
            tables += [(f"[{key}]", value)] if value else []
        elif value is not None:
            lines.append(f"{key} = {_toml(value)}")
    for head, table in tables:
        lines += [
            "",
            head,
            *(f"{_toml_key(key)} = {_toml(value)}" for key, value in table.items() if value is not None),
        ]
    return "\n".join(lines) + "\n"


def read_value(text: str) -> Any:
    r"""Return a single value as TOML reads it; what is no TOML is the text itself.

    Examples
    --------
    >>> read_value("0.5"), read_value(" [1, 2] "), read_value("stated-ucb"), read_value("1\nruns = 3")
    (0.5, [1, 2], 'stated-ucb', '1\nruns = 3')
    """
    try:
        content = tomllib.loads(f"value = {text.strip()}")
    except (ValueError, RecursionError):
        return text.strip()
    return content["value"] if set(content) == {"value"} else text.strip()


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml(key)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)  # nan and inf are words of TOML too
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml_key(key)} = {_toml(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # JSON's escapes are TOML's, but for the one character that TOML wants escaped too.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
