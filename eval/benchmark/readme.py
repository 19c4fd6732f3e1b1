"""The tables of the README, as comparisons wrote them.

`python -m embeddings.eval.benchmark.readme README.md` puts each results.md that lies beside it between its marks, with
the picture if there is one.
"""

import sys
from pathlib import Path

PLACES = {
    "comparison": "eval/results",
    "documents comparison": "eval/results/documents",
    "unspaced comparison": "eval/results/unspaced",
}


def marks(name: str) -> tuple[str, str]:
    """What stands before and after a table."""
    return f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"


def shown(root: Path, folder: str) -> str:
    """A comparison as it stands in the README."""
    picture = f"![Quality against words learned in a CPU second]({folder}/results.png)\n\n"
    table = (root / folder / "results.md").read_text(encoding="utf-8").strip()
    return (picture if (root / folder / "results.png").is_file() else "") + table + "\n"


def inserted(readme: str, root: Path) -> str:
    """The README with the tables of a folder's results between their marks."""
    for name, folder in PLACES.items():
        begin, end = marks(name)
        before, rest = readme.split(begin)
        _, after = rest.split(end)
        readme = before + begin + shown(root, folder) + end + after
    return readme


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(inserted(target.read_text(encoding="utf-8"), target.parent), encoding="utf-8")
