"""List names that are only a participle or an adverb, such as `found` or `beside`: a thing needs a noun.

Run from the root of the repository: `python tools/list_bare_names.py [PATH ...]`. It prints FILE:LINE and the name, the
most frequent names first, and exits with status 1 if there is any.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

IRREGULAR = {
    "begun", "bound", "broken", "brought", "built", "chosen", "cut", "drawn", "fallen", "felt", "fit", "forgotten",
    "found", "frozen", "given", "gone", "grown", "held", "hidden", "kept", "known", "laid", "learnt", "left", "lost",
    "made", "meant", "met", "paid", "parted", "put", "read_by", "said", "seen", "sent", "shown", "spent", "spread",
    "stood", "taken", "thought", "thrown", "told", "understood", "won", "written",
}  # fmt: skip
ADVERBS = {"again", "alike", "apart", "aside", "away", "before", "after", "behind", "beside", "beyond", "together"}
NOUNS = {"bed", "embed", "feed", "hundred", "need", "seed", "speed", "unified", "shared", "supervised", "hidden"}
STANDARD = {"bound", "cut", "fit", "frozen", "before", "after", "done", "spread"}  # nouns, or terms of the field
FOLDERS = ("embeddings", "plugins", "corpora", "eval", "tools")


def is_bare(name: str) -> bool:
    """Whether a name is one word, and that word a participle or an adverb."""
    word = name.strip("_").lower()
    if word in NOUNS | STANDARD or "_" in word:
        return False
    return word in IRREGULAR | ADVERBS or (word.endswith("ed") and len(word) > 4)


def names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that a module binds, with its line: functions, classes, arguments, variables, attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id if isinstance(node, ast.Name) else node.attr


def main(paths: list[str]) -> int:
    """Print the places; the exit status."""
    places: dict[str, list[str]] = defaultdict(list)
    files = [file for path in paths for file in ([Path(path)] if path.endswith(".py") else Path(path).rglob("*.py"))]
    for file in sorted(set(files)):
        for line, name in names(ast.parse(file.read_text(encoding="utf-8"))):
            if is_bare(name):
                places[name].append(f"{file}:{line}")
    for name, where in sorted(places.items(), key=lambda item: -len(item[1])):
        print(f"{name} ({len(where)}): {' '.join(where)}")
    print(f"{sum(map(len, places.values()))} bare names in {len(files)} files")
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(FOLDERS)))
