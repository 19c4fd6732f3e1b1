"""Draws the pictures of the page "What word vectors are": `python tools/word_map.py`.

Trains skip-gram on the bundled sample with one thread and writes to docs/images: word-map.png, words of four topics at
the two principal components of their vectors, and cosines.png, the cosines of one word with others.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

import embeddings as em

IMAGES = Path(__file__).parents[1] / "docs" / "images"
TOPICS = {
    "music": "music songs piano dance",
    "countries": "france germany italy portugal",
    "sports": "football baseball players",
    "nature": "river lake mountain forest coast",
}
COMPARED = ("music", "songs dance opera football water")
COLOURS = ("#b3456b", "#2f6db0", "#b5651d", "#2e7d4f")  # each at least 4.5 to 1 on white


def main() -> None:
    """Train, project and draw."""
    vectors = em.SkipGram(epochs=10).train("sample", threads=1).vectors
    IMAGES.mkdir(exist_ok=True)
    for name, draw, height in (("word-map", draw_plane, 4.4), ("cosines", draw_cosines, 2.6)):
        figure, axes = plt.subplots(figsize=(5.4, height), layout="constrained")  # legible 400 pixels wide
        draw(axes, vectors)
        figure.savefig(IMAGES / f"{name}.png", dpi=200, metadata={"Software": None})


def draw_plane(axes: Axes, vectors: em.Vectors) -> None:
    """The words of the topics, each at the first two principal components of its vector of length 1."""
    words = [word for text in TOPICS.values() for word in text.split()]
    rows = np.array([vectors[word] / np.linalg.norm(vectors[word]) for word in words])
    rows -= rows.mean(0)
    points = rows @ np.linalg.svd(rows, full_matrices=False)[2][:2].T
    labels: list[tuple[str, tuple[float, float], str]] = []
    for number, (topic, text) in enumerate(TOPICS.items()):
        own = points[[words.index(word) for word in text.split()]]
        axes.plot(*own.T, "o", markersize=4, color=COLOURS[number], label=topic)
        for word, (x, y) in zip(text.split(), own.tolist(), strict=True):
            labels.append((word, (x, y), COLOURS[number]))
    axes.margins(0.16, 0.08)
    axes.set(title=f"{len(words)} words, {vectors.dim} numbers each, drawn in a plane", xticks=[], yticks=[])
    axes.legend(fontsize=10, loc="center")
    plt.gcf().draw_without_rendering()  # fixes the axes, so that the places of labels are known
    taken: list[Bbox] = []
    for word, point, colour in labels:
        for place, side in (((5, 3), "left"), ((-5, 3), "right"), ((5, -11), "left"), ((-5, -11), "right")):
            label = axes.annotate(word, point, place, textcoords="offset points", color=colour, fontsize=10, ha=side)
            if not any(label.get_window_extent().overlaps(other) for other in taken):
                break
            label.remove()
        taken.append(label.get_window_extent())


def draw_cosines(axes: Axes, vectors: em.Vectors) -> None:
    """The cosines of a word with others."""
    word, others = COMPARED[0], COMPARED[1].split()[::-1]
    values = [vectors.similarity(word, other) for other in others]
    for number, (other, value) in enumerate(zip(others, values, strict=True)):
        axes.barh(number, value, color="#4f7fb5")
        axes.text(value + 0.01, number, f"{value:.2f}", va="center", fontsize=10)
        axes.text(-0.01, number, other, va="center", ha="right", fontsize=10)
    axes.set(title=f"cosine with “{word}”", xlim=(0, 0.8), yticks=[], xticks=[0, 0.2, 0.4, 0.6])
    axes.spines[["top", "right", "left"]].set_visible(False)


if __name__ == "__main__":
    main()
