"""Tables of measured indexes, by hand, and the files that hold them."""

from dataclasses import replace

import pytest
from index_benchmarks import read_benchmark

from embeddings.errors import OutputError
from embeddings.eval.index_quality import (
    FILES,
    GridResult,
    IndexQuality,
    check_folder,
    fastest,
    markdown_tables,
    speed_row,
    write_report,
)

MACHINE = {"processor": "P", "cores_available": 1, "cores": 2, "system": "S", "packages": {"numpy": "2"}, "date": "D"}
EXACT = IndexQuality("v", "exact", 900, 8, 10, 10, 1.0, 1.0, 1.0, 1.0, 1.0, 900.0, 1234.5, 5000.0, 0.0, 0)


def quality(index, recall, speed):
    return replace(EXACT, index=index, recall=recall, low=recall - 0.01, high=recall + 0.01, per_second=speed)


RESULTS = [
    EXACT,
    quality("lsh:bits=64,rerank=10", 0.80, 9000.0),
    quality("lsh:bits=64,rerank=20", 0.91, 4000.0),
    quality("lsh:bits=64,rerank=30", 0.95, 5000.0),
    quality("lsh:bits=64,rerank=40", 0.991, 600.0),
    quality("faiss:factory=PQ4,rerank=0", 0.3, 9000.0),
    quality("faiss:factory=PQ4,rerank=9", 0.7, 8000.0),
    replace(EXACT, index="faiss:factory=IVF999,Flat", recall=None, per_second=None, reason="too many"),
]


def test_the_fastest_at_each_recall_level():
    assert [one.index for one in fastest(RESULTS)] == [
        "exact", "lsh:bits=64,rerank=30", "lsh:bits=64,rerank=40", "faiss:factory=PQ4,rerank=9",
    ]  # fmt: skip


def test_cells():
    assert speed_row(EXACT, 1234.5) == [
        "`exact`", "1.000", "1.000 to 1.000", "1,230 (1x)", "5,000", "900", "0.00", "0.0",
    ]  # fmt: skip
    unknown = replace(RESULTS[3], n_compared=None, low=None, high=None, bytes=2_345_678)
    assert speed_row(unknown, 12.5) == [
        "`lsh:bits=64,rerank=30`", "0.950", "-", "5,000 (400x)", "5,000", "-", "0.00", "2.3",
    ]  # fmt: skip


def test_ranks_of_several_query_sets_are_side_by_side():
    coarse = replace(EXACT, index="lsh:bits=8", rank=23.4, recall=0.5, n_compared=0.0)
    grids = [GridResult("rank", "v.bin", "f", [coarse, EXACT]), GridResult("rank", "random:9x8", "f", [EXACT])]
    lines = markdown_tables(MACHINE, grids).splitlines()
    assert lines[0] == "P, 1 of 2 cores; S; numpy 2; D."
    assert (
        "| index | v: rank | rows compared | recall of 10 | random:9x8: rank | rows compared | recall of 10 |" in lines
    )
    assert "| `lsh:bits=8` | 23 | 0 | 0.50 | - | - | - |" in lines
    assert "| `exact` | 1.00 | 900 | 1.00 | 1.00 | 900 | 1.00 |" in lines
    assert not any("queries/s" in line for line in lines if line.startswith("|"))


def test_a_report_is_read_again(tmp_path):
    grids = [GridResult("speed", "v.bin", "f", RESULTS), GridResult("rank", "v.bin", "f", [EXACT])]
    write_report(grids, tmp_path / "r", seed=3)
    assert {path.name for path in (tmp_path / "r").iterdir()} == set(FILES)
    benchmark = read_benchmark(tmp_path / "r" / "neighbours.json")
    assert (benchmark.seed, benchmark.grids) == (3, grids)
    text = markdown_tables(benchmark.machine, benchmark.grids)
    assert (tmp_path / "r" / "neighbours.md").read_text(encoding="utf-8") == text
    with pytest.raises(OutputError, match=r"neighbours\.md"):
        check_folder(tmp_path / "r", force=False)
