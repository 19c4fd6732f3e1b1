"""A spaCy pipeline with only vectors, for `spacy.load(path)` and `spacy train --paths.vectors path`.

spaCy's `Vocab.from_disk` and `Vectors.from_disk` load the subfolder vocab alone; `read` accepts a pipeline or such a
vocab folder. The tokenizer splits at white space and, if all words consist of letters, marks, numbers and underscores,
at punctuation and symbols. Tokens are looked up in lower case if all words are in lower case.
"""

import json
import re
import sys
from functools import cache
from itertools import groupby
from operator import index
from pathlib import Path
from typing import Any
from unicodedata import category, normalize

import numpy as np

from embeddings.corpora.reading.compression import open_binary
from embeddings.corpora.tokenizers import is_lower_case, is_word_character
from embeddings.corpora.word_rules import WordForm, WordRules
from embeddings.errors import FormatError, S, SettingError
from embeddings.formats.build_vectors import build_vectors
from embeddings.formats.npy import map_matrix, read_matrix
from embeddings.support.foreign_files import format_errors
from embeddings.support.imports import import_extra
from embeddings.support.logs import log
from embeddings.support.records import read_json
from embeddings.vectors.file_format import Format, encode_words
from embeddings.vectors.vectors import Vectors

VOCABULARY, STRINGS, ROWS, DATA, MODE = "vocab", "strings.json", "key2row", "vectors", "vectors.cfg"
VOCABULARY_FILES = (STRINGS, ROWS, DATA, MODE, "lookups.bin")
FILES = frozenset({"config.cfg", "meta.json", "tokenizer", *(f"{VOCABULARY}/{name}" for name in VOCABULARY_FILES)})
MAX_EXPANSION = 100  # times the size of the files
SMALL_BYTES = 1 << 28  # any folder may expand to this size


def import_spacy(module: str = "spacy") -> Any:
    """Import spaCy, or a module that it installs."""
    return import_extra(module, "spacy", "a spaCy folder")


def sniff_folder(path: Path) -> float:
    """Certain if the folder, or the vocabulary in it, has vectors and a table of their rows."""
    folder = vocabulary_folder(path)
    return 1 if (folder / ROWS).is_file() and (folder / DATA).is_file() else 0


def vocabulary_folder(path: Path) -> Path:
    """The folder of the vocabulary: a subfolder of a pipeline, or the path itself."""
    return path / VOCABULARY if (path / VOCABULARY).is_dir() else path


def write(vectors: Vectors, path: Path, *, language: str = "xx") -> None:
    """Write all vectors as a pipeline for a language; xx means multi-language."""
    spacy = import_spacy()
    words = [word.decode() for word in encode_words(vectors, format="spacy")]
    try:
        nlp = spacy.blank(language, config={"nlp": {"tokenizer": {"@tokenizers": "spacy.Tokenizer.v1"}}})
    except (ImportError, AttributeError) as error:  # no such module, or one that is not a language
        raise SettingError(f"{S.language} must be a code that spaCy supports, such as en, got {language!r}") from error
    if isinstance(vectors.word_form, WordForm):
        warn_of_rules(vectors.word_form.rules, words)
    rules: dict[str, Any] = {}
    # an underscore joins phrases, but is punctuation in Unicode
    characters = set("".join(words)) - {"_"}
    if all(map(is_word_character, characters)):  # so that the tokenizer can split at punctuation and symbols
        separator = f"[{punctuation()}]"
        prefix, suffix, infix = (re.compile(pattern) for pattern in (f"^{separator}", f"{separator}$", separator))
        rules = {"prefix_search": prefix.search, "suffix_search": suffix.search, "infix_finditer": infix.finditer}
    nlp.tokenizer = spacy.tokenizer.Tokenizer(nlp.vocab, **rules)
    matrix = np.ascontiguousarray(vectors.matrix, "<f4")
    nlp.vocab.vectors = spacy.vectors.Vectors(strings=nlp.vocab.strings, data=matrix, name="vectors")
    for row, word in enumerate(words):
        nlp.vocab.vectors.add(nlp.vocab.strings.add(word), row=row)
    nlp.to_disk(path)
    attribute = spacy.symbols.LOWER if is_lower_case(words) else spacy.symbols.ORTH
    mode = {"mode": "default", "attr": attribute}  # spaCy reads "attr" but does not write it
    (path / VOCABULARY / MODE).write_text(json.dumps(mode), encoding="utf-8")
    if (path / VOCABULARY / DATA).stat().st_size < matrix.nbytes:  # numpy.save does not report it
        raise OSError("the disk is full")


def warn_of_rules(rules: WordRules, words: list[str]) -> None:
    """Warn of rules of a model that spaCy does not apply to texts."""
    settings = rules.settings
    names = [f"{name} {settings[name]}" for name in ("fold", "language") if settings[name]]
    names += ["case fold"] * (rules.case == "fold")
    special = [word for word in words if not word.isascii()]
    is_composed = rules.normalize != "none" and any(normalize("NFD", word) != word for word in special)
    names += [f"normalize {rules.normalize}"] * (is_composed or rules.normalize == "nfkc")
    if names and words:
        log.warning(
            "spaCy does not apply %s of the model to texts: they must have words as the vectors do, such as %r",
            ", ".join(names),
            (special or words)[0],
        )


@cache
def punctuation() -> str:
    """Punctuation and symbols (Unicode categories P and S) except the underscore, as ranges for a regex."""
    characters = groupby(map(chr, range(sys.maxunicode + 1)), lambda one: category(one)[0] in "PS" and one != "_")
    runs = [list(run) for is_separator, run in characters if is_separator]
    return "".join(f"{re.escape(run[0])}-{re.escape(run[-1])}" for run in runs)


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of all strings with a row, in row order; memory-mapped if each row has one string, else copied."""
    folder = vocabulary_folder(path)
    config = read_json(folder / MODE) if (folder / MODE).is_file() else {}
    mode = config.get("mode", "default") if isinstance(config, dict) else config
    if mode != "default":  # spaCy would compose them from n-grams
        raise FormatError(f"{folder / MODE}: vectors of mode {mode!r:.80} are not supported; it must be 'default'")
    matrix, table = read_matrix(folder / DATA), read_table(folder / ROWS)
    rows = name_rows(folder, table, errors)
    words = sorted(rows, key=rows.__getitem__)
    numbers = [rows[word] for word in words]
    if table and not (words and numbers[0] >= 0 and numbers[-1] < len(matrix)):
        raise FormatError(f"{folder / ROWS} must give strings of {STRINGS} the rows 0 to {len(matrix) - 1}")
    if numbers != list(range(len(matrix))):
        size = sum((folder / name).stat().st_size for name in (DATA, ROWS, STRINGS))
        expanded = len(numbers) * matrix[0].nbytes
        if expanded > max(SMALL_BYTES, MAX_EXPANSION * size):
            raise FormatError(f"{folder} is broken: its {size} bytes would expand to {expanded}")
        matrix = matrix[np.array(numbers, dtype=np.int64)]
    return build_vectors(folder, words, matrix)


def name_rows(folder: Path, table: dict[int, int], errors: str) -> dict[str, int]:
    """The row of each string, from a table by hash of the string (of spaCy's symbols, by number)."""
    strings = read_json(folder / STRINGS, errors)
    with format_errors(folder / STRINGS):  # other items than strings, or lone surrogates
        store = import_spacy().strings.StringStore([word.encode().decode() for word in strings])
    rows: dict[str, int] = {}
    for key, row in table.items():
        if 0 < key < 2**64 and key in store:
            # two keys may name one string: its hash, and the number of a symbol of spaCy
            rows.setdefault(store[key], row)
    return rows


def read_table(path: Path) -> dict[int, int]:
    """Read the table from hashes to rows, a MessagePack map."""
    msgpack = import_spacy("srsly.msgpack")
    with open_binary(path) as stream:
        data = stream.read()
    with format_errors(path):  # msgpack allocates memory for the length that a list announces
        table: Any = msgpack.unpackb(
            data, strict_map_key=False, max_array_len=0, max_str_len=0, max_bin_len=0, max_ext_len=0
        )
        return {index(key): index(row) for key, row in table.items()}


def describe(path: Path) -> dict[str, Any]:
    """Metadata from the header of the matrix."""
    matrix = map_matrix(vocabulary_folder(path) / DATA)
    return {"words": None, "rows": len(matrix), "dim": matrix.shape[1], "dtype": str(matrix.dtype)}


FORMAT = Format(
    summary="a folder with vectors for spacy.load and spacy train",
    files=FILES,
    sniff_folder=sniff_folder,
    read=read,
    write=write,
    describe=describe,
)
