"""Times of commands, each in a process of its own: first and second runs, evidence, and the answers of the explorer."""

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, sleep, time_ns
from typing import Any, ClassVar
from urllib.parse import urlencode, urlsplit

import numpy as np
from processes import EMBEDDINGS, run, seconds, write_text

import embeddings as em
from embeddings.training.precompile import trainable
from studies.grid import Grid, Rows, markdown, pivot

SMALL = "--dim 20 --min-count 1 --epochs 1"
ARGUMENTS = {"sembei": "text.txt --dim 20 --epochs 1", "classifier": f"labelled.txt {SMALL}"}
NOT_ON_PLAIN_TEXT = {"tensor-indexing"}  # needs phrases
COMMANDS = {  # by name
    **{
        name: f"train {name} {ARGUMENTS.get(name, f'text.txt {SMALL}')} -o model-{name} --quiet --force"
        for name in trainable() if name not in NOT_ON_PLAIN_TEXT
    },
    "infer": "infer model-paragraph-dm text.txt -o vectors.npy --quiet --force",
    "evaluate": "evaluate model-skipgram",
    "neighbours": "neighbours model-skipgram w1",
}  # fmt: skip
RUNS, LINES = ("first run: CPU s", "first run: wall s", "second run: CPU s", "second run: wall s"), 400


class FirstRuns(Grid):
    """Measures the first and the second run of each command: CPU and wall seconds.

    Each command runs on a small text with an empty cache, then again with only the compiled code in the cache. The row
    of a trainer is named after it; the others are `infer`, `evaluate` and `neighbours`.
    """

    results = "first-runs"
    keys = rows = ("command",)
    columns: ClassVar = dict.fromkeys(RUNS, ".1f")
    defaults: ClassVar = {"command": [*COMMANDS]}

    def prepare(self) -> None:
        """Write a text of random words, the same with labels, and train the models that commands read."""
        numbers = random.Random(1)
        text = [" ".join(f"w{numbers.randrange(300)}" for _ in range(20)) + "\n" for _ in range(LINES)]
        (self.folder / "text.txt").write_text("".join(text))
        (self.folder / "labelled.txt").write_text("".join(f"__label__{i % 3} {line}" for i, line in enumerate(text)))
        for name in ("skipgram", "paragraph-dm"):
            run([*EMBEDDINGS, *COMMANDS[name].split()], self.folder)

    def measure(self, command: str) -> Iterator[Sequence[Any]]:
        """Seconds with an empty cache, and with compiled code only."""
        with TemporaryDirectory(dir=self.folder) as cache:
            arguments = [*EMBEDDINGS, *COMMANDS[command].split()]
            first = run(arguments, self.folder, EMBEDDINGS_CACHE=cache)
            shutil.rmtree(Path(cache, "corpora"), ignore_errors=True)
            second = run(arguments, self.folder, EMBEDDINGS_CACHE=cache)
        yield from zip(RUNS, (first.cpu, first.wall, second.cpu, second.wall), strict=True)


PAIRS = ("music musical", "war battle", "river lake")


class EvidenceTimes(Grid):
    """Times the commands that show evidence and confidence, and writes the contexts that three pairs of words share.

    Trains a model of --corpus and its replicates, which encodes the text, and runs each command --rounds times
    afterwards: the fastest counts. The contexts go to explain.md in the folder of --out.
    """

    results = "evidence/timings"
    keys = ("command",)
    defaults: ClassVar = {"corpus": str, "rounds": 5, "resamples": 4}

    def cells(self) -> Iterable[tuple[Any, ...]]:
        """Each command."""
        commands = [
            "train skipgram CORPUS -o model --dim 50 --epochs 3 --quiet",
            f"stability model CORPUS -o replicates --resamples {self.options.resamples} --seeds 2 --quiet",
            "concordance CORPUS music --lines 5 --quiet",
            *(f"explain model CORPUS {pair} --top 8 --json --quiet" for pair in PAIRS),
            "neighbours model music",
            "neighbours model music --confidence replicates",
            "similarity model music musical art --confidence replicates",
            "analogy model man king woman --confidence replicates",
        ]
        return [(command,) for command in commands]

    def prepare(self) -> None:
        """Train the model and its replicates."""
        self.trained = {command: self.run(command) for (command,) in [*self.cells()][:2]}

    def run(self, command: str) -> float:
        """The wall seconds of a command; the contexts of a pair are kept."""
        path = Path(self.options.corpus)
        corpus = path.absolute() if path.exists() else path  # else the name of a corpus
        words = (corpus if word == "CORPUS" else word for word in command.split())
        usage = run([*EMBEDDINGS, *words], self.folder)
        if command.startswith("explain"):
            self.facts.setdefault("contexts", {})[command] = context_table(json.loads(usage.output))
        return usage.wall

    def measure(self, command: str) -> Iterable[Sequence[Any]]:
        """Seconds with the start of Python."""
        if command in self.trained:
            return [("seconds", self.trained[command])]
        return [("seconds", self.run(command)) for _ in range(self.options.rounds)]

    def table(self, rows: Rows) -> str:
        """A row for each command."""
        about = f"Fastest of {self.options.rounds} runs after training, with the start of Python; on {{processor}}."
        return pivot(rows, ("command",), {"seconds": ".2f"}, min) + f"\n{about}\n"

    def make(self, out: Path, *, only_table: bool = False) -> None:
        """Write the contexts too, if they were measured."""
        super().make(out, only_table=only_table)
        if contexts := self.facts.get("contexts"):
            write_text("\n".join(contexts.values()), out.with_name("explain.md"))


def context_table(evidence: dict[str, Any]) -> str:
    """The contexts that a pair shares."""
    figures = "cosine {cosine:.2f}, cosine of contexts {context_cosine:.2f}, together {joint_count:,} times, "
    about = ("`{word}` and `{other}`: " + figures + "{n_contexts:,} shared contexts.").format(**evidence)
    heads = ["context", "share", f"near {evidence['word']}", f"near {evidence['other']}"]
    numbers = ((one["context"], one["share"], one["count"], one["other_count"]) for one in evidence["contexts"])
    rows = ([context, f"{share:.3f}", f"{near:,}", f"{other:,}"] for context, share, near, other in numbers)
    return f"{about}\n\n{markdown(heads, rows, names=1)}"


DIM, CENTRES, QUERIES = 100, 200, 50  # of random vectors, and of the explorer's questions


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
        random_vectors(words).save(path)
        started = perf_counter()
        command = [sys.executable, "-m", "embeddings", "explore", str(path), "--no-browser", "--quiet"]
        command += ["--projection", "tsne", "--seed", str(time_ns())]  # a map that is not in the cache
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            try:
                assert process.stdout is not None
                address = urlsplit(process.stdout.readline().strip())
                with closing(HTTPConnection("127.0.0.1", address.port or 0, timeout=600)) as connection:
                    figures = [*time_answers(partial(ask, connection, address.fragment), started)]
            finally:
                process.terminate()
        import resource  # not on Windows

        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        yield from zip(self.columns, (*figures, memory), strict=True)


def ask(connection: HTTPConnection, token: str, question: str, **parameters: object) -> Any:
    """The answer of a running explorer to a question."""
    headers = {"Authorization": f"Bearer {token}"}
    connection.request("GET", f"/api/{question}?{urlencode(parameters)}", headers=headers)
    return json.loads(connection.getresponse().read())


def time_answers(ask: Callable[..., Any], started: float) -> Iterator[float]:
    """Seconds from the start to three first answers, median milliseconds of four questions, seconds of the map."""
    info = ask("info")
    yield perf_counter() - started
    ask("neighbours", word=info["example"])
    yield perf_counter() - started
    ask("complete", prefix="a")
    yield perf_counter() - started
    starts = [chr(97 + i % 26) + chr(97 + i // 26) for i in range(QUERIES)]
    words = [ask("complete", prefix=start)["words"][0] for start in starts]
    questions = [  # and how many words they are asked for
        (lambda word: ask("neighbours", word=word, top=20), QUERIES),
        (lambda word: ask("complete", prefix=word[:2], limit=8), QUERIES),
        (lambda word: ask("analogy", a=words[0], b=words[1], c=word), QUERIES),
        (lambda word: ask("compare", a=words[0], b=word), 10),
    ]
    for question, number in questions:
        yield 1000 * median(seconds(question, word) for word in words[:number])
    start = perf_counter()
    while ask("map", version=10**8)["done"] < 1:
        sleep(0.2)
    yield perf_counter() - start


def random_vectors(words: int) -> em.Vectors:
    """Random vectors around centres."""
    rng = np.random.default_rng(1)
    centres = rng.standard_normal((CENTRES, DIM)).astype(np.float32)
    rows = centres[rng.integers(0, CENTRES, words)] + rng.standard_normal((words, DIM), np.float32)
    letters = rng.integers(0, 26, (words, 3))
    names = ["".join(chr(97 + one) for one in part) + str(row) for row, part in enumerate(letters.tolist())]
    return em.Vectors(names, rows)
