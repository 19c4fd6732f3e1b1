"""context2vec (Melamud, Goldberger and Dagan 2016): the whole sentence around a word predicts it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from embeddings.models.model import Model
from embeddings.models.table import VECTORS, Arrays, Table, uniform
from embeddings.models.text_settings import model_settings
from embeddings.objectives.objective import Objective
from embeddings.plugins.neural.neural_trainer import NeuralTrainer, linear_tables, lstm_tables, parameters
from embeddings.plugins.neural.trained_networks import ContextEncoder, SentencePredictor, exact_tables
from embeddings.settings import option
from embeddings.training.continued_training import saved_table
from embeddings.training.plan import Plan
from embeddings.training.training_data import TrainingData

SIDES = ("left", "right")


@dataclass(frozen=True, kw_only=True)
class Context2Vec(NeuralTrainer):
    """context2vec: two LSTMs read the sentence around a word and predict it. Vectors of words and of contexts."""

    trainer_name = "context2vec"
    fixed_settings = ("dim", "hidden_size", "input_dim", "objective")
    input_dim: int | None = option(
        None, "Dimension of the words that the LSTMs read.  [default: half of --dim]", ge=1, le=65536
    )

    def tables(self, size: int) -> dict[str, Table]:
        """The parameters of the network without the objective, for a vocabulary of a size."""
        dim, state, inputs = self.dim, self.state_size, self.input_dim or max(self.dim // 2, 1)
        tables = {}
        for seed, side in enumerate(SIDES, 1):
            words: Mapping[str, Any] = {"axis": "words", "on_continue": "grow"}
            tables[f"{side}_inputs"] = parameters(size, inputs, 10 * seed, scale=inputs**-0.5, **words)
            tables[f"{side}_marks"] = parameters(2, inputs, 10 * seed + 1, scale=inputs**-0.5)
            tables |= lstm_tables(side, inputs, state, 10 * seed + 2)
        return tables | linear_tables("hidden", 2 * state, 2 * state, 30) | linear_tables("context", 2 * state, dim, 31)

    def plan(self, data: TrainingData) -> Plan:
        """A model of the vectors of the words to predict.

        The LSTM of each side has the tables "left_inputs" (vocabulary, input dim), "left_marks" (2, input dim) with the
        rows of unknown words and of the border of a sentence, "left_weights" and "left_bias"; two linear layers have
        the tables "hidden_weights", "hidden_bias", "context_weights" and "context_bias".
        """
        self.check_device()
        from embeddings.plugins.neural.torch_network import ContextNetwork  # imports torch

        objective = self.new_objective(data.vocabulary, self.dim)
        others = self.objective_tables(objective)
        words = replace(others.pop("output"), init=uniform)
        tables = {"words": words, **others, **self.tables(len(data.vocabulary))}

        def network(arrays: Arrays, device: str, threads: int) -> ContextNetwork:
            return ContextNetwork(self, objective, tables, arrays, device=device, threads=threads)

        return self.network_plan(data, objective, tables, network)

    @staticmethod
    def objective_tables(objective: Objective) -> dict[str, Table]:
        """The tables of the objective: its output vectors are the vectors of a model."""
        tables = objective.tables()
        return {**tables, "output": replace(tables["output"], saved_as=VECTORS)}

    @classmethod
    def context_encoder(cls, model: Model) -> ContextEncoder:
        """The encoder of a trained model."""
        settings, size = model_settings(cls, model), len(model.vocabulary)
        tables = {name: saved_table(model, name, declared) for name, declared in settings.tables(size).items()}
        return ContextEncoder(tables, size)

    @classmethod
    def word_predictor(cls, model: Model) -> SentencePredictor:
        """The probabilities of words, given all other words of the sentence."""
        settings = model_settings(cls, model)
        objective = settings.new_objective(model.vocabulary, settings.dim)
        tables = exact_tables(model, cls.objective_tables(objective))
        return SentencePredictor(objective, tables, cls.context_encoder(model), settings.max_length)
