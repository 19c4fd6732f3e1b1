"""What scores trials: the dev half of test sets, labelled texts or held-out text; the test half is for the end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.errors import SettingError
from embeddings.eval.datasets.halves import DEV, TEST
from embeddings.eval.mean_score import MEASURES, mean_score
from embeddings.eval.statistics.paired_tests import Comparison
from embeddings.eval.statistics.results import Result
from embeddings.eval.suite import Suite, compare_scores
from embeddings.eval.tuning.fingerprints import content_fingerprint
from embeddings.eval.tuning.label_judge import LabelMetricOfTexts
from embeddings.eval.tuning.loss_metric import HeldOutLoss
from embeddings.eval.tuning.trials import Judgement
from embeddings.eval.validation import check_predicts_words
from embeddings.models.model import Model
from embeddings.settings import check_value
from embeddings.training.trainer import Trainer

SETS = ("similarity", "analogy", "pairs")  # that a metric names, as in similarity:wordsim353
LOSS = "loss"
Metrics = str | Sequence[str] | Callable[[Model], float]
Verdict = tuple[list[Result], list[Comparison]]


class Metric(Protocol):
    """Scores models by one half of the items, and reports the best of them by the other half.

    Arguments:
        description: what is scored.
        fixed: settings that change what the score measures, so that they are not varied.
        fingerprint: of the items or texts; None if the fingerprint of the corpus covers them, or if they have none.
    """

    @property
    def description(self) -> str:
        """What is scored, with its half."""
        ...

    @property
    def fixed(self) -> Sequence[str]:
        """Settings that change what the score means, so that they are not varied."""
        ...

    @property
    def fingerprint(self) -> str | None:
        """What identifies the items or texts."""
        ...

    def training_part(self, encoded: EncodedCorpus, trainer: Trainer) -> EncodedCorpus:
        """The text to train on."""
        ...

    def judge(self, model: Model) -> Judgement:
        """Score a model by the dev half."""
        ...

    def test(self, results: dict[str, Any]) -> Verdict:
        """Score named results by the test half, and compare them."""
        ...


def new_metric(
    metric: Metrics, trainer: Trainer, corpus: Corpus, *, labels: Any = None, half: str = DEV, k: int = 1,
    size: int | None = None, validation: Any = None, threads: int | None = None, seed: int = 1,
) -> Metric:  # fmt: skip
    """The metric that `tune` is given; see there.

    Raises:
        SettingError: it is unknown, the trainer cannot be scored by it, or an argument does not belong to it.
        FormatError, CorpusError: a set or text cannot be read, or a half of it is empty.
    """
    check_half(half, labels)
    if callable(metric):
        return FunctionMetric(metric)
    names = [metric] if isinstance(metric, str) else list(metric)
    kinds = [name.partition(":")[0] for name in names]
    is_set, is_loss = all(kind in SETS for kind in kinds), names == [LOSS]
    if labels is not None and (is_set or is_loss):
        raise SettingError(
            f"labels cannot be combined with the metric {names[0]}: choose f1 or another score of labels"
        )
    if size is not None and (is_set or is_loss):
        raise SettingError(f"size cannot be combined with the metric {names[0]}: it requires a score of labels")
    if validation is not None and not is_loss:
        raise SettingError("validation requires the metric loss")
    if names and is_set:
        return SetMetric.read(names)
    check_metric(metric, trainer)
    if is_loss:
        return HeldOutLoss(0.05 if validation is None else validation, threads)
    if labels is None:
        raise SettingError(f"the metric {names[0]} requires labels: labelled texts that are not trained on")
    return LabelMetricOfTexts.read(labels, corpus, names[0], half=half, k=k, size=size, threads=threads, seed=seed)


def check_metric(metric: Metrics, trainer: Trainer) -> None:
    """Refuse, before anything is read, a metric by which models of a trainer cannot be scored."""
    if callable(metric):
        return
    names = [metric] if isinstance(metric, str) else list(metric)
    if names == [LOSS]:
        check_predicts_words(trainer)
        return
    if names and all(name.partition(":")[0] in SETS for name in names):
        return
    if len(names) != 1:
        known = ", ".join(f"{kind}:FILE" for kind in SETS)
        raise SettingError(f"one metric is required, or several of {known}, got {', '.join(names) or 'none'}")
    if not trainer.reads_labels:
        known = ", ".join([*(f"{kind}:NAME or {kind}:FILE" for kind in SETS), *[LOSS] * trainer.predicts_words])
        raise SettingError(f"{trainer.trainer_name} cannot be scored by {names[0]!r}: choose {known}")


def check_half(half: str, labels: Any) -> None:
    """Refuse an unknown half, and to score by all items of what is no set of labelled texts."""
    check_value("half", half, Literal["dev", "all"], {})
    if half != DEV and labels is None:
        raise SettingError(f"half={half} requires labels: other scores use the dev half")


@dataclass(frozen=True)
class SetMetric:
    """The mean of Spearman's correlation on sets of word or text pairs, and of the accuracy on analogies."""

    dev: Suite
    held_back: Suite
    description: str
    fixed: Sequence[str] = ()

    @classmethod
    def read(cls, names: Sequence[str]) -> "SetMetric":
        """The metric of sets such as "similarity:wordsim353"."""
        sets: dict[str, Any] = {}
        for name in names:
            kind, _, path = name.partition(":")
            if not path:
                raise SettingError(f"the metric {name} requires a set, such as {kind}:FILE")
            sets.setdefault(kind, []).append(path)
        dev, test = (Suite.read(**sets, restrict=None, half=half) for half in (DEV, TEST))
        listed = " and ".join(names)
        return cls(dev, test, f"{'mean score on' if len(names) > 1 else 'score on'} the dev half of {listed}")

    @property
    def fingerprint(self) -> str:
        """What identifies the items of both halves."""
        parts = [[suite.word_pairs, suite.questions, suite.pairs] for suite in (self.dev, self.held_back)]
        return content_fingerprint(parts)

    def training_part(self, encoded: EncodedCorpus, trainer: Trainer) -> EncodedCorpus:
        """The whole text."""
        return encoded

    def judge(self, model: Model) -> Judgement:
        """Score a model by the dev half."""
        return Judgement(mean_score(self.dev, model), model)

    def test(self, results: dict[str, Any]) -> Verdict:
        """Score models by the test half."""
        scores = [self.held_back.score(model, name) for name, model in results.items()]
        values = [one.result() for part in scores for one in part]
        return [one for one in values if is_headline(one)], [one for one in compare_scores(scores) if is_headline(one)]


@dataclass(frozen=True)
class FunctionMetric:
    """A function of a model. It has no test half."""

    function: Callable[[Model], float]
    description: str = "a function"
    fixed: Sequence[str] = ()
    fingerprint: None = None

    def training_part(self, encoded: EncodedCorpus, trainer: Trainer) -> EncodedCorpus:
        """The whole text."""
        return encoded

    def judge(self, model: Model) -> Judgement:
        """The value of the function, which may be a judgement."""
        value = self.function(model)
        return value if isinstance(value, Judgement) else Judgement(float(value), model)

    def test(self, results: dict[str, Any]) -> Verdict:
        """There is nothing to test."""
        return [], []


def is_headline(line: Result | Comparison) -> bool:
    """Whether a line is about a whole set and a measure that trials are scored by."""
    return line.measure in MEASURES and line.section is None and not line.is_detail
