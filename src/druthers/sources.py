"""Which code and data numbers come from, as a digest: what others made is never taken for one's own."""

import functools
import hashlib
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

PACKAGE = Path(__file__).parent
# What turns the sources into arithmetic.
TOOLS = ("numpy", "numba", "llvmlite")
IMPORT = re.compile(r"^[ \t]*from (druthers(?:\.\w+)*) import (\([^)]*\)|[^\n(]*)", re.MULTILINE)
# A data file that a source names, and where else than beside that source such files are.
DATA = re.compile(r"\"([\w-]+(?:\.\w+)*\.(?:npz|toml|json|gz))\"")
TABLES = ("language", "data")


def digest(files: frozenset[Path]) -> str:
    """Return a digest of source files, of all of this package that they import or name as data, and of the tools."""
    whole = hashlib.sha256(repr([(tool, version(tool)) for tool in TOOLS]).encode())
    for path, content in sorted(_with_imports(files).items()):
        name = path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else path.name
        whole.update(f"{name} {len(content)} ".encode() + content)
    return whole.hexdigest()


@functools.cache
def our_digest(files: frozenset[Path]) -> str:
    """Return the digest of files that do not change while the process lives."""
    return digest(files)


def _with_imports(files: frozenset[Path]) -> dict[Path, bytes]:
    """Return the content of files, of those of this package that they import, directly or not, and of their data."""
    contents: dict[Path, bytes] = {}
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        if path not in contents:
            contents[path] = path.read_bytes()
            if path.suffix == ".py":
                source = contents[path].decode("utf-8", "replace")
                waiting += [*_imported(source), *_data(path, source)]
    return contents


def _data(path: Path, source: str) -> Iterator[Path]:
    """Yield the data files of this package that a source names."""
    if path.is_relative_to(PACKAGE):
        places = (path.parent, PACKAGE.joinpath(*TABLES))
        yield from (place / name for name in DATA.findall(source) for place in places if (place / name).is_file())


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
