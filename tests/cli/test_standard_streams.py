"""Standard output that is closed, full, read in part, unbuffered or in an 8-bit encoding, for every command."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from commands import SMALL, TEXT, expect, process
from composition_data import synthetic_phrases
from neural_models import context_model
from platforms import needs_limits

import embeddings as em
from embeddings.cli import COMMANDS

MODEL = ["--min-count", "1", *SMALL]
SPAN = ["--permutations", "4", "--top", "3", "--threads", "1", "--min-count", "1", "--dim", "4", "--epochs", "1"]
LISTED = ["--phrase-list", "phrases.tsv"]
PRINTING = [  # what the commands print on standard output
    ["--help"],
    ["--version"],
    ["train", "skipgram", "text.txt", "-o", "out", *MODEL, "--json"],
    ["tune", "skipgram", "text.txt", "-o", "out", "--metric", "similarity:pairs.tsv", "--trials", "1", *MODEL],
    ["infer", "documents", "text.txt", "-o", "out.npy", "--json"],
    ["fit", "composed.bin", "-o", "out", "--min-phrases", "50", "--fit-epochs", "1", *LISTED, "--json"],
    ["neighbours", "model", "king"],
    ["neighbours", "model", "king", "--json"],
    ["similarity", "model", "king", "queen"],
    ["analogy", "model", "king", "queen", "dog"],
    ["compose", "model", "king", "queen", "--function", "additive"],
    ["substitutes", "network", "a [] for lunch"],
    ["induce", "model", "text.txt", "new.txt", "-o", "out.txt", "--method", "mean", "--json"],
    ["explore", "model", "--no-browser"],
    ["embed", "model", "text.txt", "-o", "out.npy", "--json"],
    ["predict", "classifier", "labels.txt"],
    ["predict", "classifier", "labels.txt", "--json"],
    ["quantize", "classifier", "-o", "out.ftz", "--dsub", "2", "--json"],
    ["index", "lsh", "model", "-o", "out", "--json"],
    ["index", "texts", "model", "text.txt", "-o", "out", "--json"],
    ["search", "texts.index", "king"],
    ["teach", "text.txt", "--model", "python:my_teacher:encode", "-o", "out.parquet", "--json"],
    ["export", "model", "out.txt", "--json"],
    ["align", "model", "model", "-o", "out.txt", "--json"],
    ["info", "model"],
    ["info", "model", "--json"],
    ["evaluate", "model", "--similarity", "pairs.tsv"],
    ["compare", "model", "model", "--similarity", "pairs.tsv"],
    ["explain", "model", "text.txt", "king", "queen"],
    ["shift", "lines.txt", "other.txt", *SPAN],
    ["stability", "model", "lines.txt", "-o", "out", "--resamples", "2", "--seeds", "2", "--threads", "1", "--json"],
    ["vocabulary", "text.txt", "-o", "out.txt", "--json"],
    ["concordance", "text.txt", "king"],
    ["phrases", "text.txt", "--min-count", "1", "--threshold", "0"],
    ["cache"],
    ["trainers"],
    ["warm", "skipgram"],
    ["completion", "bash"],
]
QUICK = [
    ["neighbours", "model", "king"],
    ["predict", "classifier", "labels.txt", "--json"],
    ["info", "model", "--json"],
]
CASES = [pytest.param(one, marks=() if one in QUICK else pytest.mark.slow, id=" ".join(one[:2])) for one in PRINTING]
needs_posix = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="requires /dev/full and a POSIX shell")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with what the commands read."""
    place = tmp_path_factory.mktemp("printing")
    (place / "text.txt").write_text(TEXT)
    (place / "lines.txt").write_text(TEXT.replace("\n", "\n\n"))
    (place / "other.txt").write_text(TEXT.replace("king", "cat").replace("\n", "\n\n"))
    (place / "new.txt").write_text("the dog\n")
    (place / "pairs.tsv").write_text("king\tqueen\t9\ndog\tcat\t8\nking\tbone\t1\n")
    (place / "labels.txt").write_text("__label__a good fine\n__label__b bad poor\n" * 50)
    expect("train", "skipgram", place / "text.txt", "-o", place / "model", *MODEL)
    expect("train", "classifier", place / "labels.txt", "-o", place / "classifier", *MODEL)
    (place / "my_teacher.py").write_text("import numpy\ndef encode(texts):\n    return numpy.ones((len(texts), 4))\n")
    em.TextIndex.build(place / "model", place / "text.txt", place / "texts.index", progress=False)
    em.Vectors(["größe", "日本", "the"], np.eye(3)).save(place / "v.arrow")
    return place


@pytest.fixture
def folder(inputs, tmp_path, monkeypatch):
    """The working folder: what the commands read, and what they write."""
    for path in inputs.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_has_a_case():
    assert {one[0] for one in PRINTING} >= {name for names in COMMANDS.values() for name in names}


@needs_posix
@pytest.mark.parametrize("redirection", [">&-", "> /dev/full"])
@pytest.mark.parametrize("arguments", CASES)
def test_output_that_cannot_be_written_is_an_error(folder, arguments, redirection):
    if arguments[0] == "infer":
        expect("train", "paragraph-dbow", "text.txt", "-o", "documents", *MODEL)
    if arguments[0] == "fit":
        vectors, triples, _ = synthetic_phrases()
        vectors.save("composed.bin")
        lines = [f"{triple.first} {triple.second}\t{triple.type}\n" for triple in triples]
        (folder / "phrases.tsv").write_text("phrase\ttype\n" + "".join(lines))
    if arguments[0] == "substitutes":
        context_model().save(folder / "network")
    command = ["sh", "-c", f'"$@" {redirection}', "sh", sys.executable, "-m", "embeddings", *arguments]
    result = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=300)
    check_refusal(result)


def check_refusal(result):
    assert result.returncode == 1, result.stderr
    errors = [line for line in result.stderr.splitlines() if "Error" in line or "Traceback" in line]
    assert len(errors) == 1, result.stderr
    assert errors[0].startswith("Error: standard output ")


@needs_limits
@pytest.mark.parametrize("unbuffered", ["1", ""])
def test_part_of_a_result_is_an_error(folder, unbuffered):
    """A limit of the size of files takes the first bytes, as a full disk does, and then refuses."""
    code = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
from embeddings.__main__ import main
main()
"""
    command = [sys.executable, "-c", code, "predict", "classifier", "labels.txt"]
    with open("out", "wb") as out:
        env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        result = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, timeout=300, env=env)
    check_refusal(result)
    assert os.path.getsize("out") == 100


def test_a_failure_to_store_output_on_closing_is_an_error(folder):
    """Network file systems report a full disk when a file is closed."""
    code = """
import errno, os
from embeddings.cli import main, standard_streams
def close(number):
    raise OSError(errno.EDQUOT, "Disk quota exceeded")
finish = standard_streams.finish_output
def finish_output():
    os.close = close
    finish()
main.__class__.main.__globals__["finish_output"] = finish_output
main(["info", "model"])
"""
    result = process(script=code)
    assert "Disk quota exceeded" in result.stderr
    check_refusal(result)


@needs_posix
def test_a_reader_that_ends_needs_no_message(folder):
    command = [sys.executable, "-m", "embeddings", "predict", "classifier", "labels.txt"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 1


@needs_posix
@pytest.mark.parametrize("redirection", ["2>&-", "2> /dev/full"])
def test_messages_that_cannot_be_written_end_no_run(folder, redirection):
    train = [sys.executable, "-m", "embeddings", "train", "skipgram", "text.txt", "-o", "out", *MODEL, "--json"]
    result = subprocess.run(["sh", "-c", f'"$@" {redirection}', "sh", *map(str, train)], stdout=subprocess.PIPE)
    assert result.returncode == 0
    assert json.loads(result.stdout)["out"] == "out"
    assert len(em.load("out")) == 9


@needs_posix
def test_output_to_a_non_blocking_pipe_is_whole(folder):
    """Another program that has the pipe, such as node, can make it non-blocking."""
    expected = process("predict", "classifier", "labels.txt").stdout
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    (folder / "many.txt").write_bytes((folder / "labels.txt").read_bytes() * 100)
    command = [sys.executable, "-m", "embeddings", "predict", "classifier", "many.txt"]
    with subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE) as running, open(reader, "rb") as stream:
        os.close(writer)
        content = stream.read()
    assert running.returncode == 0
    assert content.decode() == expected * 100


@pytest.mark.parametrize("encoding", ["cp1252", "", "utf-16"])
def test_every_encoding_holds_the_result(folder, encoding):
    """Escaped characters stand for those that the encoding lacks; without a choice, the encoding is UTF-8."""
    env = {**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    name = encoding or "utf-8"
    command = [sys.executable, "-m", "embeddings", "neighbours", "v.arrow", "the"]
    rows = subprocess.run(command, capture_output=True, env=env, check=True).stdout.decode(name).splitlines()
    escaped = [word.encode(name, "backslashreplace").decode(name) for word in ("größe", "日本")]
    assert {row.split("\t")[1] for row in rows[1:]} == set(escaped)
    answers = json.loads(subprocess.run([*command, "--json"], capture_output=True, env=env, check=True).stdout)
    assert {answer["neighbour"] for answer in answers} == {"größe", "日本"}


def test_a_dumb_terminal_gets_no_colours(folder):
    code = """
import sys
from embeddings.cli import main
sys.stderr.isatty = sys.stdout.isatty = lambda: True
main()
"""
    plain, coloured = (
        process("info", "missing", script=code, env={**os.environ, "TERM": term}).stderr for term in ("dumb", "xterm")
    )
    assert coloured.startswith("\x1b[31m")
    assert plain.startswith("Error: ")
