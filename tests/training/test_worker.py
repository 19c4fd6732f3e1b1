"""Threads that fail, are stopped or are interrupted: all of them end, and the model is not lost."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import embeddings as em
from embeddings.kernels.block import LAST
from embeddings.testing.trainer_contract import synonym_corpus
from embeddings.training import worker
from embeddings.training.run import Interrupted, Run
from embeddings.training.training_data import prepare

ENDLESS = 100_000  # epochs: hours


class TestError(Exception):
    """Raised in threads and reports."""

    __test__ = False


def running_threads():
    """Training threads that still run."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("trainer")]


@pytest.mark.parametrize("failing", [2, None])
def test_a_failing_thread_or_report_stops_the_others_and_raises(failing):
    stopped = []

    def work(thread, halt):
        if thread == failing:
            raise TestError("number 2")
        halt.wait()
        stopped.append(thread)

    def report():
        if failing is None:
            raise TestError("number 2")

    with pytest.raises(TestError, match="number 2"):
        worker.run_threads(work, 4, report)
    assert sorted(stopped) == [thread for thread in range(4) if thread != failing]
    assert not running_threads()


def test_a_thread_that_fails_last_raises():
    first = threading.Event()

    def work(thread, halt):
        if thread == 0:
            first.set()
            return
        first.wait()
        time.sleep(2 * worker.REPORT_INTERVAL)
        raise TestError("late")

    with pytest.raises(TestError, match="late"):
        worker.run_threads(work, 2, lambda: None)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_exception_of_a_kernel_reaches_the_caller(threads):
    def learn_block(block, tables, buffers, rate):
        if block.cursor[LAST] > 100:
            raise TestError("kernel")

    trainer = em.SkipGram(dim=8, min_count=1, epochs=ENDLESS)
    data = prepare(trainer, synonym_corpus(), threads=threads)
    with pytest.raises(TestError, match="kernel"):
        Run(data, replace(trainer.plan(data), kernel=learn_block)).train()
    assert not running_threads()


def assert_usable(interrupt, trainer):
    """The model of an interrupt is complete, and records how far training came."""
    model = interrupt.model
    assert model.name == trainer
    assert np.isfinite(model.vectors.matrix).all()
    assert abs(model.tables["output"]).max() > 0
    assert 0 < model.record["words"] < model.record["total_words"]
    assert 0 < len(model.record["loss_by_epoch"]) < ENDLESS
    assert not running_threads()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("trainer", ["skipgram", "cbow"])
def test_report_may_interrupt(trainer, threads):
    def report(progress):
        if progress.words:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as interrupt:
        em.train(trainer, synonym_corpus(), dim=8, min_count=1, epochs=ENDLESS, threads=threads, progress=report)
    assert_usable(interrupt.value, trainer)


SCRIPT = """
import sys
import embeddings as em
from embeddings.testing.trainer_contract import synonym_corpus
from embeddings.training.run import Interrupted

def report(progress):
    if progress.words:
        print("training", flush=True)

try:
    em.train("skipgram", synonym_corpus(), dim=8, min_count=1, epochs=100_000, threads=2, progress=report)
except Interrupted as interrupt:
    interrupt.model.save(sys.argv[1])
    print("saved", flush=True)
"""


def test_the_model_of_an_interrupted_process_can_be_saved(tmp_path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "model")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "training\n"
        os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert out.endswith("saved\n")
    assert process.returncode == 0
    record = em.Model.load(tmp_path / "model").record
    assert 0 < record["words"] < record["total_words"]
