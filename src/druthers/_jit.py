"""Compiled kernels, dispatch on the class of a state, and a cache that cannot go stale.

Kernels are strict IEEE arithmetic (no fast-math): the same numbers come out whether a kernel is called alone
or inlined into a compiled episode, so single steps and simulations agree bit for bit.

Only this, `_compiler` and `_lowering` know Numba. Only its public interfaces are used here but for `entry_point` (see
`_entry`), and it is loaded when a kernel is first called.
"""

import contextlib
import functools
import gc
import hashlib
import os
import platform
import stat
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")

# As Numba reads it: kernels then run as plain Python.
SWITCHED_OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
# Division by zero gives infinity, as in NumPy; no wrapper for C callers, which nobody needs.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}
# What of Numba's settings changes the machine code it makes.
SETTINGS = ("CPU_NAME", "CPU_FEATURES", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")
# Each change of a kernel leaves the machine code of the old one behind, some 100 kB.
MOST_FILES = 4000

_LOCK = threading.RLock()


class Kernel:
    """A function on arrays, compiled for the types of its arguments when it is first called with them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._entries: dict[Any, Callable[..., Any]] = {}
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        """Run the machine code for arguments of these types."""
        return self.entry(arguments)(*arguments)

    def entry(self, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        """Return the machine code for arguments of these types, compiled, or read from the cache, the first time."""
        if type(arguments[0]) in _PLAIN:
            return self.body(type(arguments[0]))
        # Asking Numba for the types takes longer than 100 rounds of a simulation, so it is asked once for each kind.
        kind = _kind(arguments)
        if kind not in self._entries:
            self._entries[kind] = _compiled(self.body(type(arguments[0])), arguments)
        return self._entries[kind]

    def body(self, first: type) -> Callable[..., Any]:
        """Return the function that serves for a first argument of this class."""
        return self.function

    @functools.cached_property
    def inner(self) -> Any:
        """What Numba puts into the kernels that call this one."""
        return _numba().njit(**_inner_options())(self.function)


class Generic(Kernel):
    """A kernel with a body for each class of its first argument; its own body serves for all other classes.

    A class that extends another takes over its bodies, unless it has one of its own.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self.bodies: dict[type, Callable[..., Any]] = {}
        _GENERICS.append(self)

    def body(self, first: type) -> Callable[..., Any]:
        """Return the function that serves for a first argument of this class."""
        return next((self.bodies[cls] for cls in first.__mro__ if cls in self.bodies), self.function)

    if SWITCHED_OFF:

        def __call__(self, *arguments: Any) -> Any:
            """Run the body for this class."""
            return self.body(type(arguments[0]))(*arguments)


_GENERICS: list[Generic] = []
# Classes of states with a body in plain Python, which makes whatever calls it plain Python too.
_PLAIN: set[type] = set()

if TYPE_CHECKING:

    def kernel(function: Callable[P, R]) -> Callable[P, R]:
        """Compile a function on arrays; to the type checker it stays the plain function."""

    def generic(stub: Callable[P, R]) -> Callable[P, R]:
        """Make a kernel that is looked up by the class of its first argument."""

else:

    def kernel(function):
        """Compile a function on arrays, once it is called; it may call other kernels."""
        return function if SWITCHED_OFF else Kernel(function)

    def generic(stub):
        """Make a kernel that is looked up by the class of its first argument, a NamedTuple of arrays.

        `implements` adds a body for a class; for any other class the stub's own body serves. Inside other kernels the
        choice is made when they are compiled and costs nothing when they run.
        """
        with _LOCK:  # else Numba, being loaded by another thread, could miss it
            made = Generic(stub)
            if _loaded.cache_info().currsize:
                _teach(made)
        return made


def implements(function: Callable[..., Any], state_class: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Give a `generic` kernel its body for states of `state_class`: a kernel, or else plain Python, which is slow."""

    def register(body: Callable[P, R]) -> Callable[P, R]:
        assert isinstance(function, Generic)
        function.bodies[state_class] = body.function if isinstance(body, Kernel) else body
        if not isinstance(body, Kernel):
            _PLAIN.add(state_class)
        return body

    return register


def bound(function: Any, *example: Any) -> Callable[..., Any]:
    """Return the machine code of a kernel for arguments of exactly these types, skipping all checks of types.

    Looking at the types of a nested state takes Numba 12 us a call, five times the work of most kernels; the
    caller promises to pass the same types each time.
    """
    bare: Callable[..., Any]
    if SWITCHED_OFF:
        bare = function.body(type(example[0])) if isinstance(function, Generic) else function
    else:
        bare = function.entry(example)
    return bare


def _kind(value: Any) -> Any:
    """Return what Numba's type of a value depends on: equal for two values only if their types are."""
    if isinstance(value, tuple):
        return (type(value), *map(_kind, value))
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype, value.ndim, flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
    return type(value)


def _numba() -> Any:
    """Return Numba; of several threads that ask for it at once, one loads it."""
    with _LOCK:
        return _loaded()


@functools.cache
def _loaded() -> Any:
    """Load Numba and tell it what kernels are."""
    import numba
    from numba.extending import typeof_impl

    typeof_impl.register(Kernel)(lambda value, context: numba.typeof(value.inner))
    typeof_impl.register(Generic)(lambda value, context: None)  # by `overload`
    for made in _GENERICS:
        _teach(made)
    return numba


def _teach(made: Generic) -> None:
    """Tell Numba how a generic kernel is looked up."""
    from numba.extending import overload

    def choose(*arguments: Any) -> Callable[..., Any]:
        return made.body(getattr(arguments[0], "instance_class", type(None)))

    overload(made, jit_options=_inner_options(), strict=False)(choose)


@functools.cache
def _inner_options() -> dict[str, Any]:
    """Return the options for what other kernels call."""
    from druthers._compiler import PartCompiler

    return {**OPTIONS, "no_cpython_wrapper": True, "pipeline_class": PartCompiler}


def _compiled(function: Callable[..., Any], example: tuple[Any, ...]) -> Callable[..., Any]:
    """Return the machine code of a function for arguments of these types, kept on disk if all of it is ours.

    Whatever is wrong with what is kept, it is made anew; where nothing can be kept, it is made each time.
    """
    signature = tuple(map(_numba().typeof, example))
    folder = cache_folder()
    with _LOCK, uncollected():
        if folder is not None and _is_ours(function) and all(map(_is_ours, _classes(signature))):
            name = f"{function.__qualname__}-{_digest(function, signature)}"
            for _ in range(2):
                try:
                    return _entry(function, signature, name, folder)
                except Exception:
                    _remove(folder, name)
        return _entry(function, signature, function.__qualname__, None)


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Look for no garbage meanwhile: among the millions of objects of a compilation that takes a twentieth of it."""
    looks = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looks:
            gc.enable()


def _entry(function: Callable[..., Any], signature: Any, name: str, folder: Path | None) -> Callable[..., Any]:
    """Compile a function, or read it from the folder.

    Numba lets two processes that come together take the same file for different signatures. Here each signature has
    a name of its own, so that all who take a file put the same machine code there.
    """
    from druthers._compiler import KernelCompiler, quickly

    numba = _numba()
    named = types.FunctionType(function.__code__, function.__globals__, name, None, function.__closure__)
    named.__qualname__, named.__module__ = name, function.__module__
    # Numba reads its cache folder when a function is decorated, so it is set for that moment only.
    before = numba.config.CACHE_DIR
    try:
        if folder is not None:
            numba.config.CACHE_DIR = str(folder)
        compiled = numba.njit(cache=folder is not None, pipeline_class=KernelCompiler, **OPTIONS)(named)
    finally:
        numba.config.CACHE_DIR = before
    with quickly():
        compiled.compile(signature)
    if folder is not None and not compiled.stats.cache_hits:
        _tidy(folder)
    # Not documented by Numba; without it calls are right and slow. tests/test_cache.py names the versions tried.
    entry: Callable[..., Any] = getattr(compiled.overloads[signature], "entry_point", compiled)
    return entry


def _is_ours(value: Any) -> bool:
    """Tell whether a function or class is from this package: those of others may not be there for the next process."""
    return bool(value.__module__.startswith("druthers."))


def _classes(signature: tuple[Any, ...]) -> Iterator[type]:
    """Yield the classes of all NamedTuples in a signature, nested ones too."""
    for part in signature:
        if hasattr(part, "instance_class"):
            yield part.instance_class
        yield from _classes(tuple(getattr(part, "types", ())))


def _digest(function: Callable[..., Any], signature: tuple[Any, ...]) -> str:
    """Return a name for all that machine code depends on: the code as it was loaded, the types, the tools.

    Numba itself compares only the time stamp of the file a kernel stands in, not of the kernels it calls.
    """
    import llvmlite.binding

    from druthers._compiler import REVISION

    numba = _numba()
    machine = (llvmlite.binding.get_host_cpu_name(), llvmlite.binding.get_host_cpu_features().flatten())
    whole = hashlib.sha256()
    whole.update(repr((sys.version, numba.__version__, np.__version__, platform.machine(), machine)).encode())
    whole.update(repr([getattr(numba.config, setting, None) for setting in SETTINGS]).encode())
    whole.update(repr((signature, OPTIONS, REVISION)).encode())
    for cls in _classes(signature):
        whole.update("\n".join(_ingredients(cls, set())).encode())
    whole.update("\n".join(_ingredients(function, set())).encode())
    return whole.hexdigest()[:24]


def _ingredients(value: Any, seen: set[int]) -> Iterator[str]:
    """Yield all that the meaning of a value inside a kernel depends on, what it calls included."""
    if isinstance(value, Kernel | types.FunctionType | types.CodeType):
        if id(value) in seen:
            return
        seen.add(id(value))
    if isinstance(value, Kernel):
        yield from _ingredients(value.function, seen)
        # Only code for classes of ours is kept (see `_compiled`), and no body for a class of others can be part of it.
        bodies = [(cls, body) for cls, body in getattr(value, "bodies", {}).items() if _is_ours(cls)]
        for cls, body in sorted(bodies, key=lambda item: item[0].__qualname__):
            yield from _ingredients(cls, seen)
            yield from _ingredients(body, seen)
    elif isinstance(value, types.FunctionType):
        yield f"{value.__module__}.{value.__qualname__}"
        yield from _ingredients(value.__code__, seen)
        for name in value.__code__.co_names:
            if name in value.__globals__:
                yield name
                yield from _ingredients(value.__globals__[name], seen)
        for cell in value.__closure__ or ():
            yield from _ingredients(cell.cell_contents, seen)
    elif isinstance(value, types.CodeType):
        yield repr((value.co_code, value.co_names, value.co_varnames, value.co_freevars))
        for constant in value.co_consts:
            yield from _ingredients(constant, seen)
    elif isinstance(value, types.ModuleType):
        yield value.__name__
    elif isinstance(value, type):
        yield f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', ())}"
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape} {value.tobytes()!r}"
    else:
        yield repr(value)


@functools.cache
def cache_folder() -> Path | None:
    """Return the folder for machine code; None where there is none that only this user can write to."""
    home = os.environ.get("DRUTHERS_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    user = os.getuid() if hasattr(os, "getuid") else "user"
    for parent in (Path(home).expanduser() / "druthers", Path(tempfile.gettempdir()) / f"druthers-{user}"):
        folder = parent / "kernels"
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            about = folder.stat()
            if os.access(folder, os.W_OK) and (user in ("user", about.st_uid)) and not about.st_mode & stat.S_IWOTH:
                return folder
    return None


def _remove(folder: Path, name: str) -> None:
    """Remove what is kept under a name."""
    for path in folder.glob(f"*/*{name.rpartition('-')[2]}*"):
        with contextlib.suppress(OSError):
            path.unlink()


def _tidy(folder: Path) -> None:
    """Remove the older half of what is kept where that is very much; whoever misses it compiles again."""
    files = list(folder.glob("*/*.nb?"))
    if len(files) > MOST_FILES:
        with contextlib.suppress(OSError):  # another process may be tidying up too
            for path in sorted(files, key=lambda path: path.stat().st_mtime)[: len(files) // 2]:
                path.unlink(missing_ok=True)
