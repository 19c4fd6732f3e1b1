"""Paragraph vectors by a distributed bag of words (Le and Mikolov 2014): a document predicts each of its words."""

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.block import FIRST, LAST, Block, Source
from embeddings.kernels.infer_documents import Inference, begin, go_on
from embeddings.kernels.jit import hot, piece
from embeddings.kernels.noise_sampling import noise_words
from embeddings.kernels.row_cache import give_back, row_of
from embeddings.kernels.row_operations import address, padded, prefetch
from embeddings.kernels.step_buffers import Bundle, keeping, learn, learn_input, new_bundle
from embeddings.models.model import Model
from embeddings.plugins import skipgram
from embeddings.settings import DocumentChoice, option
from embeddings.training.document_inference import Frozen, frozen, frozen_rows, settings_of
from embeddings.training.document_stream import document_table, documents_of, windows
from embeddings.training.parameters import VECTORS, Arrays, initial, trimmed, zeros
from embeddings.training.progress import Report
from embeddings.training.run_options import Conduct
from embeddings.training.task import WindowSettings, prepare

if TYPE_CHECKING:
    from embeddings.corpora import Corpus

POSITIVES = 4  # words that are scored at once; with 3 noise words for each they are one pass over a row by AVX-512

WINDOW = next(field.default for field in fields(WindowSettings) if field.name == "window")


class Tables(NamedTuple):
    """Vectors of documents, of words and of the words they predict: (rows, padded dim) each.

    Every positive brings `noise` words, which stand for `negatives`; without words of their own `words` are `output`.
    """

    documents: np.ndarray
    words: np.ndarray
    output: np.ndarray
    noise: int
    negatives: int


@hot
def learn_block(block: Block, tables: Tables, bundle: Bundle, rate: float) -> None:
    """A document goes in, some of its words are scored at once with noise that all of them share."""
    score_groups(block, tables, bundle, rate, False)


@hot
def learn_both(block: Block, tables: Tables, bundle: Bundle, rate: float) -> None:
    """The same, and then skip-gram on the same words."""
    score_groups(block, tables, bundle, rate, False)
    targets, weights = bundle.targets[: 1 + tables.negatives], bundle.weights[: 1 + tables.negatives]
    weights[0] = 1
    part = Bundle(
        bundle.read, bundle.moved, targets, weights, bundle.scores,
        bundle.context, bundle.rows, bundle.old, bundle.factor, bundle.tally, bundle.centres,
        bundle.frozen, bundle.still, bundle.inputs, bundle.outputs,
    )  # fmt: skip
    skipgram.learn_block(block, skipgram.Tables(tables.words, tables.output), part, rate)


@piece
def score_groups(block: Block, tables: Tables, bundle: Bundle, rate: float, frozen: bool) -> None:
    """One step for each group of words; only documents are moved if `frozen`."""
    width, last = tables.output.shape[1], block.place[LAST]
    i = block.place[FIRST]
    p = group(block, i, last)
    while p > 0:
        after = group(block, i + p, last)
        ask(block, tables, i + p, after)
        n = positives_and_noise(block, tables, bundle, i, p)
        bundle.read[0] = bundle.moved[0] = address(tables.documents, block.documents[i])
        if frozen:
            learn_input(bundle, p, n, width, rate)
        else:
            learn(bundle, 1, p, n, width, rate)
        i, p = i + p, after
    give_back(tables.output, bundle.outputs)


@piece
def group(block: Block, i: int, last: int) -> int:
    """How many words from centre i on are scored at once: those of one document."""
    p = 0
    while p < POSITIVES and i + p < last and block.documents[i + p] == block.documents[i]:
        p += 1
    return p


@piece
def positives_and_noise(block: Block, tables: Tables, bundle: Bundle, i: int, p: int) -> int:
    """Write addresses and weights of the rows of p words from centre i on and of their noise; gives how many.

    Each pair of document and word is owed `negatives` noise terms. K noise words shared by p words weigh
    negatives (p - those that the noise word itself is) / K each, and the balance is kept.
    """
    n, owed = p, bundle.weights.dtype.type(tables.negatives / (p * tables.noise))
    for j in range(p):
        bundle.targets[j] = row_of(tables.output, bundle.outputs, block.words[i + j])
        bundle.weights[j] = 1
        for q in range(tables.noise):
            word, others = block.noise[i + j, q], 0
            for r in range(p):
                others += block.words[i + r] != word
            bundle.targets[n] = row_of(tables.output, bundle.outputs, word)
            bundle.weights[n] = owed * others
            n += 1
    return n


@piece
def ask(block: Block, tables: Tables, i: int, p: int) -> None:
    """Fetch the rows of p words from centre i on and of their noise into the cache."""
    size = tables.output.shape[1] * tables.output.itemsize
    for j in range(p):
        prefetch(address(tables.output, block.words[i + j]), size)
        for q in range(tables.noise):
            prefetch(address(tables.output, block.noise[i + j, q]), size)


@hot
def infer(
    goal: np.ndarray, source: Source, block: Block, tables: Tables, bundle: Bundle, how: Inference, rng: np.ndarray
) -> None:
    """Put the vector of each line of a source, found with words and outputs as they are, in a row of `goal`."""
    for document in range(goal.shape[0]):
        rate = begin(tables.documents, document, source, block, how, rng)
        while rate >= 0:
            score_groups(block, tables, bundle, rate, True)
            rate = go_on(source, block, how, rng)
        for component in range(goal.shape[1]):
            goal[document, component] = tables.documents[0, component]


@dataclass(frozen=True, kw_only=True)
class ParagraphDBOW(DocumentChoice, WindowSettings):
    """Paragraph vectors, distributed bag of words: a document predicts its words. The best for classification."""

    train_words: bool = option(
        False,
        "Learn vectors of words too, by skip-gram on the same words; for it are the window and its ways. Without it "
        "the vector of a word is its row of the outputs, which documents are near that hold it.",
    )
    negative_sharing: Literal["distant", "window"] = option(
        "window",
        "Four words of a document share their noise words. Draw them once for 8 words that lie 2 x window + 1 apart, "
        "or anew for each.",
    )
    inferrer = staticmethod(lambda model: inferrer(model))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.shrink_window or self.train_words):
            raise SettingError("shrink_window is for train_words: without it there are no windows")
        if self.window != WINDOW and not self.train_words and self.negative_sharing == "window":
            raise SettingError("window is for train_words, or negative_sharing distant: without them there are none")

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

        Its table "documents" is (documents, dim), or a row for each tag; with `train_words` there is a table "output"
        (vocabulary, dim), which are the vectors themselves otherwise.
        """
        task = prepare("paragraph-dbow", self, corpus, threads=threads, seed=seed, report=report, conduct=conduct)
        documents = documents_of(task.encoded, self.documents)
        task = replace(task, tags=documents.tags)
        size, drawn = len(task.vocabulary), noise_words(self.negatives)
        table = document_table(documents, np.asarray(task.encoded.ids), size, self.dim, seed + 2**32)
        output = zeros(size, self.dim)
        words = initial(size, self.dim, seed) if self.train_words else output
        return task.run(
            learn_both if self.train_words else learn_block,
            Tables(table, words, output, drawn, self.negatives),
            lambda: keeping(self.bundle(), task.threads, outputs=output),
            reader=windows(
                task,
                documents,
                noise=self.negatives if self.train_words else drawn,
                shrink=self.shrink_window,
                sharing=self.together,
            ),
            learned=self.learned,
        )

    @property
    def word_rows(self) -> str:
        """What the rows of the table of words are."""
        return "vectors" if self.train_words else "outputs"

    def bundle(self) -> Bundle:
        """A thread's scratch."""
        targets = max(POSITIVES * (1 + noise_words(self.negatives)), 1 + self.negatives)
        return new_bundle(2 * self.window if self.train_words else 1, targets, padded(self.dim))

    def learned(self, tables: Tables) -> Arrays:
        """The tables as they are kept."""
        found = {VECTORS: trimmed(tables.words, self.dim), "documents": trimmed(tables.documents, self.dim)}
        return found | ({"output": trimmed(tables.output, self.dim)} if self.train_words else {})


def inferrer(model: Model) -> Frozen:
    """How a model finds vectors for documents.

    Raises:
        FormatError: a table or setting of it is missing or broken.
    """
    made: ParagraphDBOW = settings_of(ParagraphDBOW, model)
    output = model.vectors.matrix
    rows = frozen_rows(model, "output", output.shape) if made.train_words else frozen(output)
    drawn = noise_words(made.negatives)
    return Frozen(
        model,
        made,
        kernel=infer,
        tables=lambda row: Tables(row, rows, rows, drawn, made.negatives),
        bundle=made.bundle,
        noise=drawn,
        shrink=made.shrink_window,
        sharing=made.together,
    )
