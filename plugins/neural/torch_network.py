"""PyTorch networks whose parameters and Adam states are the tables of a run.

A sparse gradient changes only its rows and their moments, as in `torch.optim.SparseAdam`, which is several times slower
on the CPU.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, embedding, linear, relu

from embeddings.kernels.loss_tally import report_loss
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
    groups_of_similar_length,
    padded_places,
    reading_order,
    reversed_rows,
)

BETAS, EPSILON = (0.9, 0.999), 1e-8
GROUP_CHARACTERS = 2000


@dataclass
class AdamParameter:
    """A parameter and its state in Adam (Kingma and Ba 2015, algorithm 1).

    Arguments:
        values: the parameter, a tensor that requires gradients.
        first, second: the moving averages of gradients and of their squares, of the same shape.
        steps: float32 (1,), the number of steps of this parameter.
    """

    values: Any
    first: Any
    second: Any
    steps: np.ndarray

    def gradient(self) -> Any:
        """The gradient, or the rows of a sparse gradient; None without a gradient."""
        if self.values.grad is not None and self.values.grad.is_sparse:
            self.values.grad = self.values.grad.coalesce()
            return self.values.grad.values()
        return self.values.grad

    def rows(self) -> Any:
        """The row numbers of a sparse gradient; None for a dense gradient."""
        return self.values.grad.indices()[0] if self.values.grad.is_sparse else None

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, rate: float) -> None:
        """Take a step: m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, values -= rate * m' / (sqrt(v') + epsilon).

        m' and v' are m / (1 - b1^t) and v / (1 - b2^t) at step t.
        """
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


class Network(ABC):
    """A network that predicts words of sentences.

    Arguments:
        settings: the trainer.
        objective: how words are predicted.
        declared: the tables that are parameters.
        tables: the arrays of the parameters and of the state of Adam.
        device: "cpu", where the network shares the memory of the tables, or "cuda", where it has copies.
        threads: the number of threads of PyTorch on the CPU.
    """

    def __init__(
        self, settings: NeuralTrainer, objective: Objective, declared: Mapping[str, Table], tables: Arrays,
        *, device: str, threads: int,
    ) -> None:  # fmt: skip
        self.settings, self.objective, self.device = settings, objective, torch.device(device)
        self.threads = self.threads_before = threads
        self.copies: list[tuple[Any, Any]] = []  # tensors of this network, and views of the tables
        self.parameters = {name: self.share(tables[name], table.dim) for name, table in declared.items()}
        self.states = {
            name: AdamParameter(
                self.parameters[name].requires_grad_(),
                self.share(tables[f"{name}.{MOMENTS[0]}"], table.dim),
                self.share(tables[f"{name}.{MOMENTS[1]}"], table.dim),
                tables[STEPS][row, :1],
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
        for batch, lengths in batches(block, self.settings.batch_words):
            is_word = np.arange(batch.shape[1]) < lengths[:, None]
            rows = np.flatnonzero((block.is_target[batch] & is_word).ravel())
            if not len(rows):
                continue
            places = batch.ravel()[rows]
            hidden = self.hidden(block.words[batch].astype(np.int64), lengths, self.tensor(rows))
            words = self.tensor(block.words[places].astype(np.int64))
            loss = self.loss(hidden, words, self.tensor(block.noise[places].astype(np.int64)))
            self.step(loss / len(rows), rate, buffers.frozen)
            report_loss(buffers, loss.item(), len(rows))

    @abstractmethod
    def hidden(self, ids: Ids, lengths: Ids, rows: Any) -> Any:
        """The hidden rows (rows, dim) that predict some words of a batch.

        Arguments:
            ids: (sentences, longest) the words of the batch.
            lengths: (sentences,) the number of words of each sentence.
            rows: the numbers of the words to predict, in the order of `ids`.
        """

    @property
    def output(self) -> Any:
        """The output vectors of words."""
        return self.parameters["output"]

    def loss(self, hidden: Any, words: Any, noise: Any) -> Any:
        """The sum of the losses of words (n,), given hidden rows (n, dim) and negative samples (n, k)."""
        name = self.settings.objective
        if name == "full-softmax":
            return cross_entropy(hidden @ self.output.T, words, reduction="sum")
        targets = torch.cat([words[:, None], noise], dim=1)
        scores = torch.einsum("nd,nkd->nk", hidden, embedding(targets, self.output, sparse=True))
        labels, weights = torch.zeros_like(scores), torch.ones_like(scores)
        labels[:, 0] = 1
        if name == "sampled-softmax":
            scores = (scores - self.log_noise[targets]).masked_fill(is_repeated(targets), -torch.inf)
            return cross_entropy(scores, torch.zeros_like(words), reduction="sum")
        if name == "nce":
            bias = embedding(targets, self.parameters["bias"], sparse=True)[..., 0]
            scores = scores + bias - self.log_noise[targets]
        else:
            weights[:, 1:] = noise != words[:, None]
        return binary_cross_entropy_with_logits(scores, labels, weights, reduction="sum")

    def step(self, loss: Any, rate: float, frozen: np.ndarray) -> None:
        """Take one step of Adam with the clipped gradient of a loss; rows of the table "words" may be frozen."""
        for state in self.states.values():
            state.values.grad = None
        loss.backward()
        if len(frozen) and (gradient := self.states["words"].gradient()) is not None:
            is_frozen, rows = self.tensor(frozen), self.states["words"].rows()
            gradient[is_frozen if rows is None else is_frozen[rows]] = 0
        gradients = [one for state in self.states.values() if (one := state.gradient()) is not None]
        norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(one) for one in gradients]))
        factor = self.settings.max_gradient_norm / norm.clamp(min=self.settings.max_gradient_norm)
        for gradient in gradients:
            gradient.mul_(factor)
        for state in self.states.values():
            state.step(rate)


def is_repeated(targets: Any) -> Any:
    """Whether each target (n, k) is equal to an earlier target of its row, bool (n, k)."""
    order = torch.argsort(targets, dim=1, stable=True)
    values = torch.gather(targets, 1, order)
    repeats = torch.zeros_like(targets, dtype=torch.bool)
    repeats[:, 1:] = values[:, 1:] == values[:, :-1]
    return torch.zeros_like(repeats).scatter(1, order, repeats)


def run_lstm(inputs: Any, weights: Any, bias: Any) -> Any:
    """The states (n, steps, size) of an LSTM, as in `embeddings.plugins.neural.trained_networks.run_lstm`."""
    dim, size = inputs.shape[2], len(weights) // 4
    start = inputs.new_zeros(1, len(inputs), size)
    parameters = (weights[:, :dim].contiguous(), weights[:, dim:].contiguous(), bias[0], torch.zeros_like(bias[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on a GPU the weights are copied for each batch
        return torch.lstm(inputs, (start, start), parameters, True, 1, 0.0, True, False, True)[0]


def look_up(ids: Any, table: Any, marks: Any, *, device: Any) -> Any:
    """The rows of ids (n, steps) in a table; ids from the size of the table on are rows of `marks`."""
    words, inverse = np.unique(ids, return_inverse=True)
    known = words[words < len(table)]
    index = np.where(ids < len(table), inverse.reshape(ids.shape), len(known) + ids - len(table))
    rows = torch.cat([embedding(torch.from_numpy(known).to(device), table, sparse=True), marks])
    return embedding(torch.from_numpy(index).to(device), rows)


class ContextNetwork(Network):
    """context2vec: the context of a word, read from the left and from the right, predicts the word."""

    @property
    def output(self) -> Any:
        """The output vectors of words are the vectors of the model."""
        return self.parameters["words"]

    def hidden(self, ids: Ids, lengths: Ids, rows: Any) -> Any:
        """The vectors of contexts."""
        words = len(self.output)
        ids[ids > words] = words + UNKNOWN
        forward, backward, known = reading_order(ids, lengths, words + BOUNDARY)
        left, right = self.read("left", forward), self.read("right", backward)
        places = self.tensor(known)[..., None].expand_as(right)
        states = torch.cat([left, torch.gather(right, 1, places)], dim=2).flatten(0, 1)[rows]
        return self.linear("context", relu(self.linear("hidden", states)))

    def read(self, side: str, ids: Ids) -> Any:
        """The states of the left or right LSTM after each word."""
        inputs, marks, weights, bias = (
            self.parameters[f"{side}_{name}"] for name in ("inputs", "marks", "weights", "bias")
        )
        return run_lstm(look_up(ids, inputs, marks, device=self.device), weights, bias)

    def linear(self, name: str, rows: Any) -> Any:
        """A linear layer."""
        return linear(rows, self.parameters[f"{name}_weights"], self.parameters[f"{name}_bias"][0])


class CharacterNetwork(Network):
    """C2W: the previous words of a sentence, each composed of characters, predict a word.

    characters, starts: the character numbers of all words of the corpus; word i has
        `characters[starts[i]:starts[i + 1]]`.
    """

    characters: Ids
    starts: Ids

    def hidden(self, ids: Ids, lengths: Ids, rows: Any) -> Any:
        """The states of the language model before each word."""
        unknown = len(self.starts) - 1
        order, _, _ = reading_order(ids, lengths, unknown + BOUNDARY)
        words, inverse = np.unique(order, return_inverse=True)
        known = words[words < unknown]
        index = np.where(order < unknown, inverse.reshape(order.shape), len(known) + order - unknown)
        parts = [self.parameters["marks"]] if not len(known) else [self.compose(known), self.parameters["marks"]]
        inputs = embedding(self.tensor(index), torch.cat(parts))
        states = run_lstm(inputs, self.parameters["sentence_weights"], self.parameters["sentence_bias"])
        return states.flatten(0, 1)[rows]

    def compose(self, words: Ids) -> Any:
        """The vectors of words (n, dim): each word of a batch once, as in section 2.2 of the paper."""
        lengths = np.diff(self.starts)[words]
        groups = list(groups_of_similar_length(lengths, GROUP_CHARACTERS))
        parts = []
        for group in groups:
            sizes, states = lengths[group], []
            characters = self.characters[padded_places(sizes) + self.starts[words[group]][:, None]]
            numbers, last = torch.arange(len(group), device=self.device), self.tensor(sizes - 1)
            for direction, order in zip(DIRECTIONS, (characters, reversed_rows(characters, sizes)), strict=True):
                weights, bias = (self.parameters[f"{direction}_{name}"] for name in ("weights", "bias"))
                inputs = embedding(self.tensor(order), self.parameters["character_inputs"])
                states.append(run_lstm(inputs, weights, bias)[numbers, last])
            parts.append(torch.cat(states, dim=1))  # the last states of both LSTMs that read the characters
        vectors = linear(torch.cat(parts), self.parameters["projection_weights"], self.parameters["projection_bias"][0])
        return vectors[self.tensor(np.argsort(np.concatenate(groups)))]
