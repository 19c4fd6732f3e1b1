"""A classifier whose predictions are known, and texts with labels."""

import numpy as np

import embeddings as em

LABELS = ["a", "b", "c", "d"]


class FixedClassifier:
    """Predicts what stands in the text: labels and their probabilities, most probable first."""

    labels = tuple(f"__label__{name}" for name in LABELS)

    def rank(self, text, starts, k=1, threshold=0.0, *, threads=None):
        rows = [text[starts[i] : starts[i + 1]].decode().split() for i in range(len(starts) - 1)]
        k = len(LABELS) if k == -1 else k
        ids, probabilities = np.full((len(rows), k), -1), np.zeros((len(rows), k))
        for i, row in enumerate(rows):
            kept = [(LABELS.index(name), float(p)) for name, p in zip(row[::2], row[1::2], strict=True)]
            for j, (label, p) in enumerate(one for one in kept[:k] if one[1] >= threshold):
                ids[i, j], probabilities[i, j] = label, p
        return ids, probabilities


def random_texts(rng, count, most=1, labels=LABELS):
    """Lines with labels, and predictions of all labels as text, and both as lists."""
    actual = [list(rng.choice(labels, rng.integers(1, most + 1), replace=False)) for _ in range(count)]
    predicted, lines = [], []
    for names in actual:
        order = rng.permutation(LABELS)
        p = np.sort(rng.dirichlet(np.ones(len(LABELS))))[::-1]
        predicted.append(list(zip(order, p, strict=True)))
        marks = " ".join(f"__label__{name}" for name in names)
        lines.append(marks + " " + " ".join(f"{name} {q:.6f}" for name, q in predicted[-1]))
    return lines, actual, [[(str(name), round(float(q), 6)) for name, q in row] for row in predicted]


def evaluated(lines, classifier=None, **settings):
    """The results of the fixed classifier on lines with labels."""
    return em.evaluate(classifier or FixedClassifier(), labels=[lines], **settings)


def values(results, section=None):
    return {result.measure: result.value for result in results if (result.section, result.method) == (section, None)}


def indicator(rows, names=LABELS):
    return np.array([[name in row for name in names] for row in rows])
