"""Training on a cluster of local workers: time, merges, and memory."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import embeddings as em
from studies.grid import Grid


class Cluster(Grid):
    """Trains skip-gram on --workers local workers (requires ray), each of one thread.

    With --without-times, for a machine that is not idle, times are left out.
    """

    results = "cluster/results"
    keys = rows = ("workers",)
    columns: ClassVar = {
        "seconds": ".1f", "merging": ".1%", "merges": ".0f", "GB of changed rows": ".2f", "GB of memory": ".2f",
        "without tables": ".2f", "object store": ".2f",
    }  # fmt: skip
    defaults: ClassVar = {"corpus": "sample", "workers": [1, 2, 3, 4], "epochs": 5, "without_times": False}

    def measure(self, workers: int) -> Iterable[Sequence[Any]]:
        """What a run takes."""
        cluster, corpus = em.training.Cluster(f"local:{workers}"), em.Corpus(self.options.corpus)
        record = em.train("skipgram", corpus, dim=100, epochs=self.options.epochs, cluster=cluster).record
        statistics = record["cluster"]
        times = {"seconds": record["seconds"], "merging": statistics["merge_share"]}
        values = {
            "merges": statistics["merges"], "GB of changed rows": statistics["exchanged_bytes"] / 1e9,
            "GB of memory": statistics["peak_memory_bytes"] / 1e9,
            "without tables": statistics["base_memory_bytes"] / 1e9,
            "object store": statistics["store_memory_bytes"] / 1e9,
        }  # fmt: skip
        return [*({} if self.options.without_times else times).items(), *values.items()]
