"""Studies of models that are scored on test sets: tables worked by hand, and runs on small texts."""

import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from commands import TEXT
from studies.grid import append_rows, read_rows
from studies.scored_models import MARKS, SCRIPTS, WRONG, with_noise
from study import main

import embeddings as em
from embeddings.corpora.segmenters import loaded

SCORES = [
    ("a", "cbow:epochs=1", "1", "x", "0.5"), ("a", "cbow:epochs=1", "2", "x", "0.3"),
    ("b", "cbow:epochs=1", "1", "x", "0.1"), ("b", "cbow:epochs=1", "2", "x", "0.2"),
    ("a", "cbow:epochs=2", "1", "x", "0.6"), ("b", "cbow:epochs=2", "1", "x", "0.6"),
    ("a", "skipgram", "1", "x", "0.9"),
]  # fmt: skip
TABLE = """| model | a: x | b: x | mean |
| --- | ---: | ---: | ---: |
| cbow:epochs=2 | 60.0 | 60.0 | 60.0 |
| cbow:epochs=1 | 40.0 | 15.0 | 27.5 ± 2.5 |
| skipgram | 90.0 |  |  |
"""


def test_table_has_the_means_over_seeds_and_the_best_first(tmp_path):
    columns = ("corpus", "model", "seed", "set", "value", "covered", "total")
    append_rows(tmp_path / "results.tsv", columns, [[*row, "9", "9"] for row in SCORES])
    main(["settings", "--only-table", "--out", str(tmp_path / "results")])
    assert (tmp_path / "results.md").read_text(encoding="utf-8") == TABLE


def test_a_run_skips_what_the_file_holds(tmp_path, capsys):
    text, pairs, path = tmp_path / "text.txt", tmp_path / "pairs.txt", tmp_path / "results.tsv"
    text.write_text("the cat sat on the mat\nthe dog sat on the log\n" * 50)
    pairs.write_text("cat dog 9\nmat log 8\ncat on 1\nsat the 2\n")
    command = ["settings", "--out", str(tmp_path / "results"), "--corpus", f"small={text}", "--similarity", str(pairs)]
    command += ["--common", "epochs=1,dim=4", "--model", "cbow", "cbow:schedule=constant"]
    main(command)
    first = path.read_text()
    assert len(first.splitlines()) == 3
    assert len(capsys.readouterr().err.splitlines()) == 2
    main(command)
    assert path.read_text() == first
    assert capsys.readouterr().err == ""
    assert path.with_suffix(".md").read_text().count("| cbow") == 2


def test_models_of_words_classify_documents_and_start_from_vectors(tmp_path):
    words, results = ["sun", "moon", "star", "tea", "cup", "pot"], tmp_path / "results.tsv"
    lines = [f"d{i},{words[i % 3]} {words[i % 2]} {words[3 * (i % 2)]},{'ab'[i % 2]}" for i in range(40)]
    (documents := tmp_path / "documents.csv").write_text("id,text,label\n" + "\n".join(lines))
    em.Vectors(words[:4], np.eye(4, dtype=np.float32)).save(given := tmp_path / "given.txt")
    models = ["dim=4,freeze=true", "dim=6,init_mode=concatenate", "dim=3,init_mode=project", "dim=4"]
    run = f"settings --out {tmp_path}/results --corpus small={documents} --documents {documents},{documents}"
    models = [f"cbow:{model}" for model in models]
    main([*run.split(), "--init", str(given), "--common", "epochs=1", "--model", *models])
    rows = read_rows(results)
    assert [row["model"] for row in rows] == models
    assert {row["set"] for row in rows} == {"documents"}


def test_each_half_of_a_set_is_scored(tmp_path):
    words = ["sun", "moon", "star", "sky", "tea", "cup", "pot", "milk"]
    text, results = tmp_path / "text.txt", tmp_path / "r.tsv"
    text.write_text("\n".join(" ".join(words[i % 8 :] + words[: i % 8]) for i in range(60)))
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{a}\t{b}\t{i + j}\n" for i, a in enumerate(words) for j, b in enumerate(words[:i])))
    arguments = ["settings", "--out", str(tmp_path / "r"), "--corpus", f"small={text}", "--similarity", str(pairs)]
    main([*arguments, "--halves", "--common", "epochs=1,dim=4", "--model", "cbow:window=2"])
    rows = read_rows(results)
    assert [row["set"] for row in rows] == ["pairs-dev", "pairs-test"]
    assert sum(int(row["total"]) for row in rows) == 28
    assert results.with_suffix(".md").read_text().startswith("| model | small |\n")


def test_each_rule_is_trained_and_scored(tmp_path):
    (tmp_path / "t.txt").write_text(TEXT.replace("dog", "caf\u00e9").replace("cat", "cafe\u0301"), "utf-8")
    (tmp_path / "pairs.txt").write_text("king\tqueen\t9\nking\tcaf\u00e9\t1\nland\tbone\t5\n", "utf-8")
    options = ["--text", str(tmp_path / "t.txt"), "--dim", "4", "--epochs", "1", "--out", str(tmp_path / "results")]
    rules = ["tokenizer=alphanumeric normalize=none", "tokenizer=words"]
    pairs = ["--similarity", str(tmp_path / "pairs.txt")]
    main(["tokenizers", *options, "--language", "x", "--rule", *rules, *pairs])
    main(["tokenizers", *options, "--language", "y", "--rule", rules[0]])
    lines = [line.split(" | ") for line in (tmp_path / "results.md").read_text("utf-8").splitlines()[2:]]
    assert [line[3] for line in lines] == ["9", "8", "9"]
    assert [line[5].endswith("3 of 3 |") for line in lines] == [True, True, False]


OTHER = str.maketrans("東学はか", "东學ハカ")
SETTINGS = ["--dim", "4", "--epochs", "1", "--negatives", "2", "--subsample", "0"]


@pytest.fixture
def segmenter(monkeypatch):
    """A segmenter that cuts after every second character."""
    made = ModuleType("jieba")
    made.__spec__ = ModuleSpec("jieba", None)
    made.setLogLevel = lambda level: None
    made.initialize, made.dt = lambda: None, SimpleNamespace(tmp_dir=None)
    made.lcut = lambda line: [line[at : at + 2] for at in range(0, len(line), 2)]
    monkeypatch.setitem(sys.modules, "jieba", made)
    loaded.cache_clear()
    yield
    loaded.cache_clear()


@pytest.fixture
def japanese(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("東京大学\n京都大学\n大阪東京\n" * 20, encoding="utf-8")
    return path


@pytest.fixture
def arguments(japanese, tmp_path):
    pairs = [("東京", "京都", 9), ("東京", "大学", 2), ("大阪", "京都", 8), ("大学", "大阪", 1)]
    pairs += [("東学", "京阪", 5)]  # of known characters, that never stand side by side
    path = tmp_path / "pairs.txt"
    path.write_text("".join(f"{a}\t{b}\t{rating}\n" for a, b, rating in pairs), encoding="utf-8")
    names = tmp_path / "names.tsv"
    names.write_text("".join(f"{name}\tplace\n" for name in ("東京", "京都", "大阪")) + "大学\tschool\n東学\tschool\n")
    out = str(tmp_path / "out" / "results")
    sets = ["--similarity", str(path), "--categories", str(names), "--noise", "as it is", "--seeds", "1", "2"]
    return ["unsegmented", "--language", "Japanese", "--text", str(japanese), *sets, *SETTINGS, "--out", out]


@pytest.mark.slow
def test_models_are_scored_on_common_words(arguments, tmp_path, segmenter, monkeypatch):
    monkeypatch.setattr("studies.grid.find_spec", lambda name: True)  # without noise, opencc is not used
    main(arguments)
    rows = read_rows(tmp_path / "out" / "results.tsv")
    assert [(row["model"], row["covered"], row["common"]) for row in rows if row["measure"] == "pairs"] == [
        ("sembei", "4", "4"),
        ("sembei, compositional", "5", "4"),
        ("skip-gram of characters, means", "5", "4"),
        ("skip-gram of words", "4", "4"),
    ]
    assert [row["difference"] != "" for row in rows if row["measure"] == "names"] == [True, True, True, False]
    lines = (tmp_path / "out" / "results.md").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("| as it is") for line in lines) == 4
    assert "| 4 of 5 | " in lines[-1]


@pytest.mark.skipif(find_spec("opencc") is None, reason="requires opencc")
def test_noise():
    text = "東京は、大学。 か\n" * 400
    assert with_noise(text, []) == text
    assert with_noise(text, [MARKS]) == "東京は大学か\n" * 400
    swapped = with_noise(text, [SCRIPTS])
    assert set(swapped) - set(text) == set("東京は、大学。 か\n".translate(OTHER)) - set(text)
    assert 120 < swapped.count("東") < 280
    wrong = with_noise(text, [WRONG])
    assert wrong.count("\n") == 400
    assert 0.05 < sum(a != b for a, b in zip(text, wrong, strict=True)) / len(text) < 0.11
    assert set(wrong) <= set(text)
    assert wrong == with_noise(text, [WRONG])


def test_a_missing_library_is_reported_before_training(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("studies.grid.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 1
    assert "pip install opencc" in capsys.readouterr().err
    assert not (tmp_path / "out" / "results.tsv").exists()
