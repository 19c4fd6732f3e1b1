"""The time to the first answers of `embeddings explore`, and the latency of later ones."""

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from time import perf_counter, sleep, time_ns
from typing import Any, ClassVar
from urllib.parse import urlencode, urlsplit

import numpy as np

import embeddings as em
from studies.grid import Grid

DIM, CENTRES, QUERIES = 100, 200, 50


class ExplorerTimes(Grid):
    """Measures `embeddings explore`: the time to the first answers, and the latency of later ones.

    The vectors are random, 100 components around 200 centres, in memory-mapped files. Kernels must be compiled before,
    for instance by a first run.
    """

    results = "explore"
    keys = rows = ("words",)
    columns: ClassVar = {
        "page, s": ".2f", "first neighbours, s": ".2f", "first completion, s": ".2f", "neighbours, ms": ".1f",
        "completion, ms": ".1f", "analogy, ms": ".1f", "comparison, ms": ".1f", "map of 10,000 words, s": ".1f",
        "peak memory, MB": ",.0f",
    }  # fmt: skip
    defaults: ClassVar = {"words": [100_000, 1_000_000]}

    def measure(self, words: int) -> Iterator[Sequence[Any]]:
        """Seconds and milliseconds of answers, and MB of memory."""
        path = self.folder / f"{words}.arrow"
        write_vectors(words, path)
        explorer = Explorer(path)
        info, firsts = explorer.ask("info"), [explorer.seconds()]
        explorer.ask("neighbours", word=info["examples"][0])
        firsts.append(explorer.seconds())
        explorer.ask("complete", prefix="a")
        firsts.append(explorer.seconds())
        starts = [chr(97 + i % 26) + chr(97 + i // 26) for i in range(QUERIES)]
        asked = [explorer.ask("complete", prefix=start)["words"][0] for start in starts]
        latencies = [
            latency(lambda word: explorer.ask("neighbours", word=word, top=20), asked),
            latency(lambda word: explorer.ask("complete", prefix=word[:2], limit=8), asked),
            latency(lambda word: explorer.ask("analogy", a=asked[0], b=asked[1], c=word), asked),
            latency(lambda word: explorer.ask("compare", a=asked[0], b=word), asked[:10]),
        ]
        start = perf_counter()
        while explorer.ask("map", version=10**8)["done"] < 1:
            sleep(0.2)
        map_seconds = perf_counter() - start
        explorer.close()
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        yield from zip(self.columns, (*firsts, *latencies, map_seconds, memory), strict=True)


class Explorer:
    """A running command."""

    def __init__(self, path: Path) -> None:
        self.start = perf_counter()
        command = [sys.executable, "-m", "embeddings", "explore", str(path), "--no-browser", "--quiet"]
        command += ["--projection", "tsne", "--seed", str(time_ns())]  # a map that is not in the cache
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        self.address = urlsplit(self.process.stdout.readline().strip())
        self.connection = HTTPConnection("127.0.0.1", self.address.port or 0, timeout=600)

    def ask(self, question: str, **parameters: object) -> Any:
        """The answer to a question."""
        headers = {"Authorization": f"Bearer {self.address.fragment}"}
        self.connection.request("GET", f"/api/{question}?{urlencode(parameters)}", headers=headers)
        return json.loads(self.connection.getresponse().read())

    def close(self) -> None:
        """End the command."""
        self.connection.close()
        with self.process:
            self.process.terminate()

    def seconds(self) -> float:
        """The time since the command was started."""
        return perf_counter() - self.start


def write_vectors(words: int, path: Path) -> None:
    """Write random vectors."""
    rng = np.random.default_rng(1)
    centres = rng.standard_normal((CENTRES, DIM)).astype(np.float32)
    rows = centres[rng.integers(0, CENTRES, words)] + rng.standard_normal((words, DIM), np.float32)
    letters = rng.integers(0, 26, (words, 3))
    names = ["".join(chr(97 + one) for one in part) + str(row) for row, part in enumerate(letters.tolist())]
    em.Vectors(names, rows).save(path)


def latency(run: Callable[[str], object], words: Sequence[str]) -> float:
    """The median time of a question in milliseconds."""
    times = []
    for word in words:
        start = perf_counter()
        run(word)
        times.append(perf_counter() - start)
    return 1000 * median(times)
