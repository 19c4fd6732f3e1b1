"""The classifier beside fastText and beside TF-IDF and logistic regression of scikit-learn."""

import csv
import random
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, ClassVar, NamedTuple

import pyarrow

import embeddings as em
from embeddings.eval.benchmark.workspace import Usage
from studies.grid import Grid, Rows, pivot, run_command, run_embeddings, timed

IMDB, AG_NEWS, SST = "imdb", "ag-news", "sst"
FOLDS = {IMDB: 1, AG_NEWS: 5, SST: 1}
OURS, FASTTEXT, SKLEARN = "embeddings", "fastText", "TF-IDF + logistic regression"
MAJORITY = "the most frequent label"
TOOLS, FORMS = (OURS, FASTTEXT), ("bin", "ftz")
SETTINGS = {"word_ngrams": 2, "epochs": 5, "learning_rate": 0.5}
MANY_THREADS = 10  # of fastText: with one thread, the rows of its input matrix start all alike
COPIES, REPEATS = 4, 3  # of the test file in predictions, and of predictions; the fastest counts
QUANTIZE = ("", "--cutoff 100000", "--cutoff 10000", "--cutoff 10000 --retrain")
TABLES = {  # the measures of each part, and their formats
    "train": {"accuracy": ".4f", "macro-f1": ".4f", "CPU seconds": ".1f"},
    "predict": {"lines per CPU second": ",.0f", "CPU seconds of one line": ".2f"},
    "quantize": {"bytes": ",.0f", "accuracy": ".4f"},
    "load": {"bytes": ",.0f", "seconds of the command": ".2f", "seconds within Python": ".3f"},
    "autotune": {f"{side} {name}": ".4f" for name in ("default", "best") for side in ("validation", "test")},
}


class Cell(NamedTuple):
    """One measurement; `options` are words such as "threads 10"."""

    part: str
    dataset: str
    fold: int
    tool: str
    dim: int
    options: str


class Classifiers(Grid):
    """Compares the classifier with fastText and with TF-IDF and logistic regression of scikit-learn.

    --data has the files imdb-*.tsv.zst, ag-news-7600.csv and sst-binary-*.txt. --fasttext is fastText's command line,
    compiled from its source package: g++ -O3 -march=native -funroll-loops -pthread -std=c++17 src/*.cc -o fasttext.
    --work is a folder that keeps the prepared texts and fastText's models, 2 GB. --texts limits the texts, to try the
    study out; --no-seconds does not record times of training.
    """

    results = "classification/results"
    keys = Cell._fields
    defaults: ClassVar = {
        "data": str, "work": str, "fasttext": str, "texts": 0, "trials": 20, "no_seconds": False, "dim": [10, 100],
        "seed": [1, 2, 3], "dataset": [*FOLDS], "part": ["train", "predict", "quantize", "load", "autotune"],
    }  # fmt: skip
    notes = """
- Word pairs, 5 epochs, learning rate 0.5; means over three seeds for SST and for IMDB with dimension 10, otherwise one.
  IMDB has 25,000 reviews for training and for testing, AG News 7,600 texts in 5 folds, SST 6,920 and 1,821 sentences;
  lower-cased, with punctuation separated. A standard error of the accuracy is 0.002 for IMDB, 0.004 for AG News, and
  0.009 for SST.
- CPU seconds are of reading the text, training on one thread (unless another number is given) and writing the model;
  of AG News the mean over folds. Python has started and kernels are loaded. fastText is its C++ program.
- Lines per CPU second are those of the commands `predict` and `predict-prob` on the reviews for testing, without those
  of a single line.
- Quantised models are those of fastText for the first fold, with `--qnorm`; `--cutoff` is the number of rows that they
  keep.
- The search has 20 trials on one thread with seed 1. It trains on 20,000 reviews and scores 5,000 others; the best
  settings are those with the best score there.
- Measured on {processor}.
"""

    def cells(self) -> Iterator[Cell]:
        """The chosen cells; of training a whole fold after the other."""
        options = self.options
        folds = [(dataset, fold) for dataset in options.dataset for fold in range(FOLDS[dataset])]
        runs = [
            (tool, dim, f"threads {threads} seed {seed}")
            for dim, seed in product(options.dim, options.seed)
            for tool, threads in ((OURS, 1), (FASTTEXT, 1), (FASTTEXT, MANY_THREADS))
        ]
        quantised = product(options.dataset, QUANTIZE, TOOLS)
        cells: dict[str, Iterable[tuple[Any, ...]]] = {
            "train": ((*fold, *run) for fold in folds for run in [(MAJORITY, 0, ""), (SKLEARN, 0, ""), *runs]),
            "predict": ((IMDB, 0, tool, dim, form) for dim, form, tool in product(options.dim, FORMS, TOOLS)),
            "quantize": ((dataset, 0, tool, options.dim[0], form) for dataset, form, tool in quantised),
            "load": [
                *((IMDB, 0, tool, dim, "") for dim, tool in product(options.dim, TOOLS)),
                *((AG_NEWS, 0, tool, 100, "buckets 2500000") for tool in TOOLS),  # 1 GB
            ],
            "autotune": [(IMDB, 0, OURS, options.dim[0], f"trials {options.trials}")],
        }
        return (Cell(part, *cell) for part in options.part for cell in cells[part])

    def prepare(self) -> None:
        """Write `DATASET-FOLD.train` and `.test` for each fold, and `imdb-0.valid` and `.part` of a search."""
        data, limit = Path(self.options.data), self.options.texts or None
        self.work.mkdir(parents=True, exist_ok=True)
        with (data / "ag-news-7600.csv").open(encoding="utf-8", newline="") as file:
            news = [labelled(row["label"], f"{row['title']} {row['description']}") for row in csv.DictReader(file)]
        files = {}
        for side in ("train", "test"):
            reviews = []  # a rating above 5 of 10 is positive
            for name in ("neg", "pos"):
                with pyarrow.input_stream(data / f"imdb-{side}_{name}.tsv.zst") as stream:
                    reviews += [line.split("\t", 2)[1:] for line in stream.read().decode().split("\n") if line]
            lines = [labelled("pos" if int(rating) > 5 else "neg", text) for rating, text in reviews]
            files[f"{IMDB}-0.{side}"] = shuffled(lines, limit)
        train = files[f"{IMDB}-0.train"]
        files |= {f"{IMDB}-0.valid": train[: len(train) // 5], f"{IMDB}-0.part": train[len(train) // 5 :]}
        lines = shuffled(news, limit)
        for fold in range(FOLDS[AG_NEWS]):
            files[f"{AG_NEWS}-{fold}.train"] = [one for n, one in enumerate(lines) if n % FOLDS[AG_NEWS] != fold]
            files[f"{AG_NEWS}-{fold}.test"] = lines[fold :: FOLDS[AG_NEWS]]
        for side in ("train", "test"):
            sentences = (data / f"sst-binary-{side}.txt").read_text(encoding="utf-8").splitlines()
            files[f"{SST}-0.{side}"] = shuffled((labelled(*line.split(" ", 1)) for line in sentences), None)
        for name, texts in files.items():
            (self.work / name).write_text("".join(f"{line}\n" for line in texts), encoding="utf-8")

    def measure(self, *values: Any) -> Iterator[Sequence[Any]]:
        """The measures of a cell."""
        cell = Cell(*values)
        for name, value in getattr(self, cell.part)(cell).items():
            if name != "CPU seconds" or not self.options.no_seconds:
                yield name, f"{value:.10g}"

    @property
    def work(self) -> Path:
        """The folder of texts and models."""
        return Path(self.options.work).absolute()

    def text(self, cell: Cell, side: str) -> Path:
        """A file of labelled texts."""
        return self.work / f"{cell.dataset}-{cell.fold}.{side}"

    def model(self, cell: Cell) -> Path:
        """The model of fastText for a cell, trained if it is not there yet; options may be "buckets N"."""
        name = "-".join([cell.dataset, str(cell.fold), str(cell.dim), *cell.options.split()])
        path = self.work / f"{name}.bin"
        if not path.exists():
            self.train_fasttext(cell, path, MANY_THREADS)
        return path

    def train_fasttext(self, cell: Cell, out: Path, threads: int, seed: int = 1) -> float:
        """Train with fastText; returns its CPU seconds."""
        settings = {"input": self.text(cell, "train"), "output": out.with_suffix(""), "dim": cell.dim, "lr": 0.5}
        settings |= {"wordNgrams": 2, "epoch": 5, "thread": threads, "seed": seed, "verbose": 0}
        settings |= {"bucket": cell.options.split()[1]} if cell.options.startswith("buckets") else {}
        flags = [part for name, value in settings.items() for part in (f"-{name}", str(value))]
        return run_command([self.options.fasttext, "supervised", *flags]).cpu

    def quantized_by_fasttext(self, cell: Cell, options: str) -> Path:
        """The file that fastText's quantize writes, with the options of our command."""
        model = self.model(cell._replace(options=""))
        name = "-".join([model.stem, "quantized", *options.replace("--", "").split()])
        out, copy = self.work / f"{name}.ftz", self.work / f"{name}.bin"
        if not out.exists():
            shutil.copyfile(model, copy)
            flags = [*options.replace("--", "-").split(), "-input", self.text(cell, "train")]
            run_command([self.options.fasttext, "quantize", "-output", copy.with_suffix(""), "-qnorm", *flags])
            copy.unlink()
        return out

    def run_prediction(self, tool: str, model: Path, text: Path) -> Usage:
        """Run the command that predicts the labels of a text, and measure it."""
        if tool == FASTTEXT:
            return run_command([self.options.fasttext, "predict-prob", model, text, "1"])
        return run_embeddings(["predict", model, text, "--threads", "1", "--quiet"])

    def train(self, cell: Cell) -> dict[str, float]:
        """CPU seconds of reading, training and writing the model, and its scores."""
        source, test = self.text(cell, "train"), self.text(cell, "test")
        if cell.tool in (MAJORITY, SKLEARN):
            return train_scikit_learn(cell.tool, source, test)
        threads, seed = (int(word) for word in cell.options.split()[1::2])
        with TemporaryDirectory(dir=self.work) as folder:
            out = Path(folder) / "model.bin"
            if cell.tool == FASTTEXT:
                return {"CPU seconds": self.train_fasttext(cell, out, threads, seed), **scores(out, test)}
            lines = source.read_bytes()
            for size in (1 + lines.index(b"\n", 20_000), len(lines)):  # the first text loads kernels
                text, out = Path(folder) / f"{size}.txt", Path(folder) / str(size)
                text.write_bytes(lines[:size])  # which is in no cache
                start = process_time()
                model = em.train("classifier", str(text), dim=cell.dim, threads=threads, seed=seed, **SETTINGS)
                model.save(out)
                seconds = process_time() - start
            return {"CPU seconds": seconds, **scores(out, test)}

    def predict(self, cell: Cell) -> dict[str, float]:
        """Lines per CPU second of the command line: those of the whole test file, less those of its first line."""
        plain = cell._replace(options="")
        model = self.quantized_by_fasttext(cell, "") if cell.options == "ftz" else self.model(plain)
        lines = self.text(cell, "test").read_text(encoding="utf-8").splitlines(keepends=True) * COPIES
        one, test = self.folder / "one.txt", self.folder / "all.txt"
        one.write_text(lines[0], encoding="utf-8")
        test.write_text("".join(lines), encoding="utf-8")
        self.run_prediction(cell.tool, model, one)  # kernels are compiled, and the model is in memory
        taken = [[self.run_prediction(cell.tool, model, file).cpu for file in (test, one)] for _ in range(REPEATS)]
        whole, start = (min(column) for column in zip(*taken, strict=True))
        return {"lines per CPU second": (len(lines) - 1) / (whole - start), "CPU seconds of one line": start}

    def quantize(self, cell: Cell) -> dict[str, float]:
        """Size and scores of quantised models."""
        if cell.tool == FASTTEXT:
            out = self.quantized_by_fasttext(cell, cell.options)
        else:
            out, words = self.folder / "ours.ftz", cell.options.split()
            settings: dict[str, Any] = {"cutoff": int(words[1])} if words else {}
            settings |= {"retrain": str(self.text(cell, "train"))} if "--retrain" in words else {}
            model = em.load_classifier(self.model(cell._replace(options="")))
            em.training.quantize(model, qnorm=True, **settings).export(out, force=True)
        return {"bytes": out.stat().st_size, **scores(out, self.text(cell, "test"))}

    def load(self, cell: Cell) -> dict[str, float]:
        """Seconds until the first prediction, when the file is in the memory of the system."""
        model, text = self.model(cell), self.folder / "line.txt"
        text.write_text("a fine film\n", encoding="utf-8")
        taken = [self.run_prediction(cell.tool, model, text).wall for _ in range(REPEATS + 1)]
        values = {"seconds of the command": min(taken[1:]), "bytes": model.stat().st_size}
        if cell.tool == OURS:
            quantized = self.quantized_by_fasttext(Cell("load", IMDB, 0, OURS, 10, ""), "--cutoff 10000")
            for path in (quantized, model):  # the first one loads libraries and kernels
                start = perf_counter()
                em.load_classifier(path).predict(["a fine film"], threads=1)
                values["seconds within Python"] = perf_counter() - start
        return values

    def autotune(self, cell: Cell) -> dict[str, float]:
        """Scores of the default settings and of those found, on the validation texts and on the test texts."""
        sides = {"validation": self.text(cell, "valid"), "test": self.text(cell, "test")}
        trainer, part = em.TextClassification(word_ngrams=2, dim=cell.dim), str(self.text(cell, "part"))
        options: dict[str, Any] = {
            "labels": str(sides["validation"]),
            "half": "all",
            "trials": int(cell.options.split()[1]),
        }
        found = em.tune(trainer, part, metric="f1", halving=False, threads=1, **options)
        models = {"default": trainer.train(part, threads=1).classifier, "best": found.result.classifier}
        pairs = product(sides.items(), models.items())
        return {f"{side} {name}": scores(model, text)["accuracy"] for (side, text), (name, model) in pairs}

    def table(self, rows: Rows) -> str:
        """The tables of all parts that were measured: means over seeds and folds."""
        rows = [{**row, "options": row["options"].partition(" seed ")[0]} for row in rows]
        rows.sort(key=lambda row: list(FOLDS).index(row["dataset"]))
        parts = {part: [row for row in rows if row["part"] == part] for part in TABLES}
        names = ("dataset", "tool", "dim", "options")
        return "\n".join(pivot(part, names, TABLES[name], fmean) for name, part in parts.items() if part)


def labelled(label: str, text: str) -> str:
    """A line for fastText: lower-cased, punctuation separated."""
    words = re.sub(r"([^\w\s])", r" \1 ", text.replace("<br />", " ").lower()).split()
    return " ".join([f"__label__{label}", *words])


def shuffled(lines: Iterable[str], limit: int | None) -> list[str]:
    """The lines in random order, or the first of them up to a limit."""
    every = list(lines)
    random.Random(1).shuffle(every)
    return every[:limit]


def train_scikit_learn(tool: str, train: Path, test: Path) -> dict[str, float]:
    """The most frequent label; or TF-IDF of words and pairs of words, and logistic regression, by default settings."""
    from sklearn.dummy import DummyClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, f1_score
    from sklearn.pipeline import make_pipeline

    sides = [path.read_text(encoding="utf-8").splitlines() for path in (train, test)]
    (labels, texts), (expected, test_texts) = (
        zip(*(line.partition(" ")[::2] for line in lines), strict=True) for lines in sides
    )
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\S+", sublinear_tf=True)
    model = make_pipeline(vectorizer, LogisticRegression(max_iter=1000)) if tool == SKLEARN else DummyClassifier()
    seconds = timed(lambda: model.fit(texts, labels))["CPU s"]
    predicted = model.predict(test_texts)
    macro = f1_score(expected, predicted, average="macro")
    return {"CPU seconds": seconds, "accuracy": accuracy_score(expected, predicted), "macro-f1": float(macro)}


def scores(model: Any, test: Path) -> dict[str, float]:
    """Accuracy and macro-F1 of a classifier on a file."""
    names = {"precision@1": "accuracy", "macro-f1@1": "macro-f1"}
    results = em.evaluate_classifier(model, test).results()
    lines = (one for one in results if one.section is None and one.method is None and one.measure in names)
    return {names[one.measure]: one.value or 0.0 for one in lines}
