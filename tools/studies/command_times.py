"""Times of commands, each in a process of its own: first and second runs, and commands that show evidence."""

import random
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp
from time import perf_counter
from typing import Any, ClassVar

import embeddings as em
from embeddings.analysis.explanation import Explanation
from embeddings.eval.benchmark.workspace import write_text
from embeddings.eval.machine import processor
from embeddings.training.precompile import trainable
from studies.grid import Grid, Rows, collect, markdown, run_embeddings

SMALL = ["--dim", "20", "--min-count", "1", "--epochs", "1"]
TEXT_OPTIONS = {"sembei": ["--dim", "20", "--epochs", "1"]}
LABELLED = {"classifier"}
NOT_ON_PLAIN_TEXT = {"tensor-indexing"}  # needs phrases
RUNS, LINES = ("first run: CPU s", "first run: wall s", "second run: CPU s", "second run: wall s"), 400
PAIRS, TOP = (("music", "musical"), ("war", "battle"), ("river", "lake")), 8


class FirstRuns(Grid):
    """Measures the first and the second run of each command: CPU and wall seconds.

    Each command runs on a small text with an empty cache, then again with only the compiled code in the cache. The row
    of a trainer is named after it; the others are `infer`, `evaluate` and `neighbours`.
    """

    results = "first-runs"
    keys = ("command",)
    defaults: ClassVar = {"command": []}

    def cells(self) -> Iterable[tuple[Any, ...]]:
        """Each command."""
        return [(name,) for name in self.options.command or self.commands()]

    def commands(self) -> dict[str, list[str]]:
        """The arguments of each command, by name."""
        text, quiet = str(self.folder / "text.txt"), ["--quiet", "--force"]
        rows = {}
        for name in (name for name in trainable() if name not in NOT_ON_PLAIN_TEXT):
            corpus = str(self.folder / "labelled.txt") if name in LABELLED else text
            rows[name] = ["train", name, corpus, "-o", self.model(name), *TEXT_OPTIONS.get(name, SMALL), *quiet]
        vectors = str(self.folder / "vectors.npy")
        return rows | {
            "infer": ["infer", self.model("paragraph-dm"), text, "-o", vectors, *quiet],
            "evaluate": ["evaluate", self.model("skipgram")],
            "neighbours": ["neighbours", self.model("skipgram"), "w1"],
        }

    def model(self, name: str) -> str:
        """The path of a model."""
        return str(self.folder / f"model-{name}")

    def prepare(self) -> None:
        """Write a text of random words, the same with labels, and train the models that commands read."""
        numbers = random.Random(1)
        text = [" ".join(f"w{numbers.randrange(300)}" for _ in range(20)) + "\n" for _ in range(LINES)]
        (self.folder / "text.txt").write_text("".join(text))
        labelled = (f"__label__{i % 3} {line}" for i, line in enumerate(text))
        (self.folder / "labelled.txt").write_text("".join(labelled))
        for name in ("skipgram", "paragraph-dm"):
            run_embeddings(self.commands()[name])

    def measure(self, command: str) -> Iterator[Sequence[Any]]:
        """Seconds with an empty cache, and with compiled code only."""
        arguments, cache = self.commands()[command], Path(mkdtemp(dir=self.folder))
        first = run_embeddings(arguments, EMBEDDINGS_CACHE=str(cache))
        shutil.rmtree(cache / "corpora", ignore_errors=True)
        second = run_embeddings(arguments, EMBEDDINGS_CACHE=str(cache))
        shutil.rmtree(cache)
        yield from zip(RUNS, (first.cpu, first.wall, second.cpu, second.wall), strict=True)

    def table(self, rows: Rows) -> str:
        """A row for each command."""
        lines = []
        for (command,), one in collect(rows, "command").items():
            first_cpu, first_wall, cpu, wall = (one[name][0] for name in RUNS)
            numbers = (first_cpu, first_wall, cpu, wall, first_cpu - cpu, first_wall - wall)
            lines.append([command, *(f"{number:.1f}" for number in numbers)])
        heads = ["first run: CPU s", "wall s", "second run: CPU s", "wall s", "difference: CPU s", "wall s"]
        return markdown(["command", *heads], lines)


class EvidenceTimes(Grid):
    """Times the commands that show evidence and confidence, and writes the contexts that three pairs of words share.

    Trains a model of --corpus and its replicates, which encodes the text, and runs each command --rounds times
    afterwards: the fastest counts. The contexts go to explain.md in the folder of --out.
    """

    results = "evidence/timings"
    keys = ("command",)
    defaults: ClassVar = {"corpus": str, "rounds": 5, "resamples": 4}

    def cells(self) -> Iterator[tuple[Any, ...]]:
        """Each command, and each pair in Python."""
        yield ("train skipgram CORPUS -o model --dim 50 --epochs 3 --quiet",)
        yield (f"stability model CORPUS -o replicates --resamples {self.options.resamples} --seeds 2 --quiet",)
        yield ("concordance CORPUS music --lines 5 --quiet",)
        for pair in PAIRS:
            yield (f"explain model CORPUS {' '.join(pair)} --quiet",)
        yield ("neighbours model music",)
        yield ("neighbours model music --confidence replicates",)
        yield ("similarity model music musical art --confidence replicates",)
        yield ("analogy model man king woman --confidence replicates",)
        for pair in PAIRS:
            yield (f"em.explain {' '.join(pair)}",)

    def prepare(self) -> None:
        """Train the model and its replicates."""
        self.evidence: list[Explanation] = []
        self.trained = {command: run_embeddings(self.arguments(command)).wall for (command,) in [*self.cells()][:2]}

    def arguments(self, command: str) -> list[str]:
        """A command with paths in place of names."""
        paths = {name: str(self.folder / name) for name in ("model", "replicates")} | {"CORPUS": self.options.corpus}
        return [paths.get(word, word) for word in command.split()]

    def measure(self, command: str) -> Iterable[Sequence[Any]]:
        """Seconds with the start of Python, or in a program that has read the model and the text."""
        if command in self.trained:
            return [("seconds", self.trained[command])]
        if command.startswith("em.explain"):
            return [("seconds", self.explain(*command.split()[1:]))]
        return [("seconds", run_embeddings(self.arguments(command)).wall) for _ in range(self.options.rounds)]

    def explain(self, word: str, other: str) -> float:
        """Find the evidence for a pair; returns the seconds."""
        vectors, text = em.load_model(self.folder / "model"), em.Corpus(self.options.corpus)
        em.explain(vectors, text, "first", "second")  # reads the text
        start = perf_counter()
        self.evidence.append(em.explain(vectors, text, word, other, top=TOP))
        return perf_counter() - start

    def table(self, rows: Rows) -> str:
        """A row for each command."""
        lines = [[f"`{command}`", f"{min(one['seconds']):.2f}"] for (command,), one in collect(rows, "command").items()]
        about = f"Fastest of {self.options.rounds} runs after training, with the start of Python; on {processor()}."
        return markdown(["command", "seconds"], lines, names=1) + f"\n{about}\n"

    def write(self, out: Path) -> None:
        """Write the contexts too, if they were measured."""
        super().write(out)
        if evidence := getattr(self, "evidence", []):
            write_text("\n".join(map(context_table, evidence)), out.with_name("explain.md"))


def context_table(evidence: Explanation) -> str:
    """The contexts that a pair shares."""
    figures = f"cosine {evidence.cosine:.2f}, cosine of contexts {evidence.context_cosine:.2f}, together "
    figures += f"{evidence.joint_count:,} times, {evidence.n_contexts:,} shared contexts."
    heads = ["context", "share", f"near {evidence.word}", f"near {evidence.other}"]
    rows = [[one.context, f"{one.share:.3f}", f"{one.count:,}", f"{one.other_count:,}"] for one in evidence.contexts]
    return f"`{evidence.word}` and `{evidence.other}`: {figures}\n\n{markdown(heads, rows, names=1)}"
