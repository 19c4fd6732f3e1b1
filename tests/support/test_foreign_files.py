"""Names from elsewhere become paths below a folder, or are refused."""

import ast
import json
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interrupted_runs import SMALL, interrupted_checkpoints

import embeddings as em
from embeddings.errors import FormatError
from embeddings.support.foreign_files import path_below
from embeddings.training.checkpoints import read_state
from embeddings.vectors import file_format

ROOT = Path(__file__).parents[2]
UNSAFE = ["", ".", "..", "../x", "x/..", "x/../../y", "/etc/passwd", "//host/x", "x//y", "x/", "./x", "x/./y", "..\\x"]
UNSAFE += ["x\\y", "\\x", "C:", "C:x", "C:\\x", "d/C:/x", "x\0", "x/\0/y", "\\\\host\\x"]
IMPOSSIBLE = ["x" * 300, "\ud800", "loop", "loop/x"]


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_names_are_refused(tmp_path, name):
    with pytest.raises(FormatError, match="not safe") as error:
        path_below(tmp_path, name)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_names_that_cannot_be_paths_are_refused(tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(FormatError, match=r"cannot be used|leads out"):
        path_below(tmp_path, name)


@pytest.mark.parametrize("name", ["x", "x/y.txt", "...", "..x", "x..", "a b", "käse", "part-12:30:00.txt", "%2e%2e"])
def test_other_names_are_kept(tmp_path, name):
    assert path_below(tmp_path, name) == Path(f"{tmp_path}/{name}")


@given(st.lists(st.sampled_from(["..", ".", "", "/", "\\", "a", "C:", "\0", "~", " "]), max_size=6).map("".join))
def test_no_name_leaves_the_folder(name):
    folder = Path("/folder")
    try:
        path = path_below(folder, name)
    except FormatError:
        return
    assert path != folder
    assert path.resolve().is_relative_to(folder)


def test_links_that_leave_the_folder_are_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "folder" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "folder" / "dangling").symlink_to(tmp_path / "outside" / "new")
    (tmp_path / "folder" / "inner").symlink_to("file")
    for name in ("link", "link/x", "dangling"):
        with pytest.raises(FormatError, match="link that leads out of"):
            path_below(tmp_path / "folder", name)
    assert path_below(tmp_path / "folder", "inner") == tmp_path / "folder" / "inner"
    (tmp_path / "linked").symlink_to("folder")  # the folder itself may be a link
    assert path_below(tmp_path / "linked", "x") == tmp_path / "linked" / "x"


# Joins of a folder and a variable: how many a file has, and why their names are not from elsewhere.
OWN_NAMES = {
    "corpora/corpus_cache.py": (3, "digests, and names that were listed in this folder"),
    "corpora/encoded_corpus.py": (8, "`read_meta` has compared the names with those of a corpus"),
    "corpora/key_counts.py": (1, "a number"),
    "corpora/reading/sources.py": (1, "constants"),
    "corpora/resampling.py": (1, "constants"),
    "embeddings/cli/__init__.py": (1, "names of commands"),
    "embeddings/cli/saving.py": (1, "the name of the output"),
    "embeddings/explorer/http_server.py": (1, "names of the files of the page"),
    "embeddings/explorer/word_map.py": (1, "a digest"),
    "embeddings/formats/numpy_folder.py": (1, "constants"),
    "embeddings/formats/projector.py": (3, "constants"),
    "embeddings/formats/spacy_vectors.py": (1, "constants"),
    "embeddings/compilation/machine_code_cache.py": (3, "digests, names of functions in a safe alphabet, listed names"),
    "embeddings/support/cache_folder.py": (4, "constants, and names that were listed in this folder"),
    "embeddings/support/files.py": (5, "the name of the output"),
    "embeddings/support/foreign_files.py": (1, "here names from elsewhere become paths"),
    "embeddings/support/records.py": (5, "constants of a kind of folder"),
    "embeddings/support/remote/copies.py": (2, "digests"),
    "embeddings/support/remote/writing.py": (1, "the name of the output, which `check_remote_output` has checked"),
    "embeddings/support/system.py": (3, "constants"),
    "embeddings/models/model_group.py": (1, "a number"),
    "embeddings/text_search/index_folder.py": (7, "random names, names that `path_below` has checked, and constants"),
    "embeddings/text_search/text_index.py": (1, "constants"),
    "embeddings/training/checkpoints.py": (2, "a number and a digest"),
    "eval/test_sets.py": (2, "constants"),
    "eval/tuning/study_folder.py": (7, "constants"),
    "plugins/distillation/distillation.py": (1, "a quotient of numbers"),
    "plugins/distillation/teach.py": (2, "a number, and constants in the folder that the user names"),
    "plugins/glove/cooccurrences.py": (1, "a number"),
}
FOLDERS = ["folder", "path", "parent", "root", "scratch", "target", "place", "home", "local", "directory", "cache"]


def joins(tree):
    """The expressions that join a folder and a name which is neither a literal nor a constant."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            names = [node.right] if is_folder(node.left) or is_name(node.right) else []
        elif not isinstance(node, ast.Call):
            continue
        elif ast.unparse(node.func).endswith((".joinpath", ".with_name")):
            names = [name for name in node.args if not is_own_name(name)]
        elif ast.unparse(node.func) == "os.path.join":
            names = node.args[1:]
        elif ast.unparse(node.func) in ("Path", "open"):  # a path in an f-string, or several parts
            names = [part for part in node.args[:1] if is_joined_text(part)]
            names += node.args[1:] if ast.unparse(node.func) == "Path" else []
        else:
            continue
        if not all(map(is_constant, names)):
            yield ast.unparse(node)


def is_folder(node):
    """Whether the name of an operand is that of a path, rather than of a number."""
    text = ast.unparse(node).lower()
    return text.startswith(("path(", "files(")) or any(name in text.split(".")[-1] for name in FOLDERS)


def is_name(node):
    """Whether an operand is called a name or file."""
    text = ast.unparse(node).lower()
    return not text.startswith("len(") and re.search(r"(^|[._( {])(file|filename|name|key)\b", text) is not None


def is_own_name(node):
    """Whether a name is made from that of the path itself, as for a file next to it."""
    return re.search(r"\.(name|stem)\b", ast.unparse(node)) is not None


def is_joined_text(node):
    """Whether a text is put together with a slash."""
    is_text = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add))
    return is_text and "/" in ast.unparse(node)


def is_constant(node):
    """Whether a name is a literal, or made of constants in capital letters."""
    if isinstance(node, ast.BinOp | ast.JoinedStr | ast.FormattedValue):
        return all(is_constant(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
    return isinstance(node, ast.Constant) or ast.unparse(node).split(".")[-1].isupper()


def test_names_from_elsewhere_become_paths_in_one_place():
    counts = {}
    for folder in ("embeddings", "corpora", "eval", "plugins"):
        for path in (ROOT / folder).rglob("*.py"):
            if not any(parent.is_symlink() for parent in path.parents):
                found = list(joins(ast.parse(path.read_text(encoding="utf-8"))))
                counts |= {path.relative_to(ROOT).as_posix(): len(found)} if found else {}
    expected = {name: count for name, (count, _) in OWN_NAMES.items()}
    assert counts == expected, "use path_below for names from elsewhere, or say in OWN_NAMES why these are not"


@pytest.mark.parametrize(
    "line",
    [
        "folder / name", "base / name", "out / file", "self.path / (name + END)", "x.joinpath(*names)", "Path(x, name)",
        "os.path.join(x, name)", "x.with_name(name)", "Path(f'{FOLDER}/{name}')", "open(f'{FOLDER}/{name}')",
        "open(FOLDER + '/' + name, 'rb')",
    ],
)  # fmt: skip
def test_the_source_is_searched_for_joins(line):
    assert list(joins(ast.parse(line)))
    assert not list(joins(ast.parse(re.sub(r"[*]?names?|file", "NAME", line))))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("kind", ["pipe", "/dev/zero"])
def test_pipes_and_devices_in_folders_are_not_read(tmp_path, kind):
    model = em.train("skipgram", [["a", "b", "c"]] * 50, dim=4, min_count=1, epochs=1, threads=1)
    model.save(tmp_path / "model")
    em.build_index(model.vectors, "lsh").save(tmp_path / "index")
    interrupted_checkpoints(tmp_path / "checkpoints", 20).paths()[-1].rename(tmp_path / "checkpoint")
    readers = {
        "model": em.load,
        "index": lambda folder: em.load_index(folder, model.vectors),
        "checkpoint": read_state,
    }
    for name, read in readers.items():
        read(tmp_path / name)
        for file in [path.name for path in (tmp_path / name).iterdir()]:
            broken = shutil.copytree(tmp_path / name, tmp_path / f"{name}-{file}")
            (broken / file).unlink()
            os.mkfifo(broken / file) if kind == "pipe" else (broken / file).symlink_to(kind)
            with pytest.raises(FormatError, match=r"pipe or device|is missing|no model\.json|not a saved index"):
                read(broken)


def test_names_in_a_model_become_no_paths(tmp_path):
    rows = [{"text": "../../up /etc/passwd c", "tag": f"../../tag{number}"} for number in range(50)]
    (tmp_path / "a" / "b").mkdir(parents=True)
    model = em.train(
        "paragraph-dbow", em.Corpus(rows, text_column="text", tag_column="tag", tokenizer="whitespace"), **SMALL
    )
    model.tables["../../table"] = model.tables["documents"]
    model.save(tmp_path / "a" / "b" / "model")
    again = em.load_model(tmp_path / "a" / "b" / "model")
    assert "../../table" in again.tables
    for name, format in file_format.installed_formats().items():
        ending = format.extensions[0] if format.extensions else ""
        for number, vectors in enumerate((again.vectors, again.documents)):
            with suppress(em.EmbeddingsError, ModuleNotFoundError):  # a library is missing
                vectors.save(tmp_path / "a" / "b" / f"{name}{number}{ending}", format=name)
    assert len(list((tmp_path / "a" / "b").iterdir())) > 12
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "os:system", "skipgram\0", "embeddings.plugins.cbow:CBOW"])
def test_names_of_trainers_in_a_model_are_those_of_plugins(tmp_path, name):
    model = em.train("skipgram", [["a", "b", "c"]] * 50, **SMALL)
    model.save(tmp_path / "m")
    record = json.loads((tmp_path / "m" / "model.json").read_text())
    (tmp_path / "m" / "model.json").write_text(json.dumps(record | {"model": name}))
    with pytest.raises(em.EmbeddingsError, match="no trainer is called"):
        em.continue_training(em.load_model(tmp_path / "m"), [["a", "b", "c"]] * 50)
