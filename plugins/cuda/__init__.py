"""Training on one NVIDIA GPU, by numba-cuda; requires the extra `cuda`."""
