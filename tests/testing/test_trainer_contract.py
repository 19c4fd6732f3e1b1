"""Every installed trainer fulfils the contract, and the contract detects violations."""

import dataclasses
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from optional_libraries import all_trainers, needs_libraries_of

import embeddings as em
from embeddings import registry
from embeddings.errors import CorpusError, DeclarationError, SettingError
from embeddings.models.model import Model
from embeddings.models.table import word_vectors
from embeddings.objectives.negative_sampling import NegativeSamplingObjective
from embeddings.settings import option
from embeddings.testing import check_trainer, trainer_contract
from embeddings.training.trainer import Trainer
from embeddings.vectors.vectors import Vectors

SETTINGS = {
    "paragraph-dbow": {"window": 5, "learning_rate": 0.025},  # without train_words no other window is accepted
    "tensor-indexing": {"min_phrases": 0},  # the corpus of the contract has no phrases
    "glove": {"x_max": 10.0},  # counts are small in a small corpus
    "sembei": {"max_n": 1, "per_length": "all"},  # so that its n-grams are the words of the corpus
    "context2vec": {"objective": "sampled-softmax", "batch_words": 100, "learning_rate": 0.01, "epochs": 6},
    "c2w": {
        "objective": "full-softmax",
        "batch_words": 100,
        "learning_rate": 0.01,
        "epochs": 8,
        "hidden_size": 32,
        "character_hidden_size": 16,
    },
    "text-pairs": {"batch_size": 64},  # so that there are several steps per epoch
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[*needs_libraries_of(name), *[pytest.mark.slow] * bool(kind.libraries)])
        for name, kind in ((name, registry.load("trainer", name)) for name in registry.find_all("trainer"))
    ],
)
def test_installed_trainers_fulfil_the_contract(name):
    check_trainer(registry.load("trainer", name), **SETTINGS.get(name, {}))


@pytest.mark.parametrize("name", all_trainers())
def test_random_vectors_are_no_result(name):
    """Subsampling drops all words, or each line has only one; a text with a label always has something to learn."""
    trainer = registry.load("trainer", name)
    if not trainer.reads_words_alone():
        pytest.skip("its texts are not subsampled")
    settings = {"dim": 4, "min_count": 1, "subsample": 1e-12, **SETTINGS.get(name, {})}
    lines = ["a", "b", "a"] if name in ("glove", "ppmi-svd") else ["a b c a b"]
    names = {field.name for field in dataclasses.fields(registry.load("trainer", name))}
    settings = {name: value for name, value in settings.items() if name in names}
    with pytest.raises(CorpusError, match=r"nothing (was learned|to learn)"):
        em.train(name, em.Corpus(lines), threads=1, **settings)


def replace_parts(model, *, vectors=None, **parts):
    """The model with some parts replaced."""
    old = {name: getattr(model, name) for name in ("vocabulary", "settings", "tables", "record")}
    return Model(model.name, vectors=vectors or model.vectors, **{**old, **parts})


@dataclass(frozen=True, kw_only=True)
class Wrapped(em.SkipGram):
    """A trainer that fulfils the contract, for subclasses to break."""

    accepts_run_options = False

    def after(self, model, **run):
        return model

    def train(self, corpus, *, threads=None, seed=1, progress=None):
        """Train skip-gram."""
        model = em.SkipGram.train(self, corpus, threads=threads, seed=seed, progress=progress)
        return self.after(model, threads=threads, seed=seed)


def add_noise(model, rng):
    rows = model.vectors.matrix + rng.normal(size=model.vectors.matrix.shape).astype(np.float32) * 1e-6
    return replace_parts(model, vectors=Vectors(model.vectors.words, rows, counts=model.vectors.counts))


def change_rows(model, change):
    rows = change(model.vectors.matrix.copy())
    return replace_parts(model, vectors=Vectors(model.vectors.words, rows, counts=model.vectors.counts))


def with_nan(rows):
    rows[3, 0] = np.nan
    return rows


def with_several_threads(change):
    """A change that applies only with several threads."""
    return lambda self, model, *, threads, seed: change(model) if threads > 1 else model


def reorder(model):
    words, counts = model.vectors.words[::-1], np.sort(model.vectors.counts)[::-1]
    vectors = Vectors(words, model.vectors.matrix[::-1].copy(), counts=counts)
    return replace_parts(model, vectors=vectors, vocabulary=em.corpora.Vocabulary(words, counts))


RNG = np.random.default_rng()
AFTER = {
    r"embeddings\.Model.*Vectors": lambda self, model, **run: model.vectors,
    "bit-reproducible": lambda self, model, **run: add_noise(model, RNG),
    "finite with 1 threads": lambda self, model, **run: change_rows(model, with_nan),
    "finite with 2 threads": with_several_threads(lambda model: change_rows(model, with_nan)),
    r"shape \(36, 16\).*\(36, 15\)": lambda self, model, **run: change_rows(model, lambda rows: rows[:, :15]),
    "nearest neighbour of 'cat'.*'kitty'": lambda self, model, **run: change_rows(model, np.ones_like),
    "setting dim=16": lambda self, model, **run: replace_parts(model, settings={}),
    "seed 7.*8": lambda self, model, **run: replace_parts(model, record={**model.record, "seed": 8}),
    "record must hold 'seconds'": lambda self, model, **run: replace_parts(
        model, record={name: value for name, value in model.record.items() if name != "seconds"}
    ),
    "record must hold 'words'": lambda self, model, **run: replace_parts(model, record={"seed": 7, "threads": 1}),
    "threads=1.*None": lambda self, model, **run: replace_parts(model, record={**model.record, "threads": None}),
    "record.*loading": lambda self, model, **run: replace_parts(model, record={**model.record, "losses": (1, 2)}),
    "order of frequency": lambda self, model, **run: reorder(model),
    "counts": lambda self, model, **run: replace_parts(
        model, vectors=Vectors(model.vectors.words, model.vectors.matrix)
    ),
}


@pytest.mark.parametrize("message", AFTER)
def test_models_that_violate_the_contract(message):
    broken = type("Broken", (Wrapped,), {"after": AFTER[message], "__doc__": "Broken."})
    with pytest.raises(AssertionError, match=message):
        check_trainer(broken)


def test_the_wrapped_trainer_fulfils_the_contract():
    check_trainer(Wrapped)


@dataclass(frozen=True, kw_only=True)
class OwnObjective(em.SkipGram):
    """A trainer that uses only one objective and inherits the setting."""

    trainer_name: ClassVar[str] = "own-objective"

    def new_objective(self, vocabulary):
        """Negative sampling, whatever the setting is."""
        return NegativeSamplingObjective(self, vocabulary, self.dim)


@dataclass(frozen=True, kw_only=True)
class WithoutSetting(OwnObjective):
    """A trainer that uses only one objective and drops the setting."""

    trainer_name: ClassVar[str] = "without-setting"
    objective: ClassVar[str] = "negative-sampling"


def test_an_inherited_objective_that_is_ignored_violates_the_contract():
    with pytest.raises(AssertionError, match=r"objective='nce' learns the same as objective='negative-sampling'"):
        check_trainer(OwnObjective)


def test_a_class_variable_drops_an_inherited_setting():
    check_trainer(WithoutSetting)
    assert "objective" not in {field.name for field in dataclasses.fields(WithoutSetting)}
    with pytest.raises(SettingError, match="objective"):
        WithoutSetting(objective="nce")


def with_plan(**changes):
    """A skip-gram trainer with another plan."""

    class Changed(em.SkipGram):
        def plan(self, data):
            return dataclasses.replace(super().plan(data), **changes)

    return Changed(dim=8, min_count=1, epochs=1)


def test_frozen_vectors_that_change_violate_the_contract():
    trainer = with_plan(word_table="output")
    model = trainer.train(trainer_contract.synonym_corpus(), threads=1)
    with pytest.raises(AssertionError, match="frozen vectors must not change"):
        trainer_contract.check_frozen(trainer, model)


def test_models_that_cannot_be_continued_violate_the_contract():
    trainer = em.SkipGram(dim=8, min_count=1, epochs=1)
    model = trainer.train(trainer_contract.synonym_corpus(), threads=1)
    with pytest.raises(DeclarationError, match="two tables of the plan"):
        trainer_contract.check_continued(with_plan(tables={name: word_vectors(36, 8) for name in "ab"}), model)


def reporting(change):
    """A trainer whose reports are changed or left out."""

    def train(self, corpus, *, threads=None, seed=1, progress=None):
        changed = progress and (lambda state: change(progress, state))
        return em.SkipGram.train(self, corpus, threads=threads, seed=seed, progress=changed)

    return dataclass(frozen=True, kw_only=True)(
        type("Broken", (Wrapped,), {"train": train, "__doc__": "Its reports are wrong."})
    )


def exceed_total(report, progress):
    report(dataclasses.replace(progress, total=progress.total + 1))


def decrease_words(report, progress):
    report(progress)
    report(dataclasses.replace(progress, words=progress.words - 1))


def swallow_exceptions(report, progress):
    try:
        report(progress)
    except Exception:
        return


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda report, progress: None, "report must be called$"),
        (lambda report, progress: report(progress.words), "Progress.*int"),
        (exceed_total, r"last report.*96000.*96001"),
        (decrease_words, "words of reports"),
        (swallow_exceptions, "exception of report"),
    ],
    ids=["none", "number", "total", "words", "exceptions"],
)
def test_reports_that_violate_the_contract(change, message):
    with pytest.raises(AssertionError, match=message):
        check_trainer(reporting(change))


def declared(base=Trainer, *, frozen=True, kw_only=True, doc="Broken.", **attributes):
    """A class with these attributes; those made by `option` or `field` are its settings."""
    settings = {name: int for name, value in attributes.items() if isinstance(value, dataclasses.Field)}
    kind = type("Broken", (base,), {"__doc__": doc, "__annotations__": settings, **attributes})
    return dataclass(frozen=frozen, kw_only=kw_only)(kind)


def refuse_vaguely(self):
    if self.dim != 3:
        raise SettingError("wrong")


def dim():
    return option(3, "Components.", ge=1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: int, "int must be a dataclass"),
        (lambda: declared(object, frozen=False), "Broken must be frozen"),
        (lambda: declared(object, kw_only=False, dim=dim()), "dim must be keyword-only"),
        (lambda: declared(dim=field(metadata={"help": "Components."})), "dim must have a default"),
        (lambda: declared(dim=field(default=3)), "dim must have help"),
        (
            lambda: declared(__annotations__={"dims": list[int]}, dims=option((), "Components.")),
            "dims must be an int, float, str, bool, Literal or tuple",
        ),
        (lambda: declared(object, doc=None, dim=dim()), "Broken must have a docstring"),
        (lambda: declared(object), "Broken must be a subclass of .*Trainer"),
        (lambda: declared(), "Broken.*trainer_name"),
        (lambda: declared(trainer_name="broken", unsupported=frozenset({"frozen"})), "unsupported of Broken.*frozen"),
        (
            lambda: declared(trainer_name="broken", __post_init__=lambda self: None, dim=dim()),
            "dim='a text' must raise SettingError",
        ),
        (
            lambda: declared(trainer_name="broken", __post_init__=refuse_vaguely, dim=dim()),
            "the message on dim='a text' must name it: wrong",
        ),
    ],
)
def test_classes_that_violate_the_contract(make, message):
    with pytest.raises(AssertionError, match=message):
        check_trainer(make())
