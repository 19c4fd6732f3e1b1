"""Invalid threads and seeds, texts of one word, and independent random numbers of threads."""

import os

import pytest

import embeddings as em
from embeddings.errors import CorpusError
from embeddings.kernels.loss_tally import LOSS_INTERVAL, UNTIL_SAMPLE
from embeddings.kernels.row_cache import LEAST_THREADS
from embeddings.support.system import available_threads
from embeddings.training.run import Run
from embeddings.training.training_data import prepare

TRAINERS = pytest.mark.parametrize("trainer", [em.SkipGram, em.CBOW])


def workers(seed, threads=2):
    """The workers of a run."""
    trainer = em.SkipGram(dim=8, min_count=1)
    data = prepare(trainer, em.Corpus([["a", "b"]] * 10), threads=threads, seed=seed)
    return Run(data, trainer.plan(data)).executor.workers


def test_threads_sample_the_loss_from_random_windows_on():
    firsts = [[float(worker.buffers.tally[UNTIL_SAMPLE]) for worker in workers(seed)] for seed in range(20)]
    assert all(0 <= first < LOSS_INTERVAL and first == int(first) for pair in firsts for first in pair)
    assert sum(one != other for one, other in firsts) > 10
    assert len({one for one, _ in firsts}) > 5
    assert firsts == [[float(worker.buffers.tally[UNTIL_SAMPLE]) for worker in workers(seed)] for seed in range(20)]


def test_many_threads_work_on_copies_of_frequent_rows():
    for threads, tables in ((1, 0), (LEAST_THREADS - 1, 0), (LEAST_THREADS, 2)):
        assert [len(worker.caches) for worker in workers(1, threads)] == [tables] * threads


def test_threads_are_those_that_the_process_may_use(monkeypatch):
    if hasattr(os, "sched_getaffinity"):
        assert available_threads() == len(os.sched_getaffinity(0))
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 9}, raising=False)
    assert available_threads() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_threads() == 1


@TRAINERS
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("lines", "settings"),
    [
        ([["a"], ["b"], ["c"]] * 10, {}),
        ([["a"]] * 10, {}),
        ([["a", "x"], ["a", "y"], ["z", "a"]], {"max_vocab": 1}),
        ([["a"], [], ["b"], []] * 5, {"subsample": 0.0}),
    ],
)
def test_lines_of_one_word_are_refused(trainer, threads, lines, settings):
    """Else the random initial vectors would be the result."""
    advice = "use longer texts" + ("" if "subsample" in settings else ", or subsample=0 to keep frequent words")
    with pytest.raises(CorpusError) as error:
        trainer(dim=8, min_count=1, **settings).train(em.Corpus(lines), threads=threads)
    assert str(error.value).startswith("nothing was learned: no word was left with another one near it (words read: ")
    assert str(error.value).endswith(f"); {advice}")


@TRAINERS
def test_one_pair_of_words_is_enough_to_learn_from(trainer):
    configured = trainer(dim=8, min_count=1, subsample=0, epochs=3)
    model = configured.train(em.Corpus([["a"], ["b"], ["a", "b"]]), threads=1)
    assert model.record["steps"] == 2 * 3  # each of the two is a centre in each epoch
    assert model.tables["output"].any()
