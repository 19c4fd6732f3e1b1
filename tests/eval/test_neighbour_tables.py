"""Tables of judged indexes, by hand, and their way into a file."""

from dataclasses import replace

from embeddings.eval.index_quality.recall import Quality
from embeddings.eval.index_quality.recall_record import Judged, Record
from embeddings.eval.index_quality.recall_table import chosen, markdown, speed_row
from embeddings.support.markdown import between

MACHINE = {"processor": "P", "cores_available": 1, "cores": 2, "system": "S", "packages": {"numpy": "2"}, "date": "D"}
EXACT = Quality("v", "exact", 900, 8, 10, 10, 1.0, 1.0, 1.0, 1.0, 1.0, 900.0, 1234.5, 5000.0, 0.0, 0)


def one(index, recall, speed):
    return replace(EXACT, index=index, recall=recall, low=recall - 0.01, high=recall + 0.01, per_second=speed)


FOUND = [
    EXACT,
    one("lsh:bits=64,rerank=10", 0.80, 9000.0),
    one("lsh:bits=64,rerank=20", 0.91, 4000.0),
    one("lsh:bits=64,rerank=30", 0.95, 5000.0),
    one("lsh:bits=64,rerank=40", 0.991, 600.0),
    one("faiss:factory=PQ4,rerank=0", 0.3, 9000.0),
    one("faiss:factory=PQ4,rerank=9", 0.7, 8000.0),
    replace(EXACT, index="faiss:factory=IVF999,Flat", recall=None, per_second=None, reason="too many"),
]


def test_of_each_index_the_fastest_that_finds_enough():
    assert [found.index for found in chosen(FOUND)] == [
        "exact", "lsh:bits=64,rerank=30", "lsh:bits=64,rerank=40", "faiss:factory=PQ4,rerank=9",
    ]  # fmt: skip


def test_cells():
    assert speed_row(EXACT, 1234.5) == [
        "`exact`", "1.000", "1.000 to 1.000", "1,230 (1x)", "5,000", "900", "0.00", "0.0",
    ]  # fmt: skip
    unknown = replace(FOUND[3], looked=None, low=None, high=None, bytes=2_345_678)
    assert speed_row(unknown, 12.5) == [
        "`lsh:bits=64,rerank=30`",
        "0.950",
        "-",
        "5,000 (400x)",
        "5,000",
        "-",
        "0.00",
        "2.3",
    ]


def test_ranks_stand_side_by_side():
    few = [replace(EXACT, index="lsh:bits=8", rank=23.4, recall=0.5, looked=0.0), EXACT]
    judged = [Judged("rank", "v.bin", "f", few), Judged("rank", "random:9x8", "f", [EXACT])]
    text = markdown(Record(MACHINE, 1, judged))
    assert text.startswith("P, 1 of 2 cores; S; numpy 2; D.\n")
    assert (
        "| index | v: rank | rows compared | recall of 10 | random:9x8: rank | rows compared | recall of 10 |" in text
    )
    assert "| `lsh:bits=8` | 23 | 0 | 0.50 | - | - | - |" in text
    assert "| `exact` | 1.00 | 900 | 1.00 | 1.00 | 900 | 1.00 |" in text
    assert "queries/s" not in text


def test_text_between_marks():
    text = "a\n<!-- x -->\nold\n<!-- end of x -->\nb\n"
    assert between(text, "x", "new\n") == "a\n<!-- x -->\nnew\n<!-- end of x -->\nb\n"
