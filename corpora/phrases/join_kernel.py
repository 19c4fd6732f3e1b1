"""The compiled pass that joins phrases: greedily from the left, the longest first, within sentences.

Words that are in no phrase split the text into runs. All passes join one run before the next run is read, so the result
does not depend on how the corpus is split into blocks.
"""

from typing import Any

import numpy as np

from embeddings.corpora.phrases.phrase_trie import NONE, child
from embeddings.kernels.jit import allocating_entry_point, inline

Array = Any
Int = Any

MAX_RUN = 1 << 16  # tokens; a longer run is split
# indices of `state`
(
    POSITION,  # the next token
    SENTENCE,  # and its sentence
    N_TOKENS,  # written so far
    N_IDS,  # of these in this block; likewise:
    N_SENTENCES,
    N_JOINED,  # occurrences of phrases so far
) = range(6)
STATE_SIZE = 6


@inline
def descend(trie: Any, node: Int, token: Int, base: Int) -> Int:
    """Follow a token from a node: a word, or a phrase word by word."""
    if token < base:
        return child(trie, node, token)
    starts, words = trie[5], trie[6]
    for place in range(starts[token - base], starts[token - base + 1]):
        node = child(trie, node, words[place])
        if node == NONE:
            break
    return node


@inline
def longest_match(run: Array, start: Int, stop: Int, trie: Any, step: Int) -> tuple[Int, Int]:
    """Return the longest phrase of this pass that begins at `start`, or NONE, and its end."""
    base = trie[0].shape[0]
    phrase, end, node = NONE, start, 0
    for place in range(start, stop):
        node = descend(trie, node, run[place], base)
        if node == NONE:
            break
        candidate = trie[3][node]
        if candidate != NONE and trie[4][candidate] == step:
            phrase, end = candidate, place + 1
    return phrase, end


@inline
def join_run(run: Array, length: Int, trie: Any, steps: Int) -> Int:
    """Join phrases in the first `length` tokens, pass after pass; returns the new length."""
    base = trie[0].shape[0]
    for step in range(1, steps + 1):
        source, target = 0, 0
        while source < length:
            phrase, end = longest_match(run, source, length, trie, step)
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
def write_token(token: Int, trie: Any, toggles: Array, out: Any, state: Array) -> None:
    """Write a token; with `toggles` every second occurrence of a phrase as its words."""
    ids, counts = out[0], out[2]
    base, starts, words = trie[0].shape[0], trie[5], trie[6]
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
def write_run(run: Array, length: Int, trie: Any, steps: Int, toggles: Array, out: Any, state: Array) -> None:
    """Join and write a run."""
    if length > 1:
        length = join_run(run, length, trie, steps)
    for place in range(length):
        write_token(run[place], trie, toggles, out, state)


@allocating_entry_point
def join(ids: Array, sentences: Array, trie: Any, toggles: Array, run: Array, out: Any, state: Array) -> bool:
    """Join phrases from the position in `state` until the block is full; returns whether there is more.

    Updates in place: `out` (ids; sentence ends, in tokens; the count of each id), `run` (MAX_RUN,), `toggles`
    ((phrases,), or empty if all occurrences are joined), and `state`.
    """
    in_phrase, steps = trie[0], np.int64(0)
    for step in trie[4]:
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
                if not in_phrase[word]:
                    break
            write_run(run, length, trie, steps, toggles, out, state)
        n_written = state[N_IDS]
        if position >= stop:
            out[1][state[N_SENTENCES]] = state[N_TOKENS] + n_written
            state[N_SENTENCES] += 1
            sentence += 1
    state[N_TOKENS] += state[N_IDS]
    state[POSITION], state[SENTENCE] = position, sentence
    return bool(sentence < last)
