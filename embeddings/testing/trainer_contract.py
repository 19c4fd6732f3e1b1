"""The contracts of a trainer and of its plan as a test; `embeddings.testing` exports it."""

import dataclasses
import tempfile
import typing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from embeddings import registry
from embeddings.compilation.checked_build import arrays_in
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.labelled_texts import PREFIX
from embeddings.corpora.reading.text_vectors import text_vectors
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.models.model import Model
from embeddings.models.table import VECTORS
from embeddings.settings import NegativeSampling, field_types
from embeddings.support.records import to_jsonable
from embeddings.testing.settings_contract import check_bounds, check_options, refusal
from embeddings.training.callbacks import Callback, EpochEnd
from embeddings.training.checkpoints import Checkpoints
from embeddings.training.init_vectors import InitFrom
from embeddings.training.plan import Plan
from embeddings.training.progress import Progress
from embeddings.training.replicas import Replicas
from embeddings.training.run import Interrupted
from embeddings.training.run_options import RunOptions
from embeddings.training.stream import Stream
from embeddings.training.trainer import Trainer
from embeddings.training.training_data import TrainingData, as_corpus, prepare


class WatchedGenerator(np.random.Generator):
    """A random generator that notes whether it is used."""

    is_used = False

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and name != "is_used":
            self.is_used = True
        return super().__getattribute__(name)


def check_plan(data: TrainingData, plan: Plan) -> None:
    """Assert that a plan fits the data that it was declared for.

    The table of vectors must have a row for each word. Threads must be able to share the stream, whose order is random
    if the trainer accepts the setting shuffle, and to save their blocks. A compiled kernel must get operands that share
    the memory of the table of words.

    Raises:
        AssertionError: naming the violation.
    """
    vocabulary = data.vocabulary if plan.vocabulary is None else plan.vocabulary
    check_table_of_vectors(plan, len(vocabulary), getattr(data.trainer, "dim", None))
    check_stream(plan.stream, data.shares, is_shuffled=refusal(replace, data.trainer, shuffle=True) is None)
    check_operands(plan, data.seed)


def check_table_of_vectors(plan: Plan, words: int, dim: int | None) -> None:
    """Assert that the table that is saved as the vectors has one row of `dim` numbers for each word."""
    for name, table in plan.tables.items():
        if plan.export is not None or plan.saved_name(name) != VECTORS:
            continue
        vectors = f"the table {name!r}, saved as {VECTORS!r}, must have"
        assert (table.rows, table.slots) == (words, 1), (
            f"{vectors} one row for each of the {words:,} words, got {table.rows:,} rows of {table.slots} slots"
        )
        assert dim in (None, table.dim), f"{vectors} {dim} numbers in a row, as the setting dim says, got {table.dim}"


def check_stream(stream: Stream, shares: int, *, is_shuffled: bool) -> None:
    """Assert that the units of a stream can be divided into shares and shuffled, and that blocks can be saved."""
    name, units = type(stream).__name__, stream.units
    assert is_count(units), f"units of {name} must be an int, got {units!r:.80}"
    bounds = list(stream.bounds(shares))
    is_partition = all(map(is_count, bounds)) and bounds == sorted(bounds) and len(bounds) == shares + 1
    is_partition = is_partition and (bounds[0], bounds[-1]) == (0, units)
    assert is_partition, f"bounds of {name} must be {shares + 1} numbers in order from 0 to {units}, got {bounds!r:.80}"
    block = stream.new_block()
    is_saved = is_named_tuple(block) and all(isinstance(field, np.ndarray) for field in block)
    assert is_saved, f"new_block of {name} must return a NamedTuple of arrays, got {block!r:.80}"
    stream.rewind(block, stream.empty_chunk)
    read = stream.fill(block, stream.empty_chunk, np.zeros(2, np.uint64))
    assert is_count(read), f"fill of {name} must return the number of units, got {read!r:.80}"
    order = WatchedGenerator(np.random.PCG64(0))
    if is_shuffled and next(iter(stream.chunks(0, units, order)), None) is not None:
        assert order.is_used, f"{name} has no random order: use the `order` of chunks, or refuse the setting shuffle"


def check_operands(plan: Plan, seed: int) -> None:
    """Assert that a compiled kernel can update the rows of words."""
    tables = plan.allocate(seed)
    operands, buffers = plan.operands(tables), plan.buffers()
    assert isinstance(buffers, StepBuffers), f"buffers of a plan must return StepBuffers, got {buffers!r:.80}"
    if not hasattr(plan.kernel, "py_func"):
        return
    assert is_named_tuple(operands), f"operands of a compiled kernel must be a NamedTuple, got {operands!r:.80}"
    table = tables.get(plan.word_table)
    assert table is None or any(np.may_share_memory(table, array) for array in arrays_in(operands)), (
        f"the operands do not share the memory of the table {plan.word_table!r}"
    )


def is_count(value: Any) -> bool:
    """Whether a value is an integer >= 0, of Python or numpy."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0


def is_named_tuple(value: Any) -> bool:
    """Whether a value is a NamedTuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


SYNONYMS = ("cat", "kitty")
LINES = 600
VECTOR_DIM = 32
OBJECTIVE_NUMBERS = ("negatives", "noise_exponent")
LINE_END = "</s>"  # a word that classifiers add
# for trainers with such settings, so that they learn from a corpus this small
SMALL_CORPUS_SETTINGS = {"dim": 16, "min_count": 1, "subsample": 0.0, "window": 2, "epochs": 40}


class StopTraining(Exception):
    """Raised by a report function, to check that it reaches the caller."""


def check_trainer(trainer: str | type[Trainer] | Trainer, **settings: Any) -> None:
    """Assert that a trainer fulfils the contract; takes a few seconds.

    It must be a subclass of `Trainer`, and a frozen, keyword-only dataclass whose fields have defaults, help and
    enforced bounds. Its plan must fit its data; see `check_plan`. Trained on a small corpus, it
    must

    * return finite float32 vectors of all words in order of frequency, with synonyms as nearest neighbours, or predict
      the labels of texts if it reads labels,
    * be bit-reproducible with one thread,
    * report progress, and let exceptions of `report` reach the caller,
    * record the seed, the threads, the words read and the seconds taken,
    * give a model that is equal after saving and loading, also in what it composes,
    * learn something else with another objective or other random words, if it has such settings, and
    * if it declares that it supports run options, resume an interrupted run to the same bytes, learn the same in
      replicas with any number of threads, keep frozen vectors unchanged unless `unsupported` has "freeze", and continue
      a model unless `unsupported` has "continued".

    Arguments:
        trainer: the name of an installed trainer, a class, or a trainer with settings.
        settings: settings of the trainer, for defaults that do not suit a small corpus.

    Raises:
        AssertionError: naming the violation.
    """
    kind, given = class_and_settings(trainer)
    check_options(kind)
    assert issubclass(kind, Trainer), f"{kind.__name__} must be a subclass of {Trainer.__module__}.Trainer"
    name = getattr(kind, "trainer_name", None)
    assert isinstance(name, str), f"{kind.__name__} must have the attribute trainer_name"
    unknown = kind.unsupported - {"init", "freeze", "continued"}
    assert not unknown, f"unsupported of {kind.__name__} holds {sorted(unknown)}, which are no run options"
    names = {field.name for field in dataclasses.fields(kind)}
    settings = {name: value for name, value in SMALL_CORPUS_SETTINGS.items() if name in names} | given | settings
    check_bounds(kind, settings)
    configured_trainer = kind(**settings)
    if all(getattr(kind, name) is getattr(Trainer, name) for name in ("train", "run", "learn")):  # trains by a plan
        threads = min(2, configured_trainer.max_threads or 2)
        data = prepare(configured_trainer, synonym_corpus(configured_trainer), threads=threads, seed=7)
        check_plan(data, configured_trainer.plan(data))
    reports: list[Progress] = []
    model = configured_trainer.train(synonym_corpus(configured_trainer), threads=1, seed=7, progress=reports.append)
    check_model(configured_trainer, model)
    assert reports, "report must be called"
    for report in reports:
        assert isinstance(report, Progress), f"report must be called with Progress, got {type(report).__name__}"
    words, totals = [report.words for report in reports], {report.total for report in reports}
    assert words == sorted(words), f"the words of reports must not decrease: {words}"
    assert len(totals) == 1, f"the total of reports must not change: {sorted(totals)}"
    assert words[-1] == reports[-1].total, f"the last report must be of all words, got {words[-1]} of {totals}"
    (check_labels if configured_trainer.reads_labels else check_synonyms)(model)
    check_repeated(configured_trainer, model)
    check_saved(model)
    check_composing(kind, model)
    check_stopped(configured_trainer)
    check_objective_settings(configured_trainer)
    if kind.accepts_run_options:
        check_resumed(configured_trainer, model)
        check_replicas(configured_trainer)
        check_frozen(configured_trainer, model)
        check_continued(configured_trainer, model)


def class_and_settings(trainer: str | type[Trainer] | Trainer) -> tuple[type[Trainer], dict[str, Any]]:
    """The class of a trainer given by name, class or instance, and the settings of an instance."""
    if isinstance(trainer, str):
        return registry.load("trainer", trainer), {}
    if isinstance(trainer, type):
        return trainer, {}
    return type(trainer), {field.name: getattr(trainer, field.name) for field in dataclasses.fields(trainer)}


def synonym_corpus(trainer: Trainer | None = None) -> Corpus:
    """Short sentences about one of ten things each; one of them has two interchangeable names.

    A trainer that reads labels gets the number of the thing as the label. One that reads pairs or contexts gets pairs
    about one thing, each text with any of its names; one that reads vectors gets texts whose vectors are those of their
    thing.
    """
    rng = np.random.default_rng(1)
    lines: list[Any] = []

    def name(thing: int) -> str:
        return SYNONYMS[int(rng.integers(2))] if thing == 0 else f"thing{thing}"

    if trainer is not None and (trainer.reads_pairs or trainer.reads_contexts):
        for _ in range(LINES):
            thing = int(rng.integers(10))
            names = [name(thing) for _ in range(2)]
            lines.append(tuple(f"{one} word{int(rng.integers(5))}" for one in names))
        return as_corpus(lines, trainer)
    if trainer is not None and trainer.reads_vectors:
        things = rng.integers(10, size=LINES)
        texts = [f"{name(thing)} word{int(rng.integers(5))}" for thing in things]
        return as_corpus(text_vectors(texts, rng.standard_normal((10, VECTOR_DIM))[things]), trainer)
    for _ in range(LINES):
        thing = int(rng.integers(10))
        words = [f"before{thing}", name(thing), f"after{thing}", f"word{int(rng.integers(5))}"]
        lines.append([f"{PREFIX}{thing}", *words])
    if trainer is not None and trainer.reads_labels:
        return as_corpus(list(map(" ".join, lines)), trainer)
    return Corpus([words for _, *words in lines])


def check_model(trainer: Any, model: Any) -> None:
    """Assert that it is a model of the whole corpus with the settings and the seed in its record."""
    assert isinstance(model, Model), f"train must return embeddings.Model, got {type(model).__name__}"
    check_vectors(trainer, model, threads=1)
    for name, value in dataclasses.asdict(trainer).items():
        assert model.settings.get(name) == value, f"the model must record the setting {name}={value!r}"
    for name in ("words", "total_words", "seconds"):
        value = model.record.get(name)
        assert isinstance(value, int | float), f"the record must hold {name!r}, a number, got {value!r}"
    assert model.record.get("seed") == 7, f"the record must hold seed 7, got {model.record.get('seed')!r}"


def check_vectors(trainer: Any, model: Model, *, threads: int) -> None:
    """Assert that there is a finite vector for each word, in order of frequency."""
    vectors, vocabulary = model.vectors, synonym_corpus(trainer).encode().vocabulary
    shape = (len(model.vocabulary), getattr(trainer, "dim", vectors.dim))
    words = [word for word in vectors.words if word != LINE_END or not trainer.reads_labels]
    assert words == list(vocabulary.words), "words must be all those of the corpus, in order of frequency"
    assert vectors.counts is not None, "vectors must have the counts of their words"
    counts = dict(zip(vectors.words, vectors.counts.tolist(), strict=True))
    assert [counts[word] for word in words] == vocabulary.counts.tolist(), "the counts must be those of the corpus"
    assert vectors.matrix.shape == shape, f"the vectors must have shape {shape}, got {vectors.matrix.shape}"
    assert vectors.matrix.dtype == np.float32, f"the vectors must be float32, got {vectors.matrix.dtype}"
    assert np.isfinite(vectors.matrix).all(), f"the vectors must be finite with {threads} threads"
    recorded = model.record.get("threads")
    assert recorded == threads, f"the record must hold threads={threads}, got {recorded!r}"


def check_synonyms(model: Model) -> None:
    """Assert that the synonyms are nearest neighbours of each other."""
    for word, other in (SYNONYMS, SYNONYMS[::-1]):
        nearest, cosine = model.vectors.most_similar(word, top=1)[0]
        expected = f"{other!r} ({model.vectors.similarity(word, other):.3f})"
        assert nearest == other, f"the nearest neighbour of {word!r} must be {expected}, got {nearest!r} ({cosine:.3f})"


def check_labels(model: Model) -> None:
    """Assert that the labels of the texts are predicted."""
    texts = [f"before{thing} after{thing}" for thing in range(10)]
    expected, labels = list(map(str, range(10))), model.predict(texts).labels[:, 0].tolist()
    found = [str(label).removeprefix(PREFIX) for label in labels]
    assert found == expected, f"the labels of {texts} must be {expected}, got {found}"


def check_saved(model: Model) -> None:
    """Assert that a model is equal after saving and loading."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        loaded = Model.load(Path(folder) / "model")
        assert list(loaded.vectors.words) == list(model.vectors.words), "words must be equal after loading"
        np.testing.assert_array_equal(loaded.vectors.matrix, model.vectors.matrix)
        is_equal = loaded.settings == to_jsonable(model.settings)  # a tuple is loaded as a list
        assert is_equal, "settings must be equal after loading: use only JSON values"
        assert loaded.record == model.record, "the record must be equal after loading: use only JSON values"
        for name, table in model.tables.items():
            np.testing.assert_array_equal(loaded.tables[name], table)


def check_repeated(trainer: Trainer, model: Model) -> None:
    """Assert that a second run gives the same vectors, and one with two threads correct ones."""
    again = trainer.train(synonym_corpus(trainer), threads=1, seed=7)
    same = model.vectors.matrix.tobytes() == again.vectors.matrix.tobytes()
    assert same, "vectors must be bit-reproducible with one thread and the same seed"
    threads = min(2, trainer.max_threads or 2)
    check_vectors(trainer, trainer.train(synonym_corpus(trainer), threads=threads, seed=7), threads=threads)


def check_composing(trainer: type[Trainer], model: Model) -> None:
    """Assert that a model that composes vectors still does after loading, by the `composer` of its trainer."""
    if model.composer is None:
        return
    composer, texts = trainer.composer, [*SYNONYMS, "kitties"]
    assert composer is not None, f"{trainer.__name__} must have the attribute composer, as its model does"
    rows = np.asarray(model.compose(texts))
    assert rows.shape == (len(texts), model.vectors.dim), f"compose must return a row for each text, got {rows.shape}"
    assert np.isfinite(rows).all(), "composed vectors must be finite"
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        np.testing.assert_array_equal(composer(Model.load(Path(folder) / "model"))(texts), rows)


def check_stopped(trainer: Any) -> None:
    """Assert that an exception of `report` ends the training and reaches the caller."""

    def report(progress: Progress) -> None:
        raise StopTraining

    try:
        trainer.train(synonym_corpus(trainer), threads=1, seed=7, progress=report)
    except StopTraining:
        return
    raise AssertionError("an exception of report must stop the training and reach the caller")


def check_objective_settings(trainer: Any) -> None:
    """Assert that each setting of objectives and random words that the trainer accepts changes what is learned."""
    if not issubclass(type(trainer), NegativeSampling):
        return
    trainer = one_epoch(trainer)
    types, before = field_types(type(trainer)), learned(trainer)
    for name in ("objective", *OBJECTIVE_NUMBERS, "negative_sharing"):
        value: Any = getattr(trainer, name, None)
        others = [value + 1] if name in OBJECTIVE_NUMBERS else typing.get_args(types.get(name))
        accepted = [one for one in others if one != value and refusal(replace, trainer, **{name: one}) is None]
        if name in types and accepted:
            after = learned(replace(trainer, **{name: accepted[0]}))
            assert after != before, (
                f"{name}={accepted[0]!r} learns the same as {name}={value!r}: use the setting, or drop it by a class "
                f"variable in its place: {name}: ClassVar[Any] = {value!r}"
            )


def learned(trainer: Any) -> dict[str, bytes]:
    """The bytes of the vectors and tables of a model."""
    model = trainer.train(synonym_corpus(trainer), threads=1, seed=7)
    return {name: table.tobytes() for name, table in {"vectors": model.vectors.matrix, **model.tables}.items()}


class InterruptSecondEpoch(Callback):
    """Interrupts a run at the end of its second epoch, as Ctrl-C does."""

    def on_epoch_end(self, epoch_end: EpochEnd) -> None:
        """Interrupt."""
        if epoch_end.epoch == 2:
            raise KeyboardInterrupt


def check_replicas(trainer: Trainer) -> None:
    """Assert that replicas learn the same with any number of threads, also if they are interrupted and resumed."""
    replicas, threads = Replicas(3), min(2, trainer.max_threads or 2)
    options = RunOptions(replicas=replicas)
    models = [trainer.train(synonym_corpus(trainer), threads=n, seed=7, run_options=options) for n in (1, threads)]
    for name, table in {"vectors": models[0].vectors.matrix, **models[0].tables}.items():
        other = models[1].vectors.matrix if name == "vectors" else models[1].tables[name]
        assert other.tobytes() == table.tobytes(), (
            f"replicas must learn the same {name} with any number of threads: operands and buffers must not share state"
        )
    check_resumed(trainer, models[0], replicas)


def check_resumed(trainer: Any, model: Model, replicas: Replicas | None = None) -> None:
    """Assert that an interrupted run is resumed from its checkpoint to the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoints = Checkpoints(Path(folder) / "checkpoints")
        options = RunOptions(checkpoints=checkpoints, callbacks=[InterruptSecondEpoch()], replicas=replicas)
        try:
            trainer.train(synonym_corpus(trainer), threads=1, seed=7, run_options=options)
            raise AssertionError("callbacks must be notified of the end of each epoch")
        except Interrupted:
            assert checkpoints.paths(), "an interrupted run must write a checkpoint"
        options = RunOptions(checkpoints=checkpoints, resume=True, replicas=replicas)
        again = trainer.train(synonym_corpus(trainer), threads=1, seed=7, run_options=options)
    final_tables = {"vectors": again.vectors.matrix, **again.tables}
    for name, table in {"vectors": model.vectors.matrix, **model.tables}.items():
        assert final_tables[name].tobytes() == table.tobytes(), (
            f"a resumed run must end with the same {name} to the last bit"
        )


def check_frozen(trainer: Trainer, model: Model) -> None:
    """Assert that frozen vectors do not change, unless the trainer declares that it cannot freeze any."""
    if not trainer.can_freeze:
        return
    options = RunOptions(init=InitFrom(model.vectors, freeze=True))
    again = one_epoch(trainer).train(synonym_corpus(trainer), threads=1, seed=7, run_options=options)
    assert again.vectors.matrix.tobytes() == model.vectors.matrix.tobytes(), (
        "frozen vectors must not change: let the kernel skip the rows of buffers.frozen, or add 'freeze' to unsupported"
    )


def check_continued(trainer: Trainer, model: Model) -> None:
    """Assert that a model can be trained further, unless the trainer declares that it cannot."""
    if not trainer.can_continue:
        return
    options = RunOptions(continued=model)
    again = one_epoch(trainer).train(synonym_corpus(trainer), threads=1, seed=7, run_options=options)
    assert list(again.vectors.words) == list(model.vectors.words), "continued training must keep all words in order"
    assert np.isfinite(again.vectors.matrix).all(), "the vectors of continued training must be finite"


def one_epoch(trainer: Any) -> Any:
    """A copy of a trainer with one epoch."""
    settings = {field.name: getattr(trainer, field.name) for field in dataclasses.fields(trainer)}
    return type(trainer)(**settings | ({"epochs": 1} if "epochs" in settings else {}))
