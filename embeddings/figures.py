"""Figures in the pages: what commands wrote to files, put between the marks that name them.

`python -m embeddings.figures .` does that in a checkout. A mark is `<!-- figures FILE -->`, FILE by its path in the
folder of results, and ends with `<!-- end of FILE -->`; tables in Markdown are shown as they are, all else as text.
"""

import re
import sys
from pathlib import Path

RESULTS = Path("eval/results")
MARK = re.compile(r"<!-- figures ([\w./-]+) -->\n(.*?)<!-- end of \1 -->\n", re.DOTALL)


def pages(root: Path) -> list[Path]:
    """The README and the guide."""
    return [root / "README.md", *sorted((root / "docs" / "guide").glob("*.md"))]


def shown(path: Path) -> str:
    """A file as it stands in a page."""
    text = path.read_text(encoding="utf-8").strip() + "\n"
    return text if path.suffix == ".md" else f"```text\n{text}```\n"


def filled(page: str, root: Path) -> str:
    """A page with what the files hold between its marks.

    Raises:
        OSError: a file cannot be read.
    """

    def put(mark: re.Match[str]) -> str:
        name = mark[1]
        return f"<!-- figures {name} -->\n{shown(root / RESULTS / name)}<!-- end of {name} -->\n"

    return MARK.sub(put, page)


def main(root: Path) -> None:
    """Fill all pages of a checkout."""
    for page in pages(root):
        page.write_text(filled(page.read_text(encoding="utf-8"), root), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
