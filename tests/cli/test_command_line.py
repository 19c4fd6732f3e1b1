"""The command line as a whole: help, exit codes, errors in one line, imports, pipes."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import SMALL, TEXT, expect, process, refused

from embeddings.cli import COMMANDS, main, summary_of

NAMES = [name for commands in COMMANDS.values() for name in commands]


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text(TEXT)
    return tmp_path / "text.txt"


def test_help_lists_every_command_with_its_whole_summary():
    lines = expect("--help").stdout.splitlines()
    for name in NAMES:
        (line,) = [line for line in lines if line.split(maxsplit=1)[:1] == [name]]
        assert line.split(maxsplit=1)[1] == summary_of(name)
        assert line[-1] in ".?"
        assert "..." not in line
        assert len(line) <= 80


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help(name):
    assert expect(name, "--help").stdout.startswith("Usage: ")


def test_options_of_train_are_listed_by_group():
    text = expect("train", "skipgram", "--help-all").stdout
    sections = [line for line in text.splitlines() if line.endswith(" options:")]
    assert sections == [f"{group} options:" for group in ("General", "Model", "Text", "Run")]
    model = text.partition("Model options:")[2].partition("Text options:")[0]
    for option in ("--dim", "--window", "--epochs", "--learning-rate"):
        assert f"\n  {option} " in model
        assert option in expect("train", "skipgram", "--help").stdout
    assert "..." not in expect("train", "--help").stdout.partition("Commands:")[2]


BAD = [
    (["train", "skipgram", "missing.txt", "-o", "x"], 1, ["missing.txt"]),
    (["train", "skipgram", "empty.txt", "-o", "x"], 1, ["no words", "empty.txt"]),
    (["train", "skipgram", "cut.gz", "-o", "x"], 1, ["cut.gz", "gzip"]),
    (["train", "skipgram", "latin.txt", "-o", "x"], 1, ["latin.txt", "UTF-8", "byte 3"]),
    (["train", "skipgram", "text.txt", "-o", "x", "--min-count", "999"], 1, ["'the'", "400"]),
    (["train", "skipgram", "text.txt", "-o", "there"], 1, ["there", "exists", "--force"]),
    (["train", "skipgram", "text.txt", "-o", "no/where/x"], 1, ["not a folder"]),
    (["train", "skipgram", "text.txt", "-o", "x", "--dim", "0"], 2, ["dim", "1", "65536", "0"]),
    (["train", "skipgram", "text.txt", "-o", "x", "--rate", "nan"], 2, ["--learning-rate", "100", "nan"]),
    (["train", "skipgram", "text.txt", "-o", "x", "--threads", "0"], 2, ["--threads"]),
    (["train", "no-such", "text.txt", "-o", "x"], 2, ["trainer", "'no-such'", "cbow"]),
    (["train", "skipgram", "text.txt", "-o", "x", "--tokenizer", "t"], 2, ["tokenizer", "'t'"]),
    (["neighbours", "missing", "king"], 1, ["missing does not exist"]),
    (["neighbours", "text.txt", "king"], 1, ["text.txt"]),
    (["evaluate", "text.txt", "--similarity", "missing"], 1, ["'missing'"]),
    (["evaluate", "text.txt", "--stats", "--compose"], 2, ["--compose requires --similarity"]),
    (["evaluate", "text.txt", "--window", "1"], 2, ["--window requires --tagging"]),
    (["evaluate", "text.txt", "--window", "0"], 2, ["--window requires --tagging"]),
    (["evaluate", "text.txt", "--categories", "text.txt", "--method", "3cosmul"], 2, ["--method requires --analogy"]),
    (["evaluate", "text.txt", "--documents", "text.txt"], 1, ["text.txt", "tabs"]),
    (["evaluate", "text.txt", "--tagging", "text.txt,text.txt"], 1, ["text.txt", "CoNLL-U"]),
    (["evaluate", "text.txt", "--report", "there"], 1, ["there"]),
    (["compare", "text.txt"], 2, ["two VECTORS"]),
    (["export", "missing", "x.what"], 1, ["'.what'"]),
    (["nonsense"], 2, ["'nonsense'"]),
]


@pytest.mark.parametrize(("args", "code", "facts"), BAD, ids=[" ".join(args) for args, _, _ in BAD])
def test_bad_input_gets_one_line_and_leaves_nothing(text, tmp_path, args, code, facts):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9 au lait")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(os.urandom(5000).hex().encode())[:3000])
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "precious").write_text("kept")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    message = refused(*args, code=code)
    assert all(fact in message for fact in facts), message
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_debug_prints_the_traceback(tmp_path):
    assert "Traceback" in process("--debug", "neighbours", tmp_path / "missing", "x").stderr


def test_unexpected_errors_take_one_line(text, monkeypatch):
    from embeddings.cli import vocabulary

    def fail(*args, **kwargs):
        raise RuntimeError("first\nsecond")

    monkeypatch.setattr(vocabulary, "Corpus", fail)
    message = refused("vocabulary", "text.txt", "-o", "v.txt", code=1)
    assert message == "unexpected RuntimeError: first second; --debug prints the traceback"


@pytest.mark.parametrize("no_color", ["", "1"])
def test_errors_are_coloured_only_where_this_is_wanted(monkeypatch, no_color):
    from click.testing import CliRunner

    monkeypatch.setenv("NO_COLOR", no_color)
    result = CliRunner().invoke(main, ["neighbours", "missing", "x"], color=True)
    assert ("\x1b[" in result.stderr) == (not no_color)


def test_closed_pipe_is_no_error(text):
    expect("train", "skipgram", text, "-o", "m", *SMALL)
    command = f"{sys.executable} -m embeddings neighbours m the king queen dog cat --top 8 | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert result.stdout.startswith("word")
    assert result.stderr == ""


def test_commands_work_without_docstrings(python):
    """With -OO, the options that are made from docstrings have no help."""
    assert "--dim" in python("-OO", "-m", "embeddings", "train", "skipgram", "--help").stdout


@pytest.mark.skipif(sys.platform != "linux", reason="requires the locale C")
def test_a_cache_whose_path_the_locale_cannot_encode(python, text, tmp_path):
    """Python reads such a path with surrogates."""
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "EMBEDDINGS_CACHE": str(tmp_path / "caché")}
    for _ in range(2):
        printed = python("-m", "embeddings", "vocabulary", text, "-o", "v.txt", "--force", **env).stdout
        assert printed.startswith("word\tcount\nthe\t")
    assert next((tmp_path / "caché" / "corpora").iterdir())


def test_help_imports_nothing_heavy(python):
    heavy = "('numpy', 'numba', 'pyarrow', 'gensim', 'faiss', 'embeddings.registry')"
    code = "import sys\nfrom embeddings.cli import main\ntry: main(['--help'])\n"
    code += f"finally: print(*[m for m in {heavy} if m in sys.modules], file=sys.stderr)"
    assert python("-c", code).stderr.strip() == ""
