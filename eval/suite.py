"""The test sets and settings of an evaluation; all sets are read and checked before any vectors are."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.corpora.reading.encodings import DecodingPolicy
from embeddings.corpora.reading.text_pairs import PairColumns
from embeddings.errors import S, SettingError
from embeddings.eval.statistics.results import Comparison, ItemScores
from embeddings.eval.tasks.analogies import check_methods, score_analogy
from embeddings.eval.tasks.analogy_questions import Questions, read_questions
from embeddings.eval.tasks.document_classification import DocumentSet, Evaluable, read_documents, score_documents
from embeddings.eval.tasks.perplexity import HeldOutText, score_perplexity
from embeddings.eval.tasks.phrase_composition import (
    HELD_OUT,
    HeldOut,
    PhraseRatings,
    read_phrase_ratings,
    score_held_out,
    score_rated_phrases,
)
from embeddings.eval.tasks.pooled_texts import POOLING, TextVectors
from embeddings.eval.tasks.retrieval import RetrievalSet, read_retrieval_set, score_retrieval
from embeddings.eval.tasks.tagging import WINDOW, TaggingSet, check_window, read_tagging_set, score_tagging
from embeddings.eval.tasks.text_labels import (
    LabelledTextSet,
    read_texts_to_classify,
    read_texts_to_cluster,
    score_clustering,
    score_probe,
)
from embeddings.eval.tasks.text_similarity import RatedTexts, read_rated_texts, score_rated_texts
from embeddings.eval.tasks.vector_statistics import score_statistics
from embeddings.eval.tasks.word_categories import WordCategories, read_word_categories, score_categories, score_purity
from embeddings.eval.tasks.word_matching import CaseFolding
from embeddings.eval.tasks.word_similarity import WordPairs, read_word_pairs, score_similarity
from embeddings.eval.test_sets import ALL, Half, check_half
from embeddings.indexes.index_spec import check_spec
from embeddings.models.document_vectors import ConcatenatedModels
from embeddings.models.model import Model
from embeddings.plugins.tensor_indexing.composer import Composer
from embeddings.settings import check_value
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.models.model import Model


KINDS = (
    "similarity", "analogy", "phrases", "categories", "tagging", "documents", "perplexity", "pairs", "retrieval",
    "clustering", "probe",
)  # fmt: skip
HALVED_KINDS = ("similarity", "analogy", "pairs")
TEXT_KINDS = ("pairs", "retrieval", "clustering", "probe")  # of which vectors of texts are evaluated
TestSets = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Test sets and how they are used; `Suite.read` makes one."""

    word_pairs: Sequence[WordPairs]
    questions: Sequence[Questions]
    phrases: Sequence[PhraseRatings | HeldOut]
    categories: Sequence[WordCategories]
    tagging: Sequence[TaggingSet]
    documents: Sequence[DocumentSet]
    perplexity: Sequence[HeldOutText]
    pairs: Sequence[RatedTexts]
    retrieval: Sequence[RetrievalSet]
    clustering: Sequence[LabelledTextSet]
    probe: Sequence[LabelledTextSet]
    stats: bool
    compose: bool
    limits: Sequence[int | None]
    methods: Sequence[str]
    window: int
    index: str | None
    pooling: Mapping[str, Any]

    @classmethod
    def read(
        cls, *, similarity: TestSets = (), analogy: TestSets = (), phrases: TestSets = (), categories: TestSets = (),
        tagging: TestSets = (), documents: TestSets = (), perplexity: TestSets = (), pairs: TestSets = (),
        retrieval: Sequence[Any] = (), clustering: TestSets = (), probe: TestSets = (), stats: bool = False,
        compose: bool = False, restrict: int | Sequence[int | None] | None = (None, 30000),
        method: str | Sequence[str] = "3cosadd", window: int = WINDOW, text_column: str = "text",
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
        tests_by_kind = (
            similarity, analogy, phrases, categories, tagging, documents, perplexity, pairs, (), clustering, probe,
        )  # fmt: skip
        sets = {kind: as_list(tests) for kind, tests in zip(KINDS, tests_by_kind, strict=True)}
        sets["retrieval"] = as_triples(retrieval)
        limits, methods = check_limits(restrict), check_methods(method)
        check_names(pooling)
        check_value("encoding_errors", encoding_errors, DecodingPolicy, {})
        if not any(sets.values()) and not stats:
            raise SettingError(f"nothing to evaluate: give at least one of {', '.join(KINDS)}, stats")
        check_requirements(sets, compose, use_trained_vectors or name_column is not None)
        check_text_settings(sets, pooling, index, (left_column, right_column, rating_column))
        check_halves(sets, half)
        columns = PairColumns(left_column, right_column, rating=rating_column)
        read = partial(read_documents, use_trained_vectors=use_trained_vectors)
        labelled = {"text_column": text_column, "label_column": label_column, "encoding_errors": encoding_errors}
        return cls(
            limits=limits, methods=methods, window=check_window(window), stats=stats, compose=compose, index=index,
            pooling=pooling,
            word_pairs=in_half([read_word_pairs(test) for test in sets["similarity"]], half),
            questions=in_half([read_questions(test) for test in sets["analogy"]], half),
            phrases=[HeldOut() if str(test) == HELD_OUT else read_phrase_ratings(test) for test in sets["phrases"]],
            categories=[read_word_categories(test) for test in sets["categories"]],
            tagging=[read_tagging_set(test) for test in sets["tagging"]],
            perplexity=[HeldOutText(str(test)) for test in sets["perplexity"]],
            documents=[read(test, text_column, label_column, name_column) for test in sets["documents"]],
            pairs=in_half(
                [read_rated_texts(test, columns, encoding_errors=encoding_errors) for test in sets["pairs"]], half
            ),
            retrieval=[read_retrieval_set(test, encoding_errors=encoding_errors) for test in sets["retrieval"]],
            clustering=[read_texts_to_cluster(test, **labelled) for test in sets["clustering"]],
            probe=[read_texts_to_classify(test, **labelled) for test in sets["probe"]],
        )  # fmt: skip

    def score(self, source: Evaluable, name: str) -> list[ItemScores]:
        """The scores of `source`, called `name` in results, on every set.

        Raises:
            SettingError: the source does not have what a set requires: composition, fitted phrases, or word vectors.
        """
        return list(self.iter_scores(source, name))

    def iter_scores(self, source: Evaluable, name: str) -> Iterator[ItemScores]:
        """The same, one after another as soon as they are computed."""
        if not isinstance(source, ConcatenatedModels):
            yield from self.iter_word_scores(source, name)
        elif any(
            (self.word_pairs, self.questions, self.categories, self.phrases, self.tagging, self.perplexity, self.stats)
        ):
            raise SettingError("concatenated models have document vectors only: evaluate them by documents")
        for documents in self.documents:
            yield from score_documents(source, documents, name=name)
        yield from self.iter_text_scores(source, name)

    def iter_word_scores(self, source: "Vectors | Model", name: str) -> Iterator[ItemScores]:
        """The scores of vectors of words and phrases."""
        vectors = source if isinstance(source, Vectors) else source.vectors
        needs_words = self.word_pairs or self.questions or self.categories
        folding = CaseFolding(vectors.words if needs_words else (), vectors.word_form)
        for pairs in self.word_pairs:
            yield from score_similarity(vectors, pairs, folding, name=name, compose=self.compose)
        for questions in self.questions:
            yield from score_analogy(vectors, questions, folding, name=name, restrict=self.limits, methods=self.methods)
        for phrases in self.phrases:
            composer = Composer.of(source)
            if isinstance(phrases, HeldOut):
                yield from score_held_out(composer, name=name)
            else:
                yield from score_rated_phrases(composer, phrases, name=name)
        for words in self.categories:
            yield from score_categories(vectors, words, folding, name=name)
            yield from score_purity(vectors, words, folding, name=name)
        for tagging_set in self.tagging:
            yield from score_tagging(vectors, tagging_set, name=name, window=self.window)
        for text in self.perplexity:
            yield from score_perplexity(source, text, name=name)
        if self.stats:
            yield from score_statistics(vectors, name=name)

    def iter_text_scores(self, source: Evaluable, name: str) -> Iterator[ItemScores]:
        """The scores of vectors of texts."""
        if not (self.pairs or self.retrieval or self.clustering or self.probe):
            return
        vectors = TextVectors(source, self.pooling)
        for pairs in self.pairs:
            yield from score_rated_texts(vectors, pairs, name=name)
        for retrieval_set in self.retrieval:
            yield from score_retrieval(vectors, retrieval_set, name=name, index=self.index)
        for texts in self.clustering:
            yield from score_clustering(vectors, texts, name=name)
        for texts in self.probe:
            yield from score_probe(vectors, texts, name=name)


def compare_scores(scores: Sequence[Sequence[ItemScores]]) -> list[Comparison]:
    """Paired tests of each pair of vectors, given the result of `Suite.score` for each, where both have a value."""
    comparisons = []
    for first, second in combinations(scores, 2):
        others = {one.key: one for one in second}
        comparisons += [one.compare(others[one.key]) for one in first if one.key in others]
    return [comparison for comparison in comparisons if comparison is not None]


def check_requirements(sets: Mapping[str, Sequence[Any]], compose: bool, has_document_names: bool) -> None:
    """Refuse settings without the test sets that they are for."""
    if compose and not sets["similarity"]:
        raise SettingError(f"{S.compose} requires {S.similarity}")
    if has_document_names and not sets["documents"]:
        raise SettingError(f"{S.use_trained_vectors} and {S.name_column} require {S.documents}")


def check_halves(sets: Mapping[str, Sequence[Any]], half: str) -> None:
    """Refuse an unknown half, and sets that have no halves."""
    others = [kind for kind in KINDS if sets[kind] and kind not in HALVED_KINDS]
    if check_half(half) != ALL and others:
        known = ", ".join(HALVED_KINDS)
        raise SettingError(f"{S.half(half)} cannot be combined with {others[0]}: only {known} have halves")


def in_half(tests: list[Any], half: str) -> list[Any]:
    """The items of test sets that are in a half."""
    return tests if half == ALL else [test.select(half) for test in tests]


def as_list(tests: TestSets) -> list[str | os.PathLike[str]]:
    """One or several test sets as a list."""
    return [tests] if isinstance(tests, str | os.PathLike) else list(tests)


def as_triples(tests: Sequence[Any]) -> list[Any]:
    """One or several retrieval sets, each of three paths, as a list."""
    is_one = len(tests) > 0 and isinstance(tests[0], str | os.PathLike)
    return [tests] if is_one else list(tests)


def check_names(pooling: Mapping[str, Any]) -> None:
    """Refuse unknown settings."""
    unknown = [name for name in pooling if name not in POOLING]
    if unknown:
        remedy = "; use evaluate_classifier for classifiers" if unknown[0] == "labels" else ""
        raise SettingError(f"unknown setting {unknown[0]!r} of an evaluation{remedy}")


def check_text_settings(
    sets: Mapping[str, Sequence[Any]], pooling: Mapping[str, Any], index: str | None, columns: Sequence[str | None]
) -> None:
    """Refuse settings of vectors of texts without a test set that uses them."""
    if pooling and not any(sets[kind] for kind in TEXT_KINDS):
        raise SettingError(f"{next(iter(pooling))} requires {', '.join(TEXT_KINDS[:-1])} or {TEXT_KINDS[-1]}")
    if index is not None:
        if not sets["retrieval"]:
            raise SettingError(f"{S.index} requires {S.retrieval}")
        check_spec(index)
    if any(columns) and not sets["pairs"]:
        raise SettingError(f"{S.left_column}, {S.right_column} and {S.rating_column} require {S.pairs}")


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
