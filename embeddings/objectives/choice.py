"""The objective that a trainer's settings choose."""

from importlib import import_module

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.objectives.objective import Objective
from embeddings.settings import ObjectiveChoice

OBJECTIVES = {  # modules are imported only if they are used
    "negative-sampling": ("negative_sampling", "NegativeSamplingObjective"),
    "nce": ("nce", "NCEObjective"),
    "sampled-softmax": ("sampled_softmax", "SampledSoftmaxObjective"),
    "hierarchical-softmax": ("huffman", "HuffmanObjective"),
    "clusters": ("frequency_clusters", "FrequencyClustersObjective"),
    "adaptive-softmax": ("adaptive_softmax", "AdaptiveSoftmaxObjective"),
    "full-softmax": ("full_softmax", "FullSoftmaxObjective"),
}


def new_objective(
    settings: ObjectiveChoice,
    vocabulary: Vocabulary,
    dim: int,
    *,
    slots: int = 1,
    is_concatenated: bool = False,
) -> Objective:
    """The objective of a trainer with these settings; see `Objective` for the arguments."""
    is_clustered = settings.objective == "hierarchical-softmax" and not settings.uses_huffman_tree
    name = "clusters" if is_clustered else settings.objective
    module, kind = OBJECTIVES[name]
    objective: type[Objective] = getattr(import_module(f"embeddings.objectives.{module}"), kind)
    return objective(settings, vocabulary, dim, slots, is_concatenated)
