"""Training in one call: of a new model by its trainer's name, or of an existing model on new text."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from embeddings import registry
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.vocabulary import VocabularyRule
from embeddings.errors import DeclarationError
from embeddings.models.model import Model
from embeddings.models.text_settings import continued_corpus_settings
from embeddings.support.progress_display import ProgressOption
from embeddings.training.callbacks import Callback
from embeddings.training.checkpoints import Checkpoints
from embeddings.training.continued_training import check_model
from embeddings.training.init_vectors import InitFrom
from embeddings.training.replicas import Replicas
from embeddings.training.run_options import ClusterBase, RunOptions
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import new_corpus


def train(
    trainer: str,
    corpus: Corpus | str | os.PathLike[str] | Iterable[Any],
    *,
    threads: int | None = None,
    seed: int = 1,
    progress: ProgressOption = None,
    init: InitFrom | None = None,
    continued: Model | None = None,
    checkpoints: Checkpoints | None = None,
    resume: bool = False,
    callbacks: Sequence[Callback] = (),
    replicas: Replicas | None = None,
    cluster: ClusterBase | None = None,
    vocabulary_rule: VocabularyRule | None = None,
    rate_advice: bool = True,
    run_options: RunOptions | None = None,
    **settings: Any,
) -> Model:
    """Train a model with an installed trainer.

    >>> import embeddings as em
    >>> model = em.train("skipgram", ["the cat sat", "the dog sat"], dim=4, min_count=1, subsample=0, threads=1)
    >>> model
    <Model skipgram: 4 words, 4 components>
    >>> model.vectors.words
    ['sat', 'the', 'cat', 'dog']

    Arguments:
        trainer: the name of the trainer.
        corpus: a `Corpus`, or what one is made of: a path, a built-in name, an iterable of texts or token lists.
        threads: number of threads; all available cores if not given.
        seed: single-threaded runs with the same seed are bit-reproducible.
        progress: True shows a bar, False none; by default there is one on a terminal and in a notebook. A function is
            called regularly with a `Progress`.
        init, continued, checkpoints, resume, callbacks, replicas, cluster, vocabulary_rule, rate_advice: as for
            `embeddings.training.RunOptions`.
        run_options: the same options, built in another place.
        settings: settings of the trainer, such as `dim=100`.

    Raises:
        RegistryError: no such trainer is installed.
        SettingError: a setting is unknown or out of range.
        CorpusError: the corpus is missing or broken, or no word is frequent enough.
        CheckpointError, OutputError: as `Run.train`.
    """
    configured_trainer = new_trainer(trainer, settings)
    return configured_trainer.train(
        corpus, threads=threads, seed=seed, progress=progress, init=init, continued=continued, checkpoints=checkpoints,
        resume=resume, callbacks=callbacks, replicas=replicas, cluster=cluster, vocabulary_rule=vocabulary_rule,
        rate_advice=rate_advice, run_options=run_options,
    )  # fmt: skip


def new_trainer(name: str, settings: dict[str, Any]) -> Trainer:
    """An installed trainer with these settings."""
    trainer = registry.create("trainer", name, settings)
    if not isinstance(trainer, Trainer):
        raise DeclarationError(f"the trainer {name!r} must be a subclass of embeddings.training.trainer.Trainer")
    return trainer


def continue_training(
    model: Model,
    corpus: Corpus | str | os.PathLike[str] | Iterable[Any],
    *,
    threads: int | None = None,
    seed: int = 1,
    progress: ProgressOption = None,
    checkpoints: Checkpoints | None = None,
    resume: bool = False,
    callbacks: Sequence[Callback] = (),
    replicas: Replicas | None = None,
    cluster: ClusterBase | None = None,
    rate_advice: bool = True,
    run_options: RunOptions | None = None,
    **changes: Any,
) -> Model:
    """Train a model further, on new text and new words.

    Arguments:
        model: the model, which is not changed.
        corpus: the new text. Unless it is a `Corpus`, it is read as the text of the model was.
        threads, seed, progress, checkpoints, resume, callbacks, replicas, cluster, rate_advice, run_options: as
            for `train`.
        changes: settings to change; all others are those of the model.

    Raises:
        SettingError: the trainer cannot continue models, or a changed setting does not fit the model.
        FormatError: a table of the model is missing.
    """
    check_model(model)
    settings = {**model.settings, **changes}
    if not isinstance(corpus, Corpus):
        text_settings = continued_corpus_settings(model)
        corpus = new_corpus(corpus, registry.load("trainer", model.name), **text_settings)
    return train(
        model.name, corpus, threads=threads, seed=seed, progress=progress, continued=model, checkpoints=checkpoints,
        resume=resume, callbacks=callbacks, replicas=replicas, cluster=cluster, rate_advice=rate_advice,
        run_options=run_options, **settings,
    )  # fmt: skip
