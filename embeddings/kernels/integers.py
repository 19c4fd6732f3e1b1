"""Minimum and maximum of integers in kernels: numba compiles a function of its own for each use of `min` and `max`."""

from typing import Any

from numba import types

from embeddings.compilation.jit import intrinsic

Int = Any  # a numpy integer in plain Python, a machine integer when compiled


def select(comparison: str) -> Any:
    """The code generator of `a if a <comparison> b else b`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.icmp_signed(comparison, *args), *args)

    return codegen


@intrinsic
def smaller(typingctx: Any, a: Any, b: Any) -> Any:
    """The smaller of two integers."""
    return types.int64(types.int64, types.int64), select("<")


@intrinsic
def larger(typingctx: Any, a: Any, b: Any) -> Any:
    """The larger of two integers."""
    return types.int64(types.int64, types.int64), select(">")


@intrinsic
def popcount(typingctx: Any, word: Any) -> Any:
    """The number of one bits of a uint64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen
