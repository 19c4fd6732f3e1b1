"""Naive twins of the objectives: the loss of one hidden row, from which numerical gradients follow.

Tables are arrays (rows, length of a hidden row). `noise` holds the random words, `q` the probability of each word as
noise.
"""

import numpy as np
from naive import softplus


def cross_entropy(scores, positive):
    """-log softmax(scores)[positive]."""
    return np.log(np.exp(scores - scores.max()).sum()) + scores.max() - scores[positive]


def full_softmax(tables, word, hidden, noise, q):
    return cross_entropy(tables["output"] @ hidden, word)


def sampled_softmax(tables, word, hidden, noise, q):
    candidates = [word, *dict.fromkeys(w for w in noise if w != word)]
    expected = np.array([1 - (1 - q[w]) ** len(noise) for w in candidates])
    return cross_entropy(tables["output"][candidates] @ hidden - np.log(expected), 0)


def sampled_softmax_without_target(tables, word, hidden, noise, q):
    candidates = list(dict.fromkeys(noise))
    expected = np.array([1 - (1 - q[w]) ** len(noise) for w in candidates])
    scores = tables["output"][candidates] @ hidden - np.log(expected)
    own = tables["output"][word] @ hidden - np.log(1 - (1 - q[word]) ** len(noise))
    return np.log(np.exp(scores).sum()) - own


def nce(tables, word, hidden, noise, q):
    log_z = tables["log_normalizer"][0, 0] if "log_normalizer" in tables else 0.0
    loss = 0.0
    for w, sign in [(word, -1), *[(w, 1) for w in noise]]:
        score = tables["output"][w] @ hidden + tables["bias"][w, 0] - log_z
        loss += softplus(sign * (score - np.log(len(noise) * q[w])))
    return loss


def huffman_codes(counts):
    """For each word [(inner node, code)] from the root on, by repeated search for the two least nodes.

    Inner nodes are numbered from the root on; code 0 is that of the lesser node. Of equal counts inner nodes come
    first, older before newer, then words, later before earlier.
    """
    nodes = [((count, 1, -word), [word]) for word, count in enumerate(counts)]
    codes, merges = [[] for _ in counts], len(counts) - 1
    for made in range(merges):
        nodes.sort()
        (low, low_words), (high, high_words), *nodes = nodes
        for code, words in enumerate((low_words, high_words)):
            for word in words:
                codes[word].insert(0, (merges - 1 - made, code))
        nodes.append(((low[0] + high[0], 0, made), low_words + high_words))
    return codes


def huffman(counts):
    codes = huffman_codes(counts)

    def loss(tables, word, hidden, noise, q):
        return sum(softplus((-1 if code == 0 else 1) * (tables["nodes"][node] @ hidden)) for node, code in codes[word])

    return loss


def adaptive(cutoffs):
    def loss(tables, word, hidden, noise, q):
        tail = int(np.searchsorted(cutoffs, word, side="right"))
        head = cross_entropy(tables["head"] @ hidden, word if tail == 0 else cutoffs[0] + tail - 1)
        if tail == 0:
            return head
        projected = tables[f"projection{tail}"] @ hidden
        return head + cross_entropy(tables[f"tail{tail}"] @ projected, word - cutoffs[tail - 1])

    return loss
