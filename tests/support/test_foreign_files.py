"""Names from elsewhere become paths below a folder, or are refused."""

import json
import os
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("kind", ["pipe", "/dev/zero"])
def test_pipes_and_devices_in_folders_are_not_read(tmp_path, kind):
    corpus = em.Corpus(["a b c"] * 50, phrases=em.corpora.PhraseList(["a b"]))
    model = em.train("skipgram", corpus, dim=4, min_count=1, epochs=1, threads=1, subsample=0)
    model.save(tmp_path / "model")
    options = {"frequencies": "texts", "remove_components": 1, "copy_model": True}
    em.TextIndex.build(model.vectors, ["a c", "c"], tmp_path / "texts", pool="sif", **options).remove("1")
    em.build_index(model.vectors, "lsh").save(tmp_path / "index")
    interrupted_checkpoints(tmp_path / "checkpoints", 20).paths()[-1].rename(tmp_path / "checkpoint")
    readers = {
        "model": em.load,
        "index": lambda folder: em.load_index(folder, model.vectors),
        "checkpoint": read_state,
        "texts": lambda folder: em.TextIndex(folder).search("c"),
    }
    for name, read in readers.items():
        read(tmp_path / name)
        files = [path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*") if path.is_file()]
        for number, file in enumerate(path for path in files if path.name not in ("README.md", "config.json")):
            broken = shutil.copytree(tmp_path / name, tmp_path / f"{name}-{number}")
            (broken / file).unlink()
            os.mkfifo(broken / file) if kind == "pipe" else (broken / file).symlink_to(kind)
            with pytest.raises(
                FormatError, match=r"pipe or device|is missing|no model\.json|not a saved index|not an index"
            ):
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
