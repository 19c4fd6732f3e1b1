"""`embeddings trainers`: installed trainers."""

from commands import run


def test_trainers_lists_name_package_version_summary():
    lines = run("trainers").stdout.splitlines()
    assert lines[0] == "trainer\tpackage\tversion\tsummary"
    assert any(line.startswith("skipgram\tembeddings-toolkit\t") for line in lines)
