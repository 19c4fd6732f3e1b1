"""How indexes are judged: by hand, and the published rank of the best that hyperplanes find."""

import numpy as np
import pytest
from drawn import drawn_points

from embeddings.errors import EmbeddingsError, OutputError, RegistryError, SettingError
from embeddings.eval.index_quality import GRIDS, compare, points_of, random_points
from embeddings.eval.index_quality.recall import agreement, answers, hits, true_neighbours, true_ranks
from embeddings.eval.index_quality.recall_plot import draw, families, family
from embeddings.eval.index_quality.test_points import Points, named_points
from embeddings.indexes import build_index, index_of
from embeddings.vectors.vectors import Vectors


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(2)
    matrix = rng.standard_normal((300, 8))
    matrix[299] = matrix[10]
    return Vectors([f"w{i}" for i in range(300)], matrix)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_published_rank_of_the_best_found(seed):
    """About 23rd of 10,000 random points of 128 components; multi-probing and comparing more exactly mend it."""
    points = random_points(10_000, 128, queries=200, seed=seed)
    truth = true_neighbours(points, 10)

    def rank(line):
        return agreement(points, index_of(f"{line},orthogonal=false,seed={seed}", points.vectors), truth)["rank"]

    assert 10 <= rank("lsh:mode=tables,bits=8,tables=4,probes=1") <= 40
    assert rank("lsh:mode=tables,bits=12,tables=8,probes=64") <= 3
    assert rank("lsh:bits=512,rerank=100") <= 2
    assert rank("lsh:bits=256,rerank=0") > 50


def test_own_rows_are_no_answers(vectors):
    points = points_of(vectors, "v", queries=300, seed=1)
    assert sorted(points.own) == list(range(300))
    truth = true_neighbours(points, 5)
    for own, ids in zip(points.own, truth.ids, strict=True):
        cosines = vectors.units @ vectors.units[own]
        cosines[own] = -2
        assert set(ids) == set(np.argsort(-cosines, kind="stable")[:5])
    of_10 = truth.ids[list(points.own).index(10)]
    assert of_10[0] == 299


def test_an_index_that_misses_the_query_itself_loses_its_last(vectors):
    class Misses:
        def search(self, queries, *, top):
            found = index_of(None, vectors).search(queries, top=top + 1)
            return type(found)(found.ids[:, 1:], found.similarities[:, 1:], found.looked)

    points = points_of(vectors.subset(200), "v", queries=20, seed=1)
    points = Points("v", vectors, points.queries, points.own)
    assert answers(points, Misses(), 4).ids.shape == (20, 4)
    assert not (answers(points, Misses(), 4).ids == points.own[:, None]).any()


def test_recall_and_ranks_by_hand():
    vectors = Vectors(list("abcde"), np.array([[1, 0], [0.9, 0.1], [0.5, 0.5], [0, 1], [0.5, 0.5]]))
    points = Points("p", vectors, np.array([[1.0, 0.0], [0.0, 2.0]]), None)
    truth = true_neighbours(points, 3)
    assert truth.ids.tolist() == [[0, 1, 2], [3, 2, 4]]
    found = truth._replace(ids=np.array([[4, 0, 3], [3, 1, -1]]))
    assert hits(points, found, truth).tolist() == [[True, True, False], [True, False, False]]  # row 4 ties with row 2
    assert true_ranks(points, np.array([0, 1])).tolist() == [1, 4]
    assert true_ranks(points, np.array([4, 4])).tolist() == [3, 2]
    assert true_ranks(points, np.array([-1, 3])).tolist() == [5, 1]


def test_ranks_tell_apart_what_float32_cannot():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal(6) + 1e-6 * rng.standard_normal((100, 6))
    points = Points("p", Vectors([str(i) for i in range(100)], rows), rng.standard_normal((4, 6)), None)
    order = index_of(None, points.vectors).search(points.queries, top=100).ids
    for place in (0, 30, 99):
        assert true_ranks(points, order[:, place]).tolist() == [place + 1] * 4


def test_compare_gives_a_result_for_each_index(vectors):
    points = points_of(vectors, "v", queries=40, seed=1)
    names, told = ["exact", "lsh:bits=8,rerank=20", "lsh:bits=8,rerank=300", "faiss:factory=PQ2x4"], []
    exact, rough, whole, codes = compare(points, names, top=5, report=told.append)
    assert told == names
    assert (exact.recall, exact.low, exact.high, exact.rank, exact.nearest) == (1, 1, 1, 1, 1)
    assert exact.looked == 300
    assert exact.bytes == 0
    assert (exact.rows, exact.dim, exact.queries, exact.top) == (300, 8, 40, 5)
    assert whole.recall == 1
    assert whole.build_seconds == rough.build_seconds  # the same signatures
    assert rough.low <= rough.recall <= rough.high < 1
    assert rough.low < rough.high
    assert 20 <= rough.looked < 300
    assert codes.recall < 1
    for one in (exact, rough, whole, codes):
        assert min(one.per_second, one.per_second_many) > 0


def test_an_index_that_cannot_be_built_has_a_reason(vectors):
    points = points_of(vectors, "v", queries=5, seed=1)
    found = list(compare(points, ["faiss:factory=IVF500,Flat", "exact"], strict=False))
    assert found[0].recall is None
    assert "IVF500 is above 300" in found[0].reason
    assert found[1].recall == 1
    with pytest.raises(SettingError, match="IVF500 is above 300"):
        list(compare(points, ["faiss:factory=IVF500,Flat"]))
    with pytest.raises(RegistryError, match="no index called 'nope'"):
        list(compare(points, ["nope"]))


def test_few_rows_and_many_asked_for():
    vectors = Vectors(["a", "b", "c"], np.eye(3))
    (found,) = compare(points_of(vectors, "v", queries=10, seed=1), ["exact"], top=50)
    assert (found.queries, found.top, found.recall) == (3, 2, 1)


@pytest.mark.parametrize(("rows", "dim"), [(10, 1), (300, 7), (68_000, 100), (10_000, 128)])
def test_grids_name_indexes_that_exist(rows, dim):
    from embeddings import registry
    from embeddings.indexes.index_spec import parsed

    for grid in GRIDS.values():
        names = grid(rows, dim)
        assert len(set(names)) == len(names)
        for name in names:
            registry.configured("index", *parsed(name))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: random_points(1, 5, queries=1, seed=1), "random points must be at least 2x1"),
        (lambda: random_points(10**9, 10**4, queries=1, seed=1), "at most 268435456 numbers, not 1000000000x10000"),
        (lambda: random_points(10, 5, queries=0, seed=1), "queries must be at least 1 and at most 1000000, not 0"),
        (lambda: points_of(Vectors(["a"], np.ones((1, 2))), "v", queries=1, seed=1), "v has 1 words"),
    ],
)
def test_points_that_make_no_sense(make, message):
    with pytest.raises(SettingError, match=message):
        make()


def test_names_of_random_points():
    assert named_points("random:10000x128") == (10000, 128)
    assert [named_points(name) for name in ("random", "random:5", "random:-1x2", "random:5x5.bin")] == [None] * 4
    points = random_points(50, 3, queries=4, seed=1)
    assert points.name == "random:50x3"
    assert points.queries.shape == (4, 3)
    assert np.array_equal(points.queries, random_points(50, 3, queries=4, seed=1).queries)
    assert not np.array_equal(points.queries, random_points(50, 3, queries=4, seed=2).queries)


def test_picture(vectors, tmp_path):
    points = points_of(vectors, "v", queries=10, seed=1)
    names = [
        "exact",
        "lsh:bits=64,rerank=20",
        "lsh:bits=64,rerank=60",
        "lsh:bits=32,rerank=20",
        "faiss:factory=IVF9999",
    ]
    found = list(compare(points, names, strict=False))
    lines = {name: [one.index for one in line] for name, line in families(found).items()}
    assert lines == {"exact": ["exact"], "lsh:bits=64": names[1:3], "lsh:bits=32": names[3:4]}
    draw(found, tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(OutputError, match="exists"):
        draw(found, tmp_path / "p.png")
    draw(found[:1], tmp_path / "p.png", force=True)
    with pytest.raises(SettingError, match=r"a picture must end in \.png, \.svg, \.pdf, not"):
        draw(found, tmp_path / "p.txt")


def test_a_line_is_what_is_built_once(tmp_path):
    assert (
        family("faiss:factory=IVF256,Flat,nprobe=4")
        == family("faiss:factory=IVF256,Flat")
        == ("faiss:factory=IVF256,Flat")
    )
    assert family("lsh:rerank=5") == family("lsh") == "lsh"
    assert family("lsh:mode=tables,probes=2,bits=4,orthogonal=false") == "lsh:mode=tables,bits=4,orthogonal=false"
    build_index(Vectors(["a", "b"], np.eye(2)), "exact").save(tmp_path / "saved")
    assert family(str(tmp_path / "saved")) == family(f"{tmp_path / 'saved'}:rerank=5") == str(tmp_path / "saved")


@pytest.mark.parametrize(("measure", "own"), [("recall", True), ("rank", False)])
def test_pictures_show_what_was_measured(vectors, tmp_path, measure, own):
    """Read again from the SVG: each line by its name, its points where logarithms of speed (and rank) put them."""
    points = points_of(vectors, "v", queries=20, seed=1) if own else random_points(300, 8, queries=20, seed=1)
    names = [f"lsh:bits={bits},rerank={rerank}" for bits in (8, 16) for rerank in (10, 30, 90, 200)]
    found = list(compare(points, names))
    draw(found, tmp_path / "p.svg", measure=measure)
    for name, line in families(found).items():
        line = sorted(line, key=lambda one: one.per_second)
        x, y = np.array(drawn_points(tmp_path / "p.svg")[name]).T
        assert len(x) == len(line) == 4
        height = [one.recall if measure == "recall" else np.log(one.rank) for one in line]
        upwards = -1 if measure == "recall" else 1  # down the page is up in numbers
        assert np.corrcoef(x, np.log([one.per_second for one in line]))[0, 1] == pytest.approx(1, abs=1e-6)
        assert np.corrcoef(y, height)[0, 1] * upwards == pytest.approx(1, abs=1e-6)


def test_settings_of_before_are_not_kept(vectors):
    """A default that comes back is not what FAISS was told for the index before."""
    points = points_of(vectors, "v", queries=100, seed=1)
    names = ["faiss:factory=IVF32,Flat,nprobe=32", "faiss:factory=IVF32,Flat"]
    whole, default = compare(points, names)
    (alone,) = compare(points, names[1:])
    assert whole.recall == 1
    assert default.recall == alone.recall < 1
    assert default.looked == alone.looked < whole.looked == 300


def test_wrong_names_are_told_before_there_is_work(vectors, tmp_path):
    build_index(vectors, "lsh").save(tmp_path / "saved")
    points, told = points_of(vectors, "v", queries=5, seed=1), []
    for wrong in ("nope", "lsh:bits=0", f"{tmp_path / 'saved'}:500", str(tmp_path)):
        with pytest.raises(EmbeddingsError):
            list(compare(points, ["exact", wrong], report=told.append))
    assert told == []


def test_saved_indexes_with_other_settings_of_the_search(vectors, tmp_path):
    build_index(vectors, "lsh", bits=64).save(tmp_path / "saved")
    points = points_of(vectors, "v", queries=20, seed=1)
    names = [f"{tmp_path / 'saved'}:rerank={rerank}" for rerank in (20, 300)]
    few, every = compare(points, names)
    assert few.looked < every.looked == 300
    assert [len(line) for line in families([few, every]).values()] == [2]


def test_what_is_not_known_is_none(vectors):
    (found,) = compare(points_of(vectors, "v", queries=5, seed=1), ["faiss:factory=PCA4,Flat"])
    assert found.looked is None
    assert found.recall < 1


def test_intervals_of_very_many_queries_are_normal(vectors, monkeypatch):
    from embeddings.eval import confidence_intervals

    points = points_of(vectors, "v", queries=300, seed=1)
    line = "lsh:bits=16,rerank=20"
    (drawn,) = compare(points, [line])
    monkeypatch.setattr(confidence_intervals, "KEPT", 299)
    (normal,) = compare(points, [line])
    assert (normal.low, normal.high) != (drawn.low, drawn.high)
    assert (normal.low, normal.high) == pytest.approx((drawn.low, drawn.high), abs=0.004)
    assert normal.low + normal.high == pytest.approx(2 * normal.recall)
