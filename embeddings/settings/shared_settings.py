"""Settings that several models share: vectors, vocabulary, context window and documents."""

from dataclasses import dataclass
from typing import Literal

from embeddings.settings.setting_fields import SearchRange, Settings, option


@dataclass(frozen=True, kw_only=True)
class Dimension(Settings):
    """The dimension of the vectors."""

    dim: int = option(
        100, "Dimension of the vectors.", ge=1, le=65536, search=SearchRange(10, 400, log=True), common=True
    )


@dataclass(frozen=True, kw_only=True)
class InitialValues(Settings):
    """The initial values of input vectors."""

    initializer: Literal["uniform", "normal", "xavier", "orthogonal"] = option(
        "uniform",
        "Initial values of the vectors of n words, subwords or documents. uniform: between -1/dim and 1/dim; normal: "
        "with standard deviation 1/dim; xavier: uniform up to sqrt(6/(n + dim)); orthogonal: orthonormal columns.",
    )


@dataclass(frozen=True, kw_only=True)
class WeightTying(Settings):
    """One table for input and output vectors."""

    tie: bool = option(
        False, "Use one table as input and output vectors, which halves the size of the model but changes its vectors."
    )


@dataclass(frozen=True, kw_only=True)
class VocabularySize(Settings):
    """Which words get vectors."""

    min_count: int = option(5, "Drop words that occur less often.", ge=1, common=True)
    max_vocab: int | None = option(None, "Keep only this many of the most frequent words.", ge=1)


@dataclass(frozen=True, kw_only=True)
class DocumentFrequency(Settings):
    """In how many documents a word must occur."""

    min_documents: int = option(
        1,
        "Drop words that occur in fewer documents: table rows, items of an iterable or, in plain text, lines.",
        ge=1,
    )


@dataclass(frozen=True, kw_only=True)
class UnknownWords(Settings):
    """Rows for words that get no vector of their own."""

    unknown_rows: int = option(
        0,
        "Train this many rows for the words that are dropped: with 1 all are the word <unk>; with N a hash distributes "
        "them, and any unknown word, among N rows. 0 leaves them out.",
        ge=0,
        le=1_000_000,
    )


@dataclass(frozen=True, kw_only=True)
class VocabularyChoice(VocabularySize):
    """Which words get vectors, and how often frequent ones are read."""

    subsample: float = option(
        1e-3,
        "Subsampling threshold t for frequent words: an occurrence of a word with relative frequency f is kept with "
        "probability sqrt(t/f) + t/f. 0 keeps all.",
        ge=0,
        le=1,
        search=SearchRange(1e-5, 1e-2, log=True),
    )


@dataclass(frozen=True, kw_only=True)
class ContextWindow(Settings):
    """The context window."""

    window: int = option(
        5,
        "Maximum distance of context words.",
        ge=1,
        le=10000,
        search=SearchRange(1, 15, log=True),
        common=True,
    )
    shrink_window: bool = option(
        True,
        "Draw each window's size uniformly from 1 to --window, which gives near words more weight, or always use the "
        "full window.",
        flags="--shrink-window/--fixed-window",
    )


@dataclass(frozen=True, kw_only=True)
class FixedWindow(ContextWindow):
    """The context window of models that model word position: not shrunk by default."""

    shrink_window: bool = option(
        False,
        "Always use the full window, as in the paper, or draw each window's size uniformly from 1 to --window, which "
        "gives near words more weight.",
        flags="--shrink-window/--fixed-window",
    )


@dataclass(frozen=True, kw_only=True)
class DocumentChoice(Settings):
    """The unit of text that is a document."""

    documents: Literal["auto", "lines", "blocks"] = option(
        "auto",
        "Unit of text that gets a document vector, and that --min-documents counts. lines: each line; blocks: each "
        "table row, each item of an iterable and, in plain text, each run of lines between blank lines; auto: lines "
        "for plain text, otherwise blocks. "
        "Documents with the same tag share a vector.",
        common=True,
    )
