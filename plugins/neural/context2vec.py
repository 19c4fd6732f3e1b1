"""context2vec (Melamud, Goldberger and Dagan 2016): the whole sentence around a word predicts it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from embeddings.models.model import Model
from embeddings.models.table import VECTORS, Arrays, Table, uniform
from embeddings.models.text_settings import model_settings
from embeddings.plugins.neural import trained_networks
from embeddings.plugins.neural.neural_trainer import NeuralTrainer, linear_tables, lstm_tables, parameters
from embeddings.settings import option
from embeddings.training.continued_training import saved_table
from embeddings.training.plan import Plan
from embeddings.training.training_data import TrainingData

SIDES = ("left", "right")


@dataclass(frozen=True, kw_only=True)
class Context2Vec(NeuralTrainer):
    """context2vec: two LSTMs read the sentence around a word and predict it. Vectors of words and of contexts."""

    trainer_name = "context2vec"
    output_name = VECTORS
    fixed_settings = ("dim", "hidden_size", "input_dim", "objective")
    input_dim: int | None = option(
        None, "Dimension of the words that the LSTMs read.  [default: half of --dim]", ge=1, le=65536
    )

    def tables(self, size: int) -> dict[str, Table]:
        """The parameters of the network without its objective, for a vocabulary of `size` words."""
        dim, state, inputs = self.dim, self.state_size, self.input_dim or max(self.dim // 2, 1)
        tables = {}
        for seed, side in enumerate(SIDES, 1):
            words: Mapping[str, Any] = {"axis": "words", "on_continue": "grow"}
            tables[f"{side}_inputs"] = parameters(size, inputs, 10 * seed, scale=inputs**-0.5, **words)
            tables[f"{side}_marks"] = parameters(2, inputs, 10 * seed + 1, scale=inputs**-0.5)
            tables |= lstm_tables(side, inputs, state, 10 * seed + 2)
        return tables | linear_tables("hidden", 2 * state, 2 * state, 30) | linear_tables("context", 2 * state, dim, 31)

    def plan(self, data: TrainingData) -> Plan:
        """A model whose vectors are the output vectors of words.

        The LSTM of each side has the tables "left_inputs" (vocabulary, input dim), "left_marks" (2, input dim) with the
        rows of unknown words and of the border of a sentence, "left_weights" and "left_bias"; two linear layers have
        the tables "hidden_weights", "hidden_bias", "context_weights" and "context_bias".
        """
        from embeddings.plugins.neural.torch_network import ContextNetwork  # imports torch

        objective = self.new_objective(data.vocabulary, self.dim)
        others = self.objective_tables(objective)
        words = replace(others.pop("output"), init=uniform)
        tables = {"words": words, **others, **self.tables(len(data.vocabulary))}

        def network(arrays: Arrays, device: str, threads: int) -> ContextNetwork:
            return ContextNetwork(self, objective, tables, arrays, device=device, threads=threads, seed=data.seed)

        return self.network_plan(data, objective, tables, network)

    @classmethod
    def context_encoder(cls, model: Model) -> Callable[[Sequence[trained_networks.Ids]], list[np.ndarray]]:
        """The encoder of contexts of a trained model."""
        settings, size = model_settings(cls, model), len(model.vocabulary)
        tables = {name: saved_table(model, name, declared) for name, declared in settings.tables(size).items()}
        return new_context_encoder(tables, size)

    @classmethod
    def word_predictor(cls, model: Model) -> trained_networks.SentencePredictor:
        """A predictor of words from all other words of the sentence."""
        settings: Context2Vec = model_settings(cls, model)
        return settings.sentence_predictor(model, settings.dim, cls.context_encoder(model))


def new_context_encoder(
    tables: Mapping[str, np.ndarray], n_words: int
) -> Callable[[Sequence[trained_networks.Ids]], list[np.ndarray]]:
    """The function from sentences to the vectors of the contexts of their words, float32 (words of the sentence, dim).

    The context of a word does not depend on the word itself.

    Arguments:
        tables: the tables of a context2vec model by name, float32.
        n_words: size of the vocabulary; ids from there on are unknown words.
    """

    def read(side: str, ids: trained_networks.Ids) -> np.ndarray:
        """The states of the left or right LSTM after each word, (n, steps, hidden size)."""
        is_word = ids < n_words
        words = tables[f"{side}_inputs"][np.where(is_word, ids, 0)]
        marks = tables[f"{side}_marks"][np.where(is_word, 0, ids - n_words)]
        rows = np.where(is_word[..., None], words, marks)
        return trained_networks.run_lstm(rows, tables[f"{side}_weights"], tables[f"{side}_bias"])

    def encode(ids: trained_networks.Ids, lengths: trained_networks.Ids) -> np.ndarray:
        """The vectors of the contexts of padded sentences, (n, longest, dim)."""
        forward, backward, known = trained_networks.reading_order(
            np.minimum(ids, n_words + trained_networks.UNKNOWN), lengths, n_words + trained_networks.BOUNDARY
        )
        left, right = read("left", forward), read("right", backward)
        states = np.concatenate([left, np.take_along_axis(right, known[:, :, None], axis=1)], axis=2)
        return trained_networks.linear(
            tables, "context", np.maximum(trained_networks.linear(tables, "hidden", states), 0)
        )

    return lambda sentences: trained_networks.encode_groups(sentences, encode)
