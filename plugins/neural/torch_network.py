"""PyTorch networks whose parameters and Adam states are the tables of a run.

The rows of a large table that a batch uses are a leaf of its graph, with a gradient of their own: Adam changes only
them and their moments, as `torch.optim.SparseAdam` does. LSTMs in a trie and the scores of samples are faster here than
those of PyTorch on the CPU: a trie has about half as many nodes as the distinct words of a batch have characters.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, embedding, linear, relu
from torch.nn.utils import clip_grad_norm_
from torch.optim.adam import adam

from embeddings.kernels.block import LAST
from embeddings.kernels.loss_tally import report_loss
from embeddings.kernels.network_steps import run_cells, run_cells_back, score_samples, score_samples_back
from embeddings.kernels.sentence_block import SentenceBlock
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.models.table import Arrays, Table
from embeddings.objectives.objective import Objective
from embeddings.plugins.neural.neural_trainer import MOMENTS, STEPS, NeuralTrainer
from embeddings.plugins.neural.trained_networks import (
    BOUNDARY,
    DIRECTIONS,
    UNKNOWN,
    Ids,
    batches,
    padded_places,
    reading_order,
    reversed_rows,
)


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
            # A key is the parent and the character, so that the nodes of a level are in the order of their parents.
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
        # The last level first: the gradient of a node is complete when those of its children have been added.
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


BETAS, EPSILON = (0.9, 0.999), 1e-8


@dataclass
class AdamParameter:
    """A parameter and its state in Adam (Kingma and Ba 2015, algorithm 1).

    Arguments:
        values: the parameter, a tensor that requires gradients.
        first, second: the moving averages of gradients and of their squares, of the same shape.
        steps: the number of steps of this parameter, a tensor with one number.
        rows: the rows that the graph of a batch uses, of which `leaf` is a copy; None for all, which are `values`.
    """

    values: Any
    first: Any
    second: Any
    steps: Any
    rows: Any = None
    leaf: Any = None

    def select(self, rows: Any) -> Any:
        """The rows (n, dim) of the parameter as a leaf of the graph of a batch, until the next step."""
        self.rows, self.leaf = rows, self.values.detach().index_select(0, rows).requires_grad_()
        return self.leaf

    def parts(self) -> list[Any]:
        """The values and both averages, contiguous: copies of the selected rows, or the tables themselves."""
        averages = self.first, self.second
        if self.rows is None:
            return [one.contiguous() for one in (self.values.detach(), *averages)]
        return [self.leaf.detach(), *(one.index_select(0, self.rows) for one in averages)]

    def write(self, parts: list[Any]) -> None:
        """Store what `parts` returned, after a step."""
        for table, part in zip((self.values.detach(), self.first, self.second), parts, strict=True):
            if self.rows is not None:
                table.index_copy_(0, self.rows, part)
            elif part.data_ptr() != table.data_ptr():
                table.copy_(part)


@torch.no_grad()  # type: ignore[untyped-decorator]
def take_step(parameters: list[AdamParameter], rate: float, max_norm: float) -> None:
    """Take a step of Adam with the gradients of all parameters, which are clipped together.

    m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, values -= rate * m' / (sqrt(v') + epsilon), where m' and v' are
    m / (1 - b1^t) and v / (1 - b2^t) at step t. Parameters without a gradient stay as they are.
    """
    leaves = [one.values if one.leaf is None else one.leaf for one in parameters]
    used = [(one, leaf) for one, leaf in zip(parameters, leaves, strict=True) if leaf.grad is not None]
    clip_grad_norm_([leaf for _, leaf in used], max_norm)
    parts = [one.parts() for one, _ in used]
    values, first, second = (list(column) for column in zip(*parts, strict=True))
    gradients, steps = [leaf.grad.contiguous() for _, leaf in used], [one.steps for one, _ in used]
    adam(
        values, gradients, first, second, [], steps, fused=True, amsgrad=False, beta1=BETAS[0], beta2=BETAS[1], lr=rate,
        weight_decay=0, eps=EPSILON, maximize=False,
    )  # fmt: skip
    for (one, leaf), part in zip(used, parts, strict=True):
        one.write(part)
        one.rows = one.leaf = leaf.grad = None


class Network(ABC):
    """A network that predicts words of sentences.

    Arguments:
        settings: the trainer.
        objective: how words are predicted.
        declared: the tables that are parameters.
        tables: the arrays of the parameters and of the state of Adam.
        device: "cpu", where the network shares the memory of the tables, or "cuda", where it has copies.
        threads: the number of threads of PyTorch on the CPU.
        seed: of dropout.
    """

    def __init__(
        self, settings: NeuralTrainer, objective: Objective, declared: Mapping[str, Table], tables: Arrays,
        *, device: str, threads: int, seed: int,
    ) -> None:  # fmt: skip
        self.settings, self.objective, self.device = settings, objective, torch.device(device)
        self.seed, self.generator = seed, torch.Generator(device)
        self.output_name = "output" if "output" in declared else "words"  # the table of output vectors
        self.threads = self.threads_before = threads
        self.copies: list[tuple[Any, Any]] = []  # tensors of this network, and views of the tables
        self.parameters = {name: self.share(tables[name], table.dim) for name, table in declared.items()}
        self.states = {
            name: AdamParameter(
                self.parameters[name].requires_grad_(),
                self.share(tables[f"{name}.{MOMENTS[0]}"], table.dim),
                self.share(tables[f"{name}.{MOMENTS[1]}"], table.dim),
                self.share(tables[STEPS][row : row + 1], 1)[0, 0],
            )
            for row, (name, table) in enumerate(declared.items())
        }
        shares, negatives = objective.noise_weights / objective.noise_weights.sum(), settings.negatives
        expected = negatives * shares  # samples of each word
        if settings.objective == "sampled-softmax":  # the probability of one sample or more
            expected = -np.expm1(negatives * np.log1p(-np.minimum(shares, 1 - 1e-12)))
        self.log_noise = self.tensor(np.log(expected)).float()

    def share(self, table: np.ndarray, dim: int) -> Any:
        """A table without padding: a view on the CPU, else a tensor that `load` fills and `store` copies back."""
        view = torch.from_numpy(table)[:, :dim]
        if self.device.type == "cpu":
            return view
        copy = torch.empty(view.shape, device=self.device)
        self.copies.append((copy, view))
        return copy

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def load(self) -> None:
        """Copy the tables to the device, and set the number of threads of PyTorch."""
        self.threads_before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        for copy, view in self.copies:
            copy.copy_(view)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def store(self) -> None:
        """Copy the tables back, and restore the number of threads of PyTorch."""
        for copy, view in self.copies:
            view.copy_(copy)
        torch.set_num_threads(self.threads_before)

    def tensor(self, array: np.ndarray) -> Any:
        """An array on the device."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def learn(self, block: SentenceBlock, buffers: StepBuffers, rate: float) -> None:
        """Take one step of Adam for each batch of a block."""
        for places, lengths in batches(block, self.settings.batch_words):
            is_word = np.arange(places.shape[1]) < lengths[:, None]
            rows = np.flatnonzero(block.is_target[places] & is_word)
            targets = places.ravel()[rows]
            if self.settings.dropout:  # the same masks in a resumed run
                steps = max(int(one.steps) for one in self.states.values())
                self.generator.manual_seed((self.seed << 32) + steps & (1 << 63) - 1)
            hidden = self.hidden(block, places, lengths, rows)
            if not len(rows):
                continue
            loss = self.loss(hidden, block.words[targets].astype(np.int64), block.noise[targets].astype(np.int64))
            (loss / len(rows)).backward()
            self.freeze(buffers.frozen)
            take_step(list(self.states.values()), rate, self.settings.max_gradient_norm)
            report_loss(buffers, loss.item(), len(rows))

    @abstractmethod
    def hidden(self, block: SentenceBlock, places: Ids, lengths: Ids, rows: Ids) -> Any:
        """The hidden rows (rows, dim) that predict some words of a batch.

        Arguments:
            places: (sentences, longest) the places of the words of the batch in the block.
            lengths: (sentences,) the number of words of each sentence, which must not rise.
            rows: the numbers of the words to predict, in the order of `places`.
        """

    def freeze(self, frozen: np.ndarray) -> None:
        """Set the gradients of the frozen rows of the table "words" to zero."""
        if not len(frozen):
            return
        words, is_frozen = self.states["words"], self.tensor(frozen)
        if words.leaf is not None:
            words.leaf.grad[is_frozen[words.rows]] = 0
        elif words.values.grad is not None:
            words.values.grad[is_frozen] = 0

    def look_up(self, name: str, ids: Ids) -> Any:
        """The rows of ids in a table."""
        table, places = self.used_rows(name, ids)
        return embedding(self.tensor(places), table)

    def used_rows(self, name: str, ids: Ids) -> tuple[Any, Ids]:
        """The rows of a table for `ids`, and the place of each id among them."""
        used, places = distinct(ids, len(self.parameters[name]))
        return self.states[name].select(self.tensor(used)), places[ids]

    def read_words(self, ids: Ids, size: int, rows: Any, marks: Any) -> Any:
        """The inputs (..., dim) of an LSTM, with dropout.

        Arguments:
            ids: words, or from `size` on rows of `marks`.
            rows: returns the rows (n, dim) of some words (n,).
        """
        used, places = distinct(ids, size + len(marks))
        known = used[used < size]
        parts = [rows(known)] if len(known) else []
        table = torch.cat([*parts, marks.index_select(0, self.tensor(used[len(known) :] - size))])
        return self.drop(embedding(self.tensor(places[ids]), table))

    def drop(self, rows: Any) -> Any:
        """Dropout (Zaremba et al. 2014): each number is 0, or divided by the share of those that are not."""
        share = self.settings.dropout
        if share == 0:
            return rows
        mask = torch.rand(rows.shape, generator=self.generator, device=self.device) >= share
        return rows * mask / (1 - share)

    def run_lstm(self, name: str, inputs: Any) -> Any:
        """The states (n, steps, size) of an LSTM, as in `embeddings.plugins.neural.trained_networks.run_lstm`."""
        weights, bias, dim = self.parameters[f"{name}_weights"], self.parameters[f"{name}_bias"][0], inputs.shape[2]
        zeros = inputs.new_zeros(1, len(inputs), len(weights) // 4)
        parameters = (weights[:, :dim].contiguous(), weights[:, dim:].contiguous(), bias, torch.zeros_like(bias))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # on a GPU the weights are copied for each batch
            return torch.lstm(inputs, (zeros, zeros), parameters, True, 1, 0.0, True, False, True)[0]

    def linear(self, name: str, rows: Any) -> Any:
        """A linear layer."""
        return linear(rows, self.parameters[f"{name}_weights"], self.parameters[f"{name}_bias"][0])

    def loss(self, hidden: Any, words: Ids, noise: Ids) -> Any:
        """The sum of the losses of words (n,), given hidden rows (n, dim) and negative samples (n, k)."""
        name = self.settings.objective
        if name == "full-softmax":
            return cross_entropy(hidden @ self.parameters[self.output_name].T, self.tensor(words), reduction="sum")
        numbers = np.concatenate([words[:, None], noise], axis=1)
        targets, (table, places) = self.tensor(numbers), self.used_rows(self.output_name, numbers)
        if self.device.type == "cpu":
            scores = SampledScores.apply(hidden, table, places)
        else:
            scores = torch.bmm(embedding(self.tensor(places), table), hidden[:, :, None])[..., 0]
        labels, weights = torch.zeros_like(scores), torch.ones_like(scores)
        labels[:, 0] = 1
        if name == "sampled-softmax":
            scores = (scores - self.log_noise[targets]).masked_fill(is_repeated(targets), -torch.inf)
            return cross_entropy(scores, torch.zeros_like(targets[:, 0]), reduction="sum")
        if name == "nce":
            scores = scores + self.look_up("bias", numbers)[..., 0] - self.log_noise[targets]
        else:
            weights[:, 1:] = targets[:, 1:] != targets[:, :1]
        return binary_cross_entropy_with_logits(scores, labels, weights, reduction="sum")


def is_repeated(targets: Any) -> Any:
    """Whether each target (n, k) is equal to an earlier target of its row, bool (n, k)."""
    order = torch.argsort(targets, dim=1, stable=True)
    values = torch.gather(targets, 1, order)
    repeats = torch.zeros_like(targets, dtype=torch.bool)
    repeats[:, 1:] = values[:, 1:] == values[:, :-1]
    return torch.zeros_like(repeats).scatter(1, order, repeats)


class ContextNetwork(Network):
    """context2vec: the context of a word, read from the left and from the right, predicts the word.

    The output vectors of words are the vectors of the model.
    """

    def hidden(self, block: SentenceBlock, places: Ids, lengths: Ids, rows: Ids) -> Any:
        """The vectors of contexts."""
        words = len(self.parameters["words"])
        ids = np.minimum(block.words[places].astype(np.int64), words + UNKNOWN)
        forward, backward, known = reading_order(ids, lengths, words + BOUNDARY)
        ends = known + np.arange(len(known))[:, None] * known.shape[1]
        left = self.read("left", forward).index_select(0, self.tensor(rows))
        right = self.read("right", backward).index_select(0, self.tensor(ends.ravel()[rows]))
        states = self.drop(torch.cat([left, right], dim=1))
        return self.linear("context", relu(self.linear("hidden", states)))

    def read(self, side: str, ids: Ids) -> Any:
        """The states of the left or right LSTM after each word of padded sentences, one after another."""
        name, marks = f"{side}_inputs", self.parameters[f"{side}_marks"]
        inputs = self.read_words(ids, len(self.parameters[name]), partial(self.look_up, name), marks)
        return self.run_lstm(side, inputs).flatten(0, 1)


class LanguageNetwork(Network):
    """C2W: the words before a word predict it, each composed of its characters.

    characters, starts: the character numbers of all words of the corpus; word i has
        `characters[starts[i]:starts[i + 1]]`.
    """

    characters: Ids
    starts: Ids

    def hidden(self, block: SentenceBlock, places: Ids, lengths: Ids, rows: Ids) -> Any:
        """The states of the language model before each word."""
        starts, size = block.starts[: int(block.cursor[LAST]) + 1], len(self.starts) - 1
        # The word before the first one of a sentence, here the last of another one, becomes the mark of the beginning.
        previous = np.roll(np.minimum(block.words[: int(starts[-1])].astype(np.int64), size + UNKNOWN), 1)
        previous[starts[:-1]] = size + BOUNDARY
        inputs = self.read_words(previous[places], size, self.compose, self.parameters["marks"])
        states = self.run_lstm("sentence", inputs)
        return self.drop(states.flatten(0, 1).index_select(0, self.tensor(rows)))

    def compose(self, words: Ids) -> Any:
        """The vectors of words (n, dim): each word of a batch once, as in section 2.2 of the paper."""
        sizes = np.diff(self.starts)[words]
        characters = self.characters[padded_places(sizes) + self.starts[words][:, None]]
        return self.linear("projection", self.read_characters(characters, sizes))

    def read_characters(self, characters: Ids, lengths: Ids) -> Any:
        """The last states of both LSTMs that read the characters of padded spellings, (n, 2 size)."""
        states, table = [], self.parameters["character_inputs"]
        for direction, order in zip(DIRECTIONS, (characters, reversed_rows(characters, lengths)), strict=True):
            if self.device.type == "cpu":
                weights, bias = (self.parameters[f"{direction}_{name}"] for name in ("weights", "bias"))
                trie, gates = Trie.of(order, lengths), linear(table, weights[:, : table.shape[1]], bias[0])
                read, last = embedding(self.tensor(trie.characters), gates), trie.last
                reached = TrieStates.apply(read, weights[:, table.shape[1] :], trie)
            else:
                reached = self.run_lstm(direction, embedding(self.tensor(order), table)).flatten(0, 1)
                last = lengths - 1 + np.arange(len(order)) * order.shape[1]
            states.append(reached.index_select(0, self.tensor(last)))
        return torch.cat(states, dim=1)
