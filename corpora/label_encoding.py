"""Labels of texts in an encoded corpus, stored as the tags of its documents."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, S
from embeddings.support.arrow import to_numpy

PREFIXED = "has_label_prefix"  # in the description of a corpus: whether labels were written with their prefix


@dataclass(frozen=True)
class TextLabels:
    """The labels of texts.

    The labels of text i are `ids[starts[i]:starts[i + 1]]`, rows of `vocabulary`, which counts the texts with each
    label; `starts` is int64 (texts + 1,), `ids` int64 (labels of all texts,).
    """

    vocabulary: Vocabulary
    starts: NDArray[np.int64]
    ids: NDArray[np.int64]


def corpus_labels(encoded: EncodedCorpus, min_count: int = 1, known: Collection[str] = ()) -> TextLabels:
    """The labels of the documents of a corpus that are `known` or occur at least `min_count` times.

    Raises:
        CorpusError: the corpus has no labels, or fewer than two labels remain; with `known`, no label remains.
    """
    if encoded.tags is None or "labels" not in encoded.meta["settings"]:
        raise CorpusError("the corpus has no labels; set labels of the Corpus, such as labels=LabelFormat()")
    tags, texts = encoded.tags.dictionary_encode(), np.arange(encoded.meta["documents"])
    if encoded.tag_starts is not None:
        texts = np.repeat(texts, np.diff(encoded.tag_starts))
    names, ids = tags.dictionary.to_pylist(), to_numpy(tags.indices.fill_null(-1)).astype(np.int64)
    texts, ids = texts[ids >= 0], ids[ids >= 0]  # without those of texts that have no label
    vocabulary, rank = ranked_labels(names, np.bincount(ids, minlength=len(names)), min_count, known)
    ids = rank[ids]
    texts, ids = texts[ids >= 0], ids[ids >= 0]
    return TextLabels(vocabulary, np.searchsorted(texts, np.arange(encoded.meta["documents"] + 1)), ids)


def ranked_labels(
    names: list[str], counts: NDArray[np.int64], min_count: int, known: Collection[str] = ()
) -> tuple[Vocabulary, NDArray[np.int64]]:
    """The labels with at least `min_count` texts, most frequent first, and the row of each label, -1 for others."""
    order = np.argsort(-counts, kind="stable")
    known = frozenset(known)
    order = order[[counts[row] >= min_count or names[row] in known for row in order.tolist()]]
    if names and known and not len(order):
        problem = f"no label is known to the model or occurs at least {min_count} times"
        raise CorpusError(f"{problem}; check the labels, or use a lower {S.min_label_count}")
    if len(order) < (1 if known else 2):
        problem = "no text has a label" if not len(names) else f"there is only the label {names[0]!r}"
        if len(names) > 1:
            problem = f"only {len(order)} of {len(names)} labels occur at least {min_count} times"
        raise CorpusError(f"{problem}; a classifier requires at least two labels")
    rank = np.full(len(names), -1, np.int64)
    rank[order] = np.arange(len(order))
    return Vocabulary([names[row] for row in order], counts[order]), rank
