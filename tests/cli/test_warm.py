"""`embeddings warm` compiles what later runs use, and says where it cannot."""

import json

import pytest
from commands import refused


@pytest.mark.slow
def test_a_first_run_after_warm_compiles_nothing(tmp_path, python):
    cache, out = {"EMBEDDINGS_CACHE": str(tmp_path / "cache")}, tmp_path / "v"
    rows = json.loads(python("-m", "embeddings", "warm", "cbow", "--json", **cache).stdout)
    assert rows[0]["trainer"] == "cbow"
    assert rows[0]["seconds"] > 0
    text = tmp_path / "text.txt"
    text.write_text("".join(f"one two three word{number}\n" for number in range(5000)))
    for options in ([], ["--combine", "sum"], ["--negative-sharing", "window"], ["--phrases", "auto"]):
        arguments = ["train", "cbow", text, "-o", out, "--force", "--min-count", "1", *options]
        assert "compiling" not in python("-m", "embeddings", *arguments, **cache).stderr
    assert "compiling" not in python("-m", "embeddings", "neighbours", out, "one", **cache).stderr
    again = json.loads(python("-m", "embeddings", "warm", "cbow", "--json", **cache).stdout)
    assert again == [{"trainer": "cbow", "seconds": 0}]


def test_a_cache_that_cannot_be_written_is_refused_with_the_remedy(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path / "file" / "cache"))
    assert "EMBEDDINGS_CACHE" in refused("warm", "cbow", code=1)


def test_a_cache_that_others_can_write_to_is_refused_with_the_remedy(tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path / "cache"))
    assert "cannot cache compiled code: other users can write to" in refused("warm", "cbow", code=1)
