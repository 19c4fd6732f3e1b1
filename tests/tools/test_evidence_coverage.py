"""The tables of the studies of intervals and of random halves."""

import numpy as np
import pytest
from studies import usage_change_study
from studies.evidence_coverage import Coverage
from studies.grid import read_rows
from study import main


def test_random_halves_without_findings(tmp_path):
    random = np.random.default_rng(1)
    (tmp_path / "documents.txt").write_text("100\n")
    for number in range(24):
        changes = random.normal(0.5, 0.1, 300)
        if number == 0:
            changes[:3] += 3
        np.save(tmp_path / f"division-{number:03}.npy", changes)
    row = usage_change_study.false_findings(tmp_path)
    assert row[1:4] == ["100", "300", "24"]
    assert row[4] == "1"
    assert int(row[5]) >= 3
    assert float(row[6]) == pytest.approx(0.05, abs=0.01)


@pytest.fixture
def text(tmp_path):
    """A text of documents of random words, of which each occurs at least 20 times in halves."""
    random = np.random.default_rng(1)
    words = ["man", "woman", "king", "queen", "boy", "girl", "tiger", "cat", "love", "sex"]
    words += [f"w{n}" for n in range(90)]
    lines = [" ".join(random.choice(words, 200)) for _ in range(60)]
    (tmp_path / "text.txt").write_text("\n\n".join(lines))
    return str(tmp_path / "text.txt")


def test_coverage_is_the_mean_over_repetitions_with_its_standard_error():
    shares = ("0.9", "1.0", "0.95")
    rows = [
        {"population": "sample", "repetition": str(number), "quantity": "cosine", "words": "all", "intervals": "500"}
        | {"contain": share, "width": "0.25"}
        for number, share in enumerate(shares)
    ]
    table = Coverage("evidence-coverage", {}).table(rows).splitlines()
    assert table[2:] == ["| sample | cosine | all | 1,500 | 95.0 ± 2.9 | 0.25 |"]


@pytest.mark.slow
def test_intervals_of_a_small_population(text, tmp_path):
    """The intervals of resamples are those of the command, and most contain the mean of further draws."""
    sizes = {"documents": 40, "draws": 6, "resamples": 5, "seeds": 2, "epochs": 3, "dim": 8}
    arguments = ["evidence-coverage", "--population", "small", "--corpus", text]
    arguments += [part for name, size in sizes.items() for part in (f"--{name}", str(size))]
    main([*arguments, "--out", str(tmp_path / "results")])
    rows = {(row["repetition"], row["quantity"], row["words"]): row for row in read_rows(tmp_path / "results.tsv")}
    assert {key[0] for key in rows} == {"0", "1"}
    for repetition in "01":
        by_band = [row for key, row in rows.items() if key[:2] == (repetition, "cosine") and key[2] != "all"]
        total = rows[repetition, "cosine", "all"]
        assert sum(int(row["intervals"]) for row in by_band) == int(total["intervals"]) > 0
        assert float(total["contain"]) > 0.6
        ranks = rows[repetition, "rank of the ten nearest neighbours", "all"]
        assert int(ranks["intervals"]) % 10 == 0
        assert float(ranks["width"]) >= 1
    assert "| small | cosine | all | " in (tmp_path / "results.md").read_text()


@pytest.mark.slow
def test_changes_between_halves_and_groups(text, tmp_path):
    arguments = ["--work", str(tmp_path / "work"), "--corpus", "small", "--text", text, "--divisions", "4"]
    main(["usage-halves", *arguments, "--epochs", "1", "--dim", "8", "--out", str(tmp_path / "halves")])
    row = (tmp_path / "halves.md").read_text().splitlines()[2]
    assert row.startswith("| small | 60 | ")
    groups = ["--first", text, "--second", text, "--permutations", "4", "--epochs", "1", "--dim", "8"]
    main(["usage-groups", *groups, "--out", str(tmp_path / "groups")])
    assert (tmp_path / "groups.md").read_text().startswith("60 and 60 documents; ")
