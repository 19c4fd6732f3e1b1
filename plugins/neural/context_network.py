"""context2vec on PyTorch."""

from typing import Any

import torch
from torch.nn.functional import linear, relu

from embeddings.plugins.neural.context_encoder import MARK
from embeddings.plugins.neural.sentence_batches import Batch, Ids, reading_order
from embeddings.plugins.neural.torch_network import Network, look_up, run_lstm


class ContextNetwork(Network):
    """The context of a word, read from the left and from the right, predicts the word."""

    @property
    def output(self) -> Any:
        """The output vectors of words are the vectors of the model."""
        return self.parameters["words"]

    def hidden(self, ids: Ids, batch: Batch, rows: Any) -> Any:
        """The vectors of contexts."""
        words = len(self.output)
        ids[ids > words] = words  # unknown
        order = reading_order(ids, batch.lengths, words + MARK)
        left, right = self.read("left", order.forward), self.read("right", order.backward)
        known = self.tensor(order.known)[..., None].expand_as(right)
        states = torch.cat([left, torch.gather(right, 1, known)], dim=2).flatten(0, 1)[rows]
        return self.linear("context", relu(self.linear("hidden", states)))

    def read(self, side: str, ids: Ids) -> Any:
        """The states of the LSTM of one side after each word."""
        inputs, marks, weights, bias = (
            self.parameters[f"{side}_{name}"] for name in ("inputs", "marks", "weights", "bias")
        )
        return run_lstm(look_up(ids, inputs, marks, device=self.device), weights, bias)

    def linear(self, name: str, rows: Any) -> Any:
        """A linear layer."""
        return linear(rows, self.parameters[f"{name}_weights"], self.parameters[f"{name}_bias"][0])
