"""`embeddings.embed`: vectors of texts from word vectors."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import numpy as np

from embeddings.corpora.reading.reader import read_texts
from embeddings.corpora.reading.sources import Items, Source, Texts, resolve_source
from embeddings.corpora.reading.text_block import TextBlock
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.corpora.word_rules import recorded_settings
from embeddings.errors import FormatError, S, SettingError
from embeddings.models.document_vectors import DOCUMENTS
from embeddings.models.loading import load_model_or_vectors
from embeddings.models.model import Model
from embeddings.models.text_settings import corpus_settings
from embeddings.settings import Positive, Range
from embeddings.support.progress_display import ProgressOption, showing
from embeddings.vectors.pooling import DataType, Frequencies, Pool
from embeddings.vectors.vectors import Vectors, as_vectors

if TYPE_CHECKING:
    from embeddings.models.text_embedder import TextEmbedder

MIN_RANKED = 1000  # words without counts that are taken to be in order of frequency
DEFAULT_TEXT = {"tokenizer": "words", "case": "keep"}  # where it is not known how the training text was read


def embed(
    vectors: "Vectors | Model | str | os.PathLike[str]",
    texts: Any,
    *,
    pool: Pool | None = None,
    constant: Annotated[float, Range(ge=1e-9)] | None = None,
    frequencies: Frequencies | None = None,
    remove_components: Annotated[int, Range(ge=0)] = 0,
    fit_on: Any = None,
    normalize: bool = False,
    dim: Positive | None = None,
    dtype: DataType = "float32",
    text_column: str | None = None,
    tokenizer: Any = None,
    case: str | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> np.ndarray:
    """Vectors of texts, (texts, dim), pooled from the vectors of their words.

    Texts are split into words as the training text of a saved model was; by the tokenizer.json of a folder that has
    one, such as those of model2vec, without its unknown token. For other vectors, what stands between white space is a
    word if they have it; if not, the tokenizer "words" splits it. Words are looked up as they are, then in the forms of
    `Vectors.find_form`. Words without a vector are ignored, unless the
    vectors compose one, such as those of fastText. A text without known words, or null, becomes zeros.

    >>> import numpy as np, embeddings as em
    >>> vectors = em.Vectors(["red", "car"], np.array([[1, 0], [0, 1]]), counts=[3, 1])
    >>> em.embed(vectors, ["Red car", "a red, red car", "bus"], pool="mean").tolist()
    [[0.5, 0.5], [0.6666666865348816, 0.3333333432674408], [0.0, 0.0]]

    Arguments:
        vectors: Vectors, a Model, or the path of either.
        texts: a list of texts or of lists of tokens, which are used as they are; a column, table or data set of pandas,
            polars, Arrow or Hugging Face; or the `pathlib.Path` of a file, or a list of paths, whose lines or rows are
            texts.
        pool: how the vectors of words become one: "mean"; "sif" weights a word with the share p of the corpus by
            a / (a + p) and divides by the number of words (Arora, Liang and Ma 2017); "idf" weights by
            ln((1 + n) / (1 + f)) + 1 for a word in f of n texts and divides by the sum of the weights; "sum". By
            default "mean" for models of texts (distill, text-pairs, classifier), for folders with a tokenizer.json,
            such as those of model2vec, and for fewer than 1,000 word vectors without counts, and "sif" for all others.
        constant: the a of "sif"; 0.001 by default.
        frequencies: where "sif" takes word frequencies from: "vectors", that is their counts, or Zipf's
            law for at least 1,000 words without counts, which must be in order of frequency; or "texts". By default the
            vectors if they tell.
        remove_components: remove the projection onto the first N singular vectors of the texts; 1 is common with "sif".
        fit_on: learn frequencies and components from this text; by default from the texts to embed. In either case
            from the first 32,768 texts, or fewer if these are longer than 32 MiB.
        normalize: scale vectors to length 1, as is always done for folders that say so, such as those of model2vec.
        dim: use only the first N components of the word vectors, for those that were trained to be truncated.
        dtype: the type of the numbers; "int8" multiplies each vector by 127 / its largest absolute component.
        text_column: the column of tables that holds the texts; by default the only column of strings.
        tokenizer, case: as for a `Corpus`, instead of those of the training text.
        threads: by default all cores; vectors do not depend on it.
        progress: True shows a bar, False none; by default there is one on a terminal and in a notebook. A function is
            called with the number of texts done, and the total, None if unknown.

    Raises:
        SettingError: an argument is out of range or cannot be combined with another, or a vector holds NaN.
        CorpusError: the texts cannot be read.
        FormatError: the path holds no vectors.
    """
    embedder = text_embedder(
        vectors, tokenizer=tokenizer, case=case, pool=pool, constant=constant, frequencies=frequencies,
        remove_components=remove_components, normalize=normalize, dim=dim, dtype=dtype,
    )  # fmt: skip
    if fit_on is not None:
        embedder.fit_first(text_batches_of(fit_on, text_column))
    parts, done = [np.zeros((0, embedder.output_dim), dtype)], 0
    total = text_count(texts)
    with showing(progress, "embedding", "texts") as report:
        for _, rows in embedder.embed(text_batches_of(texts, text_column), threads):
            parts.append(rows)
            done += len(rows)
            if report is not None:
                report(done, total)
    return np.concatenate(parts)


def text_embedder(
    vectors: "Vectors | Model | str | os.PathLike[str]",
    *,
    tokenizer: Any = None,
    case: str | None = None,
    **options: Any,
) -> "TextEmbedder":
    """The `TextEmbedder` of vectors or of a model, with its options."""
    from embeddings.models.text_embedder import TextEmbedder  # imports numba

    source = load_source(vectors)
    word_vectors, settings = as_vectors(source), text_settings(source)
    if tokenizer is not None:
        settings = {"tokenizer": tokenizer, "case": settings["case"]}
    if case is not None:
        settings = {**settings, "case": case}
    tokenizer_file = word_vectors.tokenizer_file if tokenizer is None and case is None else None
    pool = options.pop("pool", None) or default_pool(source)
    vocabulary = word_frequencies(source) if pool == "sif" else None
    return TextEmbedder(word_vectors, settings, pool, vocabulary=vocabulary, tokenizer_file=tokenizer_file, **options)


def default_pool(source: "Vectors | Model") -> Pool:
    """The default way to pool vectors of words into vectors of texts; see `embed`.

    Also "mean" for results of `weight_vectors`, whose rows contain the weights.
    """
    vectors = as_vectors(source)
    pool: Any = vectors.text_pool or "sif"
    if pool not in get_args(Pool):
        raise FormatError(f"the vectors record the pooling {pool!r:.80}, which does not exist: set {S.pool}")
    # Rows of folders with a tokenizer.json contain their weights already.
    is_weighted = vectors.tokenizer_file is None and word_frequencies(source) is not None
    return "mean" if pool == "sif" and not is_weighted else pool


def load_source(vectors: Any) -> "Vectors | Model":
    """Vectors or a model, loaded if it is a path; `as_vectors` refuses other objects."""
    return load_model_or_vectors(Path(vectors)) if isinstance(vectors, str | os.PathLike) else vectors


def text_settings(source: "Vectors | Model") -> dict[str, Any]:
    """Settings of a `Corpus` that split texts into the words of the vectors."""
    if isinstance(source, Model) and DOCUMENTS in source.tables:
        raise SettingError(
            f"{source.name} models infer vectors of texts: use Model.infer or `embeddings infer`; to pool their word "
            "vectors instead, pass Model.vectors, or a file that `embeddings export` has written"
        )
    if isinstance(source, Model) and "text" in source.record:
        return corpus_settings(source)
    recorded = getattr(source, "word_form", None) if isinstance(source, Vectors) else None
    if recorded is not None and isinstance(getattr(recorded, "settings", None), dict):
        return recorded_settings(recorded.settings)
    return dict(DEFAULT_TEXT)


def word_frequencies(source: "Vectors | Model") -> Vocabulary | None:
    """The word frequencies of vectors: by their counts, or by rank if there are none; None if neither tells them.

    Files of word2vec, GloVe and fastText are in order of frequency. Fewer than 1,000 words may be in any order.
    """
    if isinstance(source, Model):
        return source.vocabulary if source.vocabulary.tokens else None
    if source.frequencies is not None and source.frequencies.tokens:
        return source.frequencies
    is_ranked = len(source) >= MIN_RANKED and source.tokenizer_file is None and source.text_pool is None
    return source.frequencies_by_rank if is_ranked else None


def text_batches_of(texts: Any, text_column: str | None) -> Iterator[TextBlock]:
    """The batches of texts in memory, or of a file."""
    return read_texts(text_sources(texts), text_column=text_column)


def text_count(texts: Any) -> int | None:
    """The number of texts in memory; None if it is not known, such as that of files."""
    are_paths = isinstance(texts, list | tuple) and any(isinstance(one, os.PathLike) for one in texts[:1])
    return len(texts) if hasattr(texts, "__len__") and not are_paths else None


def text_sources(texts: Any) -> list[Source]:
    """Texts as sources of a corpus."""
    if isinstance(texts, str):
        raise SettingError(f"texts must be a list of texts, such as [{texts!r:.40}], or the pathlib.Path of a file")
    if isinstance(texts, list | tuple) and texts and all(isinstance(one, os.PathLike) for one in texts):
        return [source for path in texts for source in resolve_source(path)]
    if isinstance(texts, list | tuple):
        return [Items(Texts(texts))]
    return resolve_source(texts)
