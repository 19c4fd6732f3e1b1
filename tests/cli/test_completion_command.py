"""`embeddings completion`: scripts for shells."""

import pytest
from commands import expect


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(shell):
    assert "_EMBEDDINGS_COMPLETE" in expect("completion", shell).stdout


def test_completion_offers_commands(python):
    words = {"_EMBEDDINGS_COMPLETE": "bash_complete", "COMP_WORDS": "embeddings ne", "COMP_CWORD": "1"}
    code = "from embeddings.cli import main; main(prog_name='embeddings')"
    assert python("-c", code, **words).stdout == "plain,neighbours\n"
