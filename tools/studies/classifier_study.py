"""The classifier beside fastText and beside TF-IDF and logistic regression of scikit-learn."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, ClassVar, NamedTuple

import embeddings as em
from embeddings.eval.benchmark.workspace import Usage
from studies.classification_data import AG_NEWS, FOLDS, IMDB, prepare, read_labelled
from studies.classifier_tables import FASTTEXT, OURS, SKLEARN, tables
from studies.grid import Grid, Rows, run_command, run_embeddings

NGRAMS, EPOCHS, RATE = 2, 5, 0.5
MANY_THREADS = 10  # of fastText: with one thread, the rows of its input matrix start all alike
COPIES = 4  # of the test file in predictions
REPEATS = 3  # of predictions; the fastest counts
TOOLS, FORMS = (OURS, FASTTEXT), ("bin", "ftz")
QUANTIZE = ("", "--cutoff 100000", "--cutoff 10000", "--cutoff 10000 --retrain")


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
    in_processes = True
    defaults: ClassVar = {
        "data": str, "work": str, "fasttext": str, "texts": 0, "trials": 20, "no_seconds": False, "dim": [10, 100],
        "seed": [1, 2, 3], "dataset": [*FOLDS], "part": ["train", "predict", "quantize", "load", "autotune"],
    }  # fmt: skip

    def cells(self) -> Iterator[Cell]:
        """The chosen cells."""
        options = self.options
        dims, trials = options.dim, f"trials {options.trials}"
        cells: dict[str, Iterable[Cell]] = {
            "train": self.training_cells(),
            "predict": (Cell("predict", IMDB, 0, tool, dim, form) for dim, form, tool in product(dims, FORMS, TOOLS)),
            "quantize": (
                Cell("quantize", dataset, 0, tool, dims[0], form)
                for dataset, form, tool in product(options.dataset, QUANTIZE, TOOLS)
            ),
            "load": [
                *(Cell("load", IMDB, 0, tool, dim, "") for dim, tool in product(dims, TOOLS)),
                *(Cell("load", AG_NEWS, 0, tool, 100, "buckets 2500000") for tool in TOOLS),  # 1 GB
            ],
            "autotune": [Cell("autotune", IMDB, 0, OURS, dims[0], trials)],
        }
        for part in options.part:
            yield from cells[part]

    def training_cells(self) -> Iterator[Cell]:
        """The training runs, a whole fold after the other."""
        runs = (OURS, 1), (FASTTEXT, 1), (FASTTEXT, MANY_THREADS)
        for dataset in self.options.dataset:
            for fold in range(FOLDS[dataset]):
                yield Cell("train", dataset, fold, SKLEARN, 0, "")
                for dim, seed, (tool, threads) in product(self.options.dim, self.options.seed, runs):
                    yield Cell("train", dataset, fold, tool, dim, f"threads {threads} seed {seed}")

    def prepare(self) -> None:
        """Write the texts."""
        prepare(Path(self.options.data), self.work, self.options.texts or None)

    def measure(self, *values: Any) -> Iterator[Sequence[Any]]:
        """The measures of a cell."""
        parts = {"train": train, "predict": predict, "quantize": quantize, "load": load, "autotune": autotune}
        cell = Cell(*values)
        for name, value in parts[cell.part](self, cell).items():
            if name != "CPU seconds" or not self.options.no_seconds:
                yield name, f"{value:.10g}"

    def table(self, rows: Rows) -> str:
        """All tables."""
        return tables(rows)

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

    def predict(self, tool: str, model: Path, text: Path) -> Usage:
        """What the command that predicts the labels of a text uses."""
        if tool == FASTTEXT:
            return run_command([self.options.fasttext, "predict-prob", model, text, "1"])
        return run_embeddings(["predict", model, text, "--threads", "1", "--quiet"])

    def train_fasttext(self, cell: Cell, out: Path, threads: int, seed: int = 1) -> float:
        """Train with fastText; returns its CPU seconds."""
        settings = {"input": self.text(cell, "train"), "output": out.with_suffix(""), "dim": cell.dim, "lr": RATE}
        settings |= {"wordNgrams": NGRAMS, "epoch": EPOCHS, "thread": threads, "seed": seed, "verbose": 0}
        settings |= {"bucket": cell.options.split()[1]} if cell.options.startswith("buckets") else {}
        flags = [part for name, value in settings.items() for part in (f"-{name}", str(value))]
        return run_command([self.options.fasttext, "supervised", *flags]).cpu


def train(study: Classifiers, cell: Cell) -> dict[str, float]:
    """CPU seconds of reading, training and writing the model, and its scores."""
    test = study.text(cell, "test")
    if cell.tool == SKLEARN:
        return train_scikit_learn(*read_labelled(study.text(cell, "train")), *read_labelled(test))
    threads, seed = (int(word) for word in cell.options.split()[1::2])
    with TemporaryDirectory(dir=study.work) as folder:
        out = Path(folder) / "model.bin"
        if cell.tool == FASTTEXT:
            seconds = study.train_fasttext(cell, out, threads, seed)
            kept = study.work / f"{cell.dataset}-{cell.fold}-{cell.dim}.bin"
            if cell.dataset == IMDB and (threads, seed) == (MANY_THREADS, 1) and not kept.exists():
                os.link(out, kept)
        else:
            seconds, out = train_ours(study, cell, Path(folder), threads=threads, seed=seed)
        return {"CPU seconds": seconds, **scores(out, test)}


def train_ours(study: Classifiers, cell: Cell, folder: Path, **run: int) -> tuple[float, Path]:
    """Our CPU seconds and model; kernels are compiled beforehand, and the text is in no cache."""
    settings = {"dim": cell.dim, "word_ngrams": NGRAMS, "epochs": EPOCHS, "learning_rate": RATE}
    text, lines = folder / "train.txt", study.text(cell, "train").read_bytes()
    text.write_bytes(lines[: 1 + lines.index(b"\n", 20_000)])
    em.train("classifier", str(text), **run, **settings).save(folder / "first")  # loads kernels and libraries
    text = folder / "text.txt"
    text.write_bytes(lines)
    start = process_time()
    em.train("classifier", str(text), **run, **settings).save(folder / "model")
    return process_time() - start, folder / "model"


def train_scikit_learn(texts: Any, labels: Any, test_texts: Any, test_labels: Any) -> dict[str, float]:
    """TF-IDF of words and pairs of words, and logistic regression, with default settings."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score
    from sklearn.pipeline import make_pipeline

    vectorizer = TfidfVectorizer(ngram_range=(1, NGRAMS), token_pattern=r"\S+", sublinear_tf=True)
    pipeline = make_pipeline(vectorizer, LogisticRegression(max_iter=1000))
    start = process_time()
    pipeline.fit(texts, labels)
    seconds = process_time() - start
    predicted = pipeline.predict(test_texts)
    accuracy = sum(one == other for one, other in zip(predicted, test_labels, strict=True)) / len(test_labels)
    macro = f1_score(test_labels, predicted, average="macro")
    return {"CPU seconds": seconds, "accuracy": accuracy, "macro-f1": float(macro), "texts": len(test_labels)}


def scores(model: Path, test: Path) -> dict[str, float]:
    """Accuracy and macro-F1 of a classifier on a file, and of its most frequent label."""
    results = em.evaluate_classifier(model, test).results()
    values = {(one.measure, one.method): one.value or 0.0 for one in results if one.section is None}
    majority = next(method for _, method in values if method is not None)
    return {
        "accuracy": values["precision@1", None],
        "macro-f1": values["macro-f1@1", None],
        "accuracy of the majority": values["precision@1", majority],
        "macro-f1 of the majority": values["macro-f1@1", majority],
        "texts": results[-1].total,
    }


def predict(study: Classifiers, cell: Cell) -> dict[str, float]:
    """Lines per CPU second of the command line: those of the whole test file, less those of its first line."""
    model = study.model(cell._replace(options=""))
    if cell.options == "ftz":
        model = quantize_by_fasttext(study, cell, "")
    test = study.text(cell, "test")
    lines = test.read_text(encoding="utf-8").splitlines(keepends=True) * COPIES
    with TemporaryDirectory(dir=study.work) as folder:
        one, test = Path(folder) / "one.txt", Path(folder) / "all.txt"
        one.write_text(lines[0], encoding="utf-8")
        test.write_text("".join(lines), encoding="utf-8")

        study.predict(cell.tool, model, one)  # kernels are compiled, and the model is in memory
        taken = [[study.predict(cell.tool, model, file).cpu for file in (test, one)] for _ in range(REPEATS)]
    whole, start = (min(column) for column in zip(*taken, strict=True))
    return {"lines per CPU second": (len(lines) - 1) / (whole - start), "CPU seconds of one line": start}


def quantize(study: Classifiers, cell: Cell) -> dict[str, float]:
    """Size and scores of quantised models."""
    if cell.tool == FASTTEXT:
        out = quantize_by_fasttext(study, cell, cell.options)
    else:
        out, words = study.work / "ours.ftz", cell.options.split()
        settings: dict[str, Any] = {"cutoff": int(words[1])} if words else {}
        settings |= {"retrain": str(study.text(cell, "train"))} if "--retrain" in words else {}
        model = em.load_classifier(study.model(cell._replace(options="")))
        em.quantize(model, qnorm=True, **settings).export(out, force=True)
    return {"bytes": out.stat().st_size, **scores(out, study.text(cell, "test"))}


def quantize_by_fasttext(study: Classifiers, cell: Cell, options: str) -> Path:
    """The file that fastText's quantize writes, with the options of our command."""
    model = study.model(cell._replace(options=""))
    name = "-".join([model.stem, *options.replace("--", "").split()])
    out = study.work / f"{name}.ftz"
    if not out.exists():
        link = study.work / f"{name}.bin"
        if not link.exists():
            os.link(model, link)
        flags = [*options.replace("--", "-").split(), "-input", str(study.text(cell, "train"))]
        run_command([study.options.fasttext, "quantize", "-output", link.with_suffix(""), "-qnorm", *flags])
        if options:
            link.unlink()
    return out


def load(study: Classifiers, cell: Cell) -> dict[str, float]:
    """Seconds until the first prediction, when the file is in the memory of the system."""
    model, text = study.model(cell), study.work / "line.txt"
    text.write_text("a fine film\n", encoding="utf-8")
    taken = [study.predict(cell.tool, model, text).wall for _ in range(REPEATS + 1)]
    values = {"seconds of the command": min(taken[1:]), "bytes": model.stat().st_size}
    if cell.tool == OURS:
        quantised = quantize_by_fasttext(study, Cell("load", IMDB, 0, OURS, 10, ""), "--cutoff 10000")
        em.load_classifier(quantised).predict(["a fine film"], threads=1)  # loads libraries and kernels
        start = perf_counter()
        em.load_classifier(model).predict(["a fine film"], threads=1)
        values["seconds within Python"] = perf_counter() - start
    return values


def autotune(study: Classifiers, cell: Cell) -> dict[str, float]:
    """Scores of the default settings and of those found, on the validation texts and on the test texts."""
    from embeddings.eval.tuning import Judgement, tune
    from embeddings.eval.tuning.metrics import LabelJudge

    form = em.LabelFormat()
    valid, test = (LabelJudge.read(str(study.text(cell, side)), form, "f1") for side in ("valid", "test"))
    seen: list[tuple[float, float]] = []

    def judge(model: em.Model) -> Judgement:
        seen.append((valid(model.classifier), test(model.classifier)))
        return Judgement(seen[-1][0], None)

    start = perf_counter()
    trainer = em.TextClassification(word_ngrams=NGRAMS, dim=cell.dim)
    trials = int(cell.options.split()[1])
    tune(trainer, str(study.text(cell, "part")), metric=judge, trials=trials, halving=False, threads=1)
    seconds, best = perf_counter() - start, max(seen)
    values = zip(("default", "best"), (seen[0], best), strict=True)
    return {"seconds": seconds} | {
        f"{side} {name}": score
        for name, pair in values
        for side, score in zip(("validation", "test"), pair, strict=True)
    }
