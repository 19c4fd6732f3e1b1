"""Parts of networks that are faster than those of PyTorch on the CPU: LSTMs in a trie, and the scores of samples.

A trie has about half as many nodes as the distinct words of a batch have characters.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from embeddings.kernels.sampled_scores import score_samples, score_samples_back
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
    def levels(self) -> list[tuple[slice, Any]]:
        """The nodes of each level, and their parents."""
        return [(slice(*bounds), torch.from_numpy(self.parents[slice(*bounds)])) for bounds in pairwise(self.bounds)]


class TrieStates(torch.autograd.Function):  # type: ignore[misc]
    """The states of an LSTM in the nodes of a trie, as in `embeddings.plugins.neural.trained_networks.run_lstm`."""

    @staticmethod
    def forward(context: Any, gates: Any, weights: Any, trie: Trie) -> Any:
        """The states (nodes, size).

        Arguments:
            gates: (nodes, 4 size) the products of inputs and weights, with biases; overwritten by activations.
            weights: (4 size, size), of the states.
        """
        size, transposed = weights.shape[1], weights.T.contiguous()
        states, cells = gates.new_zeros(2, 1 + len(gates), size)
        gates = gates.detach()  # in place: what computes gates does not need them for its gradient
        for nodes, parents in trie.levels:
            parents = parents.to(gates.device)
            own = gates[nodes].addmm_(states.index_select(0, parents), transposed)
            own[:, : 2 * size].sigmoid_()
            own[:, 2 * size : 3 * size].tanh_()
            own[:, 3 * size :].sigmoid_()
            i, f, g, o = own.split(size, dim=1)
            torch.mul(i, g, out=cells[1:][nodes]).addcmul_(f, cells.index_select(0, parents))
            torch.tanh(cells[1:][nodes], out=states[1:][nodes]).mul_(o)
        context.save_for_backward(gates, weights, states, cells)
        context.trie = trie
        return states[1:]

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        """The gradients of gates and weights."""
        gates, weights, states, cells = context.saved_tensors
        before, squashed = torch.from_numpy(context.trie.parents).to(gates.device), cells[1:].tanh()
        i, f, g, o = gates.split(weights.shape[1], dim=1)
        changes = gates * (1 - gates)  # by which the gradients of the cells i, f and g, and that of the state o are
        to_i, to_f, to_g, to_o = changes.split(weights.shape[1], dim=1)
        to_i.mul_(g)
        to_f.mul_(cells.index_select(0, before))
        to_o.mul_(squashed)
        torch.addcmul(i, i * g, g, value=-1, out=to_g)
        to_cell = torch.addcmul(o, o * squashed, squashed, value=-1)
        to_states, to_cells = torch.zeros_like(states), torch.zeros_like(cells)
        to_states[1:] = gradient
        for nodes, parents in reversed(context.trie.levels):
            parents, own = parents.to(gates.device), changes[nodes]
            state, cell = to_states[1:][nodes], to_cells[1:][nodes]
            cell.addcmul_(state, to_cell[nodes])
            own.unflatten(1, (4, -1))[:, :3].mul_(cell[:, None])
            to_o[nodes].mul_(state)
            to_states.index_add_(0, parents, own @ weights)
            to_cells.index_add_(0, parents, cell * f[nodes])
        return changes, (states.index_select(0, before).T @ changes).T, None


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
