"""Progress for people: a refreshed line in a notebook or on a terminal, occasional lines elsewhere."""

import sys
from time import perf_counter
from typing import IO, Any

from embeddings.support.html import Html, tag
from embeddings.support.logs import notice_printers
from embeddings.training.progress import Progress

REFRESH_INTERVAL = 0.25  # seconds


class ProgressDisplay:
    """A `report` function that shows progress of training, of reading a corpus, and of inference.

        em.SkipGram().train(em.Corpus("text.zst"), report=em.ProgressDisplay())

    A notebook shows a bar, a terminal a refreshed line; any other stream gets a line every few seconds. Use a new one
    for each run.

    Arguments:
        every: seconds between lines on a stream that is not a terminal.
        stream: where to write outside of notebooks; standard error by default.
    """

    def __init__(self, *, every: float = 10.0, stream: IO[str] | None = None) -> None:
        self.every = every
        self.stream = stream
        self._last_time = float("-inf")
        self._handle: Any = None
        notice_printers.append(self._print_notice)

    def __call__(self, done: Progress | int, total: int | None = None) -> None:
        """Show the progress of a training run, or of `done` out of `total` items (None if unknown)."""
        view = ProgressView.of(done, total)
        if view.is_complete and self._print_notice in notice_printers:
            notice_printers.remove(self._print_notice)
        notebook = in_notebook()
        stream = self.stream or sys.stderr
        terminal = not notebook and stream.isatty()
        elapsed_time = perf_counter() - self._last_time
        if elapsed_time < (REFRESH_INTERVAL if notebook or terminal else self.every) and not view.is_complete:
            return
        self._last_time = perf_counter()
        if notebook:
            self._refresh(view)
            return
        end = "\n" if view.is_complete or not terminal else ""
        stream.write(f"\r\x1b[K{view.text}{end}" if terminal else f"{view.text}\n")
        stream.flush()

    def _print_notice(self, message: str) -> None:
        """Show the reason for a delay before the first progress, such as compilation."""
        print(message, file=self.stream or sys.stderr, flush=True)

    def _refresh(self, view: "ProgressView") -> None:
        """Show in the output of a notebook's cell."""
        from IPython.display import display

        if self._handle is None:
            self._handle = display(view, display_id=True)
        else:
            self._handle.update(view)


class ProgressView:
    """Progress as text and as HTML."""

    def __init__(self, text: str, share: float | None) -> None:
        self.text, self.share = text, share

    @classmethod
    def of(cls, done: Progress | int, total: int | None) -> "ProgressView":
        """The view of a `Progress`, or of `done` out of `total` items."""
        if isinstance(done, Progress):
            return cls(str(done), done.share)
        if not total:
            return cls(f"{done:,}", None)
        return cls(f"{100 * done / total:3.0f} %  {done:,} of {total:,}", done / total)

    @property
    def is_complete(self) -> bool:
        """Whether everything is done."""
        return self.share is not None and self.share >= 1

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        bar = Html("") if self.share is None else tag("progress", value=f"{self.share:.4f}", max=1)
        return tag("div", bar, " ", tag("code", self.text))


def in_notebook() -> bool:
    """Whether this runs in a notebook's kernel; imports nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None
