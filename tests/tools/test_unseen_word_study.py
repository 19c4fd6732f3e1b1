"""The study of unseen words: which pairs and texts it uses, and its tables, worked by hand."""

import numpy as np
import pytest
from studies.grid import append_rows, read_rows
from studies.unseen_word_study import HIDDEN, KNOWN, RARE, HiddenWords, UnseenWords
from study import main

import embeddings as em
from embeddings.eval.tasks.word_similarity import WordPairs

LINES = ["king rules land"] * 40 + ["queen rules land"] * 40 + ["emu rules"] * 2 + ["oh"]
PAIRS = [("King", "queen"), ("rules", "land"), ("emu", "land"), ("king", "emu"), ("king", "zebra"), ("emu", "oh")]
SET = WordPairs("set", PAIRS, [1.0] * len(PAIRS))


def test_hidden_words_are_missing_in_the_rest(tmp_path):
    encoded = em.Corpus(LINES).encode()
    random = np.random.default_rng(0)
    words = HiddenWords.draw(encoded, [SET], 0.5, 5, random)
    assert len(words.hidden) == 2
    assert set(words.hidden) < {"king", "queen", "rules", "land"}
    assert words.rare == ["emu", "oh"]
    words.write_rest(tmp_path / "rest.txt")
    rest = [[word for word in line.split() if word not in words.hidden] for line in LINES]
    assert [line.split() for line in (tmp_path / "rest.txt").read_text().splitlines()] == rest
    hidden = set(words.hidden)
    for (group, _), pairs in words.pairs.items():
        for pair in pairs:
            expected = HIDDEN if hidden & set(pair) else RARE if "emu" in pair else KNOWN
            assert group == expected
            assert not {"zebra", "oh"} & set(pair)
            assert not (group == HIDDEN and "emu" in pair)
    tokens = " ".join(LINES).split()
    for word, places in zip(words.hidden, words.occurrences(words.hidden, random), strict=True):
        assert sorted(places) == [place for place, token in enumerate(tokens) if token == word]


def test_tables_have_means_over_sets_and_seeds(tmp_path):
    path = tmp_path / "results.tsv"
    rows = [
        ("mean", "1", "hidden", "x", 10, 0.2),
        ("mean", "1", "hidden", "y", 30, 0.4),
        ("other", "all", "hidden", "x", 10, 0.5),
    ]
    columns = (*UnseenWords.keys, *UnseenWords.values)
    append_rows(path, columns, [["text", "1", *map(str, row)] for row in rows])
    append_rows(path, columns, [["text", "2", "mean", "1", "hidden", "x", "20", "0.4"]])
    main(["unseen-words", "--only-table", "--out", str(tmp_path / "results")])
    text = path.with_suffix(".md").read_text(encoding="utf-8")
    assert "2 seeds; pairs: 15 of x, 30 of y" in text
    assert "| other |  |  |  |  |  |  | 50.0 |" in text
    assert "| mean | 35.0 ± 5.0 |  |  |  |  |  |  |" in text


@pytest.mark.slow
def test_a_run_scores_all_substitutes(tmp_path):
    words = [f"w{number}" for number in range(150)]
    random = np.random.default_rng(1)
    shares = np.arange(150, 0, -1.0) ** 2
    lines = [" ".join(random.choice(words, 12, p=shares / shares.sum())) for _ in range(2500)]
    (tmp_path / "text.txt").write_text("\n".join(lines))
    pairs = [f"{a} {b} {rating}" for a, b, rating in zip(words, reversed(words), random.random(150), strict=True)]
    (tmp_path / "pairs.txt").write_text("\n".join(pairs))
    path = tmp_path / "results.tsv"
    command = ["unseen-words", "--out", str(path.with_suffix("")), "--corpus", f"small={tmp_path / 'text.txt'}"]
    command += ["--similarity", str(tmp_path / "pairs.txt")]
    command += ["--seed", "1", "--common", "epochs=1,dim=8,min_count=5", "--rows", "2"]
    main(command)
    methods = {row["method"] for row in read_rows(path)}
    assert len(methods) == 12
    size = path.stat().st_size
    main(command)
    assert path.stat().st_size == size
    assert "à la carte" in path.with_suffix(".md").read_text()
