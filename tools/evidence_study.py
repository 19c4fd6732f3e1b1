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
from typing import Any

import numpy as np
from coverage_tables import write_tables
from interval_measures import Matrix, find_targets, measure, own_neighbours

import embeddings as em
from embeddings.analysis.replicates import sources, unit_rows, words_in
from embeddings.corpora.corpus_cache import corpora_folder, new_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.resampling import write_selection
from embeddings.training.training_data import prepare
from embeddings.vectors.vectors import Vectors

MIN_COUNT = 5  # expected in a corpus of a repetition


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
        return unit_rows(self.train(encoded, seed), self.vocabulary, words_in(encoded)).astype(np.float32)

    def run(self) -> None:
        """Do what the folder does not hold yet."""
        for number in range(self.options.draws):
            self.once(f"draw-{number:03}.npz", lambda number=number: self.measure_draw(number))
        for number in range(self.options.begin, self.options.begin + self.options.repetitions):
            self.once(f"model-{number:03}.npz", lambda number=number: self.measure_model(number))
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

    def measure_model(self, number: int) -> dict[str, Any]:
        """The vectors of the model of a repetition."""
        with self.draw(2, number) as corpus:
            return {"matrix": self.rows(corpus, 1000 * (number + 100) - 1).astype(np.float16)}

    def measure_repetition(self, number: int) -> dict[str, Any]:
        """Measurements of a model, its resamples and its other seeds."""
        options, seed = self.options, 1000 * (number + 100)
        with self.draw(2, number) as corpus:
            model = np.load(self.folder / f"model-{number:03}.npz")["matrix"].astype(np.float32)
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
