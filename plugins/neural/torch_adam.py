"""Adam (Kingma and Ba 2015) on PyTorch, whose state is in the tables of a run.

A gradient of few rows changes these rows only, and their moments, as that of `torch.optim.SparseAdam`, which is several
times slower on the CPU.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import torch

BETAS, EPSILON = (0.9, 0.999), 1e-8


@dataclass
class AdamParameter:
    """A parameter and its state.

    Arguments:
        values: the parameter, a tensor that requires gradients.
        first, second: the moving averages of gradients and of their squares, of the same shape.
        steps: float32 (1,), how many steps it has taken.
    """

    values: Any
    first: Any
    second: Any
    steps: np.ndarray

    def gradient(self) -> Any:
        """The gradient, or its rows; None if there is none."""
        if self.values.grad is not None and self.values.grad.is_sparse:
            self.values.grad = self.values.grad.coalesce()
            return self.values.grad.values()
        return self.values.grad

    def rows(self) -> Any:
        """The numbers of the rows of the gradient; None if it has all rows."""
        return self.values.grad.indices()[0] if self.values.grad.is_sparse else None

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, rate: float) -> None:
        """One step down the gradient, if there is one."""
        gradient = self.gradient()
        if gradient is None:
            return
        self.steps += 1
        corrections = [1 - beta ** float(self.steps[0]) for beta in BETAS]
        rows = self.rows()
        first, second = (one if rows is None else one[rows] for one in (self.first, self.second))
        first.lerp_(gradient, 1 - BETAS[0])
        second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        change = first / (second.sqrt() / sqrt(corrections[1]) + EPSILON) * (-rate / corrections[0])
        if rows is None:
            self.values.add_(change)
        else:
            self.first[rows], self.second[rows] = first, second
            self.values[rows] += change
