"""Replicas: copies of all tables that learn apart, each on one thread, and are merged at regular intervals.

Each replica reads a share of its own with random numbers of its own, at a learning rate that follows from its own
progress, and rows are merged in order of the replicas. So the result depends on the number of replicas, but not on the
number of threads that do the work, or on timing.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from embeddings.settings import Range, check_value
from embeddings.support.logs import notice

if TYPE_CHECKING:
    from embeddings.training.trainer import Trainer
    from embeddings.training.training_data import TrainingData


MergeRule = Literal["mean", "mean-changed", "sum", "adasum", "coherence"]
MAX_REPLICAS = 1024
MergeInterval = Annotated[int, Range(ge=1, le=10**12)]  # words
MERGE_INTERVALS = {2: 3_200_000, 4: 800_000}  # words, by the largest number of replicas that they suit
MANY_REPLICAS_INTERVAL = 200_000  # words
FIRST_INTERVAL = 5_000  # words: replicas differ most at the start
MAX_GROWTH = 8  # an interval is at most 1/n of what was read before; n is the number of replicas, at most this
MANY_REPLICAS = 8  # from which on a larger learning rate is better,
RATE_FACTOR = 1.5  # by this factor for the trainers that were measured
REPLICA_BLOCK_SIZE = 2048  # words, so that intervals are short at the start


@dataclass(frozen=True)
class Replicas:
    """How many replicas learn, and how they are merged.

    Arguments:
        count: train N copies of all tables, each on a share of the corpus, and merge them at regular intervals: the
            result is bit-reproducible with any number of threads. One learns as a single thread does.
        merge_every: words that each replica reads between two merges; by default 3,200,000 for 2 replicas, 800,000 for
            3 or 4, 200,000 for more. They are fewer at the start, where an interval is 5,000 words or 1/n of what the
            replica has read, whichever is larger; n is the number of replicas, at most 8. A trainer that reads other
            units than words, such as texts, counts these.
        rule: how changes of a row by several replicas are combined; by default by "coherence". In Python see
            `embeddings.kernels.merge_rows`.

    Raises:
        SettingError: a value is of the wrong type or out of range.
    """

    count: int
    merge_every: MergeInterval | None = None
    rule: MergeRule = "coherence"

    def __post_init__(self) -> None:
        check_value("replicas", self.count, int, {"ge": 1, "le": MAX_REPLICAS})
        check_value("merge_every", self.merge_every, MergeInterval | None, {})
        check_value("merge_rule", self.rule, MergeRule, {})
        if self.merge_every is None:
            object.__setattr__(self, "merge_every", default_interval(self.count))


def default_interval(replicas: int) -> int:
    """Words that each replica reads between two merges, chosen by measurement (`tools/replica_study.py`)."""
    return next((words for count, words in MERGE_INTERVALS.items() if replicas <= count), MANY_REPLICAS_INTERVAL)


class MergeSchedule:
    """When replicas are merged next, in units read per replica."""

    def __init__(self, replicas: int, merge_every: int | None) -> None:
        self.merge_every = merge_every or default_interval(replicas)
        self.growth = min(replicas, MAX_GROWTH)
        self.next_merge = min(FIRST_INTERVAL, self.merge_every)

    def advance(self) -> None:
        """Go to the next merge."""
        self.next_merge += min(max(self.next_merge // self.growth, FIRST_INTERVAL), self.merge_every)


def rate_advice(trainer: "Trainer", replicas: Replicas | None) -> str | None:
    """The learning rate that is usually better than the default of a trainer, if that is used; None if none is."""
    default = getattr(type(trainer), "learning_rate", None)
    if default is None or getattr(trainer, "learning_rate", None) != default:
        return None
    if replicas is None or replicas.count < MANY_REPLICAS or trainer.replica_rate_factor == 1:
        return None
    rate = default * trainer.replica_rate_factor
    return f"with {replicas.count} replicas a learning rate of {rate:g} is usually better than {default:g}"


def log_rate_advice(data: "TrainingData") -> None:
    """Log the advice for a run, and show it in the progress display, unless its options say otherwise."""
    options = data.run_options
    advice = rate_advice(data.settings, options.replicas) if options.rate_advice else None
    if advice is not None:
        notice(advice)
