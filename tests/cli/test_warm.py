"""`embeddings warm` compiles what later runs use, and says where it cannot."""

import json

import pytest
from commands import expect, refused

import embeddings as em
from embeddings.training import precompile


@pytest.mark.slow
def test_a_first_run_after_warm_compiles_nothing(tmp_path, python):
    cache, out = {"EMBEDDINGS_CACHE": str(tmp_path / "cache")}, tmp_path / "v"
    rows = json.loads(python("-m", "embeddings", "warm", "cbow", "--json", **cache).stdout)
    assert rows[0]["trainer"] == "cbow"
    assert rows[0]["seconds"] > 0
    text = tmp_path / "text.txt"
    text.write_text("".join(f"one two three word{number}\n" for number in range(5000)))
    for options in (
        [],
        ["--combine", "sum"],
        ["--shuffle"],
        ["--negative-sharing", "window"],
        ["--max-types", "50"],
        ["--phrases", "auto"],
    ):
        run = python(
            "-m", "embeddings", "train", "cbow", text, "-o", out, "--force", "--min-count", "1", *options, **cache
        )
        assert "compiling" not in run.stderr
    assert "compiling" not in python("-m", "embeddings", "neighbours", out, "one", **cache).stderr
    again = json.loads(python("-m", "embeddings", "warm", "cbow", "--json", **cache).stdout)
    assert again == [{"trainer": "cbow", "seconds": 0}]


def test_a_cache_that_cannot_be_written_is_refused_with_the_remedy(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path / "file" / "cache"))
    assert "EMBEDDINGS_CACHE" in refused("warm", "cbow", code=1)


def test_an_unknown_trainer_is_refused():
    assert "cbwo" in expect("warm", "cbwo", code=2).stderr


def test_a_cache_that_others_can_write_to_is_refused_with_the_remedy(tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path / "cache"))
    assert "cannot cache compiled code: other users can write to" in refused("warm", "cbow", code=1)


def test_the_list_tells_what_is_compiled(tmp_path, python):
    cache = {"EMBEDDINGS_CACHE": str(tmp_path / "cache")}
    run = python("-m", "embeddings", "warm", "--list", "--json", **cache)
    before = {row["part"]: row for row in json.loads(run.stdout)}
    assert {"skipgram", "training kernels", "the text reader", "nearest-neighbour search"} <= before.keys()
    assert all(row["kernels"] > 0 == row["compiled"] for row in before.values())
    assert f"compiled code is in {tmp_path / 'cache' / 'kernels'}" in run.stderr
    code = "import numpy as np\nfrom embeddings.kernels.random_numbers import alias_table\nalias_table(np.ones(3))"
    python("-c", code, **cache)
    after = {
        row["part"]: row for row in json.loads(python("-m", "embeddings", "warm", "--list", "--json", **cache).stdout)
    }
    shared = after.pop("training kernels")
    assert (shared["compiled"], shared["versions"]) == (1, 1)
    assert shared["bytes"] > 1000
    assert after == {name: row for name, row in before.items() if name in after}
    generic = python("-m", "embeddings", "warm", "--list", "--json", NUMBA_CPU_NAME="generic", **cache)
    assert not any(row["compiled"] for row in json.loads(generic.stdout))


def test_a_list_of_named_trainers_is_refused():
    assert "--list cannot be combined with TRAINER" in refused("warm", "--list", "cbow", code=2)


def test_warnings_about_tiny_models_are_not_shown(monkeypatch, caplog):
    settings = {"objective": "sampled-softmax", "target_in_sample": False}
    monkeypatch.setattr(precompile, "choices", lambda trainer: [{}, settings])
    monkeypatch.setattr(precompile, "use_model", lambda model: None)
    precompile.precompile("skipgram")
    assert not caplog.records
    em.SkipGram(dim=8, min_count=1, epochs=1, **settings).train(precompile.LINES)
    assert caplog.records
