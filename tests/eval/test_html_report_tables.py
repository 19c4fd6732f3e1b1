"""Tables and scales of HTML reports."""

import numpy as np
import pytest

from embeddings.eval import Suite, compare_scores
from embeddings.eval.report.html_report import Scale, summary
from embeddings.vectors.vectors import Vectors


def test_the_summary_names_the_best_and_what_it_clearly_beats(tmp_path):
    rng = np.random.default_rng(1)
    words = [f"{kind}{i}" for kind in ("cat", "dog", "bird") for i in range(20)]
    (tmp_path / "c").write_text("".join(f"{word}\t{word.rstrip('0123456789')}\n" for word in words))
    suite, names = Suite.read(categories=tmp_path / "c"), ["noise", "good", "copy"]
    good = np.repeat(np.eye(3), 20, axis=0) + 0.4 * rng.standard_normal((60, 3))
    matrices = [rng.standard_normal((60, 3)), good, good]
    scores = [suite.score(Vectors(words, matrix), name) for matrix, name in zip(matrices[:2], names, strict=False)]
    results = [[one.result() for one in listed] for listed in scores]
    rows = summary(results, compare_scores(scores), names[:2])
    assert [(row.set, row.label[0]) for row in rows] == [("c", "macro-f1"), ("c", "accuracy"), ("c", "purity")]
    assert all((row.best, row.beaten) == (1, ["noise"]) for row in rows)
    scores.append(suite.score(Vectors(words, good), "copy"))
    results = [[one.result() for one in listed] for listed in scores]
    assert {row.best for row in summary(results, compare_scores(scores), names)} == {None}, "two are equally good"


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.12, 0.44], [0.1, 0.2, 0.3, 0.4, 0.5]),
        ([-1, 1], [-1, -0.5, 0, 0.5, 1]),
        ([None, 3], [3]),
        ([], [0, 0.2, 0.4, 0.6, 0.8, 1]),
        ([0.0, 0.0], [0]),
    ],
)
def test_scales_have_round_ticks_and_contain_all_values(values, ticks):
    scale = Scale.of(values)
    assert scale.ticks[: len(ticks)] == pytest.approx(ticks)
    assert 1 < len(scale.ticks) <= 8
    for value in values:
        if value is not None:
            assert 1.99 <= float(scale.position(value).rstrip("%")) <= 98.01
