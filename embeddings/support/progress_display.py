"""A progress display: a refreshed bar on a terminal or in a notebook, lines on any other stream."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from time import perf_counter
from typing import IO, Any

from embeddings.printable import printable
from embeddings.support.logs import displays

REFRESH_INTERVAL = 0.25  # seconds
PACE_SECONDS = 1.0  # until a rate is shown
PATIENCE = 0.5  # seconds until a display appears that nobody asked for
BAR_WIDTH = 12  # characters
MEGABYTES = "MB"

ProgressOption = bool | Callable[..., object] | None  # automatic if None


def clock(seconds: float) -> str:
    """Seconds as h:mm:ss or m:ss."""
    if seconds == float("inf"):
        return "-"
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def bar_of(share: float, encoding: str | None) -> str:
    """A percentage with a bar in characters of this encoding."""
    eighths = round(8 * BAR_WIDTH * min(share, 1.0))
    bar = "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
    # a character that the stream cannot encode would end training with an error
    if encoding is None or not encoding.lower().startswith("utf"):
        bar = "#" * (eighths // 8)
    return f"{100 * share:3.0f} % |{bar:{BAR_WIDTH}}| "


class ProgressDisplay:
    """Shows progress of training, of reading a corpus, and of other long operations.

        em.SkipGram().train(em.Corpus("text.zst"), progress=em.training.ProgressDisplay(stream=open("log.txt", "w")))

    A terminal and a notebook show a bar in a refreshed line; any other stream gets a line every few seconds.
    Operations make their own display where someone is watching; this class is for other streams and intervals.

    Arguments:
        action: what is shown in front, such as "training"; by default the name of the operation.
        every: seconds between lines on a stream that is not a terminal.
        stream: where to write; standard error by default.
        delay: seconds without a display at the start, so that nothing is shown for short operations.
        leave: whether the complete bar stays on a terminal, and other streams get a last line.
    """

    is_shared = True  # whether inner operations, such as reading before training, may use it

    def __init__(
        self, action: str = "", *, every: float = 10.0, stream: IO[str] | None = None, delay: float = 0.0,
        leave: bool = True,
    ) -> None:  # fmt: skip
        self.action, self.every, self.stream, self.leave = action, every, stream, leave
        self.is_started = False
        self._operation = self._unit = ""  # shown if there is no action
        self._first: tuple[int, float] | None = None  # what was done at the first report, and when
        self._due = perf_counter() + delay  # when the next state may be shown
        self._is_shown = False
        self._has_line = False  # whether a line on a terminal or in a notebook is to be refreshed
        self._output: Any = None  # of a notebook

    def __call__(self, done: Any, total: int | None = None) -> None:
        """Show a `Progress` of a training run, or `done` out of `total` items (None if unknown)."""
        self.is_started = True
        self.report(self.action or self._operation, self._unit, done, total)

    def report(self, action: str, unit: str, done: Any, total: int | None = None) -> None:
        """Show the progress of an action, in units such as "texts" or "MB" (of bytes)."""
        if not isinstance(done, int):
            self.update(done.words, done.total, done.details, action)
        elif unit == MEGABYTES:
            self.update(done, total, f"{done / 1e6:,.0f} MB", action)
        else:
            count = f"{done:,} of {total:,}" if total else f"{done:,}"
            self.update(done, total, f"{count} {unit}".rstrip() + self.pace(unit, done, total), action)

    def pace(self, unit: str, done: int, total: int | None) -> str:
        """How many texts a second are done since the first report, and the time left; nothing for other units."""
        first, start = self._first = self._first or (done, perf_counter())
        seconds = perf_counter() - start
        if unit != "texts" or seconds < PACE_SECONDS or done <= first:
            return ""
        rate = (done - first) / seconds
        return f", {rate:,.0f}/s" + (f", {clock((total - done) / rate)} left" if total else "")

    def update(self, done: int, total: int | None, details: str, action: str | None = None) -> None:
        """Show that `done` of `total` steps are complete."""
        share, name = done / total if total else None, printable(action or self.action)
        # kernels report often: most reports must cost no more than this comparison
        now, is_last = perf_counter(), self.leave and share is not None and share >= 1
        if now < self._due and not (is_last and self._is_shown):
            return
        self._is_shown, stream, details = True, self.stream or sys.stderr, printable(details)
        # at every call: programs replace standard error while an operation is running
        is_refreshed = is_tty(stream) or (self.stream is None and in_notebook())
        self._due = now + (REFRESH_INTERVAL if is_refreshed else self.every)
        if stream is None:  # a program without a console
            return
        if not is_refreshed:
            percentage = "" if share is None else f"{100 * share:.0f} %  "
            print(f"{name} {percentage}{details}".strip(), file=stream, flush=True)
            return
        bar = "" if share is None else bar_of(share, getattr(stream, "encoding", None))
        line = (f"{name} " * bool(name) + bar + details)[: shutil.get_terminal_size().columns - 1]
        if self.stream is None and in_notebook():
            self.show_in_notebook({"text/plain": line})
            self._has_line = True
            return
        stream.write(f"\r\x1b[K{line}" + "\n" * is_last)
        stream.flush()
        self._has_line = not is_last

    def show_in_notebook(self, data: dict[str, str]) -> None:
        """Show a line in a notebook; an empty one leaves nothing in the saved notebook, as text of a stream would."""
        if self._output is None:
            self._output = sys.modules["IPython"].display.display(data, raw=True, display_id=True)
        else:
            self._output.update(data, raw=True)

    def notice(self, message: str) -> None:
        """Show the reason for a delay before the first progress, such as compilation."""
        self.clear()
        print(printable(message), file=self.stream or sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the line of a terminal or notebook, so that another one can be printed."""
        if self._has_line and self._output is not None:
            self.show_in_notebook({})
        elif self._has_line:
            (self.stream or sys.stderr).write("\r\x1b[K")
        self._has_line = False

    def end(self) -> None:
        """Leave the line of a terminal, or remove it; in a notebook it is removed."""
        if self._has_line and self.leave and self._output is None:
            print(file=self.stream or sys.stderr, flush=True)
            self._has_line = False
        self.clear()

    @contextmanager
    def showing(self, action: str, unit: str) -> Iterator["ProgressDisplay"]:
        """Show an operation until it ends."""
        self._operation, self._unit, self.is_started, self._first = action, unit, False, None
        displays.append(self)
        try:
            yield self
        finally:
            displays.remove(self)
            self.end()


class NoDisplay:
    """Shows nothing, and keeps inner operations from showing anything."""

    is_shared = False

    def notice(self, message: str) -> None:
        """Ignore a message, which is logged too."""

    def clear(self) -> None:
        """Do nothing: there is no line."""


@contextmanager
def showing(progress: ProgressOption, action: str, unit: str = "") -> Iterator[Callable[..., Any] | None]:
    """The function to call with the progress of an operation, until it ends; None if nothing is to be shown.

    An inner operation uses the display of an outer one that has not shown anything yet, as reading before training
    does; otherwise only the outer one shows its progress.

    Arguments:
        progress: True for a display, False for none, or a function to call; None for a display where someone is
            watching: in a notebook, or if standard error is a terminal.
        action, unit: what is done, such as "embedding", and to what, such as "texts".
    """
    outer = displays[-1] if displays else None
    if isinstance(progress, ProgressDisplay):
        with progress.showing(action, unit) as display:
            yield display
    elif callable(progress) or progress is False:
        silent = [NoDisplay()] * (outer is None or progress is False)
        displays.extend(silent)
        try:
            yield progress or None
        finally:
            for one in silent:
                displays.remove(one)
    elif progress is None and outer is not None:
        yield partial(outer.report, action, unit) if outer.is_shared and not outer.is_started else None
    elif progress or in_notebook() or is_tty(sys.stderr):
        with ProgressDisplay(delay=0.0 if progress else PATIENCE).showing(action, unit) as display:
            yield display
    else:
        yield None


@contextmanager
def waiting(progress: ProgressOption, action: str) -> Iterator[None]:
    """Show for how many seconds an operation that does not measure its progress has been running."""
    with showing(progress, action, "s") as report:
        if report is None:
            yield
            return
        end, start = Event(), perf_counter()

        def count() -> None:
            while not end.wait(REFRESH_INTERVAL):
                report(round(perf_counter() - start), None)

        thread = Thread(target=count, daemon=True)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()


def is_tty(stream: Any) -> bool:
    """Whether a stream is a terminal; there may be no stream, as in a program without a console."""
    return hasattr(stream, "isatty") and not getattr(stream, "closed", False) and bool(stream.isatty())


def in_notebook() -> bool:
    """Whether this runs in the kernel of a notebook, which has imported IPython."""
    ipython = sys.modules.get("IPython")
    return getattr(ipython.get_ipython() if ipython else None, "kernel", None) is not None
