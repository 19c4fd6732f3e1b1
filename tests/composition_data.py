"""Words with random vectors, and phrases whose vectors are a known function of those of their words."""

import numpy as np

from embeddings.corpora.phrases import Triple
from embeddings.vectors.vectors import Vectors


def expected_vector(x, y, *, m, n, u, v, elementwise=0.0, literal=0.0):
    """z_i = x'W_i y + (Mx)_i + (Ny)_i, component by component; u and v are (dim, rank, dim)."""
    z = np.zeros(len(x))
    for i in range(len(x)):
        w = u[i].T @ v[i]
        w[i, i] += elementwise
        w += literal * np.eye(len(x))
        z[i] = x @ w @ y + m[i] @ x + n[i] @ y
    return z


def random_parameters(rng, dim, rank):
    """The m, n, u and v of a random function."""
    m, n = rng.normal(size=(2, dim, dim)) / np.sqrt(dim)
    u, v = rng.normal(size=(2, dim, rank, dim)) / np.sqrt(dim)
    return {"m": m, "n": n, "u": u, "v": v}


def synthetic_phrases(words=30, dim=6, rank=1, types=("red", "blue"), share=0.8, seed=0, **identity):
    """Vectors of words and phrases, the phrases, and the parameters of each type's function."""
    rng = np.random.default_rng(seed)
    names, rows = [f"w{i}" for i in range(words)], list(rng.normal(size=(words, dim)))
    triples, parameters = [], {type: random_parameters(rng, dim, rank) for type in types}
    for number, (i, j) in enumerate((i, j) for i in range(words) for j in range(words) if rng.random() < share):
        type = types[number % len(types)]
        token = f"w{i}_w{j}"
        names.append(token)
        rows.append(expected_vector(rows[i], rows[j], **parameters[type], **identity))
        triples.append(Triple(type, f"w{i}", f"w{j}", token, 5))
    return Vectors(names, np.array(rows, np.float32)), triples, parameters
