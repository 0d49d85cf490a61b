"""How Numba is made to write the code of kernels: what they are lent is not counted, and little is written.

Nothing here is documented by Numba: tests/test_cache.py names the versions tried.
"""

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from llvmlite.ir import IRBuilder
from llvmlite.ir.instructions import InsertValue
from numba.core import cgutils, ir
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.core.types.abstract import Number
from numba.core.types.containers import BaseTuple
from numba.core.types.misc import SliceType
from numba.core.types.npytypes import Array
from numba.core.types.scalars import Boolean, Integer
from numba.np.arrayobj import fix_integer_index, load_item, store_item


class Builder(IRBuilder):  # type: ignore[misc]
    """Writes code, and takes what was put into a structure just before for what it is."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        wanted = list(idx) if isinstance(idx, tuple | list) else [idx]
        while wanted and isinstance(agg, InsertValue):
            put = list(agg.indices)
            if wanted[: len(put)] == put:
                agg, wanted = agg.value, wanted[len(put) :]
            elif put[: len(wanted)] == wanted:
                break  # a part of it was put there alone
            else:
                agg = agg.aggregate
        return super().extract_value(agg, wanted, name) if wanted else agg


# Instructions that nobody misses where nobody uses what they give.
PURE = {
    *("extractvalue", "insertvalue", "load", "getelementptr", "icmp", "fcmp", "select", "bitcast", "zext", "sext"),
    *("trunc", "add", "sub", "mul", "and", "or", "xor", "fadd", "fsub", "fmul", "sitofp"),
}


def leave_out_unused(function: Any) -> None:
    """Take out what is never used, half of all that Numba writes: LLVM would find that too, but has to read it."""
    written = [one for block in function.blocks for one in block.instructions]
    uses = Counter(id(operand) for one in written for operand in _operands(one))
    unused = [one for one in written if one.opname in PURE and not uses[id(one)]]
    gone = set(map(id, unused))
    while unused:
        for operand in unused.pop().operands:
            uses[id(operand)] -= 1
            if not uses[id(operand)] and getattr(operand, "opname", None) in PURE:
                unused.append(operand)
                gone.add(id(operand))
    for block in function.blocks:
        block.instructions = [one for one in block.instructions if id(one) not in gone]


def _operands(instruction: Any) -> Any:
    return [value for value, _ in instruction.incomings] if instruction.opname == "phi" else instruction.operands


class Lending(Lower):  # type: ignore[misc]
    """Makes code that counts no references to arrays which are the caller's for as long as the call lasts.

    Numba lets each variable hold its arrays: a state of forty is counted up and down, atomically, for each kernel that
    it is passed to and each variable that a part of it is given to. That was half of the time of a round. But whoever
    calls holds the arguments anyway, so a variable that is never anything but an argument, a part of one or a view of
    it can go without. What is returned is counted as ever.
    """

    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        self.builder = Builder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def post_lower(self) -> None:
        super().post_lower()
        leave_out_unused(self.function)

    def pre_lower(self) -> None:
        super().pre_lower()
        found = defaultdict(list)
        for block in self.blocks.values():
            for assign in block.find_insts(ir.Assign):
                found[assign.target.name].append(assign.value)
        self._values = {name: values[0] for name, values in found.items() if len(values) == 1}
        self._lent: dict[str, bool] = {}
        self._counts = True
        first = {assign.target.name for assign in self.blocks[self.firstblk].find_insts(ir.Assign)}
        # What is made once, in the first block: whatever runs later finds it there.
        self._made = first & self._values.keys()
        self._held: dict[str, Any] = {}

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

    def _is_plain(self, name: str) -> bool:
        """Tell whether a variable holds no references."""
        return self.is_lent(name) or not self._model(self.typeof(name)).contains_nrt_meminfo()

    def _model(self, kind: Any) -> Any:
        return self.context.data_model_manager[kind]

    def _alloca_var(self, name: str, fetype: Any) -> None:
        if not (name in self._made and self._is_plain(name)):
            super()._alloca_var(name, fetype)

    def loadvar(self, name: str) -> Any:
        return self._held[name] if name in self._held else super().loadvar(name)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        if not self._is_plain(name):
            super().storevar(value, name, argidx)
        elif name in self._made:
            self._held[name] = value
        elif name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        if not self._is_plain(name):
            super().delvar(name)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        place = self._place_in(value, index)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        array = self.typeof(value.name)
        return self.context.cast(self.builder, load_item(self.context, self.builder, array, place), array.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        kind, array = self.typeof(value_var.name), self.typeof(target_var.name)
        place = self._place_in(target_var, index_var) if isinstance(kind, Number | Boolean) else None
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value = self.context.cast(self.builder, self.loadvar(value_var.name), kind, signature.args[2])
        value = self.context.cast(self.builder, value, signature.args[2], array.dtype)
        return store_item(self.context, self.builder, array, value, place)

    def _place_in(self, array: Any, index: Any) -> Any:
        """Return where an entry of an array is, of as many integers as it has axes; None for any other index."""
        kind, kinds = self.typeof(array.name), self.typeof(index.name)
        is_tuple = isinstance(kinds, BaseTuple)
        kinds = tuple(kinds) if is_tuple else (kinds,)
        if (
            not isinstance(kind, Array)
            or len(kinds) != kind.ndim
            or not all(isinstance(one, Integer) for one in kinds)
            or not isinstance(kind.dtype, Number | Boolean)
            or self.context.enable_boundscheck
        ):
            return None
        builder, whole, told = self.builder, self.loadvar(array.name), self.loadvar(index.name)
        field = self._model(kind).get_field_position
        data = builder.extract_value(whole, field("data"))
        shape = [builder.extract_value(whole, (field("shape"), axis)) for axis in range(kind.ndim)]
        strides = [builder.extract_value(whole, (field("strides"), axis)) for axis in range(kind.ndim)]
        places = [
            fix_integer_index(self.context, builder, one, builder.extract_value(told, axis) if is_tuple else told, size)
            for axis, (one, size) in enumerate(zip(kinds, shape, strict=True))
        ]
        return cgutils.get_item_pointer2(self.context, builder, data, shape, strides, kind.layout, places)


@register_pass(mutates_CFG=True, analysis_only=False)
class LendingLowering(NativeLowering):  # type: ignore[misc]
    """Numba's pass that makes code, with the above."""

    _name = "druthers_lending_lowering"

    @property
    def lowering_class(self) -> Any:
        return Lending
