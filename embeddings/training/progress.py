"""Progress of a training run, and the counts that it is computed from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from time import perf_counter
from typing import Any

import numpy as np

from embeddings.compilation.compile_time import compile_time
from embeddings.settings import Schedule
from embeddings.support.progress_display import clock


@dataclass(frozen=True)
class Progress:
    """The state of a training run, as passed to `report` and callbacks.

    Arguments:
        words: words of the corpus read so far, over all epochs; `total` is the number to read. A trainer that reads
            something else counts that; `unit` is its name.
        epoch: the current epoch, 1 to `epochs`.
        learning_rate: the current learning rate; it falls block by block, of about 8,000 words or fewer.
        loss: the mean loss of an example (natural logarithm) since the last report, over the examples in one of every
            64 steps; None if no step was sampled. An example is an input with a word to predict.
        seconds: time since the start.
        loss_is_estimate: whether the objective only estimates the loss over all words, from a sample of them.
    """

    words: int
    total: int
    epoch: int
    epochs: int
    learning_rate: float
    loss: float | None
    seconds: float
    unit: str = "words"
    loss_is_estimate: bool = False

    @property
    def share(self) -> float:
        """The completed share of the run, 0 to 1."""
        return self.words / self.total

    @property
    def words_per_second(self) -> float:
        """Words of the corpus read per second since the start."""
        return self.words / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float:
        """Estimated seconds left."""
        speed = self.words_per_second
        return (self.total - self.words) / speed if speed else float("inf")

    @property
    def details(self) -> str:
        """Time left, speed, loss, learning rate and epoch, in one line."""
        loss = "-" if self.loss is None else f"{self.loss:.4f}"
        return (
            f"{clock(self.seconds_left)} left  {self.words_per_second / 1e6:.2f} M {self.unit}/s  "
            f"{loss_name(self.loss_is_estimate)} {loss}  "
            f"learning rate {self.learning_rate:.5f}  epoch {self.epoch}/{self.epochs}"
        )

    def __str__(self) -> str:
        return f"{100 * self.share:3.0f} %  {self.details}"


def loss_name(is_estimate: bool) -> str:
    """The name of a loss in reports."""
    return "loss (estimate)" if is_estimate else "loss"


Report = Callable[[Progress], None]


@dataclass
class Tally:
    """Counts of all threads; each row is written by its own thread only."""

    threads: int
    schedule: Schedule
    units: int  # that an epoch reads
    unit: str = "words"
    loss_is_estimate: bool = False
    shares: Sequence[int] = ()  # units of each thread in an epoch, if its learning rate follows from its own progress
    started: float = field(default_factory=perf_counter)

    def __post_init__(self) -> None:
        self.total = self.units * self.schedule.epochs  # units to read over all epochs
        self.learning_rate_factor = 1.0
        self.words = np.zeros(self.threads, np.int64)
        self.steps = np.zeros(self.threads)  # training steps done
        self.compiled_before = compile_time.seconds
        # of each epoch begun, per thread: the sum of sampled losses, and the number of examples
        self.epoch_sums: list[list[np.ndarray]] = [[] for _ in range(self.threads)]
        self.sums, self.reported_sums = np.zeros((self.threads, 2)), np.zeros(2)

    def start_clock(self, seconds: float = 0.0) -> None:
        """Measure the time from now on, after this many seconds of training."""
        self.started, self.compiled_before = perf_counter() - seconds, compile_time.seconds

    @property
    def done(self) -> int:
        """Units read so far by all threads."""
        return int(self.words.sum())

    def learning_rate(self, thread: int | None = None) -> float:
        """The current learning rate, of one thread or of the run."""
        done, total = self.done, self.total
        if thread is not None and self.shares:
            # The rate of a replica must not depend on how fast the others are, or results would depend on timing.
            done, total = int(self.words[thread]), self.shares[thread] * self.schedule.epochs
        return self.schedule.learning_rate_at(done, total) * self.learning_rate_factor

    @property
    def seconds(self) -> float:
        """Seconds of training so far, without compilation."""
        return perf_counter() - self.started - (compile_time.seconds - self.compiled_before)

    def progress(self) -> Progress:
        """A report; its loss is the mean since the last report."""
        sums: np.ndarray = self.sums.sum(axis=0)
        with np.errstate(invalid="ignore"):  # infinite if the model diverged
            loss, examples = sums - self.reported_sums
        # Without a sampled step since the last report, the next one covers both intervals.
        if examples > 0:
            self.reported_sums = sums
        return Progress(
            words=self.done,
            total=self.total,
            epoch=min(self.done // self.units + 1, self.schedule.epochs),
            epochs=self.schedule.epochs,
            learning_rate=self.learning_rate(),
            loss=float(loss / examples) if examples > 0 else None,
            seconds=self.seconds,
            unit=self.unit,
            loss_is_estimate=self.loss_is_estimate,
        )

    def add(self, thread: int, loss: float, examples: float) -> None:
        """Add a sum of losses over a number of examples."""
        self.epoch_sums[thread][-1] += loss, examples
        self.sums[thread] += loss, examples

    def losses(self) -> list[float | None]:
        """The mean loss of each epoch begun; None if no step was sampled."""
        epochs = [np.sum(sums, axis=0) for sums in zip_longest(*self.epoch_sums, fillvalue=np.zeros(2))]
        return [float(loss / examples) if examples > 0 else None for loss, examples in epochs]

    def state(self) -> dict[str, Any]:
        """The counts as JSON values; floats are exact."""
        return {
            "seconds": self.seconds,
            "learning_rate_factor": self.learning_rate_factor,
            "words": self.words.tolist(),
            "steps": self.steps.tolist(),
            "sums": self.sums.tolist(),
            "epoch_sums": [[sums.tolist() for sums in epochs] for epochs in self.epoch_sums],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue counting from saved counts; the time in between does not count."""
        self.start_clock(state["seconds"])
        self.learning_rate_factor = float(state["learning_rate_factor"])
        self.words[:], self.steps[:], self.sums[:] = state["words"], state["steps"], state["sums"]
        saved = zip(state["epoch_sums"], self.epoch_sums, strict=True)
        self.epoch_sums = [[np.array(sums, np.float64).reshape(2) for sums in epochs] for epochs, _ in saved]
        if not np.isfinite([state["seconds"], self.steps.sum(), self.sums.sum(), *map(np.sum, self.epoch_sums)]).all():
            raise ValueError("a count is not finite")
        self.reported_sums = self.sums.sum(axis=0)
