"""Search for the settings of a trainer that score best."""

from embeddings.eval.tuning.search import Judgement, Trial, Tuning, TuningError, tune

__all__ = ["Judgement", "Trial", "Tuning", "TuningError", "tune"]
