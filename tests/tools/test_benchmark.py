"""Benchmarks of this package beside other tools: settings, processes, texts and tables."""

import csv
import json
import random
import sys

import benchmark
import processes
import pytest
from benchmark_programs import OURS, Job, ModelConfig, Program, model_configs
from hypothesis import given
from hypothesis import strategies as st
from optional_libraries import import_gensim, needs_gensim
from platforms import needs_wait4

import embeddings as em
from embeddings.eval.tasks.word_similarity import read_word_pairs

COMMON = {"dim": 30, "negatives": 4, "window": 3, "subsample": 1e-4, "min_count": 7, "epochs": 2}


def made(trainer, **settings):
    (config,) = model_configs([trainer], 3, **{**COMMON, **settings})
    return config


def arguments(name, config):
    """The arguments of a library for the settings of a configuration."""
    return benchmark.find_tool(name).arguments_of(Job(config, 1, "text", "out"))


@needs_gensim
def test_gensim_gets_our_settings():
    from gensim.models import Doc2Vec, Word2Vec

    model = Word2Vec(**arguments("gensim", made("cbow")))
    assert (model.sg, model.hs, model.cbow_mean, model.shrink_windows) == (0, 0, 1, True)
    assert (model.vector_size, model.window, model.negative, model.epochs) == (30, 3, 4, 2)
    assert (model.sample, model.min_count, model.workers, model.ns_exponent) == (1e-4, 7, 3, 0.75)
    assert (model.alpha, model.min_alpha) == (0.075, pytest.approx(0.075 / 10_000))
    model = Doc2Vec(**arguments("gensim", made("paragraph-dm:combine=concat")))
    assert (model.dm, model.dm_concat, model.hs) == (True, 1, 0)


def test_fasttext_gets_our_settings_and_no_ngrams():
    assert arguments("fasttext", made("cbow")) == {
        **{"model": "cbow", "loss": "ns", "minn": 0, "maxn": 0, "wordNgrams": 1, "verbose": 0},
        **{"dim": 30, "ws": 3, "neg": 4, "t": 1e-4, "minCount": 7, "epoch": 2, "lr": 0.075, "thread": 3},
    }


def test_our_command_has_every_setting():
    from embeddings.cli.train import command

    config = made("cbow", window=4)
    config = ModelConfig("cbow", {**config.settings, "shrink_window": False, "max_vocab": 90}, 3)
    words = OURS.call(Job(config, 5, "in.txt", "out.bin"))
    made_command = command.get_command(None, "cbow")
    given = made_command.make_context("cbow", words[words.index("cbow") + 1 :]).params
    assert {name: given[name] for name in config.settings} == config.settings
    assert (given["corpus"], given["out"], given["seed"], given["threads"]) == (("in.txt",), "out.bin", 5, 3)


@needs_wait4
def test_processes_are_measured():
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"
    assert processes.run([sys.executable, "-c", code]).cpu >= 0.3  # with its child
    large = processes.run([sys.executable, "-c", "import time; a = b'x' * 60_000_000; time.sleep(0.2)"])
    assert large.peak >= 60_000_000
    for code, message in (("raise SystemExit('it  broke')", "it broke"), ("exit(3)", "exit code 3")):
        with pytest.raises(processes.CommandError, match=message):
            processes.run([sys.executable, "-c", code])


sentence = st.lists(st.sampled_from(["a", "bb", "é", "\U0001f600", "c-c"]), max_size=30)


@given(st.lists(sentence, min_size=1, max_size=8).filter(any), st.integers(1, 12))
def test_lines_are_cut_without_losing_words(tmp_path_factory, lists, longest):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    with em.Corpus(lists).encode() as encoded:
        benchmark.write_words(encoded, path, max_line=longest)
    naive = [one[start : start + longest] for one in lists for start in range(0, len(one), longest)]
    assert path.read_text(encoding="utf-8") == "".join(" ".join(line) + "\n" for line in naive)


PROGRAM = """
name = "peer"
command = ["{python}", "PATH/program.py", "{out}", "{trainer}", "{dim}"]
trainers = ["skipgram", "cbow"]
vectors = "{stem}.vec"
"""
CODE = """
import pathlib, sys
if sys.argv[2] == "cbow":
    raise SystemExit("no cbow")
values = " ".join("1" * int(sys.argv[3]))
pathlib.Path(sys.argv[1]).with_suffix(".vec").write_text(f"2 {sys.argv[3]}\\nb {values}\\na {values}\\n")
"""


@needs_wait4
def test_a_described_program_is_run(tmp_path):
    (tmp_path / "program.py").write_text(CODE)
    (tmp_path / "peer.toml").write_text(PROGRAM.replace("PATH", str(tmp_path)))
    tool = Program.read(tmp_path / "peer.toml")
    (tmp_path / "kept").mkdir()
    workspace = benchmark.Workspace(tmp_path, 9, ["a", "b"], [], tmp_path / "kept")
    row = workspace.run(made("skipgram"), 1, tool)
    assert (row["error"], row["training_cpu"], row["tool"]) == ("", None, "peer")
    (kept,) = (tmp_path / "kept").iterdir()
    assert (em.load(kept).words, em.load(kept).dim) == (["a", "b"], 30)  # in the order of their frequency
    assert workspace.run(made("cbow"), 1, tool)["error"] == "no cbow"


@needs_wait4
@pytest.mark.slow
def test_a_small_benchmark(tmp_path, capsys):
    import_gensim()
    words = [word.lower() for pair in read_word_pairs("wordsim353").pairs[:60] for word in pair]
    draw, path = random.Random(1), tmp_path / "text.txt"
    path.write_text("\n".join(" ".join(draw.choices(words, k=draw.choice([5, 40, 1500]))) for _ in range(12)))
    small = ["--trainer", "cbow", "--dim", "8", "--epochs", "1", "--seeds", "1", "--threads", "2", "--min-count", "2"]
    benchmark.main([str(path), *small, "--peer", "gensim", "--out", str(tmp_path / "r"), "--keep"])
    with (tmp_path / "r" / "results.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    assert [line["tool"] for line in found] == ["embeddings", "gensim"]
    for line in found:
        assert (line["error"], line["dim"], line["subsample"], line["seed"]) == ("", "8", "0.001", "1")
        assert int(line["corpus_words"]) == len(path.read_text().split())
        assert min(float(line["whole_cpu"]), float(line["training_cpu"])) > 0
        assert -1 <= float(line["wordsim353"]) <= 1
    assert (tmp_path / "r" / "results.md").read_text() == capsys.readouterr().out
    assert (tmp_path / "r" / "results.png").read_bytes().startswith(b"\x89PNG")
    assert set(json.loads((tmp_path / "r" / "machine.json").read_text())["tools"]) == {"embeddings", "gensim"}
    assert len(list((tmp_path / "r" / "vectors").iterdir())) == 2
