"""Words with several spellings in the text, such as composed and decomposed accents, become one word.

Characters are normalised once for each distinct word, not for each occurrence.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.word_rules import WordRules
from embeddings.support.arrow_arrays import string_bytes, to_arrow, to_numpy, to_string_array

CHUNK = 1 << 16  # words that are examined at a time
PLANE = 0x10000  # code points of the Basic Multilingual Plane; words with others may always change
UNKNOWN, NEVER, MAYBE = range(3)


def merge_spellings(
    words: Any, counts: NDArray[np.int64], rules: WordRules
) -> tuple[Any, NDArray[np.int64], NDArray[np.int32] | None]:
    """Return normalised words with added counts, and the new row of each old word; None if no word changes.

    words: a pyarrow array of strings (words,). counts: (words,).
    """
    changed_rows: list[int] = []
    changed_words: list[str] = []
    may_change = ChangeTable(rules)
    for start in range(0, len(words), CHUNK):
        rows = np.flatnonzero(may_change(words.slice(start, CHUNK))) + start
        old = words.take(to_arrow(rows)).to_pylist()
        new = rules.normalize_all(old) if old else []
        changes = [(row, word) for row, word, before in zip(rows.tolist(), new, old, strict=True) if word != before]
        changed_rows += [row for row, _ in changes]
        changed_words += [word for _, word in changes]
    if not changed_rows:
        return words, counts, None
    return replace_words(words, counts, np.array(changed_rows), changed_words)


def replace_words(
    words: Any, counts: NDArray[np.int64], rows: NDArray[np.int64], new_words: list[str]
) -> tuple[Any, NDArray[np.int64], NDArray[np.int32]]:
    """Return words of which some are replaced, with added counts, and the new row of each old word.

    rows: of the words to replace, by `new_words`.
    """
    import pyarrow
    import pyarrow.compute

    is_kept = np.ones(len(words), np.bool_)
    is_kept[rows] = False
    numbers = {word: number for number, word in enumerate(dict.fromkeys(new_words))}
    distinct = to_string_array([*numbers])
    kept_words = words.filter(to_arrow(is_kept))
    found = pyarrow.compute.fill_null(pyarrow.compute.index_in(kept_words, value_set=distinct), -1)
    known_rows = np.flatnonzero(to_numpy(found) >= 0)  # new words that are among the others
    targets = np.full(len(distinct), -1, np.int64)
    targets[to_numpy(found)[known_rows]] = known_rows
    added = np.flatnonzero(targets < 0)
    targets[added] = len(kept_words) + np.arange(len(added))
    merged_rows = np.cumsum(is_kept, dtype=np.int32) - np.int32(1)
    merged_rows[rows] = targets[[numbers[word] for word in new_words]]
    merged_counts = np.concatenate([counts[is_kept], np.zeros(len(added), np.int64)])
    np.add.at(merged_counts, merged_rows[rows], counts[rows])
    return pyarrow.concat_arrays([kept_words, distinct.take(to_arrow(added))]), merged_counts, merged_rows


class ChangeTable:
    """Which words may change by rules, from the code points in them; each is tried once."""

    def __init__(self, rules: WordRules) -> None:
        self.rules = rules
        self.table = np.zeros(PLANE + 1, np.uint8)
        self.table[:0x80], self.table[PLANE] = NEVER, MAYBE

    def __call__(self, words: Any) -> NDArray[np.bool_]:
        """Return for each word whether it may change (words,); words of ASCII do not. words: a pyarrow array."""
        text, starts = string_bytes(words)
        points = np.frombuffer(text[: starts[-1]].tobytes().decode().encode("utf-32-le"), np.uint32)
        points = np.minimum(points, PLANE)
        is_present = np.zeros(PLANE + 1, np.bool_)
        is_present[points] = True
        new = np.flatnonzero(is_present & (self.table == UNKNOWN))
        if len(new):
            self.table[new] = np.where(self.rules.may_change(new), MAYBE, NEVER)
        places = np.flatnonzero(self.table[points] == MAYBE)  # code points; their words are found by bytes
        first_bytes = np.flatnonzero(text[: starts[-1]] & 0xC0 != 0x80)
        flags = np.zeros(len(words), np.bool_)
        flags[np.searchsorted(starts, first_bytes[places], "right") - 1] = True
        return flags
