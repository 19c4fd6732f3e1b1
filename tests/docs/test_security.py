"""SECURITY.md names existing tests, and the oldest supported versions are those of pyproject.toml."""

import re
import tomllib

from packaging.requirements import Requirement


def test_every_promise_names_its_tests(root):
    rows = re.findall(r"^\| (.+) \| (.+) \|$", (root / "SECURITY.md").read_text(encoding="utf-8"), re.MULTILINE)[2:]
    assert len(rows) >= 10
    for promise, tests in rows:
        names = re.findall(r"`(tests/\S+\.py)::(\w+)`", tests)
        assert names, promise
        for path, name in names:
            assert f"def {name}(" in (root / path).read_text(encoding="utf-8"), (path, name)


def test_the_oldest_versions_are_tested(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (root / "tests" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    oldest = dict(line.lower().split("==") for line in lines if not line.startswith("#"))
    for dependency in map(Requirement, project["dependencies"]):
        (bound,) = dependency.specifier
        assert bound.operator == ">="
        version = oldest[dependency.name.lower()]
        assert dependency.specifier.contains(version), dependency
        assert version.startswith(f"{bound.version}.") or version == bound.version, (dependency, version)
