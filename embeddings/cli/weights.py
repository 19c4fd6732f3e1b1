"""The options of `embeddings export` that put weights and a projection into the rows of vectors."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from embeddings.corpora.reading.sources import STANDARD_INPUT

if TYPE_CHECKING:
    from embeddings.models.model import Model
    from embeddings.vectors.vectors import Vectors


@dataclass(frozen=True)
class Weights:
    """The values of the options; None where one is not used."""

    weighting: str | None
    constant: float | None
    remove_components: int | None
    pca: int | None
    fit_on: str | None
    text_column: str | None

    @property
    def changes_rows(self) -> bool:
        """Whether rows change; refuses options that would have no effect.

        Raises:
            click.UsageError: an option requires another.
        """
        changes = self.weighting is not None or bool(self.remove_components) or self.pca is not None
        for name in ("constant", "fit_on"):
            if getattr(self, name) is not None and not changes:
                raise click.UsageError(f"--{name.replace('_', '-')} requires --weighting")
        if self.text_column is not None and self.fit_on is None:
            raise click.UsageError("--text-column requires --fit-on")
        if self.fit_on == STANDARD_INPUT:
            raise click.UsageError("--fit-on requires a file")
        return changes

    def apply(self, source: "Vectors | Model") -> "Vectors":
        """The vectors with weights and projection in their rows."""
        from embeddings.models.weighted_vectors import weight_vectors

        weighting: Any = self.weighting or "none"
        return weight_vectors(
            source, weighting, constant=self.constant, remove_components=self.remove_components or 0, pca=self.pca,
            fit_on=None if self.fit_on is None else Path(self.fit_on), text_column=self.text_column,
        )  # fmt: skip

    @property
    def note(self) -> str:
        """What was done, for a model card."""
        weighting = "no weights" if self.weighting in (None, "none") else f"{self.weighting} weights of words"
        steps = [weighting]
        if self.remove_components:
            steps.append(f"the projection onto the first {self.remove_components} principal directions removed")
        if self.pca:
            steps.append(f"projected onto the next {self.pca} principal directions")
        source = "the text given" if self.fit_on else "word counts"
        return (
            f"The rows contain: {', '.join(steps)} (learned from {source}). The plain mean of the words of a text is "
            "the weighted mean up to a positive factor for each text, so do not weight words again."
        )
