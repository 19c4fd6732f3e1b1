"""Settings that several models share: vectors, vocabulary, context window, documents, epochs and learning rate."""

from dataclasses import dataclass
from typing import Literal

from embeddings import learning_rates
from embeddings.errors import S
from embeddings.settings.setting_fields import SearchRange, Settings, check_value, option


@dataclass(frozen=True, kw_only=True)
class Dimension(Settings):
    """The dimension of the vectors."""

    dim: int = option(
        100, "Dimension of the vectors.", ge=1, le=65536, search=SearchRange(10, 400, log=True), common=True
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

    documents: Literal["auto", "lines", "blocks", "files"] = option(
        "auto",
        "Unit of text that gets a document vector, and that --min-documents counts. lines: each line; blocks: each "
        "table row, each item of an iterable and, in plain text, each run of lines between blank lines; files: each "
        "file of plain text; auto: lines for plain text, otherwise blocks. Documents with the same tag share a vector.",
        common=True,
    )


RATE_RANGE = SearchRange(0.005, 0.25, log=True)  # of models of windows and documents
LEARNING_RATE = "Initial learning rate; --schedule sets how it falls after any warm-up."
ScheduleName = Literal[
    "linear", "constant", "exponential", "inverse-time", "inverse-square-root", "inverse-sigmoid", "step", "cosine",
    "slanted-triangular"
]  # fmt: skip
SCHEDULE = (
    "How the learning rate falls from --learning-rate to --min-learning-rate over all epochs; slanted-triangular rises "
    "first, over --warm-up."
)


@dataclass(frozen=True, kw_only=True)
class Schedule(Settings):
    """Number of epochs and learning-rate schedule."""

    epochs: int = option(
        5, "Passes over the corpus.", ge=1, le=1_000_000, search=SearchRange(1, 50, log=True), common=True
    )
    learning_rate: float = option(0.05, LEARNING_RATE, gt=0, le=100, search=RATE_RANGE, common=True)
    min_learning_rate: float | None = option(
        None,
        "Learning rate at the end of training.  [default: the initial rate / 10,000 with linear and cosine, / 100 with "
        "exponential, / 10 with inverse-time and inverse-square-root, / 16 with step, / 32 with slanted-triangular]",
        ge=0,
    )
    schedule: ScheduleName = option(learning_rates.LINEAR, SCHEDULE)
    warm_up: float | None = option(
        None,
        "Share of training, 0 to 0.9, in which the learning rate first rises linearly; use it if training diverges at "
        "the start.  [default: 0; 0.1 with slanted-triangular]",
        ge=0,
        le=0.9,
    )
    stages: int | None = option(
        None, "Number of equal parts of training with a constant rate, with --schedule step.  [default: 5]", ge=2
    )
    average_last: float | None = option(
        None,
        "Return the mean of the model at 20 points of this last share of training, such as 0.2; with early stopping, "
        "return whichever scores better: this mean or the best epoch.",
        gt=0,
        le=1,
    )
    shuffle: bool = option(False, "Shuffle the sentences of each thread's share of the corpus in every epoch.")

    def __post_init__(self) -> None:
        super().__post_init__()
        bounds = {"gt": 0} if self.schedule in learning_rates.NONZERO_MINIMUM else {"ge": 0}
        check_value("min_learning_rate", self.min_learning_rate, float | None, bounds)
        fits = self.min_learning_rate is None or self.min_learning_rate <= self.learning_rate
        self.require("min_learning_rate", fits, f"{S.learning_rate} to be at least as high, got {self.learning_rate}")
        is_unused = self.min_learning_rate is not None and self.schedule == learning_rates.CONSTANT
        self.require("min_learning_rate", not is_unused, f"another {S.schedule} than {learning_rates.CONSTANT!r}")
        is_used = self.stages is None or self.schedule == learning_rates.STEP
        self.require("stages", is_used, S.schedule(learning_rates.STEP))

    def final_learning_rate_of(self, schedule: str) -> float:
        """The learning rate at the end of training with a schedule."""
        default = self.learning_rate / learning_rates.DEFAULT_RATIOS[schedule]
        return default if self.min_learning_rate is None else self.min_learning_rate

    def learning_rate_at(self, done: int, total: int) -> float:
        """The learning rate after `done` of `total` words, counted over all epochs and threads."""
        default = learning_rates.SLANTED_WARM_UP if self.schedule == learning_rates.SLANTED_TRIANGULAR else 0.0
        return learning_rates.learning_rate(
            self.schedule,
            done / total,
            self.learning_rate,
            self.final_learning_rate_of(self.schedule),
            warm_up=default if self.warm_up is None else self.warm_up,
            stages=self.stages,
        )
