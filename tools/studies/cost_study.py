"""What training costs until a quality is reached, and what a word, a query or a text costs afterwards."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from math import exp, log
from pathlib import Path
from statistics import fmean, median
from typing import Any, ClassVar

from embeddings.support.plots import label_log_axis
from studies.grid import Grid, Rows, collect, is_installed, markdown, read_rows, run_embeddings
from studies.library_speed import OURS, run_code

BEFORE = """
import json, resource, sys, time
folder, rounds = sys.argv[1], int(sys.argv[2])
texts = open(folder + "/texts.txt", encoding="utf-8").read().splitlines()
words = open(folder + "/words.txt", encoding="utf-8").read().splitlines()
costs = {}
def measure(name, call, calls, items=1):
    call()
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(calls):
            call()
        costs.setdefault(name, []).append(1e6 * (time.process_time() - start) / calls / items)
one, first, second, third = texts[0], *words[100:103]
"""
AFTER = """
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print("\\n" + json.dumps({**costs, "peak MB": [peak]}))
"""
PROGRAMS = {  # the library that each program needs, and its calls
    OURS: ("embeddings", """
import embeddings as em
vectors, classifier = em.load_model(folder + "/words").vectors, em.load_classifier(folder + "/labels")
measure("vector of a word", lambda: vectors[first], 20000)
measure("vector of an unknown word", lambda: vectors["unseenword"], 2000)
measure("cosine of two words", lambda: vectors.similarity(first, second), 5000)
measure("10 neighbours of a word", lambda: vectors.most_similar(first), 100)
measure("analogy", lambda: vectors.most_similar([first, second], [third]), 100)
measure("10 neighbours, 1,000 words at a time", lambda: vectors.most_similar_many(words[:1000]), 1, 1000)
measure("vector of a text", lambda: em.embed(vectors, [one]), 300)
measure("vector of a text, 1,000 at a time", lambda: em.embed(vectors, texts), 3, len(texts))
measure("label of a text", lambda: classifier.predict([one]), 300)
measure("label of a text, 1,000 at a time", lambda: classifier.predict(texts), 3, len(texts))
"""),
    "gensim": ("gensim", """
from gensim.models.fasttext import load_facebook_vectors
vectors = load_facebook_vectors(folder + "/words.bin")
measure("vector of a word", lambda: vectors[first], 20000)
measure("vector of an unknown word", lambda: vectors["unseenword"], 2000)
measure("cosine of two words", lambda: vectors.similarity(first, second), 5000)
measure("10 neighbours of a word", lambda: vectors.most_similar(first), 100)
measure("analogy", lambda: vectors.most_similar([first, second], [third]), 100)
"""),
    "fastText": ("fasttext", """
import fasttext
model, classifier = fasttext.load_model(folder + "/words.bin"), fasttext.load_model(folder + "/labels.bin")
measure("vector of a word", lambda: model.get_word_vector(first), 20000)
measure("vector of an unknown word", lambda: model.get_word_vector("unseenword"), 2000)
measure("10 neighbours of a word", lambda: model.get_nearest_neighbors(first), 100)
measure("analogy", lambda: model.get_analogies(first, third, second), 100)
measure("vector of a text", lambda: model.get_sentence_vector(one), 300)
measure("vector of a text, 1,000 at a time", lambda: [model.get_sentence_vector(text) for text in texts], 3, len(texts))
measure("label of a text", lambda: classifier.predict(one), 300)
measure("label of a text, 1,000 at a time", lambda: classifier.predict(texts), 3, len(texts))
"""),
    "model2vec": ("model2vec", """
from model2vec import StaticModel
model = StaticModel.from_pretrained(folder + "/model2vec")
measure("vector of a text", lambda: model.encode([one]), 300)
measure("vector of a text, 1,000 at a time", lambda: model.encode(texts), 3, len(texts))
"""),
    "FAISS": ("faiss", """
import faiss, numpy
rows = numpy.load(folder + "/unit.npy")
faiss.omp_set_num_threads(1)
index = faiss.IndexFlatIP(rows.shape[1])
index.add(rows)
measure("10 neighbours of a word", lambda: index.search(rows[100:101], 11), 100)
measure("10 neighbours, 1,000 words at a time", lambda: index.search(rows[:1000], 11), 1, 1000)
"""),
}  # fmt: skip
CPU, MEAN = "CPU s", "mean"
SETS = ("wordsim353", "simlex999", "google-analogies")


class Calls(Grid):
    """Measures CPU microseconds of single calls: vectors, neighbours, analogies, texts and labels, in five libraries.

    All read the same fastText vectors of --text and the same classifier of --labels, a file with `__label__` and a text
    in each line, each library in a process of its own with one thread; the libraries take turns. Libraries that are not
    installed are left out.
    """

    results = "comparison/calls"
    keys = ("text",)
    values = ("tool", "measure", "value")
    packages = ("gensim", "fasttext-numpy2", "model2vec", "faiss-cpu", "numpy")
    defaults: ClassVar = {"text": str, "labels": str, "rounds": 3, "turns": 3}
    about = "{words:,} words, {dim} dimensions, texts of {length:.0f} words on average; one thread, medians."

    def prepare(self) -> None:
        """Train the vectors and the classifier, and write them for each library."""
        import numpy as np

        import embeddings as em

        options, folder = self.options, self.folder
        one = ["--threads", 2, "--quiet"]
        run_embeddings(["train", "fasttext", options.text, "--epochs", 1, "-o", folder / "words", *one])
        run_embeddings(["train", "classifier", options.labels, "-o", folder / "labels", *one])
        for name in ("words", "labels"):
            run_embeddings(["export", folder / name, folder / f"{name}.bin", "--format", "fasttext"])
        vectors = em.load_model(folder / "words").vectors
        vectors.save(folder / "model2vec", "model2vec")
        np.save(folder / "unit.npy", vectors.unit_rows)
        with open(options.labels, encoding="utf-8") as file:
            texts = [line.split(" ", 1)[1].strip() for _, line in zip(range(1000), file, strict=False)]
        (folder / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
        (folder / "words.txt").write_text("\n".join(vectors.words[:1200]), encoding="utf-8")
        length = fmean(len(text.split()) for text in texts)
        self.facts = {"words": len(vectors), "dim": vectors.dim, "length": length}

    def measure(self, text: str) -> Iterator[Sequence[Any]]:
        """The microseconds of each call and the memory, of each library in turn."""
        programs = {tool: code for tool, (library, code) in PROGRAMS.items() if is_installed(tool, library)}
        for turn in range(self.options.turns + 1):
            for tool, code in programs.items():
                _, costs = run_code(BEFORE + code + AFTER, self.folder, self.options.rounds, threads=1)
                if turn > 0:  # the first one compiles
                    yield from ((tool, name, value) for name, values in costs.items() for value in values)

    def table(self, rows: Rows) -> str:
        """A line for each call, a column for each library."""
        values = collect(rows, "tool")
        lines = [
            [name, *(f"{median(costs[name]):,.1f}" if name in costs else "" for costs in values.values())]
            for name in dict.fromkeys(row["measure"] for row in rows)
        ]
        return markdown(["CPU µs of a call, or MB", *(tool for (tool,) in values)], lines, names=1)


class TimeToQuality(Grid):
    """Measures the mean score of WordSim-353, SimLex-999 and the Google analogies after several numbers of epochs.

    Each --trainer learns from --text with each number of --epochs, here and in the --peer tools that have the model, by
    `embeddings benchmark`; CPU seconds are those of the whole process. The table has the seconds until the mean reaches
    a level, between two numbers of epochs in proportion to the logarithm of the seconds.
    """

    results = "comparison/time-to-quality"
    keys = ("trainer", "epochs")
    values = ("tool", "seed", "measure", "value")
    packages = ("gensim", "numba", "numpy")
    defaults: ClassVar = {
        "text": str, "trainer": ["skipgram:learning_rate=0.05", "cbow:learning_rate=0.075"],
        "epochs": [1, 2, 4, 8], "peer": ["gensim"], "seeds": 1, "threads": 2, "level": [0.36, 0.38, 0.4, 0.42, 0.44],
    }  # fmt: skip
    about = "Words between spaces, 100 dimensions, window 5, 5 negative samples, subsampling 1e-4."

    def measure(self, trainer: str, epochs: int) -> Iterator[Sequence[Any]]:
        """The seconds and the mean score of each tool and seed."""
        out, options = self.folder / f"{trainer}-{epochs}".replace(":", "-"), self.options
        peers = [part for peer in options.peer for part in ("--peer", peer)]
        run_embeddings([
            "benchmark", options.text, "-o", out, "--trainer", trainer, *peers, "--epochs", epochs,
            "--seeds", options.seeds, "--threads", options.threads, "--tokenizer", "whitespace", "--subsample", "1e-4",
            "--quiet",
        ])  # fmt: skip
        with (out / "results.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield row["tool"], row["seed"], CPU, row["whole_cpu"]
                yield row["tool"], row["seed"], MEAN, fmean(float(row[name]) for name in SETS)

    def curves(self, rows: Rows) -> dict[tuple[str, str], list[tuple[float, float]]]:
        """The seconds and the mean score by the number of epochs, of each trainer and tool."""
        points: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for (trainer, tool, _), measures in collect(rows, "trainer", "tool", "epochs").items():
            curve = points.setdefault((trainer.partition(":")[0], tool), [])
            curve.append((fmean(measures[CPU]), fmean(measures[MEAN])))
        return {name: sorted(curve) for name, curve in points.items()}

    def table(self, rows: Rows) -> str:
        """The seconds until each level."""
        levels = self.options.level
        lines = [
            [f"`{trainer}`", tool, f"{curve[0][1]:.3f}", f"{max(mean for _, mean in curve):.3f}",
             *(f"{seconds:.1f}" if (seconds := seconds_until(curve, level)) else "-" for level in levels)]
            for (trainer, tool), curve in self.curves(rows).items()
        ]  # fmt: skip
        heads = ["trainer", "tool", "first mean", "highest mean", *(f"CPU s until {level:g}" for level in levels)]
        return markdown(heads, lines, names=2)

    def figure(self, rows: Rows) -> Any:
        """The mean score by the seconds."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 4.5), layout="constrained")
        axes = figure.subplots()
        for (trainer, tool), curve in self.curves(rows).items():
            style = "o-" if tool == "embeddings" else "s--"
            axes.plot(*zip(*curve, strict=True), style, label=f"{trainer}, {tool}")
        axes.set(xscale="log", xlabel="CPU seconds of the whole process", ylabel="mean of three test sets")
        label_log_axis(axes.xaxis)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
        return figure


def seconds_until(curve: Iterable[tuple[float, float]], level: float) -> float | None:
    """The seconds at which a curve first reaches a level; None if it starts above or stays below."""
    before: tuple[float, float] | None = None
    for seconds, mean in curve:
        if mean >= level:
            if before is None:
                return None
            share = (level - before[1]) / (mean - before[1])
            return exp(log(before[0]) + share * (log(seconds) - log(before[0])))
        before = seconds, mean
    return None


class Widths(Grid):
    """Compares results of `kernels` that were measured with other processor features: words per CPU second.

    Each --rows NAME=FILE is a file of rows that `kernels` wrote with NUMBA_CPU_NAME set: haswell for AVX2, x86-64 for
    SSE2.
    """

    results = "kernels/widths"
    keys = ("features",)
    values = ("shape", "measure", "value")
    defaults: ClassVar = {"rows": {}}

    def cells(self) -> Iterable[tuple[Any, ...]]:
        """The names of the files."""
        return [(name,) for name in self.options.rows]

    def measure(self, features: str) -> Iterator[Sequence[Any]]:
        """Millions of words a second of each shape, as in the table of `kernels`."""
        for (shape,), row in collect(read_rows(Path(self.options.rows[features])), "shape").items():
            if shape != "limits":
                yield shape, "M words", 1e3 / (row["drawing"][0] + row["kernel"][0])

    def table(self, rows: Rows) -> str:
        """A line for each shape, and the ratio to the first features."""
        values, shapes = collect(rows, "features", "shape"), dict.fromkeys(row["shape"] for row in rows)
        first, *rest = dict.fromkeys(row["features"] for row in rows)
        lines = []
        for shape in shapes:
            speeds = [values[name, shape]["M words"][0] for name in (first, *rest)]
            lines.append([shape, f"{speeds[0]:.2f}", *(f"{one:.2f} ({one / speeds[0]:.2f})" for one in speeds[1:])])
        return markdown(["trainer, dim, negatives", first, *rest], lines, names=1)
