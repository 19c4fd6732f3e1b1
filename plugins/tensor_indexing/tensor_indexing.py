"""Tensor indexing: phrase vectors composed of the vectors of two words (Zhao, Liu and Sun 2015)."""

import os
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from embeddings import registry
from embeddings.corpora.phrases.phrase import JOINER
from embeddings.corpora.phrases.phrase_list import PhraseList
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import S, SettingError
from embeddings.models.loading import load_model_or_vectors
from embeddings.models.model import Model
from embeddings.plugins.tensor_indexing.composer import EXAMPLES, POS_TAGS, Composer, joiner_of, parse_name
from embeddings.plugins.tensor_indexing.composition_settings import CompositionSettings
from embeddings.plugins.tensor_indexing.fitting import ReportFit, check_enough, fit
from embeddings.plugins.tensor_indexing.phrase_pairs import Examples, PhraseSource, find_examples
from embeddings.settings import check_value, option, with_optional_fields
from embeddings.support.imports import import_library
from embeddings.training.progress import Report
from embeddings.training.run import Interrupted
from embeddings.training.run_options import RunOptions
from embeddings.training.trainer import Trainer, WindowTrainer
from embeddings.training.training_data import as_corpus, check_threads_and_seed, select_words
from embeddings.vectors.vectors import Vectors

NAME = "tensor-indexing"
BaseSettings = with_optional_fields("BaseSettings", WindowTrainer, "as in --base")


@dataclass(frozen=True, kw_only=True)
class TensorIndexing(CompositionSettings, BaseSettings, Trainer):  # type: ignore[misc, valid-type]  # a generated base
    """Tensor indexing: trains words and phrases together, then fits functions that compose two-word phrases.

    Phrases are words of the corpus that join two others, such as red_car. For each type of phrase it fits
    z_i = x'W_i y + (Mx)_i + (Ny)_i, W_i of low rank, where x, y and z are the vectors of the words and of the phrase.
    """

    trainer_name = NAME
    unsupported = frozenset({"continued"})
    composer = Composer.of
    base: str = option(
        "skipgram", "Trainer of the vectors of words and phrases; it takes the settings below.", common=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        accepted_names, required_names = (
            {field.name for field in fields(kind)} for kind in (self.word_trainer_class, WindowTrainer)
        )
        if not required_names <= accepted_names or "base" in accepted_names:
            raise SettingError(f"{S.base} must be a trainer of words from context windows, got {self.base!r}")
        self.run_trainer  # noqa: B018  # the word trainer checks its settings

    @cached_property
    def run_trainer(self) -> WindowTrainer:
        """The word trainer, whose runs write the checkpoints; settings that are None take its defaults."""
        values = ((field.name, getattr(self, field.name)) for field in fields(WindowTrainer))
        trainer: WindowTrainer = self.word_trainer_class(**{name: one for name, one in values if one is not None})
        return trainer

    @property
    def word_trainer_class(self) -> Any:
        """The class of the word trainer."""
        return registry.load("trainer", self.base)

    def run(
        self, corpus: Any, *, threads: int | None, seed: int, report: Report | None, run_options: RunOptions
    ) -> Model:
        """Train on a corpus that has phrases as words.

        Raises:
            CorpusError: the corpus is corrupt, or has too few phrases.
            SettingError: the word trainer does not support an option.
            TrainingError, Interrupted: raised by the word trainer. If fitting is interrupted, the model has only
                words; checkpoints always belong to the word trainer.
        """
        threads, seed = check_threads_and_seed(threads, seed)
        run_options.check(self)
        run_options.check_fingerprint(self, threads, seed)
        corpus = as_corpus(corpus, self)
        check_value("rank", self.rank, int | None, {"le": self.run_trainer.dim})
        encoded: Any = run_options.encode(corpus, threads)
        vocabulary = select_words(encoded, self.run_trainer, run_options.vocabulary_rule)
        phrases, joiner = getattr(corpus.phrase_config, "source", None), getattr(corpus.phrase_config, "joiner", JOINER)
        examples = find_examples(
            vocabulary,
            self,
            phrases=phrases if isinstance(phrases, PhraseList) and self.phrase_list is None else None,
            lexicon=getattr(phrases, "lexicon", None),
            joiner=joiner,
            case=corpus.case,
        )
        check_enough(examples, self, seed)
        model = self.run_trainer.run(encoded, threads=threads, seed=seed, report=report, run_options=run_options)
        try:
            return self.with_functions(model, examples, asdict(self), joiner, threads, seed)
        except KeyboardInterrupt:
            raise Interrupted(model) from None

    def fit(
        self,
        vectors: Vectors | Model | str | os.PathLike[str],
        phrases: PhraseSource | None = None,
        *,
        joiner: str | None = None,
        threads: int | None = None,
        seed: int = 1,
        report: ReportFit | None = None,
    ) -> Model:
        """Fit functions to existing vectors of words and phrases, which do not change.

        Arguments:
            vectors: vectors, a model, or the path of either.
            phrases: phrases to learn from, or the path of a list; by default `phrase_list`, or else all words
                that join two others.
            joiner: joins the words of a phrase in its token; by default the joiner of the model, or else "_".
            threads: number of threads; all available cores if not given.
            seed: the seed of the split of phrases and of gradient descent.
            report: called with the type, the number and the errors of each epoch.

        Raises:
            SettingError: a setting of word training is set, a setting does not fit the vectors, or both `phrases` and
                `phrase_list` are given.
            CorpusError: there are too few phrases.
            FormatError: vectors or phrases cannot be read.
        """
        settings = {field.name: getattr(self, field.name) for field in fields(CompositionSettings)}
        for field in fields(self):
            if field.name not in settings and getattr(self, field.name) != field.default:
                raise SettingError(f"{field.name} is a setting of word training, and has no effect here: leave it out")
        threads, seed = check_threads_and_seed(threads, seed)
        model = vectors if isinstance(vectors, Vectors | Model) else load_model_or_vectors(vectors)
        if isinstance(model, Vectors):
            is_sorted = model.counts is not None and not np.any(np.diff(model.counts) > 0)
            counts = model.counts if is_sorted else np.zeros(len(model), np.int64)
            model = Model("vectors", vectors=model, vocabulary=Vocabulary(model.words, counts))
        model.vectors.check_finite()
        joiner = joiner_of(model.record) if joiner is None else joiner
        text = model.record.get("text")
        case = text.get("case") if isinstance(text, dict) else None
        examples = find_examples(model.vocabulary, self, phrases=phrases, joiner=joiner, case=case)
        return self.with_functions(model, examples, settings, joiner, threads, seed, report)

    def with_functions(
        self,
        model: Model,
        examples: Examples,
        settings: dict[str, Any],
        joiner: str,
        threads: int,
        seed: int,
        report: ReportFit | None = None,
    ) -> Model:
        """Fit the functions, and return a new model with them."""
        import_library("scipy.linalg")  # loads scipy's own BLAS, so that its threads are limited too
        threadpool_limits = import_library("threadpoolctl").threadpool_limits

        start_time = perf_counter()
        with threadpool_limits(limits=threads, user_api="blas"):
            fitted, fit_record = fit(model.vectors, examples, self, seed=seed, report=report)
        record = {**model.record, "base": {"model": model.name, "settings": model.settings}, **fit_record}
        if model.composer is not None and model.name != NAME:
            record["notes"].append("the model composes phrases, and no longer out-of-vocabulary words")
        seconds = round(perf_counter() - start_time, 3)
        record |= {"joiner": joiner, "seed": seed, "threads": threads, "fit_seconds": seconds}
        of_composition = {name for name in model.tables if parse_name(name)} | {EXAMPLES, POS_TAGS}
        tables = {name: table for name, table in model.tables.items() if name not in of_composition} | fitted
        if examples.pos_tags is not None:
            tables[POS_TAGS] = examples.pos_tags
        return Model(
            NAME,
            vectors=Vectors(model.vectors.words, model.vectors.matrix, counts=model.vectors.counts),
            vocabulary=model.vocabulary,
            settings=settings,
            tables=tables,
            record=record,
            composer=Composer.of,
            tags=model.tags,
            phrases=model.phrases,
        )
