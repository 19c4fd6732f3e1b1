"""What a run refuses, when it stops early, and that its threads draw apart from each other."""

import os
import re
from threading import Event

import numpy as np
import pytest

import embeddings as em
from embeddings.cli.progress_bar import Training
from embeddings.errors import SettingError
from embeddings.kernels.row_operations import padded
from embeddings.kernels.step_buffers import UNTIL_SAMPLE, LOSS_INTERVAL, new_step_buffers
from embeddings.testing.trainer_contract import planted
from embeddings.training import hogwild
from embeddings.training.progress import Tally
from embeddings.support.system import available_threads
from embeddings.training.result import Interrupted, TrainingError
from embeddings.training.task import prepare
from embeddings.training.worker import Worker

TRAINERS = pytest.mark.parametrize("trainer", [em.SkipGram, em.CBOW])


def workers(seed, threads=2):
    """The workers of a run, as its threads make them."""
    made = em.SkipGram(dim=8, min_count=1)
    task = prepare("skipgram", made, em.Corpus([["a", "b"]] * 10), threads=threads, seed=seed)
    tally = Tally(threads, made, task.corpus_words)
    return [
        Worker(task, task.windows(), tally, thread, new_step_buffers(2 * made.window, 1 + made.negatives, padded(8)))
        for thread in range(threads)
    ]


def test_threads_draw_from_keys_of_their_own():
    keys = [int(worker.random[0]) for seed in range(20) for worker in workers(seed)]
    assert len(set(keys)) == len(keys)
    assert all(worker.random[1] == 0 for worker in workers(1))


def test_threads_tally_windows_from_random_ones_on():
    firsts = [[float(worker.buffers.tally[UNTIL_SAMPLE]) for worker in workers(seed)] for seed in range(20)]
    assert all(0 <= first < LOSS_INTERVAL and first == int(first) for pair in firsts for first in pair)
    assert sum(one != other for one, other in firsts) > 10
    assert len({one for one, _ in firsts}) > 5
    assert firsts == [[float(worker.buffers.tally[UNTIL_SAMPLE]) for worker in workers(seed)] for seed in range(20)]


def test_threads_are_those_that_the_process_may_use(monkeypatch):
    assert available_threads() == len(os.sched_getaffinity(0))
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 9})
    assert available_threads() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_threads() == 1


WHOLE = "{} must be a whole number, not {!r}"
WRONG = [
    ({"threads": "2"}, WHOLE.format("threads", "2")),
    ({"threads": 1.5}, WHOLE.format("threads", 1.5)),
    ({"threads": 1.0}, WHOLE.format("threads", 1.0)),
    ({"threads": True}, WHOLE.format("threads", True)),
    ({"threads": [1]}, WHOLE.format("threads", [1])),
    ({"threads": 0}, "threads must be at least 1 and at most 1024, not 0"),
    ({"threads": 1025}, "threads must be at least 1 and at most 1024, not 1025"),
    ({"seed": "1"}, WHOLE.format("seed", "1")),
    ({"seed": 1.5}, WHOLE.format("seed", 1.5)),
    ({"seed": False}, WHOLE.format("seed", False)),
    ({"seed": None}, WHOLE.format("seed", None)),
    ({"seed": -1}, f"seed must be at least 0 and at most {2**63 - 1}, not -1"),
    ({"seed": 2**63}, f"seed must be at least 0 and at most {2**63 - 1}, not {2**63}"),
]


@TRAINERS
@pytest.mark.parametrize(("given", "said"), WRONG, ids=[str(given) for given, _ in WRONG])
def test_threads_and_seeds_that_are_none_are_refused_before_the_corpus_is_read(trainer, given, said):
    def never():
        raise AssertionError("the corpus was read")
        yield ["a"]

    with pytest.raises(SettingError, match=f"^{re.escape(said)}$"):
        trainer().train(em.Corpus(never()), **given)


def test_numbers_of_numpy_are_threads_and_seeds():
    record = em.SkipGram(dim=4, epochs=1).train(planted(), threads=np.int64(1), seed=np.uint8(3)).record
    assert (record["threads"], record["seed"]) == (1, 3)
    assert {type(record["threads"]), type(record["seed"])} == {int}


def test_a_loss_that_is_no_number_stops_the_run_early(monkeypatch):
    """The epochs would take days: that the test ends says that the run did."""
    whole, told = Tally.progress, []

    def broken(self):
        progress = whole(self)
        object.__setattr__(progress, "loss", float("nan"))
        return progress

    monkeypatch.setattr(Tally, "progress", broken)
    with pytest.raises(TrainingError, match=r"^the loss overflowed after [\d,]+ words; a lower rate will help$"):
        em.SkipGram(dim=8, epochs=1_000_000).train(planted(), threads=2, report=told.append)
    assert told == []


@TRAINERS
def test_vectors_that_overflow_are_told(trainer):
    made = trainer(dim=8, min_count=1, learning_rate=100, negatives=50, subsample=0, epochs=300)
    with pytest.raises(TrainingError, match=r"^the \w+ overflowed after [\d,]+ words; a lower rate will help$"):
        made.train(em.Corpus([["a", "b", "a", "b"] * 200] * 3), threads=1)


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
def test_lines_of_one_word_teach_nothing_and_that_is_told(trainer, threads, lines, settings, capsys):
    model = trainer(dim=8, min_count=1, **settings).train(em.Corpus(lines), threads=threads)
    assert model.record["steps"] == 0
    assert not model.tables["output"].any()
    Training(quiet=False).tell(model, "v")
    assert "warning: nothing was learned, for no line had two words left" in capsys.readouterr().err


@TRAINERS
def test_one_pair_of_words_is_enough_to_learn_from(trainer, capsys):
    made = trainer(dim=8, min_count=1, subsample=0, epochs=3)
    model = made.train(em.Corpus([["a"], ["b"], ["a", "b"]]), threads=1)
    assert model.record["steps"] == 2 * 3  # each of the two is a centre in each epoch
    assert model.tables["output"].any()
    Training(quiet=False).tell(model, "v")
    assert "warning" not in capsys.readouterr().err


def test_an_interrupt_says_where_the_model_is(monkeypatch):
    def interrupted(work, threads, report):
        work(0, Event())
        raise KeyboardInterrupt

    monkeypatch.setattr(hogwild, "run_threads", interrupted)
    with pytest.raises(Interrupted, match=r"what was learned until then is in `\.model` of this exception$") as caught:
        em.SkipGram(dim=8, epochs=1).train(planted(), threads=1)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert caught.value.model.vectors.dim == 8
    assert caught.value.model.record["words"] == caught.value.model.record["total_words"]
