"""Long short-term memory (Hochreiter and Schmidhuber 1997; with forget gates, Gers et al. 2000) in numpy.

With the input x, the state h of before, and weights W and bias b for the gates i, f and o and for the candidate g:

    i, f, o = sigmoid(W (x; h) + b)    g = tanh(W (x; h) + b)    c = f c + i g    h = o tanh(c)
"""

import numpy as np
from scipy.special import expit


def run_lstm(inputs: np.ndarray, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """The states after each input, float32 (n, steps, size), from a state of zeros.

    Arguments:
        inputs: float32 (n, steps, dim).
        weights: (4 size, dim + size), the rows of i, f, g and o in this order.
        bias: (1, 4 size).
    """
    n, steps, dim = inputs.shape
    size = len(weights) // 4
    from_inputs = inputs.reshape(-1, dim) @ weights[:, :dim].T + bias[0]
    gates = from_inputs.reshape(n, steps, 4 * size)
    recurrent = np.ascontiguousarray(weights[:, dim:].T)
    states = np.empty((n, steps, size), np.float32)
    state, cell = np.zeros((n, size), np.float32), np.zeros((n, size), np.float32)
    for step in range(steps):
        i, f, g, o = np.split(gates[:, step] + state @ recurrent, 4, axis=1)
        cell = expit(f) * cell + expit(i) * np.tanh(g)
        state = expit(o) * np.tanh(cell)
        states[:, step] = state
    return states
