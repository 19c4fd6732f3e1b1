"""Word translation (bilingual lexicon induction): whether the nearest words of an aligned space are translations."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from embeddings.errors import S, SettingError
from embeddings.eval.statistics.results import BinaryScores, Key
from embeddings.eval.tasks.evaluation_kind import Kind, KindSettings, Subject
from embeddings.eval.test_sets import set_name
from embeddings.eval.word_matching import CaseFolding
from embeddings.indexes.protocol import SearchMethod
from embeddings.models.loading import load
from embeddings.vectors.align import read_dictionary
from embeddings.vectors.index import as_index
from embeddings.vectors.vectors import Vectors, as_vectors


@dataclass(frozen=True, kw_only=True)
class TranslationSettings(KindSettings):
    """The vectors of the other language; see `embeddings.evaluate`."""

    target: Any = None


@dataclass(frozen=True)
class Translations:
    """The translations of each word, and the vectors of the language that they are in."""

    name: str
    translations: dict[str, list[str]]
    target: Vectors


def read_translations(path: str | os.PathLike[str], settings: TranslationSettings) -> Translations:
    """A dictionary: lines of a word and its translation; the words of several lines have several translations."""
    if settings.target is None:
        raise SettingError(f"{S.translation} requires {S.target}: the vectors of the other language")
    target = load(settings.target) if isinstance(settings.target, str | os.PathLike) else as_vectors(settings.target)
    translations: dict[str, list[str]] = {}
    for word, translation in read_dictionary(path):
        translations.setdefault(word, []).append(translation)
    return Translations(set_name(path), translations, target)


DEPTHS = (1, 5)
METHODS: tuple[SearchMethod, ...] = ("cosine", "csls")
PROTOCOL = (
    "the share of words with a translation among the {depth} words of the other language with the highest {method}, of "
    "words that have a vector and of which a translation has one; case is ignored; interval: Wilson's"
)


def score_translations(subject: Subject, test: Translations) -> list[BinaryScores]:
    """Precision at 1 and 5 with cosines and with CSLS."""
    vectors, folding = subject.vectors, CaseFolding(test.target.words, test.target.word_form)
    if vectors.dim != test.target.dim:
        raise SettingError(
            f"{S.target} has vectors of {test.target.dim} components, {subject.name} of {vectors.dim}: align them first"
        )
    rows = subject.folding.find(list(test.translations))
    golds = [{row for row in folding.find(words).tolist() if row >= 0} for words in test.translations.values()]
    covered = (rows >= 0) & np.array(list(map(bool, golds)))
    index, others = as_index(None, test.target), as_index(None, vectors)
    scores = []
    for method in METHODS:
        queries = vectors.matrix[rows[covered]]
        found = np.full((len(rows), max(DEPTHS)), -1, np.int64)
        ids = index.search(queries, top=max(DEPTHS), method=method, others=None if method == "cosine" else others).ids
        found[covered, : ids.shape[1]] = ids
        hits = np.array([[row in gold for row in ids] for ids, gold in zip(found.tolist(), golds, strict=True)])
        for depth in DEPTHS:
            scores.append(
                BinaryScores(
                    vectors=subject.name, key=Key(test.name, f"precision@{depth}", method=method), covered=covered,
                    correct=np.asarray(hits[:, :depth].any(axis=1)), members=np.ones(len(rows), bool),
                    protocol=PROTOCOL.format(depth=depth, method=method),
                )
            )  # fmt: skip
    return scores


KIND = Kind(
    name="translation",
    metavar="FILE...",
    read=read_translations,
    score=score_translations,
    settings=TranslationSettings,
    options={"target": "VECTORS"},
)
