"""Compiling the kernels of a trainer ahead of time, for container images and clusters."""

import dataclasses
import logging
import typing
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np

from embeddings import registry
from embeddings.compilation.compile_time import compile_time
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.phrases.phrase_list import PhraseList
from embeddings.corpora.reading.labelled_texts import PREFIX
from embeddings.corpora.reading.text_vectors import text_vectors
from embeddings.errors import EmbeddingsError, SettingError, marked
from embeddings.models.embed import embed
from embeddings.models.model import Model
from embeddings.models.table import Table
from embeddings.settings import field_types, split_optional
from embeddings.training.replicas import Replicas, ReplicaTables
from embeddings.training.trainer import train
from embeddings.vectors.pooling import Pool

PHRASES = ["red car", "green house", "red house", "green car", "red door", "green door"]
LINES = [f"a {first} and the {second}" for first in PHRASES for second in PHRASES]
LABELLED_LINES = [f"{PREFIX}{number % 3} {line}" for number, line in enumerate(LINES)]
CORPORA: list[dict[str, Any]] = [  # settings of the text that trainers may require
    {},
    {"phrases": PhraseList(PHRASES), "phrase_mode": "alternate"},
    {"tokenizer": "codepoints"},
]
POOLS: tuple[Pool, ...] = ("mean", "sif")  # without and with weights
SMALL = {"dim": 8, "min_count": 1, "epochs": 1, "buckets": 100, "min_phrases": 1, "fit_epochs": 1}


def trainable() -> list[str]:
    """The names of all installed trainers whose libraries are installed, too."""
    trainers = {name: registry.load("trainer", name) for name in registry.find_all("trainer")}
    return [name for name, trainer in trainers.items() if all(map(find_spec, getattr(trainer, "libraries", ())))]


def precompile(name: str) -> float:
    """Compile all kernels of a trainer, and those that its models use for composition, inference and search.

    Reads text, merges replicas, and trains models on a tiny text: with the default settings, and with all other values
    of one or two yes/no or choice settings.

    Returns:
        Seconds of compilation; 0 if all was cached.

    Raises:
        RegistryError: the trainer is not installed.
        SettingError: it cannot be trained on a tiny text.
    """
    trainer = registry.load("trainer", name)
    names = {field.name for field in dataclasses.fields(trainer)}
    small = {key: value for key, value in SMALL.items() if key in names} | dict(trainer.precompile_settings)
    before = compile_time.seconds
    words = " ".join(f"word{number}" for number in range(10_000))  # the vocabulary grows
    for settings in ({}, {"max_types": 100}, {"phrases": "auto"}, {"tokenizer": "whitespace"}):
        with Corpus([words, *LINES], **settings).encode():
            pass
    table = Table(rows=1, dim=1, axis="other")
    ReplicaTables(Replicas(2), {"table": table}, {"table": table.allocate(seed=1)}, threads=1)
    log = logging.getLogger("embeddings")
    level = log.level
    log.setLevel(logging.ERROR)  # the models of tiny texts are not used
    try:
        for number, choice in enumerate(choices(trainer)):
            try:
                use_model(train_small(name, small | choice))
            except EmbeddingsError as error:
                if number == 0:
                    raise SettingError(f"cannot compile {name} ahead of time: {marked(error)}") from error
    finally:
        log.setLevel(level)
    return compile_time.seconds - before


def choices(trainer: type) -> Iterator[dict[str, Any]]:
    """No settings, then the non-default values of yes/no and choice settings, alone and in pairs."""
    single: list[dict[str, Any]] = []
    types = field_types(trainer)
    for field in dataclasses.fields(trainer):
        kind, _ = split_optional(types[field.name])
        options = typing.get_args(kind) if typing.get_origin(kind) is Literal else (True, False) if kind is bool else ()
        single += [{field.name: value} for value in options if value != field.default]
    yield from [{}, *single]
    for first, second in combinations(single, 2):
        if first.keys() != second.keys():
            yield first | second


def train_small(name: str, settings: dict[str, Any]) -> Model:
    """A model of a tiny text, read as the trainer requires, trained by two threads, which keep copies of rows."""
    trainer = registry.load("trainer", name)
    threads = min(2, trainer.max_threads or 2)
    if trainer.reads_labels:
        return train(name, LABELLED_LINES, threads=threads, **settings)
    if trainer.reads_pairs:
        rated = [(left, right, number % 2) for number, (left, right) in enumerate(pairwise(LINES))]
        return train(name, rated, threads=threads, **settings)
    if trainer.reads_contexts:
        return train(name, list(pairwise(LINES)), threads=threads, **settings)
    if trainer.reads_vectors:
        vectors = np.random.default_rng(1).standard_normal((len(LINES), SMALL["dim"]))
        return train(name, text_vectors(LINES, vectors), threads=threads, **settings)
    for corpus in CORPORA[:-1]:
        try:
            return train(name, Corpus(LINES, **corpus), threads=threads, **settings)
        except EmbeddingsError:
            continue
    return train(name, Corpus(LINES, **CORPORA[-1]), threads=threads, **settings)


def use_model(model: Model) -> None:
    """Run the model's other kernels: search, composition and inference."""
    vectors = model.vectors
    for kind in ("exact", "lsh"):
        vectors.most_similar(vectors.words[0], top=1, index=kind)
    for pool in POOLS:
        with suppress(EmbeddingsError):
            embed(model, LINES[:1], pool=pool, threads=1)
    texts = LINES[:1]
    for use in (model.compose, partial(model.predict, threads=1), partial(model.infer, threads=1)):
        with suppress(EmbeddingsError):
            use(texts)
