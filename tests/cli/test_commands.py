"""The command line through real processes: what it prints, where, and with which exit code."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from gensim.models import KeyedVectors

import embeddings as em

TEXT = "the king rules the land\nthe queen rules the land\nthe dog eats the bone\nthe cat eats the bone\n" * 50
SMALL = ["--dim", "10", "--epochs", "2", "--threads", "1"]


def run(*args: object, stdin: bytes = b"", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "embeddings", *map(str, args)]
    done = subprocess.run(command, input=stdin, capture_output=True, cwd=cwd, timeout=300)
    return subprocess.CompletedProcess(args, done.returncode, done.stdout.decode(), done.stderr.decode())


def ok(*args: object, **more: object) -> str:
    done = run(*args, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="module")
def model(text: Path) -> Path:
    path = text.parent / "model"
    ok("train", "skipgram", text, "-o", path, *SMALL)
    return path


@pytest.mark.parametrize("trainer", ["skipgram", "cbow"])
def test_trains_and_says_what_it_did(text: Path, tmp_path: Path, trainer: str) -> None:
    done = run("train", trainer, text, "-o", tmp_path / "v", *SMALL)
    assert done.returncode == 0
    assert done.stdout == ""
    assert "read 1,000 words, 9 different, in 200 lines" in done.stderr
    assert f"9 vectors of 10 components saved in {tmp_path / 'v'}" in done.stderr
    assert em.load(tmp_path / "v").words[0] == "the"


def test_quiet_says_nothing(text: Path, tmp_path: Path) -> None:
    done = run("train", "cbow", text, "-o", tmp_path / "v", *SMALL, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_setting_is_saved(text: Path, tmp_path: Path) -> None:
    given = ["--dim", "7", "--window", "3", "--negatives", "4", "--noise-exponent", "0.5", "--sample", "0.01"]
    given += ["--min-count", "2", "--max-vocab", "8", "--rate", "0.03", "--min-rate", "0.001", "--epochs", "3"]
    ok("train", "cbow", text, "-o", tmp_path / "v", *given, "--fixed-window", "--combine", "sum")
    facts = json.loads(ok("info", tmp_path / "v", "--json"))
    assert facts["settings"] == {
        "dim": 7, "window": 3, "negatives": 4, "noise_exponent": 0.5, "sample": 0.01, "min_count": 2, "max_vocab": 8,
        "rate": 0.03, "min_rate": 0.001, "epochs": 3, "shuffle": False, "shrink_window": False, "combine": "sum",
        "negative_sharing": "distant",
        "context_gradient": "undivided",
    }  # fmt: skip
    assert facts["words"] == 8


def test_config_file_gives_defaults_and_the_command_line_wins(text: Path, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("dim = 6\nmin-count = 3\nshrink_window = false\nthreads = 1\n")
    ok("train", "skipgram", text, "-o", tmp_path / "v", "--config", tmp_path / "run.toml", "--dim", "5")
    settings = json.loads(ok("info", tmp_path / "v", "--json"))["settings"]
    assert (settings["dim"], settings["min_count"], settings["shrink_window"]) == (5, 3, False)
    (tmp_path / "bad.toml").write_text("dimm = 6\n")
    done = run("train", "skipgram", text, "-o", tmp_path / "w", "--config", tmp_path / "bad.toml")
    assert done.returncode == 2
    assert "no setting 'dimm'" in done.stderr


def test_one_thread_and_a_seed_give_the_same_bytes(text: Path, tmp_path: Path) -> None:
    for name, seed in (("a.bin", 3), ("b.bin", 3), ("c.bin", 4)):
        ok("train", "skipgram", text, "-o", tmp_path / name, *SMALL, "--seed", seed)
    a, b, c = ((tmp_path / name).read_bytes() for name in ("a.bin", "b.bin", "c.bin"))
    assert a == b
    assert a != c


@pytest.mark.slow
def test_file_stdin_and_zst_give_the_same_vocabulary(text: Path, tmp_path: Path) -> None:
    import pyarrow as pa

    with pa.output_stream(str(tmp_path / "text.zst"), compression="zstd") as out:
        out.write(TEXT.encode())
    ok("train", "skipgram", tmp_path / "text.zst", "-o", tmp_path / "zst", *SMALL)
    ok("train", "skipgram", "-", "-o", tmp_path / "stdin", *SMALL, stdin=TEXT.encode())
    ok("train", "skipgram", text, "-o", tmp_path / "file", *SMALL)
    found = [em.Model.load(tmp_path / name).vocabulary for name in ("zst", "stdin", "file")]
    iterable = em.train("skipgram", TEXT.splitlines(), dim=10, epochs=1).vocabulary
    assert all(list(v.words) == list(iterable.words) for v in found)
    assert all(v.counts.tolist() == iterable.counts.tolist() for v in found)


def test_neighbours_and_analogy(model: Path) -> None:
    lines = ok("neighbours", model, "king", "dog", "--top", "2").splitlines()
    assert lines[0] == "word\tneighbour\tcosine"
    assert [line.split("\t")[0] for line in lines[1:]] == ["king", "king", "dog", "dog"]
    rows = json.loads(ok("analogy", model, "king", "queen", "dog", "--json", "--top", "3", "--method", "3cosmul"))
    assert len(rows) == 3
    assert not {row["word"] for row in rows} & {"king", "queen", "dog"}


def test_evaluate_prints_json_and_lines(model: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("king\tqueen\t9\ndog\tcat\t8\nking\tbone\t1\nking\tunseen\t2\n")
    (tmp_path / "questions.txt").write_text(": animals\nking queen dog cat\nking queen dog unseen\n")
    asked = ["--similarity", tmp_path / "pairs.tsv", "--analogy", tmp_path / "questions.txt"]
    rows = json.loads(ok("evaluate", model, model, *asked, "--json"))
    assert {"vectors", "set", "measure", "value", "seen", "total"} <= set(rows[0])
    assert [(row["seen"], row["total"]) for row in rows if row["measure"] == "spearman"] == [(3, 4), (3, 4)]
    assert {(row["seen"], row["total"]) for row in rows if row["section"] == "animals"} == {(1, 2)}
    lines = ok("evaluate", model, *asked).splitlines()
    assert lines[0].split("\t") == [
        "vectors", "set", "section", "words", "measure", "method", "value", "low", "high", "seen", "total",
    ]  # fmt: skip


@pytest.mark.slow
def test_evaluate_writes_a_report_and_compares(model: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("king\tqueen\t9\ndog\tcat\t8\nking\tbone\t1\nland\tbone\t3\n")
    asked = [model, model, "--similarity", tmp_path / "pairs.tsv"]
    ok("evaluate", *asked, "--report", tmp_path / "r.html", "--word", "king")
    page = (tmp_path / "r.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert f"embeddings evaluate {model} {model} --similarity" in page
    assert "exists" in run("evaluate", *asked, "--report", tmp_path / "r.html").stderr
    rows = json.loads(ok("evaluate", *asked, "--compare", "--json"))
    assert [(row["measure"], row["difference"], row["items"]) for row in rows] == [
        ("spearman", 0, 4),
        ("pearson", 0, 4),
    ]
    assert run("evaluate", model, "--compare").returncode == run("evaluate", model, "--word", "x").returncode == 2


@pytest.mark.parametrize("name", ["v.kv", "v.bin", "v.txt", "v.vec"])
def test_export_is_read_by_gensim(model: Path, tmp_path: Path, name: str) -> None:
    ok("export", model, tmp_path / name)
    if name == "v.kv":
        loaded = KeyedVectors.load(str(tmp_path / name))
    else:
        loaded = KeyedVectors.load_word2vec_format(str(tmp_path / name), binary=name == "v.bin")
    ours = em.load(model)
    assert loaded.index_to_key == ours.words
    assert [word for word, _ in loaded.most_similar("king")] == [word for word, _ in ours.most_similar("king")]


def test_trainers_lists_name_package_version_summary() -> None:
    lines = ok("trainers").splitlines()
    assert lines[0] == "trainer\tpackage\tversion\tsummary"
    assert any(line.startswith("skipgram\tembeddings-toolkit\t") for line in lines)


BAD = [
    (["train", "skipgram", "missing.txt", "-o", "x"], 1, "no file or folder called 'missing.txt'"),
    (["train", "skipgram", "empty.txt", "-o", "x"], 1, "no words found in empty.txt"),
    (["train", "skipgram", "cut.gz", "-o", "x"], 1, "cut.gz is truncated or corrupt gzip data"),
    (["train", "skipgram", "latin.txt", "-o", "x"], 1, "latin.txt is not UTF-8 at byte 3"),
    (["train", "skipgram", "text.txt", "-o", "x", "--min-count", "999"], 1, "the most frequent is 'the' with 400"),
    (["train", "skipgram", "text.txt", "-o", "there"], 1, "there exists"),
    (["train", "skipgram", "text.txt", "-o", "no/where/x"], 1, "is not a folder"),
    (["train", "skipgram", "text.txt", "-o", "x", "--dim", "0"], 2, "dim must be at least 1 and at most 65536, not 0"),
    (["train", "skipgram", "text.txt", "-o", "x", "--rate", "nan"], 2, "rate must be above 0 and at most 100, not nan"),
    (["train", "skipgram", "text.txt", "-o", "x", "--threads", "0"], 2, "0 is not in the range"),
    (["train", "skipgram", "text.txt", "-o", "x", "--wat", "1"], 2, "No such option"),
    (["train", "glove", "text.txt", "-o", "x"], 2, "no trainer called 'glove'; installed: cbow"),
    (["train", "skipgram", "text.txt", "-o", "x", "--tokenizer", "t"], 2, "no tokenizer called 't'; installed:"),
    (["neighbours", "missing", "king"], 1, "missing does not exist"),
    (["neighbours", "text.txt", "king"], 1, "text.txt"),
    (["evaluate", "text.txt", "--similarity", "missing"], 1, "no test set 'missing'"),
    (["evaluate", "text.txt", "--facts", "--compose"], 2, "--compose is of use only with --similarity"),
    (["evaluate", "text.txt", "--window", "1"], 2, "--window is of use only with --tagging"),
    (["evaluate", "text.txt", "--window", "0"], 2, "--window is of use only with --tagging"),
    (["evaluate", "text.txt", "--categories", "text.txt", "--method", "3cosmul"], 2, "--method is of use only with"),
    (["evaluate", "text.txt", "--documents", "text.txt"], 1, "plain text and has no column 'text'"),
    (
        ["evaluate", "text.txt", "--tagging", "text.txt,text.txt"],
        1,
        "the ten columns of CoNLL-U, or a word and its tag",
    ),
    (["evaluate", "text.txt", "--report", "there"], 1, "there exists"),
    (["export", "missing", "x.what"], 1, "no format goes with the ending '.what'"),
    (["nonsense"], 2, "No such command 'nonsense'"),
]


@pytest.mark.parametrize(("args", "code", "message"), BAD, ids=[" ".join(args) for args, _, _ in BAD])
def test_bad_input_gets_one_line_and_leaves_nothing(tmp_path: Path, args: list[str], code: int, message: str) -> None:
    import gzip

    (tmp_path / "text.txt").write_text(TEXT)
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9 au lait")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(os.urandom(5000).hex().encode())[:3000])
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "precious").write_text("kept")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    done = run(*args, cwd=tmp_path)
    assert done.returncode == code
    assert message in done.stderr
    errors = [line for line in done.stderr.splitlines() if not line.startswith("read ")]
    assert len(errors) == 1
    assert errors[0].startswith("Error: ")
    assert done.stdout == ""
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_debug_shows_where(tmp_path: Path) -> None:
    assert "Traceback" in run("--debug", "neighbours", tmp_path / "missing", "x").stderr


def test_force_replaces_a_model_but_never_a_strangers_folder(text: Path, model: Path, tmp_path: Path) -> None:
    ok("train", "cbow", text, "-o", tmp_path / "v", *SMALL)
    ok("train", "cbow", text, "-o", tmp_path / "v", *SMALL, "--force", "--dim", "4")
    assert em.load(tmp_path / "v").dim == 4
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter").write_text("dear")
    done = run("train", "cbow", text, "-o", tmp_path / "mine", *SMALL, "--force")
    assert done.returncode == 1
    assert (tmp_path / "mine" / "letter").read_text() == "dear"


def test_ctrl_c_ends_soon_and_saves_what_was_learned(text: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "embeddings", "train", "skipgram", str(text), "-o", str(tmp_path / "v")]
    process = subprocess.Popen([*command, "--epochs", "1000000"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("read ")
    time.sleep(3)  # compiled, and learning
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted after" in errors
    assert em.load(tmp_path / "v").words[0] == "the"


def test_closed_pipe_is_no_error(model: Path) -> None:
    command = f"{sys.executable} -m embeddings neighbours {model} the king queen dog cat --top 8 | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stdout.startswith("word")
    assert done.stderr == ""


def test_quick_commands_need_no_heavy_import(tmp_path, model: Path, python) -> None:
    heavy = {"numba", "pandas", "scipy", "sklearn", "gensim"}
    code = "import sys\nfrom embeddings.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    export = ("export", model, tmp_path / "v")
    for command in (
        ("info", model),
        ("info", __file__),
        (*export, "--format", "word2vec-text"),
        (*export, "--format", "parquet", "--force"),
    ):
        assert not heavy & set(python("-c", code, *command).stderr.split())
    assert not heavy - {"numba", "scipy"} & set(python("-c", code, "neighbours", model, "the").stderr.split())


def test_help_needs_no_heavy_import() -> None:
    heavy = "('numpy', 'numba', 'pyarrow', 'gensim')"
    code = f"import sys, embeddings.cli; print(*[m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == ""
