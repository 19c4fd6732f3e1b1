"""Paragraph vectors with distributed memory (Le and Mikolov 2014): a document and a window predict a word."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, Block, Source
from embeddings.kernels.hidden_layer import combine, give_all, give_last
from embeddings.kernels.infer_documents import Inference, begin, go_on
from embeddings.kernels.jit import hot, piece
from embeddings.kernels.noise_sampling import noise_words
from embeddings.kernels.row_cache import give_back
from embeddings.kernels.row_operations import address, padded
from embeddings.kernels.step_buffers import Bundle, keeping, learn, learn_input, new_bundle
from embeddings.kernels.window import ask_ahead, ask_context, centre_and_noise, contexts, in_slots
from embeddings.kernels.window_batch import AT_ONCE, bundle_beside, choose, find_together, give_first, learn_together
from embeddings.models.model import Model
from embeddings.settings import DISTANT, DocumentChoice, option
from embeddings.training.document_inference import Frozen, frozen, frozen_rows, settings_of
from embeddings.training.document_stream import document_table, documents_of, windows
from embeddings.training.parameters import VECTORS, Arrays, initial, trimmed, zeros
from embeddings.training.progress import Report
from embeddings.training.run_options import Conduct
from embeddings.training.task import WindowSettings, prepare

if TYPE_CHECKING:
    from embeddings.corpora import Corpus

MEAN, SUM, CONCAT = range(3)  # of `Tables.combine`


class Tables(NamedTuple):
    """Vectors of documents and words (rows, padded dim), and of words to predict (vocabulary, slots * padded dim).

    There is one slot, or 1 + 2 window where rows stand side by side: the document's and one for each context. The last
    row of `words` is then that of no word, and `at_once` windows are learned at a time.
    """

    documents: np.ndarray
    words: np.ndarray
    output: np.ndarray
    combine: int
    at_once: int


@hot
def learn_block(block: Block, tables: Tables, bundle: Bundle, rate: float) -> None:
    """The mean or sum of a document and a window's contexts goes in, the centre is scored."""
    add_up(block, tables, bundle, rate, False)


@hot
def learn_concatenated(block: Block, tables: Tables, bundle: Bundle, rate: float) -> None:
    """The same with all of them side by side."""
    concatenate(block, tables, bundle, rate, False)


@piece
def add_up(block: Block, tables: Tables, bundle: Bundle, rate: float, frozen: bool) -> None:
    """CBOW with the document as one more term; only documents are moved if `frozen`. The gradient goes undivided."""
    width, last = tables.words.shape[1], block.place[LAST]
    for i in range(block.place[FIRST], last):
        ask_ahead(block, tables.words, bundle.inputs, tables.output, bundle.targets.shape[0] - 1, i, last)
        m = contexts(block, tables.words, bundle.inputs, bundle.context, i)
        bundle.context[m] = address(tables.documents, block.documents[i])
        m += 1
        combine(bundle, m, width, 1 / m if tables.combine == MEAN else 1.0)
        n = centre_and_noise(block, tables.output, bundle, i)
        if frozen:
            learn_input(bundle, 1, n, width, rate)
            give_last(bundle, m, width)
        else:
            learn(bundle, 1, 1, n, width, rate)
            give_all(bundle, m, width, 1.0)
    give_back(tables.words, bundle.inputs)
    give_back(tables.output, bundle.outputs)


@piece
def concatenate(block: Block, tables: Tables, bundle: Bundle, rate: float, frozen: bool) -> None:
    """The document, then each context in its place, and where there is none the row of no word."""
    width, window = tables.words.shape[1], tables.output.shape[1] // tables.words.shape[1] // 2
    slots = 1 + 2 * window
    for i in range(block.place[FIRST], block.place[LAST]):
        m = choose(block, bundle, i, slots, tables.at_once, True)
        for k in range(m):
            places(block, tables, bundle, k, window)
        if m > 0 and frozen:
            find_together(block, tables.output, bundle, m, slots, rate)
            give_first(bundle, m, block.noise.shape[1], slots, width)
        elif m > 0:
            learn_together(block, tables.output, bundle, m, slots, rate)
    give_back(tables.words, bundle.inputs)
    give_back(tables.output, bundle.outputs)


@piece
def places(block: Block, tables: Tables, bundle: Bundle, k: int, window: int) -> None:
    """Write the rows of the k-th centre's document and contexts to `read`, each in its place."""
    i, first = bundle.centres[k], k * (1 + 2 * window)
    bundle.read[first] = address(tables.documents, block.documents[i])
    in_slots(
        block,
        tables.words,
        bundle,
        i,
        window,
        first + 1,
        address(tables.words, tables.words.shape[0] - 1),
    )
    ask_context(block, tables.words, bundle.inputs, i, block.place[LAST])


@hot
def infer(
    goal: np.ndarray, source: Source, block: Block, tables: Tables, bundle: Bundle, how: Inference, rng: np.ndarray
) -> None:
    """Put the vector of each line of a source, found with words and outputs as they are, in a row of `goal`."""
    for document in range(goal.shape[0]):
        rate = begin(tables.documents, document, source, block, how, rng)
        while rate >= 0:
            if tables.combine == CONCAT:
                concatenate(block, tables, bundle, rate, True)
            else:
                add_up(block, tables, bundle, rate, True)
            rate = go_on(source, block, how, rng)
        for component in range(goal.shape[1]):
            goal[document, component] = tables.documents[0, component]


@dataclass(frozen=True, kw_only=True)
class ParagraphDM(DocumentChoice, WindowSettings):
    """Paragraph vectors, distributed memory: a document and the words around a place predict the word there."""

    rate: float = option(0.05, "Learning rate at the start; it falls linearly over all epochs.", above=0, most=100)
    combine: Literal["mean", "sum", "concat"] = option(
        "mean",
        "A document and the contexts go in as their mean, their sum or side by side; output rows are then "
        "1 + 2 x window times as long, and a row of its own stands where there is no word.",
    )
    shrink_window: bool | None = option(  # type: ignore[assignment]  # wider, but frozen
        None,
        "Draw the reach of each window from 1 to --window, so that near words count more, or always take it whole.  "
        "[default: drawn for mean and sum, whole for concat]",
        flags="--shrink-window/--fixed-window",
    )
    negative_sharing: Literal["distant", "window"] | None = option(  # type: ignore[assignment]  # wider, but frozen
        None,
        "Draw noise words once for 8 windows that lie apart and have no word in common, or anew for each window.  "
        "For concat it is then half as many, with twice the weight.  [default: window for mean and sum; distant for "
        "concat, whose long rows are then read faster]",
    )
    inferrer = staticmethod(lambda model: inferrer(model))

    @property
    def shrinks(self) -> bool:
        """Whether the reach of windows is drawn."""
        return self.combine != "concat" if self.shrink_window is None else self.shrink_window

    @property
    def together(self) -> int:
        """How many windows share a draw of noise words."""
        return DISTANT if (self.negative_sharing or self.usual_sharing) == "distant" else 1

    @property
    def usual_sharing(self) -> str:
        """How noise words are shared unless it is said."""
        return "distant" if self.combine == "concat" else "window"

    @property
    def at_once(self) -> int:
        """How many of them learn together."""
        return min(self.together, AT_ONCE)

    @property
    def noise(self) -> int:
        """Noise words of a window; those that concatenated windows share stand for two of `negatives` at most."""
        shared = self.combine == "concat" and self.together > 1
        return noise_words(self.negatives) if shared else self.negatives

    @property
    def slots(self) -> int:
        """How many rows go in side by side."""
        return 1 + 2 * self.window if self.combine == "concat" else 1

    def train(
        self,
        corpus: "Corpus",
        *,
        threads: int | None = None,
        seed: int = 1,
        report: Report | None = None,
        conduct: Conduct | None = None,
    ) -> Model:
        """The model learned from the corpus; see `embeddings.training.task.prepare` and `Task.run` for errors.

        Its table "documents" is (documents, dim), or a row for each tag; "output" is (vocabulary, dim), for concat
        (vocabulary, 1 + 2 x window, dim), and there is a table "nothing" (1, dim), which stands where there is no word.
        """
        task = prepare("paragraph-dm", self, corpus, threads=threads, seed=seed, report=report, conduct=conduct)
        documents = documents_of(task.encoded, self.documents)
        task = replace(task, tags=documents.tags)
        size, slots = len(task.vocabulary), self.slots
        tables = Tables(
            document_table(documents, np.asarray(task.encoded.ids), size, self.dim, seed + 2**32),
            initial(size + (slots > 1), self.dim, seed),
            zeros(size * slots, self.dim).reshape(size, -1),
            ("mean", "sum", "concat").index(self.combine),
            self.at_once,
        )
        return task.run(
            learn_concatenated if self.combine == "concat" else learn_block,
            tables,
            lambda: keeping(self.bundle(), task.threads, inputs=tables.words, outputs=tables.output),
            reader=windows(task, documents, noise=self.noise, shrink=self.shrinks, sharing=self.together),
            learned=lambda tables: self.learned(tables, size),
        )

    def bundle(self) -> Bundle:
        """A thread's scratch."""
        width = padded(self.dim)
        if self.combine == "concat":
            weight = self.negatives / self.noise
            return bundle_beside(self.at_once, self.noise, width, slots=self.slots, weight=weight)
        return new_bundle(1, 1 + self.negatives, width, contexts=1 + 2 * self.window, rows=2)

    def learned(self, tables: Tables, size: int) -> Arrays:
        """The tables as they are kept."""
        words, output = trimmed(tables.words, self.dim), trimmed(tables.output, self.dim, self.slots)
        found = {VECTORS: words[:size], "documents": trimmed(tables.documents, self.dim), "output": output}
        return found | ({"nothing": words[size:]} if self.combine == "concat" else {})


def inferrer(model: Model) -> Frozen:
    """How a model finds vectors for documents.

    Raises:
        FormatError: a table or setting of it is missing or broken.
    """
    made: ParagraphDM = settings_of(ParagraphDM, model)
    words, slots = model.vectors.matrix, made.slots
    output = frozen_rows(model, "output", (len(words), slots, made.dim) if slots > 1 else (len(words), made.dim))
    if slots > 1:
        nothing = frozen_rows(model, "nothing", (1, made.dim))
        rows = frozen(np.concatenate([words, nothing[:, : made.dim]]))
    else:
        rows = frozen(words)
    combine = ("mean", "sum", "concat").index(made.combine)
    return Frozen(
        model,
        made,
        kernel=infer,
        tables=lambda row: Tables(row, rows, output.reshape(len(words), -1), combine, made.at_once),
        bundle=made.bundle,
        noise=made.noise,
        shrink=made.shrinks,
        sharing=made.together,
    )
