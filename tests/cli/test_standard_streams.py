"""Standard output that is closed, full, read in part, unbuffered or in an 8-bit encoding."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from commands import MODEL, process
from platforms import needs_limits

import embeddings as em

PRINTING = [  # a help text, a table, rows as they arrive, JSON, and a command that writes files too
    ["--help"],
    ["neighbours", "model", "king"],
    ["predict", "classifier", "labels.txt"],
    ["info", "model", "--json"],
    pytest.param(["train", "skipgram", "text.txt", "-o", "out", *MODEL, "--json"], marks=pytest.mark.slow),
]
needs_posix = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="requires /dev/full and a POSIX shell")


@needs_posix
@pytest.mark.parametrize("redirection", [">&-", "> /dev/full"])
@pytest.mark.parametrize("arguments", PRINTING)
def test_output_that_cannot_be_written_is_an_error(folder, arguments, redirection):
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
    em.Vectors(["größe", "日本", "the"], np.eye(3)).save("v.arrow")
    env = {**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    name = encoding or "utf-8"
    command = [sys.executable, "-m", "embeddings", "neighbours", "v.arrow", "the"]
    rows = subprocess.run(command, capture_output=True, env=env, check=True).stdout.decode(name).splitlines()
    escaped = [word.encode(name, "backslashreplace").decode(name) for word in ("größe", "日本")]
    assert {row.split("\t")[1] for row in rows[1:]} == set(escaped)
    answers = json.loads(subprocess.run([*command, "--json"], capture_output=True, env=env, check=True).stdout)
    assert {answer["neighbour"] for answer in answers} == {"größe", "日本"}
