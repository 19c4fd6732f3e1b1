"""Texts as a classifier reads them: unless its words are those between white space, their tokens are joined."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from embeddings.corpora.tokenizers import ascii_whitespace
from embeddings.corpora.word_rules import WordRules
from embeddings.models.text_settings import recorded_text_settings
from embeddings.setting_names import WORD_SETTINGS

if TYPE_CHECKING:
    from embeddings.models.model import Model

Normalize = Callable[[bytes, np.ndarray], tuple[bytes, np.ndarray]]


@dataclass(frozen=True)
class TextNormalizer:
    """Replaces each text `text[starts[i]:starts[i + 1]]` by its tokens with a space after each."""

    rules: WordRules

    def __call__(self, text: bytes, starts: np.ndarray) -> tuple[bytes, np.ndarray]:
        """Return the texts and where each begins."""
        parts = [self.normalize(text[begin:end]) for begin, end in pairwise(starts.tolist())]
        ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
        return b"".join(parts), np.append(0, ends)

    def normalize(self, text: bytes) -> bytes:
        """Return one text."""
        tokens = list(self.rules.tokenizer(text.decode("utf-8", "replace")))
        return " ".join([*self.rules.normalize_all(tokens), ""]).encode("utf-8", "replace") if tokens else b""


def text_normalizer(model: "Model") -> Normalize | None:
    """How texts are read for a model; None if its words are those between white space.

    Raises:
        FormatError: the record of the model is broken.
        RegistryError: its tokenizer is not installed.
    """
    settings = recorded_text_settings(model)
    rules = WordRules(**{name: settings[name] for name in WORD_SETTINGS})
    return None if rules.tokenizer is ascii_whitespace and rules.changes_nothing else TextNormalizer(rules)
