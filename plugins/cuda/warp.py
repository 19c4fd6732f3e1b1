"""What the kernels need of a warp, 32 threads in lockstep, each a lane: exchanged values, and rows in global memory."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import cuda, int32, types
from numba.cuda.extending import intrinsic

ALL_LANES = 0xFFFFFFFF
FLOAT, ADDRESS = ir.FloatType(), ir.IntType(64)

device: Callable[[Any], Any] = cuda.jit(device=True, fastmath=True, inline="always")


@device
def from_lane(value: Any, lane: Any) -> Any:
    """The value of another lane."""
    return cuda.shfl_sync(ALL_LANES, value, lane)


@device
def from_other(value: Any, mask: Any) -> Any:
    """The value of the lane whose number differs by the bits of `mask`."""
    return cuda.shfl_xor_sync(ALL_LANES, value, mask)


@device
def count_lanes(flag: Any, lane: Any) -> Any:
    """How many of the lanes before this one have a true flag, and how many of all."""
    mask = cuda.ballot_sync(ALL_LANES, flag)
    return int32(cuda.popc(int32(mask & ((1 << lane) - 1)))), int32(cuda.popc(mask))


def assembly(code: str, result: Any, constraints: str, context: Any, builder: Any, kinds: Any, args: Any) -> Any:
    """Insert an instruction for an item of a table, whose address is $0 or follows the results, and four numbers."""
    data = context.make_array(kinds[0])(context, builder, args[0]).data
    operands = [builder.ptrtoint(builder.gep(data, [args[1]]), ADDRESS)]
    operands += [builder.extract_value(args[2], k) for k in range(4)] if len(args) > 2 else []
    function = ir.FunctionType(result, [one.type for one in operands])
    return builder.call(ir.InlineAsm(function, code, constraints, True), operands)


@intrinsic  # type: ignore[untyped-decorator]
def load4(typingctx: Any, table: Any, at: Any) -> Any:
    """Four numbers of a table of float32."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # .cg: past the first-level cache, which does not see what other processors have changed meanwhile
        code, four = "ld.global.cg.v4.f32 {$0, $1, $2, $3}, [$4];", ir.LiteralStructType([FLOAT] * 4)
        loaded = assembly(code, four, "=f,=f,=f,=f,l", context, builder, signature.args, args)
        numbers = [builder.extract_value(loaded, k) for k in range(4)]
        return context.make_tuple(builder, signature.return_type, numbers)

    return types.UniTuple(types.float32, 4)(table, types.int64), codegen


def adder(code: str) -> Any:
    """A function that adds four numbers to a float32 table in one instruction, each atomically."""

    @intrinsic  # type: ignore[untyped-decorator]
    def add(typingctx: Any, table: Any, at: Any, added: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            assembly(code, ir.VoidType(), "l,f,f,f,f", context, builder, signature.args, args)
            return context.get_dummy_value()

        return types.void(table, types.int64, types.UniTuple(types.float32, 4)), codegen

    return add


add4 = adder("red.relaxed.gpu.global.add.v4.f32 [$0], {$1, $2, $3, $4};")  # requires compute capability 9.0
add4_scalar = adder(" ".join(f"red.global.add.f32 [$0+{4 * k}], ${k + 1};" for k in range(4)))  # three times as slow
