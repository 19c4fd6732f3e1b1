"""Studies: a grid of cells, what is measured in each, and the table of the rows."""

import json
import sys
from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, ClassVar

import pandas
from processes import describe, environment, write_text

from embeddings.errors import EmbeddingsError, SettingError
from embeddings.support.result_table import markdown_table

Rows = list[dict[str, str]]


class Study:
    """A table of the documentation, made by one command.

    results: the path of the results, below eval/results, without extension.
    defaults: the options; a type in place of a default value means that a value is required.
    facts: what is known of a measurement, for the sentence about it.
    """

    results: ClassVar[str]
    defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        self.name, self.options = name, Namespace(**{**self.defaults, **options})
        self.folder = Path()  # of files that all cells need; removed in the end
        self.facts: dict[str, Any] = {}

    def make(self, out: Path, *, only_table: bool = False) -> None:
        """Measure what is missing, and write the results."""
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(self.page(out), beside(out, ".md"))

    def page(self, out: Path) -> str:
        """The results as Markdown, from files."""
        raise NotImplementedError


class Grid(Study):
    """A study that measures the cells of a grid.

    keys: the columns that name a cell. values: the columns of what is measured; a cell may have several rows.
    packages: whose versions are recorded with the machine; without any the table does not begin with the machine.
    warm_up: whether `runs` take one turn more, which compiles.
    rows, columns: the columns that name a row of the table, and the format of each measure, whose median it has; for a
    class without a method `table`.
    about: a sentence about the measurement, which follows the description of the machine, with names of options and
    `facts` in braces. notes: text after the table, in which {processor} stands for the processor of the measurement.
    """

    keys: ClassVar[tuple[str, ...]]
    values: ClassVar[tuple[str, ...]] = ("measure", "value")
    packages: ClassVar[tuple[str, ...]] = ()
    warm_up: ClassVar[bool] = True
    columns: ClassVar[dict[str, str]] = {}
    rows: ClassVar[tuple[str, ...]] = ()
    about: ClassVar[str] = ""
    notes: ClassVar[str] = ""

    def cells(self) -> Iterable[tuple[Any, ...]]:
        """The cells to measure: by default all values of the options with the names of the keys, seed by seed."""
        order = sorted(self.keys, key=lambda key: key != "seed")
        options = (getattr(self.options, key) for key in order)
        for values in product(*(one if isinstance(one, list) else [one] for one in options)):
            cell = dict(zip(order, values, strict=True))
            yield tuple(cell[key] for key in self.keys)

    def prepare(self) -> None:
        """Write what all cells need to `folder`, which is removed in the end."""

    def measure(self, *cell: Any) -> Iterable[Sequence[Any]]:
        """The rows of a cell, without its keys: by default the measures of `runs`, in turns, `rounds` times."""
        return take_turns(self.runs(*cell), self.options.rounds, warm_up=self.warm_up)

    def runs(self, *cell: Any) -> Mapping[Any, Callable[[], Mapping[str, Any]]]:
        """Functions that return measures, by name."""
        raise NotImplementedError

    def table(self, rows: Rows) -> str:
        """The rows as Markdown."""
        return pivot(rows, self.rows, self.columns)

    def make(self, out: Path, *, only_table: bool = False) -> None:
        """Measure the cells that the file of rows does not hold, and write the table."""
        path, record = beside(out, ".tsv"), beside(out, ".json")
        if only_table and not path.exists():
            raise SettingError(f"{path} does not exist: run {self.name} without --only-table")
        if not only_table and self.measure_missing(path) and path.exists():
            machine = environment(("embeddings-toolkit", *self.packages))
            about = self.about.format(**vars(self.options), **self.facts)
            write_text(json.dumps({"machine": machine, "about": about}, indent=1) + "\n", record)
        rows = read_rows(path)
        if not rows:
            return
        content = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
        known = content.get("machine", {}).get("processor", "a machine that was not recorded")
        text = (self.table(rows) + self.notes).replace("{processor}", known)
        if content and self.packages:
            about = describe(content["machine"], content["machine"]["packages"])
            text = f"{about} {content['about']}".strip() + "\n\n" + text
        write_text(text, beside(out, ".md"))

    def measure_missing(self, path: Path) -> bool:
        """Measure the cells that the file of rows does not hold, if any; the error of one that fails is printed.

        Raises:
            SettingError: there are no cells.
        """
        every = list(dict.fromkeys(self.cells()))
        if not every:
            raise SettingError(f"{self.name} has nothing to measure with these options: see --help")
        done = {tuple(row[key] for key in self.keys) for row in read_rows(path)}
        cells = [cell for cell in every if tuple(map(str, cell)) not in done]
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix="embeddings-study-") as folder:
            self.folder = Path(folder)
            if cells:
                self.prepare()
            for cell in cells:
                start, name = perf_counter(), " ".join(map(str, cell))
                try:
                    rows = list(self.measure(*cell))
                except EmbeddingsError as error:
                    log(name, str(error))
                    continue
                log(name, f"{perf_counter() - start:.0f} s")
                append_rows(path, (*self.keys, *self.values), [[*cell, *row] for row in rows])
        return bool(cells)


def beside(out: Path, extension: str) -> Path:
    """A file of a study."""
    return out.with_name(out.name + extension)


def log(*parts: str) -> None:
    """Report progress."""
    sys.stderr.write(": ".join(parts) + "\n")


def append_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Add tab-separated rows to a file; a new one begins with the names of the columns."""
    table = pandas.DataFrame(rows, columns=[*columns], dtype=object)
    table.to_csv(path, sep="\t", index=False, header=not path.exists(), mode="a", lineterminator="\n")


def read_rows(path: Path) -> Rows:
    """The rows of a tab-separated file; none without the file."""
    exists = path.exists()
    return pandas.read_csv(path, sep="\t", dtype=str, keep_default_na=False).to_dict("records") if exists else []


def pivot(rows: Rows, names: Sequence[str], columns: Mapping[str, Any], combine: Callable[..., Any] = median) -> str:
    """A table with a line for each combination of `names`, and the combined values of each measure.

    columns: the format of each measure, or a function that combines its values in place of `combine`, and the format.
    """
    forms = {name: (combine, form) if isinstance(form, str) else form for name, form in columns.items()}
    values: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in (row for row in rows if row["measure"] in columns):
        values[tuple(row[name] for name in names)][row["measure"]].append(float(row["value"]))
    lines = []
    for key, measures in values.items():
        cells = (format(one(measures[name]), form) if name in measures else "" for name, (one, form) in forms.items())
        lines.append([*(f"{int(part):,}" if part.isdigit() else part for part in key), *cells])
    return markdown([*names, *columns], lines, names=len(names))


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]], names: int | Collection[int] | None = None) -> str:
    """A table; columns are aligned right, but for the first `names` or those with these numbers, if it is not None."""
    left = range(len(heads) if names is None else names) if names is None or isinstance(names, int) else names
    head, _, *lines = markdown_table(heads, rows)
    rule = ["---" if number in left else "---:" for number in range(len(heads))]
    return "\n".join([head, f"| {' | '.join(rule)} |", *lines]) + "\n"


def take_turns(
    runs: Mapping[Any, Callable[[], Mapping[str, Any]]], rounds: int, *, warm_up: bool = True
) -> Iterator[tuple[Any, ...]]:
    """The name, round, measure and value of runs that take turns; a first round, which compiles, does not count."""
    for number in range(0 if warm_up else 1, rounds + 1):
        for name, measure in runs.items():
            names = name if isinstance(name, tuple) else (name,)
            values = measure()
            yield from ((*names, number, *one) for one in values.items() if number > 0)


def limits(threads: int) -> dict[str, str]:
    """Variables by which libraries use this number of threads, and neither the network nor a GPU."""
    libraries = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
    offline = {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    return dict.fromkeys(libraries, str(threads)) | {"TOKENIZERS_PARALLELISM": str(threads > 1).lower(), **offline}


def is_installed(name: str, library: str) -> bool:
    """Whether a library is installed; without it what is measured with it is left out."""
    is_there = find_spec(library) is not None
    if not is_there:
        log(f"{name} is left out", f"{library} is not installed")
    return is_there
