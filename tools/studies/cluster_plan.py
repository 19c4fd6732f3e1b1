"""Training on clusters that are too large to try: time and memory from measured costs and a corpus's frequencies.

The rows that a replica changes in n words: word i, of the frequency p_i, is read n p_i k_i times on average, where k_i
is the share that subsampling keeps, and drawn n' q_i times as a negative sample. A word that occurs in a part of a text
occurs there b times, so 1 - exp(-n p_i k_i / b) of the input rows change, and 1 - exp(-n p_i k_i / b - n' q_i) of the
output rows; b follows from how many different words intervals of the text have. Two workers send each other
their changed rows, and merge all. Of more workers each sends and receives its changed rows, and then the rows that any
worker changed, without its own part.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product
from math import isinf
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

import embeddings as em
from embeddings.cluster.cluster_training import next_interval, number_of_parts
from embeddings.eval.benchmark.workspace import write_text
from embeddings.kernels.row_operations import padded
from embeddings.settings import BATCH_WINDOWS
from embeddings.support.system import available_threads
from embeddings.training.replicas import FIRST_INTERVAL, MergeSchedule, default_interval
from studies.cluster_costs import DIMS, Bursts, Costs, kept_share, measure_bursts
from studies.grid import Grid, Rows, Study, beside, collect, markdown

NEGATIVES = 5
THREADS, THREAD_EFFICIENCY = 16, 0.85  # of a machine: an assumption
MERGE_EVERY = 64_000_000
MACHINES, GIGABITS, VOCABULARIES, WORDS = (1, 4, 16, 64), (10, 100), (1_000_000, 5_000_000), (10**10, 10**12)
ROW_NUMBER = 8  # bytes that are sent with a row
TIMES = ("seconds", "calculated seconds", "merging", "calculated merging")
CURVE_GROUPS = 2000


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
    """What a run takes: seconds, bytes that a machine receives of changed rows, and bytes of memory."""

    learning: float
    merging: float
    merges: int
    received: float
    memory: float

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.learning + self.merging


class Curve(NamedTuple):
    """Groups of words of about the same frequency: the frequency of each, and how many words there are.

    bursts: of its words.
    known: the share of the text that is in the vocabulary.
    """

    frequencies: np.ndarray
    words: np.ndarray
    bursts: Bursts
    known: float = 1.0


def extended_curve(content: dict[str, Any], vocabulary: int) -> Curve:
    """The curve of so many words: between measured ranks and beyond them by a power law."""
    curve = content["curve"]
    ranks, values = np.log(curve["ranks"]), np.log(curve["frequencies"])
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


class Exchange(NamedTuple):
    """Rows at a merge: changes that a worker receives, that it merges, sets, stores to send, and holds; messages."""

    changed: float
    merged: float
    applied: float
    stored: float
    held: float
    messages: int


def exchange_directly(job: Job, own_rows: float) -> Exchange:
    """Each worker gets all changes, and merges them where they are; two on one machine share memory."""
    others, stored = job.machines - 1, 0.0 if isinf(job.bandwidth) else own_rows
    return Exchange(own_rows * others, own_rows * job.machines, 0, stored, own_rows * (job.machines + 1), 1)


def exchange_parts(job: Job, own_rows: float, all_rows: float) -> Exchange:
    """Each worker gets the changes of a part of the rows, and the merged rows of the other parts."""
    share, part = 1 - 1 / job.machines, all_rows / job.machines
    return Exchange(own_rows * share, own_rows, all_rows, own_rows * share + part, 2 * own_rows + part, 2)


def take_overs(words: float, seconds: float) -> int:
    """How often the tables of a single worker are taken over, given the seconds for a word."""
    count, interval, read = 0, FIRST_INTERVAL, FIRST_INTERVAL
    while read < words:
        interval = next_interval(interval, interval * seconds)
        read, count = read + interval, count + 1
    return count


def estimate(job: Job, costs: Costs, curve: Curve) -> Estimate:
    """What a run takes. A single machine merges nothing, and takes its tables over once a second."""
    width = 4 * padded(job.dim)
    table = job.vocabulary * width
    learning = job.words / job.machines * costs.learn / job.threads
    merging, received, merges, largest = 0.0, 0.0, 0, 0.0
    if job.machines == 1:
        merges = take_overs(job.words, costs.learn / job.threads) + job.epochs
        return Estimate(learning, merges * (costs.scan + costs.apply) * 2 * table / job.threads, merges, 0, 4 * table)
    for words, count in intervals(job):
        own = changed_per_interval(curve, words)
        own_rows = sum(float((part * curve.words).sum()) for part in own)
        all_rows = sum(float(((1 - (1 - part) ** job.machines) * curve.words).sum()) for part in own)
        is_direct = number_of_parts(job.machines) == 1
        exchanged = exchange_directly(job, own_rows) if is_direct else exchange_parts(job, own_rows, all_rows)
        cpu = costs.scan * 2 * table + costs.copy * own_rows * width
        cpu += costs.merge * exchanged.merged * width + costs.apply * 2 * exchanged.applied * width
        traffic = (exchanged.changed + exchanged.applied * (1 - 1 / job.machines)) * (width + ROW_NUMBER)
        sent = costs.send * exchanged.stored * width + costs.message * exchanged.messages
        merging += count * (cpu / job.threads + sent + traffic / job.bandwidth)
        received += count * exchanged.changed * (width + ROW_NUMBER)
        merges += count
        largest = max(largest, exchanged.held * width)
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
        cluster, curve = em.Cluster(f"local:{workers}"), self.curve
        record = em.train("skipgram", em.Corpus(self.options.corpus), dim=100, epochs=epochs, cluster=cluster).record
        statistics, threads = record["cluster"], min(1.0, available_threads() / workers)
        every, size = default_interval(workers), len(curve.words)
        job = Job(workers, threads, float("inf"), size, 100, record["words"], every, epochs)
        expected = estimate(job, costs, curve)
        values = {
            "seconds": record["seconds"], "calculated seconds": expected.seconds,
            "merging": statistics["merge_share"], "calculated merging": expected.merging / expected.seconds,
            "merges": statistics["merges"], "calculated merges": expected.merges,
            "GB of changed rows": statistics["exchanged_bytes"] / 1e9,
            "calculated GB": workers * expected.received / 1e9,
            "GB of memory": statistics["peak_memory_bytes"] / 1e9,
            "without tables": statistics["base_memory_bytes"] / 1e9,
            "object store": statistics["store_memory_bytes"] / 1e9,
            "calculated tables and rows": expected.memory / 1e9,
        }  # fmt: skip
        return [one for one in values.items() if not (self.options.without_times and one[0] in TIMES)]

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

    def make(self, out: Path, *, only_table: bool = False, processes: int = 1) -> None:
        """Write the table."""
        write_text(plan_table(read_costs(out.parent)), beside(out, ".md"))


def plan_table(content: dict[str, Any]) -> str:
    """A row for each number of words, vocabulary, dimension and number of machines."""
    speeds = [head for gigabits in GIGABITS for head in (f"{gigabits} Gbit/s: hours", "speed-up", "merging")]
    rows = []
    for words, vocabulary, dim in product(WORDS, VOCABULARIES, DIMS):
        curve, costs = extended_curve(content, vocabulary), Costs(**content["costs"][str(dim)])
        threads = THREADS * THREAD_EFFICIENCY
        alone = words * costs.learn / threads
        for machines in MACHINES[1:]:
            jobs = [
                Job(machines, threads, gigabits * 1.25e8, vocabulary, dim, words, MERGE_EVERY) for gigabits in GIGABITS
            ]
            runs = [estimate(job, costs, curve) for job in jobs]
            cells = [cell for one in runs for cell in shown(one, alone)]
            name = f"{words // 10**9:,} G" if words < 10**12 else f"{words // 10**12:,} T"
            sizes = [name, f"{vocabulary // 10**6} M", str(dim), str(machines)]
            rows.append([*sizes, *cells, f"{runs[-1].memory / 1e9:.3g}"])
    return markdown(["words", "vocabulary", "dim", "machines", *speeds, "memory, GB"], rows, names=0)


def shown(run: Estimate, alone: float) -> tuple[str, str, str]:
    """Hours, how much faster than one machine, and the share of merging."""
    merging = f"{100 * run.merging / run.seconds:.0f} %"
    return f"{run.seconds / 3600:.3g}", f"{alone / run.seconds:.3g}", merging
