"""Two dimensions for a map: the first principal components, then t-SNE (van der Maaten and Hinton 2008)."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import EmbeddingsError
from embeddings.support.cache_folder import cache_folder
from embeddings.support.extras import import_extra
from embeddings.support.files import atomic_write

Projection = Literal["tsne", "pca"]
Points = NDArray[np.float32]
Progress = Callable[[Points, float], object]  # takes the points so far (words, 2) and the share that is done

COMPONENTS = 50  # principal components that t-SNE sees
PERPLEXITY = 30
MIN_WORDS = 10  # fewer are shown by their principal components
STEPS_OF_EXAGGERATION, STEPS, REPORT_STEPS = 250, 500, 10
MAX_CACHED = 50  # maps in the cache folder
VERSION = 1  # of what is computed; raise it when maps change
THREADS = 4  # whatever the machine has, as sums depend on their number


def project(units: NDArray[np.float32], projection: Projection, seed: int, report: Progress) -> Points:
    """Points (words, 2) between 0 and 1 for unit vectors (words, dim).

    A t-SNE is read from the cache if it was computed before.

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
    path = cached_path(units, seed)
    points = None if path is None else read_points(path, len(units))
    if points is None:
        points = fit_square(tsne(components, seed, report))
        if path is not None:
            write_points(points, path)
    return points


def principal_components(rows: NDArray[np.float32], number: int) -> NDArray[np.float64]:
    """The first principal components (rows, number), at least two columns; the largest loading is positive."""
    centred = rows - rows.mean(axis=0, dtype=np.float64).astype(np.float32)
    values, vectors = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    vectors = vectors[:, np.argsort(-values, kind="stable")[:number]]
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
        report(fit_square(np.asarray(embedding)), min(1.0, done / (STEPS_OF_EXAGGERATION + STEPS)))

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


def cached_path(units: NDArray[np.float32], seed: int) -> Path | None:
    """Where the cache holds the map of these vectors; None without a writable cache."""
    folder = cache_folder("maps")
    digest = hashlib.sha256(f"{VERSION} {units.shape} {seed}".encode())
    digest.update(np.ascontiguousarray(units).data)
    return None if folder is None else folder / f"{digest.hexdigest()[:32]}.npy"


def read_points(path: Path, words: int) -> Points | None:
    """The points in a file of the cache; None if it is missing or broken."""
    try:
        points = np.load(path, allow_pickle=False)
    except Exception:  # numpy evaluates the header as Python text, which can raise almost anything
        return None
    is_valid = points.dtype == np.float32 and points.shape == (words, 2) and bool(np.isfinite(points).all())
    return points if is_valid else None


def write_points(points: Points, path: Path) -> None:
    """Write a file of the cache and remove the oldest others; a failure costs only time, later."""
    try:
        with atomic_write(path, force=True) as temporary, temporary.open("wb") as stream:
            np.save(stream, points)
        others = sorted(path.parent.glob("*.npy"), key=lambda one: one.stat().st_mtime)
        for old in others[:-MAX_CACHED]:
            old.unlink(missing_ok=True)
    except (OSError, EmbeddingsError):
        return
