"""A trainer on PyTorch from another package: CBOW with a hidden layer, trained by Adam."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, embedding

from embeddings.kernels.block import FIRST, LAST, Block
from embeddings.kernels.loss_tally import report_loss
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.models.table import Arrays, Table, word_vectors
from embeddings.settings import option
from embeddings.training.plan import Plan
from embeddings.training.trainer import WindowTrainer
from embeddings.training.training_data import TrainingData

PARAMETERS = ("words", "output", "hidden")
MOMENTS = ("exp_avg", "exp_avg_sq")  # as Adam names them


class Network:
    """Parameters and the state of Adam; both share the memory of the tables."""

    def __init__(self, tables: Arrays, settings: "NeuralCBOW") -> None:
        views = {name: torch.from_numpy(table)[:, : settings.dim] for name, table in tables.items()}
        self.parameters = [views[name].requires_grad_() for name in PARAMETERS]
        self.optimizer, self.settings = torch.optim.Adam(self.parameters), settings
        for row, (name, parameter) in enumerate(zip(PARAMETERS, self.parameters, strict=True)):
            moments = {moment: views[f"{name}.{moment}"] for moment in MOMENTS}
            self.optimizer.state[parameter] = {"step": views["steps"][row, 0], **moments}

    def loss(self, block: Block, centres: np.ndarray) -> torch.Tensor:
        """The sum of the losses of these windows."""
        words, output, hidden = self.parameters
        window, size = self.settings.window, len(block.words)
        positions = centres[:, None] + np.delete(np.arange(-window, window + 1), window)
        is_context = (positions >= block.start[centres, None]) & (positions < block.stop[centres, None])
        contexts = block.words[np.where(is_context, positions, 0) % size]
        shares = is_context / np.maximum(is_context.sum(axis=1, keepdims=True), 1)
        means = (embedding(torch.from_numpy(contexts), words) * torch.from_numpy(shares[..., None]).float()).sum(1)
        centre, noise = block.words[centres, None], block.noise[centres]
        targets = torch.from_numpy(np.hstack([centre, noise]))
        scores = torch.einsum("nd,nkd->nk", torch.tanh(means @ hidden), embedding(targets, output))
        labels, weights = torch.zeros_like(scores), np.hstack([np.ones_like(centre), noise != centre])
        labels[:, 0] = 1
        return binary_cross_entropy_with_logits(scores, labels, torch.from_numpy(weights).float(), reduction="sum")


def learn(block: Block, network: Network, buffers: StepBuffers, rate: float) -> None:
    """One step of Adam for each batch of windows."""
    torch.set_num_threads(1)
    network.optimizer.param_groups[0]["lr"] = rate
    centres = np.arange(block.cursor[FIRST], block.cursor[LAST])
    centres = centres[block.stop[centres] - block.start[centres] > 1]  # with contexts
    for start in range(0, len(centres), network.settings.batch):
        batch = centres[start : start + network.settings.batch]
        loss = network.loss(block, batch)
        network.optimizer.zero_grad()
        loss.backward()
        network.optimizer.step()
        report_loss(buffers, loss.item(), len(batch))


def set_identity(table: np.ndarray, dim: int, seed: int) -> None:
    """Let the hidden layer start as the identity."""
    np.fill_diagonal(table[:, :dim], 1)


@dataclass(frozen=True, kw_only=True)
class NeuralCBOW(WindowTrainer):
    """CBOW with a hidden layer, on PyTorch: tanh of a linear function of the mean of the contexts predicts a word."""

    trainer_name = "neural-cbow"
    max_threads = 1
    unsupported = frozenset({"freeze"})
    learning_rate: float = option(0.005, "Initial learning rate of Adam; it decays linearly.", gt=0, le=100)
    batch: int = option(128, "Windows that learn in one step.", ge=1, le=8192, common=True)

    def plan(self, data: TrainingData) -> Plan:
        """A model with the tables "vectors" and "output" (vocabulary, dim) and "hidden" (dim, dim)."""
        size = len(data.vocabulary)
        parameters = {
            "words": word_vectors(size, self.dim),
            "output": Table(rows=size, dim=self.dim, axis="words"),
            "hidden": Table(rows=self.dim, dim=self.dim, axis="other", init=set_identity, on_continue="copy"),
        }
        state = {"steps": Table(rows=len(PARAMETERS), dim=1, axis="other", saved_as=None)}
        for moment in MOMENTS:  # in checkpoints, not in models
            for name, table in parameters.items():
                state[f"{name}.{moment}"] = replace(table, init=None, saved_as=None, on_continue=None)
        return Plan(
            tables=parameters | state,
            stream=data.window_stream(data.vocabulary.noise_weights(self.noise_exponent), self.negatives),
            kernel=learn,
            operands=lambda tables: Network(tables, self),
            loss_is_estimate=True,
        )
