"""How often the 95 % intervals of `embeddings stability` contain what they promise."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from embeddings.analysis.replicates import sources, unit_rows, words_in
from embeddings.corpora.corpus_cache import corpora_folder, new_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.resampling import write_selection
from embeddings.training.training_data import prepare
from embeddings.vectors.vectors import Vectors
from studies.coverage_tables import write_tables
from studies.grid import Study, log
from studies.interval_measures import Matrix, find_targets, measure, own_neighbours

MIN_COUNT = 5  # expected in a corpus of a repetition


class Coverage(Study):
    """Measures how often the 95 % intervals of `embeddings stability` contain what they promise.

    The documents of --corpus are a --population with a name. Each repetition draws a corpus of --documents from it,
    trains a model, and trains it again on resamples of this corpus and with other seeds, as `embeddings stability`
    does. Further --draws, one training each, show which value corpora of this size give on average. Repetitions and
    draws that are in the folder --work are skipped; --begin is the number of the first repetition. The table compares
    the intervals of all populations in the folder with these values, and coverage.tsv beside it has all numbers.
    """

    results = "evidence/results"
    defaults: ClassVar = {
        "work": str, "population": str, "corpus": str, "documents": 566, "repetitions": 20, "draws": 40,
        "resamples": 20, "seeds": 5, "halves": 0, "epochs": 5, "dim": 50, "begin": 0,
    }  # fmt: skip

    def make(self, out: Path, *, only_table: bool = False, processes: int = 1) -> None:
        """Measure what the folder does not hold yet, and write the tables."""
        if not only_table:
            self.measure_all()
        write_tables(Path(self.options.work), out)

    def measure_all(self) -> None:
        """Do what the folder does not hold yet."""
        options = self.options
        self.folder = Path(options.work) / options.population
        self.folder.mkdir(parents=True, exist_ok=True)
        self.corpus = em.Corpus(options.corpus).encode()
        share = options.documents / (len(self.corpus.documents) - 1)
        min_count = round(MIN_COUNT / share)
        self.trainer = em.SkipGram(dim=options.dim, epochs=options.epochs, min_count=min_count)
        self.vocabulary = self.train(self.corpus, 0)
        self.targets = find_targets(self.vocabulary, self.corpus.select(min_count=min_count).counts * share)
        for number in range(options.draws):
            self.once(f"draw-{number:03}.npz", lambda number=number: self.measure_draw(number))
        for number in range(options.begin, options.begin + options.repetitions):
            self.once(f"model-{number:03}.npz", lambda number=number: self.measure_model(number))
            self.once(f"repetition-{number:03}.npz", lambda number=number: self.measure_repetition(number))

    def train(self, encoded: EncodedCorpus, seed: int) -> Vectors:
        """Vectors that are trained on a corpus, on one thread."""
        return self.trainer.learn(prepare(self.trainer, encoded, threads=1, seed=seed)).vectors

    def draw(self, *seed: int) -> EncodedCorpus:
        """A corpus of documents that are drawn from the population with replacement."""
        count = len(self.corpus.documents) - 1
        return select(self.corpus, np.random.default_rng(seed).integers(count, size=self.options.documents))

    def rows(self, encoded: EncodedCorpus, seed: int) -> Matrix:
        """Vectors of length 1 of a training, as replicates keep them; zeros for words that do not occur."""
        return unit_rows(self.train(encoded, seed), self.vocabulary, words_in(encoded)).astype(np.float32)

    def once(self, name: str, measure: Any) -> None:
        """Write the arrays of a measurement to a file, unless it exists."""
        path = self.folder / name
        if not path.exists():
            partial = path.with_suffix(".partial")
            with partial.open("wb") as file:
                np.savez_compressed(file, **measure())
            partial.replace(path)
            log(str(path))

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
        count = len(corpus.documents) - 1
        return select(corpus, np.random.default_rng(seed).permutation(count)[: count // 2])


def select(corpus: EncodedCorpus, chosen: np.ndarray) -> EncodedCorpus:
    """Some documents of a corpus."""
    with new_folder(corpora_folder()) as folder:
        return write_selection(corpus, np.asarray(corpus.documents), np.sort(chosen), folder)
