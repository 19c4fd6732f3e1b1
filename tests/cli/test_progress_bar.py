"""Progress of commands on standard error, warnings above it, and --quiet."""

import io
from contextlib import contextmanager, redirect_stderr

from embeddings.cli.progress_bar import Bar, printed_warnings
from embeddings.support.logs import log, notice
from embeddings.support.progress_display import showing


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(terminal):
    """What is printed, without the line of the progress, which is replaced."""
    return [line.rpartition("\x1b[K")[2] for line in terminal.getvalue().split("\n")]


@contextmanager
def reading(quiet):
    """A terminal, its bar, and a function that reports how much is read."""
    with (
        redirect_stderr(Terminal()) as terminal,
        printed_warnings(),
        Bar(quiet) as bar,
        showing(bar, "reading", "texts") as report,
    ):
        yield terminal, bar, report


def test_a_warning_and_a_notice_take_the_line_of_the_progress():
    with reading(False) as (terminal, _, report):
        report(3, 4)
        assert "reading  75 %" in terminal.getvalue()
        for _ in range(2):
            log.warning("%s is odd", "one")
        report(4, 4)
        notice("compiling")
    assert shown(terminal) == ["warning: one is odd", "compiling", ""]
    log.warning("nobody prints this")
    assert len(shown(terminal)) == 3


def test_quiet_shows_warnings_only():
    with reading(True) as (terminal, bar, report):
        report(3, 4)
        bar.notice("saved")
        log.warning("odd")
    assert terminal.getvalue() == "warning: odd\n"
