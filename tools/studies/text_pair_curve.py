"""The loss curve of a training on pairs: the training loss, and loss and accuracy on held-out pairs by epoch."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import numpy as np

import embeddings as em
from embeddings.errors import SettingError
from embeddings.support.cosine import normalize_rows
from embeddings.training.run_log import HELD_OUT_LOSS, draw_loss_curve
from studies.grid import Study, beside, log
from studies.retrieval_articles import read_articles

BATCH, TEMPERATURE = 1024, 0.03  # of pairs of the objective, its defaults
ACCURACY = "held-out accuracy"
KIND = "neighbouring-sentences"


class PairCurve(Study):
    """Trains skip-gram, then text-pairs on neighbouring sentences of --text, and draws the loss curve.

    --text has a title, then a paragraph a line, and a blank line after each article. Every n-th article is held out, a
    share of --held-out. Training is logged (`em.RunLog`), and drawn as `embeddings info --curve` draws a log. The
    held-out loss is that of training: the mean cross-entropy in both directions, among the pairs of batches of the same
    size. The accuracy is the share of left texts whose right text is the nearest one of their batch.
    """

    results = "text-pairs/loss"
    defaults: ClassVar = {
        "text": str, "held_out": 0.05, "dim": 256, "epochs": 10, "word_epochs": 5, "learning_rate": 0.05,
        "word_dropout": 0.2, "threads": 1,
    }  # fmt: skip

    def make(self, out: Path, *, only_table: bool = False, processes: int = 1) -> None:
        """Train and draw the curve."""
        options = self.options
        training, tests = split_pairs(Path(options.text), options.held_out)
        if not training or not tests:
            raise SettingError(f"{options.text} has too few articles")
        sides = [side for pair in training for side in pair]
        words = em.train(
            "skipgram", em.Corpus(sides), dim=options.dim, epochs=options.word_epochs, threads=options.threads
        )
        corpus = em.Corpus(training, pairs=em.PairFormat(), vocabulary=words.vocabulary)
        settings = {name: getattr(options, name) for name in ("dim", "epochs", "learning_rate", "word_dropout")}
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"{KIND}, {len(training):,} pairs"
            run = em.RunOptions(init=em.InitFrom(words), callbacks=[HeldOutPairs(tests), em.RunLog(path)])
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

    def on_epoch_end(self, epoch_end: em.EpochEnd) -> None:
        """Score the model."""
        scores = np.array([score_batch(epoch_end.model, batch) for batch in self.batches]).mean(axis=0)
        epoch_end.scores[HELD_OUT_LOSS], epoch_end.scores[ACCURACY] = map(float, scores)


def score_batch(model: em.Model, pairs: list[tuple[str, str]]) -> tuple[float, float]:
    """The loss and the accuracy of a model on a batch of pairs."""
    left, right = (normalize_rows(em.embed(model, list(side))) for side in zip(*pairs, strict=True))
    scores = np.asarray(left @ right.T, np.float64) / TEMPERATURE
    losses = [np.log(np.exp(scores - 1 / TEMPERATURE).sum(axis=axis)) + 1 / TEMPERATURE for axis in (0, 1)]
    accuracy = np.mean(scores.argmax(axis=1) == np.arange(len(pairs)))
    return float(np.mean(losses) - scores.diagonal().mean()), float(accuracy)


def split_pairs(text: Path, share: float) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The pairs of most articles, and those of the articles that are held out, in random order."""
    articles = ["\n".join(article) for article in read_articles(text)]
    step = max(2, round(1 / share))
    parts = [[article for n, article in enumerate(articles) if (n % step == 0) == held] for held in (False, True)]
    training, held_out = (
        [pair for batch in em.TextPairs(part, kinds=KIND) for pair in zip(batch.left, batch.right, strict=True)]
        for part in parts
    )
    held_out = list(dict.fromkeys(held_out))
    np.random.default_rng(1).shuffle(held_out)
    return training, held_out
