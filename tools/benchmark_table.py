"""The rows of a benchmark, their table in Markdown, and their picture."""

import csv
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmark_programs import OURS, ModelConfig, Program
from matplotlib import ticker
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from processes import describe

from embeddings.eval.statistics.confidence_intervals import wilson
from embeddings.settings.objectives import WORD_OBJECTIVES
from embeddings.support import plots
from embeddings.support.dots import Dot
from embeddings.support.result_table import format_number, markdown_table

Row = dict[str, Any]

SETS = {"wordsim353": "WordSim-353", "simlex999": "SimLex-999", "google-analogies": "Google analogies"}
ERROR_OF = "error of "  # prefix of the column of a document set
PARTS = ("semantic", "syntactic")  # of the analogies
COVERED, TOTAL = " covered", " total"  # suffixes of the columns next to that of a set
TIMES = ("training_cpu", "training_wall", "whole_cpu", "whole_wall")  # seconds
MEASUREMENTS = (*TIMES, "peak_memory", "private_memory", "words_read")  # memory in bytes
RUN = ("corpus_words", "tool", "version", "seed")  # what distinguishes runs of a configuration
TEXT_COLUMNS = ("trainer", "tool", "version", "error")  # even where they look like numbers
MAX_LINE = 1000  # words: gensim trains on about 1 % of a single long line, and fastText cuts lines at 1,024


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


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write rows as CSV: the trainer, the settings of all trainers, threads, the run, its measurements, its error."""
    names = [*setting_columns(rows), *RUN, *MEASUREMENTS, *score_columns(rows), "error"]
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, names, restval="", lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def read_rows(path: Path) -> list[Row]:
    """The rows of a CSV file, with numbers as numbers and None for empty cells."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: parse_value(name, text) for name, text in row.items()} for row in csv.DictReader(file)]


def parse_value(column: str, text: str) -> Any:
    """The value of a cell."""
    if column in TEXT_COLUMNS:
        return text
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text or None


WORD_SETS = (
    "- Similarity is Spearman's correlation; analogies are answered from the 30,000 most frequent words; in brackets, "
    "the number of pairs or questions whose words all have vectors."
)
DOCUMENT_SETS = (
    "- Errors are those of logistic regression (L2 penalty, C = 1) on whitened trained document vectors, fitted to the "
    "labels of the first file of the corpus and tested on the second; the tools train on all files."
)
COMPLETE = 0.99  # a tool that reports reading a smaller share of the words did not do the work


@dataclass(frozen=True)
class Summary:
    """The runs of one tool for one configuration, and those of this package for the same one.

    `sets` are the names of the test sets.
    """

    settings: dict[str, Any]
    sets: Sequence[str]
    runs: Sequence[Row]
    ours: Sequence[Row]

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return str(self.runs[0]["tool"])

    @property
    def model(self) -> str:
        """The name of the model."""
        return ModelConfig(self.settings["trainer"], self.settings, 1).model_id

    @property
    def words(self) -> int:
        """The words of the corpus, times the epochs."""
        return int(self.runs[0]["corpus_words"] * self.settings["epochs"])

    @property
    def errors(self) -> list[str]:
        """The errors of the runs that failed."""
        return [row["error"] for row in self.runs if row["error"]]

    @property
    def remark(self) -> str:
        """How many runs failed and why, or that the tool did not read all words."""
        if self.errors:
            return f"{len(self.errors)} failed: {self.errors[0]}"
        share = min(known_values(self.runs, "words_read"), default=self.words) / self.words
        return f"read only {100 * share:.0f} % of the words" if 0 < share < COMPLETE else ""

    def ratio(self, column: str) -> float | None:
        """The median of a column, in units of ours."""
        value, ours = median_of(self.runs, column), median_of(self.ours, column)
        return value / ours if value is not None and ours else None

    def speed(self, phase: str, clock: str = "cpu") -> float | None:
        """Words per second of a phase, "training" or "whole"; None if its time is not known."""
        seconds = median_of(self.runs, f"{phase}_{clock}")
        return self.words / seconds if seconds else None

    @cached_property
    def scores(self) -> dict[str, tuple[float | None, int | None, int | None]]:
        """The mean score of each test set, how many of its items are covered, and how many it has."""
        found = {}
        for name in self.sets:
            values = known_values(self.runs, name)
            covered, total = (next(iter(known_values(self.runs, name + part)), None) for part in (COVERED, TOTAL))
            found[name] = (fmean(values) if values else None, covered, total)
        return found

    def mark(self, varying: Sequence[str]) -> str:
        """The values of the settings by which points differ, as the legend names them."""
        values = ((name, self.settings.get(name)) for name in varying)
        return ", ".join(VARYING[name].format(value) for name, value in values if value is not None)


def summaries(rows: Sequence[Row]) -> list[Summary]:
    """A summary for each configuration and tool, in the order of the rows."""
    names, sets = setting_columns(rows), scored_sets(rows)
    configs: dict[tuple[Any, ...], dict[str, list[Row]]] = {}
    for row in rows:
        by_tool = configs.setdefault(tuple(row.get(name) for name in names), {})
        by_tool.setdefault(row["tool"], []).append(row)
    return [
        Summary(dict(zip(names, config, strict=True)), sets, runs, by_tool.get(OURS.name, []))
        for config, by_tool in configs.items()
        for runs in by_tool.values()
    ]


def known_values(runs: Sequence[Row], column: str) -> list[Any]:
    """The non-empty values of a column."""
    return [row[column] for row in runs if row.get(column) is not None]


def median_of(runs: Sequence[Row], column: str) -> float | None:
    """The median of a column."""
    values = known_values(runs, column)
    return median(values) if values else None


def markdown(rows: Sequence[Row], machine: Mapping[str, Any], tools: Sequence[Program]) -> str:
    """The table, with the machine and corpus above it and explanations below."""
    lines = summaries(rows)
    values: dict[str, list[Any]] = {}  # without those of trainers that lack the setting and objectives that ignore it
    for name in lines[0].settings:
        users = WORD_OBJECTIVES.users(name)
        used = [one.settings for one in lines if not users or one.settings.get("objective") in (None, *users)]
        if name not in ("trainer", "tree"):  # the tree of hierarchical softmax, which earlier versions recorded
            values[name] = list(dict.fromkeys(one[name] for one in used if one[name] is not None))
    varying = [name for name, distinct in values.items() if len(distinct) > 1]
    common = ", ".join(f"{name} {distinct[0]}" for name, distinct in values.items() if len(distinct) == 1)
    notes = [
        f"- {note.text}"
        for tool in tools
        for note in tool.notes
        if any(one.tool == tool.name and note.applies_to(one.settings) for one in lines)
    ]
    corpus = machine["corpus"]
    parts = [
        describe(machine, machine["tools"]),
        f"Corpus: {', '.join(corpus['sources'])}, {corpus['words']:,} words, {corpus['types']:,} distinct.\n",
        f"Common settings: {common}.\n",
        *table_lines(lines, varying),
        "",
    ]
    text = "one document per line" if "documents" in lines[0].settings else f"lines of at most {MAX_LINE:,} words"
    names = lines[0].scores
    explanations = [
        f"- Times and memory are medians, scores are means over seeds; (x) is the ratio to {OURS.name}.",
        f"- The tools run in turn, each run in a fresh process, on the same text ({text}), after an uncounted warm-up "
        "run of each, so that kernels are compiled and programs are in memory.",
        "- CPU seconds are user and system time of all threads. Whole: the command from text to saved vectors; "
        "training: learning alone, after words are counted and kernels are loaded.",
        "- Peak memory includes memory-mapped files, private memory does not.",
        *([WORD_SETS] if any(name in SETS for name in names) else []),
        *([DOCUMENT_SETS] if any(name.startswith(ERROR_OF) for name in names) else []),
    ]
    return "\n".join([*parts, *explanations, *notes]) + "\n"


def table_lines(lines: Sequence[Summary], varying: Sequence[str]) -> list[str]:
    """The lines of the table: model, varying settings, tool, measurements and scores."""
    heads = ["model", *(name.replace("_", " ") for name in varying), "tool", "CPU s, training", "CPU s, whole"]
    heads += ["wall s, training / whole", "words/s, training", "memory MB, peak / private"]
    whole_of = {f"{name} {part}": name for name in SETS for part in PARTS}
    has_scores = {name: [one.scores[name][0] is not None for one in lines] for name in lines[0].scores}
    # parts of a set only where every line with a score of the set has them
    sets = [name for name in has_scores if has_scores[name] == has_scores[whole_of.get(name, name)]]
    for name in sets:
        total = next((f"{one.scores[name][2]:,}" for one in lines if one.scores[name][2] is not None), "-")
        heads.append(f"{SETS.get(name, name)} (covered of {total})")
    rows = []
    for one in lines:
        settings = [format_number(one.settings[name], "g") for name in varying]
        scores = [
            format_number(value, ".3f") + (f" ({covered})" if covered is not None else "")
            for value, covered, _ in (one.scores[name] for name in sets)
        ]
        finished = str(len(one.runs) - len(one.errors))
        rows.append([one.settings["trainer"], *settings, one.tool, *time_cells(one), *scores, finished, one.remark])
    return markdown_table([*heads, "seeds", "remarks"], rows)


def time_cells(one: Summary) -> list[str]:
    """The cells of time and memory."""
    seconds = {name: median_of(one.runs, name) for name in TIMES}
    texts = {name: format_number(value, ".2f" if (value or 0) < 10 else ".1f") for name, value in seconds.items()}
    cells = [
        texts[name] + (f" ({ratio:.2g}x)" if (ratio := one.ratio(name)) is not None else "")
        for name in ("training_cpu", "whole_cpu")
    ]
    sizes = [median_of(one.runs, name) for name in ("peak_memory", "private_memory")]
    memory = " / ".join(format_number(size / 1e6 if size else None, ".0f") for size in sizes)
    walls = f"{texts['training_wall']} / {texts['whole_wall']}"
    return [*cells, walls, format_number(one.speed("training", "wall"), ",.0f", digits=3), memory]


MARKERS = "osD^vPX*"
LABELS = {
    "wordsim353": "WordSim-353, Spearman",
    "simlex999": "SimLex-999, Spearman",
    "google-analogies": "Google analogies, accuracy",
}
VARYING = {  # settings that markers show, if runs of one model differ in them
    "dim": "{} dimensions",
    "negatives": "{} negative samples",
    "threads": "{} threads",
    "learning_rate": "learning rate {:g}",
}


def label_log_axis(axis: Any) -> None:
    """Label an axis of matplotlib, made logarithmic before, at 1, 2 and 5 times powers of ten: 0.5, 200, 50k, 2M."""
    large = ticker.EngFormatter(sep="")
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}" if value < 1000 else large(value)))
    axis.set_minor_formatter(ticker.NullFormatter())


def quality_figure(rows: Sequence[Row]) -> Figure:
    """A column for each model, a row for each test set with scores; a colour for each tool, a marker for settings.

    Further right is faster, higher is better. Speed is that of training, or of whole runs if a tool does not tell the
    former. Bars reach from the lowest to the highest seed.
    """
    lines = [one for one in summaries(rows) if len(one.errors) < len(one.runs)]
    phase = "training" if all(one.speed("training") for one in lines) else "whole"
    models = list(dict.fromkeys(one.model for one in lines))
    sets = [name for name in LABELS if any(one.scores[name][0] is not None for one in lines)]
    varying = [
        name for name in VARYING
        if any(len({one.settings.get(name) for one in lines if one.model == model}) > 1 for model in models)
    ]  # fmt: skip
    colours = {tool: f"C{number}" for number, tool in enumerate(dict.fromkeys(one.tool for one in lines))}
    configs = dict.fromkeys(one.mark(varying) for one in lines)
    markers = {config: MARKERS[number % len(MARKERS)] for number, config in enumerate(configs)}
    figure = Figure(figsize=(1.5 + 4.5 * len(models), 1.2 + 2.6 * len(sets)), layout="constrained")
    grid = figure.subplots(len(sets), len(models), squeeze=False, sharex="col", sharey="row")
    for column, model in enumerate(models):
        for row, name in enumerate(sets):
            axes = grid[row, column]
            for one in (one for one in lines if one.model == model and known_values(one.runs, name)):
                x, values, colour = one.speed(phase), known_values(one.runs, name), colours[one.tool]
                axes.plot(x, fmean(values), markers[one.mark(varying)], color=colour, markersize=8)
                axes.vlines(x, min(values), max(values), color=colour, linewidth=1)
            axes.set_xscale("log")
            label_log_axis(axes.xaxis)
            axes.margins(0.2)
            axes.grid(alpha=0.3)
            axes.set_title(model if row == 0 else "")
            axes.set_ylabel("" if column else LABELS[name])
        grid[-1, column].set_xlabel("words per CPU second" + " of the whole run" * (phase == "whole"))
    marks = [(colour, "o", tool) for tool, colour in colours.items()]
    marks += [("grey", marker, config) for config, marker in markers.items() if config]
    handles = [Line2D([], [], color=c, marker=marker, linestyle="none", label=label) for c, marker, label in marks]
    figure.legend(handles=handles, loc="outside lower center", ncols=max(1, 2 * len(models)), frameon=False)
    return figure


def document_dots(rows: Sequence[Row]) -> list[Dot]:
    """The error rate of each tool with its interval over test documents, then the CPU seconds of whole runs."""
    dots = []
    for one in summaries(rows):
        for name in (name for name in one.scores if name.startswith(ERROR_OF)):
            share, _, total = one.scores[name]
            if share is not None and total:
                ends, axis = wilson(round(share * total), total), f"error rate on {total:,} documents, 95 % interval"
                dots.append(Dot(one.settings["trainer"], axis, share, *ends, f"{share:.3f}", one.tool))
    for one in summaries(rows):
        seconds = median_of(one.runs, "whole_cpu")
        remark = format_number(seconds, ",.0f") + " s"
        dots.append(Dot(one.settings["trainer"], "CPU seconds of the whole run", *[seconds] * 3, remark, one.tool))
    return dots


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw the scores of words against speed, or the errors of documents beside the time."""
    if rows[0].get("documents"):
        plots.draw(document_dots(rows), path, force=True)
    elif any(known_values(rows, name) for name in LABELS):
        quality_figure(rows).savefig(path, dpi=150)
