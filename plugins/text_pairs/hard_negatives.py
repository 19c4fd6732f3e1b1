"""Hard negatives: for each pair a text that is near to its left text, but does not belong to it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.corpora.reading.text_pairs import TextPairs
from embeddings.errors import CorpusError
from embeddings.models.embed import both_sides, embed
from embeddings.settings import check_value
from embeddings.vectors.index import build
from embeddings.vectors.vectors import Vectors

if TYPE_CHECKING:
    from embeddings.models.model import Model

BATCH = 4096  # pairs searched at a time


def mine_negatives(
    model: "Model | Vectors", pairs: TextPairs | Iterable[Any], *, top: int = 20, max_ratio: float = 0.95,
    index: str = "exact", seed: int = 1,
) -> list[tuple[str, str, str]]:  # fmt: skip
    """Triplets of left, right and negative texts, without ratings and weights, for further training with negatives.

    The negative of a pair is the right text of another pair that is nearest to the left text, among those whose cosine
    is at most `max_ratio` times that of the pair, as nearer ones are often right, too (Moreira et al. 2024). If there
    is none among the `top` nearest, it is drawn at random. A pair for which there is none at all is left out.

    Arguments:
        model: a model or vectors, by which texts get vectors as by `embeddings.embed`.
        pairs: the pairs, or a table or iterable of them; all of their texts are held in memory.
        top: how many of the nearest right texts are compared.
        max_ratio: between 0 and 1.
        index: the kind of the index that is searched, such as "exact" or "lsh".
        seed: of random negatives.

    Raises:
        CorpusError: there are fewer than two different right texts.
        SettingError: an argument is out of range.
    """
    top = check_value("top", top, int, {"ge": 1, "le": 1000})
    max_ratio = check_value("max_ratio", max_ratio, float, {"ge": 0, "le": 1})
    batches = list(pairs if isinstance(pairs, TextPairs) else TextPairs(pairs))
    left, right = ([text for batch in batches for text in getattr(batch, side)] for side in ("left", "right"))
    candidates = list(dict.fromkeys(right))
    if len(candidates) < 2:
        raise CorpusError("negatives require at least two different right texts")
    own_texts: dict[str, set[str]] = {}
    for text, match in zip(left, right, strict=True):
        own_texts.setdefault(text, {text}).add(match)
    left_source, right_source = both_sides(model)
    rows = embed(right_source, candidates, normalize=True)
    row_of = {text: row for row, text in enumerate(candidates)}
    searcher = build(Vectors([str(row) for row in range(len(candidates))], rows), index, {})
    rng = np.random.default_rng(seed)
    triplets = []
    for first in range(0, len(left), BATCH):
        part = slice(first, first + BATCH)
        queries = embed(left_source, left[part], normalize=True)
        result = searcher.search(queries, top=min(top, len(candidates)))
        searched = zip(left[part], right[part], queries, result.ids, result.similarities, strict=True)
        for text, match, query, ids, similarities in searched:
            limit = max_ratio * float(query @ rows[row_of[match]])
            near = (candidates[row] for row in ids[(ids >= 0) & (similarities <= limit)])
            negative = next((other for other in near if other not in own_texts[text]), None)
            if negative is None:  # a random one, unless 100 belong to the text
                draws = (candidates[row] for row in rng.integers(0, len(candidates), 100))
                negative = next((other for other in draws if other not in own_texts[text]), None)
            if negative is not None:
                triplets.append((text, match, negative))
    return triplets
