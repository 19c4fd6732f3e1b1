"""The settings of composition, for a trainer that learns words too and for vectors that are there already."""

from dataclasses import dataclass
from typing import Literal

from embeddings.errors import SettingError
from embeddings.settings import Settings, option

JOINER = "_"  # between the words of a phrase in its token, unless another is chosen
USUAL_RANK = 20
MOST_TENSOR_DIM = 100  # a full tensor has dim ** 3 numbers


@dataclass(frozen=True, kw_only=True)
class CompositionSettings(Settings):
    """How functions of two words are fitted."""

    phrase_list: str | None = option(
        None,
        "File of the phrases to learn from, as `embeddings phrases` saves it, or one a line.  [default: those listed "
        "for the corpus, or else every word that joins two others]",
    )
    typed: bool = option(True, "Functions for each type of phrase, or only those for any.", flags="--typed/--untyped")
    lexicon: str | None = option(
        None,
        "File of lines of word, tab, part of speech, by which the types of phrases are told where they are not listed. "
        " [default: one of English]",
    )
    rank: int | None = option(
        None,
        f"Rank of each W_i beside the identity; at most the vectors' dim.  [default: {USUAL_RANK}, or dim if less]",
        least=1,
        most=65536,
    )
    identity: Literal["none", "elementwise", "literal"] = option(
        "none",
        "What the identity in each W_i adds to component i: nothing, which does best; x_i y_i, as in multiplicative "
        "composition; or, as the formula is written, x'y to every component.",
    )
    additive_share: float | None = option(
        None,
        "Share of the additive function that tensor indexing is mixed with when it is learned.  [default: what ranks "
        "dev's phrases best of 0, 0.05, ... 1 whose squared error is a standard error below full additive's]",
        least=0,
        most=1,
    )
    penalty: float = option(
        0.1, "Weight of the squared distance of all parameters from where they start.", least=0, most=1e6
    )
    fit_rate: float = option(
        0.0005,
        "Learning rate of the functions; halved, and the best taken back, when dev stops gaining.",
        above=0,
        most=1,
    )
    fit_epochs: int = option(200, "Most passes over the phrases.", least=0, most=1_000_000)
    fit_batch: int = option(256, "Phrases in a step.", least=1, most=1_000_000)
    patience: int = option(4, "Passes in a row without gain after which learning ends.", least=1, most=1000)
    held_out: float = option(
        0.1, "Share of the phrases for early stopping, and as much for the test.", above=0, most=0.4
    )
    fewest: int = option(
        100, "A type with fewer phrases gets no functions of its own; with fewer in all nothing is learned.", least=0
    )
    full_tensor: bool = option(
        False, "Fit the full tensor too: dim x dim x dim numbers for each type; dim at most 100."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lexicon is not None and not self.typed:
            raise SettingError("lexicon tells types, and with typed=False there are none: leave one out")

    def check_dim(self, dim: int) -> None:
        """Refuse vectors that these settings do not fit.

        Raises:
            SettingError: the rank is above dim, or a full tensor would be too large.
        """
        if self.rank is not None and self.rank > dim:
            raise SettingError(f"rank must be at most the dim of the vectors, {dim}, not {self.rank}")
        if self.full_tensor and dim > MOST_TENSOR_DIM:
            raise SettingError(f"full_tensor takes vectors of at most {MOST_TENSOR_DIM} components, not {dim}")

    def rank_for(self, dim: int) -> int:
        """The rank, chosen or usual."""
        return min(USUAL_RANK, dim) if self.rank is None else self.rank
