"""`embeddings train classifier` on lines and tables, `predict` with its models, and what both refuse."""

import csv
import json

import numpy as np
import pytest
from commands import expect, process, refused, run

import embeddings as em
from embeddings.support import tensors

TEXTS = [("good", "a fine film"), ("bad", "a dull film"), ("good;long", "a fine long film")] * 50
LINES = "".join(" ".join(f"__label__{one}" for one in labels.split(";")) + f" {text}\n" for labels, text in TEXTS)
SMALL = ("--dim", 8, "--epochs", 20, "--learning-rate", 0.5, "--threads", 1)


@pytest.fixture
def lines(tmp_path):
    (tmp_path / "train.txt").write_text(LINES, encoding="utf-8")
    return tmp_path / "train.txt"


@pytest.fixture
def table(tmp_path):
    with (tmp_path / "train.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["text", "kind"], *[(text.upper(), labels) for labels, text in TEXTS]])
    return tmp_path / "train.csv"


@pytest.fixture
def model(lines, tmp_path):
    expect("train", "classifier", lines, *SMALL, "--word-ngrams", 2, "-o", tmp_path / "model")
    return tmp_path / "model"


def predicted(model, text, *options):
    row = json.loads(expect("predict", model, text, "--json", *options).stdout)
    return row["labels"]


def test_lines_and_tables_give_the_same_labels(lines, table, tmp_path):
    options = ("--objective", "one-vs-all")
    result = process("train", "classifier", lines, *SMALL, *options, "-o", tmp_path / "of-lines")
    assert result.returncode == 0, result.stderr
    assert "saved a classifier of 3 labels" in result.stderr
    columns = ("--text-column", "text", "--label-column", "kind", "--label-separator", ";")
    expect("train", "classifier", table, *columns, "--case", "lower", *SMALL, *options, "-o", tmp_path / "of-table")
    assert set(predicted(tmp_path / "of-lines", "a fine long film", "-k", 3, "--threshold", 0.5)) == {
        "__label__good",
        "__label__long",
    }
    assert set(predicted(tmp_path / "of-table", "A FINE long film", "-k", 3, "--threshold", 0.5)) == {"good", "long"}


def test_predictions_stay_equal_in_fasttext(model, tmp_path):
    fasttext = pytest.importorskip("fasttext")
    expect("export", model, tmp_path / "m.bin", "--format", "fasttext")
    other, classifier = fasttext.load_model(str(tmp_path / "m.bin")), em.load_classifier(model)
    texts = ["a fine film", "long dull unknown", "film film"]
    labels, probabilities = classifier.predict(texts, k=3)
    for text, names, values in zip(texts, labels, probabilities, strict=True):
        expected = other.predict(text, k=3)
        assert names.tolist() == list(expected[0])
        np.testing.assert_allclose(values, expected[1], atol=1e-5)


def test_early_stopping_reports_the_best_epoch(lines, tmp_path):
    options = ("--stop-labels", lines, "--stop-patience", 2, "--json")
    result = expect("train", "classifier", lines, *SMALL, *options, "-o", tmp_path / "model")
    stopping = json.loads(result.stdout)["early_stopping"]
    assert max(stopping["scores"]) == stopping["scores"][stopping["best_epoch"] - 1]
    assert len(stopping["scores"]) < 20


def test_texts_without_labels_are_counted(lines, tmp_path):
    with lines.open("a", encoding="utf-8") as file:
        file.write("no label\n\n__label__good\n")
    result = process("train", "classifier", lines, *SMALL, "-o", tmp_path / "model")
    assert "warning: 2 of 153 texts have no label and are skipped" in result.stderr


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("no labels\nat all\n", (), "no text has a label"),
        ("__label__one text\n__label__one more\n", (), "1 of 1 labels ('one')"),
        ("", (), "no words"),
        ("__label__a b\n__label__ c\n", (), "line 2: the label __label__ has no name"),
        (LINES, ("--min-count", 1000), "no word occurs at least 1000 times"),
        (LINES, ("--min-label-count", 1000), "0 of 3 labels"),
        (LINES, ("--negatives", 3), "--negatives 3 has no effect"),
        (LINES, ("--buckets", 1000), "requires n-grams"),
        (LINES, ("--min-n", 4, "--max-n", 2), "--min-n"),
        (LINES, ("--stop-patience", 3), "early stopping requires"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line(text, options, message, lines, tmp_path):
    lines.write_text(text, encoding="utf-8")
    result = run("train", "classifier", lines, *options, "-o", tmp_path / "model")
    assert result.exit_code in (1, 2)
    errors = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(errors) == 1
    assert message in errors[0]
    assert not (tmp_path / "model").exists()


def save_changed(model, change):
    """Change the tables of a saved model."""
    tables = {name: np.array(table) for name, table in tensors.load(model / "tensors.safetensors").items()}
    change(tables)
    tensors.save(tables, model / "tensors.safetensors")


DAMAGE = {
    "no output": lambda tables: tables.pop("output"),
    "short output": lambda tables: tables.update(output=tables["output"][:1]),
    "no inputs": lambda tables: tables.pop("inputs"),
    "short inputs": lambda tables: tables.update(inputs=tables["inputs"][:-1]),
    "no buckets": lambda tables: tables.pop("ngram_buckets"),
    "large bucket": lambda tables: tables["ngram_buckets"].__setitem__(0, 2**31 - 1),
    "negative bucket": lambda tables: tables["ngram_buckets"].__setitem__(0, -2),
    "long buckets": lambda tables: tables.update(ngram_buckets=tables["ngram_buckets"].astype(np.int64)),
    "not a number": lambda tables: tables["inputs"].fill(np.nan),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_tables_are_refused_in_one_line(damage, model):
    save_changed(model, DAMAGE[damage])
    refused("predict", model, "a fine film", code=1)


@pytest.mark.parametrize("name", ["labels.arrow", "vocabulary.arrow"])
def test_a_missing_file_is_refused_in_one_line(name, model):
    (model / name).unlink()
    refused("predict", model, "a fine film", code=1)


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [("settings", "word_ngrams", 0), ("settings", "buckets", 1), ("settings", "objective", "other"),
     ("settings", "dim", 9), ("record", "label_prefix", 3), ("record", "text", {"tokenizer": "none"})],
)  # fmt: skip
def test_a_damaged_description_is_refused_in_one_line(section, name, value, model):
    path = model / "model.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content[section][name] = value
    path.write_text(json.dumps(content), encoding="utf-8")
    refused("predict", model, "a fine film", code=1)


def test_a_vector_file_holds_only_the_vectors_and_a_bin_file_the_classifier(lines, tmp_path):
    result = expect("train", "classifier", lines, *SMALL, "-o", tmp_path / "m.vec")
    assert "will contain word vectors only" in result.stderr
    assert "saved 6 vectors" in result.stderr
    assert len(em.load(tmp_path / "m.vec")) == 6
    expect("train", "classifier", lines, *SMALL, "-o", tmp_path / "m.npy")
    assert len(em.load(tmp_path / "m.npy")) == 6
    assert "quantize" in refused("train", "classifier", lines, *SMALL, "-o", tmp_path / "m.ftz", code=2)
    result = expect("train", "classifier", lines, *SMALL, "-o", tmp_path / "m.bin")
    assert "saved a classifier of 3 labels and 6 words" in result.stderr
    assert predicted(tmp_path / "m.bin", "a dull film") == ["__label__bad"]


def test_words_with_spaces_are_refused(lines, tmp_path):
    options = ("--tokenizer", "codepoints", "-o", tmp_path / "model")
    result = run("train", "classifier", lines, *SMALL, *options)
    assert result.exit_code == 2
    assert "requires words without white space" in result.stderr


def test_the_texts_of_early_stopping_are_not_replaced(lines, tmp_path):
    (tmp_path / "test.bin").write_text(LINES, encoding="utf-8")
    options = ("--stop-labels", tmp_path / "test.bin", "-o", tmp_path / "test.bin", "--force")
    assert run("train", "classifier", lines, *SMALL, *options).exit_code == 2
    assert (tmp_path / "test.bin").read_text(encoding="utf-8") == LINES
