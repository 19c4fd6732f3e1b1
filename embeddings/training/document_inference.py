"""Vectors for documents that were not trained on: words and outputs stay as they are, only the document's row moves."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import FormatError, NoWordsError, SettingError
from embeddings.kernels.block import new_block
from embeddings.kernels.infer_documents import Inference, new_state
from embeddings.kernels.random_numbers import thread_keys
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.models.document_vectors import as_list
from embeddings.models.text_settings import check_same_text_settings, corpus_settings
from embeddings.settings import check_value
from embeddings.training import hogwild
from embeddings.training.document_stream import Documents, corpus_documents, splits_by_line
from embeddings.training.parameters import zero_rows
from embeddings.training.task import check_threads_and_seed, source_of

if TYPE_CHECKING:
    from embeddings.corpora import Corpus, EncodedCorpus
    from embeddings.models.model import Model

Report = Callable[[int, int], object]  # is given the documents that are done, and all
WORDS = 1 << 22  # of documents that are in memory at a time
TOGETHER = 64  # documents that a thread takes at a time


@dataclass(frozen=True)
class DocumentInferencer:
    """A model as inference needs it: its trainer's settings, its kernel, and what makes a thread's tables and scratch.

    `kernel(goal, source, block, tables, bundle, how, rng)` is as `embeddings.plugins.paragraph_dbow.infer`;
    `tables(row)` are given the thread's row, (1, padded dim); `noise` words are drawn for a centre; `shrink` and
    `sharing` are as in `embeddings.training.document_stream.windows`.
    """

    model: "Model"
    settings: Any
    kernel: Callable[..., None]
    tables: Callable[[np.ndarray], Any]
    buffers: Callable[[], StepBuffers]
    noise: int
    shrink: bool
    sharing: int

    def __call__(
        self,
        texts: "Corpus | Iterable[Any]",
        *,
        epochs: int | None = None,
        seed: int = 1,
        threads: int | None = None,
        report: Report | None = None,
    ) -> np.ndarray:
        """The vectors, (documents, dim) float32; see `embeddings.models.model.Model.infer`."""
        from embeddings.corpora import Corpus
        from embeddings.corpora.reading.sources import Texts

        epochs = check_value(
            "epochs", self.settings.epochs if epochs is None else epochs, int, {"least": 1, "most": 1_000_000}
        )
        threads, seed = check_threads_and_seed(threads, seed)
        if isinstance(texts, Corpus):
            try:
                encoded = texts.encode()
            except NoWordsError as none:
                count = none.sentences if splits_by_line(self.settings.documents, none.items) else none.documents
                return np.zeros((count, self.settings.dim), np.float32)
            check_same_text_settings(self.model, encoded)
            documents = corpus_documents(encoded, self.settings.documents)
            return self.of_documents(encoded, documents, epochs, seed, threads, report)
        listed = as_list(texts)
        try:
            with Corpus(Texts(listed), **self.reading).encode() as encoded:
                return self.of_documents(encoded, corpus_documents(encoded, "blocks"), epochs, seed, threads, report)
        except NoWordsError:
            return np.zeros((len(listed), self.settings.dim), np.float32)

    @cached_property
    def reading(self) -> dict[str, Any]:
        """How texts become words, as settings of a `Corpus`."""
        return corpus_settings(self.model)

    def of_documents(
        self,
        encoded: "EncodedCorpus",
        documents: Documents,
        epochs: int,
        seed: int,
        threads: int,
        report: Report | None,
    ) -> np.ndarray:
        """The vectors of the documents of a corpus, (documents, dim)."""
        from embeddings.corpora.remapping import id_mapping

        settings, places = self.settings, id_mapping(encoded.vocabulary, self.model.vocabulary)
        found = np.zeros((len(documents.rows), settings.dim), np.float32)
        key = thread_keys(seed, 1)[0]
        blank = source_of(settings, self.model.vocabulary, np.empty(0, np.int32), np.zeros(1, np.int64))
        for first, last in parts(documents.borders):
            borders = documents.borders[first : last + 1]
            ids = places[encoded.ids[borders[0] : borders[-1]]]
            source = blank._replace(ids=ids, lines=borders - borders[0], shrink=self.shrink, sharing=self.sharing)

            def work(begin: int, end: int, scratch: "Scratch", source: Any = source, first: int = first) -> None:
                part = source._replace(lines=source.lines[begin : end + 1])
                self.kernel(found[first + begin : first + end], part, *scratch)

            def told(done: int, first: int = first) -> None:
                if report is not None:
                    report(first + done, len(found))

            how = Inference(key, epochs, settings.rate, settings.floor, settings.dim, new_state())
            share(work, last - first, threads, lambda how=how: self.scratch(how), told)  # type: ignore[misc]
        return found

    def scratch(self, how: Inference) -> "Scratch":
        """What one thread writes on."""
        block = new_block(self.settings.window, self.noise, documents=True)
        row = zero_rows(1, self.settings.dim)
        return block, self.tables(row), self.buffers(), how._replace(state=new_state()), np.zeros(2, np.uint64)


Scratch = tuple[Any, Any, StepBuffers, Inference, np.ndarray]


def share(
    work: Callable[[int, int, Scratch], None],
    count: int,
    threads: int,
    scratch: Callable[[], Scratch],
    told: Callable[[int], None],
) -> None:
    """Let threads do `work(begin, end, scratch)` on so many documents, some at a time; `told` is given those done."""
    starts, done = iter(range(0, count, TOGETHER)), [0] * threads

    def run(thread: int, stop: Event) -> None:
        mine = scratch()
        for start in starts:
            if stop.is_set():
                return
            end = min(start + TOGETHER, count)
            work(start, end, mine)
            done[thread] += end - start

    hogwild.run(run, threads, lambda: told(sum(done)))


def parts(borders: NDArray[np.int64]) -> Iterable[tuple[int, int]]:
    """The first and last border of runs of documents, of about `WORDS` words each and one document at least."""
    first, count = 0, len(borders) - 1
    while first < count:
        last = int(np.searchsorted(borders, borders[first] + WORDS, side="right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last


def recorded_settings(trainer: type, model: "Model") -> Any:
    """The settings that a model was trained with.

    Raises:
        FormatError: they are not those of its trainer, or of vectors of another dim.
    """
    try:
        made: Any = trainer(**model.settings)
    except (TypeError, SettingError) as error:
        raise FormatError(f"the {model.name} model is broken: {error}") from None
    if made.dim != model.vectors.dim:  # kernels take rows to be as long as the settings say
        told = f"its settings say dim {made.dim}, and its vectors have {model.vectors.dim}"
        raise FormatError(f"the {model.name} model is broken: {told}")
    return made


def padded_table(model: "Model", table: str, shape: tuple[int, ...]) -> np.ndarray:
    """A table of a model, or its vectors where there is none of that name, as kernels read it: (rows, padded dim).

    Raises:
        FormatError: it is missing, or not of that shape.
    """
    found = model.tables.get(table)
    if found is None or found.shape != shape or found.dtype != np.float32:
        kind = "missing" if found is None else f"{found.shape} {found.dtype}"
        raise FormatError(f"the {model.name} model is broken: its table {table!r} is {kind}, not float32 {shape}")
    return padded_rows(found)


def padded_rows(array: np.ndarray) -> np.ndarray:
    """Rows padded with zeros, read-only, (rows, padded dim): the array itself where it has that form."""
    flat = array.reshape(-1, array.shape[-1])
    if flat.shape[1] == padded(flat.shape[1]):
        rows = np.asarray(flat).view()
    else:
        rows = zero_rows(*flat.shape)
        rows[:, : flat.shape[1]] = flat
    rows.flags.writeable = False
    return rows
