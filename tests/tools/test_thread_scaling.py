"""The measurement of threads on a small text."""

import numpy as np
from studies.grid import collect, read_rows
from study import main


def test_variants_take_turns_and_results_are_kept(tmp_path):
    words = np.random.default_rng(1).integers(0, 30, 4000)
    text = tmp_path / "text.txt"
    text.write_text("\n".join(" ".join(f"w{word}" for word in line) for line in words.reshape(-1, 40)))
    arguments = ["threads", "--text", str(text), "--rounds", "1", "--threads", "2", "--trainer", "cbow:dim=8"]
    arguments += ["--out", str(tmp_path / "scaling")]
    main(arguments)
    first = (tmp_path / "scaling.tsv").read_text()
    variants = ["1 thread", "2 threads", "2 processes"]
    assert list(collect(read_rows(tmp_path / "scaling.tsv"), "trainer", "variant")) == [
        ("cbow:dim=8", variant) for variant in variants
    ]
    rows = [line.split("|")[2:-1] for line in (tmp_path / "scaling.md").read_text().splitlines()[4:]]
    assert [row[0].strip() for row in rows] == variants
    assert all(float(seconds) >= 0 for row in rows for seconds in row[1:])
    main(arguments)
    assert (tmp_path / "scaling.tsv").read_text() == first  # nothing is measured again
