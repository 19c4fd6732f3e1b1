"""The map of words: points in two dimensions and groups, computed in the background."""

from threading import Lock, Thread
from typing import Any

import numpy as np

from embeddings.errors import EmbeddingsError
from embeddings.explorer.projection import Points, Projection, project
from embeddings.explorer.word_groups import NO_GROUP, WordGroups, cluster
from embeddings.support.logs import log
from embeddings.vectors.vectors import Vectors

SCALE = 65_535  # points are sent as integers up to this


class WordMap:
    """A map of the most frequent words.

    Arguments:
        words: how many words it shows at most.
        groups: the number of clusters, or the groups of words.
    """

    def __init__(
        self, vectors: Vectors, *, words: int, projection: Projection, groups: int | WordGroups, seed: int
    ) -> None:
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
            groups = self.groups
            if isinstance(groups, int):
                groups = cluster(units, self.vectors.word_list.first(self.size), groups, self.seed)
            self.shown = groups
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
        """How far the map is, and its points if they are newer than `version`; the first time also words and groups."""
        self.start()
        with self.lock:
            points, number, done = self.points, self.version, self.done
        state: dict[str, Any] = {"version": number, "done": done, "error": self.error}
        if points is None or self.shown is None or number == version:
            return state
        state |= {"points": np.rint(points * SCALE).astype(int).ravel().tolist(), "scale": SCALE}
        if version == 0:
            groups = self.shown.numbers[: self.size]
            state |= {
                "words": self.vectors.word_list.first(self.size),
                "groups": groups.tolist(),
                "names": self.shown.names,
                "sizes": np.bincount(groups[groups != NO_GROUP], minlength=len(self.shown.names)).tolist(),
            }
        return state
