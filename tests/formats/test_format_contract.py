"""What holds for every format: exact round trips, detection, what is refused, what is replaced, options, commands."""

import json
import re
import sys

import numpy as np
import pytest
from commands import expect
from drawn_vectors import FORBIDDEN, OF_ANY_WORDS, some_vectors
from format_options import LIBRARIES
from hypothesis import given, settings
from hypothesis import strategies as st
from optional_libraries import needs

import embeddings as em
from embeddings.cli.info import describe
from embeddings.errors import EmbeddingsError, FormatError, OutputError, RegistryError, SettingError
from embeddings.vectors import file_format
from embeddings.vectors.compact_rows import from_int8, to_int8
from embeddings.vectors.file_format import MAX_WORD_BYTES

ALL = [pytest.param(name, marks=needs(*LIBRARIES.get(name, ()))) for name in FORBIDDEN]
FOLDERS = [one for one in ALL if one.values[0] in ("model2vec", "sentence-transformers", "spacy")]
FILES = [one for one in ALL if one not in FOLDERS]
MAPPED = {"arrow", "model2vec", "npy", "safetensors", "sentence-transformers", "spacy"}
BOUNDED = [name for name in FORBIDDEN if name not in OF_ANY_WORDS]  # formats that limit the length of a word


@pytest.fixture
def small():
    return em.Vectors(["the", "naïve", "日本"], np.array([[1, -0.5], [0.25, 8], [0, 1e-7]], "f4"), counts=[9, 5, 5])


def load(path, **options):
    return em.load(path, allow_pickle=True, **options)


def test_every_format_is_listed():
    own = {name for name in file_format.names() if file_format.load_format(name).read.__module__[:10] == "embeddings"}
    assert own == set(FORBIDDEN)
    assert file_format.names()["word2vec-text"] == (".txt", ".vec")


@pytest.mark.parametrize("form", ALL)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_round_trip_is_exact_and_the_content_identifies_the_format(folder, form, data):
    vectors = data.draw(some_vectors(form))
    vectors.save(folder / f"{form}.npy", form, force=True)
    again = load(folder / f"{form}.npy")
    assert not len(vectors) or file_format.sniff(folder / f"{form}.npy") == form
    assert again.words == vectors.words
    assert again.matrix.tobytes() == vectors.matrix.tobytes()
    assert again.matrix.shape == vectors.matrix.shape
    is_lost = vectors.counts is None or not len(vectors)  # a column of no counts has no type
    assert is_lost or again.counts.tolist() == vectors.counts.tolist()
    assert vectors.counts is not None or again.counts is None


@pytest.mark.parametrize("form", ALL)
def test_vectors_of_no_words_and_memory(tmp_path, small, form):
    small.save(tmp_path / "v.npy", form)
    again = load(tmp_path / "v.npy")
    assert again.matrix.flags.writeable != (form in MAPPED)
    empty = em.Vectors([], np.empty((0, 3)))
    if form == "glove":
        with pytest.raises(FormatError, match="zero vectors"):
            empty.save(tmp_path / "none.npy", form)
        return
    empty.save(tmp_path / "none.npy", form)
    assert load(tmp_path / "none.npy").matrix.shape == (0, 3)


@pytest.mark.parametrize("form", ALL)
def test_what_cannot_be_stored_leaves_nothing(tmp_path, form):
    words = [f"a{character}b" for character in FORBIDDEN[form]] + ["\ud800"] * (form != "gensim")
    words += [] if form in OF_ANY_WORDS else [""]
    for word in words:
        with pytest.raises(FormatError, match=re.escape(repr(word))):
            em.Vectors(["fine", word], np.ones((2, 2))).save(tmp_path / "v.npy", form)
    with pytest.raises(SettingError, match=r"'b'.*NaN"):
        em.Vectors(["a", "b"], [[1.0], [np.nan]]).save(tmp_path / "v.npy", form)
    with pytest.raises(FormatError, match=r"10{12}.*1048576"):
        em.Vectors([], np.empty((0, 10**12), np.float32)).save(tmp_path / "v.npy", form)
    if form in ("word2vec-text", "glove"):
        with pytest.raises(FormatError, match=r"70000.*65536"):
            em.Vectors(["a"], np.ones((1, 70_000), np.float32)).save(tmp_path / "v.npy", form)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", [one for one in ALL if one.values[0] in BOUNDED])
def test_the_first_word_may_have_the_maximum_length(tmp_path, form):
    vectors = em.Vectors(["x" * MAX_WORD_BYTES, "b"], [[1, 2.5], [3, 4]])
    vectors.save(tmp_path / "v.npy", form)
    assert load(tmp_path / "v.npy").words == vectors.words
    with pytest.raises(FormatError, match=r"éé.*32770.*32768"):
        em.Vectors(["b", "é" * (MAX_WORD_BYTES // 2 + 1)], [[1, 2.5], [3, 4]]).save(tmp_path / "w.npy", form)


@pytest.mark.parametrize("form", ALL)
def test_options_of_precision(tmp_path, small, form):
    signature = file_format.load_format(form).write.__annotations__
    if "dtype" not in signature:
        with pytest.raises(SettingError, match="dtype"):
            small.save(tmp_path / "v.npy", form, dtype="float16")
        return
    small.save(tmp_path / "v.npy", form, dtype="float16")
    again = load(tmp_path / "v.npy")
    assert np.array_equal(again.matrix, small.matrix.astype("f2").astype("f4"))
    assert (again.matrix.dtype, describe(tmp_path / "v.npy")["dtype"]) == (np.float32, "float16")
    with pytest.raises(FormatError, match=r"'b'.*65504"):
        em.Vectors(["a", "b"], np.array([[1.0], [70000]])).save(tmp_path / "w.npy", form, dtype="float16")
    with pytest.raises(SettingError, match=r"dtype.*int4"):
        small.save(tmp_path / "w.npy", form, dtype="int4")
    if form in ("npy", "sentence-transformers"):
        with pytest.raises(SettingError, match=r"dtype.*int8"):
            small.save(tmp_path / "w.npy", form, dtype="int8")
    else:
        small.save(tmp_path / "i.npy", form, dtype="int8")
        np.testing.assert_allclose(load(tmp_path / "i.npy").matrix, from_int8(*to_int8(small.matrix)), rtol=1e-6)
        assert describe(tmp_path / "i.npy")["dtype"] == "int8"


@pytest.mark.parametrize("form", ALL)
def test_only_the_same_format_is_replaced_and_only_with_force(tmp_path, small, form):
    path = tmp_path / "v.npy"
    small.save(path, form)
    with pytest.raises(OutputError, match=r"v\.(npy|txt) exists"):
        small.save(path, form)
    small.subset(2).save(path, form, force=True)
    assert load(path).words == small.words[:2]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    (tmp_path / "file").write_text("mine")
    is_folder = file_format.load_format(form).is_folder
    for name in ("mine", "file")[: 1 + is_folder]:
        with pytest.raises(OutputError, match=rf"{name}.*{form}" if is_folder else "folder"):
            small.save(tmp_path / name, form, force=True)
    if is_folder:
        small.save(tmp_path / "empty", form, force=True)
        other = "model2vec" if form == "spacy" else "spacy"
        with pytest.raises(OutputError, match=rf"v.*{other}"):
            small.save(path, other, force=True)


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


@pytest.mark.parametrize("form", FILES)
def test_files_cut_off_are_refused_in_one_line(tmp_path, form):
    vectors = em.Vectors([f"word{i}" for i in range(50)], np.random.default_rng(0).standard_normal((50, 7)))
    vectors.save(tmp_path / "v.npy", form)
    data = (tmp_path / "v.npy").read_bytes()
    for part in range(20):
        (tmp_path / "v.npy").write_bytes(data[: len(data) * part // 20])
        try:
            words = load(tmp_path / "v.npy").words
        except FormatError as error:
            is_line = "\n" not in str(error) and len(str(error)) < 1000
            assert is_line, error  # noqa: PT017
        else:  # of GloVe files, a cut between lines or within the last number cannot be seen
            assert form == "glove"
            assert words == vectors.words[: len(words)]


@pytest.mark.parametrize("form", FILES)
def test_a_row_longer_than_the_bytes_that_identify_a_format(tmp_path, form):
    vectors = em.Vectors(["b" * 9, "c"], np.random.default_rng(0).standard_normal((2, 40_000)))
    vectors.save(tmp_path / "v.npy", form)
    assert file_format.sniff(tmp_path / "v.npy") == form
    assert load(tmp_path / "v.npy").matrix.tobytes() == vectors.matrix.tobytes()


@pytest.mark.parametrize("form", ALL)
def test_commands_read_and_write_the_format(tmp_path, small, form):
    out, form_options = tmp_path / "v.npy", ("--allow-pickle",) if form == "gensim" else ()
    small.save(tmp_path / "v.arrow")
    assert str(out) in expect("export", tmp_path / "v.arrow", out, "--format", form).stderr
    facts = json.loads(expect("info", out, "--json").stdout)
    assert (facts["what"], facts["format"]) == ("vectors", form)
    assert form == "gensim" or (facts["dim"], facts["size"] > 0) == (2, True)
    if form != "gensim":
        full = json.loads(expect("info", out, "--json", "--full").stdout)
        assert (full["words"], full["checked"], full["first_words"]) == (3, True, small.words)
    found = expect("neighbours", out, "the", "--top", "1", *form_options).stdout.splitlines()[1]
    assert found.split("\t")[0] == "the"
    if not file_format.load_format(form).stores_counts:
        code = 2 if file_format.load_format(form).is_folder else 0
        expect("export", tmp_path / "v.arrow", tmp_path / "w.npy", "--format", form, "--counts", code=code)
        assert (tmp_path / "w.npy.vocab").exists() != file_format.load_format(form).is_folder


@pytest.mark.parametrize("form", ALL)
def test_texts_are_pooled_as_by_the_model_or_a_warning_says_so(tmp_path, caplog, form):
    """Of a model of texts, which are plain means whatever the counts are."""
    vectors = em.Vectors(["the", "king", "queen"], np.eye(3), counts=[900, 9, 5])
    vectors.text_pool = "mean"
    texts = ["the king", "the the queen"]
    for options in ({}, {"counts": False}):
        caplog.clear()
        vectors.save(tmp_path / "v.npy", form, force=True, **options)
        rows = em.embed(load(tmp_path / "v.npy"), texts)
        is_stored = file_format.load_format(form).stores_pooling
        assert is_stored != ("mean" in caplog.text)
        if is_stored:
            np.testing.assert_allclose(rows, em.embed(vectors, texts))


def test_unknown_formats_folders_and_error_handlers(tmp_path, small):
    with pytest.raises(RegistryError, match=r"'wav'.* arrow, .*gensim, .*word2vec-text"):
        small.save(tmp_path / "v", "wav")
    with pytest.raises(FormatError, match=r"'\.wav'.*\.arrow \(arrow\)"):
        small.save(tmp_path / "v.wav")
    with pytest.raises(FormatError, match=r"model\.json"):
        em.load(tmp_path)
    small.save(tmp_path / "v.txt")
    with pytest.raises(SettingError, match=r"errors.*skip"):
        em.load(tmp_path / "v.txt", errors="skip")
    result = expect("export", tmp_path / "v.txt", tmp_path / "w.bin", "--table", "output", code=2)
    assert "not a whole model" in result.stderr


def test_a_saved_model_is_never_replaced_by_a_folder_of_another_tool(tmp_path, small):
    pytest.importorskip("tokenizers")
    vocabulary = em.corpora.Vocabulary(small.words, small.counts)
    model = em.Model("skipgram", vectors=small, vocabulary=vocabulary)
    model.save(tmp_path / "m")
    with pytest.raises(OutputError, match=r"m.*model2vec"):
        small.save(tmp_path / "m", "model2vec", force=True)
    assert em.load_model(tmp_path / "m").name == "skipgram"
    model.export(tmp_path / "v", "model2vec")
    assert em.load(tmp_path / "v").counts.tolist() == [9, 5, 5]
    with pytest.raises(SettingError, match="v "):
        em.load_model(tmp_path / "v")


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


def test_a_folder_format_of_another_package(tmp_path, install):
    install("other", "words = other_module:FORMAT", FOLDER, group="embeddings.formats")
    em.Vectors(["a", "b"], [[0.5], [2]]).save(tmp_path / "v", "words")
    assert (tmp_path / "v" / "words" / "b").read_text() == "2.0"
    assert em.load(tmp_path / "v")["a"].tolist() == [0.5]
