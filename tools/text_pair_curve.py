"""Draws the loss curve of a training on pairs: the training loss, and loss and accuracy on held-out pairs by epoch.

`python tools/text_pair_curve.py TEXT -o FILE.svg` takes the neighbouring sentences of TEXT, which has a title, then a
paragraph a line, and a blank line after each article. Every n-th article is held out. Training is logged (`em.RunLog`),
and drawn as `embeddings info --curve` draws a log. The held-out loss is that of training: the mean
cross-entropy in both directions, among the pairs of batches of the same size. The accuracy is the share of left texts
whose right text is the nearest one of their batch.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np
from retrieval_articles import read_articles

import embeddings as em
from embeddings.errors import EmbeddingsError
from embeddings.support.cosine import normalize_rows
from embeddings.support.files import check_file
from embeddings.training.run_log import HELD_OUT_LOSS, draw_loss_curve

BATCH, TEMPERATURE = 1024, 0.03  # of pairs of the objective, its defaults
ACCURACY = "held-out accuracy"
KIND = "neighbouring-sentences"


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


@click.command()
@click.argument("text", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), help="Picture, such as curve.svg.")
@click.option("--held-out", type=click.FloatRange(0, 0.5, min_open=True), default=0.05, show_default=True)
@click.option("--dim", type=click.IntRange(1), default=256, show_default=True)
@click.option("--epochs", type=click.IntRange(1), default=10, show_default=True)
@click.option("--word-epochs", type=click.IntRange(1), default=5, show_default=True, help="Of skip-gram, before.")
@click.option("--learning-rate", type=float, default=0.05, show_default=True)
@click.option("--word-dropout", type=float, default=0.2, show_default=True)
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
@click.option("--force", is_flag=True, help="Replace an existing file.")
def main(text: Path, out: Path, held_out: float, word_epochs: int, threads: int, force: bool, **settings: Any) -> None:
    """Train skip-gram, then text-pairs on neighbouring sentences of TEXT, and draw the loss curve."""
    try:
        check_file(out, force=force)
        training, tests = split_pairs(text, held_out)
        if not training or not tests:
            raise click.ClickException(f"{text} has too few articles")
        sides = [side for pair in training for side in pair]
        words = em.train("skipgram", em.Corpus(sides), dim=settings["dim"], epochs=word_epochs, threads=threads)
        corpus = em.Corpus(training, pairs=em.PairFormat(), vocabulary=words.vocabulary)
        with TemporaryDirectory() as folder:
            log = Path(folder) / f"{KIND}, {len(training):,} pairs"
            options = em.RunOptions(init=em.InitFrom(words), callbacks=[HeldOutPairs(tests), em.RunLog(log)])
            model = em.DualEncoder(**settings).train(corpus, threads=threads, run_options=options)
            draw_loss_curve(log, out, force=force)
    except EmbeddingsError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"training loss by epoch: {', '.join(f'{loss:.3f}' for loss in model.record['loss_by_epoch'])}")


if __name__ == "__main__":
    main()
