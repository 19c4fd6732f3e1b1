"""The measurement of tokenizers of other libraries."""

import os
import runpy
from pathlib import Path

import pytest
from commands import TEXT

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="requires Linux")
def test_the_table_has_a_row_for_each_installed_tokenizer(tmp_path, monkeypatch):
    tool = runpy.run_path(str(ROOT / "tools" / "segmenter_speed.py"))
    monkeypatch.setattr("embeddings.corpora.segmenters.find_spec", lambda name: None)
    (tmp_path / "t.txt").write_text(TEXT, "utf-8")
    cores = os.sched_getaffinity(0)
    tool["main"]([str(tmp_path / "out.md"), f"whitespace={tmp_path / 't.txt'}", "spacy:de=none.txt", "--epochs", "1"])
    (row,) = [line for line in (tmp_path / "out.md").read_text("utf-8").splitlines() if line.startswith("| `")]
    assert row.startswith("| `whitespace` | 1,000 | ")
    assert os.sched_getaffinity(0) == cores
