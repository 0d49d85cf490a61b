"""How Numba is made to compile kernels: what they call becomes part of them, and nothing is looked up twice.

Nothing here is documented by Numba: tests/test_cache.py names the versions tried.
"""

import contextlib
import hashlib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core import config
from numba.core.codegen import AOTCodeLibrary, JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.typed_passes import NativeLowering
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import InlineClosureLikes, MakeFunctionToJitFunction

from druthers import _lowering
from druthers._lowering import LendingLowering

# Part of the name of what is kept on disk: machine code that another form of this made is never taken for ours.
REVISION = hashlib.sha256(b"".join(Path(name).read_bytes() for name in (__file__, _lowering.__file__))).hexdigest()


class QuickFlags(Flags):  # type: ignore[misc]
    """Numba's settings for one compilation, compared by what was set.

    What is called within a kernel is looked up by the types of its arguments and by these. Numba makes tables of all
    settings for each look, a twentieth of the time spent on compiling.
    """

    __slots__ = ()
    _hash = hash(Flags())  # Numba's own is the same for all

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Flags):
            return False
        # What neither has set is as Numba sets it in both.
        mine, others = self._values, other._values
        return mine == others or all(
            getattr(self, name) == getattr(other, name) for name in mine.keys() | others.keys()
        )


# Counts references as Numba does, but for the fences and atomic instructions: no two threads are in kernels at a time,
# since none gives up Python's lock. On ARM, where a fence waits for all that is being written, they were a tenth of a
# round. The names are Numba's: by these LLVM knows which counts cancel out.
COUNTING = """
declare void @NRT_MemInfo_call_dtor(ptr)
define void @NRT_incref(ptr %counted) noinline {
  %is_none = icmp eq ptr %counted, null
  br i1 %is_none, label %done, label %add
add:
  %before = load i64, ptr %counted
  %after = add i64 %before, 1
  store i64 %after, ptr %counted
  br label %done
done:
  ret void
}
define void @NRT_decref(ptr %counted) noinline {
  %is_none = icmp eq ptr %counted, null
  br i1 %is_none, label %done, label %subtract
subtract:
  %before = load i64, ptr %counted
  %after = sub i64 %before, 1
  store i64 %after, ptr %counted
  %is_last = icmp eq i64 %after, 0
  br i1 %is_last, label %free, label %done
free:
  tail call void @NRT_MemInfo_call_dtor(ptr %counted)
  ret void
done:
  ret void
}
"""


class Whole(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel that Python calls, with all that it calls."""

    def _optimize_final_module(self) -> None:
        """Optimize it as Numba does, but unroll no loops.

        Objectives and offered arms are few, so unrolled loops are hardly quicker, but they are several times as long,
        and were a quarter of the time that LLVM takes for a game. Vector instructions stay: they are worth it.
        """
        codegen = self._codegen
        if not hasattr(codegen, "_pass_builder"):  # as in Numba 0.61
            super()._optimize_final_module()
            return
        self._keep_to_itself()
        # Inlines a little, so that counts of references that cancel out stand side by side and are taken out.
        cheap, builder = codegen._module_pass_manager(
            loop_vectorize=codegen._loopvect, slp_vectorize=False, opt=codegen._opt_level, cost="cheap"
        )
        cheap.run(self._final_module, builder)
        tuning = llvm.create_pipeline_tuning_options(speed_level=int(config.OPT))
        tuning.loop_vectorization, tuning.slp_vectorization = bool(config.LOOP_VECTORIZE), bool(config.SLP_VECTORIZE)
        tuning.loop_unrolling = tuning.loop_interleaving = False
        builder = llvm.create_pass_builder(codegen._tm, tuning)
        full = builder.getModulePassManager()
        full.add_refprune_pass()
        full.run(self._final_module, builder)

    def _keep_to_itself(self) -> None:
        """Let nobody else call what this kernel calls, and count references by `COUNTING`.

        LLVM then leaves out parameters that are not used, most of the seven that an array has, and puts what is called
        once where it is called.
        """
        module = self._final_module
        module.link_in(llvm.parse_assembly(COUNTING))
        for function in module.functions:
            if not function.is_declaration and (
                function.linkage == llvm.Linkage.linkonce_odr or function.name in ("NRT_incref", "NRT_decref")
            ):
                function.linkage = llvm.Linkage.internal


# As Numba has it, which tries every form of an operator in turn, and writes down at length why each does not fit.
_resolve = BaseFunction.get_call_type


def _resolve_once(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """Return what an operator makes of arguments of these types, looked up once; of other functions as ever."""
    if kws or getattr(self.typing_key, "__module__", None) != "_operator":
        return _resolve(self, context, args, kws)
    known = self.__dict__.setdefault("_druthers_known", {})
    if args not in known:
        known[args] = _resolve(self, context, args, kws)
    return known[args]


@contextlib.contextmanager
def quickly() -> Iterator[None]:
    """Leave out meanwhile what Numba does again and again: operators are looked up once, and no calls are timed."""
    timers, llvm.ffi.lib._lock._cblist = llvm.ffi.lib._lock._cblist, []
    BaseFunction.get_call_type = _resolve_once  # type: ignore[method-assign]
    try:
        yield
    finally:
        BaseFunction.get_call_type = _resolve  # type: ignore[method-assign]
        llvm.ffi.lib._lock._cblist = timers


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles a kernel that Python calls."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, names: Any) -> None:
        super().__init__(typing, target, library, args, result, QuickFlags(flags), names)

    def define_pipelines(self) -> Any:
        state = self.state
        if state.library is None:
            state.library = Whole(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        managers = super().define_pipelines()
        has_functions = any(isinstance(value, types.CodeType) for value in state.bc.co_consts)
        for manager in managers:
            manager.passes = [
                (LendingLowering if one is NativeLowering else one, text)
                for one, text in manager.passes
                if has_functions or one not in (InlineClosureLikes, MakeFunctionToJitFunction)
            ]
            manager.finalize()
        return managers


class Part(AOTCodeLibrary):  # type: ignore[misc]
    """Code to be linked into that of others."""

    def _optimize_final_module(self) -> None:
        """Leave that to whoever it becomes a part of."""

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0  # there is none

    @property
    def codegen(self) -> Any:
        return types.SimpleNamespace(set_env=lambda name, environment: None)  # of no machine code


class PartCompiler(KernelCompiler):
    """Compiles what other kernels call: it is made into machine code as part of these, and only there.

    Numba by itself optimizes each kernel with all it calls, and so the innermost ones once for every level above them,
    and makes machine code of each, which nobody runs: that would be half of all time spent on compiling.
    """

    def define_pipelines(self) -> Any:
        self.state.library = Part(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()
