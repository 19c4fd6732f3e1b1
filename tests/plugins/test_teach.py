"""Vectors of texts by a teacher: groups, resuming after a failure or a kill, and what is refused."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import expect, refused
from platforms import needs_pipes

import embeddings as em
from embeddings.corpora.reading.sources import File
from embeddings.corpora.reading.text_vectors import teachers_of
from embeddings.errors import EmbeddingsError, FormatError, OutputError, SettingError
from embeddings.plugins.distillation import teach as teach_module
from embeddings.training import load_teacher, teach

TEXTS = [f"{'long ' * (number % 7)}text {number}" for number in range(50)]


def vectors_of(texts):
    """A vector for each text, that only depends on it."""
    return np.array([[len(text), text.count("t"), int(text.split()[-1]) + 1.0] for text in texts], np.float32)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def read(path):
    table = pq.read_table(path)
    return table["text"].to_pylist(), np.array(table["embedding"].to_pylist())


def write(path, text, is_pipe):
    """Write a file, or a pipe that is read once."""
    if is_pipe:
        os.mkfifo(path)
        threading.Thread(target=path.write_text, args=(text,), daemon=True).start()
    else:
        path.write_text(text)


@pytest.fixture
def small_groups(monkeypatch):
    monkeypatch.setattr(teach_module, "GROUP", 20)


class Failing:
    """A teacher that fails at its n-th call."""

    def __init__(self, at):
        self.at, self.calls = at, []

    def __call__(self, texts):
        self.calls.append(texts)
        if len(self.calls) == self.at:
            raise RuntimeError("out of\nmemory")
        return vectors_of(texts)


@pytest.mark.usefixtures("small_groups")
def test_texts_keep_their_order_and_the_teacher_gets_the_longest_first(tmp_path):
    teacher = Failing(0)
    assert teach(["", *TEXTS, "  "], teacher, tmp_path / "v.parquet") == 50
    texts, vectors = read(tmp_path / "v.parquet")
    assert texts == TEXTS
    np.testing.assert_allclose(vectors, unit(vectors_of(TEXTS)), atol=1e-3)
    assert [len(group) for group in teacher.calls] == [20, 20, 10]
    assert all([*map(len, group)] == sorted(map(len, group), reverse=True) for group in teacher.calls)
    assert pq.ParquetFile(tmp_path / "v.parquet").num_row_groups == 3
    assert pq.read_schema(tmp_path / "v.parquet").field("embedding").type == pa.list_(pa.float16(), 3)
    assert os.listdir(tmp_path) == ["v.parquet"]


def interrupted(folder, at=3, **settings):
    """The texts, the output and the folder of groups of a run that failed."""
    path, out = folder / "texts.txt", folder / "v.parquet"
    path.write_text("\n".join(TEXTS))
    with pytest.raises(EmbeddingsError, match=r"failed at .*RuntimeError: out of memory; repeat"):
        teach(path, Failing(at), out, **settings)
    return path, out, folder / "v.parquet.part"


@pytest.mark.usefixtures("small_groups")
def test_a_teacher_that_fails_loses_nothing(tmp_path):
    path, out, _ = interrupted(tmp_path, at=2)
    assert not out.exists()
    again = Failing(0)
    teach(path, again, out)
    assert [len(group) for group in again.calls] == [20, 10]
    assert read(out)[0] == TEXTS
    with pytest.raises(OutputError, match="exists"):
        teach(path, again, out)


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("change", ["name", "exclude", "texts"])
def test_a_run_with_other_arguments_does_not_continue_an_earlier_one(tmp_path, change):
    tests = tmp_path / "tests.csv"
    tests.write_text("text\napple pie\n")
    path, out, part = interrupted(tmp_path, exclude=[tests])
    before, settings = sorted(os.listdir(part)), {"exclude": [tests]}
    if change == "exclude":
        tests.write_text("text\ntext number 3\n")
    elif change == "name":
        settings["name"] = "other"
    with pytest.raises(OutputError, match="of another input or teacher"):
        teach(TEXTS if change == "texts" else path, vectors_of, out, **settings)
    assert sorted(os.listdir(part)) == before


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("order", [("b", "a"), ("a", "c")])
def test_a_run_with_teachers_in_another_order_does_not_continue_an_earlier_one(tmp_path, order):
    def two(encode):
        return [(encode, 1), (vectors_of, 1)]

    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    texts, out = tmp_path / "texts.txt", tmp_path / "v.parquet"
    with pytest.raises(EmbeddingsError, match="out of memory"):
        teach(texts, two(Failing(2)), out, name=["a", "b"])
    with pytest.raises(OutputError, match="of another input or teacher"):
        teach(texts, two(vectors_of), out, name=order)
    teach(texts, two(vectors_of), out, name=["a", "b"])


@pytest.mark.parametrize("names", [["a", "a"], "a", ["a", "b", "c"]])
def test_teachers_without_names_of_their_own_are_refused(tmp_path, names):
    with pytest.raises(SettingError, match="2 teachers"):
        teach(TEXTS, [(vectors_of, 1), (vectors_of, 0.5)], tmp_path / "v.parquet", name=names)


def leave(texts):
    sys.exit(0)


@pytest.mark.parametrize(
    ("texts", "encode", "message"),
    [
        (
            TEXTS,
            lambda texts: vectors_of(texts)[:-1],
            r"array \(50, dim\) for texts 1 to 50, got float32 \(49, 3\)",
        ),
        (
            [f"text {number}" for number in range(512)],  # two parts
            lambda texts: vectors_of([*texts, "1"] if "text 511" in texts else texts[1:]),
            r"array \(256, dim\) for texts 1 to 512, got float32 \(25[57], 3\)",
        ),
        (
            [f"text {number}" for number in range(257)],
            lambda texts: np.ones((len(texts), len(texts))),
            r"got float64 \(1, 1\)",
        ),
        (TEXTS, lambda texts: None, "float array"),
        (TEXTS, lambda texts: [text for text in texts], "float array"),
        (TEXTS, lambda texts: vectors_of(texts) * np.nan, "zero or infinite vector for 'long"),
        (TEXTS, lambda texts: vectors_of(texts) * 0, "zero or infinite vector for 'long"),
        (TEXTS, Failing(1), "failed at texts 1 to 50: RuntimeError"),
        (TEXTS, leave, "failed at texts 1 to 50: SystemExit"),
        (TEXTS, "model", "not callable"),
        (["", " "], vectors_of, "has no texts"),
    ],
)
def test_what_cannot_be_encoded_is_refused_in_one_line_and_leaves_nothing(tmp_path, texts, encode, message):
    with pytest.raises(EmbeddingsError, match=message) as caught:
        teach(texts, encode, tmp_path / "v.parquet")
    assert "\n" not in str(caught.value)
    assert not os.listdir(tmp_path)


@pytest.mark.usefixtures("small_groups")
def test_another_dimension_than_before_is_refused_also_when_resumed(tmp_path):
    path, out, _ = interrupted(tmp_path, at=2)
    with pytest.raises(EmbeddingsError, match=r"float array \(20, 3\) for texts 21 to 40, got float32 \(20, 2\)"):
        teach(path, lambda texts: vectors_of(texts)[:, :2], out)


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize(
    "content", ["another text", "fewer rows", "NaN", "null", "float32", "strings", "columns", b"", b"PAR1 and no more"]
)
def test_groups_that_are_not_as_written_are_encoded_again(tmp_path, caplog, content):
    """Also after a teacher has failed, which leaves the other groups."""
    path, out, part = interrupted(tmp_path)
    file = part / "000000.parquet"
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        texts, vectors = read(file)
        vectors = vectors.astype(np.float32 if content == "float32" else np.float16)
        vectors[0, 0] = np.nan if content == "NaN" else vectors[0, 0]
        texts = [*texts[:-1], content] if content == "another text" else texts
        n_rows = len(texts) - (content == "fewer rows")
        table = em.corpora.text_vectors(texts[:n_rows], vectors[:n_rows])
        lists = table["embedding"].to_pylist()
        column = [None, *lists[1:]] if content == "null" else texts if content == "strings" else lists
        kind = None if content == "strings" else table["embedding"].type
        table = table.set_column(1, "embedding", pa.array(column, kind))
        pq.write_table(table.select(["embedding"]) if content == "columns" else table, file)
    with pytest.raises(EmbeddingsError, match="failed"):
        teach(path, Failing(1), out)
    assert "000001.parquet" in os.listdir(part)
    teacher = Failing(0)
    teach(path, teacher, out)
    texts, vectors = read(out)
    assert texts == TEXTS
    np.testing.assert_allclose(vectors, unit(vectors_of(TEXTS)), atol=1e-3)
    assert len(teacher.calls) == 2
    assert file.name in caplog.text


@pytest.mark.parametrize("is_pipe", [False, pytest.param(True, marks=needs_pipes)])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("test.csv", "a,b,score\nthe red fox jumps,the blue bird sings,1\n" + "the x,the y,2\n" * 20),
        ("test.txt", "the red fox jumps\na list, of words\tthe blue bird sings\t9\n\nthe y"),
    ],
)
def test_texts_near_a_cell_or_a_line_of_a_test_set_are_left_out(tmp_path, name, content, is_pipe):
    write(tmp_path / name, content, is_pipe)
    texts = ["a Red fox jumps 1", "the fox is a quick animal of woods 2", "the bird 3", "blue bird sings 4", "the 5"]
    teach(texts, vectors_of, tmp_path / "v.parquet", exclude=[tmp_path / name])
    assert read(tmp_path / "v.parquet")[0] == [texts[1], texts[2], texts[4]]


@pytest.mark.parametrize("name", ["words.txt", "words.arrow"])
def test_the_words_of_a_vocabulary_are_texts(tmp_path, name):
    corpus = em.Corpus(["the cat sat on the mat", "the cat 7"])
    corpus.encode().vocabulary.save(tmp_path / "words.arrow")
    (tmp_path / "words.txt").write_text("the 3\ncat 2\nmat 1\n")
    teach(str(tmp_path / name), lambda texts: np.ones((len(texts), 2)), tmp_path / "v.parquet")
    assert read(tmp_path / "v.parquet")[0][:2] == ["the", "cat"]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("texts", [TEXTS, None], ids=["memory", "file"])
def test_a_folder_of_somebody_else_is_never_removed(tmp_path, force, texts):
    path, part = tmp_path / "texts.txt", tmp_path / "v.parquet.part"
    path.write_text("\n".join(TEXTS))
    part.mkdir()
    for name, content in (("precious.txt", ""), ("000000.parquet", ""), ("input.json", "{}"), ("input.json", "[1]")):
        (part / name).write_text(content)
        with pytest.raises(OutputError) as caught:
            teach(texts or path, vectors_of, tmp_path / "v.parquet", force=force)
        assert str(part) in str(caught.value)
        assert [file.name for file in part.iterdir()] == [name]
        (part / name).unlink()
    part.rmdir()
    part.symlink_to("nowhere")
    with pytest.raises(OutputError) as caught:
        teach(texts or path, vectors_of, tmp_path / "v.parquet", force=force)
    assert str(part) in str(caught.value)
    assert "force" not in str(caught.value)
    assert not (tmp_path / "v.parquet").exists()


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("force", [False, True])
def test_files_that_a_user_adds_to_the_groups_of_an_earlier_run_are_kept(tmp_path, force):
    path, out, part = interrupted(tmp_path)
    before = sorted(os.listdir(part))
    for name in ("notes.txt", "000007.parquet"):
        (part / name).mkdir()
        (part / name / "mine").touch()
        with pytest.raises(OutputError, match=name):
            teach(path, vectors_of, out, force=force)
        assert sorted(os.listdir(part)) == sorted([*before, name])
        (part / name / "mine").unlink()
        (part / name).rmdir()
    teach(path, vectors_of, out, force=force)
    assert sorted(os.listdir(tmp_path)) == ["texts.txt", "v.parquet"]


@pytest.mark.usefixtures("small_groups")
def test_a_file_that_appears_during_a_run_is_kept(tmp_path):
    part = tmp_path / "v.parquet.part"

    def encode(texts):
        if part.exists():
            (part / "mine.txt").touch()
        return vectors_of(texts)

    assert teach(TEXTS, encode, tmp_path / "v.parquet") == 50
    assert os.listdir(part) == ["mine.txt"]


TEACHER = """
import os, time
import numpy as np
def encode(texts):
    if os.path.exists("slow"):
        open("started", "a").write("x")
        if os.path.getsize("started") > 16:  # the parts of the first group
            time.sleep(600)
    return np.array([[len(text), 1.0] for text in texts])
"""


def run(folder):
    command = [sys.executable, "-m", "embeddings", "teach", "texts.txt", "-o", "v.parquet", "--quiet"]
    command += ["--model", "python:my_teacher:encode"]
    return subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_killed_command_continues(tmp_path):
    (tmp_path / "my_teacher.py").write_text(TEACHER)
    (tmp_path / "texts.txt").write_text("".join(f"text {number}\n" for number in range(5000)))
    (tmp_path / "slow").touch()
    process = run(tmp_path)
    while process.poll() is None and not (
        (tmp_path / "started").exists() and (tmp_path / "started").stat().st_size > 16
    ):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert sorted(os.listdir(tmp_path / "v.parquet.part")) == ["000000.parquet", "input.json"]
    (tmp_path / "slow").unlink()
    (tmp_path / "started").unlink()
    process = run(tmp_path)
    assert process.communicate()[1] == ""
    assert read(tmp_path / "v.parquet")[0][4999] == "text 4999"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("python:nothing_of_this_name:f", r"python:module:function\[:WEIGHT\]: ModuleNotFoundError"),
        ("python:json", "python:module:function"),
        ("python:json:nothing", "has no attribute 'nothing'"),
        ("python:broken_teacher:f", "invalid syntax|never closed"),
        ("python:leaving_teacher:f", "SystemExit"),
        (".", "a folder with model.onnx and tokenizer.json"),
    ],
)
def test_wrong_teachers_are_refused_in_one_line(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken_teacher.py").write_text("def f(:\n")
    (tmp_path / "leaving_teacher.py").write_text("import sys\nsys.exit(0)\n")
    with pytest.raises(SettingError, match=message):
        load_teacher(name)


def save_network(folder, words=8, dim=5):
    """A network of token vectors whose outputs are those of the tokens, and its tokenizer."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from tokenizers import Tokenizer, models, pre_tokenizers

    rng = np.random.default_rng(1)
    table = rng.normal(size=(words, dim)).astype(np.float32)
    node = onnx.helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    ids = onnx.helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, ["n", "m"])
    output = onnx.helper.make_tensor_value_info("last_hidden_state", onnx.TensorProto.FLOAT, ["n", "m", dim])
    graph = onnx.helper.make_graph([node], "g", [ids], [output], [onnx.numpy_helper.from_array(table, "table")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, folder / "model.onnx")
    vocabulary = {"[PAD]": 0, **{f"w{number}": number for number in range(1, words)}}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[PAD]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return table


@pytest.mark.ecosystem
def test_a_network_gives_the_mean_of_its_tokens_or_the_first_one(tmp_path):
    table = save_network(tmp_path)
    texts, numbers = ["w1 w2 w3", "w4", "w5 w1"], [[1, 2, 3], [4], [5, 1]]
    expected = np.array([table[row].mean(axis=0) for row in numbers])
    np.testing.assert_allclose(load_teacher(str(tmp_path))(texts), expected, atol=1e-6)
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    np.testing.assert_allclose(load_teacher(str(tmp_path))(texts), table[[row[0] for row in numbers]], atol=1e-6)
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 1}))
    (tmp_path / "1_Pooling/config.json").unlink()
    np.testing.assert_allclose(load_teacher(str(tmp_path))(texts), table[[row[0] for row in numbers]], atol=1e-6)
    for modes in (
        {"pooling_mode_max_tokens": True},
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
    ):
        (tmp_path / "1_Pooling/config.json").write_text(json.dumps(modes))
        with pytest.raises(SettingError, match="pooling_mode"):
            load_teacher(str(tmp_path))
    (tmp_path / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}))
    (tmp_path / "2_Dense").mkdir()
    with pytest.raises(SettingError, match="dense layer"):
        load_teacher(str(tmp_path))


def test_a_teacher_and_its_student_as_a_newcomer_types_them(tmp_path, monkeypatch):
    """The two commands, with a teacher in a Python file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "summing_teacher.py").write_text(
        "import numpy as np\n"
        "table = np.random.default_rng(1).normal(size=(20, 16))\n"
        "encode = lambda texts: np.array([sum(table[int(word[1:])] for word in text.split()) for text in texts])\n"
    )
    rng = np.random.default_rng(2)
    lines = [" ".join(f"w{n}" for n in rng.integers(0, 20, 5)) for _ in range(300)]
    (tmp_path / "texts.txt").write_text("\n".join(lines))
    taught = expect("teach", "texts.txt", "-o", "v.parquet", "--quiet", "--model", "python:summing_teacher:encode")
    assert taught.stderr == ""
    options = ["--dim", "8", "--epochs", "20", "--learning-rate", "0.1", "--threads", "1", "-o", "m", "--json"]
    expect("train", "distill", "v.parquet:2", "v.parquet", *options)
    assert em.load_model(tmp_path / "m").record["held_out_cosine"] > 0.8
    message = expect("train", "distill", "v.parquet", "--dim", "8", "-o", "n", "--epochs", "1").stderr
    assert re.search(r"held-out cosine 0\.\d{3}", message)


@pytest.mark.ecosystem
def test_a_folder_of_sentence_transformers_is_a_teacher(tmp_path):
    library = pytest.importorskip("sentence_transformers")
    vectors = em.Vectors([f"w{n}" for n in range(9)], np.random.default_rng(1).normal(size=(9, 5)))
    vectors.save(tmp_path / "teacher", "sentence-transformers")
    texts = ["w1 w2", "w3"]
    expected = library.SentenceTransformer(str(tmp_path / "teacher")).encode(texts)
    np.testing.assert_allclose(load_teacher(str(tmp_path / "teacher"))(texts), expected, atol=1e-6)
    for content, fact in (("[{}]", "teacher"), ("[{", r"modules\.json is truncated or broken")):
        (tmp_path / "teacher" / "modules.json").write_text(content)
        with pytest.raises(FormatError, match=fact):
            load_teacher(str(tmp_path / "teacher"))


def test_a_folder_of_sentence_transformers_requires_its_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    (tmp_path / "modules.json").write_text("[]")
    with pytest.raises(EmbeddingsError, match=r"pip install .*sentence-transformers.*python:module:function"):
        load_teacher(str(tmp_path))


def test_the_parts_of_a_group_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(teach_module, "PART", 20)
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    reports = []
    teach(tmp_path / "texts.txt", vectors_of, tmp_path / "v.parquet", progress=lambda *state: reports.append(state))
    assert reports == [(0, 50), (20, 50), (40, 50), (50, 50)]


@pytest.mark.usefixtures("small_groups")
def test_vectors_of_several_teachers_are_side_by_side_as_unit_vectors(tmp_path):
    def swapped(texts):
        return vectors_of(texts)[:, ::-1] * 7

    teachers = [(vectors_of, 2), (swapped, 0.5)]
    teach(TEXTS, teachers, tmp_path / "v.parquet", name=["a", "b"])
    expected = unit(np.hstack([2 * unit(vectors_of(TEXTS)), 0.5 * unit(swapped(TEXTS))]))
    np.testing.assert_allclose(read(tmp_path / "v.parquet")[1], expected, atol=1e-3)
    assert teachers_of(File(tmp_path / "v.parquet")) == {"a": 2, "b": 0.5}


@pytest.mark.parametrize(
    ("teachers", "message"),
    [
        ([(vectors_of, 1), (vectors_of, 0)], r"weight must be .*got 0"),
        ([(vectors_of, -1)], r"weight must be .*got -1"),
        (
            [(vectors_of, 1), (lambda texts: vectors_of(texts[1:]), 1)],
            r"teacher 2 returned .* \(49, 3\) for 50 texts",
        ),
        ([(vectors_of, 1), (lambda texts: None, 1)], r"teacher 2 returned an array \(\) for 50 texts"),
        ([(vectors_of, 1), (lambda texts: vectors_of(texts) * 0, 1)], "zero or infinite vector"),
    ],
)
def test_several_teachers_that_do_not_fit_are_refused_in_one_line(tmp_path, teachers, message):
    with pytest.raises(EmbeddingsError, match=message) as caught:
        teach(TEXTS, teachers, tmp_path / "v.parquet")
    assert "\n" not in str(caught.value)


def test_two_spellings_of_a_path_are_one_teacher(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("embeddings.cli.teach.load_teacher", lambda name, threads: vectors_of)
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    message = refused("teach", "texts.txt", "--model", "net", "--model", "./net/:0.5", "-o", "v.parquet", code=2)
    assert "net, net" in message


def test_two_teachers_in_one_command_or_one_after_the_other(tmp_path, monkeypatch):
    """The student of both is the same, and names them; by default it has 512 dimensions."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two_teachers.py").write_text(
        "import numpy as np\n"
        "def teacher(seed):\n"
        "    table = np.random.default_rng(seed).normal(size=(20, 300))\n"
        "    return lambda texts: np.array([sum(table[int(word[1:])] for word in text.split()) for text in texts])\n"
        "a, b = teacher(1), teacher(2)\n"
    )
    rng = np.random.default_rng(2)
    lines = [" ".join(f"w{n}" for n in rng.integers(0, 20, 5)) for _ in range(700)]
    (tmp_path / "texts.txt").write_text("\n".join(lines))
    (tmp_path / "words.txt").write_text("\n".join(f"w{n}" for n in range(20)))
    first, second = "python:two_teachers:a", "python:two_teachers:b"
    for name in ("texts", "words"):
        for model in (first, second):
            expect("teach", f"{name}.txt", "--model", model, "-o", f"{name}-{model[-1]}.parquet", "--quiet")
        expect("teach", f"{name}.txt", "--model", first, "--model", f"{second}:0.5", "-o", f"{name}.parquet", "--quiet")
    options = ["--epochs", "1", "--threads", "1", "--max-n", "0", "--quiet", "--word-vectors"]
    expect("train", "distill", "texts.parquet", *options, "words.parquet", "-o", "both")
    pair = ["texts-a.parquet", "texts-b.parquet:0.5", *options, "words-a.parquet", "--word-vectors"]
    expect("train", "distill", *pair, "words-b.parquet:0.5", "-o", "pair")
    both, pair = em.load_model("both"), em.load_model("pair")
    assert both.vectors.dim == both.settings["dim"] == 512
    assert both.record["teachers"] == pair.record["teachers"] == {first: 1, second: 0.5}
    np.testing.assert_allclose(both.vectors.matrix, pair.vectors.matrix, atol=2e-2)
    expect("train", "distill", "texts-a.parquet", *options, "words-a.parquet", "-o", "single")
    swapped = ["texts-b.parquet:0.5", "texts-a.parquet", "--continue", "pair", "--threads", "1", "-o", "swapped"]
    assert "in the order" in refused("train", "distill", *swapped, code=1)
    weighted = ["words-a.parquet:0.5", "-o", "weighted"]  # of one teacher, whose words would have one weight
    assert "word-vectors" in refused("train", "distill", "texts-a.parquet", *options, *weighted, code=2)
    single = em.load_model("single")
    assert single.settings["dim"] == 256
    assert single.record["teachers"] == {first: 1}
    (tmp_path / "texts.txt").write_text("\n".join([*lines[:9], "w1", *lines[10:]]))
    expect("teach", "texts.txt", "--model", second, "-o", "texts-b.parquet", "--quiet", "--force")
    message = refused("train", "distill", "texts-a.parquet", "texts-b.parquet", "-o", "m", code=1)
    assert "texts-a.parquet and texts-b.parquet" in message
    assert "number 10 differs" in message
    assert "weight" in refused("teach", "texts.txt", "--model", first, "--model", f"{second}:0", "-o", "x", code=2)
    assert ".parquet" in refused("teach", "texts.txt", "--model", first, "-o", "vectors.csv", code=1)
