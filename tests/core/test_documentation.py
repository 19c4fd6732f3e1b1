"""The pages of the reference are those of the docstrings, for every public name; examples in docstrings run."""

import ast
import doctest
import importlib
import re

import pytest

import embeddings as em
from embeddings import documentation, registry
from embeddings.settings import option
from embeddings.support import markdown

OFFERED = registry.available


def test_pages_are_current(root):
    """`python -m embeddings.documentation docs` writes them."""
    made = documentation.pages()
    found = {path.name for path in (root / "docs").iterdir() if path.is_file()}
    assert found == set(made) | set(documentation.OTHERS)
    for name, text in made.items():
        assert (root / "docs" / name).read_text(encoding="utf-8") == text, f"{name} is not current"


def test_every_public_name_has_a_page():
    """What TYPE_CHECKING promises an editor, what is found at run time, and what has a page are the same."""
    tree = ast.parse((documentation.Path(em.__file__)).read_text(encoding="utf-8"))
    promised = {alias.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    ours = {
        offers[0].attr for offers in OFFERED("trainer").values() if registry.package(offers[0]) == documentation.PACKAGE
    }
    assert promised - {"import_module", "Any", "TYPE_CHECKING", None} == set(em.HOMES) | ours
    assert set(documentation.public()) >= set(em.HOMES) | ours
    assert set(em.HOMES) <= set(dir(em))
    found_by_name = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "__getattr__"]
    assert not found_by_name, "an editor would take any name for one of ours"
    assert {"Begin", "Moment", "Progress"} <= promised, "what callbacks are given"


@pytest.mark.parametrize("home", ["sklearn", "eval", "eval.report", "corpora.phrases"])
def test_what_a_package_offers_has_pages(home):
    offered = importlib.import_module(f"embeddings.{home}").__all__
    assert set(offered) <= set(documentation.public())


def test_every_public_name_says_what_it_is():
    for name, thing in documentation.public().items():
        assert thing.__doc__, f"{name} has no docstring"
        assert not thing.__doc__.startswith(f"{name}("), f"{name} has the docstring that dataclass makes"


def test_links_lead_somewhere():
    made = documentation.pages()
    for text in made.values():
        for link in re.findall(r"\]\(([^)]+)\)", text):
            assert link in {*made, *documentation.OTHERS} or link.startswith("guide/")


def sample(a: "str | None", b: int = 3, *rest: float, c: "list[int]", **more: object) -> "dict[str, int]":
    """What comes back, in *stars* and a_b and <c>.

        code()

    Arguments:
        a: the first, of `a_b`;
            and more of it.
        b, c: two.

    Raises:
        ValueError: always.
    """


def test_signatures_as_they_are_written():
    line = "f(a: str | None, b: int = 3, *rest: float, c: list[int], **more: object) -> dict[str, int]"
    assert markdown.signature(sample, "f") == f"```python\n{line}\n```"
    assert markdown.signature(sample, "f" * 30).splitlines()[1:3] == ["f" * 30 + "(", "    a: str | None,"]
    assert "'3cosadd'" in markdown.signature(em.Vectors.analogy, "analogy")
    assert "self" not in markdown.signature(em.Vectors.analogy, "analogy")


def test_docstrings_as_markdown():
    assert markdown.docstring(sample).split("\n\n") == [
        "What comes back, in \\*stars\\* and a\\_b and \\<c>.",
        "```python\ncode()\n```",
        "**Arguments**",
        "- `a`: the first, of `a_b`; and more of it.\n- `b, c`: two.",
        "**Raises**",
        "- `ValueError`: always.",
    ]
    assert markdown.row(["a|b", "c\nd"]) == "| a\\|b | c d |"


def test_settings_as_a_table():
    assert option.__name__ in documentation.public()
    table = documentation.settings_table(em.CBOW)[0]
    assert "| `dim` | `int` | `100` | Components of a vector. (at least 1, at most 65,536) |" in table
    assert "| `max_vocab` | `int \\| None` | `None` |" in table
    assert "| `negative_sharing` | `Literal['distant', 'window']` | `'distant'` |" in table


def with_examples(root):
    """The modules that have examples in docstrings."""
    for folder in ("embeddings", "corpora", "eval", "plugins"):
        for path in sorted((root / folder).rglob("*.py")):
            inside = path.relative_to(root)
            if re.search(r"^ +>>> ", path.read_text(encoding="utf-8"), re.M):
                yield ".".join((inside if folder == "embeddings" else "embeddings" / inside).with_suffix("").parts)


def test_examples_in_docstrings_run(root):
    ran = 0
    for name in dict.fromkeys(with_examples(root)):
        found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
        assert found.failed == 0, f"{name}: see above"
        assert found.attempted, f"{name}: no example was found"
        ran += found.attempted
    assert ran > 20


def test_pages_are_removed_with_their_names(tmp_path, monkeypatch):
    monkeypatch.setattr(documentation, "pages", lambda: {"a.md": "a\n"})
    (tmp_path / "old.md").touch()
    (tmp_path / "keep.png").touch()
    (tmp_path / "commands.md").touch()
    documentation.write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "commands.md", "keep.png"]
