"""Copies of bytes between arrays, for parsers of tables. Compiled."""

from typing import Any

from numba import types
from numba.core import cgutils

from embeddings.compilation.checked_build import IS_CHECKED, require
from embeddings.compilation.jit import intrinsic
from embeddings.compilation.vector_emitter import int64


@intrinsic
def copy_bytes(typingctx: Any, out: Any, to: Any, text: Any, start: Any, length: Any) -> Any:
    """Copy `text[start:start + length]` to `out` from the byte `to` on; the arrays do not overlap."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target, source = (context.make_array(signature.args[i])(context, builder, args[i]) for i in (0, 2))
        if IS_CHECKED:
            for items, place in ((target, args[1]), (source, args[3])):
                is_after = builder.icmp_signed(">=", place, int64(0))
                is_before = builder.icmp_signed("<=", builder.add(place, args[4]), items.nitems)
                require(context, builder, builder.and_(is_after, is_before), "a cell exceeds its array")
        cgutils.raw_memcpy(
            builder, builder.gep(target.data, [args[1]]), builder.gep(source.data, [args[3]]), args[4], 1
        )
        return context.get_dummy_value()

    return types.void(out, types.int64, text, types.int64, types.int64), codegen
