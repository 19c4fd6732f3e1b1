"""Instructions on machine words."""

from typing import Any

from numba import types

from embeddings.kernels.jit import instruction


@instruction
def popcount(typingctx: Any, word: Any) -> Any:
    """How many bits of a uint64 are one."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen
