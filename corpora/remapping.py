"""A corpus that is encoded already, under another vocabulary."""

import json
import os
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.encoded_corpus import DOCUMENTS, IDS, META, OPTIONAL, SENTENCES, VOCABULARY, EncodedCorpus
from embeddings.corpora.memory_mapped import BLOCK, Column, writing
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError
from embeddings.support.arrow_arrays import strings


def remap(encoded: EncodedCorpus, vocabulary: Vocabulary, folder: Path) -> None:
    """Write the corpus to `folder` with ids that are places in `vocabulary`; other words have its length as id.

    Sentences, documents, tags and phrases are the same files where the file system can give them a second name.

    Raises:
        CorpusError: no word of the corpus is in the vocabulary.
        OutputError: it cannot be written.
    """
    places = new_ids(encoded.vocabulary, vocabulary)
    known, ids = 0, Column(folder / IDS, np.int32)
    for start in range(0, len(encoded.ids), BLOCK):
        block = places[encoded.ids[start : start + BLOCK]]
        known += int(np.count_nonzero(block < len(vocabulary)))
        ids.append(block)
    ids.close()
    if not known:
        raise CorpusError(f"no word of the corpus is among the {len(vocabulary)} of the vocabulary")
    files = [SENTENCES, DOCUMENTS, *(name for name in OPTIONAL if name in encoded.meta["files"])]
    with writing(folder / META):
        for name in files:
            second(encoded.folder / name, folder / name)
        vocabulary.save(folder / VOCABULARY)
        sizes = {name: (folder / name).stat().st_size for name in [*files, IDS, VOCABULARY]}
        fingerprint = identify(encoded.fingerprint, vocabulary)
        new = {"fingerprint": fingerprint, "types": len(vocabulary), "known": known, "given": True, "files": sizes}
        (folder / META).write_text(json.dumps({**encoded.meta, **new}, indent=1, ensure_ascii=False) + "\n", "utf-8")


def new_ids(old: Vocabulary, new: Vocabulary) -> NDArray[np.int32]:
    """For each id under the old vocabulary, and the one of no word, that under the new."""
    import pyarrow.compute

    found = pyarrow.compute.index_in(strings(old.column), value_set=strings(new.column))
    known: Any = pyarrow.compute.fill_null(found, len(new)).to_numpy(zero_copy_only=False)
    return np.append(known, len(new)).astype(np.int32)


def second(path: Path, name: Path) -> None:
    """Give a file a second name, or where that cannot be copy it."""
    try:
        os.link(path, name)
    except OSError:
        shutil.copyfile(path, name)


def identify(fingerprint: str, vocabulary: Vocabulary) -> str:
    """A fingerprint for the corpus under the vocabulary."""
    whole = sha256(fingerprint.encode())
    for word, count in zip(vocabulary.words, vocabulary.counts.tolist(), strict=True):
        whole.update(f"{len(word)} {word} {count} ".encode("utf-8", "surrogatepass"))
    return whole.hexdigest()[:32]
