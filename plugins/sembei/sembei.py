"""Segmentation-free embedding (Oshikiri 2017): frequent n-grams of raw text learn from the n-grams beside them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from embeddings.errors import SettingError
from embeddings.kernels.block import FIRST, LAST, keep_thresholds
from embeddings.kernels.jit import hot, piece
from embeddings.kernels.noise_sampling import alias_table
from embeddings.kernels.row_operations import address, padded, prefetch, share, total
from embeddings.kernels.step_buffers import Bundle, learn
from embeddings.models.model import Model
from embeddings.plugins.sembei import ngram_vectors
from embeddings.plugins.sembei.lattice import (
    LatticeBlock,
    LatticeSource,
    fill_lattice,
    groups,
    meeting,
    new_lattice,
    score_against,
    scratch,
    sound_lattice,
)
from embeddings.plugins.sembei.ngram_trie import Parts
from embeddings.settings import Dimension, NegativeSampling, Schedule, VocabularyChoice, option
from embeddings.training.parameters import VECTORS, Arrays, all_trimmed, initial, zeros
from embeddings.training.progress import Report
from embeddings.training.run_options import Conduct
from embeddings.training.task import Task, prepare
from embeddings.training.worker import Reader

if TYPE_CHECKING:
    from embeddings.corpora import Corpus
    from embeddings.plugins.sembei.ngram_vocabulary import Ngrams

PER_LENGTH = (3000, 20000)  # n-grams of one character, and of each further length


class Tables(NamedTuple):
    """Vectors of n-grams, and of those they predict to their right and to their left; each (n-grams, padded dim)."""

    words: np.ndarray
    right: np.ndarray
    left: np.ndarray


class SummedTables(NamedTuple):
    """The same, where the vector of an n-gram is the sum of the rows `words` of all n-grams within it, its parts."""

    words: np.ndarray
    right: np.ndarray
    left: np.ndarray
    parts: Parts


@hot
def learn_block(block: LatticeBlock, tables: Tables, bundle: Bundle, rate: float) -> None:
    """Where n-grams meet, those that end go in to predict those that start from their right table; and the mirror."""
    for i in range(block.place[FIRST], block.place[LAST]):
        ask_ahead(block, tables, i + 1)
        m, p = meeting(block, bundle, i)
        if m > 0 and p > 0:
            lefts, rights = bundle.context[:m], bundle.context[m : m + p]
            predict(tables, tables.right, bundle, lefts, rights, block.noise[i], rate)
            predict(tables, tables.left, bundle, rights, lefts, block.noise[i], rate)


@hot
def learn_summed(block: LatticeBlock, tables: SummedTables, bundle: Bundle, rate: float) -> None:
    """The same with sums going in, whose gradients each of their parts is given (SCNE, Kim et al. 2019)."""
    for i in range(block.place[FIRST], block.place[LAST]):
        ask_ahead(block, tables, i + 1)
        m, p = meeting(block, bundle, i)
        if m > 0 and p > 0:
            lefts, rights = bundle.context[:m], bundle.context[m : m + p]
            predict_summed(tables, tables.right, bundle, lefts, rights, block.noise[i], rate)
            predict_summed(tables, tables.left, bundle, rights, lefts, block.noise[i], rate)


@piece
def predict(
    tables: Tables, output: np.ndarray, bundle: Bundle, inputs: np.ndarray, positives: np.ndarray,
    noise: np.ndarray, rate: float,
) -> None:  # fmt: skip
    """All inputs predict all positives."""
    for i in range(inputs.shape[0]):
        bundle.read[i] = bundle.moved[i] = address(tables.words, inputs[i])
    n = score_against(output, bundle, positives, noise)
    learn(bundle, inputs.shape[0], positives.shape[0], n, output.shape[1], rate)


@piece
def predict_summed(
    tables: SummedTables, output: np.ndarray, bundle: Bundle, inputs: np.ndarray, positives: np.ndarray,
    noise: np.ndarray, rate: float,
) -> None:  # fmt: skip
    """All inputs predict all positives, as sums of their parts."""
    m, half, width = inputs.shape[0], bundle.rows.shape[0] // 2, output.shape[1]
    rows = bundle.context[2 * half :]
    bundle.rows[:] = 0
    for i in range(m):
        bundle.read[i], bundle.moved[i] = address(bundle.rows, i), address(bundle.rows, half + i)
        total(bundle.factor, bundle.read[i], rows, parts_of(tables, inputs[i], rows), width)
    n = score_against(output, bundle, positives, noise)
    learn(bundle, m, positives.shape[0], n, width, rate)
    for i in range(m):
        share(bundle.factor, bundle.moved[i], rows, parts_of(tables, inputs[i], rows), width)


@piece
def parts_of(tables: SummedTables, word: int, rows: np.ndarray) -> int:
    """Write the addresses of the rows of an n-gram's parts; gives how many there are."""
    first = tables.parts.offsets[word]
    count = tables.parts.offsets[word + 1] - first
    for k in range(count):
        rows[k] = address(tables.words, tables.parts.words[first + k])
    return int(count)


@piece
def ask_ahead(block: LatticeBlock, tables: Tables | SummedTables, i: int) -> None:
    """Fetch into the cache what place i needs, if there is one."""
    if i >= block.place[LAST]:
        return
    size = tables.words.shape[1] * tables.words.itemsize
    for n in range(block.starts.shape[1]):
        right, left = block.starts[i, n], block.lefts[i - n - 1, n]
        if right >= 0:
            prefetch(address(tables.words, right), size)
            prefetch(address(tables.right, right), size)
        if left >= 0:
            prefetch(address(tables.left, left), size)
    for j in range(block.noise.shape[1] // groups(block.starts.shape[1])):
        prefetch(address(tables.right, block.noise[i, j]), size)
        prefetch(address(tables.left, block.noise[i, j]), size)


@dataclass(frozen=True, kw_only=True)
class Sembei(NegativeSampling, VocabularyChoice, Schedule, Dimension):
    """Segmentation-free embedding: frequent n-grams of raw text predict those beside them. For text without spaces.

    Each n-gram of the vocabulary predicts every one that starts where it ends, from a table of right neighbours, and
    each of these predicts it, from a table of left ones. As the original program does, with three things otherwise: an
    n-gram cut short by the end of the text is none, noise is shared by all that meet at a place, and an occurrence left
    out by sub-sampling is so on both sides (--sample-side).
    """

    rate: float = option(0.1, "Learning rate at the start; it falls linearly over all epochs.", above=0, most=100)
    negatives: int = option(10, "Noise n-grams for each positive.", least=1, most=1000)
    negative_sharing: Literal["distant", "window"] = option(
        "distant",
        "All n-grams that meet at a place share its noise n-grams. Draw them once for 8 places that lie apart, which "
        "is fast, or anew for each.",
    )
    sample: float = option(
        1e-4,
        "N-grams whose share of all occurrences is above this are read less often: one of share f stays with chance "
        "sqrt(sample/f) + sample/f. 0 reads all.",
        least=0,
        most=1,
    )
    sample_side: Literal["both", "left"] = option(
        "both",
        "An occurrence that is not read is no neighbour at all, as in word2vec, or no left one, but still a right one, "
        "as in the original program: no better, and a little slower.",
    )
    max_n: int = option(4, "Characters of the longest n-gram.", least=1, most=16)
    per_length: str | None = option(
        None,
        "How many n-grams of 1, 2, ... characters, the most frequent; the last number is for all further lengths. "
        "'all' takes every one that occurs --min-count times.  [default: 3000,20000]",
    )
    cross_lines: bool = option(False, "Let n-grams reach over the ends of lines, but not of documents.")
    compositional: bool = option(
        False,
        "The vector of an n-gram is the sum of rows of all n-grams within it (SCNE, Kim et al. 2019), so that any "
        "string has one. Wants about a quarter of the rate.",
    )
    tokenizer: ClassVar[str] = "codepoints"
    continues: ClassVar[bool] = False
    composer = staticmethod(ngram_vectors.composer)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limits is not None and len(self.limits) > self.max_n:
            raise SettingError(f"per_length has {len(self.limits)} numbers, and max_n is {self.max_n}")
        if self.limits is not None and not any(self.limits):
            raise SettingError(f"per_length must let in one n-gram at least, not {self.per_length!r}")

    @property
    def word_rows(self) -> str:
        """What the rows of the table of words are."""
        return "sums" if self.compositional else "vectors"

    @property
    def limits(self) -> list[int] | None:
        """How many n-grams are taken of each length; None for all.

        Raises:
            SettingError: per_length says neither.
        """
        if self.per_length is None:
            return list(PER_LENGTH[: self.max_n])
        if self.per_length == "all":
            return None
        numbers = [number.strip() for number in self.per_length.split(",")]
        if not all(number.isascii() and number.isdigit() and len(number) < 10 for number in numbers):
            raise SettingError(f"per_length must be 'all' or whole numbers with commas, not {self.per_length!r}")
        return [int(number) for number in numbers]

    def train(
        self,
        corpus: "Corpus",
        *,
        threads: int | None = None,
        seed: int = 1,
        report: Report | None = None,
        conduct: Conduct | None = None,
    ) -> Model:
        """The model learned from the corpus; see `prepare`, `Task.run` and `frequent_ngrams` for errors.

        Its tables "right" and "left" (vocabulary, dim) are of the n-grams as neighbours, and, if it is compositional,
        "ngrams" of the rows that vectors are the sums of.
        """
        from embeddings.plugins.sembei.ngram_vocabulary import frequent_ngrams

        task = prepare("sembei", self, corpus, threads=threads, seed=seed, report=report, conduct=conduct)  # type: ignore[arg-type]
        if self.compositional:
            check_characters(task.encoded.vocabulary.words)
        ngrams = frequent_ngrams(
            task.encoded,
            max_n=self.max_n,
            min_count=self.min_count,
            per_length=self.limits,
            max_vocab=self.max_vocab,
            cross_lines=self.cross_lines,
        )
        task, size, width = replace(task, vocabulary=ngrams.vocabulary), len(ngrams.vocabulary), padded(self.dim)
        tables = Tables(initial(size, self.dim, seed), zeros(size, self.dim), zeros(size, self.dim))
        longest, parts = ngrams.sequences.shape[1], self.parts(ngrams.vocabulary.words)
        most = int(np.diff(parts.offsets).max(initial=0))
        return task.run(
            learn_summed if self.compositional else learn_block,
            SummedTables(*tables, parts) if self.compositional else tables,
            lambda: scratch(longest, self.negatives, width, most=most),
            reader=Reader(
                self.source(task, ngrams), lambda: new_lattice(longest, self.negatives), fill_lattice, sound_lattice
            ),
            learned=lambda tables: self.learned(task, tables),
            composes=self.compositional,
        )

    def parts(self, words: Sequence[str]) -> Parts:
        """The n-grams within each n-gram, if vectors are sums of these."""
        return ngram_vectors.parts(ngram_vectors.table_of(words), words) if self.compositional else Parts.none()

    def source(self, task: Task, ngrams: "Ngrams") -> LatticeSource:
        """What the threads read."""
        vocabulary = ngrams.vocabulary
        return LatticeSource(
            ids=np.asarray(task.encoded.ids),
            lines=ngrams.lines,
            table=ngrams.table,
            keep=keep_thresholds(vocabulary.keep_probabilities(self.sample)),
            noise=alias_table(vocabulary.noise_weights(self.noise_exponent)),
            sharing=self.together,
            both=self.sample_side == "both",
        )

    def learned(self, task: Task, tables: Tables | SummedTables) -> Arrays:
        """The tables as they are kept, and the vectors."""
        found = all_trimmed(tables, self.dim)
        if self.compositional:
            words = task.vocabulary.words
            found["ngrams"] = found[VECTORS]
            found[VECTORS] = ngram_vectors.Composition(words, found["ngrams"])(words)
        return found


DOTTED = "\u0130".lower()  # the one code point that is two in lower case


def check_characters(tokens: Sequence[str]) -> None:
    """Refuse tokens of several code points, at each of which the parts of a string would begin.

    Raises:
        SettingError: naming one.
    """
    longer = next((token for token in tokens if len(token) > 1 and token != DOTTED), None)
    if longer is not None:
        raise SettingError(f"compositional sums n-grams of single code points, and {longer!r} is one token of several")
