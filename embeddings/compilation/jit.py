"""Decorators of kernels and of their helpers.

Code that allocates nothing is compiled without numba's reference counting (`_nrt=False`), whose atomic instructions
otherwise take a third of the training time. `numba_overrides` links helpers into the kernels that call them;
`machine_code_cache` keeps the machine code of kernels on disk.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numba
import numba.extending
from numba import njit

from embeddings.compilation.checked_build import CHECKED_OPTIONS, check_calls
from embeddings.compilation.machine_code_cache import KernelCache, cache_dir
from embeddings.compilation.numba_overrides import ENTRY_POINT_OPTIONS, HELPER_OPTIONS, helper

# All of fastmath except "no NaN, no inf": sums may be reordered, but NaN stays NaN.
FASTMATH = {"reassoc", "contract", "nsz", "arcp", "afn"}
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": FASTMATH, "error_model": "numpy", **CHECKED_OPTIONS}
IMPLEMENTATIONS: dict[type, Callable[..., Any]] = {}  # of `dispatched` functions, by type of the first argument
INLINE_OPTIONS: dict[str, Any] = {"forceinline": True, "_nrt": False, **OPTIONS}
intrinsic: Callable[[Callable[..., Any]], Any] = numba.extending.intrinsic  # defines a function that emits LLVM code

Function = TypeVar("Function", bound=Callable[..., Any])


def inline(function: Function) -> Function:
    """Compile a helper that allocates nothing; LLVM inlines it into every kernel that calls it."""
    return helper(function, **INLINE_OPTIONS)  # type: ignore[no-any-return]


def implements(operand: type) -> Callable[[Function], Function]:
    """Register an inline helper as the implementation that `dispatched` functions select for a type of NamedTuple."""

    def register(function: Function) -> Function:
        IMPLEMENTATIONS[operand] = function
        return function

    return register


def dispatched(function: Function) -> Function:
    """Define a helper whose implementation, compiled into its callers, depends on the type of its first argument.

    The body of the function is not used.
    """

    @wraps(function)
    def call(operand: Any, *args: Any) -> Any:
        return IMPLEMENTATIONS[type(operand)](operand, *args)

    def select(operand: Any, *args: Any) -> Callable[..., Any] | None:
        implementation = IMPLEMENTATIONS.get(getattr(operand, "instance_class", type(None)))
        return getattr(implementation, "py_func", None)

    numba.extending.overload(call, jit_options=INLINE_OPTIONS | HELPER_OPTIONS, strict=False)(select)
    return call  # type: ignore[return-value]


def inline_source(function: Function) -> Function:
    """Define a helper that only calls others: numba inserts its source, so that it is not compiled by itself."""
    return helper(function, inline="always", **INLINE_OPTIONS)  # type: ignore[no-any-return]


def noinline(function: Function) -> Function:
    """Compile a rarely called helper that allocates nothing; kernels call it, which keeps their own code small."""
    return helper(function, _nrt=False, **OPTIONS)  # type: ignore[no-any-return]


def entry_point(function: Function) -> Function:
    """Compile a kernel that Python calls and that allocates nothing; its machine code is cached on disk."""
    return _cached(function, _nrt=False, **ENTRY_POINT_OPTIONS)


def allocating_entry_point(function: Function) -> Function:
    """Compile a kernel that Python calls and that may allocate arrays; its machine code is cached on disk."""
    return _cached(function)


def as_helper(entry: Function) -> Function:
    """The function of an entry point, compiled as a helper of other kernels."""
    return noinline(getattr(entry, "py_func", entry))


def _cached(function: Function, **options: Any) -> Function:
    compiled = njit(no_cfunc_wrapper=True, **OPTIONS, **options)(function)
    check_calls(compiled)
    # with NUMBA_DISABLE_JIT it is the function itself
    if compiled is not function and (home := cache_dir(function)) is not None:
        compiled._cache = KernelCache(compiled.py_func, home, IMPLEMENTATIONS)
    return compiled  # type: ignore[no-any-return]
