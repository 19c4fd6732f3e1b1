"""Tables that need no measurement: of benchmarks and evaluations that were recorded, and examples within pages."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import ClassVar
from unicodedata import category, combining

import pandas
from benchmark_table import SETS, Summary, read_rows, summaries
from processes import replace_part

from embeddings.corpora.word_rules import WordRules
from embeddings.errors import FormatError
from embeddings.eval.tasks.phrase_composition import HELD_OUT
from embeddings.models.model import Model
from embeddings.plugins.tensor_indexing.fitting import MIXTURE
from embeddings.plugins.tensor_indexing.phrase_pairs import ANY
from studies import grid
from studies.grid import Study, beside, markdown

ROOT = Path(__file__).parents[2]
README, LANGUAGES = ROOT / "README.md", ROOT / "docs" / "evidence" / "languages.md"
SAMPLES = Path(__file__).parents[1] / "language_samples.tsv"
SHOWN = (("comparison", "skipgram", 0.05), ("comparison", "cbow", 0.075), ("structured", "fasttext", 0.05))


class Readme(Study):
    """Writes the comparison of README.md, and the table of each tool at its best learning rate to OUT.md.

    Both come from runs of `tools/benchmark.py`.
    """

    results = "comparison/best"

    def page(self, out: Path) -> str:
        """The table of the best learning rates."""
        replace_part(README, "comparison", comparison())
        return best()


class LanguageExamples(Study):
    """Writes the examples of docs/evidence/languages.md, from language_samples.tsv."""

    results = "languages/examples"

    def make(self, out: Path, *, only_table: bool = False) -> None:
        """Write the table."""
        replace_part(LANGUAGES, "examples", examples())


def comparison() -> str:
    """A row for each model and tool, at the default learning rates of this package."""
    return benchmark_table(
        one for folder, *wanted in SHOWN for one in runs_of(folder)
        if [one.settings["trainer"], one.settings["learning_rate"]] == wanted
    )  # fmt: skip


def best() -> str:
    """A row for each model and tool, at the learning rate with the highest mean score."""
    found: dict[tuple[str, str], Summary] = {}
    for one in runs_of("comparison"):
        key = one.settings["trainer"], one.tool
        found[key] = max(found.get(key, one), one, key=lambda run: fmean(scores(run)))
    return benchmark_table(found.values(), is_best=True)


def benchmark_table(runs: Iterable[Summary], *, is_best: bool = False) -> str:
    """A row for each run, with its CPU time in units of ours; best runs have their learning rate and mean score."""
    rows = []
    for one in runs:
        rate, mean = [f"{one.settings['learning_rate']:g}"] * is_best, [f"{fmean(scores(one)):.3f}"] * is_best
        cells = [f"`{one.settings['trainer']}`", one.tool, *rate, time_range(one)]
        rows.append([*cells, *map("{:.3f}".format, scores(one)), *mean])
    rate, mean = ["learning rate"] * is_best, ["mean"] * is_best
    return markdown(["model", "tool", *rate, "CPU time (ours = 1)", *SETS.values(), *mean], rows)


def ratios() -> dict[tuple[str, str, str], list[float]]:
    """How many times as much CPU time other programs take, by processor, trainer and program.

    gensim's are also those of the benchmark; pSGNScc and fastText were not compiled for the machine there.
    """
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in grid.read_rows(ROOT / "eval" / "results" / "comparison" / "processors.tsv"):
        found[row["processor"], row["trainer"], row["tool"]].append(float(row["ratio_in_turns"]))
    for folder, tools in (("comparison", ("gensim",)), ("xeon/comparison", ("pSGNScc", "word2vec++"))):
        for run in runs_of(folder):
            if run.tool in tools:
                found[folder, run.settings["trainer"], run.tool].append(run.ratio("whole_cpu") or 0.0)
    return found


def time_range(one: Summary) -> str:
    """The lowest and highest CPU time of a tool over processors, in units of ours, or that of the run."""
    key = one.settings["trainer"], one.tool
    known = [value for (_, *names), values in ratios().items() if (*names,) == key for value in values]
    low, high = (f"{end(known or [one.ratio('whole_cpu')]):#.2g}".rstrip(".") for end in (min, max))
    return "1" if one.tool == "embeddings" else low if low == high else f"{low} to {high}"


def runs_of(folder: str) -> list[Summary]:
    """The means of the runs in a folder of results."""
    return summaries(read_rows(ROOT / "eval" / "results" / folder / "results.csv"))


def scores(one: Summary) -> list[float]:
    """The mean scores over the seeds."""
    return [one.scores[name][0] or 0.0 for name in SETS]


def examples() -> str:
    """A row for each text, with the words that two tokenizers find."""
    rows = []
    for row in SAMPLES.read_text("utf-8").splitlines():
        language, text, options = row.split("\t")
        settings = dict(option.split("=") for option in options.split(";") if option)
        found = []
        for rules in (WordRules(tokenizer="alphanumeric", normalize="none"), WordRules(tokenizer="words", **settings)):
            found.append(code(visible(rules.normalize_one(token)) for token in rules.tokenizer(text)))
        shown = visible(text).replace("[", "\\[")  # else Markdown takes two in a row for a link
        rows.append([language, shown, code(f"{name}={value}" for name, value in settings.items()), *found])
    return markdown(["language", "text", "settings", "tokens, `alphanumeric`", "tokens, `words`"], rows)


def visible(text: str) -> str:
    """A text whose format characters, variation selectors and marks of decomposed letters are code points."""
    is_hidden = [
        category(point) == "Cf" or point == "\ufe0f" or (combining(point) in (202, 220, 230) and point < "\u0370")
        for point in text
    ]
    return "".join(f"[{ord(point):04X}]" if hidden else point for point, hidden in zip(text, is_hidden, strict=True))


def code(words: Iterable[str]) -> str:
    """Words as code."""
    return " ".join(f"`{word}`" for word in words)


FUNCTIONS = (
    "additive", "weighted-additive", "multiplicative", "full-additive", "pair-features", "neural-tensor", "full-tensor",
    "tensor-indexing", MIXTURE,
)  # fmt: skip
RATINGS = "ratings"  # Spearman's correlation with the mean rating of each pair
DIGITS = {
    "squared-error": 2, "cosine": 3, "mean-rank": 1, "median-rank": 1, "reciprocal-rank": 3, RATINGS: 3,
}  # fmt: skip
COMPARED = {"squared-error": -1, "mean-rank": -1, "reciprocal-rank": 1, RATINGS: 1}  # -1 where less is better


class Composition(Study):
    """Summarises the evaluation of several models: the output of `embeddings evaluate --phrases`, in OUT.tsv."""

    results = "composition"

    def page(self, out: Path) -> str:
        """Means over models, and in how many of them tensor indexing is better than other functions."""
        return composition_tables(beside(out, ".tsv"))


class CompositionCurve(Study):
    """Shows the learning curve of each of --models."""

    results = "composition-curve"
    defaults: ClassVar = {"models": []}

    def page(self, out: Path) -> str:
        """The epochs of tensor indexing for each type: error on train and dev, and the learning rate."""
        rows = []
        for path in self.options.models:
            for type, functions in Model.load(path).record["curve"].items():
                epochs = functions[MIXTURE]
                best = min(range(len(epochs)), key=lambda number: epochs[number][1])
                for number, (train, dev, rate) in enumerate(epochs):
                    error = "" if train is None else f"{train:.4f}"
                    rows.append([type, str(number), error, f"{dev:.5f}", f"{rate:.2g}", "best" * (number == best)])
        return markdown(["type", "epoch", "train error", "dev error", "learning rate", ""], rows)


def composition_tables(path: Path) -> str:
    """Means over models, and in how many of them tensor indexing is better than other functions.

    Ratings averaged over types count for `ANY`.

    Raises:
        FormatError: the file has no results of composition.
    """
    rows = pandas.read_csv(path, sep="\t", dtype=str)
    has_ratings, is_known = rows["set"] != HELD_OUT, ~rows["value"].str.startswith("none")
    rows.loc[has_ratings & (rows["section"] == "all"), "section"] = ANY
    rows["measure"] = rows["measure"].where(~has_ratings | (rows["measure"] != "spearman"), RATINGS)
    rows = rows[is_known & (has_ratings == (rows["measure"] == RATINGS)) & rows["measure"].isin(DIGITS)]
    if rows.empty:
        raise FormatError(f"{path} contains no results of composition models")
    names = ["section", "method", "vectors"]
    values = rows.astype({"value": float}).pivot(index=names, columns="measure", values="value").reindex(columns=DIGITS)
    means = values.groupby(["section", "method"]).mean()
    types = sorted(set(rows["section"]), key=lambda type: (type == ANY, type))
    lines, wins = [], []
    for type, function in product(types, FUNCTIONS):
        if (type, function) in means.index and pandas.notna(means.loc[type, function]["squared-error"]):
            cells = zip(means.loc[type, function], DIGITS.values(), strict=True)
            lines.append([type, function, *("" if pandas.isna(one) else f"{one:.{digits}f}" for one, digits in cells)])
    for type, other in product(types, ("additive", "full-additive")):
        cells = []
        for measure, sign in COMPARED.items():
            gains = sign * (values[measure].get((type, MIXTURE)) - values[measure].get((type, other))).dropna()
            verdict = "better" if gains.mean() > 0 else "worse"
            cells.append(f"{verdict}, in {sum(gains > 0)} of {len(gains)}" if len(gains) else "")
        wins.append([type, other, *cells])
    heads = ["type", f"{MIXTURE} against", *(one.replace("-", " ") for one in COMPARED)]
    first = markdown(["type", "function", *(one.replace("-", " ") for one in DIGITS)], lines)
    return f"{first}\n{markdown(heads, wins)}"
