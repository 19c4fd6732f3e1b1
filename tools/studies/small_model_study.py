"""Small models: size and quality of a fastText model whose tables are rounded, quantised and pruned."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from embeddings.support.plots import label_log_axis
from embeddings.support.system import size_on_disk
from studies.grid import Grid, Rows, collect, is_installed, markdown, mean_and_spread, scores

LARGE, COMPRESS, HASHES, FLORET = "large", "compress-fasttext", "hashes", "floret"


class SmallModels(Grid):
    """Compares small copies of models with the large models, and with small models of other programs and settings.

    --models are NAME=PATH of models of `fasttext`, such as one for each seed. --copies are STORAGE:CUTOFF:DSUB of
    `quantize`, with CUTOFF 0 for all n-grams; compress-fasttext:CUTOFF; or models that are trained on --text with the
    settings and the seed of the large model: hashes:BUCKETS with two rows for each n-gram, or floret:BUCKETS.
    The mean is that of all sets of --similarity and --analogy.
    """

    results = "small-models/results"
    keys = ("models", "copies")
    defaults: ClassVar = {
        "models": {},
        "text": "",
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
    packages = ("numpy", "faiss-cpu", "compress-fasttext", "floret")

    def cells(self) -> Iterator[tuple[Any, ...]]:
        """All copies of all models; floret, which has no option of a seed, once."""
        first, *_ = [*self.options.models, ""]
        for models, copies in super().cells():
            if models == first or not copies.startswith(FLORET):
                yield models, copies

    def measure(self, models: str, copies: str) -> Iterator[Sequence[Any]]:
        """The size, and the score of each set."""
        name, *numbers = copies.split(":")
        path = self.folder / copies.replace(":", "-")
        large = self.options.models[models]
        if name in (COMPRESS, FLORET):
            if not is_installed(name, name.replace("-", "_")):
                return
            vectors = (self.compress if name == COMPRESS else self.floret)(large, int(numbers[0]), path)
        else:
            model = em.load_model(large)
            if name == HASHES:
                settings = {"buckets": int(numbers[0]), "hashes": 2, "seed": model.record["seed"], "threads": 1}
                model = em.train("fasttext", self.options.text, **{**model.settings, **settings})
            elif name != LARGE:
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

    def floret(self, large: str, buckets: int, path: Path) -> em.Vectors:
        """Vectors of the words of a model, by floret, which stores rows of n-grams only.

        The text is the words that the model learned from, separated by spaces, in lines.
        """
        import floret

        model = em.load_model(large)
        words, settings = self.folder / "words.txt", model.settings
        if not words.exists():
            with em.Corpus(self.options.text).encode() as encoded, words.open("w", encoding="utf-8") as file:
                tokens = np.array(encoded.vocabulary.words, object)
                for first, last in pairwise(encoded.sentences.tolist()):
                    file.write(" ".join(tokens[encoded.ids[first:last]]) + "\n")
        trained = floret.train_unsupervised(
            str(words), model="skipgram", mode="floret", hashCount=2, bucket=buckets, thread=1,
            dim=settings["dim"], epoch=settings["epochs"], lr=settings["learning_rate"], ws=settings["window"],
            neg=settings["negatives"], minCount=settings["min_count"], t=settings["subsample"],
            minn=settings["min_n"], maxn=settings["max_n"], verbose=0,
        )  # fmt: skip
        with path.open("wb") as file:
            np.save(file, trained.get_input_matrix())  # floret itself writes text, which is larger
        find = trained.get_word_vector
        return em.Vectors(
            model.vectors.words, np.array([find(word) for word in model.vectors.words]),
            compose=lambda texts: np.array([find(text) for text in texts]),
        )  # fmt: skip

    def means(self, rows: Rows) -> dict[str, tuple[float, dict[str, list[float]], list[float]]]:
        """The size in megabytes of each copy, the scores of each set, and the means of all sets, model by model."""
        cells = collect(rows, "copies")
        sizes = {copy: fmean(one.pop("bytes")) / 1e6 for (copy,), one in cells.items()}
        return {
            copy: (sizes[copy], one, [*map(fmean, zip(*one.values(), strict=True))]) for (copy,), one in cells.items()
        }

    def table(self, rows: Rows) -> str:
        """The rows as Markdown: means over models, ± half the range."""
        cells = self.means(rows)
        size, large, of_large = cells[LARGE]
        lines = []
        for copy, (one, sets, own) in cells.items():
            changes = [mean - other for mean, other in zip(own, of_large, strict=False)]
            numbers = [
                f"{one:.1f}",
                f"{size / one:.0f}",
                str(len(own)),
                *(mean_and_spread(sets[name]) for name in large),
            ]
            lines.append([copy, *numbers, mean_and_spread(changes)])
        return markdown(["copy", "MB", "factor", "models", *large, "mean, to the large model"], lines, 1)

    def figure(self, rows: Rows) -> Any:
        """The mean of the sets against the size."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots()
        for copy, (size, _, means) in self.means(rows).items():
            mean = fmean(means)
            reach = [[mean - min(means)], [max(means) - mean]]
            mark = {COMPRESS: "s", FLORET: "^", HASHES: "v"}.get(copy.partition(":")[0], "o")
            axes.errorbar(size, mean, reach, fmt=mark, capsize=2, label=copy)
        axes.set(xscale="log", xlabel="megabytes", ylabel="mean of the sets, percent")
        label_log_axis(axes.xaxis)
        axes.legend(fontsize=7)
        return figure
