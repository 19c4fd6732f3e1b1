"""Spelling suggestions for unknown words.

Words are compared by keys without case and accents. A key within k edits of the word's key contains one of any k + 1
parts of it unchanged, so that few of a million keys are compared by edit distance.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.support.arrow import combine_chunks, pa, pc, to_string_array
from embeddings.support.word_list import WordList

MAX_COMPARED = 20_000  # most frequent words that contain a part of the word
MAX_EDITS, MAX_EDIT_SHARE = 2, 0.4  # of the longer word
MAX_LENGTH = 100  # longer words get no suggestions
# of Latin, Greek and Cyrillic, Hebrew, and Arabic; the marks of other scripts are letters
ACCENTS = "[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u06d6-\u06ed]"


def close_matches(word: object, words: WordList, number: int = 3) -> list[str]:
    """Return up to `number` words that are spelled like `word`, best first.

    The best are those that differ in case or accents only. Then come those within two edits (a character inserted,
    deleted or replaced, or two neighbours exchanged), if these are at most 40 % of the longer word. Among equals, the
    more frequent comes first.
    """
    if not isinstance(word, str) or not 0 < len(word) <= MAX_LENGTH:
        return []
    keys, key = spelling_keys(words.words if words.column is None else words.column), spelling_keys([word])[0].as_py()
    matches: list[str] = []
    for edits in range(1, MAX_EDITS + 1):  # two edits only if one gives too few words
        rows = candidates(keys, key, min(edits, max(len(key) - 1, 0)))
        texts = keys.take(rows).to_pylist()
        distances = edit_distances(key, texts)
        longest = np.maximum([len(text) for text in texts], len(key))
        order = np.lexsort((rows, distances))
        best = rows[order[distances[order] <= np.minimum(edits, MAX_EDIT_SHARE * longest[order])]]
        matches = [match for row in best[: number + 1].tolist() if (match := words.words[row]) != word][:number]
        if len(matches) == number:
            break
    return matches


def spelling_keys(words: Any) -> Any:
    """Return words without case and accents, as an Arrow array."""
    try:
        column = to_string_array(words)
    except UnicodeEncodeError:  # a lone surrogate
        column = to_string_array([word.encode("utf-8", "replace").decode() for word in words])
    column = combine_chunks(column)
    keys = pc.utf8_lower(column)
    is_foreign = pc.invert(pc.string_is_ascii(keys))
    if not pc.any(is_foreign).as_py():
        return keys
    plain = pc.replace_substring_regex(pc.utf8_normalize(keys.filter(is_foreign), "NFKD"), ACCENTS, "")
    return combine_chunks(pc.replace_with_mask(keys, is_foreign, plain.cast(pa.large_string())))


def candidates(keys: Any, key: str, edits: int) -> NDArray[np.int64]:
    """Return the rows of the first keys that may be within some edits of `key`: of a similar length, with its parts."""
    lengths = pc.utf8_length(keys)
    is_similar = pc.and_(pc.greater_equal(lengths, len(key) - edits), pc.less_equal(lengths, len(key) + edits))
    rows = np.flatnonzero(is_similar.to_numpy(zero_copy_only=False))
    similar = keys.filter(is_similar)
    # k edits change at most k of k + 1 parts
    borders = [len(key) * part // (edits + 1) for part in range(edits + 2)]
    contains_part = np.zeros(len(rows), bool)
    for start, stop in pairwise(borders):
        contains_part |= pc.match_substring(similar, key[start:stop]).to_numpy(zero_copy_only=False)
    return rows[contains_part][:MAX_COMPARED]


def edit_distances(word: str, others: list[str]) -> NDArray[np.int64]:
    """Return the number of edits from a word to each of others (n,): optimal string alignment distance."""
    lengths = np.array([len(other) for other in others], np.int64)
    width = max(1, int(lengths.max(initial=0)))
    points = np.array(others, f"U{width}").view(np.uint32).reshape(len(others), width)
    older = rows = np.broadcast_to(np.arange(width + 1), (len(others), width + 1))
    for i, character in enumerate(word, 1):
        oldest, older = older, rows
        rows = np.empty_like(older)
        rows[:, 0] = i
        differs = points != ord(character)
        for j in range(1, width + 1):
            cells = np.minimum(older[:, j], rows[:, j - 1]) + 1
            cells = np.minimum(cells, older[:, j - 1] + differs[:, j - 1])
            if i > 1 and j > 1:
                is_exchange = (points[:, j - 1] == ord(word[i - 2])) & ~differs[:, j - 2]
                cells = np.where(is_exchange, np.minimum(cells, oldest[:, j - 2] + 1), cells)
            rows[:, j] = cells
    return np.take_along_axis(rows, lengths[:, None], axis=1)[:, 0].astype(np.int64)
