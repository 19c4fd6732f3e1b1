"""Runs every tool, configuration and seed in turn, each in a fresh process on the same text; reports the results."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from embeddings.errors import EmbeddingsError, OutputError, S
from embeddings.eval.benchmark.tools import OURS, PEERS, ModelConfig, Program
from embeddings.eval.benchmark.workspace import (
    COVERED,
    ERROR_OF,
    MAX_LINE,
    PARTS,
    RUN,
    SETS,
    TIMES,
    TOTAL,
    Report,
    Row,
    Workspace,
    open_workspace,
    read_rows,
    scored_sets,
    setting_columns,
    write_rows,
    write_text,
)
from embeddings.eval.machine import describe, environment
from embeddings.settings.objectives import WORD_OBJECTIVES
from embeddings.support.files import check_output
from embeddings.support.imports import import_library
from embeddings.support.plots import label_log_axis, save_figure
from embeddings.support.result_table import format_number, markdown_table

if TYPE_CHECKING:
    from embeddings.corpora import EncodedCorpus


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
    ranges: dict[str, tuple[float, float] | None]
    error: str


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
        ranges={name: (min(values), max(values)) if values else None for name, values in values_by_set.items()},
        error=next(iter(errors), incomplete),
    )


def known_values(runs: Sequence[Row], name: str) -> list[Any]:
    """The non-empty values of a column."""
    return [row[name] for row in runs if row.get(name) is not None]


def median_of(runs: Sequence[Row], name: str) -> float | None:
    """The median of a column."""
    values = known_values(runs, name)
    return median(values) if values else None


def markdown(rows: Sequence[Row], machine: dict[str, Any], tools: Sequence[Program]) -> str:
    """The table, with the machine and corpus above it and explanations below."""
    lines = summaries(rows)
    values: dict[str, list[Any]] = {}  # without those of trainers that lack the setting and objectives that ignore it
    for name in lines[0].settings:
        users = WORD_OBJECTIVES.users(name)
        used = [one.settings for one in lines if not users or one.settings.get("objective") in (None, *users)]
        if name != "trainer":
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
MARKER_WIDTH, LETTER_WIDTH = 0.7, 0.09  # inches of an entry of the legend
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


def quality_figure(rows: Sequence[Row]) -> Any:
    """The matplotlib figure: a column for each model, a row for each test set with scores.

    Further right is faster; higher is better, except for error rates. Speed is that of training, or of whole runs if
    a tool does not tell the former.
    """
    Figure = import_library("matplotlib.figure").Figure

    lines = [one for one in summaries(rows) if one.runs]
    phase = "training" if all(speed(one, "training") for one in lines) else "whole"
    shown = [one for one in lines if speed(one, phase) is not None]
    models = list(dict.fromkeys(map(model_of, shown)))
    candidates = [name for name in shown[0].scores if name in SETS or name.startswith(ERROR_OF)] if shown else []
    sets = [name for name in candidates if any(one.scores[name][0] is not None for one in shown)] or [next(iter(SETS))]
    figure = Figure(figsize=(1.5 + 4.5 * len(models), 1.2 + 2.6 * len(sets)), layout="constrained")
    grid = figure.subplots(len(sets), len(models), squeeze=False, sharex="col", sharey="row")
    style = PlotStyle(shown, phase)
    for column, model in enumerate(models):
        for row, name in enumerate(sets):
            axes = grid[row, column]
            style.draw_panel(axes, [one for one in shown if model_of(one) == model], name)
            axes.set_title(model if row == 0 else "")
            label = LABELS.get(name, name.replace(ERROR_OF, "error rate on "))
            axes.set_ylabel(label if column == 0 else "")
        grid[-1, column].set_xlabel("words per CPU second" + " of the whole run" * (phase == "whole"))
    Line2D = import_library("matplotlib.lines").Line2D
    marks = [(colour, "o", tool) for tool, colour in style.colours.items()]
    marks += [("grey", marker, config) for config, marker in style.markers.items() if config]
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="none", label=label) for colour, marker, label in marks
    ]
    longest = max(len(one.get_label()) for one in handles)
    columns = max(1, int(figure.get_figwidth() / (MARKER_WIDTH + LETTER_WIDTH * longest)))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)
    return figure


def speed(one: Summary, phase: str) -> float | None:
    """Words of the corpus per CPU second of a phase, "training" or "whole"; None if its time is not known."""
    seconds = one.times[f"{phase}_cpu"]
    return one.words / seconds if seconds and seconds > 0 else None


def model_of(one: Summary) -> str:
    """The name of the model, as in `ModelConfig`."""
    return ModelConfig(one.settings["trainer"], one.settings, 1).model_id


class PlotStyle:
    """A colour for each tool and a marker for each configuration, the same in all panels."""

    def __init__(self, shown: Sequence[Summary], phase: str) -> None:
        self.phase = phase
        self.colours = {tool: f"C{number}" for number, tool in enumerate(dict.fromkeys(one.tool for one in shown))}
        varying = [
            name
            for name in VARYING
            if any(
                len({one.settings.get(name) for one in shown if model_of(one) == model}) > 1
                for model in set(map(model_of, shown))
            )
        ]
        self.has_lines = len(varying) == 1
        self.names = {
            id(one): ", ".join(
                VARYING[name].format(one.settings[name]) for name in varying if one.settings.get(name) is not None
            )
            for one in shown
        }
        configs = dict.fromkeys(self.names.values())
        self.markers = {config: MARKERS[number % len(MARKERS)] for number, config in enumerate(configs)}

    def draw_panel(self, axes: Any, shown: Sequence[Summary], name: str) -> None:
        """Draw one model and test set: points of each tool, and bars from the lowest to the highest seed.

        A line joins the points of a tool if its runs differ in one setting.
        """
        for tool, colour in self.colours.items():
            points = [
                (speed(one, self.phase), one.scores.get(name, (None,))[0], one) for one in shown if one.tool == tool
            ]
            line = [(x, y) for x, y, _ in points if y is not None]
            if line and self.has_lines:
                axes.plot(*zip(*line, strict=True), color=colour, linewidth=1, alpha=0.4)
            for x, y, one in points:
                if score_range := one.ranges.get(name):
                    axes.plot(x, y, self.markers[self.names[id(one)]], color=colour, markersize=8)
                    axes.vlines(x, *score_range, color=colour, linewidth=1)
        axes.set_xscale("log")
        label_log_axis(axes.xaxis)
        speeds = [words for one in shown if (words := speed(one, self.phase))]
        axes.set_xlim(min(speeds) / 1.5, max(speeds) * 1.5)
        axes.margins(y=0.2)
        axes.grid(alpha=0.3)
        if not axes.collections:
            axes.text(0.5, 0.5, "no scores", transform=axes.transAxes, ha="center")


OUTPUTS = ("results.csv", "results.md", "results.png", "machine.json")
VECTORS = "vectors"  # folder of kept vectors
LIBRARIES = ("numpy", "numba", "llvmlite", "scipy", "pyarrow")


class ResumeError(EmbeddingsError):
    """Results that cannot be resumed."""


def completed_runs(folder: Path, machine: dict[str, Any]) -> tuple[list[Row], dict[str, str]]:
    """The successful runs in a folder, if any, and the versions of the tools of the earlier and of this benchmark."""
    table = folder / "results.csv"
    if not table.exists():
        return [], machine["tools"]
    try:
        record, rows = json.loads((folder / "machine.json").read_text(encoding="utf-8")), read_rows(table)
        pairs = {name: (record[name], machine[name]) for name in machine if name not in ("date", "tools")}
        pairs |= {tool: (record["tools"].get(tool, now), now) for tool, now in machine["tools"].items()}
        missing = [name for name in (*RUN, "trainer", "threads", "error") if rows and name not in rows[0]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResumeError(f"cannot resume from {folder}: {' '.join(repr(error).split()):.100}") from None
    if missing:
        raise ResumeError(f"cannot resume from {table}: it has no column {missing[0]!r}")
    for name, (before, now) in pairs.items():
        if before != now:
            values = f"{name} is {json.dumps(now):.100}, was {json.dumps(before):.100}"
            remedy = f"choose another folder, or set {S.force(True)} to start over"
            raise ResumeError(f"cannot resume from {folder}: {values}; {remedy}")
    return [row for row in rows if not row["error"]], record["tools"] | machine["tools"]


def is_completed(row: Row, runs: Sequence[Row]) -> bool:
    """Whether the runs include one with the settings, tool and seed of a row."""

    def cell(value: Any) -> str:
        return "" if value is None else str(value)

    return any(all(cell(one.get(name)) == cell(value) for name, value in row.items()) for one in runs)


class BenchmarkError(EmbeddingsError):
    """All runs of a benchmark failed."""


@dataclass(eq=False)
class Interrupted(KeyboardInterrupt):
    """The user stopped the benchmark, after this many runs."""

    finished: int


@dataclass
class Benchmark:
    """A benchmark of models by several tools, ours first; its results go to `folder`."""

    configs: Sequence[ModelConfig]
    tools: Sequence[Program]
    folder: Path
    repeats: int = 3  # of each model and tool, with seeds from 1 on
    force: bool = False  # replace existing results
    resume: bool = False  # keep existing results, and do only the missing runs
    keep: bool = False  # keep the vectors of all runs, in the folder "vectors"
    tests: Sequence[str] | None = ()  # options of `embeddings evaluate`; None for no evaluation
    report: Report = lambda line: None  # called with lines of progress
    rows: list[Row] = field(default_factory=list)

    def prepare_folder(self) -> None:
        """Create the folder if it is missing, and check that results can be written.

        Existing results require `force` or `resume`.
        """
        if not self.folder.exists():
            check_output(self.folder)
            self.folder.mkdir()
        elif not self.folder.is_dir():
            raise OutputError(f"{self.folder} is not a folder")
        force = self.force or self.resume
        for name in OUTPUTS:
            check_output(self.folder / name, force=force)
        vectors = self.folder / VECTORS
        if self.keep and vectors.exists() and not (vectors.is_dir() and (force or not any(vectors.iterdir()))):
            raise OutputError(
                f"{vectors} exists; choose another folder" + f", or set {S.force(True)}" * vectors.is_dir()
            )

    def run(self, encoded: "EncodedCorpus") -> list[Row]:
        """Run the benchmark; returns the rows of results.csv, which is written after each run, as is the table.

        A failed run is a row with its error; if all fail, raises BenchmarkError. If the user interrupts, the running
        process is killed, and finished runs are saved.
        """
        runs = [
            (config, seed, tool)
            for config in self.configs
            for seed in range(1, self.repeats + 1)
            for tool in self.tools
            if tool.supports(config)
        ]
        if not runs:
            raise BenchmarkError("there is nothing to run: no tool supports one of the models, or repeats is below 1")
        if not hasattr(os, "wait4"):
            raise BenchmarkError("benchmarks require Linux or macOS, which report what a process and its children used")
        self.prepare_folder()
        for config in self.configs:  # raises an error before the first run if a configuration selects no words
            settings = config.settings
            encoded.vocabulary.select(min_count=settings["min_count"], max_vocab=settings.get("max_vocab"))
        machine = {
            **environment(LIBRARIES),
            "tools": {tool.name: tool.known_version for tool in self.tools},
            "corpus": {
                "sources": [Path(name).name for name in encoded.meta["sources"]],
                "words": len(encoded.ids),
                "types": len(encoded.vocabulary),
                "lines": len(encoded.sentences) - 1,
                "fingerprint": encoded.fingerprint,
            },
        }
        if self.resume:
            self.rows, machine["tools"] = completed_runs(self.folder, machine)
        before = len(self.rows)
        vectors = self.folder / VECTORS if self.keep else None
        has_documents = any(config.has_documents for config in self.configs)
        try:
            if vectors is not None:
                vectors.mkdir(exist_ok=True)
            with open_workspace(encoded, self.folder, vectors, self.tests, has_documents=has_documents) as workspace:
                missing = [run for run in runs if not is_completed(workspace.run_columns(*run), self.rows)]
                self.run_all(workspace, missing, machine)
        except KeyboardInterrupt:
            raise Interrupted(len(self.rows) - before) from None
        if all(row["error"] for row in self.rows):
            raise BenchmarkError(f"all runs failed, the first with: {self.rows[0]['error']}")
        save_figure(quality_figure(self.rows), self.folder / "results.png", force=True)
        return self.rows

    def run_all(
        self, workspace: Workspace, runs: Sequence[tuple[ModelConfig, int, Program]], machine: dict[str, Any]
    ) -> None:
        """Do and save all missing runs, the tools of a configuration in turn for each seed."""
        table = self.folder / "results.csv"
        for config, tool in product(self.configs, self.tools):
            if any(one is config and other is tool for one, _, other in runs):
                self.report(f"warm-up, not counted: {config.label}: {tool.name}")
                workspace.warm_up(config, tool)
        for number, (config, seed, tool) in enumerate(runs, 1):
            self.report(f"[{number}/{len(runs)}] {config.label}, seed {seed}: {tool.name}")
            row = workspace.run(config, seed, tool)
            times = {"training": row.get("training_cpu"), "whole": row.get("whole_cpu")}
            sets = SETS | {name: name for name in scored_sets([row]) if name.startswith(ERROR_OF)}
            parts = [f"{part} {seconds:.1f} CPU s" for part, seconds in times.items() if seconds is not None]
            parts += [f"{label} {row[name]:.3f}" for name, label in sets.items() if row.get(name) is not None]
            self.report("    " + (f"failed: {row['error']}" if row["error"] else ", ".join(parts)))
            (self.folder / "results.png").unlink(missing_ok=True)  # it shows the results that are replaced now
            write_text(json.dumps(machine, indent=2) + "\n", self.folder / "machine.json")
            write_rows([*self.rows, row], table)
            self.rows = read_rows(table)
            tools = list({tool.name: tool for tool in [*self.tools, *PEERS]}.values())  # also those of earlier runs
            write_text(markdown(self.rows, machine, tools), self.folder / "results.md")
