"""A worker of a cluster: its text, its replicas and the threads that train them, and the exchange of rows."""

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from threading import Event
from typing import Any, Self, cast

import numpy as np

from embeddings import registry
from embeddings.cluster.cluster_task import ClusterTask
from embeddings.cluster.distributed_text import Fragment, SentText, TextPiece
from embeddings.cluster.row_exchange import Changes, MergedRows, RowExchange
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.sources import File
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.models.model_files import package_versions
from embeddings.models.table import Arrays, copy_into
from embeddings.training.progress import Tally
from embeddings.training.replicas import ReplicaTables
from embeddings.training.run_options import RunOptions
from embeddings.training.stream import CorpusShare, ShareOfStream
from embeddings.training.training_data import TrainingData
from embeddings.training.worker import Worker, run_threads


@dataclass(frozen=True)
class ShareProgress:
    """The progress of one thread: the state of its `Worker`, and its row of the tally."""

    state: dict[str, Any]
    arrays: dict[str, np.ndarray]
    words: int = 0
    steps: float = 0.0
    sums: Sequence[float] = (0.0, 0.0)
    epoch_sums: Sequence[list[float]] = ()

    @classmethod
    def with_counts(cls, state: dict[str, Any], arrays: dict[str, np.ndarray], tally: Tally, share: int) -> Self:
        """The state of a thread with the row of a share in the tally."""
        sums = [one.tolist() for one in tally.epoch_sums[share]]
        words, steps = int(tally.words[share]), float(tally.steps[share])
        return cls(state, arrays, words, steps, tally.sums[share].tolist(), sums)

    def restore_counts(self, tally: Tally, share: int) -> None:
        """Set the row of a share in the tally."""
        tally.words[share], tally.steps[share] = self.words, self.steps
        tally.sums[share] = self.sums
        tally.epoch_sums[share] = [np.array(sums) for sums in self.epoch_sums]


class WorkerProcess:
    """A worker; the process that started the run calls its methods. `version` counts the merges in its tables."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.encoded: EncodedCorpus | CorpusShare | None = None
        self.piece = TextPiece([], {}, 1)

    def describe(self, trainer: str, module: str) -> dict[str, Any]:
        """Package versions, a missing package, and the machine."""
        import ray

        # Compared before any text is sent: other versions of numpy or numba may give other bytes.
        versions, missing = package_versions() | registry.package_of("trainer", trainer), None
        try:
            if module != "__main__":  # sent as code
                import_module(module)
        except ImportError as error:
            missing = error.name or module
        node, machine = ray.get_runtime_context().get_node_id(), socket.gethostname()
        return {"versions": versions, "missing": missing, "node": node, "machine": machine}

    def encode(self, files: Sequence[File], settings: dict[str, Any], threads: int) -> tuple[Any, ...]:
        """Encode a piece of the text; returns (description, number of tokens) and the words."""
        self.piece = TextPiece(files, settings, threads)
        return (self.piece.meta, self.piece.tokens), self.piece.vocabulary

    def merge_words(self, first: Vocabulary, second: Vocabulary) -> Vocabulary:
        """Merge the words of two groups of pieces."""
        return first.merge(second)

    def set_position(
        self, offset: int, vocabulary: Vocabulary, positions: Sequence[int]
    ) -> tuple[tuple[int, int], list[int]]:
        """Set the position and vocabulary of the piece; returns hashes of the piece, and the lines near positions."""
        return self.piece.set_position(offset, vocabulary), self.piece.lines_near(positions)

    def cut(self, begin: int, end: int) -> Fragment:
        """Some tokens of the piece."""
        return self.piece.cut(begin, end)

    def process(self) -> int:
        """The number of this process."""
        return os.getpid()

    def start(self, task: ClusterTask, text: SentText) -> dict[int, ShareProgress]:
        """Receive the text and allocate tables; returns the progress of a run that has read nothing."""
        number, encoded = self.number, text.receive()
        self.task, self.encoded, hosted = task, encoded, task.replicas_of(number)
        data = TrainingData(
            task.trainer, cast(EncodedCorpus, encoded), task.vocabulary, task.threads_per_worker, task.seed, None,
            RunOptions(replicas=task.replicas), threads_per_replica=task.threads_per_replica,
        )  # fmt: skip
        plan = task.trainer.plan(data)
        if isinstance(encoded, CorpusShare):  # its stream knows all shares
            place: dict[str, Any] = {"offset": task.tokens_of(number)[0], "first_line": encoded.first_line}
            plan = replace(plan, stream=ShareOfStream(**vars(plan.stream), all_bounds=task.bounds, **place))
        if plan.vocabulary is not None:
            data = replace(data, vocabulary=plan.vocabulary)
        self.base, self.version = plan.allocate(data.seed), 0
        replicas = replace(task.replicas, count=len(hosted))
        self.tables = ReplicaTables(replicas, plan.tables, self.base, task.threads_per_worker)
        self.tally = Tally(
            data.shares, data.schedule, task.bounds[-1], plan.stream.unit, loss_is_estimate=plan.loss_is_estimate,
            shares=np.diff(task.bounds).tolist(),
        )  # fmt: skip
        self.workers = {}
        for share in task.shares_of(number):
            tables = self.tables.tables(share // task.threads_per_replica - hosted.start)
            self.workers[share] = Worker(data, plan, tables, self.tally, share, task.frozen)
        # One compilation serves all threads of the process.
        next(iter(self.workers.values())).compile()
        self.exchange: RowExchange | None = None
        if task.workers > 1:
            self.exchange = RowExchange(task, number, plan.tables, self.base, self.tables.copies)
            self.exchange.compile()
        return self.progress()

    def load(self, version: int, tables: Arrays, progress: Mapping[int, ShareProgress]) -> None:
        """Continue from merged tables and the progress at their merge; raises ValueError if unfit for the stream."""
        for name, table in self.base.items():
            copy_into(table, np.asarray(tables[name]))
        self.tables.broadcast()
        for share, worker in self.workers.items():
            # A worker may be inside a chunk from before the loss of another worker; its position is that of the
            # merge.
            worker.chunk = None
            worker.restore(progress[share].state, progress[share].arrays)
            progress[share].restore_counts(self.tally, share)
        self.version = version

    def advance(self, version: int, merged: Sequence[MergedRows | None]) -> None:
        """Set the merged rows of other workers, with None for this one, unless the tables hold this merge already."""
        # Several calls can carry the same merge, whose rows must be merged once.
        if version <= self.version:
            return
        if self.exchange is None:
            self.tables.merge()
        else:
            self.exchange.set_merged([self.exchange.merged_rows(), *(part for part in merged if part is not None)])
        self.version = version

    def learn(
        self, version: int, epochs: int, share: float | None, learning_rate_factor: float, *merged: MergedRows | None
    ) -> tuple[Any, ...]:
        """Continue from a merge, and learn until the epochs are complete, or the `share` of training is done.

        Returns the progress of the shares, and for each worker the changed rows that it merges, None for this one.
        """
        self.advance(version, merged)
        self.tally.learning_rate_factor = learning_rate_factor
        workers, threads = [*self.workers.values()], self.task.threads_per_worker

        def work(thread: int, halt: Event) -> None:
            # Replicas learn one after another on a thread: their number, not that of threads, decides the result.
            for worker in workers[thread::threads]:
                worker.run_until(epochs, halt, share)

        run_threads(work, threads, lambda: False)
        changes = [None] if self.exchange is None else self.exchange.changes()
        return self.progress(), *changes

    def progress(self) -> dict[int, ShareProgress]:
        """The progress of all shares, with positions in the whole corpus; the arrays are copies."""
        progress = {}
        for share, worker in self.workers.items():
            arrays = {name: array.copy() for name, array in worker.arrays().items()}
            if isinstance(worker.stream, ShareOfStream):
                worker.stream.move(arrays["block.cursor"], worker.chunk, 1)
            progress[share] = ShareProgress.with_counts(worker.state(), arrays, self.tally, share)
        return progress

    def merge(self, *changes: Changes | None) -> MergedRows | None:
        """Merge a part of the rows; returns the merged rows, which `advance` sets in the tables."""
        if self.exchange is None:
            return None
        return self.exchange.merge_part([part for part in changes if part is not None])

    def part_of_tables(self, version: int, *merged: MergedRows | None) -> Arrays:
        """Continue from a merge, and return this worker's part of all merged tables."""
        self.advance(version, merged)
        return {name: self.task.part_of(table, self.number) for name, table in self.base.items()}

    def close(self) -> None:
        """Remove temporary files."""
        self.piece.close()
        if isinstance(self.encoded, EncodedCorpus):
            self.encoded.close()
