"""Bootstrap resamples of an encoded corpus: as many documents or lines, drawn with replacement."""

from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.array_file import ArrayFile
from embeddings.corpora.encoded_corpus import DOCUMENTS, IDS, SENTENCES, EncodedCorpus, write_derived
from embeddings.errors import CorpusError

ResamplingUnit = Literal["documents", "lines"]
MIN_UNITS = 20  # resamples of fewer say little about the spread
CHUNK = 1 << 22  # tokens that are copied at a time


def resample(encoded: EncodedCorpus, unit: ResamplingUnit, random: np.random.Generator, folder: Path) -> EncodedCorpus:
    """Write a resample, with the vocabulary and the counts of the whole corpus; closing it removes the folder.

    Arguments:
        unit: what is drawn. If lines are, each becomes a document.

    Raises:
        CorpusError: there are fewer than `MIN_UNITS` documents or lines.
        OutputError: the resample cannot be written.
    """
    borders = np.asarray(encoded.documents) if unit == "documents" else np.arange(len(encoded.sentences))
    count = len(borders) - 1
    if count < MIN_UNITS:
        remedy = "; set resample_by to 'lines', or separate documents by blank lines" if unit == "documents" else ""
        raise CorpusError(f"too few {unit} to resample: {count}, at least {MIN_UNITS} are required{remedy}")
    chosen = np.sort(random.integers(count, size=count))  # in the order of the file
    return write_selection(encoded, borders, chosen, folder)


def write_selection(
    encoded: EncodedCorpus, borders: NDArray[np.int64], chosen: NDArray[np.int64], folder: Path
) -> EncodedCorpus:
    """Write some documents of a corpus, with the vocabulary and the counts of all; closing it removes the folder.

    Arguments:
        borders: (documents + 1,) the sentences at which documents begin.
        chosen: the documents to write, in order; one that is named twice is written twice.
    """
    sizes = np.diff(borders)[chosen]
    sentences = ranges(borders[chosen], sizes)
    starts = np.append(0, np.cumsum(np.diff(encoded.sentences)[sentences]))
    tokens = ArrayFile(folder / IDS, np.int32)
    steps = np.searchsorted(starts, np.arange(0, int(starts[-1]) + CHUNK, CHUNK))
    for begin, end in pairwise(steps.tolist()):
        lengths = np.diff(starts[begin : end + 1])
        tokens.append(encoded.ids[ranges(np.asarray(encoded.sentences)[sentences[begin:end]], lengths)])
    tokens.close()
    for name, values in ((SENTENCES, starts), (DOCUMENTS, np.append(0, np.cumsum(sizes)))):
        array = ArrayFile(folder / name, np.int64)
        array.append(values)
        array.close()
    sizes_by_name = {"tokens": int(starts[-1]), "sentences": len(sentences), "documents": len(chosen)}
    write_derived(folder, encoded, [], encoded.vocabulary, sizes_by_name)
    return EncodedCorpus(folder, temporary=True)


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers from each start on, as many as its length, one range after another."""
    ends = np.cumsum(lengths)
    offsets: NDArray[np.int64] = np.repeat(starts - (ends - lengths), lengths)
    return offsets + np.arange(len(offsets))
