"""Slow, obvious twins of phrase detection and joining, on sentences of words."""

from collections import Counter
from itertools import pairwise


def word2phrase_scores(sentences, delta):
    """The score of each pair of neighbours by the word2phrase program's formula."""
    words = Counter(word for sentence in sentences for word in sentence)
    pairs = Counter(pair for sentence in sentences for pair in pairwise(sentence))
    total = sum(words.values())
    return {(a, b): (count - delta) / words[a] / words[b] * total for (a, b), count in pairs.items()}


def connected_pairs(sentences, connectors, reach):
    """Count pairs of adjacent words, with up to `reach` connectors between them: (first, *between, second)."""
    counts = Counter()
    for sentence in sentences:
        for start, first in enumerate(sentence):
            if first in connectors:
                continue
            for end in range(start + 1, len(sentence)):
                if sentence[end] not in connectors:
                    if end - start - 1 <= reach:
                        counts[tuple(sentence[start : end + 1])] += 1
                    break
    return counts


def join_sentences(sentences, steps):
    """The sentences as lists of word tuples after all passes; steps: a set of phrases, word tuples, for each pass."""
    done = []
    for sentence in sentences:
        tokens = [(word,) for word in sentence]
        for phrases in steps:
            tokens = one_pass(tokens, phrases)
        done.append(tokens)
    return done


def alternated(sentences):
    """Sentences of word tuples with every second occurrence of a phrase as its words."""
    seen = Counter()

    def parts(token):
        seen[token] += 1
        return [token] if len(token) == 1 or seen[token] % 2 else [(word,) for word in token]

    return [[part for token in tokens for part in parts(token)] for tokens in sentences]


def one_pass(tokens, phrases):
    """The longest phrase at each place, from the left."""
    out, start, longest = [], 0, max(map(len, phrases), default=1)
    while start < len(tokens):
        ends = [start + n for n in range(2, longest + 1) if sum(tokens[start : start + n], ()) in phrases]
        end = min(max(ends, default=start + 1), len(tokens))
        out.append(sum(tokens[start:end], ()))
        start = end
    return out
