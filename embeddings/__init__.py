"""Train, evaluate, search and export word embeddings.

    import embeddings as em

    model = em.SkipGram(dim=100, epochs=5).train(em.Corpus("text.zst"))
    model.vectors.most_similar("king")
    model.save("vectors")

Names are imported on first use. The class of each installed trainer is an attribute too.
"""

from typing import TYPE_CHECKING, Any

from embeddings.support.imports import lazy_getattr

if TYPE_CHECKING:
    from embeddings.analysis.confidence import confident_analogy as confident_analogy
    from embeddings.analysis.confidence import confident_difference as confident_difference
    from embeddings.analysis.confidence import confident_neighbours as confident_neighbours
    from embeddings.analysis.confidence import confident_similarity as confident_similarity
    from embeddings.analysis.explanation import explain as explain
    from embeddings.analysis.induced_vectors import ContextInducer as ContextInducer
    from embeddings.analysis.induced_vectors import ContextMap as ContextMap
    from embeddings.analysis.induced_vectors import fit_context_map as fit_context_map
    from embeddings.analysis.keyword_in_context import concordance as concordance
    from embeddings.analysis.replicates import Replicates as Replicates
    from embeddings.analysis.replicates import stability as stability
    from embeddings.analysis.usage_change import compare_usage as compare_usage
    from embeddings.classifier.classifier import Classifier as Classifier
    from embeddings.cluster.cluster_training import Cluster as Cluster
    from embeddings.corpora import Corpus as Corpus
    from embeddings.corpora.pair_encoding import PairFormat as PairFormat
    from embeddings.corpora.phrases import PhraseList as PhraseList
    from embeddings.corpora.phrases import Phrases as Phrases
    from embeddings.corpora.reading.labelled_texts import LabelFormat as LabelFormat
    from embeddings.corpora.reading.text_pairs import PairColumns as PairColumns
    from embeddings.corpora.reading.text_pairs import TextPairs as TextPairs
    from embeddings.corpora.vocabulary import Vocabulary as Vocabulary
    from embeddings.errors import EmbeddingsError as EmbeddingsError
    from embeddings.eval import compare as compare
    from embeddings.eval import evaluate as evaluate
    from embeddings.eval import evaluate_classifier as evaluate_classifier
    from embeddings.eval.early_stopping import EarlyStopping as EarlyStopping
    from embeddings.eval.tuning import tune as tune
    from embeddings.indexes.index import build_index as build_index
    from embeddings.indexes.index import load_index as load_index
    from embeddings.models.document_vectors import concatenate as concatenate
    from embeddings.models.embed import embed as embed
    from embeddings.models.loading import load as load
    from embeddings.models.loading import load_classifier as load_classifier
    from embeddings.models.loading import load_model as load_model
    from embeddings.models.model import Model as Model
    from embeddings.models.weighted_vectors import weight_vectors as weight_vectors
    from embeddings.plugins.cbow import CBOW as CBOW
    from embeddings.plugins.classifier.retraining import quantize as quantize
    from embeddings.plugins.classifier.text_classification import TextClassification as TextClassification
    from embeddings.plugins.continuous_window import ContinuousWindow as ContinuousWindow
    from embeddings.plugins.fasttext import FastText as FastText
    from embeddings.plugins.glove.glove import GloVe as GloVe
    from embeddings.plugins.neural.c2w import C2W as C2W
    from embeddings.plugins.neural.context2vec import Context2Vec as Context2Vec
    from embeddings.plugins.paragraph_dbow import ParagraphDBOW as ParagraphDBOW
    from embeddings.plugins.paragraph_dm import ParagraphDM as ParagraphDM
    from embeddings.plugins.sembei.sembei import Sembei as Sembei
    from embeddings.plugins.skipgram import SkipGram as SkipGram
    from embeddings.plugins.structured_skipgram import DirectionalSkipGram as DirectionalSkipGram
    from embeddings.plugins.structured_skipgram import StructuredSkipGram as StructuredSkipGram
    from embeddings.plugins.tensor_indexing.tensor_indexing import TensorIndexing as TensorIndexing
    from embeddings.plugins.text_pairs.hard_negatives import mine_negatives as mine_negatives
    from embeddings.plugins.text_pairs.pair_training import DualEncoder as DualEncoder
    from embeddings.plugins.text_pairs.rating_distribution import RatingPredictor as RatingPredictor
    from embeddings.sklearn import MeanVectorizer as MeanVectorizer
    from embeddings.sklearn import ParagraphVectorizer as ParagraphVectorizer
    from embeddings.sklearn import TextClassifier as TextClassifier
    from embeddings.training.callbacks import Callback as Callback
    from embeddings.training.callbacks import EpochEnd as EpochEnd
    from embeddings.training.callbacks import RunStart as RunStart
    from embeddings.training.checkpoints import Checkpoints as Checkpoints
    from embeddings.training.init_vectors import InitFrom as InitFrom
    from embeddings.training.progress import Progress as Progress
    from embeddings.training.progress import ProgressDisplay as ProgressDisplay
    from embeddings.training.replicas import Replicas as Replicas
    from embeddings.training.run import Interrupted as Interrupted
    from embeddings.training.run_log import RunLog as RunLog
    from embeddings.training.run_options import RunOptions as RunOptions
    from embeddings.training.train import continue_training as continue_training
    from embeddings.training.train import train as train
    from embeddings.vectors.align import align as align
    from embeddings.vectors.lookup import lookup as lookup
    from embeddings.vectors.merge import merge as merge
    from embeddings.vectors.vectors import Vectors as Vectors

MODULES = {
    name: f"embeddings.{module}"
    for module, names in {
        "analysis.confidence": "confident_analogy confident_difference confident_neighbours confident_similarity",
        "analysis.explanation": "explain",
        "analysis.induced_vectors": "ContextInducer ContextMap fit_context_map",
        "analysis.keyword_in_context": "concordance",
        "analysis.replicates": "Replicates stability",
        "analysis.usage_change": "compare_usage",
        "cluster.cluster_training": "Cluster",
        "corpora": "Corpus",
        "corpora.phrases": "PhraseList Phrases",
        "corpora.pair_encoding": "PairFormat",
        "corpora.reading.labelled_texts": "LabelFormat",
        "corpora.reading.text_pairs": "PairColumns TextPairs",
        "corpora.vocabulary": "Vocabulary",
        "errors": "EmbeddingsError",
        "eval": "compare evaluate evaluate_classifier",
        "eval.early_stopping": "EarlyStopping",
        "eval.tuning": "tune",
        "indexes.index": "build_index load_index",
        "classifier.classifier": "Classifier",
        "models.document_vectors": "concatenate",
        "models.embed": "embed",
        "models.loading": "load load_classifier load_model",
        "models.model": "Model",
        "models.weighted_vectors": "weight_vectors",
        "plugins.classifier.retraining": "quantize",
        "plugins.text_pairs.hard_negatives": "mine_negatives",
        "plugins.text_pairs.rating_distribution": "RatingPredictor",
        "sklearn": "MeanVectorizer ParagraphVectorizer TextClassifier",
        "training.callbacks": "Callback EpochEnd RunStart",
        "training.checkpoints": "Checkpoints",
        "training.init_vectors": "InitFrom",
        "training.progress": "Progress ProgressDisplay",
        "training.replicas": "Replicas",
        "training.run": "Interrupted",
        "training.run_log": "RunLog",
        "training.run_options": "RunOptions",
        "training.train": "continue_training train",
        "vectors.align": "align",
        "vectors.lookup": "lookup",
        "vectors.merge": "merge",
        "vectors.vectors": "Vectors",
    }.items()
    for name in names.split()
}


if not TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> Any:
        if name not in MODULES and name[:1].isupper():  # may be the class of an installed trainer
            from embeddings import registry

            for trainer, entries in registry.find_all("trainer").items():
                if any(entry.attr == name for entry in entries):
                    return registry.load("trainer", trainer)
        return lazy_getattr(__name__, MODULES)(name)


def __dir__() -> list[str]:
    from embeddings import registry

    classes = [entry.attr for entries in registry.find_all("trainer").values() for entry in entries]
    return sorted([*MODULES, *classes])
