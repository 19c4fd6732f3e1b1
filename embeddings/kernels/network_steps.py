"""Steps of recurrent networks that are not matrix products, forward and backward: cells of LSTMs, scores of samples."""

import numpy as np

from embeddings.compilation.jit import entry_point, inline
from embeddings.kernels.softmax import polynomial_exp

ZERO, ONE, TWO = np.float32(0), np.float32(1), np.float32(2)


@inline
def exact_sigmoid(x: np.float32) -> np.float32:
    """1 / (1 + exp(-x)) of a float32, with a relative error below 1e-5; vectorises."""
    power = polynomial_exp(-abs(x))
    return (ONE if x > ZERO else power) / (ONE + power)


@entry_point
def run_cells(
    gates: np.ndarray, cells: np.ndarray, squashed: np.ndarray, states: np.ndarray, parents: np.ndarray, begin: int,
    end: int,
) -> None:  # fmt: skip
    """Compute cells and states of the nodes of an LSTM from `begin` to `end`, and replace their gates by activations.

        i, f, o = sigmoid(gates)    g = tanh(gate)    c = f c' + i g    h = o tanh(c)    of the cell c' before it

    Arguments:
        gates: float32 (nodes, 4 size), the inputs of i, f, g and o.
        cells, states: float32 (starts + nodes, size); the first rows are those before the first nodes.
        squashed: float32 (nodes, size), tanh of the cells.
        parents: int64 (nodes,) the row of the node before each.
    """
    size = cells.shape[1]
    first = cells.shape[0] - gates.shape[0]
    for node in range(begin, end):
        gate, before, own = gates[node], cells[parents[node]], cells[first + node]
        tanh, state = squashed[node], states[first + node]
        i, f, g, o = gate[:size], gate[size : 2 * size], gate[2 * size : 3 * size], gate[3 * size :]
        for j in range(size):
            i[j], f[j], o[j] = exact_sigmoid(i[j]), exact_sigmoid(f[j]), exact_sigmoid(o[j])
            g[j] = TWO * exact_sigmoid(TWO * g[j]) - ONE
        for j in range(size):
            own[j] = f[j] * before[j] + i[j] * g[j]
            tanh[j] = TWO * exact_sigmoid(TWO * own[j]) - ONE
            state[j] = o[j] * tanh[j]


@entry_point
def run_cells_back(
    gates: np.ndarray, cells: np.ndarray, squashed: np.ndarray, to_states: np.ndarray, to_cells: np.ndarray,
    parents: np.ndarray, begin: int, end: int,
) -> None:  # fmt: skip
    """Replace the activations of nodes by the gradients of their gates, and add to the gradients of the cells before.

    Arguments:
        to_states, to_cells: float32 (starts + nodes, size), gradients; those of these nodes are complete.
        gates, cells, squashed, parents, begin, end: as `run_cells` left them.
    """
    size = cells.shape[1]
    first = cells.shape[0] - gates.shape[0]
    for node in range(begin, end):
        gate, before, tanh = gates[node], cells[parents[node]], squashed[node]
        to_state, to_cell, to_before = to_states[first + node], to_cells[first + node], to_cells[parents[node]]
        i, f, g, o = gate[:size], gate[size : 2 * size], gate[2 * size : 3 * size], gate[3 * size :]
        for j in range(size):
            change = to_cell[j] + to_state[j] * o[j] * (ONE - tanh[j] * tanh[j])
            to_before[j] += change * f[j]
            to_input = change * g[j] * i[j] * (ONE - i[j])
            g[j] = change * i[j] * (ONE - g[j] * g[j])
            i[j] = to_input
            f[j] = change * before[j] * f[j] * (ONE - f[j])
            o[j] = to_state[j] * tanh[j] * o[j] * (ONE - o[j])


@entry_point
def score_samples(hidden: np.ndarray, rows: np.ndarray, places: np.ndarray, scores: np.ndarray) -> None:
    """The scores of sampled words, s = h · o.

    Arguments:
        hidden: float32 (n, dim), h.
        rows: float32 (words, dim), o of each word.
        places: int64 (n, k), the words of each hidden row.
        scores: float32 (n, k), which are written.
    """
    for i in range(places.shape[0]):
        own = hidden[i]
        for k in range(places.shape[1]):
            row, score = rows[places[i, k]], ZERO
            for j in range(own.shape[0]):
                score += own[j] * row[j]
            scores[i, k] = score


@entry_point
def score_samples_back(
    hidden: np.ndarray, rows: np.ndarray, places: np.ndarray, gradient: np.ndarray, to_hidden: np.ndarray,
    to_rows: np.ndarray,
) -> None:  # fmt: skip
    """Add the gradients of `score_samples`, to_h += g o and to_o += g h, given the gradient g of the scores."""
    for i in range(places.shape[0]):
        own, to_own = hidden[i], to_hidden[i]
        for k in range(places.shape[1]):
            row, to_row, g = rows[places[i, k]], to_rows[places[i, k]], gradient[i, k]
            for j in range(own.shape[0]):
                to_own[j] += g * row[j]
                to_row[j] += g * own[j]
