"""The measurement of threads on a small text."""

import json

import numpy as np
import thread_scaling
from click.testing import CliRunner

from embeddings.kernels import row_cache


def test_variants_take_turns_and_results_are_kept(tmp_path):
    words = np.random.default_rng(1).integers(0, 30, 4000)
    text = tmp_path / "text.txt"
    text.write_text("\n".join(" ".join(f"w{word}" for word in line) for line in words.reshape(-1, 40)))
    arguments = [str(text), "--rounds", "1", "--threads", "2", "--cached-rows", "3", "-o", str(tmp_path)]
    arguments += ["--trainer", "cbow:dim=8"]
    done = CliRunner().invoke(thread_scaling.main, arguments)
    assert done.exit_code == 0, done.output
    first = (tmp_path / "scaling.json").read_text()
    variants = ["1 thread", "2 threads", "2 threads, separate tables", "2 processes", "2 threads, 3 cached rows"]
    assert {name: list(times) for name, times in json.loads(first)["trainers"].items()} == {"cbow:dim=8": variants}
    rows = [line.split("|")[2:-1] for line in (tmp_path / "scaling.md").read_text().splitlines()[4:]]
    assert [row[0].strip() for row in rows] == variants
    assert rows[0][4].strip() == "1.00"
    assert CliRunner().invoke(thread_scaling.main, arguments).output == ""  # nothing is measured again
    assert (tmp_path / "scaling.json").read_text() == first
    assert row_cache.MAX_CACHED_ROWS == 32
