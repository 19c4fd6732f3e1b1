"""Base of trainers of models of documents and words."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.documents import Documents, DocumentUnit, corpus_documents, splits_by_line
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.sources import Texts
from embeddings.corpora.remapping import id_mapping
from embeddings.errors import CorpusError, NoWordsError, SettingError
from embeddings.kernels.block import NO_ROWS, BlockSource, new_block
from embeddings.kernels.document_kernels import SINGLE_ROWS, Inference, TagRows, infer, learn_block, new_state
from embeddings.kernels.line_operations import mark_documents_with_words
from embeddings.kernels.random_numbers import thread_keys
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.learning_rates import LINEAR
from embeddings.models.document_vectors import DOCUMENTS, as_tag
from embeddings.models.model import Epochs, Model
from embeddings.models.table import Arrays, Table, uniform, zero_rows
from embeddings.models.text_settings import check_same_text_settings, corpus_settings, model_settings
from embeddings.objectives.objective import Objective
from embeddings.settings import DocumentChoice, check_value, option
from embeddings.support.arrow import pc, to_string_array
from embeddings.support.mapped_files import memory_mapped_zeros
from embeddings.training.continued_training import padded_rows, saved_table
from embeddings.training.plan import Kernel, Plan
from embeddings.training.stream import TokenStream
from embeddings.training.trainer import PredictionTrainer
from embeddings.training.training_data import TrainingData, block_source, check_threads_and_seed
from embeddings.training.worker import run_threads


def tags_of_texts(model: Model, tags: Any, texts: int) -> TagRows | None:
    """The rows of the given tags of this many texts that the model knows; None if there are none."""
    if tags is None:
        return None
    lists = tags if isinstance(tags, Sequence) and not isinstance(tags, str) else []
    is_valid = len(lists) == texts and all(isinstance(one, list | tuple) for one in lists)
    distinct = [list(dict.fromkeys(map(as_tag, one))) for one in lists] if is_valid else []
    if not is_valid or any(tag is None for one in distinct for tag in one):
        raise SettingError(f"tags must be a list of tags for each of the {texts} texts, got {tags!r:.80}")
    names = to_string_array([tag for one in distinct for tag in one])
    return known_tags(known_rows(model, names), np.array([len(one) for one in distinct], np.int64))


def known_rows(model: Model, tags: Any) -> NDArray[np.int64]:
    """The row of each tag in the model's table of documents, -1 for unknown tags; a new array."""
    if model.tags is None:
        return np.full(len(tags), -1, np.int64)
    rows = pc.index_in(to_string_array(tags), value_set=to_string_array(model.tags))
    return np.array(rows.fill_null(-1), np.int64)


def known_tags(rows: NDArray[np.int64], counts: NDArray[np.int64]) -> TagRows:
    """The rows of known tags, given the rows of all tags and the number of tags of each document."""
    document = np.repeat(np.arange(len(counts)), counts)[rows >= 0]
    starts = np.concatenate([[0], np.cumsum(np.bincount(document, minlength=len(counts)))])
    return TagRows(starts.astype(np.int64), rows[rows >= 0])


Report = Callable[[int, int], object]  # called with the number of documents done, and the total
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
        epochs = check_value("epochs", number, Epochs, {})
        threads, seed = check_threads_and_seed(threads, seed)
        if isinstance(texts, Corpus):
            if tags is not None:
                raise SettingError("tags are those of texts; name tag columns for a corpus")
            try:
                encoded = texts.encode()
            except NoWordsError as error:
                if self.settings.documents == "files":
                    raise
                by_line = splits_by_line(self.settings.documents, error.has_items)
                return np.zeros((error.sentences if by_line else error.documents, self.settings.dim), np.float32)
            check_same_text_settings(self.model, encoded)
            return self.infer_documents(encoded, self.settings.documents, epochs, seed, threads, report)
        items = list(texts)
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
        tags: TagRows | None = None,
    ) -> np.ndarray:  # fmt: skip
        """The vectors of the documents of an encoded corpus, (documents, dim); a document is a `unit` of its text.

        The tags are those of texts; by default those of the documents of the corpus, except for their names.
        """
        documents = corpus_documents(encoded, unit)
        tags = self.tags_in_use(documents, tags)
        settings, new_ids = self.settings, id_mapping(encoded.vocabulary, self.model.vocabulary)
        vectors = np.zeros((documents.size, settings.dim), np.float32)
        key = thread_keys(seed, 1)[0]
        no_text = np.empty(0, np.int32), np.zeros(1, np.int64)
        empty = block_source(settings, self.model.vocabulary, *no_text, self.noise_weights)
        empty = empty._replace(shrink_window=self.shrink)
        first = 0
        while first < documents.size:
            last = int(np.searchsorted(documents.borders, documents.borders[first] + WORDS_IN_MEMORY, side="right")) - 1
            last = min(max(last, first + 1), documents.size)
            borders = documents.borders[first : last + 1]
            ids = new_ids[encoded.ids[borders[0] : borders[-1]]]
            source = empty._replace(ids=ids, lines=borders - borders[0])
            rates = settings.learning_rate, settings.final_learning_rate_of(LINEAR)
            inference = Inference(key, epochs, *rates, settings.dim, new_state())
            self.infer_range(vectors, first, source, inference, tags, threads, report)
            first = last
        return vectors

    def infer_range(
        self, vectors: np.ndarray, first: int, source: BlockSource, inference: Inference, tags: TagRows | None,
        threads: int, report: Report | None,
    ) -> None:  # fmt: skip
        """Infer the vectors of the lines of a source, the documents from `first` on, on all threads."""
        count = len(source.lines) - 1
        # One iterator for all threads: a thread with short documents takes more turns.
        starts, done = iter(range(0, count, DOCUMENTS_PER_TURN)), [0] * threads

        def work(thread: int, halt: Event) -> None:
            scratch = self.scratch(inference, tags)
            for start in starts:
                if halt.is_set():
                    return
                end = min(start + DOCUMENTS_PER_TURN, count)
                numbers = NO_ROWS if tags is None else np.arange(first + start, first + end)
                part = source._replace(lines=source.lines[start : end + 1], document_rows=numbers)
                infer(vectors[first + start : first + end], part, *scratch)
                done[thread] += end - start

        run_threads(work, threads, lambda: report and report(first + sum(done), len(vectors)))

    def tags_in_use(self, documents: Documents, given: TagRows | None) -> TagRows | None:
        """The tags that change the vectors of documents; None if there are none."""
        tags, starts = given, documents.starts
        if tags is None and starts is not None:  # those of the corpus, without the first of each document, its name
            rows = known_rows(self.model, documents.tags)[documents.rows]
            rows[starts[:-1]] = -1
            tags = known_tags(rows, np.diff(starts))
        if self.tag_count > 1:
            tags = tags or TagRows(np.zeros(documents.size + 1, np.int64), NO_ROWS)
            counts, expected = np.diff(tags.starts), self.tag_count - 1
            if (counts != expected).any():
                first = int(np.argmax(counts != expected))
                raise CorpusError(
                    "the model concatenates the vector of a document with those of its known tags: document "
                    f"{first} has {counts[first]} of them, expected {expected}; in a corpus, the first tag of a "
                    "document is its name"
                )
        return tags if self.uses_tags and tags is not None and len(tags.rows) else None

    def scratch(self, inference: Inference, tags: TagRows | None) -> tuple[Any, ...]:
        """The working memory of one thread: block, operands, buffers, inference and random counter."""
        block, dim = new_block(self.settings.window, self.noise, documents=True), self.settings.dim
        if tags is None:
            operands, count = self.operands(zero_rows(1, dim), SINGLE_ROWS), 1
        else:
            used, numbers = np.unique(tags.rows, return_inverse=True)
            rows, count = zero_rows(1 + len(used), dim), 1 + int(np.diff(tags.starts).max())
            rows[1:, :dim] = self.model.tables[DOCUMENTS][used]  # row 0 is that of the document
            tag_rows = np.insert(1 + numbers.astype(np.int64), tags.starts[:-1], 0)
            operands = self.operands(rows, TagRows(tags.starts + np.arange(len(tags.starts)), tag_rows))
        return block, operands, self.buffers(count), inference._replace(state=new_state()), np.zeros(2, np.uint64)


MAX_MEMORY_BYTES = 1 << 30  # a larger table of documents is mapped from a file


def document_table(data: TrainingData, documents: Documents, dim: int) -> Table:
    """The table of document vectors: uniform, and zeros for documents without a known word."""

    def initialize(table: np.ndarray, dim: int, seed: int) -> None:
        uniform(table, dim, seed)
        has_words = np.zeros(documents.size if documents.has_several_tags else documents.count, np.bool_)
        ids, numbers = np.asarray(data.encoded.ids), documents.numbers
        mark_documents_with_words(ids, documents.borders, numbers, len(data.vocabulary), has_words)
        if documents.has_several_tags:
            of_documents, has_words = has_words, np.zeros(documents.count, np.bool_)
            has_words[documents.rows[np.repeat(of_documents, documents.tag_counts)]] = True
        table[~has_words] = 0

    rows, is_large = documents.count, 4 * documents.count * padded(dim) > MAX_MEMORY_BYTES
    zeros = (lambda: memory_mapped_zeros(rows, padded(dim))) if is_large else None
    return Table(rows=rows, dim=dim, axis="documents", init=initialize, seed=2**32, zeros=zeros)


@dataclass(frozen=True, kw_only=True)
class DocumentTrainer(DocumentChoice, PredictionTrainer):
    """Base of trainers of models whose documents predict words; they infer the vectors of new documents.

    A subclass defines `new_operands` and `new_buffers`, and a plan by `document_plan`. The type of its operands selects
    its steps, an implementation of `embeddings.kernels.document_kernels.learn_documents`.
    """

    shuffle: bool = option(
        True,
        "Read the lines of each thread's share in a new random order in every epoch. Documents that are sorted by a "
        "label get worse vectors in their order.",
        flags="--shuffle/--no-shuffle",
    )
    combines_tags: ClassVar[bool] = False  # whether the tags of a document together predict its words

    @property
    def shrinks_window(self) -> bool:
        """Whether window sizes are drawn."""
        return self.shrink_window

    def new_operands(self, tables: Arrays, objective: Any, tags: TagRows) -> Any:
        """The operands of the kernels of one thread, made from all arrays, the objective's operand and rows of tags."""
        raise NotImplementedError

    def new_buffers(self, targets: int, width: int, tags: int) -> StepBuffers:
        """The step buffers of one thread, given the objective's targets, the padded dim and a document's tags."""
        raise NotImplementedError

    def check_documents(self, documents: Documents) -> None:
        """Refuse documents that do not fit the settings."""

    def sample_stream(self, stream: TokenStream) -> TokenStream:
        """The stream to train on, made from the stream of all words of documents."""
        return stream

    def document_noise(self, objective: Objective) -> int:
        """Random words drawn for each word while only documents and output vectors learn."""
        return objective.noise

    def document_plan(
        self,
        data: TrainingData,
        objective: Objective,
        *,
        kernel: Kernel = learn_block,
        noise: int | None = None,
        **others: Any,
    ) -> Plan:
        """The plan of a model with the tables of `word_tables` and "documents", (documents or tags, dim).

        Arguments:
            kernel: by default that of documents, whose steps follow from the operands.
            noise: random words drawn for each word, by default `document_noise`.
            others: other fields of the plan.
        """
        documents = corpus_documents(data.encoded, self.documents)
        self.check_documents(documents)
        max_tags = int(documents.tag_counts.max(initial=1))
        tags = SINGLE_ROWS if documents.starts is None else TagRows(documents.starts, documents.rows)
        vectors = document_table(data, documents, self.dim)
        stream = data.window_stream(
            objective.noise_weights,
            self.document_noise(objective) if noise is None else noise,
            documents=documents,
            shrink_window=self.shrinks_window,
        )
        return self.window_plan(
            data,
            objective,
            tables={"documents": vectors, **self.word_tables(objective)},
            stream=self.sample_stream(stream),
            kernel=kernel,
            operands=lambda tables: self.new_operands(tables, objective.operand(tables), tags),
            buffers=lambda targets, width: self.new_buffers(targets, width, max_tags),
            tags=documents.tags,
            **others,
        )

    @classmethod
    def inferencer(cls, model: Model) -> DocumentInferencer:
        """The inferencer of a trained model."""
        settings = model_settings(cls, model)
        objective = settings.new_objective(model.vocabulary)
        width, declared = padded(settings.dim), settings.word_tables(objective)
        tables = {
            name: table.concatenate(padded_rows(saved_table(model, name, table))) for name, table in declared.items()
        }
        return DocumentInferencer(
            model,
            settings,
            objective.noise_weights,
            settings.document_noise(objective),
            buffers=lambda count: settings.new_buffers(objective.max_targets, width, count),
            operands=lambda rows, tags: settings.new_operands(
                {"documents": rows, **tables}, objective.operand(tables), tags
            ),
            shrink=settings.shrinks_window,
            tag_count=getattr(settings, "tag_count", 1),
            uses_tags=settings.combines_tags,
        )
