"""A fast checksum that detects accidental damage; it does not resist intent."""

from hashlib import sha256

import numpy as np

from embeddings.compilation.jit import entry_point, inline

FIRST, SECOND = np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x9E3779B185EBCA87)  # odd, so no multiplication loses bits
LEFT, RIGHT = np.uint64(31), np.uint64(33)
LANES = 4  # independent of each other, so that a core computes them at the same time
WORDS_SIZE = 8 * LANES  # bytes


@inline
def add_word(lane: np.uint64, word: np.uint64) -> np.uint64:
    """Add a word to a lane, as XXH64 does; a bijection of each, so a change of one word always changes the result."""
    total = lane + word * FIRST
    return (total << LEFT | total >> RIGHT) * SECOND


@entry_point
def add_words(words: np.ndarray, lanes: np.ndarray) -> None:
    """Update the checksum `lanes` with uint64 words, whose number is a multiple of LANES; the rest is ignored."""
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    for i in range(0, words.shape[0] - LANES + 1, LANES):
        a, b = add_word(a, words[i]), add_word(b, words[i + 1])
        c, d = add_word(c, words[i + 2]), add_word(d, words[i + 3])
    lanes[0], lanes[1], lanes[2], lanes[3] = a, b, c, d


class FileDigest:
    """The digest of a file's content, computed part by part; only the last part may not be a multiple of WORDS_SIZE."""

    def __init__(self) -> None:
        self.lanes, self.rest = np.arange(1, LANES + 1, dtype=np.uint64), b""

    def add(self, data: bytes | memoryview) -> None:
        """Add a part, at the speed of memory."""
        size = len(data) // WORDS_SIZE * WORDS_SIZE
        with np.errstate(over="ignore"):  # without compilation, numpy warns of overflow
            add_words(np.frombuffer(memoryview(data).toreadonly(), np.uint64, size // 8), self.lanes)
        self.rest = bytes(data[size:])

    def hexdigest(self) -> str:
        """The digest of all parts."""
        return sha256(self.lanes.tobytes() + self.rest).hexdigest()[:16]
