"""The rows of all runs summed up, and as a Markdown table."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from embeddings.eval.benchmark.corpus_text import LONGEST
from embeddings.eval.benchmark.result_rows import PARTS, SEEN, SETS, TIMES, TOTAL, WRONG, Row, sets_of, settings_of
from embeddings.eval.benchmark.tools import OURS, Note, Tool

WORDS = (
    "- Similarity is Spearman's correlation; analogies are answered from the 30,000 most frequent words; in brackets, "
    "the pairs or questions whose words all had vectors."
)
DOCUMENTS = (
    "- Errors are those of logistic regression (L2 penalty, C = 1) on the vectors learned for documents, whitened, "
    "learned from the labels of the first file of the corpus and judged on the second; all files are trained on."
)
FULL = 0.99  # a tool that says it read a smaller share of the words did not do the work


@dataclass(frozen=True)
class Summary:
    """The runs of one tool for one shape.

    times: medians of seconds by column. ratios: the tool's median over ours, for each of times. memory: medians
    of bytes by column. scores: mean, seen and total of each test set; spreads: its least and largest value. Each
    is None where no run tells. error: that of the first failed run.
    """

    shape: dict[str, Any]
    tool: str
    version: str
    runs: int
    failed: int
    times: dict[str, float | None]
    ratios: dict[str, float | None]
    words_per_second: float | None
    peak_memory: float | None
    private_memory: float | None
    scores: dict[str, tuple[float | None, int | None, int | None]]
    spreads: dict[str, tuple[float, float] | None]
    error: str


def summaries(rows: Sequence[Row]) -> list[Summary]:
    """A summary for each shape and tool, in the order of the rows."""
    names = settings_of(rows)
    groups: dict[tuple[Any, ...], dict[str, list[Row]]] = {}
    for row in rows:
        shape = groups.setdefault(tuple(row.get(name) for name in names), {})
        shape.setdefault(row["tool"], []).append(row)
    return [
        summary(dict(zip(names, shape, strict=True)), runs, tools.get(OURS.name, []), sets_of(rows))
        for shape, tools in groups.items()
        for runs in tools.values()
    ]


def summary(shape: dict[str, Any], runs: list[Row], ours: list[Row], sets: Sequence[str]) -> Summary:
    """The runs of one tool beside ours, judged by some sets."""
    times = {name: middle(runs, name) for name in TIMES}
    wall = times["training_wall"]
    failures = [row["error"] for row in runs if row["error"]]
    return Summary(
        shape=shape,
        tool=runs[0]["tool"],
        version=runs[0]["version"],
        runs=len(runs) - len(failures),
        failed=len(failures),
        times=times,
        ratios={name: ratio(times[name], middle(ours, name)) for name in TIMES},
        words_per_second=runs[0]["corpus_words"] * shape["epochs"] / wall if wall and wall > 0 else None,
        peak_memory=middle(runs, "peak_memory"),
        private_memory=middle(runs, "private_memory"),
        scores={name: score(runs, name) for name in sets},
        spreads={name: (min(values), max(values)) if (values := known(runs, name)) else None for name in sets},
        error=next(iter(failures), "") or shortfall(runs),
    )


def known(runs: Sequence[Row], name: str) -> list[Any]:
    """The values of a column that are there."""
    return [row[name] for row in runs if row.get(name) is not None]


def middle(runs: Sequence[Row], name: str) -> float | None:
    """The median of a column."""
    values = known(runs, name)
    return median(values) if values else None


def ratio(theirs: float | None, ours: float | None) -> float | None:
    """How many times ours."""
    return theirs / ours if theirs is not None and ours else None


def score(runs: Sequence[Row], name: str) -> tuple[float | None, int | None, int | None]:
    """The mean of a test set over the runs, the questions seen (in the first run) and those there are."""
    values = known(runs, name)
    seen, total = known(runs, name + SEEN), known(runs, name + TOTAL)
    return fmean(values) if values else None, seen[0] if seen else None, total[0] if total else None


def shortfall(runs: Sequence[Row]) -> str:
    """What to say of a tool that did not read the whole corpus in every epoch; empty for one that did."""
    shares = [row["words_read"] / (row["corpus_words"] * row["epochs"]) for row in runs if row.get("words_read")]
    return f"read only {100 * min(shares):.0f} % of the words" if shares and min(shares) < FULL else ""


def markdown(rows: Sequence[Row], machine: dict[str, Any], tools: Sequence[Tool]) -> str:
    """The table with what it was measured on above it, and how to read it below."""
    found = summaries(rows)
    varying = [name for name in found[0].shape if name != "trainer" and len(variety(found, name)) > 1]
    common = ", ".join(
        f"{name} {next(iter(variety(found, name)))}"
        for name in found[0].shape
        if name != "trainer" and len(variety(found, name)) == 1
    )
    lines = [about(machine), f"The same for all: {common}.", "", *table(found, varying), "", *reading(found)]
    notes = [note for tool in tools for note in tool.notes if any(told(one, tool, note) for one in found)]
    return "\n".join([*lines, *(f"- {note.text}" for note in notes)]) + "\n"


def told(one: Summary, tool: Tool, note: Note) -> bool:
    """Whether a note of a tool is of this line of the table."""
    return one.tool == tool.name and note.of(one.shape)


def variety(found: Sequence[Summary], name: str) -> dict[Any, None]:
    """The values of a setting, in order; trainers that do not have it do not count."""
    return dict.fromkeys(one.shape[name] for one in found if one.shape[name] is not None)


def about(machine: dict[str, Any]) -> str:
    """The machine and the corpus in two lines."""
    corpus = machine["corpus"]
    tools = ", ".join(f"{name} {version}" for name, version in machine["tools"].items())
    return (
        f"{machine['processor']}, {machine['cores_available']} of {machine['cores']} cores; {machine['system']}; "
        f"{tools}; {machine['date']}.\n"
        f"Corpus: {', '.join(corpus['sources'])}, {corpus['words']:,} words, {corpus['types']:,} different.\n"
    )


def table(found: Sequence[Summary], varying: Sequence[str]) -> list[str]:
    """The lines of the table: the model, the settings that vary, the tool, and its figures."""
    heads = ["model", *(name.replace("_", " ") for name in varying), "tool", "CPU s, training", "CPU s, whole"]
    heads += ["wall s, training / whole", "words/s, training", "memory MB, peak / private"]
    sets = sets_told(found)
    heads += [f"{SETS.get(name, name)} (seen of {total_of(found, name)})" for name in sets]
    heads += ["seeds", "remarks"]
    lines = [heads, ["---"] * len(heads)]
    for one in found:
        settings = [number(one.shape[name], "g") for name in varying]
        lines.append([one.shape["trainer"], *settings, one.tool, *figures(one), *quality(one, sets)])
    return ["| " + " | ".join(line) + " |" for line in lines]


def figures(one: Summary) -> list[str]:
    """The cells of time and memory."""
    cells = [
        seconds(one.times[name]) + (f" ({one.ratios[name]:.2g}x)" if one.ratios[name] is not None else "")
        for name in ("training_cpu", "whole_cpu")
    ]
    walls = [seconds(one.times[name]) for name in ("training_wall", "whole_wall")]
    sizes = [number(size / 1e6 if size else None, ".0f") for size in (one.peak_memory, one.private_memory)]
    pace = one.words_per_second and float(f"{one.words_per_second:.3g}")
    return [*cells, " / ".join(walls), number(pace, ",.0f"), " / ".join(sizes)]


def sets_told(found: Sequence[Summary]) -> list[str]:
    """The test sets that are columns; their parts only if every line judged by the whole has them."""

    def judged(name: str) -> list[bool]:
        return [one.scores[name][0] is not None for one in found]

    wholes = {f"{name} {part}": name for name in SETS for part in PARTS}
    return [name for name in found[0].scores if name not in wholes or judged(name) == judged(wholes[name])]


def quality(one: Summary, sets: Sequence[str]) -> list[str]:
    """The cells of quality, runs and remarks."""
    scores = [one.scores[name] for name in sets]
    cells = [number(value, ".3f") + (f" ({seen})" if seen is not None else "") for value, seen, _ in scores]
    failed = f"{one.failed} failed: " if one.failed else ""
    return [*cells, str(one.runs), (failed + one.error).replace("|", "\\|")]


def total_of(found: Sequence[Summary], name: str) -> str:
    """How many questions a test set has."""
    return next((f"{total:,}" for one in found if (total := one.scores[name][2]) is not None), "-")


def seconds(value: float | None) -> str:
    """Seconds with as many digits as they deserve."""
    return number(value, ".2f" if value is not None and value < 10 else ".1f")


def number(value: Any, form: str) -> str:
    """A number as people read it; a dash where there is none."""
    if value is None:
        return "-"
    return format(value, form) if isinstance(value, int | float) else str(value)


def reading(found: Sequence[Summary]) -> list[str]:
    """How to read the table."""
    text = "a document a line" if "documents" in found[0].shape else f"lines of at most {LONGEST:,} words"
    return [
        f"- Times and memory are medians, scores are means over the seeds; (x) is times {OURS.name}.",
        f"- Tools ran in turn, each run in a fresh process, on one text, {text}, after one run of each that is not "
        "counted: kernels were compiled and programs in memory before.",
        "- CPU seconds are user and system time of all threads. Whole: the command from the text to saved vectors; "
        "training: learning alone, words counted and kernels loaded before.",
        "- Peak memory counts files that are mapped into memory, private does not.",
        *([WORDS] if any(name in SETS for name in found[0].scores) else []),
        *([DOCUMENTS] if any(name.startswith(WRONG) for name in found[0].scores) else []),
    ]
