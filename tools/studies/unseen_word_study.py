"""Substitutes for words without a vector: on rare words, and on words that are hidden on purpose."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import embeddings as em
from embeddings.analysis.induced_vectors import ContextMap, ContextReader
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.eval.tasks.word_similarity import WordPairs, correlation, read_word_pairs
from embeddings.indexes.index import parse_spec
from embeddings.support.cosine import normalize
from embeddings.support.suggestions import close_matches
from studies.grid import Grid, Rows, collect, mean_and_spread, pivot

MAX_CONTEXTS = 32  # a word that is hidden occurs at least as often
MIN_PAIRS = 10  # of a set that is scored
LINES = 10_000  # that are written at a time
HIDDEN, RARE, KNOWN = "hidden", "rare", "known"  # groups of pairs
Substitute = Callable[[list[str]], np.ndarray]  # a function from words to rows
CONTEXTS = (1, 2, 4, 8, 16, MAX_CONTEXTS)
EVERY = "all"  # occurrences as contexts; the number of contexts of methods that do not use them
INDUCTION = {  # the weights of contexts and the ridge of the map; None for means
    "mean of contexts": ("equal", None),
    "mean of contexts, SIF weights": ("sif", None),
    "à la carte": ("equal", 0.0),
    "à la carte, SIF weights": ("sif", 0.0),
    "à la carte, ridge 0.01": ("equal", 0.01),
    "à la carte, SIF weights, ridge 0.01": ("sif", 0.01),
}
UNK, ROWS, NGRAMS, SPELLING = "learned `<unk>`", "hashed rows", "n-grams of fastText", "most similar spelling"
PLAIN, FULL = "skipgram", "skipgram on the full text"
GROUPS = {HIDDEN: "Pairs with a hidden word", RARE: "Pairs with one rare word", KNOWN: "Pairs of known words"}
Row = tuple[str, str, str, str, int, float]  # method, contexts, group, set, pairs, correlation


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
    pairs: dict[tuple[str, str], list[tuple[str, str, float]]]

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
        pairs: dict[tuple[str, str], list[tuple[str, str, float]]] = {}
        for one in sets:
            for (a, b), rating in zip(one.pairs, one.ratings, strict=True):
                pair = {a.lower(), b.lower()}
                group = HIDDEN if pair & hidden else RARE if pair & rare else KNOWN
                if pair <= set(words) and len(pair & rare) <= (group == RARE):
                    pairs.setdefault((group, one.name), []).append((a.lower(), b.lower(), rating))
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
            *sides, ratings = zip(*pairs, strict=True)
            first, second = (
                normalize(np.stack([rows[word] if word in rows else vectors[word] for word in words]))
                for words in sides
            )
            value, _ = correlation((first * second).sum(axis=1), np.array(ratings))
            yield name, len(pairs), value or 0.0


class UnseenWords(Grid):
    """Compares substitutes for words without a vector: on rare words, and on words that are hidden on purpose.

    For each corpus, --corpus NAME=FILE..., and seed, a --share of the words of the sets that occur 32 times or more is
    removed from the text, and models are trained on the rest. --common has settings of all models, --rows is the number
    of hashed rows.
    """

    results = "unseen-words/results"
    keys = ("corpus", "seed")
    values = ("method", "contexts", "group", "set", "pairs", "spearman")
    defaults: ClassVar = {
        "corpus": {}, "similarity": [], "seed": [1], "common": "epochs=5", "share": 0.3, "rows": 1000,
    }  # fmt: skip

    def measure(self, corpus: str, seed: int) -> Iterator[Sequence[Any]]:
        """Hide words of a corpus, train models on the rest, and score all substitutes."""
        for *names, value in self.study(self.options.corpus[corpus], seed):
            yield *names, f"{value:.4f}"

    def study(self, file: str, seed: int) -> Iterator[Row]:
        """The scores of all substitutes."""
        options = self.options
        _, settings = parse_spec(f"skipgram:{options.common}", group="trainer")
        random = np.random.default_rng(seed)
        encoded, sets = em.Corpus(file).encode(), [read_word_pairs(one) for one in options.similarity]
        min_count = settings.setdefault("min_count", 5)
        words = HiddenWords.draw(encoded, sets, options.share, min_count, random)
        text = self.folder / f"rest-{seed}.txt"
        words.write_rest(text)
        rest = em.Corpus(text, tokenizer="whitespace", case="keep")

        def train(trainer: str = "skipgram", corpus: em.Corpus = rest, **others: int) -> em.Vectors:
            return em.train(trainer, corpus, seed=seed, **settings, **others).vectors

        full, plain = train(corpus=em.Corpus(file)), train()
        unknown = {UNK: train(unknown_rows=1), ROWS: train(unknown_rows=options.rows)}
        ngrams = train("fasttext")
        for method, vectors in {PLAIN: plain, **unknown, NGRAMS: ngrams}.items():
            yield from scored(method, EVERY, KNOWN, words, vectors, plain.compose_words)
        yield from scored(FULL, EVERY, HIDDEN, words, full, lambda hidden: full[hidden])
        for group in (HIDDEN, RARE):
            for method, vectors in unknown.items():
                yield from scored(method, EVERY, group, words, vectors, vectors.learned_unknown)
            yield from scored(NGRAMS, EVERY, group, words, ngrams, ngrams.compose_words)
            yield from scored(SPELLING, EVERY, group, words, plain, spelling_of(plain))
        yield from induced(words, plain, settings.get("window", 5), random)

    def table(self, rows: Rows) -> str:
        """Correlations of all corpora in percent, means over seeds, ± half the range; hidden: over sets."""
        parts = []
        for corpus, (group, title) in product(dict.fromkeys(row["corpus"] for row in rows), GROUPS.items()):
            part = [row for row in rows if (row["corpus"], row["group"]) == (corpus, group)]
            axis, heads = "set", {row["set"]: row["set"] for row in part}
            if group == HIDDEN:
                axis, heads = "contexts", {str(one): f"{one} context{'s' * (one > 1)}" for one in CONTEXTS}
                heads[EVERY] = "others"
            if part:
                parts.append(f"{title}, {corpus} ({number_of_pairs(part)}):\n\n{method_table(part, axis, heads)}")
        return "\n".join(parts)


def induced(words: HiddenWords, vectors: em.Vectors, window: int, random: np.random.Generator) -> Iterator[Row]:
    """The scores of vectors from contexts: of hidden words by the number of contexts, of rare words from all."""
    occurrences = words.occurrences(words.hidden, random)
    for method, (weights, ridge) in INDUCTION.items():
        settings = {"window": window, "context_weights": weights}
        if ridge is None:
            inducer = em.analysis.ContextInducer(vectors, words.encoded, **settings)
        else:
            context_map = em.analysis.fit_context_map(vectors, words.encoded, **settings, ridge=ridge)
            inducer = em.analysis.ContextInducer(vectors, words.encoded, context_map)
        yield from scored(method, EVERY, RARE, words, vectors, inducer)
        for number in CONTEXTS:
            substitute = sampled(inducer.reader, inducer.context_map, [places[:number] for places in occurrences])
            yield from scored(method, str(number), HIDDEN, words, vectors, substitute)


def sampled(reader: ContextReader, context_map: ContextMap, positions: Sequence[np.ndarray]) -> Substitute:
    """The vectors of words from their occurrences at these positions."""
    slots = np.repeat(np.arange(len(positions), dtype=np.int32), [len(one) for one in positions])
    places = np.concatenate(positions)
    order = np.argsort(places)
    rows = context_map.apply(reader.means(len(positions), [(places[order], slots[order], 1)]).means)
    return lambda words: rows


def spelling_of(vectors: em.Vectors) -> Substitute:
    """The vector of the word with the most similar spelling; without one, the mean of rare words."""

    def substitute(words: list[str]) -> np.ndarray:
        rows = em.lookup(vectors, words, "unknown")
        for row, word in enumerate(words):
            if matches := close_matches(word, vectors.word_list, 1):
                rows[row] = vectors[matches[0]]
        return rows

    return substitute


def scored(
    method: str, contexts: str, group: str, words: HiddenWords, vectors: em.Vectors, substitute: Substitute
) -> Iterator[Row]:
    """The scores of a substitute on each set."""
    for name, pairs, value in words.scores(group, vectors, substitute):
        yield method, contexts, group, name, pairs, value


def number_of_pairs(rows: Rows) -> str:
    """The numbers of pairs of each set, means over the seeds."""
    numbers: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        numbers[row["set"]][row["seed"]] = int(row["pairs"])
    seeds = len({row["seed"] for row in rows})
    pairs = ", ".join(f"{fmean(by_seed.values()):.0f} of {name}" for name, by_seed in numbers.items())
    return f"{seeds} seed{'s' * (seeds > 1)}; pairs: {pairs}"


def method_table(rows: Rows, axis: str, heads: dict[str, str]) -> str:
    """A table with a line for each method and a column for each number of contexts or set; best methods first."""
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        values[row["method"], row[axis], row["seed"]].append(100 * float(row["spearman"]))
    means: Rows = [  # of each seed over the sets
        {"substitute": method, "measure": heads[one], "value": str(fmean(scores))}
        for (method, one, _), scores in values.items()
    ]
    best = {method: max(map(fmean, one.values())) for (method,), one in collect(means, "substitute").items()}
    means.sort(key=lambda row: -best[row["substitute"]])
    return pivot(means, ("substitute",), dict.fromkeys(heads.values(), (mean_and_spread, "")))
