"""Texts as rows of vectors whose folder has a tokenizer.json, such as those of model2vec and sentence-transformers."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.text_stream import TextBatch
from embeddings.errors import FormatError
from embeddings.models.text_encoder import EncodedTexts, TextEncoder
from embeddings.support.extras import import_extra
from embeddings.vectors.pooling import RowTexts
from embeddings.vectors.vectors import Vectors


def load_tokenizer(path: Path) -> Any:
    """A tokenizer of the library tokenizers, which keeps all of a text.

    Raises:
        FormatError: the file is missing or broken.
        EmbeddingsError: the library is not installed.
    """
    tokenizers = import_extra("tokenizers", "tokenizers", "a folder with a tokenizer.json")
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more specific
        raise FormatError(f"{path} is missing or not a tokenizer: {' '.join(str(error).split()):.200}") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class JsonEncoder:
    """Encodes batches of texts by a tokenizer.json, whose token numbers are the rows.

    As in model2vec there are no special tokens, and the token for unknown words is left out, whether it has a vector or
    not. Lists of tokens are left to another encoder.
    """

    is_scanned = True  # the library works without Python's lock

    def __init__(self, vectors: Vectors, path: Path, of_lists: TextEncoder) -> None:
        self.size, self.dim = len(vectors), vectors.dim
        self.of_lists = of_lists
        self.tokenizer = load_tokenizer(path)
        unknown = getattr(self.tokenizer.model, "unk_token", None)
        self.unknown = -1 if unknown is None else self.tokenizer.token_to_id(unknown)

    def encode(self, batch: TextBatch) -> EncodedTexts:
        """Encode a batch of texts."""
        if batch.lists is not None:
            return self.of_lists.encode(batch)
        texts = [batch.data[start:stop].decode() for start, stop in pairwise(batch.starts.tolist())]
        encodings = [encoding.ids for encoding in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
        counts = np.fromiter(map(len, encodings), np.int64, len(encodings))
        ids = np.fromiter((number for one in encodings for number in one), np.int64, int(counts.sum()))
        is_known = (ids < self.size) & (ids != self.unknown)
        starts = np.append(0, np.cumsum(is_known))[np.append(0, np.cumsum(counts))]
        nothing = np.zeros((0, self.dim), np.float32)
        return EncodedTexts(RowTexts(ids[is_known], starts), counts, nothing, [], np.zeros(0))
