"""Where the runs take place, and one run: a command measured, its vectors judged."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embeddings.eval.benchmark import corpus_text, result_rows
from embeddings.eval.benchmark.job import Job, Shape
from embeddings.eval.benchmark.measured_process import Usage, run
from embeddings.eval.benchmark.result_rows import Row
from embeddings.eval.benchmark.tools import Tool

if TYPE_CHECKING:
    from embeddings.corpora import EncodedCorpus

Say = Callable[[str], None]


@contextmanager
def laid_out(
    encoded: "EncodedCorpus",
    folder: Path,
    kept: Path | None = None,
    tests: Sequence[str] | None = (),
    *,
    documents: bool = False,
) -> Iterator["Track"]:
    """The text and a cache of its own in a folder that is gone afterwards; compiled kernels stay where they are."""
    from embeddings.support.cache_folder import cache_folder

    with tempfile.TemporaryDirectory(prefix=".work-", dir=folder) as work:
        track = Track(Path(work), len(encoded.ids), kept, tests)
        (corpus_text.write_documents if documents else corpus_text.write)(encoded, track.text)
        track.cache.mkdir()
        kernels = cache_folder("kernels")
        if kernels is not None:
            (track.cache / "kernels").symlink_to(kernels.absolute())
        yield track


@dataclass(frozen=True)
class Track:
    """Where all run: a folder with the text, how many words that has, and a folder for vectors if they are kept.

    `tests` are the options of `embeddings evaluate` that name what vectors are judged by; None for nothing.
    """

    work: Path
    words: int
    kept: Path | None = None
    tests: Sequence[str] | None = ()

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

    def warm_up(self, shape: Shape, tool: Tool) -> None:
        """Run a tool once on the first lines and forget it: kernels are compiled, libraries are off the disk."""
        few = self.work / "few.txt"
        if not few.exists():
            corpus_text.head(self.text, few)
        small = Shape(shape.trainer, {**shape.settings, "min_count": 1, "epochs": 1}, shape.threads)
        self.start(tool.whole(Job(small, 1, str(few), str(self.out(shape)))))
        remove(self.out(shape))

    def out(self, shape: Shape) -> Path:
        """Where vectors are saved: a file, or, with those of documents, what the tool makes of it."""
        return self.work / ("vectors" if shape.documents else "vectors.bin")

    def start_of(self, shape: Shape, seed: int, tool: Tool) -> Row:
        """What a row says of a run before it is made: all settings, the tool, the seed."""
        row: Row = {"trainer": shape.trainer, **shape.settings, "threads": shape.threads}
        return row | {"corpus_words": self.words, "tool": tool.name, "version": tool.version, "seed": seed}

    def row(self, shape: Shape, seed: int, tool: Tool) -> Row:
        """One run, as a row; its error where it fails."""
        row = self.start_of(shape, seed, tool)
        out = self.out(shape)
        try:
            figures = self.figures(tool, Job(shape, seed, str(self.text), str(out)))
            judged = {} if self.tests is None else self.quality(out, self.tests)
            if self.kept is not None:
                out.replace(self.kept / f"{shape.name}-{tool.name}-{seed}{out.suffix}")
            return {**row, **figures, **judged, "error": ""}
        except Failed as error:
            return {**row, "error": str(error)}
        finally:
            remove(out)

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

    def quality(self, vectors: Path, tests: Sequence[str]) -> Row:
        """How good the vectors are by our own `embeddings evaluate`, analogies among the first 30,000 words."""
        command = [sys.executable, "-m", "embeddings", "evaluate", str(vectors), "--json", *tests]
        found: Row = {}
        for result in json.loads(succeeded(self.start(command)).output):
            whole = result["section"] is None
            if (whole or result["section"] in result_rows.PARTS) and result["measure"] in result_rows.MEASURES:
                name = result["set"] if whole else f"{result['set']} {result['section']}"
                values = result["value"], result["seen"], result["total"]  # of restrictions the narrowest comes last
                if "--documents" in tests and result["value"] is not None:
                    name, values = result_rows.WRONG + name, (1 - result["value"], *values[1:])
                found |= dict(zip((name, name + result_rows.SEEN, name + result_rows.TOTAL), values, strict=True))
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


def remove(path: Path) -> None:
    """Remove a file or folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)


def last_line(usage: Usage) -> dict[str, Any]:
    """The clock that a runner prints last."""
    clock: dict[str, Any] = json.loads(usage.output.splitlines()[-1])
    return clock
