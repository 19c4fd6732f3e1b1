"""Random walks over a graph as sentences for trainers of words (node2vec, Grover and Leskovec 2016)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from embeddings.compilation.jit import entry_point, inline
from embeddings.corpora.reading.reader import SourceReader
from embeddings.corpora.reading.sources import resolve_source
from embeddings.corpora.reading.word_contexts import ContextFormat
from embeddings.errors import CorpusError
from embeddings.kernels.random_numbers import random_bits, thread_keys
from embeddings.settings.setting_fields import check_value

WALKS_AT_ONCE = 4096
EDGES_AT_ONCE = 1 << 26  # edges that steps may look at before the interpreter notices Ctrl-C again


class Graph(NamedTuple):
    """A graph as sparse rows: edges lead from node v to the sorted nodes `heads[starts[v] : starts[v + 1]]`.

    `sums` (edges,) are the sums of the weights of the edges of a node up to each one.
    """

    starts: np.ndarray
    heads: np.ndarray
    weights: np.ndarray
    sums: np.ndarray


@dataclass(frozen=True)
class RandomWalks:
    """Random walks from each node of a graph, lists of the names of nodes; the same ones in each iteration.

    Arguments:
        edges: a table, or tuples, of two nodes and, optionally, a weight, as for `ContextFormat`.
        walks: walks from each node.
        length: nodes in a walk; a walk ends early at a node that no edge leaves.
        p: the return parameter; with a large one walks seldom step back.
        q: the in-out parameter; with a small one walks leave the neighbourhood of a node.
        directed: whether edges lead from the first node to the second only.
        seed: seed of the walks.
    """

    edges: Any
    walks: int = 10
    length: int = 80
    p: float = 1.0
    q: float = 1.0
    directed: bool = False
    seed: int = 1

    def __post_init__(self) -> None:
        limits = {"walks": (1, 2**31), "length": (2, 2**20), "p": (1e-6, 1e6), "q": (1e-6, 1e6), "seed": (0, 2**63 - 1)}
        for name, (low, high) in limits.items():
            check_value(name, getattr(self, name), type(low), {"ge": low, "le": high})

    def read_graph(self) -> tuple[list[str], Graph]:
        """The names of the nodes and the edges. Raises CorpusError if there are none."""
        sources, numbers, edges = resolve_source(self.edges), dict[str, int](), []
        reader = SourceReader("strict", columns=ContextFormat().row_reader(None))
        for source in sources:
            for rows in reader.table_rows(source):
                weights = np.ones(len(rows)) if rows.weights is None else rows.weights
                for *names, weight in zip(rows.texts[0].to_pylist(), rows.tags.to_pylist(), weights, strict=True):
                    edges.append([*(numbers.setdefault(name, len(numbers)) for name in names), weight])
        edge = np.array([edge for edge in edges if edge[2] > 0], np.float64).reshape(-1, 3)
        if not len(edge):
            raise CorpusError(f"{', '.join(source.name for source in sources)} has no edges of positive weight")
        if not self.directed:
            edge = np.concatenate([edge, edge[edge[:, 0] != edge[:, 1]][:, [1, 0, 2]]])
        tails, heads, weights = edge[np.lexsort((edge[:, 1], edge[:, 0]))].T
        starts = np.searchsorted(tails, np.arange(len(numbers) + 1))
        # so that the sum of many large weights is finite
        weights = weights / weights.max()
        sums = np.concatenate([np.cumsum(part) for part in np.split(weights, starts[1:-1])])
        return list(numbers), Graph(starts, heads.astype(np.int64), weights, sums)

    def __iter__(self) -> Iterator[list[str]]:
        """A walk from each node, in random order, then the next from each node, and so on."""
        (names, graph), rng = self.read_graph(), np.random.default_rng(self.seed)
        edges_per_walk = self.length * int(np.diff(graph.starts).max())
        at_once = max(1, min(WALKS_AT_ONCE, EDGES_AT_ONCE // edges_per_walk))
        for key in thread_keys(self.seed, self.walks):
            order, random = rng.permutation(len(names)), np.array([key, 0], np.uint64)
            for part in np.split(order, range(at_once, len(order), at_once)):
                walks = np.full((len(part), self.length), -1, np.int64)
                walks[:, 0] = part
                write_walks(graph, walks, 1 / self.p, 1 / self.q, random)
                yield from ([names[node] for node in walk if node >= 0] for walk in walks.tolist())


@entry_point
def write_walks(graph: Graph, walks: np.ndarray, back: float, out: float, random: np.ndarray) -> None:
    """Continue walks (walks, length) from their first nodes; section 3.2.2 of Grover and Leskovec (2016).

    From v, reached from t, to x with probability proportional to w(v, x) a(t, x), where w is the weight of the edge and
    a is `back` = 1 / p if x = t, 1 if an edge leads from t to x, and else `out` = 1 / q.
    """
    for walk in walks:
        for place in range(1, walk.shape[0]):
            node, before, total = walk[place - 1], walk[place - 2] if place > 1 else -1, 0.0
            begin, end = graph.starts[node], graph.starts[node + 1]
            if back == 1 and out == 1 and begin < end:  # without bias, a node of many edges takes few steps
                random[1] += np.uint64(1)
                drawn = (random_bits(random[0], random[1]) >> np.uint64(11)) * 2.0**-53 * graph.sums[end - 1]
                edge = begin + np.searchsorted(graph.sums[begin:end], drawn, side="right")
                walk[place] = graph.heads[min(edge, end - 1)]
                continue
            for edge in range(begin, end):
                total += graph.weights[edge] * bias(graph, before, graph.heads[edge], back, out)
            random[1] += np.uint64(1)
            total *= (random_bits(random[0], random[1]) >> np.uint64(11)) * 2.0**-53
            for edge in range(begin, end):
                total -= graph.weights[edge] * bias(graph, before, graph.heads[edge], back, out)
                if total < 0 or edge == end - 1:
                    walk[place] = graph.heads[edge]
                    break
            if begin == end:
                break


@inline
def bias(graph: Graph, before: int, head: int, back: float, out: float) -> float:
    """The factor a of the weight of an edge to `head`; 1 at the beginning of a walk, where `before` is -1."""
    if head == before:
        return back
    heads = graph.heads[graph.starts[before] : graph.starts[before + 1]]
    is_near = before < 0 or np.searchsorted(heads, head) < np.searchsorted(heads, head, side="right")
    return 1.0 if is_near else out
