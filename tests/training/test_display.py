"""Progress for people: on a terminal, in a file, in a notebook."""

import io
import sys
import types

import pytest

import embeddings as em
from embeddings.training.progress_display import ProgressView


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Notebook:
    """As much of IPython as is asked: a kernel's shell, and displays that keep their states."""

    def __init__(self):
        self.shown = []
        self.kernel = object()

    def get_ipython(self):
        return self

    def display(self, state, *, display_id):
        assert display_id is True
        states = [state]
        self.shown.append(states)
        return types.SimpleNamespace(update=states.append)


@pytest.fixture
def notebook(monkeypatch):
    made = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=made.get_ipython))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=made.display))
    return made


def told(words, seconds=2.0, loss=2.5):
    return em.Progress(words=words, total=1000, epoch=2, epochs=5, learning_rate=0.0125, loss=loss, seconds=seconds)


def test_a_report_as_a_line():
    assert str(told(250)) == " 25 %  0:06 left  0.00 M words/s  loss 2.5000  rate 0.01250  epoch 2/5"
    assert str(told(0, seconds=0.0, loss=None)) == "  0 %  - left  0.00 M words/s  loss -  rate 0.01250  epoch 2/5"
    assert "7:56:42 left" in str(told(250, seconds=9534.0))


def test_lines_now_and_then_where_there_is_no_terminal():
    stream = io.StringIO()
    show = em.ProgressDisplay(every=1000, stream=stream)
    for words in (100, 200, 300, 1000):
        show(told(words))
    assert stream.getvalue() == f"{told(100)}\n{told(1000)}\n"


def test_a_line_that_is_refreshed_on_a_terminal():
    stream = Terminal()
    show = em.ProgressDisplay(stream=stream)
    for words in (100, 200, 1000):
        show(told(words))
    assert stream.getvalue() == f"\r\x1b[K{told(100)}\r\x1b[K{told(1000)}\n"


def test_standard_error_if_nothing_else_is_said(capsys):
    em.ProgressDisplay()(told(1000))
    assert capsys.readouterr() == ("", f"{told(1000)}\n")


def test_a_bar_that_is_refreshed_in_a_notebook(notebook, capsys):
    show = em.ProgressDisplay()
    for words in (100, 200, 1000):
        show(told(words))
    assert [[repr(state) for state in states] for states in notebook.shown] == [[str(told(100)), str(told(1000))]]
    assert notebook.shown[0][0]._repr_html_().startswith('<div><progress value="0.1000" max="1"></progress> <code>')
    assert capsys.readouterr() == ("", "")


def test_a_terminal_of_ipython_is_no_notebook(notebook, capsys):
    del notebook.kernel
    em.ProgressDisplay()(told(1000))
    assert capsys.readouterr().err == f"{told(1000)}\n"
    assert not notebook.shown


def test_reports_of_other_kinds():
    assert ProgressView.of(5, 20).text == " 25 %  5 of 20"
    assert ProgressView.of(5, None).text == "5"
    assert ProgressView.of(0, 0).share is None
    assert ProgressView.of(5, None)._repr_html_() == "<div> <code>5</code></div>"


def test_with_everything_that_reports():
    stream = io.StringIO()
    show = em.ProgressDisplay(every=0, stream=stream)
    corpus = em.Corpus(["a b", "b c"] * 20)
    corpus.encode(report=show)
    model = em.ParagraphDBOW(dim=4, min_count=1).train(corpus, report=show)
    model.infer(["a"], report=show)
    lines = stream.getvalue().splitlines()
    assert lines[-1] == "100 %  1 of 1"
    assert any(line.startswith("100 %  0:00 left") for line in lines)


def test_print_is_a_report_too(capsys):
    em.train("cbow", ["a b"] * 9, min_count=1, dim=2, report=print)
    assert capsys.readouterr().out.splitlines()[-1].startswith("100 %  0:00 left")
