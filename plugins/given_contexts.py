"""Skip-gram with contexts from a table, such as dependencies (Levy and Goldberg 2014)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import entry_point
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.vocabulary import Vocabulary, frequency_order
from embeddings.errors import CorpusError, S
from embeddings.kernels.block import BLOCK_SIZE, END, FIRST, LAST, POSITION, Block, all_in_range, draw_noise, new_block
from embeddings.kernels.integers import smaller
from embeddings.kernels.random_numbers import alias_table
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.models.document_vectors import DOCUMENTS
from embeddings.models.table import word_vectors
from embeddings.objectives.objective import Objective
from embeddings.plugins.skipgram import SkipGramOperands, learn_block
from embeddings.settings import Dimension, ObjectiveChoice, Schedule, VocabularySize, option
from embeddings.support.arrow import to_arrow, to_numpy
from embeddings.training.plan import Plan
from embeddings.training.replicas import REPLICA_BLOCK_SIZE
from embeddings.training.stream import Chunk, ItemStream, systematic_draws
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData


class Pairs(NamedTuple):
    """Words with contexts: their rows, int32 (pairs,); weights, float64 (pairs,), empty if all are equal."""

    words: NDArray[np.int32]
    contexts: NDArray[np.int32]
    weights: NDArray[np.float64]


def read_pairs(encoded: EncodedCorpus, words: int, min_count: int) -> tuple[Pairs, Vocabulary]:
    """The pairs of a corpus of the first `words` words and of contexts with `min_count` pairs; the contexts.

    The count of a context is that of its pairs, or how many of them an epoch draws if pairs have weights.
    """
    ids, starts = np.asarray(encoded.ids), np.asarray(encoded.sentences)[np.asarray(encoded.documents)]
    weights = encoded.weights
    tags = (encoded.single_tags if weights is None else encoded.first_tags).dictionary_encode()
    contexts = to_numpy(tags.indices.fill_null(-1)).astype(np.int32)
    documents = np.repeat(np.arange(len(contexts)), np.diff(starts))
    is_used = (ids.view(np.uint32) < words) & (contexts[documents] >= 0)
    if weights is not None:
        is_used &= weights[documents] > 0
    ids, documents = ids[is_used], documents[is_used]
    counts = np.bincount(contexts[documents], minlength=len(tags.dictionary))
    is_used = counts[contexts[documents]] >= min_count
    ids, documents = ids[is_used], documents[is_used]
    old, draws = contexts[documents], counts
    if not len(ids) or (ids == ids[0]).all() or (old == old[0]).all():
        raise CorpusError(
            f"training requires two words and two contexts in {min_count} pairs each: lower {S.min_count}"
        )
    if weights is not None:
        weights = weights[documents] * (len(ids) / weights[documents].sum())
        draws = np.maximum(np.rint(np.bincount(old, weights, len(counts))), 1).astype(np.int64)
    counts = np.where(counts >= min_count, draws, 0)
    order = frequency_order(tags.dictionary, counts)[: np.count_nonzero(counts)]
    rows = np.zeros(len(counts), np.int32)
    rows[order] = np.arange(len(order))
    vocabulary = Vocabulary(tags.dictionary.take(to_arrow(order)), counts[order])
    return Pairs(ids.astype(np.int32), rows[old], np.empty(0) if weights is None else weights), vocabulary


class PairSource(NamedTuple):
    """Pairs, and their numbers in the order of a chunk, `order` (draws,) int64.

    noise: (contexts,) alias table of the noise distribution. windows_per_draw: pairs with the same negative samples.
    """

    words: np.ndarray
    contexts: np.ndarray
    order: np.ndarray
    noise: np.ndarray
    windows_per_draw: int


@entry_point
def fill_pairs(block: Block, source: PairSource, random: np.ndarray) -> int:
    """Read the next pairs into a block, and draw their negative samples; returns how many.

    A pair is a window of one context for the kernel: the context of the pair is the centre i, and its word `inputs[i -
    1]`.
    """
    begin = block.cursor[POSITION]
    size = smaller(block.words.shape[0] - 1, block.cursor[END] - begin)
    for i in range(1, size + 1):
        pair = source.order[begin + i - 1]
        block.words[i], block.inputs[i - 1] = source.contexts[pair], source.words[pair]
        block.start[i], block.stop[i] = i - 1, i + 1
    # With spacing 1, consecutive pairs share negative samples: in random order they rarely have a word in common.
    draw_noise(block.noise, source.noise, 1, source.windows_per_draw, 1, size + 1, random)
    block.cursor[POSITION], block.cursor[FIRST], block.cursor[LAST] = begin + size, 1, size + 1 if size > 0 else 0
    return size  # type: ignore[no-any-return]


@dataclass(frozen=True)
class ContextStream(ItemStream):
    """Words with contexts. A pair is read as often in an epoch as its weight says, rounded up or down.

    Arguments:
        cumulative_weights: float64 (pairs,), empty if pairs have no weights.
        n_words: words of the vocabulary.
        noise: negative samples of a pair.
        size: pairs in a block.
    """

    source: PairSource
    cumulative_weights: NDArray[np.float64]
    n_words: int
    noise: int
    size: int = BLOCK_SIZE
    unit: ClassVar[str] = "pairs"
    fill_from = fill_pairs

    @property
    def units(self) -> int:
        """The number of pairs."""
        return len(self.source.words)

    def new_block(self) -> Block:
        """A block for one thread; its inputs are not its words."""
        block = new_block(1, self.noise, self.size)
        return block._replace(inputs=np.zeros_like(block.words))

    def is_valid(self, block: Block, chunk: Chunk) -> bool:
        """Whether training can continue inside a chunk from a block that was read from a file."""
        limits = {"words": len(self.source.noise), "noise": len(self.source.noise), "inputs": self.n_words}
        limits |= {"start": len(block.words), "stop": len(block.words) + 1}
        is_inside = all(all_in_range(getattr(block, name), stop) for name, stop in limits.items())
        is_ordered = bool(0 <= block.cursor[FIRST] <= max(block.cursor[LAST], 1) <= len(block.words))
        return is_inside and is_ordered and super().is_valid(block, chunk)

    def draws(self, begin: int, end: int, offset: float) -> NDArray[np.int64]:
        """The numbers of the pairs of a share."""
        weights = self.cumulative_weights
        return systematic_draws(weights, begin, end, offset) if len(weights) else np.arange(begin, end)

    def chunks(self, begin: int, end: int, order: np.random.Generator | None) -> Iterator[Chunk]:
        """One chunk of the pairs of a share in an epoch, in random order or that of the table."""
        if order is not None:
            return self.shuffled_chunks(begin, end, order)
        return iter([Chunk(self.source._replace(order=self.draws(begin, end, 0.5)), 0, end - begin)])

    def shuffled_chunks(self, begin: int, end: int, order: np.random.Generator) -> Iterator[Chunk]:
        """The pairs of the share in random order."""
        draws = order.permutation(self.draws(begin, end, order.random()))
        return iter([Chunk(self.source._replace(order=draws), 0, end - begin)])


@dataclass(frozen=True, kw_only=True)
class GivenContexts(Trainer, ObjectiveChoice, VocabularySize, Schedule, Dimension):
    """Skip-gram with given contexts: each word predicts those that a table pairs it with, such as dependencies."""

    trainer_name = "given-contexts"
    tokenizer = "whitespace"
    case = "keep"
    reads_contexts = True
    unsupported = frozenset({"continued"})
    min_count: int = option(
        5, "Drop words and contexts that are in fewer rows, whatever their weights.", ge=1, common=True
    )
    shuffle: bool = option(
        True,
        "Read each thread's share of the pairs in a new random order in every epoch.",
        flags="--shuffle/--no-shuffle",
    )

    def plan(self, data: TrainingData) -> Plan:
        """A model with the table "documents" (contexts, dim) of contexts that are its tags.

        With an objective without a row for each word, there are the tables of the objective for contexts instead.
        """
        pairs, contexts = read_pairs(data.encoded, len(data.vocabulary), self.min_count)
        kind: type[Objective] = self.word_objective.implementation()
        objective, has_rows = kind(self, contexts, self.dim), self.word_objective.has_word_rows
        tables = {"words": word_vectors(len(data.vocabulary), self.dim)}
        for name, table in objective.tables().items():
            saved_as = DOCUMENTS if name == "output" and has_rows else f"context_{name}"
            tables[name] = replace(table, axis="other", saved_as=saved_as)
        source = PairSource(
            pairs.words,
            pairs.contexts,
            np.empty(0, np.int64),
            alias_table(objective.noise_weights),
            self.windows_per_draw,
        )
        size = REPLICA_BLOCK_SIZE if data.has_replicas else BLOCK_SIZE
        stream = ContextStream(source, np.cumsum(pairs.weights), len(data.vocabulary), objective.noise, size)
        return Plan(
            tables=tables,
            stream=stream,
            kernel=learn_block,
            operands=lambda arrays: SkipGramOperands(arrays["words"], objective.operand(arrays)),
            buffers=lambda: new_step_buffers(1, objective.max_targets, padded(self.dim)),
            loss_is_estimate=objective.estimates_loss,
            tags=contexts.column if has_rows else None,
            record={"pairs": stream.units, "contexts": len(contexts)},
        )
