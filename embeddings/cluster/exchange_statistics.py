"""Statistics of a run on a cluster: words per second of each worker, and the time that merging and waiting take.

An interval is the time from where workers begin to learn to where they can go on from the merged tables. Waiting is
what workers wait, on average, until the slowest one has learned; merging is the rest, in which no worker learns:
finding, sending, merging and taking over rows, and messages.
"""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

import numpy as np

from embeddings.cluster.replica_host import Report, ShareProgress


class ExchangeStatistics:
    """Counts of a run; a worker that is replaced counts on."""

    def __init__(self, workers: int) -> None:
        self.words, self.seconds = np.zeros(workers), np.zeros(workers)  # of learning, by worker
        self.total = self.merging = self.waiting = 0.0  # seconds of the run
        self.sent_bytes = self.merges = self.peak_memory = self.base_memory = self.store_memory = 0
        self.replaced: list[int] = []  # workers, in order

    def add_interval(self, reports: Mapping[int, Report], before: Mapping[int, ShareProgress], seconds: float) -> None:
        """Add an interval until all reports arrived after these seconds."""
        learning = [report.seconds for report in reports.values()]
        self.total += seconds
        self.merging += seconds - max(learning)
        self.waiting += max(learning) - fmean(learning)
        for number, report in reports.items():
            self.sent_bytes += report.sent
            self.seconds[number] += report.seconds
            self.peak_memory = max(self.peak_memory, report.memory)
            self.base_memory = max(self.base_memory, report.base_memory)
            self.store_memory = max(self.store_memory, report.store_memory)
            self.words[number] += sum(one.words - before[share].words for share, one in report.progress.items())

    def add_merge(self, seconds: float) -> None:
        """Add a merge, and the rest of the interval."""
        self.merges += 1
        self.total += seconds
        self.merging += seconds

    @property
    def merge_share(self) -> float:
        """The share of time that merging takes."""
        return self.merging / self.total if self.total else 0.0

    @property
    def waiting_share(self) -> float:
        """The share of their time that workers wait for slower ones."""
        return self.waiting / self.total if self.total else 0.0

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
            f"merging {100 * self.merge_share:.0f} %, waiting {100 * self.waiting_share:.0f} %, "
            f"slowest worker {slowest}: {self.speeds[slowest] / 1e6:.2f} M/s"
        )

    @property
    def record(self) -> dict[str, Any]:
        """The statistics as JSON values."""
        return {
            "words_per_second_by_worker": [round(speed) for speed in self.speeds],
            "merge_share": round(self.merge_share, 4),
            "waiting_share": round(self.waiting_share, 4),
            "merge_seconds": round(self.merging, 4),
            "merges": self.merges,
            "exchanged_bytes": self.sent_bytes,
            "peak_memory_bytes": self.peak_memory,
            "base_memory_bytes": self.base_memory,
            "store_memory_bytes": self.store_memory,
            "replaced_workers": self.replaced,
        }
