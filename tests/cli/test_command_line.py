"""The command line as a whole: help, exit codes, errors in one line, imports, pipes."""

import sys

import pytest
from commands import expect, refused

from embeddings.cli import COMMANDS, main, summary_of
from embeddings.support.cache_folder import cache_folder

NAMES = [name for commands in COMMANDS.values() for name in commands]


def test_help_lists_every_command_with_its_whole_summary():
    lines = expect("--help").stdout.splitlines()
    for name in NAMES:
        (line,) = [line for line in lines if line.split(maxsplit=1)[:1] == [name]]
        assert line.split(maxsplit=1)[1] == summary_of(name)
        assert line[-1] in ".?"
        assert "..." not in line
        assert len(line) <= 80


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


def test_commands_work_without_docstrings(python):
    """With -OO, the options that are made from docstrings have no help."""
    assert "--dim" in python("-OO", "-m", "embeddings", "train", "skipgram", "--help").stdout


@pytest.mark.skipif(sys.platform != "linux", reason="requires the locale C")
def test_a_cache_whose_path_the_locale_cannot_encode(python, text, tmp_path):
    """Python reads such a path with surrogates."""
    (tmp_path / "caché").mkdir(0o700)
    (tmp_path / "caché" / "kernels").symlink_to(cache_folder("kernels"))
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
