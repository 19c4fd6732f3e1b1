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


def test_a_cache_that_cannot_be_used_is_refused_with_the_remedy(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    for name, fact in (("file/cache", "EMBEDDINGS_CACHE"), ("open", "other users can write to")):
        monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path / name))
        assert fact in refused("warm", "cbow", code=1)
