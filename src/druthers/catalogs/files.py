"""Catalogs as files: read from TOML or JSON, written whole or not at all."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from druthers.drafts import replaced, to_json, to_toml
from druthers.errors import InvalidCatalog

SUFFIXES = (".toml", ".json")
TABLES = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".gz")  # of which a catalog is made first


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
        with replaced(path) as draft:
            draft.write_text(text, "utf-8", newline="\n")
    except OSError as error:
        raise InvalidCatalog(
            f"a catalog must go where files can be written, but {path}: {error.strerror or error}"
        ) from error


def _require_suffix(path: Path) -> None:
    if path.suffix not in SUFFIXES:
        table = path.suffix in TABLES
        remedy = f"make one of it with `druthers catalog build {path}`" if table else "name a file that does"
        raise InvalidCatalog(f"a catalog's file must end in {' or '.join(SUFFIXES)}, but got {str(path)!r}; {remedy}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that stands twice in a JSON object, as TOML does; plain JSON would forget the first."""
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f'the key "{next(key for key in keys if keys.count(key) > 1)}" stands twice in an object')
    return table
