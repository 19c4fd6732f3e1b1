"""Re-encoding of an encoded corpus with another vocabulary."""

from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.array_file import BLOCK, ArrayFile
from embeddings.corpora.encoded_corpus import DOCUMENTS, IDS, OPTIONAL, SENTENCES, EncodedCorpus, write_derived
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError
from embeddings.support.arrow_arrays import find_words


def remap(encoded: EncodedCorpus, vocabulary: Vocabulary, folder: Path) -> None:
    """Write the corpus to `folder` with rows of `vocabulary` as ids, and `len(vocabulary)` for other words."""
    fingerprint = remapped_fingerprint(encoded.fingerprint, vocabulary)
    write_remapped(encoded, vocabulary, id_mapping(encoded.vocabulary, vocabulary), folder, fingerprint)


def write_remapped(
    encoded: EncodedCorpus, vocabulary: Vocabulary, new_ids: NDArray[np.int32], folder: Path, fingerprint: str
) -> None:
    """Write the corpus to `folder` with another vocabulary, given the new id of each id."""
    n_known, ids = 0, ArrayFile(folder / IDS, np.int32)
    for start in range(0, len(encoded.ids), BLOCK):
        block = new_ids[encoded.ids[start : start + BLOCK]]
        n_known += int(np.count_nonzero(block < len(vocabulary)))
        ids.append(block)
    ids.close()
    if not n_known:
        raise CorpusError(f"no word of the corpus is among the {len(vocabulary)} words of the vocabulary")
    changes = {
        "fingerprint": fingerprint,
        "types": len(vocabulary),
        "known_tokens": n_known,
        "fixed_vocabulary": True,
    }
    write_derived(folder, encoded, [SENTENCES, DOCUMENTS, *OPTIONAL], vocabulary, changes)


def id_mapping(old: Vocabulary, new: Vocabulary) -> NDArray[np.int32]:
    """Return the new id for each id of the old vocabulary, then for the id of unknown words."""
    return np.append(find_words(old.column, new.column, len(new)), np.int32(len(new)))


def remapped_fingerprint(fingerprint: str, vocabulary: Vocabulary) -> str:
    """Return the fingerprint of a corpus with another vocabulary."""
    digest = sha256(fingerprint.encode())
    for word, count in zip(vocabulary.words, vocabulary.counts.tolist(), strict=True):
        digest.update(f"{len(word)} {word} {count} ".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]
