"""The learning rate, how far a run has come, and who reads what."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import embeddings as em
from embeddings.kernels.block import FIRST, LAST
from embeddings.kernels.loss_tally import report_loss
from embeddings.settings import Schedule
from embeddings.training.progress import Progress, Tally
from embeddings.training.run import Run
from embeddings.training.stream import MIN_SHARE, share_bounds
from embeddings.training.training_data import prepare


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_learning_rate_of_kernels_falls_over_epochs_and_threads(threads):
    """It depends on what all threads have read over all epochs, so it never starts again."""
    trainer, rates = em.SkipGram(dim=8, min_count=1, subsample=0, epochs=3, learning_rate=0.04), []
    data = prepare(trainer, em.Corpus([["a", "b", "c", "d"] * 10_000]), threads=threads)

    def learn_block(block, tables, buffers, rate):
        if block.cursor[LAST] > block.cursor[FIRST]:
            rates.append(rate)
            report_loss(buffers, 0.0, 1)

    Run(data, replace(trainer.plan(data), kernel=learn_block)).train()
    decreasing = sorted(rates, reverse=True)
    assert threads > 1 or rates == decreasing
    assert decreasing[0] == 0.04
    assert decreasing[-1] < 0.04 / 5
    assert len(rates) >= 15
    assert max(decreasing) - min(decreasing) > 0.8 * 0.04
    steps = -np.diff(decreasing)
    assert steps.max() < 0.04 * threads * 8192 / 120_000 + 1e-9
    assert (steps > 0).mean() > 1 - threads / 15


def test_loss_since_the_last_report_and_by_epoch():
    """The loss of an epoch is over the whole epoch, even if threads are in different ones."""
    tally = Tally(2, Schedule(epochs=3), units=100)
    assert tally.progress().loss is None
    tally.epoch_sums[0].append(np.zeros(2))
    tally.add(0, 6.0, 2)
    tally.epoch_sums[1].append(np.zeros(2))
    tally.add(1, 3.0, 1)
    assert tally.progress().loss == 3
    assert tally.progress().loss is None
    tally.epoch_sums[0].append(np.zeros(2))
    tally.add(0, 8.0, 4)
    tally.words[:] = 130, 50
    progress = tally.progress()
    assert (progress.loss, progress.words, progress.total, progress.epoch, progress.share) == (2, 180, 300, 2, 0.6)
    assert tally.losses() == [3, 2]
    tally.epoch_sums[1].append(np.zeros(2))
    tally.epoch_sums[1].append(np.zeros(2))
    assert tally.losses() == [3, 2, None]


def test_speed_and_time_left():
    progress = Progress(words=300, total=400, epoch=1, epochs=1, learning_rate=0.1, loss=None, seconds=6)
    assert (progress.words_per_second, progress.seconds_left, progress.share) == (50, 2, 0.75)
    assert Progress(0, 400, 1, 1, 0.1, None, 0).seconds_left == float("inf")
    assert Progress(0, 400, 1, 1, 0.1, None, 0).words_per_second == 0


def bounds_of_lines(lengths, threads):
    """The bounds of shares of lines of these lengths."""
    lines = np.concatenate([[0], np.cumsum(lengths)])
    return share_bounds(int(lines[-1]), lines, threads)


@given(
    lengths=st.lists(st.integers(0, 50), min_size=1, max_size=40).filter(sum),
    threads=st.integers(1, 70),
)
def test_shares_cover_every_word_once(lengths, threads):
    bounds = bounds_of_lines(lengths, threads)
    assert len(bounds) == threads + 1
    assert (bounds[0], bounds[-1]) == (0, sum(lengths))
    assert bounds == sorted(bounds)
    used = max(1, min(threads, sum(lengths) // MIN_SHARE))
    words = sum(lengths) / used
    assert all(abs(bound - words * k) <= 1 + words / 20 for k, bound in enumerate(bounds[: used + 1]))


def test_shares_begin_at_lines_that_are_near():
    assert bounds_of_lines([1010, 990, 30, 1970], 2) == [0, 2000, 4000]
    assert bounds_of_lines([1010, 1000, 20, 1970], 2) == [0, 2010, 4000]
    assert bounds_of_lines([4000], 2) == [0, 2000, 4000]
    assert bounds_of_lines([10] * 14, 5) == [0, 70, 140, 140, 140, 140]
    assert bounds_of_lines([1, 1], 5) == [0, 2, 2, 2, 2, 2]


def test_a_loss_of_nan_is_reported_as_none():
    tally = Tally(1, Schedule(epochs=1), units=100)
    tally.epoch_sums[0].append(np.zeros(2))
    tally.add(0, np.inf, np.inf)
    tally.reported_sums = tally.sums.sum(axis=0)
    assert tally.progress().loss is None
