"""Words with several spellings in the text, such as composed and decomposed accents, become one word.

Characters are normalised once for each distinct word, not for each occurrence.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.word_rules import WordRules
from embeddings.support.arrow_arrays import to_numpy

CHUNK = 1 << 16  # words that are normalised at a time


def merge_spellings(
    words: Any, counts: NDArray[np.int64], rules: WordRules
) -> tuple[Any, NDArray[np.int64], NDArray[np.int32] | None]:
    """Return normalised words with added counts, and the new row of each old word; None if no word changes.

    words: a pyarrow array of strings (words,). counts: (words,).
    """
    import pyarrow
    import pyarrow.compute

    is_ascii = pyarrow.compute.string_is_ascii(words)
    rows = to_numpy(pyarrow.compute.indices_nonzero(pyarrow.compute.invert(is_ascii)))
    changed_rows: list[int] = []
    changed_words: list[str] = []
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        old = words.take(pyarrow.array(chunk)).to_pylist()
        if len(rows) >= CHUNK:  # else the table takes longer than it saves
            selected = np.flatnonzero(may_change(old, rules.may_change)).tolist()
            chunk, old = chunk[selected], [old[i] for i in selected]
        new = rules.normalize_all(old)
        changes = [(row, word) for row, word, before in zip(chunk.tolist(), new, old, strict=True) if word != before]
        changed_rows += [row for row, _ in changes]
        changed_words += [word for _, word in changes]
    if not changed_rows:
        return words, counts, None
    is_changed = np.zeros(len(words), np.bool_)
    is_changed[changed_rows] = True
    replacements = pyarrow.array(changed_words, words.type)
    spellings = pyarrow.compute.replace_with_mask(words, pyarrow.array(is_changed), replacements).dictionary_encode()
    merged_rows = to_numpy(spellings.indices)
    merged_counts = np.zeros(len(spellings.dictionary), np.int64)
    np.add.at(merged_counts, merged_rows, counts)
    return spellings.dictionary, merged_counts, merged_rows


def may_change(words: list[str], table: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether each word has a character that may change (words,)."""
    points = np.frombuffer("\n".join([*words, ""]).encode("utf-32-le"), np.uint32)
    flags = table[np.minimum(points, len(table) - 1)] | (points >= len(table))
    ends = np.cumsum(np.fromiter(map(len, words), np.int64, len(words)) + 1)
    return np.add.reduceat(flags, np.append(0, ends[:-1]), dtype=np.int64) > 0
