"""Texts that are near those of a test set, which a teacher's texts must not contain."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from embeddings.corpora.reading.sources import resolve_source
from embeddings.corpora.reading.tables import open_table

WORD = re.compile(r"\w+")
MAX_SHARE = 0.1  # of the texts that a content word may occur in
MIN_JACCARD = 0.5


class NearTexts:
    """Whether a text has at least half of the content words of one of the given texts: `text in near_texts`.

    The Jaccard index of their sets of content words is 0.5 or more. Words of more than a tenth of the given texts are
    not content words.

    >>> "a dog runs fast" in NearTexts(["the dog runs", "the cat sat"] + ["the other text"] * 20)
    True
    """

    def __init__(self, texts: Iterable[str]) -> None:
        sets = {frozenset(WORD.findall(text.lower())) for text in texts}
        counts = Counter(word for words in sets for word in words)
        self.frequent = {word for word, count in counts.items() if count > max(1, MAX_SHARE * len(sets))}
        self.sizes: list[int] = []
        self.sets_with: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate({words - self.frequent for words in sets}):
            self.sizes.append(len(words))
            for word in words:
                self.sets_with[word].append(number)

    def __contains__(self, text: Any) -> bool:
        words = set(WORD.findall(text.lower())) - self.frequent
        shared = Counter(number for word in words for number in self.sets_with.get(word, ()))
        limits = (len(words) + self.sizes[number] - count for number, count in shared.items())
        return any(count >= MIN_JACCARD * limit for limit, count in zip(limits, shared.values(), strict=True))


def texts_of(path: str) -> Iterator[str]:
    """Yield the texts of all columns of strings of a table, or of the lines of a text file."""
    for source in resolve_source(path):
        with open_table(source) as table:
            for columns in table.batches(table.texts):
                yield from (cell for column in columns for cell in column if isinstance(cell, str))
