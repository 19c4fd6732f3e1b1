"""C2W on PyTorch: words by their characters, inside a language model."""

from typing import Any

import numpy as np
import torch
from torch.nn.functional import embedding, linear

from embeddings.plugins.neural.character_vectors import DIRECTIONS
from embeddings.plugins.neural.sentence_batches import Batch, Ids, padded_places, reading_order
from embeddings.plugins.neural.torch_network import Network, run_lstm


class CharacterNetwork(Network):
    """The words before a word, each read by its characters, predict it.

    characters, starts: the numbers of the characters of all words of the corpus; those of word i are
        `characters[starts[i]:starts[i + 1]]`.
    """

    characters: Ids
    starts: Ids

    def hidden(self, ids: Ids, batch: Batch, rows: Any) -> Any:
        """The states of the language model before each word."""
        unknown = len(self.starts) - 1
        order = reading_order(ids, batch.lengths, unknown + 1).forward
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
        order = np.argsort(-lengths, kind="stable")
        words, lengths = words[order], lengths[order]
        places = padded_places(lengths) + self.starts[words][:, None]
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            embedding(self.tensor(self.characters[places]), self.parameters["character_inputs"]),
            torch.from_numpy(lengths), batch_first=True,
        )  # fmt: skip
        parameters: list[Any] = []
        for direction in DIRECTIONS:
            weights, bias = (self.parameters[f"{direction}_{name}"] for name in ("weights", "bias"))
            dim = weights.shape[1] - len(weights) // 4
            parameters += [weights[:, :dim], weights[:, dim:], bias[0], torch.zeros_like(bias[0])]
        start = packed.data.new_zeros(2, len(words), len(parameters[0]) // 4)
        _, last, _ = torch.lstm(packed.data, packed.batch_sizes, (start, start), parameters, True, 1, 0.0, True, True)
        vectors = linear(
            torch.cat([last[0], last[1]], dim=1), self.parameters["projection_weights"],
            self.parameters["projection_bias"][0],
        )  # fmt: skip
        return vectors[self.tensor(np.argsort(order))]
