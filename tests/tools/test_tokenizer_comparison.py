"""The comparison of vectors from words of several rules."""

from commands import TEXT
from study import main


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
