"""Root folders form one import package, in the checkout and when installed; tests are named after its modules."""

import ast
import re
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
KERNELS_MAY_IMPORT = {
    "numpy",
    "numba",
    "llvmlite",
    "embeddings.compilation",
    "embeddings.kernels",
    "embeddings.support",
}


def test_every_package_is_listed():
    """Otherwise it would be missing from the wheel."""
    inits = [path for path in (ROOT / "embeddings").rglob("__init__.py") if not path.parent.is_symlink()]
    packages = {".".join(path.parent.relative_to(ROOT).parts) for path in inits}
    for folder in MAPPED:
        inits = (ROOT / folder).rglob("__init__.py")
        packages |= {".".join(("embeddings", *path.parent.relative_to(ROOT).parts)) for path in inits}
    assert set(SETTINGS["tool"]["setuptools"]["packages"]) == packages


def test_links_point_to_the_folders_at_the_root():
    mapped = SETTINGS["tool"]["setuptools"]["package-dir"]
    for folder in MAPPED:
        link = ROOT / "embeddings" / folder
        assert link.is_symlink()
        assert not link.readlink().is_absolute()
        assert link.resolve() == (ROOT / folder).resolve()
        assert mapped[f"embeddings.{folder}"] == folder


def imported_modules(path):
    """The modules that a file imports, also within functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield str(node.module)


def test_kernels_import_only_numpy_numba_and_each_other():
    for path in (ROOT / "embeddings" / "kernels").glob("*.py"):
        for name in imported_modules(path):
            is_standard = name.split(".")[0] in sys.stdlib_module_names
            assert is_standard or any(f"{name}.".startswith(f"{allowed}.") for allowed in KERNELS_MAY_IMPORT), (
                path,
                name,
            )


def imports_of_modules():
    """The modules of this package that each module imports, also within functions and for types only."""
    folders = {ROOT / "embeddings": "embeddings", **{ROOT / name: f"embeddings.{name}" for name in MAPPED}}
    paths = {
        ".".join([name, *path.relative_to(folder).with_suffix("").parts]).removesuffix(".__init__"): path
        for folder, name in folders.items()
        for path in folder.rglob("*.py")  # which follows no links
    }
    imports = {}
    for name, path in paths.items():
        nodes = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if type(node) is ast.ImportFrom]
        names = {(node.module, f"{node.module}.{alias.name}") for node in nodes for alias in node.names}
        imports[name] = {full if full in paths else module for module, full in names} & paths.keys() - {name}
    return imports


def test_imports_for_types_follow_the_order_of_the_rooms():
    layers = SETTINGS["tool"]["importlinter"]["contracts"][0]["layers"]
    levels = {room: number for number, layer in enumerate(layers) for room in layer.split(" | ")}

    def room_of(module):
        return max((room for room in levels if f"{module}.".startswith(f"{room}.")), key=len, default=None)

    for name, imported in imports_of_modules().items():
        room = room_of(name)
        if room is None:
            continue
        rooms = {other: room_of(other) for other in imported} | {name: room}
        upward = [other for other in imported if rooms[other] != room and levels.get(rooms[other], 99) <= levels[room]]
        assert not upward, (name, upward)


def test_no_imports_are_circular_with_those_for_types():
    dependencies = {name: imported for name, imported in imports_of_modules().items() if name != "embeddings"}
    list(TopologicalSorter(dependencies).static_order())


@pytest.mark.parametrize("name", [*MAPPED, "cli", "kernels", "training"])
def test_root_folders_are_not_top_level_modules(name, python):
    process = python("-c", f"import {name}", check=False)
    assert process.returncode == 1
    assert f"No module named '{name}'" in process.stderr


NOT_ROOMS = {"data", "docs", "example_plugin", "example_torch_plugin", "hardness", "tools"}
FOLDERS = {"core": "embeddings", "sklearn_estimators": "embeddings/sklearn"}  # others have the name of their room
SEVERAL = {  # files that test several modules in turn, or a whole room
    "cli": {"command_line", "example_plugin", "imported_libraries", "languages", "refusals", "remote_commands"}
    | {"full_disk", "torch_plugin", "without_gensim"},
    "core": {"budget", "layout"},
    "corpora": {"tables"},
    "explorer": {"explore_page"},
    "formats": {"ecosystem", "folder_formats", "format_contract", "odd_files", "peer_suites"},
    "plugins": {"refused_settings", "window_models"},
}


def module_names(room):
    """How test files of a room can name its modules: by name, or by package and name."""
    folder = ROOT / FOLDERS.get(room, room if room in MAPPED else f"embeddings/{room}")
    assert folder.is_dir(), f"tests/{room} is not a room"
    for path in folder.glob("*.py") if room == "core" else folder.rglob("*.py"):
        if path.stem != "__init__":
            yield path.stem, path
            if path.parent != folder:
                yield f"{path.parent.name}_{path.stem}", path


def test_tests_are_named_after_modules():
    """`test_<module>.py`, or `test_<module>_<aspect>.py`; CONTRIBUTING.md says how many modules have such a file."""
    tested, modules = set(), set()
    for folder in (ROOT / "tests").iterdir():
        files = sorted(folder.glob("test_*.py"))
        if folder.name in NOT_ROOMS or not files:
            continue
        names = dict(module_names(folder.name))
        modules |= set(names.values())
        for stem in {file.stem.removeprefix("test_") for file in files} - SEVERAL.get(folder.name, set()):
            named = [name for name in names if f"{stem}_".startswith(f"{name}_")]
            assert named, f"tests/{folder.name}/test_{stem}.py has the name of no module of {folder.name}"
            tested.add(names[max(named, key=len)])
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    share = int(re.search(r"(\d+) % of the modules have such a file", text)[1])
    assert 100 * len(tested) / len(modules) >= share, f"{len(tested)} of {len(modules)} modules"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The project installed into a new folder, from a copy so that the checkout does not change."""
    folder = tmp_path_factory.mktemp("installed")
    ignore = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "tests")
    shutil.copytree(ROOT, folder / "copy", symlinks=True, ignore=ignore)
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(folder / "site"), str(folder / "copy")]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr
    return folder / "site"


@pytest.mark.slow
def test_installed_package_is_complete(site, python):
    """It has all modules, data files and the command, and nothing else at top level."""
    top_level = {path.name for path in site.iterdir() if not path.name.endswith(".dist-info")}
    assert top_level == {"embeddings", "bin"}
    assert not (site / "embeddings" / "eval").is_symlink()
    assert not (site / "embeddings" / "eval" / "results").exists()  # no code reads them
    (metadata,) = site.glob("*.dist-info/METADATA")
    links = re.findall(r"\]\(([^)]*)\)", metadata.read_text(encoding="utf-8"))
    assert any(link.endswith("/docs/tutorial.md") for link in links)
    assert all(link.startswith(("https://", "#")) for link in links)
    for folder in ("embeddings", *MAPPED):
        source = ROOT / folder
        installed = site / "embeddings" if folder == "embeddings" else site / "embeddings" / folder
        for path in source.rglob("*"):
            relative = path.relative_to(source)
            if path.is_file() and "__pycache__" not in path.parts and relative.parts[0] not in (*MAPPED, "results"):
                assert (installed / relative).is_file(), f"{path} is not installed"


@pytest.mark.slow
def test_installed_package_works_in_another_folder(site, python):
    code = """
import embeddings as em, embeddings.corpora, embeddings.eval, sys
print(em.__file__, embeddings.eval.__file__, len(em.train("cbow", ["a b"], dim=2, min_count=1, subsample=0).vectors))
for name in ("eval", "corpora", "plugins", "cli"):
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    print("unexpected module", name)
"""
    output = python("-c", code, path=[site]).stdout.split()
    assert output == [str(site / "embeddings/__init__.py"), str(site / "embeddings/eval/__init__.py"), "2"]


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_workflows_have_time_limits_and_pinned_actions(path):
    """A tag of an action can be moved to other code."""
    text = path.read_text(encoding="utf-8")
    actions = re.findall(r"uses: (\S+)", text)
    assert actions
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in actions)
    assert text.count("runs-on:") == text.count("timeout-minutes:")
