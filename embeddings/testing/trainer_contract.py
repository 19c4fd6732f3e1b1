"""The contract of a trainer as a test, for those who write one; `check_index` is that of an index.

from embeddings.testing import check_trainer

def test_contract():
    check_trainer(MyTrainer)
"""

import dataclasses
import inspect
import tempfile
import typing
from pathlib import Path
from typing import Any, Literal

import numpy as np

from embeddings.corpora import Corpus
from embeddings.errors import SettingError
from embeddings.models.model import Model
from embeddings.settings import field_types, split_optional
from embeddings.training.callbacks import Callback, EpochEnd
from embeddings.training.checkpoints import Checkpoints
from embeddings.training.progress import Progress
from embeddings.training.result import Interrupted
from embeddings.training.run_options import RunOptions, accepts_run_options

SYNONYMS = ("cat", "kitty")
LINES = 600
# Given to a trainer that has such fields, so that it learns from so small a corpus.
FITTING = {"dim": 16, "min_count": 1, "subsample": 0.0, "window": 2, "epochs": 40}


class Stopped(Exception):
    """What a report raises to see whether it reaches the caller."""


def check_trainer(trainer: type, **settings: Any) -> None:
    """Assert that a trainer keeps the contract; takes a second or a few.

    It must be a frozen, keyword-only dataclass whose fields have defaults, help and bounds that are kept. Trained
    on a planted corpus it must give finite float32 vectors of all words in order of frequency, the same bytes
    again for one thread and the same seed, with the planted synonyms as nearest neighbours; report how far it is;
    and be equal when saved and loaded, and in what it composes, if it does. If its `train` takes `run_options`, a run that
    was interrupted must go on from its checkpoint to the same bytes. `settings` are the trainer's own, for a default
    that does not fit so small a corpus.

    Raises:
        AssertionError: saying what is wrong.
    """
    check_class(trainer)
    names = {field.name for field in dataclasses.fields(trainer)}
    fitting = {name: value for name, value in FITTING.items() if name in names} | settings
    check_bounds(trainer, fitting)
    made = trainer(**fitting)
    reports: list[Progress] = []
    model = made.train(planted(), threads=1, seed=7, report=reports.append)
    check_model(made, model)
    check_reports(reports)
    check_synonyms(model)
    check_repeated(model, made.train(planted(), threads=1, seed=7))
    check_saved(model)
    check_composing(trainer, model)
    check_vectors(made, made.train(planted(), threads=2, seed=7), threads=2)
    check_stopped(made)
    if accepts_run_options(made):
        check_resumed(made, model)


def planted() -> Corpus:
    """Small phrases, each about one of ten things; one thing has two names, told apart by nothing but chance."""
    rng = np.random.default_rng(1)
    lines = []
    for _ in range(LINES):
        thing = int(rng.integers(10))
        name = SYNONYMS[int(rng.integers(2))] if thing == 0 else f"thing{thing}"
        lines.append([f"before{thing}", name, f"after{thing}", f"word{int(rng.integers(5))}"])
    return Corpus(lines)


def check_class(trainer: type) -> None:
    """Assert that it is a dataclass from which a command line can be made, with a method that trains."""
    check_options(trainer)
    name = trainer.__name__
    train = getattr(trainer, "train", None)
    assert callable(train), f"{name} must have a method train(corpus, *, threads, seed, report)"
    taken = inspect.signature(train).parameters
    for argument in ("threads", "seed", "report"):
        assert argument in taken, f"train must take {argument!r}"
        assert taken[argument].default is not inspect.Parameter.empty, f"{argument!r} must have a default"


def check_options(plugin: type) -> None:
    """Assert that a class is a dataclass from which a command line can be made."""
    name = plugin.__name__
    assert dataclasses.is_dataclass(plugin), f"{name} must be a dataclass"
    assert plugin.__dataclass_params__.frozen, f"{name} must be frozen: @dataclass(frozen=True, kw_only=True)"  # type: ignore[attr-defined]
    documented = plugin.__doc__ and not plugin.__doc__.startswith(f"{name}(")  # as dataclass makes one
    assert documented, f"{name} must have a docstring: its first line is its summary"
    for field in dataclasses.fields(plugin):
        check_field(field, field_types(plugin)[field.name])


def check_field(field: "dataclasses.Field[Any]", kind: Any) -> None:
    """Assert that a field can be an option."""
    assert field.kw_only, f"{field.name} must be keyword-only: @dataclass(frozen=True, kw_only=True)"
    assert field.default is not dataclasses.MISSING, f"{field.name} must have a default"
    assert field.metadata.get("help"), f"{field.name} must have help: use embeddings.settings.option"
    kind, _ = split_optional(kind)
    usable = kind in (int, float, str, bool) or typing.get_origin(kind) is Literal
    assert usable, f"{field.name} must be an int, float, str, bool or Literal, or None beside one, not {kind}"


def check_bounds(trainer: type, fitting: dict[str, Any]) -> None:
    """Assert that values just beyond a bound, and of a wrong type, are refused by name."""
    for field in dataclasses.fields(trainer):
        for bad in bad_values(field_types(trainer)[field.name], field.metadata):
            told = refusal(trainer, {**fitting, field.name: bad})
            assert told is not None, f"{field.name}={bad!r} must raise SettingError"
            assert field.name in told, f"the message on {field.name}={bad!r} must name it: {told}"


def refusal(trainer: type, settings: dict[str, Any]) -> str | None:
    """The message with which settings are refused; None if they are not."""
    try:
        trainer(**settings)
    except SettingError as error:
        return str(error)
    return None


def bad_values(kind: Any, metadata: "typing.Mapping[str, Any]") -> list[Any]:
    """What a field of this type and these bounds must not take."""
    kind, _ = split_optional(kind)
    if kind not in (int, float):
        return [object()]
    step = 1 if kind is int else 0.5
    bad: list[Any] = ["a text", float("nan"), float("inf")]
    bounds = [(metadata.get("ge"), -step), (metadata.get("le"), step), (metadata.get("gt"), 0)]
    return bad + [kind(bound + beyond) for bound, beyond in bounds if bound is not None]


def check_model(made: Any, model: Any) -> None:
    """Assert that a model holds every setting and how it was trained."""
    assert isinstance(model, Model), f"train must return an embeddings.Model, not {type(model).__name__}"
    check_vectors(made, model, threads=1)
    for name, value in dataclasses.asdict(made).items():
        assert model.settings.get(name) == value, f"the model must record the setting {name}={value!r}"
    assert model.record.get("seed") == 7, f"the record must hold the seed 7, not {model.record.get('seed')!r}"


def check_vectors(made: Any, model: Model, *, threads: int) -> None:
    """Assert that there is a finite vector for each word, in order of frequency."""
    vectors, vocabulary = model.vectors, planted().encode().vocabulary
    shape = (len(vocabulary), getattr(made, "dim", vectors.dim))
    assert list(vectors.words) == list(vocabulary.words), "words must be in order of frequency, all of them"
    assert vectors.counts is not None, "vectors must have the counts of their words"
    assert vectors.counts.tolist() == vocabulary.counts.tolist(), "the counts must be those of the corpus"
    assert vectors.matrix.shape == shape, f"the vectors must be of shape {shape}, not {vectors.matrix.shape}"
    assert vectors.matrix.dtype == np.float32, f"the vectors must be float32, not {vectors.matrix.dtype}"
    assert np.isfinite(vectors.matrix).all(), f"the vectors must be finite, with {threads} threads too"
    found = model.record.get("threads")
    assert found == threads, f"the record must hold threads={threads}, not {found!r}"


def check_reports(reports: list[Progress]) -> None:
    """Assert that reports say how far a run has come, to its end."""
    assert reports, "report must be called"
    for told in reports:
        assert isinstance(told, Progress), f"report must be given a Progress, not {type(told).__name__}"
    words, totals = [told.words for told in reports], {told.total for told in reports}
    assert words == sorted(words), f"the words of reports must not fall: {words}"
    assert len(totals) == 1, f"the total must stay the same: {sorted(totals)}"
    assert words[-1] == reports[-1].total, f"the last report must be of all words: {words[-1]} of {totals}"


def check_synonyms(model: Model) -> None:
    """Assert that the planted synonyms are nearest neighbours."""
    for word, other in (SYNONYMS, SYNONYMS[::-1]):
        nearest, cosine = model.vectors.most_similar(word, top=1)[0]
        real = model.vectors.similarity(word, other)
        told = f"the word nearest to {word!r} must be {other!r} ({real:.3f}), not {nearest!r} ({cosine:.3f})"
        assert nearest == other, told


def check_repeated(model: Model, again: Model) -> None:
    """Assert that one thread and the same seed give the same bytes."""
    same = model.vectors.matrix.tobytes() == again.vectors.matrix.tobytes()
    assert same, "one thread and the same seed must give the same vectors to the last bit"


def check_saved(model: Model) -> None:
    """Assert that a model is equal once saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        loaded = Model.load(Path(folder) / "model")
        assert list(loaded.vectors.words) == list(model.vectors.words), "words must be equal when loaded"
        np.testing.assert_array_equal(loaded.vectors.matrix, model.vectors.matrix)
        assert loaded.settings == model.settings, "settings must be equal when loaded: only what JSON can hold"
        assert loaded.record == model.record, "the record must be equal when loaded: only what JSON can hold"
        for name, table in model.tables.items():
            np.testing.assert_array_equal(loaded.tables[name], table)


def check_composing(trainer: type, model: Model) -> None:
    """Assert that a model that composes does so again once it is loaded, by the `composer` of its trainer."""
    if model.composer is None:
        return
    composer, texts = getattr(trainer, "composer", None), [*SYNONYMS, "kitties"]
    assert composer is not None, f"{trainer.__name__} must have the attribute composer, which its model was given"
    rows = np.asarray(model.compose(texts))
    assert rows.shape == (len(texts), model.vectors.dim), f"a row must be composed for each text, not {rows.shape}"
    assert np.isfinite(rows).all(), "composed vectors must be finite"
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        np.testing.assert_array_equal(composer(Model.load(Path(folder) / "model"))(texts), rows)


def check_stopped(made: Any) -> None:
    """Assert that what a report raises ends the training and reaches the caller."""

    def report(progress: Progress) -> None:
        raise Stopped

    try:
        made.train(planted(), threads=1, seed=7, report=report)
    except Stopped:
        return
    raise AssertionError("what report raises must stop the training and reach the caller")


class Interrupting(Callback):
    """Interrupts a run at the end of its second epoch, as Ctrl-C does."""

    def on_epoch_end(self, epoch_end: EpochEnd) -> None:
        """Interrupt."""
        if epoch_end.epoch == 2:
            raise KeyboardInterrupt


def check_resumed(made: Any, model: Model) -> None:
    """Assert that an interrupted run goes on from its checkpoint to the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoints = Checkpoints(Path(folder) / "checkpoints")
        try:
            made.train(
                planted(), threads=1, seed=7, run_options=RunOptions(checkpoints=checkpoints, callbacks=[Interrupting()])
            )
            raise AssertionError("callbacks must be told of the end of each epoch")
        except Interrupted:
            assert checkpoints.paths(), "an interrupted run must write a checkpoint"
        again = made.train(planted(), threads=1, seed=7, run_options=RunOptions(checkpoints=checkpoints, resume=True))
    for name, table in {"vectors": model.vectors.matrix, **model.tables}.items():
        found = again.vectors.matrix if name == "vectors" else again.tables[name]
        same = found.tobytes() == table.tobytes()
        assert same, f"a run that goes on from a checkpoint must give the same {name} to the last bit"
