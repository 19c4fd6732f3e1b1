"""Hard-wrapped text: the lines of each paragraph joined into one line, and detection of such text."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Literal

import numpy as np

Lines = Literal["separate", "paragraph"]
MAX_BLANK = 1 << 20  # bytes of white space at the start of a line that are kept until its first word
LINE_FEED, SPACE = b"\n "
WHITE_SPACE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
# bytes with which white space may start and end
STARTS, ENDS = np.zeros(256, np.bool_), np.zeros(256, np.bool_)
for space in WHITE_SPACE:
    STARTS[space.encode()[0]] = ENDS[space.encode()[-1]] = True


def join_paragraphs(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield text with a space for each line end within a paragraph; lines of white space separate paragraphs.

    Words that are hyphenated at the end of a line stay divided. Line ends of Windows become line feeds. Blocks are of
    complete code points.
    """
    rest, has_text = b"", False  # what is not decided yet; whether the line before it has text
    for block in blocks:
        data = rest + block
        rest = b""
        if b"\r" in data:
            end = len(data) - data.endswith(b"\r")
            data, rest = data[:end].replace(b"\r\n", b"\n"), data[end:]
        text = np.frombuffer(data, np.uint8)
        line_ends = np.flatnonzero(text == LINE_FEED)
        borders = np.concatenate([[-1], line_ends, [len(data)]])
        is_blank = np.diff(borders) == 1
        first, last = borders[:-1] + 1, borders[1:] - 1
        may_be_blank = np.flatnonzero(~is_blank)
        may_be_blank = may_be_blank[STARTS[text[first[may_be_blank]]] & ENDS[text[last[may_be_blank]]]]
        for line in may_be_blank.tolist():
            is_blank[line] = data[first[line] : last[line] + 1].decode().isspace()
        is_blank[0] &= not has_text
        if len(line_ends) and is_blank[-1] and not is_blank[-2]:  # a word may follow in the last line
            stop = int(line_ends[-1])
            rest = data[stop:] + rest if len(data) - stop <= MAX_BLANK else b"\n" + rest
            data, line_ends, is_blank = data[:stop], line_ends[:-1], is_blank[:-1]
        has_text = not is_blank[-1]
        is_inside = ~is_blank[:-1] & ~is_blank[1:]
        if is_inside.any():
            joined = np.frombuffer(data, np.uint8).copy()
            joined[line_ends[is_inside]] = SPACE
            data = joined.tobytes()
        if data:
            yield data
    if rest:
        yield rest


SAMPLE_SIZE = 1 << 16  # bytes at the start of a file by which hard-wrapped text is detected
MIN_LINES = 20  # lines that are followed by another line of their paragraph
MIN_WIDTH, MAX_WIDTH = 50, 90  # characters of the longest of these lines
MIN_SHARE = 0.8  # of these lines that the next word would have made too long
MAX_SENTENCES = 0.5  # the largest share of these lines that end a sentence
SLACK = 5  # characters by which an editor may have stopped before the width


def is_hard_wrapped(sample: bytes) -> bool:
    """Whether the start of a file seems to be broken into lines of a fixed width, in paragraphs between blank lines.

    Lines are wrapped if the first word of the next line would not have fitted. Sentences, verses and lists, whose lines
    end for other reasons, are not. The last line may be incomplete.
    """
    *lines, _ = [line.rstrip() for line in sample.decode("utf-8", "ignore").split("\n")]
    inner = [(line, after) for line, after in pairwise(lines) if line and after]
    if len(inner) < MIN_LINES or len(inner) < len(list(filter(None, lines))) / 2 or "" not in lines:
        return False
    width = int(np.quantile([len(line) for line, _ in inner], 0.98))
    is_full = [len(line) + 1 + len(after.split()[0]) > width - SLACK for line, after in inner]
    ends_sentence = [line[-1] in ".!?" for line, _ in inner]
    is_uniform = np.mean(is_full) >= MIN_SHARE and np.mean(ends_sentence) <= MAX_SENTENCES
    return bool(MIN_WIDTH <= width <= MAX_WIDTH and is_uniform)
