"""Pairs and groups of texts of an index whose vectors are similar: near-duplicates and paraphrases."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import pyarrow as pa

from embeddings.errors import SettingError
from embeddings.settings import Positive, Range, check_value
from embeddings.support.arrow import to_list
from embeddings.support.progress_display import ProgressOption, showing
from embeddings.support.result_table import ResultTable
from embeddings.text_search.index_folder import ID, TEXT
from embeddings.text_search.text_index import SCORE_BYTES, TextIndex, one_line

BLOCK = 1024  # pairs whose texts are read at a time


class SimilarPairs(ResultTable[dict[str, Any]]):
    """Pairs of texts, the most similar first."""

    def shown(self, row: dict[str, Any]) -> dict[str, Any]:
        """The cells of a row; texts are cut to one line."""
        return row | {name: one_line(row[name]) for name in ("first_text", "second_text")}

    def groups(self) -> list[list[str]]:
        """The ids of texts that are in a pair with the first of their group, the largest group first."""
        rows: dict[str, int] = {}
        pairs = [[rows.setdefault(pair[side], len(rows)) for side in ("first", "second")] for pair in self]
        names, cosines = list(rows), np.array([pair["cosine"] for pair in self])
        return [[names[row] for row in group] for group, _ in group_pairs(np.array(pairs).reshape(-1, 2), cosines)]


def similar_pairs(
    index: TextIndex,
    min_cosine: Annotated[float, Range(ge=0, le=1)] = 0.9,
    *,
    neighbours: Positive = 100,
    progress: ProgressOption = None,
) -> SimilarPairs:
    """Find the pairs of texts whose vectors have a cosine of at least `min_cosine`.

    Each text is compared with all others, or with those that an approximate index finds for it.

    Arguments:
        min_cosine: the lowest cosine of a pair; which cosine means the same depends on the model.
        neighbours: of each text at most, the most similar.
        progress: True shows a bar, False none; by default there is one on a terminal and in a notebook.

    Returns:
        A table of both ids and texts, and their cosine. Its method `groups` returns groups of ids, the largest first:
        the text with most neighbours and these, then the same among the remaining texts.
    """
    return SimilarPairs(pair_rows(*find_pairs(index, min_cosine, neighbours, progress)), columns=COLUMNS)


COLUMNS = dict.fromkeys(("first", "first_text", "second", "second_text", "cosine"), "")
GROUP_COLUMNS = "group", ID, TEXT, "cosine"


def find_pairs(
    index: TextIndex, min_cosine: float, neighbours: int, progress: ProgressOption
) -> tuple[pa.Table, np.ndarray, np.ndarray]:
    """The rows of all texts, the similar pairs of them (pairs, 2), and their cosines (pairs,); see `similar_pairs`."""
    check_value("min_cosine", min_cosine, float, {"ge": 0, "le": 1})
    check_value("neighbours", neighbours, Positive, {})
    if not index.record["dim"]:
        raise SettingError(f"{index.path} has no vectors: it is searched by words only")
    segments = index.segments
    live = np.concatenate([np.zeros(0, bool), *(segment.live for segment in segments)])
    rows, stored = np.flatnonzero(live), index.stored(segments)
    pairs, cosines = [np.zeros((0, 2), np.int64)], [np.zeros(0, np.float32)]
    step = max(1, SCORE_BYTES // (4 * max(len(live), 1)))
    with showing(progress, "comparing", "texts") as report:
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            vectors = stored[part]
            parts = [index.cosines(segment, vectors, neighbours + 1, segment.live) for segment in segments]
            scores = np.concatenate(parts, axis=1).clip(max=1).round(6)  # as printed: equal texts have exactly 1
            scores[np.arange(len(part)), part] = -np.inf
            owners, others = np.nonzero((scores >= min_cosine) & (scores != 0) & live)
            values = scores[owners, others]
            order = np.lexsort((-values, owners))
            place = np.arange(len(order)) - np.searchsorted(owners, owners)  # among the neighbours of its text
            best = order[place < neighbours]
            pairs.append(np.sort(np.stack([part[owners[best]], others[best]], axis=1), axis=1))
            cosines.append(values[best])
            if report is not None:
                report(start + len(part), len(rows))
    found, values = np.concatenate(pairs), np.concatenate(cosines).astype(np.float64).round(6)
    _, once = np.unique(found @ [len(live), 1], return_index=True)  # most are found for both texts
    once = once[np.argsort(-values[once], kind="stable")]
    table = pa.concat_tables([segment.rows.select([ID, TEXT]) for segment in segments]) if segments else pa.table({})
    return table, found[once], values[once]


def pair_rows(table: pa.Table, pairs: np.ndarray, cosines: np.ndarray) -> Iterator[dict[str, Any]]:
    """Yield the pairs of `find_pairs` with their ids and texts."""
    for start in range(0, len(pairs), BLOCK):
        part, values = pairs[start : start + BLOCK], cosines[start : start + BLOCK].tolist()
        columns = (to_list(table.column(name).take(part[:, side])) for side in (0, 1) for name in (ID, TEXT))
        yield from (dict(zip(COLUMNS, cells, strict=True)) for cells in zip(*columns, values, strict=True))


def group_rows(table: pa.Table, pairs: np.ndarray, cosines: np.ndarray) -> Iterator[dict[str, Any]]:
    """Yield the texts in groups of `find_pairs`, with their cosines with the first text of their group."""
    for number, (rows, values) in enumerate(group_pairs(pairs, cosines), 1):
        columns = ([number] * len(rows), *(to_list(table.column(name).take(rows)) for name in (ID, TEXT)))
        yield from (
            dict(zip(GROUP_COLUMNS, cells, strict=True)) for cells in zip(*columns, values.tolist(), strict=True)
        )


def group_pairs(pairs: np.ndarray, cosines: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Groups of the rows in pairs, with their cosines with the first row of the group, which is in a pair with each.

    As `community_detection` of sentence-transformers (Reimers and Gurevych 2019): the row with most neighbours and
    these are a group, and so on among the rows that remain. Groups of connected rows would chain unlike ones.
    """
    rows, others, values = pairs.T.reshape(-1), pairs[:, ::-1].T.reshape(-1), np.tile(cosines, 2)
    order = np.lexsort((-values, rows))
    centres, starts, counts = np.unique(rows[order], return_index=True, return_counts=True)
    is_free = np.ones(int(rows.max(initial=0)) + 1, bool)
    groups = []
    for at in np.argsort(-counts, kind="stable").tolist():
        part = order[starts[at] : starts[at] + counts[at]]
        part = part[is_free[others[part]]]
        if is_free[centres[at]] and len(part):
            group = np.append(centres[at], others[part])
            is_free[group] = False
            groups.append((group, np.append(1, values[part])))
    return sorted(groups, key=lambda group: -len(group[0]))
