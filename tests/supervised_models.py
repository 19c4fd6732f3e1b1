"""Supervised fastText files with random rows, dense or quantised, and a naive classifier that reads the same model."""

import struct
from typing import NamedTuple

import numpy as np
from subword_models import naive_hash, naive_ngrams

LOSSES = {"hierarchical softmax": 1, "negative sampling": 2, "softmax": 3, "one against all": 4}
WORDS = ["</s>", "the", "where", "naïve", "北海道", "e\u0301", "a", "x" * 40, "<b>"]
LABELS = ["__label__a", "__label__é", "__label__c", "__label__d", "__label__e"]
TEXTS = [
    "the where the naïve",
    "",
    "  the\twhere\x0b北海道 札幌 a\r",
    "unknown words 😀😀 only",
    "__label__a the __label__zz where",
    "the </s> where where where",
    "where\x00the\x0ca a a a",
    "x" * 40 + " " + "x" * 300,
    "naïve e\u0301 <b> <b> the",
    "where\nthe",
]


class Quantised(NamedTuple):
    """Codes, centroids by part, and norms by row."""

    codes: np.ndarray
    centroids: list[np.ndarray]
    norms: np.ndarray | None


class Supervised(NamedTuple):
    """A random model: its file, and its matrices and settings for the naive classifier."""

    data: bytes
    inputs: np.ndarray
    output: np.ndarray
    settings: dict


def quantised_matrix(rng, rows, dim, part_size, has_norms):
    """The bytes of a random quantised matrix, and its decoded rows."""
    parts = -(-dim // part_size)
    last = dim - (parts - 1) * part_size
    codes = rng.integers(0, 256, (rows, parts), np.uint8)
    centroids = [rng.standard_normal((256, size), np.float32) for size in [part_size] * (parts - 1) + [last]]
    values = np.concatenate([centroids[part][codes[:, part]] for part in range(parts)], axis=1)
    data = struct.pack("<?2qi", has_norms, rows, dim, codes.size) + codes.tobytes()
    data += struct.pack("<4i", dim, parts, part_size, last) + b"".join(part.tobytes() for part in centroids)
    if has_norms:
        norm_codes, norms = rng.integers(0, 256, rows, np.uint8), rng.random(256, np.float32) + np.float32(0.5)
        data += norm_codes.tobytes() + struct.pack("<4i", 1, 1, 1, 1) + norms.tobytes()
        values = values * norms[norm_codes][:, None]
    return data, values


def dense_matrix(rng, rows, dim):
    """The bytes of a random dense matrix, and the matrix."""
    values = rng.standard_normal((rows, dim), np.float32)
    return struct.pack("<2q", rows, dim) + values.tobytes(), values


def supervised_model(
    loss="softmax", *, dim=5, min_n=2, max_n=3, word_ngrams=2, buckets=30, quantised=False, pruned=None, qout=False,
    has_norms=True, words=WORDS, labels=LABELS, seed=0,
):  # fmt: skip
    """A random model; `pruned`: how many buckets are left."""
    rng = np.random.default_rng(seed)
    header = struct.pack(
        "<2i12id", 793712314, 12, dim, 5, 5, 1, 5, word_ngrams, LOSSES[loss], 3, buckets, min_n, max_n, 100, 1e-4
    )
    entries = words + labels
    header += struct.pack("<3i2q", len(entries), len(words), len(labels), 99, -1 if pruned is None else pruned)
    counts = [*range(len(words), 0, -1), *(3 * count * count for count in range(len(labels), 0, -1))]
    for entry, count in zip(entries, counts, strict=True):
        header += entry.encode() + b"\0" + struct.pack("<qb", count, entry in labels)
    used = {} if pruned is None else {int(b): row for row, b in enumerate(rng.permutation(buckets)[:pruned])}
    header += b"".join(struct.pack("<2i", *pair) for pair in used.items())
    rows = len(words) + (buckets if pruned is None else pruned)
    inputs = quantised_matrix(rng, rows, dim, 2, has_norms) if quantised else dense_matrix(rng, rows, dim)
    outputs = quantised_matrix(rng, len(labels), dim, 2, has_norms) if qout else dense_matrix(rng, len(labels), dim)
    data = header + struct.pack("<?", quantised) + inputs[0] + struct.pack("<?", qout) + outputs[0]
    settings = {"loss": loss, "min_n": min_n, "max_n": max_n, "word_ngrams": word_ngrams, "buckets": buckets}
    settings |= {"used": None if pruned is None else used, "words": words, "labels": labels}
    settings |= {"label_counts": counts[len(words) :]}
    return Supervised(data, inputs[1], outputs[1], settings)


def naive_rows(model, text):
    """The rows of a text."""
    s, rows, hashes = model.settings, [], []
    tokens = text.translate({code: " " for code in (0, 9, 10, 11, 12, 13)}).split(" ")
    tokens = [token for token in tokens if token]
    tokens = tokens[: tokens.index("</s>")] if "</s>" in tokens else tokens

    def bucket_row(code):
        row = code % s["buckets"]
        return (
            len(s["words"]) + row
            if s["used"] is None
            else len(s["words"]) + s["used"][row]
            if row in s["used"]
            else None
        )

    for token in [*tokens, "</s>"]:
        if token.startswith("__label__"):
            continue
        rows += [s["words"].index(token)] if token in s["words"] else []
        if s["max_n"]:
            rows += [bucket_row(naive_hash(ngram)) for ngram in naive_ngrams(token.encode(), s["min_n"], s["max_n"])]
        code = naive_hash(token.encode())
        hashes.append(code - 2**32 if code >= 2**31 else code)
    for start in range(len(hashes)):
        code = hashes[start]
        for other in hashes[start + 1 : start + s["word_ngrams"]]:
            code = (code * 116049371 + other) % 2**64
            rows.append(bucket_row(code))
    return [row for row in rows if row is not None]


def naive_tree(counts):
    """The children of each inner node of the Huffman tree, by repeatedly joining the two smallest."""
    nodes = {label: count for label, count in enumerate(counts)}
    children = {}
    for inner in range(len(counts), 2 * len(counts) - 1):
        # of equal counts, inner nodes first, in the order in which they were built; of labels the last first
        order = sorted(
            nodes, key=lambda node: (nodes[node], node < len(counts), node if node >= len(counts) else -node)
        )
        children[inner] = order[:2]
        nodes[inner] = nodes.pop(order[0]) + nodes.pop(order[1])
    return children


def naive_probabilities(model, text):
    """The exact probabilities of all labels, float64."""
    rows = naive_rows(model, text)
    hidden = model.inputs[rows].mean(axis=0, dtype=np.float64) if rows else np.zeros(model.inputs.shape[1])
    scores = model.output.astype(np.float64) @ hidden
    if model.settings["loss"] == "softmax":
        return np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    if model.settings["loss"] != "hierarchical softmax":
        return 1 / (1 + np.exp(-scores))
    labels = len(model.output)
    probabilities = {2 * labels - 2: 1.0}
    for inner, (left, right) in sorted(naive_tree(model.settings["label_counts"]).items(), reverse=True):
        share = 1 / (1 + np.exp(-scores[inner - labels]))
        probabilities[left], probabilities[right] = (
            probabilities[inner] * (1 - share),
            probabilities[inner] * share,
        )
    return np.array([probabilities[label] for label in range(labels)])
