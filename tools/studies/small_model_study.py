"""Small models: size and quality of a fastText model whose tables are rounded, quantised and pruned."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from embeddings.support.plots import label_log_axis
from embeddings.support.system import size_on_disk
from studies.grid import Grid, Rows, collect, is_installed, markdown, scores

LARGE, COMPRESS = "large", "compress-fasttext"


class SmallModels(Grid):
    """Compares small copies of models with the large models, and with small copies by compress-fasttext.

    --models are NAME=PATH of models of `fasttext`, such as one for each seed. --copies are STORAGE:CUTOFF:DSUB of
    `quantize`, with CUTOFF 0 for all n-grams, or compress-fasttext:CUTOFF.
    The mean is that of all sets of --similarity and --analogy.
    """

    results = "small-models/results"
    keys = ("models", "copies")
    defaults: ClassVar = {
        "models": {},
        "copies": [
            "large",
            "codes:100000:2",
            "codes:50000:2",
            "codes:50000:3",
            "codes:20000:4",
            "int8:0:2",
        ],
        "similarity": ["simlex999"],
        "analogy": ["google-analogies"],
    }
    packages = ("numpy", "faiss-cpu")

    def measure(self, models: str, copies: str) -> Iterator[Sequence[Any]]:
        """The size, and the score of each set."""
        name, *numbers = copies.split(":")
        path = self.folder / copies.replace(":", "-")
        if name == COMPRESS:
            if not is_installed(name, "compress_fasttext"):
                return
            vectors = self.compress(self.options.models[models], int(numbers[0]), path)
        else:
            model = em.load_model(self.options.models[models])
            if name != LARGE:
                cutoff, dsub = map(int, numbers)
                model = model.quantize(cutoff or None, storage=name, dsub=dsub)
            model.save(path, force=True)
            vectors = em.load(path)
        yield "bytes", size_on_disk(path)
        sets = {"similarity": self.options.similarity, "analogy": self.options.analogy}
        for one in scores(vectors, **sets, compose=vectors.compose is not None):
            if one.restrict is None:
                yield one.set, f"{100 * one.value:.2f}"

    def compress(self, large: str, cutoff: int, path: Path) -> em.Vectors:
        """Vectors of all words of a model that compress-fasttext made small."""
        from compress_fasttext import prune_ft_freq
        from gensim.models.fasttext import load_facebook_vectors

        em.load_model(large).export(self.folder / "large.bin", format="fasttext", force=True)
        whole = load_facebook_vectors(str(self.folder / "large.bin"))
        words = whole.index_to_key
        small = prune_ft_freq(
            whole, new_vocab_size=len(words), new_ngrams_size=cutoff, pq=True, qdim=whole.vector_size // 2
        )
        small.save(str(path))
        return em.Vectors(words, small.vectors[:], compose=lambda texts: np.array([small[text] for text in texts]))

    def means(self, rows: Rows) -> dict[str, tuple[float, dict[str, float]]]:
        """The size in megabytes and the score of each set of each copy, as means over models."""
        cells = collect(rows, "copies")
        return {
            copy: (fmean(one["bytes"]) / 1e6, {name: fmean(one[name]) for name in one if name != "bytes"})
            for (copy,), one in cells.items()
        }

    def table(self, rows: Rows) -> str:
        """The rows as Markdown."""
        cells = self.means(rows)
        size, large = cells[LARGE]
        lines = []
        for copy, (one, values) in cells.items():
            change = fmean(values[name] - large[name] for name in large)
            numbers = [f"{one:.1f}", f"{size / one:.0f}", *(f"{value:.1f}" for value in values.values())]
            lines.append([copy, *numbers, f"{change:+.2f}"])
        return markdown(["copy", "MB", "factor", *large, "mean, to the large model"], lines, 1)

    def figure(self, rows: Rows) -> Any:
        """The mean of the sets against the size."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots()
        for copy, (size, values) in self.means(rows).items():
            axes.plot(size, fmean(values.values()), "s" if copy.startswith(COMPRESS) else "o", label=copy)
        axes.set(xscale="log", xlabel="megabytes", ylabel="mean of the sets, percent")
        label_log_axis(axes.xaxis)
        axes.legend(fontsize=7)
        return figure
