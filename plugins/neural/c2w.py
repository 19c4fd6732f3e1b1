"""C2W (Ling et al. 2015): word vectors composed of characters, trained in a language model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from embeddings.errors import FormatError
from embeddings.models.model import Model, saved_array
from embeddings.models.table import VECTORS, Arrays, Table
from embeddings.models.text_settings import model_settings
from embeddings.plugins.neural import trained_networks
from embeddings.plugins.neural.neural_trainer import (
    NetworkObjective,
    NeuralTrainer,
    linear_tables,
    lstm_tables,
    parameters,
)
from embeddings.settings import option
from embeddings.training.continued_training import saved_table
from embeddings.training.plan import Plan
from embeddings.training.training_data import TrainingData
from embeddings.vectors.subwords import Word

CODE_POINTS = "code_points"  # the table of the alphabet, int32
NEXT_WORDS = "next_words"  # output vectors, which predict words from LSTM states, not from means of vectors


@dataclass(frozen=True, kw_only=True)
class C2W(NeuralTrainer):
    """C2W: words read character by character, in a language model. Vectors for any word, and similar spellings."""

    trainer_name = "c2w"
    unsupported = frozenset({"init", "freeze", "continued"})
    output_name = NEXT_WORDS
    objective: NetworkObjective = option(
        "nce",
        "How words are predicted. nce: distinguish the word from random words, with a bias for each word and scores "
        "trained to be log-probabilities; negative-sampling: the same without a bias, which learns little from a "
        "small corpus; sampled-softmax: softmax over a sample; full-softmax: over all words, for small vocabularies.",
    )
    negatives: int = option(
        20, "Random words for each word to predict; full-softmax has none.", ge=1, le=1000, common=True
    )
    character_dim: int = option(50, "Dimension of the vectors of characters.", ge=1, le=65536)
    character_hidden_size: int = option(
        150, "Numbers in the states of the two LSTMs that read the characters of a word.", ge=1, le=65536
    )
    max_characters: int = option(40, "Characters of a word that are read, from its beginning.", ge=1, le=10_000)

    def composing_tables(self, characters: int) -> dict[str, Table]:
        """The parameters that compose words, for an alphabet of `characters` characters."""
        dim, size = self.character_dim, self.character_hidden_size
        tables = {"character_inputs": parameters(characters + 1, dim, 40, scale=1.0)}
        for seed, direction in enumerate(trained_networks.DIRECTIONS, 41):
            tables |= lstm_tables(direction, dim, size, seed)
        return tables | linear_tables("projection", 2 * size, self.dim, 43)

    def sentence_tables(self) -> dict[str, Table]:
        """The parameters of the language model without its objective."""
        marks = parameters(2, self.dim, 44, scale=self.dim**-0.5)
        return {"marks": marks, **lstm_tables("sentence", self.dim, self.state_size, 45)}

    def plan(self, data: TrainingData) -> Plan:
        """A model whose vectors are composed of characters.

        Composition has the tables "code_points" (characters,), "character_inputs" (characters + 1, character dim),
        whose first row is for unknown characters, and the tables of two LSTMs and a projection. The language model has
        the tables "marks" (2, dim), of unknown words and of the beginning of a sentence, "sentence_weights" and
        "sentence_bias", and the tables of the objective, with the output vectors "next_words" (vocabulary, hidden
        size).
        """
        from embeddings.plugins.neural.torch_network import LanguageNetwork  # imports torch

        objective = self.new_objective(data.vocabulary, self.state_size)
        known = {ord(character) for word in data.vocabulary.words for character in word[: self.max_characters]}
        points = np.array(sorted(known), np.int32)
        spellings = [character_numbers(word, points, self.max_characters) for word in data.encoded.vocabulary.words]
        tables = self.composing_tables(len(points)) | self.sentence_tables() | self.objective_tables(objective)

        def network(arrays: Arrays, device: str, threads: int) -> LanguageNetwork:
            made = LanguageNetwork(self, objective, tables, arrays, device=device, threads=threads, seed=data.seed)
            made.characters = np.concatenate(spellings)
            made.starts = np.append(0, np.cumsum([len(spelling) for spelling in spellings]))
            return made

        def export(arrays: Arrays) -> Arrays:
            vectors = CharacterVectors(arrays, points, self.max_characters)(data.vocabulary.words)
            return {VECTORS: vectors, CODE_POINTS: points, **arrays}

        return self.network_plan(data, objective, tables, network, export=export)

    @classmethod
    def composer(cls, model: Model) -> "CharacterVectors":
        """Composes the vectors of words of a trained model."""
        settings, points = model_settings(cls, model), saved_array(model, CODE_POINTS, (None,), "int32")
        if not len(points) or np.any(np.diff(points) <= 0):
            raise FormatError(f"the {model.name} model is broken: {CODE_POINTS!r} must hold characters in order")
        declared = settings.composing_tables(len(points))
        tables = {name: saved_table(model, name, table) for name, table in declared.items()}
        return CharacterVectors(tables, points, settings.max_characters)

    @classmethod
    def word_predictor(cls, model: Model) -> trained_networks.SentencePredictor:
        """A predictor of words from the words before them in the sentence."""
        settings: C2W = model_settings(cls, model)
        tables = {name: saved_table(model, name, table) for name, table in settings.sentence_tables().items()}

        def read(ids: trained_networks.Ids, lengths: trained_networks.Ids) -> np.ndarray:
            """For each word of padded sentences, the LSTM state after the earlier words, (n, longest, hidden size)."""
            words = model.vectors.matrix[trained_networks.reading_order(ids, lengths, 0)[0]]
            words[:, 0] = tables["marks"][trained_networks.BOUNDARY]
            return trained_networks.run_lstm(words, tables["sentence_weights"], tables["sentence_bias"])

        def encode(sentences: Sequence[trained_networks.Ids]) -> list[np.ndarray]:
            """The states before each word of sentences."""
            return trained_networks.encode_groups(sentences, read)

        return settings.sentence_predictor(model, settings.state_size, encode)


@dataclass(frozen=True)
class CharacterVectors:
    """Computes the vectors of words of any spelling: w = D (f; b) + d of the last states f and b of two LSTMs.

    Arguments:
        tables: the tables of a C2W model by name, float32.
        code_points, max_characters: see `character_numbers`.
    """

    tables: Mapping[str, np.ndarray]
    code_points: np.ndarray
    max_characters: int

    def __call__(self, words: Sequence[Word]) -> np.ndarray:
        """The vectors, float32 (words, dim); zeros for an empty word."""
        rows = np.zeros((len(words), len(self.tables["projection_weights"])), np.float32)
        texts = [word if isinstance(word, str) else word.decode(errors="replace") for word in words]
        spellings = [character_numbers(text, self.code_points, self.max_characters) for text in texts]
        lengths = np.array([len(spelling) for spelling in spellings], np.int64)
        for group in trained_networks.groups_of_similar_length(lengths, trained_networks.MAX_WORDS):
            rows[group] = self.encode(*trained_networks.pad([spellings[number] for number in group]))
        # `character_numbers` reads an empty word as an unknown character.
        rows[[not word for word in words]] = 0
        return rows

    def encode(self, characters: trained_networks.Ids, lengths: trained_networks.Ids) -> np.ndarray:
        """The vectors of padded spellings, (n, dim)."""
        orders, states = (characters, trained_networks.reversed_rows(characters, lengths)), []
        for direction, order in zip(trained_networks.DIRECTIONS, orders, strict=True):
            weights, bias = (self.tables[f"{direction}_{name}"] for name in ("weights", "bias"))
            outputs = trained_networks.run_lstm(self.tables["character_inputs"][order], weights, bias)
            states.append(outputs[np.arange(len(lengths)), lengths - 1])
        return trained_networks.linear(self.tables, "projection", np.concatenate(states, axis=1))


def character_numbers(word: str, code_points: np.ndarray, max_characters: int) -> trained_networks.Ids:
    """The numbers of the first characters of a word, int64, at least one.

    Known characters, whose `code_points` are in order, have numbers from 1 on; others have 0.
    """
    points = np.frombuffer(word[:max_characters].encode("utf-32-le", "surrogatepass") or bytes(4), "<u4")
    places = np.searchsorted(code_points, points)
    is_known = code_points[np.minimum(places, len(code_points) - 1)] == points
    return np.where(is_known, places + 1, 0).astype(np.int64)
