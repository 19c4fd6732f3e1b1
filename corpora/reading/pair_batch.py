"""A batch of pairs of texts, and checks of all pairs together."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import CorpusError
from embeddings.support.logs import log


@dataclass(frozen=True)
class PairBatch:
    """Pairs of texts that are not empty.

    `negatives`, if there are any, are texts that are less similar to the left texts than the right ones are. `ratings`
    is float64 (pairs,): the similarity of the two texts on any scale, or a binary label.
    """

    left: list[str]
    right: list[str]
    negatives: list[str] | None = None
    ratings: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.left)


class PairChecks:
    """Drops pairs with an empty side, and refuses pairs of which nothing can be learned."""

    def __init__(self, name: str, missing: str = "it is empty") -> None:
        self.name = name
        self.missing = missing  # why there are no pairs
        self.n_pairs = self.n_empty = 0
        self.form: tuple[bool, bool] | None = None  # whether pairs have ratings, and negative texts
        self.form_of = ""
        self.first: tuple[str, ...] | None = None
        self.first_rating = 0.0
        self.varies = self.ratings_vary = self.has_ratings = False
        self.first_empty = ""

    def add(self, batch: PairBatch, position: str, first: int) -> PairBatch:
        """Return a batch without pairs with an empty side; its pairs are numbered from `first` on."""
        self.check_form(batch, position)
        texts = [part for part in (batch.left, batch.right, batch.negatives) if part is not None]
        keep = [all(row) for row in zip(*texts, strict=True)]
        if not all(keep):
            self.first_empty = self.first_empty or f"{position} {first + keep.index(False) + 1}"
            batch = select_pairs(batch, keep)
            self.n_empty += len(keep) - len(batch)
        self.n_pairs += len(batch)
        if len(batch):
            self.compare(batch)
        return batch

    def check_form(self, batch: PairBatch, position: str) -> None:
        """Refuse pairs of another form than those before."""
        form = batch.ratings is not None, batch.negatives is not None
        if self.form not in (None, form):
            what = "ratings" if self.form is None or self.form[0] != form[0] else "negative texts"
            raise CorpusError(f"some pairs have {what} and others do not: {self.form_of} 1; {position} 1")
        self.form, self.form_of = form, self.form_of or position

    def compare(self, batch: PairBatch) -> None:
        """Note whether the pairs differ from each other."""
        if self.first is None:
            self.first = (batch.left[0], batch.right[0])
            self.first_rating = 0.0 if batch.ratings is None else float(batch.ratings[0])
        self.has_ratings = batch.ratings is not None
        if not self.varies:
            self.varies = any(row != self.first for row in zip(batch.left, batch.right, strict=True))
        if batch.ratings is not None:
            self.ratings_vary = self.ratings_vary or bool((batch.ratings != self.first_rating).any())

    def finish(self) -> None:
        """Check all pairs together.

        Raises:
            CorpusError: there are no pairs, all are the same, or all have the same rating.
        """
        if self.n_empty and self.n_pairs:
            log.warning(
                "%s: dropped %s of %s pairs with an empty side; the first one is %s",
                self.name, self.n_empty, self.n_empty + self.n_pairs, self.first_empty,
            )  # fmt: skip
        if not self.n_pairs:
            reason = (
                f"all {self.n_empty} have an empty side, the first one in {self.first_empty}"
                if self.n_empty
                else self.missing
            )
            raise CorpusError(f"{self.name} contains no pairs of texts: {reason}")
        if self.n_pairs > 1 and not self.varies:
            raise CorpusError(f"all {self.n_pairs} pairs of {self.name} are the same: {self.first!r:.80}")
        if self.n_pairs > 1 and self.has_ratings and not self.ratings_vary:
            raise CorpusError(f"all ratings of {self.name} are {self.first_rating:g}; ratings must vary")


def select_pairs(batch: PairBatch, keep: list[bool]) -> PairBatch:
    """Return the pairs of a batch where `keep` is true."""
    rows = [row for row, is_kept in enumerate(keep) if is_kept]

    def select(texts: list[str]) -> list[str]:
        return [texts[row] for row in rows]

    negatives = None if batch.negatives is None else select(batch.negatives)
    ratings = None if batch.ratings is None else batch.ratings[rows]
    return PairBatch(select(batch.left), select(batch.right), negatives, ratings)
