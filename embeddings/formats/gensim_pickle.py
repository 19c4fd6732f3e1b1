"""gensim's own files, which are pickles: KeyedVectors, and the models Word2Vec, FastText and Doc2Vec.

A pickle can run any code, so it is read only on request. KeyedVectors are written as one file: gensim would put a large
matrix into a second one, and two files cannot be replaced atomically.
"""

from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.compression import open_binary, read_head
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError, S
from embeddings.formats.build_vectors import build_vectors
from embeddings.formats.fasttext_file import NEGATIVE_SAMPLING
from embeddings.models.model import Model
from embeddings.models.subword_composer import composer
from embeddings.support.arrow import to_string_array
from embeddings.support.foreign_files import format_errors
from embeddings.support.imports import INSTALL_GENSIM, import_extra
from embeddings.support.logs import log
from embeddings.vectors.file_format import Format, stored_pool
from embeddings.vectors.subwords import SubwordVectors
from embeddings.vectors.vectors import Vectors

PICKLE = b"\x80"
PROTOCOLS = range(2, 6)
MODELS = ("Word2Vec", "FastText", "Doc2Vec", "FastTextKeyedVectors")
SETTINGS = {
    "vector_size": "dim",
    "epochs": "epochs",
    "alpha": "learning_rate",
    "min_alpha": "min_learning_rate",
    "sample": "subsample",
    "ns_exponent": "noise_exponent",
    "negative": "negatives",
    "effective_min_count": "min_count",
}
WINDOW_SETTINGS = {"window": "window", "shrink_windows": "shrink_window"}
TEXT = {"tokenizer": "whitespace", "case": "keep", "encoding_errors": "strict"}  # gensim stores no tokenizer


def sniff(start: bytes) -> float:
    """Nearly certain if the file starts as a pickle of protocol 2 to 5."""
    return 0.95 if len(start) > 1 and start[:1] == PICKLE and start[1] in PROTOCOLS else 0


def write(vectors: Vectors, path: Path) -> None:
    """Write all vectors for `gensim.models.KeyedVectors.load`, and the counts if known."""
    remedy = f"{INSTALL_GENSIM}, or write word2vec-text or word2vec-binary, which gensim reads"
    models = import_extra("gensim.models", None, "writing a gensim file", remedy)
    keyed = models.KeyedVectors(vectors.dim)
    # attributes instead of `add_vectors`, which copies the matrix and doubles its memory
    keyed.index_to_key = list(vectors.words)
    keyed.key_to_index = {word: index for index, word in enumerate(vectors.words)}
    keyed.next_index = len(vectors)
    keyed.vectors = np.asarray(vectors.matrix)
    if vectors.counts is not None:
        keyed.expandos["count"] = np.asarray(vectors.counts)
    keyed.text_pool = stored_pool(vectors)  # gensim keeps attributes that it does not know
    keyed.save(str(path), separately=[])


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The word vectors of KeyedVectors or a model, with counts; FastText's n-grams compose unseen words."""
    trained = unpickle(path, allow_pickle)
    if documents := getattr(trained, "dv", None):
        advice = f"load_model, or load with table documents, reads those of its {len(documents):,} documents"
        log.warning("%s: only the word vectors are read; %s", path, advice)
    return word_vectors(path, trained)


def has_model(path: Path) -> bool:
    """Whether the pickle starts with a model or FastTextKeyedVectors; its code is not run."""
    return str(first_class(read_head(path))).rpartition(".")[2] in MODELS


def read_model(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Model:
    """A whole model: output rows of negative sampling as table "output", n-grams, and document vectors with tags."""
    trained = unpickle(path, allow_pickle)
    keyed, vectors = getattr(trained, "wv", trained), word_vectors(path, trained)
    if vectors.counts is None:
        raise FormatError(f"{path} has no word counts, so it is not a whole model; only its vectors can be read")
    if getattr(trained, "dm_concat", 0):
        raise FormatError(f"{path} is a Doc2Vec model with dm_concat; only its word vectors can be read")
    tables: dict[str, np.ndarray] = {}
    output = getattr(trained, "syn1neg", None)
    if output is not None:
        tables["output"] = output
    tags = None
    if documents := getattr(trained, "dv", None):
        tables["documents"] = np.asarray(documents.vectors, np.float32)
        if documents.index_to_key != list(range(len(documents))):
            tags = to_string_array([str(tag) for tag in documents.index_to_key])
    subwords = vectors.compose
    if isinstance(subwords, SubwordVectors):
        tables |= {"words": keyed.vectors_vocab, "ngrams": np.asarray(subwords.ngrams)}
    with format_errors(path):
        tokens = max(int(vectors.counts.sum()), getattr(trained, "corpus_total_words", 0) or 0)
        vocabulary = Vocabulary(vectors.words, vectors.counts, total=tokens)
    loss = {"loss": NEGATIVE_SAMPLING} if output is not None else {}
    return Model(
        trainer_name(trained),
        vectors=vectors,
        vocabulary=vocabulary,
        settings=model_settings(trained, keyed, subwords),
        tables=tables,
        record={"read_from": f"a gensim {type(trained).__name__} file", "text": TEXT} | loss,
        packages={},
        composer=composer if subwords else None,
        tags=tags,
    )


def unpickle(path: Path, allow_pickle: bool) -> Any:
    """Load the object in a file; its side files must be in the same folder."""
    if not allow_pickle:
        raise FormatError(
            f"{path} is a pickle, which can run any code when it is read; if you trust its source, set "
            f"{S.allow_pickle(True)}, or first convert it by the command export with this option"
        )
    remedy = f"{INSTALL_GENSIM}, or save the vectors with gensim's save_word2vec_format and read that file"
    utils = import_extra("gensim.utils", None, f"reading the gensim file {path}", remedy)
    open_binary(path).close()
    with format_errors(path):
        return utils.SaveLoad.load(str(path))


def word_vectors(path: Path, trained: Any) -> Vectors:
    """The word vectors of KeyedVectors or a model.

    Doc2Vec without word training (dbow_words=0) leaves the word vectors random; the output rows replace them.
    """
    keyed = getattr(trained, "wv", trained)
    words, matrix = getattr(keyed, "index_to_key", None), getattr(keyed, "vectors", None)
    if not isinstance(words, list) or not isinstance(matrix, np.ndarray) or len(words) != len(matrix):
        raise FormatError(f"{path} contains {type(keyed).__name__}, not gensim's KeyedVectors or a model with them")
    if hasattr(trained, "dv") and trained.sg and not trained.dbow_words and hasattr(trained, "syn1neg"):
        # the rows that were trained, in the order of the same words
        matrix = trained.syn1neg
    counts = getattr(keyed, "expandos", {}).get("count")
    vectors = build_vectors(path, [str(word) for word in words], matrix, counts)
    vectors.text_pool = getattr(keyed, "text_pool", None)
    if getattr(keyed, "bucket", 0) and 0 < keyed.max_n >= keyed.min_n:
        if not getattr(keyed, "compatible_hash", True):
            raise FormatError(f"{path} hashes n-grams as gensim before 3.7.2 did, unlike fastText; retrain the model")
        vectors.compose = SubwordVectors(np.asarray(keyed.vectors_ngrams, np.float32), keyed.min_n, keyed.max_n)
    return vectors


def trainer_name(trained: Any) -> str:
    """The name of our trainer for a model of gensim."""
    if hasattr(trained, "dv"):
        return "paragraph-dbow" if trained.sg else "paragraph-dm"
    if hasattr(getattr(trained, "wv", trained), "vectors_ngrams"):
        return "fasttext"
    return "skipgram" if trained.sg else "cbow"


def model_settings(trained: Any, keyed: Any, subwords: Any) -> dict[str, Any]:
    """The training parameters under the names of the trainer's settings."""
    trains_words = not hasattr(trained, "dv") or not trained.sg or bool(trained.dbow_words)
    names = SETTINGS | (WINDOW_SETTINGS if trains_words else {})
    settings: dict[str, Any] = {ours: getattr(trained, theirs, None) for theirs, ours in names.items()}
    settings = {name: value for name, value in settings.items() if value is not None}  # which earlier versions lack
    # gensim allows 0, which keeps all words as 1 does
    settings["min_count"] = max(1, settings.get("min_count", 1))
    if not settings.get("negatives"):  # hierarchical softmax
        settings.pop("negatives", None)
    name = trainer_name(trained)
    if name == "paragraph-dbow":
        settings["train_words"] = trains_words
    elif hasattr(trained, "sg") and not trained.sg and name != "fasttext":
        settings["combine"] = "mean" if trained.cbow_mean else "sum"
    if name == "fasttext":
        settings |= {"architecture": "skipgram" if getattr(trained, "sg", 1) else "cbow"}
        settings |= {"min_n": keyed.min_n, "max_n": keyed.max_n, "buckets": keyed.bucket} if subwords else {"max_n": 0}
    return settings


def describe(path: Path) -> dict[str, Any]:
    """The first class in the pickle; its code is not run."""
    return {"pickle": True, "holds": first_class(read_head(path))}


def first_class(start: bytes) -> str | None:
    """The class of the first object of a pickle, such as gensim.models.keyedvectors.KeyedVectors."""
    import pickletools

    strings: list[str] = []
    try:
        for code, value, _ in pickletools.genops(start):
            if code.name == "GLOBAL":
                return str(value).replace(" ", ".")
            if code.name == "STACK_GLOBAL":
                return ".".join(strings[-2:])
            if isinstance(value, str):
                strings.append(value)
    except Exception:  # a truncated or hostile pickle names no class
        return None
    return None


FORMAT = Format(
    summary="gensim's own files, pickles: KeyedVectors, Word2Vec, FastText, Doc2Vec",
    extensions=(".kv",),
    stores_counts=True,
    stores_pooling=True,
    sniff=sniff,
    read=read,
    write=write,
    describe=describe,
    has_model=has_model,
    read_model=read_model,
)
