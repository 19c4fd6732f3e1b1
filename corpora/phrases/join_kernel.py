"""The compiled pass that turns words into phrases: greedily from the left, the longest first, within sentences.

Words that stand in no phrase part the text into runs, each of which is dealt with by itself, in all passes. So it
does not matter where the corpus is cut into blocks.
"""

from typing import Any

import numpy as np

from embeddings.corpora.phrases.phrase_trie import NONE, child
from embeddings.kernels.jit import kernel, piece

Array = Any
Int = Any

RUN = 1 << 16  # tokens of a run; a longer one is cut after so many
# state
(
    AT,  # the token to go on with
    SENTENCE,  # and its sentence
    TOTAL,  # tokens put out so far
    WRITTEN,  # of these in this block; likewise:
    ENDED,  # sentences
    JOINED,  # occurrences of phrases so far
) = range(6)
STATES = 6


@piece
def below(grammar: Any, node: Int, token: Int, base: Int) -> Int:
    """The node that a token leads to: a word, or a phrase word by word."""
    if token < base:
        return child(grammar, node, token)
    starts, words = grammar[5], grammar[6]
    for place in range(starts[token - base], starts[token - base + 1]):
        node = child(grammar, node, words[place])
        if node == NONE:
            break
    return node


@piece
def longest(run: Array, start: Int, stop: Int, grammar: Any, step: Int) -> tuple[Int, Int]:
    """The longest phrase of this pass that begins at `start`, or NONE, and where it ends."""
    base = grammar[0].shape[0]
    phrase, end, node = NONE, start, 0
    for place in range(start, stop):
        node = below(grammar, node, run[place], base)
        if node == NONE:
            break
        found = grammar[3][node]
        if found != NONE and grammar[4][found] == step:
            phrase, end = found, place + 1
    return phrase, end


@piece
def join_run(run: Array, length: Int, grammar: Any, steps: Int) -> Int:
    """Join phrases in the first `length` tokens, pass after pass; gives how many tokens are left."""
    base = grammar[0].shape[0]
    for step in range(1, steps + 1):
        read, write = 0, 0
        while read < length:
            phrase, end = longest(run, read, length, grammar, step)
            if phrase == NONE:
                run[write] = run[read]
                read += 1
            else:
                run[write] = base + phrase
                read = end
            write += 1
        length = write
    return length


@piece
def put(token: Int, grammar: Any, turns: Array, out: Any, state: Array) -> None:
    """Write a token; with `turns` every second occurrence of a phrase as its words."""
    ids, counts = out[0], out[2]
    base, starts, words = grammar[0].shape[0], grammar[5], grammar[6]
    if token >= base:
        phrase = token - base
        if turns.shape[0]:
            turns[phrase] ^= 1
        if turns.shape[0] and turns[phrase] == 0:
            for place in range(starts[phrase], starts[phrase + 1]):
                ids[state[WRITTEN]] = words[place]
                counts[words[place]] += 1
                state[WRITTEN] += 1
            return
        state[JOINED] += 1
    ids[state[WRITTEN]] = token
    counts[token] += 1
    state[WRITTEN] += 1


@piece
def put_run(run: Array, length: Int, grammar: Any, steps: Int, turns: Array, out: Any, state: Array) -> None:
    """Join and write a run."""
    if length > 1:
        length = join_run(run, length, grammar, steps)
    for place in range(length):
        put(run[place], grammar, turns, out, state)


@kernel
def join(ids: Array, sentences: Array, grammar: Any, turns: Array, run: Array, out: Any, state: Array) -> bool:
    """Join phrases from where `state` says until the block is full; gives whether there is more.

    Changes in place: `out` (ids; sentence ends, in tokens; counts of each id), `run` (RUN,), `turns` ((phrases,), or
    empty if all occurrences become phrases), and `state`.
    """
    inside, steps = grammar[0], np.int64(0)
    for step in grammar[4]:
        steps = max(steps, np.int64(step))
    unknown, last = inside.shape[0] - 1, sentences.shape[0] - 1
    state[WRITTEN], state[ENDED] = 0, 0
    at, sentence, length, written = state[AT], state[SENTENCE], 0, np.int64(0)
    while sentence < last and written + RUN < out[0].shape[0] and state[ENDED] < out[1].shape[0]:
        stop = min(sentences[sentence + 1], ids.shape[0])
        while at < stop and state[WRITTEN] + RUN < out[0].shape[0]:
            length = 0
            while at < stop and length < RUN:
                word = np.int64(ids[at])
                word = word if 0 <= word < unknown else unknown
                at += 1
                run[length] = word
                length += 1
                if not inside[word]:
                    break
            put_run(run, length, grammar, steps, turns, out, state)
        written = state[WRITTEN]
        if at >= stop:
            out[1][state[ENDED]] = state[TOTAL] + written
            state[ENDED] += 1
            sentence += 1
    state[TOTAL] += state[WRITTEN]
    state[AT], state[SENTENCE] = at, sentence
    return bool(sentence < last)
