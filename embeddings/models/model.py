"""A trained model as a folder: vectors, every table and setting behind them, the record of its training."""

import json
import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings import registry
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError, SettingError
from embeddings.models.document_vectors import TABLE, Infer, document_vectors_of, installed_inferencer, load_beside, save_beside
from embeddings.models.model_files import (
    FORMAT_VERSION,
    MAIN,
    RECORD,
    TENSORS,
    VOCABULARY,
    check_target,
    read_model_json,
    read_vocabulary,
)
from embeddings.support import tensors
from embeddings.support.files import atomic_write
from embeddings.support.interop import InteropMixin
from embeddings.support.jsonable import to_jsonable
from embeddings.vectors.vectors import Compose, Vectors

if TYPE_CHECKING:
    from embeddings.corpora import Corpus

PACKAGES = ("embeddings-toolkit", "numpy", "numba", "pyarrow")


class Model(InteropMixin):
    """What a trainer returns.

    Arguments:
        name: of the trainer, such as "skipgram".
        vectors: one for each word of `vocabulary`, in its order.
        settings: every setting of the trainer; values that JSON can hold.
        tables: further arrays by name, such as "output".
        vocabulary: words and counts of the corpus.
        record: of the training: seed, threads, seconds, words, loss, the corpus's fingerprint.
        packages: versions of what made it; those installed here unless given.
        composer: makes, of this model, a function from texts to vectors, for words or whatever else it composes. A
            trainer has it as an attribute `composer`, where a model that was saved finds it again.
        tags: of the rows of a table "documents", a pyarrow array of strings; None where they are numbered.
        phrases: those that were joined in the corpus, as `EncodedCorpus.phrases`; None without any.

    Raises:
        SettingError: words and vocabulary differ, or a table is called "vectors".
    """

    MADE = ("_compose", "_infer", "documents")

    def __init__(
        self,
        name: str,
        *,
        vectors: Vectors,
        vocabulary: Vocabulary,
        settings: Mapping[str, Any] | None = None,
        tables: Mapping[str, np.ndarray] | None = None,
        record: Mapping[str, Any] | None = None,
        packages: Mapping[str, str] | None = None,
        composer: Callable[["Model"], Compose] | None = None,
        tags: Any = None,
        phrases: Any = None,
    ) -> None:
        self.name = name
        self.tags = tags
        self.phrases = phrases
        self.composer = composer
        self.vectors = vectors
        self.vocabulary = vocabulary
        self.settings: dict[str, Any] = dict(settings or {})
        self.tables: dict[str, np.ndarray] = dict(tables or {})
        self.record: dict[str, Any] = dict(record or {})
        self.packages: dict[str, str] = dict(package_versions() if packages is None else packages)
        if MAIN in self.tables:
            raise SettingError(f"a table may not be called {MAIN!r}, which is the name of the vectors themselves")
        if vectors.word_list is not vocabulary.word_list and list(vectors.words) != list(vocabulary.words):
            raise SettingError(f"the words of {len(vectors)} vectors are not the vocabulary's {len(vocabulary)}")
        if composer is not None:
            vectors.compose = self.compose

    def compose(self, texts: Sequence[str], second: str | None = None, **choice: str | None) -> np.ndarray:
        """Vectors composed for texts, in the vocabulary or not, (texts, dim) float32; zeros if nothing of one is known.

        A model of phrases takes two words too, as in `compose("red", "car")`, and gives their vector (dim,). A choice
        of `type` and `function` may follow; see `embeddings.plugins.tensor_indexing.composer.Composer.compose`.

        Raises:
            SettingError: models of this trainer do not compose, or no phrases.
            RegistryError: the trainer of a saved model, which knows how, is not installed.
            FormatError: a table or setting that composing needs is missing or broken.
        """
        if second is None and not choice:
            if isinstance(texts, str | bytes):
                raise SettingError(f"compose takes a list of texts, such as [{texts!r}], not {texts!r}")
            return self._compose(texts)
        phrase: Callable[..., np.ndarray] | None = getattr(self._compose, "compose", None)
        if phrase is None or second is None:
            raise SettingError(f"a {self.name} model composes a list of texts" + " or two words" * (phrase is not None))
        return phrase(texts, second, **choice)

    @cached_property
    def _compose(self) -> Compose:
        if self.composer is None:
            raise SettingError(f"a {self.name} model composes nothing: only words of its vocabulary have vectors")
        return self.composer(self)

    @cached_property
    def documents(self) -> Vectors:
        """The vectors of the documents that it was trained on; as words their tags, or numbers from "0" on.

        Raises:
            SettingError: it has none.
        """
        return document_vectors_of(self)

    def infer(
        self,
        texts: "Corpus | Iterable[Any]",
        *,
        epochs: int | None = None,
        seed: int = 1,
        threads: int | None = None,
        report: Callable[[int, int], object] | None = None,
    ) -> np.ndarray:
        """Vectors for texts as if they were documents of the training, (texts, dim) float32; nothing else is changed.

        A text and a seed settle every byte, whatever the threads and the other texts. Words are cut as the corpus of
        the training was; unknown ones are passed over, and a text without a known word gets zeros.

        Arguments:
            texts: texts, or lists of tokens, which are taken as they are; or a `Corpus`, as it is, with its documents.
            epochs: passes over each text; those of the training if not given.
            report: called now and then with the texts that are done, and with all.

        Raises:
            SettingError: models of this trainer have no documents, or an argument is out of range.
            RegistryError: the trainer or the tokenizer of a saved model is not installed.
            FormatError: a table or setting that it needs is missing or broken.
            CorpusError: as `Corpus.encode`.
        """
        return self._infer(texts, epochs=epochs, seed=seed, threads=threads, report=report)

    @cached_property
    def _infer(self) -> Infer:
        return installed_inferencer(self)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled; how to compose is found again by the trainer's name, as in a saved model."""
        return super().__getstate__() | ({} if self.composer is None else {"composer": installed_composer})

    def __repr__(self) -> str:
        return f"<Model {self.name}: {len(self.vectors)} words, {self.vectors.dim} components>"

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the folder: model.json, vocabulary.arrow, tensors.safetensors; documents.arrow and phrases.arrow.

        The last two only of a model that has tags and phrases.

        All of it or nothing.

        Raises:
            OutputError: the path exists (only a saved model is ever replaced, and only with `force`), or
                cannot be written.
            SettingError: a vector holds NaN or infinity; the word is named.
        """
        check_target(path, force=force)
        self.vectors.check_finite()
        with atomic_write(path, force=force, folder=True) as folder:
            (folder / RECORD).write_text(self.described(), encoding="utf-8")
            self.vocabulary.save(folder / VOCABULARY)
            tensors.save({MAIN: self.vectors.matrix, **self.tables}, folder / TENSORS)
            save_beside(self, folder)

    def export(
        self, path: str | os.PathLike[str], format: str | None = None, *, force: bool = False, **options: Any
    ) -> None:
        """Write a file for other tools: the whole model where the format holds one, such as fasttext, else its vectors.

        Arguments and errors are those of `Vectors.save`.
        """
        from embeddings.vectors import format_dispatch

        format_dispatch.write_model(self, path, format=format, force=force, **options)

    def described(self) -> str:
        """The text of model.json."""
        content = {
            "format_version": FORMAT_VERSION,
            "model": self.name,
            "composes": self.composer is not None,
            "settings": self.settings,
            "packages": self.packages,
            "record": self.record,
        }
        return json.dumps(to_jsonable(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Model":
        """The model of a folder; vectors and tables are mapped into memory, read-only.

        Raises:
            FormatError: a part is missing, truncated, broken, of an unknown version, or does not fit.
        """
        folder = Path(path)
        description = read_model_json(folder)
        vocabulary = read_vocabulary(folder / VOCABULARY)
        tables = tensors.load(folder / TENSORS)
        matrix = tables.pop(MAIN, None)
        if matrix is None or matrix.ndim != 2 or matrix.dtype != np.float32:
            raise FormatError(f"{folder / TENSORS} holds no float32 matrix called {MAIN!r}")
        try:
            vectors = Vectors(vocabulary.word_list, matrix, counts=vocabulary.counts)
        except SettingError as error:
            raise FormatError(f"{folder}: {VOCABULARY} and {TENSORS} do not fit: {error}") from None
        name, composer = description.pop("model"), installed_composer if description.pop("composes") else None
        beside = load_beside(folder, tables.get(TABLE))
        return cls(
            name, vectors=vectors, vocabulary=vocabulary, tables=tables, composer=composer, **beside, **description
        )


def installed_composer(model: Model) -> Compose:
    """How the trainer of a model composes, found by its name.

    Raises:
        RegistryError: it is not installed.
        FormatError: it composes nothing.
    """
    composer: Callable[[Model], Compose] | None = getattr(registry.load("trainer", model.name), "composer", None)
    if composer is None:
        raise FormatError(f"model.json is broken: models of the trainer {model.name!r} compose nothing")
    return composer(model)


def package_versions() -> dict[str, str]:
    """The versions of Python and of the packages that decide what a training gives."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
