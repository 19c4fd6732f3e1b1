"""How often the 95 % intervals of `embeddings stability` contain what they promise."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from statistics import fmean, stdev
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from embeddings.analysis.confidence import (
    confident_difference,
    confident_neighbours,
    confident_similarity,
    cosines_and_ranks,
)
from embeddings.analysis.stability_runs import StabilityRuns, train_again, unit_rows
from embeddings.corpora.corpus_cache import corpora_folder, new_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.resampling import write_selection
from embeddings.training.training_data import prepare
from studies.grid import Grid, Rows, markdown

MIN_COUNT = 5  # expected in a corpus of a repetition
BANDS = (5, 20, 100, 1000)  # expected counts at which bands of words begin
BAND_NAMES = (*(f"{low:,} to {high:,}" for low, high in pairwise(BANDS)), f"over {BANDS[-1]:,}")
WORDS_PER_BAND, POSITIONS = 30, (1, 2, 5, 10, 30, 100, 1000)  # of neighbours in a model of the whole population
OWN_NEIGHBOURS = 10
ALL = "all"  # words
Interval = tuple[float, float, float]  # the low end, the high end, and the value that it should contain


class Coverage(Grid):
    """Measures how often the 95 % intervals of `embeddings stability` contain what they promise.

    The documents of --corpus are a --population with a name. Each repetition draws a corpus of --documents from it,
    trains a model, and trains it again on resamples of this corpus and with other seeds, as `embeddings stability`
    does. Further --draws, one training each, show which value corpora of this size give on average: the mean cosine,
    or the median rank.
    """

    results = "evidence/results"
    keys = ("population", "repetition")
    values = ("quantity", "words", "intervals", "contain", "width")
    defaults: ClassVar = {
        "population": str, "corpus": str, "repetition": [0, 1], "documents": 566, "draws": 40, "resamples": 20,
        "seeds": 5, "epochs": 5, "dim": 50,
    }  # fmt: skip

    def prepare(self) -> None:
        """Train on the whole population and on the draws, and choose words of each frequency."""
        options = self.options
        self.corpus = em.Corpus(options.corpus).encode()
        share = options.documents / (len(self.corpus.documents) - 1)
        min_count = round(MIN_COUNT / share)
        self.trainer = em.SkipGram(dim=options.dim, epochs=options.epochs, min_count=min_count)
        self.whole = self.train(self.corpus, 0)
        self.bands = np.digitize(self.corpus.select(min_count=min_count).counts * share, BANDS)
        random = np.random.default_rng(0)
        members = [random.permutation(np.flatnonzero(self.bands == band + 1)) for band in range(len(BANDS))]
        self.chosen = np.concatenate([one[:WORDS_PER_BAND] for one in members]).tolist()
        self.draws = []
        for number in range(options.draws):
            with self.draw(1, number) as corpus:
                self.draws.append(self.rows(corpus, 10_000 + number))

    def train(self, encoded: EncodedCorpus, seed: int) -> em.Vectors:
        """Vectors that are trained on a corpus, on one thread."""
        return self.trainer.learn(prepare(self.trainer, encoded, threads=1, seed=seed)).vectors

    def rows(self, encoded: EncodedCorpus, seed: int) -> np.ndarray:
        """Vectors of length 1 of a training; zeros for words that do not occur."""
        return unit_rows(self.train(encoded, seed), self.whole, encoded)

    def draw(self, *seed: int) -> EncodedCorpus:
        """A corpus of documents that are drawn from the population with replacement."""
        drawn = np.random.default_rng(seed).integers(len(self.corpus.documents) - 1, size=self.options.documents)
        with new_folder(corpora_folder()) as folder:
            return write_selection(self.corpus, np.asarray(self.corpus.documents), np.sort(drawn), folder)

    def measure(self, population: str, repetition: int) -> Iterator[Sequence[Any]]:
        """How many intervals of each quantity there are, the share that contain the value, and their median width."""
        options, seed = self.options, 1000 * (repetition + 100)
        with self.draw(2, repetition) as corpus:
            model = em.Vectors(self.whole.words, self.rows(corpus, seed - 1).astype(np.float32))
            numbers = options.resamples, options.seeds, seed
            again = list(train_again(self.trainer, self.whole, corpus, "documents", *numbers, threads=1))
        parts = again[: options.resamples], again[options.resamples :]
        runs = StabilityRuns(model.fingerprint, *parts, "documents", seed, self.trainer.trainer_name, {})
        found: dict[tuple[str, str], list[Interval]] = defaultdict(list)
        for quantity, words, interval in self.intervals(model, runs):
            for group in dict.fromkeys((ALL, words)):
                found[quantity, group].append(interval)
        for key, intervals in found.items():
            low, high, value = np.array(intervals).T
            widths = high / low if key[0].startswith("rank") else high - low
            contain = float(np.mean((low <= value) & (value <= high)))
            yield *key, len(intervals), round(contain, 4), f"{np.median(widths):.4g}"

    def intervals(self, model: em.Vectors, runs: StabilityRuns) -> Iterator[tuple[str, str, Interval]]:
        """The quantity, the group of words, and the interval of each item."""
        has_row = model.matrix.any(axis=1)
        for row in (row for row in self.chosen if has_row[row]):
            word, band = model.words[row], BAND_NAMES[self.bands[row] - 1]
            near = self.whole.most_similar(word, top=min(POSITIONS[-1] + 1, len(model) - 1))
            names = [near[position][0] for position in POSITIONS if position < len(near)]
            others = [name for name in names if has_row[model.index(name)]]
            own = confident_neighbours(model, runs, word, top=OWN_NEIGHBOURS)
            cosines, ranks = self.expected(row, [*others, *(one.neighbour for one in own)])
            for other, value in zip(others, cosines, strict=False):
                one = confident_similarity(model, runs, word, other)
                yield "cosine", band, (one.low, one.high, value)
            for (first, second), (a, b) in zip(pairwise(others), pairwise(cosines), strict=False):
                difference = confident_difference(model, runs, word, first, second)
                yield "difference", band, (difference.low, difference.high, a - b)
            for neighbour, cosine, rank in zip(own, cosines[len(others) :], ranks[len(others) :], strict=True):
                low, high = neighbour.similarity.low, neighbour.similarity.high
                yield "cosine of the ten nearest neighbours", band, (low, high, cosine)
                interval = neighbour.rank_low, neighbour.rank_high, rank
                yield "rank of the ten nearest neighbours", band, interval

    def expected(self, row: int, others: Sequence[str]) -> tuple[list[float], list[float]]:
        """The mean cosine over the draws of a word with each of others, and the median rank of these."""
        measured = partial(cosines_and_ranks, np.array([self.whole.index(word) for word in others]), {row: 1})
        cosines, ranks = np.stack([measured(draw) for draw in self.draws]).transpose(1, 0, 2)
        return np.nanmean(cosines, axis=0).tolist(), np.nanmedian(ranks, axis=0).tolist()

    def table(self, rows: Rows) -> str:
        """The coverage of each population: the mean over the repetitions with its standard error."""
        groups: dict[tuple[str, ...], Rows] = defaultdict(list)
        for row in rows:
            groups[row["population"], row["quantity"], row["words"]].append(row)
        lines = []
        for key, members in groups.items():
            shares, widths = ([float(row[name]) for row in members] for name in ("contain", "width"))
            error = f" ± {100 * stdev(shares) / len(shares) ** 0.5:.1f}" if len(shares) > 1 else ""
            number = sum(int(row["intervals"]) for row in members)
            lines.append([*key, f"{number:,}", f"{100 * fmean(shares):.1f}{error}", f"{fmean(widths):.3g}"])
        return markdown(["corpus", "quantity", "words", "intervals", "95 % contain", "width"], lines, names=3)
