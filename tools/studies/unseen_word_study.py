"""Substitutes for words without a vector: on rare words, and on words that are hidden on purpose."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.eval.tasks.word_similarity import WordPairs, correlation, read_word_pairs
from embeddings.indexes.index import parse_spec
from embeddings.support.cosine import normalize
from embeddings.support.suggestions import close_matches
from studies.grid import Grid, Rows, collect, mean_and_spread, pivot

MAX_CONTEXTS = 32  # a word that is hidden occurs at least as often
MIN_PAIRS = 10  # of a set that is scored
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
Row = tuple[str, str, str, str, int, str]  # method, contexts, group, set, pairs, correlation


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
        words = np.array([*self.encoded.vocabulary.words, ""], object)
        words[[self.encoded.vocabulary.ids[word] for word in self.hidden]] = ""
        with path.open("w", encoding="utf-8") as stream:
            for start, stop in pairwise(self.encoded.sentences.tolist()):
                stream.write(" ".join(filter(None, words[self.encoded.ids[start:stop]])) + "\n")

    def occurrences(self, words: Sequence[str], random: np.random.Generator) -> list[np.ndarray]:
        """The positions of each word in a random order."""
        ids, text = self.encoded.vocabulary.ids, np.asarray(self.encoded.ids)
        return [random.permutation(np.flatnonzero(text == ids[word])) for word in words]

    def scores(
        self, method: str, group: str, vectors: em.Vectors, substitute: Substitute, contexts: str = EVERY
    ) -> Iterator[Row]:
        """Spearman's correlation of each set with enough pairs in a group."""
        unseen = {HIDDEN: self.hidden, RARE: self.rare, KNOWN: []}[group]
        rows = dict(zip(unseen, substitute(unseen), strict=True)) if unseen else {}
        for (name_of_group, name), pairs in self.pairs.items():
            if name_of_group == group and len(pairs) >= MIN_PAIRS:
                *sides, ratings = zip(*pairs, strict=True)
                first, second = (
                    normalize(np.stack([rows[word] if word in rows else vectors[word] for word in words]))
                    for words in sides
                )
                value, _ = correlation((first * second).sum(axis=1), np.array(ratings))
                yield method, contexts, group, name, len(pairs), f"{value or 0.0:.4f}"


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

    def measure(self, corpus: str, seed: int) -> Iterator[Row]:
        """Hide words of a corpus, train models on the rest, and score all substitutes."""
        options, file, random = self.options, self.options.corpus[corpus], np.random.default_rng(seed)
        _, settings = parse_spec(f"skipgram:{options.common}", group="trainer")
        sets, min_count = [read_word_pairs(one) for one in options.similarity], settings.setdefault("min_count", 5)
        words = HiddenWords.draw(em.Corpus(file).encode(), sets, options.share, min_count, random)
        words.write_rest(self.folder / "rest.txt")
        rest = em.Corpus(self.folder / "rest.txt", tokenizer="whitespace", case="keep")

        def train(trainer: str = "skipgram", corpus: em.Corpus = rest, **others: int) -> em.Vectors:
            return em.train(trainer, corpus, seed=seed, **settings, **others).vectors

        full, plain = train(corpus=em.Corpus(file)), train()
        unknown = {UNK: train(unknown_rows=1), ROWS: train(unknown_rows=options.rows)}
        ngrams = train("fasttext")
        for method, vectors in {PLAIN: plain, **unknown, NGRAMS: ngrams}.items():
            yield from words.scores(method, KNOWN, vectors, plain.compose_words)
        yield from words.scores(FULL, HIDDEN, full, lambda hidden: full[hidden])
        for group in (HIDDEN, RARE):
            for method, vectors in unknown.items():
                yield from words.scores(method, group, vectors, vectors.learned_unknown)
            yield from words.scores(NGRAMS, group, ngrams, ngrams.compose_words)
            yield from words.scores(SPELLING, group, plain, spelling_of(plain))
        occurrences = words.occurrences(words.hidden, random)
        for method, (weights, ridge) in INDUCTION.items():
            reading: dict[str, Any] = {"window": settings.get("window", 5), "context_weights": weights}
            if ridge is None:
                inducer = em.analysis.ContextInducer(plain, words.encoded, **reading)
            else:
                context_map = em.analysis.fit_context_map(plain, words.encoded, **reading, ridge=ridge)
                inducer = em.analysis.ContextInducer(plain, words.encoded, context_map)
            yield from words.scores(method, RARE, plain, inducer)
            for number in CONTEXTS:
                places = np.concatenate([one[:number] for one in occurrences])
                slots = np.repeat(
                    np.arange(len(occurrences), dtype=np.int32), [len(one[:number]) for one in occurrences]
                )
                order = np.argsort(places)
                found = inducer.reader.means(len(occurrences), [(places[order], slots[order], 1)])
                rows = inducer.context_map.apply(found.means)
                yield from words.scores(method, HIDDEN, plain, lambda hidden, rows=rows: rows, str(number))

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


def spelling_of(vectors: em.Vectors) -> Substitute:
    """The vector of the word with the most similar spelling; without one, the mean of rare words."""

    def substitute(words: list[str]) -> np.ndarray:
        rows = em.lookup(vectors, words, "unknown")
        for row, word in enumerate(words):
            if matches := close_matches(word, vectors.word_list, 1):
                rows[row] = vectors[matches[0]]
        return rows

    return substitute


def number_of_pairs(rows: Rows) -> str:
    """The numbers of pairs of each set, means over the seeds."""
    numbers: dict[str, dict[str, int]] = {}
    for row in rows:
        numbers.setdefault(row["set"], {})[row["seed"]] = int(row["pairs"])
    seeds = len({row["seed"] for row in rows})
    pairs = ", ".join(f"{fmean(by_seed.values()):.0f} of {name}" for name, by_seed in numbers.items())
    return f"{seeds} seed{'s' * (seeds > 1)}; pairs: {pairs}"


def method_table(rows: Rows, axis: str, heads: dict[str, str]) -> str:
    """A table with a line for each method and a column for each number of contexts or set; best methods first."""
    named = [{**row, "measure": heads[row[axis]], "value": str(100 * float(row["spearman"]))} for row in rows]
    means: Rows = [  # of each seed over the sets
        {"substitute": method, "measure": head, "value": str(fmean(values))}
        for (method, _), measures in collect(named, "method", "seed").items()
        for head, values in measures.items()
    ]
    best = {method: max(map(fmean, one.values())) for (method,), one in collect(means, "substitute").items()}
    means.sort(key=lambda row: -best[row["substitute"]])
    return pivot(means, ("substitute",), dict.fromkeys(heads.values(), (mean_and_spread, "")))
