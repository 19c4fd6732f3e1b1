"""Mutations of source lines: what is changed, what never is, and that a small project's tests detect them."""

import ast

import mutate
import pytest

SOURCE = '''"""A module."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import json


def double(x: "int | None" = 3, *, log) -> int:
    """Twice x."""
    if x < 0:
        raise ValueError(f"{x + 1} is negative")
    log.info("%d", x - 1)
    return x * 2


def prefetch(x):
    return x + 1
'''
TEST = """import logging

from double import double


def test_double():
    assert double(2, log=logging.getLogger()) == 4
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A repository with one module and a test of it."""
    files = {
        "embeddings/part/double.py": SOURCE,
        "tests/part/test_double.py": TEST,
        "tests/part/conftest.py": "import sys\n\nsys.path.insert(0, 'embeddings/part')\n",
    }
    for name, text in files.items():
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_text(text)
    monkeypatch.setattr(mutate, "ROOT", tmp_path / "root")
    monkeypatch.setattr(mutate, "cache_folder", lambda *_: None)
    return tmp_path


def changes():
    lines = mutate.mutations_of("embeddings/part/double.py").values()
    return {(one.before, one.after) for line in lines for one in line}


def test_expressions_and_statements_are_changed_but_no_messages_annotations_and_prefetches(project):
    assert changes() == {
        ("3", "4"),
        ("3", "(2)"),
        ("x < 0", "(x <= 0)"),
        ("x < 0", "(x >= 0)"),
        ("x < 0", "(not (x < 0))"),
        ("0", "1"),
        ("0", "(-1)"),
        ("if x < 0:\n    raise ValueError(f'{x + 1} is negative')", "pass"),
        ("x * 2", "(x / 2)"),
        ("2", "3"),
        ("2", "(1)"),
    }


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a and not b", {"(a or not b)", "(b)"}),
        ("x = f(a, b)", {"(f(b, a))"}),
        ("x = f(a, a)", set()),
        ("x = np.minimum(a, 'x')", {"np.maximum(a, 'x')"}),
        ("x = range(n)", {"(range(n - 1))"}),
        ("x = range(m, n, k)", {"(range(n, m, k))", "(range(m, n - 1, k))"}),
        ("a if b else c", {"(a if not b else c)"}),
        ("'few' if b else 'many'", set()),
        ("-x is not None", {"(-x is None)", "(x)"}),
        ("[True, 0.0, 2.0]", {"False", "1.0", "4.0"}),
        ("continue", {"pass"}),
        ("x[0] = y", {"pass", "1", "(-1)"}),
        ("x += y", {"pass"}),
    ],
)
def test_changes(source, expected):
    found = {new for node in mutate.nodes(ast.parse(source)) for _, new in mutate.replacements(node)}
    assert found == expected


def test_draws_repeat_and_grow(project):
    few, many = (mutate.draw(["part"], 1, number) for number in (2, 5))
    assert many[:2] == few == mutate.draw(["part"], 1, 2)
    assert len({one.line for one in many}) == len(many) == 3  # one for each line with mutations
    assert mutate.draw(["part"], 2, 5) != many


@pytest.mark.slow
def test_a_test_detects_a_mutation_and_the_tree_stays_as_it_is(project):
    workplace = mutate.Workplace(project / "work")
    lines = mutate.mutations_of("embeddings/part/double.py").values()
    drawn = [one for line in lines for one in line if one.after in ("(x / 2)", "(x <= 0)")]
    assert {one.after: workplace.detect(one) for one in drawn} == {
        "(x / 2)": "tests/part/test_double.py::test_double",
        "(x <= 0)": mutate.SURVIVED,
    }
    for folder in (project / "root", workplace.tree):
        assert (folder / "embeddings/part/double.py").read_text() == SOURCE
