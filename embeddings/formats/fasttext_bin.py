"""fastText's own .bin: words with counts, their rows and those of n-grams, and the output matrix, so a whole model.

Read are all versions of unsupervised models, and the words of supervised ones; matrices are mapped into memory.
Written is the newest, 12, which fastText and gensim load. Vectors without n-grams are written with `max_n` 0. A
fastText `.vec` is word2vec's text format.
"""

from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.compressed_files import start_of
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError
from embeddings.formats.fasttext_header import LOSSES, MODELS, SUPERVISED, find_header, read_header
from embeddings.formats.fasttext_reading import Contents, read_contents, scan
from embeddings.formats.fasttext_writing import write_model as write_model
from embeddings.formats.fasttext_writing import write_vectors
from embeddings.formats.packed_words import Packed
from embeddings.models.model import Model
from embeddings.models.subword_vectors import Subwords, composer
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import check_policy, checked

SUMMARY = "fastText's own .bin: a whole model, which can compose vectors for unseen words"
ENDINGS: tuple[str, ...] = ()  # .bin is word2vec's
COUNTS = True


def sniff(start: bytes) -> float:
    """Sure of fastText's number at the start, nearly so of the arguments that began files before 2017."""
    header = find_header(start)
    return 0 if header is None else 1 if header.version else 0.9


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of the words, of a supervised model too, which compose others if the model has n-grams.

    Raises:
        FormatError: a missing, truncated, overlong, quantised or broken file, a word that is not UTF-8, or stands
            twice, a NaN or an infinity.
    """
    check_policy(errors)
    return vectors_of(path, read_contents(path), errors)


def write(vectors: Vectors, path: Path) -> None:
    """Write vectors as a model without n-grams that has learned no output; without counts each word counts 1.

    Raises:
        FormatError: they are composed of n-grams, which only their model has; a word is empty or holds a NUL, or a
            vector a NaN.
    """
    if vectors.compose is not None:
        raise FormatError("these vectors compose others: the fasttext format takes their whole model (Model.export)")
    write_vectors(vectors, path)


def read_model(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Model:
    """The whole model: tables "words" and "ngrams", the rows that words are composed of, and "output".

    Raises:
        FormatError: as `read`, or the model is supervised, or its words are not in order of frequency.
    """
    check_policy(errors)
    found = read_contents(path)
    header, vectors = found.header, vectors_of(path, found, errors)
    if header.model == SUPERVISED:
        raise FormatError(f"{path} is a supervised model, of which only vectors of words are read")
    if np.any(np.diff(found.counts) > 0):
        raise FormatError(f"{path}: its words are not in order of frequency, so that only their vectors are read")
    total = max(header.tokens, int(found.counts.sum()))
    tables = {"output": found.output}
    if header.composes:
        tables |= {"words": found.input[: header.words], "ngrams": found.input[header.words :]}
    return Model(
        "fasttext",
        vectors=vectors,
        vocabulary=Vocabulary(vectors.words, found.counts, total=total),
        settings=settings_of(found),
        tables=tables,
        record={"read_from": "a fastText file", "version": header.version, "loss": LOSSES[header.loss]},
        packages={},
        composer=composer if header.composes else None,
    )


def settings_of(found: Contents) -> dict[str, Any]:
    """How the model was trained, named as the settings of the trainer fasttext."""
    header = found.header
    lengths = (max(header.min_n, 0), header.max_n, header.buckets) if header.composes else (0, 0, 0)
    return {
        "architecture": MODELS[header.model],
        **dict(zip(("min_n", "max_n", "buckets"), lengths, strict=True)),
        **{name: getattr(header, name) for name in ("dim", "window", "epochs", "min_count", "negatives", "sample")},
    }


def vectors_of(path: Path, found: Contents, errors: str) -> Vectors:
    """The vectors of the words: their rows, or if there are n-grams the means of these and the n-grams'.

    Raises:
        FormatError: a word is not UTF-8 or stands twice, or a vector holds NaN or infinity.
    """
    header, own = found.header, found.input[: found.header.words]
    names = Packed(found.words).decoded(errors, f"{path}, word", 1)
    if not header.composes:
        return checked(path, names, np.require(own, np.float32, "A"), found.counts)
    parts = Subwords(found.input[header.words :], max(header.min_n, 0), header.max_n)
    vectors = checked(path, names, parts.with_own(found.words, own), found.counts)
    vectors.compose = parts
    return vectors


def describe(path: Path) -> dict[str, Any]:
    """What the header and the first words say."""
    start = start_of(path)
    header, words = read_header(path, start), list[bytes]()
    scan(start[header.size :], header.words, words, [], [])
    return {
        "model": MODELS[header.model],
        "version": header.version,
        "words": header.words,
        "labels": header.labels,
        "dim": header.dim,
        "tokens": header.tokens,
        "ngrams": f"{header.min_n} to {header.max_n}" if header.composes else None,
        "buckets": header.buckets,
        "loss": LOSSES[header.loss],
        "first_words": [word.decode("utf-8", "replace") for word in words],
    }
