"""scikit-learn estimators that learn from texts and turn texts into vectors.

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from embeddings.sklearn import MeanVectorizer

make_pipeline(MeanVectorizer("cbow", {"dim": 50}), LogisticRegression()).fit(texts, labels)
"""

from embeddings.sklearn.mean_vectorizer import MeanVectorizer
from embeddings.sklearn.paragraph_vectorizer import ParagraphVectorizer
from embeddings.sklearn.text_classifier import TextClassifier

__all__ = ["MeanVectorizer", "ParagraphVectorizer", "TextClassifier"]
