"""How a run ends: with a model and the record of how it was made, by an interrupt, or with numbers beyond bounds."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from embeddings.errors import EmbeddingsError
from embeddings.models.model import Model
from embeddings.models.text_settings import PHRASES, TEXT
from embeddings.support.logs import log
from embeddings.training.continued_training import phrases_after
from embeddings.training.parameters import VECTORS, Arrays, is_finite
from embeddings.training.progress import Tally
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.training.task import Task


class TrainingError(EmbeddingsError):
    """Training went wrong."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a training run; `model` holds what was learned until then."""

    def __init__(self, model: Model) -> None:
        super().__init__("training was interrupted; what was learned until then is in `.model` of this exception")
        self.model = model


def overflow(what: str, tally: Tally) -> TrainingError:
    """The error for numbers that grew beyond all bounds."""
    return TrainingError(f"the {what} overflowed after {tally.done:,} words; a lower rate will help")


def model_of(task: "Task", arrays: Arrays, tally: Tally, composes: bool) -> Model:
    """What was learned so far.

    Raises:
        TrainingError: a number of it is NaN or infinite.
    """
    for name, array in arrays.items():
        if not is_finite(array):
            raise overflow(name, tally)
    done = tally.progress()
    log.info("trained %s: %s of %s words, %.1f s", task.trainer, done.words, done.total, done.seconds)
    return Model(
        task.trainer,
        vectors=Vectors(list(task.vocabulary.words), arrays[VECTORS], counts=task.vocabulary.counts),
        vocabulary=task.vocabulary,
        settings=asdict(task.settings),
        tables={name: array for name, array in arrays.items() if name != VECTORS},
        record=record_of(task, tally),
        composer=getattr(type(task.settings), "composer", None) if composes else None,
        tags=task.tags,
        phrases=phrases_after(task.run_options.continued, task.encoded.phrases),
    )


def record_of(task: "Task", tally: Tally) -> dict[str, Any]:
    """How it was made."""
    progress, meta = tally.progress(), task.encoded.meta
    return {
        "seed": task.seed,
        "threads": task.threads,
        "corpus": task.encoded.fingerprint,
        "text": {**{name: meta["settings"].get(name) for name in TEXT}, PHRASES: meta.get(PHRASES)},
        "words": progress.words,
        "of_words": progress.total,
        "seconds": round(progress.seconds, 3),
        "words_per_second": round(progress.words_per_second),
        "bundles": int(tally.steps.sum()),
        "loss_by_epoch": tally.losses(),
    }
