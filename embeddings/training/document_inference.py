"""Vectors for new documents: word and output rows are frozen, and only the document's row is trained."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.documents import DocumentUnit, corpus_documents, splits_by_line
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.sources import Texts
from embeddings.corpora.remapping import id_mapping
from embeddings.errors import NoWordsError
from embeddings.kernels import compile_process
from embeddings.kernels.block import new_block
from embeddings.kernels.infer_documents import Inference, new_state
from embeddings.kernels.random_numbers import thread_keys
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.learning_rates import LINEAR
from embeddings.models.document_vectors import as_list
from embeddings.models.model import Model
from embeddings.models.parameters import zero_rows
from embeddings.models.text_settings import check_same_text_settings, corpus_settings
from embeddings.settings import check_value
from embeddings.training.hogwild import run_threads
from embeddings.training.training_data import block_source, check_threads_and_seed

Report = Callable[[int, int], object]  # called with the number of documents done, and the total
Scratch = tuple[Any, Any, StepBuffers, Inference, np.ndarray]  # block, operands, buffers, inference, random counter
WORDS_IN_MEMORY = 1 << 22
DOCUMENTS_PER_TURN = 64  # that a thread takes at a time


@dataclass(frozen=True)
class DocumentInferencer:
    """Infers vectors of documents with a trained model.

    Arguments:
        settings: the trainer of the model.
        noise_weights: the distribution of random words, (vocabulary,).
        noise: random words drawn for each window.
        buffers: makes the step buffers of one thread.
        kernel: `kernel(rows, source, block, operands, buffers, inference, rng)`, such as
            `embeddings.plugins.paragraph_dbow.infer`.
        operands: makes what a thread works on, given its document row (1, padded dim).
        shrink: draw the size of each window.
    """

    model: Model
    settings: Any
    noise_weights: np.ndarray
    noise: int
    buffers: Callable[[], StepBuffers]
    kernel: Callable[..., None]
    operands: Callable[[np.ndarray], Any]
    shrink: bool

    def __call__(
        self,
        texts: Corpus | Iterable[Any],
        *,
        epochs: int | None = None,
        seed: int = 1,
        threads: int | None = None,
        report: Report | None = None,
    ) -> np.ndarray:
        """The vectors, (documents, dim) float32; see `embeddings.models.model.Model.infer`."""
        number = self.settings.epochs if epochs is None else epochs
        epochs = check_value("epochs", number, int, {"ge": 1, "le": 1_000_000})
        threads, seed = check_threads_and_seed(threads, seed)
        if isinstance(texts, Corpus):
            try:
                encoded = texts.encode()
            except NoWordsError as error:
                by_line = splits_by_line(self.settings.documents, error.has_items)
                return np.zeros((error.sentences if by_line else error.documents, self.settings.dim), np.float32)
            check_same_text_settings(self.model, encoded)
            return self.infer_documents(encoded, self.settings.documents, epochs, seed, threads, report)
        items = as_list(texts)
        try:
            with Corpus(Texts(items), **self.corpus_settings).encode() as encoded:
                return self.infer_documents(encoded, "blocks", epochs, seed, threads, report)
        except NoWordsError:
            return np.zeros((len(items), self.settings.dim), np.float32)

    @cached_property
    def corpus_settings(self) -> dict[str, Any]:
        """How texts are read, as settings of a `Corpus`."""
        return corpus_settings(self.model)

    def infer_documents(
        self, encoded: EncodedCorpus, unit: DocumentUnit, epochs: int, seed: int, threads: int, report: Report | None
    ) -> np.ndarray:
        """The vectors of the documents of an encoded corpus, (documents, dim); a document is a `unit` of its text."""
        compile_process.wait()
        documents = corpus_documents(encoded, unit)
        settings, new_ids = self.settings, id_mapping(encoded.vocabulary, self.model.vocabulary)
        vectors = np.zeros((len(documents.rows), settings.dim), np.float32)
        key = thread_keys(seed, 1)[0]
        no_text = np.empty(0, np.int32), np.zeros(1, np.int64)
        empty = block_source(settings, self.model.vocabulary, *no_text, self.noise_weights)
        empty = empty._replace(shrink_window=self.shrink)
        for first, last in document_ranges(documents.borders):
            borders = documents.borders[first : last + 1]
            ids = new_ids[encoded.ids[borders[0] : borders[-1]]]
            source = empty._replace(ids=ids, lines=borders - borders[0])

            def work(begin: int, end: int, scratch: Scratch, source: Any = source, first: int = first) -> None:
                part = source._replace(lines=source.lines[begin : end + 1])
                self.kernel(vectors[first + begin : first + end], part, *scratch)

            def report_done(done: int, first: int = first) -> None:
                if report is not None:
                    report(first + done, len(vectors))

            rates = settings.learning_rate, settings.final_learning_rate_of(LINEAR)
            inference = Inference(key, epochs, *rates, settings.dim, new_state())
            run_shared(work, last - first, threads, lambda inference=inference: self.scratch(inference), report_done)  # type: ignore[misc]
        return vectors

    def scratch(self, inference: Inference) -> Scratch:
        """The working memory of one thread."""
        block = new_block(self.settings.window, self.noise, documents=True)
        operands, inference = self.operands(zero_rows(1, self.settings.dim)), inference._replace(state=new_state())
        return block, operands, self.buffers(), inference, np.zeros(2, np.uint64)


def run_shared(
    work: Callable[[int, int, Scratch], None],
    count: int,
    threads: int,
    new_scratch: Callable[[], Scratch],
    report: Callable[[int], None],
) -> None:
    """Let threads do `work(begin, end, scratch)` on ranges of `count` documents until all are done."""
    starts, done = iter(range(0, count, DOCUMENTS_PER_TURN)), [0] * threads

    def run(thread: int, halt: Event) -> None:
        scratch = new_scratch()
        for start in starts:
            if halt.is_set():
                return
            end = min(start + DOCUMENTS_PER_TURN, count)
            work(start, end, scratch)
            done[thread] += end - start

    run_threads(run, threads, lambda: report(sum(done)))


def document_ranges(borders: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of documents of about `WORDS_IN_MEMORY` words, with at least one document each."""
    first, count = 0, len(borders) - 1
    while first < count:
        last = int(np.searchsorted(borders, borders[first] + WORDS_IN_MEMORY, side="right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last
