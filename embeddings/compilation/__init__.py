"""How kernels are compiled, linked, cached and checked."""
