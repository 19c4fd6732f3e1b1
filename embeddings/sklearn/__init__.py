"""scikit-learn estimators that learn from texts and turn texts into vectors.

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from embeddings.sklearn import MeanVectorizer

make_pipeline(MeanVectorizer("cbow", {"dim": 50}), LogisticRegression()).fit(texts, labels)
"""

from typing import TYPE_CHECKING

from embeddings.support.imports import lazy_package

if TYPE_CHECKING:
    from embeddings.sklearn.text_classifier import TextClassifier as TextClassifier
    from embeddings.sklearn.vectorizers import MeanVectorizer as MeanVectorizer
    from embeddings.sklearn.vectorizers import ParagraphVectorizer as ParagraphVectorizer

if not TYPE_CHECKING:  # so that type checkers report unknown names
    MODULES, __getattr__, __dir__ = lazy_package(__name__, {
        "sklearn.text_classifier": "TextClassifier",
        "sklearn.vectorizers": "MeanVectorizer ParagraphVectorizer",
    })  # fmt: skip
