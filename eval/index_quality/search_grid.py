"""The indexes that are compared by default."""

from collections.abc import Callable
from math import isqrt

NPROBES, EF_SEARCHES = (1, 2, 4, 8, 16, 32), (16, 32, 64, 128, 256)


def speed(rows: int, dim: int) -> list[str]:
    """Every kind at settings from fast to thorough, to trade speed for recall."""
    hamming = {128: (50, 100, 200, 400, 800), 256: (50, 100, 200, 400, 800), 512: (50, 100, 200, 400)}
    lists = max(1, min(rows, isqrt(rows)))
    parts = max(part for part in range(1, dim // 2 + 2) if dim % part == 0)
    return [
        "exact",
        *(f"lsh:bits={bits},rerank={rerank}" for bits, reranks in hamming.items() for rerank in reranks),
        "faiss:factory=Flat",
        *(f"faiss:factory=HNSW32,ef_search={ef_search}" for ef_search in EF_SEARCHES),
        *(f"faiss:factory=IVF{lists},Flat,nprobe={nprobe}" for nprobe in NPROBES),
        *(f"faiss:factory=LSH256r,rerank={rerank}" for rerank in (0, 100, 400, 800)),
        *(f"faiss:factory=PQ{parts}x4fs,rerank={rerank}" for rerank in (0, 50, 100, 200)),
    ]


def rank(rows: int, dim: int) -> list[str]:
    """Hyperplanes by number of bits, orthogonality and rows compared exactly, to compare their best results."""
    return [
        *(f"lsh:bits={bits},rerank=0,orthogonal=false" for bits in (64, 128, 256, 512, 1024)),
        *(f"lsh:bits={bits},rerank=100,orthogonal=false" for bits in (256, 512, 1024)),
        *(f"lsh:bits={bits},rerank=100" for bits in (256, 512, 1024)),
        "exact",
    ]


GRIDS: dict[str, Callable[[int, int], list[str]]] = {"speed": speed, "rank": rank}
