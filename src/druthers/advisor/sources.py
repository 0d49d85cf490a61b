"""Which code a fold's numbers come from, as a digest: no state of other code is ever taken for its own."""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
import secrets
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from druthers.anchors import Anchor
from druthers.errors import InvalidSetting
from druthers.own import own_sources
from druthers.policies import Policy

PACKAGE = Path(__file__).parents[1]
# What turns the sources into arithmetic.
TOOLS = ("numpy", "numba", "llvmlite")
IMPORT = re.compile(r"^[ \t]*from (druthers(?:\.\w+)*) import (\([^)]*\)|[^\n(]*)", re.MULTILINE)


def digest_of(policy: Policy) -> str:
    """Return a digest of the sources of a fold with this policy and of all of this package that they import.

    A policy from a file of one's own counts with that file and those beside it that it imports; one that has no file is
    like no other.
    """
    parts = (policy, *(value for value in policy.params.values() if isinstance(value, Anchor)))
    files = {PACKAGE / "advisor" / "fold.py"}
    try:
        for kind in (kind for part in parts for kind in type(part).__mro__):
            if issubclass(kind, Policy | Anchor):
                files.add(Path(inspect.getfile(kind)))
        own = {beside for file in files if not file.is_relative_to(PACKAGE) for beside in own_sources(file)}
    except (OSError, TypeError, InvalidSetting):
        return secrets.token_hex(16)
    return _digest(frozenset(files | own)) if own else _our_digest(frozenset(files))


@functools.cache
def _our_digest(files: frozenset[Path]) -> str:
    """Return the digest of files that do not change while the process lives."""
    return _digest(files)


def _digest(files: frozenset[Path]) -> str:
    whole = hashlib.sha256(repr([(tool, version(tool)) for tool in TOOLS]).encode())
    for path, content in sorted(_with_imports(files).items()):
        name = path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else path.name
        whole.update(f"{name} {len(content)} ".encode() + content)
    return whole.hexdigest()


def _with_imports(files: frozenset[Path]) -> dict[Path, bytes]:
    """Return the content of files and of all files of this package that they import, directly or not."""
    contents: dict[Path, bytes] = {}
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        if path not in contents:
            contents[path] = path.read_bytes()
            waiting += _imported(contents[path].decode("utf-8", "replace"))
    return contents


def _imported(source: str) -> Iterator[Path]:
    """Yield the files of this package that a source imports; imports here are never relative."""
    for module, names in IMPORT.findall(source):
        found = [_file(f"{module}.{name}") for name in re.findall(r"(\w+)(?:\s+as\s+\w+)?", names)]
        yield from (file for file in found if file is not None)
        if None in found and (package := _file(module)) is not None:  # something in it, not a module of it
            yield package


def _file(module: str) -> Path | None:
    place = PACKAGE.joinpath(*module.split(".")[1:])
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
