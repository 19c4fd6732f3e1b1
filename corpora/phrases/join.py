"""Joins phrases in an encoded corpus and counts its words again."""

import json
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.array_file import ArrayFile, load_array, output_errors
from embeddings.corpora.encoded_corpus import (
    DOCUMENTS,
    IDS,
    META,
    PHRASES,
    SENTENCES,
    TAG_STARTS,
    TAGS,
    EncodedCorpus,
    write_derived,
)
from embeddings.corpora.phrases import join_kernel, phrase_trie
from embeddings.corpora.phrases.bigram_counts import PhraseTokens
from embeddings.corpora.phrases.phrase import JOINER, Phrase, check_joiner, to_phrase_table
from embeddings.corpora.vocabulary import Vocabulary, rank_by_frequency
from embeddings.errors import CorpusError
from embeddings.kernels.id_lookup import look_up_ids
from embeddings.settings import check_value
from embeddings.support.arrow_arrays import to_arrow, to_numpy, to_string_array
from embeddings.support.arrow_files import write_table

Mode = Literal["replace", "alternate"]
BLOCK = 1 << 20  # tokens joined at a time, but at least twice join_kernel.MAX_RUN


class JoinedFiles(NamedTuple):
    """The files of ids (not yet renumbered) and sentences, the count of each id, and the occurrences of phrases."""

    ids: ArrayFile
    sentences: ArrayFile
    counts: NDArray[np.int64]
    occurrences: int


def join_phrases(
    encoded: EncodedCorpus, phrases: Sequence[Phrase], folder: Path, *, joiner: str = JOINER, mode: str = "replace"
) -> None:
    """Write the corpus to `folder` with phrases as tokens, and count all types again.

    Phrases are joined greedily from the left, the longest first, within sentences, in one pass after another. In the
    mode "alternate", every second occurrence of a phrase keeps its words, so that the phrase and its words are trained
    on similar contexts. A phrase that is spelled like an existing word is counted as that word.
    """
    check_joiner(joiner)
    check_value("phrase_mode", mode, Mode, {})
    trie, known_phrases = phrase_trie.build(encoded.vocabulary, phrases)
    if phrases and not known_phrases:
        raise CorpusError(f"none of {len(phrases)} phrases has all its words in the corpus")
    files = join_tokens(encoded, trie, folder, alternate=mode == "alternate")
    names = [joiner.join(phrase.words) for phrase in known_phrases]
    vocabulary, rank = joined_vocabulary(encoded.vocabulary, names, files.counts)
    vocabulary.total = files.ids.count
    files.ids.map(partial(look_up_ids, rank))
    files.ids.close()
    files.sentences.close()
    digests = [encoded.fingerprint, files.ids.digest.hexdigest(), files.sentences.digest.hexdigest()]
    fingerprint = sha256(json.dumps([*digests, list(vocabulary.words)]).encode()).hexdigest()[:32]
    statistics = {"listed": len(phrases), "known": len(known_phrases), "occurrences": files.occurrences}
    changes = {
        "phrases": {**statistics, "joiner": joiner, "mode": mode},
        "max_undercount": encoded.max_undercount * max((len(phrase.words) for phrase in known_phrases), default=1),
        "fingerprint": fingerprint,
        "tokens": files.ids.count,
        "types": len(vocabulary),
        "known_tokens": vocabulary.tokens,
        "fixed_vocabulary": False,
    }
    with output_errors(folder / META):
        write_table(to_phrase_table(known_phrases), folder / PHRASES)
    write_derived(folder, encoded, [DOCUMENTS, TAGS, TAG_STARTS], vocabulary, changes)


def join_tokens(
    encoded: EncodedCorpus, trie: phrase_trie.PhraseTrie, folder: Path, *, alternate: bool = False
) -> JoinedFiles:
    """Write ids and sentences to `folder`; words keep their ids, phrases have ids from `len(trie.in_phrase)` up."""
    ids, sentences = ArrayFile(folder / IDS, np.int32, is_draft=True), ArrayFile(folder / SENTENCES, np.int64)
    sentences.append(np.zeros(1))
    phrases, size = len(trie.steps), max(BLOCK, 2 * join_kernel.MAX_RUN)
    out = (np.empty(size, np.int32), np.empty(size, np.int64), np.zeros(len(trie.in_phrase) + phrases, np.int64))
    toggles = np.zeros(phrases * alternate, np.uint8)
    state, run = np.zeros(join_kernel.STATE_SIZE, np.int64), np.empty(join_kernel.MAX_RUN, np.int32)
    has_more = True
    while has_more:
        has_more = join_kernel.join(encoded.ids, encoded.sentences, tuple(trie), toggles, run, out, state)
        ids.append(out[0][: state[join_kernel.N_IDS]])
        sentences.append(out[1][: state[join_kernel.N_SENTENCES]])
    return JoinedFiles(ids, sentences, out[2], int(state[join_kernel.N_JOINED]))


def join_for_detection(
    encoded: EncodedCorpus, phrases: Sequence[Phrase], folder: Path
) -> tuple[PhraseTokens, list[Phrase]]:
    """Return the corpus with these phrases joined, as input of the next detection pass, and the phrases it contains."""
    vocabulary = encoded.vocabulary
    if not phrases and not encoded.meta["fixed_vocabulary"]:
        counts = np.append(vocabulary.counts, len(encoded.ids) - vocabulary.tokens)
        return PhraseTokens(encoded.ids, encoded.sentences, counts, len(vocabulary)), []
    trie, known_phrases = phrase_trie.build(vocabulary, phrases)
    files = join_tokens(encoded, trie, folder)
    files.ids.close()
    files.sentences.close()
    ids = load_array(folder / IDS, "<i4", files.ids.count)
    sentences = load_array(folder / SENTENCES, "<i8", files.sentences.count)
    return PhraseTokens(ids, sentences, files.counts, len(vocabulary)), known_phrases


def joined_vocabulary(
    old: Vocabulary, names: list[str], counts: NDArray[np.int64]
) -> tuple[Vocabulary, NDArray[np.int32]]:
    """Return the vocabulary of the types that occur, and the new id of each old id: words, unknown word, phrases."""
    import pyarrow

    unknown = len(old)
    words_and_names = pyarrow.concat_arrays([to_string_array(old.column), to_string_array(names)]).dictionary_encode()
    codes = to_numpy(words_and_names.indices)
    sums = np.zeros(len(words_and_names.dictionary), np.int64)
    np.add.at(sums, codes, np.delete(counts, unknown))
    occurring = np.flatnonzero(sums)
    vocabulary, rank = rank_by_frequency(words_and_names.dictionary.take(to_arrow(occurring)), sums[occurring])
    new_ids = np.full(len(sums), len(occurring), np.int32)
    new_ids[occurring] = rank
    return vocabulary, np.insert(new_ids[codes], unknown, len(occurring))
