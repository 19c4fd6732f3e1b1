"""Texts as a classifier reads them: unless its words are those between white space, their tokens are joined."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from embeddings.corpora.tokenizers import Tokenizer, ascii_whitespace, lower_case, resolve_tokenizer
from embeddings.models.text_settings import recorded_text_settings

if TYPE_CHECKING:
    from embeddings.models.model import Model

Normalize = Callable[[bytes, np.ndarray], tuple[bytes, np.ndarray]]


@dataclass(frozen=True)
class TextNormalizer:
    """Replaces each text `text[starts[i]:starts[i + 1]]` by its tokens with a space after each."""

    tokenizer: Tokenizer
    is_lower: bool

    def __call__(self, text: bytes, starts: np.ndarray) -> tuple[bytes, np.ndarray]:
        """Return the texts and where each begins."""
        parts = [self.normalize(text[begin:end]) for begin, end in pairwise(starts.tolist())]
        ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
        return b"".join(parts), np.append(0, ends)

    def normalize(self, text: bytes) -> bytes:
        """Return one text."""
        tokens = " ".join([*self.tokenizer(text.decode("utf-8", "replace")), ""])
        return (lower_case(tokens) if self.is_lower else tokens).encode("utf-8", "replace")


def text_normalizer(model: "Model") -> Normalize | None:
    """How texts are read for a model; None if its words are those between white space.

    Raises:
        FormatError: the record of the model is broken.
        RegistryError: its tokenizer is not installed.
    """
    settings = recorded_text_settings(model)
    tokenizer = resolve_tokenizer(settings["tokenizer"])
    is_lower = settings["case"] == "lower"
    return None if tokenizer is ascii_whitespace and not is_lower else TextNormalizer(tokenizer, is_lower)
