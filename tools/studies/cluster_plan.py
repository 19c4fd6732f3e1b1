"""Training on clusters that are too large to try: time and memory from measured costs and a corpus's frequencies.

The rows that a replica changes in n words: word i, of the frequency p_i, is read n p_i k_i times on average, where k_i
is the share that subsampling keeps, and drawn n' q_i times as a negative sample. A word that occurs in a part of a text
occurs there b times, so 1 - exp(-n p_i k_i / b) of the input rows change, and 1 - exp(-n p_i k_i / b - n' q_i) of the
output rows; b follows from how many different words intervals of the text have. Two workers send each other
their changed rows, and merge all. Of more workers each sends and receives its changed rows, and then the rows that any
worker changed, without its own part.
"""

import json
import platform
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product
from math import isinf
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

import embeddings as em
from embeddings.cluster.cluster_task import ClusterTask
from embeddings.cluster.cluster_training import next_interval, number_of_parts
from embeddings.cluster.ray_runtime import connected
from embeddings.cluster.row_exchange import RowExchange, SentChanges
from embeddings.cluster.row_exchange import Rows as ChangedRows
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.eval.benchmark.workspace import write_text
from embeddings.kernels.row_operations import padded
from embeddings.models.table import Table
from embeddings.settings import BATCH_WINDOWS
from embeddings.support.system import available_threads
from embeddings.training.replicas import FIRST_INTERVAL, MergeSchedule, Replicas, default_interval
from studies.grid import Grid, Rows, Study, beside, collect, markdown

DIMS, SUBSAMPLE, NEGATIVES = (100, 300), 1e-3, 5
SAMPLE_ROWS, SAMPLE_REPLICAS, SAMPLE_BYTES = 50_000, 4, 1 << 24
MESSAGE_REPLICAS, MESSAGE_INTERVAL = 2, 2_000
CURVE_POINTS, CURVE_GROUPS = 200, 2000
BURST_WORDS, BURST_SAMPLES = (5_000, 20_000, 50_000, 200_000, 800_000, 3_200_000), 20
THREADS = 16 * 0.85  # of a machine, times their efficiency: an assumption
MERGE_EVERY = 64_000_000
MACHINES, GIGABITS, VOCABULARIES, WORDS = (4, 16, 64), (10, 100), (1_000_000, 5_000_000), (10**10, 10**12)
ROW_NUMBER = 8  # bytes that are sent with a row


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


class Curve(NamedTuple):
    """Groups of words of about the same frequency: the frequency of each, and how many words there are.

    bursts: of its words.
    known: the share of the text that is in the vocabulary.
    """

    frequencies: np.ndarray
    words: np.ndarray
    bursts: Bursts
    known: float = 1.0


class Job(NamedTuple):
    """A run: machines or workers, threads of each, bytes per second to and from each, and its settings.

    The bandwidth is infinite for workers on one machine.
    """

    machines: int
    threads: float
    bandwidth: float
    vocabulary: int
    dim: int
    words: int
    merge_every: int
    epochs: int = 1  # at whose end there is a merge more


class Estimate(NamedTuple):
    """Seconds of learning and of merging, merges, bytes of changed rows that a machine receives, bytes of memory."""

    learning: float
    merging: float
    merges: int
    received: float
    memory: float

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.learning + self.merging


def kept_share(frequencies: np.ndarray) -> np.ndarray:
    """The share of each word that subsampling keeps."""
    ratio = SUBSAMPLE / frequencies
    return np.asarray(np.minimum(1, np.sqrt(ratio) + ratio))


def measure_bursts(ids: np.ndarray, vocabulary: Vocabulary) -> Bursts:
    """The sizes of bursts with which as many different words are expected in an interval as there are."""
    rng, known = np.random.default_rng(1), vocabulary.tokens / vocabulary.total
    frequencies = vocabulary.counts / vocabulary.tokens
    kept, words, sizes = kept_share(frequencies), [], []
    for count in (one for one in BURST_WORDS if one <= len(ids) / 4):
        distinct = []
        for start in np.unique(np.linspace(0, len(ids) - count, BURST_SAMPLES).astype(int)):
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


def seconds_of(work: Any, clock: Any = time.process_time) -> float:
    """Seconds of a call, after one call more; the mean over at least one second."""
    work()
    started, count = clock(), 0
    while clock() - started < 1:
        work()
        count += 1
    return float(clock() - started) / count


def measure_rows(dim: int) -> dict[str, float]:
    """CPU seconds for a byte: of a table, of changed rows, of those of all replicas, and of rows that are set."""
    rng, width, replicas = np.random.default_rng(1), padded(dim), Replicas(SAMPLE_REPLICAS)
    base = {"": rng.random((SAMPLE_ROWS, width), np.float32)}
    copies = {"": base[""][np.newaxis].copy()}
    vocabulary, workers = em.corpora.Vocabulary(["a"], [1]), SAMPLE_REPLICAS
    task = ClusterTask(em.SkipGram(dim=dim), vocabulary, 1, replicas, workers, 1, 1, parts=1, bounds=[])
    exchange = RowExchange(task, 0, {"": Table(rows=SAMPLE_ROWS, dim=dim, axis="words")}, base, copies)
    scan = seconds_of(exchange.changes)  # which finds nothing
    rows, before = np.arange(0, SAMPLE_ROWS, 2), base[""].copy()
    copies[""][0, rows] += np.float32(0.01)
    copy = seconds_of(exchange.changes) - scan
    (segment,), sent = exchange.segments, ChangedRows(rows, before[rows] + np.float32(0.02))
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
    with connected(em.training.Cluster("local:1")) as ray:
        send = seconds_of(lambda: ray.get(ray.put(values)), time.perf_counter) / SAMPLE_BYTES
    cluster = em.training.Cluster(f"local:{MESSAGE_REPLICAS}", merge_every=MESSAGE_INTERVAL)
    model = em.train("skipgram", "sample", dim=8, min_count=1_000, epochs=2, cluster=cluster)
    statistics = model.record["cluster"]
    return {"send": send, "message": statistics["merge_seconds"] / statistics["merges"]}


class ClusterCosts(Study):
    """Measures the costs of training on a cluster (requires ray).

    CPU seconds of learning, and of finding, merging and applying changed rows, seconds of messages, and some points of
    the rank-frequency curve and the bursts of words of --corpus.
    """

    results = "cluster/costs"
    defaults: ClassVar = {"corpus": "sample"}

    def make(self, out: Path, *, only_table: bool = False, processes: int = 1) -> None:
        """Write the costs as JSON."""
        corpus = em.Corpus(self.options.corpus)
        encoded, messages = corpus.encode(), measure_messages()
        vocabulary = encoded.vocabulary.select(min_count=5)
        costs = {dim: Costs(learn=measure_learning(corpus, dim), **measure_rows(dim), **messages) for dim in DIMS}
        ranks = np.unique(np.geomspace(1, len(vocabulary), CURVE_POINTS).astype(int))
        frequencies = vocabulary.counts[ranks - 1] / vocabulary.tokens
        content = {
            "machine": f"{platform.processor() or platform.machine()}, one thread",
            "corpus": f"{len(encoded.ids):,} words",
            "costs": {str(dim): one._asdict() for dim, one in costs.items()},
            "bursts": measure_bursts(encoded.ids, vocabulary)._asdict(),
            "curve": {"ranks": ranks.tolist(), "frequencies": frequencies.tolist()},
        }
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(json.dumps(content, indent=1) + "\n", beside(out, ".json"))


def extended_curve(content: dict[str, Any], vocabulary: int) -> Curve:
    """The curve of so many words: between measured ranks and beyond them by a power law."""
    ranks, values = np.log(content["curve"]["ranks"]), np.log(content["curve"]["frequencies"])
    slope = np.polyfit(ranks[len(ranks) // 2 :], values[len(ranks) // 2 :], 1)[0]
    bounds = np.unique(np.geomspace(1, vocabulary + 1, CURVE_GROUPS).astype(int))
    wanted = np.log((bounds[:-1] + bounds[1:] - 1) / 2)
    beyond = values[-1] + slope * (wanted - ranks[-1])
    result = np.exp(np.where(wanted <= ranks[-1], np.interp(wanted, ranks, values), beyond))
    return Curve(result / (result * np.diff(bounds)).sum(), np.diff(bounds), Bursts(**content["bursts"]))


def changed_per_interval(curve: Curve, words: float) -> tuple[np.ndarray, np.ndarray]:
    """The probability that an input and an output row of each group changes in so many words of a replica."""
    read = words * curve.known * curve.frequencies * kept_share(curve.frequencies)
    noise = curve.frequencies**0.75
    noise = noise / (noise * curve.words).sum()
    drawn = (read * curve.words).sum() * NEGATIVES / BATCH_WINDOWS
    bursts = read / curve.bursts.size(words)
    return 1 - np.exp(-bursts), 1 - np.exp(-bursts - drawn * noise)


def intervals(job: Job) -> Iterator[tuple[float, int]]:
    """The words that a machine reads between two merges, and how many intervals of these words there are."""
    schedule, total = MergeSchedule(job.machines, job.merge_every), job.words / job.machines
    merges = [total * epoch / job.epochs for epoch in range(job.epochs + 1)]
    while schedule.next_merge < total:
        merges.append(schedule.next_merge)
        schedule.advance()
    yield from Counter(np.diff(np.sort(merges)).tolist()).items()


def estimate_alone(job: Job, costs: Costs) -> Estimate:
    """The time and memory of a run on one machine: it merges nothing, and takes its tables over once a second."""
    table, seconds = job.vocabulary * 4 * padded(job.dim), costs.learn / job.threads
    merges, interval, read = job.epochs, FIRST_INTERVAL, FIRST_INTERVAL
    while read < job.words:
        interval = next_interval(interval, interval * seconds)
        read, merges = read + interval, merges + 1
    merging = merges * (costs.scan + costs.apply) * 2 * table / job.threads
    return Estimate(job.words * seconds, merging, merges, 0, 4 * table)


def estimate(job: Job, costs: Costs, curve: Curve) -> Estimate:
    """The time and memory of a run."""
    if job.machines == 1:
        return estimate_alone(job, costs)
    width, others = 4 * padded(job.dim), job.machines - 1
    table, share = job.vocabulary * width, others / job.machines
    merging, received, merges, largest = 0.0, 0.0, 0, 0.0
    for words, count in intervals(job):
        own = changed_per_interval(curve, words)
        rows = sum(float((part * curve.words).sum()) for part in own)
        everything = sum(float(((1 - (1 - part) ** job.machines) * curve.words).sum()) for part in own)
        part, applied, merged, messages = everything / job.machines, everything, rows, 2
        changed, stored, held = rows * share, rows * share + part, 2 * rows + part
        if number_of_parts(job.machines) == 1:  # each gets all changes, and merges them where they are
            applied, merged, messages = 0, rows * job.machines, 1
            changed, stored, held = rows * others, 0.0 if isinf(job.bandwidth) else rows, rows * (job.machines + 1)
        cpu = costs.scan * 2 * table + costs.copy * rows * width
        cpu += costs.merge * merged * width + costs.apply * 2 * applied * width
        sent = costs.send * stored * width + costs.message * messages
        merging += count * (
            cpu / job.threads + sent + (changed + applied * share) * (width + ROW_NUMBER) / job.bandwidth
        )
        received += count * changed * (width + ROW_NUMBER)
        merges, largest = merges + count, max(largest, held * width)
    learning = job.words / job.machines * costs.learn / job.threads
    return Estimate(learning, merging, merges, received, 4 * table + largest)


def read_costs(folder: Path) -> dict[str, Any]:
    """The costs that the study `cluster-costs` measured."""
    return json.loads((folder / "costs.json").read_text(encoding="utf-8"))


class ClusterCheck(Grid):
    """Trains on --workers local workers (requires ray): what was measured beside what is calculated.

    The folder --costs has the costs.json of the study `cluster-costs`. With --without-times, for a machine that is not
    idle, times are left out.
    """

    results = "cluster/check"
    keys = ("workers",)
    defaults: ClassVar = {
        "corpus": "sample", "workers": [1, 2, 3, 4], "epochs": 5, "costs": "eval/results/cluster",
        "without_times": False,
    }  # fmt: skip

    @cached_property
    def curve(self) -> Curve:
        """The frequencies of the corpus."""
        encoded = em.Corpus(self.options.corpus).encode()
        vocabulary = encoded.vocabulary.select(min_count=5)
        bursts, known = measure_bursts(encoded.ids, vocabulary), vocabulary.tokens / vocabulary.total
        return Curve(vocabulary.counts / vocabulary.tokens, np.ones(len(vocabulary)), bursts, known)

    def measure(self, workers: int) -> Iterable[Sequence[Any]]:
        """What a run takes, and what it should take."""
        costs, epochs = Costs(**read_costs(Path(self.options.costs))["costs"]["100"]), self.options.epochs
        cluster, curve = em.training.Cluster(f"local:{workers}"), self.curve
        record = em.train("skipgram", em.Corpus(self.options.corpus), dim=100, epochs=epochs, cluster=cluster).record
        statistics, threads = record["cluster"], min(1.0, available_threads() / workers)
        every, size = default_interval(workers), len(curve.words)
        job = Job(workers, threads, float("inf"), size, 100, record["words"], every, epochs)
        expected = estimate(job, costs, curve)
        times = {
            "seconds": record["seconds"], "calculated seconds": expected.seconds,
            "merging": statistics["merge_share"], "calculated merging": expected.merging / expected.seconds,
        }  # fmt: skip
        values = {
            "merges": statistics["merges"], "calculated merges": expected.merges,
            "GB of changed rows": statistics["exchanged_bytes"] / 1e9,
            "calculated GB": workers * expected.received / 1e9,
            "GB of memory": statistics["peak_memory_bytes"] / 1e9,
            "without tables": statistics["base_memory_bytes"] / 1e9,
            "object store": statistics["store_memory_bytes"] / 1e9,
            "calculated tables and rows": expected.memory / 1e9,
        }  # fmt: skip
        return [*({} if self.options.without_times else times).items(), *values.items()]

    def table(self, rows: Rows) -> str:
        """A row for each number of workers."""
        values = collect(rows, "workers")
        heads = list(dict.fromkeys(row["measure"] for row in rows))
        lines = [
            [number, *(f"{one:.0f}" if one.is_integer() else f"{one:.3g}" for name in heads for one in measures[name])]
            for (number,), measures in values.items()
        ]
        return markdown(["workers", *heads], lines, names=0)


class ClusterPlan(Study):
    """Plans training on clusters from the costs.json in the folder of --out."""

    results = "cluster/plan"

    def page(self, out: Path) -> str:
        """A row for each number of words, vocabulary, dimension and number of machines."""
        content = read_costs(out.parent)
        speeds = [head for gigabits in GIGABITS for head in (f"{gigabits} Gbit/s: hours", "speed-up", "merging")]
        rows = []
        for words, vocabulary, dim, machines in product(WORDS, VOCABULARIES, DIMS, MACHINES):
            curve, costs = extended_curve(content, vocabulary), Costs(**content["costs"][str(dim)])
            row = [f"{words // 10**9:,} G" if words < 10**12 else f"{words // 10**12:,} T", f"{vocabulary // 10**6} M"]
            row += [str(dim), str(machines)]
            for gigabits in GIGABITS:
                job = Job(machines, THREADS, gigabits * 1.25e8, vocabulary, dim, words, MERGE_EVERY)
                one = estimate(job, costs, curve)
                row += [f"{one.seconds / 3600:.3g}", f"{words * costs.learn / THREADS / one.seconds:.3g}"]
                row += [f"{100 * one.merging / one.seconds:.0f} %"]
            rows.append([*row, f"{one.memory / 1e9:.3g}"])
        return markdown(["words", "vocabulary", "dim", "machines", *speeds, "memory, GB"], rows, names=0)
