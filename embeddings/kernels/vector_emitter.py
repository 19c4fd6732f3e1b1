"""Vector instructions, written down: what the innermost loops over rows are made of.

Left to itself LLVM checks every pair of arrays for overlap, leaves remainders to scalar code and, past a few
arrays, gives up in silence: a window's gradients then take ten times longer. So the few innermost loops are
emitted here as vectors (see `rows`), and the control flow around them stays ordinary numba.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target

# Of the processor that numba compiles for: this one, unless NUMBA_CPU_FEATURES says otherwise.
FEATURES = cpu_target.target_context.codegen().magic_tuple()[2].split(",")
WIDE = "+avx512f" in FEATURES  # 32 registers of 64 bytes; else 16 or so of 32
BYTES = 64 if WIDE else 32 if "+avx2" in FEATURES else 16  # of one vector register
INTEGER = ir.IntType(64)


def integer(value: int) -> Any:
    """A constant for addresses and offsets."""
    return ir.Constant(INTEGER, value)


class Emitter:
    """Writes vector code over rows of one number type, in the function that `builder` is writing."""

    def __init__(self, builder: Any, dtype: Any) -> None:
        self.builder = builder
        self.number = ir.FloatType() if dtype == types.float32 else ir.DoubleType()
        self.size = 4 if dtype == types.float32 else 8
        self.lanes = BYTES // self.size
        self.vector = ir.VectorType(self.number, self.lanes)
        self.zero = ir.Constant(self.vector, [0.0] * self.lanes)

    def load(self, address: Any, offset: Any) -> Any:
        """One register full of the row at `address`, `offset` bytes into it."""
        return self.builder.load(self._at(address, offset, self.vector), align=self.size)

    def store(self, value: Any, address: Any, offset: Any) -> None:
        """Write one register full of a row, or a part of one."""
        self.builder.store(value, self._at(address, offset, value.type), align=self.size)

    def spread(self, address: Any, offset: Any) -> Any:
        """The number found there, in every lane."""
        number = self.builder.load(self._at(address, offset, self.number), align=self.size)
        first = self.builder.insert_element(self.zero, number, ir.Constant(ir.IntType(32), 0))
        return self.shuffle(first, first, [0] * self.lanes)

    def shuffle(self, a: Any, b: Any, picks: Sequence[int]) -> Any:
        """The picked lanes of a and b side by side."""
        mask = ir.Constant(ir.VectorType(ir.IntType(32), len(picks)), list(picks))
        return self.builder.shuffle_vector(a, b, mask)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """The sum a b + c, rounded once where the machine can."""
        name = f"llvm.fmuladd.v{self.lanes}f{8 * self.size}"
        kind = ir.FunctionType(self.vector, [self.vector] * 3)
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), [a, b, c])

    def variable(self) -> Any:
        """A register that starts at zero and can be written again, as loops need."""
        place = cgutils.alloca_once(self.builder, self.vector)
        self.builder.store(self.zero, place)
        return place

    @contextmanager
    def over(self, stop: Any, step: int = 1) -> Iterator[Any]:
        """A loop from 0 to `stop`; gives the counter."""
        with cgutils.for_range_slice(self.builder, integer(0), stop, integer(step), intp=INTEGER) as (at, _):
            yield at

    @contextmanager
    def registers(self, width: Any) -> Iterator[Any]:
        """A loop over the registers of rows of `width` numbers; gives the offset in bytes."""
        with self.over(self.builder.mul(width, integer(self.size)), BYTES) as offset:
            yield offset

    def totals(self, sums: Sequence[Any]) -> Any:
        """A register whose lane i is the total over the lanes of `sums[i]`; no more sums than lanes.

        Pairs of registers are folded into one until a single one is left; each fold is two shuffles that the
        machine has as one instruction, first of 128-bit groups, then within them.
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

    def _at(self, address: Any, offset: Any, kind: Any) -> Any:
        return self.builder.inttoptr(self.builder.add(address, offset), kind.as_pointer())


def folds(lanes: int, group: int) -> list[tuple[list[int], list[int]]]:
    """The lanes that each fold of two registers adds up: even and odd groups, then even and odd neighbours."""
    across = [i for i in range(2 * lanes) if i // group % 2 == 0]
    inside = [
        lane + 2 * i if 2 * i < group else lanes + lane + 2 * i - group
        for lane in range(0, lanes, group)
        for i in range(group)
    ]
    outer = [(across, [i + group for i in across])] * ((lanes // group).bit_length() - 1)
    return outer + [(inside, [i + 1 for i in inside])] * (group.bit_length() - 1)


def fold_order(lanes: int, group: int) -> list[int]:
    """Which sum to put in each slot so that the totals come out in order, found by folding labels."""
    slots = [[i] * lanes for i in range(lanes)]
    for even, _ in folds(lanes, group):
        slots = [[(a + b)[i] for i in even] for a, b in zip(slots[::2], slots[1::2], strict=True)]
    order = [0] * lanes
    for lane, slot in enumerate(slots[0]):
        order[slot] = lane
    return order
