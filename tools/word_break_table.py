"""Writes `corpora/word-break.tsv`: the properties of Unicode that decide where words end.

`python tools/word_break_table.py FOLDER`, where FOLDER is the Unicode Character Database, such as /usr/share/unicode of
Debian's package unicode-data.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

TARGET = Path(__file__).parents[1] / "corpora" / "word-break.tsv"
LINE = re.compile(r"([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*;\s*(\w+)")
EMOJI = ("Extended_Pictographic", "Emoji_Presentation")
HEADER = "# Unicode {version}: code points by Word_Break property, and emoji; made by tools/word_break_table.py\n"


def read_ranges(path: Path) -> dict[str, list[tuple[int, int]]]:
    """Return the adjacent ranges (first, last) of each property value, in order."""
    ranges: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for match in filter(None, map(LINE.match, path.read_text("utf-8").splitlines())):
        first, last = int(match[1], 16), int(match[2] or match[1], 16)
        ranges[match[3]].append((first, last))
    return {name: merge_ranges(sorted(pairs)) for name, pairs in ranges.items()}


def merge_ranges(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join ranges that touch."""
    merged = pairs[:1]
    for first, last in pairs[1:]:
        if first == merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged


def format_line(name: str, ranges: list[tuple[int, int]]) -> str:
    """Return the line of a property: its name, a tab, and its ranges in hexadecimal."""
    text = " ".join(f"{first:x}-{last:x}" if last > first else f"{first:x}" for first, last in ranges)
    return f"{name}\t{text}\n"


def main(folder: Path) -> None:
    """Write the table."""
    words, emoji = (read_ranges(folder / name) for name in ("auxiliary/WordBreakProperty.txt", "emoji/emoji-data.txt"))
    first_line = (folder / "auxiliary/WordBreakProperty.txt").read_text("utf-8").splitlines()[0]
    version = re.search(r"\d+\.\d+", first_line)
    properties = words | {name: emoji[name] for name in EMOJI}
    lines = "".join(format_line(name, ranges) for name, ranges in sorted(properties.items()))
    TARGET.write_text(HEADER.format(version=version[0] if version else "") + lines, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
