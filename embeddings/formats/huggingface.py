"""Static embeddings of Hugging Face's libraries: a table as model.safetensors, and the tokenizer.json of its words.

The last row is zero and represents unknown words, so that they do not change the direction of a text's mean; reading
drops it. Counts, if known, are stored in another tensor, which those libraries ignore.

The format model2vec adds config.json and tokenizer_config.json: `transformers.AutoTokenizer` and `tokenizers` load the
tokenizer, `model2vec.StaticModel.from_pretrained` the whole folder, which can be uploaded to the Hub unchanged.

The tokenizer splits and changes text as the training text of the model was; see `tokenizer_json`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from embeddings.corpora.segmenters import load_tokenizer, unknown_token
from embeddings.corpora.word_rules import WordForm
from embeddings.errors import FormatError
from embeddings.formats.build_vectors import build_vectors, check_array
from embeddings.formats.safetensors_file import COUNTS, list_names, read_counts
from embeddings.formats.tokenizer_json import write_tokenizer
from embeddings.models.model_files import package_versions
from embeddings.support import tensors
from embeddings.support.foreign_files import format_errors
from embeddings.support.records import read_json, write_json
from embeddings.vectors.compact_rows import to_int8
from embeddings.vectors.file_format import Format, encode_words
from embeddings.vectors.precision import cast_matrix
from embeddings.vectors.vectors import Vectors

README = "README.md"
LIBRARIES = {
    "model2vec": (
        "from model2vec import StaticModel\n\nmodel = StaticModel.from_pretrained(PATH)\nvectors = model.encode(texts)",
        "a token for unknown words is left out of the mean",
    ),
    "sentence-transformers": (
        "from sentence_transformers import SentenceTransformer\n\nmodel = SentenceTransformer(PATH)\n"
        "vectors = model.encode(texts)",
        "unknown words count as zero vectors, which changes the norm of a mean, not its direction",
    ),
}
CARD = """---
library_name: {library}
tags:
- static-embeddings
- sentence-similarity
- {library}
---

# Static embeddings

{words:,} words with {dim} components each, as {dtype}. A text is the mean of the vectors of its words; {unknown}.

```python
{code}
```

## How the vectors were made

{note}

Written by embeddings-toolkit {version}.
"""
UNWEIGHTED = "The vectors are as they were trained, without weights of words."


def write_card(vectors: Vectors, folder: Path, library: str, dtype: str, note: str | None) -> None:
    """Write the model card of a folder that `library` loads; `note` says how the vectors were made."""
    code, unknown = LIBRARIES[library]
    text = CARD.format(
        library=library, words=len(vectors), dim=vectors.dim, dtype=dtype, code=code, unknown=unknown,
        note=note or UNWEIGHTED, version=package_versions().get("embeddings-toolkit", "(unknown version)"),
    )  # fmt: skip
    (folder / README).write_text(text, encoding="utf-8")


def read_tokenizer(path: Path, rows: int | None = None) -> tuple[Any, list[str], str | None]:
    """A tokenizer, its tokens by their ids from 0 (to rows - 1), and the token for unknown words, if any."""
    tokenizer = load_tokenizer(path)
    with format_errors(path):
        ids = tokenizer.get_vocab(with_added_tokens=True)
    tokens = sorted(ids, key=ids.__getitem__)
    last = (len(ids) if rows is None else rows) - 1
    if sorted(ids.values()) != list(range(last + 1)):
        reason = "" if rows is None else ", one for each vector"
        raise FormatError(f"{path}: the {len(tokens)} tokens must have the ids 0 to {last}{reason}")
    return tokenizer, tokens, unknown_token(tokenizer)


MODEL, TOKENIZER = "model.safetensors", "tokenizer.json"
SENTENCE_TRANSFORMERS_TABLE, MODEL2VEC_TABLE = "embedding.weight", "embeddings"
MAPPING, WEIGHTS = "mapping", "weights"  # of model2vec: the row of each token, and its weight


class TokenTable(NamedTuple):
    """The rows of the tokens of a tokenizer (tokens, dim), and their counts, if known.

    `unknown` is the token for unknown words, if there is one, and `unknown_id` its row.
    """

    matrix: np.ndarray
    counts: np.ndarray | None
    unknown: str | None
    unknown_id: int | None


def write_table(vectors: Vectors, folder: Path, *, table: str, dtype: str) -> str | None:
    """Write both files, the vectors as the tensor `table`; returns the token for unknown words.

    For model2vec, rows may be int8, which its weights of tokens multiply by the scale of each row.
    """
    is_int8 = dtype == "int8" and table == MODEL2VEC_TABLE
    tokens = write_tokens(vectors, folder / TOKENIZER, "float32" if is_int8 else dtype)
    arrays = dict(zip((table, WEIGHTS), to_int8(tokens.matrix), strict=True)) if is_int8 else {table: tokens.matrix}
    arrays |= {} if tokens.counts is None else {COUNTS: tokens.counts}
    tensors.save(arrays, folder / MODEL)
    return tokens.unknown


def write_tokens(vectors: Vectors, path: Path, dtype: str) -> TokenTable:
    """Write the tokenizer of vectors; returns their rows in the order of its tokens.

    Words that are tokens of a tokenizer.json have this tokenizer, in which tokens without a vector are zeros. Others
    have a new tokenizer, whose last token represents unknown words.
    """
    matrix = cast_matrix(vectors, dtype)
    words = [word.decode() for word in encode_words(vectors, format="tokenizer.json")]
    # the index -1 of a token without a vector then selects the row of zeros
    padded = np.concatenate([matrix, np.zeros_like(matrix, shape=(1, vectors.dim))])
    settings = getattr(vectors.word_form, "settings", {})
    name, _, tokenizer_path = str(settings.get("tokenizer")).partition(":")
    source = vectors.tokenizer_file
    if source is None and (name != "huggingface" or not tokenizer_path):
        unknown_word = write_tokenizer(words, path, vectors.word_form)
        return TokenTable(padded, vectors.counts, unknown_word, len(words))
    rows_of_words = {word: row for row, word in enumerate(words)}
    tokenizer, tokens, unknown = read_tokenizer(source or Path(tokenizer_path))
    path.write_text(tokenizer.to_str(), encoding="utf-8")
    forms = vectors.word_form.rules.normalize_all(tokens) if isinstance(vectors.word_form, WordForm) else tokens
    pairs = zip(tokens, forms, strict=True)
    rows = np.array([rows_of_words.get(token, rows_of_words.get(form, -1)) for token, form in pairs], np.int64)
    # reading drops such a row with its count, so it gets none
    has_unknown_row = bool(tokens) and tokens[-1] == unknown and not padded[rows[-1]].any()  # which reading drops
    counts = None if vectors.counts is None else np.append(vectors.counts, 0)[rows[: len(rows) - has_unknown_row]]
    unknown_id = tokens.index(unknown) if unknown in tokens else None
    return TokenTable(padded[rows], counts, unknown, unknown_id)


def read(folder: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of all tokens except a zero row for unknown words; memory-mapped read-only if float32.

    Rows that tokens share, weights of tokens and int8, as model2vec stores them, become rows of float32.
    """
    path = folder / MODEL
    arrays = tensors.load(path)
    matrix = token_rows(path, arrays)
    _, words, unknown = read_tokenizer(folder / TOKENIZER, len(matrix))
    if words and words[-1] == unknown and not matrix[-1].any():
        words, matrix = words[:-1], matrix[:-1]
    counts = read_counts(path, arrays, len(words))
    with np.errstate(over="ignore"):  # overflow becomes infinity, which is refused, naming the word
        vectors = build_vectors(folder, words, matrix.astype(np.float32, copy=False), counts)
    vectors.tokenizer_file = folder / TOKENIZER
    config = read_json(folder / CONFIG) if (folder / CONFIG).is_file() else None
    vectors.unit_texts = isinstance(config, dict) and config.get("normalize") is True
    return vectors


def token_rows(path: Path, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """The vector of each token, (tokens, dim)."""
    table = find_table(path, arrays)
    if table is not arrays.get(MODEL2VEC_TABLE):
        return table
    mapping, weights = arrays.get(MAPPING), arrays.get(WEIGHTS)
    if mapping is not None:
        check_array(f"{path}: {MAPPING!r}", mapping, (None,), "i u")
        if len(mapping) and not (mapping.min() >= 0 and mapping.max() < len(table)):
            raise FormatError(f"{path}: {MAPPING!r} must hold rows from 0 to {len(table) - 1}")
        table = table[mapping]
    if weights is not None:
        check_array(f"{path}: {WEIGHTS!r}", weights, table.shape[:1], "f")
        table = table.astype(np.float32) * weights.astype(np.float32)[:, None]
    return table


def find_table(path: Path, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """The table of vectors among the tensors of a file: (rows, dim) of floats, of model2vec also int8."""
    tables = (SENTENCE_TRANSFORMERS_TABLE, MODEL2VEC_TABLE)
    name = next((name for name in tables if name in arrays), None)
    if name is None:
        raise FormatError(f"{path} has no static embeddings ({' or '.join(tables)}); its tensors: {list_names(arrays)}")
    kinds = "f int8" if name == MODEL2VEC_TABLE else "f"
    table: np.ndarray = check_array(f"{path}: the tensor {name!r}", arrays[name], (None, None), kinds)
    return table


def describe_table(folder: Path) -> dict[str, Any]:
    """Metadata from the header of the tensors; `tokens` includes a row for unknown words."""
    arrays = tensors.load(folder / MODEL)
    table, mapping = find_table(folder / MODEL, arrays), arrays.get(MAPPING)
    tokens = len(table) if mapping is None else len(mapping)
    return {"tokens": tokens, "dim": table.shape[1], "dtype": str(table.dtype), "counts": COUNTS in arrays}


CONFIG, TOKENIZER_CONFIG = "config.json", "tokenizer_config.json"
MAX_TOKENS = 1_000_000  # of a text; there is no limit, but the libraries require a number


def sniff_folder(path: Path) -> float:
    """Nearly certain if the folder has tensors and a tokenizer."""
    return 0.8 if (path / MODEL).is_file() and (path / TOKENIZER).is_file() else 0


def write(
    vectors: Vectors, path: Path, *, dtype: str = "float32", normalize: bool = False, note: str | None = None
) -> None:
    """Write all vectors, the counts if known, and a model card.

    Arguments:
        dtype: float32, float16 or int8; int8 rows have a scale each, as the weight of the token.
        normalize: model2vec scales vectors of texts to length 1.
        note: how the vectors were made, for the model card.
    """
    unknown = write_table(vectors, path, table=MODEL2VEC_TABLE, dtype=dtype)
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "hidden_dim": vectors.dim,
        "seq_length": MAX_TOKENS,
        "normalize": normalize or vectors.unit_texts,
        "embedding_dtype": dtype,
    }
    write_json(path / CONFIG, config)
    tokenizer = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": MAX_TOKENS}
    tokenizer |= {} if unknown is None else {"unk_token": unknown}
    write_json(path / TOKENIZER_CONFIG, tokenizer)
    write_card(vectors, path, "model2vec", dtype, note)


FORMAT = Format(
    summary="a folder of model2vec: config.json, model.safetensors, tokenizer.json",
    stores_counts=True,
    stores_pooling=True,
    files=frozenset({README, CONFIG, MODEL, TOKENIZER, TOKENIZER_CONFIG}),
    sniff_folder=sniff_folder,
    read=read,
    write=write,
    describe=describe_table,
)
