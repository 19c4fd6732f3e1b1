"""Writes `corpora/word-break.tsv`: the properties of Unicode that decide where words end.

`python tools/word_break_table.py FOLDER`, where FOLDER is the Unicode Character Database, such as /usr/share/unicode of
Debian's package unicode-data.
"""

import re
import sys
from collections import defaultdict
from itertools import groupby
from pathlib import Path

TARGET = Path(__file__).parents[1] / "corpora" / "word-break.tsv"
LINE = re.compile(r"([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*;\s*(\w+)")
EMOJI = ("Extended_Pictographic", "Emoji_Presentation")
HEADER = "# Unicode {version}: code points by Word_Break property, and emoji; made by tools/word_break_table.py\n"


def read_properties(path: Path) -> dict[str, str]:
    """The code points of each property as ranges in hexadecimal, of which none touch."""
    points: dict[str, list[int]] = defaultdict(list)
    for match in filter(None, map(LINE.match, path.read_text("utf-8").splitlines())):
        points[match[3]] += range(int(match[1], 16), int(match[2] or match[1], 16) + 1)
    ranges = {}
    for name, numbers in points.items():
        runs = groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0])
        ends = [(part[0][1], part[-1][1]) for part in (list(run) for _, run in runs)]
        ranges[name] = " ".join(f"{first:x}-{last:x}" if last > first else f"{first:x}" for first, last in ends)
    return ranges


def main(folder: Path) -> None:
    """Write the table."""
    source = folder / "auxiliary" / "WordBreakProperty.txt"
    version = re.search(r"\d+\.\d+", source.read_text("utf-8").partition("\n")[0])
    emoji = read_properties(folder / "emoji" / "emoji-data.txt")
    properties = read_properties(source) | {name: emoji[name] for name in EMOJI}
    lines = "".join(f"{name}\t{ranges}\n" for name, ranges in sorted(properties.items()))
    TARGET.write_text(HEADER.format(version=version[0] if version else "") + lines, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
