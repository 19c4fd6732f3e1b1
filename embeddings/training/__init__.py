"""Training shared by all models: preparation, the multithreaded loop, checkpoints, callbacks and progress.

The namespace also has functions that change trained models, such as `quantize`.
"""

from typing import TYPE_CHECKING

from embeddings.support.imports import lazy_package

if TYPE_CHECKING:
    from embeddings.classifier.classifier import LabelPredictor as LabelPredictor
    from embeddings.cluster.cluster_training import Cluster as Cluster
    from embeddings.models.document_vectors import concatenate as concatenate
    from embeddings.models.model_group import ModelGroup as ModelGroup
    from embeddings.models.weighted_vectors import weight_vectors as weight_vectors
    from embeddings.plugins.classifier.text_classification import quantize as quantize
    from embeddings.plugins.distillation.teach import load_teacher as load_teacher
    from embeddings.plugins.distillation.teach import teach as teach
    from embeddings.plugins.given_contexts import GivenContexts as GivenContexts
    from embeddings.plugins.ppmi_svd import ShiftedPPMI as ShiftedPPMI
    from embeddings.plugins.text_pairs.hard_negatives import mine_negatives as mine_negatives
    from embeddings.plugins.text_pairs.pair_objectives import RatingPredictor as RatingPredictor
    from embeddings.support.progress_display import ProgressDisplay as ProgressDisplay
    from embeddings.training.callbacks import EpochEnd as EpochEnd
    from embeddings.training.callbacks import RunStart as RunStart
    from embeddings.training.progress import Progress as Progress
    from embeddings.training.replicas import Replicas as Replicas
    from embeddings.training.run import Interrupted as Interrupted
    from embeddings.training.run_log import RunLog as RunLog
    from embeddings.training.run_options import RunOptions as RunOptions
    from embeddings.training.trainer import train_group as train_group

if not TYPE_CHECKING:  # so that type checkers report unknown names
    MODULES, __getattr__, __dir__ = lazy_package(__name__, {
        "classifier.classifier": "LabelPredictor",
        "cluster.cluster_training": "Cluster",
        "models.document_vectors": "concatenate",
        "models.model_group": "ModelGroup",
        "models.weighted_vectors": "weight_vectors",
        "plugins.classifier.text_classification": "quantize",
        "plugins.distillation.teach": "load_teacher teach",
        "plugins.given_contexts": "GivenContexts",
        "plugins.ppmi_svd": "ShiftedPPMI",
        "plugins.text_pairs.hard_negatives": "mine_negatives",
        "plugins.text_pairs.pair_objectives": "RatingPredictor",
        "support.progress_display": "ProgressDisplay",
        "training.callbacks": "EpochEnd RunStart",
        "training.progress": "Progress",
        "training.replicas": "Replicas",
        "training.run": "Interrupted",
        "training.run_log": "RunLog",
        "training.run_options": "RunOptions",
        "training.trainer": "train_group",
    })  # fmt: skip
