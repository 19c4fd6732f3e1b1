"""Every tool, every shape, every seed: in turn, each in a fresh process, on one text."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.errors import EmbeddingsError, OutputError
from embeddings.eval.benchmark import rows, text
from embeddings.eval.benchmark.job import Job, Shape
from embeddings.eval.benchmark.machine import facts
from embeddings.eval.benchmark.process import Usage, run
from embeddings.eval.benchmark.rows import Row
from embeddings.eval.benchmark.table import markdown
from embeddings.eval.benchmark.tools import Tool
from embeddings.files import check_output

if TYPE_CHECKING:
    from embeddings.corpora import EncodedCorpus

OUTPUTS = ("results.csv", "results.md", "results.png", "machine.json")
Say = Callable[[str], None]


class BenchmarkError(EmbeddingsError):
    """Nothing could be compared."""


class Interrupted(KeyboardInterrupt):
    """The user stopped the comparison after so many finished runs."""

    def __init__(self, finished: int) -> None:
        super().__init__()
        self.finished = finished


@dataclass
class Race:
    """Shapes to be run `repeats` times by each tool, seeds from 1 on; results in `folder`.

    shapes: `embeddings.eval.benchmark.job.Shape`, their settings those of our trainers. tools: ours first.
    say: is told a line now and then.
    """

    shapes: Sequence[Shape]
    tools: Sequence[Tool]
    folder: Path
    repeats: int = 3
    force: bool = False
    say: Say = lambda line: None
    rows: list[Row] = field(default_factory=list)

    def check(self) -> None:
        """Make the folder if it is missing, and see that the results can be written there.

        Raises:
            OutputError: a result exists already (unless `force`), or cannot be written.
        """
        if not self.folder.exists():
            check_output(self.folder)
            self.folder.mkdir()
        elif not self.folder.is_dir():
            raise OutputError(f"{self.folder} is not a folder")
        for name in OUTPUTS:
            check_output(self.folder / name, force=self.force)

    def run(self, encoded: "EncodedCorpus") -> list[Row]:
        """The rows of all runs, as they stand in results.csv; that and the table are written after each run.

        Training and whole commands are measured as `Track.figures` says. A run that fails is a row with its error.

        Raises:
            OutputError: as `check`.
            CorpusError: no word of the corpus is frequent enough.
            BenchmarkError: no run came to its end.
            Interrupted: the user interrupted; what runs is killed, the rows of finished runs are on disk.
        """
        self.check()
        for shape in self.shapes:
            encoded.vocabulary.select(min_count=shape.settings["min_count"], max_vocab=shape.settings.get("max_vocab"))
        machine = facts(self.tools, encoded)
        try:
            with laid_out(encoded, self.folder) as track:
                track.warm_up(self.shapes, self.tools, self.say)
                self.run_all(track, machine)
        except KeyboardInterrupt:
            raise Interrupted(len(self.rows)) from None
        if all(row["error"] for row in self.rows):
            raise BenchmarkError(f"every run failed, the first with: {self.rows[0]['error']}")
        from embeddings.eval.benchmark.picture import draw

        draw(self.rows, self.folder / "results.png")
        return self.rows

    def run_all(self, track: "Track", machine: dict[str, Any]) -> None:
        """All runs, the tools of a shape one after another for each seed."""
        runs = [
            (shape, seed, tool)
            for shape in self.shapes
            for seed in range(1, self.repeats + 1)
            for tool in self.tools
            if tool.learns(shape)
        ]
        for number, (shape, seed, tool) in enumerate(runs, 1):
            self.say(f"[{number}/{len(runs)}] {shape.label}, seed {seed}: {tool.name}")
            row = track.row(shape, seed, tool)
            self.say("    " + told(row))
            self.keep(row, machine)

    def keep(self, row: Row, machine: dict[str, Any]) -> None:
        """Write down a finished run beside those before it."""
        csv, table = self.folder / "results.csv", self.folder / "results.md"
        if not self.rows:
            (self.folder / "results.png").unlink(missing_ok=True)  # of the results that are replaced now
            rows.write_text(json.dumps(machine, indent=2) + "\n", self.folder / "machine.json")
        rows.write([*self.rows, row], csv)
        self.rows = rows.read(csv)
        rows.write_text(markdown(self.rows, machine, self.tools), table)


@contextmanager
def laid_out(encoded: "EncodedCorpus", folder: Path) -> Iterator["Track"]:
    """The text and a cache of its own in a folder that is gone afterwards; compiled kernels stay where they are."""
    from embeddings.cache import folder as cache_folder

    with tempfile.TemporaryDirectory(prefix=".work-", dir=folder) as work:
        track = Track(Path(work), len(encoded.ids))
        text.write(encoded, track.text)
        track.cache.mkdir()
        kernels = cache_folder("kernels")
        if kernels is not None:
            (track.cache / "kernels").symlink_to(kernels.absolute())
        yield track


@dataclass(frozen=True)
class Track:
    """Where all run: a folder with the text, and how many words that has."""

    work: Path
    words: int

    @property
    def text(self) -> Path:
        """What every tool reads."""
        return self.work / "text.txt"

    @property
    def cache(self) -> Path:
        """What stands for the user's cache folder."""
        return self.work / "cache"

    def start(self, command: Sequence[str]) -> Usage:
        """Run a command with our cache."""
        return run(command, {**os.environ, "EMBEDDINGS_CACHE": str(self.cache)})

    def warm_up(self, shapes: Sequence[Shape], tools: Sequence[Tool], say: Say) -> None:
        """Run each tool once on the first lines and forget it: kernels are compiled, libraries are off the disk."""
        few, out = self.work / "few.txt", self.work / "few.bin"
        text.head(self.text, few)
        for shape in shapes:
            small = Shape(shape.trainer, {**shape.settings, "min_count": 1, "epochs": 1}, shape.threads)
            for tool in tools:
                if tool.learns(shape):
                    say(f"warming up, not counted: {shape.label}: {tool.name}")
                    self.start(tool.whole(Job(small, 1, str(few), str(out))))
                    out.unlink(missing_ok=True)

    def row(self, shape: Shape, seed: int, tool: Tool) -> Row:
        """One run, as a row; its error where it fails."""
        row: Row = {"trainer": shape.trainer, **shape.settings, "threads": shape.threads}
        row |= {"corpus_words": self.words, "tool": tool.name, "version": tool.version, "seed": seed}
        out = self.work / "vectors.bin"
        try:
            figures = self.figures(tool, Job(shape, seed, str(self.text), str(out)))
            return {**row, **figures, **self.quality(out), "error": ""}
        except Failed as error:
            return {**row, "error": str(error)}
        finally:
            out.unlink(missing_ok=True)

    def figures(self, tool: Tool, job: Job) -> Row:
        """What a tool took.

        whole: from the start of the command to its end, the text read for the first time (no corpus in the
        cache), the vectors saved. training: the learning alone, words counted before, in the same process where
        the tool can tell, else in one more.
        """
        shutil.rmtree(self.cache / "corpora", ignore_errors=True)
        whole = succeeded(self.start(tool.whole(job)))
        clock = last_line(succeeded(self.start(tool.training(job))) if tool.training else whole)
        aside = clock["aside"] if tool.training is None else {"cpu": 0.0, "wall": 0.0}
        return {
            "training_cpu": round(clock["training"]["cpu"], 3),
            "training_wall": round(clock["training"]["wall"], 3),
            "whole_cpu": round(whole.cpu - aside["cpu"], 3),
            "whole_wall": round(whole.wall - aside["wall"], 3),
            "peak_memory": whole.peak,
            "private_memory": whole.private,
            "words_read": clock["words"],
        }

    def quality(self, vectors: Path) -> Row:
        """How good the vectors are by our own `embeddings evaluate`, analogies among the first 30,000 words."""
        import sys

        judged = succeeded(self.start([sys.executable, "-m", "embeddings", "evaluate", str(vectors), "--json"]))
        found: Row = {}
        for result in json.loads(judged.output):
            if result["set"] in rows.SETS and result["section"] is None and result["restrict"] in (None, 30000):
                name = result["set"]
                found |= {name: result["value"], f"{name} seen": result["seen"], f"{name} total": result["total"]}
        return found


class Failed(Exception):
    """A command of a run did not come to its end; says why."""


def succeeded(usage: Usage) -> Usage:
    """The usage itself.

    Raises:
        Failed: the command did not succeed.
    """
    if usage.code != 0:
        raise Failed(usage.error)
    return usage


def last_line(usage: Usage) -> dict[str, Any]:
    """The clock that a runner prints last."""
    clock: dict[str, Any] = json.loads(usage.output.splitlines()[-1])
    return clock


def told(row: Row) -> str:
    """A finished run in a line."""
    if row["error"]:
        return f"failed: {row['error']}"
    scores = [f"{label} {row[name]:.3f}" for name, label in rows.SETS.items() if row.get(name) is not None]
    times = f"training {row['training_cpu']:.1f} CPU s, whole {row['whole_cpu']:.1f} CPU s"
    return ", ".join([times, *scores])
