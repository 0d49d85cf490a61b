"""Catalogs as files: read from TOML or JSON, written whole or not at all."""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from druthers.errors import InvalidCatalog

SUFFIXES = (".toml", ".json")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def read_content(path: Path) -> Any:
    """Return what a TOML or JSON file says, unchecked."""
    _require_suffix(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text, object_pairs_hook=_once)
    except OSError as error:
        raise InvalidCatalog(f"a catalog must be a file that can be read, but {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InvalidCatalog(f"a catalog must be text in UTF-8, but {path} is not at byte {error.start}") from None
    except RecursionError:
        raise InvalidCatalog(f"a catalog is a few tables deep, but {path} is nested without end") from None
    except ValueError as error:
        kind = path.suffix[1:].upper()
        raise InvalidCatalog(f"a catalog must be written in {kind}, but {path} is not: {error}") from None


def write_content(content: Mapping[str, Any], path: Path) -> None:
    """Write a content that was checked, as TOML or JSON by the file's name: a new file, or the old one as it was."""
    _require_suffix(path)
    text = to_toml(content) if path.suffix == ".toml" else to_json(content)
    try:
        _write_whole(text, path)
    except OSError as error:
        raise InvalidCatalog(
            f"a catalog must go where files can be written, but {path}: {error.strerror or error}"
        ) from error


def _write_whole(text: str, path: Path) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def to_toml(content: Mapping[str, Any]) -> str:
    """Return a catalog's content as TOML: plain fields first, then a table for each objective and each item.

    Examples
    --------
    >>> print(to_toml({"name": "inns", "objectives": [{"name": "price", "low": 50}]}), end="")
    name = "inns"
    <BLANKLINE>
    [[objectives]]
    name = "price"
    low = 50
    """
    lines = [f"{key} = {_written(value)}" for key, value in content.items() if not _is_tables(value)]
    for key, tables in content.items():
        for table in tables if _is_tables(tables) else ():
            lines += ["", f"[[{key}]]"]
            lines += [f"{_key(field)} = {_written(value)}" for field, value in table.items()]
    return "\n".join(lines) + "\n"


def to_json(content: Mapping[str, Any]) -> str:
    """Return a content as JSON, with a line for each objective and each item.

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
        if _is_tables(value):
            written = "[\n  " + ",\n  ".join(json.dumps(table, ensure_ascii=False) for table in value) + "\n ]"
        else:
            written = json.dumps(value, ensure_ascii=False)
        parts.append(f" {json.dumps(key)}: {written}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _require_suffix(path: Path) -> None:
    if path.suffix not in SUFFIXES:
        raise InvalidCatalog(f"a catalog's file must end in {' or '.join(SUFFIXES)}, but got {str(path)!r}; rename it")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that stands twice in a JSON object, as TOML does; plain JSON would forget the first."""
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f'the key "{next(key for key in keys if keys.count(key) > 1)}" stands twice in an object')
    return table


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)


def _key(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else _written(key)


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):  # JSON's escapes are TOML's, but for the one character that TOML wants escaped too
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_written(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_written(entry) for entry in value) + "]"
    return repr(value)
