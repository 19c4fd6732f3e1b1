"""Progress for people: a line that is refreshed in a notebook or on a terminal, a line now and then elsewhere."""

import sys
from time import perf_counter
from typing import IO, Any

from embeddings.support.html import Html, tag
from embeddings.training.progress import Progress

REFRESH = 0.25  # seconds between two states of a line that is refreshed


class ProgressDisplay:
    """A `report` that shows how far a run is, for trainings, for reading a corpus and for inference.

        em.SkipGram().train(em.Corpus("text.zst"), report=em.ProgressDisplay())

    A notebook shows a bar that is refreshed, a terminal a line; any other stream gets a line every so many seconds.
    Make one for each run.

    Arguments:
        every: seconds between such lines.
        stream: where to write outside of notebooks; standard error if not given.
    """

    def __init__(self, *, every: float = 10.0, stream: IO[str] | None = None) -> None:
        self.every = every
        self.stream = stream
        self._told = float("-inf")
        self._handle: Any = None

    def __call__(self, done: Progress | int, total: int | None = None) -> None:
        """Show a report of a training, or how much is done, of how much if that is known."""
        state = State.of(done, total)
        notebook = in_notebook()
        terminal = not notebook and self._stream.isatty()
        waited = perf_counter() - self._told
        if waited < (REFRESH if notebook or terminal else self.every) and not state.finished:
            return
        self._told = perf_counter()
        if notebook:
            self._refresh(state)
        else:
            self._write(state, terminal)

    @property
    def _stream(self) -> IO[str]:
        return self.stream or sys.stderr

    def _refresh(self, state: "State") -> None:
        """Show in the output of a notebook's cell."""
        from IPython.display import display

        if self._handle is None:
            self._handle = display(state, display_id=True)
        else:
            self._handle.update(state)

    def _write(self, state: "State", terminal: bool) -> None:
        """Show as text."""
        end = "\n" if state.finished or not terminal else ""
        self._stream.write(f"\r\x1b[K{state.text}{end}" if terminal else f"{state.text}\n")
        self._stream.flush()


class State:
    """How far a run is, as text and as HTML."""

    def __init__(self, text: str, share: float | None) -> None:
        self.text, self.share = text, share

    @classmethod
    def of(cls, done: Progress | int, total: int | None) -> "State":
        """Of a report in either form."""
        if isinstance(done, Progress):
            return cls(str(done), done.share)
        if not total:
            return cls(f"{done:,}", None)
        return cls(f"{100 * done / total:3.0f} %  {done:,} of {total:,}", done / total)

    @property
    def finished(self) -> bool:
        """Whether all is done."""
        return self.share is not None and self.share >= 1

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        bar = Html("") if self.share is None else tag("progress", value=f"{self.share:.4f}", max=1)
        return tag("div", bar, " ", tag("code", self.text))


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this; nothing is imported to know."""
    found = sys.modules.get("IPython")
    shell = found.get_ipython() if found is not None else None
    return getattr(shell, "kernel", None) is not None
