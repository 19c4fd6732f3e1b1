"""How far a training run has come, as its caller is told."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from time import perf_counter
from typing import Any

import numpy as np

from embeddings.settings import Schedule


@dataclass(frozen=True)
class Progress:
    """One report: words of the corpus read so far, and what they tell.

    `loss` is the mean, over the pairs of input and positive in one window of 64 since the last report, of the
    negative-sampling loss (natural logarithms); None where there was none yet. `rate` falls block by block, of some
    8,000 words each or, where a model says so, fewer. `seconds` have passed.
    """

    words: int
    total: int
    epoch: int
    epochs: int
    rate: float
    loss: float | None
    seconds: float

    @property
    def share(self) -> float:
        """Share of the run that is done, 0 to 1."""
        return self.words / self.total

    @property
    def words_per_second(self) -> float:
        """Words of the corpus read a second since the start."""
        return self.words / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float:
        """Seconds to the end at the pace so far."""
        speed = self.words_per_second
        return (self.total - self.words) / speed if speed else float("inf")

    @property
    def details(self) -> str:
        """Time left, speed, loss, rate and epoch, in a line."""
        loss = "-" if self.loss is None else f"{self.loss:.4f}"
        return (
            f"{clock(self.seconds_left)} left  {self.words_per_second / 1e6:.2f} M words/s  loss {loss}  "
            f"rate {self.rate:.5f}  epoch {self.epoch}/{self.epochs}"
        )

    def __str__(self) -> str:
        return f"{100 * self.share:3.0f} %  {self.details}"


def clock(seconds: float) -> str:
    """Seconds as hours, minutes and seconds."""
    if seconds == float("inf"):
        return "-"
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


Report = Callable[[Progress], None]


@dataclass
class Tally:
    """What the threads count, a row each: only its own thread writes a row."""

    threads: int
    schedule: Schedule
    corpus_words: int
    started: float = field(default_factory=perf_counter)

    def __post_init__(self) -> None:
        self.words = np.zeros(self.threads, np.int64)
        self.steps = np.zeros(self.threads)  # bundles learned
        self.sums: list[list[np.ndarray]] = [[] for _ in range(self.threads)]  # of each epoch begun
        self._all, self._told = np.zeros((self.threads, 2)), np.zeros(2)

    @property
    def total(self) -> int:
        """Words to read over all epochs."""
        return self.corpus_words * self.schedule.epochs

    @property
    def done(self) -> int:
        """Words read so far by all threads."""
        return int(self.words.sum())

    @property
    def rate(self) -> float:
        """The learning rate now."""
        return self.schedule.rate_at(self.done, self.total)

    def progress(self) -> Progress:
        """A report; its loss is over what came since the last one."""
        sums: np.ndarray = self._all.sum(axis=0)
        with np.errstate(invalid="ignore"):  # of a model that diverged, they are infinite
            loss, pairs = sums - self._told
        if pairs > 0:
            self._told = sums
        return Progress(
            words=self.done,
            total=self.total,
            epoch=min(self.done // self.corpus_words + 1, self.schedule.epochs),
            epochs=self.schedule.epochs,
            rate=self.rate,
            loss=float(loss / pairs) if pairs > 0 else None,
            seconds=perf_counter() - self.started,
        )

    def begin_epoch(self, thread: int) -> None:
        """From now on the thread's loss belongs to its next epoch."""
        self.sums[thread].append(np.zeros(2))

    def add(self, thread: int, loss: float, pairs: float) -> None:
        """What a thread has tallied: a sum of losses and the pairs it is over."""
        self.sums[thread][-1] += loss, pairs
        self._all[thread] += loss, pairs

    def losses(self) -> list[float | None]:
        """The mean loss of each epoch begun; None where no window was tallied."""
        epochs = [np.sum(parts, axis=0) for parts in zip_longest(*self.sums, fillvalue=np.zeros(2))]
        return [float(loss / pairs) if pairs > 0 else None for loss, pairs in epochs]

    def state(self) -> dict[str, Any]:
        """What was counted, as JSON holds it; floats are exact there."""
        return {
            "seconds": perf_counter() - self.started,
            "words": self.words.tolist(),
            "steps": self.steps.tolist(),
            "all": self._all.tolist(),
            "sums": [[sums.tolist() for sums in epochs] for epochs in self.sums],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on counting from there; the time between is not counted."""
        self.started = perf_counter() - state["seconds"]
        self.words[:], self.steps[:], self._all[:] = state["words"], state["steps"], state["all"]
        self.sums = [[np.array(sums) for sums in epochs] for epochs in state["sums"]]
        self._told = self._all.sum(axis=0)
