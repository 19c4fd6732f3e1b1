"""Helpers linked into entry points: the private API of numba that they need, and the fallback without it."""

import importlib
import operator

import numba
import numba.core.codegen
import numpy as np
import pytest
from numba import njit

from embeddings.compilation import jit, numba_overrides
from embeddings.compilation.jit import entry_point, inline


@pytest.fixture(autouse=True)
def _without_cached_machine_code(monkeypatch):
    # an entry point that is read from the disk does not compile its helpers
    monkeypatch.setattr(jit, "cache_dir", lambda function: None)


@inline
def add_half(x):
    return x + np.float32(0.5)


def total(values):
    result = np.float32(0)
    for i in range(values.shape[0]):
        result += add_half(values[i])
    return result


linked = pytest.mark.skipif(numba.version_info.short < numba_overrides.OLDEST_NUMBA, reason="compiles helpers plainly")


@linked
def test_it_is_in_use():
    assert numba_overrides.CAN_OVERRIDE_NUMBA
    compiled = entry_point(total)
    assert compiled(np.arange(4, dtype=np.float32)) == 8
    (overload,) = add_half.overloads.values()
    assert isinstance(overload.library, numba_overrides.HelperLibrary)
    assert all(hasattr(overload.library, name) for name in ("_linking_libraries", "_final_module", "_codegen"))
    assert isinstance(next(iter(compiled.overloads.values())).library, numba_overrides.EntryPointLibrary)


@inline
def plus(x, y):
    return x + y


@inline
def item(pair, index):
    return pair[index]


@linked
def test_constants_share_the_compiled_code_of_variables_unless_they_are_needed():
    @entry_point
    def sums(x):
        return plus(x, 1) + plus(x, x) + plus(2, x) + item((x, 2.5), 0)

    assert sums(3) == 4 + 6 + 5 + 3
    assert len(plus.overloads) == 1


@linked
def test_the_types_of_a_call_are_found_once_while_a_kernel_is_compiled(monkeypatch):
    searches, find = [], numba_overrides.find_call_type

    def count(function, context, args, kws):
        searches.append((function, args))
        return find(function, context, args, kws)

    monkeypatch.setattr(numba_overrides, "find_call_type", count)
    monkeypatch.setattr(numba_overrides, "call_types", {})

    @entry_point
    def products(x, y):
        return x * y + x * y - x * y * (x + y) * (y + x)

    assert products(3.0, 2.0) == -138
    assert products(3, 2) == -138
    assert products(np.float32(3), 2) == -138
    operators = [key for key in searches if key[0].typing_key is operator.mul]
    assert len(operators) == len(set(operators)) > 2
    searches.clear()
    njit(lambda x, y: x * y + x * y)(3.0, 2.0)  # not a kernel
    assert not searches
    assert numba.core.types.functions.BaseFunction.get_call_type is not numba_overrides.known_call_type


def test_python_can_call_a_helper():
    assert add_half(np.float32(1)) == 1.5


def test_without_the_private_api_kernels_are_compiled_plainly(monkeypatch):
    monkeypatch.setattr(numba_overrides, "CAN_OVERRIDE_NUMBA", False)
    plain = numba_overrides.helper(lambda x: x + 1, nogil=True)
    assert type(plain) is type(njit(lambda x: x))


def test_a_numba_without_a_class_is_noticed(monkeypatch):
    monkeypatch.delattr(numba.core.codegen, "JITCodeLibrary")
    module = importlib.util.module_from_spec(numba_overrides.__spec__)
    numba_overrides.__spec__.loader.exec_module(module)
    assert not module.CAN_OVERRIDE_NUMBA
    assert module.ENTRY_POINT_OPTIONS == {}
    assert module.helper(lambda x: x + 1)(1) == 2
