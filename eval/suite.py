"""The test sets and settings of an evaluation; all sets are read and checked before any vectors are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np

from embeddings.corpora.reading.encodings import DecodingPolicy
from embeddings.errors import S, SettingError
from embeddings.eval.statistics.results import Comparison, ItemScores
from embeddings.eval.tasks import (
    analogies,
    document_classification,
    perplexity,
    phrase_composition,
    retrieval,
    tagging,
    text_labels,
    text_similarity,
    vector_statistics,
    word_categories,
    word_similarity,
)
from embeddings.eval.tasks.evaluation_kind import Evaluable, EvaluationSettings, Subject, TestSets
from embeddings.eval.tasks.pooled_texts import POOLING
from embeddings.eval.test_sets import ALL, Half, check_half
from embeddings.indexes.index_spec import check_spec
from embeddings.models.model import Model
from embeddings.settings import check_value

ALL_KINDS = (  # in the order of results
    word_similarity.KIND, analogies.KIND, phrase_composition.KIND, word_categories.KIND, tagging.KIND, perplexity.KIND,
    vector_statistics.KIND, document_classification.KIND, text_similarity.KIND, retrieval.KIND, text_labels.CLUSTERING,
    text_labels.PROBE,
)  # fmt: skip
KINDS = {kind.name: kind for kind in ALL_KINDS}
DEFAULTS = {field.name: field.default for field in fields(EvaluationSettings) if field.name != "pooling"}


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Test sets by kind, and how they are used; `Suite.read` makes one."""

    sets: Mapping[str, Sequence[Any]]
    settings: EvaluationSettings

    @classmethod
    def read(
        cls, *, similarity: TestSets = (), analogy: TestSets = (), phrases: TestSets = (), categories: TestSets = (),
        tagging: TestSets = (), documents: TestSets = (), perplexity: TestSets = (), pairs: TestSets = (),
        retrieval: Sequence[Any] = (), clustering: TestSets = (), probe: TestSets = (), stats: bool = False,
        compose: bool = False, restrict: int | Sequence[int | None] | None = (None, 30000),
        method: str | Sequence[str] = ("3cosadd",), window: int = tagging.WINDOW, text_column: str = "text",
        label_column: str = "label", use_trained_vectors: bool = False, name_column: str | None = None,
        left_column: str | None = None, right_column: str | None = None, rating_column: str | None = None,
        index: str | None = None, encoding_errors: str = "strict", half: Half = ALL, **pooling: Any,
    ) -> "Suite":  # fmt: skip
        """Read test sets by name or path; see `evaluate` for the arguments.

        Raises:
            SettingError: nothing is requested, a setting is out of range, or an option is given without its test sets.
            FormatError: a set cannot be found or read.
            CorpusError: documents cannot be read.
        """
        arguments = {name: value for name, value in locals().items() if name not in ("cls", "pooling")}
        tests = {name: kind.as_list(arguments.pop(name)) for name, kind in KINDS.items()}
        settings = check_settings(arguments | pooling, tests)
        return cls(sets={name: kind.read_all(tests[name], settings) for name, kind in KINDS.items()}, settings=settings)

    def score(self, source: Evaluable, name: str) -> list[ItemScores]:
        """The scores of `source`, called `name` in results, on every set.

        Raises:
            SettingError: the source does not have what a set requires: composition, fitted phrases, or word vectors.
        """
        return list(self.iter_scores(source, name))

    def iter_scores(self, source: Evaluable, name: str) -> Iterator[ItemScores]:
        """The scores of `source` on every set, one after another as soon as they are computed."""
        subject = Subject(source, name, self.settings)
        if any(self.sets[kind.name] for kind in ALL_KINDS if kind.of_words):
            _ = subject.vectors  # refused before anything is scored
        for kind in ALL_KINDS:
            for test in self.sets[kind.name]:
                yield from kind.score(subject, test)


def compare_scores(scores: Sequence[Sequence[ItemScores]]) -> list[Comparison]:
    """Paired tests of each pair of vectors, given the result of `Suite.score` for each, where both have a value."""
    comparisons = []
    for first, second in combinations(scores, 2):
        others = {one.key: one for one in second}
        comparisons += [one.compare(others[one.key]) for one in first if one.key in others]
    return [comparison for comparison in comparisons if comparison is not None]


def check_settings(arguments: Mapping[str, Any], tests: Mapping[str, Sequence[Any]]) -> EvaluationSettings:
    """The settings of an evaluation; refuses those that are out of range, unknown, or of kinds without a test set."""
    given = dict(arguments)
    if unknown := [name for name in given if name not in (*DEFAULTS, *POOLING)]:
        remedy = "; use evaluate_classifier for classifiers" if unknown[0] == "labels" else ""
        raise SettingError(f"unknown setting {unknown[0]!r} of an evaluation{remedy}")
    given["restrict"] = check_limits(given["restrict"])
    given["method"] = analogies.check_methods(given["method"])
    tagging.check_window(given["window"])
    check_value("encoding_errors", given["encoding_errors"], DecodingPolicy, {})
    if given["index"] is not None:
        check_spec(given["index"])
    requested = [kind for kind in ALL_KINDS if tests[kind.name]]
    if not requested:
        raise SettingError(f"nothing to evaluate: give at least one of {', '.join(KINDS)}")
    others = [kind.name for kind in requested if not kind.has_halves and kind is not vector_statistics.KIND]
    if check_half(given["half"]) != ALL and others:
        known = ", ".join(kind.name for kind in ALL_KINDS if kind.has_halves)
        raise SettingError(f"{S.half(given['half'])} cannot be combined with {others[0]}: only {known} have halves")
    for name, value in arguments.items():
        users = [kind.name for kind in ALL_KINDS if name in kind.settings]
        is_set = value is not None and value is not False and value != DEFAULTS.get(name)
        if users and is_set and not any(tests[user] for user in users):
            *first, last = (S[user] for user in users)
            required = f"{', '.join(first)} or {last}" if first else last
            raise SettingError(f"{S[name]} requires {required}")
    pooling = {name: given.pop(name) for name in POOLING if name in given}
    return EvaluationSettings(**given, pooling=pooling)


def check_limits(restrict: object) -> list[int | None]:
    """The restrictions as a list, each once."""
    is_several = isinstance(restrict, Iterable) and not isinstance(restrict, str)
    limits: list[Any] = list(restrict) if is_several else [restrict]  # type: ignore[call-overload]
    for limit in limits or [""]:
        is_number = isinstance(limit, Integral) and not isinstance(limit, bool)
        if limit is not None and not (is_number and limit >= 1):
            raise SettingError(
                f"{S.restrict} must be a whole number of at least 1, or None for all words, got {limit!r}"
            )
    return list(dict.fromkeys(None if limit is None else int(limit) for limit in limits))


MEASURES = {"spearman", "accuracy"}  # whose mean is the score


def mean_score(suite: Suite, model: Model) -> float:
    """The mean of a model's scores on all sets; a set without a score raises a SettingError."""
    results = [scores.result() for scores in suite.score(model, model.name)]
    totals = [one for one in results if one.measure in MEASURES and one.section is None and not one.is_detail]
    for result in totals:
        if result.value is None:
            raise SettingError(f"no score on {result.set}: {result.reason}")
    return float(np.mean([result.value for result in totals]))
