"""The end of a process whose mapped file was truncated by another program, or whose disk has failed.

The system then sends SIGBUS to the thread that reads. A handler in Python cannot run, because the instruction that
failed is repeated before it is called. The handler here is machine code, made by LLVM, that only calls `write` and
`_exit`, which signal handlers may call: it prints one line and ends the process with exit code 128 + SIGBUS.
"""

import ctypes
import faulthandler
import signal
from functools import cache
from typing import Any

MESSAGE = (
    b"Error: a file that was being read has been truncated by another program, or its disk has failed; "
    b"checkpoints are complete, so that --resume continues a run that writes them\n"
)
STANDARD_ERROR = 2
EXIT_SIGNAL = 128  # added to the number of the signal


def report_bus_errors() -> None:
    """Install the handler for this process; without effect on systems without SIGBUS or where it cannot be made."""
    number = getattr(signal, "SIGBUS", None)
    if number is None or signal.getsignal(number) != signal.SIG_DFL or faulthandler.is_enabled():
        return
    try:
        address = compile_handler().get_function_address("handle")
        install = ctypes.CDLL(None).signal
    except (AttributeError, OSError, RuntimeError):  # no compiler for this processor
        return
    install.argtypes, install.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    install(number, address)


@cache
def compile_handler() -> Any:
    """The engine that holds the machine code of the handler, `handle(number)`."""
    from llvmlite import binding, ir

    word, size, nothing = ir.IntType(32), ir.IntType(8 * ctypes.sizeof(ctypes.c_size_t)), ir.VoidType()
    module, pointer = ir.Module("bus_error"), ir.IntType(8).as_pointer()
    message = ir.GlobalVariable(module, ir.ArrayType(ir.IntType(8), len(MESSAGE)), "message")
    message.initializer, message.global_constant = ir.Constant(message.value_type, bytearray(MESSAGE)), True
    write = ir.Function(module, ir.FunctionType(size, [word, pointer, size]), "write")
    end = ir.Function(module, ir.FunctionType(nothing, [word]), "_exit")
    handle = ir.Function(module, ir.FunctionType(nothing, [word]), "handle")
    builder = ir.IRBuilder(handle.append_basic_block())
    builder.call(write, [word(STANDARD_ERROR), builder.bitcast(message, pointer), size(len(MESSAGE))])
    builder.call(end, [builder.add(handle.args[0], word(EXIT_SIGNAL))])
    builder.unreachable()
    binding.initialize_native_target()  # as numba does
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(str(module)), machine)
    engine.finalize_object()
    return engine
