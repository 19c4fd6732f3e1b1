"""Every tool, every shape, every seed: in turn, each in a fresh process, on one text."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.errors import EmbeddingsError, OutputError
from embeddings.eval.benchmark import result_rows
from embeddings.eval.benchmark.job import Shape
from embeddings.eval.benchmark.machine import facts
from embeddings.eval.benchmark.result_rows import Row
from embeddings.eval.benchmark.result_table import markdown
from embeddings.eval.benchmark.resume import earlier, made
from embeddings.eval.benchmark.tools import PEERS, Tool
from embeddings.eval.benchmark.workspace import Say, Track, laid_out
from embeddings.support.files import check_output

if TYPE_CHECKING:
    from embeddings.corpora import EncodedCorpus

OUTPUTS = ("results.csv", "results.md", "results.png", "machine.json")
VECTORS = "vectors"  # the folder of those that are kept


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
    resume: keep the runs that stand in the folder, and make those that are missing.
    keep: whether the vectors of each run stay, in the folder "vectors". tests: options of `embeddings evaluate`; None
    for no judgement.
    say: is told a line now and then.
    """

    shapes: Sequence[Shape]
    tools: Sequence[Tool]
    folder: Path
    repeats: int = 3
    force: bool = False
    resume: bool = False
    keep: bool = False
    tests: Sequence[str] | None = ()
    say: Say = lambda line: None
    rows: list[Row] = field(default_factory=list)

    def check(self) -> None:
        """Make the folder if it is missing, and see that the results can be written there.

        Raises:
            OutputError: a result exists already (unless `force` or `resume`), or cannot be written.
        """
        if not self.folder.exists():
            check_output(self.folder)
            self.folder.mkdir()
        elif not self.folder.is_dir():
            raise OutputError(f"{self.folder} is not a folder")
        force = self.force or self.resume
        for name in OUTPUTS:
            check_output(self.folder / name, force=force)
        kept = self.folder / VECTORS
        if self.keep and kept.exists() and not (kept.is_dir() and (force or not any(kept.iterdir()))):
            raise OutputError(f"{kept} exists; choose another name" + ", or --force to replace it" * kept.is_dir())

    def run(self, encoded: "EncodedCorpus") -> list[Row]:
        """The rows of all runs, as they stand in results.csv; that and the table are written after each run.

        Training and whole commands are measured as `Track.figures` says. A run that fails is a row with its error.

        Raises:
            OutputError: as `check`.
            ResumeError: there are results to go on with, but of another machine, corpus or version.
            CorpusError: no word of the corpus is frequent enough.
            BenchmarkError: no run came to its end.
            Interrupted: the user interrupted; what runs is killed, the rows of finished runs are on disk.
        """
        self.check()
        for shape in self.shapes:
            encoded.vocabulary.select(min_count=shape.settings["min_count"], max_vocab=shape.settings.get("max_vocab"))
        machine = facts(self.tools, encoded)
        self.rows = earlier(self.folder, machine) if self.resume else []
        before = len(self.rows)
        try:
            kept = self.folder / VECTORS if self.keep else None
            if kept is not None:
                kept.mkdir(exist_ok=True)
            documents = any(shape.documents for shape in self.shapes)
            with laid_out(encoded, self.folder, kept, self.tests, documents=documents) as track:
                self.run_all(track, machine)
        except KeyboardInterrupt:
            raise Interrupted(len(self.rows) - before) from None
        if all(row["error"] for row in self.rows):
            raise BenchmarkError(f"every run failed, the first with: {self.rows[0]['error']}")
        from embeddings.eval.benchmark.quality_plot import draw

        draw(self.rows, self.folder / "results.png")
        return self.rows

    def run_all(self, track: Track, machine: dict[str, Any]) -> None:
        """All runs that are not made yet, the tools of a shape one after another for each seed."""
        runs = [
            (shape, seed, tool)
            for shape in self.shapes
            for seed in range(1, self.repeats + 1)
            for tool in self.tools
            if tool.learns(shape) and not made(track.start_of(shape, seed, tool), self.rows)
        ]
        for shape, tool in product(self.shapes, self.tools):
            if any(one is shape and other is tool for one, _, other in runs):
                self.say(f"warming up, not counted: {shape.label}: {tool.name}")
                track.warm_up(shape, tool)
        for number, (shape, seed, tool) in enumerate(runs, 1):
            self.say(f"[{number}/{len(runs)}] {shape.label}, seed {seed}: {tool.name}")
            row = track.row(shape, seed, tool)
            self.say("    " + told(row))
            self.write_down(row, machine)

    def write_down(self, row: Row, machine: dict[str, Any]) -> None:
        """Write down a finished run beside those before it."""
        csv, table = self.folder / "results.csv", self.folder / "results.md"
        (self.folder / "results.png").unlink(missing_ok=True)  # of the results that are replaced now
        result_rows.write_text(json.dumps(machine, indent=2) + "\n", self.folder / "machine.json")
        result_rows.write([*self.rows, row], csv)
        self.rows = result_rows.read(csv)
        tools = list(dict.fromkeys([*self.tools, *PEERS]))  # those of earlier runs too
        result_rows.write_text(markdown(self.rows, machine, tools), table)


def told(row: Row) -> str:
    """A finished run in a line."""
    if row["error"]:
        return f"failed: {row['error']}"
    sets = result_rows.SETS | {name: name for name in result_rows.sets_of([row]) if name.startswith(result_rows.WRONG)}
    scores = [f"{label} {row[name]:.3f}" for name, label in sets.items() if row.get(name) is not None]
    times = f"training {row['training_cpu']:.1f} CPU s, whole {row['whole_cpu']:.1f} CPU s"
    return ", ".join([times, *scores])
