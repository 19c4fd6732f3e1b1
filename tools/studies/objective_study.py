"""Objectives of each model, next to other programs on the beginning of a text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import islice, product
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

import embeddings as em
from embeddings import registry
from embeddings.corpora.reading.compression import open_decompressed
from embeddings.errors import SettingError
from embeddings.eval.benchmark.tools import Job, ModelConfig, find_tool
from embeddings.eval.benchmark.workspace import CommandError, Workspace
from studies.grid import Grid, Rows, mean_and_spread, pivot, scores, timed

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
PEER_MODELS, OURS = ("skipgram", "cbow"), "embeddings"
SECONDS, PERPLEXITY, REFUSED = "CPU seconds", "perplexity", "refused"
WORDS_PER_LINE = 1000  # which is a document of paragraph vectors


class Objectives(Grid):
    """Compares the objectives of each model: training time, quality of the vectors and perplexity, beside other tools.

    All learn from the first --words of --corpus, with the objective full-softmax from the first --full-words. The
    perplexity is that of the first --heldout-words of --heldout, by default of the words that follow. A --peer is
    gensim or the description of another program, as for `embeddings benchmark`.
    """

    results = "objectives/results"
    keys = ("model", "objective", "tool", "seed", "words", "epochs")
    defaults: ClassVar = {
        "corpus": str, "words": 1_500_000, "full_words": 100_000, "heldout": None, "heldout_words": 10_000, "epochs": 3,
        "seed": [1], "similarity": [], "analogy": [], "model": [*MODELS], "objective": [*OBJECTIVES],
        "peer": [],
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
        self.peers = {peer.name: peer for peer in map(find_tool, options.peer)}
        tools = (OURS, *self.peers)
        for seed, tool, model, objective in product(options.seed, tools, options.model, options.objective):
            is_offered = model in PEER_MODELS and objective in (self.peers[tool].objectives if tool != OURS else ())
            if tool == OURS or is_offered:
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
        options, settings = self.options, {"epochs": epochs, **OBJECTIVES[objective]}
        try:
            seconds, source = self.train(model, settings, tool, str(self.folder / f"{words}.txt"), seed)
        except (SettingError, CommandError) as error:
            yield REFUSED, str(error)
            return
        yield SECONDS, seconds
        if options.similarity or options.analogy:  # among the 30,000 most frequent words
            sets = {"similarity": options.similarity, "analogy": options.analogy}
            for one in scores(source, **sets, **({"restrict": 30_000} if options.analogy else {})):
                yield one.set, round(100 * (one.value or 0), 4)
        with suppress(SettingError):  # it defines no probabilities
            for one in em.evaluate(source, name="", perplexity=str(self.folder / "heldout.txt"))[1:]:
                yield one.measure, round(one.value, 4)

    def train(self, model: str, settings: dict[str, Any], tool: str, text: str, seed: int) -> tuple[float, Any]:
        """The CPU seconds and the vectors of a tool; our kernels are compiled and the text is encoded beforehand."""
        if tool != OURS:
            config = ModelConfig(model, asdict(registry.create("trainer", model, settings)), 1)
            job = Job(config, seed, text, f"{text}.bin")
            row = Workspace(self.folder, self.options.words).measure(self.peers[tool], job)
            return row["training_cpu"], em.load(job.out_path)
        em.train(model, ["a b c d e f"] * 50, threads=1, **{**settings, "epochs": 1, "min_count": 1, "dim": 8})
        corpus = em.Corpus(text)
        corpus.encode()
        trained: list[Any] = []
        seconds = timed(lambda: trained.append(em.train(model, corpus, threads=1, seed=seed, **settings)))
        return seconds["CPU s"], trained[0]

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


def iter_words(path: str) -> Iterator[str]:
    """The words of a text, which may be compressed."""
    with open_decompressed(Path(path)) as file:
        text = file.read().decode("utf-8", "replace")
    return (match[0] for match in re.finditer(r"\S+", text))


def write_lines(path: Path, words: Iterator[str]) -> int:
    """Write words in lines of `WORDS_PER_LINE`; returns the size of the file."""
    with path.open("w", encoding="utf-8") as file:
        while line := list(islice(words, WORDS_PER_LINE)):
            file.write(" ".join(line) + "\n")
    return path.stat().st_size
