"""Vectors of the documents that a model was trained on, and of others; two models as one representation."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.errors import CorpusError, FormatError, RegistryError, SettingError
from embeddings.models.model_files import JOINED, TAGS
from embeddings.models.text_settings import PHRASES, corpus_settings
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.corpora import Corpus
    from embeddings.models.model import Model

TABLE = "documents"
Infer = Callable[..., np.ndarray]


def document_vectors_of(model: "Model") -> Vectors:
    """The vectors of a model's documents; their words are tags, or numbers from "0" on where there are none.

    Raises:
        SettingError: it has none.
        FormatError: tags and table do not fit.
    """
    table = model.tables.get(TABLE)
    if table is None:
        raise SettingError(f"a {model.name} model has no vectors of documents: paragraph-dbow and paragraph-dm have")
    names = document_numbers(len(table)) if model.tags is None else model.tags.to_pylist()
    try:
        return Vectors(names, table)
    except SettingError as error:
        raise FormatError(f"the {model.name} model is broken: its tags and vectors of documents: {error}") from None


def document_numbers(count: int) -> list[str]:
    """The names of so many documents without tags."""
    return [str(number) for number in range(count)]


def save_tags(tags: Any, path: Path) -> None:
    """Write an Arrow file of tags."""
    from embeddings.corpora.document_tags import TagFile

    file = TagFile(path)
    for start in range(0, len(tags), 1 << 16):
        file.append(tags[start : start + (1 << 16)].to_pylist())
    file.close()


def load_tags(path: Path, table: np.ndarray | None) -> Any:
    """The tags of the rows of a table; None where there is no file of tags.

    Raises:
        FormatError: the file is broken, or not of as many tags as the table has rows.
    """
    from embeddings.corpora.document_tags import load_tags as load

    if not path.exists():
        return None
    if table is None:
        raise FormatError(f"{path} holds tags, and the model has no table {TABLE!r}")
    tags = load(path, len(table))
    if tags.null_count:
        raise FormatError(f"{path} is broken: a tag is missing")
    return tags


def save_beside(model: "Model", folder: Path) -> None:
    """Write what only some models have: the tags of documents, and the phrases of their text."""
    if model.tags is not None:
        save_tags(model.tags, folder / TAGS)
    if model.phrases is not None:
        from embeddings.corpora.phrases.phrase_table import save_phrase_table

        save_phrase_table(model.phrases, folder / JOINED)


def load_beside(folder: Path, table: np.ndarray | None) -> dict[str, Any]:
    """The tags and the phrases of a saved model whose vectors of documents are `table`; None where it has none.

    Raises:
        FormatError: a file is broken, or there are not as many tags as the table has rows.
    """
    phrases = None
    if (folder / JOINED).exists():
        from embeddings.corpora.phrases.phrase_table import load_phrase_table  # which brings compiled code along

        phrases = load_phrase_table(folder / JOINED)
    return {"tags": load_tags(folder / TAGS, table), "phrases": phrases}


def installed_inferencer(model: "Model") -> Infer:
    """How models of its trainer find vectors for documents.

    Raises:
        SettingError: they do not.
        RegistryError: the trainer of a saved model is not installed.
    """
    from embeddings import registry

    missing = f"a {model.name} model finds no vectors for documents: paragraph-dbow and paragraph-dm do"
    try:
        trainer = registry.load("trainer", model.name)
    except RegistryError as error:
        if TABLE in model.tables:
            raise
        raise SettingError(missing) from error
    inferencer: Callable[[Model], Infer] | None = getattr(trainer, "inferencer", None)
    if inferencer is None:
        raise SettingError(missing)
    return inferencer(model)


@dataclass(frozen=True)
class Concatenated:
    """Several models side by side: each document has the vectors of all, one after another (Le and Mikolov 2014)."""

    models: "tuple[Model, ...]"

    @property
    def documents(self) -> Vectors:
        """The documents of all models, (documents, sum of dims), in the order of the first.

        Raises:
            SettingError: a model has no documents, or not those of the first.
        """
        first, *others = (model.documents for model in self.models)
        for other in others:
            if len(other) != len(first) or other.words != first.words:
                raise SettingError(f"models of different documents, {len(first)} and {len(other)}, have no common rows")
        return Vectors(first.words, np.concatenate([first.matrix, *(other.matrix for other in others)], axis=1))

    def infer(
        self,
        texts: "Corpus | Iterable[Any]",
        *,
        epochs: int | None = None,
        seed: int = 1,
        threads: int | None = None,
        report: Callable[[int, int], object] | None = None,
    ) -> np.ndarray:
        """The vectors that all models find for texts, (texts, sum of dims); arguments and errors as `Model.infer`."""
        from embeddings.corpora import Corpus

        self.check_alike(("documents",) if isinstance(texts, Corpus) else ())
        given: Any = texts if isinstance(texts, Corpus) else as_list(texts)
        found = [model.infer(given, epochs=epochs, seed=seed, threads=threads, report=report) for model in self.models]
        return np.concatenate(found, axis=1)

    def corpus(self, *sources: Any, **columns: Any) -> "Corpus":
        """Texts read as those of the training were; `columns` are further settings of `embeddings.Corpus`.

        Raises:
            SettingError: the models were trained on texts that were read in different ways.
            CorpusError, FormatError, RegistryError: as `Corpus`, and as `Model.infer`.
        """
        from embeddings.corpora import Corpus

        self.check_alike(("documents",))
        read = [corpus_settings(model) for model in self.models]
        told = [{**one, PHRASES: getattr(one.get(PHRASES), "identity", None)} for one in read]
        if any(one != told[0] for one in told):
            raise SettingError(f"the models were trained on texts that were read in different ways: {read}")
        return Corpus(*sources, **read[0], **columns)

    def check_alike(self, names: tuple[str, ...]) -> None:
        """Refuse models that differ in these settings.

        Raises:
            SettingError: naming the setting.
        """
        for name in names:
            values = [model.settings.get(name) for model in self.models]
            if any(value != values[0] for value in values):
                raise SettingError(f"the models differ in {name}: {', '.join(map(str, values))}")


def concatenate(*models: "Model") -> Concatenated:
    """Models side by side as one representation of documents, such as paragraph-dbow and paragraph-dm.

    >>> import embeddings as em
    >>> texts, small = ["a b c", "b c d"], {"dim": 4, "min_count": 1, "threads": 1}
    >>> both = em.concatenate(*(em.train(name, texts, **small) for name in ("paragraph-dbow", "paragraph-dm")))
    >>> both.infer(["a d"]).shape
    (1, 8)

    Raises:
        SettingError: there is none.
    """
    if not models:
        raise SettingError("nothing to concatenate: give models")
    return Concatenated(models)


def load_concatenated(paths: Iterable[str | os.PathLike[str]]) -> Concatenated:
    """Saved models side by side; one alone is fine.

    Raises:
        FormatError, SettingError: as `embeddings.load_model`, and `concatenate`.
    """
    from embeddings.models.loading import load_model

    return concatenate(*(load_model(path) for path in paths))


def as_list(texts: Iterable[Any]) -> list[Any]:
    """Texts as a list.

    Raises:
        SettingError: they are one text, or no texts at all.
    """
    from embeddings.corpora.reading.sources import unusable_reason

    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise SettingError(f"texts must be a list of texts, or a Corpus, not {texts!r:.80}")
    if why := unusable_reason(texts):
        raise SettingError(f"texts must be a list of texts, or a Corpus, not a {type(texts).__name__}: {why}")
    return list(texts)


def document_names(models: Concatenated, corpus: "Corpus") -> list[str]:
    """What the documents of a corpus are called that models find vectors for: their tags, or numbers from "0" on.

    Raises:
        CorpusError: a document has no tag and others have, or two have the same; or as `Corpus.encode`.
    """
    from embeddings.training.document_stream import document_vectors_of as documents_in

    found = documents_in(corpus.encode(), models.models[0].settings.get("documents", "auto"))
    if found.count < len(found.rows):
        counts = np.bincount(found.rows)
        twice = str(found.tags[int(counts.argmax())])
        raise CorpusError(f"{counts.max()} documents have the tag {twice!r}, and each needs one of its own")
    return document_numbers(found.count) if found.tags is None else list(found.tags.to_pylist())
