"""`embeddings train text-pairs`: pairs from columns and from documents, further training, and errors of one line."""

import commands
import pytest

import embeddings as em

ROWS = [("a red apple", "the apple", 5), ("a green pear", "the pear", 4), ("a red apple", "the pear", 1)]
SMALL = ["--dim", "8", "--epochs", "2", "--threads", "1", "--batch-size", "2"]


@pytest.fixture
def rated(tmp_path):
    path = tmp_path / "rated.csv"
    path.write_text("first,second,score\n" + "".join(f"{a},{b},{rating}\n" for a, b, rating in ROWS * 4))
    return path


def test_pairs_are_columns_of_tables_and_a_model_is_trained_further(rated, tmp_path):
    model, further = tmp_path / "model", tmp_path / "further"
    commands.expect("train", "text-pairs", rated, "-o", model, *SMALL)
    assert em.load_model(model).record["pairs"] == len(ROWS) * 4
    commands.expect(
        "train", "text-pairs", rated, "--continue", model, "--objective", "cosent", "--threads", "1", "-o", further
    )
    assert em.load_model(further).settings["objective"] == "cosent"
    assert em.load_model(further).settings["dim"] == 8


def test_pairs_with_an_empty_side_are_dropped_with_a_warning(tmp_path):
    (tmp_path / "some.txt").write_text("a b\tc d\ne f\t \ng a\th b\n" * 20)
    result = commands.expect("train", "text-pairs", tmp_path / "some.txt", "-o", tmp_path / "m", *SMALL, "--quiet")
    assert "dropped 20 of 60 pairs" in result.stderr
    assert result.stderr.endswith(" 2\n")
