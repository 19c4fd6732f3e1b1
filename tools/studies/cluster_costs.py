"""Costs of training on a cluster, measured on this machine."""

import json
import platform
import time
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

import embeddings as em
from embeddings.cluster.cluster_task import ClusterTask
from embeddings.cluster.ray_runtime import connected
from embeddings.cluster.row_exchange import RowExchange, Rows, SentChanges
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.eval.benchmark.workspace import write_text
from embeddings.kernels.row_operations import padded
from embeddings.models.table import Table
from embeddings.training.replicas import Replicas
from studies.grid import Study, beside

DIMS = (100, 300)
SUBSAMPLE = 1e-3
SAMPLE_ROWS, SAMPLE_REPLICAS, SAMPLE_BYTES = 50_000, 4, 1 << 24
MESSAGE_REPLICAS, MESSAGE_INTERVAL = 2, 2_000
CURVE_POINTS, BURST_WORDS, BURST_SAMPLES = 200, (5_000, 20_000, 50_000, 200_000, 800_000, 3_200_000), 20


class Costs(NamedTuple):
    """Seconds of one thread: CPU seconds for a word and for a byte of rows, seconds for a byte sent and for a merge."""

    learn: float
    scan: float
    copy: float
    merge: float
    apply: float
    send: float
    message: float


class Bursts(NamedTuple):
    """How often a rare word occurs in so many words in a row, if it occurs: words of a text come in bursts."""

    words: list[int]
    sizes: list[float]

    def size(self, words: float) -> float:
        """Their size in an interval; that of the longest measured interval, if it is longer."""
        return float(np.interp(np.log(max(words, 1)), np.log(self.words), self.sizes))


def kept_share(frequencies: np.ndarray) -> np.ndarray:
    """The share of each word that subsampling keeps."""
    ratio = SUBSAMPLE / frequencies
    return np.asarray(np.minimum(1, np.sqrt(ratio) + ratio))


def measure_bursts(ids: np.ndarray, vocabulary: Vocabulary) -> Bursts:
    """The sizes of bursts with which as many different words are expected in an interval as there are."""
    rng, known = np.random.default_rng(1), vocabulary.tokens / vocabulary.total
    frequencies = vocabulary.counts / vocabulary.tokens
    kept, words, sizes = kept_share(frequencies), [], []
    for count in BURST_WORDS:
        starts = np.unique(np.linspace(0, len(ids) - count, BURST_SAMPLES).astype(int)) if count <= len(ids) / 4 else ()
        if not len(starts):
            break
        distinct = []
        for start in starts:
            part = np.asarray(ids[start : start + count])
            part = part[(part >= 0) & (part < len(vocabulary))]
            distinct.append(len(np.unique(part[rng.random(len(part)) < kept[part]])))
        occurrences, low, high = count * known * frequencies * kept, 1.0, 16.0
        for _ in range(40):
            size = (low + high) / 2
            is_too_small = (1 - np.exp(-occurrences / size)).sum() > np.mean(distinct)
            low, high = (size, high) if is_too_small else (low, size)
        words, sizes = [*words, count], [*sizes, round(low, 4)]
    return Bursts(words or [1], sizes or [1.0])


def seconds_of(work: Any, least: float = 1.0, clock: Any = time.process_time) -> float:
    """Seconds of a call, after one call more; the mean over at least this many seconds."""
    work()
    started, count = clock(), 0
    while clock() - started < least:
        work()
        count += 1
    return float(clock() - started) / count


def measure_rows(dim: int) -> dict[str, float]:
    """CPU seconds for a byte: of a table, of changed rows, of those of all replicas, and of rows that are set."""
    rng, width, replicas = np.random.default_rng(1), padded(dim), Replicas(SAMPLE_REPLICAS)
    base = {"": rng.random((SAMPLE_ROWS, width), np.float32)}
    copies = {"": base[""][np.newaxis].copy()}
    task = ClusterTask(em.SkipGram(dim=dim), em.Vocabulary(["a"], [1]), 1, replicas, SAMPLE_REPLICAS, 1, 1, 1, [])
    exchange = RowExchange(task, 0, {"": Table(rows=SAMPLE_ROWS, dim=dim, axis="words")}, base, copies)
    scan = seconds_of(exchange.changes)  # which finds nothing
    rows, before = np.arange(0, SAMPLE_ROWS, 2), base[""].copy()
    copies[""][0, rows] += np.float32(0.01)
    copy = seconds_of(exchange.changes) - scan
    (segment,), sent = exchange.segments, Rows(rows, before[rows] + np.float32(0.02))
    others = SentChanges({(replica, segment): sent for replica in range(1, SAMPLE_REPLICAS)}, "", "", False)

    def restore() -> None:
        base[""][:], copies[""][0] = before, before

    def merge() -> None:
        restore()
        exchange.merge_all([others])

    seconds = seconds_of(merge) - seconds_of(restore)
    applied = seconds_of(lambda: exchange.set_merged([{segment: sent}]))
    size = 4.0 * width * len(rows)
    return {"scan": scan / base[""].nbytes, "copy": copy / size, "merge": seconds / (SAMPLE_REPLICAS * size),
            "apply": applied / (2 * size)}  # fmt: skip


def measure_learning(corpus: em.Corpus, dim: int) -> float:
    """CPU seconds for a word: those of three epochs without those of one."""

    def train(epochs: int) -> float:
        started = time.process_time()
        em.train("skipgram", corpus, dim=dim, epochs=epochs, threads=1)
        return time.process_time() - started

    train(1)
    words = len(corpus.encode().ids)
    return (train(3) - train(1)) / (2 * words)


def measure_messages() -> dict[str, float]:
    """Seconds for a merge of few rows, and for a byte that goes through the object store of this machine."""
    values = np.zeros(SAMPLE_BYTES, np.uint8)
    with connected(em.Cluster("local:1")) as ray:
        send = seconds_of(lambda: ray.get(ray.put(values)), clock=time.perf_counter) / SAMPLE_BYTES
    cluster = em.Cluster(f"local:{MESSAGE_REPLICAS}", merge_every=MESSAGE_INTERVAL)
    model = em.train("skipgram", "sample", dim=8, min_count=1_000, epochs=2, cluster=cluster)
    statistics = model.record["cluster"]
    return {"send": send, "message": statistics["merge_seconds"] / statistics["merges"]}


def rank_frequency(vocabulary: Vocabulary) -> dict[str, list[float]]:
    """Some points of the rank-frequency curve."""
    ranks = np.unique(np.geomspace(1, len(vocabulary), CURVE_POINTS).astype(int))
    return {"ranks": ranks.tolist(), "frequencies": (vocabulary.counts[ranks - 1] / vocabulary.tokens).tolist()}


class ClusterCosts(Study):
    """Measures the costs of training on a cluster (requires ray).

    CPU seconds of learning, and of finding, merging and applying changed rows, seconds of messages, and the
    rank-frequency curve and the bursts of words of --corpus.
    """

    results = "cluster/costs"
    defaults: ClassVar = {"corpus": "sample"}

    def make(self, out: Path, *, only_table: bool = False, processes: int = 1) -> None:
        """Write the costs as JSON."""
        corpus = em.Corpus(self.options.corpus)
        encoded, messages = corpus.encode(), measure_messages()
        vocabulary = encoded.vocabulary.select(min_count=5)
        costs = {dim: Costs(learn=measure_learning(corpus, dim), **measure_rows(dim), **messages) for dim in DIMS}
        content = {
            "machine": f"{platform.processor() or platform.machine()}, one thread",
            "corpus": f"{len(encoded.ids):,} words",
            "costs": {str(dim): one._asdict() for dim, one in costs.items()},
            "bursts": measure_bursts(encoded.ids, vocabulary)._asdict(),
            "curve": rank_frequency(vocabulary),
        }
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(json.dumps(content, indent=1) + "\n", beside(out, ".json"))
