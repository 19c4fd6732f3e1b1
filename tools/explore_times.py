"""Measure `embeddings explore`: the time to the first answers, and the latency of later ones, as a Markdown table.

    python tools/explore_times.py eval/results/explore.md

The vectors are random, 100 components around 200 centres, in memory-mapped files. Kernels must be compiled before, for
instance by a first run; measure on an otherwise idle machine.
"""

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from time import perf_counter, sleep, time_ns
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy as np

import embeddings as em
from embeddings.support.markup import table_lines

SIZES = (100_000, 1_000_000)
DIM, CENTRES, QUERIES = 100, 200, 50
HEADER = ["words", "page, s", "first neighbours, s", "first completion, s", "neighbours, ms", "completion, ms"]
HEADER += ["analogy, ms", "comparison, ms", "map of 10,000 words, s", "peak memory, MB"]


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


def measure(path: Path) -> list[str]:
    """The row of the table for a file of vectors."""
    explorer = Explorer(path)
    info = explorer.ask("info")
    firsts = [explorer.seconds()]
    explorer.ask("neighbours", word=info["examples"][0])
    firsts.append(explorer.seconds())
    explorer.ask("complete", prefix="a")
    firsts.append(explorer.seconds())
    words = [explorer.ask("complete", prefix=chr(97 + i % 26) + chr(97 + i // 26))["words"][0] for i in range(QUERIES)]
    latencies = [
        latency(lambda word: explorer.ask("neighbours", word=word, top=20), words),
        latency(lambda word: explorer.ask("complete", prefix=word[:2], limit=8), words),
        latency(lambda word: explorer.ask("analogy", a=words[0], b=words[1], c=word), words),
        latency(lambda word: explorer.ask("compare", a=words[0], b=word), words[:10]),
    ]
    start = perf_counter()
    while explorer.ask("map", version=10**8)["done"] < 1:
        sleep(0.2)
    map_seconds = perf_counter() - start
    explorer.process.terminate()
    explorer.process.wait()
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    seconds = [f"{one:.2f}" for one in firsts]
    return [
        f"{info['words']:,}",
        *seconds,
        *(f"{one:.1f}" for one in latencies),
        f"{map_seconds:.1f}",
        f"{memory:,.0f}",
    ]


def main(target: str) -> None:
    """Measure each size and write the table."""
    rows = []
    for words in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            write_vectors(words, Path(folder, "vectors.arrow"))
            rows.append(measure(Path(folder, "vectors.arrow")))
    Path(target).write_text("\n".join(table_lines(HEADER, rows)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
