"""Metrics of a search: trials are scored by the dev half of sets or texts, and the best by the test half."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.classifier.classifier import LabelPredictor
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.reading.labelled_texts import LabelFormat, LabelledTexts
from embeddings.corpora.reading.sources import File, resolve_source
from embeddings.corpora.resampling import dev_and_test
from embeddings.errors import S, SettingError
from embeddings.eval.evaluation import MEASURES, Suite, compare_scores, mean_score
from embeddings.eval.statistics.results import PARTS, Comparison, Key, MeanScores, Result
from embeddings.eval.tasks.label_scores import (
    LabelMetric,
    LabelScores,
    PredictedLabels,
    compare_labels,
    predict_labels,
)
from embeddings.eval.tasks.perplexity import known_words
from embeddings.eval.test_sets import ALL, DEV, DIGITS, TEST, content_fingerprint, select_texts
from embeddings.eval.tuning.study_folder import Judgement, ModelSizeError
from embeddings.eval.validation import Validation, check_predicts_words, mean_loss
from embeddings.formats.fasttext_classifier import cutoff_for_size
from embeddings.models.model import Model
from embeddings.models.prediction import held_out_predictor
from embeddings.training.trainer import Trainer

CHUNK = 1 << 20  # bytes that are read at a time
Verdict = tuple[list[Result], list[Comparison]]


class Metric(ABC):
    """Scores models by one half of the items, and reports the best of them by the other half."""

    fixed: Sequence[str] = ()  # settings that change what the score measures, so that they are not varied

    @property
    @abstractmethod
    def description(self) -> str:
        """The sets or texts that are scored, with their half."""

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the items or texts; None if the fingerprint of the corpus covers them."""
        return None

    def training_part(self, encoded: EncodedCorpus, trainer: Trainer) -> EncodedCorpus:
        """The text to train on."""
        return encoded

    @abstractmethod
    def judge(self, model: Model) -> Judgement:
        """Score a model by the dev half."""

    def test(self, results: dict[str, Any]) -> Verdict:
        """Score named results by the test half, and compare them."""
        return [], []


N_PARTS = 200  # of lines of the test half, of about equal length, over which intervals resample
PROTOCOL = (
    "mean of the losses of parts of about equal length of the test half of the held-out text; words outside the "
    "vocabulary are dropped first; interval: bootstrap over parts"
)


@dataclass
class HeldOutLoss(Metric):
    """The loss of the dev half of held-out text, negated as a score; see `Validation`."""

    validation: Validation
    halves: tuple[EncodedCorpus, EncodedCorpus] | None = None
    fixed = ("window", "negatives", "noise_exponent", "objective", "min_count", "max_vocab", "cutoffs")

    @property
    def name(self) -> str:
        """The text."""
        return "held-out text" if isinstance(self.validation.source, float) else Path(self.validation.source).name

    @property
    def description(self) -> str:
        """The loss and its text."""
        share = f" ({self.validation.source:g} of the corpus)" if isinstance(self.validation.source, float) else ""
        return f"negative loss on the dev half of {self.name}{share}"

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the held-out text; None if it is cut from the corpus."""
        if isinstance(self.validation.source, float):
            return None
        digest = sha256()
        for file in resolve_source(self.validation.source):
            if not isinstance(file, File) or not file.is_regular:
                return None  # it cannot be read again
            with file.open_stream() as stream:
                content = sha256()
                while chunk := stream.read(CHUNK):
                    content.update(chunk)
            digest.update(content.digest())
        return digest.hexdigest()[:DIGITS]

    def training_part(self, encoded: EncodedCorpus, trainer: Trainer) -> EncodedCorpus:
        """The text without what is held out."""
        return self.validation.training_part(encoded, trainer)

    def parts(self, model: Model) -> tuple[EncodedCorpus, EncodedCorpus]:
        """The dev half and the test half of the held-out text."""
        if self.halves is None:
            self.halves = dev_and_test(self.validation.text(model))
        return self.halves

    def judge(self, model: Model) -> Judgement:
        """Score a model by the dev half."""
        return Judgement(-mean_loss(model, self.parts(model)[0]), model)

    def test(self, results: dict[str, Any]) -> Verdict:
        """The loss of models on the test half."""
        scores = [[self.part_losses(model, name)] for name, model in results.items()]
        return [one.result() for (one,) in scores], compare_scores(scores)

    def part_losses(self, model: Model, name: str) -> MeanScores:
        """The mean losses of the parts of the test half."""
        encoded, predictor = self.parts(model)[1], held_out_predictor(model)
        known, lines = known_words(encoded, model.vocabulary)
        borders = np.unique(np.searchsorted(lines, np.linspace(0, lines[-1], N_PARTS + 1)))
        values = []
        for first, last in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
            begin, end = lines[first], lines[last]
            total, examples = predictor.total_loss(known[begin:end], lines[first : last + 1] - begin)
            values += [total / examples] * bool(examples)
        if not values:
            raise SettingError("the test half of the held-out text has no line with two words of the vocabulary")
        return MeanScores(
            vectors=name, key=Key(self.name, "held-out loss", half=TEST), values=np.array(values),
            covered=np.ones(len(values), bool), protocol=PROTOCOL, test=PARTS,
        )  # fmt: skip


MIN_CUTOFF = 256  # rows; fastText does not go below either
MIN_LABELS = 256  # from which on the rows of labels are quantised too, as in fastText


@dataclass(frozen=True)
class LabelJudge:
    """Scores classifiers on labelled texts, which are kept in memory."""

    batches: list[LabelledTexts]
    metric: LabelMetric
    prefix: str
    k: int = 1
    threads: int | None = None

    @classmethod
    def read(
        cls, source: Any, form: LabelFormat, metric: str, *, k: int = 1, threads: int | None = None,
        encoding: str = "utf-8", encoding_errors: str = "strict",
    ) -> "LabelJudge":  # fmt: skip
        """Read the texts; arguments are those of `evaluate_classifier`, and `LabelMetric.parse`."""
        wanted = LabelMetric.parse(metric, form.prefix)
        batches = form.read(resolve_source(source), encoding=encoding, encoding_errors=encoding_errors)
        return cls(list(batches), wanted, form.prefix, k, threads)

    def __call__(self, classifier: LabelPredictor) -> float:
        """The score of a classifier."""
        return self.metric.score(self.predict(classifier))

    def predict(self, classifier: LabelPredictor) -> PredictedLabels:
        """The labels that a classifier predicts."""
        return predict_labels(classifier, self.batches, self.k, prefix=self.prefix, threads=self.threads)


@dataclass(frozen=True)
class LabelMetricOfTexts(Metric):
    """A score of labels, of classifiers that are quantised first if their size is limited."""

    dev: LabelJudge
    held_back: LabelJudge | None
    name: str
    size: int | None
    seed: int

    @classmethod
    def read(
        cls, source: Any, corpus: Corpus, metric: str, *, half: str = DEV, k: int, size: int | None,
        threads: int | None, seed: int,
    ) -> "LabelMetricOfTexts":  # fmt: skip
        """Read labelled texts, which are written as those of the corpus.

        Arguments:
            half: "dev", or "all" of the texts, of which none are then held back.

        Raises:
            SettingError: the metric is unknown, or a half of the texts is empty.
            CorpusError: the texts cannot be read.
        """
        assert corpus.labels is not None
        text = {"encoding": corpus.encoding, "encoding_errors": corpus.encoding_errors}
        everything = LabelJudge.read(source, corpus.labels, metric, k=k, threads=threads, **text)
        name, judges = resolve_source(source)[0].name, []
        for one in (ALL,) if half == ALL else (DEV, TEST):
            judges.append(replace(everything, batches=[select_texts(batch, one) for batch in everything.batches]))
            if not any(any(batch.labels) for batch in judges[-1].batches):
                place = name if one == ALL else f"the {one} half of {name}"
                raise SettingError(f"{place} has no labels: use more texts with labels")
        return cls(judges[0], None if half == ALL else judges[1], name, size, seed)

    @property
    def description(self) -> str:
        """The metric and the texts."""
        metric = self.dev.metric
        name = str(metric) if metric.label is None else f"{metric}:{metric.label}"
        part = "all texts" if self.held_back is None else "the dev half"
        return f"{name} on {part} of {self.name}"

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the texts and labels of all parts."""
        parts = [one.batches for one in (self.dev, self.held_back) if one is not None]
        content = [[[sha256(text.data).hexdigest(), text.starts, text.labels] for text in batches] for batches in parts]
        return content_fingerprint(content)

    def judge(self, model: Model) -> Judgement:
        """Score a classifier by the dev half, or all texts."""
        if self.size is None:
            return Judgement(self.dev(model.classifier), model)
        whole = model.classifier
        options = {"dsub": min(2, whole.output.shape[1]), "qnorm": True, "qout": len(whole.labels) >= MIN_LABELS}
        rows, cutoff = len(whole.inputs.table), cutoff_for_size(whole, self.size, **options)
        if cutoff < min(MIN_CUTOFF, rows):
            raise ModelSizeError(
                f"{self.size:,} bytes hold only {cutoff} of {rows:,} rows: allow a larger file or a lower {S.dim}"
            )
        small = whole.quantize(cutoff, **options, seed=self.seed)
        return Judgement(self.dev(small), small, {"cutoff": cutoff})

    def test(self, results: dict[str, Any]) -> Verdict:
        """Score classifiers, and the most frequent labels, by the test half."""
        judge, scores = self.held_back, list[LabelScores]()
        if judge is None:
            return [], []
        for name, result in results.items():
            predictions = judge.predict(result.classifier if isinstance(result, Model) else result)
            scores.append(LabelScores(predictions, self.name, name, judge.k, 0.0, [judge.metric], TEST))
        lines = [line for one in scores for line in one.results() if line.section is None and not line.is_detail]
        pairs = [compare_labels(scores[0], other) for other in scores[1:]]
        return list(dict.fromkeys(lines)), [line for pair in pairs for line in pair]


SETS = ("similarity", "analogy", "pairs")  # that a metric names, as in similarity:wordsim353
LOSS = "loss"
Metrics = str | Sequence[str] | Callable[[Model], float]


def new_metric(
    metric: Metrics, trainer: Trainer, corpus: Corpus, *, labels: Any = None, half: str = DEV, k: int = 1,
    size: int | None = None, validation: Any = None, threads: int | None = None, seed: int = 1,
) -> Metric:  # fmt: skip
    """The metric that `tune` is given; see there.

    Raises:
        SettingError: it is unknown, the trainer cannot be scored by it, or an argument does not belong to it.
        FormatError, CorpusError: a set or text cannot be read, or a half of it is empty.
    """
    if half != DEV and labels is None:
        raise SettingError(f"{S.half(half)} requires {S.labels}: other scores use the dev half")
    if callable(metric):
        return FunctionMetric(metric)
    names = check_metric(metric, trainer)
    is_set, is_loss = names[0].partition(":")[0] in SETS, names == [LOSS]
    if labels is not None and (is_set or is_loss):
        raise SettingError(
            f"{S.labels} cannot be combined with the metric {names[0]}: choose f1 or another score of labels"
        )
    if size is not None and (is_set or is_loss):
        raise SettingError(f"{S.size} cannot be combined with the metric {names[0]}: it requires a score of labels")
    if validation is not None and not is_loss:
        raise SettingError(f"{S.validation} requires the metric loss")
    if is_set:
        return SetMetric.read(names)
    if is_loss:
        return HeldOutLoss(Validation(0.05 if validation is None else validation))
    if labels is None:
        raise SettingError(f"the metric {names[0]} requires {S.labels}: labelled texts that are not trained on")
    return LabelMetricOfTexts.read(labels, corpus, names[0], half=half, k=k, size=size, threads=threads, seed=seed)


def check_metric(metric: str | Sequence[str], trainer: Trainer) -> list[str]:
    """The names of a metric, as a list; refuses, before anything is read, one that cannot score models of a trainer."""
    names = [metric] if isinstance(metric, str) else list(metric)
    if names == [LOSS]:
        check_predicts_words(trainer)
        return names
    if names and all(name.partition(":")[0] in SETS for name in names):
        return names
    if len(names) != 1:
        known = ", ".join(f"{kind}:FILE" for kind in SETS)
        raise SettingError(f"one metric is required, or several of {known}, got {', '.join(names) or 'none'}")
    if not trainer.reads_labels:
        known = ", ".join([*(f"{kind}:NAME or {kind}:FILE" for kind in SETS), *[LOSS] * trainer.predicts_words])
        raise SettingError(f"{trainer.trainer_name} cannot be scored by {names[0]!r}: choose {known}")
    return names


@dataclass(frozen=True)
class SetMetric(Metric):
    """The mean of Spearman's correlation on sets of word or text pairs, and of the accuracy on analogies."""

    dev: Suite
    held_back: Suite
    names: Sequence[str]

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
        return cls(dev, test, names)

    @property
    def description(self) -> str:
        """The sets."""
        return f"{'mean ' * (len(self.names) > 1)}score on the dev half of {' and '.join(self.names)}"

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the items of both halves."""
        parts = [[suite.sets[kind] for kind in SETS] for suite in (self.dev, self.held_back)]
        return content_fingerprint(parts)

    def judge(self, model: Model) -> Judgement:
        """Score a model by the dev half."""
        return Judgement(mean_score(self.dev, model), model)

    def test(self, results: dict[str, Any]) -> Verdict:
        """Score models by the test half."""
        scores = [self.held_back.score(model, name) for name, model in results.items()]
        values = [one.result() for part in scores for one in part]
        return [one for one in values if is_headline(one)], [one for one in compare_scores(scores) if is_headline(one)]


@dataclass(frozen=True)
class FunctionMetric(Metric):
    """A function of a model. It has no test half."""

    function: Callable[[Model], float]
    description = "a function"

    def judge(self, model: Model) -> Judgement:
        """The value of the function, which may be a judgement."""
        value = self.function(model)
        return value if isinstance(value, Judgement) else Judgement(float(value), model)


def is_headline(line: Result | Comparison) -> bool:
    """Whether a line is about a whole set and a measure that trials are scored by."""
    return line.measure in MEASURES and line.section is None and not line.is_detail
