"""Compares text vectors by what they learned from and how they are pooled: rated pairs of sentences, and retrieval.

python tools/text_pair_study.py run RESULTS.tsv --corpus FILE --ratings-train FILE --ratings FILE...
    [--held-out N] [--seed N...] [--training NAME...] [--dim N] [--epochs N] [--pair-epochs N] [--temperature X]
    [--optimizer NAME] [--pair-learning-rate X] [--token-weights NAME] [--word-dropout X] [--min-n N] [--max-n N]
python tools/text_pair_study.py table RESULTS.tsv

`--corpus` has a title, then a paragraph a line, and a blank line after each article; every n-th article is held out,
N in total: nothing learns from them, and retrieval asks for them, among all articles. `--ratings` are tables of two
texts and a rating to evaluate on, `--ratings-train` one to learn from. `run` adds rows to the file, skips what it
holds, and writes the tables of `table` next to it, RESULTS.md. Give several of an option by repeating it.
"""

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import Any

import numpy as np
from retrieval_articles import TASKS, make_query, read_articles, write_task
from study_rows import append_rows, read_rows

import embeddings as em
from embeddings.corpora.pair_encoding import PairFormat
from embeddings.eval.machine import processor
from embeddings.vectors.word_weights import word_weights

SKIPGRAM, NONE, RATINGS = "skip-gram", "random rows", "rated pairs"
SAME_PAIRS, HARD_NEGATIVES = "some of the same pairs", "the same with hard negatives"
SENTENCES, ALL_PAIRS = "neighbouring sentences", "neighbouring sentences and paragraphs, first sentences, titles"
PAIR_KINDS = {SENTENCES: "neighbouring-sentences", ALL_PAIRS: "title-body,neighbours,first-sentence"}
TRAININGS = {  # what each learns from, one after the other
    "skip-gram": (SKIPGRAM,),
    "skip-gram, then neighbouring sentences": (SKIPGRAM, SENTENCES),
    "skip-gram, then all pairs": (SKIPGRAM, ALL_PAIRS),
    "all pairs": (NONE, ALL_PAIRS),
    "skip-gram, then rated pairs": (SKIPGRAM, RATINGS),
    "skip-gram, then all pairs, then rated pairs": (SKIPGRAM, ALL_PAIRS, RATINGS),
    "skip-gram, then all pairs, then some of them again": (SKIPGRAM, ALL_PAIRS, SAME_PAIRS),
    "skip-gram, then all pairs, then some with hard negatives": (SKIPGRAM, ALL_PAIRS, HARD_NEGATIVES),
}
POOLS: dict[str, dict[str, Any]] = {
    "mean": {},
    "SIF": {"pool": "sif"},
    "mean - 1": {"remove_components": 1},
    "SIF - 1": {"pool": "sif", "remove_components": 1},
}
COLUMNS = ("training", "seed", "set", "pool", "measure", "value")
SECONDS = "CPU seconds"
PAIR_OPTIONS = ("temperature", "optimizer", "token_weights", "word_dropout", "min_n", "max_n")
RATING_SETTINGS = {"objective": "cosent", "temperature": 0.3, "batch_size": 128, "learning_rate": 0.004, "epochs": 10}
AGAIN_PAIRS = 60_000
AGAIN_SETTINGS = {"learning_rate": 0.02, "epochs": 2}
NOTES = """
- "All pairs" are also those of first sentences of paragraphs with the rest of them, and of titles with paragraphs.
  Rated pairs are learned with the objective `cosent`, all others with `in-batch-negatives`.
- `mean - 1` and `SIF - 1` are the mean and SIF less the first component, which is learned from the first paragraphs of
  the training text (`--fit-on`). Values are in percent, means over the seeds; ± half the range of the seeds.
- CPU seconds are those of all steps of training, without reading the text; the fastest seed.
"""
AGAIN_NOTE = """- Pairs that are learned again are 60,000 random ones, for 2 epochs. Hard negatives are the nearest
  texts of others of these pairs (`em.mine_negatives`), whose search is not in the CPU seconds.
"""


@dataclass(frozen=True)
class Study:
    """What is trained and evaluated, and a folder for files."""

    options: argparse.Namespace
    folder: Path

    @cached_property
    def text(self) -> Path:
        """The corpus without the articles that are held out; writes these as retrieval sets."""
        articles = list(read_articles(self.options.corpus))
        step = len(articles) // self.options.held_out if self.options.held_out else 0
        numbers = set(range(0, len(articles), step)[: self.options.held_out]) if step else set()
        path = self.folder / "text.txt"
        kept = (article for number, article in enumerate(articles) if number not in numbers)
        path.write_text("\n".join("\n".join(article) + "\n" for article in kept), encoding="utf-8")
        for task in TASKS if numbers else ():
            pairs = [(number in numbers, make_query(task, article)) for number, article in enumerate(articles)]
            write_task(self.folder / task, [(is_asked, *pair) for is_asked, pair in pairs if pair is not None])
        return path

    @cached_property
    def retrieval(self) -> dict[str, list[Path]]:
        """The files of each retrieval set; none without held-out articles."""
        assert self.text.exists()
        files = ("queries.jsonl", "corpus.jsonl", "qrels.tsv")
        return {task: [self.folder / task / file for file in files] for task in TASKS if (self.folder / task).exists()}

    def train(self, step: str, model: em.Model | None, seed: int) -> tuple[em.Model, float]:
        """The model after a step of training that started from another one, and the CPU seconds of this step."""
        options = self.options
        run: dict[str, Any] = {"threads": options.threads, "seed": seed}
        if step == SKIPGRAM:
            trainer = {"dim": options.dim, "epochs": options.epochs, "learning_rate": 0.05}
            return timed(lambda: em.train("skipgram", em.Corpus(self.text), **trainer, **run), em.Corpus(self.text))
        if step in (SAME_PAIRS, HARD_NEGATIVES):
            assert model is not None
            corpus = em.Corpus(self.some_pairs(model, step, seed), pairs=PairFormat())
            again = {"temperature": options.temperature, "word_dropout": options.word_dropout, **AGAIN_SETTINGS}
            return timed(lambda: em.continue_training(model, corpus, **again, **run), corpus)
        if step == RATINGS:
            corpus = self.pair_corpus(options.ratings_train, PairFormat(), model)
            settings = RATING_SETTINGS | {"optimizer": "adam", "word_dropout": 0.0}
        else:
            corpus = self.pair_corpus(self.text, PairFormat(PAIR_KINDS[step]), model)
            settings = {"epochs": options.pair_epochs, "learning_rate": options.pair_learning_rate}
            settings |= {name: getattr(options, name) for name in PAIR_OPTIONS}
        if model is not None and model.name == "text-pairs":
            return timed(lambda: em.continue_training(model, corpus, **settings, **run), corpus)
        start = {} if model is None else {"init": em.InitFrom(sif_rows(model))}
        settings = {"dim": options.dim, **settings}
        return timed(lambda: em.train("text-pairs", corpus, **settings, **start, **run), corpus)

    def some_pairs(self, model: em.Model, step: str, seed: int) -> list[Any]:
        """A random sample of all pairs, or triplets of them and hard negatives that a model mines in the sample."""
        batches = em.TextPairs(self.text, kinds=PAIR_KINDS[ALL_PAIRS].split(","))
        pairs = [pair for batch in batches for pair in zip(batch.left, batch.right, strict=True)]
        places = np.random.default_rng(seed).permutation(len(pairs))[:AGAIN_PAIRS]
        sample = [pairs[place] for place in places.tolist()]
        return list(em.mine_negatives(model, sample)) if step == HARD_NEGATIVES else sample

    def pair_corpus(self, source: Path, pairs: PairFormat, model: em.Model | None) -> em.Corpus:
        """Pairs with the words of a model."""
        words = {} if model is None or model.name == "text-pairs" else {"vocabulary": model.vocabulary}
        return em.Corpus(source, pairs=pairs, **words)

    def scores(self, model: em.Model) -> Iterator[tuple[str, str, str, float]]:
        """The set, the way of pooling, the measure and the value of all scores of a model."""
        sets = {"pairs": self.options.ratings, "retrieval": list(self.retrieval.values())}
        for pool, settings in POOLS.items():
            fit = {"fit_on": self.text} if "remove_components" in settings else {}
            for result in em.evaluate(model, name="", **sets, **settings, **fit):
                if result.measure in ("spearman", "recall@10", "mrr@10") and result.value is not None:
                    yield result.set, pool, result.measure, 100 * result.value


def timed(train: Any, corpus: em.Corpus) -> tuple[em.Model, float]:
    """The result of a training, and its CPU seconds after the text is encoded."""
    corpus.encode()
    start = process_time()
    return train(), process_time() - start


def sif_rows(model: em.Model) -> em.Vectors:
    """The vectors of a model times their SIF weights, which the mean then has; other trained rows as they are."""
    vectors = model.vectors
    weights = word_weights(vectors.words, model.vocabulary, "sif", 1e-3)
    return em.Vectors(vectors.words, vectors.matrix * weights[:, None].astype("f4"), counts=vectors.counts)


def run(path: Path, options: argparse.Namespace) -> None:
    """Train and score what the file does not hold yet, and write the tables."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = {(row["training"], row["seed"]) for row in read_rows(path)} if path.exists() else set()
    with tempfile.TemporaryDirectory() as folder:
        study = Study(options, Path(folder))
        for seed in options.seed or [1]:
            models: dict[tuple[str, ...], tuple[em.Model | None, float]] = {(): (None, 0.0), (NONE,): (None, 0.0)}
            for name in options.training or TRAININGS:
                if (name, str(seed)) in done:
                    continue
                steps = TRAININGS[name]
                for end in range(1, len(steps) + 1):
                    if steps[:end] not in models:
                        start, before = models[steps[: end - 1]]
                        model, seconds = study.train(steps[end - 1], start, seed)
                        models[steps[:end]] = model, before + seconds
                trained, seconds = models[steps]
                assert trained is not None
                rows = [[name, seed, "", "", SECONDS, f"{seconds:.1f}"]]
                rows += [[name, seed, *one[:3], f"{one[3]:.3f}"] for one in study.scores(trained)]
                append_rows(path, COLUMNS, rows)
                sys.stderr.write(f"{name}, seed {seed}: {seconds:.0f} CPU seconds\n")
    if path.exists():
        path.with_suffix(".md").write_text(table(path), encoding="utf-8")


def table(path: Path) -> str:
    """The results as Markdown: rated pairs by training and pooling, then retrieval."""
    values: dict[tuple[str, str, str, str], list[float]] = defaultdict(list)
    for row in read_rows(path):
        values[row["training"], row["set"], row["pool"], row["measure"]].append(float(row["value"]))
    sections = [
        ("Spearman's correlation with ratings", "spearman"),
        ("Recall at 10, of held-out articles among all", "recall@10"),
    ]
    parts = [section for title, measure in sections if (section := measure_table(title, measure, values))]
    legend = "".join(f"- `{task}`: {text}.\n" for task, text in TASKS.items() if any(key[1] == task for key in values))
    is_again = any(key[0] in TRAININGS and {SAME_PAIRS, HARD_NEGATIVES} & {*TRAININGS[key[0]]} for key in values)
    notes = NOTES + AGAIN_NOTE if is_again else NOTES
    return "\n".join(parts) + notes + legend + f"- Measured on {processor()}.\n"


def measure_table(title: str, measure: str, values: dict[tuple[str, str, str, str], list[float]]) -> str:
    """A table with a row for each training and a column for each set and way of pooling; "" without values."""
    found = list(dict.fromkeys((key[1], key[2]) for key in values if key[3] == measure))
    if not found:
        return ""
    columns = [column for name in dict.fromkeys(name for name, _ in found) for column in found if column[0] == name]
    trainings = [name for name in TRAININGS if any(key[0] == name for key in values)]
    heads = ["learned from", *(f"{name}, {pool}" for name, pool in columns), SECONDS]
    lines = [f"{title}:", "", f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    for name in trainings:
        cells = [format_values(values.get((name, *column, measure), [])) for column in columns]
        seconds = values.get((name, "", "", SECONDS), [])
        lines.append(f"| {' | '.join([name, *cells, f'{min(seconds):.0f}' if seconds else ''])} |")
    return "\n".join(lines) + "\n"


def format_values(values: Sequence[float]) -> str:
    """The values of the seeds in one cell; empty if there are none."""
    spread = f" ± {(max(values) - min(values)) / 2:.1f}" if len(values) > 1 else ""
    return f"{fmean(values):.1f}{spread}" if values else ""


def main(arguments: Sequence[str]) -> None:
    """Run the study, or write its tables to standard output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table"])
    for name in ("results", "--corpus", "--ratings-train"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--ratings", action="append", type=Path, default=[])
    parser.add_argument("--training", action="append", choices=list(TRAININGS))
    sizes = {"held-out": 500, "dim": 256, "epochs": 5, "pair-epochs": 3, "min-n": 4, "max-n": 5, "threads": None}
    for name, size in (sizes | {"temperature": 0.03, "word-dropout": 0.2, "pair-learning-rate": 0.05}).items():
        parser.add_argument(f"--{name}", type=float if isinstance(size, float) else int, default=size)
    for name, choices in {"optimizer": ["adagrad", "adam"], "token-weights": ["none", "ones", "sif"]}.items():
        parser.add_argument(f"--{name}", choices=choices, default=choices[0])
    parser.add_argument("--seed", action="append", type=int)
    options = parser.parse_args(arguments)
    if options.command == "table":
        sys.stdout.write(table(options.results))
    elif None in (options.corpus, options.ratings_train) or not options.ratings:
        parser.error("run requires --corpus, --ratings-train and --ratings")
    else:
        run(options.results, options)


if __name__ == "__main__":
    main(sys.argv[1:])
