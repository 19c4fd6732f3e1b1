"""The CPU's population count."""

from typing import Any

from numba import types

from embeddings.kernels.jit import intrinsic


@intrinsic
def popcount(typingctx: Any, word: Any) -> Any:
    """The number of one bits of a uint64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen
