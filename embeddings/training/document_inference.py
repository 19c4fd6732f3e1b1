"""Vectors for new documents: word and output rows are frozen, and only the document's row is trained."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.documents import Documents, DocumentUnit, corpus_documents, splits_by_line
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.sources import Texts
from embeddings.corpora.remapping import id_mapping
from embeddings.errors import NoWordsError, SettingError
from embeddings.kernels import compile_process
from embeddings.kernels.block import NO_ROWS, new_block
from embeddings.kernels.infer_documents import Inference, new_state
from embeddings.kernels.random_numbers import thread_keys
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.kernels.tag_rows import SINGLE_ROWS, TagRows
from embeddings.learning_rates import LINEAR
from embeddings.models.document_vectors import DOCUMENTS, as_list
from embeddings.models.model import Model
from embeddings.models.parameters import zero_rows
from embeddings.models.text_settings import check_same_text_settings, corpus_settings
from embeddings.settings import check_value
from embeddings.training.hogwild import run_threads
from embeddings.training.inference_tags import InferenceTags, tags_of_corpus, tags_of_texts
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
        buffers: makes the step buffers of one thread, given the largest number of rows of a document.
        kernel: `kernel(rows, source, block, operands, buffers, inference, rng)`, such as
            `embeddings.plugins.paragraph_dbow.infer`.
        operands: makes what a thread works on, given its table of documents (rows, padded dim), of which the first row
            learns, and the rows of each document.
        shrink: draw the size of each window.
        tag_count: rows that are concatenated, that of the document and those of its tags; 0 for any number.
        uses_tags: whether the tags of a document change its vector.
    """

    model: Model
    settings: Any
    noise_weights: np.ndarray
    noise: int
    buffers: Callable[[int], StepBuffers]
    kernel: Callable[..., None]
    operands: Callable[[np.ndarray, TagRows], Any]
    shrink: bool
    tag_count: int = 0
    uses_tags: bool = False

    def __call__(
        self,
        texts: Corpus | Iterable[Any],
        *,
        tags: Any = None,
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
            if tags is not None:
                raise SettingError("tags are those of texts; name tag columns for a corpus")
            try:
                encoded = texts.encode()
            except NoWordsError as error:
                by_line = splits_by_line(self.settings.documents, error.has_items)
                return np.zeros((error.sentences if by_line else error.documents, self.settings.dim), np.float32)
            check_same_text_settings(self.model, encoded)
            return self.infer_documents(encoded, self.settings.documents, epochs, seed, threads, report)
        items = as_list(texts)
        given_tags = tags_of_texts(self.model, tags, len(items))
        try:
            with Corpus(Texts(items), **self.corpus_settings).encode() as encoded:
                return self.infer_documents(encoded, "blocks", epochs, seed, threads, report, given_tags)
        except NoWordsError:
            return np.zeros((len(items), self.settings.dim), np.float32)

    @cached_property
    def corpus_settings(self) -> dict[str, Any]:
        """How texts are read, as settings of a `Corpus`."""
        return corpus_settings(self.model)

    def infer_documents(
        self, encoded: EncodedCorpus, unit: DocumentUnit, epochs: int, seed: int, threads: int, report: Report | None,
        tags: InferenceTags | None = None,
    ) -> np.ndarray:  # fmt: skip
        """The vectors of the documents of an encoded corpus, (documents, dim); a document is a `unit` of its text.

        Arguments:
            tags: those of texts; by default those of the documents of the corpus, except for their names.
        """
        compile_process.wait()
        documents = corpus_documents(encoded, unit)
        tags = self.tags_in_use(documents, tags)
        settings, new_ids = self.settings, id_mapping(encoded.vocabulary, self.model.vocabulary)
        vectors = np.zeros((documents.size, settings.dim), np.float32)
        key = thread_keys(seed, 1)[0]
        no_text = np.empty(0, np.int32), np.zeros(1, np.int64)
        empty = block_source(settings, self.model.vocabulary, *no_text, self.noise_weights)
        empty = empty._replace(shrink_window=self.shrink)
        for first, last in document_ranges(documents.borders):
            borders = documents.borders[first : last + 1]
            ids = new_ids[encoded.ids[borders[0] : borders[-1]]]
            source = empty._replace(ids=ids, lines=borders - borders[0])

            def work(begin: int, end: int, scratch: Scratch, source: Any = source, first: int = first) -> None:
                numbers = NO_ROWS if tags is None else np.arange(first + begin, first + end)
                part = source._replace(lines=source.lines[begin : end + 1], document_rows=numbers)
                self.kernel(vectors[first + begin : first + end], part, *scratch)

            def report_done(done: int, first: int = first) -> None:
                if report is not None:
                    report(first + done, len(vectors))

            rates = settings.learning_rate, settings.final_learning_rate_of(LINEAR)
            inference = Inference(key, epochs, *rates, settings.dim, new_state())
            new_scratch = partial(self.scratch, inference, tags)
            run_shared(work, last - first, threads, new_scratch, report_done)
        return vectors

    def tags_in_use(self, documents: Documents, given: InferenceTags | None) -> InferenceTags | None:
        """The tags that change the vectors of documents; None if there are none."""
        tags = given or tags_of_corpus(self.model, documents)
        if self.tag_count > 1:
            empty = InferenceTags(np.zeros(0, np.int64), np.zeros(documents.size + 1, np.int64))
            tags = tags or empty
            tags.check_counts(self.tag_count - 1)
        return tags if self.uses_tags and tags is not None and len(tags.rows) else None

    def scratch(self, inference: Inference, tags: InferenceTags | None) -> Scratch:
        """The working memory of one thread."""
        block, dim = new_block(self.settings.window, self.noise, documents=True), self.settings.dim
        if tags is None:
            operands, count = self.operands(zero_rows(1, dim), SINGLE_ROWS), 1
        else:
            rows, count = tags.document_rows(self.model.tables[DOCUMENTS], dim), 1 + int(np.diff(tags.starts).max())
            operands = self.operands(rows, tags.tag_rows())
        return block, operands, self.buffers(count), inference._replace(state=new_state()), np.zeros(2, np.uint64)


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
