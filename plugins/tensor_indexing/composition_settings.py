"""The settings of phrase composition, shared by training with words and fitting to existing vectors."""

from dataclasses import dataclass
from typing import Literal

from embeddings.errors import S
from embeddings.settings import Settings, option

DEFAULT_RANK = 20


@dataclass(frozen=True, kw_only=True)
class CompositionSettings(Settings):
    """How composition functions are fitted."""

    phrase_list: str | None = option(
        None,
        "File of phrases to learn from: the output of `embeddings phrases`, or one phrase per line.  [default: the "
        "phrases of the corpus, or else every word that joins two others]",
        common=True,
    )
    typed: bool = option(
        True, "Fit functions for each type of phrase, or one set for all phrases.", flags="--typed/--untyped"
    )
    lexicon: str | None = option(
        None,
        "File of lines `word TAB part-of-speech`, which determine the types of phrases without a listed type. "
        " [default: an English lexicon]",
    )
    rank: int | None = option(
        None,
        f"Rank of the low-rank part of each W_i, without the identity; at most dim.  [default: {DEFAULT_RANK}, or "
        "dim if smaller]",
        ge=1,
        le=65536,
    )
    identity: Literal["none", "elementwise", "literal"] = option(
        "elementwise",
        "Term that the identity in W_i adds to component i of tensor-indexing: elementwise, x_i y_i, as in "
        "multiplicative composition; literal, x'y in every component; none, as in tensor-additive.",
    )
    additive_share: float | None = option(
        None,
        "Interpolation weight of the additive function in tensor-additive.  [default: the value in 0, 0.05, ..., 1 "
        "that ranks dev phrases best among those with a clearly lower squared error than the full additive function]",
        ge=0,
        le=1,
    )
    penalty: float = option(
        0.1, "Weight of the squared distance of all parameters from their starting values.", ge=0, le=1e6
    )
    fit_learning_rate: float = option(
        0.0005, "Initial learning rate of the functions; halved after an epoch without improvement on dev.", gt=0, le=1
    )
    fit_epochs: int = option(200, "Maximum number of epochs over the phrases.", ge=0, le=1_000_000)
    fit_batch: int = option(256, "Phrases per step.", ge=1, le=1_000_000)
    patience: int = option(4, "Stop after this many consecutive epochs without improvement.", ge=1, le=1000)
    held_out: float = option(
        0.1, "Share of phrases held out for early stopping; the same share is held out for testing.", gt=0, le=0.4
    )
    min_phrases: int = option(
        100,
        "Minimum number of phrases to fit the functions of a type; with fewer phrases in total, fitting fails.",
        ge=0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("lexicon", self.lexicon is None or self.typed, S.typed(True))
