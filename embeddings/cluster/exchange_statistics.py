"""Statistics of a run on a cluster: words per second of each worker, and the time that merging and waiting take."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from embeddings.cluster.replica_host import Report, ShareProgress


class ExchangeStatistics:
    """Counts of a run; a worker that is replaced counts on."""

    def __init__(self, workers: int) -> None:
        self.words, self.seconds = np.zeros(workers), np.zeros(workers)  # of learning, by worker
        self.learning = self.merging = 0.0  # seconds of the run
        self.received_bytes = self.merges = self.peak_memory = 0
        self.replaced: list[int] = []  # workers, in order

    def add_interval(self, reports: Mapping[int, Report], before: Mapping[int, ShareProgress], seconds: float) -> None:
        """Add an interval of learning, which took these seconds in all."""
        self.learning += seconds
        for number, report in reports.items():
            self.seconds[number] += report.seconds
            self.peak_memory = max(self.peak_memory, report.memory)
            self.words[number] += sum(one.words - before[share].words for share, one in report.progress.items())

    def add_merge(self, received: int, seconds: float) -> None:
        """Add a merge, for which workers received these bytes of changed rows."""
        self.received_bytes, self.merges = self.received_bytes + received, self.merges + 1
        self.merging += seconds

    @property
    def merge_share(self) -> float:
        """The share of time that merging takes."""
        total = self.learning + self.merging
        return self.merging / total if total else 0.0

    @property
    def waiting_share(self) -> float:
        """The share of their time that workers wait for slower ones, or for messages."""
        workers = len(self.seconds)
        return 1 - float(self.seconds.sum()) / (workers * self.learning) if self.learning else 0.0

    @property
    def speeds(self) -> list[float]:
        """Words per second of learning, by worker."""
        return (self.words / np.maximum(self.seconds, 1e-9)).tolist()  # type: ignore[no-any-return]

    @property
    def line(self) -> str:
        """A summary for progress displays."""
        if not self.merges:
            return ""
        slowest = int(np.argmin(self.speeds))
        return (
            f"merging {100 * self.merge_share:.0f} %, waiting {100 * max(self.waiting_share, 0):.0f} %, "
            f"slowest worker {slowest}: {self.speeds[slowest] / 1e6:.2f} M/s"
        )

    @property
    def record(self) -> dict[str, Any]:
        """The statistics as JSON values."""
        return {
            "words_per_second_by_worker": [round(speed) for speed in self.speeds],
            "merge_share": round(self.merge_share, 4),
            "waiting_share": round(self.waiting_share, 4),
            "merges": self.merges,
            "exchanged_bytes": self.received_bytes,
            "peak_memory_bytes": self.peak_memory,
            "replaced_workers": self.replaced,
        }
