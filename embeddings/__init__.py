"""Word vectors: train, judge, search and export them.

    import embeddings as em

    model = em.SkipGram(dim=100, epochs=5).train(em.Corpus("text.zst"))
    model.vectors.most_similar("king")
    model.save("vectors")

Everything is imported when it is first used; each installed trainer's class is an attribute too.
"""

from typing import TYPE_CHECKING, Any

from embeddings.lazy import getter

if TYPE_CHECKING:
    from embeddings.corpora import Corpus as Corpus
    from embeddings.corpora.phrases import PhraseList as PhraseList
    from embeddings.corpora.phrases import Phrases as Phrases
    from embeddings.document_vectors import concatenate as concatenate
    from embeddings.errors import EmbeddingsError as EmbeddingsError
    from embeddings.eval import evaluate as evaluate
    from embeddings.indexes import build_index as build_index
    from embeddings.indexes import load_index as load_index
    from embeddings.loading import load as load
    from embeddings.loading import load_model as load_model
    from embeddings.model import Model as Model
    from embeddings.operations.align import align as align
    from embeddings.operations.lookup import lookup as lookup
    from embeddings.operations.merge import merge as merge
    from embeddings.plugins.cbow import CBOW as CBOW
    from embeddings.plugins.continuous_window import ContinuousWindow as ContinuousWindow
    from embeddings.plugins.fasttext import FastText as FastText
    from embeddings.plugins.paragraph_dbow import ParagraphDBOW as ParagraphDBOW
    from embeddings.plugins.paragraph_dm import ParagraphDM as ParagraphDM
    from embeddings.plugins.sembei import Sembei as Sembei
    from embeddings.plugins.skipgram import SkipGram as SkipGram
    from embeddings.plugins.structured import DirectionalSkipGram as DirectionalSkipGram
    from embeddings.plugins.structured import StructuredSkipGram as StructuredSkipGram
    from embeddings.plugins.tensor_indexing import TensorIndexing as TensorIndexing
    from embeddings.sklearn import MeanVectorizer as MeanVectorizer
    from embeddings.sklearn import ParagraphVectorizer as ParagraphVectorizer
    from embeddings.training.callbacks import Begin as Begin
    from embeddings.training.callbacks import Callback as Callback
    from embeddings.training.callbacks import Moment as Moment
    from embeddings.training.checkpoints import Checkpoints as Checkpoints
    from embeddings.training.conduct import Conduct as Conduct
    from embeddings.training.continuing import continue_training as continue_training
    from embeddings.training.display import ProgressDisplay as ProgressDisplay
    from embeddings.training.early_stopping import EarlyStopping as EarlyStopping
    from embeddings.training.outcome import Interrupted as Interrupted
    from embeddings.training.progress import Progress as Progress
    from embeddings.training.run import train as train
    from embeddings.training.run_log import RunLog as RunLog
    from embeddings.training.start import Init as Init
    from embeddings.vectors import Vectors as Vectors
    from embeddings.vocabulary import Vocabulary as Vocabulary

HOMES = {
    "Begin": "embeddings.training.callbacks",
    "Callback": "embeddings.training.callbacks",
    "Checkpoints": "embeddings.training.checkpoints",
    "Conduct": "embeddings.training.conduct",
    "Corpus": "embeddings.corpora",
    "EarlyStopping": "embeddings.training.early_stopping",
    "EmbeddingsError": "embeddings.errors",
    "Init": "embeddings.training.start",
    "Interrupted": "embeddings.training.outcome",
    "MeanVectorizer": "embeddings.sklearn",
    "Model": "embeddings.model",
    "Moment": "embeddings.training.callbacks",
    "ParagraphVectorizer": "embeddings.sklearn",
    "PhraseList": "embeddings.corpora.phrases",
    "Phrases": "embeddings.corpora.phrases",
    "Progress": "embeddings.training.progress",
    "ProgressDisplay": "embeddings.training.display",
    "RunLog": "embeddings.training.run_log",
    "Vectors": "embeddings.vectors",
    "Vocabulary": "embeddings.vocabulary",
    "continue_training": "embeddings.training.continuing",
    "concatenate": "embeddings.document_vectors",
    "align": "embeddings.operations.align",
    "build_index": "embeddings.indexes",
    "evaluate": "embeddings.eval",
    "load": "embeddings.loading",
    "load_index": "embeddings.indexes",
    "load_model": "embeddings.loading",
    "lookup": "embeddings.operations.lookup",
    "merge": "embeddings.operations.merge",
    "train": "embeddings.training.run",
}


if not TYPE_CHECKING:  # where all names are known, and a wrong one is told

    def __getattr__(name: str) -> Any:
        if name not in HOMES and name[:1].isupper():  # a trainer's class, ours or another package's
            from embeddings import registry

            for trainer, offers in registry.available("trainer").items():
                if any(offer.attr == name for offer in offers):
                    return registry.load("trainer", trainer)
        return getter(__name__, HOMES)(name)


def __dir__() -> list[str]:
    from embeddings import registry

    classes = [offer.attr for offers in registry.available("trainer").values() for offer in offers]
    return sorted([*HOMES, *classes])
