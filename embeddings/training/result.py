"""The end of a run: a model with the record of its training, an interrupt, or an overflow."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from embeddings import registry
from embeddings.corpora.phrases.phrase_list import merge_phrase_tables
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, EmbeddingsError, S
from embeddings.models.model import Model
from embeddings.models.model_files import package_versions
from embeddings.models.table import VECTORS, Arrays, is_finite
from embeddings.models.text_settings import PHRASES, TEXT_SETTINGS
from embeddings.support.logs import log
from embeddings.support.records import to_jsonable
from embeddings.training.progress import Progress, Tally
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.training.plan import Plan
    from embeddings.training.training_data import TrainingData


NOTES = "notes"  # in the record of a model: what its run started from, and what is wrong with it
DIVERGED_LOSS = 1e8  # of an example: random vectors have less even with a million labels
AVERAGE = "average"  # in the record of a model whose tables are averages


class TrainingError(EmbeddingsError):
    """Training failed."""


class Interrupted(KeyboardInterrupt):
    """The user interrupted a training run; `model` holds what was learned until then."""

    def __init__(self, model: Model) -> None:
        super().__init__("training was interrupted; the attribute .model of this exception holds what was learned")
        self.model = model


def overflow(name: str, tally: Tally) -> TrainingError:
    """The error for numbers that overflowed."""
    read = f"{tally.done:,} {tally.unit}"
    return TrainingError(f"training diverged: the {name} became too large after {read}; use a lower {S.learning_rate}")


def nothing_learned(data: "TrainingData", tally: Tally) -> CorpusError:
    """The error for a run that took no training step: its tables have only initial values."""
    advice = "use longer texts"
    if getattr(data.settings, "min_count", 1) > 1:
        advice += f", or a lower {S.min_count}"
    if getattr(data.settings, "subsample", 0) > 0:
        advice += f", or {S.subsample(0)} to keep frequent words"
    return CorpusError(
        f"nothing was learned: no word was left with another one near it ({tally.unit} read: {tally.done:,}); {advice}"
    )


def build_model(data: "TrainingData", plan: "Plan", arrays: Arrays, tally: Tally) -> Model:
    """The model of a run with these tables, as they are saved."""
    for name, array in arrays.items():
        if not is_finite(array):
            raise overflow(name, tally)
    losses = tally.losses()
    record = {
        "steps": int(tally.steps.sum()),
        "loss_by_epoch": losses,
        "loss_is_estimate": tally.loss_is_estimate,
        **plan.record,
    }
    last = next((loss for loss in reversed(losses) if loss is not None), 0.0)
    if last > DIVERGED_LOSS:
        note = f"training diverged: the loss of the last epoch is {last:.2g}; use a lower learning rate"
        record[NOTES] = [*record.get(NOTES, []), note]
    options = {"composes": plan.composes, "tags": plan.tags, "labels": plan.labels}
    return new_model(data, arrays, tally.progress(), record, **options)


def new_model(
    data: "TrainingData", arrays: Arrays, progress: Progress, record: Mapping[str, Any] | None = None, *,
    composes: bool = True, tags: Any = None, labels: Vocabulary | None = None,
) -> Model:  # fmt: skip
    """A model with a complete record, for trainers that define `learn`.

    Arguments:
        arrays: the tables to save, float32; "vectors" (vocabulary, dim) are those of the words.
        progress: that at the end of training.
        record: further JSON values for the record.
        composes: whether the model composes vectors, if its trainer has a composer.
        tags: a pyarrow array of strings, one for each row of the table "documents".
        labels: the labels of texts, for a model that predicts labels.
    """
    numbers = data.trainer, progress.words, progress.total, progress.unit, progress.seconds
    log.info("trained %s: %s of %s %s, %.1f s", *numbers)
    phrases, continued = data.encoded.phrases, data.run_options.continued
    return Model(
        data.trainer,
        vectors=Vectors(list(data.vocabulary.words), arrays[VECTORS], counts=data.vocabulary.counts),
        vocabulary=data.vocabulary,
        settings=asdict(data.settings),
        tables={name: array for name, array in arrays.items() if name != VECTORS},
        record=training_record(data, progress) | dict(record or {}),
        packages=package_versions() | registry.package_of("trainer", data.trainer),
        composer=data.settings.composer if composes else None,
        tags=tags,
        labels=labels,
        phrases=phrases if continued is None else merge_phrase_tables(continued.phrases, phrases),
    )


def training_record(data: "TrainingData", progress: Progress) -> dict[str, Any]:
    """How the model was trained."""
    meta = data.encoded.meta
    text = {name: meta["settings"].get(name) for name in TEXT_SETTINGS}
    return {
        "seed": data.seed,
        "threads": data.threads,
        **({} if data.run_options.replicas is None else {"replicas": to_jsonable(data.run_options.replicas)}),
        "corpus": data.encoded.fingerprint,
        "text": {**text, PHRASES: meta.get(PHRASES)},
        "unit": progress.unit,
        "words": progress.words,
        "total_words": progress.total,
        "seconds": round(progress.seconds, 3),
        "compile_seconds": round(data.compile_seconds, 3),
        "words_per_second": round(progress.words_per_second),
    }
