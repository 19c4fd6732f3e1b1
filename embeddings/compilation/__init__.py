"""How kernels are emitted, linked, cached and checked.

`docs/reference/compilation.md` describes these steps and the private parts of numba on which they depend.

jit: decorators of kernels and helpers.
numba_overrides: helpers without machine code of their own, linked into kernels.
machine_code_cache: the folders of the machine code of kernels, named after digests of their sources.
vector_emitter: LLVM vector instructions for the innermost loops over rows.
checked_build: kernels that check every index and address.
compile_monitor, compile_time: announce and measure compilations.
"""

import os

from embeddings.errors import SettingError

if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
    raise SettingError("the environment variable NUMBA_DISABLE_JIT is set, but kernels must be compiled; unset it")
if (text := os.environ.get("NUMBA_NUM_THREADS", "1")).lstrip("-").isdecimal() and int(
    text
) < 1:  # numba is not imported
    raise SettingError(f"the environment variable NUMBA_NUM_THREADS must be at least 1, got {text:.20}; unset it")
