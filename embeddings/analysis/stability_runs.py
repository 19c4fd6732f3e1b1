"""Trainings of a model on resamples of its corpus and with other seeds, which show how far its results vary."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from embeddings import registry
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.corpus_cache import corpora_folder, new_folder
from embeddings.corpora.encoded_corpus import EncodedCorpus, as_encoded
from embeddings.corpora.resampling import ResamplingUnit, resample
from embeddings.errors import FormatError, S, SettingError
from embeddings.models.model import Model
from embeddings.settings import Range, check_arguments, check_value
from embeddings.support.arrow import find_words
from embeddings.support.docstrings import argument_texts
from embeddings.support.progress_display import ProgressOption, showing
from embeddings.support.records import RecordFolder
from embeddings.support.result_table import ResultTable, TabularResult
from embeddings.training.run import Interrupted
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import check_threads_and_seed, prepare
from embeddings.vectors.vectors import Vectors

REPLICATES_FOLDER = RecordFolder("folder of `embeddings stability`", "replicates.json", "replicates.safetensors", {
    "vectors": str, "unit": str, "resamples": int, "seeds": int, "seed": int, "trainer": str, "settings": dict,
})  # fmt: skip
KINDS = ("resamples", "seeds")
MIN_REPLICATES = 2  # for a standard deviation
FEW_RESAMPLES = 10  # Student's t has a quantile of 2.26 for 10, but of 4.30 for 3
DEFAULT_SEEDS = 5


@dataclass(frozen=True, repr=False)
class StabilityRuns(TabularResult):
    """Vectors of the words of a model from further trainings.

    Arguments:
        vectors: the fingerprint of the vectors of the model.
        resamples: float16 (words, dim) for each training on a resample, with rows of length 1, or 0 for a word that
            the resample does not contain.
        seeds: the same for trainings on the whole corpus.
        unit: what was resampled, "documents" or "lines". seed: of the first training.
        is_interrupted: whether there are fewer trainings than requested.
    """

    vectors: str
    resamples: list[NDArray[np.float16]]
    seeds: list[NDArray[np.float16]]
    unit: str
    seed: int
    trainer: str
    settings: dict[str, object]
    is_interrupted: bool = False

    @property
    def note(self) -> str:
        """What varies in intervals from these trainings."""
        few = "; with few resamples they are wide: train about 20" * (len(self.resamples) < FEW_RESAMPLES)
        return f"95 % intervals over {len(self.resamples)} resamples of {self.unit}, each with a seed of its own{few}"

    @property
    def tables(self) -> Sequence[ResultTable[Any]]:
        """How many trainings there are, and of what."""
        names = ("trainer", "unit", "seed", "is_interrupted")
        counts = {kind: len(getattr(self, kind)) for kind in KINDS}
        row = {**counts, **{name: getattr(self, name) for name in names}}
        return [ResultTable([row], columns=argument_texts(StabilityRuns), notes=[self.note])]

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Save to a folder, atomically.

        Raises:
            OutputError: the path exists or cannot be written.
        """
        content = {name: getattr(self, name) for name in REPLICATES_FOLDER.fields}
        content |= {kind: len(content[kind]) for kind in KINDS}
        arrays = {f"{kind}.{i}": rows for kind in KINDS for i, rows in enumerate(getattr(self, kind))}
        REPLICATES_FOLDER.write(path, content, arrays, force=force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "StabilityRuns":
        """Load what `save` wrote; arrays are memory-mapped.

        Raises:
            FormatError: a file is missing or broken.
        """
        folder = Path(path)
        content = REPLICATES_FOLDER.read(folder)
        arrays = REPLICATES_FOLDER.read_tensors(folder, content)
        limit = len(arrays) + 1  # of names that are tried, whatever the file says
        names = {kind: [f"{kind}.{i}" for i in range(min(content[kind], limit))] for kind in KINDS}
        is_listed = sorted(arrays) == sorted(names["resamples"] + names["seeds"])
        kinds = {(one.ndim, one.shape, one.dtype.name) for one in arrays.values()}
        fits = len(kinds) == 1 and min(kinds)[::2] == (2, "float16")
        if content["resamples"] < MIN_REPLICATES or not (is_listed and fits):
            raise FormatError(f"{folder} is broken: its tensors are not those that its record lists")
        values = {name: content[name] for name in REPLICATES_FOLDER.fields}
        return cls(**values | {kind: [arrays[name] for name in names[kind]] for kind in KINDS})

    def check_vectors(self, vectors: Vectors) -> None:
        """Refuse vectors of another model.

        Raises:
            SettingError: the fingerprints differ.
        """
        if vectors.fingerprint != self.vectors or len(self.resamples[0]) != len(vectors):
            raise SettingError("these replicates belong to other vectors: repeat `embeddings stability` for this model")


def word_trainer(model: Model) -> Trainer:
    """The trainer of a model, which can be trained again on resamples.

    Raises SettingError if the model is not one that is trained from words of a corpus.
    """
    trainer = registry.create("trainer", model.name, model.settings)
    if not isinstance(trainer, Trainer) or not trainer.reads_words_alone() or type(trainer).run is not Trainer.run:
        raise SettingError(f"{model.name} models are not trained on words alone, so their stability is not measured")
    return trainer


def stability(
    model: Model, corpus: Corpus, *, resamples: Annotated[int, Range(ge=MIN_REPLICATES)] = 20,
    seeds: Annotated[int, Range(ge=0)] = DEFAULT_SEEDS,
    resample_by: ResamplingUnit = "documents", seed: int = 1, threads: int | None = None,
    progress: ProgressOption = None,
) -> StabilityRuns:  # fmt: skip
    """Train a model again, on bootstrap resamples of its corpus, and on the corpus itself with other seeds.

    Each resample draws as many documents as the corpus has, with replacement (Antoniak and Mimno 2018, "Evaluating the
    Stability of Embedding-based Word Similarities"). It has a seed of its own, so that the spread between resamples is
    that of data and seed together. All trainings share the vocabulary and the settings of the model.

    Arguments:
        model: a model of words. Its trainer and settings are used.
        corpus: the text of the model.
        resamples: the number of trainings on resamples, at least 2.
        seeds: the number of trainings on the whole corpus with other seeds; 0, or at least 2.
        resample_by: what is drawn from the text; "files" are those of plain text. Lines of one document are alike, so
            lines give narrower intervals.
        seed: of the first training; each other one has the next. With one thread, results are bit-reproducible.
        threads: number of threads of each training.
        progress: True shows a bar, False none; by default there is one on a terminal and in a notebook. A function is
            called with the number of trainings done, and the total.

    Raises:
        SettingError: a number is out of range, or the model is not one that is trained from words of a corpus.
        CorpusError: there are too few documents, or as `Corpus.encode`.
    """
    check_numbers(resamples, seeds)
    check_value("resample_by", resample_by, ResamplingUnit, {})
    trainer = word_trainer(model)
    threads, seed = check_threads_and_seed(threads, seed, trainer)
    encoded = as_encoded(corpus)
    result = StabilityRuns(model.vectors.fingerprint, [], [], resample_by, seed, model.name, dict(model.settings))
    try:
        with showing(progress, "training", "runs") as shown:
            trained = train_again(trainer, model.vectors, encoded, resample_by, resamples, seeds, seed, threads)
            for number, rows in enumerate(trained):
                (result.resamples if number < resamples else result.seeds).append(rows)
                if shown is not None:
                    shown(number + 1, resamples + seeds)
    except (Interrupted, KeyboardInterrupt):
        if len(result.resamples) < MIN_REPLICATES:
            raise KeyboardInterrupt from None
        return replace(result, seeds=result.seeds * (len(result.seeds) > 1), is_interrupted=True)
    return result


def check_numbers(resamples: int, seeds: int) -> None:
    """Refuse numbers of trainings that give no standard deviation."""
    check_arguments(stability, resamples=resamples, seeds=seeds)
    if seeds == 1:
        raise SettingError(f"{S.seeds} must be 0 or at least 2, got 1")


def train_again(
    trainer: Trainer, words: Vectors, encoded: EncodedCorpus, unit: ResamplingUnit, resamples: int, seeds: int,
    seed: int, threads: int | None,
) -> Iterator[NDArray[np.float16]]:  # fmt: skip
    """The `unit_rows` of all trainings: on resamples, which are removed after use, then on the corpus itself."""
    for number in range(resamples + seeds):
        corpus: AbstractContextManager[EncodedCorpus] = nullcontext(encoded)
        if number < resamples:
            with new_folder(corpora_folder()) as folder:
                corpus = resample(encoded, unit, np.random.default_rng([seed, number]), folder)
        with corpus as source:
            vectors = trainer.learn(prepare(trainer, source, threads=threads, seed=seed + number)).vectors
            rows = unit_rows(vectors, words, source)
        # after the corpus is closed, so that its files are removed before the next one is written
        yield rows


def unit_rows(vectors: Vectors, words: Vectors, encoded: EncodedCorpus) -> NDArray[np.float16]:
    """The vectors of the words of a model, scaled to length 1; zeros for a word without one or not in the corpus."""
    names = encoded.vocabulary.words
    counts = np.bincount(encoded.ids, minlength=len(names))[: len(names)]
    occurring = [names[row] for row in np.flatnonzero(counts).tolist()]
    rows = find_words(words.words, vectors.words, len(vectors))
    # a word of the shared vocabulary that a resample lacks has its initial vector, which is noise
    occurs = find_words(words.words, occurring, len(occurring)) < len(occurring)
    matrix = np.append(vectors.matrix, np.zeros((1, vectors.dim), np.float32), axis=0)[rows]
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    is_known = (norms > 0) & occurs[:, None]
    unit: NDArray[np.float16] = np.divide(matrix, norms, out=np.zeros_like(matrix), where=is_known).astype(np.float16)
    return unit
