"""Everything that vectors are judged by in one run: read and checked once, before any vectors are."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral
from typing import TYPE_CHECKING, Any

from embeddings.composition.composer import Composer
from embeddings.document_vectors import Concatenated
from embeddings.errors import SettingError
from embeddings.eval.analogy import analogy, check_methods
from embeddings.eval.categories import Categories, read_categories
from embeddings.eval.categorisation import categorisation
from embeddings.eval.category_prediction import prediction
from embeddings.eval.comparison import Comparison
from embeddings.eval.composition import PhraseSet, composition, read_phrases
from embeddings.eval.conllu import TaggingSet, read_tagging
from embeddings.eval.documents import DocumentSet, Represented, classification, read_documents
from embeddings.eval.facts import facts
from embeddings.eval.matching import Folded
from embeddings.eval.outcomes import Outcome
from embeddings.eval.pairs import Pairs, read_pairs
from embeddings.eval.questions import Questions, read_questions
from embeddings.eval.similarity import similarity
from embeddings.eval.tagging import WINDOW, check_window, tagging
from embeddings.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.model import Model

KINDS = ("similarity", "analogy", "phrases", "categories", "tagging", "documents", "facts")
TestSets = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Test sets and how they are used; see `evaluate` for the arguments."""

    pairs: Sequence[Pairs]
    questions: Sequence[Questions]
    phrases: Sequence[PhraseSet]
    categories: Sequence[Categories]
    tagging: Sequence[TaggingSet]
    documents: Sequence[DocumentSet]
    facts: bool
    compose: bool
    limits: Sequence[int | None]
    methods: Sequence[str]
    window: int

    @classmethod
    def read(
        cls,
        *,
        similarity: TestSets = (),
        analogy: TestSets = (),
        phrases: TestSets = (),
        categories: TestSets = (),
        tagging: TestSets = (),
        documents: TestSets = (),
        facts: bool = False,
        compose: bool = False,
        restrict: int | Sequence[int | None] | None = (None, 30000),
        method: str | Sequence[str] = "3cosadd",
        window: int = WINDOW,
        text_column: str = "text",
        label_column: str = "label",
        trained: bool = False,
        name_column: str | None = None,
    ) -> "Suite":
        """The sets of these names and files.

        Raises:
            SettingError: nothing is asked for, a setting is out of range, or `compose` without similarity sets.
            FormatError: a set cannot be found or read.
            CorpusError: documents cannot.
        """
        found = cls(
            limits=check_limits(restrict),
            methods=check_methods(method),
            window=check_window(window),
            facts=facts,
            compose=compose,
            pairs=[read_pairs(test) for test in listed(similarity)],
            questions=[read_questions(test) for test in listed(analogy)],
            phrases=[read_phrases(test) for test in listed(phrases)],
            categories=[read_categories(test) for test in listed(categories)],
            tagging=[read_tagging(test) for test in listed(tagging)],
            documents=[
                read_documents(test, text_column, label_column, trained=trained, name_column=name_column)
                for test in listed(documents)
            ],
        )
        if not (found.matched or found.phrases or found.tagging or found.documents or facts):
            raise SettingError(f"nothing to evaluate by: name one of {', '.join(KINDS)}")
        if compose and not found.pairs:
            raise SettingError("compose is of use only with similarity")
        if (trained or name_column is not None) and not found.documents:
            raise SettingError("trained and name_column are of use only with documents")
        return found

    @property
    def matched(self) -> bool:
        """Whether there are sets of words that are matched without regard to case."""
        return bool(self.pairs or self.questions or self.categories)

    def judge(self, source: Represented, name: str) -> list[Outcome]:
        """What becomes of every item, in the order of the settings above.

        Raises:
            SettingError: unseen words are to be composed by vectors that compose nothing, or held-out phrases are asked
                for of what was fitted to none.
        """
        return list(self.outcomes(source, name))

    def outcomes(self, source: Represented, name: str) -> Iterator[Outcome]:
        """The same, one set after another as they are done."""
        if isinstance(source, Concatenated):
            if self.matched or self.phrases or self.tagging or self.facts:
                raise SettingError("models side by side have vectors of documents alone, and are judged by documents")
        else:
            yield from self.of_words(source, name)
        for documents in self.documents:
            yield from classification(source, documents, name=name)

    def of_words(self, source: "Vectors | Model", name: str) -> Iterator[Outcome]:
        """What becomes of sets of words and phrases, and the facts."""
        vectors = source if isinstance(source, Vectors) else source.vectors
        folded = Folded(vectors.words if self.matched else ())
        for pairs in self.pairs:
            yield from similarity(vectors, pairs, folded, name=name, compose=self.compose)
        for questions in self.questions:
            yield from analogy(vectors, questions, folded, name=name, restrict=self.limits, methods=self.methods)
        for phrases in self.phrases:
            yield from composition(Composer.of(source), phrases, name=name)
        for words in self.categories:
            yield from prediction(vectors, words, folded, name=name)
            yield from categorisation(vectors, words, folded, name=name)
        for tagged in self.tagging:
            yield from tagging(vectors, tagged, name=name, window=self.window)
        if self.facts:
            yield from facts(vectors, name=name)


def compare(judged: Sequence[Sequence[Outcome]]) -> list[Comparison]:
    """Paired tests of each two vectors, from what `Suite.judge` gave for each; where either has no value, none."""
    found = []
    for first, second in combinations(judged, 2):
        others = {outcome.key: outcome for outcome in second}
        found += [outcome.compare(others[outcome.key]) for outcome in first if outcome.key in others]
    return [comparison for comparison in found if comparison is not None]


def listed(tests: TestSets) -> list[str | os.PathLike[str]]:
    """One test set as a list of one."""
    return [tests] if isinstance(tests, str | os.PathLike) else list(tests)


def check_limits(restrict: object) -> list[int | None]:
    """The restrictions as a list, each once.

    Raises:
        SettingError: there is none, or one is no whole number of at least 1.
    """
    limits: list[Any] = (
        list(restrict) if isinstance(restrict, Iterable) and not isinstance(restrict, str) else [restrict]
    )
    if not limits:
        raise SettingError("restrict needs a number of words, or None for all")
    for limit in limits:
        check_limit(limit)
    return list(dict.fromkeys(None if limit is None else int(limit) for limit in limits))


def check_limit(limit: object) -> None:
    """Refuse a restriction that is neither None nor a whole number of at least 1.

    Raises:
        SettingError: saying so.
    """
    if limit is None:
        return
    if isinstance(limit, bool) or not isinstance(limit, Integral):
        raise SettingError(f"restrict must be a whole number, or None for all, not {limit!r}")
    if limit < 1:
        raise SettingError(f"restrict must be at least 1, not {limit}")
