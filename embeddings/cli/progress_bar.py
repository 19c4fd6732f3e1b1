"""How far a command has come: a bar on a terminal, a plain line now and then elsewhere; on standard error."""

import logging
import sys
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from embeddings.support.logs import log

if TYPE_CHECKING:
    from embeddings.corpora import EncodedCorpus
    from embeddings.models.model import Model
    from embeddings.training.progress import Progress

EVERY = 10.0  # seconds between plain lines
AGAIN = 60.0  # seconds until a warning of the same kind is told again


class Bar:
    """A bar over `total` steps; `update` says how many are done and what else there is to know."""

    def __init__(self, quiet: bool, what: str) -> None:
        self.quiet, self.what = quiet, what
        self.terminal = sys.stderr is not None and sys.stderr.isatty()
        self.started = self.told = perf_counter()
        self._bar: Any = None
        self._warned = Warned(self)

    def __enter__(self) -> Self:
        log.addHandler(self._warned)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        log.removeHandler(self._warned)
        if self._bar is not None:
            self._bar.close()

    def update(self, done: int, total: int | None, details: str) -> None:
        """Show where things are."""
        if self.quiet:
            return
        if self.terminal:
            self._draw(done, total, details)
        elif perf_counter() - self.told >= EVERY:
            self.told = perf_counter()
            share = f"{100 * done / total:.0f} %" if total else f"{done:,}"
            click.echo(f"{self.what} {share}  {details}", err=True)

    def _draw(self, done: int, total: int | None, details: str) -> None:
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(total=total, desc=self.what, leave=False, file=sys.stderr)
        share = "{desc} {percentage:3.0f} % |{bar:12}| " if total else "{desc} "
        self._bar.bar_format = share + details.replace("{", "{{").replace("}", "}}")
        self._bar.n = done
        self._bar.refresh()

    def say(self, line: str) -> None:
        """A line that stays."""
        if not self.quiet:
            self.warn(line)

    def warn(self, line: str) -> None:
        """A line that stays, asked to be quiet or not."""
        if self._bar is not None:
            self._bar.clear()
        click.echo(line, err=True)


class Warned(logging.Handler):
    """Tells what the library warns of while a command goes on; of the same kind no more than a line a minute."""

    def __init__(self, bar: Bar) -> None:
        super().__init__(logging.WARNING)
        self.bar = bar
        self.told: dict[str, float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Tell it, unless it was just told."""
        if perf_counter() - self.told.get(record.msg, float("-inf")) >= AGAIN:
            self.told[record.msg] = perf_counter()
            self.bar.warn(f"warning: {record.getMessage()}")


class Reading(Bar):
    """Progress of reading a corpus, in bytes."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(quiet, "reading")

    def __call__(self, done: int, total: int | None) -> None:
        """What a corpus reports."""
        self.update(done, total, f"{done / 1e6:,.0f} MB")

    def tell(self, encoded: "EncodedCorpus") -> None:
        """What was read."""
        lines = len(encoded.sentences) - 1
        words, types = counted(len(encoded.ids), "word"), len(encoded.vocabulary)
        self.say(f"read {words}, {types:,} different, in {counted(lines, 'line')}")
        for column, files in columns_of(encoded.meta["columns"]).items():
            self.say(f"text taken from the column {column!r} of {files}")
        if told := encoded.meta.get("phrases"):
            self.say(phrases_of(told))
        unknown = len(encoded.ids) - encoded.meta["known"]
        if unknown:
            self.say(f"not in the vocabulary: {counted(unknown, 'word')}")
        if encoded.short:
            self.say(f"--max-types: counts may be low by {encoded.short:,}; every word that occurs more often is there")
        if encoded.decoding_errors:
            self.say(f"not UTF-8, passed over: {counted(encoded.decoding_errors, 'place')}")


class Inferring(Bar):
    """Progress of inference, in documents."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(quiet, "inferring")

    def __call__(self, done: int, total: int) -> None:
        """What inference reports."""
        self.update(done, total, f"{done:,} of {counted(total, 'document')}")


class Training(Bar):
    """Progress of a training run, in words."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(quiet, "training")

    def __call__(self, progress: "Progress") -> None:
        """What a trainer reports."""
        self.update(progress.words, progress.total, progress.details)

    def tell(self, model: "Model", out: str) -> None:
        """What was learned."""
        record, vectors = model.record, model.vectors
        learned = f"{len(vectors):,} vectors of {vectors.dim} components saved in {out}"
        seconds, speed = record.get("seconds"), record.get("words_per_second")
        if record.get("bundles") == 0:
            self.say("warning: nothing was learned, for no line had two words left: see --min-count, --sample")
        if (stopping := record.get("early_stopping")) is not None:
            self.say(scores_of(stopping, model.settings.get("epochs")))
        losses = [loss for loss in record.get("loss_by_epoch", []) if loss is not None]
        facts = [f"trained in {seconds:.1f} s"] * (seconds is not None)
        facts += [f"{speed / 1e6:.2f} M words/s"] if speed else []
        facts += [f"loss {losses[-1]:.3f}" for _ in losses[:1]]
        self.say(f"{', '.join(facts)}; {learned}" if facts else learned)


def scores_of(told: dict[str, Any], epochs: int | None) -> str:
    """Which epoch was the best, and after how many the run ended."""
    scores, best = told["scores"], told["best_epoch"]
    ended = f"ended after epoch {len(scores)} of {epochs}" if epochs != len(scores) else f"of {epochs} epochs"
    return f"{ended}, epoch {best} scored best, {scores[best - 1]:.4f}: that one is saved"


def phrases_of(told: dict[str, Any]) -> str:
    """What became of phrases."""
    known, missing = told["known"], told["listed"] - told["known"]
    text = f"{counted(known, 'phrase')} joined in {counted(told['occurrences'], 'place')}"
    return text + f"; {counted(missing, 'other')} with words that the corpus has not" * bool(missing)


def columns_of(taken: dict[str, str]) -> dict[str, str]:
    """The columns that were taken unasked, each with its file, or how many."""
    files: dict[str, list[str]] = {}
    for name, column in taken.items():
        files.setdefault(column, []).append(name)
    return {column: names[0] if len(names) == 1 else f"{len(names)} files" for column, names in files.items()}


def counted(number: int, thing: str) -> str:
    """A number of things."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
