"""A pipeline of spaCy that holds vectors and nothing else: `spacy.load(path)`; `spacy train --paths.vectors path`.

Its folder vocab is also what `Vocab.from_disk` and `Vectors.from_disk` take, and such folders are read too. The
tokenizer cuts at white space and, if no word holds any, at punctuation and symbols. Tokens are looked up in lower case
if all words are (spaCy 3.6 and newer), else as they stand.
"""

import json
import re
import sys
from itertools import groupby
from pathlib import Path
from typing import Any
from unicodedata import category

import numpy as np

from embeddings.corpora.reading.compressed_files import opened
from embeddings.errors import FormatError, SettingError
from embeddings.formats.npy import read_header, read_matrix
from embeddings.formats.spacy_strings import read_rows, rows_of, unlisted, write_rows
from embeddings.formats.tokenizer_json import all_lower, check_unicode, only_words, parsed
from embeddings.support.files import write_npy
from embeddings.vectors.vectors import Vectors
from embeddings.vectors.word_encoding import check_policy, check_writable, checked, encoded_words

SUMMARY = "a folder that spacy.load and spacy train take, with vectors"
ENDINGS: tuple[str, ...] = ()
FOLDER = True
VOCABULARY, STRINGS, ROWS, DATA, MODE = "vocab", "strings.json", "key2row", "vectors", "vectors.cfg"
LANGUAGE = re.compile("[a-z]{2,3}")
EXPANDS = 100
ALWAYS = 1 << 28
NONE = re.compile("(?!)")
ORTH, LOWER = 65, 66  # which form of a token is looked up, as spaCy numbers them
CONFIG = """[nlp]
lang = "{language}"
pipeline = []
disabled = []
before_creation = null
after_creation = null
after_pipeline_creation = null
batch_size = 1000

[nlp.tokenizer]
@tokenizers = "spacy.Tokenizer.v1"

[nlp.vectors]
@vectors = "spacy.Vectors.v1"

[components]
"""


def sniff_folder(path: Path) -> float:
    """Sure if it, or the vocabulary in it, has a table of rows beside its vectors."""
    place = vocabulary_of(path)
    return 1 if (place / ROWS).is_file() and (place / DATA).is_file() else 0


def vocabulary_of(path: Path) -> Path:
    """The folder of the vocabulary: that in a pipeline, or the one given."""
    return path / VOCABULARY if (path / VOCABULARY).is_dir() else path


def write(vectors: Vectors, path: Path, *, language: str = "xx") -> None:
    """Write all vectors, in their order, as a pipeline of a language; xx is that of many.

    Raises:
        FormatError: a word is empty or no valid Unicode, or a vector holds a NaN.
        SettingError: `language` is no code such as en.
    """
    if not LANGUAGE.fullmatch(language):
        raise SettingError(f"language must be a code such as en, or xx, not {language!r}")
    check_writable(vectors)
    words = [word.decode() for word in encoded_words(vectors, refused=NONE, form="spacy")]
    place = path / VOCABULARY
    place.mkdir()
    put(place / STRINGS, words)
    put(place / MODE, {"mode": "default", "attr": LOWER if all_lower(words) else ORTH})
    write_rows(words, place / ROWS)
    with (place / DATA).open("wb") as stream:
        write_npy(np.ascontiguousarray(vectors.matrix, "<f4"), stream)
    put(path / "meta.json", meta(vectors, language))
    (path / "config.cfg").write_text(CONFIG.format(language=language), encoding="utf-8")
    write_tokenizer(words, path / "tokenizer")


def meta(vectors: Vectors, language: str) -> dict[str, Any]:
    """What spaCy wants to know of a pipeline."""
    size = {"width": vectors.dim, "vectors": len(vectors), "keys": len(vectors), "name": "vectors"}
    return {
        "lang": language,
        "name": "vectors",
        "version": "0.0.0",
        "spacy_version": ">=3.2.0,<4.0.0",
        "vectors": size,
        "pipeline": [],
    }


def put(path: Path, value: Any) -> None:
    """Write JSON."""
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def write_tokenizer(words: list[str], path: Path) -> None:
    """Write the rules by which text is cut."""
    import msgpack

    found = f"[{punctuation()}]" if only_words(words) else None
    rules: dict[str, Any] = {
        "prefix_search": found and f"^{found}",
        "suffix_search": found and f"{found}$",
        "infix_finditer": found,
        "token_match": None,
        "url_match": None,
        "exceptions": {},
    }
    path.write_bytes(msgpack.packb(rules))


def punctuation() -> str:
    """All punctuation and symbols (Unicode general categories P and S) but the underscore, for a pattern's brackets."""

    def apart(code: int) -> bool:
        return category(chr(code))[0] in "PS" and code != ord("_")

    runs = [list(run) for inside, run in groupby(range(sys.maxunicode + 1), apart) if inside]
    return "".join(f"{re.escape(chr(run[0]))}-{re.escape(chr(run[-1]))}" for run in runs)


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of all strings that have one, in the order of their rows; mapped read-only if each has its own.

    Raises:
        FormatError: a file is missing or broken, or they do not fit together; vectors in spaCy's floret mode; a NaN or
            an infinity.
    """
    check_policy(errors)
    place = vocabulary_of(path)
    check_mode(place / MODE)
    matrix, table = read_matrix(place / DATA), read_rows(place / ROWS)
    words = strings(place / STRINGS, errors)
    words += unlisted(words, table)
    rows = rows_of(words, table)
    known = [number for number, row in enumerate(rows) if row != -1]
    wrong = next((number for number in known if not 0 <= rows[number] < len(matrix)), None)
    if wrong is not None:
        raise FormatError(f"{place / ROWS}: {words[wrong]!r:.80} has the row {rows[wrong]} of {len(matrix)}")
    if table and not known:
        raise FormatError(f"{place / ROWS} and {STRINGS} do not fit: no string has a vector")
    order = sorted(known, key=rows.__getitem__)
    return checked(place, [words[number] for number in order], taken(place, matrix, [rows[number] for number in order]))


def taken(path: Path, matrix: np.ndarray, rows: list[int]) -> np.ndarray:
    """Rows of a matrix; the matrix itself if they are just its own.

    Raises:
        FormatError: so many words share rows that they take a hundred times the memory of the files.
    """
    if rows == list(range(len(matrix))):
        return matrix
    size, needed = sum((path / name).stat().st_size for name in (DATA, ROWS, STRINGS)), len(rows) * matrix.shape[1] * 4
    if needed > max(ALWAYS, EXPANDS * size):
        raise FormatError(f"{path} is broken: {size} bytes say that they expand to {needed}")
    return matrix[np.array(rows, dtype=np.int64)]


def check_mode(path: Path) -> None:
    """Refuse vectors that spaCy composes of n-grams.

    Raises:
        FormatError: they are of such a kind, or the file is broken.
    """
    mode = parsed(path, "strict") if path.is_file() else {}
    if not isinstance(mode, dict) or mode.get("mode", "default") != "default":
        found = mode.get("mode") if isinstance(mode, dict) else mode
        raise FormatError(f"{path}: vectors of the mode {found!r:.80} are not read, only default ones")


def strings(path: Path, errors: str) -> list[str]:
    """The strings of a list in JSON.

    Raises:
        FormatError: it is something else, or one is no valid Unicode.
    """
    found = parsed(path, errors)
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise FormatError(f"{path} is broken: it must list strings")
    check_unicode(path, found)
    return list(dict.fromkeys(found))


def describe(path: Path) -> dict[str, Any]:
    """What the header of the matrix says."""
    data = vocabulary_of(path) / DATA
    with opened(data) as stream:
        shape, _, dtype = read_header(data, stream)
    return {"words": None, "rows": shape[0], "dim": shape[1], "dtype": str(dtype)}
