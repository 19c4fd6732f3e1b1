"""Vectors of words that have none, from their contexts in a corpus."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embeddings.analysis.context_map import ContextMap, mean_map
from embeddings.analysis.context_means import ContextReader, ContextWeights, as_encoded
from embeddings.analysis.explanation import LIMITS, recorded_window
from embeddings.analysis.occurrences import Occurrences, words_of
from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.errors import SettingError
from embeddings.models.embed import load_source
from embeddings.settings import check_value
from embeddings.vectors.as_vectors import as_vectors
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.corpora.corpus import Corpus
    from embeddings.corpora.encoded_corpus import EncodedCorpus
    from embeddings.models.model import Model

JOINER = "_"  # between the words of a phrase


@dataclass(frozen=True)
class Induced:
    """Vectors induced for words.

    vectors: of the words, or phrases with "_" between their words, in the form that they have in the corpus; with
    their numbers of occurrences that have a context as counts. known: the requested words that have a vector already.
    missing: the other requested words without one, and their numbers of occurrences that have a context.
    """

    vectors: Vectors
    known: list[str]
    missing: dict[str, int]


class ContextInducer:
    """Computes vectors of words from their contexts in a corpus, by a map or as plain means.

    Called with a list of words, it returns their vectors (words, dim) float32, zeros for words without a context, as
    `lookup` takes it for "contexts".

    >>> import embeddings as em
    >>> texts = ["the cat drinks milk", "the dog drinks water", "the cow eats grass", "the emu drinks water"] * 5
    >>> model = em.train("skipgram", texts[:3] * 5, dim=4, min_count=1, subsample=0, threads=1)
    >>> inducer = em.ContextInducer(model, em.Corpus(texts), window=2)
    >>> inducer.induce(["emu", "zebra"]).missing
    {'zebra': 0}
    >>> em.lookup(model, ["emu", "cat"], "contexts", contexts=inducer).shape
    (2, 4)

    Arguments:
        vectors: a model or vectors, or the path of either.
        corpus: the text with the words.
        context_map: as `fit_context_map` returns it; without one, a vector is the mean of those around the word.
        window, context_weights: without a map, how means are computed; see `fit_context_map`.
        threads: all available cores if not given; vectors do not depend on it.

    Raises:
        SettingError: the map was fitted to other vectors, or an argument is out of range.
        CorpusError: as `Corpus.encode`, or no word of the corpus has a vector.
    """

    def __init__(
        self,
        vectors: "Model | Vectors | str | os.PathLike[str]",
        corpus: "Corpus | EncodedCorpus",
        context_map: ContextMap | None = None,
        *,
        window: int | None = None,
        context_weights: ContextWeights | None = None,
        threads: int | None = None,
    ) -> None:
        source = load_source(vectors)
        self.vectors, self.encoded = as_vectors(source), as_encoded(corpus)
        if context_map is None:
            window = check_value("window", recorded_window(source) if window is None else window, int, LIMITS)
            context_weights = context_weights or "equal"
            check_value("context_weights", context_weights, ContextWeights, {})
            context_map = mean_map(self.vectors, self.encoded, window, context_weights)
        elif window is not None or context_weights is not None:
            raise SettingError("window and context_weights are those of the map: leave them out")
        context_map.check_vectors(self.vectors)
        self.context_map = context_map
        self.reader = ContextReader(
            self.encoded, self.vectors, context_map.window, context_map.context_weights, threads
        )

    def __call__(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of words, (words, dim) float32; zeros for words without a context."""
        rows, _ = self.rows_of([self.parts(word) for word in words])
        return rows

    def induce(self, words: Sequence[str], *, min_contexts: int = 1) -> Induced:
        """The vectors of those words that have none, and of phrases: several words separated by spaces.

        Arguments:
            words: as typed: they are converted like the text of the corpus.
            min_contexts: words with fewer occurrences that have a context get no vector.

        Raises:
            SettingError: there are no words, one is not a string or is empty, or `min_contexts` is less than 1.
        """
        check_value("min_contexts", min_contexts, int, {"ge": 1})
        check_words(words)
        parts = {word: self.parts(word) for word in words}
        known = [word for word in parts if word in self.vectors or JOINER.join(parts[word] or (word,)) in self.vectors]
        names = {word: JOINER.join(parts[word]) or word for word in parts if word not in known}
        unique = {name: word for word, name in reversed(names.items())}  # of several spellings the first
        new = [(name, word) for name, word in reversed(unique.items())]
        rows, counts = self.rows_of([parts[word] for _, word in new])
        is_induced = counts >= min_contexts
        missing = {word: int(count) for (_, word), count in zip(new, counts, strict=True) if count < min_contexts}
        induced_names = [name for (name, _), one in zip(new, is_induced.tolist(), strict=True) if one]
        return Induced(Vectors(induced_names, rows[is_induced], counts=counts[is_induced]), known, missing)

    def parts(self, text: str) -> tuple[str, ...]:
        """The words of a text as the corpus has them; empty if one does not occur in it."""
        try:
            return words_of(self.encoded, text)
        except UnknownWordError:
            return ()

    def rows_of(self, texts: Sequence[tuple[str, ...]]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The vectors (n, dim) of words or phrases, and their numbers of occurrences with a context (n,)."""
        unique = {words: place for place, words in enumerate(dict.fromkeys(texts))}
        means = np.zeros((len(unique), self.vectors.dim))
        counts = np.zeros(len(unique), np.int64)
        ids = self.encoded.vocabulary.ids
        singles = [words for words in unique if len(words) == 1]
        phrases = [words for words in unique if len(words) > 1]
        for group, result in (
            (singles, self.reader.word_means(np.array([ids[words[0]] for words in singles], np.int64))),
            (phrases, self.reader.phrase_means([Occurrences.of(self.encoded, " ".join(words)) for words in phrases])),
        ):
            places = [unique[words] for words in group]
            means[places], counts[places] = result.means, result.occurrences
        places = [unique[words] for words in texts]
        return self.context_map.apply(means)[places], counts[places]


def check_words(words: Sequence[str]) -> None:
    """Refuse anything but a list of words."""
    if isinstance(words, str):
        raise SettingError(f"words must be a list of words, got the string {words!r:.80}")
    if not len(words):
        raise SettingError("there are no words to induce vectors for")
    for word in words:
        if not isinstance(word, str) or not word.strip():
            raise SettingError(f"a word must be a string that is not empty, got {word!r:.80}")
