"""Training on a cluster: time, merges and memory of local workers, and the calculated time of larger clusters."""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from time import process_time
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from embeddings.cluster.cluster_task import ClusterTask
from embeddings.cluster.ray_runtime import connected
from embeddings.cluster.row_exchange import RowExchange
from embeddings.kernels.row_operations import padded
from embeddings.models.table import Table
from embeddings.training.replicas import Replicas
from studies.grid import Grid, Rows, collect, markdown

WORKERS, ROWS = 4, 50_000  # for which costs of rows are measured
THREADS = 16 * 0.85  # of a machine, times an efficiency: an assumption
BANDWIDTH = 1.25e9  # bytes per second, in both directions at once
VOCABULARY, WORDS = 10**6, 10**12  # to read in all epochs
MACHINES, INTERVALS = (1, 2, 4, 16), (64_000_000, 256_000_000, 1_000_000_000)


class Cluster(Grid):
    """Trains skip-gram on --workers local workers (requires ray), each of one thread.

    With --without-times, for a machine that is not idle, times are left out. The rows also have CPU seconds: those of
    learning and merging of the worker that has most.
    """

    results = "cluster/results"
    keys = rows = ("workers",)
    columns: ClassVar = {
        "seconds": ".1f", "merging": ".1%", "merges": ".0f", "GB of changed rows": ".2f",
        "GB of memory": ".2f", "without tables": ".2f", "object store": ".2f",
    }  # fmt: skip
    defaults: ClassVar = {
        "corpus": "sample",
        "workers": [1, 2, 3, 4],
        "epochs": 5,
        "without_times": False,
        "precision": "float32",
    }

    def measure(self, workers: int) -> Iterable[Sequence[Any]]:
        """What a run takes."""
        cluster, corpus = (
            em.training.Cluster(f"local:{workers}", precision=self.options.precision),
            em.Corpus(self.options.corpus),
        )
        record = em.train("skipgram", corpus, dim=100, epochs=self.options.epochs, cluster=cluster).record
        statistics = record["cluster"]
        times = {"seconds": record["seconds"], "merging": statistics["merge_share"]}
        values = {
            "CPU seconds": max(statistics["cpu_seconds_by_worker"]),
            "merges": statistics["merges"], "GB of changed rows": statistics["exchanged_bytes"] / 1e9,
            "GB of memory": statistics["peak_memory_bytes"] / 1e9,
            "without tables": statistics["base_memory_bytes"] / 1e9,
            "object store": statistics["store_memory_bytes"] / 1e9,
        }  # fmt: skip
        return [*({} if self.options.without_times else times).items(), *values.items()]


class ClusterPlan(Grid):
    """Calculates the time of clusters from measured costs (requires ray).

    The costs are CPU seconds of one thread: to learn a word of --corpus, to find, pack, merge and set a row, and to put
    a byte into the object store. All else is assumed: machines of 16 cores with an efficiency of 85 %, links of
    10 Gbit/s in both directions at once, a million words, of which each is changed in each interval by each machine,
    10^12 words to read, and no overlap of learning and merging.
    """

    results = "cluster/plan"
    keys = ("precision",)
    defaults: ClassVar = {"corpus": "sample", "precision": ["float32", "int16"], "dim": 300}

    def measure(self, precision: str) -> Iterable[Sequence[Any]]:
        """CPU seconds for a word, a row, and a byte in the object store."""
        dim, corpus = self.options.dim, em.Corpus(self.options.corpus)
        yield from row_costs(dim, precision).items()
        encoded = corpus.encode()
        one, three = (
            cpu_seconds(lambda epochs=epochs: em.train("skipgram", corpus, dim=dim, epochs=epochs, threads=1), times=3)
            for epochs in (1, 3)
        )
        yield "learn", (three - one) / (2 * len(encoded.ids))

    def table(self, rows: Rows) -> str:
        """A row for each precision, interval and number of machines."""
        costs = {
            key: {name: value[0] for name, value in one.items()} for (key,), one in collect(rows, "precision").items()
        }
        learn, lines, table_rows = min(one["learn"] for one in costs.values()), [], 2 * VOCABULARY
        for (precision, one), every, machines in product(costs.items(), INTERVALS, MACHINES):
            share, learning, size = 1 - 1 / machines, every * learn / THREADS, one["bytes"]
            work = table_rows * (one["pack"] + one["merge"] + one["set"]) / THREADS
            stored = table_rows * (share + 1 / machines) * size * one["store"]
            merging = work + stored + 2 * table_rows * share * size / BANDWIDTH if machines > 1 else 0
            hours = WORDS / (machines * every) * (learning + merging) / 3600
            speed = machines * learning / (learning + merging)
            numbers = [f"{hours:.2f}", f"{speed:.1f}", f"{merging / (learning + merging):.0%}"]
            lines.append([f"`{precision}`", f"{every // 10**6:,} M", str(machines), *numbers])
        heads = ["changes", "merge every", "machines", "hours", "speed-up", "merging"]
        return markdown(heads, lines, names=(0,))


def row_costs(dim: int, precision: str) -> dict[str, float]:
    """CPU seconds for a row: to find and pack it, to merge it with others, to set it; its bytes, and storing a byte."""
    rng, width, replicas = np.random.default_rng(1), padded(dim), Replicas(WORKERS, precision=precision)  # type: ignore[arg-type]
    base, vocabulary = rng.standard_normal((ROWS, width), np.float32), em.corpora.Vocabulary(["a"], [1])
    task = ClusterTask(em.SkipGram(dim=dim), vocabulary, 1, replicas, WORKERS, 1, 1, parts=WORKERS, bounds=[])
    declared, exchanges = {"": Table(rows=ROWS, dim=dim, axis="words")}, []
    for number in range(WORKERS):
        copies = base[np.newaxis] + rng.normal(0, 0.01, (1, ROWS, width)).astype(np.float32)
        exchanges.append(RowExchange(task, number, declared, {"": base}, {"": copies}))
    own, *others = [exchange.changes() for exchange in exchanges]
    parts, first = [other[0] for other in others], exchanges[0]
    merged, size = first.merge_part(parts), sum(array.nbytes for array in own[1][0, first.segments[0]])
    with connected(em.training.Cluster("local:1")) as ray:
        store = cpu_seconds(lambda: ray.put(own[1]))
    return {
        "pack": cpu_seconds(first.changes) / ROWS, "merge": cpu_seconds(lambda: first.merge_part(parts)) / ROWS,
        "set": cpu_seconds(lambda: first.set_merged([merged])) * WORKERS / ROWS,
        "bytes": size * WORKERS / ROWS, "store": store / size,
    }  # fmt: skip


def cpu_seconds(work: Callable[[], object], times: int = 20) -> float:
    """The least CPU seconds of a call; the first of several does not count."""
    seconds = []
    for _ in range(times + (times > 1)):
        started = process_time()
        work()
        seconds.append(process_time() - started)
    return min(seconds[times > 1 :])
