"""The map of words: points in two dimensions and groups, computed in the background."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import EmbeddingsError
from embeddings.support.imports import import_extra, import_library
from embeddings.support.logs import log
from embeddings.vectors.vectors import Vectors

NAME_WORDS = 3  # of a cluster, which name it: those of its most frequent words that are nearest to its centre
GROUPED = 2  # the version of the map from which words have groups; before, there are the principal components
NAME_SHARE = 0.05  # of the words of a cluster, which count as its most frequent ones


@dataclass(frozen=True)
class WordGroups:
    """The groups of the first words.

    names: of the groups, the largest first. numbers: int32 (words,), the group of each word.
    """

    names: list[str]
    numbers: NDArray[np.int32]


def cluster(units: NDArray[np.float32], words: Sequence[str], clusters: int, seed: int) -> WordGroups:
    """Clusters of unit vectors (words, dim) by k-means, each named after frequent words near its centre."""
    MiniBatchKMeans = import_library("sklearn.cluster").MiniBatchKMeans
    threadpool_limits = import_library("threadpoolctl").threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():  # sums of several threads differ from run to run
        warnings.simplefilter("ignore")  # of clusters without words, if words share a vector
        model = MiniBatchKMeans(min(clusters, len(units)), random_state=seed % 2**32, n_init=3, batch_size=4096)
        model.fit(units)
    names = []
    for number, centre in enumerate(model.cluster_centers_):
        rows = np.flatnonzero(model.labels_ == number)
        rows = rows[: max(10, int(NAME_SHARE * len(rows)))]
        nearest = rows[np.argsort(-(units[rows] @ centre.astype(np.float32)), kind="stable")[:NAME_WORDS]]
        names.append(", ".join(words[row] for row in nearest))
    return ordered(names, model.labels_.astype(np.int32))


def ordered(names: list[str], numbers: NDArray[np.int32]) -> WordGroups:
    """Groups numbered by size, the largest first; empty ones are left out."""
    sizes = np.bincount(numbers, minlength=len(names))
    order = np.argsort(-sizes, kind="stable")
    ranks = np.argsort(order, kind="stable")
    names = [names[number] for number in order[: np.count_nonzero(sizes)]]
    return WordGroups(names, ranks[numbers].astype(np.int32))


Projection = Literal["tsne", "pca"]
Points = NDArray[np.float32]
Progress = Callable[[Points, float], object]  # takes the points so far (words, 2) and the share that is done

COMPONENTS = 50  # principal components that t-SNE sees
PERPLEXITY = 30
MIN_WORDS = 10  # fewer are shown by their principal components
STEPS_OF_EXAGGERATION, STEPS, REPORT_STEPS = 250, 500, 10
THREADS = 4  # whatever the machine has, as sums depend on their number


def project(units: NDArray[np.float32], projection: Projection, seed: int, report: Progress) -> Points:
    """Points (words, 2) between 0 and 1 for unit vectors (words, dim).

    Arguments:
        report: called with the principal components at once, then with the points of t-SNE as they move.

    Raises:
        EmbeddingsError: t-SNE is requested, but openTSNE is not installed.
    """
    components = principal_components(units, COMPONENTS)
    flat = fit_square(components[:, :2])
    if projection == "pca" or len(units) < MIN_WORDS:
        return flat
    report(flat, 0.0)
    return fit_square(tsne(components, seed, report))


def principal_components(rows: NDArray[np.float32], number: int) -> NDArray[np.float64]:
    """The first principal components (rows, number), at least two columns; the largest loading is positive."""
    centred = rows - rows.mean(axis=0, dtype=np.float64).astype(np.float32)
    values, vectors = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    vectors = vectors[:, np.argsort(-values, kind="stable")[:number]]
    # an eigenvector has no sign of its own; one rule for it makes the same vectors give the same map
    vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    components = centred.astype(np.float64) @ vectors
    return np.pad(components, ((0, 0), (0, max(0, 2 - components.shape[1]))))


def tsne(components: NDArray[np.float64], seed: int, report: Progress) -> NDArray[np.float64]:
    """Points (words, 2) by t-SNE."""
    library = import_extra("openTSNE", "explore", "a map by t-SNE")
    done = 0

    def callback(iteration: int, error: float, embedding: NDArray[np.float64]) -> None:
        nonlocal done
        done += REPORT_STEPS
        # exaggerated, the words are in one place but for a few
        points = components[:, :2] if done <= STEPS_OF_EXAGGERATION else np.asarray(embedding)
        report(fit_square(points), min(1.0, done / (STEPS_OF_EXAGGERATION + STEPS)))

    model = library.TSNE(
        perplexity=min(PERPLEXITY, (len(components) - 1) / 3), random_state=seed % 2**32, n_jobs=THREADS,
        early_exaggeration_iter=STEPS_OF_EXAGGERATION, n_iter=STEPS,
        callbacks=callback, callbacks_every_iters=REPORT_STEPS,
    )  # fmt: skip
    return np.asarray(model.fit(components), np.float64)


def fit_square(points: NDArray[np.float64]) -> Points:
    """Points moved and scaled, equally in both directions, to the centre of the unit square."""
    low, high = points.min(axis=0), points.max(axis=0)
    scale = float((high - low).max()) or 1.0
    return np.asarray((points - (low + high) / 2) / scale + 0.5, np.float32)


SCALE = 65_535  # points are sent as integers up to this


class WordMap:
    """A map of the most frequent words.

    Arguments:
        words: how many words it shows at most.
        groups: the number of clusters.
    """

    def __init__(self, vectors: Vectors, *, words: int, projection: Projection, groups: int, seed: int) -> None:
        self.vectors, self.size = vectors, min(words, len(vectors))
        self.projection, self.groups, self.seed = projection, groups, seed
        self.lock = Lock()
        self.thread: Thread | None = None
        self.points: Points | None = None
        self.shown: WordGroups | None = None
        self.version = 0  # how often the points have changed
        self.done = 0.0
        self.error: str | None = None

    def start(self) -> None:
        """Compute the map in the background, unless this has begun."""
        with self.lock:
            if self.thread is None:
                self.thread = Thread(target=self.compute, name="map", daemon=True)
                self.thread.start()

    def compute(self) -> None:
        """Compute groups and points; an error ends the map, not the page."""
        try:
            units = self.vectors.unit_rows[: self.size]
            self.shown = WordGroups(["all"], np.zeros(self.size, np.int32))
            self.update(project(units, "pca", self.seed, self.update), 0.0)
            self.shown = cluster(units, self.vectors.word_list.first(self.size), self.groups, self.seed)
            self.update(project(units, self.projection, self.seed, self.update), 1.0)
        except EmbeddingsError as error:
            self.error = str(error)
        except Exception as error:
            log.warning("the map cannot be computed: %r", error)
            self.error = f"the map cannot be computed: {type(error).__name__}"

    def update(self, points: Points, done: float) -> None:
        """Replace the points."""
        with self.lock:
            self.points, self.done, self.version = points, done, self.version + 1

    def state(self, version: int) -> dict[str, Any]:
        """How far the map is, and its points if they are newer than `version`; words and groups with the first two."""
        self.start()
        with self.lock:
            points, number, done = self.points, self.version, self.done
        state: dict[str, Any] = {"version": number, "done": done, "error": self.error}
        if points is None or self.shown is None or number == version:
            return state
        state |= {"points": np.rint(points * SCALE).astype(int).ravel().tolist(), "scale": SCALE}
        if version < GROUPED:
            state |= {
                "words": self.vectors.word_list.first(self.size),
                "groups": self.shown.numbers.tolist(),
                "names": self.shown.names,
                "sizes": np.bincount(self.shown.numbers, minlength=len(self.shown.names)).tolist(),
            }
        return state
