"""How often words stand side by side: exact counts of pairs in memory that does not grow with the corpus.

A pair is one number. Stretches of the corpus are turned into such numbers, sorted and counted; if there are
several, each waits on the disk, and all are merged from their starts. What stays in memory is a stretch, and the
pairs that occur often enough.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.memory_mapped import writing
from embeddings.corpora.phrases.word_classes import BORDER, Tokens
from embeddings.errors import CorpusError
from embeddings.kernels.jit import kernel
from embeddings.support.files import write_npy

CHUNK = 1 << 23  # pairs sorted at a time
MERGED = 1 << 22  # pairs merged at a time
REACH = 4  # most connecting words between two words
AT, SENTENCE, START, BETWEEN, GAP = range(5)

Run = tuple[NDArray[np.int64], NDArray[Any]]  # rising keys, and how often each occurs


class Pairs(NamedTuple):
    """Pairs of words with what connects them.

    first, second: (pairs,) ids of words. between: (pairs,) which connecting words stand between, 0 for none, else
    their numbers from 1 as digits of a number to their base. counts: (pairs,) occurrences. distinct: how many
    different pairs there are, those that are not in the list included.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    between: NDArray[np.int64]
    counts: NDArray[np.int64]
    distinct: int


def count_pairs(
    tokens: Tokens, links: NDArray[np.int32], least: int, scratch: Path, *, chunk: int = CHUNK, merged: int = MERGED
) -> Pairs:
    """The pairs of neighbours within sentences that occur `least` times or more.

    links: (size,) for each id 0, the number of a connecting word from 1, or BORDER for what no pair may hold.
    Up to REACH connecting words may stand between two words. scratch: a folder for what is sorted already.

    Raises:
        CorpusError: there are too many different words to tell pairs apart.
        OutputError: the disk is full.
    """
    size, base = tokens.size, int(links.max(initial=0))
    check_room(size, base)
    runs = spilled(sorted_runs(tokens, links, chunk), scratch)
    kept: list[Run] = []
    distinct = 0
    for keys, counts in merge(runs, merged):
        distinct += len(keys)
        often = counts >= least
        kept.append((keys[often], counts[often]))
    keys, counts = (np.concatenate(part) for part in zip(*kept, strict=True)) if kept else (np.empty(0, np.int64),) * 2
    rest, second = np.divmod(keys, size)
    between, first = np.divmod(rest, size)
    return Pairs(first, second, between, counts.astype(np.int64), distinct)


def check_room(size: int, base: int) -> None:
    """Refuse so many words and connecting words that a pair with what is between is no number of 63 bits.

    Raises:
        CorpusError: saying how many connecting words there may be.
    """
    if not fits(size, base):
        fewer = next((most for most in reversed(range(base)) if fits(size, most)), None)
        way = "lower --max-types" if fewer is None else f"name {fewer} connecting words at most, or lower --max-types"
        raise CorpusError(f"{size:,} different words with {base:,} connecting words are too many to tell apart; {way}")


def fits(size: int, base: int) -> bool:
    """Whether two of so many words, with up to REACH of so many connecting words between, are a number of 63 bits."""
    return int(sum(base**n for n in range(REACH + 1))) * size**2 < 1 << 63


def sorted_runs(tokens: Tokens, links: NDArray[np.int32], chunk: int) -> Iterator[Run]:
    """The pairs of each stretch of the corpus, sorted and counted."""
    state = np.zeros(5, np.int64)
    state[START] = BORDER
    keys = np.empty(min(chunk, len(tokens.ids) + 1), np.int64)
    while found := pair_keys(tokens.ids, tokens.sentences, links, keys, state):
        stretch = keys[:found]
        stretch.sort()
        counts = np.empty(found, np.int32)
        size = tally(stretch, counts)
        yield stretch[:size].copy(), counts[:size].copy()


def spilled(runs: Iterator[Run], scratch: Path) -> Sequence[Run]:
    """The runs: a single one in memory, several from the disk."""
    listed: list[Any] = []
    for number, run in enumerate(runs):
        with writing(scratch):
            paths = [scratch / f"{part}-{number}.npy" for part in ("keys", "counts")]
            if number == 1:
                listed[0] = stored(listed[0], [scratch / "keys-0.npy", scratch / "counts-0.npy"])
            listed.append(run if number == 0 else stored(run, paths))
    return listed


def stored(run: Run, paths: Sequence[Path]) -> Any:
    """The run from files that it was written to."""
    for array, path in zip(run, paths, strict=True):
        with path.open("wb") as stream:
            write_npy(array, stream)
    return tuple(np.load(path, mmap_mode="r") for path in paths)


def merge(runs: Sequence[Run], size: int) -> Iterator[Run]:
    """All runs as one, in parts of about `size` pairs; a pair's counts are added.

    Of each run a stretch is looked at. What is not above the last of any stretch that has more behind it is complete.
    """
    if len(runs) == 1:
        yield runs[0]
        return
    places = [0] * len(runs)
    share = max(size // max(len(runs), 1), 1)
    while any(place < len(run[0]) for place, run in zip(places, runs, strict=True)):
        stretches = [run[0][place : place + share] for place, run in zip(places, runs, strict=True)]
        ends = [
            stretch[-1]
            for stretch, place, run in zip(stretches, places, runs, strict=True)
            if place + share < len(run[0])
        ]
        bound = min(ends, default=np.iinfo(np.int64).max)
        taken = [int(np.searchsorted(stretch, bound, "right")) for stretch in stretches]
        counts = [run[1][place : place + n] for place, n, run in zip(places, taken, runs, strict=True)]
        yield added([stretch[:n] for stretch, n in zip(stretches, taken, strict=True)], counts)
        places = [place + n for place, n in zip(places, taken, strict=True)]


def added(keys: list[NDArray[np.int64]], counts: list[NDArray[Any]]) -> Run:
    """Several rising stretches as one, the counts of equal keys added."""
    together = np.concatenate(keys)
    order = np.argsort(together, kind="stable")
    together = together[order]
    starts = np.flatnonzero(np.concatenate([[True], together[1:] != together[:-1]]))
    sums = np.add.reduceat(np.concatenate(counts)[order].astype(np.int64), starts)
    return together[starts], sums


@kernel
def pair_keys(ids: Any, sentences: Any, links: Any, out: Any, state: Any) -> int:
    """Put the pairs from where `state` says into `out`, a number each; gives how many there were."""
    size, base = links.shape[0], max(np.int64(links.max()), np.int64(0))
    at, sentence, start, between, gap = state[AT], state[SENTENCE], state[START], state[BETWEEN], state[GAP]
    found, last = 0, sentences.shape[0] - 1
    while found < out.shape[0] and sentence < last:
        if at >= min(sentences[sentence + 1], ids.shape[0]):
            sentence += 1
            start = BORDER
            continue
        word = np.int64(ids[at])
        at += 1
        link = links[word] if 0 <= word < size else BORDER
        if link == BORDER:
            start = BORDER
        elif link == 0:
            if start >= 0:
                out[found] = (between * size + start) * size + word
                found += 1
            start, between, gap = word, 0, 0
        elif start >= 0:
            between, gap = between * base + link, gap + 1
            start = start if gap <= REACH else BORDER
    state[AT], state[SENTENCE], state[START], state[BETWEEN], state[GAP] = at, sentence, start, between, gap
    return found


@kernel
def tally(keys: Any, counts: Any) -> int:
    """Leave each of the rising `keys` once, and how often it stood there in `counts`; gives how many there are."""
    size = 0
    for k in range(keys.shape[0]):
        if size and keys[k] == keys[size - 1]:
            counts[size - 1] += 1
        else:
            keys[size], counts[size] = keys[k], 1
            size += 1
    return size
