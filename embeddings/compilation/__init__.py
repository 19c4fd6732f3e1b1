"""How kernels are emitted, linked, cached and checked.

`docs/reference/compilation.md` describes these steps and the private parts of numba on which they depend.

jit: decorators of kernels and helpers.
numba_overrides: helpers without machine code of their own, linked into kernels.
source_digest, machine_code_cache: a digest of the sources of a kernel; the folders of its machine code.
vector_emitter: LLVM vector instructions for the innermost loops over rows.
checked_build: kernels that check every index and address.
compile_monitor, compile_time: announce and measure compilations.
compile_process: a fork that compiles while this process reads text.
"""
