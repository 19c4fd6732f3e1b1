"""Runs every tool, configuration and seed in turn, each in a fresh process, on the same text."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.errors import EmbeddingsError, OutputError, S
from embeddings.eval.benchmark.result_table import markdown, quality_figure
from embeddings.eval.benchmark.tools import PEERS, ModelConfig, Program
from embeddings.eval.benchmark.workspace import (
    ERROR_OF,
    RUN,
    SETS,
    Report,
    Row,
    Workspace,
    open_workspace,
    read_rows,
    scored_sets,
    write_rows,
    write_text,
)
from embeddings.eval.machine import environment
from embeddings.support.files import check_output
from embeddings.support.plots import save_figure

if TYPE_CHECKING:
    from embeddings.corpora import EncodedCorpus


OUTPUTS = ("results.csv", "results.md", "results.png", "machine.json")
VECTORS = "vectors"  # folder of kept vectors
LIBRARIES = ("numpy", "numba", "llvmlite", "scipy", "pyarrow")


class ResumeError(EmbeddingsError):
    """Results that cannot be resumed."""


def completed_runs(folder: Path, machine: dict[str, Any]) -> tuple[list[Row], dict[str, str]]:
    """The successful runs in a folder, if any, and the versions of the tools of the earlier and of this benchmark."""
    table = folder / "results.csv"
    if not table.exists():
        return [], machine["tools"]
    try:
        record, rows = json.loads((folder / "machine.json").read_text(encoding="utf-8")), read_rows(table)
        pairs = {name: (record[name], machine[name]) for name in machine if name not in ("date", "tools")}
        pairs |= {tool: (record["tools"].get(tool, now), now) for tool, now in machine["tools"].items()}
        missing = [name for name in (*RUN, "trainer", "threads", "error") if rows and name not in rows[0]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResumeError(f"cannot resume from {folder}: {' '.join(repr(error).split()):.100}") from None
    if missing:
        raise ResumeError(f"cannot resume from {table}: it has no column {missing[0]!r}")
    for name, (before, now) in pairs.items():
        if before != now:
            values = f"{name} is {json.dumps(now):.100}, was {json.dumps(before):.100}"
            remedy = f"choose another folder, or set {S.force(True)} to start over"
            raise ResumeError(f"cannot resume from {folder}: {values}; {remedy}")
    return [row for row in rows if not row["error"]], record["tools"] | machine["tools"]


def is_completed(row: Row, runs: Sequence[Row]) -> bool:
    """Whether the runs include one with the settings, tool and seed of a row."""

    def cell(value: Any) -> str:
        return "" if value is None else str(value)

    return any(all(cell(one.get(name)) == cell(value) for name, value in row.items()) for one in runs)


class BenchmarkError(EmbeddingsError):
    """All runs of a benchmark failed."""


@dataclass(eq=False)
class Interrupted(KeyboardInterrupt):
    """The user stopped the benchmark, after this many runs."""

    finished: int


@dataclass
class Benchmark:
    """A benchmark of models by several tools, ours first; its results go to `folder`."""

    configs: Sequence[ModelConfig]
    tools: Sequence[Program]
    folder: Path
    repeats: int = 3  # of each model and tool, with seeds from 1 on
    force: bool = False  # replace existing results
    resume: bool = False  # keep existing results, and do only the missing runs
    keep: bool = False  # keep the vectors of all runs, in the folder "vectors"
    tests: Sequence[str] | None = ()  # options of `embeddings evaluate`; None for no evaluation
    report: Report = lambda line: None  # called with lines of progress
    rows: list[Row] = field(default_factory=list)

    def prepare_folder(self) -> None:
        """Create the folder if it is missing, and check that results can be written.

        Existing results require `force` or `resume`.
        """
        if not self.folder.exists():
            check_output(self.folder)
            self.folder.mkdir()
        elif not self.folder.is_dir():
            raise OutputError(f"{self.folder} is not a folder")
        force = self.force or self.resume
        for name in OUTPUTS:
            check_output(self.folder / name, force=force)
        vectors = self.folder / VECTORS
        if self.keep and vectors.exists() and not (vectors.is_dir() and (force or not any(vectors.iterdir()))):
            raise OutputError(
                f"{vectors} exists; choose another folder" + f", or set {S.force(True)}" * vectors.is_dir()
            )

    def run(self, encoded: "EncodedCorpus") -> list[Row]:
        """Run the benchmark; returns the rows of results.csv, which is written after each run, as is the table.

        A failed run is a row with its error; if all fail, raises BenchmarkError. If the user interrupts, the running
        process is killed, and finished runs are saved.
        """
        runs = [
            (config, seed, tool)
            for config in self.configs
            for seed in range(1, self.repeats + 1)
            for tool in self.tools
            if tool.supports(config)
        ]
        if not runs:
            raise BenchmarkError("there is nothing to run: no tool supports one of the models, or repeats is below 1")
        if not hasattr(os, "wait4"):
            raise BenchmarkError("benchmarks require Linux or macOS, which report what a process and its children used")
        self.prepare_folder()
        for config in self.configs:  # raises an error before the first run if a configuration selects no words
            settings = config.settings
            encoded.vocabulary.select(min_count=settings["min_count"], max_vocab=settings.get("max_vocab"))
        machine = {
            **environment(LIBRARIES),
            "tools": {tool.name: tool.known_version for tool in self.tools},
            "corpus": {
                "sources": [Path(name).name for name in encoded.meta["sources"]],
                "words": len(encoded.ids),
                "types": len(encoded.vocabulary),
                "lines": len(encoded.sentences) - 1,
                "fingerprint": encoded.fingerprint,
            },
        }
        if self.resume:
            self.rows, machine["tools"] = completed_runs(self.folder, machine)
        before = len(self.rows)
        vectors = self.folder / VECTORS if self.keep else None
        has_documents = any(config.has_documents for config in self.configs)
        try:
            if vectors is not None:
                vectors.mkdir(exist_ok=True)
            with open_workspace(encoded, self.folder, vectors, self.tests, has_documents=has_documents) as workspace:
                missing = [run for run in runs if not is_completed(workspace.run_columns(*run), self.rows)]
                self.run_all(workspace, missing, machine)
        except KeyboardInterrupt:
            raise Interrupted(len(self.rows) - before) from None
        if all(row["error"] for row in self.rows):
            raise BenchmarkError(f"all runs failed, the first with: {self.rows[0]['error']}")
        save_figure(quality_figure(self.rows), self.folder / "results.png", force=True)
        return self.rows

    def run_all(
        self, workspace: Workspace, runs: Sequence[tuple[ModelConfig, int, Program]], machine: dict[str, Any]
    ) -> None:
        """Do and save all missing runs, the tools of a configuration in turn for each seed."""
        table = self.folder / "results.csv"
        for config, tool in product(self.configs, self.tools):
            if any(one is config and other is tool for one, _, other in runs):
                self.report(f"warm-up, not counted: {config.label}: {tool.name}")
                workspace.warm_up(config, tool)
        for number, (config, seed, tool) in enumerate(runs, 1):
            self.report(f"[{number}/{len(runs)}] {config.label}, seed {seed}: {tool.name}")
            row = workspace.run(config, seed, tool)
            times = {"training": row.get("training_cpu"), "whole": row.get("whole_cpu")}
            sets = SETS | {name: name for name in scored_sets([row]) if name.startswith(ERROR_OF)}
            parts = [f"{part} {seconds:.1f} CPU s" for part, seconds in times.items() if seconds is not None]
            parts += [f"{label} {row[name]:.3f}" for name, label in sets.items() if row.get(name) is not None]
            self.report("    " + (f"failed: {row['error']}" if row["error"] else ", ".join(parts)))
            (self.folder / "results.png").unlink(missing_ok=True)  # it shows the results that are replaced now
            write_text(json.dumps(machine, indent=2) + "\n", self.folder / "machine.json")
            write_rows([*self.rows, row], table)
            self.rows = read_rows(table)
            tools = list({tool.name: tool for tool in [*self.tools, *PEERS]}.values())  # also those of earlier runs
            write_text(markdown(self.rows, machine, tools), self.folder / "results.md")
