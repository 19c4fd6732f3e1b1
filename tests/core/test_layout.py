"""Root folders as one import name: in the settings, in the checkout, and once installed."""

import ast
import shutil
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAPPED = ("corpora", "eval", "plugins")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
KERNELS_MAY_IMPORT = {"numpy", "numba", "llvmlite", "embeddings.kernels", "embeddings.support.cache_folder"}


def test_every_package_is_listed():
    """A package that is not is missing from the wheel."""
    listed = set(SETTINGS["tool"]["setuptools"]["packages"])
    inits = [path for path in (ROOT / "embeddings").rglob("__init__.py") if not path.parent.is_symlink()]
    found = {".".join(path.parent.relative_to(ROOT).parts) for path in inits}
    for folder in MAPPED:
        inits = (ROOT / folder).rglob("__init__.py")
        found |= {".".join(("embeddings", *path.parent.relative_to(ROOT).parts)) for path in inits}
    assert listed == found


def test_links_point_to_the_folders_at_the_root():
    mapped = SETTINGS["tool"]["setuptools"]["package-dir"]
    for folder in MAPPED:
        link = ROOT / "embeddings" / folder
        assert link.is_symlink()
        assert not link.readlink().is_absolute()
        assert link.resolve() == (ROOT / folder).resolve()
        assert mapped[f"embeddings.{folder}"] == folder


def imports(path):
    """The modules that a file imports, those within functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield str(node.module)


def test_kernels_import_numbers_compilers_and_each_other_only():
    for path in (ROOT / "embeddings" / "kernels").glob("*.py"):
        for name in imports(path):
            known = name.split(".")[0] in sys.stdlib_module_names
            assert known or any(f"{name}.".startswith(f"{may}.") for may in KERNELS_MAY_IMPORT), (path, name)


def test_plugins_stand_on_each_other_without_circles():
    """fastText on skip-gram, say; and nobody's plugin is needed by all."""
    stands = {
        f"embeddings.plugins.{path.stem}": {name for name in imports(path) if name.startswith("embeddings.plugins.")}
        for path in (ROOT / "plugins").glob("*.py")
    }
    list(TopologicalSorter(stands).static_order())
    assert stands["embeddings.plugins.skipgram"] == stands["embeddings.plugins.cbow"] == set()


@pytest.mark.parametrize("name", [*MAPPED, "cli", "kernels", "training"])
def test_nothing_of_ours_is_at_top_level(name, python):
    found = python("-c", f"import {name}", check=False)
    assert found.returncode == 1
    assert f"No module named '{name}'" in found.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The project installed in a folder of its own, from a copy, so that the checkout stays as it is."""
    folder = tmp_path_factory.mktemp("installed")
    leave = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "tests")
    shutil.copytree(ROOT, folder / "copy", symlinks=True, ignore=leave)
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(folder / "site"), str(folder / "copy")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.mark.slow
def test_installed_whole_and_alone(site, python):
    """Every module, the data files and the command are there; nothing else is at top level."""
    top = {path.name for path in site.iterdir() if not path.name.endswith(".dist-info")}
    assert top == {"embeddings", "bin"}
    assert not (site / "embeddings" / "eval").is_symlink()
    for folder in ("embeddings", *MAPPED):
        source = ROOT / folder
        there = site / "embeddings" if folder == "embeddings" else site / "embeddings" / folder
        for path in source.rglob("*"):
            inside = path.relative_to(source)
            if path.is_file() and "__pycache__" not in path.parts and inside.parts[0] not in MAPPED:
                assert (there / inside).is_file(), f"{path} is not installed"


@pytest.mark.slow
def test_installed_and_used_from_elsewhere(site, python):
    code = """
import embeddings as em, embeddings.corpora, embeddings.eval, sys
print(em.__file__, embeddings.eval.__file__, len(em.train("cbow", [["a", "b"]], dim=2, min_count=1).vectors))
for name in ("eval", "corpora", "plugins", "cli"):
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    print("there is", name)
"""
    found = python("-c", code, path=[site]).stdout.split()
    assert found == [str(site / "embeddings/__init__.py"), str(site / "embeddings/eval/__init__.py"), "2"]
