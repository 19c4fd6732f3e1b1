"""JSON arrays of objects as lines, an object a line, so that they are read as JSON lines are."""

import re
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from embeddings.errors import CorpusError

QUOTE, BACKSLASH, COMMA, LINE_FEED, SPACE, BEGIN, END = b'"\\,\n ()'
IS_SPACE = np.isin(np.arange(256), list(b" \t\n\r"))
STEPS = np.zeros(256, np.int8)  # by how much a byte outside of strings changes the depth
STEPS[list(b"[{")], STEPS[list(b"]}")] = 1, -1
MISPLACED = re.compile(rb"[(,],|,\)|\)[^ ]")  # a comma before or after nothing, or text after the array


def array_lines(blocks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Yield the items of a JSON array that comes in any blocks, each on a line of its own.

    Items are not parsed. Raises CorpusError if the array is cut short, or commas are missing or too many.
    """
    depth, in_string, is_escaped, last = 0, False, False, b" "
    for block in blocks:
        data = np.frombuffer(block, np.uint8)
        follows = follows_escape(data, is_escaped)
        quotes = (data == QUOTE) & ~follows[:-1]
        outside = (np.cumsum(quotes) + in_string) & 1 == 0
        steps = np.where(outside, STEPS[data], 0)
        after = depth + np.cumsum(steps)
        before = after - steps
        is_space = outside & IS_SPACE[data]
        is_comma = outside & (data == COMMA) & (before == 1)
        is_begin, is_end = (before == 0) & (steps > 0), (after == 0) & (steps < 0)
        text = data.copy()
        text[is_begin], text[is_end] = BEGIN, END
        outer = text[outside & ~is_space & (np.minimum(before, after) <= 1)].tobytes()
        if MISPLACED.search(last + outer):
            raise CorpusError(f"{name} is not a JSON array: a comma is misplaced, or text follows the array")
        text[is_space], text[is_comma | is_end] = SPACE, LINE_FEED
        yield text[~(is_begin | (is_space & (before <= 1)))].tobytes()
        depth, in_string, is_escaped = int(after[-1]), not outside[-1], bool(follows[-1])
        last = outer[-1:] or last
    if depth or in_string:
        raise CorpusError(f"{name} is truncated: its JSON array is never closed")


def follows_escape(data: NDArray[np.uint8], is_escaped: bool) -> NDArray[np.bool_]:
    """Return which bytes, and whether the one after them, follow an odd number of backslashes, (bytes + 1,).

    is_escaped: whether the first byte follows an odd number of backslashes before `data`.
    """
    follows = np.zeros(len(data) + 1, bool)
    places = np.flatnonzero(data == BACKSLASH)
    places = np.append(-1, places) if is_escaped else places
    if len(places):
        is_border = np.diff(places) > 1
        starts, ends = places[np.append(True, is_border)], places[np.append(is_border, True)]
        follows[ends[(ends - starts) % 2 == 0] + 1] = True
    return follows
