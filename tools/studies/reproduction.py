"""Published figures beside figures measured here, as declared in `reproduction.toml`."""

import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pandas

import embeddings as em
from embeddings.corpora.reading.compression import open_decompressed
from embeddings.corpora.reading.sources import BUILT_IN
from embeddings.errors import SettingError
from embeddings.indexes.lsh import LSH
from embeddings.plugins.sembei.ngram_vocabulary import frequent_ngrams
from embeddings.support.cosine import normalize
from embeddings.vectors.subwords import ngram_hashes
from studies.grid import Grid, Rows, markdown

ROOT = Path(__file__).parents[2] / "eval" / "results"
HEADS = ("source", "figure", "published", "here", "same data", "seeds", "verdict")
PUBLISHED_HASHES = {"команда": 1725507386, "北海道": 4096045468, "札幌": 3909947444, "mysterious": 1903186891}


def read_figures() -> dict[str, dict[str, Any]]:
    """The declared figures by name, each with what its group shares."""
    figures = {}
    for group in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["group"]:
        shared = {"better": "higher", "tolerance": 0.0, "column": "value", **group}
        for name, own in shared.pop("figures").items():
            where = shared.get("where", {}) | own.get("where", {})
            figures[name] = {**shared, **own, "name": name, "where": where}
    return figures


FIGURES = read_figures()


class Reproduction(Grid):
    """Compares published figures with figures measured here, as declared in `reproduction.toml`.

    A figure comes from a file of `eval/results` (`file`, `where`, `column`; `seeds` if a row has the mean of several),
    or from a function of this module (`run`).
    A published figure is a number, a range, or that of the original program in the same file (`program`). Remove a row
    of the file of results to measure the figure again; figures of files are always read again.
    """

    results = "reproduction/results"
    keys = ("name",)
    values = ("value", "program", "seeds")

    def cells(self) -> list[tuple[Any, ...]]:
        """The figures that a function measures."""
        return [(name,) for name, figure in FIGURES.items() if "run" in figure]

    def measure(self, name: str) -> list[tuple[str, str, int]]:
        """The figure of this package, and how many seeds it is a mean of."""
        value, seeds = RUNS[FIGURES[name]["run"]](**FIGURES[name].get("arguments", {}))
        return [(f"{value:.6g}", "", seeds)]

    def table(self, rows: Rows) -> str:
        """A line for each figure; those that could not be measured have their reason as verdict."""
        measured, lines = {row["name"]: row for row in rows}, []
        for name, figure in FIGURES.items():
            published = figure.get("published")
            if "missing" in figure:
                cells = [published, "", "", "", f"not measured: {figure['missing']}"]
            else:
                if "run" in figure:
                    value, seeds = float(measured[name]["value"]), measured[name]["seeds"]
                else:
                    values = read_values(figure, figure["where"])
                    value, seeds = fmean(values), str(figure.get("seeds", len(values)))
                if "program" in figure:
                    published = fmean(read_values(figure, figure["where"] | figure["program"]))
                limits = " to ".join(map(shown, published if isinstance(published, list) else [published]))
                same = f"no: {figure['data']}" if "data" in figure else "yes"
                cells = [limits, shown(value), same, seeds, verdict(figure, value, published)]
            lines.append([figure["source"], figure["figure"], *cells])
        return markdown(HEADS, lines)


def read_values(figure: Mapping[str, Any], where: Mapping[str, str]) -> list[float]:
    """The numbers in a column of the rows of a result file that match these patterns."""
    path = ROOT / figure["file"]
    rows = pandas.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",", dtype=str, keep_default_na=False)
    selected = [row for row in rows.to_dict("records") if all(fnmatchcase(row[key], one) for key, one in where.items())]
    if not selected:
        raise SettingError(f"{figure['name']}: {path} has no row with {dict(where)}")
    values = [float(row[figure["column"]]) for row in selected]
    return [1 - value if figure.get("complement") else value for value in values]


def verdict(figure: Mapping[str, Any], value: float, published: float | list[float]) -> str:
    """How a figure compares: met within `tolerance` of the published number or range, or better or worse than it."""
    low, high = published if isinstance(published, list) else (published, published)
    is_better = (value > high) == (figure["better"] == "higher") and figure["better"] != "equal"
    is_met = low - figure["tolerance"] <= value <= high + figure["tolerance"]
    if "data" in figure:
        return f"{'within' if is_met else 'better' if is_better else 'worse'}, on other data"
    return "met" if is_met else "better" if is_better else "**not met**"


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


def lsh_rank(bits: int, rerank: int = 1, rows: int = 10_000, dim: int = 128, queries: int = 200) -> tuple[float, int]:
    """The mean true rank of the neighbour that random hyperplanes find first, among independent normal vectors."""
    rng = np.random.default_rng(1)
    matrix, other = (normalize(rng.normal(size=(n, dim))).astype(np.float32) for n in (rows, queries))
    index = LSH(bits=bits, rerank=rerank, orthogonal=False, centre=False).build(matrix)
    best = index.search(other, 1, None)[0][:, 0]
    cosines = other @ matrix.T
    found = np.take_along_axis(cosines, best[:, None], axis=1)
    return float((1 + (cosines > found).sum(axis=1)).mean()), 1


def sembei_counts(characters: int = 1_000_000) -> tuple[float, int]:
    """How many n-grams of the start of the sample are counted as naively, less n-grams that are only counted here."""
    with open_decompressed(BUILT_IN["sample"]) as file:
        lines = file.read().decode()[:characters].lower().splitlines(keepends=True)
    with em.Corpus(lines, tokenizer="codepoints").encode() as encoded:
        vocabulary = frequent_ngrams(encoded, max_n=4, min_count=5).vocabulary
    parts = (part for line in lines for part in line.split())
    naive = Counter(
        part[at : at + n] for part in parts for at in range(len(part)) for n in range(1, min(4, len(part) - at) + 1)
    )
    expected = {ngram: count for ngram, count in naive.items() if count >= 5}
    found = dict(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True))
    return len(found.items() & expected.items()) - len(found.keys() - expected.keys()), 1


RUNS: dict[str, Callable[..., tuple[float, int]]] = {
    one.__name__: one for one in (lee_corpus, fasttext_hashes, fasttext_file, lsh_rank, sembei_counts)
}
