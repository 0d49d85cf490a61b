"""Parts of your own: a policy, an anchor or an environment in a file of yours, named FILE.py:Class wherever ours are.

A file is read into a package that nobody else has, so that no module of the same name is in its way, be it `json`.
Files beside it are found with a dot (`from .distances import far`).
"""

import ast
import functools
import hashlib
import importlib
import inspect
import re
import sys
import traceback
from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from types import CodeType, ModuleType, UnionType
from typing import Any, ClassVar, TypeGuard, TypeVar, Union, dataclass_transform, get_args, get_origin

from druthers.errors import DruthersError, InvalidSetting, OwnFailure, UnknownName, require, require_known

T = TypeVar("T")


def is_own(name: object) -> TypeGuard[str]:
    """Tell whether a name is that of someone's own part, FILE.py:Class.

    Examples
    --------
    >>> is_own("borda.py:Borda"), is_own("mo-pqucb")
    (True, False)
    """
    return isinstance(name, str) and ".py:" in name


def own_class(name: str, kind: type, what: str) -> Any:
    """Return the class that FILE.py:Class names, a `kind` of class; the file is read again whenever it has changed."""
    file, _, wanted = name.rpartition(":")
    path = Path(file).resolve()
    module = _module(path)
    found = getattr(module, wanted, None)
    if not isinstance(found, type) or not issubclass(found, kind):
        classes = {key: value for key, value in vars(module).items() if isinstance(value, type)}
        own = [key for key, one in classes.items() if issubclass(one, kind) and one.__module__ == module.__name__]
        raise UnknownName.of(f"{what} of {path.name}", wanted, own)
    return found


def find_class(name: str, ours: Mapping[str, Any], kind: type, what: str) -> Any:
    """Return a class: one of ours by its name, or anyone's by FILE.py:Class."""
    if is_own(name):
        return own_class(name, kind, what)
    if not isinstance(name, str) or name not in ours:
        raise UnknownName.of(what, name, ours)
    return ours[name]


def settings_of(kind: type) -> dict[str, Any]:
    """Return the settings that the constructor of a class takes, by name with their defaults.

    Where it takes more by `**`, that is what the constructor behind it in the order of classes takes.

    Examples
    --------
    >>> class Base:
    ...     def __init__(self, *, size: int = 3, seed: int = 0) -> None: ...
    >>> class Mine(Base):
    ...     def __init__(self, *, tilt: float = 0.1, size: int = 5, **more: int) -> None: ...
    >>> settings_of(Mine)
    {'tilt': 0.1, 'size': 5, 'seed': 0}
    """
    found = list(inspect.signature(kind).parameters.values())
    settings: dict[str, Any] = {}
    classes = iter([one for one in kind.__mro__ if "__init__" in vars(one)][1:])
    while True:
        for one in found:
            if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL):
                settings.setdefault(one.name, one.default)
        behind = next(classes, object)
        if behind is object or not any(one.kind is one.VAR_KEYWORD for one in found):
            return settings
        found = list(inspect.signature(behind).parameters.values())


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def settings(part: type[T]) -> type[T]:
    """Make the fields of a class its settings: arguments of its constructor, by name only, each of its kind."""
    made: Any = dataclass(kw_only=True, eq=False, repr=False)(part)
    known, build = {one.name: one for one in fields(made)}, made.__init__

    @functools.wraps(build)
    def checked(self: Any, *others: Any, **given: Any) -> None:
        for name, value in given.items():
            if name in known and value is not known[name].default:
                require_kind(name, known[name].type, value)
        build(self, *others, **given)

    made.__init__ = checked
    return part


def require_kind(name: str, kind: Any, value: object) -> None:
    """Refuse a setting that is not of the kind its annotation tells: numbers, whole numbers, True or False, texts.

    Other annotations are left to the class, and so is which numbers and texts will do.

    Examples
    --------
    >>> require_kind("width", float, 1)
    >>> require_kind("horizon", "int | None", "long")
    Traceback (most recent call last):
    druthers.errors.InvalidSetting: horizon must be a whole number or None, but got 'long'
    """
    laws = []
    for part in _parts(kind):
        law, fits = _KINDS.get(part, ("", None))
        if names := _NAMES.fullmatch(part):
            law, fits = " or ".join(_QUOTED.findall(names[1])).replace("'", '"'), _is_text
        if fits is None or fits(value):
            return
        laws.append(law)
    law = ", ".join(laws[:-1]) + " or " * (len(laws) > 1) + laws[-1]
    require(False, f"{name} must be {law}", value)


def _parts(kind: Any) -> list[str]:
    """Return what an annotation allows, each as a text, whether the annotation is one or not."""
    if isinstance(kind, str):
        return [part.strip() for part in kind.split("|")]
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return [part.__name__ if isinstance(part, type) else str(part) for part in parts]


def _is_number(value: object) -> bool:
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and float(value) is not None
    except OverflowError:
        return False


def _is_text(value: object) -> bool:
    return isinstance(value, str)


# Kinds of settings by their annotations; what is none of these is checked by the class alone.
_KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "float": ("a number", _is_number),
    "int": ("a whole number", lambda value: isinstance(value, Integral) and not isinstance(value, bool)),
    "bool": ("True or False", lambda value: type(value).__name__ in ("bool", "bool_")),  # NumPy has one of its own
    "str": ("a text", _is_text),
    "None": ("None", lambda value: value is None),
    "NoneType": ("None", lambda value: value is None),
}
_NAMES, _QUOTED = re.compile(r"(?:typing\.)?Literal\[(.*)\]"), re.compile(r"'[^']*'|\"[^\"]*\"")


def made_for(owner: type, made: type) -> Any:
    """Let a class be found as part of another one, as machine code that is kept on disk asks for it; return it."""
    made.__module__, made.__qualname__ = owner.__module__, f"{owner.__qualname__}.{made.__name__}"
    return made


class Part(ABC):
    """Something made from settings: its constructor's arguments, each of which it keeps under its own name."""

    name: ClassVar[str]

    @property
    def params(self) -> dict[str, Any]:
        """The constructor's arguments."""
        params = {}
        for name in settings_of(type(self)):
            try:
                params[name] = getattr(self, name)
            except AttributeError:
                raise InvalidSetting(
                    f"a part must keep each setting that its constructor takes under the setting's name, but"
                    f" {type(self).__name__} has no {name!r}; write `self.{name} = {name}` there"
                ) from None
        return params

    def __repr__(self) -> str:
        """Return the call that makes this part, without settings that are None and would be anyway."""
        usual = settings_of(type(self))
        given = {name: value for name, value in self.params.items() if value is not None or usual[name] is not None}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def check_settings(kind: type, given: Iterable[str], whose: str) -> None:
    """Refuse settings that the constructor of a class does not take."""
    require_known(f"setting of {whose}", settings_of(kind), *given)


def own_digest(name: str) -> str:
    """Return a digest of the file that FILE.py:Class names and of those beside it that it imports."""
    digest = hashlib.sha256()
    for path, source in own_sources(Path(name.rpartition(":")[0]).resolve()).items():
        digest.update(f"{path.name}\0{len(source)}\0".encode() + source)
    return digest.hexdigest()


@contextmanager
def own_parts() -> Iterator[None]:
    """Tell of a part of someone's own that fails as such, in a line that also comes out of another process."""
    try:
        yield
    except Exception as error:
        told = "" if isinstance(error, DruthersError) else _blame(error)
        if not told:
            raise
        raise OwnFailure(f"a part of your own must not fail, but {told}; mend it there") from error


def _blame(error: Exception) -> str:
    """Return where in a file of someone's own an error arose, the last step first, and what it is; "" if not in one.

    What we do with a class of such a file, and cannot, arose there too: a method that it lacks has no line.
    """
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).parent in _FOLDERS.values():
        return f"{Path(error.filename).name}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    frames = list(traceback.walk_tb(error.__traceback__))[::-1]
    steps = [
        f"{Path(frame.f_code.co_filename).name}, line {line}, in {frame.f_code.co_name}"
        for frame, line in frames
        if _is_in_own_file(frame.f_globals.get("__name__"))
    ]
    if not steps and not isinstance(error, OSError | MemoryError):
        used = (
            f"{kind.__module__.rpartition('.')[2]}.py, {kind.__name__} in {frame.f_code.co_name}"
            for frame, _ in frames
            for kind in (one if isinstance(one, type) else type(one) for one in frame.f_locals.values())
            if _is_in_own_file(kind.__module__)
        )
        steps = [*islice(used, 1)]
    return f"{', from '.join(steps)}: {type(error).__name__}: {error}" if steps else ""


def _is_in_own_file(module: object) -> bool:
    return str(module).partition(".")[0] in _FOLDERS


_FOLDERS: dict[str, Path] = {}
_LOADED: dict[Path, tuple[dict[Path, bytes], ModuleType]] = {}


def _module(path: Path) -> ModuleType:
    """Return what a file defines."""
    sources = own_sources(path)
    if path not in _LOADED or _LOADED[path][0] != sources:
        package = _package(path.parent)
        for source in sources:
            sys.modules.pop(f"{package}.{source.stem}", None)
        try:
            _LOADED[path] = sources, importlib.import_module(f"{package}.{path.stem}")
        except ImportError as error:
            beside = str(error.name or "").removeprefix(f"{package}.").partition(".")[0]
            if (path.parent / f"{beside}.py").is_file():
                raise InvalidSetting(
                    f"files beside one of your own must be imported with a dot, but {path.name} or one of them imports"
                    f" {beside!r} without; write `from .{beside} import ...`"
                ) from error
            if package in str(error) or "relative import" in str(error):
                raise InvalidSetting(
                    f"a dot must mean a file beside {path.name} in {path.parent}, but: {error}; put what it needs"
                    " there, or install it as a package and import that without a dot"
                ) from error
            raise
    return _LOADED[path][1]


def _package(folder: Path) -> str:
    """Return the name of the package that the files of a folder are read into."""
    name = f"own_{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        package = ModuleType(name, f"Parts of someone's own in {folder}.")
        package.__path__ = []
        sys.modules[name] = package
        _FOLDERS[name] = folder
    return name


class _Source(SourceFileLoader):
    """Reads a file as it is now: bytecode kept from before may be that of another file of the same age and size."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


class _Finder(MetaPathFinder):
    """Finds the files of our packages; any other module is left to others."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, stem = fullname.rpartition(".")
        file = _FOLDERS[package] / f"{stem}.py" if package in _FOLDERS else None
        if file is None or not file.is_file():
            return None
        return spec_from_file_location(fullname, file, loader=_Source(fullname, str(file)))


sys.meta_path.append(_Finder())


def own_sources(path: Path) -> dict[Path, bytes]:
    """Return the content of a file and of those beside it that it imports with a dot, directly or not."""
    if not path.is_file() or "." in path.stem:
        problem = f"{path} has a dot in its name" if path.is_file() else f"there is no {path}"
        raise InvalidSetting(f"a part of your own must be FILE.py:Class, but {problem}")
    sources: dict[Path, bytes] = {}
    left = [path]
    while left:
        file = left.pop()
        if file not in sources and file.is_file():
            sources[file] = file.read_bytes()
            left += [file.with_name(f"{name}.py") for name in _with_a_dot(sources[file])]
    return dict(sorted(sources.items()))


@functools.cache
def _with_a_dot(source: bytes) -> list[str]:
    """Return the names that a file imports with a dot."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # told when the file is read
        return []
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names += [node.module.partition(".")[0]] if node.module else [alias.name for alias in node.names]
    return names
