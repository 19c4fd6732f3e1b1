"""Progress and summaries on standard error: a bar on a terminal, else a line every ten seconds."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

from embeddings.cli.output import note, quantity
from embeddings.support.logs import displays, log
from embeddings.support.progress_display import ProgressDisplay, is_tty

if TYPE_CHECKING:
    from embeddings.corpora import Corpus, EncodedCorpus
    from embeddings.models.model import Model

SHOWN_SECONDS = 0.05  # of compilation, in summaries
LINE_INTERVAL = 10.0  # seconds between plain lines
WARNING_INTERVAL = 60.0  # seconds until a similar warning is printed again


class Bar(ProgressDisplay):
    """The progress of a command, for operations of the library and as a context manager; none with --quiet."""

    is_shared = False  # operations within others show nothing

    def __init__(self, quiet: bool, action: str = "", unit: str = "") -> None:
        delay = 0.0 if is_tty(sys.stderr) else LINE_INTERVAL
        super().__init__(action, every=LINE_INTERVAL, delay=delay, leave=False)
        self.quiet, self._unit = quiet, unit

    def __enter__(self) -> Self:
        displays.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        displays.remove(self)
        self.end()

    def update(self, done: int, total: int | None, details: str, action: str | None = None) -> None:
        """Show that `done` of `total` steps are complete."""
        if not self.quiet:
            super().update(done, total, details, action)

    def notice(self, message: str) -> None:
        """Print a line, unless --quiet is set."""
        if not self.quiet:
            self.clear()
            note(message)


class WarningPrinter(logging.Handler):
    """Prints warnings of the library above the progress, each kind at most once a minute."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.printed_at: dict[str, float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Print a warning, unless a similar one was just printed."""
        if perf_counter() - self.printed_at.get(record.msg, float("-inf")) >= WARNING_INTERVAL:
            self.printed_at[record.msg] = perf_counter()
            # else the warning would continue the line of the bar
            for display in displays:
                display.clear()
            note(f"warning: {record.getMessage()}")


@contextmanager
def printed_warnings() -> Iterator[None]:
    """Print warnings of the library."""
    printer = WarningPrinter()
    log.addHandler(printer)
    try:
        yield
    finally:
        log.removeHandler(printer)


def show_warning(message: Warning | str, category: type[Warning], *location: Any, **other: Any) -> None:
    """Log a warning of Python or of a library, so that it is printed as one line; takes the place of Python's."""
    log.warning(f"{category.__name__}: %s", " ".join(str(message).split()))


def read_corpus(text: "Corpus", quiet: bool, threads: int | None = None) -> "EncodedCorpus":
    """A corpus, encoded with progress; prints what it contains."""
    with Bar(quiet) as bar:
        encoded = text.encode(progress=bar, threads=threads)
    report_corpus(encoded, bar)
    return encoded


def report_corpus(encoded: "EncodedCorpus", bar: Bar) -> None:
    """Print what a corpus contains."""
    from embeddings.corpora.tokenizers import token_name

    tokens, types = len(encoded.ids), len(encoded.vocabulary)
    lines, noun = quantity(len(encoded.sentences) - 1, "line"), token_name(encoded.meta["settings"]["tokenizer"])
    bar.notice(f"read {quantity(tokens, noun)} ({types:,} distinct) in {lines}")
    files_of: dict[str, list[str]] = {}
    for name, column in encoded.meta["columns"].items():
        files_of.setdefault(column, []).append(name)
    for column, files in files_of.items():
        source = files[0] if len(files) == 1 else f"{len(files)} files"
        bar.notice(f"text column of {source}: {column}")
    if phrases := encoded.meta.get("phrases"):
        known, missing = phrases["known"], phrases["listed"] - phrases["known"]
        text = f"joined {quantity(known, 'phrase')} at {quantity(phrases['occurrences'], 'position')}"
        bar.notice(text + f"; {quantity(missing, 'phrase')} with words not in the corpus" * bool(missing))
    unknown = tokens - encoded.meta["known_tokens"]
    if unknown:
        bar.notice(f"skipped {quantity(unknown, noun)} not in the vocabulary")
    if encoded.max_undercount:
        most = f"{encoded.max_undercount:,} per spelling"
        bar.notice(f"--max-types: counts may be too low by up to {most}; rarer ones may be lost")
    if encoded.decoding_errors:
        positions = encoded.meta.get("decoding_error_positions", [])
        others = ", ..." if encoded.decoding_errors > len(positions) else ""
        where = f": {'; '.join(positions)}{others}" if positions else ""
        bar.notice(f"invalid bytes at {quantity(encoded.decoding_errors, 'position')} of the text{where}")


def report_training(model: "Model", out: str, bar: Bar) -> None:
    """Print the result of training."""
    from embeddings.cli.saving import keeps_classifier
    from embeddings.models.model_files import INPUTS
    from embeddings.training.average import AVERAGE
    from embeddings.training.progress import loss_name
    from embeddings.training.run_log import HELD_OUT_LOSS

    record, vectors = model.record, model.vectors
    if (stopping := record.get("early_stopping")) is not None:
        scores, best = stopping["scores"], f"epoch {stopping['best_epoch']}"
        score = scores[stopping["best_epoch"] - 1]
        if stopping.get("returned") == AVERAGE:
            best, score = "the average", stopping["average_score"]
        total = model.settings.get("epochs")
        epochs = f"stopped after epoch {len(scores)} of {total}" if len(scores) != total else f"trained {total} epochs"
        result = f"a held-out loss of {-score:.4f}" if HELD_OUT_LOSS in stopping else f"a score of {score:.4f}"
        basis = f" ({stopping['basis']})" if "basis" in stopping else ""
        bar.notice(f"{epochs}; saved {best}, the best with {result}{basis}")
    seconds, speed, loss = record.get("seconds"), record.get("words_per_second"), last_loss(model)
    parts = [f"trained in {seconds:.1f} s"] * (seconds is not None)
    compiled = record.get("compile_seconds", 0)
    parts += [f"after {compiled:.1f} s of compilation"] * (compiled >= SHOWN_SECONDS)
    parts += [f"{speed / 1e6:.2f} M {record.get('unit', 'words')}/s"] if speed else []
    name = loss_name(record.get("loss_is_estimate", False))
    parts += [f"{name} {loss:.3f}"] if loss is not None else []
    cosine = record.get("held_out_cosine")  # of texts with vectors of a teacher
    parts += [f"held-out cosine {cosine:.3f}"] if cosine is not None else []
    saved = f"saved {quantity(len(vectors), 'vector')} of dimension {vectors.dim}"
    if model.labels is not None and keeps_classifier(out):
        parts_of_model = [quantity(len(model.labels), "label"), quantity(len(vectors), "word")]
        ngrams = len(model.tables.get(INPUTS, vectors)) - len(vectors)
        parts_of_model += [quantity(ngrams, "n-gram")] if ngrams else []
        saved = f"saved a classifier of {', '.join(parts_of_model[:-1])} and {parts_of_model[-1]}"
    saved += f" to {out}"
    bar.notice("; ".join([", ".join(parts), saved] if parts else [saved]))


def last_loss(model: "Model") -> float | None:
    """The training loss of the last epoch for which it is known."""
    losses = [loss for loss in model.record.get("loss_by_epoch", []) if loss is not None]
    return losses[-1] if losses else None
