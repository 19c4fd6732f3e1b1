"""The tables of the study of intervals: how often intervals contain what they promise."""

import csv
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.analysis.confidence import interval, rank_interval
from studies.grid import beside, markdown
from studies.interval_measures import BANDS, Matrix, Targets, measure, question_vectors

Values = NDArray[np.float64]
COLUMNS = (
    "population", "quantity", "group", "method", "intervals", "coverage", "error", "coverage_draw", "width", "sd_ratio",
    "data_sd", "seed_sd",
)  # fmt: skip
COSINES = (0.5, 0.7, 0.8)  # where bands of cosines begin
CHOSEN, ALL = "as in the command", "all"  # the method of `embeddings neighbours`, the group of all words
DRAWS_OF_OWN = 12  # for the neighbours of each model, which differ from one to the next
T, PERCENTILES, BASIC, SHIFTED, HALVES = "t", "percentiles", "basic", "t, centred by resamples", "t, half samples"


@dataclass(frozen=True)
class Trainings:
    """A quantity in a repetition; NaN for words that do not occur.

    values: (1 + trainings, items), the model first. ranks: the same, of ranks; None for no ranks. resamples, seeds: how
    many there are. background: (items,) functions that return the cosines of all words in the model; None for none.
    """

    values: Values
    ranks: Values | None
    resamples: int
    seeds: int
    background: Callable[[int], Any] | None = None

    def part(self, kind: str) -> slice:
        """The trainings of a kind."""
        first, second = 1 + self.resamples, 1 + self.resamples + self.seeds
        return {"resamples": slice(1, first), "seeds": slice(first, second), "halves": slice(second, None)}[kind]


@dataclass(frozen=True)
class Quantity:
    """A quantity: its name, a group of each item, and its trainings and independent draws (draws, items) by repetition.

    is_rank: whether intervals are of ranks. is_selected: whether the model has selected the items.
    """

    name: str
    groups: NDArray[np.str_]
    repetitions: list[Trainings]
    draws: list[Values]
    is_rank: bool = False
    is_selected: bool = False

    @property
    def methods(self) -> list[str]:
        """The methods to compare."""
        if self.is_rank:
            return [CHOSEN, PERCENTILES]
        return [CHOSEN, *([T] if self.is_selected else []), PERCENTILES, BASIC, SHIFTED, HALVES]

    def bounds(self, number: int, item: int, method: str) -> tuple[float, float]:
        """The interval of an item in a repetition; NaN without enough trainings."""
        one = self.repetitions[number]
        value = one.values[0, item]
        resamples = one.values[one.part("halves" if method == HALVES else "resamples"), item]
        known = resamples[np.isfinite(resamples)]
        if not np.isfinite(value) or len(known) < 2:
            return np.nan, np.nan
        if method == PERCENTILES and self.is_rank:
            assert one.ranks is not None
            known = one.ranks[one.part("resamples"), item]
        low, high = np.percentile(known[np.isfinite(known)], [2.5, 97.5])
        if method in (PERCENTILES, BASIC):
            return (low, high) if method == PERCENTILES else (2 * value - high, 2 * value - low)
        center = value if method != SHIFTED else 2 * value - known.mean()
        uses_background = method == CHOSEN and self.is_rank and one.background is not None
        background = one.background(item) if uses_background and one.background is not None else None
        is_selected = method == CHOSEN and self.is_selected
        found = interval(center, resamples, one.values[one.part("seeds"), item], is_selected=is_selected, limit=2.0)
        return (found.low, found.high) if background is None or not self.is_rank else rank_interval(found, background)


class Population:
    """What was measured in the repetitions and draws of a folder."""

    def __init__(self, folder: Path) -> None:
        numbers = [path.stem.removeprefix("repetition-") for path in sorted(folder.glob("repetition-*.npz"))]
        self.repetitions = [dict(np.load(folder / f"repetition-{number}.npz")) for number in numbers]
        self.models = [load_matrix(folder / f"model-{number}.npz") for number in numbers]
        self.matrices = [load_matrix(path) for path in sorted(folder.glob("draw-*.npz"))]
        self.targets = Targets(*(self.repetitions[0][name] for name in Targets._fields))
        drawn = [measure(matrix, self.targets, self.targets.pairs[:1]) for matrix in self.matrices]
        self.drawn = {name: np.stack([one[name] for one in drawn]) for name in drawn[0]}

    def quantities(self) -> Iterator[Quantity]:
        """All quantities."""
        targets, pairs = self.targets, self.pairs(self.targets.pairs[:, 0])
        bands = [f"{low:,} to {high:,}" for low, high in pairwise(BANDS)]
        by_count = np.array([*bands, f"over {BANDS[-1]:,}"])[
            np.digitize(targets.counts[targets.pairs[:, 0]], BANDS) - 1
        ]
        draws = masked(self.drawn["pair_cosines"], self.drawn["pair_cosines"])
        edges = np.digitize(np.nanmean(draws, axis=0), COSINES)
        by_cosine = np.array([f"cosine below {COSINES[0]}", *(f"cosine from {low}" for low in COSINES)])[edges]
        for groups in (by_count, by_cosine):
            yield self.quantity("cosine", "pair", groups, pairs)
        yield self.quantity("rank", "pair", by_count, pairs, is_rank=True)
        each = len(targets.pairs) // len(targets.words)
        yield self.changed("difference", "pair_cosines", np.repeat(by_count[::each], each - 1), differences(each))
        everything = np.full(len(targets.questions), ALL)
        answers = [questions_background(model, targets) for model in self.models]
        yield self.quantity("analogy score", "answer", everything, answers)
        yield self.quantity("analogy rank", "answer", everything, answers, is_rank=True)
        yield self.changed("WordSim-353", "spearman", np.array([ALL]), np.asarray)
        for is_rank in (False, True):
            yield self.own(by_count[::each], is_rank)

    def pairs(self, rows: NDArray[np.int64]) -> list[Callable[[int], Any]]:
        """The cosines of all words with the word of each item, in each model."""
        return [row_cosines(model, rows) for model in self.models]

    def quantity(
        self, name: str, kind: str, groups: NDArray[np.str_], background: Sequence[Callable[[int], Any]], *,
        is_rank: bool = False,
    ) -> Quantity:  # fmt: skip
        """The cosines or the ranks of items that are the same in all models."""
        drawn = self.drawn[f"{kind}_ranks" if is_rank else f"{kind}_cosines"]
        draws = masked(drawn, self.drawn[f"{kind}_cosines"])
        parts = [trainings(one, kind, rows) for one, rows in zip(self.repetitions, background, strict=True)]
        return Quantity(name, groups, parts, [draws] * len(parts), is_rank=is_rank)

    def changed(self, name: str, source: str, groups: NDArray[np.str_], change: Callable[[Values], Values]) -> Quantity:
        """A function of measurements."""
        parts = [
            Trainings(change(masked(one[source], one[source])), None, int(one["resamples"]), int(one["seeds"]))
            for one in self.repetitions
        ]
        return Quantity(name, groups, parts, [change(masked(self.drawn[source], self.drawn[source]))] * len(parts))

    def own(self, bands: NDArray[np.str_], is_rank: bool) -> Quantity:
        """The cosines or ranks of the ten nearest neighbours in each model, which the model has selected."""
        draws, parts = [], []
        for one, model in zip(self.repetitions, self.models, strict=True):
            drawn = [measure(matrix, self.targets, one["own"]) for matrix in self.matrices[:DRAWS_OF_OWN]]
            name = "own_ranks" if is_rank else "own_cosines"
            draws.append(np.stack([masked(some[name], some["own_cosines"]) for some in drawn]))
            parts.append(trainings(one, "own", row_cosines(model, one["own"][:, 0])))
        groups = np.repeat(bands, len(self.repetitions[0]["own"]) // len(bands))
        name = f"{'rank' if is_rank else 'cosine'} of the ten nearest neighbours"
        return Quantity(name, groups, parts, draws, is_rank=is_rank, is_selected=True)


def load_matrix(path: Path) -> Matrix:
    """The vectors in a file."""
    return np.asarray(np.load(path)["matrix"], np.float32)


def trainings(one: dict[str, Any], kind: str, background: Callable[[int], Any]) -> Trainings:
    """The cosines and ranks of a repetition."""
    cosines = one[f"{kind}_cosines"]
    values = [masked(one[f"{kind}_{name}"], cosines) for name in ("cosines", "ranks")]
    return Trainings(*values, int(one["resamples"]), int(one["seeds"]), background)


def row_cosines(model: Matrix, rows: NDArray[np.int64]) -> Callable[[int], Any]:
    """The cosines of all words with the row of each item; neighbouring items often have the same row."""
    cosines = lru_cache(maxsize=1)(lambda row: model @ model[row])
    return lambda item: cosines(int(rows[item]))


def questions_background(model: Matrix, targets: Targets) -> Callable[[int], Any]:
    """The cosines of all words with the vector of each question."""
    vectors = question_vectors(model, targets.questions)
    return lambda item: model @ vectors[item]


def differences(each: int) -> Callable[[Values], Values]:
    """The cosine of each pair less that of the next one with the same word."""
    return lambda values: -np.diff(values.reshape(len(values), -1, each), axis=2).reshape(len(values), -1)


def masked(values: Any, cosines: Any) -> Values:
    """Values as float64, NaN where a word does not occur, so that the cosine is exactly 0."""
    return np.where(cosines == 0, np.nan, values).astype(np.float64)


def coverage_rows(quantity: Quantity) -> Iterator[dict[str, Any]]:
    """The coverage of the intervals of a quantity, by group; and over all groups, by method."""
    for method in quantity.methods:
        numbers = range(len(quantity.repetitions))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of items without values, which are NaN
            results = [one for number in numbers if (one := measure_repetition(quantity, number, method)) is not None]
        groups = dict.fromkeys([ALL, *(quantity.groups.tolist() if method == CHOSEN else [])])
        for group in groups if results else ():
            chosen = (quantity.groups == group) | (group == ALL)
            yield {"quantity": quantity.name, "group": group, "method": method, **summary(results, chosen)}


def measure_repetition(quantity: Quantity, number: int, method: str) -> dict[str, Values] | None:
    """Whether intervals contain the expected value, how many draws they contain, and spreads, each (items,)."""
    one, draws = quantity.repetitions[number], quantity.draws[number]
    low, high = np.array([quantity.bounds(number, item, method) for item in range(one.values.shape[1])]).T
    if not np.isfinite(low).any():
        return None
    center = np.nanmedian(draws, axis=0) if quantity.is_rank else np.nanmean(draws, axis=0)
    inside = np.where(np.isfinite(draws), (draws >= low) & (draws <= high), np.nan)
    values = one.ranks if quantity.is_rank and one.ranks is not None else one.values
    spread = np.log if quantity.is_rank else np.asarray
    total, seed = (np.nanvar(spread(values[one.part(kind)]), axis=0, ddof=1) for kind in ("resamples", "seeds"))
    return {
        "contains": np.where(np.isfinite(low) & np.isfinite(center), (low <= center) & (center <= high), np.nan),
        "contains_draw": np.nanmean(inside, axis=0), "width": high / low if quantity.is_rank else high - low,
        "total": total, "actual": np.nanvar(spread(draws), axis=0, ddof=1), "seed": seed,
    }  # fmt: skip


def summary(results: Sequence[dict[str, Values]], chosen: NDArray[np.bool_]) -> dict[str, Any]:
    """The mean over repetitions and items; `error` is the standard error of the coverage between repetitions."""
    by_repetition = [np.nanmean(one["contains"][chosen]) for one in results]
    mean = {name: np.nanmean([np.nanmean(one[name][chosen]) for one in results]) for name in results[0]}
    number = sum(int(np.isfinite(one["contains"][chosen]).sum()) for one in results)
    error = np.std(by_repetition, ddof=1) / np.sqrt(len(results)) if len(results) > 1 else np.nan
    width = np.nanmedian(np.concatenate([one["width"][chosen] for one in results]))
    values = {
        "coverage": np.mean(by_repetition), "error": error, "coverage_draw": mean["contains_draw"], "width": width,
        "sd_ratio": np.sqrt(mean["total"] / mean["actual"]),
        "data_sd": np.sqrt(max(mean["total"] - mean["seed"], 0)), "seed_sd": np.sqrt(mean["seed"]),
    }  # fmt: skip
    return {"intervals": number, **{name: round(float(value), 4) for name, value in values.items()}}


def write_tables(work: Path, out: Path) -> None:
    """Write the tables of the populations in a folder, and all numbers to coverage.tsv."""
    out.parent.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    sizes = {}
    for folder in sorted(path for path in work.iterdir() if any(path.glob("repetition-*.npz"))):
        population = Population(folder)
        sizes[folder.name] = (len(population.repetitions), len(population.matrices))
        found = (row for one in population.quantities() for row in coverage_rows(one))
        rows += [{"population": folder.name, **row} for row in found]
    with out.with_name("coverage.tsv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows({tuple(row.items()): row for row in rows}.values())
    beside(out, ".md").write_text(coverage_markdown(rows, sizes), encoding="utf-8")


def coverage_markdown(rows: Sequence[dict[str, Any]], sizes: dict[str, tuple[int, int]]) -> str:
    """The coverage by group and by method, and spreads by document and seed."""
    chosen = [row for row in rows if row["method"] == CHOSEN]
    heads = ["quantity", "words or pairs"]
    for name in sizes:
        heads += [f"{name}: intervals", "95 % contain", "width"]
    by_group = markdown(heads, by_population(chosen, ("quantity", "group"), sizes, coverage_cells), names=2)
    everywhere = [row for row in rows if row["group"] == ALL]
    lines = by_population(everywhere, ("quantity", "method"), sizes, lambda row: [percent(row)])
    by_method = markdown(["quantity", "method", *sizes], lines, names=2)
    heads = ["corpus", "quantity", "words", "by documents", "by seed", "resamples / draws"]
    spreads: dict[tuple[str, ...], None] = {}
    for row in chosen:
        if row["quantity"] in ("cosine", "rank") and "cosine" not in row["group"]:
            names = row["population"], row["quantity"], row["group"]
            spreads[*names, f"{row['data_sd']:.3f}", f"{row['seed_sd']:.3f}", f"{row['sd_ratio']:.2f}"] = None
    notes = [f"- {name}: {one} repetitions, {other} independent draws.\n" for name, (one, other) in sizes.items()]
    return (
        f"{by_group}\nMethods that were compared, over all words:\n\n{by_method}\n"
        f"Standard deviations of cosines and of ranks (of their logarithms):\n\n{markdown(heads, spreads, names=3)}\n"
    ) + "".join(notes)


def by_population(
    rows: Sequence[dict[str, Any]], keys: tuple[str, str], populations: Iterable[str],
    cells: Callable[[dict[str, Any] | None], list[str]],
) -> Iterator[list[str]]:  # fmt: skip
    """The cells of each population, by two columns."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in rows:
        found.setdefault((row[keys[0]], row[keys[1]], row["population"]), row)
    for key in dict.fromkeys(key[:2] for key in found):
        yield [*key, *(cell for name in populations for cell in cells(found.get((*key, name))))]


def coverage_cells(row: dict[str, Any] | None) -> list[str]:
    """The number of intervals, their coverage and their width."""
    return [""] * 3 if row is None else [f"{row['intervals']:,}", percent(row), f"{row['width']:.3g}"]


def percent(row: dict[str, Any] | None) -> str:
    """The coverage with its standard error; empty for no row."""
    if row is None:
        return ""
    error = f" ± {100 * row['error']:.1f}" if np.isfinite(row["error"]) else ""
    return f"{100 * row['coverage']:.1f}{error}"
