"""Results that a benchmark goes on with: the same machine, corpus and versions, and what was finished."""

import json

import pytest

from embeddings.eval.benchmark import result_rows
from embeddings.eval.benchmark.resume import ResumeError, earlier, made

NOW = {"date": "2026-01-02", "cores": 2, "corpus": {"words": 5}, "tools": {"embeddings": "1", "gensim": "4"}}
ROW = {
    "trainer": "cbow",
    "rate": 0.05,
    "min_rate": None,
    "sample": 1e-05,
    "shuffle": False,
    "threads": 2,
    "corpus_words": 5,
    "tool": "embeddings",
    "version": "1",
    "seed": 1,
}


def results(folder, machine, *found):
    (folder / "machine.json").write_text(json.dumps(machine))
    result_rows.write(list(found), folder / "results.csv")
    return folder


def test_what_was_finished_is_kept_and_told_apart(tmp_path):
    results(tmp_path, NOW, {**ROW, "error": ""}, {**ROW, "seed": 2, "error": "broke"})
    found = earlier(tmp_path, dict(NOW))
    assert [row["seed"] for row in found] == [1]
    assert made(ROW, found)
    for name, value in {"seed": 2, "rate": 0.06, "shuffle": True, "sample": 1e-4, "min_rate": 0.1, "tool": "g"}.items():
        assert not made({**ROW, name: value}, found), name
    assert not made({**ROW, "further": 3}, found)


def test_nothing_to_go_on_with(tmp_path):
    assert earlier(tmp_path, dict(NOW)) == []


def test_the_date_may_differ_and_tools_may_come_and_go(tmp_path):
    was = {**NOW, "date": "2025-12-31", "tools": {"gensim": "4", "fasttext": "2"}}
    now = dict(NOW)
    earlier(results(tmp_path, was, {**ROW, "error": ""}), now)
    assert now["tools"] == {"embeddings": "1", "gensim": "4", "fasttext": "2"}


@pytest.mark.parametrize(
    ("was", "told"),
    [
        ({"cores": 4}, "they are of cores 4, and now 2"),
        ({"corpus": {"words": 6}}, 'of corpus {"words": 6}, and now {"words": 5}'),
        ({"tools": {"gensim": "3"}}, "of gensim 3, and now it is 4"),
        ({"tools": []}, "holds no results to go on with"),
    ],
)
def test_other_results_are_refused(tmp_path, was, told):
    results(tmp_path, NOW | was, {**ROW, "error": ""})
    with pytest.raises(ResumeError, match=told):
        earlier(tmp_path, dict(NOW))


@pytest.mark.parametrize("spoil", ["machine.json", "results.csv"])
def test_broken_files_are_refused_in_a_line(tmp_path, spoil):
    results(tmp_path, NOW, {**ROW, "error": ""})
    (tmp_path / spoil).write_bytes(b'"\xff\n\x00,')
    with pytest.raises(ResumeError, match="to go on with"):
        earlier(tmp_path, dict(NOW))
    (tmp_path / spoil).write_text("a,b\n1,2\n")
    with pytest.raises(ResumeError, match="to go on with"):
        earlier(tmp_path, dict(NOW))
