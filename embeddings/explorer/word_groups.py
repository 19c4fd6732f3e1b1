"""Groups of words, by which the map is coloured: clusters, or those of a file."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import FormatError, SettingError
from embeddings.vectors.vectors import Vectors

MAX_CLUSTERS, MAX_GROUPS = 100, 1000
NAME_WORDS = 3  # of a cluster, which name it: those of its most frequent words that are nearest to its centre
NAME_SHARE = 0.05  # of the words of a cluster, which count as its most frequent ones
NO_GROUP = -1


@dataclass(frozen=True)
class WordGroups:
    """The groups of the first words.

    names: of the groups, the largest first. numbers: int32 (words,), the group of each word, -1 for none.
    """

    names: list[str]
    numbers: NDArray[np.int32]


def cluster(units: NDArray[np.float32], words: Sequence[str], clusters: int, seed: int) -> WordGroups:
    """Clusters of unit vectors (words, dim) by k-means, each named after frequent words near its centre."""
    from sklearn.cluster import MiniBatchKMeans
    from threadpoolctl import threadpool_limits

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


def read_groups(path: str | os.PathLike[str], vectors: Vectors) -> WordGroups:
    """The groups in a file with a word and its group on each line, separated by a tab; other words have none.

    Raises:
        FormatError: the file cannot be read, a line does not have this form, or none of its words has a vector.
        SettingError: there are more than 1,000 groups.
    """
    numbers: dict[str, int] = {}
    groups = np.full(len(vectors), NO_GROUP, np.int32)
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    for number, line in enumerate(lines, 1):
        word, tab, name = line.partition("\t")
        if line and not (tab and name.strip()):
            raise FormatError(f"{path}, line {number}: expected a word, a tab and its group, got {line!r:.60}")
        row = vectors.find(word) if line else None
        if row is not None:
            groups[row] = numbers.setdefault(name.strip(), len(numbers))
    if not numbers:
        raise FormatError(f"no word of {path} has a vector")
    if len(numbers) > MAX_GROUPS:
        raise SettingError(f"{path} has {len(numbers):,} groups, but at most {MAX_GROUPS:,} can be shown")
    return ordered(list(numbers), groups)


def ordered(names: list[str], numbers: NDArray[np.int32]) -> WordGroups:
    """Groups numbered by size, the largest first; empty ones are left out."""
    sizes = np.bincount(numbers[numbers != NO_GROUP], minlength=len(names))
    order = np.argsort(-sizes, kind="stable")
    ranks = np.append(np.argsort(order, kind="stable"), NO_GROUP)
    names = [names[number] for number in order[: np.count_nonzero(sizes)]]
    return WordGroups(names, ranks[numbers].astype(np.int32))
