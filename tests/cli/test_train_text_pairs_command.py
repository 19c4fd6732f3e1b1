"""`embeddings train text-pairs`: pairs from columns and from documents, further training, and errors of one line."""

import commands
import numpy as np
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


def test_pairs_are_made_from_documents(tmp_path):
    text = tmp_path / "text.txt"
    fruits = "Apples\n" + "Apples are red fruits. " * 3 + "\n" + "Pears are green fruits. " * 3 + "\n"
    text.write_text(f"{fruits}\nStones\n" + "Stones are hard to eat. " * 3 + "\n")
    commands.expect("train", "text-pairs", text, "--pairs", "title-body", "-o", tmp_path / "model", *SMALL)
    assert em.load_model(tmp_path / "model").record["pairs"] == 3


def test_pairs_have_weights(rated, tmp_path):
    columns = ["--left-column", "first", "--right-column", "second", "--weight-column", "score", "--threads", "1"]
    commands.expect("train", "text-pairs", rated, "-o", tmp_path / "model", *SMALL, *columns)
    pairs = em.corpora.PairFormat(left="first", right="second", weight="score")
    model = em.DualEncoder(dim=8, epochs=2, batch_size=2).train(em.Corpus(rated, pairs=pairs), threads=1)
    np.testing.assert_array_equal(em.load_model(tmp_path / "model").vectors.matrix, model.vectors.matrix)
    for wrong in ("-1", "1e308", "inf", "many", ""):
        (tmp_path / "wrong.csv").write_text(f"first,second,score\na b,c d,2\na e,c f,{wrong}\n")
        message = commands.refused(
            "train", "text-pairs", tmp_path / "wrong.csv", "-o", tmp_path / "m", *columns, code=1
        )
        assert all(fact in message for fact in ("wrong.csv, row 2", "weight", "'score'")), message


def test_inputs_have_proportions(rated, tmp_path):
    (tmp_path / "more").mkdir()
    for number in range(2):
        (tmp_path / "more" / f"{number}.csv").write_text(rated.read_text())
    folder = tmp_path / "more"
    matrices = []
    for inputs in (["rated.csv", "more:3"], ["rated.csv", "more:6"], ["rated.csv:1", "more:3"], ["rated.csv", "more"]):
        commands.expect(
            "train", "text-pairs", *(tmp_path / name for name in inputs), "-o", tmp_path / "m", *SMALL, "--force"
        )
        matrices.append(em.load_model(tmp_path / "m").vectors.matrix)
    corpus = em.Corpus(rated, (folder, 3), pairs=em.corpora.PairFormat())
    model = em.DualEncoder(dim=8, epochs=2, batch_size=2).train(corpus, threads=1)
    assert [np.array_equal(model.vectors.matrix, one) for one in matrices] == [True, False, True, False]
    message = commands.refused("train", "text-pairs", f"{rated}:0", "-o", tmp_path / "m", *SMALL, code=2)
    assert "proportion" in message
    assert "--weight-column" not in message


def test_errors_are_one_line(rated, tmp_path):
    def error(*options, code=2):
        return commands.refused("train", "text-pairs", rated, "-o", tmp_path / "model", *SMALL, *options, code=code)

    assert "triplet-margin requires pairs of 3 texts" in error("--objective", "triplet-margin", code=1)
    assert "--left-column and --right-column must be set together" in error("--left-column", "first")
    assert "no column 'third'" in error("--left-column", "first", "--right-column", "third", code=1)
    assert "--pairs must be among" in error("--pairs", "strangers")
    message = error("--pairs", "neighbours", "--weight-column", "score")
    assert all(fact in message for fact in ("--weight-column", "columns", "neighbours"))
    (one := tmp_path / "one.tsv").write_text("a b\tc d\n")
    message = commands.refused("train", "text-pairs", one, "-o", tmp_path / "model", *SMALL, code=1)
    assert "column names" in message
    (text := tmp_path / "text.txt").write_text("a line of words\n")
    (column := tmp_path / "column.csv").write_text("text\na line of words\n")
    for source in (text, column):
        message = commands.refused("train", "text-pairs", source, "-o", tmp_path / "model", *SMALL, code=1)
        assert "--pairs neighbours" in message
