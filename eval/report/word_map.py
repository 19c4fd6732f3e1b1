"""What words look like in several vectors: their neighbours side by side, and maps of frequent ones."""

from collections.abc import Sequence

import numpy as np

from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.support.cosine import unit
from embeddings.support.html import NONE, Html, place, table, tag, text, word
from embeddings.vectors.vectors import Vectors

NEIGHBOURS = 8
RANKS = (100, 200, 400, 800, 1600, 3200)  # of the words whose neighbours are shown unless some are chosen
MAPPED = 200
SIZE = 640  # of a map, in units of its drawing
SEED = 1


def common(vectors: Sequence[Vectors]) -> list[str]:
    """The words that all vectors hold, in the order of the first."""
    return [name for name in vectors[0].words if all(name in other for other in vectors[1:])]


def choose(vectors: Sequence[Vectors]) -> list[str]:
    """Words of several frequencies: from certain ranks on, the next that all hold, of four letters or more."""
    found: list[str] = []
    shared = common(vectors)
    for start in (rank for rank in RANKS if rank <= len(shared)):
        later = (name for name in shared[start - 1 :] if len(name) > 3 and name.isalpha() and name not in found)
        found += [name for name in [next(later, None)] if name is not None]
    return found or shared[: len(RANKS)]


def neighbours(vectors: Sequence[Vectors], names: Sequence[str], words: Sequence[str]) -> Html:
    """A table for each word: its nearest by cosine in each vectors; those that all give stand out."""
    parts = []
    for name in words:
        lists = [nearest(one, name) for one in vectors]
        sets = [{near for near, _ in found} for found in lists]
        shared = set.intersection(*sets) if len(sets) > 1 else set()
        rows: list[list[object]] = [
            [neighbour(found, rank, shared) for found in lists] for rank in range(max(map(len, lists), default=0))
        ]
        none = "" if any(lists) else tag("p", "has no vector in any")
        parts.append(tag("div", tag("h3", word(name)), none, table([place(one) for one in names], rows)))
    return tag("div", *parts, class_="grid")


def nearest(vectors: Vectors, name: str) -> list[tuple[str, float]]:
    """The nearest to a word, or to what is composed for it; none where there is neither."""
    try:
        return vectors.most_similar(name, top=NEIGHBOURS)
    except UnknownWordError:
        return []


def neighbour(found: list[tuple[str, float]], rank: int, shared: set[str]) -> Html:
    """The cell of a neighbour."""
    if rank >= len(found):
        return tag("td", NONE)
    near, cosine = found[rank]
    return tag("td", word(near), " ", tag("small", f"{cosine:.3f}"), class_="shared" if near in shared else None)


def maps(vectors: Sequence[Vectors], names: Sequence[str]) -> Html:
    """A map of the most frequent words that all hold, for each vectors; all turned to lie as the first does."""
    words = [name for name in common(vectors) if any(mark.isalpha() for mark in name)][:MAPPED]
    drawn = []
    first: np.ndarray | None = None
    for one, name in zip(vectors, names, strict=True):
        places = flat(unit(one[words])) if len(words) > 3 else None
        if places is None:
            drawn.append(tag("figure", tag("figcaption", place(name)), tag("p", "too few different vectors for a map")))
            continue
        places = places if first is None else turned(places, first)
        first = places if first is None else first
        drawn.append(tag("figure", tag("figcaption", place(name)), picture(words, places)))
    return tag("div", *drawn, class_="maps")


def flat(units: np.ndarray) -> np.ndarray | None:
    """Places on a plane, (words, 2), by t-SNE of cosine distances; None where hardly any vectors differ."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    if len(np.unique(units.round(6), axis=0)) < 4:
        return None
    centred = units - units.mean(axis=0)
    axes, spread, _ = np.linalg.svd(centred, full_matrices=False)
    start = np.random.default_rng(SEED).standard_normal((len(units), 2)) * 1e-6
    start[:, : min(2, len(spread))] += (axes * spread)[:, :2] / (spread[0] / np.sqrt(len(units))) * 1e-4
    perplexity = min(30.0, (len(units) - 1) / 3)
    with threadpool_limits(1):
        tsne = TSNE(perplexity=perplexity, metric="cosine", init=start.astype(np.float32), random_state=SEED)
        places: np.ndarray = tsne.fit_transform(units.astype(np.float32)).astype(np.float64)
    return np.asarray(places - places.mean(axis=0))


def turned(places: np.ndarray, onto: np.ndarray) -> np.ndarray:
    """The places rotated or reflected to lie as others do (orthogonal Procrustes)."""
    left, _, right = np.linalg.svd(places.T @ onto)
    return np.asarray(places @ (left @ right))


def picture(words: Sequence[str], places: np.ndarray) -> Html:
    """Words at their places; of those that would cover a more frequent one only a dot is drawn."""
    low, high = places.min(axis=0), places.max(axis=0)
    spots = 30 + (places - low) / np.where(high > low, high - low, 1) * (SIZE - 60)
    taken: list[tuple[float, float, float, float]] = []
    marks = []
    for name, (x, y) in zip(words, spots, strict=True):
        half = 3.4 * min(len(name), 16) + 2
        box = (x - half, y - 8, x + half, y + 5)
        if any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken):
            marks.append(tag("circle", tag("title", text(name)), cx=f"{x:.1f}", cy=f"{y:.1f}", r="2", class_="hidden"))
            continue
        taken.append(box)
        short = name if len(name) <= 16 else name[:15] + "…"
        marks.append(tag("text", short, x=f"{x:.1f}", y=f"{y + 3:.1f}", text_anchor="middle"))
    return tag("svg", *marks, view_box=f"0 0 {SIZE} {SIZE}", class_="map", role="img")
