"""The contract over every installed trainer; and that the contract sees what breaks it."""

import dataclasses
from dataclasses import dataclass, field

import numpy as np
import pytest

import embeddings as em
from embeddings import registry
from embeddings.models.model import Model
from embeddings.settings import Settings, option
from embeddings.testing import check_trainer
from embeddings.vectors.vectors import Vectors

FITTING = {
    "paragraph-dbow": {"window": 5},  # it has none without train_words, and takes no other
    "tensor-indexing": {"min_phrases": 0},  # the corpus of the contract has no phrases
    "sembei": {"max_n": 1, "per_length": "all"},  # nor do vectors of more than its words belong in it
}


@pytest.mark.parametrize("name", registry.find_all("trainer"))
def test_installed(name):
    check_trainer(registry.load("trainer", name), **FITTING.get(name, {}))


@pytest.mark.parametrize(
    "settings",
    [
        {"combine": "sum"},
        {"context_gradient": "exact", "learning_rate": 0.15},
        {"shrink_window": False},
        {"negatives": 20},
    ],
    ids=str,
)
def test_cbow_in_its_other_forms(settings):
    check_trainer(em.CBOW, **settings)


@pytest.mark.parametrize(
    "settings", [{"negative_sharing": "none"}, {"negatives": 1}, {"negatives": 20}, {"dim": 33}, {"window": 9}], ids=str
)
def test_skipgram_with_other_settings(settings):
    check_trainer(em.SkipGram, **settings)


def changed(model, *, vectors=None, **parts):
    """A model with other parts."""
    kept = {name: getattr(model, name) for name in ("vocabulary", "settings", "tables", "record")}
    return Model(model.name, vectors=vectors or model.vectors, **{**kept, **parts})


@dataclass(frozen=True, kw_only=True)
class Wrapped(em.SkipGram):
    """A trainer that keeps the contract, for others to break."""

    def after(self, model, **run):
        return model

    def train(self, corpus, *, threads=None, seed=1, report=None):
        """The same as skip-gram."""
        model = em.SkipGram.train(self, corpus, threads=threads, seed=seed, report=report)
        return self.after(model, threads=threads, seed=seed)


def noisy(model, rng):
    rows = model.vectors.matrix + rng.normal(size=model.vectors.matrix.shape).astype(np.float32) * 1e-6
    return changed(model, vectors=Vectors(model.vectors.words, rows, counts=model.vectors.counts))


def moved(model, change):
    rows = change(model.vectors.matrix.copy())
    return changed(model, vectors=Vectors(model.vectors.words, rows, counts=model.vectors.counts))


def with_nan(rows):
    rows[3, 0] = np.nan
    return rows


def only_many(change):
    """A change that is made with several threads only."""
    return lambda self, model, *, threads, seed: change(model) if threads > 1 else model


RNG = np.random.default_rng()
AFTER = {
    "must return an embeddings.Model, not Vectors": lambda self, model, **run: model.vectors,
    "the same vectors to the last bit": lambda self, model, **run: noisy(model, RNG),
    "must be finite, with 1 threads": lambda self, model, **run: moved(model, with_nan),
    "must be finite, with 2 threads": only_many(lambda model: moved(model, with_nan)),
    "must be of shape .36, 16., not .36, 15.": lambda self, model, **run: moved(model, lambda rows: rows[:, :15]),
    "the word nearest to 'cat' must be 'kitty'": lambda self, model, **run: moved(model, np.ones_like),
    "must record the setting dim=16": lambda self, model, **run: changed(model, settings={}),
    "must hold the seed 7, not 8": lambda self, model, **run: changed(model, record={**model.record, "seed": 8}),
    "must hold threads=1, not None": lambda self, model, **run: changed(model, record={"seed": 7}),
    "the record must be equal when loaded": lambda self, model, **run: changed(
        model, record={**model.record, "losses": (1, 2)}
    ),
    "must have the counts of their words": lambda self, model, **run: changed(
        model, vectors=Vectors(model.vectors.words, model.vectors.matrix)
    ),
}


@pytest.mark.parametrize("told", AFTER)
def test_a_model_that_breaks_the_contract(told):
    broken = type("Broken", (Wrapped,), {"after": AFTER[told], "__doc__": "Broken."})
    with pytest.raises(AssertionError, match=told):
        check_trainer(broken)


def test_the_wrapped_one_is_right():
    check_trainer(Wrapped)


@dataclass(frozen=True, kw_only=True)
class Unordered(Wrapped):
    """Its words stand in another order than that of frequency."""

    def after(self, model, **run):
        order = np.arange(len(model.vectors))[::-1]
        words = [model.vectors.words[i] for i in order]
        vocabulary = em.Vocabulary(words, np.sort(model.vectors.counts)[::-1])
        vectors = Vectors(words, model.vectors.matrix[order], counts=vocabulary.counts)
        return changed(model, vectors=vectors, vocabulary=vocabulary)


def reporting(change):
    """A trainer whose reports are changed, or left out, on their way."""

    def train(self, corpus, *, threads=None, seed=1, report=None):
        told = report and (lambda progress: change(report, progress))
        return em.SkipGram.train(self, corpus, threads=threads, seed=seed, report=told)

    return dataclass(frozen=True, kw_only=True)(
        type("Broken", (em.SkipGram,), {"train": train, "__doc__": "Its reports are wrong."})
    )


def short(report, progress):
    report(dataclasses.replace(progress, total=progress.total + 1))


def falling(report, progress):
    report(progress)
    report(dataclasses.replace(progress, words=progress.words - 1))


def swallowing(report, progress):
    try:
        report(progress)
    except Exception:
        return


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda report, progress: None, "report must be called"),
        (lambda report, progress: report(progress.words), "must be given a Progress, not int"),
        (short, r"the last report must be of all words: 96000 of \{96001\}"),
        (falling, "the words of reports must not fall"),
        (swallowing, "what report raises must stop the training"),
    ],
    ids=["none", "number", "short", "falling", "swallowing"],
)
def test_reports_that_break_the_contract(change, told):
    with pytest.raises(AssertionError, match=told):
        check_trainer(reporting(change))


def test_words_out_of_order():
    with pytest.raises(AssertionError, match="words must be in order of frequency, all of them"):
        check_trainer(Unordered)


@dataclass(kw_only=True)
class Thawed:
    """Not frozen."""


@dataclass(frozen=True)
class ByPlace:
    """Not keyword-only."""

    dim: int = option(3, "Components.")


@dataclass(frozen=True, kw_only=True)
class NoDefault:
    """A field without default."""

    dim: int = field(metadata={"help": "Components."})


@dataclass(frozen=True, kw_only=True)
class NoHelp:
    """A field without help."""

    dim: int = 3


@dataclass(frozen=True, kw_only=True)
class NoOption:
    """A field that no command line can give."""

    dims: list[int] = option((), "Components.")  # noqa: RUF009


@dataclass(frozen=True, kw_only=True)
class Undocumented:
    dim: int = option(3, "Components.")


@dataclass(frozen=True, kw_only=True)
class Untrained:
    """It has no train."""


@dataclass(frozen=True, kw_only=True)
class Seedless:
    """It takes no seed."""

    def train(self, corpus, *, threads=1, report=None):
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Unchecked:
    """It does not look at its settings."""

    dim: int = option(3, "Components.", ge=1)

    def train(self, corpus, *, threads=1, seed=1, report=None):
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Nameless(Settings):
    """Its message does not say which setting is wrong."""

    dim: int = option(3, "Components.", ge=1)

    def __post_init__(self):
        if self.dim != 3:
            raise em.errors.SettingError("wrong")

    train = Unchecked.train


@pytest.mark.parametrize(
    ("trainer", "told"),
    [
        (int, "int must be a dataclass"),
        (Thawed, "Thawed must be frozen"),
        (ByPlace, "dim must be keyword-only"),
        (NoDefault, "dim must have a default"),
        (NoHelp, "dim must have help"),
        (NoOption, "dims must be an int, float, str, bool or Literal"),
        (Undocumented, "Undocumented must have a docstring"),
        (Untrained, "Untrained must have a method train"),
        (Seedless, "train must take 'seed'"),
        (Unchecked, "dim='a text' must raise SettingError"),
        (Nameless, "the message on dim='a text' must name it: wrong"),
    ],
)
def test_a_class_that_breaks_the_contract(trainer, told):
    with pytest.raises(AssertionError, match=told):
        check_trainer(trainer)
