"""The end of a run: a model with the record of its training, an interrupt, or an overflow."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from embeddings.corpora.phrases.phrase_table import merge_phrase_tables
from embeddings.errors import EmbeddingsError
from embeddings.models.model import Model
from embeddings.models.text_settings import PHRASES, TEXT_SETTINGS
from embeddings.support.logs import log
from embeddings.training.parameters import VECTORS, Arrays, is_finite
from embeddings.training.progress import Tally
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.training.task import Task


class TrainingError(EmbeddingsError):
    """Training failed."""


class Interrupted(KeyboardInterrupt):
    """The user interrupted a training run; `model` holds what was learned until then."""

    def __init__(self, model: Model) -> None:
        super().__init__("training was interrupted; the attribute .model of this exception holds what was learned")
        self.model = model


def overflow(name: str, tally: Tally) -> TrainingError:
    """The error for numbers that overflowed."""
    return TrainingError(f"the {name} overflowed after {tally.done:,} words; use a lower learning_rate")


def build_model(task: "Task", arrays: Arrays, tally: Tally, composes: bool) -> Model:
    """The model with these tables."""
    for name, array in arrays.items():
        if not is_finite(array):
            raise overflow(name, tally)
    progress = tally.progress()
    log.info("trained %s: %s of %s words, %.1f s", task.trainer, progress.words, progress.total, progress.seconds)
    phrases, continued = task.encoded.phrases, task.run_options.continued
    return Model(
        task.trainer,
        vectors=Vectors(list(task.vocabulary.words), arrays[VECTORS], counts=task.vocabulary.counts),
        vocabulary=task.vocabulary,
        settings=asdict(task.settings),
        tables={name: array for name, array in arrays.items() if name != VECTORS},
        record=training_record(task, tally),
        composer=getattr(type(task.settings), "composer", None) if composes else None,
        tags=task.tags,
        phrases=phrases if continued is None else merge_phrase_tables(continued.phrases, phrases),
    )


def training_record(task: "Task", tally: Tally) -> dict[str, Any]:
    """How the model was trained."""
    progress, meta = tally.progress(), task.encoded.meta
    text = {name: meta["settings"].get(name) for name in TEXT_SETTINGS}
    return {
        "seed": task.seed,
        "threads": task.threads,
        "corpus": task.encoded.fingerprint,
        "text": {**text, PHRASES: meta.get(PHRASES)},
        "words": progress.words,
        "total_words": progress.total,
        "seconds": round(progress.seconds, 3),
        "words_per_second": round(progress.words_per_second),
        "steps": int(tally.steps.sum()),
        "loss_by_epoch": tally.losses(),
    }
