"""Published figures beside figures measured here, as declared in `reproduction.toml`."""

import csv
import tomllib
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

import embeddings as em
from embeddings.errors import SettingError
from embeddings.indexes.lsh import LSH
from embeddings.models.subwords import ngram_hashes
from embeddings.support.cosine import normalize
from studies.grid import Grid, Rows, markdown

ROOT = Path(__file__).parents[2] / "eval" / "results"
DECLARATION = Path(__file__).with_suffix(".toml")
FIGURES: dict[str, dict[str, Any]] = {
    figure["name"]: figure for figure in tomllib.loads(DECLARATION.read_text(encoding="utf-8"))["figure"]
}
HEADS = ("source", "figure", "published", "here", "same data", "seeds", "verdict")
PUBLISHED_HASHES = {"команда": 1725507386, "北海道": 4096045468, "札幌": 3909947444, "mysterious": 1903186891}


class Reproduction(Grid):
    """Compares published figures with figures measured here, as declared in `reproduction.toml`.

    A figure comes from a file of `eval/results` (`file`, `where`, `column`), or from a function of this module (`run`).
    A published figure is a range (`low`, `high`), or that of the original program in the same file (`program_where`).
    Remove a row of the file of results to measure the figure again; figures of files are always read again.
    """

    results = "reproduction/results"
    keys = ("name",)
    values = ("value", "program", "seeds")

    def cells(self) -> list[tuple[Any, ...]]:
        """The figures that a function measures."""
        return [(name,) for name, figure in FIGURES.items() if "run" in figure]

    def measure(self, name: str) -> list[tuple[str, str, str]]:
        """The figure of this package, that of the original program, and how many seeds they are means of."""
        figure = FIGURES[name]
        if "run" in figure:
            value, seeds = RUNS[figure["run"]](**figure.get("arguments", {}))
            return [(f"{value:.6g}", "", str(seeds))]
        values = read_values(figure, figure["where"])
        program = read_values(figure, figure["program_where"]) if "program_where" in figure else []
        return [(f"{fmean(values):.6g}", f"{fmean(program):.6g}" if program else "", str(len(values)))]

    def table(self, rows: Rows) -> str:
        """A line for each figure; those that could not be measured have their reason as verdict."""
        measured = {row["name"]: row for row in rows}
        lines = []
        for name, figure in FIGURES.items():
            cells = [figure["source"], figure["figure"]]
            if "missing" in figure:
                lines.append([*cells, figure["published"], "", "", "", f"not measured: {figure['missing']}"])
                continue
            if "file" in figure:
                measured[name] = dict(zip(self.values, *self.measure(name), strict=True))
            row = measured[name]
            low, high = published_range(figure, row)
            published = shown(low) if low == high else f"{shown(low)} to {shown(high)}"
            same = "yes" if figure["same_data"] else f"no: {figure['data']}"
            lines.append([*cells, published, shown(float(row["value"])), same, row["seeds"], verdict(figure, row)])
        return markdown(HEADS, lines)


def read_values(figure: Mapping[str, Any], where: Mapping[str, str]) -> list[float]:
    """The numbers in a column of the rows of a result file that match these patterns."""
    path = ROOT / figure["file"]
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t" if path.suffix == ".tsv" else ","))
    selected = [row for row in rows if all(fnmatchcase(row[name], value) for name, value in where.items())]
    values = [float(row[figure["column"]]) for row in selected]
    if not values:
        raise SettingError(f"{figure['name']}: {path} has no row with {dict(where)}")
    is_complement = figure.get("complement", False)
    return [1 - value if is_complement else value for value in values]


def published_range(figure: Mapping[str, Any], row: Mapping[str, str]) -> tuple[float, float]:
    """The published figure as a range."""
    if row["program"]:
        return float(row["program"]), float(row["program"])
    return figure["low"], figure["high"]


def verdict(figure: Mapping[str, Any], row: Mapping[str, str]) -> str:
    """How the figure compares: met within `tolerance` of the published range, or better or worse than it."""
    value, tolerance = float(row["value"]), figure.get("tolerance", 0.0)
    low, high = published_range(figure, row)
    is_better = (value > high) == (figure["better"] == "higher") and figure["better"] != "equal"
    is_met = low - tolerance <= value <= high + tolerance
    if figure["same_data"]:
        return "met" if is_met else "better" if is_better else "**not met**"
    return f"{'within' if is_met else 'better' if is_better else 'worse'}, on other data"


def shown(value: float) -> str:
    """A number with at most four digits behind the point."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def lee_corpus(seeds: int = 3) -> tuple[float, int]:
    """How many of the 300 documents of the Lee corpus are nearest to their own inferred vector, and the seeds."""
    from gensim.test.utils import datapath
    from gensim.utils import simple_preprocess

    with open(datapath("lee_background.cor"), encoding="iso-8859-1") as lines:
        documents = [simple_preprocess(line) for line in lines]
    counts = []
    for seed in range(1, seeds + 1):
        trainer = em.ParagraphDM(dim=50, min_count=2, epochs=40, learning_rate=0.025)
        model = trainer.train(em.Corpus(documents), threads=1, seed=seed)
        inferred, own = (normalize(rows) for rows in (model.infer(documents, threads=1), model.documents.matrix))
        counts.append(int((np.argmax(inferred @ own.T, axis=1) == np.arange(len(own))).sum()))
    return float(np.mean(counts)), seeds


def fasttext_hashes() -> tuple[float, int]:
    """How many of four n-grams, some beyond ASCII, have the hash that fastText gives them."""
    count = 0
    for ngram, expected in PUBLISHED_HASHES.items():
        hashes = ngram_hashes([ngram], len(ngram), len(ngram))[1]  # of <..., the word itself, and ...>
        count += int(hashes[1]) == expected
    return count, 1


def fasttext_file() -> tuple[float, int]:
    """The largest difference between vectors of words, known and unknown, in a file of fastText, and gensim's of them.

    Without </s>, which has no n-grams in fastText but has some in gensim.
    """
    from gensim.models.fasttext import load_facebook_vectors
    from gensim.test.utils import datapath

    path = datapath("crime-and-punishment.bin")
    theirs, ours = load_facebook_vectors(path), em.load_model(path).vectors
    words = [*(word for word in ours.words if word != "</s>"), "landlady's", "преступление", "xyzzyx"]
    return max(float(np.abs(np.asarray(ours[word]) - theirs[word]).max()) for word in words), 1


def lsh_rank(bits: int, rerank: int = 0, rows: int = 10_000, dim: int = 128, queries: int = 200) -> tuple[float, int]:
    """The mean true rank of the neighbour that random hyperplanes find first, among independent normal vectors."""
    rng = np.random.default_rng(1)
    matrix, other = (normalize(rng.normal(size=(n, dim))).astype(np.float32) for n in (rows, queries))
    index = LSH(bits=bits, rerank=rerank, orthogonal=False, centre=False).build(matrix)
    best = index.search(other, 1, None)[0][:, 0]
    cosines = other @ matrix.T
    found = np.take_along_axis(cosines, best[:, None], axis=1)
    return float((1 + (cosines > found).sum(axis=1)).mean()), 1


RUNS: dict[str, Callable[..., tuple[float, int]]] = {
    one.__name__: one for one in (lee_corpus, fasttext_hashes, fasttext_file, lsh_rank)
}
