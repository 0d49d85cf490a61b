"""How Numba is made to compile kernels: what they call becomes part of them, and what they are lent is not counted.

Nothing here is documented by Numba: tests/test_cache.py names the versions tried.
"""

from __future__ import annotations

import contextlib
import hashlib
import types
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core import config, ir
from numba.core.codegen import AOTCodeLibrary, JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.core.types.containers import BaseTuple
from numba.core.types.misc import SliceType
from numba.core.types.npytypes import Array
from numba.core.types.scalars import Integer

# Part of the name of what is kept on disk: machine code that another form of this file made is never taken for ours.
REVISION = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


class Lending(Lower):  # type: ignore[misc]
    """Makes code that counts no references to arrays which are the caller's for as long as the call lasts.

    Numba lets each variable hold its arrays: a state of forty is counted up and down, atomically, for each kernel that
    it is passed to and each variable that a part of it is given to. That was half of the time of a round. But whoever
    calls holds the arguments anyway, so a variable that is never anything but an argument, a part of one or a view of
    it can go without. What is returned is counted as ever.
    """

    def pre_lower(self) -> None:
        super().pre_lower()
        found = defaultdict(list)
        for block in self.blocks.values():
            for assign in block.find_insts(ir.Assign):
                found[assign.target.name].append(assign.value)
        self._values = {name: values[0] for name, values in found.items() if len(values) == 1}
        self._lent: dict[str, bool] = {}
        self._counts = True

    def is_lent(self, name: str) -> bool:
        """Tell whether a variable is only ever an argument, a part of one or a view of one."""
        if name not in self._lent:
            self._lent[name] = False  # in case it is defined by itself
            self._lent[name] = self._is_lent(self.typeof(name), self._values.get(name))
        return self._lent[name]

    def _is_lent(self, kind: Any, value: Any) -> bool:
        if isinstance(value, ir.Arg):
            return bool(self.typeof(f"arg.{value.name}") == kind)
        if isinstance(value, ir.Var):
            return bool(self.typeof(value.name) == kind) and self.is_lent(value.name)
        if not isinstance(value, ir.Expr) or value.op not in ("getattr", "getitem", "static_getitem", "exhaust_iter"):
            return False
        whole = self.typeof(value.value.name)
        if isinstance(whole, BaseTuple):
            place = self._place(whole, value)
            known = bool(whole == kind) if value.op == "exhaust_iter" else place is not None and whole[place] == kind
        else:
            known = isinstance(whole, Array) and isinstance(kind, Array) and self._is_basic(value)
        return known and self.is_lent(value.value.name)

    def _place(self, whole: Any, value: Any) -> int | None:
        """Return which part of a tuple is taken; None for a slice of it."""
        if value.op == "getattr":
            return int(whole.fields.index(value.attr)) if value.attr in getattr(whole, "fields", ()) else None
        return value.index % len(whole) if value.op == "static_getitem" and isinstance(value.index, int) else None

    def _is_basic(self, value: Any) -> bool:
        """Tell whether an index makes a view and no copy."""
        index = {"getitem": "index", "static_getitem": "index_var"}.get(value.op)
        kind = self.typeof(getattr(value, index).name) if index and getattr(value, index) is not None else None
        parts = kind if isinstance(kind, BaseTuple) else (kind,)
        return all(isinstance(part, Integer | SliceType) for part in parts)

    @contextlib.contextmanager
    def _uncounted(self, name: str) -> Iterator[None]:
        self._counts = not self.is_lent(name)
        try:
            yield
        finally:
            self._counts = True

    def incref(self, typ: Any, val: Any) -> None:
        if self._counts:
            super().incref(typ, val)

    def decref(self, typ: Any, val: Any) -> None:
        if self._counts:
            super().decref(typ, val)

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        value = inst.value
        if not self.is_lent(inst.target.name):
            return super().lower_assign(ty, inst)
        if isinstance(value, ir.Expr) and isinstance(self.typeof(value.value.name), BaseTuple):
            whole = self.loadvar(value.value.name)
            place = self._place(self.typeof(value.value.name), value)
            return whole if place is None else self.builder.extract_value(whole, place)
        if isinstance(value, ir.Expr):
            view = super().lower_assign(ty, inst)
            self.decref(ty, view)  # which LLVM takes together with the count that making it has added
            return view
        with self._uncounted(inst.target.name):
            return super().lower_assign(ty, inst)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        with self._uncounted(name):
            super().storevar(value, name, argidx)

    def delvar(self, name: str) -> None:
        with self._uncounted(name):
            super().delvar(name)


@register_pass(mutates_CFG=True, analysis_only=False)
class LendingLowering(NativeLowering):  # type: ignore[misc]
    """Numba's pass that makes code, with the above."""

    _name = "druthers_lending_lowering"

    @property
    def lowering_class(self) -> Any:
        return Lending


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
        for manager in managers:
            passes = manager.passes
            manager.passes = [(LendingLowering if one is NativeLowering else one, text) for one, text in passes]
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
