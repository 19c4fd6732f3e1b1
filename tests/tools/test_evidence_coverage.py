"""The tables of the studies of intervals and of random halves."""

import numpy as np
import pytest
from studies import usage_change_study
from studies.evidence_coverage import BASIC, CHOSEN, HALVES, PERCENTILES, Quantity, Trainings, coverage_rows
from study import main


def quantity(sd=0.1, shift=0.0):
    """A quantity of 500 items in 8 repetitions with 20 resamples, whose values are normal."""
    random = np.random.default_rng(0)
    expected = random.uniform(-0.3, 0.3, 500)
    repetitions = []
    for _ in range(8):
        model = expected + 0.1 * random.normal(size=500)
        resamples = model + shift + sd * random.normal(size=(20, 500))
        seeds = model + 0.06 * random.normal(size=(5, 500))
        repetitions.append(Trainings(np.vstack([model, resamples, seeds]), None, 20, 5))
    draws = expected + 0.1 * random.normal(size=(200, 500))
    groups = np.repeat(["rare", "frequent"], 250)
    return Quantity("cosine", groups, repetitions, [draws] * 8)


@pytest.mark.slow
def test_coverage_of_normal_values():
    rows = {(row["group"], row["method"]): row for row in coverage_rows(quantity())}
    for group, number in (("all", 4000), ("rare", 2000), ("frequent", 2000)):
        row = rows[group, CHOSEN]
        assert row["intervals"] == number
        assert row["coverage"] == pytest.approx(0.95, abs=0.015)
        assert row["sd_ratio"] == pytest.approx(1, abs=0.03)
        assert (row["data_sd"], row["seed_sd"]) == pytest.approx((0.08, 0.06), abs=0.005)
        assert 0.8 < row["coverage_draw"] < 0.9  # of twice the variance
    assert not {("rare", BASIC), ("all", HALVES)} & rows.keys()
    narrow = next(iter(coverage_rows(quantity(sd=0.05))))
    assert narrow["coverage"] < 0.75
    shifted = {row["method"]: row["coverage"] for row in coverage_rows(quantity(shift=-0.1))}
    assert shifted[CHOSEN] > 0.93 > 0.85 > max(shifted[PERCENTILES], shifted[BASIC])


def test_missing_words_are_left_out():
    one = quantity()
    one.repetitions[0].values[0, :10] = np.nan
    one.repetitions[1].values[1:20, 0] = np.nan
    row = next(iter(coverage_rows(one)))
    assert row["intervals"] == 4000 - 11


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


@pytest.mark.slow
def test_intervals_of_a_small_population(text, tmp_path):
    sizes = {"documents": 40, "repetitions": 2, "draws": 3, "resamples": 3, "seeds": 2, "epochs": 1, "dim": 8}
    arguments = ["evidence-coverage", "--work", str(tmp_path / "work"), "--population", "small", "--corpus", text]
    arguments += [part for name, size in sizes.items() for part in (f"--{name}", str(size))]
    main([*arguments, "--out", str(tmp_path / "results")])
    table = (tmp_path / "results.md").read_text()
    assert table.endswith("- small: 2 repetitions, 3 independent draws.\n")
    assert "| cosine | as in the command | " in table
    main(["evidence-coverage", "--only-table", "--work", str(tmp_path / "work"), "--out", str(tmp_path / "again")])
    assert (tmp_path / "again.md").read_text() == table


@pytest.mark.slow
def test_changes_between_halves_and_groups(text, tmp_path):
    arguments = ["--work", str(tmp_path / "work"), "--corpus", "small", "--text", text, "--divisions", "4"]
    main(["usage-halves", *arguments, "--epochs", "1", "--dim", "8", "--out", str(tmp_path / "halves")])
    row = (tmp_path / "halves.md").read_text().splitlines()[2]
    assert row.startswith("| small | 60 | ")
    groups = ["--first", text, "--second", text, "--permutations", "4", "--epochs", "1", "--dim", "8"]
    main(["usage-groups", *groups, "--out", str(tmp_path / "groups")])
    assert (tmp_path / "groups.md").read_text().startswith("60 and 60 documents; ")
