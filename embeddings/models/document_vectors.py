"""Vectors of documents: their names, what a saved model has of them, and documents to infer."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from embeddings.corpora.encoded_corpus import load_tags
from embeddings.corpora.phrases.phrase import phrase_schema
from embeddings.corpora.word_rules import WordForm
from embeddings.errors import CorpusError, FormatError, SettingError
from embeddings.models import model_files
from embeddings.settings import check_list
from embeddings.support.arrow import read_table, to_arrow
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus

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


def document_names(corpus: "Corpus", unit: Any) -> list[str]:
    """The names of documents, in a unit of text, for inference: their first tags, or numbers from "0" on."""
    from embeddings.corpora.documents import corpus_documents

    documents = corpus_documents(corpus.encode(), unit)
    if documents.tags is None:
        return document_numbers(documents.count)
    rows = documents.rows if documents.starts is None else documents.rows[documents.starts[:-1]]
    counts = np.bincount(rows)
    if counts.max(initial=0) > 1:
        tag = str(documents.tags[int(counts.argmax())])
        raise CorpusError(f"tags must be unique for inference, but {counts.max()} documents have the tag {tag!r}")
    # taken in Arrow: a Python string for every tag of a large corpus would take more memory than its text
    names: list[str] = documents.tags.take(to_arrow(rows)).to_pylist()
    return names


def load_extras(folder: Path, table: np.ndarray | None) -> dict[str, Any]:
    """The `tags`, `phrases` and `labels` of a saved model, None if missing; `table` holds its document vectors."""
    phrases = None
    if (folder / model_files.PHRASES).exists():
        phrases = read_table(folder / model_files.PHRASES, "phrase table", phrase_schema())
    path = folder / model_files.LABELS
    labels = model_files.read_vocabulary(path) if path.exists() else None
    path, tags = folder / model_files.TAGS, None
    if path.exists():
        tags = load_tags(path, 0 if table is None else len(table))
        if tags.null_count:
            raise FormatError(f"{path} is broken: a tag is missing")
    return {"tags": tags, "phrases": phrases, "labels": labels}


def new_documents(form: Any, documents: Any, texts: Any, has_tags: bool) -> "Corpus | list[Any]":
    """The documents to infer: a corpus, or a list of texts or token lists, which may have tags; see `Model.infer`.

    Arguments:
        form: the `WordForm` of the words of the model, or None.
    """
    from embeddings.corpora.corpus import Corpus

    if (documents is None) == (texts is None):
        raise SettingError("infer takes documents, or texts=... in their place")
    items = documents if texts is None else texts
    if isinstance(items, Corpus):
        return items
    items = check_list("texts", items)
    # A list of single words may be one document or many texts, which only the caller knows.
    is_clear = texts is not None or has_tags or len(items) < 2
    if not is_clear and all(isinstance(item, str) and len(item.split()) == 1 for item in items):
        rules = form.rules if isinstance(form, WordForm) else None
        if rules is None or (rules.is_built_in and all(len(rules.tokenizer(item)) == 1 for item in items)):
            choice = f"infer([words]) if they are one document, infer(texts=words) if they are {len(items)}"
            raise SettingError(f"the documents are {len(items)} single words: write {choice}")
    return items
