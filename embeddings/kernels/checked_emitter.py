"""Emits the code of the checked build that checks row numbers and addresses; see `checked_build`."""

from functools import reduce
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from embeddings.kernels.checked_build import KNOWN_ROWS, ROW_SIZE, START, STOP, STRIDE
from embeddings.kernels.vector_emitter import INT64, Emitter, int64

CONTAINS_ROW = "embeddings_contains_row"
BIT = ir.IntType(1)


class CheckedEmitter(Emitter):
    """Emits vector code that raises IndexError before it accesses memory outside an array or a known row."""

    def __init__(self, context: Any, builder: Any, dtype: Any, sizes: dict[int, Any]) -> None:
        """`sizes` holds the bytes of arrays that are passed by the address of their first item, by the id of this."""
        super().__init__(builder, dtype)
        self.context, self.sizes = context, sizes

    def pointer(self, address: Any, offset: Any, kind: Any) -> Any:
        """A pointer to a value in an array or a row, after a check."""
        builder, count = self.builder, kind.count if isinstance(kind, ir.VectorType) else 1
        size = int64(8 if kind is INT64 else count * self.size)
        if id(address) in self.sizes:
            end, limit = builder.add(offset, size), self.sizes[id(address)]
            is_inside = builder.and_(builder.icmp_signed(">=", offset, int64(0)), builder.icmp_signed("<=", end, limit))
            message = "a row operation exceeds one of its arrays"
        else:
            is_inside = builder.call(contains_row(builder.module), [address, offset, size])
            message = "a row operation exceeds the known rows"
        require(self.context, builder, is_inside, message)
        return super().pointer(address, offset, kind)


def require(context: Any, builder: Any, condition: Any, message: str) -> None:
    """Raise IndexError unless a condition holds."""
    with builder.if_then(builder.not_(condition), likely=False):
        context.call_conv.return_user_exc(builder, IndexError, (message,))


def contains_row(module: Any) -> Any:
    """The function that returns whether `size` bytes from an offset on are in the known row at an address."""
    function = cgutils.get_or_insert_function(module, ir.FunctionType(BIT, [INT64] * 3), CONTAINS_ROW)
    if function.is_declaration:
        function.linkage = "linkonce_odr"
        write_contains_row(ir.IRBuilder(function.append_basic_block()), *function.args)
    return function


def write_contains_row(builder: Any, address: Any, offset: Any, size: Any) -> None:
    """The body of `contains_row`: a search of all entries."""
    entries = cgutils.add_global_variable(builder.module, ir.ArrayType(INT64, 0), KNOWN_ROWS)

    def item(entry: Any, column: int) -> Any:
        index = builder.add(builder.mul(entry, int64(4)), int64(column))
        return builder.load(builder.gep(entries, [int64(0), index]))

    last = item(int64(0), 0)
    with cgutils.for_range(builder, builder.add(last, int64(1)), start=int64(1), intp=INT64) as loop:
        entry, end = loop.index, builder.add(offset, size)
        distance = builder.sub(address, item(entry, START))
        conditions = [
            builder.icmp_signed(">=", distance, int64(0)),
            builder.icmp_signed("<", address, item(entry, STOP)),
            builder.icmp_signed("==", builder.srem(distance, item(entry, STRIDE)), int64(0)),
            builder.icmp_signed(">=", offset, int64(0)),
            builder.icmp_signed("<=", end, item(entry, ROW_SIZE)),
        ]
        with builder.if_then(reduce(builder.and_, conditions)):
            builder.ret(ir.Constant(BIT, 1))
    builder.ret(ir.Constant(BIT, 0))
