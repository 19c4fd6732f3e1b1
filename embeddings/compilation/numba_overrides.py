"""Helpers of kernels, compiled without machine code of their own: overrides of private classes of numba.

numba compiles each jitted function separately, with its callees and two wrappers, to machine code. For an inlined
helper this is wasted: only the entry point that contains it runs. A helper three calls below an entry point is
optimised four times. Here helpers get numba's function passes and are linked with what they call; module passes and
machine code are left to the entry points. This halves the time of a first run.

The private classes are those of numba 0.62 and newer, listed in `PRIVATE_API`. If one of them is missing, helpers are
compiled by plain `njit`, which gives the same results and takes longer to compile.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
from numba import njit, types
from numba.core.errors import TypingError

# What this module overrides or calls, by class; a test checks each with the installed numba.
PRIVATE_API = {
    "JITCodeLibrary": ("finalize", "get_pointer_to_function", "_raise_if_finalized", "_ensure_finalized",
                       "_get_module_for_linking", "_optimize_final_module", "enable_object_caching"),
    "Compiler": ("define_pipelines", "compile_extra"),
    "CPUDispatcher": ("__call__", "get_call_template"),
    "BaseFunction": ("get_call_type",),
}  # fmt: skip

OLDEST_NUMBA = (0, 62)  # which took over LLVM's new pass managers

try:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
    from numba.core.registry import CPUDispatcher
    from numba.core.types import functions

    BaseFunction: Any = functions.BaseFunction
    CAN_OVERRIDE_NUMBA = numba.version_info.short >= OLDEST_NUMBA and all(
        hasattr(base, name)
        for base in (JITCodeLibrary, Compiler, CPUDispatcher, BaseFunction)
        for name in PRIVATE_API[base.__name__]
    )
except ImportError:
    CAN_OVERRIDE_NUMBA = False

if CAN_OVERRIDE_NUMBA:

    class _CodegenWithoutEnvironment:
        """numba's code generator, except that it sets no environment pointer, which needs machine code."""

        def __init__(self, codegen: Any) -> None:
            self._codegen = codegen

        def __getattr__(self, name: str) -> Any:
            return getattr(self._codegen, name)

        def set_env(self, name: str, env: Any) -> None:
            """Do nothing."""

    class HelperLibrary(JITCodeLibrary):  # type: ignore[misc]
        """LLVM code that is linked into entry points and never runs by itself."""

        @property
        def codegen(self) -> Any:
            """The code generator."""
            return _CodegenWithoutEnvironment(self._codegen)

        def finalize(self) -> None:
            """Link the callees; run no module passes and generate no machine code."""
            self._raise_if_finalized()
            for library in dict.fromkeys(self._linking_libraries):
                if hasattr(self, "_reload_init"):  # since numba 0.63
                    self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._final_module.verify()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            """Return a null pointer, which nobody calls: see `Helper`."""
            self._ensure_finalized()
            return 0

    class EntryPointLibrary(JITCodeLibrary):  # type: ignore[misc]
        """A kernel that counts no references, so that the extra module passes for pruning them are skipped."""

        def _optimize_final_module(self) -> None:
            passes, builder = self._codegen._module_pass_manager()
            passes.run(self._final_module, builder)

    find_call_type: Any = BaseFunction.get_call_type
    call_types: dict[Any, Any] = {}  # by function, typing context and types of the arguments

    def known_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        """The types with which numba calls a function of its own; of each combination they are found once.

        numba tries every overload for every call: most operators are called hundreds of times with the same types.
        """
        if kws or not isinstance(function, types.Function):
            return find_call_type(function, context, args, kws)
        key = function, context, tuple(args)
        if key not in call_types:
            call_types[key] = find_call_type(function, context, args, kws)
        return call_types[key]

    class KernelCompiler(Compiler):  # type: ignore[misc]
        """Compiles with `known_call_type`."""

        def compile_extra(self, func: Any) -> Any:
            """Compile a function."""
            before, BaseFunction.get_call_type = BaseFunction.get_call_type, known_call_type
            try:
                return super().compile_extra(func)
            finally:
                BaseFunction.get_call_type = before

    class HelperCompiler(KernelCompiler):
        """Compiles into a `HelperLibrary`."""

        def define_pipelines(self) -> list[Any]:
            """Set the library to compile into; the passes are numba's own."""
            self.state.library = HelperLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            return super().define_pipelines()  # type: ignore[no-any-return]

    class EntryPointCompiler(KernelCompiler):
        """Compiles into an `EntryPointLibrary`, which can be cached on disk."""

        def define_pipelines(self) -> list[Any]:
            """Set the library to compile into; the passes are numba's own."""
            self.state.library = EntryPointLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
            return super().define_pipelines()  # type: ignore[no-any-return]

    class Helper(CPUDispatcher):  # type: ignore[misc]
        """A dispatcher without machine code; a call from Python, as in tests, compiles a separate function."""

        __slots__ = ()

        def __call__(self, *args: Any) -> Any:
            """Call the function, compiled by plain `njit`."""
            return plain_function(self)(*args)

        def get_call_template(self, args: Any, kws: Any) -> Any:
            """Return how to call the function; constants do not get a compiled version of their own."""
            try:
                return super().get_call_template([types.unliteral(arg) for arg in args], kws)
            except TypingError:  # it needs a constant, such as the index of a tuple
                return super().get_call_template(args, kws)

    @cache
    def plain_function(compiled: Helper) -> Any:
        """The same function compiled by plain `njit`."""
        ignored = {"no_cpython_wrapper", "no_cfunc_wrapper", "nopython"}
        options = {name: value for name, value in compiled.targetoptions.items() if name not in ignored}
        return njit(**options)(compiled.py_func)

    ENTRY_POINT_OPTIONS: dict[str, Any] = {"pipeline_class": EntryPointCompiler}
    HELPER_OPTIONS: dict[str, Any] = {
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
        "pipeline_class": HelperCompiler,
    }
else:
    ENTRY_POINT_OPTIONS, HELPER_OPTIONS = {}, {}


def helper(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a function that only entry points call."""
    compiled = njit(**HELPER_OPTIONS, **options)(function)
    if CAN_OVERRIDE_NUMBA and isinstance(compiled, CPUDispatcher):  # with NUMBA_DISABLE_JIT it is the function itself
        compiled.__class__ = Helper
    return compiled
