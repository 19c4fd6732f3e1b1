"""Emits LLVM vector instructions for the innermost loops over rows.

LLVM's own vectoriser checks every pair of arrays for overlap, leaves remainders to scalar code and, beyond a few
arrays, gives up silently: a window's gradients then take ten times longer. So the few innermost loops are emitted here
as vector code (see `row_operations`), and the control flow around them stays ordinary numba.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target

ADDITION = "define <16 x float> @add(<16 x float> %a) { %b = fadd <16 x float> %a, %a ret <16 x float> %b }"


def cpu_vector_bytes() -> int:
    """The size of the vectors of the CPU that numba compiles for: NUMBA_CPU_NAME and NUMBA_CPU_FEATURES, or this one.

    Empty features are those of the CPU of that name, which only the code shows that LLVM emits for it.
    """
    _, cpu, features = cpu_target.target_context.codegen().magic_tuple()
    if features:
        return 64 if "+avx512f" in features.split(",") else 32 if "+avx2" in features.split(",") else 16
    machine = binding.Target.from_default_triple().create_target_machine(cpu=cpu)
    code = machine.emit_assembly(binding.parse_assembly(ADDITION))
    return 64 if "zmm" in code else 32 if "ymm" in code else 16


VECTOR_BYTES = cpu_vector_bytes()
HAS_AVX512 = VECTOR_BYTES == 64  # 32 registers of 64 bytes; otherwise about 16 of 32
INT64 = ir.IntType(64)


def int64(value: int) -> Any:
    """An int64 constant."""
    return ir.Constant(INT64, value)


class Emitter:
    """Emits vector code for rows of one float type into the function that `builder` builds."""

    def __init__(self, builder: Any, dtype: Any) -> None:
        self.builder = builder
        self.scalar = ir.FloatType() if dtype == types.float32 else ir.DoubleType()
        self.size = 4 if dtype == types.float32 else 8
        self.set_lanes(VECTOR_BYTES // self.size)

    def set_lanes(self, lanes: int) -> None:
        """Set how many numbers vectors have."""
        self.lanes = lanes
        self.vector = ir.VectorType(self.scalar, lanes)
        self.zero = self.constant(0.0)

    def constant(self, number: float) -> Any:
        """A vector with this number in every lane."""
        return ir.Constant(self.vector, [number] * self.lanes)

    def vector_of(self, lanes: int) -> Any:
        """The type of a vector of this many lanes."""
        return ir.VectorType(self.scalar, lanes)

    def load(self, address: Any, offset: Any, kind: Any = None) -> Any:
        """One vector, of type `kind` if given, of the row at `address`, from byte `offset` on."""
        return self.builder.load(self.pointer(address, offset, kind or self.vector), align=self.size)

    def store(self, value: Any, address: Any, offset: Any) -> None:
        """Store a vector, or a part of one, into a row."""
        self.builder.store(value, self.pointer(address, offset, value.type), align=self.size)

    def broadcast(self, address: Any, offset: Any, lanes: int | None = None) -> Any:
        """A vector with the scalar at `address` + `offset` in every lane, of the usual number of lanes or another."""
        lanes = lanes or self.lanes
        scalar = self.builder.load(self.pointer(address, offset, self.scalar), align=self.size)
        empty = ir.Constant(self.vector_of(lanes), [0.0] * lanes)
        first = self.builder.insert_element(empty, scalar, ir.Constant(ir.IntType(32), 0))
        return self.shuffle(first, first, [0] * lanes)

    def shuffle(self, a: Any, b: Any, picks: Sequence[int]) -> Any:
        """The picked lanes of the concatenation of a and b."""
        mask = ir.Constant(ir.VectorType(ir.IntType(32), len(picks)), list(picks))
        return self.builder.shuffle_vector(a, b, mask)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """The sum a * b + c, fused where the CPU can."""
        name = f"llvm.fmuladd.v{self.lanes}f{8 * self.size}"
        signature = ir.FunctionType(self.vector, [self.vector] * 3)
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, signature, name), [a, b, c])

    def variable(self, kind: Any = None) -> Any:
        """A vector variable, of type `kind` if given, that starts at zero, for accumulation in loops."""
        zero = ir.Constant(kind or self.vector, [0.0] * (kind or self.vector).count)
        # A stack slot at the entry of the function: LLVM turns it into a register when the loop is compiled.
        pointer = cgutils.alloca_once(self.builder, zero.type)
        self.builder.store(zero, pointer)
        return pointer

    @contextmanager
    def for_range(self, stop: Any, step: int = 1) -> Iterator[Any]:
        """A loop from 0 to `stop`; yields the counter."""
        with cgutils.for_range_slice(self.builder, int64(0), stop, int64(step), intp=INT64) as (counter, _):
            yield counter

    @contextmanager
    def for_each_vector(self, width: Any) -> Iterator[Any]:
        """A loop over the vectors of a row of `width` numbers; yields the offset in bytes."""
        with self.for_range(self.builder.mul(width, int64(self.size)), VECTOR_BYTES) as offset:
            yield offset

    def reduce_transpose(self, sums: Sequence[Any]) -> Any:
        """A vector whose lane i is the sum over the lanes of `sums[i]`; at most as many sums as lanes.

        Pairs of vectors are folded until one is left. Each fold is two shuffles that are single CPU instructions,
        first across 128-bit groups, then within them.
        """
        order = fold_order(self.lanes, 16 // self.size)
        slots = [sums[i] if i < len(sums) else None for i in order]
        for even, odd in folds(self.lanes, 16 // self.size):
            slots = [self._fold(*pair, even, odd) for pair in zip(slots[::2], slots[1::2], strict=True)]
        return slots[0]

    def _fold(self, a: Any, b: Any, even: Sequence[int], odd: Sequence[int]) -> Any:
        if a is None and b is None:
            return None
        a, b = self.zero if a is None else a, self.zero if b is None else b
        return self.builder.fadd(self.shuffle(a, b, even), self.shuffle(a, b, odd))

    def pointer(self, address: Any, offset: Any, kind: Any) -> Any:
        """A pointer to a value of this type at `address`, from byte `offset` on."""
        return self.builder.inttoptr(self.builder.add(address, offset), kind.as_pointer())


def folds(lanes: int, group: int) -> list[tuple[list[int], list[int]]]:
    """The lanes that each fold of two vectors adds: even and odd groups, then even and odd neighbours."""
    across = [i for i in range(2 * lanes) if i // group % 2 == 0]
    inside = [
        lane + 2 * i if 2 * i < group else lanes + lane + 2 * i - group
        for lane in range(0, lanes, group)
        for i in range(group)
    ]
    outer = [(across, [i + group for i in across])] * ((lanes // group).bit_length() - 1)
    return outer + [(inside, [i + 1 for i in inside])] * (group.bit_length() - 1)


def fold_order(lanes: int, group: int) -> list[int]:
    """Which sum to put into each slot so that the results come out in order, found by folding labels."""
    slots = [[i] * lanes for i in range(lanes)]
    for even, _ in folds(lanes, group):
        slots = [[(a + b)[i] for i in even] for a, b in zip(slots[::2], slots[1::2], strict=True)]
    order = [0] * lanes
    for lane, slot in enumerate(slots[0]):
        order[slot] = lane
    return order
