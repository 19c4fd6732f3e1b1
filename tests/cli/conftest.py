"""Fixtures shared by the tests of commands."""

from pathlib import Path

import pytest
from commands import TEXT


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A text in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text(TEXT)
    return tmp_path / "text.txt"
