"""The public names of `embeddings.training` for type checkers; some of them are of rooms above this one."""

from embeddings.classifier.classifier import LabelPredictor as LabelPredictor
from embeddings.cluster.cluster_training import Cluster as Cluster
from embeddings.models.model_group import ModelGroup as ModelGroup
from embeddings.models.weighted_vectors import weight_vectors as weight_vectors
from embeddings.plugins.classifier.text_classification import retrain as retrain
from embeddings.plugins.distillation.teach import load_teacher as load_teacher
from embeddings.plugins.distillation.teach import teach as teach
from embeddings.plugins.given_contexts import GivenContexts as GivenContexts
from embeddings.plugins.ppmi_svd import ShiftedPPMI as ShiftedPPMI
from embeddings.support.progress_display import ProgressDisplay as ProgressDisplay
from embeddings.training.callbacks import EpochEnd as EpochEnd
from embeddings.training.callbacks import RunStart as RunStart
from embeddings.training.progress import Progress as Progress
from embeddings.training.replicas import Replicas as Replicas
from embeddings.training.run import Interrupted as Interrupted
from embeddings.training.run_log import RunLog as RunLog
from embeddings.training.run_options import RunOptions as RunOptions
from embeddings.training.trainer import train_group as train_group
