"""The folder in which runs take place, and one run: a measured command and the evaluation of its vectors."""

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.errors import EmbeddingsError
from embeddings.eval.benchmark.corpus_text import write_documents, write_words
from embeddings.eval.benchmark.job import Job, ModelConfig
from embeddings.eval.benchmark.measured_process import Usage, run
from embeddings.eval.benchmark.program import Program
from embeddings.eval.benchmark.result_rows import COVERED, ERROR_OF, MEASURES, PARTS, TIMES, TOTAL, Row
from embeddings.eval.benchmark.tools import Command, Tool

if TYPE_CHECKING:
    from embeddings.corpora import EncodedCorpus

Report = Callable[[str], None]
UNSAFE = re.compile(r"[:=,/]+")  # in names of files


@contextmanager
def open_workspace(
    encoded: "EncodedCorpus",
    folder: Path,
    vectors: Path | None = None,
    tests: Sequence[str] | None = (),
    *,
    has_documents: bool = False,
) -> Iterator["Workspace"]:
    """The text and a cache in a temporary folder inside `folder`; compiled kernels are shared with the user's cache."""
    from embeddings.support.cache_folder import cache_folder

    with tempfile.TemporaryDirectory(prefix=".work-", dir=folder) as work:
        workspace = Workspace(Path(work), len(encoded.ids), vectors, tests, encoded.vocabulary.words)
        (write_documents if has_documents else write_words)(encoded, workspace.text)
        workspace.cache.mkdir()
        if kernels := cache_folder("kernels"):
            (workspace.cache / "kernels").symlink_to(kernels.absolute())
        yield workspace


@dataclass(frozen=True)
class Workspace:
    """A folder with a text of `words` words; the vectors of runs are saved in `vectors`, or deleted if that is None.

    `tests` are options of `embeddings evaluate` that name test sets; None for no evaluation. `vocabulary` are the
    distinct words in decreasing frequency.
    """

    folder: Path
    words: int
    vectors: Path | None = None
    tests: Sequence[str] | None = ()
    vocabulary: Sequence[str] = ()

    @property
    def text(self) -> Path:
        """The text that every tool reads."""
        return self.folder / "text.txt"

    @property
    def cache(self) -> Path:
        """The cache folder of the measured processes."""
        return self.folder / "cache"

    def start(self, command: Sequence[str]) -> Usage:
        """Run a command with the workspace's cache; a failure raises a CommandError."""
        usage = run(command, {**os.environ, "EMBEDDINGS_CACHE": str(self.cache)})
        if usage.error:
            raise CommandError(usage.error)
        return usage

    def warm_up(self, config: ModelConfig, tool: Tool) -> None:
        """Run a tool once on the first lines, so that kernels are compiled and libraries are in memory."""
        head = self.folder / "head.txt"
        if not head.exists():
            with self.text.open("rb") as source, head.open("wb") as target:
                target.writelines(islice(source, 100))
        one_epoch = replace(config, settings={**config.settings, "min_count": 1, "epochs": 1})
        with suppress(CommandError):
            job = Job(one_epoch, 1, str(head), str(self.out(config)))
            self.start(tool.whole(job))
            remove(tool.program.saved_vectors(job) if tool.program else self.out(config))
        remove(self.out(config))

    def out(self, config: ModelConfig) -> Path:
        """Where a tool saves vectors: a file, or for document models a file or folder."""
        return self.folder / ("vectors" if config.has_documents else "vectors.bin")

    def run_columns(self, config: ModelConfig, seed: int, tool: Tool) -> Row:
        """The columns of a run that are known before it: settings, tool, seed."""
        row: Row = {"trainer": config.trainer, **config.settings, "threads": config.threads}
        return row | {"corpus_words": self.words, "tool": tool.name, "version": tool.version, "seed": seed}

    def run(self, config: ModelConfig, seed: int, tool: Tool) -> Row:
        """One run as a row; with its error if it fails."""
        row = self.run_columns(config, seed, tool)
        out = self.out(config)
        try:
            measurements = self.measure(tool, Job(config, seed, str(self.text), str(out)))
            scores = {} if self.tests is None else self.evaluate(out, self.tests)
            if self.vectors is not None:
                out.replace(self.vectors / f"{config.file_name}-{UNSAFE.sub('-', tool.name)}-{seed}{out.suffix}")
            return {**row, **measurements, **scores, "error": ""}
        except CommandError as error:
            return {**row, "error": str(error)}
        finally:
            remove(out)

    def measure(self, tool: Tool, job: Job) -> Row:
        """The time and memory of a tool.

        whole: from the start of the command to its end: the text is read for the first time (no cached corpus) and
        the vectors are saved. training: learning alone, after words are counted, in the same process if the tool
        can report it, otherwise in a second one.
        """
        shutil.rmtree(self.cache / "corpora", ignore_errors=True)
        if tool.program is not None:
            return self.measure_program(tool.program, tool.whole, job)
        whole = self.start(tool.whole(job))
        training_usage = self.start(tool.training(job)) if tool.training else whole
        clock: dict[str, Any] = json.loads(training_usage.output.splitlines()[-1])
        overhead = clock["overhead"] if tool.training is None else {"cpu": 0.0, "wall": 0.0}
        training = clock["training"]
        times = training["cpu"], training["wall"], whole.cpu - overhead["cpu"], whole.wall - overhead["wall"]
        return measurements(times, whole, clock["words"])

    def measure_program(self, program: Program, command: Command, job: Job) -> Row:
        """The time and memory of a program; its training is what it takes more than with zero epochs."""
        untrained_command = program.call_without_training(job)
        untrained = self.start(untrained_command) if untrained_command else None
        remove(program.saved_vectors(job))
        whole = self.start(command(job))
        try:
            program.convert(job, self.vocabulary)
        except EmbeddingsError as error:
            raise CommandError(f"{program.name} saved no vectors that can be read: {error}") from None
        training = (whole.cpu - untrained.cpu, whole.wall - untrained.wall) if untrained else (None, None)
        return measurements((*training, whole.cpu, whole.wall), whole, None)

    def evaluate(self, vectors: Path, tests: Sequence[str]) -> Row:
        """The scores of vectors by `embeddings evaluate`, analogies among the first 30,000 words."""
        command = [sys.executable, "-m", "embeddings", "evaluate", str(vectors), "--json", *tests]
        row: Row = {}
        for result in json.loads(self.start(command).output):
            is_whole = result["section"] is None
            if (is_whole or result["section"] in PARTS) and result["measure"] in MEASURES:
                name = result["set"] if is_whole else f"{result['set']} {result['section']}"
                value = result["value"]  # of several restrictions the narrowest comes last
                if "--documents" in tests and value is not None:
                    name, value = ERROR_OF + name, 1 - value
                row |= {name: value, name + COVERED: result["covered"], name + TOTAL: result["total"]}
        return row


def measurements(times: Sequence[float | None], whole: Usage, words: int | None) -> Row:
    """The columns of what was measured; None for what a tool does not tell."""
    seconds = (None if time is None else round(max(time, 0.0), 3) for time in times)
    row: Row = dict(zip(TIMES, seconds, strict=True))
    return row | {"peak_memory": whole.peak, "private_memory": whole.private, "words_read": words}


class CommandError(Exception):
    """A command of a run failed; the message is its error."""


def remove(path: Path) -> None:
    """Remove a file or folder, if it exists."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)
