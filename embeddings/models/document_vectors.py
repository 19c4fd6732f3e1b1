"""Vectors of training documents and of new documents; concatenation of several models."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from embeddings.corpora.encoded_corpus import load_tags
from embeddings.corpora.reading.sources import unusable_reason
from embeddings.corpora.word_rules import WordForm
from embeddings.errors import CorpusError, FormatError, RegistryError, SettingError
from embeddings.models import model_files
from embeddings.models.capabilities import installed_capability
from embeddings.models.text_settings import PHRASES, corpus_settings
from embeddings.support.arrow import to_arrow
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus
    from embeddings.models.model import Model

DOCUMENTS = "documents"  # the table of document vectors
Infer = Callable[..., np.ndarray]


class DocumentVectors(Vectors):
    """Vectors of documents, whose words are tags; an integer is the tag of its digits."""

    item_name: ClassVar[str] = "documents"

    def as_word(self, item: object) -> str | None:
        """The tag that an item of a query names; None if it is not a tag."""
        return as_tag(item)


def as_tag(item: object) -> str | None:
    """A tag as it is stored, of its text or number; None if it is neither."""
    is_tag = isinstance(item, str | int | np.integer) and not isinstance(item, bool)
    return str(item) if is_tag else None


def document_numbers(count: int) -> list[str]:
    """The names of documents without tags."""
    return [str(number) for number in range(count)]


def load_extras(folder: Path, table: np.ndarray | None) -> dict[str, Any]:
    """The `tags`, `phrases` and `labels` of a saved model, None if missing; `table` holds its document vectors."""
    phrases = None
    if (folder / model_files.PHRASES).exists():
        from embeddings.corpora.phrases.phrase_list import load_phrase_table  # imports numba

        phrases = load_phrase_table(folder / model_files.PHRASES)
    path = folder / model_files.LABELS
    labels = model_files.read_vocabulary(path) if path.exists() else None
    path, tags = folder / model_files.TAGS, None
    if path.exists():
        if table is None:
            raise FormatError(f"{path} holds tags, but the model has no table {DOCUMENTS!r}")
        tags = load_tags(path, len(table))
        if tags.null_count:
            raise FormatError(f"{path} is broken: a tag is missing")
    return {"tags": tags, "phrases": phrases, "labels": labels}


def installed_inferencer(model: "Model") -> Infer:
    """The function by which a model infers document vectors, made by its installed trainer."""
    message = f"{model.name} models cannot infer document vectors; train paragraph-dbow or paragraph-dm"
    try:
        infer: Infer | None = installed_capability(model, "inferencer")
    except RegistryError as error:
        if DOCUMENTS in model.tables:
            raise
        raise SettingError(message) from error
    if infer is None:
        raise SettingError(message)
    return infer


@dataclass(frozen=True)
class ConcatenatedModels:
    """Several models as one: a document's vector concatenates its vectors of all models (Le and Mikolov 2014)."""

    models: "tuple[Model, ...]"

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

    @property
    def inferencers(self) -> list[Infer]:
        """The functions by which the models infer document vectors."""
        return [model._infer for model in self.models]

    def infer(
        self,
        documents: "Corpus | Iterable[Any] | None" = None,
        *,
        texts: "Corpus | Iterable[Any] | None" = None,
        **options: Any,
    ) -> np.ndarray:
        """Vectors for new documents, (documents, sum of dims); arguments and errors as `Model.infer`."""
        documents = new_documents(self.models[0], documents, texts, options.get("tags") is not None)
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


def concatenate(*models: "Model") -> ConcatenatedModels:
    """Combine models, such as paragraph-dbow and paragraph-dm, into one representation of documents.

    >>> import embeddings as em
    >>> texts, small = ["a b c", "b c d"], {"dim": 4, "min_count": 1, "threads": 1}
    >>> both = em.training.concatenate(*(em.train(name, texts, **small) for name in ("paragraph-dbow", "paragraph-dm")))
    >>> both.infer(["a d"]).shape
    (1, 8)

    Raises:
        SettingError: no model is given, or something else than a model.
    """
    if not models:
        raise SettingError("concatenate requires at least one model")
    for model in models:
        if not hasattr(model, "infer"):
            raise SettingError(f"expected a Model, such as embeddings.load_model returns, got {model!r:.80}")
    return ConcatenatedModels(models)


def new_documents(model: "Model", documents: Any, texts: Any, has_tags: bool) -> "Corpus | list[Any]":
    """The documents to infer: a corpus, or a list of texts or token lists, which may have tags; see `Model.infer`."""
    from embeddings.corpora.corpus import Corpus

    if (documents is None) == (texts is None):
        raise SettingError("infer takes documents, or texts=... in their place")
    items = documents if texts is None else texts
    if isinstance(items, Corpus):
        return items
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise SettingError(f"texts must be a list of texts or a Corpus, got {items!r:.80}")
    if reason := unusable_reason(items):
        raise SettingError(f"texts must be a list of texts or a Corpus, got a {type(items).__name__}: {reason}")
    items = list(items)
    is_clear = texts is not None or has_tags or len(items) < 2
    if not is_clear and all(isinstance(item, str) and len(item.split()) == 1 for item in items):
        form = model.vectors.word_form
        rules = form.rules if isinstance(form, WordForm) else None
        if rules is None or (rules.is_built_in and all(len(rules.tokenizer(item)) == 1 for item in items)):
            choice = f"infer([words]) if they are one document, infer(texts=words) if they are {len(items)}"
            raise SettingError(f"the documents are {len(items)} single words: write {choice}")
    return items


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
