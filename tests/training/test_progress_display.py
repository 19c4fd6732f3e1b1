"""The progress display on a terminal, in a file and in a notebook."""

import io
import sys
import types

import pytest

import embeddings as em
from embeddings.training.progress import ProgressView


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Notebook:
    """A fake of IPython: a shell with a kernel, and displays that record what they show."""

    def __init__(self):
        self.displays = []
        self.kernel = object()

    def get_ipython(self):
        return self

    def display(self, state, *, display_id):
        assert display_id is True
        states = [state]
        self.displays.append(states)
        return types.SimpleNamespace(update=states.append)


@pytest.fixture
def notebook(monkeypatch):
    fake = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=fake.get_ipython))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=fake.display))
    return fake


def progress_at(words, seconds=2.0, loss=2.5):
    return em.training.Progress(
        words=words, total=1000, epoch=2, epochs=5, learning_rate=0.0125, loss=loss, seconds=seconds
    )


def test_progress_as_a_line():
    assert str(progress_at(250)) == " 25 %  0:06 left  0.00 M words/s  loss 2.5000  learning rate 0.01250  epoch 2/5"
    assert (
        str(progress_at(0, seconds=0.0, loss=None))
        == "  0 %  - left  0.00 M words/s  loss -  learning rate 0.01250  epoch 2/5"
    )
    assert "7:56:42 left" in str(progress_at(250, seconds=9534.0))


def test_occasional_lines_without_a_terminal():
    stream = io.StringIO()
    show = em.training.ProgressDisplay(every=1000, stream=stream)
    for words in (100, 200, 300, 1000):
        show(progress_at(words))
    assert stream.getvalue() == f"{progress_at(100)}\n{progress_at(1000)}\n"


def test_refreshed_line_on_a_terminal():
    stream = Terminal()
    show = em.training.ProgressDisplay(stream=stream)
    for words in (100, 200, 1000):
        show(progress_at(words))
    assert stream.getvalue() == f"\r\x1b[K{progress_at(100)}\r\x1b[K{progress_at(1000)}\n"


def test_default_stream_is_standard_error(capsys):
    em.training.ProgressDisplay()(progress_at(1000))
    assert capsys.readouterr() == ("", f"{progress_at(1000)}\n")


def test_refreshed_bar_in_a_notebook(notebook, capsys):
    show = em.training.ProgressDisplay()
    for words in (100, 200, 1000):
        show(progress_at(words))
    assert [[repr(state) for state in states] for states in notebook.displays] == [
        [str(progress_at(100)), str(progress_at(1000))]
    ]
    assert notebook.displays[0][0]._repr_html_().startswith('<div><progress value="0.1000" max="1"></progress> <code>')
    assert capsys.readouterr() == ("", "")


def test_ipython_terminal_is_not_a_notebook(notebook, capsys):
    del notebook.kernel
    em.training.ProgressDisplay()(progress_at(1000))
    assert capsys.readouterr().err == f"{progress_at(1000)}\n"
    assert not notebook.displays


def test_progress_of_reading_and_inference():
    assert ProgressView.of(5, 20).text == " 25 %  5 of 20"
    assert ProgressView.of(5, None).text == "5"
    assert ProgressView.of(0, 0).share is None
    assert ProgressView.of(5, None)._repr_html_() == "<div> <code>5</code></div>"


def test_display_of_encoding_training_and_inference():
    stream = io.StringIO()
    show = em.training.ProgressDisplay(every=0, stream=stream)
    corpus = em.Corpus(["a b", "b c"] * 20)
    corpus.encode(report=show)
    model = em.ParagraphDBOW(dim=4, min_count=1).train(corpus, report=show)
    model.infer(["a"], report=show)
    lines = stream.getvalue().splitlines()
    assert lines[-1] == "100 %  1 of 1"
    assert any(line.startswith("100 %  0:00 left") for line in lines)


def test_print_as_report(capsys):
    em.train("cbow", ["a b"] * 9, min_count=1, subsample=0, dim=2, report=print)
    assert capsys.readouterr().out.splitlines()[-1].startswith("100 %  0:00 left")
