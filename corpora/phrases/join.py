"""Joins phrases of an encoded corpus to tokens, and recounts the words.

Words that are in no phrase split the text into runs. All passes join one run before the next run is read, so the result
does not depend on how the corpus is split into blocks.
"""

import json
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.compilation.jit import allocating_entry_point, inline
from embeddings.corpora.array_file import ArrayFile, load_array, output_errors
from embeddings.corpora.encoded_corpus import (
    DOCUMENTS,
    IDS,
    META,
    PHRASES,
    SENTENCES,
    TAG_STARTS,
    TAGS,
    TEXT_VECTORS,
    EncodedCorpus,
    write_derived,
)
from embeddings.corpora.phrases.phrase import JOINER, Phrase, to_phrase_table
from embeddings.corpora.token_trie import NONE, ROOT, TokenTrie, build_trie, child
from embeddings.corpora.vocabulary import Vocabulary, add_up_words, rank_by_frequency
from embeddings.errors import CorpusError
from embeddings.kernels.line_operations import look_up_ids
from embeddings.support.arrow import find_words, pa, to_arrow, to_string_array, write_table

Array = Any
Int = Any

MAX_RUN = 1 << 16  # tokens; a longer run is split
# indices of `state`
(
    POSITION,  # the next token
    SENTENCE,  # the sentence of the next token
    N_TOKENS,  # tokens written so far
    N_IDS,  # tokens written to this block
    N_SENTENCES,  # sentences written to this block
    N_JOINED,  # occurrences of phrases so far
) = range(6)
STATE_SIZE = 6
BLOCK = 1 << 20  # tokens joined at a time, but at least twice MAX_RUN


class PhraseTrie(NamedTuple):
    """A trie of P phrases over V words."""

    in_phrase: NDArray[np.uint8]  # (V + 1,) whether a word, or V for an unknown word, is in any phrase
    trie: TokenTrie  # with the number of each phrase
    steps: NDArray[np.int32]  # (P,) the pass that joins each phrase
    starts: NDArray[np.int64]  # (P + 1,) of each phrase in `words`
    words: NDArray[np.int32]  # of all phrases


def build(vocabulary: Vocabulary, phrases: Sequence[Phrase]) -> tuple[PhraseTrie, list[Phrase]]:
    """Build the trie of the phrases whose words are all in the vocabulary; returns the trie and its phrases."""
    ids = find_words([word for phrase in phrases for word in phrase.words], vocabulary.column, NONE)
    lengths = np.array([len(phrase.words) for phrase in phrases], np.int64)
    is_known = np.ones(len(phrases), bool)
    is_known[np.repeat(np.arange(len(phrases)), lengths)[ids < 0]] = False
    words, lengths = ids[np.repeat(is_known, lengths)], lengths[is_known]
    known_phrases = [phrase for phrase, keep in zip(phrases, is_known.tolist(), strict=True) if keep]
    in_phrase = np.zeros(len(vocabulary) + 1, np.uint8)
    in_phrase[words] = 1
    sequences = np.full((len(lengths), int(lengths.max(initial=1))), NONE, np.int32)
    sequences[np.arange(sequences.shape[1]) < lengths[:, None]] = words
    trie = build_trie(sequences, np.arange(len(lengths), dtype=np.int32), len(in_phrase))
    steps = np.array([phrase.step for phrase in known_phrases], np.int32)
    return PhraseTrie(in_phrase, trie, steps, np.append(0, np.cumsum(lengths)), words), known_phrases


@inline
def descend(phrases: PhraseTrie, node: Int, token: Int, base: Int) -> Int:
    """Follow a token from a node: a word, or a phrase word by word."""
    if token < base:
        return child(phrases.trie, node, token)
    for place in range(phrases.starts[token - base], phrases.starts[token - base + 1]):
        node = child(phrases.trie, node, phrases.words[place])
        if node == NONE:
            break
    return node


@inline
def longest_match(run: Array, start: Int, stop: Int, phrases: PhraseTrie, step: Int) -> tuple[Int, Int]:
    """Return the longest phrase of the pass `step` that begins at `start`, or NONE, and its end."""
    base = phrases.in_phrase.shape[0]
    phrase: Int = NONE
    end, node = start, np.int64(ROOT)
    for place in range(start, stop):
        node = descend(phrases, node, run[place], base)
        if node == NONE:
            break
        candidate = phrases.trie.values[node]
        if candidate != NONE and phrases.steps[candidate] == step:
            phrase, end = candidate, place + 1
    return phrase, end


@inline
def join_run(run: Array, length: Int, phrases: PhraseTrie, steps: Int) -> Int:
    """Join phrases in the first `length` tokens, pass after pass; returns the new length."""
    base = phrases.in_phrase.shape[0]
    for step in range(1, steps + 1):
        source, target = 0, 0
        while source < length:
            phrase, end = longest_match(run, source, length, phrases, step)
            if phrase == NONE:
                run[target] = run[source]
                source += 1
            else:
                run[target] = base + phrase
                source = end
            target += 1
        length = target
    return length


@inline
def write_token(token: Int, phrases: PhraseTrie, toggles: Array, out: Any, state: Array) -> None:
    """Write a token; with `toggles`, every second occurrence of a phrase is written as its words."""
    ids, counts = out[0], out[2]
    base, starts, words = phrases.in_phrase.shape[0], phrases.starts, phrases.words
    if token >= base:
        phrase = token - base
        if toggles.shape[0]:
            toggles[phrase] ^= 1
        if toggles.shape[0] and toggles[phrase] == 0:
            for place in range(starts[phrase], starts[phrase + 1]):
                ids[state[N_IDS]] = words[place]
                counts[words[place]] += 1
                state[N_IDS] += 1
            return
        state[N_JOINED] += 1
    ids[state[N_IDS]] = token
    counts[token] += 1
    state[N_IDS] += 1


@inline
def write_run(run: Array, length: Int, phrases: PhraseTrie, steps: Int, toggles: Array, out: Any, state: Array) -> None:
    """Join and write a run."""
    if length > 1:
        length = join_run(run, length, phrases, steps)
    for place in range(length):
        write_token(run[place], phrases, toggles, out, state)


@allocating_entry_point
def join(ids: Array, sentences: Array, phrases: PhraseTrie, toggles: Array, run: Array, out: Any, state: Array) -> bool:
    """Join phrases from the position in `state` until the block is full; returns whether there is more.

    Updates in place: `out` (ids; sentence ends, in tokens; the count of each id), `run` (MAX_RUN,), `toggles`
    ((phrases,), or empty if all occurrences are joined), and `state`.
    """
    in_phrase, steps = phrases.in_phrase, np.int64(0)
    for step in phrases.steps:
        steps = max(steps, np.int64(step))
    unknown, last = in_phrase.shape[0] - 1, sentences.shape[0] - 1
    state[N_IDS], state[N_SENTENCES] = 0, 0
    position, sentence, length, n_written = state[POSITION], state[SENTENCE], 0, np.int64(0)
    while sentence < last and n_written + MAX_RUN < out[0].shape[0] and state[N_SENTENCES] < out[1].shape[0]:
        stop = min(sentences[sentence + 1], ids.shape[0])
        while position < stop and state[N_IDS] + MAX_RUN < out[0].shape[0]:
            length = 0
            while position < stop and length < MAX_RUN:
                word = np.int64(ids[position])
                word = word if 0 <= word < unknown else unknown
                position += 1
                run[length] = word
                length += 1
                # no phrase contains the word, so that none spans it in any pass
                if not in_phrase[word]:
                    break
            write_run(run, length, phrases, steps, toggles, out, state)
        n_written = state[N_IDS]
        if position >= stop:
            out[1][state[N_SENTENCES]] = state[N_TOKENS] + n_written
            state[N_SENTENCES] += 1
            sentence += 1
    state[N_TOKENS] += state[N_IDS]
    state[POSITION], state[SENTENCE] = position, sentence
    return bool(sentence < last)


class PhraseTokens(NamedTuple):
    """A corpus with joined phrases, as input of the detection of more phrases."""

    ids: Any  # (tokens,) int32: words of the vocabulary, then the id of unknown words, then phrases
    sentences: Any  # (S + 1,) where they begin in `ids`
    counts: NDArray[np.int64]  # (size,) occurrences of each id
    unknown: int  # the id of unknown words


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
    trie, known_phrases = build(encoded.vocabulary, phrases)
    if phrases and not known_phrases:
        raise CorpusError(f"none of {len(phrases)} phrases has all its words in the corpus")
    files = join_tokens(encoded, trie, folder, alternate=mode == "alternate")
    names = [joiner.join(phrase.words) for phrase in known_phrases]
    vocabulary, rank = joined_vocabulary(encoded.vocabulary, names, files.counts)
    vocabulary.total = files.ids.count
    files.ids.map(partial(look_up_ids, rank))
    files.ids.close()
    files.sentences.close()
    # the words too: the ids and borders of two joiners are equal
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
    write_derived(folder, encoded, [DOCUMENTS, TAGS, TAG_STARTS, TEXT_VECTORS], vocabulary, changes)


def join_tokens(encoded: EncodedCorpus, trie: PhraseTrie, folder: Path, *, alternate: bool = False) -> JoinedFiles:
    """Write ids and sentences to `folder`; words keep their ids, phrases have ids from `len(trie.in_phrase)` up."""
    ids, sentences = ArrayFile(folder / IDS, np.int32, is_draft=True), ArrayFile(folder / SENTENCES, np.int64)
    sentences.append(np.zeros(1))
    phrases, size = len(trie.steps), max(BLOCK, 2 * MAX_RUN)
    out = (np.empty(size, np.int32), np.empty(size, np.int64), np.zeros(len(trie.in_phrase) + phrases, np.int64))
    toggles = np.zeros(phrases * alternate, np.uint8)
    state, run = np.zeros(STATE_SIZE, np.int64), np.empty(MAX_RUN, np.int32)
    has_more = True
    while has_more:
        has_more = join(encoded.ids, encoded.sentences, trie, toggles, run, out, state)
        ids.append(out[0][: state[N_IDS]])
        sentences.append(out[1][: state[N_SENTENCES]])
    return JoinedFiles(ids, sentences, out[2], int(state[N_JOINED]))


def join_for_detection(
    encoded: EncodedCorpus, phrases: Sequence[Phrase], folder: Path
) -> tuple[PhraseTokens, list[Phrase]]:
    """Return the corpus with `phrases` joined, as input of the next detection pass, and the phrases it contains."""
    vocabulary = encoded.vocabulary
    if not phrases and not encoded.meta["fixed_vocabulary"]:
        counts = np.append(vocabulary.counts, len(encoded.ids) - vocabulary.tokens)
        return PhraseTokens(encoded.ids, encoded.sentences, counts, len(vocabulary)), []
    trie, known_phrases = build(vocabulary, phrases)
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
    unknown = len(old)
    words = pa.concat_arrays([to_string_array(old.column), to_string_array(names)])
    distinct, sums, codes = add_up_words(words, np.delete(counts, unknown))
    occurring = np.flatnonzero(sums)
    vocabulary, rank = rank_by_frequency(distinct.take(to_arrow(occurring)), sums[occurring])
    new_ids = np.full(len(sums), len(occurring), np.int32)
    new_ids[occurring] = rank
    return vocabulary, np.insert(new_ids[codes], unknown, len(occurring))
