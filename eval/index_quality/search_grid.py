"""Indexes that are compared if none are named."""

from collections.abc import Callable
from math import isqrt

CLASSIC = "orthogonal=false"
PROBES, LISTS, BREADTHS = (1, 4, 16, 64), (1, 2, 4, 8, 16, 32), (16, 32, 64, 128, 256)


def speed(rows: int, dim: int) -> list[str]:
    """Every kind at settings from fast to thorough: how much speed each share of the neighbours costs."""
    hamming = {128: (50, 100, 200, 400, 800), 256: (50, 100, 200, 400, 800), 512: (50, 100, 200, 400)}
    lists = max(1, min(rows, isqrt(rows)))
    parts = max(part for part in range(1, dim // 2 + 2) if dim % part == 0)
    return [
        "exact",
        *(f"lsh:bits={bits},rerank={rerank}" for bits, reranks in hamming.items() for rerank in reranks),
        *(f"lsh:mode=tables,bits=14,tables=8,probes={probes}" for probes in (4, 16, 64, 256)),
        "faiss:factory=Flat",
        *(f"faiss:factory=HNSW32,ef_search={breadth}" for breadth in BREADTHS),
        *(f"faiss:factory=IVF{lists},Flat,nprobe={probes}" for probes in LISTS),
        *(f"faiss:factory=LSH256r,rerank={rerank}" for rerank in (0, 100, 400, 800)),
        *(f"faiss:factory=PQ{parts}x4fs,rerank={rerank}" for rerank in (0, 50, 100, 200)),
    ]


def rank(rows: int, dim: int) -> list[str]:
    """The rule of thumb that the best found by hyperplanes among 10,000 random points ranks about 23rd, and ways out.

    Tables of 8 bits, 4 of them, are what gives that rank; then more tables, multi-probing, and bits compared exactly.
    """
    tables = ((8, 1, 1), (8, 4, 1), (8, 8, 1), (10, 8, 1), (12, 32, 1), (12, 8, 16), (12, 8, 64))
    return [
        *(f"lsh:bits={bits},rerank=0,{CLASSIC}" for bits in (64, 128, 256, 512, 1024)),
        *(f"lsh:mode=tables,bits={k},tables={many},probes={probes},{CLASSIC}" for k, many, probes in tables),
        *(f"lsh:bits={bits},rerank=100,{CLASSIC}" for bits in (256, 512, 1024)),
        *(f"lsh:bits={bits},rerank=100" for bits in (256, 512, 1024)),
        "exact",
    ]


GRIDS: dict[str, Callable[[int, int], list[str]]] = {"speed": speed, "rank": rank}
