"""Search for the settings of a trainer that score best."""

from embeddings.eval.tuning.study_folder import Judgement, Trial, Tuning, TuningError
from embeddings.eval.tuning.tune_settings import tune

__all__ = ["Judgement", "Trial", "Tuning", "TuningError", "tune"]
