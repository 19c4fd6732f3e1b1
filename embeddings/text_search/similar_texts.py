"""Pairs and groups of texts of an index whose vectors are similar: near-duplicates and paraphrases."""

from typing import Annotated, Any

import numpy as np

from embeddings import registry
from embeddings.settings import Positive, Range, check_value
from embeddings.support.imports import import_library
from embeddings.support.progress_display import ProgressOption, showing
from embeddings.support.result_table import ResultTable
from embeddings.text_search.index_folder import ID, TEXT
from embeddings.text_search.text_index import TextIndex, one_line
from embeddings.vectors.index import parse_spec

EXACT_ROWS = 50_000  # all pairs of which are compared; more are compared with their neighbours in an index
BLOCK = 1024  # rows whose neighbours are searched at a time


class SimilarPairs(ResultTable[dict[str, Any]]):
    """Pairs of texts, the most similar first."""

    def shown(self, row: dict[str, Any]) -> dict[str, Any]:
        """The cells of a row; texts are cut to one line."""
        return row | {name: one_line(row[name]) for name in ("first_text", "second_text")}

    def groups(self) -> list[list[str]]:
        """The ids of texts that are connected by pairs, the largest group first."""
        sparse, csgraph = import_library("scipy.sparse"), import_library("scipy.sparse.csgraph")
        ids = list(dict.fromkeys(pair[side] for pair in self for side in ("first", "second")))
        rows = {name: row for row, name in enumerate(ids)}
        pairs = np.array([(rows[pair["first"]], rows[pair["second"]]) for pair in self], np.int64).reshape(-1, 2)
        graph = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (len(ids), len(ids)))
        _, labels = csgraph.connected_components(graph, directed=False)
        groups: dict[int, list[str]] = {}
        for name, label in zip(ids, labels.tolist(), strict=True):
            groups.setdefault(label, []).append(name)
        return sorted(groups.values(), key=len, reverse=True)


def similar_pairs(
    index: TextIndex,
    threshold: Annotated[float, Range(ge=0, le=1)] = 0.9,
    *,
    neighbours: Positive = 20,
    progress: ProgressOption = None,
) -> SimilarPairs:
    """Find the pairs of texts whose vectors have a cosine of at least `threshold`.

    All pairs of up to 50,000 texts are compared. Of more, each is compared with the neighbours that an index finds for
    it: that of the text index, or hyperplane LSH if it has none.

    Arguments:
        neighbours: of each text at most; more are not reported.
        progress: True shows a bar, False none; by default there is one on a terminal and in a notebook.

    Returns:
        A table of the ids first and second, their cosine, and both texts. Its method `groups` returns the ids of texts
        that are connected by pairs.
    """
    check_value("threshold", threshold, float, {"ge": 0, "le": 1})
    check_value("neighbours", neighbours, Positive, {})
    segments = index.segments
    live = np.concatenate([np.zeros(0, bool), *(segment.live for segment in segments)])
    rows = index.stored(segments)[np.flatnonzero(live)]
    names, texts = ([value for one in segments for value in one.values(name)] for name in (ID, TEXT))
    found: dict[tuple[int, int], float] = {}
    kind, top = index.record["kind"], min(neighbours + 1, len(rows))  # a row is its own neighbour
    spec = "exact" if len(rows) <= EXACT_ROWS else "lsh" if kind == "exact" else kind
    engine: Any = registry.create("index", *parse_spec(spec)).build(rows) if top else None
    with showing(progress, "comparing", "texts") as report:
        for start in range(0, len(rows), BLOCK):
            ids, cosines = engine.search(rows[start : start + BLOCK].astype(np.float64), top, None)
            owners, columns = np.nonzero((cosines >= threshold) & (ids >= 0))
            for row, other, cosine in zip(
                (owners + start).tolist(), ids[owners, columns].tolist(), cosines[owners, columns].tolist(), strict=True
            ):
                if row != other:
                    found[min(row, other), max(row, other)] = cosine
            if report is not None:
                report(min(start + BLOCK, len(rows)), len(rows))
    pairs = [
        {
            "first": names[one], "second": names[two], "cosine": cosine, "first_text": texts[one],
            "second_text": texts[two],
        }
        for (one, two), cosine in sorted(found.items(), key=lambda item: (-item[1], item[0]))
    ]  # fmt: skip
    return SimilarPairs(pairs, columns={"first": "", "second": "", "cosine": "", "first_text": "", "second_text": ""})
