"""Texts as rows of vectors whose words are tokens of a tokenizer.json."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.reading.text_stream import TextBatch
from embeddings.errors import CorpusError, FormatError
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
    """Encodes batches of texts by a tokenizer.json, without special tokens.

    Arguments:
        vectors: whose words are tokens of it.
        path: the file.
        of_lists: the encoder of lists of tokens.
        is_of_folder: the file belongs to the folder of the vectors, whose rows are the numbers of tokens. As in
            model2vec, the token for unknown words is then left out, whether it has a vector or not. Otherwise it split
            the training text of a model, line by line, and its tokens became words by the rules of `of_lists`.
    """

    is_scanned = True  # the library works without Python's lock

    def __init__(self, vectors: Vectors, path: Path, of_lists: TextEncoder, *, is_of_folder: bool) -> None:
        self.dim = vectors.dim
        self.of_lists = of_lists
        self.is_of_folder = is_of_folder
        self.tokenizer = load_tokenizer(path)
        tokens: dict[str, int] = self.tokenizer.get_vocab(with_added_tokens=True)
        self.rows = np.full(max(tokens.values(), default=-1) + 1, -1, np.int64)
        if is_of_folder:
            size = min(len(vectors), len(self.rows))
            self.rows[:size] = np.arange(size)
            unknown = tokens.get(getattr(self.tokenizer.model, "unk_token", None) or "")
            if unknown is not None:
                self.rows[unknown] = -1
        else:
            words = of_lists.rules.normalize_all(list(tokens))
            self.rows[np.fromiter(tokens.values(), np.int64, len(tokens))] = of_lists.finder.find_forms(words)

    def encode(self, batch: TextBatch) -> EncodedTexts:
        """Encode a batch of texts."""
        if batch.lists is not None:
            return self.of_lists.encode(batch)
        texts = [batch.data[start:stop].decode().removesuffix("\n") for start, stop in pairwise(batch.starts.tolist())]
        lines = [[text] if self.is_of_folder else text.replace("\r\n", "\n").split("\n") for text in texts]
        encodings = [one.ids for one in self.encode_all([line for each in lines for line in each])]
        ids = np.fromiter((number for one in encodings for number in one), np.int64, sum(map(len, encodings)))
        line_ends = np.append(0, np.cumsum(np.fromiter(map(len, encodings), np.int64, len(encodings))))
        ends = line_ends[np.append(0, np.cumsum(np.fromiter(map(len, lines), np.int64, len(lines))))]
        rows = self.rows[ids]
        starts = np.append(0, np.cumsum(rows >= 0))[ends]
        nothing = np.zeros((0, self.dim), np.float32)
        return EncodedTexts(RowTexts(rows[rows >= 0], starts), np.diff(ends), nothing, [], np.zeros(0))

    def encode_all(self, texts: list[str]) -> Any:
        """The library's result for many texts."""
        try:
            return self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        except Exception as error:  # the library raises nothing more specific
            raise CorpusError(f"the tokenizer.json failed: {' '.join(str(error).split()):.200}") from None
