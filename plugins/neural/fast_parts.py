"""Parts of networks that are faster than those of PyTorch on the CPU: LSTMs in a trie, and the scores of samples.

A trie has about half as many nodes as the distinct words of a batch have characters.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from embeddings.kernels.network_steps import run_cells, run_cells_back, score_samples, score_samples_back
from embeddings.plugins.neural.trained_networks import Ids


def distinct(ids: Ids, size: int) -> tuple[Ids, Ids]:
    """The distinct ids, which are below `size`, in order, and the place of each id among them, (size,)."""
    is_used = np.zeros(size, np.bool_)
    is_used[ids] = True
    used, places = np.flatnonzero(is_used), np.empty(size, np.int64)
    places[used] = np.arange(len(used))
    return used, places


@dataclass(frozen=True)
class Trie:
    """Spellings as a trie: those with the same beginning share its nodes. The nodes of a level follow each other.

    Arguments:
        bounds: (levels + 1,) the first node of each level.
        parents: (nodes,) 1 + the node before each; 0 at the first level.
        characters: (nodes,) the character of each node.
        last: (spellings,) the last node of each spelling.
    """

    bounds: list[int]
    parents: Ids
    characters: Ids
    last: Ids

    @classmethod
    def of(cls, characters: Ids, lengths: Ids) -> "Trie":
        """The trie of padded spellings (n, longest)."""
        last, size = np.zeros(len(lengths), np.int64), int(characters.max()) + 1
        bounds, keys = [0], []
        for level in range(characters.shape[1]):
            spellings = np.flatnonzero(lengths > level)
            used, places = np.unique(last[spellings] * size + characters[spellings, level], return_inverse=True)
            last[spellings] = bounds[-1] + 1 + places
            keys.append(used)
            bounds.append(bounds[-1] + len(used))
        return cls(bounds, *np.divmod(np.concatenate(keys), size), last - 1)

    @property
    def levels(self) -> list[tuple[int, int, Any]]:
        """The first and last node of each level, and the parents of its nodes."""
        return [(first, last, torch.from_numpy(self.parents[first:last])) for first, last in pairwise(self.bounds)]


class TrieStates(torch.autograd.Function):  # type: ignore[misc]
    """The states of an LSTM in the nodes of a trie, as in `embeddings.plugins.neural.trained_networks.run_lstm`."""

    @staticmethod
    def forward(context: Any, gates: Any, weights: Any, trie: Trie) -> Any:
        """The states (nodes, size).

        Arguments:
            gates: (nodes, 4 size) the products of inputs and weights, with biases; overwritten by activations.
            weights: (4 size, size), of the states.
        """
        states, cells = gates.new_zeros(2, 1 + len(gates), weights.shape[1])
        squashed, transposed = torch.empty_like(states[1:]), weights.T.contiguous()
        gates = gates.detach()  # in place: what computes gates does not need them for its gradient
        own, c, tanh, h = (one.numpy() for one in (gates, cells, squashed, states))
        for begin, end, parents in trie.levels:
            gates[begin:end].addmm_(states.index_select(0, parents), transposed)
            run_cells(own, c, tanh, h, trie.parents, begin, end)
        context.save_for_backward(gates, weights, states, cells, squashed)
        context.trie = trie
        return states[1:]

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        """The gradients of gates and weights."""
        gates, weights, states, cells, squashed = context.saved_tensors
        to_states, to_cells = torch.zeros_like(states), torch.zeros_like(cells)
        to_states[1:] = gradient
        own, c, tanh = (one.numpy() for one in (gates, cells, squashed))
        to_h, to_c = to_states.numpy(), to_cells.numpy()
        for begin, end, parents in reversed(context.trie.levels):
            run_cells_back(own, c, tanh, to_h, to_c, context.trie.parents, begin, end)
            to_states.index_add_(0, parents, gates[begin:end] @ weights)
        earlier = states.index_select(0, torch.from_numpy(context.trie.parents))
        return gates, (earlier.T @ gates).T, None


class SampledScores(torch.autograd.Function):  # type: ignore[misc]
    """The products (n, k) of hidden rows (n, dim) with some rows of a table (words, dim) each, whose numbers are given.

    Rows are read and their gradients are written where they are, not in a copy (n, k, dim).
    """

    @staticmethod
    def forward(context: Any, hidden: Any, table: Any, places: Ids) -> Any:
        """The scores; the table is contiguous."""
        hidden, scores = hidden.contiguous(), hidden.new_empty(places.shape)
        score_samples(hidden.numpy(), table.numpy(), places, scores.numpy())
        context.save_for_backward(hidden, table)
        context.places = places
        return scores

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        """The gradients of hidden rows and table."""
        hidden, table = context.saved_tensors
        changes = torch.zeros_like(hidden), torch.zeros_like(table)
        arrays = (one.numpy() for one in (gradient.contiguous(), *changes))
        score_samples_back(hidden.numpy(), table.numpy(), context.places, *arrays)
        return *changes, None
