"""fastText's own .bin, a whole model: words with counts, the rows of words and n-grams, and the output matrix.

All versions of unsupervised models can be read. Supervised models are read as classifiers, also quantised ones (.ftz),
or as vectors. Matrices are memory-mapped. Files are written in version 12, the newest, which fastText and gensim load;
vectors without n-grams have `max_n` 0. A fastText `.vec` file is in word2vec's text format.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.corpora.reading.compression import read_head
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError
from embeddings.formats import fasttext_file
from embeddings.formats.build_vectors import WordBuffer, build_vectors
from embeddings.kernels.matrix_rows import DenseRows, Rows
from embeddings.models.model import Model
from embeddings.models.subword_composer import composer
from embeddings.vectors.file_format import Format
from embeddings.vectors.subwords import SubwordVectors
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.classifier.classifier import LabelPredictor

HEADER_SETTINGS = ("dim", "window", "epochs", "min_count", "negatives", "subsample")


def sniff(start: bytes) -> float:
    """Certain for fastText's magic number; nearly certain for plausible arguments without it (files before 2017)."""
    header = fasttext_file.find_header(start)
    return 0 if header is None else 1 if header.version else 0.9


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The word vectors, also of a supervised model; if the model has n-grams, they compose unseen words."""
    return word_vectors(path, fasttext_file.read_contents(path), errors)


def has_model(path: Path) -> bool:
    """Whether the file is an unsupervised model; `read_classifier` reads supervised models."""
    return fasttext_file.read_header(path, read_head(path)).model != fasttext_file.SUPERVISED


def read_model(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Model:
    """The whole model: tables "words" and "ngrams", from which words are composed, and "output"."""
    contents = fasttext_file.read_contents(path)
    header, vectors = contents.header, word_vectors(path, contents, errors)
    inputs, output = dense_matrix(path, contents.inputs), dense_matrix(path, contents.outputs)
    if np.any(np.diff(contents.counts) > 0):
        raise FormatError(f"{path}: its words are not sorted by frequency; only its vectors can be read")
    total = max(header.tokens, int(contents.counts.sum()))
    min_n, max_n, buckets = (max(header.min_n, 0), header.max_n, header.buckets) if header.has_ngrams else (0, 0, 0)
    settings = {"architecture": fasttext_file.MODELS[header.model], "min_n": min_n, "max_n": max_n, "buckets": buckets}
    tables = {"output": output}
    if header.has_ngrams:
        tables |= {"words": inputs[: header.words], "ngrams": inputs[header.words :]}
    return Model(
        "fasttext",
        vectors=vectors,
        vocabulary=Vocabulary(vectors.words, contents.counts, total=total),
        settings=settings | {name: getattr(header, name) for name in HEADER_SETTINGS},
        tables=tables,
        record={"read_from": "a fastText file", "version": header.version, "loss": fasttext_file.LOSSES[header.loss]},
        packages={},
        composer=composer if header.has_ngrams else None,
    )


def read_classifier(path: Path, *, errors: str = "strict") -> "LabelPredictor":
    """The classifier of a supervised model."""
    from embeddings.formats import fasttext_classifier  # imports numba

    return fasttext_classifier.read_classifier(path, errors=errors)


def write_classifier(classifier: "LabelPredictor", path: Path) -> None:
    """Write a classifier as a supervised model, `.bin` or, if it is quantised, `.ftz`."""
    from embeddings.formats import fasttext_classifier  # imports numba

    fasttext_classifier.write_classifier(classifier, path)


def word_vectors(path: Path, contents: fasttext_file.Contents, errors: str) -> Vectors:
    """The word vectors: each word's own row or, with n-grams, the mean of its own row and its n-gram rows."""
    header, inputs = contents.header, dense_matrix(path, contents.inputs)
    own_rows = inputs[: header.words]
    words = WordBuffer(contents.words).decode(errors, f"{path}, word", 1)
    if not header.has_ngrams:
        return build_vectors(path, words, np.require(own_rows, np.float32, "A"), contents.counts)
    subwords = SubwordVectors(inputs[header.words :], max(header.min_n, 0), header.max_n)
    vectors = build_vectors(path, words, subwords.vocabulary_vectors(contents.words, own_rows), contents.counts)
    vectors.compose = subwords
    return vectors


def dense_matrix(path: Path, rows: Rows) -> np.ndarray:
    """The numbers of a matrix; refuses a quantised one."""
    if isinstance(rows, DenseRows):
        return rows.table
    raise FormatError(f"{path} {fasttext_file.QUANTISED}")


def describe(path: Path) -> dict[str, Any]:
    """Metadata from the header and the first words."""
    start = read_head(path)
    header = fasttext_file.read_header(path, start)
    first_words, end = list[str](), header.size  # found without compiled code
    while len(first_words) < header.words and (match := fasttext_file.ENTRY_PATTERN.match(start, end)):
        first_words.append(match[1].decode("utf-8", "replace"))
        end = match.end()
    return {
        "model": fasttext_file.MODELS[header.model],
        "version": header.version,
        "words": header.words,
        "labels": header.labels,
        "dim": header.dim,
        "tokens": header.tokens,
        "ngrams": f"{header.min_n} to {header.max_n}" if header.has_ngrams else None,
        "buckets": header.buckets,
        "loss": fasttext_file.LOSSES[header.loss],
        "first_words": first_words,
    }


FORMAT = Format(
    summary="fastText's own .bin: a whole model, which can compose vectors for unseen words",
    stores_counts=True,
    sniff=sniff,
    read=read,
    write=fasttext_file.write_vectors,
    describe=describe,
    has_model=has_model,
    read_classifier=read_classifier,
    write_classifier=write_classifier,
    read_model=read_model,
    write_model=fasttext_file.write_model,
)
