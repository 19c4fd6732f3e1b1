"""Nearest neighbours of words in several vectors side by side, and maps of frequent words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.support.cosine import normalize
from embeddings.vectors.vectors import Vectors

NEIGHBOURS = 8
RANKS = (100, 200, 400, 800, 1600, 3200)  # of the words whose neighbours are shown by default
MAPPED = 200
MAX_LABEL = 16  # characters of a word on a map
SIZE = 640  # of a map, in units of its drawing
SEED = 1


@dataclass(frozen=True)
class Neighbour:
    """A neighbour of a word, and whether all vectors have it."""

    word: str
    cosine: float
    is_shared: bool


def shared_words(vectors: Sequence[Vectors]) -> list[str]:
    """The words that all vectors have, in the order of the first."""
    return [word for word in vectors[0].words if all(word in other for other in vectors[1:])]


def choose_words(vectors: Sequence[Vectors]) -> list[str]:
    """Words of several frequencies: from certain ranks on, the next shared word of four letters or more."""
    selection: list[str] = []
    shared = shared_words(vectors)
    for start in RANKS:
        later = (word for word in shared[start - 1 :] if len(word) > 3 and word.isalpha() and word not in selection)
        selection += islice(later, 1)
    return selection or shared[: len(RANKS)]


def neighbour_rows(vectors: Sequence[Vectors], word: str) -> list[list[Neighbour | None]]:
    """The nearest neighbours of a word by rank, a column for each set of vectors; None where a list is shorter."""
    lists = [nearest(one, word) for one in vectors]
    shared = set.intersection(*({near for near, _ in one} for one in lists)) if len(lists) > 1 else set()
    return [
        [Neighbour(*one[rank], one[rank][0] in shared) if rank < len(one) else None for one in lists]
        for rank in range(max(map(len, lists), default=0))
    ]


def nearest(vectors: Vectors, word: str) -> list[tuple[str, float]]:
    """The nearest neighbours of a word or its composed vector; none without a vector."""
    try:
        return vectors.most_similar(word, top=NEIGHBOURS)
    except UnknownWordError:
        return []


@dataclass(frozen=True)
class MapLabel:
    """A word at its position on a map; hidden if it would cover a more frequent one."""

    word: str
    x: float
    y: float
    is_hidden: bool


def word_maps(vectors: Sequence[Vectors]) -> list[list[MapLabel] | None]:
    """A map of frequent content words for each set of vectors, rotated like the first; None for too few words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    content = (w for w in shared_words(vectors) if w.lower() not in ENGLISH_STOP_WORDS and any(map(str.isalpha, w)))
    words = list(islice(content, MAPPED))
    map_labels: list[list[MapLabel] | None] = []
    first: np.ndarray | None = None
    for one in vectors:
        points = project(normalize(one[words])) if len(words) > 3 else None
        if points is not None:
            points = points if first is None else rotate_onto(points, first)
            first = points if first is None else first
        map_labels.append(None if points is None else lay_out(words, points))
    return map_labels


def project(units: np.ndarray) -> np.ndarray | None:
    """Points on a plane, (words, 2), by t-SNE of cosine distances; None for too few distinct vectors."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    if len(np.unique(units.round(6), axis=0)) < 4:
        return None
    axes, deviations, _ = np.linalg.svd(units - units.mean(axis=0), full_matrices=False)
    start = np.random.default_rng(SEED).standard_normal((len(units), 2)) * 1e-6
    start[:, : min(2, len(deviations))] += (axes * deviations)[:, :2] / (deviations[0] / np.sqrt(len(units))) * 1e-4
    perplexity = min(30.0, (len(units) - 1) / 3)
    with threadpool_limits(1):
        tsne = TSNE(perplexity=perplexity, metric="cosine", init=start.astype(np.float32), random_state=SEED)
        points: np.ndarray = tsne.fit_transform(units.astype(np.float32)).astype(np.float64)
    return np.asarray(points - points.mean(axis=0))


def rotate_onto(points: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The points rotated or reflected onto others (orthogonal Procrustes)."""
    left, _, right = np.linalg.svd(points.T @ reference)
    return np.asarray(points @ (left @ right))


def lay_out(words: Sequence[str], points: np.ndarray) -> list[MapLabel]:
    """Labels within the drawing; one that would cover a more frequent word is hidden."""
    low, high = points.min(axis=0), points.max(axis=0)
    positions = 30 + (points - low) / np.where(high > low, high - low, 1) * (SIZE - 60)
    boxes: list[tuple[float, float, float, float]] = []
    labels = []
    for word, (x, y) in zip(words, positions.tolist(), strict=True):
        half = 3.4 * min(len(word), MAX_LABEL) + 2
        box = (x - half, y - 8, x + half, y + 5)
        is_hidden = any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in boxes)
        boxes += [] if is_hidden else [box]
        labels.append(MapLabel(word, x, y, is_hidden))
    return labels
