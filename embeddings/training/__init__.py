"""Training shared by all models: preparation, the multithreaded loop, checkpoints, callbacks and progress.

The namespace also has functions that change trained models, such as `retrain`.
"""

from embeddings.support.imports import lazy_package

MODULES, __getattr__, __dir__ = lazy_package(__name__, {
    "classifier.classifier": "LabelPredictor",
    "cluster.cluster_training": "Cluster",
    "models.model_group": "ModelGroup",
    "models.weighted_vectors": "weight_vectors",
    "plugins.classifier.text_classification": "retrain",
    "plugins.distillation.teach": "load_teacher teach",
    "plugins.given_contexts": "GivenContexts",
    "plugins.ppmi_svd": "ShiftedPPMI",
    "support.progress_display": "ProgressDisplay",
    "training.callbacks": "EpochEnd RunStart",
    "training.progress": "Progress",
    "training.replicas": "Replicas",
    "training.run": "Interrupted",
    "training.run_log": "RunLog",
    "training.run_options": "RunOptions",
    "training.trainer": "train_group",
})  # fmt: skip
