"""The parts of a benchmark: the text, equal settings, selection of tools, the table, measured processes, the figure."""

import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optional_libraries import needs_gensim

import embeddings as em
from embeddings.corpora import Corpus
from embeddings.corpora.documents import corpus_documents
from embeddings.errors import CorpusError, OutputError, SettingError
from embeddings.eval.benchmark import peers, result_table, tools, workspace
from embeddings.eval.benchmark.job import Job, ModelConfig, model_configs
from embeddings.eval.benchmark.runner import Benchmark
from embeddings.eval.benchmark.tools import select_tools

COMMON = {"window": 3, "subsample": 1e-4, "min_count": 7, "epochs": 2}
MACHINE = {
    "processor": "a processor",
    "cores": 2,
    "cores_available": 2,
    "system": "a system",
    "tools": {"embeddings": "0.1.0"},
    "date": "2025-01-01",
    "corpus": {"sources": ["text.txt"], "words": 100, "types": 10},
}


def arguments(name, config):
    """The arguments of a library for the settings of a configuration."""
    (program,) = (peer for peer in tools.PEERS if peer.name == name)
    return program.arguments_of(Job(config, 1, "text", "out"))


def made(trainer, **settings):
    (config,) = model_configs([trainer], dim=[30], negatives=[4], threads=[3], **{**COMMON, **settings})
    return config


# the text


sentence = st.lists(st.sampled_from(["a", "bb", "é", "\U0001f600", "c-c"]), max_size=30)


@settings(deadline=None)  # the first time it compiles
@given(st.lists(sentence, min_size=1, max_size=8).filter(any), st.integers(1, 12))
def test_lines_are_cut_without_losing_words(tmp_path_factory, lists, longest):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    with Corpus(lists).encode() as encoded:
        workspace.write_words(encoded, path, max_line=longest)
    naive = [one[start : start + longest] for one in lists for start in range(0, len(one), longest)]
    assert path.read_text(encoding="utf-8") == "".join(" ".join(line) + "\n" for line in naive)


def test_no_line_is_longer_than_a_thousand_words(tmp_path):
    with Corpus([["word"] * 2500, ["end"]]).encode() as encoded:
        workspace.write_words(encoded, tmp_path / "text.txt")
    lines = (tmp_path / "text.txt").read_text().splitlines()
    assert [len(line.split()) for line in lines] == [1000, 1000, 500, 1]


def test_words_with_white_space_are_refused(tmp_path):
    with (
        Corpus([["new york", "end"]]).encode() as encoded,
        pytest.raises(CorpusError, match=r"'new york'.*white space"),
    ):
        workspace.write_words(encoded, tmp_path / "text.txt")


def test_the_text_has_the_same_words(tmp_path):
    source = tmp_path / "source.txt"
    source.write_text("The cat, l\u2019été! \u0130stanbul 42\n\n" + "na\u00efve \u03a3\u03a3 " * 1500, encoding="utf-8")
    first = Corpus(source).encode()
    workspace.write_words(first, tmp_path / "text.txt")
    again = Corpus(tmp_path / "text.txt", tokenizer="whitespace", case="keep").encode()
    assert list(again.ids) == list(first.ids)
    assert list(again.vocabulary.words) == list(first.vocabulary.words)


# settings


@needs_gensim
@pytest.mark.parametrize(("trainer", "sg", "rate"), [("skipgram", 1, 0.05), ("cbow", 0, 0.075)])
def test_gensim_gets_our_settings(trainer, sg, rate):
    from gensim.models import Word2Vec

    model = Word2Vec(**arguments("gensim", made(trainer)))
    assert (model.sg, model.hs, model.cbow_mean, model.shrink_windows) == (sg, 0, 1, True)
    assert (model.vector_size, model.window, model.negative, model.epochs) == (30, 3, 4, 2)
    assert (model.sample, model.min_count, model.workers, model.ns_exponent) == (1e-4, 7, 3, 0.75)
    assert (model.alpha, model.min_alpha) == (rate, pytest.approx(rate / 10_000))


@needs_gensim
@pytest.mark.parametrize(
    ("trainer", "expected"),
    [
        ("paragraph-dbow", {"dm": False, "dbow_words": 0, "alpha": 0.05}),
        ("paragraph-dbow:train_words=true", {"dm": False, "dbow_words": 1}),
        ("paragraph-dm", {"dm": True, "cbow_mean": 1, "dm_concat": 0, "shrink_windows": True, "alpha": 0.05}),
        ("paragraph-dm:combine=sum,learning_rate=0.02", {"dm": True, "cbow_mean": 0, "dm_concat": 0, "alpha": 0.02}),
        ("paragraph-dm:combine=concat", {"dm": True, "dm_concat": 1}),
    ],
)
def test_gensim_gets_our_settings_of_documents(trainer, expected):
    from gensim.models import Doc2Vec

    (config,) = model_configs([trainer], dim=[30], negatives=[4], threads=[3], epochs=2)
    model = Doc2Vec(**arguments("gensim", config))
    assert {name: getattr(model, name) for name in expected} == expected
    assert (model.vector_size, model.window, model.negative, model.epochs, model.hs) == (30, 5, 4, 2, 0)


def test_trainers_with_their_own_settings():
    found = model_configs(["paragraph-dm", "paragraph-dm:combine=concat,window=3"], dim=[8], negatives=[2], threads=[1])
    summary = [(one.model, one.settings["window"]) for one in found]
    assert summary == [("paragraph-dm-mean", 5), ("paragraph-dm-concat", 3)]
    assert found[1].file_name == "paragraph-dm-concat-dim8-negatives2-threads1"
    for wrong in ("paragraph-dm:combine", "paragraph-dm:combine=all", "cbow:documents=lines"):
        with pytest.raises(SettingError):
            model_configs([wrong], dim=[8], negatives=[2])
    with pytest.raises(SettingError, match="separately"):
        model_configs(["cbow", "paragraph-dm"], dim=[8], negatives=[2])


def test_each_document_is_a_line(tmp_path):
    long = "w " * 2500
    with Corpus(["a b\nc", "", long, ","]).encode() as encoded:
        workspace.write_documents(encoded, tmp_path / "text.txt")
    again = Corpus(tmp_path / "text.txt", tokenizer="whitespace", case="keep").encode()
    assert (tmp_path / "text.txt").read_text() == f"a b c\n\n{long.strip()}\n\n"
    assert np.diff(corpus_documents(again).borders).tolist() == [3, 0, 2500, 0]


def test_document_runs_show_errors():
    judged = {"documents": "auto", "error of test": 0.25, "error of test covered": 4, "error of test total": 4}
    runs = [row("embeddings", 1, 1.0, **judged), row("gensim", 1, 4.0, **{**judged, "error of test": 0.5})]
    lines = result_table.markdown(runs, MACHINE, [tools.OURS]).splitlines()
    heads = next(line for line in lines if line.startswith("| model"))
    assert "error of test (covered of 4)" in heads
    assert "WordSim-353" not in heads
    assert "| 0.500 (4) |" in next(line for line in lines if "| gensim |" in line)
    assert any("logistic regression" in line for line in lines)


def test_parts_of_a_set_are_columns_if_all_lines_have_them():
    whole = {"google-analogies": 0.25, "google-analogies covered": 8, "google-analogies total": 9}
    part = {f"google-analogies semantic{end}": value for end, value in (("", 0.5), (" covered", 3), (" total", 4))}
    both, one = row("embeddings", 1, 1.0, **whole, **part), row("gensim", 1, 4.0, **whole)

    def shown(*runs):
        return any("semantic" in line for line in result_table.markdown(runs, MACHINE, [tools.OURS]).splitlines())

    assert shown(both, {**one, **part})
    assert not shown(both, one)
    assert shown(both, {**row("gensim", 1, None), "error": "it broke"})


def test_fasttext_gets_our_settings_and_no_ngrams():
    given = arguments("fasttext", made("cbow"))
    assert given == {
        **{"model": "cbow", "loss": "ns", "minn": 0, "maxn": 0, "wordNgrams": 1, "verbose": 0},
        **{"dim": 30, "ws": 3, "neg": 4, "t": 1e-4, "minCount": 7, "epoch": 2, "lr": 0.075, "thread": 3},
    }


def test_fasttext_keeps_every_word_where_we_do(monkeypatch, tmp_path):
    """By t = 0 it would keep none."""
    thresholds = []

    def train(text, **settings):
        thresholds.append(settings["t"])
        return SimpleNamespace(get_words=lambda on_unicode_error: ["a"], get_word_vector=lambda word: np.ones(2))

    monkeypatch.setitem(sys.modules, "fasttext", SimpleNamespace(train_unsupervised=train))
    monkeypatch.setitem(sys.modules, "fasttext.FastText", SimpleNamespace(EOS="</s>", unsupervised_default={}))
    program = next(peer for peer in tools.PEERS if peer.name == "fasttext")
    job = Job(made("skipgram", subsample=0.0), 1, "text", str(tmp_path / "v.bin"))
    peers.run_fasttext(job, peers.Clock(), program)
    share = 1.0
    assert {(t / share) ** 0.5 + t / share >= 1 for t in thresholds} == {True}


@pytest.mark.parametrize("trainer", ["skipgram", "cbow"])
def test_our_command_has_every_setting(trainer):
    from embeddings.cli.train import command

    config = made(trainer, window=4)
    config = ModelConfig(trainer, {**config.settings, "shrink_window": False, "max_vocab": 90}, 3)
    words = tools.OURS.call(Job(config, 5, "in.txt", "out.bin"))
    at = words.index(trainer)
    made_command = command.get_command(None, trainer)
    given = made_command.make_context(trainer, words[at + 1 :]).params
    assert {name: given[name] for name in config.settings} == config.settings
    assert (given["corpus"], given["out"], given["seed"], given["threads"]) == (("in.txt",), "out.bin", 5, 3)
    assert (given["tokenizer"], given["case"]) == ("whitespace", "keep")


def test_every_combination_has_one_configuration():
    found = model_configs(["skipgram", "cbow"], dim=[10, 20, 10], negatives=[5], threads=[1, 2], **COMMON)
    summary = [(one.trainer, one.settings["dim"], one.threads) for one in found]
    assert summary == [(name, dim, threads) for name in ("skipgram", "cbow") for dim in (10, 20) for threads in (1, 2)]
    assert {one.settings["learning_rate"] for one in found if one.trainer == "cbow"} == {0.075}


def test_a_job_survives_the_command_line():
    job = Job(made("cbow"), 2, "a.txt", "b.bin")
    assert Job.from_json(job.to_json()) == job


# selection of tools


def test_a_missing_peer_is_refused_with_its_package(monkeypatch):
    monkeypatch.setattr(tools, "find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r"fasttext.*pip install fasttext-numpy2"):
        select_tools(["fasttext"], [made("cbow")])
    with pytest.raises(SettingError, match=r"gensim.*pip install gensim.*3\.13"):
        select_tools(["gensim"], [made("cbow")])
    assert select_tools([], [made("cbow")]) == [tools.OURS]


def test_unknown_peers_and_models_are_refused(monkeypatch):
    with pytest.raises(SettingError, match=r"peer.*gensim, fasttext.*'word2vec'"):
        select_tools(["word2vec"], [made("cbow")])
    monkeypatch.setattr(tools, "find_spec", lambda name: name)
    other = ModelConfig("glove", {}, 1)
    with pytest.raises(SettingError, match=r"gensim.*glove.*skipgram, cbow, fasttext, paragraph-dbow, paragraph-dm"):
        select_tools(["gensim"], [other])
    assert select_tools([], [other]) == [tools.OURS]


@pytest.mark.slow
@pytest.mark.parametrize(
    "tool", [tools.OURS, *(peer for peer in tools.PEERS if peer.is_installed)], ids=lambda tool: tool.name
)
def test_every_tool_has_vectors_of_the_same_words(tool, tmp_path):
    source, out = tmp_path / "text.txt", tmp_path / "out.bin"
    source.write_text("a b c a b\nc a b a rare\n" * 20 + "once\n")
    (config,) = model_configs(
        ["skipgram"], dim=[8], negatives=[2], threads=[1], window=2, subsample=0.0, min_count=2, epochs=1
    )
    done = workspace.run(tool.call(Job(config, 1, str(source), str(out))), os.environ)
    if "Encountered NaN" in done.error:  # fastText itself, on some machines
        pytest.skip(f"{tool.name} could not train: {done.error}")
    assert done.error == ""
    found = em.load(out)
    assert (found.words, found.dim) == (["a", "b", "c", "rare"], 8)


# the table


def row(tool, seed, cpu, **more):
    times = dict.fromkeys(workspace.TIMES, cpu)
    shape = {"trainer": "cbow", "dim": 10, "negatives": 5, "epochs": 2, "threads": 1}
    return {**shape, "corpus_words": 100, "tool": tool, "version": "1", "seed": seed, **times, "error": "", **more}


def test_additional_sets_have_columns(tmp_path):
    judged = {"rare words": 0.4, "rare words covered": 10, "rare words total": 20}
    runs = [row("embeddings", seed, 1.0, wordsim353=0.5, **judged) for seed in (1, 2)]
    workspace.write_rows(runs, tmp_path / "r.csv")
    (ours,) = result_table.summaries(workspace.read_rows(tmp_path / "r.csv"))
    assert ours.scores["rare words"] == (pytest.approx(0.4), 10, 20)
    assert not {"rare words", "rare words covered"} & set(ours.settings)
    assert list(ours.scores)[:3] == list(workspace.SETS)


def test_times_are_medians_and_scores_are_means():
    runs = [row("embeddings", seed, cpu, wordsim353=cpu / 10) for seed, cpu in enumerate([1.0, 2.0, 6.0])]
    runs += [row("gensim", seed, cpu) for seed, cpu in enumerate([30.0, 10.0, 20.0])]
    ours, theirs = result_table.summaries(runs)
    assert ours.times["training_cpu"] == 2
    assert ours.scores["wordsim353"][0] == pytest.approx(0.3)
    assert ours.ranges["wordsim353"] == (0.1, 0.6)
    assert ours.words_per_second == 100 * 2 / 2
    assert theirs.ratios == dict.fromkeys(workspace.TIMES, 10)
    assert theirs.scores["wordsim353"] == (None, None, None)


def test_failures_and_incomplete_reading_are_remarks():
    failed = {**row("gensim", 1, None), "error": "it | broke"}
    lazy = row("fasttext", 1, 1.0, words_read=20)
    lines = result_table.markdown(
        [row("embeddings", 1, 1.0), failed, lazy], MACHINE, [tools.OURS, *tools.PEERS]
    ).splitlines()
    assert next(line for line in lines if "| gensim |" in line).endswith("| 0 | 1 failed: it \\| broke |")
    assert next(line for line in lines if "| fasttext |" in line).endswith("| 1 | read only 10 % of the words |")


def test_varying_settings_are_columns():
    runs = [row("embeddings", 1, 1.0), {**row("embeddings", 1, 1.0), "dim": 300, "combine": "mean"}]
    lines = result_table.markdown(runs, MACHINE, [tools.OURS]).splitlines()
    assert "Common settings: negatives 5, epochs 2, threads 1, combine mean." in lines
    assert next(line for line in lines if line.startswith("| model")).startswith("| model | dim | tool |")


def test_settings_of_other_objectives_are_not_shown():
    run = {**row("embeddings", 1, 1.0), "objective": "hierarchical-softmax", "tree": "huffman", "proposals": "unigram"}
    lines = result_table.markdown([run], MACHINE, [tools.OURS]).splitlines()
    assert "Common settings: dim 10, epochs 2, threads 1, objective hierarchical-softmax, tree huffman." in lines


# processes


def test_cpu_is_counted_with_children():
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"
    assert workspace.run([sys.executable, "-c", code], os.environ).cpu >= 0.3


def test_memory_is_that_of_the_process_itself():
    held = bytearray(200_000_000)
    small = workspace.run([sys.executable, "-c", "import time; time.sleep(0.2)"], os.environ)
    large = workspace.run([sys.executable, "-c", "import time; a = b'x' * 60_000_000; time.sleep(0.2)"], os.environ)
    if small.private is not None:
        assert small.peak < len(held) / 2
        assert large.private >= 60_000_000
        assert small.private < 60_000_000
    assert large.peak >= 60_000_000


def test_ctrl_c_kills_the_running_command(python):
    code = """
import os, signal, sys, threading
from embeddings.eval.benchmark import workspace
threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
workspace.run([sys.executable, "-c", "import time; time.sleep(3600)"], os.environ)
"""
    done = python("-c", code, check=False)  # in 600 s at most
    assert done.stderr.splitlines()[-1] == "KeyboardInterrupt"


def test_an_error_is_the_last_line_or_the_signal():
    failed = workspace.run([sys.executable, "-c", "raise RuntimeError('too  bad')"], os.environ)
    assert failed.error == "RuntimeError: too bad"
    killed = workspace.run([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], os.environ)
    assert killed.error == "killed by SIGKILL"


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("embeddings.eval.benchmark.runner", {"gensim", "matplotlib", "fasttext", "numba"}),
        ("embeddings.eval.benchmark.peers", {"gensim", "fasttext", "numba", "pyarrow"}),
        ("embeddings.cli.benchmark", {"numpy", "gensim", "matplotlib"}),
    ],
)
def test_heavy_libraries_are_imported_on_use(python, module, absent):
    done = python("-c", f"import sys, {module}; print(*sys.modules)")
    assert not absent & set(done.stdout.split())


def test_invalid_folders_are_refused(tmp_path):
    with pytest.raises(OutputError, match="nowhere is not a folder"):
        Benchmark([], [], tmp_path / "nowhere" / "results").check()
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"file is not a folder$"):
        Benchmark([], [], tmp_path / "file").check()


@needs_gensim
@pytest.mark.parametrize("buckets", [None, 77])
def test_gensim_gets_our_settings_of_ngrams(buckets):
    from gensim.models import FastText

    (config,) = model_configs(
        ["fasttext"], dim=[8], negatives=[3], threads=[2], min_n=2, max_n=4, buckets=buckets, learning_rate=0.04
    )
    model = FastText(**arguments("gensim", config))
    assert (model.sg, model.hs, model.negative, model.alpha) == (1, 0, 3, 0.04)
    assert (model.wv.min_n, model.wv.max_n, model.wv.bucket) == (2, 4, buckets or 2_000_000)


# the figure


def test_the_legend_fits_into_the_figure():
    shapes = [{"dim": dim, "negatives": negatives} for dim in (100, 300) for negatives in (5, 15, 100)]
    runs = [row(tool, 1, 1.0, wordsim353=0.5, **shape) for shape in shapes for tool in ("embeddings", "gensim")]
    figure = result_table.quality_figure(runs)
    figure.canvas.draw()
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 2 + len(shapes)
    box, whole = legend.get_window_extent(), figure.bbox
    assert whole.x0 <= box.x0 < box.x1 <= whole.x1
    assert whole.y0 <= box.y0 < box.y1 <= whole.y1


def test_tools_of_unknown_training_time_are_drawn_by_whole_runs():
    runs = [row(tool, 1, 1.0, wordsim353=0.5) for tool in ("embeddings", "gensim")]
    (axes,) = [axes for axes in result_table.quality_figure(runs).axes if axes.get_xlabel()]
    assert "whole" not in axes.get_xlabel()
    runs[1] |= {"training_cpu": None, "training_wall": None}
    (axes,) = [axes for axes in result_table.quality_figure(runs).axes if axes.get_xlabel()]
    assert "whole" in axes.get_xlabel()
    drawn = [line.get_xdata()[0] for line in axes.lines if line.get_marker() != "None"]
    assert drawn == [one["corpus_words"] * one["epochs"] / one["whole_cpu"] for one in runs]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({}, False), ({"schedule": "cosine"}, True), ({"warm_up": 0.1}, True), ({"tie": True}, True)],
    ids=str,
)
def test_readers_are_told_what_other_tools_ignore(changes, expected):
    own = {**vars(em.SkipGram(**changes)), "trainer": "skipgram", "threads": 1}
    for tool in tools.PEERS:
        texts = [note.text for note in tool.notes if note.applies_to(own)]
        assert any("ignores the schedule" in text for text in texts) == expected
