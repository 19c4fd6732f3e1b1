"""C2W on PyTorch: words by their characters, inside a language model."""

from typing import Any

import numpy as np
import torch
from torch.nn.functional import embedding, linear

from embeddings.plugins.neural.character_vectors import DIRECTIONS
from embeddings.plugins.neural.sentence_batches import (
    Batch,
    Ids,
    groups_of_similar_length,
    padded_places,
    reading_order,
    reversed_rows,
)
from embeddings.plugins.neural.torch_network import Network, run_lstm

GROUP_CHARACTERS = 2000


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
        groups = list(groups_of_similar_length(lengths, GROUP_CHARACTERS))
        states = torch.cat([self.last_states(words[group], lengths[group]) for group in groups])
        vectors = linear(states, self.parameters["projection_weights"], self.parameters["projection_bias"][0])
        return vectors[self.tensor(np.argsort(np.concatenate(groups)))]

    def last_states(self, words: Ids, lengths: Ids) -> Any:
        """The last states of both LSTMs that read the characters of words, (n, 2 size)."""
        characters = self.characters[padded_places(lengths) + self.starts[words][:, None]]
        last, states = self.tensor(lengths - 1), []
        for direction, order in zip(DIRECTIONS, (characters, reversed_rows(characters, lengths)), strict=True):
            weights, bias = (self.parameters[f"{direction}_{name}"] for name in ("weights", "bias"))
            rows = run_lstm(embedding(self.tensor(order), self.parameters["character_inputs"]), weights, bias)
            states.append(rows[torch.arange(len(words), device=self.device), last])
        return torch.cat(states, dim=1)
