"""The rows that a reader of tables gives, block by block."""

import io

from embeddings.corpora.reading.encodings import Utf8Decoder, utf8_blocks
from embeddings.corpora.reading.rows import RowReader
from embeddings.errors import CorpusError


def blocks_of(table, columns):
    """The rows of a table, in blocks."""
    return (rows.block() for rows in RowReader(columns.resolve).read(table))


def read_rows(read, data, size, columns):
    """The texts, tags and kept columns of all rows of a table that `read` makes of blocks, and the error if any."""
    blocks = utf8_blocks(io.BytesIO(data).read, size, Utf8Decoder("strict", "f"))
    rows = []
    try:
        for part in blocks_of(read(blocks), columns):
            if part.token_lists is not None:
                texts = part.token_lists.to_pylist()
            else:
                ends = part.ends.tolist()
                texts = [part.data[start:stop] for start, stop in zip([0, *ends], ends, strict=False)]
            tags = part.tags.to_pylist() if part.tags is not None else [None] * len(texts)
            kept = part.columns.to_pylist() if part.columns is not None else [None] * len(texts)
            rows += zip(texts, tags, kept, strict=True)
    except CorpusError as error:
        return rows, str(error)
    return rows, None
