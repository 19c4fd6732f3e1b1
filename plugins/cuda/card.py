"""A run on a GPU: one thread reads the corpus part by part, and between halts the tables are on the card."""

import warnings
from collections import namedtuple
from dataclasses import replace
from typing import Any

import numpy as np
from numba import cuda

from embeddings.errors import S, SettingError
from embeddings.kernels.block import END, LAST, POSITION, BlockSource, is_valid_cursor, new_cursor
from embeddings.kernels.loss_tally import report_loss
from embeddings.kernels.random_numbers import LOW_MASK, random_bits
from embeddings.models.table import Arrays
from embeddings.plugins.cuda.window_kernel import CHUNK, NEW_LINE, row_width, window_kernel
from embeddings.training.plan import Plan
from embeddings.training.run import TrainingError
from embeddings.training.training_data import TrainingData

PART = 1 << 21  # words that are sent to the card at a time, and learned at one rate
MIN_PARTS = 20  # of a run, so that the learning rate falls in steps, unless parts would have less than a chunk
THREADS = 128  # of a block: 4 warps
SHARED_WINDOWS = 4  # that have the same negative samples with negative_sharing="batch"
MAX_COPIES = 140  # see `most_warps`
MEMORY_SHARE = 0.9  # of the free memory of a card, for tables and parts
FREQUENT, MAX_NORM = 100, 100.0  # rows whose norms are watched, as they have most copies, and their limit
TABLES = "words", "output"
PartBlock = namedtuple("PartBlock", "cursor")  # the place of the next part, all that a checkpoint needs


class Card:
    """A card with the tables of a run, a kernel for them, and the part of the corpus that was read last.

    Arguments:
        plan: that of the trainer; `self.plan` is the one for the card.

    Raises:
        SettingError: the tables do not fit into the memory of the card.
    """

    def __init__(self, data: TrainingData, plan: Plan, number: int) -> None:
        trainer: Any = data.trainer
        stream: Any = plan.stream
        source: BlockSource = stream.source
        cuda.select_device(number)
        card, free = cuda.get_current_device(), cuda.current_context().get_memory_info().free
        self.number, self.dim, self.width, words = number, trainer.dim, row_width(trainer.dim), len(data.vocabulary)
        self.part_words = min(PART, max(stream.units * trainer.epochs // MIN_PARTS, CHUNK))
        needed = 4 * self.width * words * len(TABLES) + 12 * (words + self.part_words)
        if needed > MEMORY_SHARE * free:
            raise SettingError(
                f"the tables take {needed / 1e9:.1f} GB, but {card.name} has {free / 1e9:.1f} GB free: use fewer words "
                f"or dimensions, or {S.device('cpu')}"
            )
        share, is_cbow = SHARED_WINDOWS if source.windows_per_draw > 1 else 1, trainer.trainer_name == "cbow"
        kept = data.vocabulary.counts * (source.keep_thresholds / float(LOW_MASK))
        allowed = most_warps(data.vocabulary.noise_weights(trainer.noise_exponent), kept, share, source.window)
        blocks = card.MULTIPROCESSOR_COUNT * (4 if self.width <= 128 else 2)  # as many as registers allow
        self.blocks = max(min(blocks, allowed * 32 // THREADS), 1)
        with warnings.catch_warnings():  # that so few blocks do not fill the card
            warnings.simplefilter("ignore")
            self.kernel = window_kernel(
                trainer.dim, trainer.negatives, source.window, share, source.shrink_window, is_cbow,
                card.compute_capability >= (9, 0),  # from which a card adds four numbers at a time
            )[self.blocks, THREADS]  # fmt: skip
        self.sampling = cuda.to_device(source.keep_thresholds), cuda.to_device(source.noise)
        self.plan = replace(
            plan,
            stream=replace(
                stream, make_block=lambda: PartBlock(new_cursor()), fill_from=self.read,
                is_valid_block=lambda block, source, *bounds: is_valid_cursor(block.cursor, source.lines, *bounds),
            ),
            kernel=lambda block, card, buffers, rate: report_loss(buffers, *card.learn(rate)),
            operands=self.attach, load=Card.load, store=Card.store,
            record={**plan.record, "device": str(card.name)},
        )  # fmt: skip

    def read(self, block: Any, source: BlockSource, random: np.ndarray) -> int:
        """Read the next part, as the kernel takes it: ids (words,), base and key; returns its number of words."""
        begin, end = block.cursor[[POSITION, END]].tolist()
        stop = min(begin + self.part_words, end)
        ids, lines = np.array(source.ids[begin:stop], np.int32), source.lines
        ids[lines[slice(*np.searchsorted(lines, [begin, stop]))] - begin] |= NEW_LINE
        self.part = ids, begin, np.uint64(random_bits(random[0], random[1]))
        random[1] += np.uint64(1)
        block.cursor[[POSITION, LAST]] = stop, stop - begin
        return len(ids)

    def attach(self, tables: Arrays) -> "Card":
        """Take the tables of a run, and copy them to the card."""
        self.tables = [tables[name] for name in TABLES]
        self.load()
        return self

    def load(self) -> None:
        """Copy the tables to the card, which this thread uses from now on."""
        cuda.select_device(self.number)
        padding = (0, 0), (0, self.width - self.dim)
        rows = (np.pad(table[:, : self.dim], padding) for table in self.tables)
        self.on_card = [cuda.to_device(one.reshape(-1)) for one in rows]

    def store(self) -> None:
        """Copy the tables from the card."""
        for table, on_card in zip(self.tables, self.on_card, strict=True):
            table[:, : self.dim] = on_card.copy_to_host().reshape(len(table), self.width)[:, : self.dim]

    def learn(self, rate: float) -> tuple[float, int, int]:
        """Learn from the part; returns the loss and the number of examples of sampled windows, and the steps."""
        counter, total = cuda.to_device(np.zeros(1, np.int32)), cuda.to_device(np.zeros(3, np.float32))
        ids, base, key = self.part
        self.kernel(cuda.to_device(ids), base, *self.sampling, *self.on_card, counter, total, np.float32(rate), key)
        loss, examples, steps = total.copy_to_host().tolist()
        self.check_norms()
        return loss, int(examples), int(steps)

    def check_norms(self) -> None:
        """Refuse to go on if rows of frequent words have grown beyond what training on a CPU gives."""
        for name, table in zip(TABLES, self.on_card, strict=True):
            rows = table[: FREQUENT * self.width].copy_to_host().reshape(-1, self.width)
            if not (largest := float(np.linalg.norm(rows, axis=1).max())) < MAX_NORM:  # or it is not a number
                raise TrainingError(
                    f"training diverged on the GPU: a row of the table {name} has the norm {largest:.3g}; use a lower "
                    f"{S.learning_rate}, or {S.device('cpu')}"
                )


def most_warps(noise: np.ndarray, kept: np.ndarray, windows: int, window: int) -> int:
    """How many warps may learn at a time.

    Each learns on copies of rows, and all changes are added. With too many copies of the most frequent word at a time
    their sum overshoots, and vectors are worthless without any error.

    Arguments:
        noise: how often each word is a negative sample (vocabulary,), a copy for so many `windows`.
        kept: how often it is left by subsampling: a centre, or one of about `window` contexts, a copy for one step.
    """
    copies = windows * noise.max() / noise.sum() + (1 + window) * kept.max() / kept.sum()
    return max(int(MAX_COPIES / copies), 1)
