"""Everything that vectors are judged by in one run: read and checked once, before any vectors are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from embeddings.errors import SettingError
from embeddings.eval.analogy import analogy
from embeddings.eval.analogy_questions import Questions, read_questions
from embeddings.eval.categories import Categories, read_categories
from embeddings.eval.categorisation import categorisation
from embeddings.eval.category_prediction import prediction
from embeddings.eval.comparison import Comparison
from embeddings.eval.conllu import TaggingSet, read_tagging
from embeddings.eval.document_classification import DocumentSet, Represented, classification, read_documents
from embeddings.eval.item_scores import Outcome
from embeddings.eval.phrase_composition import PhraseSet, composition, read_phrases
from embeddings.eval.similarity import similarity
from embeddings.eval.suite_settings import SuiteSettings, listed
from embeddings.eval.tagging import tagging
from embeddings.eval.vector_statistics import facts
from embeddings.eval.word_matching import Folded
from embeddings.eval.word_pairs import Pairs, read_pairs
from embeddings.models.document_vectors import Concatenated
from embeddings.plugins.tensor_indexing.composer import Composer
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.models.model import Model


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
    def read(cls, **settings: Any) -> "Suite":
        """The sets of these names and files; see `SuiteSettings`, and `evaluate`.

        Raises:
            SettingError: as `SuiteSettings`.
            FormatError: a set cannot be found or read.
            CorpusError: documents cannot.
        """
        asked = SuiteSettings(**settings)
        return cls(
            limits=asked.limits,
            methods=asked.methods,
            window=asked.window,
            facts=asked.facts,
            compose=asked.compose,
            pairs=[read_pairs(test) for test in listed(asked.similarity)],
            questions=[read_questions(test) for test in listed(asked.analogy)],
            phrases=[read_phrases(test) for test in listed(asked.phrases)],
            categories=[read_categories(test) for test in listed(asked.categories)],
            tagging=[read_tagging(test) for test in listed(asked.tagging)],
            documents=[
                read_documents(
                    test, asked.text_column, asked.label_column, trained=asked.trained, name_column=asked.name_column
                )
                for test in listed(asked.documents)
            ],
        )

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
