"""Compares the classifier with fastText and with TF-IDF and logistic regression of scikit-learn.

python tools/classifier_study.py run RESULTS.tsv --data DOCUMENTS --work FOLDER --fasttext PROGRAM [--texts N]
    [--dim N...] [--seed N...] [--dataset NAME...] [--part PART...] [--trials N] [--no-seconds]
python tools/classifier_study.py table RESULTS.tsv

DOCUMENTS has the files imdb-*.tsv.zst, ag-news-7600.csv and sst-binary-*.txt. PROGRAM is fastText's command line,
compiled from its source package: g++ -O3 -march=native -funroll-loops -pthread -std=c++17 src/*.cc -o fasttext.

`run` measures each cell in a process of its own, adds its rows to the file, skips cells that it holds, and writes the
table of `table` next to it, RESULTS.md. FOLDER keeps the prepared texts and fastText's models, 2 GB. --texts limits
the texts, to try the study out.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from time import perf_counter

from classification_data import AG_NEWS, FOLDS, IMDB, prepare
from classifier_cells import MANY_THREADS, Cell, Study, autotune, load, predict, quantize, train
from classifier_tables import COLUMNS, FASTTEXT, OURS, SKLEARN, table
from study_rows import append_rows, read_rows

PARTS = ("train", "predict", "quantize", "load", "autotune")
FORMS = ("bin", "ftz")
QUANTIZE = ("", "--cutoff 100000", "--cutoff 10000", "--cutoff 10000 --retrain")


def iter_cells(options: argparse.Namespace) -> Iterator[Cell]:
    """The chosen cells."""
    dims, tools = options.dim or [10, 100], (OURS, FASTTEXT)
    cells = {
        "train": training_cells(options.dataset or FOLDS, dims, options.seed or [1, 2, 3]),
        "predict": [Cell("predict", IMDB, 0, tool, dim, form) for dim, form, tool in product(dims, FORMS, tools)],
        "quantize": [
            Cell("quantize", dataset, 0, tool, dims[0], form)
            for dataset, form, tool in product(options.dataset or FOLDS, QUANTIZE, tools)
        ],
        "load": [
            *(Cell("load", IMDB, 0, tool, dim, "") for dim, tool in product(dims, tools)),
            *(Cell("load", AG_NEWS, 0, tool, 100, "buckets 2500000") for tool in tools),  # 1 GB
        ],
        "autotune": [Cell("autotune", IMDB, 0, OURS, dims[0], f"trials {options.trials}")],
    }
    for part in options.part or PARTS:
        yield from cells[part]


def training_cells(datasets: Iterable[str], dims: Sequence[int], seeds: Sequence[int]) -> Iterator[Cell]:
    """The training runs, a whole fold after the other."""
    runs = (OURS, 1), (FASTTEXT, 1), (FASTTEXT, MANY_THREADS)
    for dataset in datasets:
        for fold in range(FOLDS[dataset]):
            yield Cell("train", dataset, fold, SKLEARN, 0, "")
            for dim in dims:
                for seed, (tool, threads) in product(seeds, runs):
                    yield Cell("train", dataset, fold, tool, dim, f"threads {threads} seed {seed}")


def run(path: Path, options: argparse.Namespace) -> None:
    """Measure the cells that the file does not hold yet, and write the table."""
    done = {tuple(row[column] for column in COLUMNS[:6]) for row in read_rows(path)} if path.exists() else set()
    prepare(options.data, options.work, options.texts)
    settings = {"work": str(options.work.absolute()), "fasttext": options.fasttext, "trials": options.trials}
    for cell in iter_cells(options):
        if cell.key in done:
            continue
        command = [sys.executable, __file__, "cell", json.dumps([settings, cell])]
        start = perf_counter()
        process = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
        lines = (process.stdout if process.returncode == 0 else process.stderr).strip().splitlines() or [""]
        if process.returncode == 0:
            rows = [[*cell.key, name, f"{value:.10g}"] for name, value in json.loads(lines[-1]).items()]
            append_rows(path, COLUMNS, [row for row in rows if options.seconds or row[-2] != "CPU seconds"])
        sys.stderr.write(f"{' '.join(cell.key)}: {lines[-1]} ({perf_counter() - start:.0f} s)\n")
    if path.exists():
        path.with_suffix(".md").write_text(table(path), encoding="utf-8")


def environment() -> dict[str, str]:
    """The environment of a cell: libraries of scikit-learn use one thread."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def main(arguments: Sequence[str]) -> None:
    """Run the study, write its table to standard output, or run one cell for `run`."""
    if arguments[:1] == ["cell"]:
        settings, fields = json.loads(arguments[1])
        study, cell = Study(Path(settings["work"]), settings["fasttext"], settings["trials"]), Cell(*fields)
        parts = {"train": train, "predict": predict, "quantize": quantize, "load": load, "autotune": autotune}
        sys.stdout.write(json.dumps(parts[cell.part](study, cell)) + "\n")
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("results", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--fasttext", help="the compiled program")
    parser.add_argument("--texts", type=int, help="maximum number of texts for training and for testing")
    parser.add_argument("--trials", type=int, default=20, help="of the search")
    parser.add_argument("--no-seconds", dest="seconds", action="store_false", help="do not record times of training")
    for name in ("dim", "seed"):
        parser.add_argument(f"--{name}", action="append", type=int)
    parser.add_argument("--dataset", action="append", choices=list(FOLDS))
    parser.add_argument("--part", action="append", choices=PARTS)
    options = parser.parse_args(arguments)
    if options.command == "table":
        sys.stdout.write(table(options.results))
    elif None in (options.data, options.work, options.fasttext):
        parser.error("run requires --data, --work and --fasttext")
    else:
        run(options.results, options)


if __name__ == "__main__":
    main(sys.argv[1:])
