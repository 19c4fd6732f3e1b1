"""Objectives of each model, and GloVe, next to other programs on the beginning of a text."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.util import find_spec
from itertools import islice, product
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

import embeddings as em
from embeddings import registry
from embeddings.errors import SettingError
from embeddings.eval.benchmark.job import Job, ModelConfig
from embeddings.eval.benchmark.peers import Clock, run_gensim
from studies.grid import Grid, Rows, iter_words, mean_and_spread, pivot, run_command, scores, timed

MODELS = ("skipgram", "cbow", "structured-skipgram", "continuous-window", "paragraph-dbow", "paragraph-dm")
FULL = "full-softmax"
OBJECTIVES: dict[str, dict[str, Any]] = {  # our settings of each
    "negative-sampling": {},
    "nce": {"objective": "nce"},
    "nce --nce-normalizer trained": {"objective": "nce", "nce_normalizer": "trained"},
    "sampled-softmax": {"objective": "sampled-softmax"},
    "sampled-softmax --proposals log-uniform": {"objective": "sampled-softmax", "proposals": "log-uniform"},
    "hierarchical-softmax": {"objective": "hierarchical-softmax"},
    "hierarchical-softmax --tree clusters": {"objective": "hierarchical-softmax", "tree": "clusters"},
    "adaptive-softmax": {"objective": "adaptive-softmax"},
    FULL: {"objective": FULL},
}
PEER_MODELS, PEER_OBJECTIVES = ("skipgram", "cbow"), ("negative-sampling", "hierarchical-softmax")
OURS, GENSIM, WORD2VEC = "embeddings", "gensim", "word2vec.c"
SECONDS, PERPLEXITY, REFUSED = "CPU seconds", "perplexity", "refused"
WORDS_PER_LINE = 1000  # which is a document of paragraph vectors
GLOVE: dict[str, Any] = {"min_count": 5, "window": 15, "x_max": 10.0, "learning_rate": 0.05}
ORIGINAL = """set -e
cd '{folder}'
'{programs}'/vocab_count -min-count {min_count} < text.txt > words.txt
'{programs}'/cooccur -vocab-file words.txt -window-size {window} -overflow-file overflow < text.txt > counts.bin
'{programs}'/shuffle -temp-file part -memory 1.0 < counts.bin > shuffled.bin
'{programs}'/glove -input-file shuffled.bin -vocab-file words.txt -save-file vectors -binary 0 -threads 1 \\
    -vector-size {dim} -iter {epochs} -x-max {x_max} -eta {learning_rate}
grep -v '^<unk> ' vectors.txt > vectors.glove
"""


class Objectives(Grid):
    """Compares the objectives of each model: training time, quality of the vectors and perplexity, beside other tools.

    All learn from the first --words of --corpus, with the objective full-softmax from the first --full-words. The
    perplexity is that of the first --heldout-words of --heldout, by default of the words that follow. --word2vec is the
    compiled word2vec.c; a tool that is not installed is left out.
    """

    results = "objectives/results"
    keys = ("model", "objective", "tool", "seed", "words", "epochs")
    defaults: ClassVar = {
        "corpus": str, "words": 1_500_000, "full_words": 100_000, "heldout": None, "heldout_words": 10_000, "epochs": 3,
        "seed": [1], "similarity": [], "analogy": [], "model": [*MODELS], "objective": [*OBJECTIVES],
        "tool": [OURS, GENSIM, WORD2VEC], "word2vec": None,
    }  # fmt: skip
    notes = """
- Scores are Spearman's correlations and accuracies in percent, means over the seeds; ± half the range of the seeds.
- CPU seconds are those of training alone, on one thread, without reading the text; the fastest seed. Those of
  word2vec.c include its table of random words with negative sampling.
- `full-softmax` is trained on fewer words where the column says so: its scores and perplexity are those of that text.
- Perplexities of different models cannot be compared, see `docs/words/objectives.md`.
- Measured on {processor}.
"""

    def cells(self) -> Iterable[tuple[Any, ...]]:
        """All combinations, a whole seed after the other."""
        options = self.options
        is_there = {OURS: True, GENSIM: find_spec("gensim") is not None, WORD2VEC: options.word2vec is not None}
        for seed, tool, model, objective in product(options.seed, options.tool, options.model, options.objective):
            is_offered = tool == OURS or (model in PEER_MODELS and objective in PEER_OBJECTIVES)
            if is_there[tool] and is_offered:
                yield model, objective, tool, seed, self.words_of(objective), options.epochs

    def words_of(self, objective: str) -> int:
        """How many words an objective learns from."""
        return self.options.full_words if objective == FULL else self.options.words

    def prepare(self) -> None:
        """Write the beginnings of the corpus, and the held-out text."""
        options = self.options
        for size in {self.words_of(objective) for objective in options.objective}:
            write_lines(self.folder / f"{size}.txt", islice(iter_words(options.corpus), size))
        first = 0 if options.heldout else options.words
        words = islice(iter_words(options.heldout or options.corpus), first, first + options.heldout_words)
        if not write_lines(self.folder / "heldout.txt", words):
            message = f"{options.corpus} has no words after the first {options.words}: reduce --words or give --heldout"
            raise SettingError(message)

    def measure(
        self, model: str, objective: str, tool: str, seed: int, words: int, epochs: int
    ) -> Iterable[Sequence[Any]]:
        """The CPU seconds of training, scores in percent and the perplexity, or why the objective is refused."""
        train = {OURS: train_ours, GENSIM: train_gensim, WORD2VEC: self.train_word2vec}[tool]
        try:
            settings = {"epochs": epochs, **OBJECTIVES[objective]}
            seconds, source = train(model, settings, str(self.folder / f"{words}.txt"), seed)
        except SettingError as error:
            yield REFUSED, str(error)
            return
        yield SECONDS, seconds
        sets = {"similarity": self.options.similarity, "analogy": self.options.analogy}
        yield from percentages(source, **sets)
        with suppress(SettingError):  # it defines no probabilities
            for one in em.evaluate(source, name="", perplexity=str(self.folder / "heldout.txt"))[1:]:
                yield one.measure, round(one.value, 4)

    def train_word2vec(self, model: str, settings: dict[str, Any], text: str, seed: int) -> tuple[float, Any]:
        """The CPU seconds and vectors of word2vec.c, less the seconds of a run that only counts words."""
        own = model_config(model, settings).settings
        is_tree = own.get("objective") == "hierarchical-softmax"
        with_names = {
            "cbow": int(model == "cbow"), "hs": int(is_tree), "negative": 0 if is_tree else own["negatives"],
            "size": own["dim"], "window": own["window"], "sample": own["subsample"], "alpha": own["learning_rate"],
            "iter": own["epochs"], "binary": 1, "output": Path(f"{text}.bin"),
        }  # fmt: skip
        command = [self.options.word2vec, "-train", text, "-threads", "1", "-min-count", own["min_count"]]
        counting = run_command([*command, "-save-vocab", f"{text}.vocabulary"]).cpu
        seconds = run_command([*command, *(part for name, one in with_names.items() for part in (f"-{name}", one))]).cpu
        return seconds - counting, em.load(with_names["output"])

    def table(self, rows: Rows) -> str:
        """A row for each model, objective and tool, and the refused combinations."""
        order = [*MODELS, *OBJECTIVES]
        rows = sorted(rows, key=lambda row: (order.index(row["model"]), order.index(row["objective"]), row["tool"]))
        sets = dict.fromkeys(row["measure"] for row in rows if row["measure"] not in (SECONDS, PERPLEXITY, REFUSED))
        columns = {SECONDS: (min, ".1f"), **dict.fromkeys(sets, (mean_and_spread, "")), PERPLEXITY: (fmean, ".0f")}
        measured = [row for row in rows if row["measure"] != REFUSED]
        text = pivot(measured, ("model", "objective", "tool", "words", "epochs"), columns)
        refused = {
            f"- {row['model']} with {row['objective']}: {row['value']}\n": 0
            for row in rows
            if row["measure"] == REFUSED
        }
        return text + ("\nRefused combinations:\n\n" + "".join(refused) if refused else "")


class Glove(Grid):
    """Compares GloVe with the original programs (Pennington, Socher and Manning 2014) on the first --words of --corpus.

    --programs is the folder with the compiled programs vocab_count, cooccur, shuffle and glove. Both sides have the
    settings of the demonstration of the original, and one thread.
    """

    results = "glove"
    keys = ("tool", "seed", "words", "dim", "epochs")
    defaults: ClassVar = {"corpus": str, "programs": str, "words": 1_000_000, "dim": 50, "epochs": 15, "seed": [1]}

    def cells(self) -> Iterable[tuple[Any, ...]]:
        """The original, which has no seed, and GloVe with each seed."""
        for tool, seed in [("original", 1), *product([OURS], self.options.seed)]:
            yield tool, seed, self.options.words, self.options.dim, self.options.epochs

    def prepare(self) -> None:
        """Write the beginning of the corpus."""
        write_lines(self.folder / "text.txt", islice(iter_words(self.options.corpus), self.options.words))

    def measure(self, tool: str, seed: int, words: int, dim: int, epochs: int) -> Iterable[Sequence[Any]]:
        """Spearman's correlation and the accuracy of analogies."""
        if tool == OURS:
            vectors = em.train("glove", self.folder / "text.txt", threads=1, seed=seed, dim=dim, epochs=epochs, **GLOVE)
        else:
            vectors = self.train_original(dim, epochs)
        return percentages(vectors, similarity=["wordsim353"], analogy=["google-analogies"])

    def train_original(self, dim: int, epochs: int) -> em.Vectors:
        """The vectors of the original programs."""
        values = {"dim": dim, "epochs": epochs, "programs": Path(self.options.programs).absolute(), **GLOVE}
        run_command(["sh", "-c", ORIGINAL.format(folder=self.folder, **values)])
        return em.load(self.folder / "vectors.glove")

    def table(self, rows: Rows) -> str:
        """The means over the seeds by tool."""
        return pivot(rows, ("tool",), dict.fromkeys((row["measure"] for row in rows), (mean_and_spread, "")))


def write_lines(path: Path, words: Iterator[str]) -> int:
    """Write words in lines of `WORDS_PER_LINE`; returns the size of the file."""
    with path.open("w", encoding="utf-8") as file:
        while line := list(islice(words, WORDS_PER_LINE)):
            file.write(" ".join(line) + "\n")
    return path.stat().st_size


def percentages(source: em.Vectors | em.Model, **sets: list[str]) -> Iterator[tuple[str, float]]:
    """Spearman's correlations and accuracies in percent, among the 30,000 most frequent words."""
    if any(sets.values()):
        restrict = {"restrict": 30_000} if sets["analogy"] else {}
        yield from ((one.set, round(100 * (one.value or 0), 4)) for one in scores(source, **sets, **restrict))


def train_ours(model: str, settings: dict[str, Any], text: str, seed: int) -> tuple[float, Any]:
    """Our CPU seconds and model: kernels are compiled and the text is encoded beforehand."""
    em.train(model, ["a b c d e f"] * 50, threads=1, **{**settings, "epochs": 1, "min_count": 1, "dim": 8})
    corpus = em.Corpus(text)
    corpus.encode()
    trained: list[Any] = []
    seconds = timed(lambda: trained.append(em.train(model, corpus, threads=1, seed=seed, **settings)))
    return seconds["CPU s"], trained[0]


def train_gensim(model: str, settings: dict[str, Any], text: str, seed: int) -> tuple[float, Any]:
    """The CPU seconds and vectors of gensim with the same settings."""
    clock, out = Clock(), f"{text}.gensim.bin"
    run_gensim(Job(model_config(model, settings), seed, text, out), clock)
    return clock.training["cpu"], em.load(out)


def model_config(model: str, settings: dict[str, Any]) -> ModelConfig:
    """The configuration of a trainer for other tools."""
    return ModelConfig(model, asdict(registry.create("trainer", model, settings)), 1)
