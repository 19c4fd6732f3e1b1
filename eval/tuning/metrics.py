"""Metrics of a search: trials are scored by the dev half of sets or texts, and the best by the test half."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
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
from embeddings.eval.tasks.label_scores import LabelMetric, LabelScores, PredictedLabels, predict_labels
from embeddings.eval.tasks.perplexity import Validation, check_predicts_words, known_words, mean_loss
from embeddings.eval.test_sets import ALL, DEV, DIGITS, TEST, Half, content_fingerprint, select_texts
from embeddings.eval.tuning.study_folder import Judgement, ModelSizeError
from embeddings.formats.fasttext_classifier import cutoff_for_size
from embeddings.models.model import Model, held_out_predictor
from embeddings.training.trainer import Trainer

CHUNK = 1 << 20  # bytes that are read at a time
Verdict = tuple[list[Result], list[Comparison]]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """Scores models by one half of the items, and reports the best of them by the other half.

    Arguments:
        description: the sets or texts that are scored, with their half.
        judge: scores a model by the dev half.
        test: scores named results by the test half, and compares them.
        fingerprint: that of the items or texts; None if the fingerprint of the corpus covers them.
        training_part: the text to train on.
        fixed: settings that change what the score measures, so that they are not varied.
    """

    description: str
    judge: Callable[[Model], Judgement]
    test: Callable[[dict[str, Any]], Verdict] = lambda results: ([], [])
    fingerprint: str | None = None
    training_part: Callable[[EncodedCorpus, Trainer], EncodedCorpus] = lambda encoded, trainer: encoded
    fixed: Sequence[str] = ()


N_PARTS = 200  # of lines of the test half, of about equal length, over which intervals resample
PROTOCOL = (
    "mean of the losses of parts of about equal length of the test half of the held-out text; words outside the "
    "vocabulary are dropped first; interval: bootstrap over parts"
)


LOSS_SETTINGS = ("window", "negatives", "noise_exponent", "objective", "min_count", "max_vocab", "cutoffs")


def held_out_loss(validation: Validation) -> Metric:
    """The loss of the dev half of held-out text, negated as a score."""
    share = f" ({validation.source:g} of the corpus)" if isinstance(validation.source, float) else ""
    name = "held-out text" if isinstance(validation.source, float) else Path(validation.source).name
    halves: list[EncodedCorpus] = []  # once a model says how the text is read

    def half(model: Model, number: int) -> EncodedCorpus:
        if not halves:
            halves.extend(dev_and_test(validation.text(model)))
        return halves[number]

    def part_losses(model: Model, vectors: str) -> MeanScores:
        predictor = held_out_predictor(model)
        known, lines = known_words(half(model, 1), model.vocabulary)
        borders = np.unique(np.searchsorted(lines, np.linspace(0, lines[-1], N_PARTS + 1)))
        values = []
        for first, last in pairwise(borders.tolist()):
            begin, end = lines[first], lines[last]
            total, examples = predictor.total_loss(known[begin:end], lines[first : last + 1] - begin)
            values += [total / examples] * bool(examples)
        return MeanScores(
            vectors=vectors, key=Key(name, "held-out loss", half=TEST), values=np.array(values),
            covered=np.ones(len(values), bool), protocol=PROTOCOL, test=PARTS,
            reason=None if values else "no line has two words of the vocabulary",
        )  # fmt: skip

    def test(results: dict[str, Any]) -> Verdict:
        scores = [[part_losses(model, vectors)] for vectors, model in results.items()]
        return [one.result() for (one,) in scores], compare_scores(scores)

    return Metric(
        description=f"negative loss on the dev half of {name}{share}",
        judge=lambda model: Judgement(-mean_loss(model, half(model, 0)), model),
        test=test,
        fingerprint=None if isinstance(validation.source, float) else files_fingerprint(validation.source),
        training_part=validation.training_part,
        fixed=LOSS_SETTINGS,
    )


def files_fingerprint(source: str | os.PathLike[str]) -> str | None:
    """The fingerprint of the bytes of a file, a folder or a pattern; None if they cannot be read again."""
    digest = sha256()
    for file in resolve_source(source):
        if not isinstance(file, File) or not file.is_regular:
            return None
        with file.open_stream() as stream:
            content = sha256()
            while chunk := stream.read(CHUNK):
                content.update(chunk)
        digest.update(content.digest())
    return digest.hexdigest()[:DIGITS]


MIN_CUTOFF = 256  # rows; fastText does not go below either
MIN_LABELS = 256  # from which on the rows of labels are quantised too, as in fastText


@dataclass(frozen=True)
class LabelJudge:
    """Scores classifiers on labelled texts, which are kept in memory; `source` names them."""

    batches: list[LabelledTexts]
    metric: LabelMetric
    prefix: str
    source: str
    k: int = 1
    threads: int | None = None

    @classmethod
    def read(
        cls, source: Any, form: LabelFormat, metric: str, *, k: int = 1, threads: int | None = None,
        encoding: str = "utf-8", encoding_errors: str = "strict",
    ) -> "LabelJudge":  # fmt: skip
        """Read the texts; see `evaluate` and `LabelMetric.parse` for the arguments."""
        wanted, sources = LabelMetric.parse(metric, form.prefix), resolve_source(source)
        batches = form.read(sources, encoding=encoding, encoding_errors=encoding_errors)
        return cls(list(batches), wanted, form.prefix, sources[0].name, k, threads)

    def select(self, half: Half) -> "LabelJudge":
        """The judge that scores by a half of the texts.

        Raises:
            SettingError: no text of it has a label.
        """
        batches = [select_texts(batch, half) for batch in self.batches]
        if not any(any(batch.labels) for batch in batches):
            raise SettingError(f"the half {half!r} of {self.source} has no labels: use more texts with labels")
        return replace(self, batches=batches)

    def __call__(self, classifier: LabelPredictor) -> float:
        """The score of a classifier."""
        return self.metric.score(self.predict(classifier))

    def predict(self, classifier: LabelPredictor) -> PredictedLabels:
        """The labels that a classifier predicts."""
        return predict_labels(classifier, self.batches, self.k, prefix=self.prefix, threads=self.threads)


def score_of_labels(
    source: Any, corpus: Corpus, metric: str, *, half: str = DEV, k: int = 1, size: int | None,
    threads: int | None = None, seed: int = 1,
) -> Metric:  # fmt: skip
    """A score of labels, of classifiers that are quantised first if their size is limited.

    Arguments:
        source: labelled texts, which are written as those of the corpus.
        half: "dev", or "all" of the texts, of which none are then held back.

    Raises:
        SettingError: the metric is unknown, or a half of the texts is empty.
        CorpusError: the texts cannot be read.
    """
    assert corpus.labels is not None
    text = {"encoding": corpus.encoding, "encoding_errors": corpus.encoding_errors}
    everything = LabelJudge.read(source, corpus.labels, metric, k=k, threads=threads, **text)
    name, judges = everything.source, [everything.select(one) for one in ((ALL,) if half == ALL else (DEV, TEST))]

    def judge(model: Model) -> Judgement:
        if size is None:
            return Judgement(judges[0](model.classifier), model)
        whole = model.classifier
        options = {"dsub": min(2, whole.output.shape[1]), "qnorm": True, "qout": len(whole.labels) >= MIN_LABELS}
        rows, cutoff = len(whole.inputs.table), cutoff_for_size(whole, size, **options)
        if cutoff < min(MIN_CUTOFF, rows):
            raise ModelSizeError(
                f"{size:,} bytes hold only {cutoff} of {rows:,} rows: allow a larger file or a lower {S.dim}"
            )
        small = whole.quantize(cutoff, **options, seed=seed)
        return Judgement(judges[0](small), small, {"cutoff": cutoff})

    def test(results: dict[str, Any]) -> Verdict:
        scores = []
        for vectors, result in results.items() if half != ALL else ():
            predictions = judges[1].predict(result.classifier if isinstance(result, Model) else result)
            scores.append(LabelScores(predictions, name, vectors, k, 0.0, [everything.metric], TEST).scores())
        lines = [one.result() for part in scores for one in part if one.key.section is None and not one.key.is_detail]
        return lines, compare_scores(scores)

    wanted, part = everything.metric, "all texts" if half == ALL else "the dev half"
    texts = [[[sha256(one.data).hexdigest(), one.starts, one.labels] for one in judge.batches] for judge in judges]
    return Metric(
        description=f"{wanted}{'' if wanted.label is None else f':{wanted.label}'} on {part} of {name}",
        judge=judge,
        test=test,
        fingerprint=content_fingerprint(texts),
    )


SETS = ("similarity", "analogy", "pairs")  # that a metric names, as in similarity:wordsim353
LOSS = "loss"
Metrics = str | Sequence[str] | Callable[[Model], float]


def new_metric(
    metric: Metrics, trainer: Trainer, corpus: Corpus, *, labels: Any = None, half: str = DEV,
    size: int | None = None, validation: Any = None, **scoring: Any,
) -> Metric:  # fmt: skip
    """The metric that `tune` is given; see there. `scoring` has the other arguments of `score_of_labels`.

    Raises:
        SettingError: it is unknown, the trainer cannot be scored by it, or an argument does not belong to it.
        FormatError, CorpusError: a set or text cannot be read, or a half of it is empty.
    """
    names = ["of a function"] if callable(metric) else check_metric(metric, trainer)
    is_set, is_loss = names[0].partition(":")[0] in SETS, names == [LOSS]
    of_labels = not (is_set or is_loss or callable(metric))
    for name, value, is_used in (
        ("half", None if half == DEV else half, of_labels),
        ("labels", labels, of_labels),
        ("size", size, of_labels),
        ("validation", validation, is_loss),
    ):
        if value is not None and not is_used:
            other = "loss" if name == "validation" else "f1 or another score of labels"
            raise SettingError(f"{S[name]} cannot be combined with the metric {names[0]}: choose {other}")
    if callable(metric):
        function = metric

        def judge(model: Model) -> Judgement:
            value = function(model)
            return value if isinstance(value, Judgement) else Judgement(float(value), model)

        return Metric(description="a function", judge=judge)
    if is_set:
        return score_of_sets(names)
    if is_loss:
        return held_out_loss(Validation(0.05 if validation is None else validation))
    if labels is None:
        raise SettingError(f"the metric {names[0]} requires {S.labels}: labelled texts that are not trained on")
    return score_of_labels(labels, corpus, names[0], half=half, size=size, **scoring)


def check_metric(metric: str | Sequence[str], trainer: Trainer) -> list[str]:
    """The names of a metric, as a list; refuses, before anything is read, one that cannot score models of a trainer."""
    names = [metric] if isinstance(metric, str) else list(metric)
    if names == [LOSS]:
        check_predicts_words(trainer)
        return names
    if names and all(name.partition(":")[0] in SETS for name in names):
        return names
    if len(names) != 1 or not trainer.reads_labels:
        others = [LOSS] * trainer.predicts_words + ["a score of labels, such as f1"] * trainer.reads_labels
        known = ", ".join(["one or several of " + ", ".join(f"{kind}:FILE" for kind in SETS), *others])
        raise SettingError(f"{trainer.trainer_name} cannot be scored by {' and '.join(names)!r}: choose {known}")
    return names


def score_of_sets(names: Sequence[str]) -> Metric:
    """The mean of Spearman's correlation on sets of word or text pairs, and of the accuracy on analogies.

    Arguments:
        names: sets, such as "similarity:wordsim353".
    """
    sets: dict[str, Any] = {}
    for name in names:
        kind, _, path = name.partition(":")
        sets.setdefault(kind, []).append(path)
    # both halves before the search: a set without a test half must not be noticed after hours
    dev, held_back = (Suite.read(**sets, restrict=None, half=half) for half in (DEV, TEST))

    def test(results: dict[str, Any]) -> Verdict:
        scores = [held_back.score(model, name) for name, model in results.items()]
        values = [one.result() for part in scores for one in part]
        return [one for one in values if is_headline(one)], [one for one in compare_scores(scores) if is_headline(one)]

    return Metric(
        description=f"{'mean ' * (len(names) > 1)}score on the dev half of {' and '.join(names)}",
        judge=lambda model: Judgement(mean_score(dev, model), model),
        test=test,
        fingerprint=content_fingerprint([[suite.sets(kind) for kind in SETS] for suite in (dev, held_back)]),
    )


def is_headline(line: Result | Comparison) -> bool:
    """Whether a line is about a whole set and a measure that trials are scored by."""
    return line.measure in MEASURES and line.section is None and not line.is_detail
