"""Threads that fail, are stopped, or are interrupted: none goes on, nothing is lost, nobody waits."""

import _thread
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import embeddings as em
from embeddings.kernels.block import LAST
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.plugins.skipgram import Tables
from embeddings.testing.trainer_contract import planted
from embeddings.training import hogwild
from embeddings.training.result import Interrupted
from embeddings.training.task import prepare

ENDLESS = 100_000  # epochs: hours


class Wrong(Exception):
    """What a test raises in a thread."""


def alive():
    """The threads of the loop that still run."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("trainer")]


def test_runs_each_thread_once_and_reports_at_the_end():
    done, reports = [], []
    hogwild.run_threads(lambda thread, stop: done.append(thread), 5, lambda: reports.append(len(done)))
    assert sorted(done) == [0, 1, 2, 3, 4]
    assert reports[-1] == 5


def test_a_thread_that_fails_stops_the_others_and_is_heard():
    stopped = []

    def work(thread, stop):
        if thread == 2:
            raise Wrong("number 2")
        stop.wait()
        stopped.append(thread)

    with pytest.raises(Wrong, match="number 2"):
        hogwild.run_threads(work, 4, lambda: None)
    assert sorted(stopped) == [0, 1, 3]
    assert not alive()


def test_a_thread_that_fails_after_others_have_ended_is_heard():
    first = threading.Event()

    def work(thread, stop):
        if thread == 0:
            first.set()
            return
        first.wait()
        time.sleep(2 * hogwild.REPORT_INTERVAL)
        raise Wrong("late")

    with pytest.raises(Wrong, match="late"):
        hogwild.run_threads(work, 2, lambda: None)


def test_a_report_that_fails_stops_all_threads():
    stopped = []

    def work(thread, stop):
        stop.wait()
        stopped.append(thread)

    def report():
        raise Wrong("no more")

    with pytest.raises(Wrong, match="no more"):
        hogwild.run_threads(work, 3, report)
    assert sorted(stopped) == [0, 1, 2]
    assert not alive()


@pytest.mark.parametrize("threads", [1, 3])
def test_a_kernel_that_fails_reaches_the_caller_of_train(threads):
    def learn_block(block, tables, buffers, rate):
        if block.cursor[LAST] > 100:
            raise Wrong("kernel")

    made = em.SkipGram(dim=8, min_count=1, epochs=ENDLESS)
    task = prepare("skipgram", made, planted(), threads=threads)
    tables = Tables(words=np.zeros((40, 16), np.float32), output=np.zeros((40, 16), np.float32))
    with pytest.raises(Wrong, match="kernel"):
        task.run(learn_block, tables, lambda: new_step_buffers(10, 6, 16))
    assert not alive()


def test_a_report_that_raises_ends_training():
    told = []

    def report(progress):
        told.append(progress)
        if len(told) == 3:
            raise Wrong("enough")

    with pytest.raises(Wrong, match="enough"):
        em.train("cbow", planted(), dim=8, min_count=1, epochs=ENDLESS, threads=2, report=report)
    assert len(told) == 3
    assert not alive()


def assert_usable(stopped, trainer):
    """What was learned until an interrupt is a model like any other, that says how far it came."""
    model = stopped.model
    assert model.name == trainer
    assert np.isfinite(model.vectors.matrix).all()
    assert abs(model.tables["output"]).max() > 0
    assert 0 < model.record["words"] < model.record["total_words"]
    assert 0 < len(model.record["loss_by_epoch"]) < ENDLESS
    assert not alive()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("trainer", ["skipgram", "cbow"])
def test_a_report_may_interrupt(trainer, threads):
    def report(progress):
        if progress.words:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        em.train(trainer, planted(), dim=8, min_count=1, epochs=ENDLESS, threads=threads, report=report)
    assert_usable(stopped.value, trainer)


def test_an_interrupt_of_the_main_thread():
    """As Ctrl-C does it: the signal comes while the main thread waits for the others."""

    def report(progress):
        if progress.words and not timer.is_alive() and not timer.finished.is_set():
            timer.start()

    timer = threading.Timer(0.05, _thread.interrupt_main)
    with pytest.raises(Interrupted) as stopped:
        em.train("skipgram", planted(), dim=8, min_count=1, epochs=ENDLESS, threads=2, report=report)
    assert_usable(stopped.value, "skipgram")


SCRIPT = """
import sys
import embeddings as em
from embeddings.testing.trainer_contract import planted
from embeddings.training.result import Interrupted

def report(progress):
    if progress.words:
        print("training", flush=True)

try:
    em.train("skipgram", planted(), dim=8, min_count=1, epochs=100_000, threads=2, report=report)
except Interrupted as stopped:
    stopped.model.save(sys.argv[1])
    print("saved", flush=True)
"""


def test_a_signal_ends_a_real_process_and_its_model_can_be_saved(tmp_path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "model")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "training\n"
        os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert out.endswith("saved\n")
    assert process.returncode == 0
    record = em.Model.load(tmp_path / "model").record
    assert 0 < record["words"] < record["total_words"]
