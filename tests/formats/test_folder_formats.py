"""Folder formats: round trips, which folders are replaced, `info`, and folder formats of other packages."""

import json
import re
import sys

import numpy as np
import pytest
from commands import expect
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from optional_libraries import needs

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import EmbeddingsError, FormatError, OutputError, SettingError
from embeddings.models.loading import load, load_model
from embeddings.models.model import Model
from embeddings.vectors import file_format
from embeddings.vectors.vectors import Vectors

FOLDERS = [
    pytest.param("model2vec", marks=needs("tokenizers")),
    pytest.param("numpy-folder", marks=needs("tokenizers")),
    "projector",
    pytest.param("sentence-transformers", marks=needs("tokenizers")),
    pytest.param("spacy", marks=needs("spacy")),
]
STORE_COUNTS = ["model2vec", "numpy-folder", "projector", "sentence-transformers"]
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=6)
finite = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("folders")


@pytest.fixture
def small():
    return Vectors(["the", "new york", "日本"], np.array([[1, -0.5], [0.25, 8], [0, 1e-7]], "f4"), counts=[9, 5, 5])


@pytest.mark.parametrize("form", FOLDERS)
@settings(max_examples=8, deadline=None)
@given(names=st.lists(words, unique=True, min_size=1, max_size=8), data=st.data())
def test_round_trip_is_exact(folder, form, names, data):
    shape = (len(names), data.draw(st.integers(1, 5)))
    counts = data.draw(st.none() | arrays.arrays(np.int64, shape[0], elements=st.integers(0, 10**18 - 1)))
    counts = counts if form in STORE_COUNTS else None
    vectors = Vectors(names, data.draw(arrays.arrays(np.float32, shape, elements=finite)), counts=counts)
    vectors.save(folder / form, form, force=True)
    again = load(folder / form)
    assert file_format.sniff(folder / form) == form
    assert again.words == names
    assert again.matrix.shape == shape
    assert np.array_equal(again.matrix, vectors.matrix)
    assert (again.counts is None) == (counts is None)
    assert counts is None or again.counts.tolist() == counts.tolist()


@pytest.mark.parametrize("form", [form for form in FOLDERS if form != "projector"])
def test_vectors_are_memory_mapped_and_may_be_none(tmp_path, small, form):
    small.save(tmp_path / "v", form)
    base = load(tmp_path / "v").matrix
    while base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    Vectors([], np.empty((0, 3))).save(tmp_path / "none", form)
    assert len(load(tmp_path / "none")) == 0
    assert load(tmp_path / "none").dim == 3


@pytest.mark.parametrize("form", FOLDERS)
def test_only_a_folder_of_the_format_is_replaced_and_only_with_force(tmp_path, small, form):
    out = tmp_path / "v"
    small.save(out, form)
    with pytest.raises(OutputError, match="v exists"):
        small.save(out, form)
    small.subset(2).save(out, form, force=True)
    assert load(out).words == small.words[:2]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match=f"mine.*{form}"):
        small.save(tmp_path / "mine", form, force=True)
    if form != "projector":
        with pytest.raises(OutputError, match=r"v.*projector"):
            small.save(out, "projector", force=True)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match=f"file is not a folder.*{form}"):
        small.save(tmp_path / "file", form, force=True)
    (tmp_path / "empty").mkdir()
    small.save(tmp_path / "empty", form, force=True)
    assert load(tmp_path / "empty").words == small.words
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file", "mine", "v"]


@pytest.mark.parametrize("form", FOLDERS)
@pytest.mark.parametrize("name", ["notes.txt", ".git/config", "vocab/lexemes.bin", "0_StaticEmbedding/notes.txt"])
def test_a_folder_with_files_of_others_is_not_replaced(tmp_path, small, form, name):
    """A whole pipeline, or a model under version control, has the format too."""
    out = tmp_path / "v"
    small.save(out, form)
    (out / name).parent.mkdir(exist_ok=True)
    (out / name).write_text("mine")
    with pytest.raises(OutputError, match=re.escape(name)):
        small.save(out, form, force=True)
    with pytest.raises(OutputError, match=re.escape(name)):
        file_format.check_export(out, format=form, force=True)
    assert (out / name).read_text() == "mine"


@pytest.mark.parametrize("form", FOLDERS)
def test_a_failed_write_leaves_nothing(tmp_path, form):
    with pytest.raises(SettingError, match=r"'a'.*NaN"):
        Vectors(["a"], [[np.nan]]).save(tmp_path / "v", form)
    with pytest.raises(FormatError, match=r"''.*empty"):
        Vectors([""], [[1.0]]).save(tmp_path / "v", form)
    with pytest.raises(FormatError, match=r"'\\ud800'.*Unicode"):
        Vectors(["\ud800"], [[1.0]]).save(tmp_path / "v", form)
    assert not list(tmp_path.iterdir())


def test_a_saved_model_is_never_replaced_by_a_folder_of_another_tool(tmp_path, small):
    Model("skipgram", vectors=small, vocabulary=Vocabulary(small.words, small.counts)).save(tmp_path / "m")
    with pytest.raises(OutputError, match=r"m.*projector"):
        small.save(tmp_path / "m", "projector", force=True)
    assert load_model(tmp_path / "m").name == "skipgram"


def test_counts_are_stored_or_refused(tmp_path, small):
    small.save(tmp_path / "v.arrow")
    result = expect("export", tmp_path / "v.arrow", tmp_path / "v", "--format", "spacy", "--counts", code=2)
    assert "spacy" in result.stderr
    assert "counts" in result.stderr
    expect("export", tmp_path / "v.arrow", tmp_path / "v", "--format", "projector", "--counts")
    assert load(tmp_path / "v").counts.tolist() == [9, 5, 5]
    expect("export", tmp_path / "v.arrow", tmp_path / "v", "--format", "projector", "--no-counts", "--force")
    assert load(tmp_path / "v").counts is None


@pytest.mark.parametrize("form", FOLDERS)
def test_commands_accept_folders(tmp_path, small, form):
    small.save(tmp_path / "v.arrow")
    result = expect("export", tmp_path / "v.arrow", tmp_path / "v", "--format", form)
    assert str(tmp_path / "v") in result.stderr
    facts = json.loads(expect("info", tmp_path / "v", "--json").stdout)
    assert (facts["what"], facts["format"], facts["dim"]) == ("vectors", form, 2)
    assert facts["size"] == sum(file.stat().st_size for file in (tmp_path / "v").rglob("*") if file.is_file())
    full = json.loads(expect("info", tmp_path / "v", "--json", "--full").stdout)
    assert (full["words"], full["checked"], full["first_words"]) == (3, True, small.words)
    assert expect("neighbours", tmp_path / "v", "the", "--top", "1").stdout.splitlines()[1].split("\t")[0] == "the"
    result = expect("export", tmp_path / "v", tmp_path / "w.bin", "--table", "output", code=2)
    assert "output" in result.stderr


def test_an_unknown_folder(tmp_path):
    assert "model.json" in expect("info", tmp_path, code=1).stderr
    with pytest.raises(FormatError, match=r"model\.json"):
        load(tmp_path)


def test_a_model_is_exported_as_its_vectors(tmp_path, small):
    model = Model("skipgram", vectors=small, vocabulary=Vocabulary(small.words, small.counts))
    model.export(tmp_path / "v", "projector")
    assert load(tmp_path / "v").counts.tolist() == [9, 5, 5]
    with pytest.raises(SettingError, match="v "):
        load_model(tmp_path / "v")


@pytest.mark.parametrize("language", ["english", "", "EN", "e", 'e"n'])
def test_invalid_languages(tmp_path, small, language):
    pytest.importorskip("spacy")
    small.save(tmp_path / "v.arrow")
    arguments = ["export", tmp_path / "v.arrow", tmp_path / "v", "--format", "spacy", "--language", language]
    assert "language" in expect(*arguments, code=2).stderr
    assert not (tmp_path / "v").exists()


@pytest.mark.parametrize(
    ("form", "library"), [("spacy", "spacy"), ("model2vec", "tokenizers"), ("sentence-transformers", "tokenizers")]
)
def test_a_missing_library_is_reported_with_the_pip_command(tmp_path, small, monkeypatch, form, library):
    monkeypatch.setitem(sys.modules, library, None)  # as if it were not installed
    with pytest.raises(EmbeddingsError, match=rf"{library}.*pip install 'embeddings-toolkit\[{library}\]'"):
        small.save(tmp_path / "v", form)
    assert not list(tmp_path.iterdir())


FOLDER = """
import embeddings as em
from embeddings.formats import Format
def sniff_folder(path): return (path / "words").is_dir()
def read(path, *, allow_pickle=False, errors="strict"):
    files = sorted((path / "words").iterdir())
    return em.Vectors([file.name for file in files], [[float(file.read_text())] for file in files])
def write(vectors, path):
    (path / "words").mkdir()
    for word in vectors:
        (path / "words" / word).write_text(str(vectors[word][0]))
FORMAT = Format(summary="a file per word", sniff_folder=sniff_folder, read=read, write=write)
"""


def test_a_folder_format_of_another_package(tmp_path, monkeypatch):
    info = tmp_path / "lib" / "other-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[embeddings.formats]\nwords = other_folder:FORMAT\n")
    (tmp_path / "lib" / "other_folder.py").write_text(FOLDER)
    monkeypatch.syspath_prepend(tmp_path / "lib")
    Vectors(["a", "b"], [[0.5], [2]]).save(tmp_path / "v", "words")
    assert (tmp_path / "v" / "words" / "b").read_text() == "2.0"
    assert load(tmp_path / "v")["a"].tolist() == [0.5]
