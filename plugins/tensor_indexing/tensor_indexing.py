"""Tensor indexing: the vector of a phrase from those of its two words (Zhao, Liu and Sun 2015)."""

import os
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from embeddings import registry
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import RegistryError, SettingError
from embeddings.models.model import Model
from embeddings.plugins.tensor_indexing.composer import SPEECH, Composer, joiner_of
from embeddings.plugins.tensor_indexing.composition_tables import tables_of, without_functions
from embeddings.plugins.tensor_indexing.fit_settings import JOINER, CompositionSettings
from embeddings.plugins.tensor_indexing.fitting import Watch, check_enough, fit
from embeddings.plugins.tensor_indexing.phrase_pairs import Examples, Given, find
from embeddings.settings import left_open, option
from embeddings.training.progress import Report
from embeddings.training.run_options import Conduct, arguments
from embeddings.training.task import Interrupted, WindowSettings, run_settings
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.corpora import Corpus

NAME = "tensor-indexing"
OfBase = left_open("OfBase", WindowSettings, "that of --base")


@dataclass(frozen=True, kw_only=True)
class TensorIndexing(CompositionSettings, OfBase):  # type: ignore[misc, valid-type]  # a made one
    """Tensor indexing: learns words and phrases together, then what a phrase of any two words means.

    The phrases are words of the corpus that join two others, such as red_car. For each type of phrase it fits
    z_i = x'W_i y + (Mx)_i + (Ny)_i, W_i of low rank, where x, y and z are the vectors of the words and of the phrase.
    """

    continues: ClassVar[bool] = False
    base: str = option("skipgram", "Trainer that learns the vectors of words and phrases, by the settings it shares.")

    def __post_init__(self) -> None:
        super().__post_init__()
        taken, wanted = ({field.name for field in fields(kind)} for kind in (self.base_class, WindowSettings))
        if not wanted <= taken or "base" in taken:
            raise SettingError(f"base must be a trainer that learns words from windows, not {self.base!r}")
        self.words  # noqa: B018  # the trainer of words checks what it is given

    @cached_property
    def words(self) -> Any:
        """The trainer of words, with the settings that are set, and its own defaults for others."""
        given = {field.name: getattr(self, field.name) for field in fields(WindowSettings)}
        return self.base_class(**{name: value for name, value in given.items() if value is not None})

    @property
    def learner(self) -> tuple[str, Any]:
        """The name of the trainer of words, which checkpoints are of, and that trainer."""
        return self.base, self.words

    @property
    def base_class(self) -> Any:
        """The trainer of words.

        Raises:
            SettingError: there is none of that name.
        """
        try:
            return registry.load("trainer", self.base)
        except RegistryError as error:
            raise SettingError(f"base: {error}") from error

    def train(
        self,
        corpus: "Corpus",
        *,
        threads: int | None = None,
        seed: int = 1,
        report: Report | None = None,
        conduct: Conduct | None = None,
    ) -> Model:
        """The model learned from a corpus whose phrases are words of it.

        Raises:
            CorpusError: the corpus is broken, or has too few phrases.
            SettingError: something is asked for that the trainer of words does not know.
            TrainingError, Interrupted: as the trainer of words; what is interrupted later is a model of words alone,
                and the last checkpoint is one of its training.
        """
        threads, seed = run_settings(threads, seed)
        if conduct is not None:
            conduct.check(NAME, self)
            conduct.check_resumed(*self.learner, threads, seed)
        self.check_dim(self.words.dim)
        vocabulary = corpus.encode().select(min_count=self.words.min_count, max_vocab=self.words.max_vocab)
        known = known_phrases(corpus)
        if self.phrase_list is not None:
            known["given"] = None
        found = find(vocabulary, self, **known)
        check_enough(found, self, seed)
        how = arguments(self.words, self.base, conduct)
        learned: Model = self.words.train(corpus, threads=threads, seed=seed, report=report, **how)
        try:
            return self.fitted(learned, found, asdict(self), joiner=known["joiner"], threads=threads, seed=seed)
        except KeyboardInterrupt:
            raise Interrupted(learned) from None

    def fit(
        self,
        vectors: Vectors | Model | str | os.PathLike[str],
        phrases: Given | None = None,
        *,
        joiner: str | None = None,
        threads: int | None = None,
        seed: int = 1,
        watch: Watch | None = None,
    ) -> Model:
        """The model of words and phrases that have vectors already; these stay as they are.

        Arguments:
            vectors: vectors, a model, or the path of either.
            phrases: to learn from, or the path of a list; those of `phrase_list`, or else all words that join two
                others, if not given.
            joiner: what stands between the words of a phrase in its token; that of the model, or else "_", if not
                given.
            watch: is told the type, the number and the errors of each pass.

        Raises:
            SettingError: a setting of words is set, for nothing would come of it; one does not fit the vectors; or
                phrases are given, and `phrase_list` names others.
            CorpusError: there are too few phrases.
            FormatError: vectors or phrases cannot be read.
        """
        settings = {field.name: getattr(self, field.name) for field in fields(CompositionSettings)}
        for field in fields(self):
            if field.name not in settings and getattr(self, field.name) != field.default:
                raise SettingError(f"{field.name} is a setting of words, and these have their vectors: leave it out")
        threads, seed = run_settings(threads, seed)
        model = as_model(vectors)
        model.vectors.check_finite()
        joiner = joiner_of(model.record) if joiner is None else joiner
        found = find(model.vocabulary, self, given=phrases, joiner=joiner, case=case_of(model))
        return self.fitted(model, found, settings, joiner=joiner, threads=threads, seed=seed, watch=watch)

    def fitted(
        self,
        base: Model,
        found: Examples,
        settings: dict[str, Any],
        *,
        joiner: str,
        threads: int,
        seed: int,
        watch: Watch | None = None,
    ) -> Model:
        """The base model with functions."""
        import scipy.linalg  # noqa: F401  # only what is loaded is limited, and scipy has a BLAS of its own
        from threadpoolctl import threadpool_limits

        started = perf_counter()
        with threadpool_limits(limits=threads, user_api="blas"):
            made = fit(base.vectors, found, self, seed=seed, watch=watch)
        record = {**base.record, "base": {"model": base.name, "settings": base.settings}, **made.record}
        lost = base.composer is not None and base.name != NAME
        record["notes"] += ["unseen words are no longer composed, phrases are"] * lost
        record |= {
            "joiner": joiner,
            "seed": seed,
            "threads": threads,
            "fit_seconds": round(perf_counter() - started, 3),
        }
        tables = {name: table for name, table in without_functions(base.tables).items() if name != SPEECH}
        return Model(
            NAME,
            vectors=Vectors(base.vectors.words, base.vectors.matrix, counts=base.vectors.counts),
            vocabulary=base.vocabulary,
            settings=settings,
            tables=tables | tables_of(made) | ({} if found.speech is None else {SPEECH: found.speech}),
            record=record,
            composer=self.composer,
            tags=base.tags,
            phrases=base.phrases,
        )

    @staticmethod
    def composer(model: Model) -> Composer:
        """What composes the phrases of a model."""
        return Composer.of(model)


def known_phrases(corpus: "Corpus") -> dict[str, Any]:
    """What the corpus says of the phrases that it made tokens of: list, lexicon, joiner, and the case of its words."""
    from embeddings.corpora.phrases import PhraseList

    if corpus.phrasing is None:
        return {"joiner": JOINER, "case": corpus.case}
    source, joiner = corpus.phrasing.source, corpus.phrasing.joiner
    listed = source if isinstance(source, PhraseList) else None
    return {"given": listed, "lexicon": getattr(source, "lexicon", None), "joiner": joiner, "case": corpus.case}


def case_of(model: Model) -> str | None:
    """The case that the text of a model was read in; None where that is not known."""
    text = model.record.get("text")
    return text.get("case") if isinstance(text, dict) else None


def as_model(source: Vectors | Model | str | os.PathLike[str]) -> Model:
    """Vectors as a model that nothing else is known of; a model as it is."""
    if isinstance(source, Model):
        return source
    if not isinstance(source, Vectors):
        from embeddings.models.loading import load_whole

        return as_model(load_whole(source))
    known = source.counts is not None and not np.any(np.diff(source.counts) > 0)
    counts = source.counts if known else np.zeros(len(source), np.int64)
    return Model("vectors", vectors=source, vocabulary=Vocabulary(source.words, counts))
