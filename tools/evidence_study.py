"""Measures how often the 95 % intervals of `embeddings stability` contain what they promise.

python tools/evidence_study.py run WORK --corpus TEXT [--documents N] [--repetitions N] [--draws N] [--resamples N]
    [--seeds N] [--halves N] [--epochs N] [--dim N] [--begin N]
python tools/evidence_study.py table WORK RESULTS

`run` treats the documents of TEXT as a population. Each repetition draws a corpus of N documents from it, trains a
model, and trains it again on resamples of this corpus and with other seeds, as `embeddings stability` does. Further
draws, one training each, show which value corpora of this size give on average. Repetitions and draws that are in the
folder WORK are skipped. `table` compares the intervals with these values, and writes coverage.tsv and results.md to the
folder RESULTS. Run it once for each population, with a folder WORK/NAME of its own.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from coverage_table import write_tables
from numpy.typing import NDArray
from scipy.stats import spearmanr

import embeddings as em
from embeddings.analysis.replicates import sources, unit_rows
from embeddings.corpora.corpus_cache.tempdir import corpora_folder, new_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.resampling import write_selection
from embeddings.eval.datasets.analogy_questions import read_questions
from embeddings.eval.datasets.word_pairs import read_word_pairs
from embeddings.training.training_data import prepare
from embeddings.vectors.vectors import Vectors

Matrix = NDArray[np.float32]
MIN_COUNT = 5  # expected in a corpus of a repetition
BANDS = (5, 20, 100, 1000)  # expected counts at which bands of words begin
WORDS_PER_BAND, POSITIONS = 30, (1, 2, 5, 10, 30, 100, 1000)  # of neighbours in a model of the whole population
OWN_NEIGHBOURS, QUESTIONS = 10, 200
SETS = {"analogy": "google-analogies", "similarity": "wordsim353"}


class Targets(NamedTuple):
    """What is measured in every training, by rows of the vocabulary.

    words: (words,). pairs: (pairs, 2). questions: (questions, 4). rated: (rated pairs, 2), ratings: (rated pairs,).
    counts: (vocabulary,) expected in a corpus.
    """

    words: NDArray[np.int64]
    pairs: NDArray[np.int64]
    questions: NDArray[np.int64]
    rated: NDArray[np.int64]
    ratings: NDArray[np.float64]
    counts: NDArray[np.float64]


class Study:
    """A population of documents, and the trainings on corpora that are drawn from it."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self.folder, self.options = folder, options
        self.population = em.Corpus(options.corpus).encode()
        self.share = options.documents / (len(self.population.documents) - 1)
        min_count = round(MIN_COUNT / self.share)
        self.trainer = em.SkipGram(dim=options.dim, epochs=options.epochs, min_count=min_count)
        reference = self.train(self.population, 0)
        self.vocabulary = reference
        self.targets = find_targets(reference, self.population.select(min_count=min_count).counts * self.share)

    def train(self, encoded: EncodedCorpus, seed: int) -> Vectors:
        """Vectors that are trained on a corpus, on one thread."""
        return self.trainer.learn(prepare(self.trainer, encoded, threads=1, seed=seed)).vectors

    def draw(self, *seed: int) -> EncodedCorpus:
        """A corpus of documents that are drawn from the population with replacement."""
        borders = np.asarray(self.population.documents)
        chosen = np.random.default_rng(seed).integers(len(borders) - 1, size=self.options.documents)
        with new_folder(corpora_folder()) as folder:
            return write_selection(self.population, borders, np.sort(chosen), folder)

    def rows(self, encoded: EncodedCorpus, seed: int) -> Matrix:
        """Vectors of length 1 of a training, as replicates keep them; zeros for words that do not occur."""
        rows = unit_rows(self.train(encoded, seed), self.vocabulary).astype(np.float32)
        rows[np.bincount(encoded.ids, minlength=len(rows))[: len(rows)] == 0] = 0
        return rows

    def run(self) -> None:
        """Do what the folder does not hold yet."""
        for number in range(self.options.draws):
            self.once(f"draw-{number:03}.npz", lambda number=number: self.measure_draw(number))
        for number in range(self.options.begin, self.options.begin + self.options.repetitions):
            self.once(f"repetition-{number:03}.npz", lambda number=number: self.measure_repetition(number))

    def once(self, name: str, measure: Any) -> None:
        """Write the arrays of a measurement to a file, unless it exists."""
        path = self.folder / name
        if not path.exists():
            partial = path.with_suffix(".partial")
            with partial.open("wb") as file:
                np.savez_compressed(file, **measure())
            partial.replace(path)
            sys.stderr.write(f"{path}\n")

    def measure_draw(self, number: int) -> dict[str, Any]:
        """The vectors of one training on a corpus of its own."""
        with self.draw(1, number) as corpus:
            return {"matrix": self.rows(corpus, 10_000 + number).astype(np.float16)}

    def measure_repetition(self, number: int) -> dict[str, Any]:
        """Measurements of a model, its resamples and its other seeds."""
        options, seed = self.options, 1000 * (number + 100)
        with self.draw(2, number) as corpus:
            model = self.rows(corpus, seed - 1)
            own = own_neighbours(model, self.targets.words)
            values = [measure(model, self.targets, own)]
            for i, source in enumerate(sources(corpus, "documents", options.resamples, options.seeds, seed)):
                values.append(measure(self.rows(source, seed + i), self.targets, own))
                if source is not corpus:
                    source.close()
            for i in range(options.halves):
                with self.half(corpus, seed, i) as source:
                    values.append(measure(self.rows(source, seed + 500 + i), self.targets, own))
        arrays = {name: np.stack([one[name] for one in values]) for name in values[0]}
        sizes = {"resamples": options.resamples, "seeds": options.seeds}
        return {**arrays, "own": own, **sizes, **self.targets._asdict()}

    def half(self, corpus: EncodedCorpus, *seed: int) -> EncodedCorpus:
        """Half of the documents, drawn without replacement."""
        borders = np.asarray(corpus.documents)
        chosen = np.random.default_rng(seed).permutation(len(borders) - 1)[: (len(borders) - 1) // 2]
        with new_folder(corpora_folder()) as folder:
            return write_selection(corpus, borders, np.sort(chosen), folder)


def find_targets(reference: Vectors, counts: NDArray[np.float64]) -> Targets:
    """Choose words of each frequency, neighbours of theirs at several positions, and items of test sets."""
    random, rows = np.random.default_rng(0), reference.normalize().matrix
    bands = np.digitize(counts, BANDS)
    members = [random.permutation(np.flatnonzero(bands == band)) for band in range(1, len(BANDS) + 1)]
    words = np.concatenate([one[:WORDS_PER_BAND] for one in members])
    order = np.argsort(-(rows[words] @ rows.T), axis=1)
    positions = [position for position in POSITIONS if position < order.shape[1]]
    pairs = np.stack([np.repeat(words, len(positions)), order[:, positions].ravel()], axis=1)
    test = read_questions(SETS["analogy"])
    questions = known_rows(reference, [(*q, a[0]) for q, a in zip(test.questions, test.answers, strict=True)])[0]
    rated = read_word_pairs(SETS["similarity"])
    rated_rows, is_known = known_rows(reference, rated.pairs)
    chosen = random.permutation(questions)[:QUESTIONS]
    return Targets(words, pairs, chosen, rated_rows, np.array(rated.ratings)[is_known], counts)


def known_rows(vectors: Vectors, items: Sequence[Sequence[str]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The rows (known items, words) of the items whose words all have vectors, and which ones these are."""
    found = ((vectors.find(word.lower()) for word in item) for item in items)
    rows = np.array([[-1 if row is None else row for row in item] for item in found])
    is_known = (rows >= 0).all(axis=1)
    return rows[is_known], is_known


def own_neighbours(matrix: Matrix, words: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pairs (words x neighbours, 2) of words and their nearest neighbours."""
    cosines = matrix[words] @ matrix.T
    cosines[np.arange(len(words)), words] = -np.inf
    nearest = np.argsort(-cosines, axis=1)[:, :OWN_NEIGHBOURS]
    return np.stack([np.repeat(words, OWN_NEIGHBOURS), nearest.ravel()], axis=1)


def measure(matrix: Matrix, targets: Targets, own: NDArray[np.int64]) -> dict[str, Any]:
    """The cosines and ranks of pairs, the scores and ranks of answers, and the correlation with ratings."""
    a, b, c, answers = targets.questions.T
    query = matrix[b] - matrix[a] + matrix[c]
    query /= np.maximum(np.linalg.norm(query, axis=1, keepdims=True), 1e-12)
    rated = np.einsum("ij,ij->i", *matrix[targets.rated.T])
    values = [
        cosines_and_ranks(matrix, matrix[pairs[:, 0]], pairs[:, 1], pairs[:, :1]) for pairs in (targets.pairs, own)
    ]
    values.append(cosines_and_ranks(matrix, query, answers, targets.questions[:, :3]))
    names = ("pair", "own", "answer")
    result = {f"{name}_cosines": one[0] for name, one in zip(names, values, strict=True)}
    result |= {f"{name}_ranks": one[1] for name, one in zip(names, values, strict=True)}
    return {**result, "spearman": np.array([spearmanr(rated, targets.ratings).statistic])}


def cosines_and_ranks(
    matrix: Matrix, queries: Matrix, rows: NDArray[np.int64], excluded: NDArray[np.int64]
) -> tuple[Matrix, NDArray[np.int64]]:
    """The cosine of each query with a row, and the rank of this row among all but the excluded ones."""
    cosines, ranks = np.empty(len(rows), np.float32), np.empty(len(rows), np.int64)
    for begin in range(0, len(rows), 200):
        part = slice(begin, begin + 200)
        scores = queries[part] @ matrix.T
        cosines[part] = found = scores[np.arange(len(scores)), rows[part]]
        scores[np.arange(len(scores))[:, None], excluded[part]] = -np.inf
        ranks[part] = 1 + (scores > found[:, None]).sum(axis=1)
    return cosines, ranks


def main(arguments: Sequence[str]) -> None:
    """Run the study, or write its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("work", type=Path)
    parser.add_argument("results", type=Path, nargs="?")
    parser.add_argument("--corpus", help="a text; it may be compressed")
    for name, number in {
        "documents": 566, "repetitions": 20, "draws": 40, "resamples": 20, "seeds": 5, "halves": 0, "epochs": 5,
        "dim": 50, "begin": 0,
    }.items():  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=number)
    options = parser.parse_args(arguments)
    if options.command == "table":
        write_tables(options.work, options.results)
        return
    options.work.mkdir(parents=True, exist_ok=True)
    Study(options.work, options).run()


if __name__ == "__main__":
    main(sys.argv[1:])
