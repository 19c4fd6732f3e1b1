"""Training in one call: of a new model by its trainer's name, or of an existing model on new text."""

import os
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from embeddings import registry
from embeddings.errors import DeclarationError
from embeddings.models.model import Model
from embeddings.models.text_settings import continued_corpus_settings
from embeddings.training.continued_training import check_model
from embeddings.training.progress import Report
from embeddings.training.run_options import RunOptions
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import as_corpus, new_pair_corpus

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus


def train(
    trainer: str,
    corpus: "Corpus | str | os.PathLike[str] | Iterable[Any]",
    *,
    threads: int | None = None,
    seed: int = 1,
    report: Report | None = None,
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
        report: called regularly with a `Progress`.
        settings: settings of the trainer, such as `dim=100`, and of `embeddings.training.RunOptions`, such as
            `checkpoints=em.Checkpoints("v.checkpoints")`, `resume=True` or `callbacks=[...]`.

    Raises:
        RegistryError: no such trainer is installed.
        SettingError: a setting is unknown or out of range.
        CorpusError: the corpus is missing or broken, or no word is frequent enough.
        CheckpointError, OutputError: as `Run.train`.
    """
    names = {field.name for field in fields(RunOptions)} & set(settings)
    run_options = RunOptions(**{name: settings.pop(name) for name in names})
    configured_trainer = new_trainer(trainer, settings)
    text = as_corpus(corpus, configured_trainer)
    return configured_trainer.train(text, threads=threads, seed=seed, report=report, run_options=run_options)


def new_trainer(name: str, settings: dict[str, Any]) -> Trainer:
    """An installed trainer with these settings."""
    trainer = registry.create("trainer", name, settings)
    if not isinstance(trainer, Trainer):
        raise DeclarationError(f"the trainer {name!r} must be a subclass of embeddings.training.trainer.Trainer")
    return trainer


def continue_training(
    model: Model,
    corpus: "Corpus | str | os.PathLike[str] | Iterable[Any]",
    *,
    threads: int | None = None,
    seed: int = 1,
    report: Report | None = None,
    **changes: Any,
) -> Model:
    """Train a model further, on new text and new words.

    Arguments:
        model: the model, which is not changed.
        corpus: the new text. Unless it is a `Corpus`, it is read as the text of the model was.
        changes: settings to change; all others are those of the model. Other arguments are those of `train`.

    Raises:
        SettingError: the trainer cannot continue models, or a changed setting does not fit the model.
        FormatError: a table of the model is missing.
    """
    from embeddings.corpora.corpus import Corpus

    check_model(model)
    settings = {**model.settings, **changes}
    if not isinstance(corpus, Corpus):
        text_settings = continued_corpus_settings(model)
        reads_pairs = getattr(registry.load("trainer", model.name), "reads_pairs", False)
        corpus = new_pair_corpus(corpus, **text_settings) if reads_pairs else Corpus(corpus, **text_settings)
    return train(model.name, corpus, threads=threads, seed=seed, report=report, continued=model, **settings)
