"""Concatenation of several models of documents."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.errors import CorpusError, SettingError
from embeddings.models.document_vectors import DocumentVectors, document_numbers, new_documents
from embeddings.models.model import Model
from embeddings.models.text_settings import PHRASES, corpus_settings
from embeddings.support.arrow import to_arrow
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus


@dataclass(frozen=True)
class ConcatenatedModels:
    """Several models as one: a document's vector concatenates its vectors of all models (Le and Mikolov 2014)."""

    models: tuple[Model, ...]

    @property
    def documents(self) -> Vectors:
        """The training documents, (documents, sum of dims), in the order of the first model.

        Raises:
            SettingError: a model has no documents, or other documents than the first.
        """
        first, *others = (model.documents for model in self.models)
        for other in others:
            if len(other) != len(first) or other.words != first.words:
                raise SettingError(
                    f"the models were trained on different documents, {len(first)} and {len(other)}, and cannot be "
                    "concatenated"
                )
        matrix = np.concatenate([first.matrix, *(other.matrix for other in others)], axis=1)
        return DocumentVectors(first.words, matrix)

    def infer(
        self,
        documents: "Corpus | Iterable[Any] | None" = None,
        *,
        texts: "Corpus | Iterable[Any] | None" = None,
        **options: Any,
    ) -> np.ndarray:
        """Vectors for new documents, (documents, sum of dims); arguments and errors as `Model.infer`."""
        documents = new_documents(self.models[0].vectors.word_form, documents, texts, options.get("tags") is not None)
        if not isinstance(documents, list):
            self._check_same_documents_setting()
        return np.concatenate([model.infer(texts=documents, **options) for model in self.models], axis=1)

    def corpus(self, *sources: Any, **columns: Any) -> "Corpus":
        """A corpus read with the settings of the training corpora.

        Arguments:
            columns: further settings of `embeddings.Corpus`.

        Raises:
            SettingError: the training corpora of the models were read differently.
            CorpusError, FormatError, RegistryError: as `Corpus`, and as `Model.infer`.
        """
        from embeddings.corpora.corpus import Corpus

        self._check_same_documents_setting()
        settings = [corpus_settings(model) for model in self.models]
        keys = [{**one, PHRASES: getattr(one.get(PHRASES), "fingerprint", None)} for one in settings]
        if any(key != keys[0] for key in keys):
            raise SettingError(f"the training corpora of the models were read with different settings: {settings}")
        return Corpus(*sources, **settings[0], **columns)

    def _check_same_documents_setting(self) -> None:
        values = [model.settings.get("documents") for model in self.models]
        if any(value != values[0] for value in values):
            raise SettingError(f"the setting documents differs between models: {', '.join(map(str, values))}")


def concatenate(*models: Model) -> ConcatenatedModels:
    """Combine models, such as paragraph-dbow and paragraph-dm, into one representation of documents.

    >>> import embeddings as em
    >>> texts, small = ["a b c", "b c d"], {"dim": 4, "min_count": 1, "threads": 1}
    >>> both = em.training.concatenate(*(em.train(name, texts, **small) for name in ("paragraph-dbow", "paragraph-dm")))
    >>> both.infer(["a d"]).shape
    (1, 8)

    Raises:
        SettingError: no model is given.
    """
    if not models:
        raise SettingError("concatenate requires at least one model")
    return ConcatenatedModels(models)


def document_names(models: ConcatenatedModels, corpus: "Corpus") -> list[str]:
    """The names of a corpus's documents for inference: their first tags, or numbers from "0" on."""
    from embeddings.corpora.documents import corpus_documents

    documents = corpus_documents(corpus.encode(), models.models[0].settings.get("documents", "auto"))
    if documents.tags is None:
        return document_numbers(documents.count)
    rows = documents.rows if documents.starts is None else documents.rows[documents.starts[:-1]]
    counts = np.bincount(rows)
    if counts.max(initial=0) > 1:
        tag = str(documents.tags[int(counts.argmax())])
        raise CorpusError(f"tags must be unique for inference, but {counts.max()} documents have the tag {tag!r}")
    names: list[str] = documents.tags.take(to_arrow(rows)).to_pylist()
    return names
