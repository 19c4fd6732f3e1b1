"""`embeddings train classifier` on lines and tables, `predict` with its models, and what both refuse."""

import csv
import json

import numpy as np
import pytest
from commands import expect, process, refused

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


def test_texts_without_labels_are_counted(lines, tmp_path):
    with lines.open("a", encoding="utf-8") as file:
        file.write("no label\n\n__label__good\n")
    result = process("train", "classifier", lines, *SMALL, "-o", tmp_path / "model")
    assert "warning: 2 of 153 texts have no label and are skipped" in result.stderr


def change_tables(change):
    """A function that changes the tables of a saved model."""

    def damage(model):
        tables = {name: np.array(table) for name, table in tensors.load(model / "tensors.safetensors").items()}
        change(tables)
        tensors.save(tables, model / "tensors.safetensors")

    return damage


def change_description(section, name, value):
    """A function that changes a value of the description of a saved model."""

    def damage(model):
        content = json.loads((model / "model.json").read_text(encoding="utf-8"))
        content[section][name] = value
        (model / "model.json").write_text(json.dumps(content), encoding="utf-8")

    return damage


DAMAGE = {
    "no output": change_tables(lambda tables: tables.pop("output")),
    "short output": change_tables(lambda tables: tables.update(output=tables["output"][:1])),
    "no inputs": change_tables(lambda tables: tables.pop("inputs")),
    "short inputs": change_tables(lambda tables: tables.update(inputs=tables["inputs"][:-1])),
    "no buckets": change_tables(lambda tables: tables.pop("ngram_buckets")),
    "large bucket": change_tables(lambda tables: tables["ngram_buckets"].__setitem__(0, 2**31 - 1)),
    "negative bucket": change_tables(lambda tables: tables["ngram_buckets"].__setitem__(0, -2)),
    "long buckets": change_tables(lambda tables: tables.update(ngram_buckets=tables["ngram_buckets"].astype(np.int64))),
    "not a number": change_tables(lambda tables: tables["inputs"].fill(np.nan)),
    **{name: lambda model, name=name: (model / name).unlink() for name in ("labels.arrow", "vocabulary.arrow")},
    **{
        f"{name} {value}": change_description(section, name, value)
        for section, name, value in (
            ("settings", "word_ngrams", 0), ("settings", "buckets", 1), ("settings", "objective", "other"),
            ("settings", "dim", 9), ("record", "label_prefix", 3), ("record", "text", {"tokenizer": "none"}),
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_model_is_refused_in_one_line(damage, model):
    DAMAGE[damage](model)
    refused("predict", model, "a fine film", code=1)


def test_a_vector_file_holds_only_the_vectors_and_a_bin_file_the_classifier(lines, tmp_path):
    result = expect("train", "classifier", lines, *SMALL, "-o", tmp_path / "m.vec")
    assert "will contain word vectors only" in result.stderr
    assert "saved 6 vectors" in result.stderr
    assert len(em.load(tmp_path / "m.vec")) == 6
    expect("train", "classifier", lines, *SMALL, "-o", tmp_path / "m.npy")
    assert len(em.load(tmp_path / "m.npy")) == 6
    result = expect("train", "classifier", lines, *SMALL, "-o", tmp_path / "m.bin")
    assert "saved a classifier of 3 labels and 6 words" in result.stderr
    assert predicted(tmp_path / "m.bin", "a dull film") == ["__label__bad"]
