"""Re-encoding of an encoded corpus with another vocabulary, which may have rows for unknown words."""

import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.array_file import BLOCK, ArrayFile
from embeddings.corpora.encoded_corpus import DOCUMENTS, IDS, OPTIONAL, SENTENCES, EncodedCorpus, write_derived
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, S, SettingError
from embeddings.support.arrow import find_words

UNKNOWN = "<unk>"  # the name of a single row
ROW_NAME = re.compile(r"<unk-([0-9]+)/([0-9]+)>")


def remap(encoded: EncodedCorpus, vocabulary: Vocabulary, folder: Path) -> None:
    """Write the corpus to `folder` with rows of `vocabulary` as ids, and `len(vocabulary)` for other words."""
    digest = sha256(encoded.fingerprint.encode())
    for word, count in zip(vocabulary.words, vocabulary.counts.tolist(), strict=True):
        digest.update(f"{len(word)} {word} {count} ".encode("utf-8", "surrogatepass"))
    new_ids = id_mapping(encoded.vocabulary, vocabulary)
    write_remapped(encoded, vocabulary, new_ids, folder, digest.hexdigest()[:32])


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


def row_names(rows: int) -> list[str]:
    """The words that stand for unknown words: `<unk>`, or `<unk-0/4>` to `<unk-3/4>` for four rows."""
    return [UNKNOWN] if rows == 1 else [f"<unk-{row}/{rows}>" for row in range(rows)]


def row_number(word: str, rows: int) -> int:
    """The row of an unknown word: CRC-32 (ISO 3309) of its UTF-8 bytes, modulo the number of rows.

    >>> row_number("zeppelin", 16)
    9
    """
    return crc32(word.encode("utf-8", "surrogatepass")) % rows


def find_unknown_rows(words: Iterable[str]) -> list[str] | None:
    """The rows for unknown words among `words`, by number; None without any. Numbered rows win over `<unk>`."""
    counts: dict[int, int] = {}
    has_one = False
    for word in words:
        has_one = has_one or word == UNKNOWN
        if word.startswith("<unk-") and (match := ROW_NAME.fullmatch(word)):
            counts[int(match[2])] = counts.get(int(match[2]), 0) + 1
    for rows, count in counts.items():
        if rows != count:
            raise SettingError(f"{rows - count} of {rows} rows for unknown words are missing")
        return row_names(rows)
    return [UNKNOWN] if has_one else None


def remap_to_rows(encoded: EncodedCorpus, words: Vocabulary, rows: int, folder: Path) -> None:
    """Write the corpus to `folder` with a vocabulary of `words` and a number of `rows` for all other words."""
    names, types = row_names(rows), encoded.vocabulary
    is_rare = id_mapping(types, words)[:-1] == len(words)
    rare = [types.words[row] for row in np.flatnonzero(is_rare).tolist()]
    numbers = np.array([row_number(word, rows) for word in rare], np.int64)
    counts = np.bincount(numbers, weights=types.counts[is_rare], minlength=rows).astype(np.int64)
    lost = sum(
        int(np.count_nonzero(encoded.ids[start : start + BLOCK] >= len(types)))
        for start in range(0, len(encoded.ids), BLOCK)
    )
    if lost and rows > 1:
        raise CorpusError(
            f"{lost} tokens have no word to hash, because of {S.max_types} or a given vocabulary; use "
            f"{S.unknown_rows(1)}"
        )
    # only a single row can take tokens whose word is unknown
    counts[0] += lost
    by_word = dict(zip(words.words, words.counts.tolist(), strict=True))
    for name, count in zip(names, counts.tolist(), strict=True):
        by_word[name] = by_word.get(name, 0) + count  # of a word of the text that has the name of a row
    if empty := [name for name in names if not by_word[name]]:
        advice = f"raise {S.min_count}" if len(empty) == len(names) else f"use fewer {S.unknown_rows}"
        raise CorpusError(f"no word is left for {len(empty)} of {len(names)} rows for unknown words; {advice}")
    vocabulary = Vocabulary.from_counts(by_word, total=max(words.total, sum(by_word.values())))
    targets = np.array([vocabulary.ids[name] for name in names], np.int32)
    new_ids = id_mapping(types, vocabulary)
    new_ids[np.flatnonzero(is_rare)] = targets[numbers]
    new_ids[-1] = targets[0]
    write_remapped(encoded, vocabulary, new_ids, folder, encoded.fingerprint)
