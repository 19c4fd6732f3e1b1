"""Failures of workers: each is reported, and too many of one worker end the run."""

from embeddings.cluster.cluster_options import ClusterError
from embeddings.cluster.exchange_statistics import ExchangeStatistics
from embeddings.cluster.ray_runtime import ADVICE, one_line
from embeddings.support.logs import log, notice

MAX_FAILURES = 3  # of a worker in one interval


class FailureCounts:
    """The failures of each worker in one interval."""

    def __init__(self, statistics: ExchangeStatistics) -> None:
        self.statistics = statistics
        self.by_worker: dict[int, int] = {}

    def clear(self) -> None:
        """Begin an interval."""
        self.by_worker = {}

    def count(self, number: int, error: BaseException, *, is_replaced: bool = True) -> None:
        """Report a failure; raises ClusterError if there were too many."""
        self.by_worker[number] = self.by_worker.get(number, 0) + 1
        reason = one_line(error)
        if self.by_worker[number] > MAX_FAILURES:
            raise ClusterError(
                f"worker {number} failed {self.by_worker[number]} times in one interval: {reason:.200}; {ADVICE}"
            )
        if not is_replaced:
            notice(f"rows that worker {number} needs were lost from the object store; they are sent again")
            return
        self.statistics.replaced.append(number)
        notice(f"worker {number} was lost ({type(error).__name__}); a new one repeats its words since the last merge")
        log.info("worker %s was lost: %s", number, reason)
