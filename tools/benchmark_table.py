"""The rows of a benchmark, their table in Markdown, and a figure of quality against speed."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmark_programs import OURS, ModelConfig, Program
from matplotlib import ticker
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from processes import describe

from embeddings.settings.objectives import WORD_OBJECTIVES
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
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


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
    """The runs of one tool for one configuration.

    `words` are those of the corpus times the epochs; `times` are median seconds by column, `ratios` the tool's over
    ours; memory is median bytes; `scores` are mean, covered and total of each test set, `ranges` its lowest and highest
    score; `error` is that of the first failed run, or that the tool did not read all words.
    """

    settings: dict[str, Any]
    tool: str
    version: str
    runs: int
    failed: int
    words: int
    times: dict[str, float | None]
    ratios: dict[str, float | None]
    words_per_second: float | None
    peak_memory: float | None
    private_memory: float | None
    scores: dict[str, tuple[float | None, int | None, int | None]]
    ranges: dict[str, tuple[float, float]]
    error: str

    @property
    def model(self) -> str:
        """The name of the model."""
        return ModelConfig(self.settings["trainer"], self.settings, 1).model_id

    def speed(self, phase: str) -> float | None:
        """Words of the corpus per CPU second of a phase, "training" or "whole"; None if its time is not known."""
        seconds = self.times[f"{phase}_cpu"]
        return self.words / seconds if seconds else None

    def mark(self, varying: Sequence[str]) -> str:
        """The values of the settings by which points differ, as the legend names them."""
        values = ((name, self.settings.get(name)) for name in varying)
        return ", ".join(VARYING[name].format(value) for name, value in values if value is not None)


def summaries(rows: Sequence[Row]) -> list[Summary]:
    """A summary for each configuration and tool, in the order of the rows."""
    names = setting_columns(rows)
    configs: dict[tuple[Any, ...], dict[str, list[Row]]] = {}
    for row in rows:
        by_tool = configs.setdefault(tuple(row.get(name) for name in names), {})
        by_tool.setdefault(row["tool"], []).append(row)
    return [
        summarise(dict(zip(names, config, strict=True)), runs, by_tool.get(OURS.name, []), scored_sets(rows))
        for config, by_tool in configs.items()
        for runs in by_tool.values()
    ]


def summarise(settings: dict[str, Any], runs: list[Row], ours: list[Row], sets: Sequence[str]) -> Summary:
    """The summary of the runs of one tool, with ratios to ours."""
    times, our_times = ({name: median_of(rows, name) for name in TIMES} for rows in (runs, ours))
    ratios: dict[str, float | None] = dict.fromkeys(TIMES)
    for name, seconds in times.items():
        if seconds is not None and (base := our_times[name]):
            ratios[name] = seconds / base
    shares = [row["words_read"] / (row["corpus_words"] * row["epochs"]) for row in runs if row.get("words_read")]
    incomplete = f"read only {100 * min(shares):.0f} % of the words" if min(shares, default=1) < COMPLETE else ""
    wall, words = times["training_wall"], runs[0]["corpus_words"] * settings["epochs"]
    errors = [row["error"] for row in runs if row["error"]]
    values_by_set = {name: known_values(runs, name) for name in sets}
    scores = {}
    for name, values in values_by_set.items():
        covered, total = (next(iter(known_values(runs, name + part)), None) for part in (COVERED, TOTAL))
        scores[name] = (fmean(values) if values else None, covered, total)
    return Summary(
        settings=settings,
        tool=runs[0]["tool"],
        version=runs[0]["version"],
        runs=len(runs) - len(errors),
        failed=len(errors),
        words=words,
        times=times,
        ratios=ratios,
        words_per_second=words / wall if wall and wall > 0 else None,
        peak_memory=median_of(runs, "peak_memory"),
        private_memory=median_of(runs, "private_memory"),
        scores=scores,
        ranges={name: (min(values), max(values)) for name, values in values_by_set.items() if values},
        error=next(iter(errors), incomplete),
    )


def known_values(runs: Sequence[Row], name: str) -> list[Any]:
    """The non-empty values of a column."""
    return [row[name] for row in runs if row.get(name) is not None]


def median_of(runs: Sequence[Row], name: str) -> float | None:
    """The median of a column."""
    values = known_values(runs, name)
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
        remarks = (f"{one.failed} failed: " if one.failed else "") + one.error
        row = [one.settings["trainer"], *settings, one.tool, *time_cells(one), *scores, str(one.runs), remarks]
        rows.append(row)
    return markdown_table([*heads, "seeds", "remarks"], rows)


def time_cells(one: Summary) -> list[str]:
    """The cells of time and memory."""
    seconds = {
        name: format_number(value, ".2f" if value is not None and value < 10 else ".1f")
        for name, value in one.times.items()
    }
    cells = [
        seconds[name] + (f" ({one.ratios[name]:.2g}x)" if one.ratios[name] is not None else "")
        for name in ("training_cpu", "whole_cpu")
    ]
    sizes = [format_number(size / 1e6 if size else None, ".0f") for size in (one.peak_memory, one.private_memory)]
    pace = one.words_per_second and float(f"{one.words_per_second:.3g}")
    walls = f"{seconds['training_wall']} / {seconds['whole_wall']}"
    return [*cells, walls, format_number(pace, ",.0f"), " / ".join(sizes)]


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

    Further right is faster; higher is better, except for error rates. Speed is that of training, or of whole runs if
    a tool does not tell the former. Bars reach from the lowest to the highest seed.
    """
    lines = [one for one in summaries(rows) if one.runs]
    phase = "training" if all(one.speed("training") for one in lines) else "whole"
    models = list(dict.fromkeys(one.model for one in lines))
    names = [name for name in lines[0].scores if name in SETS or name.startswith(ERROR_OF)]
    sets = [name for name in names if any(one.scores[name][0] is not None for one in lines)]
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
            for one in (one for one in lines if one.model == model and name in one.ranges):
                x, colour = one.speed(phase), colours[one.tool]
                axes.plot(x, one.scores[name][0], markers[one.mark(varying)], color=colour, markersize=8)
                axes.vlines(x, *one.ranges[name], color=colour, linewidth=1)
            axes.set_xscale("log")
            label_log_axis(axes.xaxis)
            axes.margins(0.2)
            axes.grid(alpha=0.3)
            axes.set_title(model if row == 0 else "")
            axes.set_ylabel("" if column else LABELS.get(name, name.replace(ERROR_OF, "error rate on ")))
        grid[-1, column].set_xlabel("words per CPU second" + " of the whole run" * (phase == "whole"))
    marks = [(colour, "o", tool) for tool, colour in colours.items()]
    marks += [("grey", marker, config) for config, marker in markers.items() if config]
    handles = [Line2D([], [], color=c, marker=marker, linestyle="none", label=label) for c, marker, label in marks]
    figure.legend(handles=handles, loc="outside lower center", ncols=max(1, 2 * len(models)), frameon=False)
    return figure
