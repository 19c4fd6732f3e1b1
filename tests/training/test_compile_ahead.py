"""The command line compiles a trainer's kernels in a second process, and only if they are missing in the cache."""

import sys

import pytest
from platforms import needs_fork

import embeddings as em
from embeddings import registry
from embeddings.compilation import compile_process
from embeddings.models.document_vectors import concatenate
from embeddings.training.compile_ahead import CompilationNeeded, inference_work, training_work, work_if_needed

LINES = ["a b c d e f", "b c d a f e"] * 20

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks safely enough")


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    monkeypatch.setattr(compile_process, "available_threads", lambda: 2)
    monkeypatch.setattr(compile_process.threading, "active_count", lambda: 1)


def test_work_that_compiles_nothing_is_not_done():
    assert work_if_needed("a.module", lambda process: None) is None


def test_work_that_fails_is_not_done():
    assert work_if_needed("a.module", lambda process: 1 / 0) is None


@needs_fork
def test_work_that_compiles_is_done():
    def work(process):
        raise CompilationNeeded

    assert work_if_needed("a.module", work) is work


@pytest.mark.parametrize("name", ["skipgram", "fasttext", "paragraph-dm"])
def test_after_training_nothing_is_missing(name, tmp_path):
    """So the small text has the types of any other, and the second process compiles what training uses."""
    trainer = registry.create("trainer", name, {"dim": 8, "min_count": 1, "epochs": 1})
    (tmp_path / "text.txt").write_text("\n".join(LINES))
    model = trainer.train(em.Corpus(tmp_path / "text.txt"), threads=1)
    assert training_work(trainer) is None
    if name == "paragraph-dm":
        model.infer(LINES[:1], threads=1)
        assert inference_work(concatenate(model)) is None


WATCH = """
import sys
from numba.core import event

class Watch(event.Listener):
    def on_start(self, event):
        print("COMPILED", event.data["dispatcher"].py_func.__name__, file=sys.stderr)

    def on_end(self, event):
        pass

from embeddings.support import system
system.available_threads = lambda: 2
from embeddings.compilation import compile_monitor
event.register("numba:compile", Watch())
from embeddings.cli import main
main(sys.argv[1:])
"""


@pytest.mark.slow
def test_a_first_run_compiles_the_kernel_in_the_second_process_only(python, tmp_path):
    text, out = tmp_path / "text.txt", tmp_path / "v"
    text.write_text("\n".join(LINES))
    run = python(
        "-c",
        WATCH,
        "train",
        "skipgram",
        text,
        "-o",
        out,
        "--min-count",
        "1",
        "--json",
        EMBEDDINGS_CACHE=str(tmp_path / "cache"),
    )
    kernels = [line.split()[1] for line in run.stderr.splitlines() if line.startswith("COMPILED")]
    assert "scan" in kernels
    assert "learn_block" not in kernels
    assert list((tmp_path / "cache").rglob("*learn_block*.nbc"))
    assert "compiling skipgram (once on this machine)" in run.stderr
    model = em.load_model(out)
    assert model.record["compile_seconds"] > 0
    assert model.record["seconds"] < model.record["compile_seconds"]
    again = python(
        "-c",
        WATCH,
        "train",
        "skipgram",
        text,
        "-o",
        out,
        "--force",
        "--min-count",
        "1",
        "--json",
        EMBEDDINGS_CACHE=str(tmp_path / "cache"),
    )
    assert "COMPILED" not in again.stderr
    assert em.load_model(out).record["compile_seconds"] == 0
