"""The folder in which runs take place, and one run: a measured command and the evaluation of its vectors."""

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.errors import CorpusError, EmbeddingsError
from embeddings.eval.benchmark.tools import UNSAFE, Job, ModelConfig, Program, remove
from embeddings.support.files import atomic_write

if TYPE_CHECKING:
    from embeddings.corpora import EncodedCorpus


Row = dict[str, Any]

SETS = {"wordsim353": "WordSim-353", "simlex999": "SimLex-999", "google-analogies": "Google analogies"}
ERROR_OF = "error of "  # prefix of the column of a document set
PARTS = ("semantic", "syntactic")  # of the analogies
MEASURES = ("spearman", "accuracy")
COVERED, TOTAL = " covered", " total"  # suffixes of the columns next to that of a set
TIMES = ("training_cpu", "training_wall", "whole_cpu", "whole_wall")  # seconds
MEMORY = ("peak_memory", "private_memory")  # bytes
MEASUREMENTS = (*TIMES, *MEMORY, "words_read")
RUN = ("corpus_words", "tool", "version", "seed")  # what distinguishes runs of a configuration
TEXT_COLUMNS = ("trainer", "tool", "version", "error")  # even where they look like numbers


def setting_columns(rows: Sequence[Row]) -> list[str]:
    """The columns that make a configuration."""
    others = {*RUN, *MEASUREMENTS, "error", *score_columns(rows)}
    return [name for name in dict.fromkeys(name for row in rows for name in row) if name not in others]


def score_columns(rows: Sequence[Row]) -> list[str]:
    """The columns of scores."""
    return [f"{name}{part}" for name in scored_sets(rows) for part in ("", COVERED, TOTAL)]


def scored_sets(rows: Sequence[Row]) -> list[str]:
    """The test sets, and parts of them, that runs have scores for; the standard sets of word vectors come first."""
    names = dict.fromkeys(name.removesuffix(COVERED) for row in rows for name in row if name.endswith(COVERED))
    has_words = not any(row.get("documents") for row in rows)
    return list(dict.fromkeys([*(SETS if has_words else ()), *names]))


def write_rows(rows: Sequence[Row], path: Path, names: Sequence[str] | None = None, *, delimiter: str = ",") -> None:
    """Write rows as a table, replacing an older one; missing values are empty.

    The columns are by default the trainer, the settings of all trainers, threads, then the run, its measurements and
    its error.
    """
    text = io.StringIO(newline="")
    names = names or [*setting_columns(rows), *RUN, *MEASUREMENTS, *score_columns(rows), "error"]
    out = csv.DictWriter(text, names, restval="", delimiter=delimiter, lineterminator="\n")
    out.writeheader()
    out.writerows(rows)
    write_text(text.getvalue(), path)


def write_text(text: str, path: Path) -> None:
    """Write a text file, replacing an older one."""
    with atomic_write(path, force=True) as fresh:
        fresh.write_text(text, encoding="utf-8", newline="\n")


def read_rows(path: Path) -> list[Row]:
    """The rows of a CSV file, with numbers as numbers and None for empty cells."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: parse_value(name, text) for name, text in row.items()} for row in csv.DictReader(file)]


def parse_value(column: str, text: str) -> Any:
    """The value of a cell."""
    if column in TEXT_COLUMNS:
        return text
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


MAX_LINE = 1000  # words: gensim trains on about 1 % of a single long line, and fastText cuts lines at 1,024
BUFFER_BYTES = 1 << 20


def write_words(encoded: "EncodedCorpus", path: Path, *, max_line: int = MAX_LINE) -> None:
    """Write all words with the corpus's lines, cut after `max_line` words; empty lines are left out."""
    sentences = np.unique(np.asarray(encoded.sentences))
    parts = [np.arange(begin, end, max_line) for begin, end in pairwise(sentences.tolist())]
    write_lines(encoded, path, [*np.concatenate(parts).tolist(), int(sentences[-1])])


def write_documents(encoded: "EncodedCorpus", path: Path) -> None:
    """Write every document as one line, empty ones included."""
    from embeddings.corpora.documents import corpus_documents

    write_lines(encoded, path, corpus_documents(encoded).borders.tolist())


def write_lines(encoded: "EncodedCorpus", path: Path, bounds: Sequence[int]) -> None:
    """Write the words between consecutive bounds as a line."""
    words, ids = list(encoded.vocabulary.words), encoded.ids
    if cut := next((word for word in words if word.split() != [word]), None):
        raise CorpusError(f"the word {cut!r} contains white space, which separates words in the text for all tools")
    with path.open("w", encoding="utf-8", newline="\n", buffering=BUFFER_BYTES) as file:
        for begin, end in pairwise(bounds):
            file.write(" ".join([words[i] for i in ids[begin:end].tolist()]) + "\n")


INTERVAL = 0.02  # seconds between samples of the memory
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes
STATUS_MEMORY = re.compile(r"^(VmHWM|RssAnon):\s+(\d+) kB$", re.MULTILINE)  # in /proc/PID/status


@dataclass(frozen=True)
class Usage:
    """CPU time, wall time and memory of a process, its exit code, and its output.

    `cpu` is user and system seconds with child processes; `peak` and `private` are the maximum memory in bytes, with
    and without mapped files (None where the system does not report it); `code` is negative after a signal.
    """

    cpu: float
    wall: float
    peak: int
    private: int | None
    code: int
    output: str
    errors: str

    @property
    def error(self) -> str:
        """Why it failed, in one line; empty if it succeeded."""
        if self.code == 0:
            return ""
        if self.code < 0:
            return f"killed by {signal.Signals(-self.code).name}"
        lines = self.errors.strip().splitlines()
        return " ".join(lines[-1].split()) if lines else f"exit code {self.code}"


def run(command: Sequence[str], env: Mapping[str, str]) -> Usage:
    """Run a command to its end; if this process is interrupted, the command is killed with its children."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start_time = perf_counter()
        process = subprocess.Popen(  # in a session of its own, so that Ctrl-C does not reach it
            command, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True
        )
        try:
            with maximum_memory(process.pid) as memory:
                _, status, used = os.wait4(process.pid, 0)
            wall = perf_counter() - start_time
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        output.seek(0)
        errors.seek(0)
        return Usage(
            cpu=used.ru_utime + used.ru_stime,
            wall=wall,
            # ru_maxrss of a child includes what its parent held when it was started
            peak=memory.get("VmHWM") or used.ru_maxrss * MAXRSS_UNIT,
            private=memory.get("RssAnon"),
            code=process.returncode,
            output=output.read().decode(errors="replace"),
            errors=errors.read().decode(errors="replace"),
        )


@contextmanager
def maximum_memory(pid: int) -> Iterator[dict[str, int]]:
    """The maximum memory of a process in bytes by name, sampled in a thread; empty where /proc does not report it."""
    memory: dict[str, int] = {}
    stopped = Event()

    def sample() -> None:
        while not stopped.wait(INTERVAL):
            try:
                status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
            except OSError:
                return
            for name, size in STATUS_MEMORY.findall(status):
                memory[name] = max(memory.get(name, 0), int(size) * 1024)

    thread = Thread(target=sample, name="memory", daemon=True)
    thread.start()
    try:
        yield memory
    finally:
        stopped.set()
        thread.join()


Report = Callable[[str], None]


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

    def warm_up(self, config: ModelConfig, tool: Program) -> None:
        """Run a tool once on the first lines, so that kernels are compiled and libraries are in memory."""
        head = self.folder / "head.txt"
        if not head.exists():
            with self.text.open("rb") as source, head.open("wb") as target:
                target.writelines(islice(source, 100))
        one_epoch = replace(config, settings={**config.settings, "min_count": 1, "epochs": 1})
        with suppress(CommandError):
            job = Job(one_epoch, 1, str(head), str(self.out(config)))
            self.start(tool.call(job))
            tool.remove_vectors(job)
        remove(self.out(config))

    def out(self, config: ModelConfig) -> Path:
        """Where a tool saves vectors: a file, or for document models a file or folder."""
        return self.folder / ("vectors" if config.has_documents else "vectors.bin")

    def run_columns(self, config: ModelConfig, seed: int, tool: Program) -> Row:
        """The columns of a run that are known before it: settings, tool, seed."""
        row: Row = {"trainer": config.trainer, **config.settings, "threads": config.threads}
        return row | {"corpus_words": self.words, "tool": tool.name, "version": tool.known_version, "seed": seed}

    def run(self, config: ModelConfig, seed: int, tool: Program) -> Row:
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

    def measure(self, tool: Program, job: Job) -> Row:
        """The time and memory of a tool.

        whole: from the start of the command to its end: the text is read for the first time (no cached corpus) and
        the vectors are saved. training: learning alone, after words are counted, in the same process if the tool
        can report it, otherwise in a second one; of a program what it takes more than with zero epochs. None for
        what a tool does not tell.
        """
        shutil.rmtree(self.cache / "corpora", ignore_errors=True)
        times: tuple[float | None, ...]
        if tool.module:
            whole, words = self.start(tool.call(job)), None
            timed = self.start(tool.clock_command(job)) if tool.command else whole
            clock: dict[str, Any] = json.loads(timed.output.splitlines()[-1])
            overhead = {"cpu": 0.0, "wall": 0.0} if tool.command else clock["overhead"]
            training, words = clock["training"], clock["words"]
            times = training["cpu"], training["wall"], whole.cpu - overhead["cpu"], whole.wall - overhead["wall"]
        else:
            untrained = None
            if tool.can_skip_training:
                config = replace(job.config, settings={**job.config.settings, "epochs": 0})
                untrained = self.start(tool.call(replace(job, config=config)))
            tool.remove_vectors(job)
            whole, words = self.start(tool.call(job)), None
            try:
                tool.convert(job, self.vocabulary)
            except EmbeddingsError as error:
                raise CommandError(f"{tool.name} saved no vectors that can be read: {error}") from None
            training = (whole.cpu - untrained.cpu, whole.wall - untrained.wall) if untrained else (None, None)
            times = *training, whole.cpu, whole.wall
        seconds = (None if time is None else round(max(time, 0.0), 3) for time in times)
        row: Row = dict(zip(TIMES, seconds, strict=True))
        return row | {"peak_memory": whole.peak, "private_memory": whole.private, "words_read": words}

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


class CommandError(Exception):
    """A command of a run failed; the message is its error."""
