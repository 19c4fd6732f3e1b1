"""Tools of a benchmark: each gets our settings, and what it ignores is reported."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from optional_libraries import needs_gensim

import embeddings as em
from embeddings.errors import SettingError
from embeddings.eval.benchmark import peers, tools
from embeddings.eval.benchmark.tools import Job, ModelConfig, model_configs

COMMON = {"window": 3, "subsample": 1e-4, "min_count": 7, "epochs": 2}


def made(trainer, **settings):
    (config,) = model_configs([trainer], dim=[30], negatives=[4], threads=[3], **{**COMMON, **settings})
    return config


def arguments(name, config):
    """The arguments of a library for the settings of a configuration."""
    (program,) = (peer for peer in tools.PEERS if peer.name == name)
    return program.arguments_of(Job(config, 1, "text", "out"))


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
    summary = [(one.model_id, one.settings["window"]) for one in found]
    assert summary == [("paragraph-dm-mean", 5), ("paragraph-dm-concat", 3)]
    assert found[1].file_name == "paragraph-dm-concat-window3-dim8-negatives2-threads1"
    for wrong in ("paragraph-dm:combine", "paragraph-dm:combine=all", "cbow:documents=lines"):
        with pytest.raises(SettingError):
            model_configs([wrong], dim=[8], negatives=[2])
    with pytest.raises(SettingError, match="separately"):
        model_configs(["cbow", "paragraph-dm"], dim=[8], negatives=[2])


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


# processes


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("embeddings.eval.benchmark.runner", {"gensim", "matplotlib", "fasttext", "numba"}),
        ("embeddings.eval.benchmark.peers", {"gensim", "fasttext", "numba", "pyarrow"}),
        ("embeddings.cli.benchmark", {"gensim", "matplotlib", "numba"}),
    ],
)
def test_heavy_libraries_are_imported_on_use(python, module, absent):
    done = python("-c", f"import sys, {module}; print(*sys.modules)")
    assert not absent & set(done.stdout.split())


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
