"""Vectors of the documents that a model was trained on, and of others; two models as one representation."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.errors import FormatError, RegistryError, SettingError
from embeddings.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.corpora import Corpus
    from embeddings.model import Model

TABLE = "documents"
TAGS = "documents.arrow"  # of a saved model whose documents have tags
Infer = Callable[..., np.ndarray]


def documents_of(model: "Model") -> Vectors:
    """The vectors of a model's documents; their words are tags, or numbers from "0" on where there are none.

    Raises:
        SettingError: it has none.
        FormatError: tags and table do not fit.
    """
    table = model.tables.get(TABLE)
    if table is None:
        raise SettingError(f"a {model.name} model has no vectors of documents: paragraph-dbow and paragraph-dm have")
    names = numbered(len(table)) if model.tags is None else model.tags.to_pylist()
    try:
        return Vectors(names, table)
    except SettingError as error:
        raise FormatError(f"the {model.name} model is broken: its tags and vectors of documents: {error}") from None


def numbered(count: int) -> list[str]:
    """The names of so many documents without tags."""
    return [str(number) for number in range(count)]


def save_tags(tags: Any, path: Path) -> None:
    """Write an Arrow file of tags."""
    from embeddings.corpora.tags import TagFile

    file = TagFile(path)
    for start in range(0, len(tags), 1 << 16):
        file.append(tags[start : start + (1 << 16)].to_pylist())
    file.close()


def load_tags(path: Path, table: np.ndarray | None) -> Any:
    """The tags of the rows of a table; None where there is no file of tags.

    Raises:
        FormatError: the file is broken, or not of as many tags as the table has rows.
    """
    from embeddings.corpora.tags import load_tags as load

    if not path.exists():
        return None
    if table is None:
        raise FormatError(f"{path} holds tags, and the model has no table {TABLE!r}")
    tags = load(path, len(table))
    if tags.null_count:
        raise FormatError(f"{path} is broken: a tag is missing")
    return tags


def installed_inferrer(model: "Model") -> Infer:
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
    inferrer: Callable[[Model], Infer] | None = getattr(trainer, "inferrer", None)
    if inferrer is None:
        raise SettingError(missing)
    return inferrer(model)


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

        given = texts if isinstance(texts, Corpus | str | bytes) or not isinstance(texts, Iterable) else list(texts)
        how = {"epochs": epochs, "seed": seed, "threads": threads, "report": report}
        return np.concatenate([model.infer(given, **how) for model in self.models], axis=1)  # type: ignore[arg-type]


def concatenate(*models: "Model") -> Concatenated:
    """Models side by side as one representation of documents, such as paragraph-dbow and paragraph-dm.

    Raises:
        SettingError: there is none.
    """
    if not models:
        raise SettingError("nothing to concatenate: give models")
    return Concatenated(models)


def load_side_by_side(paths: Iterable[str | os.PathLike[str]]) -> Concatenated:
    """Saved models side by side; one alone is fine.

    Raises:
        FormatError, SettingError: as `embeddings.load_model`, and `concatenate`.
    """
    from embeddings.loading import load_model

    return concatenate(*(load_model(path) for path in paths))
