"""Text vectors by what they learned from and how they are pooled: rated pairs of sentences, retrieval, loss curves."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_softmax

import embeddings as em
from embeddings.corpora.reading.compression import open_decompressed
from embeddings.corpora.reading.text_pairs import is_long, split_sentences
from embeddings.errors import SettingError
from embeddings.support.cosine import normalize_rows
from embeddings.training.run_log import HELD_OUT_LOSS, draw_loss_curve
from embeddings.vectors.pooling import word_weights
from studies.grid import Grid, Rows, Study, beside, log, mean_and_spread, pivot, scores

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
SECONDS = "CPU seconds"
SECTIONS = {
    "spearman": "Spearman's correlation with ratings",
    "recall@10": "Recall at 10, of held-out articles among all",
}
PAIR_OPTIONS = ("temperature", "optimizer", "token_weights", "word_dropout", "min_n", "max_n")
RATING_SETTINGS = {"objective": "cosent", "temperature": 0.3, "batch_size": 128, "learning_rate": 0.004, "epochs": 10}
AGAIN_PAIRS = 60_000
AGAIN_SETTINGS = {"learning_rate": 0.02, "epochs": 2}
TASKS, FILES = ("title", "title-words", "sentence"), ("queries.jsonl", "corpus.jsonl", "qrels.tsv")
WORD = re.compile(r"\w+")
GUIDED = "guided negatives"
PAIR_TRAININGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "--sides map": {"sides": "map"},
    "--sides tables": {"sides": "tables"},
    GUIDED: {},
    "--token-weights ones": {"token_weights": "ones"},
    "--token-weights sif": {"token_weights": "sif"},
    **{f"--batch-size {size}": {"batch_size": size} for size in (256, 4096, 16384)},
}
BATCH, TEMPERATURE = 1024, 0.03  # of pairs of the objective, its defaults


class TextPairs(Grid):
    """Compares text vectors by what they learned from and how they are pooled: rated pairs of sentences, and retrieval.

    --corpus has a title, then a paragraph a line, and a blank line after each article. Every n-th article is held out,
    --held-out in total: nothing learns from them, and retrieval asks for them, among all articles. --ratings are tables
    of two texts and a rating to evaluate on, --ratings-train one to learn from.
    """

    results = "text-pairs/results"
    keys = ("training", "seed")
    values = ("set", "pool", "measure", "value")
    defaults: ClassVar = {
        "corpus": str, "ratings_train": str, "ratings": [], "training": [*TRAININGS], "seed": [1], "held_out": 500,
        "dim": 256, "epochs": 5, "pair_epochs": 3, "pair_learning_rate": 0.05, "temperature": 0.03,
        "optimizer": "adagrad", "token_weights": "none", "word_dropout": 0.2, "min_n": 4, "max_n": 5, "threads": 0,
    }  # fmt: skip
    notes = """
- "All pairs" are also those of first sentences of paragraphs with the rest of them, and of titles with paragraphs.
  Rated pairs are learned with the objective `cosent`, all others with `in-batch-negatives`.
- `mean - 1` and `SIF - 1` are the mean and SIF less the first component, which is learned from the first paragraphs of
  the training text (`--fit-on`). Values are in percent, means over the seeds; ± half the range of the seeds.
- CPU seconds are those of all steps of training, without reading the text; the fastest seed.
- Pairs that are learned again are 60,000 random ones, for 2 epochs. Hard negatives are the nearest
  texts of others of these pairs (`em.training.mine_negatives`), whose search is not in the CPU seconds.
- `title`: the title → the first paragraph.
- `title-words`: the title → the first paragraph without words of the title.
- `sentence`: the first sentence → the rest of the paragraph without words of the title.
- Measured on {processor}.
"""

    def prepare(self) -> None:
        """Start without models."""
        if not self.options.ratings:
            raise SettingError("text-pairs requires --ratings")
        self.models: dict[tuple[Any, ...], tuple[em.Model | None, float]] = {}

    def measure(self, training: str, seed: int) -> Iterable[Sequence[Any]]:
        """The CPU seconds of all steps, and the scores."""
        self.models = {key: one for key, one in self.models.items() if key[0] == seed}
        model, seconds = self.model_after(TRAININGS[training], seed)
        yield "", "", SECONDS, f"{seconds:.1f}"
        sets = {"pairs": self.options.ratings, "retrieval": list(self.retrieval.values())}
        for pool, settings in POOLS.items():
            fit = {"fit_on": self.text} if "remove_components" in settings else {}
            for one in em.evaluate(model, name="", **sets, **settings, **fit):
                if one.measure in ("spearman", "recall@10", "mrr@10") and one.value is not None:
                    yield one.set, pool, one.measure, f"{100 * one.value:.3f}"

    def model_after(self, steps: tuple[str, ...], seed: int) -> tuple[Any, float]:
        """The model after some steps, which other trainings may have taken before, and their CPU seconds."""
        if not steps or steps == (NONE,):
            return None, 0.0
        key = seed, *steps
        if key not in self.models:
            start, before = self.model_after(steps[:-1], seed)
            model, seconds = self.train(steps[-1], start, seed)
            self.models[key] = model, before + seconds
        return self.models[key]

    @cached_property
    def text(self) -> Path:
        """The corpus without the articles that are held out; writes these as retrieval sets."""
        articles = list(read_articles(Path(self.options.corpus)))
        step = len(articles) // self.options.held_out if self.options.held_out else 0
        numbers = set(range(0, len(articles), step)[: self.options.held_out]) if step else set()
        path = self.folder / "text.txt"
        kept = (article for number, article in enumerate(articles) if number not in numbers)
        path.write_text("\n".join("\n".join(article) + "\n" for article in kept), encoding="utf-8")
        for task in TASKS if numbers else ():
            pairs = [(number in numbers, make_query(task, article)) for number, article in enumerate(articles)]
            kept_pairs = [(is_asked, pair) for is_asked, pair in pairs if pair is not None]
            texts = [
                [json.dumps({"_id": str(n), "text": pair[side]}) for n, (_, pair) in enumerate(kept_pairs)]
                for side in (0, 1)
            ]
            asked = [n for n, (is_asked, _) in enumerate(kept_pairs) if is_asked]
            lines = [texts[0][n] for n in asked], texts[1], [f"{n}\t{n}\t1" for n in asked]
            (self.folder / task).mkdir()
            for name, content in zip(FILES, lines, strict=True):
                (self.folder / task / name).write_text("\n".join(content) + "\n", encoding="utf-8")
        return path

    @cached_property
    def retrieval(self) -> dict[str, list[Path]]:
        """The files of each retrieval set; none without held-out articles."""
        assert self.text.exists()
        return {task: [self.folder / task / file for file in FILES] for task in TASKS if (self.folder / task).exists()}

    def train(self, step: str, model: em.Model | None, seed: int) -> tuple[em.Model, float]:
        """The model after a step of training that started from another one, and the CPU seconds of this step."""
        options = self.options
        is_continued = model is not None and model.name == "text-pairs"
        words = {} if model is None or is_continued else {"vocabulary": model.vocabulary}
        if step == SKIPGRAM:
            corpus, settings = em.Corpus(self.text), {"epochs": options.epochs, "learning_rate": 0.05}
        elif step in (SAME_PAIRS, HARD_NEGATIVES):
            pairs = read_pairs(self.text, PAIR_KINDS[ALL_PAIRS])
            places = np.random.default_rng(seed).permutation(len(pairs))[:AGAIN_PAIRS]
            sample: list[Any] = [pairs[place] for place in places.tolist()]
            if step == HARD_NEGATIVES and model is not None:  # triplets of pairs and what the model mines among them
                sample = list(em.training.mine_negatives(model, sample))
            corpus = em.Corpus(sample, pairs=em.corpora.PairFormat())
            settings = {"temperature": options.temperature, "word_dropout": options.word_dropout, **AGAIN_SETTINGS}
        elif step == RATINGS:
            corpus = em.Corpus(options.ratings_train, pairs=em.corpora.PairFormat(), **words)
            settings = RATING_SETTINGS | {"optimizer": "adam", "word_dropout": 0.0}
        else:
            corpus = em.Corpus(self.text, pairs=em.corpora.PairFormat(PAIR_KINDS[step]), **words)
            settings = {"epochs": options.pair_epochs, "learning_rate": options.pair_learning_rate}
            settings |= {name: getattr(options, name) for name in PAIR_OPTIONS}
        run: dict[str, Any] = {"threads": options.threads or None, "seed": seed}
        init = {}
        if model is not None and not is_continued:  # rows times their SIF weights, which the mean then has
            vectors, weights = model.vectors, word_weights(model.vectors.words, model.vocabulary, "sif", 1e-3)
            rows = vectors.matrix * weights[:, None].astype("f4")
            init["init"] = em.InitFrom(em.Vectors(vectors.words, rows, counts=vectors.counts))
        corpus.encode()
        start = process_time()
        if is_continued:
            trained = em.continue_training(model, corpus, **settings, **run)
        else:
            trainer = "skipgram" if step == SKIPGRAM else "text-pairs"
            trained = em.train(trainer, corpus, dim=options.dim, **settings, **init, **run)
        return trained, process_time() - start

    def table(self, rows: Rows) -> str:
        """Rated pairs by training and pooling, then retrieval."""
        rows.sort(key=lambda row: list(TRAININGS).index(row["training"]))
        tables = []
        for measure, title in SECTIONS.items():
            sets = list(dict.fromkeys(row["set"] for row in rows if row["measure"] == measure))
            shown = [row for row in rows if row["measure"] in (measure, SECONDS)]
            shown = [{**row, "measure": f"{row['set']}, {row['pool']}" if row["set"] else SECONDS} for row in shown]
            names = (f"{name}, {pool}" for name in sets for pool in POOLS)
            measured = {row["measure"] for row in shown}
            columns: dict[str, Any] = {name: (mean_and_spread, "") for name in names if name in measured}
            columns[SECONDS] = min, ".0f"
            tables += [f"{title}:\n\n{pivot(shown, ('training',), columns)}"] if sets else []
        return "\n".join(tables)


def read_articles(path: Path) -> Iterator[list[str]]:
    """The lines of each article: its title, then its paragraphs."""
    with open_decompressed(path) as file:
        lines = (raw.decode("utf-8", "replace").strip() for raw in file)
        for is_article, group in groupby(lines, bool):
            if is_article:
                yield list(group)


def make_query(task: str, article: Sequence[str]) -> tuple[str, str] | None:
    """The query and the text to be found of an article; None if it has no such texts.

    The text is the first paragraph or what follows its first sentence, but for `title` without words of the title.
    """
    paragraph = next(filter(is_long, article[1:]), None)
    if paragraph is None:
        return None
    query, rest = article[0], paragraph
    if task == "sentence":
        query, *others = split_sentences(paragraph)
        rest = " ".join(others)
    if task != "title":
        words = set(WORD.findall(article[0].lower()))
        rest = WORD.sub(lambda match: "" if match[0].lower() in words else match[0], rest)
    return (query, rest) if query and is_long(rest) else None


class PairCandidates(Grid):
    """Compares trainings on pairs by the recall of the right text among candidates, and by rated pairs.

    --pairs are tables of pairs, or texts, of which the first sentence of a paragraph and the rest are a pair. The last
    tenth, at most 5,000, is held out, without pairs that share a text with the others. The guide of guided negatives is
    a model of 64 components that learned from the same pairs for 10 epochs.
    """

    results = "text-pairs/candidates"
    keys = ("pairs", "training", "seed")
    defaults: ClassVar = {
        "pairs": {}, "training": [*PAIR_TRAININGS], "seed": [1, 2, 3], "candidates": [2, 10, 200], "ratings": [],
        "dim": 128, "epochs": 3, "threads": 1,
    }  # fmt: skip
    notes = """
Values are in percent, means over the seeds ± half their range; CPU seconds are those of the fastest seed, on a busy
machine ({processor}).
"""

    def prepare(self) -> None:
        """Hold pairs out."""
        self.data = {}
        for name, file in self.options.pairs.items():
            pairs = read_pairs(file, "columns,first-sentence")
            size = len(pairs) - min(5000, len(pairs) // 10)
            known = {text for pair in pairs[:size] for text in pair}
            lines = [json.dumps(dict(zip("ab", one, strict=True))) for one in pairs[size:] if not known & {*one}]
            test = self.folder / f"{name}.jsonl"
            test.write_text("\n".join(lines) + "\n", encoding="utf-8")
            self.data[name] = em.Corpus(pairs[:size], pairs=em.corpora.PairFormat()), test

    def measure(self, pairs: str, training: str, seed: int) -> Iterable[Sequence[Any]]:
        """CPU seconds, recall, and the correlation with ratings."""
        options, (corpus, test), settings = self.options, self.data[pairs], PAIR_TRAININGS[training]
        if training == GUIDED:
            settings = {"guide": str(guide := self.folder / f"{pairs}-guide")}
            if not guide.exists():
                em.DualEncoder(dim=64, epochs=10).train(corpus, threads=options.threads, seed=9).save(guide)
        trainer = em.DualEncoder(dim=options.dim, epochs=options.epochs, **settings)
        corpus.encode()
        start = process_time()
        model = trainer.train(corpus, threads=options.threads, seed=seed)
        yield SECONDS, f"{process_time() - start:.1f}"
        for one in em.evaluate(model, name="", pairs=test, candidates=options.candidates):
            if one.measure.startswith("recall") and one.value is not None:
                yield f"{one.method}, {one.measure}", f"{100 * one.value:.3f}"
        for one in scores(model, pairs=options.ratings):
            yield one.set, f"{100 * one.value:.3f}"

    def table(self, rows: Rows) -> str:
        """A line for each training on each set of pairs."""
        measures = dict.fromkeys(row["measure"] for row in rows if row["measure"] != SECONDS)
        columns = {**dict.fromkeys(measures, (mean_and_spread, "")), SECONDS: (min, ".1f")}
        return pivot(rows, ("pairs", "training"), columns)


class PairCurve(Study):
    """Trains skip-gram, then text-pairs on neighbouring sentences of --text, and draws the loss curve.

    --text has a title, then a paragraph a line, and a blank line after each article. Every n-th article is held out, a
    share of --held-out. Training is logged (`em.training.RunLog`), and drawn as `embeddings info --curve` draws a log.
    The held-out loss is that of training: the mean cross-entropy in both directions, among the pairs of batches of the
    same size. The accuracy is the share of left texts whose right text is the nearest one of their batch.
    """

    results = "text-pairs/loss"
    defaults: ClassVar = {
        "text": str, "held_out": 0.05, "dim": 256, "epochs": 10, "word_epochs": 5, "learning_rate": 0.05,
        "word_dropout": 0.2, "threads": 1,
    }  # fmt: skip

    def make(self, out: Path, *, only_table: bool = False) -> None:
        """Train and draw the curve."""
        options = self.options
        training, tests = split_pairs(Path(options.text), options.held_out)
        if not training or not tests:
            raise SettingError(f"{options.text} has too few articles")
        sides = em.Corpus([side for pair in training for side in pair])
        words = em.train("skipgram", sides, dim=options.dim, epochs=options.word_epochs, threads=options.threads)
        corpus = em.Corpus(training, pairs=em.corpora.PairFormat(), vocabulary=words.vocabulary)
        settings = {name: getattr(options, name) for name in ("dim", "epochs", "learning_rate", "word_dropout")}
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"neighbouring-sentences, {len(training):,} pairs"
            run = em.training.RunOptions(
                init=em.InitFrom(words), callbacks=[HeldOutPairs(tests), em.training.RunLog(path)]
            )
            model = em.DualEncoder(**settings).train(corpus, threads=options.threads, run_options=run)
            draw_loss_curve(path, beside(out, ".svg"), force=True)
        log("training loss by epoch", ", ".join(f"{loss:.3f}" for loss in model.record["loss_by_epoch"]))


class HeldOutPairs(em.Callback):
    """Adds the loss and the accuracy on pairs to the scores of each epoch.

    Arguments:
        pairs: left and right texts, of which whole batches are used.
    """

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        size = min(BATCH, len(pairs))
        self.batches = [pairs[n : n + size] for n in range(0, len(pairs) - size + 1, size)]

    def on_epoch_end(self, epoch_end: em.training.EpochEnd) -> None:
        """Score the model."""
        scores = np.array([score_batch(epoch_end.model, batch) for batch in self.batches]).mean(axis=0)
        epoch_end.scores[HELD_OUT_LOSS], epoch_end.scores["held-out accuracy"] = map(float, scores)


def score_batch(model: em.Model, pairs: list[tuple[str, str]]) -> tuple[float, float]:
    """The loss and the accuracy of a model on a batch of pairs."""
    left, right = (normalize_rows(em.embed(model, list(side))) for side in zip(*pairs, strict=True))
    scores = np.asarray(left @ right.T, np.float64) / TEMPERATURE
    losses = [-log_softmax(scores, axis=axis).diagonal().mean() for axis in (0, 1)]
    return float(np.mean(losses)), float(np.mean(scores.argmax(axis=1) == np.arange(len(pairs))))


def split_pairs(text: Path, share: float) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The pairs of most articles, and those of the articles that are held out, in random order."""
    articles = ["\n".join(article) for article in read_articles(text)]
    step = max(2, round(1 / share))
    training = read_pairs([article for number, article in enumerate(articles) if number % step])
    held_out = list(dict.fromkeys(read_pairs(articles[::step])))
    np.random.default_rng(1).shuffle(held_out)
    return training, held_out


def read_pairs(source: Any, kinds: str = PAIR_KINDS[SENTENCES]) -> list[tuple[str, str]]:
    """The pairs of a text."""
    batches = em.corpora.TextPairs(source, kinds=kinds.split(","))
    return [pair for batch in batches for pair in zip(batch.left, batch.right, strict=True)]
