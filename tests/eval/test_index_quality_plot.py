"""The figure of recall against speed, read again from its SVG."""

import numpy as np
import pytest
from drawn import drawn_points

from embeddings.errors import OutputError, SettingError
from embeddings.eval.index_quality import (
    IndexQuality,
    families,
    family,
    measure_indexes,
    plot_recall,
    random_query_set,
    sample_query_set,
)
from embeddings.indexes.index import build_index
from embeddings.vectors.vectors import Vectors


def test_files(tmp_path):
    quality = IndexQuality("v", "exact", 9, 8, 10, 5, 1.0, 1.0, 1.0, per_second=9.0)
    path = tmp_path / "p.png"
    plot_recall([quality], path)
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(OutputError, match=r"p\.png"):
        plot_recall([quality], path)
    plot_recall([quality], path, force=True)
    with pytest.raises(SettingError, match=r"\.png.*\.txt"):
        plot_recall([quality], tmp_path / "p.txt")


def test_a_family_leaves_out_search_settings(tmp_path):
    ivf = "faiss:factory=IVF256,Flat"
    assert family(f"{ivf},nprobe=4") == family(ivf) == ivf
    assert family("lsh:rerank=5") == family("lsh") == "lsh"
    assert family("lsh:rerank=2,bits=4,orthogonal=false") == "lsh:bits=4,orthogonal=false"
    saved = tmp_path / "saved"
    build_index(Vectors(["a", "b"], np.eye(2)), "exact").save(saved)
    assert family(str(saved)) == family(f"{saved}:rerank=5") == str(saved)


def test_families_hold_measured_indexes_only():
    specs = ["exact", "lsh:bits=64,rerank=20", "lsh:bits=64,rerank=60", "lsh:bits=32,rerank=20"]
    results = [IndexQuality("v", spec, 9, 8, 10, 5) for spec in specs]
    results.append(IndexQuality("v", "faiss:factory=IVF9999", 9, 8, 10, 5, reason="too many lists"))
    by_family = {name: [quality.index for quality in members] for name, members in families(results).items()}
    assert by_family == {"exact": specs[:1], "lsh:bits=64": specs[1:3], "lsh:bits=32": specs[3:]}


@pytest.mark.parametrize(("measure", "is_sample"), [("recall", True), ("rank", False)])
def test_the_figure_shows_the_results(tmp_path, measure, is_sample):
    vectors = Vectors([str(i) for i in range(300)], np.random.default_rng(2).standard_normal((300, 8)))
    sample, random = sample_query_set(vectors, "v", queries=20, seed=1), random_query_set(300, 8, queries=20, seed=1)
    specs = [f"lsh:bits={bits},rerank={rerank}" for bits in (8, 16) for rerank in (10, 30, 90, 200)]
    results = list(measure_indexes(sample if is_sample else random, specs))
    plot_recall(results, tmp_path / "p.svg", measure=measure)
    for name, members in families(results).items():
        members = sorted(members, key=lambda quality: quality.per_second)
        x, y = np.array(drawn_points(tmp_path / "p.svg")[name]).T
        assert len(x) == len(members) == 4
        values = [quality.recall if measure == "recall" else np.log(quality.rank) for quality in members]
        sign = -1 if measure == "recall" else 1  # y grows downwards
        assert np.corrcoef(x, np.log([quality.per_second for quality in members]))[0, 1] == pytest.approx(1, abs=1e-6)
        assert np.corrcoef(y, values)[0, 1] * sign == pytest.approx(1, abs=1e-6)
