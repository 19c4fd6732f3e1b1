"""Train, evaluate, search and export word embeddings.

    import embeddings as em

    model = em.SkipGram(dim=100, epochs=5).train(em.Corpus("text.zst"))
    model.vectors.most_similar("king")
    model.save("vectors")

Names are imported on first use. The class of each installed trainer is an attribute too, unless `em.training` has it.
Other names are in `em.analysis`, `em.corpora`, `em.sklearn` and `em.training`.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from embeddings.setting_names import expression_advice
from embeddings.support.imports import is_import, lazy_package

if TYPE_CHECKING:
    from embeddings import analysis as analysis
    from embeddings import corpora as corpora
    from embeddings import sklearn as sklearn
    from embeddings import training as training
    from embeddings.corpora.corpus import Corpus as Corpus
    from embeddings.corpora.phrases import Phrases as Phrases
    from embeddings.errors import EmbeddingsError as EmbeddingsError
    from embeddings.eval import compare as compare
    from embeddings.eval import evaluate as evaluate
    from embeddings.eval.early_stopping import EarlyStopping as EarlyStopping
    from embeddings.eval.tuning import tune as tune
    from embeddings.models.embed import embed as embed
    from embeddings.models.loading import load as load
    from embeddings.models.loading import load_classifier as load_classifier
    from embeddings.models.loading import load_model as load_model
    from embeddings.models.model import Model as Model
    from embeddings.plugins.cbow import CBOW as CBOW
    from embeddings.plugins.classifier.text_classification import TextClassification as TextClassification
    from embeddings.plugins.continuous_window import ContinuousWindow as ContinuousWindow
    from embeddings.plugins.distillation.distillation import Distillation as Distillation
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
    from embeddings.plugins.text_pairs.pair_training import DualEncoder as DualEncoder
    from embeddings.text_search.text_index import TextIndex as TextIndex
    from embeddings.training.callbacks import Callback as Callback
    from embeddings.training.checkpoints import Checkpoints as Checkpoints
    from embeddings.training.init_vectors import InitFrom as InitFrom
    from embeddings.training.trainer import continue_training as continue_training
    from embeddings.training.trainer import train as train
    from embeddings.vectors.align import align as align
    from embeddings.vectors.index import build_index as build_index
    from embeddings.vectors.index import load_index as load_index
    from embeddings.vectors.lookup import lookup as lookup
    from embeddings.vectors.merge import merge as merge
    from embeddings.vectors.vectors import Vectors as Vectors

__version__: str
NAMESPACES = ("analysis", "corpora", "sklearn", "training")

MODULES, lazy_name, _ = lazy_package(__name__, {
    "corpora.corpus": "Corpus",
    "corpora.phrases": "Phrases",
    "errors": "EmbeddingsError",
    "eval": "compare evaluate",
    "eval.early_stopping": "EarlyStopping",
    "eval.tuning": "tune",
    "vectors.index": "build_index load_index",
    "models.embed": "embed",
    "models.loading": "load load_classifier load_model",
    "models.model": "Model",
    "training.callbacks": "Callback",
    "training.checkpoints": "Checkpoints",
    "training.init_vectors": "InitFrom",
    "training.trainer": "continue_training train",
    "text_search.text_index": "TextIndex",
    "vectors.align": "align",
    "vectors.lookup": "lookup",
    "vectors.merge": "merge",
    "vectors.vectors": "Vectors",
})  # fmt: skip


if not TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> Any:
        if name in NAMESPACES:
            return import_module(f"{__name__}.{name}")
        if name == "__version__":
            from importlib.metadata import version  # here, so that the package is imported fast

            return version("embeddings-toolkit")
        if (
            name not in MODULES and name[:1].isupper() and place_of(name) is None
        ):  # may be the class of an installed trainer
            from embeddings import registry

            for trainer, entries in registry.find_all("trainer").items():
                if any(entry.attr == name for entry in entries):
                    return registry.load("trainer", trainer)
        is_module = find_spec(f"{__name__}.{name}") is not None  # such as `from embeddings import registry`
        if name not in MODULES and not is_module:
            place = place_of(name)
            if advice := f": use {__name__}.{place}" if place else expression_advice(name):
                error = ImportError if is_import(sys._getframe(1)) else AttributeError
                raise error(f"module {__name__!r} has no attribute {name!r}{advice}")
        return lazy_name(name)


def place_of(name: str) -> str | None:
    """The namespace and name of what a namespace of this package has; None if none does."""
    spaces = (space for space in NAMESPACES if name in import_module(f"{__name__}.{space}").MODULES)
    return next((f"{space}.{name}" for space in spaces), None)


def __dir__() -> list[str]:
    from embeddings import registry

    classes = [entry.attr for entries in registry.find_all("trainer").values() for entry in entries]
    return sorted([*MODULES, *NAMESPACES, *(name for name in classes if place_of(name) is None)])
