"""Words of similarity sets that are hidden in a text, for studies of unseen words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import embeddings as em
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.eval.tasks.word_similarity import WordPairs, correlation
from embeddings.support.cosine import normalize

MAX_CONTEXTS = 32  # a word that is hidden occurs at least as often
MIN_PAIRS = 10  # of a set that is scored
LINES = 10_000  # that are written at a time
HIDDEN, RARE, KNOWN = "hidden", "rare", "known"  # groups of pairs
Substitute = Callable[[list[str]], np.ndarray]  # a function from words to rows


@dataclass(frozen=True)
class RatedPair:
    """Two words, of which some may be without a vector, and their rating."""

    words: tuple[str, str]
    rating: float


@dataclass(frozen=True)
class HiddenWords:
    """A corpus and the words that are hidden in it.

    rare: words of the sets with fewer occurrences than get a vector. pairs: of each set, the pairs with a hidden word,
    with one rare word, and with neither; all other words have a vector. Pairs of two rare words are left out: how near
    two substitutes are to each other depends on their kind, which would hide how well they fit.
    """

    encoded: EncodedCorpus
    hidden: list[str]
    rare: list[str]
    pairs: dict[tuple[str, str], list[RatedPair]]

    @classmethod
    def draw(
        cls,
        encoded: EncodedCorpus,
        sets: Sequence[WordPairs],
        share: float,
        min_count: int,
        random: np.random.Generator,
    ) -> "HiddenWords":
        """Draw a share of the words of the sets that occur often enough."""
        ids, counts = encoded.vocabulary.ids, encoded.vocabulary.counts
        words = sorted({word.lower() for one in sets for pair in one.pairs for word in pair} & set(ids))
        frequent = [word for word in words if counts[ids[word]] >= MAX_CONTEXTS]
        hidden = set(random.choice(frequent, int(share * len(frequent)), replace=False).tolist())
        rare = {word for word in words if counts[ids[word]] < min_count}
        pairs: dict[tuple[str, str], list[RatedPair]] = {}
        for one in sets:
            for (a, b), rating in zip(one.pairs, one.ratings, strict=True):
                pair = {a.lower(), b.lower()}
                group = HIDDEN if pair & hidden else RARE if pair & rare else KNOWN
                if pair <= set(words) and len(pair & rare) <= (group == RARE):
                    pairs.setdefault((group, one.name), []).append(RatedPair((a.lower(), b.lower()), rating))
        return cls(encoded, sorted(hidden), sorted(rare), pairs)

    def write_rest(self, path: Path) -> None:
        """Write the text without the hidden words, a sentence on each line."""
        words: list[str | None] = [*self.encoded.vocabulary.words, None]
        for word in self.hidden:
            words[self.encoded.vocabulary.ids[word]] = None
        sentences = self.encoded.sentences
        with path.open("w", encoding="utf-8") as stream:
            for begin in range(0, len(sentences) - 1, LINES):
                borders = (sentences[begin : begin + LINES + 1] - sentences[begin]).tolist()
                ids = self.encoded.ids[sentences[begin] : sentences[begin] + borders[-1]].tolist()
                for start, stop in pairwise(borders):
                    line = (words[one] for one in ids[start:stop])
                    stream.write(" ".join(word for word in line if word is not None) + "\n")

    def occurrences(self, words: Sequence[str], random: np.random.Generator) -> list[NDArray[np.int64]]:
        """The positions of each word in a random order."""
        slots = np.full(len(self.encoded.vocabulary) + 1, -1)
        slots[[self.encoded.vocabulary.ids[word] for word in words]] = np.arange(len(words))
        found = slots[self.encoded.ids]
        places = np.flatnonzero(found >= 0)
        return [random.permutation(places[found[places] == slot]) for slot in range(len(words))]

    def scores(self, group: str, vectors: em.Vectors, substitute: Substitute) -> Iterator[tuple[str, int, float]]:
        """The name, the number of pairs and Spearman's correlation of each set with enough pairs in a group."""
        unseen = {HIDDEN: self.hidden, RARE: self.rare, KNOWN: []}[group]
        rows = dict(zip(unseen, substitute(unseen), strict=True)) if unseen else {}
        for (name_of_group, name), pairs in self.pairs.items():
            if name_of_group != group or len(pairs) < MIN_PAIRS:
                continue
            first, second = (
                normalize(np.stack([rows[word] if word in rows else vectors[word] for word in words]))
                for words in zip(*(pair.words for pair in pairs), strict=True)
            )
            value, _ = correlation((first * second).sum(axis=1), np.array([pair.rating for pair in pairs]))
            yield name, len(pairs), value or 0.0
