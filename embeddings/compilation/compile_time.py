"""How long this process has waited for compilations of kernels; reading it does not import numba."""


class CompileTime:
    """Wall time of all compilations of this process so far."""

    seconds = 0.0


compile_time = CompileTime()
