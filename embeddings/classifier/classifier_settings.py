"""The settings of the classifier."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from embeddings.errors import S
from embeddings.settings import LEARNING_RATE, Dimension, Schedule, SearchRange, option
from embeddings.settings.objectives import ObjectiveDeclaration, Objectives
from embeddings.vectors.subwords import FASTTEXT_BUCKETS, MAX_NGRAM_LENGTH, check_ngrams

MAX_WORD_NGRAMS = 100
SOFTMAX, HIERARCHICAL_SOFTMAX = "softmax", "hierarchical-softmax"
ONE_VS_ALL, NEGATIVE_SAMPLING = "one-vs-all", "negative-sampling"
LABEL_OBJECTIVES = Objectives(
    ObjectiveDeclaration(
        SOFTMAX, "one label, compared with all", "embeddings.plugins.classifier.learn_texts:SoftmaxLabelsObjective"
    ),
    ObjectiveDeclaration(
        HIERARCHICAL_SOFTMAX,
        "the same by a path in a tree, for thousands of labels",
        "embeddings.objectives.huffman:HuffmanObjective",
    ),
    ObjectiveDeclaration(
        ONE_VS_ALL,
        "each label by itself, for several labels per text",
        "embeddings.plugins.classifier.learn_texts:BinaryLabelsObjective",
    ),
    ObjectiveDeclaration(
        NEGATIVE_SAMPLING,
        "one label, compared with random ones",
        "embeddings.objectives.negative_sampling:NegativeSamplingObjective",
        settings=("negatives",),
    ),
)
if TYPE_CHECKING:
    LabelObjectiveName = str
else:
    LabelObjectiveName = LABEL_OBJECTIVES.choices


@dataclass(frozen=True, kw_only=True)
class ClassifierSettings(Schedule, Dimension):
    """What a classifier learns, and how."""

    min_count: int = option(1, "Drop words that occur less often; their n-grams remain.", ge=1)
    max_vocab: int | None = option(None, "Keep only this many of the most frequent words.", ge=1)
    min_label_count: int = option(1, "Drop labels that occur less often, and texts without other labels.", ge=1)
    learning_rate: float = option(0.5, LEARNING_RATE, gt=0, le=100, search=SearchRange(0.02, 2, log=True))
    shuffle: bool = option(
        True,
        "Read each thread's share of the texts in a new random order in every epoch, or in the order of the file.",
        flags="--shuffle/--no-shuffle",
    )
    word_ngrams: int = option(
        1, "Maximum length of word n-grams; 1 for none.", ge=1, le=MAX_WORD_NGRAMS, search=SearchRange(1, 5)
    )
    min_n: int = option(
        0,
        "Minimum length of character n-grams. Requires --max-n.",
        ge=0,
        le=MAX_NGRAM_LENGTH,
        search=SearchRange(choices=(2, 3), requires="max_n"),
    )
    max_n: int = option(
        0,
        "Maximum length of character n-grams; 0 for none.",
        ge=0,
        le=MAX_NGRAM_LENGTH,
        search=SearchRange(choices=(0, 3, 5)),
    )
    buckets: int | None = option(
        None, "Number of hash buckets for n-grams.  [default: 2,000,000]", ge=1, le=1_000_000_000
    )
    objective: LabelObjectiveName = option(SOFTMAX, LABEL_OBJECTIVES.help("How labels are predicted."))
    negatives: int = option(5, "Random labels per text with --objective negative-sampling.", ge=1, le=1000)
    class_weights: Literal["none", "balanced"] = option(
        "none",
        "How often texts are read. none: once per epoch; balanced: in inverse proportion to the number of texts with "
        "the same label, so that all labels count the same.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ngrams(self.min_n, self.max_n, self.buckets if self.max_n else None)
        has_use = self.has_ngrams or not self.buckets
        self.require("buckets", has_use, f"n-grams: raise {S.word_ngrams} above 1 or {S.max_n} above 0")
        self.require("class_weights", self.shuffle or self.class_weights == "none", S.shuffle(True))
        LABEL_OBJECTIVES.check(self, self.objective)

    @property
    def has_ngrams(self) -> bool:
        """Whether there are word or character n-grams."""
        return self.word_ngrams > 1 or self.max_n > 0

    @property
    def bucket_count(self) -> int:
        """The number of hash buckets; 0 without n-grams."""
        return (self.buckets or FASTTEXT_BUCKETS) if self.has_ngrams else 0

    @property
    def negative_count(self) -> int:
        """Random labels drawn for each text."""
        return self.negatives if self.objective == NEGATIVE_SAMPLING else 0
