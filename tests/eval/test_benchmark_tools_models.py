"""Jobs of a benchmark: configurations and the tools that run them."""

import pytest

from embeddings.errors import SettingError
from embeddings.eval.benchmark import tools
from embeddings.eval.benchmark.tools import Job, ModelConfig, model_configs, select_tools

COMMON = {"window": 3, "subsample": 1e-4, "min_count": 7, "epochs": 2}


def made(trainer, **settings):
    (config,) = model_configs([trainer], dim=[30], negatives=[4], threads=[3], **{**COMMON, **settings})
    return config


def test_every_combination_has_one_configuration():
    found = model_configs(["skipgram", "cbow"], dim=[10, 20, 10], negatives=[5], threads=[1, 2], **COMMON)
    summary = [(one.trainer, one.settings["dim"], one.threads) for one in found]
    assert summary == [(name, dim, threads) for name in ("skipgram", "cbow") for dim in (10, 20) for threads in (1, 2)]
    assert {one.settings["learning_rate"] for one in found if one.trainer == "cbow"} == {0.075}


def test_trainers_of_any_kind_are_mixed():
    """Each gets the common settings that it has, and no configuration twice."""
    found = model_configs(["skipgram", "glove"], dim=[10], negatives=[3, 5], threads=[1], **COMMON)
    assert [one.label for one in found] == [
        "skipgram dim 10 negatives 3 threads 1", "skipgram dim 10 negatives 5 threads 1", "glove dim 10 threads 1",
    ]  # fmt: skip
    assert (found[2].settings["window"], "negatives" in found[2].settings) == (3, False)
    with pytest.raises(SettingError, match="negatives"):
        model_configs(["glove:negatives=3"], dim=[10], negatives=[3], **COMMON)
    assert select_tools(["none"], found) == [tools.OURS]


def test_a_job_survives_the_command_line():
    job = Job(made("cbow"), 2, "a.txt", "b.bin")
    assert Job.from_json(job.to_json()) == job


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


@pytest.mark.parametrize(("schedule", "ratio"), [("linear", 10_000), ("constant", 1), ("step", 16)])
def test_the_final_learning_rate_is_that_of_the_schedule(schedule, ratio):
    config = made(f"skipgram:schedule={schedule}")
    assert config.min_learning_rate == pytest.approx(config.settings["learning_rate"] / ratio)


def test_configurations_have_different_names():
    found = model_configs(
        ["skipgram:window=2", "skipgram:window=10,initializer=normal", "skipgram"],
        dim=[8], negatives=[2], threads=[1, 2],
    )  # fmt: skip
    assert len({one.file_name for one in found}) == len({one.label for one in found}) == 6
    assert found[2].file_name == "skipgram-window10-initializernormal-dim8-negatives2-threads1"
    assert found[2].label == "skipgram window 10 initializer normal dim 8 negatives 2 threads 1"
