"""The progress display on a terminal, in a file and in a notebook, and where it appears by itself."""

import io
import sys
import types
from time import perf_counter, sleep

import pytest

import embeddings as em
from embeddings.support import progress_display
from embeddings.support.logs import displays, notice
from embeddings.support.progress_display import ProgressDisplay, showing, waiting


class Terminal(io.StringIO):
    encoding = None

    def isatty(self):
        return True


@pytest.fixture
def notebook(monkeypatch):
    """A fake of IPython: a shell with a kernel, and what its output shows one after another."""
    shell = types.SimpleNamespace(kernel=object(), shown=[])

    def display(data, raw, display_id=True):
        shell.shown.append(data.get("text/plain"))
        return types.SimpleNamespace(update=display)

    names = {"get_ipython": lambda: shell, "display": types.SimpleNamespace(display=display)}
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(**names))
    return shell


def progress_at(words):
    return em.training.Progress(words=words, total=1000, epoch=2, epochs=5, learning_rate=0.0125, loss=2.5, seconds=2.0)


def line_of(words):
    return f"training {words // 10} %  {progress_at(words).details}"


def test_occasional_lines_without_a_terminal():
    stream = io.StringIO()
    show = ProgressDisplay("training", every=1000, stream=stream)
    for words in (100, 200, 300, 1000):
        show(progress_at(words))
    assert stream.getvalue() == f"{line_of(100)}\n{line_of(1000)}\n"


@pytest.mark.parametrize(("encoding", "bar"), [("utf-8", "█▏"), ("ascii", "#"), (None, "#")])
def test_refreshed_bar_on_a_terminal(encoding, bar, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(Terminal, "encoding", encoding)
    stream = Terminal()
    show = ProgressDisplay("training", stream=stream)
    for words in (94, 200, 1000):
        show(progress_at(words))
    first, last = stream.getvalue().removeprefix("\r\x1b[K").split("\r\x1b[K")
    assert first == f"training   9 % |{bar:12}| {progress_at(94).details}"[:59]
    assert last.startswith("training 100 % |")
    assert last.endswith("\n")


def test_a_line_of_a_terminal_makes_room_for_notices_and_for_the_next_line():
    stream = Terminal()
    show = ProgressDisplay(stream=stream)
    with showing(show, "counting") as report:
        report(1, None)
        notice("compiling")
        report(2, None)
        assert stream.getvalue() == "\r\x1b[Kcounting 1\r\x1b[Kcompiling\n"
    assert not displays
    show = ProgressDisplay(stream=stream)
    with showing(show, "counting") as report:
        report(3, None)
    assert stream.getvalue().endswith("counting 3\n")


def test_refreshed_bar_in_a_notebook_and_not_in_another_shell_of_ipython(notebook, capsys):
    with showing(ProgressDisplay("training"), "counting") as report:
        report(progress_at(1000))
    assert notebook.shown[0].startswith("training 100 % |")
    assert (notebook.shown[1:], capsys.readouterr().err) == ([None], "")  # nothing stays in the saved notebook
    del notebook.kernel
    ProgressDisplay("training")(progress_at(1000))
    assert capsys.readouterr().err == f"{line_of(1000)}\n"


def test_progress_in_items_and_bytes():
    show = ProgressDisplay(stream=io.StringIO(), every=0)
    for done, total in ((5, 20), (5, None), (0, 0)):
        show.report("reading", "lines", done, total)
    show.report("reading", "MB", 34_000_000, 68_000_000)
    assert show.stream.getvalue().splitlines() == [
        "reading 25 %  5 of 20 lines", "reading 5 lines", "reading 0 lines", "reading 50 %  34 MB"
    ]  # fmt: skip


def test_texts_have_a_rate_and_the_time_left(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress_display, "perf_counter", lambda: now[0])
    show = ProgressDisplay(every=0)
    assert show.pace("texts", 100, 1000) == ""
    now[0] = 10.0
    assert show.pace("texts", 300, 1000) == ", 20/s, 0:35 left"


@pytest.fixture
def terminal(monkeypatch):
    """Standard error as a terminal, on which displays appear at once."""
    stream = Terminal()
    standard = types.SimpleNamespace(stderr=stream, modules=sys.modules)  # pytest replaces the real one
    monkeypatch.setattr(progress_display, "sys", standard)
    monkeypatch.setattr(progress_display, "PATIENCE", 0.0)
    monkeypatch.setattr(progress_display, "REFRESH_INTERVAL", 0.01)
    return stream


TEXTS = ["a b", "b c"] * 20
SMALL = {"min_count": 1, "subsample": 0, "dim": 2, "threads": 1}
DOCUMENTS = []


def infer(**progress):
    if not DOCUMENTS:
        DOCUMENTS.append(em.train("paragraph-dbow", TEXTS, progress=False, **SMALL))
    return DOCUMENTS[0].infer(TEXTS, **progress)


OPERATIONS = {
    "reading": lambda **progress: em.Corpus(TEXTS).encode(**progress),
    "training": lambda **progress: em.train("cbow", TEXTS, **SMALL, **progress),
    "embedding": lambda **progress: em.embed(em.Vectors(["a", "b"], [[1, 0], [0, 1]]), TEXTS, **progress),
    "inferring": infer,
}


@pytest.mark.parametrize("action", OPERATIONS)
def test_progress_appears_where_someone_is_watching(action, terminal):
    operate = OPERATIONS[action]
    operate(progress=False)
    assert not terminal.getvalue()
    operate()
    assert f"\x1b[K{action} " in terminal.getvalue()
    assert not displays


def test_nothing_appears_in_a_pipe_for_a_short_operation_or_within_another_one(terminal, monkeypatch, capsys):
    train = OPERATIONS["training"]
    with showing(None, "counting", "models") as report:
        report(1, 2)
        train()  # the outer operation has begun to show its progress
    assert "training" not in terminal.getvalue()
    seen = terminal.getvalue()
    monkeypatch.setattr(progress_display, "PATIENCE", 1000)
    train()
    assert terminal.getvalue() == seen
    monkeypatch.setattr(progress_display, "PATIENCE", 0)
    monkeypatch.setattr(Terminal, "isatty", lambda stream: False)
    train()
    assert terminal.getvalue() == seen
    monkeypatch.setattr(progress_display.sys, "stderr", None)  # as in a program without a console
    train()
    assert capsys.readouterr() == ("", "")


def test_a_function_gets_the_progress_of_its_operation_only(terminal):
    reports = []
    OPERATIONS["training"](progress=reports.append)
    assert all(isinstance(one, em.training.Progress) for one in reports)
    assert reports[-1].share == 1
    assert not terminal.getvalue()


def test_seconds_of_an_operation_without_a_measure(terminal):
    with waiting(True, "indexing"):
        end = perf_counter() + 10
        while "indexing 0 s" not in terminal.getvalue() and perf_counter() < end:
            sleep(0.01)
    assert "indexing 0 s" in terminal.getvalue()
    with waiting(False, "nothing"):
        assert "nothing" not in terminal.getvalue()
