"""The learning rate, how far a run has come, and who reads what."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import embeddings as em
from embeddings.kernels.block import FIRST, LAST
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.plugins.skipgram import Tables
from embeddings.settings import Schedule
from embeddings.testing.trainer_contract import synonym_corpus
from embeddings.training.progress import Progress, Tally
from embeddings.training.task import Task, prepare


@given(
    rate=st.floats(1e-6, 10),
    share=st.none() | st.floats(0, 1),
    total=st.integers(1, 10**12),
)
def test_learning_rate_decreases_to_its_minimum(rate, share, total):
    schedule = Schedule(learning_rate=rate, min_learning_rate=None if share is None else share * rate)
    rates = [schedule.learning_rate_at(total * k // 50, total) for k in range(51)]
    assert rates[0] == rate
    assert all(a >= b for a, b in pairwise(rates))
    assert rates[-1] == schedule.final_learning_rate == min(rates)
    assert schedule.final_learning_rate == (rate / 10_000 if share is None else share * rate)


def test_learning_rate_falls_linearly_over_all_epochs():
    schedule = Schedule(learning_rate=0.1, epochs=4)
    assert schedule.learning_rate_at(500, 1000) == pytest.approx(0.05)
    assert schedule.learning_rate_at(900, 1000) == pytest.approx(0.01)


@pytest.mark.parametrize("trainer", [em.SkipGram, em.CBOW])
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("epochs", [1, 3])
def test_reports_of_a_run(trainer, threads, epochs):
    reports = []
    configured = trainer(dim=8, min_count=1, epochs=epochs, learning_rate=0.04, min_learning_rate=0.001)
    model = configured.train(synonym_corpus(), threads=threads, report=reports.append)
    words = model.vocabulary.total
    assert [p.words for p in reports] == sorted(p.words for p in reports)
    assert {p.total for p in reports} == {words * epochs}
    assert {p.epochs for p in reports} == {epochs}
    assert all(1 <= p.epoch <= epochs and 0 <= p.share <= 1 for p in reports)
    assert all(p.learning_rate == pytest.approx(max(0.04 * (1 - p.share), 0.001)) for p in reports)
    assert [p.learning_rate for p in reports] == sorted((p.learning_rate for p in reports), reverse=True)
    last = reports[-1]
    assert (last.words, last.share, last.epoch, last.learning_rate) == (words * epochs, 1, epochs, 0.001)
    assert last.seconds_left == 0
    assert model.record["words"] == model.record["total_words"] == words * epochs


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_learning_rate_of_kernels_falls_over_epochs_and_threads(threads):
    """It is of what all threads have read over all epochs, so it never starts again."""
    made, given = em.SkipGram(dim=8, min_count=1, subsample=0, epochs=3, learning_rate=0.04), []
    task = prepare("skipgram", made, em.Corpus([["a", "b", "c", "d"] * 10_000]), threads=threads)

    def learn_block(block, tables, buffers, rate):
        if block.cursor[LAST] > block.cursor[FIRST]:
            given.append(rate)

    tables = Tables(words=np.zeros((4, 16), np.float32), output=np.zeros((4, 16), np.float32))
    task.run(learn_block, tables, lambda: new_step_buffers(10, 6, 16))
    fallen = sorted(given, reverse=True)
    assert threads > 1 or given == fallen
    assert fallen[0] == 0.04
    assert fallen[-1] < 0.04 / 5
    assert len(given) >= 15
    assert max(fallen) - min(fallen) > 0.8 * 0.04
    steps = -np.diff(fallen)
    assert steps.max() < 0.04 * threads * 8192 / 120_000 + 1e-9
    assert (steps > 0).mean() > 1 - threads / 15


def test_a_tally_is_over_what_came_since_the_last_report():
    """And its losses by epoch are over each whole epoch, though threads are not in the same one."""
    tally = Tally(2, Schedule(epochs=3), corpus_words=100)
    assert tally.progress().loss is None
    tally.begin_epoch(0)
    tally.add(0, 6.0, 2)
    tally.begin_epoch(1)
    tally.add(1, 3.0, 1)
    assert tally.progress().loss == 3
    assert tally.progress().loss is None
    tally.begin_epoch(0)
    tally.add(0, 8.0, 4)
    tally.words[:] = 130, 50
    told = tally.progress()
    assert (told.loss, told.words, told.total, told.epoch, told.share) == (2, 180, 300, 2, 0.6)
    assert tally.losses() == [3, 2]
    tally.begin_epoch(1)
    tally.begin_epoch(1)
    assert tally.losses() == [3, 2, None]


def test_time_left_is_at_the_pace_so_far():
    told = Progress(words=300, total=400, epoch=1, epochs=1, learning_rate=0.1, loss=None, seconds=6)
    assert (told.words_per_second, told.seconds_left, told.share) == (50, 2, 0.75)
    assert Progress(0, 400, 1, 1, 0.1, None, 0).seconds_left == float("inf")
    assert Progress(0, 400, 1, 1, 0.1, None, 0).words_per_second == 0


def shares(lengths, threads):
    """What `Task.shares` gives for lines of these lengths."""
    lines = np.concatenate([[0], np.cumsum(lengths)])
    encoded = SimpleNamespace(ids=np.zeros(lines[-1], np.int32), sentences=lines)
    return Task("any", None, encoded, None, threads, 1, None).share_bounds(np.asarray(encoded.sentences))


@given(
    lengths=st.lists(st.integers(0, 50), min_size=1, max_size=40).filter(sum),
    threads=st.integers(1, 70),
)
def test_shares_cover_every_word_once(lengths, threads):
    found = shares(lengths, threads)
    assert len(found) == threads + 1
    assert (found[0], found[-1]) == (0, sum(lengths))
    assert found == sorted(found)
    words = sum(lengths) / threads
    assert all(abs(cut - words * k) <= 1 + words / 20 for k, cut in enumerate(found))


def test_shares_are_cut_at_a_line_that_is_near_and_within_one_that_is_not():
    assert shares([1010, 990, 30, 1970], 2) == [0, 2000, 4000]
    assert shares([1010, 1000, 20, 1970], 2) == [0, 2010, 4000]
    assert shares([4000], 2) == [0, 2000, 4000]
    assert shares([1, 1], 5) == [0, 0, 0, 1, 1, 2]


def test_a_loss_that_is_no_number_is_not_told():
    tally = Tally(1, Schedule(epochs=1), corpus_words=100)
    tally.begin_epoch(0)
    tally.add(0, np.inf, np.inf)
    tally.restore(tally.state())
    assert tally.progress().loss is None
