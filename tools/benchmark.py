"""Trains the same models by this package and by other tools on the same text, and compares speed and scores.

    python tools/benchmark.py CORPUS... --trainer skipgram:learning_rate=0.05 cbow --peer gensim word2vec.toml

For each trainer the tools run in turn in fresh processes with the same settings, once for each seed. --peer takes
gensim, fasttext, and the files of descriptions of other programs. The folder of --out gets results.csv (all runs),
results.md (the table), results.png, machine.json, and with --keep the vectors. --tests are the options of `embeddings
evaluate`; for document models they are for instance "--documents TRAIN,TEST --use-trained-vectors", with CORPUS that
begins with TRAIN and TEST. Linux or macOS; use an otherwise idle machine.
"""

import argparse
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from benchmark_programs import OURS, PEERS, UNSAFE, Job, ModelConfig, Program, model_configs, remove
from benchmark_table import COVERED, ERROR_OF, MAX_LINE, PARTS, TIMES, TOTAL, Row, draw, markdown, read_rows
from benchmark_table import write_rows as write_table
from processes import EMBEDDINGS, CommandError, Usage, environment, run, write_text

from embeddings.corpora import Corpus, EncodedCorpus
from embeddings.corpora.documents import corpus_documents
from embeddings.errors import EmbeddingsError
from embeddings.models.loading import load
from embeddings.support.cache_folder import cache_folder

LIBRARIES = ("numpy", "numba", "llvmlite", "scipy", "pyarrow")
TESTS = "--similarity wordsim353 --similarity simlex999 --analogy google-analogies"
MEASURES = ("spearman", "accuracy")


@dataclass(frozen=True)
class Workspace:
    """A folder with a text of `words` words, in which all runs take place.

    `tests` are options of `embeddings evaluate`, none for no evaluation; `vocabulary` are the distinct words in
    decreasing frequency; the vectors of runs are kept in `kept`, unless that is None.
    """

    folder: Path
    words: int
    vocabulary: Sequence[str]
    tests: Sequence[str]
    kept: Path | None = None

    @property
    def text(self) -> Path:
        """The text that every tool reads."""
        return self.folder / "text.txt"

    def start(self, command: Sequence[str]) -> Usage:
        """Run a command with a cache of its own."""
        return run(command, EMBEDDINGS_CACHE=str(self.folder / "cache"))

    def out(self, config: ModelConfig) -> Path:
        """Where a tool saves vectors: a file, or for document models a file or folder."""
        return self.folder / ("vectors" if config.has_documents else "vectors.bin")

    def warm_up(self, config: ModelConfig, tool: Program) -> None:
        """Run a tool once on the first lines, so that kernels are compiled and libraries are in memory."""
        head = self.folder / "head.txt"
        with self.text.open("rb") as source, head.open("wb") as target:
            target.writelines(islice(source, 100))
        one_epoch = replace(config, settings={**config.settings, "min_count": 1, "epochs": 1})
        job = Job(one_epoch, 1, str(head), str(self.out(config)))
        with suppress(CommandError):
            self.start(tool.call(job))
        for path in (tool.saved_vectors(job), self.out(config)):
            remove(path)

    def run(self, config: ModelConfig, seed: int, tool: Program) -> Row:
        """One run as a row; with its error if it fails."""
        row: Row = {"trainer": config.trainer, **config.settings, "threads": config.threads}
        row |= {"corpus_words": self.words, "tool": tool.name, "version": tool.known_version, "seed": seed}
        out = self.out(config)
        try:
            row |= self.measure(tool, Job(config, seed, str(self.text), str(out)))
            row |= self.evaluate(out) if self.tests else {}
            if self.kept is not None:
                name = UNSAFE.sub("-", f"{config.label} {tool.name} {seed}".replace(" ", "-"))
                out.replace(self.kept / f"{name}{out.suffix}")
            return {**row, "error": ""}
        except EmbeddingsError as error:
            return {**row, "error": str(error)}
        finally:
            remove(out)

    def measure(self, tool: Program, job: Job) -> Row:
        """The time and memory of a tool.

        whole: from the start of the command to its end: the text is read for the first time (no cached corpus) and
        the vectors are saved. training: learning alone, after words are counted, in the same process if the tool
        can report it, otherwise in a second one; None for what a tool does not tell.
        """
        shutil.rmtree(self.folder / "cache" / "corpora", ignore_errors=True)
        whole, words = self.start(tool.call(job)), None
        times: list[float | None] = [None, None, whole.cpu, whole.wall]
        if tool.module:
            timed = self.start(tool.clock_command(job)) if tool.command else whole
            clock: dict[str, Any] = json.loads(timed.output.splitlines()[-1])
            training, words = clock["training"], clock["words"]
            overhead = {"cpu": 0.0, "wall": 0.0} | (clock.get("overhead", {}) if timed is whole else {})
            times = [training["cpu"], training["wall"], whole.cpu - overhead["cpu"], whole.wall - overhead["wall"]]
        else:
            vectors = load(tool.saved_vectors(job), errors="replace")
            known = [word for word in self.vocabulary if word in vectors]  # other words follow, each once
            vectors.subset([*known, *vectors.words]).save(job.out_path, "word2vec-binary", force=True)
        seconds = (None if time is None else round(max(time, 0.0), 3) for time in times)
        row: Row = dict(zip(TIMES, seconds, strict=True))
        return row | {"peak_memory": whole.peak, "private_memory": whole.private, "words_read": words}

    def evaluate(self, vectors: Path) -> Row:
        """The scores of vectors by `embeddings evaluate`, analogies among the first 30,000 words."""
        row: Row = {}
        for result in json.loads(self.start([*EMBEDDINGS, "evaluate", str(vectors), "--json", *self.tests]).output):
            is_whole = result["section"] is None
            if (is_whole or result["section"] in PARTS) and result["measure"] in MEASURES:
                name = result["set"] if is_whole else f"{result['set']} {result['section']}"
                value = result["value"]  # of several restrictions the narrowest comes last
                if "--documents" in self.tests and value is not None:
                    name, value = ERROR_OF + name, 1 - value
                row |= {name: value, name + COVERED: result["covered"], name + TOTAL: result["total"]}
        return row


def write_words(encoded: EncodedCorpus, path: Path, *, max_line: int = MAX_LINE) -> None:
    """Write all words with the corpus's lines, cut after `max_line` words; empty lines are left out."""
    sentences = np.unique(np.asarray(encoded.sentences))
    parts = [np.arange(begin, end, max_line) for begin, end in pairwise(sentences.tolist())]
    write_lines(encoded, path, [*np.concatenate(parts).tolist(), int(sentences[-1])])


def write_lines(encoded: EncodedCorpus, path: Path, bounds: Sequence[int]) -> None:
    """Write the words between consecutive bounds as a line."""
    words, ids = list(encoded.vocabulary.words), encoded.ids
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for begin, end in pairwise(bounds):
            file.write(" ".join([words[i] for i in ids[begin:end].tolist()]) + "\n")


def benchmark(
    encoded: EncodedCorpus, configs: Sequence[ModelConfig], tools: Sequence[Program], folder: Path, *,
    seeds: int, tests: Sequence[str], keep: bool = False,
) -> list[Row]:  # fmt: skip
    """Run every tool, configuration and seed in turn; the rows and the table are written after each run."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "vectors" if keep else None
    if kept is not None:
        kept.mkdir(exist_ok=True)
    sources = [Path(name).name for name in encoded.meta["sources"]]
    corpus = {"sources": sources, "words": len(encoded.ids), "types": len(encoded.vocabulary)}
    corpus |= {"lines": len(encoded.sentences) - 1, "fingerprint": encoded.fingerprint}
    machine = {**environment(LIBRARIES), "tools": {tool.name: tool.known_version for tool in tools}, "corpus": corpus}
    write_text(json.dumps(machine, indent=2) + "\n", folder / "machine.json")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix=".work-", dir=folder) as work:
        workspace = Workspace(Path(work), len(encoded.ids), encoded.vocabulary.words, tests, kept)
        if configs[0].has_documents:
            write_lines(encoded, workspace.text, corpus_documents(encoded).borders.tolist())
        else:
            write_words(encoded, workspace.text)
        (workspace.folder / "cache").mkdir()
        if kernels := cache_folder("kernels"):
            (workspace.folder / "cache" / "kernels").symlink_to(kernels.absolute())
        for config in configs:
            supporting = [tool for tool in tools if tool.supports(config)]
            for tool in supporting:
                workspace.warm_up(config, tool)
            for seed in range(1, seeds + 1):
                for tool in supporting:
                    row = workspace.run(config, seed, tool)
                    sys.stderr.write(f"{config.label}, seed {seed}, {tool.name}: {row['error'] or 'done'}\n")
                    write_table([*rows, row], folder / "results.csv")
                    rows = read_rows(folder / "results.csv")
                    write_text(markdown(rows, machine, tools), folder / "results.md")
    if tests:
        draw(rows, folder / "results.png")
    return rows


def find_tool(name: str) -> Program:
    """A peer by its name, or by the file of its description."""
    return next((peer for peer in PEERS if peer.name == name), None) or Program.read(name)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="+")
    parser.add_argument("--out", type=Path, default=Path("benchmark"))
    parser.add_argument("--trainer", nargs="+", default=["skipgram", "cbow"], help="with settings after a colon")
    parser.add_argument("--peer", nargs="*", default=[peer.name for peer in PEERS if peer.is_installed])
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    for name in ("dim", "negatives", "window", "subsample", "min-count", "epochs"):
        kind = float if name == "subsample" else int
        parser.add_argument(f"--{name}", type=kind, default=argparse.SUPPRESS, help="of all trainers that have it")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tokenizer", default=argparse.SUPPRESS)
    parser.add_argument("--text-column", default=argparse.SUPPRESS)
    parser.add_argument("--tests", type=shlex.split, default=shlex.split(TESTS), help="options of embeddings evaluate")
    parser.add_argument("--keep", action="store_true", help="keep the vectors of all runs")
    options = vars(parser.parse_args(arguments))
    corpus = {name: options.pop(name) for name in ("tokenizer", "text_column") if name in options}
    sources, out, seeds, tests, keep = (options.pop(name) for name in ("corpus", "out", "seeds", "tests", "keep"))
    tools = [OURS, *map(find_tool, options.pop("peer"))]
    configs = model_configs(options.pop("trainer"), **options)
    with Corpus(*sources, **corpus).encode() as encoded:
        benchmark(encoded, configs, tools, out, seeds=seeds, tests=tests, keep=keep)
    sys.stdout.write((out / "results.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
