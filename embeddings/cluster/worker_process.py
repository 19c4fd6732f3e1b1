"""The Ray actor of a worker: receives text, hosts replicas, and exchanges rows."""

import os
import socket
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from time import perf_counter
from typing import Any

from embeddings import registry
from embeddings.cluster.cluster_task import ClusterTask
from embeddings.cluster.distributed_text import CountedWords, Fragment, SentText, TextPiece
from embeddings.cluster.replica_host import MergedTables, ReplicaHost, ShareProgress
from embeddings.cluster.row_exchange import MergedRows
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.sources import File
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.models.model_files import package_versions
from embeddings.models.table import Arrays
from embeddings.support.system import free_memory


class WorkerProcess:
    """A worker; all methods are called by the process that started the run."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.host: ReplicaHost | None = None
        self.piece = TextPiece([], {}, 1)

    def describe(self, trainer: str, module: str) -> dict[str, Any]:
        """Package versions, a missing package, the machine, and its free memory."""
        import ray

        versions, missing = package_versions() | registry.package_of("trainer", trainer), None
        try:
            if module != "__main__":  # sent as code
                import_module(module)
        except ImportError as error:
            missing = error.name or module
        node, machine = ray.get_runtime_context().get_node_id(), socket.gethostname()
        return {"versions": versions, "missing": missing, "node": node, "machine": machine, "free": free_memory()}

    def encode(self, files: Sequence[File], settings: dict[str, Any], threads: int) -> tuple[Any, ...]:
        """Encode a piece of the text; returns (description, number of tokens, seconds) and the words."""
        started = perf_counter()
        self.piece = TextPiece(files, settings, threads)
        return (self.piece.meta, self.piece.tokens, perf_counter() - started), self.piece.counted_words()

    def merge_words(self, first: CountedWords, second: CountedWords, max_types: int | None) -> CountedWords:
        """Merge the words of two groups of pieces."""
        return first.merge(second, max_types)

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
        self.host = ReplicaHost(task, self.number, text.receive())
        return self.host.progress()

    @property
    def replicas(self) -> ReplicaHost:
        """The replicas."""
        assert self.host is not None
        return self.host

    def load(self, version: int, tables: MergedTables, progress: dict[int, ShareProgress]) -> None:
        """Continue from merged tables and from `progress`."""
        self.replicas.load(version, tables, progress)

    def learn(
        self, version: int, epochs: int, share: float | None, learning_rate_factor: float, *sent: Any
    ) -> tuple[Any, ...]:
        """Continue from a merge, and learn an interval; returns a report, and the changed rows of each part."""
        self.replicas.advance(version, sent)
        report = self.replicas.learn(epochs, share, learning_rate_factor)
        changes = self.replicas.changes()
        return replace(report, sent=self.replicas.exchange.bytes_sent()), *changes

    def changes(self) -> tuple[Any, ...]:
        """Send the changed rows of each part again, after a None."""
        return None, *self.replicas.changes()

    def merge(self, *changes: Any) -> tuple[None, MergedRows]:
        """Merge a part of the rows; returns None, and the merged rows."""
        return None, self.replicas.merge(changes)

    def part_of_tables(self, version: int, *sent: Any) -> Arrays:
        """Continue from a merge, and return a part of the merged tables."""
        self.replicas.advance(version, sent)
        return self.replicas.part_of_tables()

    def all_tables(self, version: int, *sent: Any) -> tuple[int, MergedTables]:
        """Continue from a merge, and return the version and the merged tables."""
        self.replicas.advance(version, sent)
        return version, self.replicas.all_tables()

    def close(self) -> None:
        """Remove temporary files."""
        self.piece.close()
        if self.host is not None and isinstance(self.host.data.encoded, EncodedCorpus):
            self.host.data.encoded.close()
