"""Bootstrap resamples of an encoded corpus, and parts that are held out of training."""

from collections.abc import Callable
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.array_file import ArrayFile
from embeddings.corpora.corpus_cache import corpora_folder, new_folder
from embeddings.corpora.documents import range_indices, unit_starts
from embeddings.corpora.encoded_corpus import DOCUMENTS, IDS, SENTENCES, EncodedCorpus, write_derived
from embeddings.errors import CorpusError, S

ResamplingUnit = Literal["documents", "lines", "files"]
MIN_UNITS = 20  # resamples of fewer say little about the spread
CHUNK = 1 << 22  # tokens that are copied at a time


def resample(encoded: EncodedCorpus, unit: ResamplingUnit, random: np.random.Generator, folder: Path) -> EncodedCorpus:
    """Write a bootstrap resample with the vocabulary and counts of the whole corpus; closing it removes the folder.

    Arguments:
        unit: what is drawn. Each drawn line becomes a document.
    """
    borders = unit_borders(encoded, unit)
    chosen = np.sort(random.integers(len(borders) - 1, size=len(borders) - 1))  # in the order of the file
    return write_selection(encoded, borders, chosen, folder)


def unit_borders(encoded: EncodedCorpus, unit: ResamplingUnit) -> NDArray[np.int64]:
    """The sentences at which units begin, (units + 1,); refuses a corpus with too few to resample."""
    borders = unit_starts(encoded, "blocks" if unit == "documents" else unit)
    count = len(borders) - 1
    if count < MIN_UNITS:
        problem = f"too few {unit} to resample: {count}, at least {MIN_UNITS} are required"
        if unit == "documents":
            problem += f"; set {S.resample_by} to 'lines', or separate documents by blank lines"
        raise CorpusError(problem)
    return borders


def write_selection(
    encoded: EncodedCorpus, borders: NDArray[np.int64], chosen: NDArray[np.int64], folder: Path
) -> EncodedCorpus:
    """Write chosen documents with the vocabulary and counts of the whole corpus; closing the result removes the folder.

    Arguments:
        borders: (documents + 1,) the sentences at which documents begin.
        chosen: the documents to write, in order; a repeated document is written again.
    """
    sizes = np.diff(borders)[chosen]
    sentences = range_indices(borders[chosen], sizes)
    starts = np.append(0, np.cumsum(np.diff(encoded.sentences)[sentences]))
    tokens = ArrayFile(folder / IDS, np.int32)
    steps = np.searchsorted(starts, np.arange(0, int(starts[-1]) + CHUNK, CHUNK))
    for begin, end in pairwise(steps.tolist()):
        lengths = np.diff(starts[begin : end + 1])
        tokens.append(encoded.ids[range_indices(np.asarray(encoded.sentences)[sentences[begin:end]], lengths)])
    tokens.close()
    for name, values in ((SENTENCES, starts), (DOCUMENTS, np.append(0, np.cumsum(sizes)))):
        array = ArrayFile(folder / name, np.int64)
        array.append(values)
        array.close()
    sizes_by_name = {"tokens": int(starts[-1]), "sentences": len(sentences), "documents": len(chosen)}
    write_derived(folder, encoded, [], encoded.vocabulary, {**sizes_by_name, "file_ends": []})
    return EncodedCorpus(folder, temporary=True)


def hold_out(encoded: EncodedCorpus, share: float) -> tuple[EncodedCorpus, EncodedCorpus, str]:
    """Split a corpus into a training and a held-out part; returns both, and the unit of the split, such as "lines".

    Documents are held out as a whole; a corpus of fewer than 20 documents is split by lines. Equal texts are in the
    same part. Both parts have the vocabulary and the counts of the whole corpus. Closing them removes them.

    Arguments:
        share: the expected share of documents or lines that is held out, 0 to 1.
    """
    if encoded.tags is not None:
        raise CorpusError("no text can be held out of documents with tags; pass a file of other texts")
    limit = np.uint64(share * 2**64)
    return cut(encoded, lambda hashes: hashes < limit, "left to train on", f"held out by a share of {share:g}")


def dev_and_test(encoded: EncodedCorpus) -> tuple[EncodedCorpus, EncodedCorpus]:
    """Split held-out text into a dev half, of documents (or lines) with even hashes, and a test half with odd ones."""
    test, dev, _ = cut(encoded, lambda hashes: hashes % 2 == 0, "in its test half", "in its dev half")
    return dev, test


def cut(
    encoded: EncodedCorpus, choose: Callable[[NDArray[np.uint64]], NDArray[np.bool_]], rest: str, chosen: str
) -> tuple[EncodedCorpus, EncodedCorpus, str]:
    """Split a corpus into the documents or lines that `choose` rejects and accepts by hash; returns also the unit.

    Errors call the two parts `rest` and `chosen`.
    """
    unit = "documents" if len(encoded.documents) > MIN_UNITS else "lines"
    borders = np.asarray(encoded.documents) if unit == "documents" else np.arange(len(encoded.sentences))
    is_chosen = choose(hash_units(encoded, np.asarray(encoded.sentences)[borders]))
    has_tokens = np.diff(np.asarray(encoded.sentences)[borders]) > 0
    parts = []
    for name, selection in ((rest, ~is_chosen), (chosen, is_chosen & has_tokens)):
        if not (selection & has_tokens).any():
            raise CorpusError(f"none of {len(borders) - 1} {unit} is {name}: use more text")
        with new_folder(corpora_folder()) as folder:
            parts.append(write_selection(encoded, borders, np.flatnonzero(selection), folder))
    return parts[0], parts[1], unit


def hash_units(encoded: EncodedCorpus, starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A hash of the word sequence of each document or line, uint64 (units,); `starts` (units + 1,) are in tokens."""
    digests = [
        blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in encoded.vocabulary.words
    ]
    of_type = np.frombuffer(b"".join([*digests, b"unknown "]), "<u8")  # the last one for tokens outside the vocabulary
    hashes = np.zeros(len(starts) - 1, np.uint64)
    steps = np.unique(np.searchsorted(starts, np.arange(0, int(starts[-1]) + CHUNK, CHUNK)).clip(0, len(hashes)))
    for first, last in pairwise(np.append(steps, len(hashes)).tolist()):
        begin, end = int(starts[first]), int(starts[last])
        sizes = np.diff(starts[first : last + 1])
        # the place of a word within its unit makes the sum of terms depend on the order of words
        position = np.arange(begin, end) - np.repeat(starts[first:last], sizes)
        terms = splitmix(of_type[encoded.ids[begin:end]] + splitmix(position.astype(np.uint64)))
        sums = np.append(np.uint64(0), np.cumsum(terms))  # modulo 2**64, like the difference
        hashes[first:last] = splitmix(sums[starts[first + 1 : last + 1] - begin] - sums[starts[first:last] - begin])
    return hashes


def splitmix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread the bits of integers: the finaliser of SplitMix64 (Steele et al. 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
