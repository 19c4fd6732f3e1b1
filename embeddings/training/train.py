"""Training in one call, by a trainer's name."""

import os
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from embeddings import registry

if TYPE_CHECKING:
    from embeddings.corpora import Corpus
    from embeddings.models.model import Model
    from embeddings.training.progress import Report


def train(
    trainer: str,
    corpus: "Corpus | str | os.PathLike[str] | Iterable[Any]",
    *,
    threads: int | None = None,
    seed: int = 1,
    report: "Report | None" = None,
    **settings: Any,
) -> "Model":
    """The model that an installed trainer learns; `settings` are the trainer's own, such as `dim=100`.

    The corpus is a `Corpus`, or what one is made of: a path, a built-in name, an iterable of texts or token lists.
    Among the settings may be those of `embeddings.RunOptions`: `checkpoints=em.Checkpoints("v.checkpoints"), resume=True`,
    `callbacks=[...]`.

    >>> import embeddings as em
    >>> model = em.train("skipgram", ["the cat sat", "the dog sat"], dim=4, min_count=1, threads=1)
    >>> model
    <Model skipgram: 4 words, 4 components>
    >>> model.vectors.words
    ['sat', 'the', 'cat', 'dog']

    Raises:
        RegistryError: no such trainer.
        SettingError: it has no such setting, or a value is out of range.
        CorpusError: the corpus is missing, broken, or has no word that is frequent enough.
        CheckpointError, OutputError: as `Task.run`.
    """
    from embeddings.corpora import Corpus
    from embeddings.training.run_options import RunOptions, train_arguments

    names = {field.name for field in fields(RunOptions)}
    run_options = RunOptions(**{name: settings.pop(name) for name in names & set(settings)})
    made = make_trainer(trainer, settings)
    how = train_arguments(made, trainer, run_options)
    text = corpus if isinstance(corpus, Corpus) else Corpus(corpus, tokenizer=getattr(made, "tokenizer", "words"))
    model: Model = made.train(text, threads=threads, seed=seed, report=report, **how)
    return model


def make_trainer(trainer: str, settings: dict[str, Any]) -> Any:
    """The trainer of that name with these settings.

    Raises:
        RegistryError, SettingError: as `train`.
    """
    return registry.configured("trainer", trainer, settings)
