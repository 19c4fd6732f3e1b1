"""Scores models of a search by the loss of held-out text."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.held_out_part import dev_and_test
from embeddings.corpora.remapping import id_mapping
from embeddings.errors import SettingError
from embeddings.eval.datasets.halves import TEST
from embeddings.eval.statistics.item_scores import MeanScores
from embeddings.eval.statistics.paired_tests import PARTS, Comparison
from embeddings.eval.statistics.results import Key, Result
from embeddings.eval.suite import compare_scores
from embeddings.eval.tuning.fingerprints import files_fingerprint
from embeddings.eval.tuning.trials import Judgement
from embeddings.eval.validation import Validation, mean_loss
from embeddings.models.model import Model
from embeddings.models.prediction import held_out_predictor
from embeddings.training.trainer import Trainer

N_PARTS = 200  # of lines of the test half, of about equal length, over which intervals resample
PROTOCOL = (
    "mean of the losses of parts of about equal length of the test half of the held-out text; words outside the "
    "vocabulary are dropped first; interval: bootstrap over parts"
)


@dataclass
class HeldOutLoss:
    """The loss of the dev half of held-out text, negated as a score; see `Metric` and `Validation`."""

    source: str | os.PathLike[str] | float
    threads: int | None = None
    fixed: Sequence[str] = ("window", "negatives", "noise_exponent", "objective", "min_count", "max_vocab", "cutoffs")
    halves: tuple[EncodedCorpus, EncodedCorpus] | None = None
    validation: Validation = field(init=False)

    def __post_init__(self) -> None:
        self.validation = Validation(self.source)

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
        """What identifies the held-out text; None if it is cut from the corpus."""
        return None if isinstance(self.validation.source, float) else files_fingerprint(self.validation.source)

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

    def test(self, results: dict[str, Any]) -> tuple[list[Result], list[Comparison]]:
        """The loss of models on the test half."""
        scores = [[self.part_losses(model, name)] for name, model in results.items()]
        return [one.result() for (one,) in scores], compare_scores(scores)

    def part_losses(self, model: Model, name: str) -> MeanScores:
        """The mean losses of the parts of the test half."""
        encoded, predictor = self.parts(model)[1], held_out_predictor(model)
        ids = id_mapping(encoded.vocabulary, model.vocabulary)[np.asarray(encoded.ids)]
        is_known = ids < len(model.vocabulary)
        known, lines = ids[is_known], np.append(0, np.cumsum(is_known))[np.asarray(encoded.sentences)]
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
