"""The page on compilation names every module that uses private parts of numba and llvmlite."""

import re

USES = re.compile(r"^\s*(?:from|import) (?:numba\.core|llvmlite)|\._cache\b|\b_defn\b", re.MULTILINE)


def test_the_page_names_every_module_that_uses_private_parts(root):
    page = (root / "docs/reference/compilation.md").read_text("utf-8")
    table = page.partition("## Private parts")[2]
    named = set(re.findall(r"`(\w+/[\w/]+\.py)`", table))
    paths = {
        str(path.relative_to(root)).removeprefix("embeddings/")
        for room in ("embeddings", "plugins", "corpora", "eval")
        for path in (root / room).rglob("*.py")
        if not any(parent.is_symlink() for parent in path.parents) and USES.search(path.read_text("utf-8"))
    }
    assert named == paths
