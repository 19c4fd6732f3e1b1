"""Models of recurrent networks with random parameters, and their naive computation; without PyTorch."""

from dataclasses import asdict, replace

import numpy as np

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.models.model import Model
from embeddings.support import tensors
from embeddings.vectors.vectors import Vectors

WORDS = ["the", "cat", "ate", "a", "fish", "for", "lunch", "über", "x"]
VOCABULARY = Vocabulary(WORDS, np.arange(len(WORDS), 0, -1))
RECORD = {"text": {"tokenizer": "words", "case": "lower", "encoding_errors": "strict"}}
CONTEXT = em.Context2Vec(dim=6, input_dim=3, hidden_size=4, min_count=1)
CHARACTERS = em.C2W(dim=5, character_dim=3, character_hidden_size=4, max_characters=6, min_count=1)


def allocate(declared, seed=3):
    """Tables of random numbers, as in a model."""
    rng, arrays = np.random.default_rng(seed), {}
    for name, table in declared.items():
        arrays[name] = table.allocate(seed)
        arrays[name][:, : table.dim] = rng.normal(size=(len(arrays[name]), table.dim)) * 0.7
    return {table.saved_as or name: table.unpad(arrays[name]) for name, table in declared.items()}


def new_model(trainer, tables, rows, *, composes=True, **changes):
    vectors = Vectors(VOCABULARY.word_list, rows.astype(np.float32), counts=VOCABULARY.counts)
    settings = asdict(trainer)
    return Model(
        trainer.trainer_name, vectors=vectors, vocabulary=VOCABULARY, settings=settings, tables=tables, record=RECORD,
        composer=trainer.composer if composes else None, **changes,
    )  # fmt: skip


def context_model(objective="negative-sampling"):
    """A context2vec model."""
    trainer = replace(CONTEXT, objective=objective)
    tables = trainer.tables(len(WORDS)) | trainer.objective_tables(trainer.new_objective(VOCABULARY, 6))
    tables.pop("output")  # the vectors of the model
    rows = np.random.default_rng(1).normal(size=(len(WORDS), 6))
    return new_model(trainer, allocate(tables), rows)


def character_model(objective="nce"):
    """A C2W model, whose vectors are composed of characters."""
    trainer, points = (
        replace(CHARACTERS, objective=objective),
        np.array(sorted({ord(one) for word in WORDS for one in word[:6]}), np.int32),
    )
    own = trainer.sentence_tables() | trainer.objective_tables(trainer.new_objective(VOCABULARY, 5))
    tables = {**allocate(trainer.composing_tables(len(points)) | own), "code_points": points}
    rows = np.stack([naive_spelling(tables, word) for word in WORDS])
    return new_model(trainer, tables, rows)


def naive_lstm(inputs, weights, bias):
    """The last state of an LSTM, one number after another."""
    size = len(weights) // 4
    state, cell = [0.0] * size, [0.0] * size
    for x in inputs:
        both = [*x, *state]
        gate = [sum(w * v for w, v in zip(row, both, strict=True)) + b for row, b in zip(weights, bias[0], strict=True)]
        i, f, o = ([1 / (1 + np.exp(-gate[k * size + j])) for j in range(size)] for k in (0, 1, 3))
        g = np.tanh(gate[2 * size : 3 * size])
        cell = [f[j] * cell[j] + i[j] * g[j] for j in range(size)]
        state = [o[j] * np.tanh(cell[j]) for j in range(size)]
    return np.array(state)


def naive_context(tables, ids, position):
    """The vector of the context of one word of a sentence."""

    def read(side, sequence):
        rows = [tables[f"{side}_marks"][1]]
        for word in sequence:
            rows.append(tables[f"{side}_inputs"][word] if word < len(WORDS) else tables[f"{side}_marks"][0])
        return naive_lstm(rows, tables[f"{side}_weights"], tables[f"{side}_bias"])

    states = np.concatenate([read("left", ids[:position]), read("right", ids[:position:-1])])
    hidden = np.maximum(tables["hidden_weights"] @ states + tables["hidden_bias"][0], 0)
    return tables["context_weights"] @ hidden + tables["context_bias"][0]


def naive_spelling(tables, word, max_characters=6):
    """The vector of a word by its characters."""
    points = tables["code_points"].tolist()
    numbers = [points.index(ord(c)) + 1 if ord(c) in points else 0 for c in word[:max_characters]]
    rows = [tables["character_inputs"][number] for number in numbers]
    forward = naive_lstm(rows, tables["forward_weights"], tables["forward_bias"])
    backward = naive_lstm(rows[::-1], tables["backward_weights"], tables["backward_bias"])
    return tables["projection_weights"] @ np.concatenate([forward, backward]) + tables["projection_bias"][0]


def change_table(folder, name, change):
    """Save a model's folder again with one array changed or left out."""
    path = folder / "tensors.safetensors"
    arrays = {key: np.array(array) for key, array in tensors.load(path).items()}
    arrays[name] = change(arrays[name])
    tensors.save({key: array for key, array in arrays.items() if array is not None}, path)


DAMAGES = {
    "missing": lambda array: None,
    "fewer rows": lambda array: array[:-1],
    "float64": lambda array: array.astype(np.float64),
    "one axis": lambda array: array.reshape(-1),
}
